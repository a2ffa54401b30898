//! The words by which signs are known, as tables that people can read.
//!
//! Each `.txt` lists, below a [`Sign`], patterns in the language of [`super::pattern`]. Weights are not here: what a
//! sign means is the same in every language.

mod classes;

use std::ops::Range;
use std::sync::LazyLock;

use super::language::{Language, Mix};
use super::pattern::{Choices, Pattern, Row};
use super::sign::Sign;
use super::token::Token;

pub(super) use classes::class;

/// A table ready to be looked into.
struct Lexicon {
    patterns: Vec<(Sign, Pattern)>,
    choices: Choices,
    /// The patterns that begin with each choice.
    by_first: Vec<Vec<usize>>,
    /// The patterns that may begin with anything.
    others: Vec<usize>,
}

impl Lexicon {
    fn new(table: &'static str) -> Self {
        let mut choices = Choices::with_capacity(table.lines().count());
        let patterns = patterns(table, &mut choices);
        let mut by_first: Vec<Vec<usize>> = vec![Vec::new(); choices.len()];
        let mut others = Vec::new();
        for (at, (_, pattern)) in patterns.iter().enumerate() {
            match pattern.first() {
                Some(choice) => by_first[usize::from(choice)].push(at),
                None => others.push(at),
            }
        }
        Self { patterns, choices, by_first, others }
    }

    fn find(&self, tokens: &[Token], starts: &[bool], found: &mut Vec<(Sign, Range<usize>)>) {
        let choices = tokens.iter().map(|token| self.choices.allowing(token)).collect();
        let row = Row { tokens, starts, choices };
        for (at, choices) in row.choices.iter().enumerate() {
            let known = choices.iter().flat_map(|choice| &self.by_first[usize::from(*choice)]);
            for (sign, pattern) in known.chain(&self.others).map(|i| &self.patterns[*i]) {
                if let Some(end) = pattern.matches(&row, at).filter(|end| *end > at) {
                    found.push((*sign, at..end));
                }
            }
        }
    }
}

static SHARED: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(include_str!("shared.txt")));
static ENGLISH: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(include_str!("english.txt")));
static GERMAN: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(include_str!("german.txt")));
static KOREAN: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(include_str!("korean.txt")));

/// Reads a table. The tables are ours, so a sign that is not known is a broken invariant.
fn patterns(table: &'static str, choices: &mut Choices) -> Vec<(Sign, Pattern)> {
    let mut sign = None;
    let mut patterns = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sign = Sign::named(name);
            debug_assert!(sign.is_some(), "no sign is called {name}");
        } else if let Some(sign) = sign {
            patterns.push((sign, Pattern::new(line, choices)));
        }
    }
    patterns
}

/// Finds the signs that the words show, as ranges of tokens.
pub(super) fn find(tokens: &[Token], starts: &[bool], mix: Mix) -> Vec<(Sign, Range<usize>)> {
    let mut found = Vec::new();
    SHARED.find(tokens, starts, &mut found);
    let tables = [(Language::English, &ENGLISH), (Language::German, &GERMAN), (Language::Korean, &KOREAN)];
    for (language, lexicon) in tables {
        if mix.has(language) {
            lexicon.find(tokens, starts, &mut found);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: [&str; 4] = [
        include_str!("shared.txt"),
        include_str!("english.txt"),
        include_str!("german.txt"),
        include_str!("korean.txt"),
    ];

    fn lines() -> impl Iterator<Item = &'static str> {
        TABLES
            .iter()
            .flat_map(|table| table.lines())
            .filter(|line| !line.is_empty() && !line.starts_with("# "))
    }

    #[test]
    fn every_heading_is_a_sign() {
        for name in lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')) {
            assert!(Sign::named(name).is_some(), "{name}");
        }
    }

    /// An element that may be missing at the end matches whatever the rest matches.
    #[test]
    fn no_pattern_ends_in_what_may_be_missing() {
        for line in lines() {
            let last = line.rsplit(' ').next().unwrap_or_default();
            let may_be_missing = last.starts_with("..") || last.len() > 1 && last.starts_with('?');
            assert!(!may_be_missing, "{line}");
        }
    }

    #[test]
    fn every_class_is_known() {
        let kinds = "word path name identifier code command url number day ticket channel commit capital";
        for word in lines().flat_map(|line| line.split([' ', '|'])) {
            let Some(name) = word.trim_start_matches('?').strip_prefix('@') else { continue };
            assert!(!class(name).is_empty() || kinds.split(' ').any(|kind| kind == name), "@{name}");
        }
    }
}
