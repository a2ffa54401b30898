//! Kernel locks: one writer at a time, for milliseconds.
//!
//! A lock is `flock` on a file that is never removed, so a dead holder blocks nobody and a live one is never
//! robbed. The holder leaves its process id in the file, only so that a waiter can name it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::disk::Dir;

/// How long a writer waits for another before it gives up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at a lock that is taken: far below what a holder needs, so that nobody starves.
const PAUSE: Duration = Duration::from_millis(1);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why a lock could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody held it all the time we were willing to wait.
    #[error("{} is locked by process {holder}", path.display())]
    Busy { path: PathBuf, holder: String },
    /// The file system cannot lock, or the lock file cannot be opened.
    #[error("could not lock {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Lock {
    /// Waits for the lock `name` below `dir`.
    pub fn acquire(dir: &Path, name: &str) -> Result<Self, LockError> {
        let path = dir.join(name);
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(lock) = Self::attempt(dir, name)? {
                return Ok(lock);
            }
            if Instant::now() >= deadline {
                let holder = std::fs::read_to_string(&path).unwrap_or_default();
                let holder =
                    if holder.trim().is_empty() { "unknown".to_owned() } else { holder.trim().to_owned() };
                return Err(LockError::Busy { path, holder });
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes the lock `name` below `dir` if it is free.
    pub fn attempt(dir: &Path, name: &str) -> Result<Option<Self>, LockError> {
        let path = dir.join(name);
        let io = |source| LockError::Io { path: path.clone(), source };
        let file = Dir::ensure(dir).and_then(|dir| dir.open_or_create(name, false)).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        // Only a courtesy to waiters: a full disk must not stop us from taking the lock.
        let _ = leave_pid(&file);
        Ok(Some(Self { _file: file }))
    }
}

fn leave_pid(mut file: &File) -> io::Result<()> {
    let pid = std::process::id().to_string();
    let mut found = String::new();
    file.read_to_string(&mut found)?;
    if found == pid {
        return Ok(());
    }
    file.rewind()?;
    file.write_all(pid.as_bytes())?;
    file.set_len(pid.len() as u64)
}
