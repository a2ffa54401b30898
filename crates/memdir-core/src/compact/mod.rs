//! Compaction: a list of messages in, one that fits a budget out, in the same shape.
//!
//! ```text
//!   list ─▶ drop images ─▶ group by round ─▶ sum up the old rounds ─▶ replace them ─▶ restore files ─▶ skills again
//!            (media)         (rounds)           (story, summary)        (plan)          (files)         (skills)
//! ```
//!
//! Each step is taken only if the list does not fit without it: a list within its budget is returned byte for byte. The
//! last rounds stay as they are, to the byte; the ones before them become one message of the user that quotes them. Calls
//! and results stay together, what holds for the whole conversation (`system`) is not touched, and no word is in the
//! result that was not in the list, but for labels. Tokens are estimated as a quarter of the characters of the JSON as it
//! is printed ([`tokens`]). No model is needed; whoever has one gives its words to [`Plan::finish`].
//!
//! Look at [`compact`], then at [`Plan`].

mod contents;
mod files;
mod list;
mod marks;
mod media;
mod plan;
mod references;
mod rounds;
mod size;
mod skills;
pub(crate) mod spans;
mod story;
mod summary;
mod trim;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::secrets::Scanner;

pub use list::Shape;
pub use plan::{Compacted, Plan, Report};
pub use references::{RESTORED_FILES, Reference, References};
pub use size::{CHARS_A_TOKEN, tokens};
pub use summary::HEADINGS;

/// Files that come back take no more, in tokens.
pub const FILES_TOKENS: usize = 50_000;
/// Skills that come back take no more together,
pub const SKILLS_TOKENS: usize = 25_000;
/// and each of them no more.
pub const SKILL_TOKENS: usize = 5_000;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The result has no more tokens.
    pub budget: usize,
    /// As many rounds stay as they are, as far as they fit; `None`: as many as fit into half of the budget.
    pub keep: Option<usize>,
}

/// Why a list cannot be compacted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompactError {
    /// It is not text.
    #[error("the list is not UTF-8: byte {0} is wrong")]
    NotText(usize),
    /// It is not JSON.
    #[error("the list is not JSON: {0}")]
    NotJson(String),
    /// There is no list in it.
    #[error(
        "there is no list of messages: neither an array, nor an object with `messages`, `input` or `contents`"
    )]
    NoList,
    /// One of its parts is no message.
    #[error("part {nth} of the list is no message")]
    NoMessage {
        /// Which one, the first is 1.
        nth: usize,
    },
    /// What may not be touched is too large.
    #[error(
        "{budget} tokens are too few: what is around the messages takes {needed} with the shortest summary"
    )]
    TooSmall {
        /// What was asked for.
        budget: usize,
        /// What is needed at least.
        needed: usize,
    },
}

/// Compacts a list without a model. `scanner` says what may not be quoted.
pub fn compact(input: &[u8], options: &Options, scanner: &Scanner) -> Result<Compacted, CompactError> {
    Ok(Plan::new(input, options)?.finish(None, scanner))
}
