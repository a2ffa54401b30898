//! Makes relative dates absolute, so that a memory means the same next month.
//!
//! "Freeze after Thursday" is true for a week; "freeze after 2026-03-05" stays true. [`settle`] reads a text in
//! English, German or Korean, also mixed, and replaces the phrases that mean one day, week, month, quarter or year
//! by it. What recurs, is vague or is a name is left alone, and what could be read in two ways is asked about, never
//! guessed. Code, addresses, links and short quotations are not read.
//!
//! ```text
//!   text ─▶ shield ─▶ tokens ─▶ grammar (en · de · ko) ─▶ context ─▶ meaning + tense ─▶ days ─▶ render
//!           not prose            phrase → Meaning          leave?     resolve            ISO
//! ```
//!
//! The tables are `english`, `german` and `korean`; every phrase in them means a `Meaning`, and one function finds its
//! days. Nothing here knows the time: it is an argument, with the user's zone.

mod clock;
mod context;
mod cues;
pub(crate) mod english;
mod german;
mod grammar;
mod korean;
mod lexicon;
mod meaning;
mod numeric;
mod pattern;
mod place;
mod range;
mod render;
mod shield;
mod sieve;
mod standing;
mod tense;
mod token;

#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::Zoned;
use jiff::civil::Date;

use context::Verdict;
use cues::Set;
use grammar::{Book, Found};
use lexicon::{Lang, Sense};
use meaning::{Days, Form, Meaning, Tense, resolve};
use place::Place;
use token::{Kind, Token};

/// What became of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub text: String,
    pub changes: Vec<Resolved>,
    pub questions: Vec<Question>,
}

/// A phrase that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub said: String,
    pub means: String,
}

/// A phrase that could mean several days. It was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub said: String,
    pub readings: Vec<String>,
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}?", self.said, self.readings.join(" or "))
    }
}

/// Makes the relative dates of a text absolute, as they are meant at `now` in its zone.
pub fn settle(text: &str, now: &Zoned) -> Settled {
    settle_within(text, std::slice::from_ref(&(0..text.len())), now)
}

/// Makes only those dates absolute that are relative to the day they were said, "tomorrow" and "next week". A date that
/// lacks its year ("March 5", "Q3", "the 20th") may have been written on any day, and stays.
pub fn settle_relative(text: &str, now: &Zoned) -> Settled {
    settle_as(text, std::slice::from_ref(&(0..text.len())), now, Extent::Relative)
}

/// Which dates are made absolute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All that can be.
    All,
    /// Those that count from the day they were said.
    Relative,
}

/// No text may be read more often than this. A second reading that finds something is rare already.
const READINGS: usize = 8;

/// Makes the relative dates absolute that lie within one of `ranges`, which are in bytes: the new lines of an edited
/// file. The rest of the text is read, since a sentence may begin there, and left as it is.
///
/// What a phrase means depends on its neighbours, and those may have become dates: a text is read again until nothing
/// in it changes, so that settling twice is settling once.
pub fn settle_within(text: &str, ranges: &[Range<usize>], now: &Zoned) -> Settled {
    settle_as(text, ranges, now, Extent::All)
}

fn settle_as(text: &str, ranges: &[Range<usize>], now: &Zoned, extent: Extent) -> Settled {
    if !sieve::may_name_a_day(text) {
        return Settled { text: text.to_owned(), changes: Vec::new(), questions: Vec::new() };
    }
    let mut ranges = ranges.to_vec();
    let mut settled = read_once(text, &mut ranges, now, extent);
    let mut is_new = !settled.changes.is_empty();
    for _ in 1..READINGS {
        if !is_new {
            break;
        }
        let next = read_once(&settled.text, &mut ranges, now, extent);
        is_new = !next.changes.is_empty();
        settled.changes.extend(next.changes);
        (settled.text, settled.questions) = (next.text, next.questions);
    }
    settled
}

