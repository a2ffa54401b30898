//! One sync: what is there is asked, each key is decided about, what comes in is one change of the vault, the rest is sent.
//!
//! No lock is held while the other side is asked. What was planned meanwhile is compared before it is committed: a memory
//! that moved in between is left for the next round, which begins anew, as does a run that finds the state of another one.
//! Order: the vault, then the state, then what is sent, then the state again; a crash between any two leaves a vault and a
//! state from which the next run comes to the same end, because a text that is there already is recognised by its hash.
//! Look at [`run`] first.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::memory::MemoryPath;
use memdir_core::team::reconcile::Policy;

use super::remote::{Outcome, Progress, Remote, RemoteError};
use super::report::Report;
use super::round::Round;
use super::state::Store;
use crate::gate::Gate;
use crate::lock::{Lock, LockError};
use crate::vault::{CommitError, Vault};

/// How often a run begins anew because something moved.
const MAX_ROUNDS: usize = 6;

/// Whoever wrote it, by name; `None` is an author whom nobody knows.
type Believes<'a> = &'a dyn Fn(Option<&str>) -> bool;

/// What a sync works on.
pub struct Syncing<'a> {
    /// The vault.
    pub vault: &'a Vault,
    /// What new texts are judged by; its scanner sees everything that leaves.
    pub gate: &'a Gate,
    /// The user's clock, for the log.
    pub now: Timestamp,
    /// How two sides become one.
    pub policy: Policy,
    /// Whom the user believes.
    pub believes: Believes<'a>,
}

/// Why a sync came to no end. What it did before stands, and the next one goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The other side could not be asked.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The vault could not be changed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Another sync was at work all the time.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file of ours could not be read or written.
    #[error("could not use {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Brings both sides together.
pub fn run(
    syncing: &Syncing<'_>,
    remote: &mut dyn Remote,
    tell: &mut dyn FnMut(Progress),
) -> Result<Report, SyncError> {
    let mut report =
        Report { label: remote.about().label.clone(), policy: syncing.policy, ..Report::default() };
    for _ in 0..MAX_ROUNDS {
        report.unfinished = false;
        // What could not travel is found again by every round.
        report.refused.clear();
        report.held.clear();
        let mut round = Round::begin(syncing, remote, tell)?;
        round.erase_there(remote)?;
        round.plan(&mut report);
        round.fetch(remote, false, tell)?;
        round.take_over(&mut report, tell)?;
        if !report.unfinished || round.has_to_send() {
            round.send(remote, &mut report, tell)?;
        }
        round.note_waiting(&report);
        if !report.unfinished || report.cut.is_some() {
            break;
        }
    }
    report.traffic = remote.traffic();
    Ok(report)
}

/// Says what a sync would do, and does nothing.
pub fn preview(
    syncing: &Syncing<'_>,
    remote: &mut dyn Remote,
    tell: &mut dyn FnMut(Progress),
) -> Result<Report, SyncError> {
    let mut report =
        Report { label: remote.about().label.clone(), policy: syncing.policy, ..Report::default() };
    let mut round = Round::begin(syncing, remote, tell)?;
    round.plan(&mut report);
    round.fetch(remote, true, tell)?;
    round.foretell(&mut report)?;
    report.traffic = remote.traffic();
    Ok(report)
}

/// Asks the other side to erase what was erased here, and nothing else. Returns what is still to be asked for.
pub fn erase(vault: &Vault, remote: &mut dyn Remote) -> Result<Vec<MemoryPath>, SyncError> {
    let store = Store::below(&vault.state_path());
    let pending = store.pending_erase();
    if pending.is_empty() {
        return Ok(pending);
    }
    let pushed = remote.erase(&pending);
    let done = erased(&pending, &pushed.outcomes);
    let _lock = Lock::acquire(&vault.home().join("locks"), &lock_name(vault))?;
    let mut state = store.state(&remote.about().id).map_err(|source| failed(vault, source))?;
    state.keys.retain(|path, _| !done.contains(path));
    store.save(&state).and_then(|()| store.erased(&done)).map_err(|source| failed(vault, source))?;
    match pushed.cut {
        Some(err) => Err(err.into()),
        None => Ok(store.pending_erase()),
    }
}

/// Says which of these are gone over there.
pub(super) fn erased(pending: &[MemoryPath], outcomes: &[Outcome]) -> BTreeSet<MemoryPath> {
    let is_done = |outcome: &Outcome| matches!(outcome, Outcome::Done { .. });
    let pairs = pending.iter().zip(outcomes);
    pairs.filter(|(_, outcome)| is_done(outcome)).map(|(path, _)| path.clone()).collect()
}

/// Names the lock of a vault's syncs.
pub(super) fn lock_name(vault: &Vault) -> String {
    format!("sync-{}.lock", vault.id())
}

/// Says that a file of a vault's syncs could not be used.
pub(super) fn failed(vault: &Vault, source: io::Error) -> SyncError {
    SyncError::Io { path: vault.state_path().join("sync"), source }
}
