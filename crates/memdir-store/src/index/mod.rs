//! A derived inverted index with vectors, over documents of any kind.
//!
//! It knows nothing of markdown: a document is an [`Entry`], a key with hashes of its terms, exact facets, a vector and
//! bytes that only the ranker understands. Look at [`Index`] first, which answers, then at [`Writer`], which is the
//! only one that changes anything.
//!
//! ```text
//!   head ──▶ 7.segment  8.segment  9.segment     immutable; merged when eight are of a size
//!     └────▶ 10.log                              batches since the last segment, appended
//! ```
//!
//! Three rules hold everything together.
//!
//! - **Whoever points to a block holds its checksum.** `head` ends in its own; it holds the extents (offset, length,
//!   checksum) of each segment's tables, and those hold the extents of pages, lists and rows. A flipped byte is met as
//!   [`IndexError::Damaged`] by the call that reads it. Nobody has to repair: the caller rebuilds from the truth.
//! - **A key is live in one place.** Replacing or removing a document records the place it had in an older segment as a
//!   death. Answers skip the dead, so they equal those of an index built anew.
//! - **Published files never change.** A segment is complete before `head` names it, a log only grows, and what a crash
//!   left of a torn append is never appended to. Readers need no lock; they keep the files of their generation open.

mod dictionary;
mod format;
mod head;
mod log;
mod merge;
mod nearest;
mod read;
mod rebuild;
mod segment;
mod vectors;
mod writer;

#[cfg(test)]
mod tests;

use std::io;

pub use read::{Index, Listed, Stamps};
pub(crate) use writer::LOCK;
pub use writer::{Options, Writer};

use crate::lock::LockError;

/// How many dimensions a vector has.
pub const DIMENSIONS: usize = 256;

/// A vector's row: compared by dot product, of any length.
pub type Row = [i8; DIMENSIONS];

/// A document as it is handed to a [`Writer`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// Names the document; a later entry of the same key replaces it.
    pub key: String,
    /// What the document looked like where it came from.
    pub stamp: Stamp,
    /// Hashes of terms with a weighted frequency. A term that is there twice counts with its sum.
    pub terms: Vec<(u64, u16)>,
    /// Hashes that are looked up exactly and never scored.
    pub facets: Vec<u64>,
    /// The length that the ranker normalises by.
    pub length: u32,
    /// What the document means, if anything.
    pub vector: Option<Row>,
    /// Bytes for the ranker.
    pub payload: Vec<u8>,
}

impl Entry {
    /// Sorts terms and facets and joins what is there twice, so that equal documents are equal bytes.
    fn normalise(&mut self) {
        self.terms.sort_unstable();
        self.terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        self.facets.sort_unstable();
        self.facets.dedup();
    }
}

/// What a document's file looked like when it was indexed; all zero where there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Inode number.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Hash of the bytes.
    pub sha256: [u8; 32],
}

/// Names a document within one [`Index`] value, and nowhere else. Ids are below [`Index::id_limit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

/// One live document that has a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The document.
    pub doc: DocId,
    /// The term's weighted frequency in it.
    pub weight: u16,
    /// The document's length.
    pub length: u32,
}

/// What the index holds of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// Names the document.
    pub key: String,
    /// What it looked like where it came from.
    pub stamp: Stamp,
    /// The length that the ranker normalises by.
    pub length: u32,
    /// Bytes for the ranker.
    pub payload: Vec<u8>,
}

/// Why an index does not answer.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// There is no index.
    #[error("there is no index")]
    Missing,
    /// It was written by another version of this code or for other centroids.
    #[error("the index is of another version")]
    OtherVersion,
    /// Bytes are not those that were written. Only a rebuild helps.
    #[error("the index is damaged: {what} in `{file}`")]
    Damaged {
        /// The file below the index's directory.
        file: String,
        /// What was read when it showed.
        what: &'static str,
    },
    /// The id does not name a live document of this index.
    #[error("no document has the id {}", .0.0)]
    NoDocument(DocId),
    /// Another writer is at work.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system said no.
    #[error("could not use the index")]
    Io(#[from] io::Error),
}

impl IndexError {
    /// Says whether the answer to this error is to build the index anew.
    pub fn asks_for_rebuild(&self) -> bool {
        matches!(self, Self::Missing | Self::OtherVersion | Self::Damaged { .. })
    }
}
