//! What became of memories that were shown, replayed from the ledger.
//!
//! A recall changes no memory file. What was shown, used or left alone stands in append-only lines beside the vault, and
//! whoever ranks reads them here: use strengthens, being shown in vain weakens, and what a session has seen is not shown to
//! it again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::Provenance;
use memdir_core::recall::{Note, Standing, Together};
use memdir_core::strength::strength;

use crate::ledger::{Event, EventKind, How, Ledger};
use crate::vault::Vault;

/// What the first use adds to a memory's stability, and what each time of being shown in vain leaves of it.
const BY_USE: f64 = 0.6;
const IN_VAIN: f64 = 0.85;

/// What is known of the use of a vault's memories.
#[derive(Debug, Default)]
pub struct Usage {
    memories: HashMap<String, Used>,
    /// What the session has been shown.
    shown: HashSet<String>,
    /// What the session has read by itself.
    read: HashSet<String>,
    n_bytes: u64,
    /// Who said the versions that we wrote.
    written: HashMap<ContentHash, Option<Provenance>>,
    /// Which teammates wrote versions that the user accepted.
    authors: HashMap<ContentHash, String>,
    now: Timestamp,
}

/// How often a memory was shown and used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// How often it was shown.
    pub surfaced: u32,
    /// How often something came of it.
    pub used: u32,
    /// How often nothing did, as far as somebody looked.
    pub ignored: u32,
    /// When it was last used.
    pub last_used: Option<Timestamp>,
}

impl Used {
    /// Returns how slowly it fades: 1 for a memory without a history.
    pub fn stability(&self) -> f64 {
        let in_vain = self.ignored.max(self.surfaced.saturating_sub(self.used));
        (1.0 + BY_USE * f64::from(self.used).ln_1p()) * IN_VAIN.powi(in_vain.min(40).cast_signed())
    }
}

impl Usage {
    /// Replays a ledger up to `now`; `session` is the one that asks.
    fn read(ledger: &Ledger, session: Option<&str>, now: Timestamp) -> io::Result<Self> {
        let mut usage = Self { now, ..Self::default() };
        ledger.for_each(|event| {
            let is_own = session.is_some() && event.sid.as_deref() == session;
            match event.ev {
                EventKind::Surfaced => {
                    usage.memories.entry(event.mem.clone()).or_default().surfaced += 1;
                    if is_own {
                        usage.n_bytes += event.bytes.unwrap_or_default();
                        usage.shown.insert(event.mem);
                    }
                }
                EventKind::Used => {
                    // What was read in full is in the session's context.
                    if is_own && event.how == Some(How::Read) {
                        usage.read.insert(event.mem.clone());
                    }
                    let used = usage.memories.entry(event.mem).or_default();
                    used.used += 1;
                    used.last_used = used.last_used.max(Some(event.t));
                }
                // What was said before is no longer before the model.
                EventKind::Compacted if is_own => {
                    usage.shown.clear();
                    usage.read.clear();
                }
                EventKind::Written => {
                    if let Some(sha256) = event.sha256 {
                        usage.written.insert(sha256, event.prov);
                    }
                }
                EventKind::Accepted => {
                    usage.authors.extend(event.sha256.zip(event.who));
                }
                EventKind::Ignored => usage.memories.entry(event.mem).or_default().ignored += 1,
                _ => {}
            }
        })?;
        Ok(usage)
    }

    /// Replays the ledger of a vault. What cannot be read teaches nothing; it stops nobody.
    pub fn of(vault: &Vault, session: Option<&str>, now: Timestamp) -> Self {
        let read = |ledger: Ledger| Self::read(&ledger, session, now).ok();
        vault.ledger().and_then(read).unwrap_or_else(|| Self { now, ..Self::default() })
    }

    /// Returns how often each other memory of a vault came up together with this one.
    pub fn together(vault: &Vault, name: &str) -> HashMap<String, Together> {
        let occasions = Occasions::of(vault);
        let mut together: HashMap<String, Together> = HashMap::new();
        for others in occasions.shown.into_iter().filter(|others| others.contains(name)) {
            others.into_iter().for_each(|other| together.entry(other).or_default().shown += 1);
        }
        for others in occasions.used.into_iter().filter(|others| others.contains(name)) {
            others.into_iter().for_each(|other| together.entry(other).or_default().used += 1);
        }
        together.remove(name);
        together
    }

    /// Returns what is known of a memory's use.
    pub fn get(&self, name: &str) -> Used {
        self.memories.get(name).copied().unwrap_or_default()
    }

    /// Returns who said a version, as [`Vault::said_by`] does, without reading the ledger once more.
    pub fn said_by(&self, hash: ContentHash) -> Provenance {
        self.written.get(&hash).copied().flatten().unwrap_or(Provenance::Outside)
    }

    /// Returns which teammate wrote a version, if that is known.
    pub fn author_of(&self, hash: ContentHash) -> Option<&str> {
        self.authors.get(&hash).map(String::as_str)
    }

    /// Says whether the session has been shown a memory.
    pub fn was_shown(&self, name: &str) -> bool {
        self.shown.contains(name)
    }

    /// Says whether the session has read a memory by itself.
    pub fn was_read(&self, name: &str) -> bool {
        self.read.contains(name)
    }

    /// Returns how many bytes of memories the session has been shown.
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}

impl Standing for Usage {
    fn strength(&self, note: &Note) -> f32 {
        let used = self.get(&note.name);
        let since = used.last_used.max(note.modified).unwrap_or(self.now);
        strength(note.memory_type, self.now.duration_since(since), used.stability()) as f32
    }
}

/// On what occasions the memories of a vault came up together.
#[derive(Debug, Default)]
pub(crate) struct Occasions {
    /// Shown by one answer: in the same session at the same time.
    pub shown: Vec<BTreeSet<String>>,
    /// Used in one session.
    pub used: Vec<BTreeSet<String>>,
}

impl Occasions {
    /// Reads the ledger of a vault. What cannot be read teaches nothing.
    pub(crate) fn of(vault: &Vault) -> Self {
        let mut shown: HashMap<(String, Timestamp), BTreeSet<String>> = HashMap::new();
        let mut used: HashMap<String, BTreeSet<String>> = HashMap::new();
        let visit = |event: Event| match (event.ev, event.sid) {
            (EventKind::Surfaced, sid) => {
                shown.entry((sid.unwrap_or_default(), event.t)).or_default().insert(event.mem);
            }
            (EventKind::Used, Some(sid)) => {
                used.entry(sid).or_default().insert(event.mem);
            }
            _ => {}
        };
        if let Some(ledger) = vault.ledger() {
            let _ = ledger.for_each(visit);
        }
        Self { shown: shown.into_values().collect(), used: used.into_values().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DS-02.
    #[test]
    fn use_strengthens_and_being_shown_in_vain_weakens() {
        let stability = |surfaced, used| Used { surfaced, used, ..Used::default() }.stability();
        assert_eq!(stability(0, 0), 1.0);
        assert!(stability(3, 3) > 1.5 && stability(5, 5) > stability(3, 3));
        assert!(stability(5, 0) < 0.5 && stability(100, 0) > 0.0);
    }
}
