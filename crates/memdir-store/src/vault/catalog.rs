//! What we know of each memory without opening it: a derived file that any command may delete.
//!
//! A writer compares it with the directory to notice what other programs did, and renders the index page from it
//! without reading ten thousand files. It is rebuilt from history and the vault whenever it is missing, torn or of
//! another version.

use std::collections::BTreeMap;
use std::io;

use jiff::{SignedDuration, Timestamp};
use memdir_core::hash::ContentHash;
use memdir_core::likeness::Likeness;
use memdir_core::memory::{Document, Memory, MemoryPath, MemoryType, Status};
use memdir_core::page::PageEntry;
use memdir_core::strength::strength;
use serde::{Deserialize, Serialize};

use super::snapshot::timestamp;
use crate::disk::{Dir, ReadError, Stat};
use crate::history::{Area, Change, ChangeId, History};

const VERSION: u32 = 1;
/// No catalog is larger: a million memories.
const MAX_BYTES: u64 = 1 << 30;
/// A file this young may change again without its time changing: it is looked at again.
const RACY: SignedDuration = SignedDuration::from_millis(50);

/// What we know of a vault's memories.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    /// The memories by path.
    pub(super) docs: BTreeMap<MemoryPath, Doc>,
    /// The newest change.
    pub(super) last: Option<ChangeId>,
    /// When old history was last pruned.
    pub(super) pruned: Option<Timestamp>,
}

/// What we know of one memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Doc {
    path: MemoryPath,
    /// The version we know.
    pub(super) sha256: ContentHash,
    /// The change that holds its bytes.
    pub(super) change: Option<ChangeId>,
    /// The file as it was when we last looked; none if we must look again.
    #[serde(default)]
    seen: Option<Seen>,
    #[serde(rename = "type")]
    memory_type: Option<MemoryType>,
    title: String,
    hook: String,
    #[serde(default)]
    pinned: bool,
    status: Status,
    expires: Option<jiff::civil::Date>,
    modified: Timestamp,
    /// The smallest hashes of its shingles: enough to find what to compare with.
    sketch: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    inode: u64,
    size: u64,
    mtime_ns: i64,
}

impl From<Stat> for Seen {
    fn from(stat: Stat) -> Self {
        Self { inode: stat.inode, size: stat.size, mtime_ns: stat.mtime_ns }
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    n_docs: usize,
    last: Option<ChangeId>,
    pruned: Option<Timestamp>,
}

impl Doc {
    /// Describes the version `bytes` of the memory at `path`, which `change` wrote or noticed.
    pub(super) fn describe(
        path: &MemoryPath,
        bytes: &[u8],
        stat: Option<Stat>,
        now: Timestamp,
        change: Option<ChangeId>,
    ) -> Self {
        let document = Document::parse(bytes);
        let (memory, _) = Memory::read(path, &document);
        let written = stat.map(|stat| timestamp(stat.mtime_ns));
        Self {
            path: path.clone(),
            sha256: ContentHash::of(bytes),
            change,
            seen: stat.filter(|stat| !is_racy(*stat)).map(Seen::from),
            memory_type: memory.memory_type,
            title: memory.title(),
            pinned: memory.pinned,
            status: memory.status,
            expires: memory.expires,
            modified: memory.modified.or(written).unwrap_or(now),
            sketch: sketch(&likeness(&memory, &document)),
            hook: memory.description,
        }
    }

    /// Says whether the file is as it was when we last looked.
    pub(super) fn is_current(&self, stat: Stat) -> bool {
        self.seen == Some(stat.into())
    }

    /// Returns what the memory's line on the index page says.
    pub(super) fn hook(&self) -> &str {
        &self.hook
    }

    /// Returns the memory's type, if it has one.
    pub(super) fn memory_type(&self) -> Option<MemoryType> {
        self.memory_type
    }

    /// Says whether a text with this sketch may be a near-duplicate, at the cost of comparing a few numbers.
    pub(super) fn may_resemble(&self, sketch: &[u64]) -> bool {
        let shared = sketch.iter().filter(|hash| self.sketch.binary_search(hash).is_ok()).count();
        shared * 3 >= sketch.len().min(self.sketch.len()).max(1)
    }

