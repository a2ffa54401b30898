//! Which words of a prompt a note says in other words.
//!
//! For each telling word of the prompt the nearest word of the note counts, as near as it is: `deploy` is matched by
//! `rollout` in part and by itself in whole. Rare words count more. This sees through a change of one word where the
//! vector of a whole text is blurred by all the others.

use std::collections::BTreeSet;

use super::library::Library;
use super::note::Note;
use crate::embed;
use crate::terms::{Term, english_words};

/// As many words of a prompt are compared.
const MAX_ASKED: usize = 24;
/// Words less alike than this have nothing to do with each other.
const UNLIKE: f32 = 0.3;
/// No word is worth more than this by its rarity, nor by the length of its row.
const MAX_RARITY: f32 = 4.5;
const MAX_LENGTH: f32 = 1.5;
const SCALE: f32 = 127.0;

/// As many components of a word's vector are compared; the most important directions come first.
type Word = [i8; embed::COARSE];

/// The words of a prompt with what each is worth.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    words: Vec<(Word, f32)>,
}

/// How much of a prompt a note says in its own words.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Soft {
    /// As a share of the prompt.
    pub(super) share: f32,
    /// Without regard to how long the prompt is.
    pub(super) sum: f32,
}

impl Wanted {
    /// Reads a prompt; `rarity` says how rare a word is in the index.
    pub(super) fn of<L: Library>(
        prompt: &str,
        mut rarity: impl FnMut(Term) -> Result<f32, L::Error>,
    ) -> Result<Self, L::Error> {
        let mut words = Vec::new();
        for (term, word, length) in distinct(prompt, MAX_ASKED) {
            words.push((word, rarity(term)?.min(MAX_RARITY) * length.min(MAX_LENGTH)));
        }
        Ok(Self { words })
    }

    /// Compares the prompt with a note.
    pub(super) fn compare(&self, note: &Note) -> Soft {
        if self.words.is_empty() {
            return Soft::default();
        }
        let gist = note.gist();
        let words = gist.head_words.iter().chain(&gist.body_words);
        let own: Vec<Word> = words.map(|tokens| embed::coarse_of(tokens)).collect();
        let (mut total, mut all) = (1e-6, 0.0);
        for (word, worth) in &self.words {
            total += worth;
            all += worth * nearest(word, &own);
        }
        Soft { share: all / total, sum: (all / 10.0).min(1.5) }
    }
}

/// Returns the telling words of a text, each once, with the length of its row.
fn distinct(text: &str, limit: usize) -> Vec<(Term, Word, f32)> {
    let mut seen = BTreeSet::new();
    let words = english_words(text).into_iter().filter(|(_, term)| seen.insert(*term)).take(limit);
    words
        .filter_map(|(word, term)| {
            embed::word(&word).map(|(vector, length)| (term, first_of(&vector), length))
        })
        .collect()
}

/// Returns the first components of a vector, as long as they are together.
fn first_of(vector: &embed::Vector) -> Word {
    vector.components().first_chunk().map_or([0; embed::COARSE], embed::coarse)
}

/// Returns how near the nearest of some words is: 1 for the word itself, 0 for anything unlike.
fn nearest(word: &Word, others: &[Word]) -> f32 {
    let best = others.iter().map(|other| dot(word, other)).max().unwrap_or_default();
    ((best as f32 / (SCALE * SCALE) - UNLIKE) / (1.0 - UNLIKE)).clamp(0.0, 1.0)
}

/// The dot product of two words, in the blocks that `embed::dot` explains.
fn dot(a: &Word, b: &Word) -> i32 {
    let product = |(&a, &b): (&i8, &i8)| i32::from(a) * i32::from(b);
    let blocks = a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0);
    blocks.map(|(a, b)| a.iter().zip(b).map(product).sum::<i32>()).sum()
}
