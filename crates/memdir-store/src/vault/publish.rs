//! Makes the steps of a change visible: all of them, or none.
//!
//! Order: every new version is written and synced under a temporary name; the record of the change is synced as
//! the intent; then each step swaps a name, and each touched directory is synced once. A step swaps rather than
//! overwrites, so the version that really was there can be looked at: if another program wrote in between, its
//! version is put back and the change is planned again. A fault on the way takes the steps back without needing
//! disk space; a crash on the way is finished by the next command (see `recover`).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use memdir_core::hash::ContentHash;

use super::{CommitError, INTENT, MAX_MEMORY};
use crate::disk::{Dir, Exchanged, ReadError, Staged, Stat};
use crate::history::{Area, Record};

/// One file that changes: from `before` to `after`, where none means that there is no file.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) area: Area,
    pub(super) path: String,
    pub(super) before: Option<ContentHash>,
    pub(super) after: Option<Vec<u8>>,
}

impl Step {
    /// Opens the folder of the file and returns it with the file's own name; a new file gets the folders it needs.
    pub(super) fn folder(&self, root: &Dir) -> io::Result<(Dir, &str)> {
        match (self.before, &self.after) {
            (None, Some(_)) => root.ensure_folder(&self.path),
            _ => root.folder(&self.path),
        }
    }
}

/// The directories that steps reach.
#[derive(Debug, Clone)]
pub(super) struct Areas {
    pub(super) vault: Dir,
    pub(super) user: Option<Dir>,
    pub(super) state: Dir,
}

impl Areas {
    /// Returns the directory of an area, made where it is missing.
    pub(super) fn root(&self, area: Area) -> io::Result<Dir> {
        match (area, area.folder()) {
            (_, Some(folder)) => self.state.ensure_sub(folder),
            (Area::User, None) => self.user.clone().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)),
            _ => Ok(self.vault.clone()),
        }
    }

    /// Returns where an area's temporary files are: only there are they swept.
    pub(super) fn staging(&self, area: Area) -> io::Result<Dir> {
        if area.folder().is_some() { Ok(self.state.clone()) } else { self.root(area) }
    }

    /// Returns where a file of an area is, for messages.
    pub(super) fn display(&self, area: Area, path: &str) -> PathBuf {
        let root = match (area, area.folder()) {
            (_, Some(folder)) => self.state.path().join(folder),
            (Area::User, None) => self.user.as_ref().map_or(Path::new("user"), Dir::path).to_owned(),
            _ => self.vault.path().to_owned(),
        };
        root.join(path)
    }

    /// Keeps a version that has no other place, and returns where.
    pub(super) fn put_aside(&self, path: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let name = aside_name(path, &ContentHash::of(bytes));
        let dir = self.root(Area::Conflicts)?;
        self.state.stage(bytes)?.rename_over(&dir, &name)?;
        dir.sync()?;
        Ok(dir.path().join(name))
    }
}

/// Returns the name under which a version is kept outside its vault: `<name>@<sha8>.md`.
pub(super) fn aside_name(path: &str, hash: &ContentHash) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".md").unwrap_or(file);
    format!("{stem}@{}.md", hash.short())
}

/// Why nothing was published.
#[derive(Debug)]
pub(super) enum PublishError {
    /// Another program changed a file after the change was planned.
    Raced { path: String },
    /// The file system said no.
    Io { path: PathBuf, source: io::Error },
}

impl From<PublishError> for CommitError {
    fn from(err: PublishError) -> Self {
        match err {
            PublishError::Raced { path } => Self::Stale(path),
            PublishError::Io { path, source } => Self::Write { path, source },
        }
    }
}

/// Carries out `steps`. Afterwards the record stands as intent; the caller makes it history.
pub(super) fn publish(areas: &Areas, steps: &[Step], record: &Record) -> Result<(), PublishError> {
    let staged = stage_all(areas, steps)?;
    write_intent(areas, record)?;
    let mut applied = Vec::with_capacity(steps.len());
    let outcome = apply_all(areas, steps, staged, &mut applied).and_then(|()| sync_folders(&applied));
    if let Err(err) = outcome {
        roll_back(areas, applied, record);
        return Err(err);
    }
    keep_late_writes(areas, &applied);
    Ok(())
}

fn stage_all(areas: &Areas, steps: &[Step]) -> Result<Vec<Option<Staged>>, PublishError> {
    let stage = |step: &Step| match &step.after {
        Some(bytes) => areas.staging(step.area).and_then(|dir| dir.stage(bytes)).map(Some),
        None => Ok(None),
    };
    steps.iter().map(|step| stage(step).map_err(|source| io_error(areas, step, source))).collect()
}

fn write_intent(areas: &Areas, record: &Record) -> Result<(), PublishError> {
    let state = &areas.state;
    let written = state.stage(&record.to_bytes()).and_then(|staged| staged.rename_over(state, INTENT));
    let synced = written.and_then(|()| state.sync());
    synced.map_err(|source| {
        // Nothing has changed yet, and nothing shall, also not by the next command.
        let _ = state.remove(INTENT);
        PublishError::Io { path: state.path().join(INTENT), source }
    })
}

/// A step that is visible, and what it needs to be taken back.
struct Applied<'s> {
    step: &'s Step,
    folder: Dir,
    name: &'s str,
    old: Old,
}

