//! A proposed edit of a vault, and who proposes it.
//!
//! Whatever writes (a person, an agent, a dream, a teammate) builds a [`ChangeSet`] and hands it to the one door.
//! An edit carries the bytes it was based on, so that the door can tell, and merge, what changed meanwhile.

use crate::memory::words::words;
use crate::memory::{MemoryPath, Provenance};

words! {
    /// Who proposes a change.
    Author, "author" {
        /// A person at the command line or in an editor.
        Person = "person",
        /// A coding agent, in its turn.
        Agent = "agent",
        /// Background extraction from a session.
        Extraction = "extraction",
        /// Consolidation.
        Dream = "dream",
        /// A teammate.
        Team = "team",
        /// An import from another program.
        Import = "import",
        /// A program that does not know us: noticed, not proposed.
        Outside = "outside",
    }
}

words! {
    /// Through which part of memdir a change came.
    Surface, "surface" {
        /// The command line.
        Cli = "cli",
        /// The MCP server.
        Mcp = "mcp",
        /// A hook of an agent.
        Hook = "hook",
        /// Consolidation.
        Dream = "dream",
        /// Team sync.
        Sync = "sync",
        /// The web page.
        Ui = "ui",
    }
}

/// Edits that happen together or not at all.
#[derive(Debug, Clone)]
pub struct ChangeSet {
    /// Who proposes them.
    pub author: Author,
    /// Through which part of memdir.
    pub by: Surface,
    /// Who said what the new texts hold; decides what a memory may do.
    pub provenance: Provenance,
    /// Why, in a few words, for the log.
    pub reason: String,
    /// The session it came from.
    pub session: Option<String>,
    /// Why a gate's refusal is to be passed over; kept in the log.
    pub force: Option<String>,
    /// What is to change.
    pub edits: Vec<Edit>,
}

/// One file of a change set.
#[derive(Debug, Clone)]
pub enum Edit {
    /// A memory that is not there yet.
    Create { path: MemoryPath, text: Vec<u8> },
    /// A new version of a memory, and the version it was made from.
    Replace { path: MemoryPath, base: Vec<u8>, text: Vec<u8> },
    /// A memory under another name, and the version it was made from.
    Rename { from: MemoryPath, base: Vec<u8>, to: MemoryPath, text: Vec<u8> },
    /// A memory that leaves the vault, the version that was seen, and where it goes.
    Remove { path: MemoryPath, base: Vec<u8>, into: Exit },
}

/// Where a memory goes that leaves its vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// To the trash, for as long as it can be undone.
    Trash,
    /// To the archive, with this text, until it is erased.
    Archive(Vec<u8>),
    /// To the user vault, with this text and under this name.
    UserVault(MemoryPath, Vec<u8>),
}

impl Edit {
    /// Returns the memory the edit is about: for a rename, the old one.
    pub fn path(&self) -> &MemoryPath {
        match self {
            Self::Create { path, .. } | Self::Replace { path, .. } | Self::Remove { path, .. } => path,
            Self::Rename { from, .. } => from,
        }
    }
}
