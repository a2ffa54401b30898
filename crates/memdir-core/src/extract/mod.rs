//! What a conversation teaches: candidates for memories, each with the words it was taken from.
//!
//! A [`Candidate`] is found by rules or proposed by a model; both pass the same gates afterwards. It says who said it, for
//! what only a tool said is believed by nobody, and quotes the messages it rests on.

use crate::memory::{MemoryName, MemoryType, Provenance, Scope};

/// Something that may be worth remembering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The memory it would be.
    pub name: MemoryName,
    /// Which of the four.
    pub memory_type: MemoryType,
    /// A finer kind, where one is clear.
    pub kind: Option<String>,
    /// Who may see it.
    pub scope: Scope,
    /// One line, by which its relevance is decided.
    pub description: String,
    /// What it says.
    pub body: String,
    /// Who said it, by the weakest of its evidence.
    pub provenance: Provenance,
    /// Where it was said.
    pub evidence: Vec<Evidence>,
}

/// Where something was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Which message of those that were given, from 0.
    pub message: usize,
    /// Its words, as they stand there.
    pub quote: String,
}
