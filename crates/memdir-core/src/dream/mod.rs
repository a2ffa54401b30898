//! What a vault would be with everything that it has learned: what says the same becomes one, what no longer holds leaves.
//!
//! A dream runs in four phases. It *orients* itself (what is there, what may be touched), *gathers* (which memories are worth
//! comparing, which were used together, whose targets are gone), *consolidates* (merges, supersedes, makes dates absolute,
//! links) and *prunes* (into the archive, off the index page). [`plan()`] does all four as a function from memories to a
//! [`Plan`]; nothing is changed here. No model is needed: the rules compare words, values and dates, and where they are in
//! doubt they leave a memory alone. A model may propose a [`Plan`] of its own: [`review()`] and whoever applies it do not ask
//! who made it.
//!
//! ```text
//!   memories ─▶ dates ─▶ endings ─▶ candidates ─▶ relation ─▶ supersede · merge ─▶ link ─▶ reindex ─▶ Plan ─▶ review
//! ```
//!
//! Look at [`plan()`] first, then at `compare.rs`, which decides what two memories are to each other.

mod advice;
mod compare;
mod dating;
mod ending;
mod gate;
mod grouping;
mod holder;
mod linking;
mod merging;
mod pairs;
mod plan;
mod planner;
mod report;
mod review;
mod saying;
mod subject;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::hash::ContentHash;
use crate::memory::{Document, Memory, MemoryPath, Problem, Provenance, folded};
use crate::recall::Together;

pub use advice::{Advice, Declined, MODEL, take_advice};
pub use gate::{Decision, Limits, Rest, decide};
pub use plan::{
    Consolidate, FileChange, Gather, Operation, OperationKind, Orient, Phases, Plan, Prune, RULES, Versions,
};
pub use planner::{plan, plan_while};
pub use report::{operation_line, phase_lines, replay_line, report};
pub use review::{MAX_LEAVING, Mode, Past, Replay, Split, Worse, leaves_too_many, review, split};

/// A memory as a dream reads it.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it is below the vault.
    pub path: MemoryPath,
    /// The file.
    pub document: Document,
    /// What it says.
    pub memory: Memory,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// When the file was last written.
    pub written: Timestamp,
    /// Who said it.
    pub said_by: Provenance,
    /// Whether nobody has vouched for it yet.
    pub is_untrusted: bool,
}

impl Source {
    /// Reads a memory out of its bytes.
    pub fn read(path: MemoryPath, bytes: &[u8], written: Timestamp) -> Self {
        let document = Document::parse(bytes);
        let (memory, problems) = Memory::read(&path, &document);
        let (said_by, is_untrusted) = (Provenance::User, false);
        Self { path, document, memory, problems, written, said_by, is_untrusted }
    }

    /// Returns the version.
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(self.document.bytes())
    }

    /// Returns the body as text.
    pub fn body(&self) -> String {
        String::from_utf8_lossy(self.document.body()).into_owned()
    }

    /// Returns when the memory was last given its content.
    pub fn said(&self) -> Timestamp {
        self.memory.modified.or(self.memory.created).unwrap_or(self.written)
    }

    /// Returns the memory with another text.
    fn with(&self, document: Document) -> Self {
        let (memory, problems) = Memory::read(&self.path, &document);
        Self { document, memory, problems, ..self.clone() }
    }
}

/// What is known beside the memories.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// How often two memories came up together; the names of each pair in order.
    pub together: BTreeMap<(String, String), Together>,
    /// Memories that only point to something, and what they pointed to before it went.
    pub missing: BTreeMap<String, String>,
    /// Names that left for the archive earlier.
    pub archived: BTreeSet<String>,
    /// The names and aliases that links resolve to, folded.
    pub names: BTreeSet<String>,
    /// The index page.
    pub page: Option<Vec<u8>>,
}

impl Evidence {
    /// Collects the names that links resolve to.
    pub fn with_names<'s>(mut self, sources: impl IntoIterator<Item = &'s Source>) -> Self {
        for source in sources {
            let aliases = source.memory.aliases.iter().map(String::as_str);
            let names = [source.path.stem(), source.memory.name.as_str()].into_iter().chain(aliases);
            self.names.extend(names.map(folded));
        }
        self
    }

    /// Says whether a link leads somewhere.
    pub fn resolves(&self, name: &str) -> bool {
        self.names.contains(&folded(name))
    }
}
