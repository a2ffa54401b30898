//! One vault: a directory of memories, read through snapshots and changed through one door.
//!
//! [`Vault::snapshot`] is an immutable view; readers never wait for writers. [`Vault::writer`] takes the vault's
//! lock, finishes what a crash left behind, takes up what other programs changed, and then commits change sets:
//! all of one or none of it. Everything that is not a memory or the index page lives outside the vault, below
//! `projects/<id>/` in the state root.

mod catalog;
mod commit;
mod consolidate;
mod echo;
mod envelope;
mod erase;
mod foreign;
mod inbox;
mod inspect;
mod listing;
mod plan;
mod publish;
mod recover;
mod restore;
mod snapshot;
mod take_up;
mod then;
mod undo;
mod unseen;

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, Provenance};
use memdir_core::policy::Refusal;

use crate::disk::{Dir, ReadError};
use crate::gate::Gate;
use crate::history::{ChangeId, History};
use crate::ledger::{self, Ledger};
use crate::lock::{Lock, LockError};

pub use commit::{Committed, Writer, Written};
pub use erase::{Erased, SCRATCH};
pub use inbox::{Proposal, SAID};
pub use inspect::Inspection;
pub(crate) use listing::{Passed, walk};
pub use listing::{Skipped, Why};
pub use restore::Copy;
pub use snapshot::{Entry, Loaded, Snapshot};
pub use then::Then;
pub use undo::{UndoStack, UndoStep, Undone};

/// A file above this size is listed by `doctor`, but is no memory.
pub const MAX_MEMORY: u64 = 1 << 20;
/// The record of a change on its way, below a vault's state.
const INTENT: &str = "intent.jsonl";

/// A memory directory and the state that belongs to it.
#[derive(Debug, Clone)]
pub struct Vault {
    id: String,
    home: PathBuf,
    root: Dir,
}

