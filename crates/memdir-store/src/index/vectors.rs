//! Vectors: rows of small whole numbers in groups, and the best by dot product.
//!
//! A row belongs to the topic of the centroid it is most similar to, and there to a cell: where it lies on two axes. Topic
//! and cell make its group. Topics alone would do if memories were spread evenly; where nearly all are about one thing, its
//! cells keep a query from reading everything. A segment stores its rows group by group in blocks of one topic and at most
//! [`ROWS_PER_BLOCK`] rows, each with one checksum; a query reads the groups that look most like it first.

use std::io;
use std::ops::Range;

use super::format::{Extent, Reader, Sink, Source, put_varint};
use super::{DIMENSIONS, IndexError, Row};

/// How many rows share a block and its checksum.
const ROWS_PER_BLOCK: usize = 256;
/// A document's number in a block. All numbers come first, then all cells, then all rows.
const DOC_SIZE: usize = 4;
/// The axes that a topic is cut along: two on which texts about one thing still differ much.
const AXES: [usize; 2] = [3, 7];
/// How wide a slice of an axis is, and how many there are; the first and the last take what lies beyond.
const SLICE: i32 = 3;
const N_SLICES: i32 = 16;
/// How many cells a topic has.
const N_CELLS: usize = 256;

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

    /// Returns the topics, most similar first. Without centroids there is one topic.
    pub(super) fn topics(&self, centroids: &[Row]) -> Vec<u16> {
        let mut scored: Vec<(i32, u16)> =
            (0..).zip(centroids).map(|(at, centroid)| (-self.dot(&bytes_of(centroid)), at)).collect();
        if scored.is_empty() {
            return vec![0];
        }
        scored.sort_unstable();
        scored.into_iter().map(|(_, at)| at).collect()
    }

    /// Returns the groups of a topic, the nearest cell first.
    pub(super) fn groups(&self, topic: u16) -> [u16; N_CELLS] {
        let own = AXES.map(|axis| i32::from(self.0[axis]));
        let mut cells: [u8; N_CELLS] = std::array::from_fn(|cell| cell as u8);
        cells.sort_unstable_by_key(|&cell| {
            let slices = [i32::from(cell) / N_SLICES, i32::from(cell) % N_SLICES];
            let far = |axis: usize| from_middle(own[axis], slices[axis]).pow(2);
            (far(0) + far(1), cell)
        });
        cells.map(|cell| group(topic, cell))
    }
}

/// Returns the slice of an axis that a value is in.
fn slice(value: i32) -> i32 {
    (value.div_euclid(SLICE) + N_SLICES / 2).clamp(0, N_SLICES - 1)
}

/// Returns how far a value is from the middle of a slice; beyond the outermost middles nothing is farther.
fn from_middle(value: i32, slice: i32) -> i32 {
    let middle = |slice: i32| (slice - N_SLICES / 2) * SLICE + SLICE / 2;
    value.clamp(middle(0), middle(N_SLICES - 1)) - middle(slice)
}

/// Returns the group that a row belongs to: its most similar centroid, the first of equals, and its cell.
pub(super) fn group_of(row: &Row, centroids: &[Row]) -> u16 {
    let query = Query::new(row);
    let scored = (0_u16..).zip(centroids).map(|(at, centroid)| (-query.dot(&bytes_of(centroid)), at));
    let topic = scored.min().map_or(0, |(_, at)| at);
    let [one, two] = AXES.map(|axis| slice(i32::from(row[axis])));
    group(topic, (one * N_SLICES + two) as u8)
}

fn group(topic: u16, cell: u8) -> u16 {
    topic * N_CELLS as u16 + u16::from(cell)
}

fn topic_of(group: u16) -> u16 {
    group / N_CELLS as u16
}

fn cell_of(group: u16) -> u8 {
    (group % N_CELLS as u16) as u8
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
    /// The group of the first row in the block.
    group: u16,
    docs: Vec<u32>,
    cells: Vec<u8>,
    rows: Vec<u8>,
    table: Vec<u8>,
}

impl VectorWriter {
    /// Adds a row.
    pub(super) fn put(
        &mut self,
        sink: &mut Sink,
        group: u16,
        doc: u32,
        row: &[u8; DIMENSIONS],
    ) -> io::Result<()> {
        if topic_of(group) != topic_of(self.group) || self.docs.len() == ROWS_PER_BLOCK {
            self.close_block(sink)?;
        }
        if self.docs.is_empty() {
            self.group = group;
        }
        self.docs.push(doc);
        self.cells.push(cell_of(group));
        self.rows.extend(row);
        Ok(())
    }

    fn close_block(&mut self, sink: &mut Sink) -> io::Result<()> {
        let Some(&first) = self.docs.first() else { return Ok(()) };
        let mut block: Vec<u8> = self.docs.iter().flat_map(|doc| doc.to_le_bytes()).collect();
        block.append(&mut self.cells);
        block.append(&mut self.rows);
        let extent = sink.put(&block)?;
        put_varint(&mut self.table, u64::from(self.group));
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

/// The rows of a block with their documents and groups, ascending by group and then by document.
#[derive(Debug)]
pub(super) struct Rows<'b> {
    topic: u16,
    docs: &'b [[u8; DOC_SIZE]],
    cells: &'b [u8],
    rows: &'b [[u8; DIMENSIONS]],
}

impl<'b> Rows<'b> {
    /// Walks all rows: group, document, row.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, u32, &'b [u8; DIMENSIONS])> {
        let topic = self.topic;
        let groups = self.cells.iter().map(move |&cell| group(topic, cell));
        let docs = self.docs.iter().map(|&doc| u32::from_le_bytes(doc));
        groups.zip(docs).zip(self.rows).map(|((group, doc), row)| (group, doc, row))
    }

