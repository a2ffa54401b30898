//! What may leave this machine for a place that others read.
//!
//! A memory goes to a team only if it says so itself (`scope: team`), and one about the user never goes there, whatever
//! it says. A store of the user's own machines takes all of them. What is left out is left out with a reason that can be
//! shown. Secrets are not its business: the scanner is
//! asked besides, by whoever sends.

use serde::{Deserialize, Serialize};

/// Who reads what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// Teammates: only memories of scope `team`, none of type `user`.
    #[default]
    Team,
    /// The user's own machines: every memory.
    Own,
}