/// Reads a text once. `ranges` lie in the settled text afterwards.
fn read_once(text: &str, ranges: &mut [Range<usize>], now: &Zoned, extent: Extent) -> Settled {
    let book = grammar::book();
    let tokens = token::tokens(text, &shield::shielded(text), &book.lexicon);
    let reader = Reader { text, tokens: &tokens, today: now.date(), book, extent };
    let mut settled =
        Settled { text: String::with_capacity(text.len()), changes: Vec::new(), questions: Vec::new() };
    let mut edits = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while at < tokens.len() {
        let (end, news) = reader.read(at);
        at = end;
        let is_within =
            |at: &Range<usize>| ranges.iter().any(|range| range.start <= at.start && at.end <= range.end);
        match news {
            News::Resolved(resolved, at) if is_within(&at) => {
                settled.text.push_str(&text[copied..at.start]);
                settled.text.push_str(&resolved.means);
                copied = at.end;
                edits.push((at.end, settled.text.len()));
                settled.changes.push(resolved);
            }
            News::Question(question, at) if is_within(&at) => settled.questions.push(question),
            _ => {}
        }
    }
    settled.text.push_str(&text[copied..]);
    for range in ranges {
        *range = moved(&edits, range.start)..moved(&edits, range.end);
    }
    settled
}

/// Where a place of the old text lies in the new one; an edit is where it ended before and where it ends now.
fn moved(edits: &[(usize, usize)], place: usize) -> usize {
    let before = edits.partition_point(|(end, _)| *end <= place);
    before.checked_sub(1).map_or(place, |last| edits[last].1 + (place - edits[last].0))
}

/// What was found at a place.
enum News {
    Nothing,
    Resolved(Resolved, Range<usize>),
    Question(Question, Range<usize>),
}

struct Reader<'r, 't> {
    text: &'t str,
    tokens: &'r [Token<'t>],
    today: Date,
    book: &'r Book,
    extent: Extent,
}

impl<'r, 't> Reader<'r, 't> {
    fn place(&self, start: usize, end: usize) -> Place<'r, 't> {
        Place { tokens: self.tokens, start, end, book: self.book }
    }

    /// Reads what begins at a token, and says where to read on.
    fn read(&self, at: usize) -> (usize, News) {
        if self.tokens[at].kind == Kind::Number
            && let Some(found) = numeric::numeric(&self.place(at, at + 1))
        {
            return self.figures(at, &found);
        }
        for found in self.book.find(&self.tokens[at..], || self.place(at, at + 1).language()) {
            if let Some(read) = self.range(at, &found) {
                return read;
            }
            let place = self.place(at, at + found.n_tokens);
            match context::judge(&place, &found, self.today) {
                Verdict::Take => return self.phrase(&place, &found),
                Verdict::Leave => return (place.end, News::Nothing),
                Verdict::Shorter => {}
            }
        }
        (at + 1, News::Nothing)
    }

    fn figures(&self, at: usize, found: &numeric::Numeric) -> (usize, News) {
        let place = self.place(at, found.end);
        if self.extent == Extent::Relative {
            return (place.end, News::Nothing);
        }
        let lang = place.language();
        let tense = tense::tense(self.tokens, &(at..found.end), lang, self.book);
        let dated = |meaning: &'_ Meaning| resolve(meaning, self.today, tense).ok().map(|days| days.first);
        let readings: Vec<(&Meaning, Date)> =
            found.readings.iter().filter_map(|meaning| Some((meaning, dated(meaning)?))).collect();
        match readings.as_slice() {
            [] => (place.end, News::Nothing),
            [(only, _)] => self.settled(&place, only, lang),
            _ => (place.end, self.question(&place, readings.iter().map(|(_, date)| *date))),
        }
    }

