//! Where the vaults of projects are, for the requests of one moment.
//!
//! Finding a vault takes a hundred looks at files, and a request asks several times. What was found counts for a second; who
//! changes settings waits no longer for them than for those of the gateway itself.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memdir_store::place::{self, Environment, LocateError, Place};

/// What was found counts for so long.
const FRESH: Duration = Duration::from_secs(1);
/// As many projects are known at a time.
const MAX: usize = 64;

/// Places that were found, by the project they were looked for.
#[derive(Debug, Default)]
pub(super) struct Places {
    found: Mutex<HashMap<Option<PathBuf>, (Instant, Place)>>,
}

impl Places {
    /// Returns the place for an environment.
    pub(super) fn of(&self, env: Environment) -> Result<(Environment, Place), LocateError> {
        let known = self.lock().get(&env.project_flag).cloned();
        if let Some((_, place)) = known.filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok((env, place));
        }
        let place = place::locate(&env)?;
        let mut found = self.lock();
        found.retain(|_, (at, _)| at.elapsed() < FRESH);
        if found.len() < MAX {
            found.insert(env.project_flag.clone(), (Instant::now(), place.clone()));
        }
        Ok((env, place))
    }

    /// Forgets what was found.
    pub(super) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<PathBuf>, (Instant, Place)>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
