//! A folder as the other side of a sync: `.memdir/team` of the repository, or a directory of the user's choice.
//!
//! The folder is a vault of its own, so that what is written into it goes through the same door as everything else, and it
//! has its own index page. It is a stranger's all the same: links, devices and what is too large are refused and told,
//! nothing is opened through a link, and a folder that vanished is not a folder in which everything was deleted.
//! Look at [`Folder::of_repository`] and [`Folder::of_directory`] first.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::change::{Author, ChangeSet, Edit, Exit, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MAX_BODY, MemoryPath, Provenance, folded};
use memdir_core::team::share::Audience;

use super::fit;
use super::here::stat;
use super::past::{Past, Standing};
use super::remote::{
    About, Ask, Changes, Current, Cursor, Item, Known, Outcome, Phase, Progress, Pushed, RefusedKey, Remote,
    RemoteError, Stamp, State, Traffic, Version, Wanted, Write,
};
use super::state::Store;
use crate::disk::{Dir, ReadError};
use crate::gate::Gate;
use crate::place::{Environment, Place};
use crate::vault::{CommitError, Vault};

/// The folder of a repository that holds everything of ours.
const OURS: &str = ".memdir";
/// The folder in it that is shared.
const TEAM: &str = "team";
/// Both, as git names them.
const IN_REPOSITORY: &str = ".memdir/team";
/// Makes git keep the lines of both sides where an index page was changed on two branches; it is rendered anew anyway.
const ATTRIBUTES: &str = "team/MEMORY.md merge=union\n";
/// Stands for the version of what is deleted.
const DELETED: &str = "-";
/// What git leaves in a file that two sides changed.
const MARKERS: [&[u8]; 2] = [b"<<<<<<< ", b">>>>>>> "];

/// A folder that memories are shared through.
#[derive(Debug)]
pub struct Folder<'a> {
    about: About,
    home: PathBuf,
    id: String,
    path: PathBuf,
    gate: &'a Gate,
    now: Timestamp,
    /// The folder itself; `None` if there is none.
    vault: Option<Vault>,
    /// Who is asked about its past.
    past: Option<Past<'a>>,
    work_tree: PathBuf,
    /// Who is at work here, for what is not committed yet.
    own_name: Option<String>,
    /// For texts that the branch must have had.
    store: Store,
    traffic: Traffic,
}

/// What a folder is opened with.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// The project.
    pub place: &'a Place,
    /// Where git and the user's own name are found.
    pub env: &'a Environment,
    /// What texts are judged by.
    pub gate: &'a Gate,
    /// The user's clock.
    pub now: Timestamp,
}

/// Says whether the repository around a place ships memories of a team. Follows no link.
pub fn ships_team(place: &Place) -> bool {
    let open = |repository: &crate::place::git::Repository| {
        Dir::open(&repository.work_tree).and_then(|dir| dir.sub(OURS)).and_then(|dir| dir.sub(TEAM)).ok()
    };
    place.repository.as_ref().and_then(open).is_some()
}

impl<'a> Folder<'a> {
    /// Opens `.memdir/team` of the repository around a place. One that is missing is made by the first write.
    pub fn of_repository(opening: Opening<'a>) -> Result<Self, RemoteError> {
        let Opening { place, env, .. } = opening;
        let Some(repository) = &place.repository else {
            let path = place.dir.clone().unwrap_or_default();
            return Err(RemoteError::Unusable { path, why: "it is not in a git repository".to_owned() });
        };
        let path = repository.work_tree.join(OURS).join(TEAM);
        let dir = Dir::open(&repository.work_tree).map_err(|source| io_error(&path, source))?;
        let found = below(dir, &[OURS, TEAM], &path)?;
        let about = About {
            id: format!("git:{}", repository.common_dir.display()),
            label: IN_REPOSITORY.to_owned(),
            audience: Audience::Team,
            member: None,
            names_authors: true,
        };
        let past = Past::new(repository, env.search_path.clone(), IN_REPOSITORY);
        let own_name = repository.user_email(env.home.as_deref());
        let folder = Self::new(opening, about, path, found)?;
        Ok(Self { past: Some(past), own_name, work_tree: repository.work_tree.clone(), ..folder })
    }

