//! The breakers of all services, shared by every process and kept over restarts.
//!
//! One small file, `breakers.json`, changed under a kernel lock; the decisions are those of [`memdir_core::breaker`]. A
//! file that cannot be read counts as none: at worst a service is asked three times more.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::breaker::{self, Admission, Outcome, State};
use serde::{Deserialize, Serialize};

use crate::disk::Dir;
use crate::lock::{Lock, LockError};

const FILE: &str = "breakers.json";
const LOCK: &str = "breakers.lock";
/// No file of breakers is larger.
const MAX_FILE: u64 = 1 << 20;
/// So many services are remembered, those that rest first.
const MAX_SERVICES: usize = 64;

/// The breakers of one user.
#[derive(Debug, Clone)]
pub struct Breakers {
    home: PathBuf,
}

/// Why the breakers could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum BreakerError {
    /// Somebody held the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system said no.
    #[error("could not write {}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    services: BTreeMap<String, State>,
}

impl Breakers {
    /// Uses the breakers below a state root.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// Asks whether a service may be asked. Whoever is let through says later what came of it.
    pub fn admit(&self, service: &str, now: Timestamp) -> Result<Admission, BreakerError> {
        self.change(|kept| {
            let state = kept.services.entry(service.to_owned()).or_default();
            let (admission, next) = breaker::admit(state, now);
            *state = next;
            admission
        })
    }

    /// Notes what came of asking.
    pub fn settle(&self, service: &str, outcome: Outcome, now: Timestamp) -> Result<(), BreakerError> {
        self.change(|kept| {
            let state = kept.services.entry(service.to_owned()).or_default();
            *state = breaker::settle(state, outcome, now);
        })
    }

    /// Returns the services that rest and of which the user was not told, and notes that they are told now.
    pub fn untold(&self, now: Timestamp) -> Result<Vec<(String, Timestamp)>, BreakerError> {
        let is_news = |state: &State| state.opened.is_some() && !state.told;
        if !self.read().services.values().any(is_news) {
            return Ok(Vec::new());
        }
        self.change(|kept| {
            let news = kept.services.iter_mut().filter(|(_, state)| is_news(state));
            let told = news.map(|(service, state)| {
                state.told = true;
                (service.clone(), rests_until(state).unwrap_or(now))
            });
            told.collect()
        })
    }

    /// Lets every service be asked again at once, or one; returns how many rested.
    pub fn reset(&self, service: Option<&str>) -> Result<usize, BreakerError> {
        self.change(|kept| {
            let is_meant = |name: &str| service.is_none_or(|service| service == name);
            let rested =
                kept.services.iter().filter(|(name, state)| is_meant(name) && state.opened.is_some()).count();
            kept.services.retain(|name, _| !is_meant(name));
            rested
        })
    }

    /// Returns what is known of every service that has failed since its last answer.
    pub fn states(&self) -> BTreeMap<String, State> {
        let mut services = self.read().services;
        services.retain(|_, state| *state != State::default());
        services
    }

    fn read(&self) -> Kept {
        let read = Dir::open(&self.home).ok().and_then(|home| home.read(FILE, MAX_FILE).ok()?);
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> Result<T, BreakerError> {
        let _lock = Lock::acquire(&self.home.join("locks"), LOCK)?;
        let mut kept = self.read();
        let before = serde_json::to_vec(&kept).unwrap_or_default();
        let result = change(&mut kept);
        kept.services.retain(|_, state| *state != State::default());
        while kept.services.len() > MAX_SERVICES {
            let idle =
                kept.services.iter().min_by_key(|(_, state)| state.opened).map(|(name, _)| name.clone());
            kept.services.remove(&idle.unwrap_or_default());
        }
        let after = serde_json::to_vec(&kept).unwrap_or_default();
        if after != before {
            let written = Dir::ensure(&self.home).and_then(|home| home.replace(FILE, &after));
            written.map_err(|source| BreakerError::Io { path: self.home.join(FILE), source })?;
        }
        Ok(result)
    }
}

/// Returns until when a service rests, if it does.
pub fn rests_until(state: &State) -> Option<Timestamp> {
    state.opened?.checked_add(breaker::pause(state.reopened)).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-04-02T{text}Z").parse().unwrap()
    }

    #[test]
    fn ac_02_three_failures_stop_every_process_until_a_success() {
        let temp = tempfile::tempdir().unwrap();
        let now = at("10:00:00");
        let process = || Breakers::new(temp.path());
        for left in [3, 2, 1] {
            assert_eq!(process().admit("s", now).unwrap(), Admission::Ask { attempts: left });
            process().settle("s", Outcome::Failed { attempts: 1 }, now).unwrap();
        }
        assert_eq!(process().admit("s", now).unwrap(), Admission::Rest { until: at("10:01:00") });
        assert_eq!(process().admit("other", now).unwrap(), Admission::Ask { attempts: 3 });
        assert_eq!(process().admit("s", at("10:01:00")).unwrap(), Admission::Try);
        process().settle("s", Outcome::Answered, at("10:01:01")).unwrap();
        assert_eq!(process().admit("s", at("10:01:02")).unwrap(), Admission::Ask { attempts: 3 });
    }

    #[test]
    fn ac_02_a_reset_lets_a_service_be_asked_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let breakers = Breakers::new(temp.path());
        for service in ["a", "b"] {
            breakers.settle(service, Outcome::Failed { attempts: 3 }, at("10:00:00")).unwrap();
        }
        assert_eq!(breakers.reset(Some("a")).unwrap(), 1);
        assert_eq!(breakers.admit("a", at("10:00:00")).unwrap(), Admission::Ask { attempts: 3 });
        assert_eq!(breakers.states().len(), 1);
        assert_eq!(breakers.reset(None).unwrap(), 1);
    }

    #[test]
    fn what_rests_is_told_once_by_whoever_asks_first() {
        let temp = tempfile::tempdir().unwrap();
        let breakers = Breakers::new(temp.path());
        breakers.settle("s", Outcome::Failed { attempts: 3 }, at("10:00:00")).unwrap();
        assert_eq!(breakers.untold(at("10:00:01")).unwrap(), [("s".to_owned(), at("10:01:00"))]);
        assert_eq!(breakers.untold(at("10:00:01")).unwrap(), []);
    }

    #[test]
    fn a_file_that_cannot_be_read_counts_as_none() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join(FILE), b"{\"services\":").unwrap();
        let breakers = Breakers::new(temp.path());
        assert_eq!(breakers.admit("s", at("10:00:00")).unwrap(), Admission::Ask { attempts: 3 });
    }

    #[test]
    fn failures_of_many_processes_at_once_are_all_counted() {
        let temp = tempfile::tempdir().unwrap();
        let now = at("10:00:00");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    Breakers::new(temp.path()).settle("s", Outcome::Failed { attempts: 1 }, now).unwrap();
                });
            }
        });
        assert_eq!(Breakers::new(temp.path()).states()["s"].failures, 8);
    }
}
