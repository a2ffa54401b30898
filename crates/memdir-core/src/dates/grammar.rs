//! The grammars of all languages, made ready once, and what they find at a place in a text.

use std::sync::LazyLock;

use super::lexicon::{Lang, Lexicon, Sense, UNKNOWN, Unit};
use super::meaning::{Meaning, Which};
use super::pattern::{Openers, Pattern, Phrase, Slots, Start};
use super::token::{Kind, Token};
use super::{cues, english, german, korean};

/// A language as tables. Several spellings of one word stand in one string.
pub(super) struct Grammar {
    pub(super) lang: Lang,
    pub(super) weekdays: &'static [&'static str],
    pub(super) short_weekdays: &'static [&'static str],
    pub(super) months: &'static [&'static str],
    pub(super) short_months: &'static [&'static str],
    pub(super) words: &'static [(&'static str, Sense)],
    /// Words that patterns name together.
    pub(super) classes: &'static [(&'static str, &'static str)],
    pub(super) phrases: &'static [Phrase],
}

/// The languages that phrases are read in.
pub(super) const GRAMMARS: [&Grammar; 3] = [&english::GRAMMAR, &german::GRAMMAR, &korean::GRAMMAR];

/// A phrase found in a text.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) n_tokens: usize,
    pub(super) lang: Lang,
    pub(super) meaning: Meaning,
    pub(super) slots: Slots,
}

impl Found {
    /// Whether the phrase is the same in English and German, so that the sentence tells its language.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.meaning, Meaning::NamedQuarter { .. }) && self.lang != Lang::Korean
    }
}

/// Everything the tables hold, indexed.
pub(super) struct Book {
    pub(super) lexicon: Lexicon,
    rows: Vec<Row>,
    /// The rows that may begin with a word.
    by_word: Vec<Vec<usize>>,
    by_number: Vec<usize>,
    /// For each word, a bit for each set that holds it.
    sets: Vec<u64>,
}

struct Row {
    lang: Lang,
    pattern: Pattern,
    means: fn(&Slots) -> Meaning,
}

/// Returns the tables, made ready at the first call.
pub(super) fn book() -> &'static Book {
    static BOOK: LazyLock<Book> = LazyLock::new(Book::new);
    &BOOK
}

impl Book {
    fn new() -> Self {
        let mut lexicon = Lexicon::default();
        let mut rows = Vec::new();
        for grammar in GRAMMARS {
            enter(grammar, &mut lexicon);
            rows.extend(grammar.phrases.iter().map(|phrase| Row {
                lang: grammar.lang,
                pattern: Pattern::new(phrase.pattern, grammar.classes, &mut lexicon),
                means: phrase.means,
            }));
        }
        let sets = sets(&mut lexicon);
        let openers = Openers::of(&lexicon);
        let mut by_word = vec![Vec::new(); lexicon.len()];
        let mut by_number = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            for start in row.pattern.starts(row.lang, &openers) {
                let starting = match start {
                    Start::Word(word) => &mut by_word[usize::from(word)],
                    Start::Number => &mut by_number,
                };
                if starting.last() != Some(&at) {
                    starting.push(at);
                }
            }
        }
        Self { lexicon, rows, by_word, by_number, sets }
    }

    /// Lists what may stand at the first of `tokens`, the longest first; of equally long ones that of `lang`.
    pub(super) fn find(&self, tokens: &[Token], lang: impl FnOnce() -> Lang) -> Vec<Found> {
        let Some(first) = tokens.first() else { return Vec::new() };
        let rows = match first.kind {
            Kind::Number => &self.by_number,
            Kind::Word | Kind::Hangul => &self.by_word[usize::from(first.word)],
            Kind::Mark | Kind::Opaque => return Vec::new(),
        };
        // Most words are in no table, and no phrase goes on with one: behind "the" that spares nearly every row.
        let is_unknown =
            |next: &Token| matches!(next.kind, Kind::Word | Kind::Opaque) && next.word == UNKNOWN;
        let ends = first.kind == Kind::Word && tokens.get(1).is_none_or(is_unknown);
        let rows = rows.iter().filter(|&&at| !ends || self.rows[at].pattern.may_be_single());
        let mut found: Vec<Found> = rows.filter_map(|&at| self.row(at, tokens)).collect();
        if found.len() > 1 {
            let lang = lang();
            found.sort_by_key(|found| (std::cmp::Reverse(found.n_tokens), found.lang != lang));
        }
        found
    }

    fn row(&self, at: usize, tokens: &[Token]) -> Option<Found> {
        let row = &self.rows[at];
        let (n_tokens, slots) = row.pattern.matches(tokens, row.lang, &self.lexicon)?;
        Some(Found { n_tokens, lang: row.lang, meaning: (row.means)(&slots), slots })
    }

    /// Says whether a token is one of a set of words.
    pub(super) fn has(&self, set: cues::Set, token: &Token) -> bool {
        self.sets[usize::from(token.word)] >> (set as u32) & 1 == 1
    }
}

