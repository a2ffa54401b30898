//! What the last sync left: where the team is, what each key was there, and the texts that both sides had.
//!
//! Below `projects/<id>/sync/`. `remote.json` says what was joined. `state.json` is written last and replaced whole, so that
//! a crash anywhere leaves the one before, from which the next run comes to the same end. `base/` holds texts and is not
//! waited for: a text counts only if its hash is the one that the state names. Look at [`State`] and [`Key`] first.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::breaker;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::reconcile::Policy;
use memdir_core::team::share::Audience;
use serde::{Deserialize, Serialize};

use super::remote::{About, Cursor, Known, Stamp, Version};
use crate::disk::{Dir, ReadError};
use crate::vault::MAX_MEMORY;

/// The folder below a project's state.
const FOLDER: &str = "sync";
const REMOTE: &str = "remote.json";
const STATE: &str = "state.json";
const MERGING: &str = "merging.json";
const WAITING: &str = "waiting.json";
const PENDING_ERASE: &str = "pending-erase.jsonl";
const BASE: &str = "base";
/// A hundred thousand keys take less.
const MAX_STATE: u64 = 64 * 1024 * 1024;
const MAX_SMALL: u64 = 1024 * 1024;
const FORMAT: u32 = 1;

/// Where a project's team memory is, as the user said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// Which place.
    pub home: Home,
    /// Who reads it.
    #[serde(default)]
    pub audience: Audience,
    /// How two sides become one.
    #[serde(default)]
    pub policy: Policy,
    /// Our name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// How the project is called there, where the user said so; else by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Since when.
    pub since: Timestamp,
}

/// A place that memories are shared through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Home {
    /// `.memdir/team` of the project's repository.
    Repository,
    /// A directory of the user's choice; each project has a folder in it.
    Directory {
        /// Which one.
        path: PathBuf,
    },
    /// A server.
    Server {
        /// What it said about itself and us.
        about: About,
    },
}

/// What waits after the last sync, for who only wants to tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// How many memories are held, by author.
    pub held: BTreeMap<String, usize>,
    /// Second versions that wait for somebody to decide.
    pub conflicts: Vec<String>,
    /// When that was.
    pub at: Option<Timestamp>,
}

impl Waiting {
    /// Returns how many memories are held.
    pub fn n_held(&self) -> usize {
        self.held.values().sum()
    }
}

/// The folder of what a project's syncs leave.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
}

/// What is known after the last sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    version: u32,
    /// Which place it was: another one has nothing to do with it.
    pub(crate) remote: String,
    /// How far that place was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<Cursor>,
    /// What is known of each key.
    pub(crate) keys: BTreeMap<MemoryPath, Key>,
}

/// What is known of one key. Where `base` and `hash` differ, something waits: for trust, for a person, for the next run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Key {
    /// What both sides had after the last sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<ContentHash>,
    /// Which version is there.
    pub(crate) version: Version,
    /// Its hash; `None` if it was deleted.
    pub(crate) hash: Option<ContentHash>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    /// When, by the clock there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Timestamp>,
    /// What its file looked like, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<Stamp>,
    /// Whether its text is to be taken away here too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) erased: bool,
}

/// A merge on its way: which version of the other side went into which text here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Merging {
    /// What was there.
    pub(crate) there: ContentHash,
    /// What became of it here.
    pub(crate) here: ContentHash,
}

impl State {
    /// Begins with nothing known of a place.
    pub(crate) fn new(remote: &str) -> Self {
        Self { version: FORMAT, remote: remote.to_owned(), ..Self::default() }
    }

    /// Returns what is known, as a remote is told.
    pub(crate) fn known(&self) -> BTreeMap<MemoryPath, Known> {
        let known = |key: &Key| Known { version: key.version.clone(), hash: key.hash, stamp: key.stamp };
        self.keys.iter().map(|(path, key)| (path.clone(), known(key))).collect()
    }
}

/// Says whether the project whose state is at `state_dir` shares memories with a team.
pub fn has_team(state_dir: &Path) -> bool {
    let joined = Store::below(state_dir).joined().ok().flatten();
    joined.is_some_and(|joined| joined.audience == Audience::Team)
}

/// Lists what the projects of a state root joined, each with the id of the project. What cannot be read joined nothing.
pub fn all_joined(home: &Path) -> io::Result<Vec<(String, Joined)>> {
    let projects = match Dir::open(&home.join("projects")) {
        Ok(projects) => projects,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(err),
    };
    let mut names = Vec::new();
    projects.for_each(|name, _| names.push(name.to_owned()))?;
    names.sort();
    let joined = |name: String| {
        let joined = Store::below(&home.join("projects").join(&name)).joined().ok().flatten()?;
        Some((name, joined))
    };
    Ok(names.into_iter().filter_map(joined).collect())
}

