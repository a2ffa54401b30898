//! Every word that some table knows, as a number, with what it stands for in each language.
//!
//! Words are compared folded: lower case, and the German umlauts spelled out, so that "Übermorgen", "übermorgen"
//! and "uebermorgen" are one word. The lexicon is built once from the grammars and the cue lists.

use std::collections::HashMap;

/// A word of the lexicon; [`UNKNOWN`] for every other.
pub(super) type WordId = u16;
pub(super) const UNKNOWN: WordId = 0;

/// A language that phrases are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lang {
    English,
    German,
    Korean,
}

/// A length of time that phrases count in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// What a word stands for where a grammar leaves a place open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// A weekday, Monday = 1. A short form is a word only in company ("by Sun", never "the Sun").
    Weekday {
        day: i8,
        short: bool,
    },
    /// A month. Some names are other words too, unless a number or a preposition stands beside them.
    Month {
        month: i8,
        short: bool,
    },
    Number(i32),
    /// "third", where quarters are counted.
    Ordinal(i32),
    /// What is counted: "weeks".
    Unit(Unit),
    /// What is pointed at: "this week", "Ende des Monats".
    Period(Unit),
    /// A number and its unit in one word: "이틀".
    Span(i32, Unit),
}

/// Longer runs of Hangul than the longest word we know.
const LONGEST_KOREAN: usize = 5;

#[derive(Debug, Default)]
pub(super) struct Lexicon {
    ids: HashMap<&'static str, WordId>,
    senses: Vec<Vec<(Lang, Sense)>>,
}

impl Lexicon {
    /// Enters a word, given folded.
    pub(super) fn enter(&mut self, word: &'static str) -> WordId {
        debug_assert_eq!(fold(word), word, "the tables are written folded");
        if self.senses.is_empty() {
            self.senses.push(Vec::new());
        }
        if let Some(&id) = self.ids.get(word) {
            return id;
        }
        let id = WordId::try_from(self.senses.len()).expect("the tables hold a few hundred words");
        self.ids.insert(word, id);
        self.senses.push(Vec::new());
        id
    }

    pub(super) fn enter_sense(&mut self, word: &'static str, lang: Lang, sense: Sense) -> WordId {
        let id = self.enter(word);
        self.senses[usize::from(id)].push((lang, sense));
        id
    }

    /// Looks a word of a text up.
    pub(super) fn word(&self, word: &str) -> WordId {
        const LONGEST: usize = 24;
        if word.len() > LONGEST {
            return UNKNOWN;
        }
        let mut folded = [0; LONGEST];
        if word.is_ascii() {
            let folded = &mut folded[..word.len()];
            folded.copy_from_slice(word.as_bytes());
            folded.make_ascii_lowercase();
            return std::str::from_utf8(folded).map_or(UNKNOWN, |folded| self.id(folded));
        }
        self.id(&fold(word))
    }

    /// Finds the longest known word that a run of Hangul begins with, with its length in bytes.
    pub(super) fn korean_prefix(&self, run: &str) -> Option<(usize, WordId)> {
        let ends = run.char_indices().map(|(at, c)| at + c.len_utf8()).take(LONGEST_KOREAN);
        let ends: Vec<usize> = ends.collect();
        ends.into_iter().rev().map(|end| (end, self.id(&run[..end]))).find(|&(_, id)| id != UNKNOWN)
    }

    pub(super) fn senses(&self, word: WordId, lang: Lang) -> impl Iterator<Item = Sense> {
        let senses = self.senses[usize::from(word)].iter();
        senses.filter(move |(of, _)| *of == lang).map(|&(_, sense)| sense)
    }

    /// Lists what a word stands for in any language.
    pub(super) fn all_senses(&self, word: WordId) -> impl Iterator<Item = (Lang, Sense)> {
        self.senses[usize::from(word)].iter().copied()
    }

    pub(super) fn id(&self, folded: &str) -> WordId {
        self.ids.get(folded).copied().unwrap_or(UNKNOWN)
    }

    pub(super) fn len(&self) -> usize {
        self.senses.len()
    }
}

/// Lower case, umlauts spelled out.
pub(super) fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len() + 2);
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            'ä' => folded.push_str("ae"),
            'ö' => folded.push_str("oe"),
            'ü' => folded.push_str("ue"),
            'ß' => folded.push_str("ss"),
            _ => folded.push(c),
        }
    }
    folded
}
