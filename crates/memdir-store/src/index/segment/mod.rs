//! An immutable part of the index: documents in the order of their keys, and what finds them.
//!
//! A segment numbers its documents from zero. Since they are sorted by key, the order of numbers is the order of keys,
//! and the same documents always make the same bytes. [`Meta`] is what `head` holds of a segment, [`Segment`] reads
//! one, [`SegmentWriter`] writes one.

mod read;
mod write;

pub(super) use read::{DocCursor, Segment};
pub(super) use write::{DocRow, SegmentWriter, write_entries};

use super::Stamp;
use super::format::{Extent, Reader, put_bytes, put_stamp, put_varint};

/// How many documents share a block of names.
const NAMES_PER_BLOCK: usize = 32;

/// Which of a segment's dictionaries is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dictionary {
    /// From a term to the documents that have it, with weights.
    Terms,
    /// From a facet to its documents.
    Facets,
    /// From a key's hash to the documents whose key has it.
    Keys,
}

/// What `head` holds of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Meta {
    /// The number of its file.
    pub(super) number: u64,
    /// The length of its file.
    pub(super) len: u64,
    /// How many documents it holds, dead ones included.
    pub(super) n_docs: u32,
    /// How many of them are live as far as segments know; the log may know of more deaths.
    pub(super) n_live: u32,
    /// The sum of the live documents' lengths.
    pub(super) live_length: u64,
    /// The lengths of all documents.
    pub(super) lengths: Extent,
    /// The extents of the blocks of names.
    pub(super) names: Extent,
    /// The fences of the dictionaries: terms, facets, keys.
    pub(super) dictionaries: [Extent; 3],
    /// The table of the blocks of vectors.
    pub(super) vectors: Extent,
    /// Documents of older segments that died with this one.
    pub(super) deaths: Extent,
}

impl Meta {
    /// Appends the meta to a head.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        for number in
            [self.number, self.len, u64::from(self.n_docs), u64::from(self.n_live), self.live_length]
        {
            put_varint(out, number);
        }
        let [terms, facets, keys] = &self.dictionaries;
        for extent in [&self.lengths, &self.names, terms, facets, keys, &self.vectors, &self.deaths] {
            extent.put(out);
        }
    }

    /// Takes a meta from a head.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            number: reader.varint()?,
            len: reader.varint()?,
            n_docs: reader.small()?,
            n_live: reader.small()?,
            live_length: reader.varint()?,
            lengths: reader.extent()?,
            names: reader.extent()?,
            dictionaries: [reader.extent()?, reader.extent()?, reader.extent()?],
            vectors: reader.extent()?,
            deaths: reader.extent()?,
        })
    }
}

/// A document of a segment that was replaced or removed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Death {
    /// The number of the segment's file.
    pub(super) segment: u64,
    /// The document in it.
    pub(super) doc: u32,
    /// The document's length, to be taken off the sum.
    pub(super) length: u32,
}

impl Death {
    /// Appends the death.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.segment);
        put_varint(out, u64::from(self.doc));
        put_varint(out, u64::from(self.length));
    }

    /// Takes a death.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { segment: reader.varint()?, doc: reader.small()?, length: reader.small()? })
    }
}

/// Which documents of a segment are dead.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Dead {
    /// One bit a document; empty as long as all live.
    bits: Vec<u64>,
    n: u32,
}

impl Dead {
    /// Records a death among `n_docs` documents; `None` if there is no such document.
    pub(super) fn insert(&mut self, doc: u32, n_docs: u32) -> Option<()> {
        if doc >= n_docs {
            return None;
        }
        self.bits.resize((n_docs as usize).div_ceil(64), 0);
        let word = self.bits.get_mut(doc as usize / 64)?;
        let bit = 1 << (doc % 64);
        self.n += u32::from(*word & bit == 0);
        *word |= bit;
        Some(())
    }

    /// Says whether a document is dead.
    #[inline]
    pub(super) fn contains(&self, doc: u32) -> bool {
        self.bits.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// Says how many are dead.
    pub(super) fn len(&self) -> u32 {
        self.n
    }
}

/// What a block of names says of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name<'b> {
    pub(super) key: &'b str,
    pub(super) stamp: Stamp,
    pub(super) length: u32,
    /// The group of its vector, if it has one.
    pub(super) group: Option<u16>,
    /// Where its payload is.
    pub(super) payload: Extent,
}

impl<'b> Name<'b> {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.key.as_bytes());
        put_stamp(out, &self.stamp);
        put_varint(out, u64::from(self.length));
        put_varint(out, self.group.map_or(0, |group| u64::from(group) + 1));
        self.payload.put(out);
    }

    fn read(reader: &mut Reader<'b>) -> Option<Self> {
        Some(Self {
            key: reader.text()?,
            stamp: reader.stamp()?,
            length: reader.small()?,
            group: match reader.varint()? {
                0 => None,
                above => Some(u16::try_from(above - 1).ok()?),
            },
            payload: reader.extent()?,
        })
    }
}
