//! Makes one segment of several.
//!
//! Everything streams in order: documents by key, terms and facets by hash, vectors by group and document. Only the new
//! number of each document is held for all of them. The dead stay behind, and so no death has to be translated: those
//! in merged segments are carried out here, and a death that names a segment which is gone means nothing any more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dictionary::{Found, put_docs, put_weighted};
use super::segment::{Dead, Death, Dictionary, DocCursor, DocRow, Meta, Segment, SegmentWriter};
use super::{DIMENSIONS, IndexError};
use crate::disk::Dir;

/// A segment to be merged, with what is dead in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'i> {
    pub(super) segment: &'i Segment,
    pub(super) dead: &'i Dead,
}

/// A document that does not come along.
const GONE: u32 = u32::MAX;

/// Writes the live documents of `parts` as the segment `number`. Of two with one key, that of the later part stays.
pub(super) fn merge(
    dir: &Dir,
    number: u64,
    parts: &[Part<'_>],
    deaths: &[Death],
) -> Result<Meta, IndexError> {
    let mut writer = SegmentWriter::create(dir, number)?;
    let renumbered = merge_docs(parts, &mut writer)?;
    merge_lists(parts, &renumbered, Dictionary::Terms, &mut writer)?;
    merge_lists(parts, &renumbered, Dictionary::Facets, &mut writer)?;
    merge_vectors(parts, &renumbered, &mut writer)?;
    Ok(writer.finish(deaths)?)
}

/// Copies the documents and returns, for each part, the new number of each document.
fn merge_docs(parts: &[Part<'_>], writer: &mut SegmentWriter) -> Result<Vec<Vec<u32>>, IndexError> {
    let mut renumbered: Vec<Vec<u32>> =
        parts.iter().map(|part| vec![GONE; part.segment.meta.n_docs as usize]).collect();
    let mut cursors: Vec<_> = parts.iter().map(|part| DocCursor::new(part.segment, part.dead)).collect();
    let mut waiting = Vec::with_capacity(parts.len());
    let mut heap = BinaryHeap::new();
    for (at, cursor) in cursors.iter_mut().enumerate() {
        waiting.push(cursor.advance()?);
        heap.extend(waiting[at].as_mut().map(|doc| Reverse((std::mem::take(&mut doc.key), Reverse(at)))));
    }
    let mut last = None;
    let mut payload = Vec::new();
    while let Some(Reverse((key, Reverse(at)))) = heap.pop() {
        let Some(doc) = waiting[at].take() else { continue };
        if last.as_ref() != Some(&key) {
            parts[at].segment.source().read_into(doc.payload, &mut payload)?;
            let (stamp, length, group) = (doc.stamp, doc.length, doc.group);
            let row = DocRow { key: &key, stamp, length, group, payload: &payload };
            renumbered[at][doc.doc as usize] = writer.doc(&row)?;
        }
        last = Some(key);
        waiting[at] = cursors[at].advance()?;
        heap.extend(waiting[at].as_mut().map(|doc| Reverse((std::mem::take(&mut doc.key), Reverse(at)))));
    }
    Ok(renumbered)
}

/// Walks a dictionary hash by hash.
struct HashCursor<'i> {
    segment: &'i Segment,
    which: Dictionary,
    page: usize,
    hashes: std::vec::IntoIter<Found>,
}

impl HashCursor<'_> {
    fn advance(&mut self) -> Result<Option<Found>, IndexError> {
        loop {
            if let Some(found) = self.hashes.next() {
                return Ok(Some(found));
            }
            let fences = self.segment.fences(self.which)?;
            let Some(page) = fences.page(self.segment.source(), self.page)? else { return Ok(None) };
            self.page += 1;
            self.hashes = page.into_iter();
        }
    }
}

