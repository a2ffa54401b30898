//! What a memory claims about the world that can be looked up, and what became of it.
//!
//! A memory that names a file, a function or a flag was right when it was written. [`claims`] finds what it names,
//! somebody looks each claim up (`memdir_store::verify` does) and answers with a [`State`], and a [`Verification`] says
//! what that makes of the memory: verified, stale, or neither. No model is needed for any of it.
//!
//! A wrong alarm costs more than a missed one, so a claim knows whether it is firm. What only looks like a path or a
//! name counts for nothing unless the project knows it, now or in its history; a sentence that says that a thing is
//! gone claims nothing about it. How long a memory lay unused is another question, asked elsewhere.
//!
//! Look at [`Claim`] first, then at [`Verification::clause`].

mod commands;
mod find;
mod manner;
mod numbers;
mod state;
mod verification;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use commands::flag_spellings;
pub use find::claims;
pub use state::{Checked, Gone, Held, State, Why};
pub use verification::{OLD_AFTER_DAYS, Verdict, Verification};

/// Most claims of one memory that are looked up: a memory is a note.
pub const MAX_CLAIMS: usize = 64;

/// Something a memory says that can be looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What kind of thing it is about.
    pub kind: ClaimKind,
    /// The thing: a path, a name, `--flag`, `make target`, an address, `axum 0.7`, a day, a branch, a hash.
    pub value: String,
    /// Where it should be: the file of a symbol, the program of a flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The line that a path was named with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Where the memory says it.
    pub source: Source,
    /// Whether it is surely meant as what it looks like.
    pub firm: bool,
}

impl Claim {
    /// Says whether both are about the same thing.
    pub fn is_about(&self, other: &Self) -> bool {
        self.kind == other.kind && self.value == other.value && self.within == other.within
    }
}

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// A file or a directory exists.
    Path,
    /// The code has a name.
    Symbol,
    /// The code knows an option.
    Flag,
    /// A build file defines a task.
    Command,
    /// A page on the web; never fetched.
    Url,
    /// A dependency or a language has a version.
    Version,
    /// Something is so until a day.
    Date,
    /// A branch or a tag exists.
    Branch,
    /// A commit exists.
    Commit,
}

impl ClaimKind {
    /// Returns the kind as people and programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Symbol => "symbol",
            Self::Flag => "flag",
            Self::Command => "command",
            Self::Url => "url",
            Self::Version => "version",
            Self::Date => "date",
            Self::Branch => "branch",
            Self::Commit => "commit",
        }
    }
}

/// Where a memory says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The list that the author made for checking.
    Evidence,
    /// The day after which the memory is stale, by its frontmatter.
    Expires,
    /// The description.
    Description,
    /// The body.
    Body,
}

impl Source {
    /// Returns the source as people and programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Expires => "expires",
            Self::Description => "description",
            Self::Body => "body",
        }
    }
}
