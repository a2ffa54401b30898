//! How far each session was copied: `projects/<id>/cursors.json`.
//!
//! A cursor knows its file by the first bytes, not by its name: a file that was moved goes on, one that was written
//! anew begins again. It only saves work. Turns are known by their ids, so a cursor that is lost or behind costs a
//! second reading and no second copy. Other parts of memdir keep cursors of their own in the same file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::transcript::Host;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{SessionFile, TranscriptError};
use crate::disk::Dir;
use crate::lock::Lock;

/// The file below a project's state.
const FILE: &str = "cursors.json";
/// Our part of it.
const KEY: &str = "backfill";
/// The largest file that is read: a hundred thousand sessions.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// How far one session was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    pub(super) host: Host,
    /// The inode the file had, and a hash of its first bytes.
    pub(super) inode: u64,
    pub(super) head: String,
    pub(super) head_bytes: u64,
    /// The offset up to which it was read.
    pub(super) offset: u64,
    /// The size the copy had then.
    pub(super) kept: u64,
    /// When the last turn was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last: Option<Timestamp>,
    /// The copy had to go: there is no room for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) dropped: bool,
    /// The host wrote the file anew after a part of it was copied: the copy may have what the file has not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) rewritten: bool,
}

impl Cursor {
    /// Begins at the start of a file.
    pub(super) fn new(file: &SessionFile) -> io::Result<Self> {
        let (head, head_bytes) = file.head_hash(None)?;
        let (host, inode) = (file.host, file.inode);
        Ok(Self {
            host,
            inode,
            head,
            head_bytes,
            offset: 0,
            kept: 0,
            last: None,
            dropped: false,
            rewritten: false,
        })
    }

    /// Says whether `file` begins as the one that was read, and is no shorter.
    pub(super) fn is_of(&self, file: &SessionFile) -> bool {
        let same = |(head, n): (String, u64)| head == self.head && n == self.head_bytes;
        file.size >= self.offset && file.head_hash(Some(self.head_bytes)).is_ok_and(same)
    }
}

/// The cursors of a project, by session.
#[derive(Debug)]
pub(super) struct Cursors {
    state: PathBuf,
    lock: (PathBuf, String),
    pub(super) by_session: BTreeMap<String, Cursor>,
    saved: BTreeMap<String, Cursor>,
}

impl Cursors {
    /// Reads the cursors; a file that is damaged has none.
    pub(super) fn load(home: &Path, id: &str, state: &Path) -> Self {
        let by_session = read(state)
            .get(KEY)
            .cloned()
            .and_then(|value| serde_json::from_value::<BTreeMap<String, Cursor>>(value).ok())
            .unwrap_or_default();
        let lock = lock_of(home, id);
        Self { state: state.to_owned(), lock, saved: by_session.clone(), by_session }
    }

    /// Writes the cursors, if there is anything new, and leaves what is not ours as it is.
    pub(super) fn save(&mut self) -> Result<(), TranscriptError> {
        if self.by_session == self.saved {
            return Ok(());
        }
        let failed = |source| TranscriptError::Io { path: self.state.join(FILE), source };
        let ours = serde_json::to_value(&self.by_session).map_err(|err| failed(err.into()))?;
        amend(&self.lock, &self.state, KEY, |_| ours)?;
        self.saved.clone_from(&self.by_session);
        Ok(())
    }
}

/// Returns the directory and the name of the lock that whoever writes the file takes.
pub(crate) fn lock_of(home: &Path, id: &str) -> (PathBuf, String) {
    (home.join("locks"), format!("cursors-{id}.lock"))
}

/// Replaces one part of the file and leaves the others as they are. `change` is given the part as it is.
pub(crate) fn amend(
    lock: &(PathBuf, String),
    state: &Path,
    key: &str,
    change: impl FnOnce(Option<Value>) -> Value,
) -> Result<(), TranscriptError> {
    let failed = |source| TranscriptError::Io { path: state.join(FILE), source };
    let _lock = Lock::acquire(&lock.0, &lock.1)?;
    let mut document = read(state);
    document.entry("version").or_insert(1.into());
    let part = change(document.remove(key));
    document.insert(key.to_owned(), part);
    let text = Value::Object(document).to_string();
    Dir::ensure(state).and_then(|dir| dir.replace(FILE, text.as_bytes())).map_err(failed)
}

/// Reads the file; one that is damaged is empty.
pub(crate) fn read(state: &Path) -> Map<String, Value> {
    let bytes = Dir::open(state).ok().and_then(|dir| dir.read(FILE, MAX_FILE).ok()?);
    match bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        Some(Value::Object(document)) => document,
        _ => Map::new(),
    }
}