    /// Opens the project's folder in a directory that the user named. The directory must be there: one that is not may be
    /// on a disk that is not mounted.
    pub fn of_directory(opening: Opening<'a>, directory: &Path) -> Result<Self, RemoteError> {
        let unreachable = |err: io::Error| RemoteError::Unreachable {
            label: directory.display().to_string(),
            why: err.to_string(),
        };
        let canonical = directory.canonicalize().map_err(unreachable)?;
        let project = opening.place.project.id.as_str();
        let path = canonical.join(project);
        let dir = Dir::open(&canonical).map_err(|source| io_error(&canonical, source))?;
        let found = below(dir, &[project], &path)?;
        let about = About {
            id: format!("dir:{}", path.display()),
            label: path.display().to_string(),
            audience: Audience::Team,
            member: None,
            names_authors: false,
        };
        Self::new(opening, about, path, found)
    }

    fn new(
        opening: Opening<'a>,
        about: About,
        path: PathBuf,
        found: Option<Dir>,
    ) -> Result<Self, RemoteError> {
        let Opening { place, gate, now, .. } = opening;
        let id = format!("{}.team", place.project.id.as_str());
        let vault = match found {
            Some(dir) => Some(Vault::at(&place.home, &id, dir).map_err(|err| unusable(&path, &err))?),
            None => None,
        };
        Ok(Self {
            about,
            home: place.home.clone(),
            id,
            path,
            gate,
            now,
            vault,
            past: None,
            work_tree: PathBuf::new(),
            own_name: None,
            store: Store::below(&place.state_dir()),
            traffic: Traffic::default(),
        })
    }

    /// Takes everything that is there for the user's own machines.
    pub fn for_own_machines(mut self) -> Self {
        self.about.audience = Audience::Own;
        self
    }

    /// Makes the folder where it is missing, with what git needs to know about it.
    pub fn create(&mut self) -> Result<&Vault, RemoteError> {
        if self.vault.is_none() {
            let path = self.path.clone();
            let make = || -> io::Result<Dir> {
                if self.past.is_none() {
                    return Dir::ensure(&path);
                }
                let ours = Dir::open(&self.work_tree)?.ensure_sub(OURS)?;
                if ours.stat(".gitattributes")?.is_none() {
                    ours.replace(".gitattributes", ATTRIBUTES.as_bytes())?;
                }
                ours.ensure_sub(TEAM)
            };
            let dir = make().map_err(|source| io_error(&path, source))?;
            let vault = Vault::at(&self.home, &self.id, dir).map_err(|err| unusable(&path, &err))?;
            self.vault = Some(vault);
        }
        self.vault.as_ref().ok_or_else(|| io_error(&self.path, io::ErrorKind::NotFound.into()))
    }

    fn file(path: &MemoryPath) -> String {
        format!("{IN_REPOSITORY}/{path}")
    }

