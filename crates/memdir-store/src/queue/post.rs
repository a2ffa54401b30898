//! A post: something that one process at a time does, and who that is.
//!
//! The kernel's lock decides who has it: it ends with its holder, however that dies, and a living holder is never robbed.
//! The note beside it only tells others who the holder is and when it last gave a sign of life. Reading the note takes no
//! lock, so that asking never gets into the way of somebody who wants the post.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::process::Process;
use crate::disk::Dir;
use crate::lock::{Lock, LockError};

/// The note is written this often, unless there is something else to tell.
const BEAT: Duration = Duration::from_secs(10);
/// After so long without a sign of life a holder counts as hung. It keeps the post: only people may end it.
const SILENCE: SignedDuration = SignedDuration::from_secs(60);
/// No note is longer.
const MAX_NOTE: u64 = 16 * 1024;

/// A post that is held until it is dropped.
#[derive(Debug)]
pub struct Post {
    dir: Dir,
    name: String,
    holder: Holder,
    written: Instant,
    _lock: Lock,
}

/// Who has a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    #[serde(flatten)]
    pub process: Process,
    /// Since when.
    pub since: Timestamp,
    /// When it last gave a sign of life.
    pub beat: Timestamp,
    /// What it does.
    pub doing: String,
}

impl Holder {
    /// Says whether it has given no sign of life for too long.
    pub fn is_hung(&self, now: Timestamp) -> bool {
        now.duration_since(self.beat) > SILENCE
    }
}

impl Post {
    /// Takes the post `name` of a state root if it is free.
    pub fn attempt(home: &Path, name: &str) -> Result<Option<Self>, LockError> {
        let locks = home.join("locks");
        let Some(lock) = Lock::attempt(&locks, &format!("{name}.lock"))? else { return Ok(None) };
        let failed = |source| LockError::Io { path: locks.clone(), source };
        let dir = Dir::open(&locks).map_err(failed)?;
        let now = Timestamp::now();
        let holder = Holder { process: Process::own(), since: now, beat: now, doing: String::new() };
        let post = Self { dir, name: name.to_owned(), holder, written: Instant::now(), _lock: lock };
        // A note that cannot be written costs an answer to who asks, not the work.
        let _ = post.write();
        Ok(Some(post))
    }

    /// Gives a sign of life, and says what is being done.
    pub fn beat(&mut self, doing: &str) {
        if self.holder.doing == doing && self.written.elapsed() < BEAT {
            return;
        }
        doing.clone_into(&mut self.holder.doing);
        self.holder.beat = Timestamp::now();
        self.written = Instant::now();
        let _ = self.write();
    }

    /// Says who has the post `name`, if anybody does: a note that a dead process left is nobody's.
    pub fn holder(home: &Path, name: &str) -> Option<Holder> {
        let bytes = Dir::open(&home.join("locks")).ok()?.read(&note(name), MAX_NOTE).ok()??;
        let holder: Holder = serde_json::from_slice(&bytes).ok()?;
        holder.process.is_running().then_some(holder)
    }

    fn write(&self) -> io::Result<()> {
        self.dir.replace_derived(&self.dir, &note(&self.name), &serde_json::to_vec(&self.holder)?)
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        // Before the lock goes, so that the next holder's note is not the one that is removed.
        let _ = self.dir.remove(&note(&self.name));
    }
}

fn note(name: &str) -> String {
    format!("{name}.json")
}
