//! What a dream needs of the door beyond a plain change set: who said each merged text, a page without pointers that lead
//! nowhere, and a way back that leaves alone what was edited since.

use std::collections::BTreeMap;

use memdir_core::change::ChangeSet;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, Provenance};

use super::CommitError;
use super::commit::{Beside, Committed, Writer};
use super::restore::PageBase;
use super::undo::Undone;
use crate::history::ChangeId;

impl Writer<'_> {
    /// Reads a memory as it is at this moment, under the lock.
    pub fn live_memory(&self, path: &MemoryPath) -> Result<Option<Vec<u8>>, CommitError> {
        self.read(path)
    }

    /// Carries out a change set that rearranges what the vault says. `said_by` tells of each new version who said it.
    pub fn consolidate(
        &mut self,
        set: &ChangeSet,
        said_by: &BTreeMap<ContentHash, Provenance>,
    ) -> Result<Committed, CommitError> {
        let said_by = said_by.clone();
        self.commit_with(set, &Beside { page: PageBase::Pruned, said_by, ..Beside::default() })
    }

    /// Takes back the change `id` as far as nobody edited its files since; returns also what stays as it is.
    pub fn undo_unedited(&mut self, id: &ChangeId) -> Result<(Undone, Vec<String>), CommitError> {
        self.undo_as_far(id)
    }
}