    /// Reads one file as it is there, or says why it is not taken.
    fn item(&mut self, vault: &Vault, path: &MemoryPath, known: Option<&Known>) -> io::Result<Read> {
        let Some(stat) = stat(vault.dir(), path)? else { return Ok(Read::Nothing) };
        let item = |hash, size, text| Item {
            path: path.clone(),
            version: version_of(hash),
            state: State::Live { hash, size, text },
            author: None,
            at: None,
            stamp: Stamp::settled(stat),
        };
        if let Some(known) = known.filter(|known| known.stamp == Some(Stamp::of(stat)))
            && let Some(hash) = known.hash
        {
            return Ok(Read::Known(item(hash, stat.size, None)));
        }
        let text = match vault.dir().read(path.as_str(), MAX_BODY as u64) {
            Ok(None) => return Ok(Read::Nothing),
            Ok(Some(text)) => text,
            Err(ReadError::Io(err)) if err.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Read::Refused("it cannot be read".to_owned()));
            }
            Err(ReadError::Io(err)) => return Err(err),
            Err(err) => return Ok(Read::Refused(err.to_string())),
        };
        self.traffic.received += text.len() as u64;
        if self.past.is_some() && has_markers(&text) {
            return Ok(Read::Refused("it has conflict markers of git: resolve them first".to_owned()));
        }
        let hash = ContentHash::of(&text);
        Ok(Read::Item(item(hash, text.len() as u64, Some(text))))
    }

    /// Adds who wrote a version that is new to us, and when.
    fn sign(&mut self, item: &mut Item) {
        let State::Live { text: Some(text), .. } = &item.state else { return };
        let Some(past) = &mut self.past else { return };
        match past.writer_of(&Self::file(&item.path), text) {
            Some(committed) => (item.author, item.at) = (Some(committed.author), committed.at),
            None => item.author = self.own_name.clone(),
        }
    }

    /// Says what it means that a key which we know is not there.
    fn missing(&mut self, path: &MemoryPath, known: &Known, is_onwards: bool) -> Item {
        let gone = |author, at| Item {
            path: path.clone(),
            version: Version(DELETED.to_owned()),
            state: State::Gone { erased: false },
            author,
            at,
            stamp: None,
        };
        let away = Item { state: State::Away, version: known.version.clone(), ..gone(None, None) };
        let file = Self::file(path);
        let base = known.hash.and_then(|hash| self.store.base(path, hash));
        let own_name = self.own_name.clone();
        let Some(past) = &mut self.past else { return gone(None, None) };
        if past.has(&file) {
            // It is only missing in the work tree: somebody here took it away, unless that may yet be taken back.
            let is_certain = is_onwards && !past.is_under_way() && !past.is_sparse();
            return if is_certain { gone(own_name, None) } else { away };
        }
        match past.deleter_of(&file) {
            Some(by) if is_onwards || base.is_some_and(|text| past.knows(&file, &text)) => {
                gone(Some(by.author), by.at)
            }
            // Never committed here, and thrown away again.
            None if is_onwards && !past.is_under_way() => gone(own_name, None),
            _ => away,
        }
    }

    /// Says whether a version that differs from the one we know was made from it.
    fn is_successor(&mut self, path: &MemoryPath, known: &Known, is_onwards: bool) -> bool {
        if is_onwards {
            return true;
        }
        let base = known.hash.and_then(|hash| self.store.base(path, hash));
        let file = Self::file(path);
        match (&mut self.past, base) {
            (Some(past), Some(base)) => past.knows(&file, &base),
            _ => false,
        }
    }

    /// Compares the checked-out branch with the last sync; returns the cursor that this sync leaves.
    fn standing(&self, since: Option<&Cursor>) -> (bool, Option<Cursor>) {
        let Some(past) = &self.past else { return (true, None) };
        let Some(head) = past.head() else { return (true, since.cloned()) };
        let here = Cursor(format!("{head} {}", self.work_tree.display()));
        let Some((last, tree)) = since.and_then(|since| since.0.split_once(' ')) else {
            return (true, Some(here));
        };
        match past.stands_on(last, Path::new(tree), &head) {
            Standing::Onwards => (true, Some(here)),
            Standing::Elsewhere => (false, since.cloned()),
        }
    }

    /// A folder that was there and is not, or is empty, says nothing: a disk that is not mounted looks the same.
    fn vanished(&self, ask: &Ask<'_>) -> Result<Option<Changes>, RemoteError> {
        let n_known = ask.known.values().filter(|known| known.hash.is_some()).count();
        if n_known == 0 {
            return Ok(None);
        }
        let is_gone = match &self.vault {
            None => true,
            Some(vault) => {
                let has_page = matches!(vault.dir().stat(INDEX_PAGE), Ok(Some(_)));
                !has_page && vault.names().is_ok_and(|names| names.is_empty())
            }
        };
        if !is_gone {
            return Ok(None);
        }
        if self.past.is_none() {
            let why = format!("it had {n_known} memories and is gone or empty");
            return Err(RemoteError::Unreachable { label: self.about.label.clone(), why });
        }
        let away = |(path, known): (&MemoryPath, &Known)| Item {
            path: path.clone(),
            version: known.version.clone(),
            state: State::Away,
            author: None,
            at: None,
            stamp: None,
        };
        let items = ask.known.iter().map(away).collect();
        Ok(Some(Changes { items, complete: true, cursor: ask.since.clone(), refused: Vec::new() }))
    }
}

/// What became of a look at one file.
enum Read {
    Nothing,
    /// It is as it was.
    Known(Item),
    Item(Item),
    Refused(String),
}

