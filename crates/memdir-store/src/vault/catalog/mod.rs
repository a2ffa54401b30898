//! What we know of each memory without opening it: derived files that any command may delete.
//!
//! A writer compares it with the directory to notice what other programs did, refuses names that are taken, finds
//! near-duplicates and renders the index page, without reading ten thousand files. It is rebuilt from history and the
//! vault whenever it is missing, torn or of another version.
//!
//! The memories lie in an index of their own, so that one change costs as much among a hundred thousand as among a
//! thousand: it is appended to a log. Beside the index lies a small file, replaced whole after each change, that says up to
//! where the log belongs to it. A power cut that took the end of the log is met by comparing the two.
//!
//! In a large vault the folders' times are kept too: as long as they are those that the last writer left, no file came,
//! went or was replaced, and nobody has to look at each. Look at [`Catalog`] first.

mod doc;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, MemoryType, folded};
use serde::{Deserialize, Serialize};

use crate::disk::{Dir, ReadError, Stat};
use crate::history::{Area, Change, ChangeId, History};
use crate::index::{self, Index, IndexError, Options};
use crate::lock::Lock;
use doc::{name_facet, read_doc};

pub(super) use doc::{Doc, Known, likeness, sketch};

const VERSION: u32 = 2;
/// The file that says what the index belongs to.
const STATE: &str = "state";
const MAX_STATE: u64 = 1 << 20;
/// In a vault of up to so many memories every file is looked at before each change.
const SMALL: usize = 2_000;
/// In a larger one at the latest after this time, because a file that was written in place leaves no trace in its folder.
const LOOK_EVERY: SignedDuration = SignedDuration::from_mins(15);

/// What we know of a vault's memories.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    /// What was saved; `None` if nothing was, or if it is to be replaced.
    index: Option<Index>,
    /// What changed since; `None` for a memory that is gone.
    changed: BTreeMap<MemoryPath, Option<Doc>>,
    /// Whether something that was saved turned out not to be readable.
    damaged: Cell<bool>,
    /// Whether nothing of memories that are gone may be left when it is saved.
    is_to_forget: bool,
    /// The folders of the vault when all files were last looked at, and when that was.
    looked: Option<Looked>,
    /// The newest change.
    pub(super) last: Option<ChangeId>,
    /// When old history was last pruned.
    pub(super) pruned: Option<Timestamp>,
}

/// A look at every file of a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Looked {
    at: Timestamp,
    /// Each folder with its inode and time, as the last writer left it.
    folders: Vec<(String, u64, i64)>,
}

impl Looked {
    /// Says whether all folders have the times that they had.
    fn is_as_it_was(&self, vault: &Dir) -> bool {
        self.folders.iter().all(|(folder, inode, mtime_ns)| {
            stat_folder(vault, folder).is_some_and(|stat| (stat.inode, stat.mtime_ns) == (*inode, *mtime_ns))
        })
    }
}

/// What [`STATE`] holds.
#[derive(Serialize, Deserialize)]
struct State {
    version: u32,
    /// Which index it belongs to, and how much of its log.
    generation: u64,
    log_len: u64,
    last: Option<ChangeId>,
    pruned: Option<Timestamp>,
    looked: Option<Looked>,
}

impl State {
    /// Writes it after its hash, on two lines.
    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        Ok([format!("{}\n", ContentHash::of(&json)).into_bytes(), json].concat())
    }

    /// Reads it; `None` if it is not what was written, or was written by another version.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let at = bytes.iter().position(|byte| *byte == b'\n')?;
        let (hash, json) = (&bytes[..at], &bytes[at + 1..]);
        let is_whole = hash == ContentHash::of(json).to_string().as_bytes();
        let state: Self = serde_json::from_slice(json).ok().filter(|_| is_whole)?;
        (state.version == VERSION).then_some(state)
    }
}

/// Says whether texts with so many hashes each, of which so many are the same, may be near-duplicates.
fn may_resemble(n_shared: usize, n_own: usize, n_other: usize) -> bool {
    n_shared * 3 >= n_own.min(n_other).max(1)
}

fn options() -> Options {
    Options::new(&[])
}