    /// Returns what the index page needs to know.
    pub(super) fn page_entry(&self, now: Timestamp) -> PageEntry {
        let age = now.duration_since(self.modified);
        PageEntry {
            path: self.path.clone(),
            title: self.title.clone(),
            hook: self.hook.clone(),
            pinned: self.pinned,
            bucket: self.bucket(now),
            strength: self.memory_type.map_or(0.0, |kind| strength(kind, age, 1.0)),
            modified: self.modified,
        }
    }

    /// What no longer holds goes to the end of the page.
    fn bucket(&self, now: Timestamp) -> u8 {
        let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
        let expired = self.expires.is_some_and(|expires| expires <= today);
        match self.status {
            Status::Deprecated | Status::Superseded => 2,
            _ if expired => 2,
            Status::Draft => 1,
            Status::Active => 0,
        }
    }
}

/// Returns what a memory is compared by.
pub(super) fn likeness(memory: &Memory, document: &Document) -> Likeness {
    Likeness::of(&memory.description, &String::from_utf8_lossy(document.body()))
}

/// Returns the smallest hashes of a text's shingles: two texts that share most of theirs share most of these.
pub(super) fn sketch(likeness: &Likeness) -> Vec<u64> {
    const N_HASHES: usize = 16;
    likeness.shingles().iter().copied().take(N_HASHES).collect()
}

fn is_racy(stat: Stat) -> bool {
    let age = Timestamp::now().duration_since(timestamp(stat.mtime_ns));
    age < RACY
}

impl Catalog {
    /// Reads the catalog of vault `id`; `None` if it is missing, torn or of another version.
    pub(super) fn load(index: &Dir, id: &str) -> Option<Self> {
        let bytes = index.read(&file_name(id), MAX_BYTES).ok()??;
        let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let head: Head = serde_json::from_slice(lines.next()?).ok()?;
        if head.version != VERSION {
            return None;
        }
        let mut catalog = Self { docs: BTreeMap::new(), last: head.last, pruned: head.pruned };
        for line in lines {
            let doc: Doc = serde_json::from_slice(line).ok()?;
            catalog.docs.insert(doc.path.clone(), doc);
        }
        (catalog.docs.len() == head.n_docs).then_some(catalog)
    }

    /// Rebuilds what history knows: the newest version of each memory. The files are looked at by the next scan.
    pub(super) fn from_history(history: &History) -> Result<Self, ReadError> {
        let mut catalog = Self::default();
        for id in history.ids()? {
            if let Some(change) = history.change(&id)? {
                catalog.follow(&change);
            }
            catalog.last = Some(id);
        }
        Ok(catalog)
    }

    /// Takes over what a change says, with nothing known about the files themselves.
    fn follow(&mut self, change: &Change) {
        for op in change.ops.iter().filter(|op| op.area == Area::Vault && !op.erased) {
            if let Some(Ok(from)) = op.from.as_deref().map(MemoryPath::new) {
                self.docs.remove(&from);
            }
            let Ok(path) = MemoryPath::new(&op.path) else { continue };
            match op.after {
                None => drop(self.docs.remove(&path)),
                Some(sha256) => {
                    let doc = Doc::unseen(&path, sha256, change.id.clone());
                    self.docs.insert(path, doc);
                }
            }
        }
    }

    /// Writes the catalog, by way of a temporary file in `state`; nobody waits for it to be durable.
    pub(super) fn save(&self, state: &Dir, index: &Dir, id: &str) -> io::Result<()> {
        let head =
            Head { version: VERSION, n_docs: self.docs.len(), last: self.last.clone(), pruned: self.pruned };
        let mut bytes = serde_json::to_vec(&head)?;
        bytes.push(b'\n');
        for doc in self.docs.values() {
            serde_json::to_writer(&mut bytes, doc)?;
            bytes.push(b'\n');
        }
        state.replace_derived(index, &file_name(id), &bytes)
    }
}

impl Doc {
    fn unseen(path: &MemoryPath, sha256: ContentHash, change: ChangeId) -> Self {
        Self {
            path: path.clone(),
            sha256,
            change: Some(change),
            seen: None,
            memory_type: None,
            title: String::new(),
            hook: String::new(),
            pinned: false,
            status: Status::Active,
            expires: None,
            modified: Timestamp::UNIX_EPOCH,
            sketch: Vec::new(),
        }
    }
}

/// Returns the catalog's file name below `index/`.
pub(super) fn file_name(id: &str) -> String {
    format!("{id}.catalog")
}
