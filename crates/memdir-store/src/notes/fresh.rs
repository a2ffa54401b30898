//! Whether an index still shows a vault.
//!
//! A small vault is looked through file by file before each answer. In a large one the times of its folders are compared,
//! which change whenever a file is added, removed or replaced by a new one, as most programs save. A program that writes
//! into a file in place leaves no trace there, so everything is looked at again after a while: the larger the vault, the
//! later, and never after more than [`LONGEST`]. Between two such looks a very large vault is only glanced at when a folder
//! changed: names and inodes tell what is new, gone or replaced.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::directory;
use super::look::{Glance, Look, changes};
use crate::disk::{Dir, Stat};
use crate::index::{Index, IndexError};
use crate::vault::Vault;

/// In a vault of up to so many memories every file is looked at before each answer. Tests have no time for thousands.
pub(super) const SMALL: usize = if cfg!(test) { 20 } else { 2_000 };
/// A larger one is looked through when this much time for each of its files has passed: ten thousand times as long as it
/// takes. Tests pass time by hand, so theirs lasts [`LONGEST`] however busy the machine is.
const REST_MS: u64 = if cfg!(test) { 60_000 } else { 6 };
/// And at the latest after this time.
const LONGEST: SignedDuration = SignedDuration::from_mins(15);
/// A vault with more files than this is glanced at between two looks. Tests have no time for thousands.
pub(super) const LARGE: usize = if cfg!(test) { 100 } else { 200_000 };
/// What a look takes for each file on a busy machine.
const LOOK: Duration = Duration::from_micros(2);
/// What was seen of a vault when the index was last brought up to date.
const SEEN: &str = "folders.json";
const MAX_SEEN: u64 = 1 << 20;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    /// When every file was looked at.
    looked: Timestamp,
    /// Each folder with its inode and time.
    folders: Vec<(String, u64, i64)>,
}

/// Says whether an index shows the vault as it is now.
pub(super) fn is_fresh(vault: &Vault, index: &Index) -> Result<bool, IndexError> {
    if index.len() > SMALL {
        let is_fresh = |seen: Seen| !seen.is_old(index.len(), Timestamp::now()) && seen.is_as_it_was(vault);
        return Ok(Seen::read(vault).is_some_and(is_fresh));
    }
    match changes(vault, index, Glance::Whole) {
        Ok((_, changes)) => Ok(changes?.is_none()),
        Err(_) => Ok(false),
    }
}

/// Says how closely a vault has to be looked at that its index does not show.
pub(super) fn glance(vault: &Vault, index: &Index) -> Glance {
    let is_looked_at = || Seen::read(vault).is_some_and(|seen| !seen.is_old(index.len(), Timestamp::now()));
    if index.len() > LARGE && is_looked_at() { Glance::Inodes } else { Glance::Whole }
}

/// Says whether a large vault has too many files to be looked at until a time.
pub(super) fn is_too_large(index: &Index, until: Option<Instant>) -> bool {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    index.len() > SMALL && left.is_some_and(|left| LOOK * index.len() as u32 > left)
}

/// Leaves a note of the folders for the next process. Not being able to costs it a look at every file.
pub(super) fn remember(look: &Look, vault: &Vault) {
    let Some(folders) = look.folders() else { return };
    let looked = match look.glance {
        Glance::Whole => Some(Timestamp::now()),
        Glance::Inodes => Seen::read(vault).map(|seen| seen.looked),
    };
    let Some(looked) = looked else { return };
    let seen = Seen { looked, folders };
    if let (Ok(dir), Ok(bytes)) = (Dir::open(&directory(vault)), serde_json::to_vec(&seen)) {
        let _ = dir.replace_derived(&dir, SEEN, &bytes);
    }
}

impl Seen {
    fn read(vault: &Vault) -> Option<Self> {
        let bytes = Dir::open(&directory(vault)).ok()?.read(SEEN, MAX_SEEN).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Says whether so many files should be looked at again.
    fn is_old(&self, n_files: usize, now: Timestamp) -> bool {
        let age = now.duration_since(self.looked);
        let rest = SignedDuration::from_millis((REST_MS * n_files as u64).cast_signed()).min(LONGEST);
        age.is_negative() || age >= rest
    }

    fn is_as_it_was(&self, vault: &Vault) -> bool {
        self.folders.iter().all(|(name, inode, mtime_ns)| {
            let stat = stat(vault.dir(), name);
            stat.is_some_and(|stat| stat.inode == *inode && stat.mtime_ns == *mtime_ns)
        })
    }
}

/// Looks at a folder of a vault; the empty one is the vault itself.
fn stat(root: &Dir, folder: &str) -> Option<Stat> {
    match folder.is_empty() {
        true => root.stat_self().ok(),
        false => root.folder(folder).and_then(|(parent, name)| parent.stat(name)).ok().flatten(),
    }
}
