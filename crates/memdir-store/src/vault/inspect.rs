//! What lies around a vault: left-overs, waiting copies, and what other programs did since we last looked.
//!
//! Takes no lock and writes nothing, so what it says may be out of date the next moment: a temporary file may
//! belong to a writer that is at work. It only reports; `health` says what it means.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use memdir_core::change::Author;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;

use super::catalog::{Catalog, Known};
use super::erase::{ERASING, SCRATCH};
use super::{INTENT, Vault};
use crate::disk::{Dir, ReadError, TEMP_PREFIX};
use crate::history::{Area, Change, ChangeId, History};

/// What lies around a vault.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Temporary files.
    pub temps: Vec<PathBuf>,
    /// A change or an erasure that was begun and not finished.
    pub open: Vec<PathBuf>,
    /// Records of changes that could not be read and were put aside.
    pub broken: Vec<PathBuf>,
    /// Versions that could not be merged.
    pub conflicts: Vec<PathBuf>,
    /// Private copies of edits that were not saved.
    pub scratch: Vec<PathBuf>,
    /// Memories that another program changed or added since we last looked.
    pub changed: Vec<MemoryPath>,
    /// Memories that another program removed since we last looked.
    pub removed: Vec<MemoryPath>,
    /// Memories that another program removed earlier, with the change that noticed it.
    pub vanished: Vec<(MemoryPath, ChangeId)>,
}

impl Vault {
    /// Looks around; `live` is what the vault holds.
    pub fn inspect(&self, live: &BTreeMap<MemoryPath, ContentHash>) -> io::Result<Inspection> {
        let mut found = Inspection {
            temps: files(&self.root, |name| name.starts_with(TEMP_PREFIX))?,
            ..Default::default()
        };
        let Ok(state) = Dir::open(&self.state_path()) else { return Ok(found) };
        found.temps.extend(files(&state, |name| name.starts_with(TEMP_PREFIX))?);
        found.open = files(&state, |name| name == INTENT || name == ERASING)?;
        found.broken = files(&state, |name| name.starts_with("intent-broken-"))?;
        let folder = |name: &str| match state.sub(name) {
            Ok(dir) => files(&dir, |_| true),
            Err(_) => Ok(Vec::new()),
        };
        found.conflicts = folder("conflicts")?;
        found.scratch = folder(SCRATCH)?;
        if let Some(history) = self.history()? {
            found.compare(&history, &self.known(&history).map_err(io::Error::other)?, live)?;
        }
        Ok(found)
    }

    /// Returns the memories that the catalog knows, or history where that cannot be read.
    fn known(&self, history: &History) -> Result<BTreeMap<MemoryPath, Known>, ReadError> {
        let index = Dir::open(&self.home.join("index")).ok();
        let catalog = index.and_then(|index| Catalog::load(&index, &self.id));
        match catalog.and_then(|catalog| catalog.all().ok()) {
            Some(known) => Ok(known),
            None => Catalog::from_history(history)?.all(),
        }
    }
}

impl Inspection {
    fn compare(
        &mut self,
        history: &History,
        known: &BTreeMap<MemoryPath, Known>,
        live: &BTreeMap<MemoryPath, ContentHash>,
    ) -> io::Result<()> {
        let is_known = |path: &MemoryPath, hash| known.get(path).is_some_and(|known| known.sha256 == hash);
        let changed = live.iter().filter(|(path, hash)| !is_known(path, **hash));
        self.changed = changed.map(|(path, _)| path.clone()).collect();
        let removed = known.keys().filter(|path| !live.contains_key(*path));
        self.removed = removed.cloned().collect();
        self.vanished = vanished(history)?.into_iter().filter(|(path, _)| !live.contains_key(path)).collect();
        Ok(())
    }
}

/// Finds the memories whose last change is that another program removed them.
fn vanished(history: &History) -> io::Result<BTreeMap<MemoryPath, ChangeId>> {
    let mut vanished = BTreeMap::new();
    for id in history.ids()? {
        let Ok(Some(change)) = history.change(&id) else { continue };
        for (path, is_lost) in touched(&change) {
            match is_lost && change.author == Author::Outside {
                true => vanished.insert(path, id.clone()),
                false => vanished.remove(&path),
            };
        }
    }
    Ok(vanished)
}

/// Returns the memories that a change touched, and whether it took them away. A new name is no loss.
fn touched(change: &Change) -> BTreeSet<(MemoryPath, bool)> {
    let ops = change.ops.iter().filter(|op| op.area == Area::Vault);
    let states = ops.flat_map(|op| {
        let from = op.from.as_deref().map(|from| (from, false));
        [Some((op.path.as_str(), op.after.is_none())), from]
    });
    states.flatten().filter_map(|(path, is_lost)| Some((MemoryPath::new(path).ok()?, is_lost))).collect()
}

fn files(dir: &Dir, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    dir.for_each(|name, _| {
        if wanted(name) {
            found.push(dir.path().join(name));
        }
    })?;
    found.sort();
    Ok(found)
}
