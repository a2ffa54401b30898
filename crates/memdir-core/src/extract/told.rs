//! What the user told that may last, as they said it: for a journal and for the notes of a session.
//!
//! The same rules find it as find candidates, but it stays in the user's words and is compared with no memory.

use jiff::Timestamp;

use super::rules::findings;
use super::{Evidence, Said};
use crate::memory::MemoryType;
use crate::statement::{Act, read};
use crate::transcript::Role;

/// As much is told at most, the last of it.
const MAX_TOLD: usize = 20;

/// Something the user said that may last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The words.
    pub text: String,
    /// Whether they tell a decision.
    pub is_decision: bool,
    /// When they were said.
    pub at: Option<Timestamp>,
}

/// Finds what may last in the user's messages, which come oldest first.
pub fn told<'m>(messages: impl Iterator<Item = (Option<Timestamp>, &'m str)>) -> Vec<Told> {
    let window: Vec<Said> = messages.map(|(at, text)| Said::new(Role::User, at, text)).collect();
    let mut told: Vec<Told> = Vec::new();
    for finding in findings(&window, &[]) {
        let text = joined(&finding.evidence, &window);
        let is_project = finding.memory_type.is_none_or(|memory_type| memory_type == MemoryType::Project);
        let is_decision = is_project && read(&text).act() == Some(Act::Decision);
        told.retain(|known| known.text != text);
        told.push(Told { text, is_decision, at: finding.at });
    }
    told.split_off(told.len().saturating_sub(MAX_TOLD))
}

/// Puts quotations together; what was left out between two of them is shown.
fn joined(evidence: &[Evidence], window: &[Said]) -> String {
    let mut text = String::new();
    for (nth, Evidence { message, quote }) in evidence.iter().enumerate() {
        if let Some(before) = nth.checked_sub(1).map(|before| &evidence[before]) {
            let follows = |said: &Said| {
                said.text
                    .split_once(before.quote.as_str())
                    .is_some_and(|(_, rest)| rest.trim_start().starts_with(quote))
            };
            let is_next = before.message == *message && window.get(*message).is_some_and(follows);
            text.push_str(if is_next { " " } else { " … " });
        }
        text.push_str(quote);
    }
    text
}
