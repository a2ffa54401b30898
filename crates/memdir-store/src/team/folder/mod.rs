//! A folder as the other side of a sync: `.memdir/team` of the repository, or a directory of the user's choice.
//!
//! The folder is a vault of its own, so that what is written into it goes through the same door as everything else, and it
//! has its own index page. It is a stranger's all the same: links, devices and what is too large are refused and told,
//! nothing is opened through a link, and a folder that vanished is not a folder in which everything was deleted.
//! Look at [`Folder::of_repository`] and [`Folder::of_directory`] first.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MAX_BODY, MemoryPath};
use memdir_core::team::share::Audience;

mod erased;
mod look;
mod write;

use self::look::Read;
use super::past::Past;
use super::remote::{
    About, Appended, Ask, Changes, Outcome, Phase, Progress, Pushed, RefusedKey, Remote, RemoteError, State,
    Traffic, UsageFile, Version, Wanted, Write,
};
use super::state::Store;
use super::usage::machine_of;
use crate::disk::{Dir, ReadError};
use crate::gate::Gate;
use crate::place::{Environment, Place};
use crate::vault::Vault;

/// The folder of a repository that holds everything of ours.
const OURS: &str = ".memdir";
/// The folder in it that is shared.
const TEAM: &str = "team";
/// Both, as git names them.
const IN_REPOSITORY: &str = ".memdir/team";
/// Makes git keep the lines of both sides where two branches changed a list; the index page is rendered anew anyway.
const ATTRIBUTES: &str = "team/MEMORY.md merge=union\nerased merge=union\n";
/// Keeps what a killed process left half-written out of every commit.
const IGNORED: &str = ".memdir-tmp-*\n";
/// No ledger of a month is larger.
const MAX_LEDGER: u64 = 64 * 1024 * 1024;
/// Stands for the version of what is deleted.
const DELETED: &str = "-";

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
    /// Where the project is.
    pub place: &'a Place,
    /// Under which id its memories are shared: the project's, or the user vault's.
    pub project: &'a str,
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

    /// Opens a project's folder in a directory that the user named. The directory must be there: one that is not may be on
    /// a disk that is not mounted.
    pub fn of_directory(opening: Opening<'a>, directory: &Path) -> Result<Self, RemoteError> {
        let unreachable = |err: io::Error| RemoteError::Unreachable {
            label: directory.display().to_string(),
            why: err.to_string(),
        };
        let canonical = directory.canonicalize().map_err(unreachable)?;
        let project = opening.project;
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
        let Opening { place, gate, now, project, .. } = opening;
        let id = format!("{project}.team");
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
            store: Store::below(&place.home.join("projects").join(project)),
            traffic: Traffic::default(),
        })
    }

    /// Takes everything that is there for the user's own machines.
    pub fn for_own_machines(mut self) -> Self {
        self.about.audience = Audience::Own;
        self
    }

    /// Opens the folder of ledgers beside the memories, which must be among themselves.
    fn ledgers(&self, is_needed: bool) -> Result<Option<Dir>, RemoteError> {
        if self.about.audience != Audience::Own {
            return Ok(None);
        }
        let path = self.path.with_added_extension("usage");
        let dir = if is_needed { Dir::ensure(&path) } else { Dir::open(&path) };
        match dir {
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            dir => dir.map(Some).map_err(|source| io_error(&path, source)),
        }
    }

    /// Makes the folder where it is missing.
    pub fn create(&mut self) -> Result<&Vault, RemoteError> {
        if self.vault.is_none() {
            let path = self.path.clone();
            let make = || -> io::Result<Dir> {
                if self.past.is_none() {
                    return Dir::ensure(&path);
                }
                Dir::open(&self.work_tree)?.ensure_sub(OURS)?.ensure_sub(TEAM)
            };
            let dir = make().map_err(|source| io_error(&path, source))?;
            let vault = Vault::at(&self.home, &self.id, dir).map_err(|err| unusable(&path, &err))?;
            self.vault = Some(vault);
        }
        self.vault.as_ref().ok_or_else(|| io_error(&self.path, io::ErrorKind::NotFound.into()))
    }

    /// Tells git about the index page and half-written files, before the first one is written: a file that is made any earlier stands in the way
    /// of a teammate's, who told it already.
    fn tell_git(&self, vault: &Vault) -> io::Result<()> {
        if self.past.is_none() || vault.dir().stat(INDEX_PAGE)?.is_some() {
            return Ok(());
        }
        let ours = Dir::open(&self.work_tree)?.sub(OURS)?;
        for (name, text) in [(".gitattributes", ATTRIBUTES), (".gitignore", IGNORED)] {
            if ours.stat(name)?.is_none() {
                ours.replace(name, text.as_bytes())?;
            }
        }
        Ok(())
    }
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
        let mut missing = ask.known.iter().filter(|(path, _)| !found.contains(*path)).peekable();
        let erased = missing.peek().map(|_| self.erased()).unwrap_or_default();
        for (path, known) in missing {
            let Some(hash) = known.hash else { continue };
            let mut item = self.missing(path, known, is_onwards);
            let is_erased = erased.get(path).is_some_and(|versions| versions.contains(&hash));
            if is_erased && item.state != State::Away {
                item.state = State::Gone { erased: true };
            }
            changes.items.push(item);
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
        let mut pushed = Pushed::default();
        for path in paths {
            pushed.outcomes.push(match self.erase_one(&vault, path) {
                Ok(()) => Outcome::Done { version: Version(DELETED.to_owned()), stamp: None },
                Err(err) => {
                    pushed.cut = Some(err);
                    Outcome::Unknown
                }
            });
        }
        pushed
    }

    fn usage(&mut self) -> Result<Vec<UsageFile>, RemoteError> {
        let Some(dir) = self.ledgers(false)? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        dir.for_each(|name, _| names.push(name.to_owned())).map_err(|err| io_error(dir.path(), err))?;
        let mut files = Vec::new();
        for name in names.into_iter().filter(|name| machine_of(name).is_some()) {
            let stat = dir.stat(&name).map_err(|err| io_error(dir.path(), err))?;
            files.extend(stat.filter(|stat| stat.is_file).map(|stat| UsageFile { name, size: stat.size }));
        }
        Ok(files)
    }

    fn read_usage(&mut self, name: &str, offset: u64) -> Result<Vec<u8>, RemoteError> {
        let Some(dir) = self.ledgers(false)? else { return Ok(Vec::new()) };
        let failed = |err: ReadError| io_error(dir.path(), io::Error::other(err));
        let bytes = dir.read(name, MAX_LEDGER).map_err(failed)?.unwrap_or_default();
        let rest = bytes.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default().to_vec();
        self.traffic.received += rest.len() as u64;
        Ok(rest)
    }

    fn append_usage(&mut self, name: &str, offset: u64, lines: &[u8]) -> Result<Appended, RemoteError> {
        let Some(dir) = self.ledgers(true)?.filter(|_| machine_of(name).is_some()) else {
            return Ok(Appended::Elsewhere(0));
        };
        let failed = |err: io::Error| io_error(dir.path(), err);
        let size = dir.stat(name).map_err(failed)?.map_or(0, |stat| stat.size);
        if size != offset {
            return Ok(Appended::Elsewhere(size));
        }
        let text = String::from_utf8_lossy(lines);
        dir.append_line(name, text.trim_end_matches('\n')).map_err(failed)?;
        self.traffic.sent += lines.len() as u64;
        Ok(Appended::Done(offset + lines.len() as u64))
    }

    fn traffic(&self) -> Traffic {
        self.traffic
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
