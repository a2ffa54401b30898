//! What `memdir init` did to which file, so that it can be taken back byte for byte.
//!
//! Kept in `$MEMDIR_HOME/wiring.json`. It holds only what we inserted, never what else is in a file. If it is lost our
//! entries are still found by their commands; only blanks and empty containers may differ then.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use memdir_core::host::Agent;
use memdir_core::wiring::Undo;
use memdir_store::disk::Dir;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The record's file.
const FILE: &str = "wiring.json";
/// No record is larger.
const MAX_SIZE: u64 = 16 << 20;

/// All files that we changed, by path.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(default)]
    pub(super) files: BTreeMap<String, Entry>,
    /// Every address of the gateway that agents were told.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) gateways: BTreeSet<String>,
}

/// What we did to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    agent: String,
    /// The project whose file it is; none for the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<PathBuf>,
    /// Whether there was no such file.
    pub(super) created: bool,
    /// The directories that were made for it.
    #[serde(default)]
    pub(super) directories: Vec<PathBuf>,
    pub(super) undo: Undo,
}

impl Entry {
    pub(super) fn new(agent: Agent, project: Option<PathBuf>, undo: Undo) -> Self {
        let agent = agent.as_str().to_owned();
        Self { agent, project, created: false, directories: Vec::new(), undo }
    }

    pub(super) fn agent(&self) -> Option<Agent> {
        Agent::parse(&self.agent)
    }
}

impl Record {
    /// Reads the record. One that is damaged counts as lost: what it is for can be had without it.
    pub(super) fn load(home: &Path) -> Self {
        let bytes = Dir::open(home).ok().and_then(|dir| dir.read(FILE, MAX_SIZE).ok().flatten());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Entry> {
        self.files.get(path.to_str()?)
    }

    pub(super) fn set(&mut self, path: &Path, entry: Option<Entry>) {
        let key = path.display().to_string();
        match entry {
            Some(entry) => self.files.insert(key, entry),
            None => self.files.remove(&key),
        };
    }

    /// Writes the record; an empty one leaves no file.
    pub(super) fn save(&self, home: &Path) -> Result<(), Failure> {
        let written = Dir::ensure(home).and_then(|dir| {
            if self.files.is_empty() {
                return dir.remove(FILE).and_then(|()| dir.sync());
            }
            let text = serde_json::to_string_pretty(self).map_err(std::io::Error::other)?;
            dir.replace(FILE, format!("{text}\n").as_bytes())
        });
        written.map_err(|err| Failure::error(format!("could not write {}: {err}", home.join(FILE).display())))
    }
}