/// Why a vault could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Anybody on this machine could plant memories.
    #[error("{} can be written by everybody", .0.display())]
    WorldWritable(PathBuf),
    /// Somebody else could change it under us.
    #[error("{} belongs to another user", .0.display())]
    ForeignOwner(PathBuf),
    /// The file system said no.
    #[error("could not open the vault {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Why a change was not made. Nothing was changed, unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Another writer held the lock for too long, or the file system cannot lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A gate refused.
    #[error("refused: {}", .0.iter().map(|refusal| refusal.evidence.as_str()).collect::<Vec<_>>().join("; "))]
    Refused(Vec<Refusal>),
    /// The name is taken.
    #[error("memory `{0}` already exists")]
    Exists(String),
    /// There is no such memory.
    #[error("no memory `{0}`")]
    Missing(String),
    /// The memory has another name by now.
    #[error("memory `{name}` is called `{now}` now")]
    Renamed { name: String, now: String },
    /// The memory is not what it was when the caller read it.
    #[error("memory `{0}` changed on disk since it was read")]
    Stale(String),
    /// The memory changed in the same place; the caller's version was put aside.
    #[error("memory `{name}` was changed in the same place by somebody else; your version is in {}", kept.display())]
    Conflict { name: String, kept: PathBuf },
    /// There is no such change, or it was pruned.
    #[error("no change `{0}`")]
    NoChange(String),
    /// A change can no longer be taken back.
    #[error("change {id} cannot be undone: {why}")]
    CannotUndo { id: ChangeId, why: String },
    /// A file could not be read.
    #[error("could not read {}", path.display())]
    Read { path: PathBuf, source: ReadError },
    /// A file could not be written.
    #[error("could not write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl Vault {
    /// Opens the vault at `path`, whose state is kept below `home` under `id`.
    pub fn open(home: &Path, id: &str, path: &Path) -> Result<Self, OpenError> {
        Self::with(home, id, path, Dir::open)
    }

    /// Opens the vault at `path`, making the directory where it is missing.
    pub fn create(home: &Path, id: &str, path: &Path) -> Result<Self, OpenError> {
        Self::with(home, id, path, Dir::ensure)
    }

    fn with(
        home: &Path,
        id: &str,
        path: &Path,
        open: fn(&Path) -> io::Result<Dir>,
    ) -> Result<Self, OpenError> {
        let io = |source| OpenError::Io { path: path.to_owned(), source };
        Self::at(home, id, open(path).map_err(io)?)
    }

    /// Takes an open directory as a vault, whose state is kept below `home` under `id`.
    pub(crate) fn at(home: &Path, id: &str, root: Dir) -> Result<Self, OpenError> {
        let path = root.path().to_owned();
        let io = |source| OpenError::Io { path: path.clone(), source };
        let stat = root.stat_self().map_err(io)?;
        if stat.mode & 0o002 != 0 {
            return Err(OpenError::WorldWritable(path));
        }
        if stat.owner != rustix::process::geteuid().as_raw() {
            return Err(OpenError::ForeignOwner(path));
        }
        Ok(Self { id: id.to_owned(), home: home.to_owned(), root })
    }

    /// Returns the state root.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Lists the files that may be memories, without opening any.
    pub fn names(&self) -> io::Result<Vec<MemoryPath>> {
        Ok(listing::Listing::read(&self.root)?.paths)
    }

    /// Lists the files that may be memories and what is passed over, without opening any.
    pub(crate) fn listed(&self) -> io::Result<(Vec<MemoryPath>, Vec<Skipped>)> {
        let listing = listing::Listing::read(&self.root)?;
        Ok((listing.paths, listing.skipped))
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Returns the open directory.
    pub fn dir(&self) -> &Dir {
        &self.root
    }

    /// Returns the id under which its state is kept.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the folder of its state.
    pub fn state_path(&self) -> PathBuf {
        self.home.join("projects").join(&self.id)
    }

    /// Returns the folder of what is derived from vaults.
    pub(crate) fn index_path(&self) -> PathBuf {
        self.home.join("index")
    }

    /// Finishes a change that a crash interrupted, unless its writer is still at work. Cheap when there is none.
    pub fn settle(&self) -> Result<(), CommitError> {
        let Ok(state) = Dir::open(&self.state_path()) else { return Ok(()) };
        let left_over = |name| matches!(state.stat(name), Ok(Some(_)));
        if !left_over(INTENT) && !left_over(erase::ERASING) {
            return Ok(());
        }
        match Lock::attempt(&self.locks(), &self.lock_name())? {
            Some(_lock) => self.recover(&state),
            None => Ok(()),
        }
    }

    /// Takes the vault's lock and gets ready to change it. What comes in passes the `gate`.
    pub fn writer<'v>(&'v self, now: Timestamp, gate: &'v Gate) -> Result<Writer<'v>, CommitError> {
        Writer::begin(self, now, gate)
    }

    /// Returns the finished changes; `None` if there never was one.
    pub fn history(&self) -> io::Result<Option<History>> {
        match Dir::open(&self.state_path()) {
            Ok(state) => History::open(&state),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Returns the ledgers; `None` if nothing was ever written.
    pub fn ledger(&self) -> Option<Ledger> {
        let home = Dir::open(&self.home).ok()?;
        let dir = Dir::open(&self.state_path().join("ledger")).ok()?;
        let state = Dir::open(&self.state_path()).ok()?;
        Some(Ledger::new(dir, state, ledger::known_machine(&home)?))
    }

    /// Says whether the user vouched for a version that somebody else said.
    pub fn is_accepted(&self, hash: ContentHash) -> bool {
        self.ledger().is_some_and(|ledger| ledger.is_accepted(hash).unwrap_or(false))
    }

    /// Returns which teammate wrote a version that the user accepted.
    pub fn author_of(&self, hash: ContentHash) -> Option<String> {
        self.ledger().and_then(|ledger| ledger.author_of(hash).ok().flatten())
    }

    /// Returns who said a version: what a file says of itself counts only for one that we wrote.
    pub fn said_by(&self, hash: ContentHash) -> Provenance {
        let known = self.ledger().and_then(|ledger| ledger.provenance_of(hash).ok().flatten());
        known.unwrap_or(Provenance::Outside)
    }

    /// Returns the ledgers, making what is missing for the first line.
    pub fn ensure_ledger(&self) -> io::Result<Ledger> {
        let home = Dir::ensure(&self.home)?;
        let state = Dir::ensure(&self.state_path())?;
        let dir = Dir::ensure(&self.state_path().join("ledger"))?;
        let machine = ledger::machine(&home, &state)?;
        Ok(Ledger::new(dir, state, machine))
    }

    fn lock(&self) -> Result<Lock, CommitError> {
        Ok(Lock::acquire(&self.locks(), &self.lock_name())?)
    }

    fn locks(&self) -> PathBuf {
        self.home.join("locks")
    }

    /// One lock for one directory, whatever project it is reached through.
    fn lock_name(&self) -> String {
        let path = self.path().canonicalize().unwrap_or_else(|_| self.path().to_owned());
        format!("vault-{}.lock", ContentHash::of(path.as_os_str().as_encoded_bytes()).short())
    }
}
