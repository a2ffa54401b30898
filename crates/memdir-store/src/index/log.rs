//! What was written since the last segment: batches, appended to a file and held in memory by whoever opens it.
//!
//! A batch is one record, so it is there whole or not at all. A record that the file ends within is a torn append and is
//! passed over; a record that is complete but wrong is damage. To tell the two apart, a record's head has a checksum of
//! its own. Nothing is ever appended after a torn record: the next writer makes a segment instead.

use std::collections::HashMap;
use std::io::{self, Write};

use super::format::{Reader, checksum, put_bytes, put_stamp, put_varint};
use super::head::log_name;
use super::segment::Death;
use super::vectors::{bytes_of, row_of};
use super::{Entry, IndexError};
use crate::disk::{Dir, ReadError};

/// Before the records: the log's number and its checksum.
const PREFIX: usize = 12;
/// Before a record's body: its length, its checksum, and the checksum of these two.
const RECORD_HEAD: usize = 12;
/// No log is larger, whatever the limits of its writer.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// What one call of a writer changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Batch {
    /// Keys that leave the log.
    pub(super) removals: Vec<String>,
    /// Documents of segments that are replaced or removed.
    pub(super) deaths: Vec<Death>,
    /// What comes in, each with the group of its vector.
    pub(super) upserts: Vec<(Entry, Option<u16>)>,
}

/// The log of one generation.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Documents in the order they came; a later one of the same key has its own slot.
    pub(super) slots: Vec<Slot>,
    pub(super) deaths: Vec<Death>,
    /// Whether the file ends in a torn record.
    pub(super) torn: bool,
    /// The length of the file up to the last whole record.
    pub(super) len: u64,
    by_key: HashMap<String, u32>,
}

/// A document of the log.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) entry: Entry,
    pub(super) group: Option<u16>,
    pub(super) live: bool,
}

impl Log {
    /// Writes an empty log under a number that no head names.
    pub(super) fn create(dir: &Dir, number: u64) -> io::Result<()> {
        let name = log_name(number);
        dir.remove(&name)?;
        dir.open_or_create(&name, false)?.write_all(&prefix(number))
    }

    /// Reads a log; `None` if its file is gone.
    pub(super) fn load(dir: &Dir, number: u64) -> Result<Option<Self>, IndexError> {
        let name = log_name(number);
        let damaged = |what| IndexError::Damaged { file: name.clone(), what };
        let bytes = match dir.read(&name, MAX_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(ReadError::Io(err)) => return Err(err.into()),
            Err(_) => return Err(damaged("no readable file")),
        };
        let mut rest = bytes.strip_prefix(&prefix(number)).ok_or_else(|| damaged("the beginning"))?;
        let mut log = Self::default();
        while let Some((batch, after)) = next_record(rest).map_err(damaged)? {
            log.absorb(batch);
            rest = after;
        }
        log.torn = !rest.is_empty();
        log.len = (bytes.len() - rest.len()) as u64;
        Ok(Some(log))
    }

    /// Appends the record of a batch to the file.
    pub(super) fn append(dir: &Dir, number: u64, record: &[u8]) -> io::Result<()> {
        dir.open_or_create(&log_name(number), true)?.write_all(record)
    }

    /// Takes a batch into memory.
    pub(super) fn absorb(&mut self, batch: Batch) {
        for key in batch.removals {
            self.leave(&key);
        }
        self.deaths.extend(batch.deaths);
        for (entry, group) in batch.upserts {
            self.leave(&entry.key);
            self.by_key.insert(entry.key.clone(), self.slots.len() as u32);
            self.slots.push(Slot { entry, group, live: true });
        }
    }

    fn leave(&mut self, key: &str) {
        let slot = self.by_key.remove(key).and_then(|slot| self.slots.get_mut(slot as usize));
        if let Some(slot) = slot {
            slot.live = false;
        }
    }

    /// Returns the slot of a live document.
    pub(super) fn by_key(&self, key: &str) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// Returns the live documents with their slots.
    pub(super) fn live(&self) -> impl Iterator<Item = (u32, &Slot)> {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.live)
    }

    /// Returns the live documents in the order of their keys.
    pub(super) fn sorted(&self) -> Vec<(&Entry, Option<u16>)> {
        let mut live: Vec<_> = self.live().map(|(_, slot)| (&slot.entry, slot.group)).collect();
        live.sort_unstable_by(|a, b| a.0.key.cmp(&b.0.key));
        live
    }
}

fn prefix(number: u64) -> [u8; PREFIX] {
    let mut prefix = [0; PREFIX];
    prefix[..8].copy_from_slice(&number.to_le_bytes());
    let crc = checksum(&prefix[..8]);
    prefix[8..].copy_from_slice(&crc.to_le_bytes());
    prefix
}

