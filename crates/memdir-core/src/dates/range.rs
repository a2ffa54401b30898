//! Ranges of days: "Monday to Wednesday", "Mo–Mi", "월요일부터 수요일까지".
//!
//! The second day is looked for from the first one on. A word between them stays ("to", "bis", "부터"); a dash becomes
//! the word of the language, since `2026-03-09-2026-03-11` could not be read.

use super::context;
use super::grammar::Found;
use super::meaning::{Meaning, resolve};
use super::pattern::is_dash;
use super::place::Place;
use super::token::Kind;
use super::{News, Reader, render, tense};

impl<'r, 't> Reader<'r, 't> {
    /// Reads the range that begins with the day `first` at token `at`, and says where to read on.
    pub(super) fn range(&self, at: usize, first: &Found) -> Option<(usize, News)> {
        let place = self.place(at, at + first.n_tokens);
        let next = self.second_day(&place, first)?;
        let last = self.book.find(self.tokens.get(next..)?, || first.lang).into_iter();
        let last = last.into_iter().find(|last| last.lang == first.lang && last.meaning.is_day())?;
        let last_place = self.place(next, next + last.n_tokens);
        if !context::is_spelled(&place, first) || !context::is_spelled(&last_place, &last) {
            return None;
        }
        let whole = self.place(at, last_place.end);
        let weekdays = is_weekday(first) && is_weekday(&last);
        if weekdays && is_working_week(&place, first, &last) || context::is_left(&whole, first, self.today) {
            return Some((whole.end, News::Nothing));
        }
        if (first.slots.short || last.slots.short) && !(weekdays && place.first().is_capital()) {
            return None;
        }
        let tense = tense::tense(self.tokens, &(whole.start..whole.end), first.lang, self.book);
        let meaning = Meaning::From(Box::new(first.meaning.clone()), Box::new(last.meaning));
        if self.is_out_of_extent(&meaning) {
            return Some((whole.end, News::Nothing));
        }
        let days = resolve(&meaning, self.today, tense).ok()?;
        let means = if is_dash(&self.tokens[place.end]) {
            render::render(&days, first.lang, false)
        } else {
            format!("{}{}{}", days.first, self.between(place.end, next), days.last)
        };
        Some((whole.end, self.resolved(&whole, means)))
    }

    /// Finds where the second day of a range begins.
    fn second_day(&self, place: &Place, first: &Found) -> Option<usize> {
        let connector = place.behind(0).filter(|_| first.meaning.is_day())?;
        let between = place.is_word(place.before(1), &["between", "zwischen"]);
        let connects = is_dash(connector)
            || place.is_word(Some(connector), &["to", "through", "thru", "until", "till", "bis", "부터"])
            || between && place.is_word(Some(connector), &["and", "und"]);
        let article = usize::from(place.is_word(place.behind(1), &["the", "zum", "den"]));
        connects.then_some(place.end + 1 + article)
    }

    /// What was said between two days, without an article that belonged to the second.
    fn between(&self, connector: usize, next: usize) -> &'t str {
        let end = if self.tokens[next - 1].is_word("the") { next - 1 } else { next };
        &self.text[self.tokens[connector - 1].end()..self.tokens[end].start]
    }
}

fn is_weekday(found: &Found) -> bool {
    matches!(found.meaning, Meaning::Weekday { .. })
}

/// "Mon–Fri" and "Monday to Friday" are how opening hours are written; a week that is meant is said with "from".
fn is_working_week(place: &Place, first: &Found, last: &Found) -> bool {
    let said_from = place.is_word(place.before(1), &["from", "von", "vom"])
        || place.behind(0).is_some_and(|connector| connector.kind == Kind::Hangul);
    !said_from && first.slots.weekday == 1 && last.slots.weekday >= 5
}
