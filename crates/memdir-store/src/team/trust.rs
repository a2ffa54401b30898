//! `trust.json`: whom the user believes, on disk.
//!
//! One file for the whole state root. Who is believed is decided in `memdir_core::team::trust`; here it is read, changed
//! under a lock and replaced whole. A file that is not one of ours believes nobody; a disk that says no is an error, for
//! who is believed decides what a sync changes.

use std::io;
use std::path::{Path, PathBuf};

use memdir_core::team::trust::Trust;
use serde::{Deserialize, Serialize};

use crate::disk::{Dir, ReadError};
use crate::lock::{Lock, LockError};

const FILE: &str = "trust.json";
const MAX_FILE: u64 = 16 * 1024 * 1024;
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct OnDisk {
    version: u32,
    #[serde(flatten)]
    trust: Trust,
}

/// Why trust could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Somebody else was at it all the time.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file could not be read or written.
    #[error("could not use {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// It is not one of ours; nothing was changed.
    #[error("{} cannot be read: {why}", path.display())]
    Broken { path: PathBuf, why: String },
}

/// Reads whom the user believes; nobody where the file is not one of ours.
pub fn trusted(home: &Path) -> Result<Trust, TrustError> {
    match read(home) {
        Err(TrustError::Broken { .. }) => Ok(Trust::default()),
        trust => trust,
    }
}

/// Changes whom the user believes.
pub fn change<T>(home: &Path, change: impl FnOnce(&mut Trust) -> T) -> Result<T, TrustError> {
    let _lock = Lock::acquire(&home.join("locks"), "trust.lock")?;
    let mut trust = read(home)?;
    let before = trust.clone();
    let answer = change(&mut trust);
    if trust != before {
        let written = serde_json::to_vec_pretty(&OnDisk { version: FORMAT, trust })
            .map_err(io::Error::from)
            .and_then(|bytes| Dir::ensure(home)?.replace(FILE, &bytes));
        written.map_err(|source| TrustError::Io { path: home.join(FILE), source })?;
    }
    Ok(answer)
}

fn read(home: &Path) -> Result<Trust, TrustError> {
    let path = || home.join(FILE);
    let broken = |why: &dyn std::fmt::Display| TrustError::Broken { path: path(), why: why.to_string() };
    let bytes = Dir::open(home).map_err(ReadError::from).and_then(|home| home.read(FILE, MAX_FILE));
    let bytes = match bytes {
        Ok(None) => return Ok(Trust::default()),
        Ok(Some(bytes)) => bytes,
        Err(ReadError::Io(err)) if err.kind() == io::ErrorKind::NotFound => return Ok(Trust::default()),
        Err(ReadError::Io(source)) => return Err(TrustError::Io { path: path(), source }),
        Err(err) => return Err(broken(&err)),
    };
    let read: OnDisk = serde_json::from_slice(&bytes).map_err(|err| broken(&err))?;
    if read.version != FORMAT {
        return Err(broken(&format!("it is of version {}", read.version)));
    }
    Ok(read.trust)
}

#[cfg(test)]
mod tests {
    use memdir_core::team::trust::Whence;

    use super::*;

    #[test]
    fn ux_14_what_cannot_be_read_believes_nobody_and_is_not_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        let whence = Whence { project: "p".into(), root: "/a".into(), address: "x".into() };
        let now = "2026-04-02T10:30:00Z".parse().unwrap();
        assert!(change(temp.path(), |trust| trust.believe(&whence, "ann", now)).unwrap());
        assert!(trusted(temp.path()).unwrap().believes(&whence, Some("ann")));
        let file = temp.path().join(FILE);
        std::fs::write(&file, "{\"version\":2,\"places\":[]}").unwrap();
        assert!(!trusted(temp.path()).unwrap().believes(&whence, Some("ann")));
        assert!(change(temp.path(), |trust| trust.believe(&whence, "ann", now)).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"version\":2,\"places\":[]}");
    }
}