/// Takes the next batch; `None` at the end and before a torn record.
fn next_record(bytes: &[u8]) -> Result<Option<(Batch, &[u8])>, &'static str> {
    let Some((head, rest)) = bytes.split_first_chunk::<RECORD_HEAD>() else { return Ok(None) };
    let mut reader = Reader(head);
    let fields = (reader.u32(), reader.u32(), reader.u32());
    let (Some(len), Some(crc), Some(head_crc)) = fields else { return Ok(None) };
    if checksum(&head[..8]) != head_crc {
        return Err("the head of a record");
    }
    let Some((body, rest)) = rest.split_at_checked(len as usize) else { return Ok(None) };
    if checksum(body) != crc {
        return Err("a record");
    }
    let batch = Batch::decode(body).ok_or("a record")?;
    Ok(Some((batch, rest)))
}

impl Batch {
    /// Says whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.removals.is_empty() && self.deaths.is_empty() && self.upserts.is_empty()
    }

    /// Returns the bytes to append; `None` if a record cannot hold them.
    pub(super) fn record(&self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        put_varint(&mut body, self.removals.len() as u64);
        self.removals.iter().for_each(|key| put_bytes(&mut body, key.as_bytes()));
        put_varint(&mut body, self.deaths.len() as u64);
        self.deaths.iter().for_each(|death| death.put(&mut body));
        put_varint(&mut body, self.upserts.len() as u64);
        self.upserts.iter().for_each(|(entry, group)| put_entry(&mut body, entry, *group));
        let mut record = Vec::with_capacity(RECORD_HEAD + body.len());
        record.extend(u32::try_from(body.len()).ok()?.to_le_bytes());
        record.extend(checksum(&body).to_le_bytes());
        record.extend(checksum(&record).to_le_bytes());
        record.append(&mut body);
        Some(record)
    }

    fn decode(body: &[u8]) -> Option<Self> {
        let mut reader = Reader(body);
        let n = reader.count()?;
        let removals = (0..n).map(|_| reader.text().map(str::to_owned)).collect::<Option<_>>()?;
        let n = reader.count()?;
        let deaths = (0..n).map(|_| Death::read(&mut reader)).collect::<Option<_>>()?;
        let n = reader.count()?;
        let upserts = (0..n).map(|_| read_entry(&mut reader)).collect::<Option<_>>()?;
        reader.done()?;
        Some(Self { removals, deaths, upserts })
    }
}

fn put_entry(out: &mut Vec<u8>, entry: &Entry, group: Option<u16>) {
    put_bytes(out, entry.key.as_bytes());
    put_stamp(out, &entry.stamp);
    put_varint(out, u64::from(entry.length));
    put_bytes(out, &entry.payload);
    put_varint(out, entry.terms.len() as u64);
    let mut last = 0;
    for &(term, weight) in &entry.terms {
        put_varint(out, term - last);
        put_varint(out, u64::from(weight));
        last = term;
    }
    put_varint(out, entry.facets.len() as u64);
    let mut last = 0;
    for &facet in &entry.facets {
        put_varint(out, facet - last);
        last = facet;
    }
    out.push(u8::from(entry.vector.is_some()));
    if let Some((row, group)) = entry.vector.as_ref().zip(group) {
        put_varint(out, u64::from(group));
        out.extend(bytes_of(row));
    }
}

fn read_entry(reader: &mut Reader<'_>) -> Option<(Entry, Option<u16>)> {
    let key = reader.text()?.to_owned();
    let stamp = reader.stamp()?;
    let length = reader.small()?;
    let payload = reader.bytes()?.to_vec();
    let terms = read_terms(reader)?;
    let mut last = 0_u64;
    let mut facets = Vec::with_capacity(reader.clone().count()?);
    for _ in 0..reader.count()? {
        last = last.checked_add(reader.varint()?)?;
        facets.push(last);
    }
    let (vector, group) = match reader.byte()? {
        0 => (None, None),
        1 => {
            let group = reader.small()?;
            (Some(row_of(&reader.array()?)), Some(group))
        }
        _ => return None,
    };
    Some((Entry { key, stamp, terms, facets, length, vector, payload }, group))
}

fn read_terms(reader: &mut Reader<'_>) -> Option<Vec<(u64, u16)>> {
    let n = reader.count()?;
    let mut terms = Vec::with_capacity(n);
    let mut last = 0_u64;
    for _ in 0..n {
        last = last.checked_add(reader.varint()?)?;
        terms.push((last, reader.small()?));
    }
    Some(terms)
}
