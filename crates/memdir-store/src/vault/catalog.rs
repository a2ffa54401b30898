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

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use memdir_core::hash::ContentHash;
use memdir_core::likeness::Likeness;
use memdir_core::memory::{Document, Memory, MemoryPath, MemoryType, Status, folded};
use memdir_core::page::PageEntry;
use memdir_core::strength::strength;
use memdir_core::terms::Term;
use serde::{Deserialize, Serialize};

use super::snapshot::timestamp;
use crate::disk::{Dir, ReadError, Stat};
use crate::history::{Area, Change, ChangeId, History};
use crate::index::{self, Index, IndexError, Options, Stamp};
use crate::lock::Lock;

const VERSION: u32 = 2;
/// The file that says what the index belongs to.
const STATE: &str = "state";
const MAX_STATE: u64 = 1 << 20;
/// A file this young may change again without its time changing: it is looked at again.
const RACY: SignedDuration = SignedDuration::from_millis(50);
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

/// What a scan of the vault is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) sha256: ContentHash,
    seen: Option<Seen>,
}

impl Known {
    /// Says whether the file is as it was when we last looked.
    pub(super) fn is_current(&self, stat: Stat) -> bool {
        self.seen == Some(stat.into())
    }
}

/// What we know of one memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Doc {
    path: MemoryPath,
    /// The version we know.
    #[serde(skip, default = "nothing")]
    pub(super) sha256: ContentHash,
    /// The change that holds its bytes.
    pub(super) change: Option<ChangeId>,
    /// The file as it was when we last looked; none if we must look again.
    #[serde(skip)]
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
    /// The smallest hashes of its shingles: enough to find what to compare with. The index has them as terms.
    #[serde(skip)]
    sketch: Vec<u64>,
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

    /// Returns what the memory's line on the index page says.
    pub(super) fn hook(&self) -> &str {
        &self.hook
    }

    /// Returns what an index keeps of it: looked up by path and name, and by each hash of its sketch.
    fn entry(&self) -> Option<index::Entry> {
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

/// Says whether texts with so many hashes each, of which so many are the same, may be near-duplicates.
fn may_resemble(n_shared: usize, n_own: usize, n_other: usize) -> bool {
    n_shared * 3 >= n_own.min(n_other).max(1)
}

fn nothing() -> ContentHash {
    ContentHash::of(b"")
}

fn name_facet(folded: &str) -> u64 {
    Term::of(&format!("name:{folded}")).value()
}

fn options() -> Options {
    Options::new(&[])
}

impl Known {
    fn of(stamp: &Stamp) -> Self {
        let seen = Seen { inode: stamp.inode, size: stamp.size, mtime_ns: stamp.mtime_ns };
        // No file has the inode 0.
        Self {
            sha256: ContentHash::from_bytes(stamp.sha256),
            seen: Some(seen).filter(|seen| seen.inode != 0),
        }
    }
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
                Some(doc) => drop(all.insert(path.clone(), Known { sha256: doc.sha256, seen: doc.seen })),
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

fn read_doc(index: &Index, doc: index::DocId) -> Result<Doc, IndexError> {
    let found = index.doc(doc)?;
    let known = Known::of(&found.stamp);
    let doc: Doc = serde_json::from_slice(&found.payload).map_err(|_| IndexError::OtherVersion)?;
    Ok(Doc { sha256: known.sha256, seen: known.seen, ..doc })
}

fn stat_folder(vault: &Dir, folder: &str) -> Option<Stat> {
    match folder.is_empty() {
        true => vault.stat_self().ok(),
        false => vault.folder(folder).and_then(|(parent, name)| parent.stat(name)).ok().flatten(),
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A vault and the folders of its state.
    struct World {
        temp: tempfile::TempDir,
        vault: Dir,
        state: Dir,
        index: Dir,
    }

    impl World {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let dir = |name: &str| Dir::ensure(&temp.path().join(name)).unwrap();
            let (vault, state, index) = (dir("vault"), dir("state"), dir("index"));
            Self { temp, vault, state, index }
        }

        fn save(&self, catalog: &mut Catalog) {
            catalog.save(&self.vault, &self.state, &self.index, "v").unwrap();
        }

        fn load(&self) -> Option<Catalog> {
            Catalog::load(&self.index, "v")
        }

        /// Returns the files of the catalog.
        fn files(&self) -> Vec<PathBuf> {
            let entries = fs::read_dir(directory(&self.index, "v")).unwrap();
            entries.map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with(index::LOCK)).collect()
        }
    }

    fn path(text: &str) -> MemoryPath {
        MemoryPath::new(text).unwrap()
    }

    fn now() -> Timestamp {
        "2026-04-10T09:00:00Z".parse().unwrap()
    }

    /// Describes a memory that says `text`.
    fn doc(name: &str, text: &str) -> Doc {
        let text = format!("---\nname: {name}\ndescription: About {name}\ntype: project\n---\n\n{text}\n");
        Doc::describe(&path(&format!("{name}.md")), text.as_bytes(), None, now(), None)
    }

    const LONG: &str = "The nightly export writes one file per customer and day into the bucket of the billing team, \
                        and the importer on their side deletes it after it was read without an error";

    fn filled(world: &World, n: usize) -> Catalog {
        let mut catalog = Catalog::default();
        for number in 0..n {
            catalog.insert(doc(&format!("memory-{number}"), &format!("It is number {number}.")));
        }
        catalog.insert(doc("Export", LONG));
        world.save(&mut catalog);
        catalog
    }

    /// Asks for everything that a catalog tells.
    fn told(catalog: &Catalog) -> Result<String, ReadError> {
        let likeness = doc("other", LONG).sketch;
        let all = catalog.all()?;
        let mut told = format!("{} {:?}", catalog.len()?, all);
        for path in all.keys() {
            told += &format!("{:?}", catalog.get(path)?);
        }
        told += &format!("{:?}", catalog.named("EXPORT")?);
        told += &format!("{:?}", catalog.resembling(&likeness, Some(MemoryType::Project))?);
        Ok(told)
    }

    #[test]
    fn what_was_saved_is_found_by_path_name_and_likeness() {
        let world = World::new();
        filled(&world, 300);
        let mut catalog = world.load().unwrap();
        assert_eq!(catalog.len().unwrap(), 301);
        assert_eq!(catalog.get(&path("memory-7.md")).unwrap().unwrap().hook(), "About memory-7");
        assert_eq!(catalog.get(&path("memory-300.md")).unwrap().map(|doc| doc.path), None);
        assert_eq!(catalog.named("eXPORT").unwrap(), BTreeSet::from([path("Export.md")]));
        let close = |catalog: &Catalog, kind| catalog.resembling(&doc("x", LONG).sketch, Some(kind)).unwrap();
        assert_eq!(close(&catalog, MemoryType::Project), BTreeSet::from([path("Export.md")]));
        assert_eq!(close(&catalog, MemoryType::User), BTreeSet::new());
        // What changed since counts before it is saved, and afterwards.
        for round in 0..2 {
            if round == 0 {
                catalog.remove(&path("Export.md"));
                catalog.insert(doc("folder/export", LONG));
                catalog.insert(doc("memory-7", "Said anew."));
            } else {
                world.save(&mut catalog);
                catalog = world.load().unwrap();
            }
            assert_eq!(catalog.len().unwrap(), 301);
            assert!(!catalog.contains(&path("Export.md")).unwrap());
            assert_eq!(catalog.named("Export").unwrap(), BTreeSet::from([path("folder/export.md")]));
            assert_eq!(close(&catalog, MemoryType::Project), BTreeSet::from([path("folder/export.md")]));
            assert_eq!(
                catalog.all().unwrap()[&path("memory-7.md")].sha256,
                doc("memory-7", "Said anew.").sha256
            );
        }
    }

    #[test]
    fn a_log_that_lost_its_end_is_not_believed() {
        let world = World::new();
        let mut catalog = filled(&world, 10);
        catalog.insert(doc("late", "Said last."));
        world.save(&mut catalog);
        assert!(world.load().unwrap().contains(&path("late.md")).unwrap());
        let log =
            world.files().into_iter().find(|path| path.extension().is_some_and(|ext| ext == "log")).unwrap();
        let bytes = fs::read(&log).unwrap();
        for len in [bytes.len() - 1, bytes.len() / 2, 12, 0] {
            fs::write(&log, &bytes[..len]).unwrap();
            assert!(world.load().is_none(), "{len} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn a_flipped_byte_is_met_or_changes_nothing() {
        let world = World::new();
        let mut catalog = filled(&world, 40);
        catalog.insert(doc("late", "Said last."));
        world.save(&mut catalog);
        let right = told(&world.load().unwrap()).unwrap();
        let mut n_met = 0;
        for file in world.files() {
            let bytes = fs::read(&file).unwrap();
            for at in (0..bytes.len()).step_by(7) {
                let mut flipped = bytes.clone();
                flipped[at] ^= 0x10;
                fs::write(&file, &flipped).unwrap();
                match world.load().map(|catalog| (told(&catalog), catalog.is_damaged())) {
                    Some((Ok(told), _)) if !file.ends_with(STATE) && told == right => {}
                    Some((Ok(told), _)) => panic!("{} at {at}: {told}", file.display()),
                    Some((Err(_), is_damaged)) => assert!(is_damaged),
                    None => n_met += 1,
                }
            }
            fs::write(&file, &bytes).unwrap();
        }
        assert!(n_met > 0);
    }

    #[test]
    fn a_large_vault_is_looked_through_only_when_a_folder_changed_or_time_passed() {
        let world = World::new();
        let folder = world.vault.ensure_sub("folder").unwrap();
        let look = |catalog: &mut Catalog| {
            let folders =
                [("".to_owned(), world.vault.stat_self()), ("folder".to_owned(), folder.stat_self())];
            catalog.looked_at(folders.into_iter().map(|(name, stat)| (name, stat.unwrap())), now());
        };
        let mut small = filled(&world, 10);
        look(&mut small);
        world.save(&mut small);
        assert!(!world.load().unwrap().is_undisturbed(&world.vault, now()));

        let mut large = filled(&world, SMALL + 1);
        look(&mut large);
        // Our own change of a folder is no disturbance, whoever looks at the times afterwards.
        large.doubt(&world.vault);
        fs::write(world.temp.path().join("vault/memory-1.md"), "ours").unwrap();
        large.insert(doc("memory-1", "ours"));
        world.save(&mut large);
        let large = || world.load().unwrap();
        let later = |minutes: i64| now() + SignedDuration::from_mins(minutes);
        assert!(large().is_undisturbed(&world.vault, later(5)));
        assert!(!large().is_undisturbed(&world.vault, later(60)));
        assert!(!large().is_undisturbed(&world.vault, later(-1)));
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(world.temp.path().join("vault/folder/new.md"), "theirs").unwrap();
        assert!(!large().is_undisturbed(&world.vault, later(5)));
        let mut disturbed = large();
        disturbed.doubt(&world.vault);
        world.save(&mut disturbed);
        assert!(!large().is_undisturbed(&world.vault, later(5)));
    }

    #[test]
    fn a_folder_that_nobody_looked_into_makes_the_next_writer_look() {
        let world = World::new();
        let mut catalog = filled(&world, SMALL + 1);
        catalog.looked_at([(String::new(), world.vault.stat_self().unwrap())], now());
        catalog.insert(doc("new-folder/other", "ours"));
        world.save(&mut catalog);
        assert!(!world.load().unwrap().is_undisturbed(&world.vault, now()));
    }

    #[test]
    fn what_is_gone_can_be_forgotten() {
        let world = World::new();
        let mut catalog = filled(&world, 200);
        catalog.insert(doc("zephyr", "Said once."));
        world.save(&mut catalog);
        catalog.remove(&path("zephyr.md"));
        catalog.remove(&path("memory-7.md"));
        world.save(&mut catalog);
        let is_left = |text: &str| {
            let files = world.files().into_iter().map(|file| fs::read(file).unwrap());
            files.into_iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        };
        assert!(is_left("About zephyr") && is_left("About memory-7\""));
        catalog.forget_what_is_gone();
        world.save(&mut catalog);
        assert!(!is_left("zephyr") && !is_left("About memory-7\"") && is_left("About memory-8\""));
        assert_eq!(world.load().unwrap().len().unwrap(), 200);
    }

    #[test]
    fn nothing_of_a_removed_catalog_is_left() {
        let world = World::new();
        filled(&world, 10);
        fs::write(world.index.path().join("v.catalog"), "what an earlier version kept").unwrap();
        remove(&world.index, "v").unwrap();
        assert_eq!(world.files(), Vec::<PathBuf>::new());
        assert!(!world.index.path().join("v.catalog").exists());
        assert!(world.load().is_none());
    }
}
