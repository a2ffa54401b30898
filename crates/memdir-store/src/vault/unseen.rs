//! What others wrote since the user last looked.
//!
//! For who wants to be told and not asked: the changes are made, history has them, and one small file beside it
//! remembers up to which one the user has seen them.

use std::collections::BTreeSet;
use std::io;

use memdir_core::change::Author;
use memdir_core::memory::INDEX_PAGE;

use super::Vault;
use crate::disk::Dir;
use crate::history::{Area, Change, ChangeId};

/// Holds the id of the last change that the user has seen, below a vault's state.
const SEEN: &str = "seen";

impl Vault {
    /// Returns the changes of memories that no person made and that the user has not seen, oldest first.
    pub fn unseen(&self) -> io::Result<Vec<Change>> {
        let Some(history) = self.history()? else { return Ok(Vec::new()) };
        let seen = self.last_seen();
        let mut changes = Vec::new();
        let mut undone = BTreeSet::new();
        for id in history.ids()?.into_iter().filter(|id| Some(id) > seen.as_ref()) {
            let Some(change) = history.change(&id).map_err(io::Error::other)? else { continue };
            undone.extend(change.undoes.clone());
            changes.push(change);
        }
        changes.retain(|change| is_news(change) && !undone.contains(&change.id));
        Ok(changes)
    }

    /// Remembers that the user has seen everything up to `last`.
    pub fn mark_seen(&self, last: &ChangeId) -> io::Result<()> {
        Dir::ensure(&self.state_path())?.replace(SEEN, last.as_str().as_bytes())
    }

    fn last_seen(&self) -> Option<ChangeId> {
        let state = Dir::open(&self.state_path()).ok()?;
        let bytes = state.read(SEEN, 64).ok()??;
        ChangeId::parse(str::from_utf8(&bytes).ok()?)
    }
}

fn is_news(change: &Change) -> bool {
    let by_person = matches!(change.author, Author::Person | Author::Import);
    !by_person && change.ops.iter().any(|op| op.area == Area::Vault && op.path != INDEX_PAGE)
}
