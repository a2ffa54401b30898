//! Where a text belongs: one law of places for documents, vault and session.
//!
//! `CLAUDE.md` holds rules and nothing else, `STATUS.md` where things stand, `docs/architecture.md` and
//! `docs/decisions/` what their names say, `README.md` what the project is and how it is used; the vault holds what no
//! file shows, and what concerns the user is of type `user`. [`place`] judges one text for one [`Place`] and says
//! why; [`lint`] goes through a file that exists. What a sentence does is read by [`crate::statement`].

mod law;
mod lint;
mod place;

#[cfg(test)]
mod tests;

pub use law::{Verdict, VerdictPart, place};
pub use lint::{Misplaced, lint};
pub use place::{Place, UnknownPlace};

/// What there is around a text, as far as it changes where the text belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether the project has a `docs/decisions/`.
    pub has_decisions: bool,
    /// Whether the project shares a vault with a team.
    pub has_team_vault: bool,
}
