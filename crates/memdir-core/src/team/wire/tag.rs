//! The tag of a version, as HTTP's `ETag` and `If-Match` carry it.

use std::fmt;
use std::str::FromStr;

use crate::hash::{ContentHash, from_hex, to_hex};

/// How many bytes of the hash a tag has.
const N_BYTES: usize = 8;

/// One version of one memory: its number, and the beginning of the hash of its text. Printed with the quotes that HTTP wants:
/// `"17-ba7816bf8f01cfea"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ETag {
    /// The version.
    pub seq: u64,
    /// The first bytes of the hash.
    pub prefix: [u8; N_BYTES],
}

impl ETag {
    /// Makes the tag of a version.
    pub fn new(seq: u64, hash: &ContentHash) -> Self {
        let mut prefix = [0; N_BYTES];
        prefix.copy_from_slice(&hash.as_bytes()[..N_BYTES]);
        Self { seq, prefix }
    }

    /// Says whether it is the tag of this version.
    pub fn is_of(&self, seq: u64, hash: &ContentHash) -> bool {
        *self == Self::new(seq, hash)
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}-{}\"", self.seq, to_hex(&self.prefix))
    }
}

/// Says that a text is no tag of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a tag like \"17-ba7816bf8f01cfea\"")]
pub struct NotATag;

impl FromStr for ETag {
    type Err = NotATag;

    /// Reads a strong tag. A weak one (`W/"…"`) is none: it must not be written upon.
    fn from_str(text: &str) -> Result<Self, NotATag> {
        let inner = text.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"')).ok_or(NotATag)?;
        let (seq, prefix) = inner.split_once('-').ok_or(NotATag)?;
        let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
        let seq = seq.parse().ok().filter(|_| is_number).ok_or(NotATag)?;
        let prefix = from_hex(prefix).and_then(|bytes| bytes.try_into().ok()).ok_or(NotATag)?;
        Ok(Self { seq, prefix })
    }
}
