//! Writes a segment in one pass: documents, then terms, then facets, then vectors.
//!
//! [`SegmentWriter`] is handed sorted items by a merge; [`write_entries`] sorts what is in memory and does the same.
//! Each step takes its items in ascending order and keeps only tables in memory, so that a merge can stream.

use std::io;

use super::super::dictionary::{DictionaryWriter, key_hash, put_docs, put_weighted};
use super::super::format::{Extent, Sink};
use super::super::vectors::{VectorWriter, bytes_of};
use super::super::{DIMENSIONS, Entry};
use super::{Death, Dictionary, Meta, NAMES_PER_BLOCK, Name, Stamp};
use crate::disk::Dir;
use crate::index::head::segment_name;

/// A document as it goes into a segment.
#[derive(Debug)]
pub(in crate::index) struct DocRow<'d> {
    pub(in crate::index) key: &'d str,
    pub(in crate::index) stamp: Stamp,
    pub(in crate::index) length: u32,
    pub(in crate::index) group: Option<u16>,
    pub(in crate::index) payload: &'d [u8],
}

/// A segment on its way to disk.
#[derive(Debug)]
pub(in crate::index) struct SegmentWriter {
    sink: Sink,
    meta: Meta,
    /// The block of names that is being filled, and where the others are.
    block: Vec<u8>,
    blocks: Vec<u8>,
    lengths: Vec<u8>,
    keys: Vec<(u64, u32)>,
    dictionary: DictionaryWriter,
    vectors: VectorWriter,
}

impl SegmentWriter {
    /// Starts the file of a number that no head names.
    pub(in crate::index) fn create(dir: &Dir, number: u64) -> io::Result<Self> {
        let name = segment_name(number);
        // What a crash left under this name was never published.
        dir.remove(&name)?;
        Ok(Self {
            sink: Sink::new(dir.open_or_create(&name, false)?),
            meta: Meta { number, ..Meta::default() },
            block: Vec::new(),
            blocks: Vec::new(),
            lengths: Vec::new(),
            keys: Vec::new(),
            dictionary: DictionaryWriter::default(),
            vectors: VectorWriter::default(),
        })
    }

    /// Adds a document, with a key greater than the one before, and returns its number.
    pub(in crate::index) fn doc(&mut self, row: &DocRow<'_>) -> io::Result<u32> {
        let doc = self.meta.n_docs;
        let payload = self.sink.put(row.payload)?;
        let DocRow { key, stamp, length, group, .. } = *row;
        Name { key, stamp, length, group, payload }.put(&mut self.block);
        self.lengths.extend(length.to_le_bytes());
        self.keys.push((key_hash(key), doc));
        self.meta.n_docs = doc.checked_add(1).ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        self.meta.live_length += u64::from(length);
        if (self.meta.n_docs as usize).is_multiple_of(NAMES_PER_BLOCK) {
            self.close_block()?;
        }
        Ok(doc)
    }

    fn close_block(&mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.sink.put(&self.block)?.put(&mut self.blocks);
            self.block.clear();
        }
        Ok(())
    }

    /// Adds a hash of the current dictionary, greater than the one before, with its list of `n` documents.
    pub(in crate::index) fn hash(&mut self, hash: u64, n: usize, list: &[u8]) -> io::Result<()> {
        self.dictionary.put(&mut self.sink, hash, n, list)
    }

    /// Closes a dictionary: terms first, then facets. The keys close by themselves.
    pub(in crate::index) fn close(&mut self, which: Dictionary) -> io::Result<()> {
        let writer = std::mem::take(&mut self.dictionary);
        self.meta.dictionaries[which as usize] = writer.finish(&mut self.sink)?;
        Ok(())
    }

    /// Adds a vector, ascending by group and then by document.
    pub(in crate::index) fn vector(
        &mut self,
        group: u16,
        doc: u32,
        row: &[u8; DIMENSIONS],
    ) -> io::Result<()> {
        self.vectors.put(&mut self.sink, group, doc, row)
    }

    /// Writes the tables and returns what `head` has to hold.
    pub(in crate::index) fn finish(mut self, deaths: &[Death]) -> io::Result<Meta> {
        self.close_block()?;
        self.meta.names = self.sink.put(&self.blocks)?;
        self.meta.lengths = self.sink.put(&self.lengths)?;
        self.close_keys()?;
        self.meta.vectors = std::mem::take(&mut self.vectors).finish(&mut self.sink)?;
        self.meta.deaths = put_deaths(&mut self.sink, deaths)?;
        self.meta.n_live = self.meta.n_docs;
        self.meta.len = self.sink.finish()?;
        Ok(self.meta)
    }

    fn close_keys(&mut self) -> io::Result<()> {
        let mut keys = std::mem::take(&mut self.keys);
        keys.sort_unstable();
        put_hashes(self, &keys)?;
        self.close(Dictionary::Keys)
    }
}

fn put_deaths(sink: &mut Sink, deaths: &[Death]) -> io::Result<Extent> {
    let mut bytes = Vec::new();
    deaths.iter().for_each(|death| death.put(&mut bytes));
    sink.put(&bytes)
}

/// Writes a segment of `entries`, which are sorted by key, each with the group of its vector.
pub(in crate::index) fn write_entries(
    dir: &Dir,
    number: u64,
    entries: &[(&Entry, Option<u16>)],
    deaths: &[Death],
) -> io::Result<Meta> {
    let mut writer = SegmentWriter::create(dir, number)?;
    let (mut terms, mut facets, mut vectors) = (Vec::new(), Vec::new(), Vec::new());
    for &(entry, group) in entries {
        let Entry { key, stamp, length, payload, .. } = entry;
        let doc = writer.doc(&DocRow { key, stamp: *stamp, length: *length, group, payload })?;
        terms.extend(entry.terms.iter().map(|&(term, weight)| (term, doc, weight)));
        facets.extend(entry.facets.iter().map(|&facet| (facet, doc)));
        vectors.extend(group.zip(entry.vector.as_ref()).map(|(group, row)| (group, doc, row)));
    }
    write_terms(&mut writer, terms)?;
    write_facets(&mut writer, facets)?;
    vectors.sort_unstable_by_key(|&(group, doc, _)| (group, doc));
    for (group, doc, row) in vectors {
        writer.vector(group, doc, &bytes_of(row))?;
    }
    writer.finish(deaths)
}

fn write_terms(writer: &mut SegmentWriter, mut terms: Vec<(u64, u32, u16)>) -> io::Result<()> {
    terms.sort_unstable();
    let mut list = Vec::new();
    for same in terms.chunk_by(|a, b| a.0 == b.0) {
        list.clear();
        put_weighted(&mut list, same.iter().map(|&(_, doc, weight)| (doc, weight)));
        writer.hash(same[0].0, same.len(), &list)?;
    }
    writer.close(Dictionary::Terms)
}

fn write_facets(writer: &mut SegmentWriter, mut facets: Vec<(u64, u32)>) -> io::Result<()> {
    facets.sort_unstable();
    put_hashes(writer, &facets)?;
    writer.close(Dictionary::Facets)
}

/// Adds hashes with their documents; both ascend.
fn put_hashes(writer: &mut SegmentWriter, sorted: &[(u64, u32)]) -> io::Result<()> {
    let mut list = Vec::new();
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        list.clear();
        put_docs(&mut list, same.iter().map(|&(_, doc)| doc));
        writer.hash(same[0].0, same.len(), &list)?;
    }
    Ok(())
}
