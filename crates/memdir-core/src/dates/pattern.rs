//! The little language in which the grammars are written, and its matcher.
//!
//! A pattern is words with spaces between them. `a|b` is either, `a?` may be missing, and a word in capitals is an
//! open place ([`Slot`]) or a class of words that the grammar names. Everything else stands for itself:
//!
//! ```text
//! in N UNIT          WEEKDAY next week          MONTH .? DAY ,? YEAR?
//! ```
//!
//! Patterns have no repetition, so a match looks at a handful of tokens and a text is read in linear time.

use super::lexicon::{Lang, Lexicon, Sense, Unit, WordId};
use super::meaning::Meaning;
use super::token::{Kind, Token};

/// A row of a grammar: what is said, and what it means.
pub(super) struct Phrase {
    pub(super) pattern: &'static str,
    pub(super) means: fn(&Slots) -> Meaning,
}

/// What filled the open places of a pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    pub(super) n: i32,
    pub(super) unit: Option<Unit>,
    pub(super) weekday: i8,
    pub(super) month: i8,
    /// The last two days of the month that were said.
    pub(super) days: [i8; 2],
    pub(super) year: Option<i16>,
    /// Whether the weekday was a short form, which asks for company.
    pub(super) short: bool,
}

impl Slots {
    pub(super) fn unit(&self) -> Unit {
        self.unit.unwrap_or(Unit::Day)
    }

    pub(super) fn day(&self) -> i8 {
        self.days[1]
    }
}

/// An open place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A count, in digits or words.
    N,
    Unit,
    Period,
    Span,
    Ordinal,
    Weekday,
    Month,
    /// A day of the month: `5`, `5th`, `5.`
    Day,
    /// A day of the month that says so: `5th`, `5.`
    Nth,
    /// A number, whatever it counts, read into `n`.
    Digits,
    Year,
}

impl Slot {
    /// Returns the open place that an item of a pattern is.
    pub(super) fn named(item: &str) -> Option<Self> {
        Some(match item {
            "N" => Self::N,
            "UNIT" => Self::Unit,
            "PERIOD" => Self::Period,
            "SPAN" => Self::Span,
            "ORDINAL" => Self::Ordinal,
            "WEEKDAY" => Self::Weekday,
            "MONTH" => Self::Month,
            "DAY" => Self::Day,
            "NTH" => Self::Nth,
            "DIGITS" => Self::Digits,
            "YEAR" => Self::Year,
            _ => return None,
        })
    }

    /// Says whether a word that stands for this may fill it.
    pub(super) fn takes(self, sense: Sense) -> bool {
        match self {
            Self::N => matches!(sense, Sense::Number(_)),
            Self::Unit => matches!(sense, Sense::Unit(_)),
            Self::Period => matches!(sense, Sense::Period(_)),
            Self::Span => matches!(sense, Sense::Span(..)),
            Self::Ordinal => matches!(sense, Sense::Ordinal(_)),
            Self::Weekday => matches!(sense, Sense::Weekday { .. }),
            Self::Month => matches!(sense, Sense::Month { .. }),
            Self::Day | Self::Nth | Self::Digits | Self::Year => false,
        }
    }

    /// Says whether a number may fill it.
    fn takes_number(self) -> bool {
        matches!(self, Self::N | Self::Digits | Self::Day | Self::Nth | Self::Year)
    }
}

/// Returns the items of a pattern that may not be missing.
pub(super) fn must_haves(pattern: &'static str) -> impl Iterator<Item = &'static str> {
    pattern.split(' ').filter(|item| optional(item).is_none())
}

/// Returns what an item that may be missing is.
fn optional(item: &str) -> Option<&str> {
    item.strip_suffix('?').filter(|inner| !inner.is_empty())
}

/// The words that stand for something, each with what: what an open place may begin with is looked up here.
#[derive(Debug)]
pub(super) struct Openers(Vec<(Lang, Sense, WordId)>);

impl Openers {
    /// Takes the words of a lexicon.
    pub(super) fn of(lexicon: &Lexicon) -> Self {
        let words = (0..lexicon.len()).filter_map(|id| WordId::try_from(id).ok());
        let senses =
            words.flat_map(|word| lexicon.all_senses(word).map(move |(lang, sense)| (lang, sense, word)));
        Self(senses.collect())
    }

    fn words(&self, slot: Slot, lang: Lang) -> impl Iterator<Item = WordId> {
        let fits = move |(of, sense, _): &&(Lang, Sense, WordId)| *of == lang && slot.takes(*sense);
        self.0.iter().filter(fits).map(|(_, _, word)| *word)
    }
}

#[derive(Debug, Clone)]
enum Item {
    Words(Vec<WordId>),
    Mark(char),
    Open(Slot),
    Maybe(Box<Item>),
}

/// A pattern made ready for matching.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    items: Vec<Item>,
}

