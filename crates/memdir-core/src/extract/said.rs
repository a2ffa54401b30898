//! A message of a conversation, as extraction reads it.

use jiff::Timestamp;

use crate::host::said_by_user;
use crate::transcript::{Role, Turn, without_injected};

/// Something that was said or done, without what was injected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who.
    pub role: Role,
    /// When, if that is known.
    pub at: Option<Timestamp>,
    /// What.
    pub text: String,
}

impl Said {
    /// Takes a message. What memdir or the host put into it is left out, so that nobody learns from his own words; what
    /// a machine wrote in the user's place is a tool's.
    pub fn new(role: Role, at: Option<Timestamp>, text: &str) -> Self {
        let text = without_injected(role, text);
        let (role, text) = match role {
            Role::User => match said_by_user(&text) {
                said if said.is_empty() => (Role::Tool, text.trim().to_owned()),
                said => (Role::User, said),
            },
            role => (role, text.trim().to_owned()),
        };
        Self { role, at, text }
    }
}

impl From<&Turn> for Said {
    fn from(turn: &Turn) -> Self {
        Self::new(turn.role, turn.at, &turn.text)
    }
}
