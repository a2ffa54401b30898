//! Vectors: rows of small whole numbers in groups, and the best by dot product.
//!
//! A row belongs to the group of the centroid it is most similar to. A segment stores its rows group by group in blocks
//! of at most [`ROWS_PER_BLOCK`], each with one checksum; a query reads the groups that look most like it first.

use std::io;

use super::format::{Extent, Reader, Sink, Source, put_varint};
use super::{DIMENSIONS, IndexError, Row};

/// How many rows share a block and its checksum.
const ROWS_PER_BLOCK: usize = 256;
/// A document's number in a block. All numbers come first, then all rows.
const DOC_SIZE: usize = 4;

/// A query, widened once so that each row is only widened on its own side.
#[derive(Debug)]
pub(super) struct Query([i16; DIMENSIONS]);

impl Query {
    /// Prepares `row`.
    pub(super) fn new(row: &Row) -> Self {
        Self(row.map(i16::from))
    }

    /// Returns the dot product with a stored row.
    #[inline]
    pub(super) fn dot(&self, row: &[u8; DIMENSIONS]) -> i32 {
        // Two products to a lane: compilers know an instruction that does eight at once, in every x86-64, but only
        // see it in this shape. It takes a third of the time of a plain sum.
        let mut lanes = [0_i32; 8];
        for (ours, theirs) in self.0.as_chunks::<16>().0.iter().zip(row.as_chunks::<16>().0) {
            let product = |at: usize| i32::from(ours[at]) * i32::from(theirs[at].cast_signed());
            for (at, lane) in lanes.iter_mut().enumerate() {
                *lane += product(at) + product(at + 8);
            }
        }
        lanes.iter().sum()
    }

    /// Returns the groups, most similar first. Without centroids there is one group.
    pub(super) fn clusters(&self, centroids: &[Row]) -> Vec<u16> {
        let mut scored: Vec<(i32, u16)> =
            (0..).zip(centroids).map(|(at, centroid)| (-self.dot(&bytes_of(centroid)), at)).collect();
        if scored.is_empty() {
            return vec![0];
        }
        scored.sort_unstable();
        scored.into_iter().map(|(_, at)| at).collect()
    }
}

/// Returns the group that a row belongs to: its most similar centroid, the first of equals.
pub(super) fn cluster_of(row: &Row, centroids: &[Row]) -> u16 {
    let query = Query::new(row);
    let scored = (0_u16..).zip(centroids).map(|(at, centroid)| (-query.dot(&bytes_of(centroid)), at));
    scored.min().map_or(0, |(_, at)| at)
}

/// Turns a row into the bytes that are stored.
pub(super) fn bytes_of(row: &Row) -> [u8; DIMENSIONS] {
    row.map(i8::cast_unsigned)
}

/// Turns stored bytes into a row.
pub(super) fn row_of(bytes: &[u8; DIMENSIONS]) -> Row {
    bytes.map(u8::cast_signed)
}

/// Writes rows, ascending by group and then by document.
#[derive(Debug, Default)]
pub(super) struct VectorWriter {
    cluster: u16,
    docs: Vec<u32>,
    rows: Vec<u8>,
    table: Vec<u8>,
}

impl VectorWriter {
    /// Adds a row.
    pub(super) fn put(
        &mut self,
        sink: &mut Sink,
        cluster: u16,
        doc: u32,
        row: &[u8; DIMENSIONS],
    ) -> io::Result<()> {
        if cluster != self.cluster || self.docs.len() == ROWS_PER_BLOCK {
            self.close_block(sink)?;
            self.cluster = cluster;
        }
        self.docs.push(doc);
        self.rows.extend(row);
        Ok(())
    }

    fn close_block(&mut self, sink: &mut Sink) -> io::Result<()> {
        let Some(&first) = self.docs.first() else { return Ok(()) };
        let mut block: Vec<u8> = self.docs.iter().flat_map(|doc| doc.to_le_bytes()).collect();
        block.append(&mut self.rows);
        let extent = sink.put(&block)?;
        put_varint(&mut self.table, u64::from(self.cluster));
        put_varint(&mut self.table, u64::from(first));
        extent.put(&mut self.table);
        self.docs.clear();
        Ok(())
    }

    /// Writes what is left and returns where the table of blocks is.
    pub(super) fn finish(mut self, sink: &mut Sink) -> io::Result<Extent> {
        self.close_block(sink)?;
        sink.put(&self.table)
    }
}

/// The documents of a block, by number, and their rows.
type Rows<'b> = (&'b [[u8; DOC_SIZE]], &'b [[u8; DIMENSIONS]]);

/// Where a segment's blocks of vectors are.
#[derive(Debug)]
pub(super) struct VectorTable(Vec<BlockPlace>);

/// One block: its group, the first document in it, and where it is.
#[derive(Debug, Clone, Copy)]
struct BlockPlace {
    cluster: u16,
    first: u32,
    extent: Extent,
}

impl VectorTable {
    /// Reads the table.
    pub(super) fn load(source: &Source, extent: Extent) -> Result<Self, IndexError> {
        let bytes = source.read(extent)?;
        let mut reader = Reader(&bytes);
        let mut blocks = Vec::new();
        while !reader.0.is_empty() {
            let block = read_place(&mut reader);
            blocks.push(block.ok_or_else(|| source.damaged("the table of vectors"))?);
        }
        Ok(Self(blocks))
    }

