//! Changes: one writer at a time, whose batches go to the log and, when that is full, into segments.
//!
//! ```text
//!   apply ─▶ plan ─▶ append to the log                     the usual case: one record
//!                └─▶ fold: log and batch ─▶ new segment ─▶ new head ─▶ merge while eight are of a size
//! ```
//!
//! Each publication names a new, empty log, so that a log belongs to exactly one set of segments. Files that the current
//! `head` does not name are removed by the next writer or the next publication: readers of the generation before have
//! them open by then, and one that is caught in between reads `head` again. Nothing is synced, since nothing is lost.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::head::{Head, log_name, number_of, segment_name};
use super::log::{Batch, Log, MAX_BYTES};
use super::merge::{Part, merge};
use super::segment::{Death, Meta, Segment, write_entries};
use super::vectors::group_of;
use super::{Entry, Index, IndexError, Row};
use crate::disk::{Dir, TEMP_PREFIX};
use crate::lock::Lock;

/// The lock's file below the index's directory.
pub(crate) const LOCK: &str = "lock";

/// How an index is written.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What vectors are grouped by; a reader must be given the same.
    pub centroids: &'static [Row],
    /// How many documents the log holds before it becomes a segment.
    pub log_docs: usize,
    /// How many bytes the log holds before it becomes a segment.
    pub log_bytes: u64,
    /// How many segments of a size are merged into one.
    pub fan: usize,
    /// How many documents a rebuild holds in memory.
    pub run_docs: usize,
    /// How many terms a rebuild holds in memory.
    pub run_terms: usize,
}

impl Options {
    /// Returns the usual limits.
    pub fn new(centroids: &'static [Row]) -> Self {
        Self { centroids, log_docs: 128, log_bytes: 1 << 20, fan: 8, run_docs: 16_384, run_terms: 4_000_000 }
    }
}

/// The one that changes an index, for as long as it lives.
#[derive(Debug)]
pub struct Writer {
    pub(super) dir: Dir,
    pub(super) options: Options,
    /// What is on disk; `None` when it has to be looked at again.
    index: Option<Index>,
    _lock: Lock,
    #[cfg(test)]
    pub(super) after_step: super::tests::AfterStep,
}

impl Writer {
    /// Waits for other writers, then opens the index in the directory `path`, which is created where it is missing.
    pub fn open(path: &Path, options: Options) -> Result<Self, IndexError> {
        let lock = Lock::acquire(path, LOCK)?;
        Self::with_lock(path, options, lock)
    }

    /// Opens the index in the directory `path` unless another writer is at work.
    pub fn attempt(path: &Path, options: Options) -> Result<Option<Self>, IndexError> {
        let lock = Lock::attempt(path, LOCK)?;
        lock.map(|lock| Self::with_lock(path, options, lock)).transpose()
    }

    fn with_lock(path: &Path, options: Options, lock: Lock) -> Result<Self, IndexError> {
        let mut writer = Self {
            dir: Dir::open(path)?,
            options,
            index: None,
            _lock: lock,
            #[cfg(test)]
            after_step: super::tests::AfterStep::default(),
        };
        match writer.index() {
            Ok(_) => writer.sweep()?,
            Err(err) if err.asks_for_rebuild() => {}
            Err(err) => return Err(err),
        }
        Ok(writer)
    }

    /// Returns the index as it is now. If it is missing, damaged or of another version, only a rebuild helps.
    pub fn index(&mut self) -> Result<&Index, IndexError> {
        self.index_mut().map(|index| &*index)
    }

    /// Returns the index as it is now, and lets others write.
    pub(crate) fn into_index(mut self) -> Result<Index, IndexError> {
        self.index()?;
        self.index.take().ok_or(IndexError::Missing)
    }

    fn index_mut(&mut self) -> Result<&mut Index, IndexError> {
        let index = match self.index.take() {
            Some(index) => index,
            None => Index::open_in(&self.dir, self.options.centroids)?,
        };
        Ok(self.index.insert(index))
    }

