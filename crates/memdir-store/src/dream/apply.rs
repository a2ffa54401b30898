//! Carries out a run as one change, takes it back, or puts it aside.
//!
//! Each file is compared with the version that the dream read, under the vault's lock. An operation one of whose files was
//! changed meanwhile is left alone and told. Taking back compares in the same way: what was edited since stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::change::{Author, ChangeSet, Edit, Exit, Surface};
use memdir_core::dream::{Operation, OperationKind, leaves_too_many};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, Provenance};
use memdir_core::policy::secrets;

use super::run::{Run, State};
use super::{DreamError, Dreamer};
use crate::history::ChangeId;
use crate::vault::{CommitError, MAX_MEMORY, Writer};

/// How often a change is put together again because another program was faster.
const ATTEMPTS: usize = 5;

/// What carrying out a run did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The change; none if there was nothing left to do.
    pub change: Option<ChangeId>,
    /// How many operations were carried out.
    pub n_done: usize,
    /// Memories whose operations were left alone, and why.
    pub left: Vec<(String, String)>,
}

/// What taking a run back did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The change that did it; none if there was nothing left to do.
    pub change: Option<ChangeId>,
    /// How many memories are as they were.
    pub n_restored: usize,
    /// Files that were edited since and stay as they are.
    pub left: Vec<String>,
}

/// Carries out a run that waits. With `confirmed`, also what the review blocked, and however many memories leave.
pub fn apply(dreamer: &Dreamer<'_>, run: &mut Run, confirmed: bool) -> Result<Applied, DreamError> {
    if run.state != State::Proposed {
        return Err(DreamError::Settled { id: run.id.to_string(), state: run.state });
    }
    let mut writer = dreamer.vault.writer(dreamer.now.timestamp(), dreamer.gate)?;
    let mut applied = Applied::default();
    for attempt in 1..=ATTEMPTS {
        let prepared = prepare(dreamer, &writer, run, confirmed)?;
        let leaving = prepared.edits.iter().filter(|edit| matches!(edit, Edit::Remove { .. })).count();
        if !confirmed && leaves_too_many(leaving, run.memories) {
            return Err(DreamError::TooMany { leaving, memories: run.memories });
        }
        applied = Applied { change: None, n_done: prepared.n_done, left: prepared.left.clone() };
        if prepared.n_done == 0 {
            break;
        }
        let set = change_set(run, &prepared);
        match writer.consolidate(&set, &prepared.said_by) {
            Ok(committed) => {
                applied.change = committed.change;
                break;
            }
            // Another program was faster: look again.
            Err(CommitError::Stale(_) | CommitError::Missing(_)) if attempt < ATTEMPTS => {}
            Err(err) => return Err(err.into()),
        }
    }
    if applied.n_done > 0 {
        run.state = State::Applied;
        run.change.clone_from(&applied.change);
        run.left.clone_from(&applied.left);
        run.update_locked(dreamer.vault, &writer)
            .map_err(|source| DreamError::Io { path: dreamer.vault.state_path(), source })?;
    }
    Ok(applied)
}

/// What is to be done, against the vault as it is at this moment.
#[derive(Debug, Default)]
struct Prepared {
    edits: Vec<Edit>,
    said_by: BTreeMap<ContentHash, Provenance>,
    n_done: usize,
    kinds: BTreeMap<OperationKind, usize>,
    left: Vec<(String, String)>,
}

fn prepare(
    dreamer: &Dreamer<'_>,
    writer: &Writer<'_>,
    run: &Run,
    confirmed: bool,
) -> Result<Prepared, DreamError> {
    let plan = run.plan();
    let originals = plan.originals();
    let mut live: BTreeMap<&str, Option<ContentHash>> = BTreeMap::new();
    for path in originals.keys() {
        let bytes = MemoryPath::new(path).ok().map(|path| writer.live_memory(&path)).transpose()?.flatten();
        live.insert(path, bytes.as_deref().map(ContentHash::of));
    }
    let mut current: BTreeMap<&str, ContentHash> = originals.clone();
    let mut prepared = Prepared::default();
    let mut touched = BTreeSet::new();
    for operation in &run.operations {
        match objection(dreamer, run, operation, &originals, &live, &current, confirmed) {
            Some(why) => {
                let names = operation.changes.iter().map(|change| change.name().to_owned());
                let names: Vec<String> =
                    if operation.changes.is_empty() { operation.names.clone() } else { names.collect() };
                prepared.left.push((names.join(", "), why));
            }
            None => {
                for change in &operation.changes {
                    touched.insert(change.path.as_str());
                    match change.after {
                        Some(after) => drop(current.insert(&change.path, after)),
                        None => drop(current.remove(change.path.as_str())),
                    }
                    if let Some(after) = change.after {
                        let said_by = change.said_by.unwrap_or_else(|| dreamer.vault.said_by(change.before));
                        prepared.said_by.insert(after, said_by);
                    }
                }
                prepared.n_done += 1;
                *prepared.kinds.entry(operation.kind).or_default() += 1;
            }
        }
    }
    for path in touched {
        prepared.edits.extend(edit(run, path, originals[path], current.get(path).copied()));
    }
    Ok(prepared)
}

