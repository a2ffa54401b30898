//! Which vectors are most like a query: group by group, the most similar first.
//!
//! Which groups are read depends on the live documents alone, never on how they are spread over segments, so the answer
//! is that of an index built anew also where it is not exact.

use std::cmp::Reverse;

use super::log::Slot;
use super::segment::{Dead, Segment};
use super::vectors::{Best, Query, bytes_of};
use super::{DocId, Index, IndexError, Row};

impl Index {
    /// Returns the best documents by dot product, best first, equals in the order of their keys.
    ///
    /// Groups are read in the order of their similarity to the query until at least `min_rows` live vectors were
    /// scored, so with `min_rows` of [`Index::len`] the answer is exact.
    pub fn nearest(&self, row: &Row, limit: usize, min_rows: usize) -> Result<Vec<(DocId, i32)>, IndexError> {
        let query = Query::new(row);
        let parts: Vec<_> = self.parts()?.collect();
        let mut best: Vec<Best> = parts.iter().map(|_| Best::new(limit)).collect();
        let mut in_log = Vec::new();
        let mut n_scored = 0;
        let mut buffer = Vec::new();
        for cluster in query.clusters(self.centroids) {
            for ((segment, _, dead), best) in parts.iter().zip(&mut best) {
                n_scored += score_group(segment, dead, cluster, &query, best, &mut buffer)?;
            }
            for (slot, Slot { entry, .. }) in
                self.log.live().filter(|(_, slot)| slot.cluster == Some(cluster))
            {
                let Some(row) = &entry.vector else { continue };
                in_log.push((query.dot(&bytes_of(row)), DocId(self.log_base() + slot)));
                n_scored += 1;
            }
            if n_scored >= min_rows.max(1) {
                break;
            }
        }
        let mut scored = in_log;
        for ((_, base, _), best) in parts.iter().zip(best) {
            scored.extend(best.finish().into_iter().map(|(dot, doc)| (dot, DocId(base + doc))));
        }
        self.order(scored, limit)
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

/// Scores the live rows of a group and returns how many there were.
fn score_group(
    segment: &Segment,
    dead: &Dead,
    cluster: u16,
    query: &Query,
    best: &mut Best,
    buffer: &mut Vec<u8>,
) -> Result<usize, IndexError> {
    let table = segment.vectors()?;
    let mut n_scored = 0;
    for block in table.blocks(cluster) {
        let (docs, rows) = table.read(segment.source(), block, buffer)?;
        for (&doc, row) in docs.iter().zip(rows) {
            let doc = u32::from_le_bytes(doc);
            if doc >= segment.meta.n_docs {
                return Err(segment.source().damaged("a block of vectors"));
            }
            if !dead.contains(doc) {
                best.offer(query.dot(row), doc);
                n_scored += 1;
            }
        }
    }
    Ok(n_scored)
}
