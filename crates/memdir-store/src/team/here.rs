//! The vault's side of a sync: every memory with its hash and whether it may leave.
//!
//! A file whose size, time and inode are those of the last look is not opened: ten thousand unchanged memories cost ten
//! thousand `stat` calls. What is opened is read once, and its text is handed on. A disk that says no ends the sync before
//! anything is changed: what could not be read must look neither deleted nor shared. Look at [`scan`] first.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MAX_BODY, MemoryPath};
use memdir_core::team::reconcile::{Here, Sharing};
use memdir_core::team::share::{Audience, Stays, may_leave};
use serde::{Deserialize, Serialize};

use super::remote::Stamp;
use super::state::Store;
use super::sync::SyncError;
use crate::disk::{Dir, ReadError, Stat};
use crate::vault::Vault;

/// A file that was written so recently may be written again within the same tick of its clock.
const RACY: SignedDuration = SignedDuration::from_secs(2);

/// One memory of the vault.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// Which version, and whether it may leave.
    pub(super) here: Here,
    /// Why it cannot be sent although it is the team's.
    pub(super) fault: Option<String>,
    /// Whether it says itself that it is the team's, as far as it could be read.
    pub(super) is_teams: bool,
    /// Its text, if it had to be read.
    pub(super) text: Option<Vec<u8>>,
}

/// What was known of a file when it was last read.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Seen {
    stamp: Stamp,
    hash: ContentHash,
    is_private: bool,
}

/// Looks at every memory of a vault.
pub(super) fn scan(
    vault: &Vault,
    store: &Store,
    audience: Audience,
) -> Result<BTreeMap<MemoryPath, File>, SyncError> {
    let failed = |path: PathBuf| |source| SyncError::Io { path, source };
    let known: BTreeMap<MemoryPath, Seen> = store.seen();
    let mut seen = BTreeMap::new();
    let mut files = BTreeMap::new();
    let (paths, skipped) = vault.listed().map_err(failed(vault.path().to_owned()))?;
    for path in paths {
        let at = || vault.path().join(path.as_str());
        let Some(stat) = stat(vault.dir(), &path).map_err(failed(at()))? else { continue };
        let stamp = Stamp::of(stat);
        if let Some(before) = known.get(&path).filter(|before| before.stamp == stamp) {
            let sharing = if before.is_private { Sharing::Private } else { Sharing::Shared };
            let here = Here { hash: before.hash, sharing };
            files.insert(path.clone(), File { here, fault: None, is_teams: !before.is_private, text: None });
            seen.insert(path, before.clone());
            continue;
        }
        let Some(file) = read(vault.dir(), &path, audience).map_err(failed(at()))? else { continue };
        if file.fault.is_none() && !is_racy(stat) {
            let is_private = file.here.sharing == Sharing::Private;
            seen.insert(path.clone(), Seen { stamp, hash: file.here.hash, is_private });
        }
        files.insert(path, file);
    }
    // What stands in the way of a memory is not the same as a memory that was deleted.
    for skipped in skipped {
        if let Ok(path) = MemoryPath::new(&skipped.path) {
            files.insert(path, unfit(skipped.why.to_string()));
        }
    }
    // Derived: if it cannot be kept, files are read once more.
    let _ = store.note_seen(&seen);
    Ok(files)
}

/// Reads one memory; `None` if it is gone by now.
fn read(dir: &Dir, path: &MemoryPath, audience: Audience) -> io::Result<Option<File>> {
    let text = match dir.read(path.as_str(), MAX_BODY as u64) {
        Ok(None) => return Ok(None),
        Ok(Some(text)) => text,
        Err(ReadError::TooLarge { size, .. }) => return Ok(Some(too_large(dir, path, audience, size))),
        // Somebody's wish, and not an accident: the others are synced without it, and it is named.
        Err(ReadError::Io(err)) if err.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(Some(File { is_teams: true, ..unfit("it cannot be read".to_owned()) }));
        }
        Err(ReadError::Io(err)) => return Err(err),
        Err(err) => return Ok(Some(unfit(err.to_string()))),
    };
    let hash = ContentHash::of(&text);
    let (sharing, fault) = match may_leave(path, &text, audience) {
        Ok(()) => (Sharing::Shared, None),
        Err(why) if why.is_wish() => (Sharing::Private, None),
        Err(why) => (Sharing::Unfit, Some(why.to_string())),
    };
    let is_teams = sharing != Sharing::Private;
    Ok(Some(File { here: Here { hash, sharing }, fault, is_teams, text: Some(text) }))
}

/// A memory that is too large to be sent, and may be too large to be read: who it belongs to stands at its beginning.
fn too_large(dir: &Dir, path: &MemoryPath, audience: Audience, size: u64) -> File {
    let bytes = beginning(dir, path);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let why = may_leave(path, &bytes, audience).err().unwrap_or(Stays::TooLarge(size));
    if why.is_wish() {
        let here = Here { hash: ContentHash::of(&bytes), sharing: Sharing::Private };
        return File { here, fault: None, is_teams: false, text: None };
    }
    File { is_teams: true, ..unfit(Stays::TooLarge(size).to_string()) }
}

/// Reads as much of a file as a memory may have.
fn beginning(dir: &Dir, path: &MemoryPath) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(Some((file, _))) = dir.open_file(path.as_str()) {
        // What cannot be read says nothing, and nothing of it is sent.
        let _ = file.take(MAX_BODY as u64).read_to_end(&mut bytes);
    }
    bytes
}

fn unfit(why: String) -> File {
    let here = Here { hash: ContentHash::of(b""), sharing: Sharing::Unfit };
    File { here, fault: Some(why), is_teams: false, text: None }
}

/// Returns what a memory's file looks like; `None` if it is gone.
pub(super) fn stat(dir: &Dir, path: &MemoryPath) -> io::Result<Option<Stat>> {
    match dir.folder(path.as_str()) {
        Ok((folder, name)) => folder.stat(name),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err),
    }
}

/// Says whether a file may still change without looking different.
pub(super) fn is_racy(stat: Stat) -> bool {
    let written = Timestamp::from_nanosecond(stat.mtime_ns.into()).unwrap_or(Timestamp::UNIX_EPOCH);
    Timestamp::now().duration_since(written) < RACY
}

impl Stamp {
    /// Takes what identifies a file that did not change.
    pub(super) fn of(stat: Stat) -> Self {
        Self { size: stat.size, mtime: stat.mtime_ns, inode: stat.inode }
    }

    /// Takes the same, if it identifies the file from now on.
    pub(super) fn settled(stat: Stat) -> Option<Self> {
        (!is_racy(stat)).then(|| Self::of(stat))
    }
}
