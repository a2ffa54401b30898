//! What is known of one memory, and how it is kept in the index.

use jiff::{SignedDuration, Timestamp};
use memdir_core::hash::ContentHash;
use memdir_core::likeness::Likeness;
use memdir_core::memory::{Document, Memory, MemoryPath, MemoryType, Status, folded};
use memdir_core::page::PageEntry;
use memdir_core::strength::strength;
use memdir_core::terms::Term;
use serde::{Deserialize, Serialize};

use crate::disk::Stat;
use crate::history::ChangeId;
use crate::index::{self, Index, IndexError, Stamp};
use crate::vault::snapshot::timestamp;

/// A file this young may change again without its time changing: it is looked at again.
const RACY: SignedDuration = SignedDuration::from_millis(50);

/// What a scan of the vault is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) struct Known {
    pub(in crate::vault) sha256: ContentHash,
    seen: Option<Seen>,
}

impl Known {
    /// Says whether the file is as it was when we last looked.
    pub(in crate::vault) fn is_current(&self, stat: Stat) -> bool {
        self.seen == Some(stat.into())
    }
}

/// What we know of one memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::vault) struct Doc {
    pub(super) path: MemoryPath,
    /// The version we know.
    #[serde(skip, default = "nothing")]
    pub(in crate::vault) sha256: ContentHash,
    /// The change that holds its bytes.
    pub(in crate::vault) change: Option<ChangeId>,
    /// The file as it was when we last looked; none if we must look again.
    #[serde(skip)]
    seen: Option<Seen>,
    #[serde(rename = "type")]
    pub(super) memory_type: Option<MemoryType>,
    title: String,
    hook: String,
    #[serde(default)]
    pinned: bool,
    status: Status,
    expires: Option<jiff::civil::Date>,
    modified: Timestamp,
    /// The smallest hashes of its shingles: enough to find what to compare with. The index has them as terms.
    #[serde(skip)]
    pub(super) sketch: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Doc {
    /// Describes the version `bytes` of the memory at `path`, which `change` wrote or noticed.
    pub(in crate::vault) fn describe(
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

    /// Returns what a scan is compared with.
    pub(super) fn known(&self) -> Known {
        Known { sha256: self.sha256, seen: self.seen }
    }

    /// Returns what the memory's line on the index page says.
    pub(in crate::vault) fn hook(&self) -> &str {
        &self.hook
    }

    /// Returns what an index keeps of it: looked up by path and name, and by each hash of its sketch.
    pub(super) fn entry(&self) -> Option<index::Entry> {
        let Seen { inode, size, mtime_ns } = self.seen.unwrap_or(Seen { inode: 0, size: 0, mtime_ns: 0 });
        Some(index::Entry {
            key: self.path.to_string(),
            stamp: Stamp { inode, size, mtime_ns, sha256: *self.sha256.as_bytes() },
            terms: self.sketch.iter().map(|hash| (*hash, 1)).collect(),
            facets: vec![name_facet(&folded(self.path.stem()))],
            length: self.sketch.len() as u32,
            vector: None,
            payload: serde_json::to_vec(self).ok()?,
        })
    }

    /// Returns what the index page needs to know.
    pub(in crate::vault) fn page_entry(&self, now: Timestamp) -> PageEntry {
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
pub(in crate::vault) fn likeness(memory: &Memory, document: &Document) -> Likeness {
    Likeness::of(&memory.description, &String::from_utf8_lossy(document.body()))
}

/// Returns the smallest hashes of a text's shingles: two texts that share most of theirs share most of these.
pub(in crate::vault) fn sketch(likeness: &Likeness) -> Vec<u64> {
    const N_HASHES: usize = 16;
    likeness.shingles().iter().copied().take(N_HASHES).collect()
}

fn is_racy(stat: Stat) -> bool {
    let age = Timestamp::now().duration_since(timestamp(stat.mtime_ns));
    age < RACY
}

fn nothing() -> ContentHash {
    ContentHash::of(b"")
}

pub(super) fn name_facet(folded: &str) -> u64 {
    Term::of(&format!("name:{folded}")).value()
}

impl Known {
    pub(super) fn of(stamp: &Stamp) -> Self {
        let seen = Seen { inode: stamp.inode, size: stamp.size, mtime_ns: stamp.mtime_ns };
        // No file has the inode 0.
        Self {
            sha256: ContentHash::from_bytes(stamp.sha256),
            seen: Some(seen).filter(|seen| seen.inode != 0),
        }
    }
}

pub(super) fn read_doc(index: &Index, doc: index::DocId) -> Result<Doc, IndexError> {
    let found = index.doc(doc)?;
    let known = Known::of(&found.stamp);
    let doc: Doc = serde_json::from_slice(&found.payload).map_err(|_| IndexError::OtherVersion)?;
    Ok(Doc { sha256: known.sha256, seen: known.seen, ..doc })
}

impl Doc {
    pub(super) fn unseen(path: &MemoryPath, sha256: ContentHash, change: ChangeId) -> Self {
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
