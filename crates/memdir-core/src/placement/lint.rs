//! Goes through a document and finds the sentences that belong elsewhere.

use super::place::Place;
use crate::statement::{Act, Part, read_text};

/// A sentence that is out of place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misplaced {
    /// The line it begins on, from 1.
    pub line: usize,
    /// The sentence.
    pub sentence: String,
    /// What it does.
    pub act: Act,
    /// Where it belongs; none if something else shows it already.
    pub destination: Option<Place>,
    /// Why.
    pub reason: String,
}

/// A finding must be clearer than a verdict that somebody asked for: this likely, whatever else it may be.
const CLEARLY: f32 = 0.6;

/// Finds what is out of place in a document: state, decisions, history and overview among rules, rules among state.
/// Of the other places nothing is said: people write in them as they like.
pub fn lint(file: Place, text: &str) -> Vec<Misplaced> {
    let wanted: &[Act] = match file {
        Place::Instructions => &[Act::State, Act::Decision, Act::Event, Act::Overview, Act::Task],
        Place::Status => &[Act::Rule],
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for (statement, reading) in read_text(text) {
        if !matches!(statement.part, Part::Paragraph | Part::Item) {
            continue;
        }
        let Some(act) = reading.act().filter(|act| wanted.contains(act)) else { continue };
        if reading.likely(act) >= CLEARLY {
            found.push(misplaced(statement.line, statement.text, act, file));
        }
    }
    found
}

fn misplaced(line: usize, sentence: &str, act: Act, file: Place) -> Misplaced {
    let (destination, what) = match act {
        Act::State => (Some(Place::Status), "where the project stands changes; rules stay"),
        Act::Decision => (Some(Place::Decisions), "a decision is kept with its reasons"),
        Act::Overview => (Some(Place::Readme), "what the project is and how it is used is for everybody"),
        Act::Task => (Some(Place::WorkingMemory), "what a session does is over when it ends"),
        Act::Rule => (Some(Place::Instructions), "a rule is read by every session only there"),
        _ => (None, "git shows it"),
    };
    let reason = format!("{what}; {file} holds {}", file.purpose());
    Misplaced { line, sentence: sentence.to_owned(), act, destination, reason }
}
