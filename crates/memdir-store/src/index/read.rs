//! Answers: what the index knows, as of the moment it was opened.
//!
//! [`Index::open`] reads `head` and the log. Everything else is read when a question needs it, and checked each time.
//! Every answer goes over the segments and then over the log, and leaves out what is dead.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use super::dictionary::Found;
use super::format::Checksum;
use super::head::{HEAD, Head};
use super::log::{Batch, Log, Slot};
use super::segment::{Dead, DocCursor, Segment};
use super::vectors::bytes_of;
use super::{Doc, DocId, IndexError, Posting, Row, Stamp};
use crate::disk::Dir;

/// An index as it was when it was opened. Writers that come later do not change what it answers.
#[derive(Debug)]
pub struct Index {
    pub(super) head: Head,
    pub(super) segments: Vec<Segment>,
    pub(super) log: Log,
    /// The id of each segment's first document, then that of the log's.
    bases: Vec<u32>,
    pub(super) centroids: &'static [Row],
    dead: OnceLock<Vec<Dead>>,
}

/// Where a document is.
enum Place<'i> {
    Segment(&'i Segment, u32),
    Log(&'i Slot),
}

impl Index {
    /// Opens the index in the directory `path`, whose vectors are grouped by `centroids`.
    pub fn open(path: &Path, centroids: &'static [Row]) -> Result<Self, IndexError> {
        match Dir::open(path) {
            Ok(dir) => Self::open_in(&dir, centroids),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Err(IndexError::Missing),
            Err(err) => Err(err.into()),
        }
    }

    /// Opens the index in `dir`.
    ///
    /// A file that is gone means that a writer published between our reading `head` and opening the file: `head` is
    /// read again. If it still says the same, the file is truly missing.
    pub(super) fn open_in(dir: &Dir, centroids: &'static [Row]) -> Result<Self, IndexError> {
        let mut before = None;
        loop {
            let head = Head::load(dir)?;
            if head.centroids != fingerprint(centroids) {
                return Err(IndexError::OtherVersion);
            }
            let generation = head.generation;
            if let Some(index) = Self::open_files(dir, head, centroids)? {
                return Ok(index);
            }
            if before == Some(generation) {
                return Err(damaged("a file that is gone"));
            }
            before = Some(generation);
        }
    }

    /// Opens what `head` names; `None` if some of it is gone.
    fn open_files(dir: &Dir, head: Head, centroids: &'static [Row]) -> Result<Option<Self>, IndexError> {
        let mut segments = Vec::with_capacity(head.segments.len());
        let mut bases = vec![0_u32];
        for meta in &head.segments {
            let Some(segment) = Segment::open(dir, meta)? else { return Ok(None) };
            let base = bases.last().copied().unwrap_or_default().checked_add(meta.n_docs);
            bases.push(base.ok_or_else(|| damaged("too many documents"))?);
            segments.push(segment);
        }
        let Some(log) = Log::load(dir, head.generation)? else { return Ok(None) };
        Ok(Some(Self { head, segments, log, bases, centroids, dead: OnceLock::new() }))
    }

    /// Returns which set of segments it has, and how much of their log: two that are equal hold the same.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.head.generation, self.log.len)
    }

    /// Returns how many live documents there are.
    pub fn len(&self) -> usize {
        let in_segments: usize = self.head.segments.iter().map(|meta| meta.n_live as usize).sum();
        in_segments.saturating_sub(self.log.deaths.len()) + self.log.live().count()
    }

    /// Says whether there is no live document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the live documents' lengths.
    pub fn total_length(&self) -> u64 {
        let in_segments: u64 = self.head.segments.iter().map(|meta| meta.live_length).sum();
        let dead: u64 = self.log.deaths.iter().map(|death| u64::from(death.length)).sum();
        let in_log: u64 = self.log.live().map(|(_, slot)| u64::from(slot.entry.length)).sum();
        in_segments.saturating_sub(dead) + in_log
    }

    /// Returns what every id is below, for arrays with a place for each document. Dead ones have ids too.
    pub fn id_limit(&self) -> u32 {
        self.log_base() + self.log.slots.len() as u32
    }

    /// Returns the live documents that have the term, ascending by id; how many they are is its exact frequency.
    pub fn postings(&self, term: u64) -> Result<Vec<Posting>, IndexError> {
        let mut postings = Vec::new();
        self.postings_into(term, &mut postings)?;
        Ok(postings)
    }

    /// Like [`Index::postings`], into a vector that is emptied first: asking for many terms, one is enough.
    pub fn postings_into(&self, term: u64, postings: &mut Vec<Posting>) -> Result<(), IndexError> {
        postings.clear();
        let listed = self.listed(term)?;
        postings.reserve(listed.len());
        listed.each(|posting| postings.push(posting))
    }

    /// Looks a term up without reading which documents have it.
    pub fn listed(&self, term: u64) -> Result<Listed<'_>, IndexError> {
        let mut listed = Listed { found: Vec::new(), in_log: Vec::new(), n: 0 };
        for part in self.parts()? {
            let (segment, _, dead) = part;
            let Some(found) = segment.term(term)? else { continue };
            if dead.len() == 0 {
                listed.n += found.n.min(segment.meta.n_docs as usize);
            } else {
                segment
                    .each_weighted(found.clone(), |doc, _| listed.n += usize::from(!dead.contains(doc)))?;
            }
            listed.found.push((part, found));
        }
        for (slot, Slot { entry, .. }) in self.log.live() {
            if let Ok(at) = entry.terms.binary_search_by_key(&term, |&(term, _)| term) {
                let doc = DocId(self.log_base() + slot);
                listed.in_log.push(Posting { doc, weight: entry.terms[at].1, length: entry.length });
            }
        }
        listed.n += listed.in_log.len();
        Ok(listed)
    }

    /// Returns the live documents that have the facet, ascending by id.
    pub fn facet(&self, facet: u64) -> Result<Vec<DocId>, IndexError> {
        let mut docs = Vec::new();
        for (segment, base, dead) in self.parts()? {
            let found = segment.facet(facet)?;
            docs.extend(found.iter().filter(|&&doc| !dead.contains(doc)).map(|&doc| DocId(base + doc)));
        }
        let in_log = self.log.live().filter(|(_, slot)| slot.entry.facets.binary_search(&facet).is_ok());
        docs.extend(in_log.map(|(slot, _)| DocId(self.log_base() + slot)));
        Ok(docs)
    }

    /// Returns the live document of a key.
    pub fn by_key(&self, key: &str) -> Result<Option<DocId>, IndexError> {
        if let Some(slot) = self.log.by_key(key) {
            return Ok(Some(DocId(self.log_base() + slot)));
        }
        Ok(self.in_segments(key)?.map(|(segment, doc, _)| DocId(self.bases[segment] + doc)))
    }

    /// Returns the live document of a key in a segment: which segment, which document, its length.
    pub(super) fn in_segments(&self, key: &str) -> Result<Option<(usize, u32, u32)>, IndexError> {
        for (at, (segment, _, dead)) in self.parts()?.enumerate() {
            let found = segment.by_key(key)?.filter(|&(doc, _)| !dead.contains(doc));
            if let Some((doc, length)) = found {
                return Ok(Some((at, doc, length)));
            }
        }
        Ok(None)
    }

    /// Returns a document.
    pub fn doc(&self, id: DocId) -> Result<Doc, IndexError> {
        match self.place(id)? {
            Place::Segment(segment, doc) => segment.doc(doc),
            Place::Log(Slot { entry, .. }) => Ok(Doc {
                key: entry.key.clone(),
                stamp: entry.stamp,
                length: entry.length,
                payload: entry.payload.clone(),
            }),
        }
    }

    /// Returns a document's key.
    pub fn key(&self, id: DocId) -> Result<String, IndexError> {
        match self.place(id)? {
            Place::Segment(segment, doc) => segment.name(doc, |name| name.key.to_owned()),
            Place::Log(slot) => Ok(slot.entry.key.clone()),
        }
    }

    /// Returns a document's vector, if it has one.
    pub fn vector(&self, id: DocId) -> Result<Option<Row>, IndexError> {
        match self.place(id)? {
            Place::Segment(segment, doc) => segment.vector(doc),
            Place::Log(slot) => Ok(slot.entry.vector),
        }
    }

    /// Walks the keys and stamps of all live documents, in no order, to compare them with what is there now.
    pub fn stamps(&self) -> Result<Stamps<'_>, IndexError> {
        let segments = self.segments.iter().zip(self.dead()?);
        let cursors = segments.map(|(segment, dead)| DocCursor::new(segment, dead)).collect();
        Ok(Stamps { cursors, log: self.log.slots.iter() })
    }

    /// Calls `visit` with the id, key and stamp of all live documents, in no order: [`Index::stamps`] for a million.
    pub fn each_stamp(&self, mut visit: impl FnMut(DocId, &str, &Stamp)) -> Result<(), IndexError> {
        for (segment, base, dead) in self.parts()? {
            segment.each_name(|doc, name| {
                if !dead.contains(doc) {
                    visit(DocId(base + doc), name.key, &name.stamp);
                }
            })?;
        }
        for (slot, Slot { entry, .. }) in self.log.live() {
            visit(DocId(self.log_base() + slot), &entry.key, &entry.stamp);
        }
        Ok(())
    }

    /// Calls `visit` with all live documents, in no order.
    pub fn each_doc(&self, mut visit: impl FnMut(DocId, &Doc)) -> Result<(), IndexError> {
        for (segment, base, dead) in self.parts()? {
            segment.each_live(dead, |doc, found| visit(DocId(base + doc), found))?;
        }
        for (slot, Slot { entry, .. }) in self.log.live() {
            let (key, payload) = (entry.key.clone(), entry.payload.clone());
            let doc = Doc { key, stamp: entry.stamp, length: entry.length, payload };
            visit(DocId(self.log_base() + slot), &doc);
        }
        Ok(())
    }

    /// Returns which documents of each segment are dead.
    pub(super) fn dead(&self) -> Result<&[Dead], IndexError> {
        if let Some(dead) = self.dead.get() {
            return Ok(dead);
        }
        let dead = self.load_dead()?;
        Ok(self.dead.get_or_init(|| dead))
    }

    fn load_dead(&self) -> Result<Vec<Dead>, IndexError> {
        let mut dead = vec![Dead::default(); self.segments.len()];
        for segment in &self.segments {
            for death in segment.deaths()? {
                // A segment that is gone was merged, and its dead were left behind.
                if let Some(at) = self.segment_at(death.segment) {
                    let died = dead[at].insert(death.doc, self.segments[at].meta.n_docs);
                    died.ok_or_else(|| segment.source().damaged("a death"))?;
                }
            }
        }
        let counts = dead.iter().zip(&self.head.segments);
        if counts.clone().any(|(dead, meta)| meta.n_docs.checked_sub(dead.len()) != Some(meta.n_live)) {
            return Err(damaged("another number of deaths"));
        }
        for death in &self.log.deaths {
            let at = self.segment_at(death.segment).ok_or_else(|| damaged("a death"))?;
            let died = dead[at].insert(death.doc, self.segments[at].meta.n_docs);
            died.ok_or_else(|| damaged("a death"))?;
        }
        Ok(dead)
    }

    fn segment_at(&self, number: u64) -> Option<usize> {
        self.head.segments.iter().position(|meta| meta.number == number)
    }

    /// Takes a batch into memory, as it was or will be written.
    pub(super) fn absorb(&mut self, batch: Batch) {
        for death in &batch.deaths {
            let at = self.segment_at(death.segment);
            if let Some((at, dead)) = at.zip(self.dead.get_mut()) {
                dead[at].insert(death.doc, self.segments[at].meta.n_docs);
            }
        }
        self.log.absorb(batch);
    }

    /// Returns each segment with the id of its first document and what is dead in it.
    pub(super) fn parts(&self) -> Result<impl Iterator<Item = (&Segment, u32, &Dead)>, IndexError> {
        let parts = self.segments.iter().zip(&self.bases).zip(self.dead()?);
        Ok(parts.map(|((segment, &base), dead)| (segment, base, dead)))
    }

    /// Returns the id of the log's first document.
    pub(super) fn log_base(&self) -> u32 {
        self.bases.last().copied().unwrap_or_default()
    }

    /// Returns which segment an id is of; the log comes after the last.
    pub(super) fn part_of(&self, id: DocId) -> usize {
        self.bases.partition_point(|&base| base <= id.0) - 1
    }

    fn place(&self, id: DocId) -> Result<Place<'_>, IndexError> {
        let part = self.part_of(id);
        let doc = id.0 - self.bases[part];
        if let Some(segment) = self.segments.get(part) {
            let live = !self.dead()?[part].contains(doc);
            return live.then_some(Place::Segment(segment, doc)).ok_or(IndexError::NoDocument(id));
        }
        let slot = self.log.slots.get(doc as usize).filter(|slot| slot.live);
        slot.map(Place::Log).ok_or(IndexError::NoDocument(id))
    }
}

