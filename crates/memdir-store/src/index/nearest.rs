//! Which vectors are most like a query: group by group, the most similar first.
//!
//! Which groups are read depends on the live documents alone, never on how they are spread over segments, so the answer
//! is that of an index built anew also where it is not exact.

use std::cmp::Reverse;

use super::log::Slot;
use super::segment::{Dead, Segment};
use super::vectors::{Best, Query, bytes_of};
use super::{DocId, Index, IndexError, Row};

/// A segment, the id of its first document, and which of its documents are dead.
type Part<'i> = (&'i Segment, u32, &'i Dead);

impl Index {
    /// Returns the best documents by dot product, best first, equals in the order of their keys.
    ///
    /// Groups are read in the order of their similarity to the query until at least `min_rows` live vectors were
    /// scored, so with `min_rows` of [`Index::len`] the answer is exact.
    pub fn nearest(&self, row: &Row, limit: usize, min_rows: usize) -> Result<Vec<(DocId, i32)>, IndexError> {
        let query = Query::new(row);
        let parts: Vec<Part<'_>> = self.parts()?.collect();
        let log = self.log_by_group();
        let mut best = parts.iter().map(|_| Best::new(limit)).collect::<Vec<_>>();
        let from_log = if min_rows >= self.len() {
            for ((segment, _, dead), best) in parts.iter().zip(&mut best) {
                score_all(segment, dead, &query, best)?;
            }
            log
        } else {
            self.score_near(&query, &parts, &log, min_rows, &mut best)?
        };
        let dot =
            |(_, slot, row): (u16, u32, &Row)| (query.dot(&bytes_of(row)), DocId(self.log_base() + slot));
        let mut scored: Vec<(i32, DocId)> = from_log.into_iter().map(dot).collect();
        for ((_, base, _), best) in parts.iter().zip(best) {
            scored.extend(best.finish().into_iter().map(|(dot, doc)| (dot, DocId(base + doc))));
        }
        self.order(scored, limit)
    }

