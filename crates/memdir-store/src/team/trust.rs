//! `trust.json`: whom the user believes, on disk.
//!
//! One file for the whole state root. Who is believed is decided in `memdir_core::team::trust`; here it is read, changed
//! under a lock and replaced whole. A file that cannot be read believes nobody.

use std::io;
use std::path::Path;

use memdir_core::team::trust::Trust;
use serde::{Deserialize, Serialize};

use crate::disk::Dir;
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
    #[error("could not use {FILE}")]
    Io(#[from] io::Error),
    /// It is not one of ours; nothing was changed.
    #[error("{FILE} cannot be read: {0}")]
    Broken(String),
}

/// Reads whom the user believes; nobody where nothing can be read.
pub fn trusted(home: &Path) -> Trust {
    read(home).unwrap_or_default()
}

/// Changes whom the user believes.
pub fn change<T>(home: &Path, change: impl FnOnce(&mut Trust) -> T) -> Result<T, TrustError> {
    let _lock = Lock::acquire(&home.join("locks"), "trust.lock")?;
    let mut trust = read(home)?;
    let before = trust.clone();
    let answer = change(&mut trust);
    if trust != before {
        let bytes = serde_json::to_vec_pretty(&OnDisk { version: FORMAT, trust }).map_err(io::Error::from)?;
        Dir::ensure(home)?.replace(FILE, &bytes)?;
    }
    Ok(answer)
}

fn read(home: &Path) -> Result<Trust, TrustError> {
    let home = match Dir::open(home) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Trust::default()),
        home => home?,
    };
    let bytes = home.read(FILE, MAX_FILE).map_err(|err| TrustError::Broken(err.to_string()))?;
    let Some(bytes) = bytes else { return Ok(Trust::default()) };
    let read: OnDisk = serde_json::from_slice(&bytes).map_err(|err| TrustError::Broken(err.to_string()))?;
    if read.version != FORMAT {
        return Err(TrustError::Broken(format!("it is of version {}", read.version)));
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
        assert!(trusted(temp.path()).believes(&whence, Some("ann")));
        let file = temp.path().join(FILE);
        std::fs::write(&file, "{\"version\":2,\"places\":[]}").unwrap();
        assert!(!trusted(temp.path()).believes(&whence, Some("ann")));
        assert!(change(temp.path(), |trust| trust.believe(&whence, "ann", now)).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"version\":2,\"places\":[]}");
    }
}