/// Says why an operation is left alone, if it is.
fn objection(
    dreamer: &Dreamer<'_>,
    run: &Run,
    operation: &Operation,
    originals: &BTreeMap<&str, ContentHash>,
    live: &BTreeMap<&str, Option<ContentHash>>,
    current: &BTreeMap<&str, ContentHash>,
    confirmed: bool,
) -> Option<String> {
    if let Some(why) = operation.blocked.as_ref().filter(|_| !confirmed) {
        return Some(why.clone());
    }
    for change in &operation.changes {
        let path = change.path.as_str();
        match live.get(path).copied().flatten() {
            None => return Some(format!("`{}` is gone", change.name())),
            Some(hash) if originals.get(path) != Some(&hash) => {
                return Some(format!("`{}` was changed since the dream read it", change.name()));
            }
            Some(_) => {}
        }
        if current.get(path) != Some(&change.before) {
            return Some("it builds on another operation that is left alone".to_owned());
        }
        let (before, after) =
            (run.versions.get(&change.before), change.after.map(|hash| run.versions.get(&hash)));
        match (before, after) {
            (None, _) | (_, Some(None)) => return Some("its text is no longer kept".to_owned()),
            (Some(_), Some(Some(after))) if after.len() as u64 > MAX_MEMORY / 10 => {
                return Some("it would be too large".to_owned());
            }
            (Some(before), Some(Some(after)))
                if !secrets(&dreamer.gate.scanner, after, Some(before)).is_empty() =>
            {
                return Some("it would hold a secret".to_owned());
            }
            _ => {}
        }
    }
    None
}

fn edit(run: &Run, path: &str, original: ContentHash, after: Option<ContentHash>) -> Option<Edit> {
    let path = MemoryPath::new(path).ok()?;
    let base = run.versions.get(&original)?.clone();
    match after {
        Some(hash) => Some(Edit::Replace { path, base, text: run.versions.get(&hash)?.clone() }),
        None => Some(Edit::Remove { path, into: Exit::Archive(base.clone()), base }),
    }
}

fn change_set(run: &Run, prepared: &Prepared) -> ChangeSet {
    let told: Vec<String> = prepared.kinds.iter().map(|(kind, n)| format!("{n} {}", kind.as_str())).collect();
    ChangeSet {
        author: Author::Dream,
        by: Surface::Dream,
        provenance: Provenance::Agent,
        reason: run.reason(&told.join(", ")),
        session: None,
        force: None,
        edits: prepared.edits.clone(),
    }
}

/// Takes a run back, byte for byte. A file that was edited since is not overwritten; it is told.
pub fn undo(dreamer: &Dreamer<'_>, run: &mut Run) -> Result<Undone, DreamError> {
    let (State::Applied, Some(change)) = (run.state, run.change.clone()) else {
        return Err(DreamError::Settled { id: run.id.to_string(), state: run.state });
    };
    let mut writer = dreamer.vault.writer(dreamer.now.timestamp(), dreamer.gate)?;
    let (back, left) = writer.undo_unedited(&change)?;
    run.state = State::Undone;
    run.update_locked(dreamer.vault, &writer)
        .map_err(|source| DreamError::Io { path: dreamer.vault.state_path(), source })?;
    let restored = back.undone.ops.iter().filter(|op| op.area == crate::history::Area::Vault);
    let is_back =
        |path: &str| path != memdir_core::memory::INDEX_PAGE && !left.iter().any(|left| left == path);
    let n_restored = restored.filter(|op| is_back(&op.path)).count();
    Ok(Undone { change: back.change, n_restored, left })
}

/// Puts a run aside that nobody wants.
pub fn discard(dreamer: &Dreamer<'_>, run: &mut Run) -> Result<(), DreamError> {
    if run.state != State::Proposed {
        return Err(DreamError::Settled { id: run.id.to_string(), state: run.state });
    }
    let writer = dreamer.vault.writer(dreamer.now.timestamp(), dreamer.gate)?;
    run.state = State::Discarded;
    run.update_locked(dreamer.vault, &writer)
        .map_err(|source| DreamError::Io { path: dreamer.vault.state_path(), source })
}
