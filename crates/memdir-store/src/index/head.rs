//! The root: which segments and which log make up the index.
//!
//! `head` is small and replaced whole, so a reader sees one generation or the next. Its first sixteen bytes (a name, a
//! version, their checksum) mean the same in every version, so that another version is told from damage.

use super::IndexError;
use super::format::{Reader, checksum, put_varint};
use super::segment::Meta;
use crate::disk::{Dir, ReadError};

/// The file's name below the index's directory.
pub(super) const HEAD: &str = "head";
/// Changes whenever bytes on disk mean something else.
const VERSION: u32 = 2;
const MAGIC: &[u8; 8] = b"memdirix";
/// No head is larger: thousands of segments.
const MAX_BYTES: u64 = 1 << 20;
const PREFIX: usize = 16;

/// What an index consists of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Head {
    /// Grows with each publication; the log of a generation has its number.
    pub(super) generation: u64,
    /// Tells which centroids the groups of vectors belong to.
    pub(super) centroids: u32,
    /// The next free number of a file.
    pub(super) next: u64,
    pub(super) segments: Vec<Meta>,
}

impl Head {
    /// Reads the head of the index in `dir`.
    pub(super) fn load(dir: &Dir) -> Result<Self, IndexError> {
        let bytes = match dir.read(HEAD, MAX_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(IndexError::Missing),
            Err(ReadError::Io(err)) => return Err(err.into()),
            Err(_) => return Err(damaged()),
        };
        Self::decode(&bytes)
    }

    /// Replaces the head of the index in `dir`. It is derived, so nobody waits for the disk.
    pub(super) fn publish(&self, dir: &Dir) -> Result<(), IndexError> {
        Ok(dir.replace_derived(dir, HEAD, &self.encode())?)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend(checksum(&out).to_le_bytes());
        out.extend(self.centroids.to_le_bytes());
        for number in [self.generation, self.next, self.segments.len() as u64] {
            put_varint(&mut out, number);
        }
        self.segments.iter().for_each(|meta| meta.put(&mut out));
        out.extend(checksum(&out).to_le_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, IndexError> {
        let prefix = bytes.get(..PREFIX).ok_or_else(damaged)?;
        if stored(&prefix[12..]) != Some(checksum(&prefix[..12])) || prefix[..8] != *MAGIC {
            return Err(damaged());
        }
        if stored(&prefix[8..12]) != Some(VERSION) {
            return Err(IndexError::OtherVersion);
        }
        let (body, crc) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
        if checksum(body) != u32::from_le_bytes(*crc) {
            return Err(damaged());
        }
        Self::decode_body(body.get(PREFIX..).unwrap_or_default()).ok_or_else(damaged)
    }

    fn decode_body(body: &[u8]) -> Option<Self> {
        let mut reader = Reader(body);
        let centroids = reader.u32()?;
        let (generation, next) = (reader.varint()?, reader.varint()?);
        let n = reader.count()?;
        let segments = (0..n).map(|_| Meta::read(&mut reader)).collect::<Option<Vec<_>>>()?;
        reader.done()?;
        Some(Self { generation, centroids, next, segments })
    }
}

fn stored(bytes: &[u8]) -> Option<u32> {
    Reader(bytes).u32()
}

fn damaged() -> IndexError {
    IndexError::Damaged { file: HEAD.to_owned(), what: "a wrong checksum" }
}

/// Names the file of a segment.
pub(super) fn segment_name(number: u64) -> String {
    format!("{number}.segment")
}

/// Names the file of a log.
pub(super) fn log_name(number: u64) -> String {
    format!("{number}.log")
}

/// Returns the number of a segment's or log's file.
pub(super) fn number_of(name: &str) -> Option<u64> {
    let (number, kind) = name.split_once('.')?;
    matches!(kind, "segment" | "log").then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_told_from_damage() {
        let head = Head { generation: 3, ..Head::default() };
        let mut bytes = head.encode();
        assert_eq!(Head::decode(&bytes).unwrap(), head);
        bytes[8] += 1;
        assert!(matches!(Head::decode(&bytes), Err(IndexError::Damaged { .. })));
        let crc = checksum(&bytes[..12]).to_le_bytes();
        bytes[12..16].copy_from_slice(&crc);
        assert!(matches!(Head::decode(&bytes), Err(IndexError::OtherVersion)));
    }
}
