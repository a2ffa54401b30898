//! What leaves with a sync: scanned, sent, and noted as it stands over there.

use std::collections::BTreeSet;

use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::reconcile::{Sending, Step};

use super::fit;
use super::remote::{Outcome, Progress, Remote, Stamp, Version, Write};
use super::report::{Refused, Report};
use super::round::Round;
use super::state::{Key, State};
use super::sync::{SyncError, failed, lock_name};
use crate::lock::Lock;

impl Round<'_> {
    /// Says whether there is anything to send.
    pub(super) fn has_to_send(&self) -> bool {
        self.steps.values().any(|step| matches!(step, Step::Send(_) | Step::Withdraw(_)))
    }

    /// Sends what is to be sent, and notes what stands there now.
    pub(super) fn send(
        &mut self,
        remote: &mut dyn Remote,
        report: &mut Report,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), SyncError> {
        let mut writes = self.writes(report);
        if writes.is_empty() {
            return Ok(());
        }
        let before = self.state.clone();
        let mut touched = BTreeSet::new();
        let mut pushed = remote.push(&writes, tell);
        self.state.cursor = pushed.cursor.take().or(self.state.cursor.take());
        let over_deleted = self.take_outcomes(&writes, pushed.outcomes, &mut touched, report);
        report.cut = pushed.cut;
        if !over_deleted.is_empty() && report.cut.is_none() {
            // A tombstone stood there that we did not know of: once more, naming it.
            writes = over_deleted;
            let again = remote.push(&writes, tell);
            let left = self.take_outcomes(&writes, again.outcomes, &mut touched, report);
            report.unfinished |= !left.is_empty();
            report.cut = again.cut;
        }
        let _lock = Lock::acquire(&self.syncing.vault.home().join("locks"), &lock_name(self.syncing.vault))?;
        self.save_over(&before, &touched)
    }

    fn writes(&mut self, report: &mut Report) -> Vec<Write> {
        let mut writes = Vec::new();
        for (path, step) in &self.steps {
            let text = match step {
                Step::Send(_) => match self.text_here(path) {
                    // It moved since: the next round sends what it is by then.
                    None => {
                        report.unfinished = true;
                        continue;
                    }
                    Some(text) => Some(text),
                },
                Step::Withdraw(_) => None,
                _ => continue,
            };
            let secret = text.as_ref().and_then(|text| fit::secret_in(path, text, self.syncing.gate));
            if let Some(refused) = secret {
                report.refused.push(refused);
                continue;
            }
            let base = self.state.keys.get(path).map(|key| key.version.clone());
            writes.push(Write { path: path.clone(), base, text });
        }
        writes
    }

    /// Notes what became of writes. Returns those that met a tombstone, to be written over it.
    fn take_outcomes(
        &mut self,
        writes: &[Write],
        outcomes: Vec<Outcome>,
        touched: &mut BTreeSet<MemoryPath>,
        report: &mut Report,
    ) -> Vec<Write> {
        let mut over_deleted = Vec::new();
        for (write, outcome) in writes.iter().zip(outcomes) {
            let pushed = write.text.as_deref().map(ContentHash::of);
            match outcome {
                Outcome::Done { version, stamp } => {
                    self.stands(write, version, stamp, report);
                    touched.insert(write.path.clone());
                }
                // A reply that was lost: what we wanted is there already.
                Outcome::Stale { current: Some(current) } if current.hash == pushed => {
                    self.stands(write, current.version, None, report);
                    touched.insert(write.path.clone());
                }
                Outcome::Stale { current: Some(current) } if current.hash.is_none() => {
                    over_deleted.push(Write { base: Some(current.version), ..write.clone() });
                }
                Outcome::Stale { .. } => report.unfinished = true,
                Outcome::Refused { code, message } => {
                    report.refused.push(Refused::new(&write.path, &code, message));
                }
                Outcome::Unknown => report.unfinished = true,
            }
        }
        over_deleted
    }

    /// Notes that a write stands over there.
    fn stands(&mut self, write: &Write, version: Version, stamp: Option<Stamp>, report: &mut Report) {
        let name = write.path.stem().to_owned();
        let Some(text) = &write.text else {
            self.state.keys.remove(&write.path);
            let _ = self.store.drop_base(&write.path);
            report.deleted_there.push(name);
            return;
        };
        let hash = Some(ContentHash::of(text));
        let author = self.about.member.clone();
        let at = Some(self.syncing.now);
        let key = Key { base: hash, version, hash, author, at, stamp, erased: false };
        self.state.keys.insert(write.path.clone(), key);
        // A base that is missing costs a merge, not a text.
        let _ = self.store.keep_base(&write.path, text);
        if self.steps.get(&write.path) == Some(&Step::Send(Sending::Again)) {
            report.survived.push(name.clone());
        }
        if !report.merged.contains(&name) {
            report.pushed.push(name);
        }
    }

    /// Saves the state; where another run saved one since `before`, only the keys that were touched.
    pub(super) fn save_over(
        &mut self,
        before: &State,
        touched: &BTreeSet<MemoryPath>,
    ) -> Result<(), SyncError> {
        let vault = self.syncing.vault;
        let io = |source| failed(vault, source);
        let standing = self.store.state(&self.about.id).map_err(io)?;
        if standing != *before && standing != self.loaded {
            let mut merged = standing;
            for path in touched {
                match self.state.keys.get(path) {
                    Some(key) => drop(merged.keys.insert(path.clone(), key.clone())),
                    None => drop(merged.keys.remove(path)),
                }
            }
            self.state = merged;
        }
        if self.state != self.loaded {
            self.store.save(&self.state).map_err(io)?;
            self.loaded = self.state.clone();
        }
        Ok(())
    }
}
