//! What was erased: a list beside the folder, by name and hash, so that everybody takes the text away who has it.
//!
//! In a directory it is `<project>.erased`, in a repository `.memdir/erased`. It holds no text. Whoever writes there can
//! add to it, so it says only what is to become of a memory that is gone from the folder already, and only to those who
//! believe whoever took it away.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use memdir_core::hash::ContentHash;
use memdir_core::memory::{MAX_BODY, MemoryPath};
use serde::{Deserialize, Serialize};

use super::super::remote::RemoteError;
use super::{Folder, OURS, io_error, unusable};
use crate::disk::Dir;
use crate::vault::{CommitError, Vault};

const IN_REPOSITORY: &str = "erased";
/// A hundred thousand erasures take less.
const MAX_LIST: u64 = 32 * 1024 * 1024;

/// A line of the list.
#[derive(Debug, Serialize, Deserialize)]
struct Erasure {
    path: MemoryPath,
    /// Which versions.
    sha256: BTreeSet<ContentHash>,
}

/// Versions that were erased, by name.
pub(super) type Erasures = BTreeMap<MemoryPath, BTreeSet<ContentHash>>;

impl Folder<'_> {
    /// Reads the list; what cannot be read says nothing.
    pub(super) fn erased(&self) -> Erasures {
        let read = |(dir, name): (Dir, String)| dir.read(&name, MAX_LIST).ok().flatten();
        let bytes = self.list().ok().and_then(read).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut erased = Erasures::new();
        for line in lines.filter_map(|line| serde_json::from_slice::<Erasure>(line).ok()) {
            erased.entry(line.path).or_default().extend(line.sha256);
        }
        erased
    }

    /// Takes every version of a memory away, and leaves for the others which.
    pub(super) fn erase_one(&self, vault: &Vault, path: &MemoryPath) -> Result<(), RemoteError> {
        let failed = |source| io_error(vault.path(), source);
        let live = vault.dir().read(path.as_str(), MAX_BODY as u64).ok().flatten();
        // Before it goes: a memory that is missing without a word was deleted, and others would keep it in their trash.
        self.note_erased(path, live.as_deref().map(ContentHash::of).into_iter().collect()).map_err(failed)?;
        let mut writer = vault.writer(self.now, self.gate).map_err(|err| unusable(vault.path(), &err))?;
        match writer.erase(path) {
            Err(CommitError::Missing(_)) => Ok(()),
            Err(err) => Err(unusable(vault.path(), &err)),
            Ok(erased) => self.note_erased(path, erased.hashes).map_err(failed),
        }
    }

    /// Adds versions to the list that are not in it yet.
    fn note_erased(&self, path: &MemoryPath, versions: BTreeSet<ContentHash>) -> io::Result<()> {
        let known = self.erased().remove(path).unwrap_or_default();
        let sha256: BTreeSet<ContentHash> = versions.difference(&known).copied().collect();
        if sha256.is_empty() {
            return Ok(());
        }
        let (dir, name) = self.list()?;
        dir.append_line(&name, &serde_json::to_string(&Erasure { path: path.clone(), sha256 })?)?;
        dir.open_or_create(&name, true)?.sync_all()?;
        dir.sync()
    }

    /// Says where the list is.
    fn list(&self) -> io::Result<(Dir, String)> {
        if self.past.is_some() {
            return Ok((Dir::open(&self.work_tree)?.sub(OURS)?, IN_REPOSITORY.to_owned()));
        }
        let path = self.path.with_added_extension("erased");
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(missing)?;
        Ok((Dir::open(path.parent().ok_or_else(missing)?)?, name.to_owned()))
    }
}
