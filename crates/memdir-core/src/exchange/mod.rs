//! Takes over memories from other directories and programs: under which name, with which text.
//!
//! [`plan_import`] gives every incoming file its [`Fate`]. Nothing that is in the vault is overwritten: the same
//! text is passed over, another text under a taken name gets a name of its own. `notes` makes memories out of
//! the notes of programs that have other fields than ours; `hosts` knows the pages of other coding agents, both ways.

mod fate;
mod hosts;
mod notes;
mod relink;

pub use fate::{Fate, Incoming, Planned, Standing, plan_import};
pub use hosts::{
    Intake, Page, agents_page, codex_note_name, cursor_rule, from_agents, from_codex, from_cursor,
    from_gemini, gemini_page,
};
pub use notes::{Dialect, Note, adapt};
