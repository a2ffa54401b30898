//! What a vault's dreams have been so far, in one small file: when, how often one failed, which sessions there were since.

use std::collections::BTreeSet;
use std::io;

use jiff::Timestamp;
use memdir_core::dream::{Limits, Rest};
use serde::{Deserialize, Serialize};

use super::run::{folder, known_folder};
use crate::disk::{Dir, TEMP_PREFIX};
use crate::journal::Journal;
use crate::lock::Lock;
use crate::vault::Vault;

const FILE: &str = "state.json";
const MAX_FILE: u64 = 256 * 1024;
/// More sessions than the gate asks for need not be remembered.
const MAX_SESSIONS: usize = 64;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    last: Option<Timestamp>,
    #[serde(default)]
    failures: u32,
    #[serde(default)]
    retry: Option<Timestamp>,
    #[serde(default)]
    sessions: BTreeSet<String>,
}

fn load(vault: &Vault) -> Kept {
    let bytes = known_folder(vault).ok().flatten().and_then(|dir| dir.read(FILE, MAX_FILE).ok().flatten());
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Changes the file under a lock of its own, which is held for a moment.
fn update(vault: &Vault, change: impl FnOnce(&mut Kept)) -> io::Result<()> {
    let locks = vault.home().join("locks");
    let _lock = Lock::acquire(&locks, &format!("rest-{}.lock", vault.id())).map_err(io::Error::other)?;
    let mut kept = load(vault);
    change(&mut kept);
    let dreams = folder(vault)?;
    sweep(&dreams)?;
    dreams.replace(FILE, &serde_json::to_vec(&kept)?)
}

/// Removes what a crash left here; under the lock nobody else has a temporary file in this folder.
fn sweep(dreams: &Dir) -> io::Result<()> {
    let mut left = Vec::new();
    dreams.for_each(|name, _| left.extend(name.starts_with(TEMP_PREFIX).then(|| name.to_owned())))?;
    left.iter().try_for_each(|name| dreams.remove(name))
}

/// Returns what the gates look at. Sessions are those that were heard of here, and those of journal and ledger.
pub fn rest(vault: &Vault) -> Rest {
    let kept = load(vault);
    let is_new = |at: Timestamp| kept.last.is_none_or(|last| at > last);
    let mut sessions = kept.sessions.clone();
    let journal = Journal::below(vault.home(), vault.id());
    if let Ok(entries) = journal.entries() {
        let new = entries.filter(|(file, _)| is_new(file.at));
        sessions.extend(new.filter_map(|(_, entry)| entry.session));
    }
    if let Some(ledger) = vault.ledger() {
        // What cannot be read was no session.
        let _ = ledger.for_each(|event| {
            if is_new(event.t) && sessions.len() < MAX_SESSIONS {
                // A sub-agent is part of its session.
                sessions.extend(event.sid.map(|sid| sid.split('/').next().unwrap_or_default().to_owned()));
            }
        });
    }
    sessions.remove("");
    Rest { last: kept.last, n_sessions: sessions.len(), retry: kept.retry }
}

/// Notes that there was a session.
pub fn heard(vault: &Vault, session: &str) -> io::Result<()> {
    if load(vault).sessions.contains(session) {
        return Ok(());
    }
    update(vault, |kept| {
        if kept.sessions.len() < MAX_SESSIONS {
            kept.sessions.insert(session.to_owned());
        }
    })
}

/// Notes that a dream came to its end.
pub(super) fn dreamt(vault: &Vault, now: Timestamp) -> io::Result<()> {
    update(vault, |kept| *kept = Kept { last: Some(now), ..Kept::default() })
}

/// Notes that a dream failed. The time of the last one stays what it was; the next attempt waits longer each time.
pub(super) fn failed(vault: &Vault, now: Timestamp) -> io::Result<()> {
    update(vault, |kept| {
        kept.failures += 1;
        kept.retry = now.checked_add(Limits::pause(kept.failures)).ok();
    })
}