/// What became of the version that was there.
enum Old {
    /// There was none.
    None,
    /// It has a temporary name, and looked like this when it was found to be the expected one.
    Kept(Staged, Option<Stat>),
    /// The file system cannot swap names: it was overwritten after a last look.
    Overwritten,
}

fn apply_all<'s>(
    areas: &Areas,
    steps: &'s [Step],
    staged: Vec<Option<Staged>>,
    applied: &mut Vec<Applied<'s>>,
) -> Result<(), PublishError> {
    for (step, staged) in steps.iter().zip(staged) {
        let (folder, name) = areas
            .root(step.area)
            .and_then(|root| step.folder(&root))
            .map_err(|source| io_error(areas, step, source))?;
        let raced = || PublishError::Raced { path: step.path.clone() };
        let old = apply(areas, step, staged, &folder, name).map_err(|err| match err.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists => raced(),
            _ => io_error(areas, step, err),
        })?;
        applied.push(Applied { step, folder, name, old });
        if let Some(Applied { old: Old::Kept(staged, stat), .. }) = applied.last_mut() {
            if hash_of(staged) != step.before {
                return Err(raced());
            }
            *stat = staged.stat().ok().flatten();
        }
    }
    Ok(())
}

fn apply(areas: &Areas, step: &Step, staged: Option<Staged>, folder: &Dir, name: &str) -> io::Result<Old> {
    match (staged, step.before) {
        (Some(mut staged), None) => staged.rename_new(folder, name).map(|()| Old::None),
        (None, _) => Ok(Old::Kept(Staged::take_from(&areas.staging(step.area)?, folder, name)?, None)),
        (Some(staged), Some(before)) => match staged.exchange_with(folder, name)? {
            Exchanged::Swapped => Ok(Old::Kept(staged, None)),
            Exchanged::Unsupported => overwrite(staged, before, folder, name),
        },
    }
}

fn overwrite(staged: Staged, before: ContentHash, folder: &Dir, name: &str) -> io::Result<Old> {
    let found = folder.read(name, MAX_MEMORY).map_err(io::Error::other)?;
    if found.map(|bytes| ContentHash::of(&bytes)) != Some(before) {
        return Err(io::ErrorKind::NotFound.into());
    }
    staged.rename_over(folder, name).map(|()| Old::Overwritten)
}

fn hash_of(staged: &Staged) -> Option<ContentHash> {
    staged.read(MAX_MEMORY).ok().map(|bytes| ContentHash::of(&bytes))
}

/// Syncs each directory that a step touched, once.
fn sync_folders(applied: &[Applied<'_>]) -> Result<(), PublishError> {
    let folders: BTreeMap<&Path, &Dir> =
        applied.iter().map(|applied| (applied.folder.path(), &applied.folder)).collect();
    for (path, folder) in folders {
        folder.sync().map_err(|source| PublishError::Io { path: path.to_owned(), source })?;
    }
    Ok(())
}

/// Takes back what is visible, newest first, and then the intent. What cannot be taken back keeps the intent, and
/// the next command finishes the change instead.
fn roll_back(areas: &Areas, applied: Vec<Applied<'_>>, record: &Record) {
    let mut whole = true;
    for applied in applied.into_iter().rev() {
        whole &= take_back(areas, applied, record).is_ok();
    }
    if whole {
        let _ = areas.state.remove(INTENT);
    }
}

fn take_back(areas: &Areas, applied: Applied<'_>, record: &Record) -> Result<(), ReadError> {
    let Applied { step, folder, name, old } = applied;
    let ours = step.after.as_deref().map(ContentHash::of);
    match (old, ours) {
        (Old::None, _) => {
            let found = folder.read(name, MAX_MEMORY)?.map(|bytes| ContentHash::of(&bytes));
            if found == ours {
                folder.remove(name)?;
            }
        }
        (Old::Kept(mut old, _), None) => match old.rename_new(&folder, name) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                drop(areas.put_aside(&step.path, &old.read(MAX_MEMORY)?)?)
            }
            result => result?,
        },
        (Old::Kept(old, _), Some(_)) => {
            old.exchange_with(&folder, name)?;
            if hash_of(&old) != ours {
                // Somebody replaced our version meanwhile: theirs is the newest and stays.
                old.exchange_with(&folder, name)?;
                let displaced = old.read(MAX_MEMORY)?;
                if step.before != Some(ContentHash::of(&displaced)) {
                    areas.put_aside(&step.path, &displaced)?;
                }
            }
        }
        (Old::Overwritten, _) => {
            let before = step.before.and_then(|before| record.versions.get(&before));
            let before = before.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            areas.staging(step.area)?.stage(before)?.rename_over(&folder, name)?;
        }
    }
    Ok(())
}

/// A program that had the old file open may have written into it after we swapped it out. Its text is kept.
fn keep_late_writes(areas: &Areas, applied: &[Applied<'_>]) {
    for Applied { step, old, .. } in applied {
        let Old::Kept(old, seen) = old else { continue };
        if old.stat().ok().flatten() == *seen {
            continue;
        }
        if let Ok(bytes) = old.read(MAX_MEMORY)
            && Some(ContentHash::of(&bytes)) != step.before
        {
            let _ = areas.put_aside(&step.path, &bytes);
        }
    }
}

fn io_error(areas: &Areas, step: &Step, source: io::Error) -> PublishError {
    PublishError::Io { path: areas.display(step.area, &step.path), source }
}