/// What a pattern may begin with.
pub(super) enum Start {
    Word(WordId),
    Number,
}

impl Pattern {
    pub(super) fn new(text: &'static str, classes: &[(&str, &'static str)], lexicon: &mut Lexicon) -> Self {
        let items = text.split(' ').map(|item| Item::new(item, classes, lexicon)).collect();
        Self { items }
    }

    /// Lists what a match may begin with, so that a reader tries few patterns at each token.
    pub(super) fn starts(&self, lang: Lang, openers: &Openers) -> Vec<Start> {
        let mut starts = Vec::new();
        for item in &self.items {
            item.starts(lang, openers, &mut starts);
            if !matches!(item, Item::Maybe(_)) {
                break;
            }
        }
        starts
    }

    /// Whether a single token may be the whole match.
    pub(super) fn may_be_single(&self) -> bool {
        self.items.iter().filter(|item| !matches!(item, Item::Maybe(_))).count() == 1
    }

    /// Matches at the first of `tokens` and returns how many of them it took.
    pub(super) fn matches(&self, tokens: &[Token], lang: Lang, lexicon: &Lexicon) -> Option<(usize, Slots)> {
        let reader = Reader { tokens, lang, lexicon };
        let mut slots = Slots::default();
        reader.items(&self.items, 0, &mut slots).map(|len| (len, slots))
    }
}

impl Item {
    fn new(text: &'static str, classes: &[(&str, &'static str)], lexicon: &mut Lexicon) -> Self {
        if let Some(inner) = optional(text) {
            return Self::Maybe(Box::new(Self::new(inner, classes, lexicon)));
        }
        if let Some(slot) = Slot::named(text) {
            return Self::Open(slot);
        }
        if let Some((_, words)) = classes.iter().find(|(name, _)| *name == text) {
            return Self::Words(words.split(' ').map(|word| lexicon.enter(word)).collect());
        }
        match text.chars().next() {
            Some(mark) if !mark.is_alphanumeric() => Self::Mark(mark),
            _ => Self::Words(text.split('|').map(|word| lexicon.enter(word)).collect()),
        }
    }

    fn starts(&self, lang: Lang, openers: &Openers, starts: &mut Vec<Start>) {
        match self {
            Self::Words(words) => starts.extend(words.iter().map(|&word| Start::Word(word))),
            Self::Mark(_) => {}
            Self::Maybe(item) => item.starts(lang, openers, starts),
            Self::Open(slot) => {
                starts.extend(openers.words(*slot, lang).map(Start::Word));
                starts.extend(slot.takes_number().then_some(Start::Number));
            }
        }
    }
}

struct Reader<'r, 't> {
    tokens: &'r [Token<'t>],
    lang: Lang,
    lexicon: &'r Lexicon,
}

impl Reader<'_, '_> {
    /// Matches `items` from token `at` on and returns where the match ends.
    fn items(&self, items: &[Item], at: usize, slots: &mut Slots) -> Option<usize> {
        let Some((item, rest)) = items.split_first() else { return Some(at) };
        let Item::Maybe(item) = item else {
            let end = self.item(item, at, slots)?;
            return self.items(rest, end, slots);
        };
        let before = slots.clone();
        let with = self.item(item, at, slots).and_then(|end| self.items(rest, end, slots));
        with.or_else(|| {
            *slots = before;
            self.items(rest, at, slots)
        })
    }

