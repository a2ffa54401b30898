//! Names that stand in paths and rows of a server: short lower-case slugs, checked once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// Longest name of a team or a member, in bytes.
const MAX_SHORT: usize = 64;
/// Longest name of a project or a ledger, in bytes.
const MAX_LONG: usize = 100;

/// Says that a text is no name of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no name of a {kind}: a-z, 0-9, `.`, `_` and `-`, at most {limit} bytes, a letter or digit first", shown.escape_debug())]
pub struct WireNameError {
    /// What it should have named.
    pub kind: &'static str,
    /// The text, cut short.
    pub shown: String,
    /// The bytes it may have.
    pub limit: usize,
}

fn check(text: &str, kind: &'static str, limit: usize) -> Result<String, WireNameError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_good = text.len() <= limit
        && text.bytes().next().is_some_and(is_plain)
        && text.bytes().all(|byte| is_plain(byte) || b"._-".contains(&byte));
    if is_good {
        return Ok(text.to_owned());
    }
    Err(WireNameError { kind, shown: text.chars().take(limit).collect(), limit })
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $limit:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Checks a text.
            pub fn new(text: &str) -> Result<Self, WireNameError> {
                check(text, $kind, $limit).map(Self)
            }

            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = WireNameError;

            fn from_str(text: &str) -> Result<Self, WireNameError> {
                Self::new(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }
    };
}

name!(
    /// The name of a team: `[a-z0-9][a-z0-9._-]{0,63}`.
    TeamName,
    "team",
    MAX_SHORT
);
name!(
    /// The name of a member: `[a-z0-9][a-z0-9._-]{0,63}`.
    MemberName,
    "member",
    MAX_SHORT
);
name!(
    /// The name of a project on a server: `[a-z0-9][a-z0-9._-]{0,99}`.
    ProjectName,
    "project",
    MAX_LONG
);
name!(
    /// The name of a ledger file on a server: `[a-z0-9][a-z0-9._-]{0,99}`.
    LedgerName,
    "ledger",
    MAX_LONG
);
