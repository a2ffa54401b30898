//! Whether an index still shows a vault.
//!
//! A small vault is looked through file by file: a look at a name costs half a microsecond. In a large one the times of its
//! folders are compared, which change whenever a file is added, removed or replaced by a new one, as nearly every program
//! saves; a file that is written in place is then noticed by the next command that looks at all of them.

use std::collections::HashMap;
use std::io;

use jiff::Timestamp;
use memdir_core::memory::MemoryPath;
use serde::{Deserialize, Serialize};

use super::directory;
use crate::disk::{Dir, Stat};
use crate::index::{Index, IndexError, Stamp};
use crate::vault::Vault;

/// In a vault of up to so many memories every file is looked at before each answer.
const SMALL: usize = 2_000;
/// A folder or file this young may change again without its time changing.
const RACY_NS: i128 = 50_000_000;
/// What was seen of a vault's folders when the index was last brought up to date.
const SEEN: &str = "folders.json";
const MAX_SEEN: u64 = 1 << 20;

/// A vault's files and folders at one time.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) files: Vec<(MemoryPath, Stamp)>,
    folders: Folders,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Folders(Vec<(String, u64, i64)>);

/// What an index does not show yet.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) new: Vec<(MemoryPath, Stamp)>,
    pub(super) gone: Vec<String>,
}

/// Says whether an index shows the vault as it is now.
pub(super) fn is_fresh(vault: &Vault, index: &Index) -> Result<bool, IndexError> {
    if index.len() > SMALL {
        let seen = Dir::open(&directory(vault)).ok().and_then(|dir| dir.read(SEEN, MAX_SEEN).ok().flatten());
        let seen: Option<Folders> = seen.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        return Ok(seen.is_some_and(|seen| seen.are_as_they_were(vault)));
    }
    let Ok(look) = Look::at(vault) else { return Ok(false) };
    let changes = look.compare(index)?;
    Ok(changes.new.is_empty() && changes.gone.is_empty())
}

impl Look {
    /// Looks at every name of a vault.
    pub(super) fn at(vault: &Vault) -> io::Result<Self> {
        let (paths, folders) = vault.names()?;
        let folders = Folders::of(vault, folders)?;
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            // A file that vanished since it was listed is gone.
            if let Ok(Some(stat)) = stat(vault.dir(), path.as_str()) {
                let stamp =
                    Stamp { inode: stat.inode, size: stat.size, mtime_ns: stat.mtime_ns, sha256: [0; 32] };
                files.push((path, stamp));
            }
        }
        Ok(Self { files, folders })
    }

    /// Returns what `index` does not show.
    pub(super) fn compare(&self, index: &Index) -> Result<Changes, IndexError> {
        let mut known: HashMap<String, Stamp> = HashMap::with_capacity(index.len());
        for found in index.stamps()? {
            let (key, stamp) = found?;
            known.insert(key, stamp);
        }
        let mut changes = Changes::default();
        for (path, stamp) in &self.files {
            let is_same = |old: &Stamp| {
                (old.inode, old.size, old.mtime_ns) == (stamp.inode, stamp.size, stamp.mtime_ns)
            };
            match known.remove(path.as_str()) {
                Some(old) if is_same(&old) && !is_racy(stamp.mtime_ns) => {}
                _ => changes.new.push((path.clone(), *stamp)),
            }
        }
        changes.gone = known.into_keys().collect();
        changes.gone.sort_unstable();
        Ok(changes)
    }

    /// Leaves a note of the folders for the next process. Not being able to costs it a look at every file.
    pub(super) fn remember(&self, vault: &Vault) {
        if self.folders.0.iter().any(|(_, _, mtime_ns)| is_racy(*mtime_ns)) {
            return;
        }
        if let (Ok(dir), Ok(bytes)) = (Dir::open(&directory(vault)), serde_json::to_vec(&self.folders)) {
            let _ = dir.replace_derived(&dir, SEEN, &bytes);
        }
    }
}

impl Folders {
    fn of(vault: &Vault, names: Vec<String>) -> io::Result<Self> {
        let mut folders = Vec::with_capacity(names.len());
        for name in names {
            folders.extend(stat(vault.dir(), &name)?.map(|stat| (name, stat.inode, stat.mtime_ns)));
        }
        Ok(Self(folders))
    }

    fn are_as_they_were(&self, vault: &Vault) -> bool {
        self.0.iter().all(|(name, inode, mtime_ns)| {
            let stat = stat(vault.dir(), name).ok().flatten();
            stat.is_some_and(|stat| stat.inode == *inode && stat.mtime_ns == *mtime_ns)
        })
    }
}

/// Looks at a path below a vault; the empty one is the vault itself.
fn stat(root: &Dir, path: &str) -> io::Result<Option<Stat>> {
    match path.contains('/') {
        _ if path.is_empty() => root.stat_self().map(Some),
        false => root.stat(path),
        true => root.folder(path).and_then(|(folder, name)| folder.stat(name)),
    }
}

/// Says whether something was changed so lately that its time cannot tell it from a later change.
fn is_racy(mtime_ns: i64) -> bool {
    let now_ns = Timestamp::now().as_nanosecond();
    (now_ns - i128::from(mtime_ns)).abs() < RACY_NS
}