    /// Removes the documents of some keys, then adds or replaces others. A missing index is begun.
    pub fn apply(&mut self, upserts: Vec<Entry>, removals: Vec<String>) -> Result<(), IndexError> {
        match self.index() {
            Ok(_) => {}
            Err(IndexError::Missing) => return self.rebuild(upserts),
            Err(err) => return Err(err),
        }
        let batch = self.plan(upserts, removals)?;
        if batch.is_empty() {
            return Ok(());
        }
        let applied = match self.record_for_log(&batch)? {
            Some(record) => self.append(batch, &record),
            None => self.fold(batch).and_then(|()| self.merge_similar()),
        };
        if applied.is_err() {
            // What memory holds may be ahead of the disk now.
            self.index = None;
        }
        applied
    }

    /// Works out what a change takes off which segment.
    fn plan(&mut self, upserts: Vec<Entry>, removals: Vec<String>) -> Result<Batch, IndexError> {
        let centroids = self.options.centroids;
        let index = self.index()?;
        let mut batch = Batch::default();
        let mut changed = HashSet::new();
        let mut last = HashMap::new();
        for mut entry in upserts {
            entry.normalise();
            last.insert(entry.key.clone(), entry);
        }
        let mut upserts: Vec<Entry> = last.into_values().collect();
        upserts.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        for key in upserts.iter().map(|entry| &entry.key).chain(&removals) {
            if !changed.insert(key.as_str()) || index.log.by_key(key).is_some() {
                continue;
            }
            if let Some((at, doc, length)) = index.in_segments(key)? {
                batch.deaths.push(Death { segment: index.segments[at].meta.number, doc, length });
            }
        }
        batch.removals = removals.into_iter().filter(|key| index.log.by_key(key).is_some()).collect();
        batch.upserts = upserts.into_iter().map(|entry| with_group(entry, centroids)).collect();
        Ok(batch)
    }

    /// Returns the record to append, unless the log is full or torn.
    fn record_for_log(&mut self, batch: &Batch) -> Result<Option<Vec<u8>>, IndexError> {
        let Options { log_docs, log_bytes, .. } = self.options;
        let log = &self.index()?.log;
        let n_docs = log.slots.len() + batch.upserts.len();
        let n_deaths = log.deaths.len() + batch.deaths.len();
        if log.torn || n_docs > log_docs || n_deaths > log_docs {
            return Ok(None);
        }
        let len = log.len;
        Ok(batch.record().filter(|record| len + record.len() as u64 <= log_bytes.min(MAX_BYTES)))
    }

    fn append(&mut self, batch: Batch, record: &[u8]) -> Result<(), IndexError> {
        let dir = self.dir.clone();
        let index = self.index_mut()?;
        Log::append(&dir, index.head.generation, record)?;
        index.log.len += record.len() as u64;
        index.absorb(batch);
        self.step();
        Ok(())
    }

    /// Makes a segment of the log and a batch.
    fn fold(&mut self, batch: Batch) -> Result<(), IndexError> {
        self.sweep()?;
        let dir = self.dir.clone();
        let index = self.index_mut()?;
        index.absorb(batch);
        let mut head = index.head.clone();
        for death in &index.log.deaths {
            let dying = head.segments.iter_mut().find(|meta| meta.number == death.segment);
            if let Some(meta) = dying {
                meta.n_live = meta.n_live.saturating_sub(1);
                meta.live_length = meta.live_length.saturating_sub(u64::from(death.length));
            }
        }
        let mut deaths = index.log.deaths.clone();
        let dropped: Vec<&Segment> = index
            .segments
            .iter()
            .zip(&head.segments)
            .filter(|(_, meta)| meta.n_live == 0)
            .map(|both| both.0)
            .collect();
        for segment in &dropped {
            deaths.extend(segment.deaths()?);
        }
        head.segments.retain(|meta| meta.n_live > 0);
        deaths.retain(|death| head.segments.iter().any(|meta| meta.number == death.segment));
        let entries = index.log.sorted();
        if !entries.is_empty() || !deaths.is_empty() {
            head.segments.push(write_entries(&dir, head.next, &entries, &deaths)?);
            head.next += 1;
            self.step();
        }
        self.publish(head)
    }

