//! A place in a text: which tokens a phrase covers, and what stands around it.

use std::ops::Range;

use jiff::civil::Date;

use super::cues::Set;
use super::grammar::Book;
use super::lexicon::Lang;
use super::pattern::is_dash;
use super::token::{Kind, Token};

/// How far around a phrase its language and habits are looked for.
const REACH: usize = 30;

/// The tokens `at` of a text, with their surroundings.
#[derive(Clone, Copy)]
pub(super) struct Place<'p, 't> {
    pub(super) tokens: &'p [Token<'t>],
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) book: &'p Book,
}

impl<'p, 't> Place<'p, 't> {
    pub(super) fn first(&self) -> &'p Token<'t> {
        &self.tokens[self.start]
    }

    /// The token so many before the phrase, on the same line or wrapped.
    pub(super) fn before(&self, n: usize) -> Option<&'p Token<'t>> {
        let at = self.start.checked_sub(n)?;
        let same_block = self.tokens[at + 1..=self.start].iter().all(|token| token.breaks <= 1);
        same_block.then(|| &self.tokens[at])
    }

    /// The token so many behind the phrase, 0 for the next one.
    pub(super) fn behind(&self, n: usize) -> Option<&'p Token<'t>> {
        let token = self.tokens.get(self.end + n)?;
        let same_block = self.tokens[self.end..=self.end + n].iter().all(|token| token.breaks <= 1);
        same_block.then_some(token)
    }

    pub(super) fn is_before(&self, n: usize, set: Set) -> bool {
        self.before(n).is_some_and(|token| self.book.has(set, token))
    }

    pub(super) fn is_behind(&self, n: usize, set: Set) -> bool {
        self.behind(n).is_some_and(|token| self.book.has(set, token))
    }

    pub(super) fn is_word(&self, token: Option<&Token>, words: &[&str]) -> bool {
        token.is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    }

    /// Whether a number of one or two figures stands behind; a year is more likely the beginning of a date.
    pub(super) fn is_figure_behind(&self, n: usize) -> bool {
        self.behind(n).is_some_and(|token| token.kind == Kind::Number && token.text.len() <= 2)
    }

