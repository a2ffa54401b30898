//! What a text is, by weights that were learned from labelled sentences.
//!
//! Signs that people write down ([`crate::statement`]) say what to look at in three languages; how much each counts,
//! and what the words around it add, is learned from a few thousand sentences. The weights are made by the `learn`
//! program of the test kit, rounded to bytes and compiled in. A reading is one pass over the [`features`] of a text:
//! no model is run, and the same text gives the same answer everywhere.

mod features;
mod model;

use std::sync::OnceLock;

pub use features::{Feature, features};
pub use model::{BUCKETS, Input, Model, Weights, softmax};

static WEIGHTS: &[u8] = include_bytes!("weights.bin");

/// What can be asked about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// What it does: one of the acts, or `none`.
    Act,
    /// Whether it is worth keeping, and if not, what shows it: `keep`, `structure`, `git`, `debugging`, `ephemeral`.
    Gate,
}

impl Question {
    /// Every question.
    pub const ALL: [Self; 2] = [Self::Act, Self::Gate];

    /// Returns its name, in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Gate => "gate",
        }
    }
}

/// Returns each answer to a question and how probable it is for a text with these features.
pub fn answers(question: Question, features: &[Feature]) -> Vec<(&'static str, f32)> {
    let learned = learned();
    match learned.model(question.as_str()) {
        Some(model) => model.read(&Input::new(features, learned.rarity)),
        None => Vec::new(),
    }
}

/// Returns the features that speak most for an answer, against the other answers, the strongest first.
pub fn speaking_for(question: Question, answer: &str, features: &[Feature]) -> Vec<(String, f32)> {
    let learned = learned();
    let Some(model) = learned.model(question.as_str()) else { return Vec::new() };
    let mut speaking: Vec<(String, f32)> = Vec::new();
    for feature in features.iter().filter(|feature| feature.is_told()) {
        let weight = model.weight(feature, answer) * Input::share(feature, features, learned.rarity);
        if weight > 0.0 && speaking.iter().all(|(name, _)| name != feature.told()) {
            speaking.push((feature.told().to_owned(), weight));
        }
    }
    speaking.sort_by(|a, b| b.1.total_cmp(&a.1));
    speaking
}

fn learned() -> &'static Weights<'static> {
    static LEARNED: OnceLock<Weights<'static>> = OnceLock::new();
    LEARNED.get_or_init(|| Weights::parse(WEIGHTS).expect("the weights are compiled in whole"))
}