fn sets(lexicon: &mut Lexicon) -> Vec<u64> {
    let mut sets = vec![0; lexicon.len()];
    for (set, words) in cues::SETS.iter().enumerate() {
        for word in words.split_whitespace() {
            let id = usize::from(lexicon.enter(word));
            sets.resize(sets.len().max(id + 1), 0);
            sets[id] |= 1 << set;
        }
    }
    sets
}

fn enter(grammar: &Grammar, lexicon: &mut Lexicon) {
    let mut enter = |words: &'static str, sense| {
        for word in words.split_whitespace() {
            lexicon.enter_sense(word, grammar.lang, sense);
        }
    };
    for (day, (&full, &brief)) in (1..).zip(grammar.weekdays.iter().zip(grammar.short_weekdays)) {
        enter(full, Sense::Weekday { day, short: false });
        enter(brief, Sense::Weekday { day, short: true });
    }
    for (month, (&full, &brief)) in (1..).zip(grammar.months.iter().zip(grammar.short_months)) {
        enter(full, Sense::Month { month, short: false });
        enter(brief, Sense::Month { month, short: true });
    }
    for &(words, sense) in grammar.words {
        enter(words, sense);
    }
}

/// The week, month, quarter or year so many from this one.
pub(super) fn period(unit: Unit, n: i32) -> Meaning {
    match unit {
        Unit::Day => Meaning::Day(n),
        Unit::Week => Meaning::Week(n),
        Unit::Month => Meaning::Month(n),
        Unit::Quarter => Meaning::Quarter(n),
        Unit::Year => Meaning::Year(n),
    }
}

pub(super) fn first_day(of: Meaning) -> Meaning {
    Meaning::FirstDay(Box::new(of))
}

pub(super) fn last_day(of: Meaning) -> Meaning {
    Meaning::LastDay(Box::new(of))
}

pub(super) fn of_year(year: Option<i16>) -> Which {
    year.map_or(Which::Nearest, Which::Year)
}

pub(super) fn month(month: i8, which: Which) -> Meaning {
    Meaning::NamedMonth { month, which }
}

/// A number that is no quarter resolves to nothing.
pub(super) fn quarter(n: i32, which: Which) -> Meaning {
    Meaning::NamedQuarter { quarter: i8::try_from(n).unwrap_or(i8::MAX), which }
}

pub(super) fn week_number(n: i32, year: Option<i16>) -> Meaning {
    Meaning::WeekNumber { week: i8::try_from(n).unwrap_or(i8::MAX), year }
}

pub(super) fn day(month: i8, day: i8, which: Which) -> Meaning {
    Meaning::MonthDay { month, day, which, weekday: None }
}

pub(super) fn on_weekday(weekday: i8, month: i8, day: i8, which: Which) -> Meaning {
    Meaning::MonthDay { month, day, which, weekday: Some(weekday) }
}

pub(super) fn days(month: i8, days: [i8; 2], which: Which) -> Meaning {
    Meaning::From(Box::new(day(month, days[0], which)), Box::new(day(month, days[1], Which::Nearest)))
}
