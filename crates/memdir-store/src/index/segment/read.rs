//! Reads a segment: tables once and when they are first needed, everything else block by block.

use std::sync::OnceLock;

use super::super::dictionary::{Fences, Found, each_doc, each_weighted, key_hash};
use super::super::format::{Extent, Reader, Source};
use super::super::vectors::VectorTable;
use super::super::{Doc, IndexError, Row};
use super::{Dead, Death, Dictionary, Meta, NAMES_PER_BLOCK, Name, Stamp};
use crate::disk::{Dir, ReadError};
use crate::index::head::segment_name;

/// An open segment. Its file stays readable for as long as this value lives, also after it was unlinked.
#[derive(Debug)]
pub(in crate::index) struct Segment {
    pub(in crate::index) meta: Meta,
    source: Source,
    fences: [OnceLock<Fences>; 3],
    lengths: OnceLock<Vec<u8>>,
    names: OnceLock<Vec<Extent>>,
    vectors: OnceLock<VectorTable>,
}

impl Segment {
    /// Opens the segment; `None` if its file is gone.
    pub(in crate::index) fn open(dir: &Dir, meta: &Meta) -> Result<Option<Self>, IndexError> {
        let name = segment_name(meta.number);
        let damaged = |what| IndexError::Damaged { file: name.clone(), what };
        let (file, stat) = match dir.open_file(&name) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(None),
            Err(ReadError::Io(err)) => return Err(err.into()),
            Err(_) => return Err(damaged("no regular file")),
        };
        if stat.size != meta.len {
            return Err(damaged("another length than head says"));
        }
        Ok(Some(Self {
            meta: meta.clone(),
            source: Source::new(file, name, meta.len),
            fences: [const { OnceLock::new() }; 3],
            lengths: OnceLock::new(),
            names: OnceLock::new(),
            vectors: OnceLock::new(),
        }))
    }

    /// Returns the file, for whoever reads blocks of it.
    pub(in crate::index) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the fences of a dictionary.
    pub(in crate::index) fn fences(&self, which: Dictionary) -> Result<&Fences, IndexError> {
        let which = which as usize;
        lazy(&self.fences[which], || Fences::load(&self.source, self.meta.dictionaries[which]))
    }

    /// Returns the table of the blocks of vectors.
    pub(in crate::index) fn vectors(&self) -> Result<&VectorTable, IndexError> {
        lazy(&self.vectors, || VectorTable::load(&self.source, self.meta.vectors))
    }

    /// Returns the lengths of all documents, as they are stored: most of a large segment's are never looked at.
    pub(in crate::index) fn lengths(&self) -> Result<&[[u8; 4]], IndexError> {
        let lengths = lazy(&self.lengths, || self.source.read(self.meta.lengths))?;
        if lengths.len() != self.meta.n_docs as usize * 4 {
            return Err(self.source.damaged("the lengths"));
        }
        Ok(lengths.as_chunks().0)
    }

    /// Looks a term up.
    pub(in crate::index) fn term(&self, term: u64) -> Result<Option<Found>, IndexError> {
        self.fences(Dictionary::Terms)?.find(&self.source, term)
    }

    /// Calls `visit` for each document, below [`Meta::n_docs`] and dead ones included, and weight of a term's list.
    pub(in crate::index) fn each_weighted(
        &self,
        found: Found,
        visit: impl FnMut(u32, u16),
    ) -> Result<(), IndexError> {
        let n = found.n;
        let list = found.list(&self.source)?;
        each_weighted(&list, n, self.meta.n_docs, visit)
            .ok_or_else(|| self.source.damaged("a list of a term"))
    }

    /// Calls `visit` for each document, dead ones included, of a list of facets or keys.
    pub(in crate::index) fn each_doc(&self, found: Found, visit: impl FnMut(u32)) -> Result<(), IndexError> {
        let n = found.n;
        let list = found.list(&self.source)?;
        each_doc(&list, n, self.meta.n_docs, visit).ok_or_else(|| self.source.damaged("a list of a facet"))
    }

    /// Returns the documents, dead ones included, of a facet or a key's hash.
    fn docs(&self, which: Dictionary, hash: u64) -> Result<Vec<u32>, IndexError> {
        let mut docs = Vec::new();
        if let Some(found) = self.fences(which)?.find(&self.source, hash)? {
            self.each_doc(found, |doc| docs.push(doc))?;
        }
        Ok(docs)
    }

    /// Returns the documents, dead ones included, that have the facet.
    pub(in crate::index) fn facet(&self, facet: u64) -> Result<Vec<u32>, IndexError> {
        self.docs(Dictionary::Facets, facet)
    }

    /// Returns the document of a key, dead or alive, with its length.
    pub(in crate::index) fn by_key(&self, key: &str) -> Result<Option<(u32, u32)>, IndexError> {
        for doc in self.docs(Dictionary::Keys, key_hash(key))? {
            let found = self.name(doc, |name| (name.key == key).then_some((doc, name.length)))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Hands what is known of a document to `look`.
    pub(in crate::index) fn name<T>(
        &self,
        doc: u32,
        look: impl FnOnce(&Name<'_>) -> T,
    ) -> Result<T, IndexError> {
        let bytes = self.names_block(doc as usize / NAMES_PER_BLOCK)?;
        let mut reader = Reader(bytes.as_deref().unwrap_or_default());
        let mut ranks = 0..=doc as usize % NAMES_PER_BLOCK;
        let name = ranks.try_fold(None, |_, _| Name::read(&mut reader).map(Some)).flatten();
        Ok(look(&name.ok_or_else(|| self.source.damaged("a name"))?))
    }

    /// Calls `visit` with each document, dead ones included, in the order of keys.
    pub(in crate::index) fn each_name(
        &self,
        mut visit: impl FnMut(u32, &Name<'_>),
    ) -> Result<(), IndexError> {
        let mut docs = 0..self.meta.n_docs;
        let mut at = 0;
        while let Some(block) = self.names_block(at)? {
            let mut reader = Reader(&block);
            for doc in docs.by_ref().take(NAMES_PER_BLOCK) {
                let name = Name::read(&mut reader).ok_or_else(|| self.source.damaged("a name"))?;
                visit(doc, &name);
            }
            at += 1;
        }
        Ok(())
    }

    /// Calls `visit` with each document that is not dead, in the order of keys.
    pub(in crate::index) fn each_live(
        &self,
        dead: &Dead,
        mut visit: impl FnMut(u32, &Doc),
    ) -> Result<(), IndexError> {
        let mut cursor = DocCursor::new(self, dead);
        while let Some(Passed { doc, key, stamp, length, payload, .. }) = cursor.advance()? {
            visit(doc, &Doc { key, stamp, length, payload: self.source.read(payload)? });
        }
        Ok(())
    }

    /// Reads a block of names; `None` after the last.
    fn names_block(&self, at: usize) -> Result<Option<Vec<u8>>, IndexError> {
        let names = lazy(&self.names, || {
            let bytes = self.source.read(self.meta.names)?;
            let blocks: Option<Vec<_>> =
                bytes.chunks(Extent::SIZE).map(|chunk| Reader(chunk).extent()).collect();
            let expected = (self.meta.n_docs as usize).div_ceil(NAMES_PER_BLOCK);
            blocks
                .filter(|blocks| blocks.len() == expected)
                .ok_or_else(|| self.source.damaged("the table of names"))
        })?;
        names.get(at).map(|&extent| self.source.read(extent)).transpose()
    }

    /// Returns a document.
    pub(in crate::index) fn doc(&self, doc: u32) -> Result<Doc, IndexError> {
        let (mut found, payload) = self.name(doc, |name| {
            let Name { stamp, length, .. } = *name;
            (Doc { key: name.key.to_owned(), stamp, length, payload: Vec::new() }, name.payload)
        })?;
        self.source.read_into(payload, &mut found.payload)?;
        Ok(found)
    }

    /// Returns a document's vector, if it has one.
    pub(in crate::index) fn vector(&self, doc: u32) -> Result<Option<Row>, IndexError> {
        let Some(group) = self.name(doc, |name| name.group)? else { return Ok(None) };
        self.vectors()?.row(&self.source, group, doc).map(Some)
    }

    /// Returns the deaths that this segment records in older ones.
    pub(in crate::index) fn deaths(&self) -> Result<Vec<Death>, IndexError> {
        let bytes = self.source.read(self.meta.deaths)?;
        let mut reader = Reader(&bytes);
        let mut deaths = Vec::new();
        while !reader.0.is_empty() {
            deaths.push(Death::read(&mut reader).ok_or_else(|| self.source.damaged("the deaths"))?);
        }
        Ok(deaths)
    }
}

/// Walks the live documents of a segment in the order of their keys.
#[derive(Debug)]
pub(in crate::index) struct DocCursor<'s> {
    segment: &'s Segment,
    dead: &'s Dead,
    next: u32,
    block: Vec<u8>,
    at: usize,
}

/// A live document that a [`DocCursor`] came by.
#[derive(Debug)]
pub(in crate::index) struct Passed {
    pub(in crate::index) doc: u32,
    pub(in crate::index) key: String,
    pub(in crate::index) stamp: Stamp,
    pub(in crate::index) length: u32,
    pub(in crate::index) group: Option<u16>,
    pub(in crate::index) payload: Extent,
}

impl<'s> DocCursor<'s> {
    /// Starts before the first document.
    pub(in crate::index) fn new(segment: &'s Segment, dead: &'s Dead) -> Self {
        Self { segment, dead, next: 0, block: Vec::new(), at: 0 }
    }

    /// Returns the next live document.
    pub(in crate::index) fn advance(&mut self) -> Result<Option<Passed>, IndexError> {
        while self.next < self.segment.meta.n_docs {
            let doc = self.next;
            self.next += 1;
            let damaged = || self.segment.source.damaged("a name");
            if (doc as usize).is_multiple_of(NAMES_PER_BLOCK) {
                let block = self.segment.names_block(doc as usize / NAMES_PER_BLOCK)?;
                (self.block, self.at) = (block.ok_or_else(damaged)?, 0);
            }
            let mut reader = Reader(self.block.get(self.at..).ok_or_else(damaged)?);
            let name = Name::read(&mut reader).ok_or_else(damaged)?;
            self.at = self.block.len() - reader.0.len();
            if !self.dead.contains(doc) {
                let Name { key, stamp, length, group, payload } = name;
                return Ok(Some(Passed { doc, key: key.to_owned(), stamp, length, group, payload }));
            }
        }
        Ok(None)
    }
}

/// Returns what `cell` holds, loading it at the first call. Two threads may both load; one result stays.
fn lazy<T>(cell: &OnceLock<T>, load: impl FnOnce() -> Result<T, IndexError>) -> Result<&T, IndexError> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = load()?;
    Ok(cell.get_or_init(|| value))
}