    /// The tokens of the sentence around the phrase, as far as we look.
    pub(super) fn sentence(&self) -> &'p [Token<'t>] {
        let ends = |token: &Token| matches!(token.text, "!" | "?" | ";") || token.text == ".";
        let first = self.start.saturating_sub(REACH);
        let stops = |i: usize| {
            let next_glued = self.tokens.get(i + 1).is_some_and(|next| next.glued);
            ends(&self.tokens[i]) && !next_glued
        };
        let start = (first..self.start)
            .rev()
            .find(|&i| stops(i) || self.tokens[i + 1].breaks > 0)
            .map_or(first, |i| i + 1);
        let last = (self.end + REACH).min(self.tokens.len());
        let end = (self.end..last).find(|&i| stops(i) || self.tokens[i].breaks > 0).unwrap_or(last);
        &self.tokens[start..end]
    }

    /// Guesses the language of the sentence.
    pub(super) fn language(&self) -> Lang {
        let sentence = self.sentence();
        let count = |set| sentence.iter().filter(|token| self.book.has(set, token)).count();
        if sentence.iter().any(|token| token.kind == Kind::Hangul) {
            return Lang::Korean;
        }
        let umlauts =
            sentence.iter().filter(|token| token.text.contains(['ä', 'ö', 'ü', 'ß', 'Ä', 'Ö', 'Ü'])).count();
        if count(Set::German) + umlauts > count(Set::English) { Lang::German } else { Lang::English }
    }

    /// Whether the phrase is a part of a longer name: `next_week`, `today.rs`, `tomorrow-io`, `today()`, `@today`.
    pub(super) fn is_bound(&self) -> bool {
        self.is_bound_before() || self.is_bound_behind()
    }

    fn is_bound_before(&self) -> bool {
        if !self.first().glued {
            return false;
        }
        let Some(mark) = self.before(1) else { return false };
        let inner = mark.glued && self.before(2).is_some_and(|token| token.is_wordlike() || token.is('-'));
        match mark.kind {
            Kind::Word | Kind::Number | Kind::Hangul => true,
            Kind::Opaque => false,
            Kind::Mark => match mark.text {
                "/" | "\\" | "@" | "#" | "$" | "%" | "=" | "&" => true,
                "_" | "-" | "." | ":" | "+" | "," => inner,
                "'" | "’" => inner,
                _ => false,
            },
        }
    }

    fn is_bound_behind(&self) -> bool {
        let Some(mark) = self.behind(0).filter(|token| token.glued) else { return false };
        let next = self.behind(1).filter(|token| token.glued);
        let inner = next.is_some_and(Token::is_wordlike);
        match mark.kind {
            Kind::Hangul => !self.book.has(Set::Particle, mark) || !self.ends_in_particles(),
            Kind::Word | Kind::Number => true,
            Kind::Opaque => false,
            Kind::Mark => match mark.text {
                "/" | "\\" | "%" | "=" | "@" => true,
                "_" | "-" | "." | ":" | "+" | "," => inner,
                "(" => next.is_some_and(|token| token.is(')') || token.text == "s"),
                "'" | "’" => inner && next.is_none_or(|token| token.text != "s"),
                _ => false,
            },
        }
    }

    /// Whether nothing but particles is glued to a Korean phrase.
    fn ends_in_particles(&self) -> bool {
        let glued =
            self.tokens[self.end..].iter().take_while(|token| token.glued && token.kind == Kind::Hangul);
        glued.into_iter().take(4).all(|token| self.book.has(Set::Particle, token))
    }

    /// Whether the phrase is a line's whole text behind `#`, or a cell of a table.
    pub(super) fn is_heading(&self) -> bool {
        let ends = self.tokens.get(self.end).is_none_or(|token| token.breaks > 0);
        let headed = self.before(1).is_some_and(|token| token.is('#'));
        let cell = |token: Option<&Token>| token.is_some_and(|token| token.is('|'));
        headed && ends || cell(self.before(1)) && cell(self.behind(0))
    }

    /// Reads the ISO dates that stand beside the phrase, with a comma or bracket between them or not.
    pub(super) fn iso_beside(&self) -> impl Iterator<Item = Date> {
        let skip = |token: Option<&Token>| {
            usize::from(token.is_some_and(|t| matches!(t.text, "," | "(" | ")" | "[")))
        };
        let behind = iso(self.tokens, self.end + skip(self.behind(0)));
        let before = self.start.checked_sub(5 + skip(self.before(1))).and_then(|at| iso(self.tokens, at));
        behind.into_iter().chain(before)
    }

    /// Whether a date or a month in digits, as this module writes them, begins `n` tokens behind the phrase.
    pub(super) fn is_written_behind(&self, n: usize) -> bool {
        iso_month(self.tokens, self.end + n).is_some()
    }

    /// How many tokens the date or month in digits has that ends `n` tokens before the phrase.
    pub(super) fn written_before(&self, n: usize) -> Option<usize> {
        let end = self.start.checked_sub(n - 1)?;
        let begins = |len: usize| end.checked_sub(len);
        if begins(5).is_some_and(|at| iso(self.tokens, at).is_some()) {
            return Some(5);
        }
        begins(3).is_some_and(|at| iso_month(self.tokens, at).is_some()).then_some(3)
    }

    /// Whether the phrase follows an ISO date at once.
    pub(super) fn follows_iso(&self) -> bool {
        self.start.checked_sub(5).is_some_and(|at| iso(self.tokens, at).is_some())
    }

    pub(super) fn bytes(&self) -> Range<usize> {
        self.tokens[self.start].start..self.tokens[self.end - 1].end()
    }
}

/// Reads the ISO date whose five tokens begin at `at`.
fn iso(tokens: &[Token], at: usize) -> Option<Date> {
    let first = iso_month(tokens, at)?;
    let [dash, day] = tokens.get(at + 3..at + 5)? else { return None };
    first.with().day(iso_part(dash, day)?).build().ok()
}

/// Reads the year and month whose three tokens begin at `at`, as the first day of that month.
fn iso_month(tokens: &[Token], at: usize) -> Option<Date> {
    let [year, dash, month] = tokens.get(at..at + 3)? else { return None };
    let year = (year.text.len() == 4).then(|| year.number())??;
    Date::new(i16::try_from(year).ok()?, iso_part(dash, month)?, 1).ok()
}

/// Reads the two digits behind a dash.
fn iso_part(dash: &Token, digits: &Token) -> Option<i8> {
    let joined = dash.glued && digits.glued && is_dash(dash) && digits.text.len() == 2;
    i8::try_from(joined.then(|| digits.number())??).ok()
}
