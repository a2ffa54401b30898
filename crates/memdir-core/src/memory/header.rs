//! Finds the frontmatter of a file, also when only the beginning of the file is at hand.
//!
//! Listing ten thousand memories must not read ten thousand bodies: read a few KiB, ask [`Header::scan`], and
//! parse the header alone with [`Document::parse`](super::Document::parse).

use super::yaml::{MAX_BYTES, Span};

const BOM: &[u8] = b"\xef\xbb\xbf";
const FENCE: &[u8] = b"---";

/// What the beginning of a file says about its frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// The first `len` bytes are the whole header, both fences included.
    Complete {
        /// Length of the header in bytes.
        len: usize,
    },
    /// The file has no frontmatter.
    Absent,
    /// The closing fence was not seen yet: read on, or parse what there is at the end of the file.
    NeedMore,
    /// No closing fence within the limit: reading on is in vain.
    TooLong,
}

impl Header {
    /// The most bytes a caller ever needs to read to get an answer that is not [`Header::NeedMore`].
    pub const MAX_BYTES: usize = MAX_BYTES + 1024;

    /// Looks for the frontmatter in the first bytes of a file.
    pub fn scan(prefix: &[u8]) -> Self {
        let Some(open) = open_fence(prefix) else {
            return if may_open(prefix) { Self::NeedMore } else { Self::Absent };
        };
        match close_fence(prefix, open) {
            Some(close) if prefix[..close.end].ends_with(b"\n") => Self::Complete { len: close.end },
            _ if prefix.len() >= Self::MAX_BYTES => Self::TooLong,
            _ => Self::NeedMore,
        }
    }
}

/// Returns how many bytes of byte order mark the file begins with.
pub(super) fn bom_len(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Finds the opening fence and returns the start of the line after it.
pub(super) fn open_fence(bytes: &[u8]) -> Option<usize> {
    let start = bom_len(bytes);
    let rest = bytes[start..].strip_prefix(FENCE)?;
    let blanks = n_blanks(rest);
    let n_break = break_len(&rest[blanks..]);
    (n_break > 0).then_some(start + FENCE.len() + blanks + n_break)
}

/// Finds the closing fence below `open`: its line, with the line break if there is one.
pub(super) fn close_fence(bytes: &[u8], open: usize) -> Option<Span> {
    let mut start = open;
    while start < bytes.len() && start - open <= MAX_BYTES {
        let next = bytes[start..].iter().position(|&byte| byte == b'\n').map(|i| start + i + 1);
        let end = next.unwrap_or(bytes.len());
        if let Some(rest) = bytes[start..end].strip_prefix(FENCE)
            && rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        {
            return Some(start..end);
        }
        start = end;
    }
    None
}

/// Returns the length of the line break at the start of `bytes`, 0 if there is none.
pub(super) fn break_len(bytes: &[u8]) -> usize {
    match bytes {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}

/// Says whether more bytes could still turn this into an opening fence.
fn may_open(prefix: &[u8]) -> bool {
    if prefix.len() < BOM.len() && BOM.starts_with(prefix) {
        return true;
    }
    let rest = &prefix[bom_len(prefix)..];
    match rest.strip_prefix(FENCE) {
        Some(rest) => rest.len() < 64 && matches!(&rest[n_blanks(rest)..], b"" | b"\r"),
        None => rest.len() < FENCE.len() && FENCE.starts_with(rest),
    }
}

fn n_blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_says_when_the_header_is_complete() {
        let long = format!("---\n{}", "a: b\n".repeat(10_000));
        let table: &[(&[u8], Header)] = &[
            (b"---\nname: x\n---\nbody", Header::Complete { len: 16 }),
            (b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nbody", Header::Complete { len: 22 }),
            (b"--- \nname: x\n---\t\n", Header::Complete { len: 18 }),
            (b"---\n---\n", Header::Complete { len: 8 }),
            (b"---\nname: x\n---", Header::NeedMore),
            (b"---\nname: x\n----\n", Header::NeedMore),
            (b"---\nna", Header::NeedMore),
            (b"", Header::NeedMore),
            (b"\xef\xbb", Header::NeedMore),
            (b"--", Header::NeedMore),
            (b"---", Header::NeedMore),
            (b"---x", Header::Absent),
            (b"# Title\n---\n", Header::Absent),
            (b"\n---\nname: x\n---\n", Header::Absent),
            (b" ---\n", Header::Absent),
            (long.as_bytes(), Header::TooLong),
        ];
        for (prefix, expected) in table {
            assert_eq!(Header::scan(prefix), *expected, "{}", String::from_utf8_lossy(prefix));
        }
    }
}