impl Store {
    /// Looks below a project's state; makes nothing.
    pub fn below(state_dir: &Path) -> Self {
        Self { path: state_dir.join(FOLDER) }
    }

    /// Returns what was joined; `None` if nothing was.
    pub fn joined(&self) -> io::Result<Option<Joined>> {
        self.read(REMOTE, MAX_SMALL)
    }

    /// Notes what was joined.
    pub fn join(&self, joined: &Joined) -> io::Result<()> {
        self.write(REMOTE, joined)
    }

    /// Forgets what was joined and all that is known of it. Memories stay as they are.
    pub fn leave(&self) -> io::Result<()> {
        let Some(dir) = self.open()? else { return Ok(()) };
        // First what makes it a team's: a crash after that leaves files that nobody reads.
        for name in [REMOTE, STATE, MERGING, WAITING, SEEN, AUTO] {
            dir.remove(name)?;
        }
        dir.sync()?;
        match std::fs::remove_dir_all(self.path.join(BASE)) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
            _ => Ok(()),
        }
    }

    /// Returns what waits since the last sync.
    pub fn waiting(&self) -> Waiting {
        self.read(WAITING, MAX_SMALL).ok().flatten().unwrap_or_default()
    }

    /// Notes what waits; not waited for, for the next sync says it again.
    pub(crate) fn note_waiting(&self, waiting: &Waiting) -> io::Result<()> {
        self.write_derived(WAITING, waiting)
    }

    /// Returns how syncs that nobody asked for went of late.
    pub fn breaker(&self) -> breaker::State {
        self.read(AUTO, MAX_SMALL).ok().flatten().unwrap_or_default()
    }

    /// Notes how they went; not waited for.
    pub fn note_breaker(&self, state: &breaker::State) -> io::Result<()> {
        self.write_derived(AUTO, state)
    }

    /// Says whether a vault was written to since the last sync, by a look at three times and no more.
    pub fn is_behind(&self, vault: &Path) -> bool {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
        let synced = changed(&self.path.join(WAITING));
        let history = self.path.parent().map(|state| state.join("history"));
        [Some(vault.to_owned()), history].into_iter().flatten().any(|path| changed(&path) > synced)
    }

    /// Returns how far a place was read.
    pub fn cursor(&self, remote: &str) -> Option<Cursor> {
        self.state(remote).ok()?.cursor
    }

    /// Returns when the last sync ended.
    pub fn last_sync(&self) -> Option<Timestamp> {
        self.waiting().at
    }

    /// Returns what is known of a place. What belongs to another place, or cannot be read, is nothing known: then both
    /// sides are compared anew, and nothing is lost by it.
    pub(crate) fn state(&self, remote: &str) -> io::Result<State> {
        let state: Option<State> = match self.read(STATE, MAX_STATE) {
            Err(err) if err.kind() == io::ErrorKind::InvalidData => None,
            state => state?,
        };
        let is_it = |state: &State| state.version == FORMAT && state.remote == remote;
        Ok(state.filter(is_it).unwrap_or_else(|| State::new(remote)))
    }

    /// Replaces what is known, durably.
    pub(crate) fn save(&self, state: &State) -> io::Result<()> {
        self.write(STATE, state)
    }

    /// Returns the merges that a crash may have left between the vault and the state.
    pub(crate) fn merging(&self) -> BTreeMap<MemoryPath, Merging> {
        self.read(MERGING, MAX_STATE).ok().flatten().unwrap_or_default()
    }

    /// Notes merges before the vault is changed.
    pub(crate) fn note_merging(&self, merging: &BTreeMap<MemoryPath, Merging>) -> io::Result<()> {
        match self.open()? {
            Some(dir) if merging.is_empty() => dir.remove(MERGING),
            _ if merging.is_empty() => Ok(()),
            _ => self.write(MERGING, merging),
        }
    }

    /// Returns the text of a version that both sides had; `None` if it is not here, or is another one. That it cannot be
    /// read is neither: whoever took it for missing would keep two texts where one merge was due.
    pub(crate) fn base(&self, path: &MemoryPath, hash: ContentHash) -> io::Result<Option<Vec<u8>>> {
        let Some(dir) = self.open()? else { return Ok(None) };
        let read =
            dir.sub(BASE).map_err(ReadError::from).and_then(|base| base.read(path.as_str(), MAX_MEMORY));
        match read {
            Ok(text) => Ok(text.filter(|text| ContentHash::of(text) == hash)),
            Err(ReadError::Io(err)) if err.kind() != io::ErrorKind::NotFound => Err(err),
            Err(_) => Ok(None),
        }
    }

    /// Names where the text of a version that both sides had is kept.
    pub(crate) fn base_path(&self, path: &MemoryPath) -> PathBuf {
        self.path.join(BASE).join(path.as_str())
    }

    /// Keeps the text of a version that both sides have. Not waited for: a text that did not make it counts as missing.
    pub(crate) fn keep_base(&self, path: &MemoryPath, text: &[u8]) -> io::Result<()> {
        let dir = Dir::ensure(&self.path)?;
        let base = dir.ensure_sub(BASE)?;
        let (folder, name) = base.ensure_folder(path.as_str())?;
        dir.replace_derived(&folder, name, text)
    }

    /// Forgets the text of a key.
    pub(crate) fn drop_base(&self, path: &MemoryPath) -> io::Result<()> {
        let Some(base) = self.open()?.and_then(|dir| dir.sub(BASE).ok()) else { return Ok(()) };
        match base.folder(path.as_str()) {
            Ok((folder, name)) => folder.remove(name),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(err) => Err(err),
        }
    }

    /// Takes the texts of erased memories away, and notes by name that the other side is to do the same.
    pub(crate) fn erase(&self, paths: &BTreeSet<String>) -> io::Result<()> {
        let Some(dir) = self.open()? else { return Ok(()) };
        let state: Option<State> = self.read(STATE, MAX_STATE).ok().flatten();
        let known = self.pending_erase();
        let mut pending: BTreeSet<MemoryPath> = known.iter().cloned().collect();
        for path in paths.iter().filter_map(|path| MemoryPath::new(path).ok()) {
            self.drop_base(&path)?;
            if state.as_ref().is_some_and(|state| state.keys.contains_key(&path)) {
                pending.insert(path);
            }
        }
        // Whole and durable: whoever was told that a text is erased must be able to count on it.
        if pending.len() > known.len() { write_pending(&dir, pending.iter()) } else { Ok(()) }
    }

    /// Returns what the other side is still to be asked to erase.
    pub fn pending_erase(&self) -> Vec<MemoryPath> {
        let Ok(Some(dir)) = self.open() else { return Vec::new() };
        let bytes = dir.read(PENDING_ERASE, MAX_STATE).ok().flatten().unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let paths = lines.filter_map(|line| serde_json::from_slice::<Pending>(line).ok());
        paths.map(|pending| pending.path).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Notes that these were erased over there.
    pub(crate) fn erased(&self, done: &BTreeSet<MemoryPath>) -> io::Result<()> {
        let left: Vec<MemoryPath> =
            self.pending_erase().into_iter().filter(|path| !done.contains(path)).collect();
        let Some(dir) = self.open()? else { return Ok(()) };
        if left.is_empty() { dir.remove(PENDING_ERASE) } else { write_pending(&dir, left.iter()) }
    }

    /// Reads what was known of the vault's files.
    pub(crate) fn seen<T: for<'de> Deserialize<'de> + Default>(&self) -> T {
        self.read(SEEN, MAX_STATE).ok().flatten().unwrap_or_default()
    }

    /// Keeps what is known of the vault's files: derived, so nobody waits for it.
    pub(crate) fn note_seen(&self, seen: &impl Serialize) -> io::Result<()> {
        self.write_derived(SEEN, seen)
    }

    /// Removes what killed syncs left half-written. The caller holds the lock of syncs; what is written without it is
    /// derived, or is written once more.
    pub(crate) fn sweep(&self) {
        if let Ok(Some(dir)) = self.open() {
            dir.sweep();
        }
    }

    fn open(&self) -> io::Result<Option<Dir>> {
        match Dir::open(&self.path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            dir => dir.map(Some),
        }
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, name: &str, limit: u64) -> io::Result<Option<T>> {
        let named = |kind, why: &dyn std::fmt::Display| {
            io::Error::new(kind, format!("{}: {why}", self.path.join(name).display()))
        };
        let Some(dir) = self.open().map_err(|err| named(err.kind(), &err))? else { return Ok(None) };
        let bytes = match dir.read(name, limit) {
            Err(ReadError::Io(err)) => return Err(named(err.kind(), &err)),
            Err(err) => return Err(named(io::ErrorKind::InvalidData, &err)),
            Ok(None) => return Ok(None),
            Ok(Some(bytes)) => bytes,
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some).map_err(|err| named(io::ErrorKind::InvalidData, &err))
    }

    fn write(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        Dir::ensure(&self.path)?.replace(name, &serde_json::to_vec(value)?)
    }

    fn write_derived(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        let dir = Dir::ensure(&self.path)?;
        dir.replace_derived(&dir, name, &serde_json::to_vec(value)?)
    }
}