/// A term that was looked up: how many live documents have it, and which.
#[derive(Debug)]
pub struct Listed<'i> {
    found: Vec<((&'i Segment, u32, &'i Dead), Found)>,
    in_log: Vec<Posting>,
    n: usize,
}

impl Listed<'_> {
    /// Returns how many live documents have the term.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Says whether no live document has the term.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Calls `visit` with each of them, ascending by id.
    pub fn each(self, mut visit: impl FnMut(Posting)) -> Result<(), IndexError> {
        for ((segment, base, dead), found) in self.found {
            let lengths = segment.lengths()?;
            segment.each_weighted(found, |doc, weight| {
                if !dead.contains(doc) {
                    let length = u32::from_le_bytes(lengths[doc as usize]);
                    visit(Posting { doc: DocId(base + doc), weight, length });
                }
            })?;
        }
        self.in_log.into_iter().for_each(visit);
        Ok(())
    }
}

/// Walks the keys and stamps of live documents; see [`Index::stamps`].
#[derive(Debug)]
pub struct Stamps<'i> {
    cursors: Vec<DocCursor<'i>>,
    log: std::slice::Iter<'i, Slot>,
}

impl Iterator for Stamps<'_> {
    type Item = Result<(String, Stamp), IndexError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(cursor) = self.cursors.last_mut() {
            match cursor.advance() {
                Ok(Some(passed)) => return Some(Ok((passed.key, passed.stamp))),
                Ok(None) => drop(self.cursors.pop()),
                Err(err) => {
                    self.cursors.pop();
                    return Some(Err(err));
                }
            }
        }
        let slot = self.log.by_ref().find(|slot| slot.live)?;
        Some(Ok((slot.entry.key.clone(), slot.entry.stamp)))
    }
}

/// Tells which centroids the groups of an index belong to.
pub(super) fn fingerprint(centroids: &[Row]) -> u32 {
    let mut sum = Checksum::new();
    centroids.iter().for_each(|row| sum.update(&bytes_of(row)));
    sum.finalize()
}

fn damaged(what: &'static str) -> IndexError {
    IndexError::Damaged { file: HEAD.to_owned(), what }
}
