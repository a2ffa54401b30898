//! What a sync did, and what it left: everything that `memdir sync` prints.

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::reconcile::Policy;

use super::remote::{RemoteError, Traffic};
use crate::history::ChangeId;

/// What a sync did, and what it left.
#[derive(Debug, Default)]
pub struct Report {
    /// With whom.
    pub label: String,
    /// By which policy.
    pub policy: Policy,
    /// Sent.
    pub pushed: Vec<String>,
    /// Taken over.
    pub pulled: Vec<String>,
    /// Both sides became one text.
    pub merged: Vec<String>,
    /// Went to the trash here, because they were deleted there.
    pub deleted_here: Vec<String>,
    /// Taken away here with every version, because they were erased there.
    pub erased_here: Vec<String>,
    /// Of those that went to the trash here: which somebody erased there with every version.
    pub erased_there: Vec<String>,
    /// Deleted there, because they were deleted or made private here.
    pub deleted_there: Vec<String>,
    /// Both versions were kept.
    pub conflicts: Vec<Conflict>,
    /// Wait until the user trusts their authors.
    pub held: Vec<Held>,
    /// Stay as they are on both sides.
    pub refused: Vec<Refused>,
    /// Deleted on one side and edited on the other: the edit stands.
    pub survived: Vec<String>,
    /// Other texts of ours that gave way; they are in history.
    pub replaced: Vec<String>,
    /// How many cannot be seen for now: another branch is checked out.
    pub n_away: usize,
    /// What was asked and moved.
    pub traffic: Traffic,
    /// The change of the vault.
    pub change: Option<ChangeId>,
    /// Every version that came in, with who wrote it.
    pub authors: Vec<(MemoryPath, ContentHash, Option<String>)>,
    /// Why sending ended early.
    pub cut: Option<RemoteError>,
    /// Whether something is left for another run.
    pub unfinished: bool,
}

/// Two versions that could not become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The memory, which now says what is said there.
    pub name: String,
    /// The memory that says what was said here.
    pub copy: String,
}

/// A version that waits for trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Which memory.
    pub name: String,
    /// Who wrote it, if anybody knows.
    pub author: Option<String>,
    /// When, by the clock there.
    pub at: Option<Timestamp>,
    /// What it is about, in one line; nothing for one that is to be deleted.
    pub description: String,
}

/// A key that did not travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Which memory; may hold anything where the other side made it up.
    pub name: String,
    /// Why, as a word.
    pub rule: String,
    /// Why, for people.
    pub why: String,
    /// On which line.
    pub line: Option<usize>,
}

impl Refused {
    /// Says why a memory did not travel.
    pub(super) fn new(path: &MemoryPath, rule: &str, why: String) -> Self {
        Self { name: path.stem().to_owned(), rule: rule.to_owned(), why, line: None }
    }
}

impl Report {
    /// Says whether both sides are the same, as far as they share anything.
    pub fn is_in_sync(&self) -> bool {
        self.refused.is_empty() && self.held.is_empty() && self.cut.is_none() && !self.unfinished
    }

    /// Adds what was done for another vault, whose memories are told apart by a prefix.
    pub fn add(&mut self, other: Self, prefix: &str) {
        let named = |names: Vec<String>| names.into_iter().map(move |name| format!("{prefix}{name}"));
        self.pushed.extend(named(other.pushed));
        self.pulled.extend(named(other.pulled));
        self.merged.extend(named(other.merged));
        self.deleted_here.extend(named(other.deleted_here));
        self.erased_here.extend(named(other.erased_here));
        self.erased_there.extend(named(other.erased_there));
        self.deleted_there.extend(named(other.deleted_there));
        self.survived.extend(named(other.survived));
        self.replaced.extend(named(other.replaced));
        self.conflicts.extend(other.conflicts.into_iter().map(|conflict| Conflict {
            name: format!("{prefix}{}", conflict.name),
            copy: format!("{prefix}{}", conflict.copy),
        }));
        self.held.extend(
            other.held.into_iter().map(|held| Held { name: format!("{prefix}{}", held.name), ..held }),
        );
        let refused = other.refused.into_iter();
        self.refused.extend(refused.map(|one| Refused { name: format!("{prefix}{}", one.name), ..one }));
        self.n_away += other.n_away;
        self.traffic.requests += other.traffic.requests;
        self.traffic.sent += other.traffic.sent;
        self.traffic.received += other.traffic.received;
        self.cut = self.cut.take().or(other.cut);
        self.unfinished |= other.unfinished;
    }

    /// Says whether nothing was to be done.
    pub fn is_idle(&self) -> bool {
        let lists = [
            &self.pushed,
            &self.pulled,
            &self.merged,
            &self.deleted_here,
            &self.erased_here,
            &self.deleted_there,
            &self.replaced,
        ];
        lists.iter().all(|list| list.is_empty()) && self.conflicts.is_empty()
    }
}
