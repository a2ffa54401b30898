//! Dates in figures: `05.06.2026`, `2026/03/05`, `25/12`, and the ones nobody can be sure of: `5/6`.

use super::cues::Set;
use super::lexicon::{Lang, Sense};
use super::meaning::{Meaning, Which};
use super::place::Place;
use super::token::{Kind, Token};

/// A date in figures that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numeric {
    pub(super) end: usize,
    /// One meaning, or the two that are possible.
    pub(super) readings: Vec<Meaning>,
}

/// Figures with the same mark between them: how many, which mark, where they end.
struct Figures {
    parts: Vec<(i32, usize)>,
    mark: char,
    end: usize,
}

/// Reads the date in figures that begins at token `start`.
pub(super) fn numeric(place: &Place) -> Option<Numeric> {
    let figures = figures(place.tokens, place.start)?;
    let whole = Place { end: figures.end, ..*place };
    if whole.is_bound() || whole.behind(0).is_some_and(|token| token.glued && token.is('/')) {
        return None;
    }
    let readings = match (figures.mark, figures.parts.as_slice()) {
        ('/' | '-' | '.', [(year, 4), (month, _), (day, _)]) => {
            let versions = figures.mark == '.' && whole.language() != Lang::Korean || figures.mark == '-';
            if versions { Vec::new() } else { reading(*day, *month, Which::Year(i16::try_from(*year).ok()?)) }
        }
        ('.', [(day, _), (month, _), (year, 4)]) => {
            reading(*day, *month, Which::Year(i16::try_from(*year).ok()?))
        }
        ('.', [(day, 1..=2), (month, 1..=2), (year, 2)]) if is_german(&whole) => {
            reading(*day, *month, Which::Year(i16::try_from(2000 + *year).ok()?))
        }
        ('.', [(day, _), (month, _)]) => return german(&whole, *day, *month),
        ('/', [(a, 1..=2), (b, 1..=2), (year, len @ (2 | 4))])
        | ('-', [(a, 2), (b, 2), (year, len @ (2 | 4))]) => {
            let year = if *len == 2 { 2000 + *year } else { *year };
            either(*a, *b, Which::Year(i16::try_from(year).ok()?))
        }
        ('/', [(a, 1..=2), (b, 1..=2)]) if (*a, *b) != (24, 7) && is_dated(&whole) => {
            either(*a, *b, Which::Nearest)
        }
        _ => Vec::new(),
    };
    (!readings.is_empty()).then_some(Numeric { end: figures.end, readings })
}

fn figures(tokens: &[Token], start: usize) -> Option<Figures> {
    let number = |at: usize| tokens.get(at).and_then(|token| Some((token.number()?, token.text.len())));
    let mark =
        tokens.get(start + 1).filter(|token| token.glued && token.kind == Kind::Mark)?.text.chars().next()?;
    let mut parts = vec![number(start)?];
    let mut end = start + 1;
    while parts.len() < 3 && tokens.get(end).is_some_and(|token| token.glued && token.is(mark)) {
        let Some(next) = number(end + 1).filter(|_| tokens[end + 1].glued) else { break };
        parts.push(next);
        end += 2;
    }
    (parts.len() > 1).then_some(Figures { parts, mark, end })
}

/// Whether "5.3.26" is a date rather than a version.
fn is_german(place: &Place) -> bool {
    place.language() == Lang::German && (place.is_word(place.before(1), DATED) || weekday_before(place))
}

/// What stands before a German date in figures.
const DATED: &[&str] =
    &["am", "bis", "zum", "vom", "ab", "seit", "den", "dem", "vor", "nach", "von", "stand"];

/// "5.6." in German, where something says that it is a day.
fn german(place: &Place, day: i32, month: i32) -> Option<Numeric> {
    let dot = place.behind(0).filter(|token| token.glued && token.is('.'))?;
    let is_dated = place.is_word(place.before(1), DATED) || weekday_before(place);
    if !is_dated || place.behind(1).is_some_and(|next| next.glued && next.is_wordlike()) {
        return None;
    }
    // At the end of a sentence one dot serves both.
    let serves_both = place.behind(1).is_none_or(|next| next.breaks > 0 || next.is_capital());
    let end = place.end + usize::from(dot.glued && !serves_both);
    let readings = reading(day, month, Which::Nearest);
    (!readings.is_empty()).then_some(Numeric { end, readings })
}

fn weekday_before(place: &Place) -> bool {
    let n = if place.before(1).is_some_and(|token| token.is(',')) { 2 } else { 1 };
    let is_weekday = |sense| matches!(sense, Sense::Weekday { .. });
    place.before(n).is_some_and(|token| {
        let langs = [Lang::English, Lang::German];
        langs.into_iter().any(|lang| place.book.lexicon.senses(token.word, lang).any(is_weekday))
    })
}

/// Whether "5/6" is a date rather than a fraction: a preposition or an event stands before it, or a particle behind.
fn is_dated(place: &Place) -> bool {
    let behind = place.behind(0);
    if place.is_before(1, Set::Counted) || place.is_word(behind, &["of", "the", "a", "an", "der", "aller"]) {
        return false;
    }
    if place.is_word(behind, &["at", "um"]) || place.is_behind(0, Set::Part) || place.is_behind(0, Set::Event)
    {
        return true;
    }
    let particle =
        behind.is_some_and(|token| token.glued && matches!(token.text, "까지" | "에" | "부터" | "에는"));
    if particle {
        return true;
    }
    let has = |set| place.sentence().iter().any(|token| place.book.has(set, token));
    let is = place.is_word(place.before(1), &["is", "was", "ist", "war", "be"]);
    let told = place
        .before(1)
        .is_some_and(|token| matches!(token.text, ":" | "=" | "(") || token.kind == Kind::Hangul);
    let preposition =
        place.is_before(1, Set::Before) && !place.is_word(place.before(1), &["in", "im", "around"]);
    preposition
        || weekday_before(place)
        || place.is_before(1, Set::Event)
        || place.is_before(1, Set::Arrange)
        || is && !has(Set::Counted)
        || told && has(Set::Event)
}

/// The one reading of a day and a month, if there is such a day.
fn reading(day: i32, month: i32, which: Which) -> Vec<Meaning> {
    let (Ok(day), Ok(month)) = (i8::try_from(day), i8::try_from(month)) else { return Vec::new() };
    let exists = (1..=12).contains(&month) && (1..=31).contains(&day);
    if exists { vec![Meaning::MonthDay { month, day, which, weekday: None }] } else { Vec::new() }
}

/// Day and month in either order; one reading if only one of them can be the month, or if both are the same.
fn either(a: i32, b: i32, which: Which) -> Vec<Meaning> {
    let mut readings = reading(b, a, which);
    if a != b {
        readings.extend(reading(a, b, which));
    }
    readings
}
