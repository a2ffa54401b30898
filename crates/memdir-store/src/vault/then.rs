//! A vault as it was at a time: what is there now, with every later change taken back in thought.
//!
//! Nothing is written. History keeps the versions of the last weeks; what is older is known only as far as it has not
//! changed since, and [`Then::is_whole`] says so.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, INDEX_PAGE, Memory, MemoryPath};

use super::Vault;
use super::snapshot::Loaded;
use crate::history::{Area, FileOp, Record};

/// What a vault held at a time.
#[derive(Debug, Default)]
pub struct Then {
    /// The memories, sorted by path.
    pub memories: Vec<Loaded>,
    /// The time of the oldest change that is kept, if there is any.
    pub since: Option<Timestamp>,
    /// Whether history reaches back to that time, with every version in it.
    pub is_whole: bool,
}

impl Vault {
    /// Works out what the vault held at `time`.
    pub fn then(&self, time: Timestamp) -> io::Result<Then> {
        let mut files: BTreeMap<String, Loaded> = BTreeMap::new();
        for path in self.names()? {
            // A file that vanished or cannot be read now is told by no answer of today either.
            if let Ok(Some(loaded)) = self.load(&path) {
                files.insert(path.as_str().to_owned(), loaded);
            }
        }
        let mut then = Then { is_whole: true, ..Then::default() };
        let mut known = BTreeSet::new();
        if let Some(history) = self.history()? {
            let ids = history.ids()?;
            for id in ids.iter().rev() {
                let Ok(Some(change)) = history.change(id) else { continue };
                then.since = Some(change.at);
                known.extend(change.ops.iter().map(|op| op.path.clone()));
                if change.at <= time {
                    continue;
                }
                match history.record(id) {
                    Ok(Some(record)) => then.is_whole &= take_back(&record, &mut files),
                    _ => then.is_whole = false,
                }
            }
        }
        let reaches = then.since.is_some_and(|since| since <= time);
        then.is_whole &= reaches || known.is_empty();
        let was_there = |loaded: &Loaded| {
            // What no change tells of came in past us: its own dates are all there is, and the file's if it has none.
            let born = loaded.memory.created.or(loaded.memory.modified).unwrap_or(loaded.written);
            reaches && known.contains(loaded.path.as_str()) || born <= time
        };
        then.memories = files.into_values().filter(was_there).collect();
        Ok(then)
    }
}

/// Takes one change back; says whether every version it needs was there.
fn take_back(record: &Record, files: &mut BTreeMap<String, Loaded>) -> bool {
    let is_memory = |op: &&FileOp| op.area == Area::Vault && op.path != INDEX_PAGE;
    let mut is_whole = true;
    for op in record.change.ops.iter().rev().filter(is_memory) {
        files.remove(&op.path);
        let Some(before) = op.before else { continue };
        let path = op.from.as_deref().unwrap_or(&op.path);
        match (MemoryPath::new(path), record.versions.get(&before)) {
            (Ok(path), Some(bytes)) => {
                files.insert(path.as_str().to_owned(), read(path, bytes, record.change.at));
            }
            _ => is_whole = false,
        }
    }
    is_whole
}

fn read(path: MemoryPath, bytes: &[u8], replaced: Timestamp) -> Loaded {
    let document = Document::parse(bytes);
    let (memory, problems) = Memory::read(&path, &document);
    // Nobody knows when such a version was written, but it was before it was replaced.
    let written = memory.modified.or(memory.created).unwrap_or(replaced);
    Loaded { path, hash: ContentHash::of(bytes), document, memory, problems, written }
}
