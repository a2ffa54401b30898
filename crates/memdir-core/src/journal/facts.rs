//! What of the user's own messages may be worth remembering, by rules.
//!
//! Rules make candidates, never memories: whoever takes these puts them before the user. Only what a person wrote is
//! read, never an answer of a model or a tool.

use jiff::Timestamp;

use crate::statement::{Act, Part, Reading, gist};
use crate::text::is_unspaced;

/// As many candidates a session makes at most, the last ones.
const MAX_FACTS: usize = 20;
/// A message up to this length is one candidate as a whole; of a longer one the sentences are asked.
const MAX_WHOLE: usize = 500;
/// Shorter than this nothing lasting is said: words, or characters where words are not told apart.
const MIN_WORDS: usize = 4;
const MIN_UNSPACED: usize = 8;
/// How sure the reading must be; what sounds like any report of a problem must be surer.
const FLOOR: f32 = 0.6;
const HIGH_FLOOR: f32 = 0.75;

/// Something the user said that may last.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The words.
    pub text: String,
    /// What they do.
    pub act: Act,
    /// When they were said.
    pub at: Option<Timestamp>,
}

/// Finds what may last in the user's messages, which come oldest first.
pub fn facts<'m>(messages: impl Iterator<Item = (Option<Timestamp>, &'m str)>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for (at, message) in messages {
        for (text, act) in lasting(message.trim()) {
            facts.retain(|known| known.text != text);
            facts.push(Fact { text, act, at });
        }
    }
    facts.split_off(facts.len().saturating_sub(MAX_FACTS))
}

fn lasting(message: &str) -> Vec<(String, Act)> {
    if !is_long_enough(message) || message.contains("```") {
        return Vec::new();
    }
    let gist = gist(message);
    if message.len() <= MAX_WHOLE
        && let Some(act) = lasts(&gist.whole)
    {
        return vec![(message.to_owned(), act)];
    }
    let told = gist.parts.iter().filter(|(said, _)| matches!(said.part, Part::Paragraph | Part::Item));
    let told = told.filter(|(said, _)| is_long_enough(said.text));
    told.filter_map(|(said, reading)| Some((said.text.trim().to_owned(), lasts(reading)?))).collect()
}

/// Returns what a sentence does, if that lasts longer than a session.
fn lasts(reading: &Reading) -> Option<Act> {
    let act = reading.act().filter(|_| !reading.is_question())?;
    let floor = match act {
        Act::Rule | Act::Feedback | Act::Preference | Act::Role | Act::Decision | Act::Pointer => FLOOR,
        Act::Context | Act::Gotcha => HIGH_FLOOR,
        _ => return None,
    };
    (reading.likely(act) >= floor).then_some(act)
}

fn is_long_enough(text: &str) -> bool {
    text.split_whitespace().count() >= MIN_WORDS
        || text.chars().filter(|c| is_unspaced(*c)).count() >= MIN_UNSPACED
}