    /// Returns the group of a block.
    pub(super) fn cluster(&self, block: usize) -> Option<u16> {
        self.0.get(block).map(|place| place.cluster)
    }

    /// Returns the blocks of a group.
    pub(super) fn blocks(&self, cluster: u16) -> std::ops::Range<usize> {
        let start = self.0.partition_point(|block| block.cluster < cluster);
        let end = self.0.partition_point(|block| block.cluster <= cluster);
        start..end
    }

    /// Reads a block into `buffer` and returns its documents and rows.
    pub(super) fn read<'b>(
        &self,
        source: &Source,
        block: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Rows<'b>, IndexError> {
        let damaged = || source.damaged("a block of vectors");
        let place = self.0.get(block).ok_or_else(damaged)?;
        source.read_into(place.extent, buffer)?;
        let n = buffer.len() / (DOC_SIZE + DIMENSIONS);
        let (docs, rows) = buffer.split_at_checked(n * DOC_SIZE).ok_or_else(damaged)?;
        let (docs, rows) = (docs.as_chunks().0, rows.as_chunks());
        if n > ROWS_PER_BLOCK || rows.0.len() != n || !rows.1.is_empty() {
            return Err(damaged());
        }
        Ok((docs, rows.0))
    }

    /// Reads the row of a document in a group.
    pub(super) fn row(&self, source: &Source, cluster: u16, doc: u32) -> Result<Row, IndexError> {
        let blocks = self.blocks(cluster);
        let places = self.0.get(blocks.clone()).unwrap_or_default();
        let damaged = || source.damaged("a document without its vector");
        let nth = places.partition_point(|block| block.first <= doc).checked_sub(1).ok_or_else(damaged)?;
        let mut buffer = Vec::new();
        let (docs, rows) = self.read(source, blocks.start + nth, &mut buffer)?;
        let at = docs.binary_search_by_key(&doc, |&stored| u32::from_le_bytes(stored));
        at.ok().and_then(|at| rows.get(at)).map(row_of).ok_or_else(damaged)
    }
}

fn read_place(reader: &mut Reader<'_>) -> Option<BlockPlace> {
    Some(BlockPlace { cluster: reader.small()?, first: reader.small()?, extent: reader.extent()? })
}

/// Keeps the best documents of one segment: by dot product, equals in the order of their numbers.
#[derive(Debug)]
pub(super) struct Best {
    limit: usize,
    kept: Vec<(i32, u32)>,
    /// What is worse than this cannot come in; grows as better ones are found.
    floor: i32,
}

impl Best {
    /// Keeps at most `limit`.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), floor: i32::MIN }
    }

    /// Offers a document.
    #[inline]
    pub(super) fn offer(&mut self, dot: i32, doc: u32) {
        if dot >= self.floor {
            self.kept.push((dot, doc));
            if self.kept.len() >= self.limit.saturating_mul(2).saturating_add(64) {
                self.prune();
            }
        }
    }

    fn prune(&mut self) {
        self.kept.sort_unstable_by_key(|&(dot, doc)| (-dot, doc));
        self.kept.truncate(self.limit);
        if let Some(&(dot, _)) = self.kept.last().filter(|_| self.kept.len() == self.limit) {
            self.floor = dot;
        }
    }

    /// Returns the best, best first.
    pub(super) fn finish(mut self) -> Vec<(i32, u32)> {
        self.prune();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dot_product_does_not_overflow() {
        let low = [i8::MIN; DIMENSIONS];
        assert_eq!(Query::new(&low).dot(&bytes_of(&low)), 256 * 128 * 128);
        let mut row = [0; DIMENSIONS];
        (row[0], row[255]) = (-3, 7);
        assert_eq!(Query::new(&row).dot(&bytes_of(&low)), -128 * 4);
    }

    #[test]
    fn the_dot_product_takes_every_dimension() {
        for at in 0..DIMENSIONS {
            let mut row = [1; DIMENSIONS];
            row[at] = -100;
            let ascending: Row = std::array::from_fn(|n| (n as i16 - 128) as i8);
            let sum: i32 = ascending.iter().map(|&value| i32::from(value)).sum();
            let expected = sum - 101 * i32::from(ascending[at]);
            assert_eq!(Query::new(&ascending).dot(&bytes_of(&row)), expected);
        }
    }

    #[test]
    fn the_best_are_kept_in_order() {
        let mut best = Best::new(3);
        for doc in 0..1000_u32 {
            best.offer((doc % 10).cast_signed(), doc);
        }
        assert_eq!(best.finish(), [(9, 9), (9, 19), (9, 29)]);
    }

    #[test]
    fn groups_come_by_similarity_and_equals_by_number() {
        let mut centroids = [[0; DIMENSIONS]; 3];
        (centroids[1][0], centroids[2][0]) = (5, 5);
        let mut row = [0; DIMENSIONS];
        row[0] = 1;
        assert_eq!(Query::new(&row).clusters(&centroids), [1, 2, 0]);
        assert_eq!(cluster_of(&row, &centroids), 1);
        assert_eq!(Query::new(&row).clusters(&[]), [0]);
        assert_eq!(cluster_of(&row, &[]), 0);
    }
}
