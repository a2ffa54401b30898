//! The journal: what was done in a session, what was decided, what is left.
//!
//! An [`Entry`] is one immutable file with four sections. An unfinished item has an id and stays open until a later
//! entry closes it (`- [x]`) or carries it over (`- [ ]` again, perhaps in other words): [`open_items`] walks the entries
//! and says what is left. [`Digest`] makes the sections out of a session file, for whoever has no words of his own;
//! [`briefing`] puts the journal before a new session. Reading never fails: what is not understood is summary.
//!
//! Files are found, locked and written elsewhere. Look at [`Entry`] first, then at [`open_items`].

mod briefing;
mod digest;
mod entry;
mod items;
mod sections;
#[cfg(test)]
mod tests;

pub use briefing::briefing;
pub use digest::Digest;
pub use entry::{Entry, describe, name};
pub use items::{OpenItem, close, identify, open_items};
pub use sections::{Item, Sections, one_line};
