//! What an agent should be reminded of: the right memory, or nothing.
//!
//! A [`Moment`] is what happens in a session: a prompt and the signals around it. Candidates come from an index behind the
//! [`Library`] trait, each gets [`Parts`] that say what speaks for it, and a table of fitted [`Weights`] makes one
//! probability of them. Below a floor nothing is shown: a wrong reminder costs more than none. Look at [`recall`] first,
//! then at `parts.rs`, which names everything that counts.

mod chores;
mod edges;
mod gather;
mod gist;
mod library;
mod note;
mod parts;
mod prompt;
mod rank;
mod soft;
mod trigger;
pub mod tune;

pub use edges::{Edge, EdgeKind, Together, edges};
pub use gist::Gist;
pub use library::{DocId, Library, Near, Posting, Shelf};
pub use note::{Entry, Note, with_rules};
pub use parts::{N_PARTS, Part, Parts, Weights};
pub use prompt::{Moment, asks_for_memory, is_single_word};
pub use rank::{Hit, MAX_SHOWN, Recalled, Skipped, Standing, Unknown, choose, rank, recall};
pub use trigger::{Signal, Trigger, triggers};

#[cfg(test)]
mod tests;