const SEEN: &str = "seen.json";
const AUTO: &str = "auto.json";

/// A line of what is to be erased over there.
#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    path: MemoryPath,
}

fn write_pending<'p>(dir: &Dir, paths: impl Iterator<Item = &'p MemoryPath>) -> io::Result<()> {
    let line = |path: &MemoryPath| serde_json::to_string(&Pending { path: path.clone() });
    let lines: Vec<String> = paths.map(line).collect::<Result<_, _>>()?;
    dir.replace(PENDING_ERASE, format!("{}\n", lines.join("\n")).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::new(text).unwrap()
    }

    fn key(hash: Option<ContentHash>) -> Key {
        let version = Version("7".into());
        Key { base: hash, version, hash, author: None, at: None, stamp: None, erased: false }
    }

    #[test]
    fn a_base_counts_only_if_it_is_the_text_that_the_state_names() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::below(temp.path());
        let key = path("sub/a.md");
        assert_eq!(store.base(&key, ContentHash::of(b"x")).unwrap(), None);
        store.keep_base(&key, b"x").unwrap();
        assert_eq!(store.base(&key, ContentHash::of(b"x")).unwrap().as_deref(), Some(&b"x"[..]));
        assert_eq!(store.base(&key, ContentHash::of(b"y")).unwrap(), None);
        std::fs::write(temp.path().join("sync/base/sub/a.md"), "torn").unwrap();
        assert_eq!(store.base(&key, ContentHash::of(b"x")).unwrap(), None);
        store.drop_base(&key).unwrap();
        store.drop_base(&path("other/b.md")).unwrap();
        assert!(!temp.path().join("sync/base/sub/a.md").exists());
    }

    #[test]
    fn what_is_known_of_one_place_is_nothing_known_of_another() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::below(temp.path());
        let mut state = State::new("here");
        let hash = Some(ContentHash::of(b"x"));
        state.keys.insert(path("a.md"), key(hash));
        store.save(&state).unwrap();
        assert_eq!(store.state("here").unwrap(), state);
        assert_eq!(store.state("there").unwrap(), State::new("there"));
        std::fs::write(temp.path().join("sync/state.json"), "{\"version\":1,").unwrap();
        assert_eq!(store.state("here").unwrap(), State::new("here"), "a torn state is none");
    }

    #[test]
    fn f1_an_erased_memory_leaves_its_name_until_the_other_side_heard_of_it() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::below(temp.path());
        let mut state = State::new("here");
        let hash = Some(ContentHash::of(b"canary"));
        state.keys.insert(path("a.md"), key(hash));
        store.save(&state).unwrap();
        store.keep_base(&path("a.md"), b"canary").unwrap();
        store.erase(&BTreeSet::from(["a.md".to_owned(), "never-shared.md".to_owned()])).unwrap();
        assert!(!temp.path().join("sync/base/a.md").exists());
        assert_eq!(store.pending_erase(), [path("a.md")]);
        store.erased(&BTreeSet::from([path("a.md")])).unwrap();
        assert!(store.pending_erase().is_empty());
    }

    #[test]
    fn who_leaves_is_in_no_team() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::below(temp.path());
        assert!(!has_team(temp.path()));
        let since: Timestamp = "2026-04-02T10:30:00Z".parse().unwrap();
        let (audience, policy) = (Audience::Team, Policy::Merge);
        let joined = Joined { home: Home::Repository, audience, policy, member: None, project: None, since };
        store.join(&joined).unwrap();
        assert!(has_team(temp.path()));
        assert_eq!(store.joined().unwrap(), Some(joined.clone()));
        store.join(&Joined { audience: Audience::Own, ..joined }).unwrap();
        assert!(!has_team(temp.path()), "one's own machines are no team");
        store.keep_base(&path("a.md"), b"x").unwrap();
        store.leave().unwrap();
        assert_eq!(store.joined().unwrap(), None);
        assert!(!temp.path().join("sync/base").exists());
    }
}
