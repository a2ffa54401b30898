//! Work that waits: what a hook has no time for, one small file a job.
//!
//! A job is a wish, not knowledge: it names a session or a vault and what is to be looked at again. Losing one loses no
//! memory, so pushing waits for no disk. A job has a key (its kind and its session), and pushing it again merges it with
//! the one that waits: a session that answers a hundred times while nobody works leaves one job.
//!
//! ```text
//!   push ─▶ turn-<session>.json ─▶ taken: turn-<session>.run ─▶ done: gone
//!             ▲        ▲                    │         │
//!    push again        └── failed, or its   ┘         └─ for the third time: turn-<session>.failed, with the reason
//!    (merged)              worker died: later
//! ```
//!
//! Whoever works holds the [`Lease`] of the queue, of which there is one: jobs are taken, done and set aside by nobody
//! else, so what is found half done was left by somebody who is dead. A job may be done twice, never not at all; each
//! kind is made so that this does no harm. Look at [`Job`] and [`Queue::push`], then at [`Lease`].

mod job;
mod lease;
mod post;
mod process;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::disk::{Dir, EntryKind};
use crate::lock::LockError;
use crate::place::Place;

pub use job::{Failed, Job, Kind};
pub use lease::{Claim, Lease, MAX_ATTEMPTS};
pub use post::{Holder, Post};
pub use process::Process;

/// The folder below a project's state.
const FOLDER: &str = "queue";
/// Endings of the three states that a job can be in.
const WAITING: &str = ".json";
const RUNNING: &str = ".run";
const FAILED: &str = ".failed";
/// No job is larger: a few ids and paths.
const MAX_JOB: u64 = 64 * 1024;
/// As many jobs a project may have, whatever their state.
pub const MAX_JOBS: usize = 1_000;

/// The jobs of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    home: PathBuf,
    id: String,
}

/// What became of a job that was pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// It waits.
    New,
    /// One with its key waits already, and now stands for both.
    Merged,
}

/// Why a job was not pushed, or a queue cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// There is no room.
    #[error("{} has {MAX_JOBS} jobs already", .0.display())]
    Full(PathBuf),
    /// The file system said no.
    #[error("could not use the queue {}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// There is no lock to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl Queue {
    /// Finds the queue of the project at `place`.
    pub fn of(place: &Place) -> Self {
        Self::below(&place.home, place.project.id.as_str())
    }

    /// Finds the queue of the project with this id.
    pub fn below(home: &Path, id: &str) -> Self {
        Self { home: home.to_owned(), id: id.to_owned() }
    }

    /// Finds every queue that there is, by the order of their ids.
    pub fn all(home: &Path) -> io::Result<Vec<Self>> {
        let mut ids = Vec::new();
        match Dir::open(&home.join("projects")) {
            Ok(projects) => projects.for_each(|name, kind| {
                if kind == EntryKind::Dir {
                    ids.push(name.to_owned());
                }
            })?,
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => return Err(err),
        }
        ids.sort();
        let queues = ids.iter().map(|id| Self::below(home, id));
        Ok(queues.filter(|queue| queue.path().is_dir()).collect())
    }

    /// Returns the project's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the folder, which may not exist yet.
    pub fn path(&self) -> PathBuf {
        self.home.join("projects").join(&self.id).join(FOLDER)
    }

    /// Lets a job wait. One that waits under the same key is merged with it.
    pub fn push(&self, job: &Job) -> Result<Pushed, QueueError> {
        let dir = Dir::ensure(&self.path()).map_err(|source| self.failed(source))?;
        let name = format!("{}{WAITING}", job.key());
        let Some(known) = self.read(&dir, &name) else {
            let pushed = self.room(&dir)?;
            self.write(&dir, &name, job)?;
            return Ok(pushed);
        };
        let merged = job.clone().merged_with(&known);
        // Nothing new: whoever takes the job that waits takes it after this moment, and so sees all that there is now.
        if merged != known {
            self.write(&dir, &name, &merged)?;
        }
        Ok(Pushed::Merged)
    }

    /// Lists the jobs that wait or are being done, in the order in which they are taken.
    pub fn waiting(&self) -> Result<Vec<Job>, QueueError> {
        let Some(dir) = self.open()? else { return Ok(Vec::new()) };
        let mut jobs: Vec<Job> =
            self.names(&dir, WAITING)?.iter().filter_map(|name| self.read(&dir, name)).collect();
        jobs.extend(self.names(&dir, RUNNING)?.iter().filter_map(|name| self.read(&dir, name)));
        jobs.sort_by_key(Job::order);
        Ok(jobs)
    }

    /// Lists the jobs that were set aside, with the reasons.
    pub fn set_aside(&self) -> Result<Vec<Failed>, QueueError> {
        let Some(dir) = self.open()? else { return Ok(Vec::new()) };
        let read = |name: &String| {
            let bytes = dir.read(name, MAX_JOB).ok().flatten()?;
            serde_json::from_slice::<Failed>(&bytes).ok()
        };
        Ok(self.names(&dir, FAILED)?.iter().filter_map(read).collect())
    }

    /// Says whether a job waits that may be done now. What cannot be read does not wait.
    pub fn has_work(&self, now: Timestamp) -> bool {
        self.waiting().is_ok_and(|jobs| jobs.iter().any(|job| job.due <= now))
    }

    /// Begins to work, if nobody else does.
    pub fn lease(&self) -> Result<Option<Lease>, QueueError> {
        Lease::take(self)
    }

    /// Says who works, if anybody does.
    pub fn worker(&self) -> Option<Holder> {
        Post::holder(&self.home, &self.post())
    }

    /// Names the post of whoever works on this queue.
    fn post(&self) -> String {
        format!("work-{}", self.id)
    }

    fn room(&self, dir: &Dir) -> Result<Pushed, QueueError> {
        let mut n_files = 0;
        dir.for_each(|_, _| n_files += 1).map_err(|source| self.failed(source))?;
        if n_files >= MAX_JOBS { Err(QueueError::Full(self.path())) } else { Ok(Pushed::New) }
    }

    fn open(&self) -> Result<Option<Dir>, QueueError> {
        match Dir::open(&self.path()) {
            Ok(dir) => Ok(Some(dir)),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// Lists the files with an ending, sorted.
    fn names(&self, dir: &Dir, ending: &str) -> Result<Vec<String>, QueueError> {
        let mut names = Vec::new();
        let listed = dir.for_each(|name, kind| {
            if kind == EntryKind::File && name.ends_with(ending) && !name.starts_with('.') {
                names.push(name.to_owned());
            }
        });
        listed.map_err(|source| self.failed(source))?;
        names.sort();
        Ok(names)
    }

    /// Reads a job; one that is torn, or was written by somebody else, is none.
    fn read(&self, dir: &Dir, name: &str) -> Option<Job> {
        let bytes = dir.read(name, MAX_JOB).ok().flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes a job whole, without waiting for the disk.
    fn write(&self, dir: &Dir, name: &str, job: &impl serde::Serialize) -> Result<(), QueueError> {
        let bytes = serde_json::to_vec(job).map_err(|err| self.failed(err.into()))?;
        dir.replace_derived(dir, name, &bytes).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> QueueError {
        QueueError::Io { path: self.path(), source }
    }
}