    /// Merges segments of a size for as long as there are enough of them.
    fn merge_similar(&mut self) -> Result<(), IndexError> {
        loop {
            let Options { fan, log_docs, .. } = self.options;
            let group = similar(&self.index()?.head.segments, fan.max(2), log_docs.max(1));
            if group.is_empty() {
                return Ok(());
            }
            self.merge_group(&group)?;
        }
    }

    /// Merges the segments of some places in `head` into one.
    fn merge_group(&mut self, group: &[usize]) -> Result<(), IndexError> {
        self.sweep()?;
        let dir = self.dir.clone();
        let index = self.index()?;
        let mut head = index.head.clone();
        let merged: Vec<u64> = group.iter().map(|&at| head.segments[at].number).collect();
        head.segments.retain(|meta| !merged.contains(&meta.number));
        let dead = index.dead()?;
        let mut deaths = Vec::new();
        let mut parts = Vec::new();
        for &at in group {
            let segment = &index.segments[at];
            parts.push(Part { segment, dead: &dead[at] });
            deaths.extend(segment.deaths()?);
        }
        deaths.retain(|death| head.segments.iter().any(|meta| meta.number == death.segment));
        let meta = merge(&dir, head.next, &parts, &deaths)?;
        head.next += 1;
        if meta.n_docs > 0 || !deaths.is_empty() {
            head.segments.push(meta);
        }
        self.step();
        self.publish(head)
    }

    /// Writes all into one segment, so that no file has anything of documents that are gone.
    pub(crate) fn compact(&mut self) -> Result<(), IndexError> {
        self.fold(Batch::default())?;
        let all: Vec<usize> = (0..self.index()?.head.segments.len()).collect();
        if !all.is_empty() {
            self.merge_group(&all)?;
        }
        self.sweep()
    }

    /// Makes `head`, with a new and empty log, what readers see.
    pub(super) fn publish(&mut self, mut head: Head) -> Result<(), IndexError> {
        head.generation = head.next;
        head.next += 1;
        Log::create(&self.dir, head.generation)?;
        self.step();
        self.index = None;
        head.publish(&self.dir)?;
        self.step();
        self.index_mut().map(drop)
    }

    /// Removes files that the current head does not name.
    fn sweep(&mut self) -> Result<(), IndexError> {
        let head = &self.index()?.head;
        let mut named: HashSet<String> = head.segments.iter().map(|meta| segment_name(meta.number)).collect();
        named.insert(log_name(head.generation));
        let mut stale = Vec::new();
        self.dir.for_each(|name, _| {
            let ours = number_of(name).is_some() || name.starts_with(TEMP_PREFIX);
            if ours && !named.contains(name) {
                stale.push(name.to_owned());
            }
        })?;
        for name in stale {
            self.dir.remove(&name)?;
            self.step();
        }
        Ok(())
    }

    /// Lets a test look at the directory between two steps.
    pub(super) fn step(&mut self) {
        #[cfg(test)]
        self.after_step.call();
    }
}

/// Finds the group of an entry's vector.
pub(super) fn with_group(entry: Entry, centroids: &[Row]) -> (Entry, Option<u16>) {
    let group = entry.vector.as_ref().map(|row| group_of(row, centroids));
    (entry, group)
}

/// Returns the places of the segments to merge: all of the smallest level that has `fan` of them.
///
/// Each level holds segments `fan` times as large as the one below, by live documents, so that a segment most of which
/// died is merged with its equals.
fn similar(segments: &[Meta], fan: usize, log_docs: usize) -> Vec<usize> {
    let level = |meta: &Meta| (meta.n_live as usize / log_docs).checked_ilog(fan).unwrap_or(0);
    let mut levels: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, meta) in segments.iter().enumerate() {
        levels.entry(level(meta)).or_default().push(at);
    }
    let full = levels.into_iter().filter(|(_, places)| places.len() >= fan);
    full.min_by_key(|&(level, _)| level).map(|(_, places)| places).unwrap_or_default()
}
