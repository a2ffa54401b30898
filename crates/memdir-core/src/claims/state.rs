//! What became of a claim when it was looked up.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::Claim;

/// What looking a claim up showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum State {
    /// It is so.
    Holds {
        /// Where: `src/api.rs:12`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
    /// The thing is not there.
    Missing {
        /// When it went, as far as git tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gone: Option<Gone>,
    },
    /// The thing is in another place.
    Moved {
        /// Where it is now.
        to: String,
        /// When it moved, as far as git tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gone: Option<Gone>,
    },
    /// The thing is another now: a symbol has another name, a dependency another version.
    Changed {
        /// What it is now.
        now: String,
        /// When it changed, as far as git tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gone: Option<Gone>,
    },
    /// The thing left the file it was in; where it is now, a short look does not tell.
    Suspect {
        /// The file.
        left: String,
    },
    /// Its day has come.
    Expired {
        /// The day.
        on: Date,
    },
    /// Nobody can say.
    Unchecked {
        /// Why not.
        why: Why,
    },
}

/// The commit that took a thing away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// The beginning of its hash.
    pub commit: String,
    /// Its day.
    pub on: Date,
}

/// Why a claim was not looked up, or without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Addresses are never fetched.
    Web,
    /// There is no project here to look at.
    Nowhere,
    /// It is about another project or another place of this machine.
    Elsewhere,
    /// The project is too large to be searched whole.
    Large,
    /// Nothing in the project defines such things.
    Unknown,
    /// Neither the disk nor history ever had it: somebody may be about to make it.
    Future,
}

impl Why {
    /// Returns the reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Web => "addresses are not fetched",
            Self::Nowhere => "no project to look at",
            Self::Elsewhere => "not about this project",
            Self::Large => "the project is too large to search whole",
            Self::Unknown => "not known to this project",
            Self::Future => "not there yet",
        }
    }
}

impl State {
    /// Says whether reality is another than the claim.
    pub fn fails(&self) -> bool {
        !matches!(self, Self::Holds { .. } | Self::Unchecked { .. })
    }

    /// Says whether there is an answer.
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Unchecked { .. })
    }

    /// Returns the state as people and programs read it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Holds { .. } => "holds",
            Self::Missing { .. } => "missing",
            Self::Moved { .. } => "moved",
            Self::Changed { .. } => "changed",
            Self::Suspect { .. } => "suspect",
            Self::Expired { .. } => "expired",
            Self::Unchecked { .. } => "unchecked",
        }
    }

    /// Returns the commit that took the thing away, if git tells.
    pub fn gone(&self) -> Option<&Gone> {
        match self {
            Self::Missing { gone } | Self::Moved { gone, .. } | Self::Changed { gone, .. } => gone.as_ref(),
            _ => None,
        }
    }
}

/// A claim that was looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// What the memory says.
    #[serde(flatten)]
    pub claim: Claim,
    /// What is so.
    #[serde(flatten)]
    pub state: State,
    /// When it was last seen to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
}

impl Checked {
    /// Says whether it could be looked up here, and there was no time to.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Unchecked { why: Why::Large })
    }
}

/// When a claim was last seen to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The time.
    pub at: Timestamp,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}