impl Catalog {
    /// Opens the catalog of vault `id`; `None` if it is missing, torn or of another version.
    pub(super) fn load(index: &Dir, id: &str) -> Option<Self> {
        let path = directory(index, id);
        let bytes = Dir::open(&path).ok()?.read(STATE, MAX_STATE).ok()??;
        let state = State::from_bytes(&bytes)?;
        let index = Index::open(&path, &[]).ok()?;
        (index.position() == (state.generation, state.log_len)).then(|| Self {
            index: Some(index),
            looked: state.looked,
            last: state.last,
            pruned: state.pruned,
            ..Self::default()
        })
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
                self.changed.remove(&from);
            }
            let Ok(path) = MemoryPath::new(&op.path) else { continue };
            match op.after {
                None => drop(self.changed.remove(&path)),
                Some(sha256) => {
                    let doc = Doc::unseen(&path, sha256, change.id.clone());
                    self.changed.insert(path, Some(doc));
                }
            }
        }
    }

    /// Says whether an answer could not be had because what was saved cannot be read.
    pub(super) fn is_damaged(&self) -> bool {
        self.damaged.get()
    }

    /// Returns how many memories are known.
    pub(super) fn len(&self) -> Result<usize, ReadError> {
        let Some(index) = &self.index else { return Ok(self.changed.values().flatten().count()) };
        let mut n = index.len();
        for (path, doc) in &self.changed {
            let was_there = self.saved(|index| index.by_key(path.as_str()))?.flatten().is_some();
            n = n + usize::from(doc.is_some()) - usize::from(was_there).min(n);
        }
        Ok(n)
    }

    /// Says whether there is a memory at this path.
    pub(super) fn contains(&self, path: &MemoryPath) -> Result<bool, ReadError> {
        match self.changed.get(path) {
            Some(doc) => Ok(doc.is_some()),
            None => Ok(self.saved(|index| index.by_key(path.as_str()))?.flatten().is_some()),
        }
    }

    /// Returns what is known of the memory at a path.
    pub(super) fn get(&self, path: &MemoryPath) -> Result<Option<Doc>, ReadError> {
        if let Some(doc) = self.changed.get(path) {
            return Ok(doc.clone());
        }
        let doc = self.saved(|index| match index.by_key(path.as_str())? {
            Some(doc) => read_doc(index, doc).map(Some),
            None => Ok(None),
        });
        Ok(doc?.flatten())
    }

    /// Returns the memories that have a name, in whatever folder and case.
    pub(super) fn named(&self, name: &str) -> Result<BTreeSet<MemoryPath>, ReadError> {
        let name = folded(name);
        let is_it = |path: &MemoryPath| folded(path.stem()) == name;
        let mut paths: BTreeSet<MemoryPath> = BTreeSet::new();
        let found = self.saved(|index| {
            let docs = index.facet(name_facet(&name))?;
            docs.into_iter().map(|doc| index.key(doc)).collect::<Result<Vec<_>, _>>()
        })?;
        let found = found.into_iter().flatten().filter_map(|key| MemoryPath::new(&key).ok());
        paths.extend(found.filter(|path| is_it(path) && !self.changed.contains_key(path)));
        let changed = self.changed.iter().filter(|(path, doc)| doc.is_some() && is_it(path));
        paths.extend(changed.map(|(path, _)| path.clone()));
        Ok(paths)
    }

    /// Returns the memories of a type whose sketch is close to this one.
    pub(super) fn resembling(
        &self,
        sketch: &[u64],
        memory_type: Option<MemoryType>,
    ) -> Result<BTreeSet<MemoryPath>, ReadError> {
        let is_close = |other: &[u64]| {
            let n_shared = sketch.iter().filter(|hash| other.binary_search(hash).is_ok()).count();
            may_resemble(n_shared, sketch.len(), other.len())
        };
        let found = self.saved(|index| {
            let mut shared: BTreeMap<index::DocId, (usize, usize)> = BTreeMap::new();
            for hash in sketch {
                for posting in index.postings(*hash)? {
                    shared.entry(posting.doc).or_insert((0, posting.length as usize)).0 += 1;
                }
            }
            let close = shared.into_iter().filter(|(_, (n, len))| may_resemble(*n, sketch.len(), *len));
            close.map(|(doc, _)| read_doc(index, doc)).collect::<Result<Vec<Doc>, _>>()
        })?;
        let saved = found.iter().flatten().filter(|doc| !self.changed.contains_key(&doc.path));
        let changed = self.changed.values().flatten().filter(|doc| is_close(&doc.sketch));
        let same_type = saved.chain(changed).filter(|doc| doc.memory_type == memory_type);
        Ok(same_type.map(|doc| doc.path.clone()).collect())
    }

    /// Returns every memory with the version and the file that we know: what a scan is compared with.
    pub(super) fn all(&self) -> Result<BTreeMap<MemoryPath, Known>, ReadError> {
        let saved = self.saved(|index| index.stamps()?.collect::<Result<Vec<_>, _>>())?;
        let saved = saved.into_iter().flatten();
        let mut all: BTreeMap<MemoryPath, Known> =
            saved.filter_map(|(key, stamp)| Some((MemoryPath::new(&key).ok()?, Known::of(&stamp)))).collect();
        for (path, doc) in &self.changed {
            match doc {
                None => drop(all.remove(path)),
                Some(doc) => drop(all.insert(path.clone(), doc.known())),
            }
        }
        Ok(all)
    }

    /// Takes in what is known of a memory.
    pub(super) fn insert(&mut self, doc: Doc) {
        self.changed.insert(doc.path.clone(), Some(doc));
    }

    /// Forgets a memory that is gone.
    pub(super) fn remove(&mut self, path: &MemoryPath) {
        self.changed.insert(path.clone(), None);
    }

    /// Leaves nothing of memories that are gone, beginning with the next save: what they said stands in the files of an
    /// index until it is written anew.
    pub(super) fn forget_what_is_gone(&mut self) {
        self.is_to_forget = true;
    }

    /// Notes that every file has been looked at, in folders that were like this before.
    pub(super) fn looked_at(&mut self, folders: impl IntoIterator<Item = (String, Stat)>, now: Timestamp) {
        let folders = folders.into_iter().map(|(folder, stat)| (folder, stat.inode, stat.mtime_ns)).collect();
        self.looked = Some(Looked { at: now, folders });
    }

    /// Makes the next writer look at every file if another program was here since somebody did. Asked right before we
    /// change folders ourselves, because their times cannot tell our changes from others.
    pub(super) fn doubt(&mut self, vault: &Dir) {
        self.looked = self.looked.take().filter(|looked| looked.is_as_it_was(vault));
    }

    /// Says whether no file of a large vault can have come, gone or been replaced since the last writer, by the times of
    /// its folders.
    pub(super) fn is_undisturbed(&self, vault: &Dir, now: Timestamp) -> bool {
        let Some(looked) = self.looked.as_ref().filter(|_| self.len().is_ok_and(|n| n > SMALL)) else {
            return false;
        };
        let age = now.duration_since(looked.at);
        !age.is_negative() && age < LOOK_EVERY && looked.is_as_it_was(vault)
    }

    /// Leaves the folders' times for the next writer. A folder that was not looked into yet makes it look at everything.
    fn note_folders(&mut self, vault: &Dir) {
        let Some(looked) = &mut self.looked else { return };
        let known: BTreeSet<&str> = looked.folders.iter().map(|(folder, ..)| folder.as_str()).collect();
        let is_known = self.changed.keys().all(|path| {
            let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
            known.contains(folder)
        });
        let stats: Option<Vec<Stat>> =
            looked.folders.iter().map(|(folder, ..)| stat_folder(vault, folder)).collect();
        match stats.filter(|_| is_known) {
            None => self.looked = None,
            Some(stats) => {
                for ((_, inode, mtime_ns), stat) in looked.folders.iter_mut().zip(stats) {
                    (*inode, *mtime_ns) = (stat.inode, stat.mtime_ns);
                }
            }
        }
    }

    /// Writes what changed, by way of a temporary file in `state`; nobody waits for it to be durable.
    pub(super) fn save(&mut self, vault: &Dir, state: &Dir, index: &Dir, id: &str) -> io::Result<()> {
        if self.len().map_err(io::Error::other)? > SMALL {
            self.note_folders(vault);
        } else {
            self.looked = None;
        }
        let path = directory(index, id);
        let saved = self.save_index(&path).map_err(io::Error::other)?;
        let (generation, log_len) = saved.position();
        let Self { last, pruned, looked, .. } = &*self;
        let (last, pruned, looked) = (last.clone(), *pruned, looked.clone());
        let noted = State { version: VERSION, generation, log_len, last, pruned, looked };
        state.replace_derived(&Dir::open(&path)?, STATE, &noted.to_bytes()?)?;
        self.index = Some(saved);
        self.changed.clear();
        self.is_to_forget = false;
        Ok(())
    }

    fn save_index(&self, path: &Path) -> Result<Index, IndexError> {
        let mut writer = index::Writer::open(path, options())?;
        let entries = self.changed.values().flatten().filter_map(Doc::entry);
        if self.index.is_some() {
            let gone = self.changed.iter().filter(|(_, doc)| doc.is_none());
            writer.apply(entries.collect(), gone.map(|(path, _)| path.to_string()).collect())?;
        } else {
            writer.rebuild(entries)?;
        }
        if self.is_to_forget {
            writer.compact()?;
        }
        writer.into_index()
    }

    /// Asks what was saved; `None` if nothing was.
    fn saved<T>(&self, ask: impl FnOnce(&Index) -> Result<T, IndexError>) -> Result<Option<T>, ReadError> {
        let Some(index) = &self.index else { return Ok(None) };
        ask(index).map(Some).map_err(|err| {
            self.damaged.set(true);
            ReadError::Io(io::Error::other(err))
        })
    }
}

fn stat_folder(vault: &Dir, folder: &str) -> Option<Stat> {
    match folder.is_empty() {
        true => vault.stat_self().ok(),
        false => vault.folder(folder).and_then(|(parent, name)| parent.stat(name)).ok().flatten(),
    }
}

/// Removes the catalog of vault `id`, so that nothing of it is left: the next writer builds it from history.
pub(super) fn remove(index: &Dir, id: &str) -> io::Result<()> {
    // What earlier versions kept in one file.
    index.remove(&format!("{id}.catalog"))?;
    let Ok(dir) = Dir::open(&directory(index, id)) else { return Ok(()) };
    let _lock = Lock::acquire(dir.path(), index::LOCK).map_err(io::Error::other)?;
    // Without it the rest is nobody's, also if we get no further.
    dir.remove(STATE)?;
    let mut names = Vec::new();
    dir.for_each(|name, _| names.push(name.to_owned()))?;
    names.iter().filter(|name| *name != index::LOCK).try_for_each(|name| dir.remove(name))
}

/// Returns the catalog's directory below `index/`.
fn directory(index: &Dir, id: &str) -> PathBuf {
    index.path().join(format!("{id}.known"))
}
