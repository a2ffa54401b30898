//! Which documents belong to a hash: pages sorted by hash, and a fence before each page.
//!
//! A lookup finds its page by the fences (read once), reads that page and, unless the list is short enough to stand in
//! the page itself, the list. A list is the caller's bytes with a count; [`put_docs`] and [`put_weighted`] are the two
//! kinds there are.

use std::io;

use super::IndexError;
use super::format::{Extent, Reader, Sink, Source, put_varint};

/// A page is closed once it holds this much.
const PAGE: usize = 4000;
/// A list of up to this many bytes stands in its page: most hashes belong to one or two documents.
const INLINE: usize = 24;

/// Writes hashes in ascending order with their lists.
#[derive(Debug, Default)]
pub(super) struct DictionaryWriter {
    page: Vec<u8>,
    first: u64,
    last: u64,
    fences: Vec<u8>,
}

impl DictionaryWriter {
    /// Adds a hash, greater than the one before, with its list of `n` documents.
    pub(super) fn put(&mut self, sink: &mut Sink, hash: u64, n: usize, list: &[u8]) -> io::Result<()> {
        if self.page.is_empty() {
            (self.first, self.last) = (hash, hash);
        }
        put_varint(&mut self.page, hash - self.last);
        self.last = hash;
        let inline = list.len() <= INLINE;
        put_varint(&mut self.page, (n as u64) << 1 | u64::from(inline));
        if inline {
            self.page.push(list.len() as u8);
            self.page.extend(list);
        } else {
            sink.put(list)?.put(&mut self.page);
        }
        if self.page.len() >= PAGE {
            self.close_page(sink)?;
        }
        Ok(())
    }

    fn close_page(&mut self, sink: &mut Sink) -> io::Result<()> {
        if self.page.is_empty() {
            return Ok(());
        }
        let extent = sink.put(&self.page)?;
        self.fences.extend(self.first.to_le_bytes());
        extent.put(&mut self.fences);
        self.page.clear();
        Ok(())
    }

    /// Writes what is left and returns where the fences are.
    pub(super) fn finish(mut self, sink: &mut Sink) -> io::Result<Extent> {
        self.close_page(sink)?;
        sink.put(&self.fences)
    }
}

/// The fences of a dictionary: the first hash of each page, ascending.
#[derive(Debug)]
pub(super) struct Fences(Vec<(u64, Extent)>);

/// A hash with its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) hash: u64,
    pub(super) n: usize,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Inline(Vec<u8>),
    Block(Extent),
}

impl Found {
    /// Returns the list's bytes.
    pub(super) fn list(self, source: &Source) -> Result<Vec<u8>, IndexError> {
        match self.place {
            Place::Inline(bytes) => Ok(bytes),
            Place::Block(extent) => source.read(extent),
        }
    }
}

impl Fences {
    /// Reads the fences.
    pub(super) fn load(source: &Source, extent: Extent) -> Result<Self, IndexError> {
        const SIZE: usize = 8 + Extent::SIZE;
        let bytes = source.read(extent)?;
        let fences = bytes.chunks_exact(SIZE).map_while(|chunk| {
            let mut reader = Reader(chunk);
            Some((reader.u64()?, reader.extent()?))
        });
        let fences: Vec<_> = fences.collect();
        if fences.len() * SIZE != bytes.len() {
            return Err(source.damaged("the fences of a dictionary"));
        }
        Ok(Self(fences))
    }

    /// Looks a hash up.
    pub(super) fn find(&self, source: &Source, hash: u64) -> Result<Option<Found>, IndexError> {
        let after = self.0.partition_point(|&(first, _)| first <= hash);
        let Some(page) = after.checked_sub(1) else { return Ok(None) };
        let (first, extent) = self.0[page];
        let bytes = source.read(extent)?;
        find_in_page(&bytes, first, hash).ok_or_else(|| source.damaged("a page of a dictionary"))
    }

    /// Reads the page `at` with all its hashes, ascending; `None` after the last page.
    pub(super) fn page(&self, source: &Source, at: usize) -> Result<Option<Vec<Found>>, IndexError> {
        let Some(&(first, extent)) = self.0.get(at) else { return Ok(None) };
        let bytes = source.read(extent)?;
        let mut reader = Reader(&bytes);
        let mut last = first;
        let mut page = Vec::new();
        while !reader.0.is_empty() {
            let item =
                Item::read(&mut reader, last).ok_or_else(|| source.damaged("a page of a dictionary"))?;
            last = item.hash;
            page.push(item.found());
        }
        Ok(Some(page))
    }
}

fn find_in_page(bytes: &[u8], first: u64, hash: u64) -> Option<Option<Found>> {
    let mut reader = Reader(bytes);
    let mut last = first;
    while !reader.0.is_empty() {
        let item = Item::read(&mut reader, last)?;
        if item.hash >= hash {
            return Some((item.hash == hash).then(|| item.found()));
        }
        last = item.hash;
    }
    Some(None)
}

/// One hash of a page, not yet copied.
struct Item<'b> {
    hash: u64,
    n: usize,
    inline: bool,
    bytes: &'b [u8],
}

impl<'b> Item<'b> {
    #[inline]
    fn read(reader: &mut Reader<'b>, last: u64) -> Option<Self> {
        let hash = last.checked_add(reader.varint()?)?;
        let tagged = reader.varint()?;
        let inline = tagged & 1 == 1;
        let len = if inline { usize::from(reader.byte()?) } else { Extent::SIZE };
        Some(Self { hash, n: usize::try_from(tagged >> 1).ok()?, inline, bytes: reader.take(len)? })
    }

    fn found(&self) -> Found {
        let place = match Reader(self.bytes).extent() {
            Some(extent) if !self.inline => Place::Block(extent),
            _ => Place::Inline(self.bytes.to_vec()),
        };
        Found { hash: self.hash, n: self.n, place }
    }
}

/// Appends ascending document numbers.
pub(super) fn put_docs(out: &mut Vec<u8>, docs: impl IntoIterator<Item = u32>) {
    let mut last = 0;
    for doc in docs {
        put_varint(out, u64::from(doc - last));
        last = doc;
    }
}

/// Appends ascending document numbers with weights.
pub(super) fn put_weighted(out: &mut Vec<u8>, postings: impl IntoIterator<Item = (u32, u16)>) {
    let mut last = 0;
    for (doc, weight) in postings {
        put_varint(out, u64::from(doc - last));
        put_varint(out, u64::from(weight));
        last = doc;
    }
}

/// Calls `visit` for each of the `n` document numbers, all below `limit`.
pub(super) fn each_doc(bytes: &[u8], n: usize, limit: u32, mut visit: impl FnMut(u32)) -> Option<()> {
    let mut reader = Reader(bytes);
    let mut doc = 0_u32;
    for _ in 0..n {
        doc = doc.checked_add(reader.small()?).filter(|&doc| doc < limit)?;
        visit(doc);
    }
    reader.done()
}

/// Calls `visit` for each of the `n` document numbers, all below `limit`, and its weight.
pub(super) fn each_weighted(
    bytes: &[u8],
    n: usize,
    limit: u32,
    mut visit: impl FnMut(u32, u16),
) -> Option<()> {
    let mut reader = Reader(bytes);
    let mut doc = 0_u32;
    for _ in 0..n {
        doc = doc.checked_add(reader.small()?).filter(|&doc| doc < limit)?;
        visit(doc, reader.small()?);
    }
    reader.done()
}

/// Returns the hash that a key is found by. Two keys may share one: the caller compares.
pub(super) fn key_hash(key: &str) -> u64 {
    // FNV-1a, then a mix of the upper bits.
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
