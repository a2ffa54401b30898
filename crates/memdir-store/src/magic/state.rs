//! Entries on disk: one small file a doc, and the bytes that it had before memdir wrote it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::magic::{Changes, Doc};
use serde::{Deserialize, Serialize};

use super::Dir;
use super::files::Print;
use crate::disk::EntryKind;

/// The folder below a project's state.
const FOLDER: &str = "magic";
/// Endings of an entry, and of the bytes before the last change.
const ENTRY: &str = ".json";
const FORMER: &str = ".before";
/// No entry is larger: it has a print for each of at most some thousand files.
const MAX_ENTRY: u64 = 4 * 1024 * 1024;
const MAX_FORMER: u64 = 1 << 20;

/// A registered magic doc.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The file, from the project's root.
    pub path: String,
    /// Its title.
    pub title: String,
    /// How it is to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// When an agent last read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Timestamp>,
    /// When it was last up to date.
    pub updated: Timestamp,
    /// What is out of date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<Stale>,
    /// What can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
    /// Its text when it was last up to date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<ContentHash>,
    /// The files that it is about, as they were then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prints: Option<BTreeMap<String, Print>>,
}

/// Why a doc is out of date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stale {
    /// Since when that is known.
    pub since: Timestamp,
    /// What changed, in one line.
    pub brief: String,
    /// What changed.
    pub changes: Changes,
}

/// A change that memdir made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// What it wrote.
    pub after: ContentHash,
    /// When.
    pub at: Timestamp,
}

impl Entry {
    pub(super) fn new(path: &str, doc: Doc, now: Timestamp) -> Self {
        Self {
            path: path.to_owned(),
            title: doc.title,
            rule: doc.rule,
            read: None,
            updated: now,
            stale: None,
            undo: None,
            text: None,
            prints: None,
        }
    }
}

/// The entries of one project.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
}

impl Store {
    pub(super) fn below(state: &Path) -> Self {
        Self { path: state.join(FOLDER) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names().is_ok_and(|names| names.is_empty())
    }

    /// Lists the entries by path; what does not parse is as good as none.
    pub(super) fn entries(&self) -> io::Result<Vec<Entry>> {
        let Some(dir) = self.open()? else { return Ok(Vec::new()) };
        let mut entries: Vec<Entry> = self.names()?.iter().filter_map(|name| load(&dir, name)).collect();
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    pub(super) fn load(&self, path: &str) -> io::Result<Option<Entry>> {
        Ok(self.open()?.and_then(|dir| load(&dir, &name(path, ENTRY))).filter(|entry| entry.path == path))
    }

    pub(super) fn save(&self, entry: &Entry) -> io::Result<()> {
        let dir = Dir::ensure(&self.path)?;
        let bytes = serde_json::to_vec(entry)?;
        // What is lost here is found again by the next look.
        dir.replace_derived(&dir, &name(&entry.path, ENTRY), &bytes)
    }

    pub(super) fn remove(&self, path: &str) -> io::Result<()> {
        match self.open()? {
            Some(dir) => dir.remove(&name(path, ENTRY)),
            None => Ok(()),
        }
    }

    /// Keeps the bytes that are about to be replaced, durably: they are nowhere else if git does not have them.
    pub(super) fn keep_former(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        Dir::ensure(&self.path)?.replace(&name(path, FORMER), bytes)
    }

    pub(super) fn former(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(dir) = self.open()? else { return Ok(None) };
        dir.read(&name(path, FORMER), MAX_FORMER).map_err(io::Error::other)
    }

    pub(super) fn drop_former(&self, path: &str) -> io::Result<()> {
        match self.open()? {
            Some(dir) => dir.remove(&name(path, FORMER)),
            None => Ok(()),
        }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        if let Some(dir) = self.open()? {
            dir.for_each(|name, kind| {
                if kind == EntryKind::File && name.ends_with(ENTRY) {
                    names.push(name.to_owned());
                }
            })?;
        }
        Ok(names)
    }

    fn open(&self) -> io::Result<Option<Dir>> {
        match Dir::open(&self.path) {
            Ok(dir) => Ok(Some(dir)),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }
}

fn load(dir: &Dir, name: &str) -> Option<Entry> {
    let bytes = dir.read(name, MAX_ENTRY).ok().flatten()?;
    serde_json::from_slice(&bytes).ok()
}

/// Names the file of an entry: a path is no name.
fn name(path: &str, ending: &str) -> String {
    format!("{}{ending}", &ContentHash::of(path.as_bytes()).to_string()[..16])
}
