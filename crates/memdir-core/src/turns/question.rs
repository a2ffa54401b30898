//! A question about a log, taken apart once.

use std::collections::BTreeSet;

use crate::embed::{self, Row};
use crate::terms::{Term, is_stop_word, terms};

use super::turn::month_term;

/// Those who speak by their part; "user" in a question is a word like any other.
const PARTS: [&str; 6] = ["user", "assistant", "system", "tool", "human", "model"];
/// A short form of a name has as many letters at least: "Mel".
const MIN_SHORT_FORM: usize = 3;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Question {
    terms: Vec<Term>,
    row: Option<Row>,
    names: Vec<Name>,
}

/// A word of a question that may name somebody.
#[derive(Debug, Clone)]
struct Name {
    word: String,
    is_capitalised: bool,
}

impl Question {
    /// Takes a question apart.
    pub fn new(text: &str) -> Self {
        let mut found: BTreeSet<Term> = terms(text).into_iter().map(|found| found.term).collect();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        // "May" within a sentence is the month.
        if words.iter().skip(1).any(|word| *word == "May") {
            found.insert(month_term("may"));
        }
        let name = |word: &&str| Name {
            word: word.to_lowercase(),
            is_capitalised: word.starts_with(char::is_uppercase),
        };
        Self {
            terms: found.into_iter().collect(),
            row: embed::vector(text).map(|vector| vector.to_bytes()),
            names: words.iter().map(name).collect(),
        }
    }

    /// Returns the distinct terms whose counts a log is asked with, in order.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns where the question points.
    pub fn row(&self) -> Option<&Row> {
        self.row.as_ref()
    }

    /// Says whether it names a speaker: by a word of the name, or by a short form that is written like a name.
    pub fn names(&self, speaker: &str) -> bool {
        let speaker = speaker.to_lowercase();
        if PARTS.contains(&speaker.as_str()) {
            return false;
        }
        let mut words = speaker.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.any(|name| self.names.iter().any(|said| said.is_for(name)))
    }
}

impl Name {
    fn is_for(&self, name: &str) -> bool {
        let is_short_form = self.is_capitalised
            && self.word.chars().count() >= MIN_SHORT_FORM
            && name.starts_with(&self.word)
            && !is_stop_word(&self.word);
        self.word == name || is_short_form
    }
}
