//! Working memory: what a session is about while it lasts, for the moment at which its history is shortened.
//!
//! A long session is summed up in a file of its own, by rules and without a model: what was asked, how far it is, what
//! went wrong, what is next, what must not be forgotten. [`due`] says when that is worth it, out of a [`Progress`] that
//! counts along; [`text`] writes the file out of a [`Digest`](crate::journal::Digest), and [`bounded`] holds what a model
//! wrote to the same form; [`Restoration`] is what a session gets back after a compaction. The same turns always make the
//! same bytes. Files are read and written elsewhere.

mod notes;
mod progress;
mod restoration;

#[cfg(test)]
mod tests;

pub use notes::{HEADINGS, MAX_TEXT, bounded, text, with_last_wish};
pub use progress::{FIRST_TOKENS, MORE_CALLS, MORE_TOKENS, Mark, Progress, due};
pub use restoration::Restoration;