    /// Scores the groups most like the query until there are `min_rows` rows, and returns those of the log.
    fn score_near<'i>(
        &self,
        query: &Query,
        parts: &[Part<'_>],
        log: &[(u16, u32, &'i Row)],
        min_rows: usize,
        best: &mut [Best],
    ) -> Result<Vec<(u16, u32, &'i Row)>, IndexError> {
        let mut from_log = Vec::new();
        let mut n_scored = 0;
        for topic in query.topics(self.centroids) {
            let scans = parts.iter().map(|&(segment, _, dead)| TopicScan::new(segment, dead, topic, query));
            let mut scans = scans.collect::<Result<Vec<_>, _>>()?;
            if scans.iter().all(TopicScan::is_empty) && log.is_empty() {
                continue;
            }
            for group in query.groups(topic) {
                for (scan, best) in scans.iter_mut().zip(&mut *best) {
                    n_scored += scan.score(group, best)?;
                }
                let start = log.partition_point(|&(of, ..)| of < group);
                let end = log.partition_point(|&(of, ..)| of <= group);
                from_log.extend(&log[start..end]);
                n_scored += end - start;
                if n_scored >= min_rows.max(1) {
                    return Ok(from_log);
                }
            }
        }
        Ok(from_log)
    }

    /// Returns the live vectors of the log: group, slot, row.
    fn log_by_group(&self) -> Vec<(u16, u32, &Row)> {
        let live = self.log.live();
        let grouped =
            live.filter_map(|(at, Slot { entry, group, .. })| Some(((*group)?, at, entry.vector.as_ref()?)));
        let mut grouped: Vec<_> = grouped.collect();
        grouped.sort_unstable_by_key(|&(group, slot, _)| (group, slot));
        grouped
    }

    /// Returns the best `limit`, equals by key. Within a segment ids are in the order of keys already.
    fn order(&self, mut scored: Vec<(i32, DocId)>, limit: usize) -> Result<Vec<(DocId, i32)>, IndexError> {
        scored.sort_unstable_by_key(|&(dot, id)| (Reverse(dot), id));
        let mut ordered = Vec::with_capacity(limit.min(scored.len()));
        for equals in scored.chunk_by(|a, b| a.0 == b.0) {
            if ordered.len() >= limit {
                break;
            }
            let start = ordered.len();
            ordered.extend(equals.iter().map(|&(dot, id)| (id, dot)));
            let n_parts = equals.chunk_by(|a, b| self.part_of(a.1) == self.part_of(b.1)).count();
            let only_log = equals.first().is_some_and(|first| first.1.0 >= self.log_base());
            if n_parts > 1 || (only_log && equals.len() > 1) {
                let keyed = equals.iter().map(|&(dot, id)| self.key(id).map(|key| (key, (id, dot))));
                let mut keyed = keyed.collect::<Result<Vec<_>, _>>()?;
                keyed.sort_unstable();
                ordered.truncate(start);
                ordered.extend(keyed.into_iter().map(|(_, found)| found));
            }
        }
        ordered.truncate(limit);
        Ok(ordered)
    }
}

/// Scores all live rows of a segment, in the order in which they are stored.
fn score_all(segment: &Segment, dead: &Dead, query: &Query, best: &mut Best) -> Result<(), IndexError> {
    let table = segment.vectors()?;
    let mut buffer = Vec::new();
    for block in 0..table.len() {
        let rows = table.read(segment.source(), block, &mut buffer)?;
        for (_, doc, row) in rows.iter() {
            if is_live(segment, dead, doc)? {
                best.offer(query.dot(row), doc);
            }
        }
    }
    Ok(())
}

/// A topic of so many blocks or fewer is read at once; of a larger one only what is asked for.
const READ_AT_ONCE: usize = 16;

/// The rows of one topic in one segment, group by group.
struct TopicScan<'i> {
    segment: &'i Segment,
    dead: &'i Dead,
    query: &'i Query,
    /// What a small topic has: group, dot product, document, ascending by group.
    scored: Option<Vec<(u16, i32, u32)>>,
    buffer: Vec<u8>,
}

impl<'i> TopicScan<'i> {
    fn new(segment: &'i Segment, dead: &'i Dead, topic: u16, query: &'i Query) -> Result<Self, IndexError> {
        let mut scan = Self { segment, dead, query, scored: None, buffer: Vec::new() };
        let table = segment.vectors()?;
        let blocks = table.blocks(topic);
        if blocks.len() > READ_AT_ONCE {
            return Ok(scan);
        }
        let mut scored = Vec::new();
        for block in blocks {
            let rows = table.read(segment.source(), block, &mut scan.buffer)?;
            for (group, doc, row) in rows.iter() {
                if is_live(segment, dead, doc)? {
                    scored.push((group, query.dot(row), doc));
                }
            }
        }
        scan.scored = Some(scored);
        Ok(scan)
    }

    fn is_empty(&self) -> bool {
        self.scored.as_ref().is_some_and(Vec::is_empty)
    }

    /// Offers the live rows of a group and returns how many there were.
    fn score(&mut self, group: u16, best: &mut Best) -> Result<usize, IndexError> {
        if let Some(scored) = &self.scored {
            let start = scored.partition_point(|&(of, ..)| of < group);
            let of_group = scored[start..].iter().take_while(|&&(of, ..)| of == group);
            return Ok(of_group.inspect(|&&(_, dot, doc)| best.offer(dot, doc)).count());
        }
        let table = self.segment.vectors()?;
        let mut n_scored = 0;
        for block in table.blocks_of(group) {
            let rows = table.read(self.segment.source(), block, &mut self.buffer)?;
            for (doc, row) in rows.of(group) {
                if is_live(self.segment, self.dead, doc)? {
                    best.offer(self.query.dot(row), doc);
                    n_scored += 1;
                }
            }
        }
        Ok(n_scored)
    }
}

fn is_live(segment: &Segment, dead: &Dead, doc: u32) -> Result<bool, IndexError> {
    if doc >= segment.meta.n_docs {
        return Err(segment.source().damaged("a block of vectors"));
    }
    Ok(!dead.contains(doc))
}
