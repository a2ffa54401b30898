//! What each part of a turn's score counts: one table, set by measurement.

use std::fmt::Write as _;

/// What each part counts; see [`super::Features`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// The words of the turn.
    pub words: f32,
    /// The words of the turn and those beside it.
    pub window: f32,
    /// The turn's meaning.
    pub meaning: f32,
    /// The nearest sentence.
    pub sentence: f32,
    /// The score of each neighbour.
    pub neighbours: f32,
    /// The words of the session.
    pub session: f32,
    /// That the question names who speaks.
    pub speaker: f32,
}

/// How many weights there are.
pub(super) const N_WEIGHTS: usize = 7;

const NAMES: [&str; N_WEIGHTS] =
    ["words", "window", "meaning", "sentence", "neighbours", "session", "speaker"];
const TABLE: &str = include_str!("weights.txt");

impl Weights {
    /// Returns the weights that were fitted.
    pub fn fitted() -> Self {
        Self::parse(TABLE).expect("the table is ours, and a test reads it")
    }

    /// Reads a table of `name value` lines; `None` if a name is unknown or missing.
    pub fn parse(table: &str) -> Option<Self> {
        let mut found = [None; N_WEIGHTS];
        for line in table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (name, value) = line.split_once(' ')?;
            let at = NAMES.iter().position(|known| *known == name)?;
            found[at] = Some(value.trim().parse().ok()?);
        }
        let mut weights = [0.0; N_WEIGHTS];
        for (weight, found) in weights.iter_mut().zip(found) {
            *weight = found?;
        }
        Some(Self::from_array(weights))
    }

    /// Writes the table.
    pub fn to_table(&self) -> String {
        let mut table =
            String::from("# Fitted by `memdir bench tune --docs … --queries …`; see docs/recall.md.\n");
        for (name, weight) in NAMES.iter().zip(self.to_array()) {
            // Writing into a string cannot fail.
            let _ = writeln!(table, "{name} {weight:.2}");
        }
        table
    }

    /// Returns the weights in the order of the table.
    pub(super) fn to_array(self) -> [f32; N_WEIGHTS] {
        let Self { words, window, meaning, sentence, neighbours, session, speaker } = self;
        [words, window, meaning, sentence, neighbours, session, speaker]
    }

    /// Takes weights in the order of the table.
    pub(super) fn from_array(weights: [f32; N_WEIGHTS]) -> Self {
        let [words, window, meaning, sentence, neighbours, session, speaker] = weights;
        Self { words, window, meaning, sentence, neighbours, session, speaker }
    }
}