fn merge_lists(
    parts: &[Part<'_>],
    renumbered: &[Vec<u32>],
    which: Dictionary,
    writer: &mut SegmentWriter,
) -> Result<(), IndexError> {
    let cursor =
        |&Part { segment, .. }| HashCursor { segment, which, page: 0, hashes: Vec::new().into_iter() };
    let mut cursors: Vec<HashCursor<'_>> = parts.iter().map(cursor).collect();
    let mut waiting = Vec::with_capacity(parts.len());
    let mut heap = BinaryHeap::new();
    for (at, cursor) in cursors.iter_mut().enumerate() {
        waiting.push(cursor.advance()?);
        heap.extend(waiting[at].as_ref().map(|found| Reverse((found.hash, at))));
    }
    let mut docs: Vec<(u32, u16)> = Vec::new();
    let mut list = Vec::new();
    while let Some(Reverse((hash, at))) = heap.pop() {
        if let Some(found) = waiting[at].take() {
            gather(parts[at].segment, found, which, &renumbered[at], &mut docs)?;
        }
        waiting[at] = cursors[at].advance()?;
        heap.extend(waiting[at].as_ref().map(|found| Reverse((found.hash, at))));
        if heap.peek().is_some_and(|Reverse((next, _))| *next == hash) || docs.is_empty() {
            continue;
        }
        docs.sort_unstable();
        list.clear();
        match which {
            Dictionary::Terms => put_weighted(&mut list, docs.iter().copied()),
            _ => put_docs(&mut list, docs.iter().map(|&(doc, _)| doc)),
        }
        writer.hash(hash, docs.len(), &list)?;
        docs.clear();
    }
    Ok(writer.close(which)?)
}

/// Adds what is live of a list, by new numbers.
fn gather(
    segment: &Segment,
    found: Found,
    which: Dictionary,
    renumbered: &[u32],
    docs: &mut Vec<(u32, u16)>,
) -> Result<(), IndexError> {
    let mut keep = |doc: u32, weight| match renumbered.get(doc as usize) {
        Some(&new) if new != GONE => docs.push((new, weight)),
        _ => {}
    };
    match which {
        Dictionary::Terms => segment.each_weighted(found, keep),
        _ => segment.each_doc(found, |doc| keep(doc, 0)),
    }
}

/// Walks the vectors of a segment by group and document.
struct VectorCursor<'i> {
    segment: &'i Segment,
    renumbered: &'i [u32],
    next_block: usize,
    buffer: Vec<u8>,
    rows: std::vec::IntoIter<(u16, u32, [u8; DIMENSIONS])>,
}

impl VectorCursor<'_> {
    /// Returns the group, new number and row of the next vector that comes along.
    fn advance(&mut self) -> Result<Option<(u16, u32, [u8; DIMENSIONS])>, IndexError> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            let table = self.segment.vectors()?;
            if self.next_block >= table.len() {
                return Ok(None);
            }
            let rows = table.read(self.segment.source(), self.next_block, &mut self.buffer)?;
            let renumbered = |doc: u32| self.renumbered.get(doc as usize).copied().filter(|&doc| doc != GONE);
            let live = rows.iter().filter_map(|(group, doc, row)| Some((group, renumbered(doc)?, *row)));
            self.rows = live.collect::<Vec<_>>().into_iter();
            self.next_block += 1;
        }
    }
}

fn merge_vectors(
    parts: &[Part<'_>],
    renumbered: &[Vec<u32>],
    writer: &mut SegmentWriter,
) -> Result<(), IndexError> {
    let mut cursors: Vec<_> = parts
        .iter()
        .zip(renumbered)
        .map(|(part, renumbered)| VectorCursor {
            segment: part.segment,
            renumbered,
            next_block: 0,
            buffer: Vec::new(),
            rows: Vec::new().into_iter(),
        })
        .collect();
    let mut heap = BinaryHeap::new();
    for (at, cursor) in cursors.iter_mut().enumerate() {
        heap.extend(cursor.advance()?.map(|(group, doc, row)| Reverse((group, doc, at, row))));
    }
    while let Some(Reverse((group, doc, at, row))) = heap.pop() {
        writer.vector(group, doc, &row)?;
        heap.extend(cursors[at].advance()?.map(|(group, doc, row)| Reverse((group, doc, at, row))));
    }
    Ok(())
}