    fn phrase(&self, place: &Place<'r, 't>, found: &Found) -> (usize, News) {
        let mut place = *place;
        let last = &self.tokens[place.end - 1];
        // "this morning" is a day and a part of it, and the part stays; the dot of "am 15." may end the sentence.
        let shares_dot = matches!(found.meaning, Meaning::DayOfMonth { .. })
            && last.is('.')
            && place.behind(0).is_none_or(|next| next.breaks > 0);
        if place.end - place.start > 1 && self.book.has(Set::Part, last) || shares_dot {
            place.end -= 1;
        }
        if let Meaning::Weekday { day, weeks: 0 } = found.meaning
            && let Some(read) = self.weekday_in_figures(&place, day, found.lang)
        {
            return read;
        }
        let lang = if found.is_shared() { place.language() } else { found.lang };
        self.settled(&place, &found.meaning, lang)
    }

    /// Reads "Friday, 6.3." as one day. A weekday may tell which of two readings is meant.
    fn weekday_in_figures(&self, place: &Place<'r, 't>, weekday: i8, lang: Lang) -> Option<(usize, News)> {
        let skip = usize::from(place.behind(0).is_some_and(|token| token.is(',')));
        let skip = skip + usize::from(place.is_word(place.behind(skip), &["den", "dem", "the"]));
        let start = place.end + skip;
        self.tokens.get(start).filter(|token| token.kind == Kind::Number && token.breaks == 0)?;
        let figures = numeric::numeric(&self.place(start, start + 1))?;
        let whole = self.place(place.start, figures.end);
        let tense = tense::tense(self.tokens, &(whole.start..whole.end), lang, self.book);
        let fits = |meaning: &&Meaning| {
            resolve(meaning, self.today, tense).is_ok_and(|days| meaning::number(days.first) == weekday)
        };
        let mut readings = figures.readings.iter().filter(fits);
        let only = readings.next().filter(|_| readings.next().is_none())?;
        Some(self.settled(&whole, only, lang))
    }

    fn settled(&self, place: &Place<'r, 't>, meaning: &Meaning, lang: Lang) -> (usize, News) {
        let mut place = *place;
        if self.is_out_of_extent(meaning) {
            return (place.end, News::Nothing);
        }
        let tense = tense::tense(self.tokens, &(place.start..place.end), lang, self.book);
        // "We rewrote it in two weeks" says how long it took.
        if tense == Tense::Past && matches!(meaning, Meaning::Step { n: 1.., .. }) && lang != Lang::Korean {
            return (place.end, News::Nothing);
        }
        let mut days = match resolve(meaning, self.today, tense) {
            Ok(days) => days,
            Err(readings) if readings.is_empty() => return (place.end, News::Nothing),
            Err(readings) => return (place.end, self.question(&place, readings.into_iter())),
        };
        if days.form == Form::Day
            && let Some((end, time)) = clock::clock(&place, lang)
        {
            place.end = end;
            days.time = Some(time);
        }
        let means = render::render(&days, lang, place.first().is_capital());
        let news = self.resolved(&place, means);
        (self.skip_weekday(place.end, &days), news)
    }

    fn is_out_of_extent(&self, meaning: &Meaning) -> bool {
        self.extent == Extent::Relative && meaning.is_partial()
    }

    /// Steps over the weekday in "tomorrow (Tuesday)", which is said already.
    fn skip_weekday(&self, end: usize, days: &Days) -> usize {
        let skip = usize::from(self.tokens.get(end).is_some_and(|token| token.is('(') || token.is(',')));
        let Some(token) = self.tokens.get(end + skip) else { return end };
        let said = [Lang::English, Lang::German, Lang::Korean].into_iter().any(|lang| {
            let mut senses = self.book.lexicon.senses(token.word, lang);
            senses.any(|sense| matches!(sense, Sense::Weekday { day, short: false } if day == meaning::number(days.first)))
        });
        if said && days.form == Form::Day && days.time.is_none() { end + skip + 1 } else { end }
    }

    fn resolved(&self, place: &Place, means: String) -> News {
        let at = place.bytes();
        News::Resolved(Resolved { said: self.text[at.clone()].to_owned(), means }, at)
    }

    fn question(&self, place: &Place, readings: impl Iterator<Item = Date>) -> News {
        let at = place.bytes();
        let readings = readings.map(|date| date.to_string()).collect();
        News::Question(Question { said: self.text[at.clone()].to_owned(), readings }, at)
    }
}
