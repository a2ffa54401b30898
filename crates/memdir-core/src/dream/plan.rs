//! What a dream proposes: operations over versions of memories, each with its reason.
//!
//! A [`Plan`] is a value. Whoever made it (rules, or a model that worked on a copy), review and application look only at
//! what stands in it. Operations come in the order in which they are to be done: one that touches a memory after another
//! did begins with the version that the other left.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::memory::Provenance;

/// Versions by their hash.
pub type Versions = BTreeMap<ContentHash, Vec<u8>>;

/// Who proposes what the rules of this crate find.
pub const RULES: &str = "rules";

/// What can be done to memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// Memories that say the same become one; every sentence survives.
    Merge,
    /// Relative dates become absolute.
    RewriteDates,
    /// Of memories that contradict each other the newest stays.
    Supersede,
    /// A memory that no longer holds leaves for the archive.
    Archive,
    /// A link between memories that are used together.
    Link,
    /// The index page is repaired.
    Reindex,
}

impl OperationKind {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] =
        [Self::Merge, Self::RewriteDates, Self::Supersede, Self::Archive, Self::Link, Self::Reindex];

    /// Returns the word as it stands in a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::RewriteDates => "rewrite-dates",
            Self::Supersede => "supersede",
            Self::Archive => "archive",
            Self::Link => "link",
            Self::Reindex => "reindex",
        }
    }
}

/// One thing that is proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// What is done.
    pub kind: OperationKind,
    /// To which memories, by name.
    pub names: Vec<String>,
    /// The memory that holds afterwards what the others said.
    pub into: Option<String>,
    /// Why, in a sentence.
    pub reason: String,
    /// Whether something could be lost by it, so that a person had better look.
    pub risky: bool,
    /// Who proposes it.
    pub proposer: String,
    /// What becomes of each file.
    pub changes: Vec<FileChange>,
    /// Why it waits, where the review is against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
}

impl Operation {
    /// Returns the names of the memories that leave the vault.
    pub fn leaving(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().filter(|change| change.after.is_none()).map(|change| change.name())
    }
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Where it is below the vault.
    pub path: String,
    /// The version that the operation begins with.
    pub before: ContentHash,
    /// The version it leaves; none if the memory goes to the archive.
    pub after: Option<ContentHash>,
    /// Who said the new version; none if it says what the old one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_by: Option<Provenance>,
}

impl FileChange {
    /// Returns the memory's name.
    pub fn name(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        file.strip_suffix(".md").unwrap_or(file)
    }
}

/// What was looked at and found, by phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// What there is.
    pub orient: Orient,
    /// What was looked into.
    pub gather: Gather,
    /// What becomes one or says more clearly when.
    pub consolidate: Consolidate,
    /// What leaves, and the index page.
    pub prune: Prune,
}

/// What there is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orient {
    /// Memories in the vault.
    pub memories: usize,
    /// Those that a dream never touches: pinned, unreadable, not trusted yet.
    pub untouchable: usize,
    /// Lines of the index page.
    pub index_lines: usize,
}

/// What was looked into.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gather {
    /// Pairs that were compared.
    pub compared: usize,
    /// Pairs that were recalled or used together.
    pub together: usize,
    /// Memories whose targets are gone.
    pub without_target: usize,
}

/// What becomes one or says more clearly when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consolidate {
    /// Groups that are merged.
    pub merged: usize,
    /// Memories that another supersedes.
    pub superseded: usize,
    /// Memories whose dates become absolute.
    pub dated: usize,
    /// Links that are added.
    pub linked: usize,
}

/// What leaves, and the index page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prune {
    /// Memories that leave because they no longer hold.
    pub archived: usize,
    /// Lines of the index page that are put right.
    pub index_repairs: usize,
}

/// A whole proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What was looked at and found.
    pub phases: Phases,
    /// What is proposed, in the order in which it is to be done.
    pub operations: Vec<Operation>,
    /// The bytes of every version that the operations name.
    pub versions: Versions,
    /// How many more were found than one run takes up.
    pub left_over: usize,
}

impl Plan {
    /// Returns the versions that the vault must have for the plan to be carried out, by path.
    pub fn originals(&self) -> BTreeMap<&str, ContentHash> {
        let mut originals = BTreeMap::new();
        for change in self.operations.iter().flat_map(|operation| &operation.changes) {
            originals.entry(change.path.as_str()).or_insert(change.before);
        }
        originals
    }

    /// Returns the names of the memories that leave, each once.
    pub fn leaving(&self) -> BTreeSet<&str> {
        self.operations.iter().flat_map(Operation::leaving).collect()
    }

    /// Says where what a memory said is found afterwards, if it is merged or superseded.
    pub fn successor(&self, name: &str) -> Option<&str> {
        let operation =
            self.operations.iter().find(|operation| operation.leaving().any(|left| left == name))?;
        operation.into.as_deref()
    }
}
