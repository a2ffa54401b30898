//! What a conversation teaches: candidates for memories, each with the words it was taken from.
//!
//! A [`Candidate`] is found by rules ([`by_rules`]) or proposed by a model; both are an [`Extractor`], and both pass the
//! same gates afterwards. It says who said it, for what only a tool said is believed by nobody, and quotes the messages
//! it rests on. Rules make candidates and never memories: only a person turns one of theirs into a memory.
//!
//! ```text
//!   messages ─▶ own words ─▶ sentences ─▶ claims ─▶ reason · occasion · what "that" was ─▶ Candidate
//!               (no code,     (read by     (lasting?     (of the message, or of the
//!                logs, quotes) statement)   by type)      agent's message before it)
//! ```
//!
//! Nothing here reads a file or a repository: only the given messages count, and what they claim is looked up when it is
//! recalled. Look at [`by_rules`] first, then at `claim.rs`, which decides what lasts.

mod claim;
mod confirm;
mod dialogue;
mod explain;
mod fact;
mod make;
mod prose;
mod rules;
mod said;
mod sentence;
mod shape;
mod stranger;
mod told;
mod words;
mod written;

#[cfg(test)]
mod tests;

pub use dialogue::conversation;
pub use make::{Around, Held};
pub use rules::{Rules, by_rules};
pub use said::Said;
pub use told::{Told, told};
pub use written::without_written_turns;

use crate::hash::ContentHash;
use crate::memory::{MemoryName, MemoryType, Provenance, Scope};

/// Something that may be worth remembering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The memory it would be; one that exists already would be brought up to date.
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

impl Candidate {
    /// Says whether nobody believes it before the user has vouched for it.
    pub fn is_quarantined(&self) -> bool {
        matches!(self.provenance, Provenance::Tool | Provenance::Outside)
    }

    /// Identifies what it rests on, so that the same words of a session make one candidate however often they are read.
    pub fn evidence_hash(&self, session: &str) -> ContentHash {
        let mut text = session.to_owned();
        for evidence in &self.evidence {
            text.push('\0');
            text.push_str(&evidence.quote);
        }
        ContentHash::of(text.as_bytes())
    }
}

/// How candidates were found, which decides what may become of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBy {
    /// By rules: they wait for the user's word.
    Rules,
    /// By a model: what the user said is saved, if the gates agree.
    Model,
}

/// Finds what a conversation teaches.
pub trait Extractor {
    /// Finds candidates in `window`, the messages that are new, oldest first. `manifest` lists the memories there are, a
    /// line each.
    fn extract(&mut self, window: &[Said], manifest: &str) -> Result<Vec<Candidate>, ExtractError>;

    /// Says how it finds them.
    fn found_by(&self) -> FoundBy;
}

/// Says that a conversation could not be looked through.
#[derive(Debug, thiserror::Error)]
#[error("what was said could not be looked through")]
pub struct ExtractError(#[source] pub Box<dyn std::error::Error + Send + Sync>);