impl Remote for Folder<'_> {
    fn about(&self) -> &About {
        &self.about
    }

    fn changes(&mut self, ask: &Ask<'_>, tell: &mut dyn FnMut(Progress)) -> Result<Changes, RemoteError> {
        if let Some(changes) = self.vanished(ask)? {
            return Ok(changes);
        }
        let Some(vault) = self.vault.clone() else {
            return Ok(Changes { complete: true, ..Changes::default() });
        };
        let (is_onwards, cursor) = self.standing(ask.since.as_ref());
        let failed = |source| io_error(vault.path(), source);
        let (paths, skipped) = vault.listed().map_err(failed)?;
        let mut changes = Changes { complete: true, cursor, ..Changes::default() };
        let mut found = BTreeSet::new();
        for (at, path) in paths.iter().enumerate() {
            tell(Progress { phase: Phase::Asking, done: at, of: Some(paths.len()) });
            let known = ask.known.get(path);
            let read = self.item(&vault, path, known).map_err(failed)?;
            if !matches!(read, Read::Nothing) {
                found.insert(path.clone());
            }
            self.take(path, known, read, is_onwards, &mut changes);
        }
        for skipped in skipped {
            let path = MemoryPath::new(&skipped.path).ok();
            found.extend(path.clone());
            changes.refused.push(RefusedKey { name: skipped.path, path, why: skipped.why.to_string() });
        }
        for (path, known) in ask.known.iter().filter(|(path, _)| !found.contains(*path)) {
            if known.hash.is_some() {
                let item = self.missing(path, known, is_onwards);
                changes.items.push(item);
            }
        }
        Ok(changes)
    }

    fn texts(
        &mut self,
        wanted: &[Wanted],
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Option<Vec<u8>>>, RemoteError> {
        let Some(vault) = &self.vault else { return Ok(vec![None; wanted.len()]) };
        let mut texts = Vec::with_capacity(wanted.len());
        for (at, wanted) in wanted.iter().enumerate() {
            tell(Progress { phase: Phase::Fetching, done: at, of: None });
            let text = vault.dir().read(wanted.path.as_str(), MAX_BODY as u64).ok().flatten();
            self.traffic.received += text.as_ref().map_or(0, |text| text.len() as u64);
            texts.push(text.filter(|text| ContentHash::of(text) == wanted.hash));
        }
        Ok(texts)
    }

    fn push(&mut self, writes: &[Write], tell: &mut dyn FnMut(Progress)) -> Pushed {
        tell(Progress { phase: Phase::Sending, done: 0, of: Some(writes.len()) });
        match self.write(writes) {
            Ok(outcomes) => Pushed { outcomes, ..Pushed::default() },
            Err(err) => {
                Pushed { outcomes: vec![Outcome::Unknown; writes.len()], cursor: None, cut: Some(err) }
            }
        }
    }

    fn erase(&mut self, paths: &[MemoryPath]) -> Pushed {
        let Some(vault) = self.vault.clone() else {
            let done = Outcome::Done { version: Version(DELETED.to_owned()), stamp: None };
            return Pushed { outcomes: vec![done; paths.len()], ..Pushed::default() };
        };
        let erased = |path: &MemoryPath| {
            let mut writer = vault.writer(self.now, self.gate)?;
            match writer.erase(path) {
                Err(CommitError::Missing(_)) => Ok(()),
                erased => erased.map(drop),
            }
        };
        let mut pushed = Pushed::default();
        for path in paths {
            pushed.outcomes.push(match erased(path) {
                Ok(()) => Outcome::Done { version: Version(DELETED.to_owned()), stamp: None },
                Err(err) => {
                    pushed.cut = Some(unusable(vault.path(), &err));
                    Outcome::Unknown
                }
            });
        }
        pushed
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

impl Folder<'_> {
    /// Takes what was read of one file into the answer.
    fn take(
        &mut self,
        path: &MemoryPath,
        known: Option<&Known>,
        read: Read,
        is_onwards: bool,
        changes: &mut Changes,
    ) {
        match read {
            Read::Nothing => {}
            // Nothing new: what was known of who wrote it holds.
            Read::Known(item) => changes.items.push(item),
            Read::Refused(why) => {
                changes.refused.push(RefusedKey { name: path.to_string(), path: Some(path.clone()), why })
            }
            Read::Item(mut item) => {
                let is_known = known.is_some_and(|known| known.version == item.version);
                if let Some(known) = known.filter(|known| !is_known && known.hash.is_some())
                    && !self.is_successor(path, known, is_onwards)
                {
                    (item.state, item.version) = (State::Away, known.version.clone());
                }
                if !is_known {
                    self.sign(&mut item);
                }
                changes.items.push(item);
            }
        }
    }

    /// Carries out writes as one change of the folder.
    fn write(&mut self, writes: &[Write]) -> Result<Vec<Outcome>, RemoteError> {
        if self.vault.is_none() && writes.iter().all(|write| write.text.is_none()) {
            let done = Outcome::Done { version: Version(DELETED.to_owned()), stamp: None };
            return Ok(vec![done; writes.len()]);
        }
        let (gate, now) = (self.gate, self.now);
        let vault = self.create()?.clone();
        let failed = |err: &dyn std::error::Error| unusable(vault.path(), err);
        let mut writer = vault.writer(now, gate).map_err(|err| failed(&err))?;
        let names = vault.names().map_err(|source| io_error(vault.path(), source))?;
        let mut names: BTreeMap<String, MemoryPath> =
            names.into_iter().map(|path| (folded(path.stem()), path)).collect();
        let mut edits = Vec::new();
        let mut outcomes = Vec::with_capacity(writes.len());
        for write in writes {
            let (outcome, edit) = self.plan_write(&vault, write, &mut names);
            outcomes.push(outcome);
            edits.extend(edit);
        }
        if !edits.is_empty() {
            let set = ChangeSet {
                author: Author::Team,
                by: Surface::Sync,
                provenance: Provenance::Team,
                reason: "sync".to_owned(),
                session: None,
                force: None,
                edits,
            };
            writer.commit(&set).map_err(|err| failed(&err))?;
        }
        drop(writer);
        for (write, outcome) in writes.iter().zip(&mut outcomes) {
            if let (Outcome::Done { stamp, .. }, Some(text)) = (outcome, &write.text) {
                self.traffic.sent += text.len() as u64;
                *stamp = stat(vault.dir(), &write.path).ok().flatten().and_then(Stamp::settled);
            }
        }
        Ok(outcomes)
    }

    /// Says what would become of one write, and with which edit.
    fn plan_write(
        &self,
        vault: &Vault,
        write: &Write,
        names: &mut BTreeMap<String, MemoryPath>,
    ) -> (Outcome, Option<Edit>) {
        let refused =
            |code: &str, message: String| (Outcome::Refused { code: code.to_owned(), message }, None);
        let there = match vault.dir().read(write.path.as_str(), MAX_BODY as u64) {
            Ok(there) => there,
            Err(err) => return refused("bad-request", err.to_string()),
        };
        let hash = there.as_deref().map(ContentHash::of);
        let version = hash.map_or_else(|| Version(DELETED.to_owned()), version_of);
        let wanted = write.text.as_deref().map(ContentHash::of);
        let done = |hash: Option<ContentHash>| Outcome::Done {
            version: hash.map_or_else(|| Version(DELETED.to_owned()), version_of),
            stamp: None,
        };
        if hash == wanted {
            return (done(wanted), None);
        }
        let expected = write.base.clone().unwrap_or_else(|| Version(DELETED.to_owned()));
        if expected != version {
            return (Outcome::Stale { current: Some(Current { version, hash }) }, None);
        }
        let path = write.path.clone();
        let Some(text) = write.text.clone() else {
            names.remove(&folded(path.stem()));
            let edit = there.map(|base| Edit::Remove { path, base, into: Exit::Trash });
            return (done(None), edit);
        };
        if let Some(refusal) = fit::against(&path, &text, there.as_deref(), self.about.audience, self.gate) {
            return refused(&refusal.rule, refusal.why);
        }
        let other = names.entry(folded(path.stem())).or_insert_with(|| path.clone());
        if *other != path {
            return refused("name", format!("`{other}` has the same name but for case or folder"));
        }
        let edit = match there {
            None => Edit::Create { path, text },
            Some(base) => Edit::Replace { path, base, text },
        };
        (done(wanted), Some(edit))
    }
}

/// Opens folders one below the other; `None` if one is missing. A link on the way is refused.
fn below(mut dir: Dir, names: &[&str], path: &Path) -> Result<Option<Dir>, RemoteError> {
    for name in names {
        dir = match dir.sub(name) {
            Ok(dir) => dir,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => {
                let is_link = matches!(dir.stat(name), Ok(Some(stat)) if !stat.is_file);
                let why =
                    if is_link { "it is a link, or leads through one".to_owned() } else { err.to_string() };
                return Err(RemoteError::Unusable { path: path.to_owned(), why });
            }
        };
    }
    Ok(Some(dir))
}

fn version_of(hash: ContentHash) -> Version {
    Version(hash.to_string())
}

/// Says whether git left a conflict in a text.
fn has_markers(text: &[u8]) -> bool {
    MARKERS.iter().all(|marker| text.split(|byte| *byte == b'\n').any(|line| line.starts_with(marker)))
}

fn io_error(path: &Path, source: io::Error) -> RemoteError {
    RemoteError::Io { path: path.to_owned(), source }
}

fn unusable(path: &Path, err: &dyn std::error::Error) -> RemoteError {
    let why = match err.source() {
        Some(source) => format!("{err}: {source}"),
        None => err.to_string(),
    };
    RemoteError::Unusable { path: path.to_owned(), why }
}
