//! Finishes what a crash interrupted.
//!
//! An intent on disk means that its change was decided, so it is rolled forward: each file that is still as before
//! becomes as after. A file that another program changed since is left alone, and our version of it is put aside.
//! Temporary files hold either our own versions, which are in the record, or a foreign version that was swapped out
//! the moment before the crash, which is kept.

use std::collections::BTreeSet;
use std::io;

use memdir_core::hash::ContentHash;
use memdir_core::memory::INDEX_PAGE;

use super::catalog;
use super::publish::{Areas, Step};
use super::{CommitError, INTENT, MAX_MEMORY, Vault};
use crate::disk::{Dir, ReadError, TEMP_PREFIX};
use crate::history::{self, Area, Change, FileOp, Record, Versions};

/// No intent is larger than a record.
const MAX_INTENT: u64 = 1 << 30;

impl Vault {
    /// Finishes an interrupted change or erasure. The caller holds the lock.
    pub(super) fn recover(&self, state: &Dir) -> Result<(), CommitError> {
        self.finish_intent(state)
            .map_err(|source| CommitError::Read { path: state.path().join(INTENT), source })?;
        self.finish_erasing(state)
            .map_err(|source| CommitError::Write { path: state.path().to_owned(), source })
    }

    fn finish_intent(&self, state: &Dir) -> Result<(), ReadError> {
        let Some(bytes) = state.read(INTENT, MAX_INTENT)? else { return Ok(()) };
        let Some(record) = Record::from_bytes(&bytes) else {
            // Not written by us, or hit by a disk fault: kept for `doctor`, out of the way of work.
            return Ok(state.rename(
                INTENT,
                state,
                &format!("intent-broken-{}.jsonl", crate::disk::random_hex()?),
            )?);
        };
        let user = Dir::open(&self.home.join("user")).ok();
        let areas = Areas { vault: self.root.clone(), user, state: state.clone() };
        for step in steps_of(&record.change, &record.versions) {
            roll_forward(&areas, &step)?;
        }
        sweep(&areas, &areas.vault, Some(&record))?;
        sweep(&areas, state, None)?;
        // Rebuilt from history by the next writer.
        if let Ok(index) = Dir::open(&self.home.join("index")) {
            catalog::remove(&index, &self.id)?;
        }
        let changes = state.ensure_sub("changes")?;
        Ok(state.rename(INTENT, &changes, &history::file_name(&record.change.id))?)
    }
}

/// Returns the steps that a recorded change consists of, as far as their bytes are still there.
pub(super) fn steps_of(change: &Change, versions: &Versions) -> Vec<Step> {
    change.ops.iter().flat_map(|op| op_steps(op, versions)).collect()
}

fn op_steps(op: &FileOp, versions: &Versions) -> Vec<Step> {
    let bytes = |hash: Option<ContentHash>| hash.and_then(|hash| versions.get(&hash).cloned());
    let step = |path: &str, before, after| Step { area: op.area, path: path.to_owned(), before, after };
    match (&op.from, op.after) {
        (Some(from), _) => {
            vec![step(&op.path, None, bytes(op.after)), step(from, op.before, None)]
        }
        // The bytes of a version that was erased are not there to be written.
        (None, Some(_)) if bytes(op.after).is_none() => Vec::new(),
        (None, _) => vec![step(&op.path, op.before, bytes(op.after))],
    }
}

fn roll_forward(areas: &Areas, step: &Step) -> Result<(), ReadError> {
    let root = match areas.root(step.area) {
        Err(err) if step.area == Area::User && err.kind() == io::ErrorKind::NotFound => return Ok(()),
        root => root?,
    };
    let (folder, name) = match step.folder(&root) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let found = match folder.read(name, MAX_MEMORY) {
        // A link or device that somebody put there is not ours to replace.
        Err(ReadError::NotAFile | ReadError::TooLarge { .. }) => return Ok(()),
        found => found?.map(|bytes| ContentHash::of(&bytes)),
    };
    let after = step.after.as_deref().map(ContentHash::of);
    if found == after {
        return Ok(folder.sync()?);
    }
    match (&step.after, found == step.before) {
        (Some(bytes), true) => areas.staging(step.area)?.stage(bytes)?.rename_over(&folder, name)?,
        (None, true) => folder.remove(name)?,
        (Some(bytes), false) if step.path != INDEX_PAGE => drop(areas.put_aside(&step.path, bytes)?),
        _ => {}
    }
    Ok(folder.sync()?)
}

/// Removes the temporary files in `dir` that hold nothing of worth; the caller holds the lock, so they are nobody's.
pub(super) fn sweep(areas: &Areas, dir: &Dir, record: Option<&Record>) -> Result<(), ReadError> {
    let mut temps = Vec::new();
    dir.for_each(|name, _| {
        if name.starts_with(TEMP_PREFIX) {
            temps.push(name.to_owned());
        }
    })?;
    for temp in temps {
        if let Some(record) = record
            && let Ok(Some(bytes)) = dir.read(&temp, MAX_MEMORY)
            && !is_ours(&bytes, record)
        {
            areas.put_aside("recovered", &bytes)?;
        }
        dir.remove(&temp)?;
    }
    Ok(())
}

/// Says whether a temporary file holds a version of the record, or the torn beginning of one.
fn is_ours(bytes: &[u8], record: &Record) -> bool {
    let known: BTreeSet<ContentHash> =
        record.change.ops.iter().flat_map(|op| [op.before, op.after]).flatten().collect();
    let torn = |version: &Vec<u8>| version.starts_with(bytes);
    known.contains(&ContentHash::of(bytes)) || record.versions.values().any(torn)
}