    /// Walks the rows of a group.
    pub(super) fn of(&self, group: u16) -> impl Iterator<Item = (u32, &'b [u8; DIMENSIONS])> {
        let start = self.cells.partition_point(|&cell| cell < cell_of(group));
        let n = self.cells.get(start..).unwrap_or_default().partition_point(|&cell| cell == cell_of(group));
        self.iter().skip(start).take(n).map(|(_, doc, row)| (doc, row))
    }
}

/// Where a segment's blocks of vectors are.
#[derive(Debug)]
pub(super) struct VectorTable(Vec<BlockPlace>);

/// One block: the group of its first row, the document of that row, and where it is.
#[derive(Debug, Clone, Copy)]
struct BlockPlace {
    group: u16,
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

    /// Returns how many blocks there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the blocks of a topic.
    pub(super) fn blocks(&self, topic: u16) -> Range<usize> {
        let start = self.0.partition_point(|block| topic_of(block.group) < topic);
        let end = self.0.partition_point(|block| topic_of(block.group) <= topic);
        start..end
    }

    /// Returns the blocks that have rows of a group.
    pub(super) fn blocks_of(&self, group: u16) -> Range<usize> {
        let topic = self.blocks(topic_of(group));
        let begun = self.0.partition_point(|block| block.group < group);
        let end = self.0.partition_point(|block| block.group <= group);
        // The block before the first that begins with the group may end with it.
        begun.saturating_sub(1).max(topic.start)..end
    }

    /// Reads a block into `buffer` and returns its rows.
    pub(super) fn read<'b>(
        &self,
        source: &Source,
        block: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Rows<'b>, IndexError> {
        let damaged = || source.damaged("a block of vectors");
        let place = self.0.get(block).ok_or_else(damaged)?;
        source.read_into(place.extent, buffer)?;
        let n = buffer.len() / (DOC_SIZE + 1 + DIMENSIONS);
        let (docs, rest) = buffer.split_at_checked(n * DOC_SIZE).ok_or_else(damaged)?;
        let (cells, rows) = rest.split_at_checked(n).ok_or_else(damaged)?;
        let (docs, rows) = (docs.as_chunks().0, rows.as_chunks());
        if n > ROWS_PER_BLOCK || rows.0.len() != n || !rows.1.is_empty() || !cells.is_sorted() {
            return Err(damaged());
        }
        Ok(Rows { topic: topic_of(place.group), docs, cells, rows: rows.0 })
    }

    /// Reads the row of a document in a group.
    pub(super) fn row(&self, source: &Source, group: u16, doc: u32) -> Result<Row, IndexError> {
        let damaged = || source.damaged("a document without its vector");
        let after = self.0.partition_point(|block| (block.group, block.first) <= (group, doc));
        let mut buffer = Vec::new();
        let rows = self.read(source, after.checked_sub(1).ok_or_else(damaged)?, &mut buffer)?;
        let found = rows.of(group).find(|&(stored, _)| stored == doc);
        found.map(|(_, row)| row_of(row)).ok_or_else(damaged)
    }
}

fn read_place(reader: &mut Reader<'_>) -> Option<BlockPlace> {
    Some(BlockPlace { group: reader.small()?, first: reader.small()?, extent: reader.extent()? })
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
    fn topics_come_by_similarity_and_equals_by_number() {
        let mut centroids = [[0; DIMENSIONS]; 3];
        (centroids[1][0], centroids[2][0]) = (5, 5);
        let mut row = [0; DIMENSIONS];
        row[0] = 1;
        assert_eq!(Query::new(&row).topics(&centroids), [1, 2, 0]);
        assert_eq!(topic_of(group_of(&row, &centroids)), 1);
        assert_eq!(Query::new(&row).topics(&[]), [0]);
        assert_eq!(topic_of(group_of(&row, &[])), 0);
    }

    #[test]
    fn a_topic_is_cut_into_cells_and_the_nearest_comes_first() {
        let at = |one: i8, two: i8| {
            let mut row = [0; DIMENSIONS];
            (row[AXES[0]], row[AXES[1]]) = (one, two);
            row
        };
        for one in i8::MIN..=i8::MAX {
            let row = at(one, one / 2);
            let groups = Query::new(&row).groups(2);
            assert_eq!(
                groups[0],
                group_of(&row, &[[0; DIMENSIONS], [0; DIMENSIONS], at(one, one / 2)]) % 256 + 512
            );
            let mut sorted = groups;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(512..768));
        }
        // Neighbours on one axis come before those on both, and what is nearest is so from the value itself.
        let near = Query::new(&at(2, 1)).groups(0).map(|group| (group / 16, group % 16));
        assert_eq!(near[..4], [(8, 8), (9, 8), (8, 7), (8, 9)]);
        assert_eq!(Query::new(&at(100, -100)).groups(0)[0], 15 * 16);
    }
}