    fn item(&self, item: &Item, at: usize, slots: &mut Slots) -> Option<usize> {
        let token = self.tokens.get(at)?;
        // A phrase may be wrapped at the end of a line, but it does not cross a paragraph.
        if at > 0 && token.breaks > 1 {
            return None;
        }
        match item {
            Item::Words(words) => words.contains(&token.word).then_some(at + 1),
            Item::Mark(mark) => is_mark(token, *mark).then_some(at + 1),
            Item::Open(slot) => self.slot(*slot, at, slots),
            Item::Maybe(item) => self.item(item, at, slots),
        }
    }

    fn slot(&self, slot: Slot, at: usize, slots: &mut Slots) -> Option<usize> {
        let token = &self.tokens[at];
        let mut senses = self.lexicon.senses(token.word, self.lang);
        match slot {
            Slot::N => {
                let word = senses.find_map(|sense| if let Sense::Number(n) = sense { Some(n) } else { None });
                slots.n = word.or_else(|| token.number()).filter(|&n| n > 0)?;
            }
            Slot::Digits => slots.n = token.number().filter(|&n| n > 0)?,
            Slot::Unit => {
                slots.unit =
                    Some(senses.find_map(|s| if let Sense::Unit(unit) = s { Some(unit) } else { None })?);
            }
            Slot::Period => {
                slots.unit =
                    Some(senses.find_map(|s| if let Sense::Period(unit) = s { Some(unit) } else { None })?);
            }
            Slot::Ordinal => {
                slots.n =
                    senses.find_map(|sense| if let Sense::Ordinal(n) = sense { Some(n) } else { None })?;
            }
            Slot::Span => {
                let span =
                    senses.find_map(|s| if let Sense::Span(n, unit) = s { Some((n, unit)) } else { None })?;
                (slots.n, slots.unit) = (span.0, Some(span.1));
            }
            Slot::Weekday => {
                let sense = senses.find(|sense| matches!(sense, Sense::Weekday { .. }))?;
                let Sense::Weekday { day, short } = sense else { return None };
                (slots.weekday, slots.short) = (day, short);
                return Some(at + 1 + usize::from(short && self.is_abbreviation_dot(at + 1)));
            }
            Slot::Month => {
                let sense = senses.find(|sense| matches!(sense, Sense::Month { .. }))?;
                let Sense::Month { month, short } = sense else { return None };
                slots.month = month;
                return Some(at + 1 + usize::from(short && self.is_abbreviation_dot(at + 1)));
            }
            Slot::Day | Slot::Nth => {
                let day = token.number().filter(|n| (1..=31).contains(n) && token.text.len() <= 2)?;
                slots.days = [slots.days[1], i8::try_from(day).ok()?];
                let end = self.ordinal_end(at + 1);
                return if slot == Slot::Nth { end } else { Some(end.unwrap_or(at + 1)) };
            }
            Slot::Year => {
                let year = token.number().filter(|year| (1900..2200).contains(year))?;
                slots.year = i16::try_from(year).ok();
            }
        }
        Some(at + 1)
    }

    /// Whether the dot at `at` belongs to the short word before it rather than to the sentence.
    fn is_abbreviation_dot(&self, at: usize) -> bool {
        let goes_on = |next: &Token| next.breaks == 0 && !next.is_capital() && next.is_wordlike();
        self.tokens.get(at).is_some_and(|dot| dot.is('.') && dot.glued)
            && self.tokens.get(at + 1).is_some_and(goes_on)
    }

    /// Finds the end of what makes a number an ordinal: "th" in English, a dot in German.
    fn ordinal_end(&self, at: usize) -> Option<usize> {
        let token = self.tokens.get(at).filter(|token| token.glued)?;
        let is_ordinal = match self.lang {
            Lang::English => token.kind == Kind::Word && matches!(token.text, "st" | "nd" | "rd" | "th"),
            Lang::German => token.is('.'),
            Lang::Korean => false,
        };
        is_ordinal.then_some(at + 1)
    }
}

/// Every dash is a dash, and an apostrophe may be curly.
fn is_mark(token: &Token, mark: char) -> bool {
    token.is(mark) || mark == '-' && is_dash(token) || mark == '\'' && token.is('’')
}

pub(super) fn is_dash(token: &Token) -> bool {
    token.kind == Kind::Mark && matches!(token.text, "-" | "–" | "—" | "~" | "〜" | "−")
}
