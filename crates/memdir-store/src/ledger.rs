//! What happened to memories, as append-only lines beside the vault.
//!
//! A recall never touches a memory file, so use, verification and who wrote which version are kept here: JSON
//! lines, one file a month and machine, merged by union. A line that a crash tore is skipped by readers and cut
//! off by the next writer. The ledger is not waited for: what a change did is durable in its history record.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader};

use jiff::Timestamp;
use memdir_core::change::Surface;
use memdir_core::hash::{ContentHash, to_hex};
use memdir_core::memory::{INDEX_PAGE, Provenance};
use serde::{Deserialize, Serialize};

use crate::disk::{self, Dir};

/// The file below the state root that makes this machine's names its own.
const MACHINE_KEY: &str = "machine.key";

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub t: Timestamp,
    /// What happened.
    pub ev: EventKind,
    /// To which memory.
    pub mem: String,
    /// The version it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<ContentHash>,
    /// In which session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// Through which part of memdir.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Surface>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prov: Option<Provenance>,
    /// Which teammate wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// At which place it was shown, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// How many bytes it took there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// In which manner it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<How>,
    /// What around the prompt called it up: `file`, `branch`, `error`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<String>,
}

impl Event {
    /// Says that something happened to a memory.
    pub fn new(t: Timestamp, ev: EventKind, mem: &str) -> Self {
        Self {
            t,
            ev,
            mem: mem.to_owned(),
            sha256: None,
            sid: None,
            by: None,
            prov: None,
            who: None,
            rank: None,
            bytes: None,
            how: None,
            signals: Vec::new(),
        }
    }
}

/// What can happen to a memory. Words of later versions read as [`EventKind::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A version was written by us.
    Written,
    /// A change of it was proposed, and waits in the file with this hash.
    Proposed,
    /// The user accepted a version, or a line of the index page, that somebody else wrote.
    Accepted,
    /// The user was told of a line of the index page that somebody else wrote.
    Noticed,
    /// It was shown to a session.
    Surfaced,
    /// A session made use of it.
    Used,
    /// It was shown, and nothing came of it.
    Ignored,
    /// A session was shown it, and did nothing against its rules.
    Obeyed,
    /// A session used a tool, or tried to, against one of its rules.
    Violated,
    /// The session's history was shortened: nothing that was shown is before the model any more. About no memory.
    Compacted,
    /// What it claims was looked up, and is so.
    Verified,
    /// What it claims was looked up, and something is no longer so.
    Stale,
    /// It was corrected.
    Corrected,
    /// It got another name.
    Rename,
    /// Another memory took its place.
    Supersede,
    /// It went to the archive.
    Archive,
    /// It came back by undo.
    Restore,
    /// Its text was erased everywhere.
    Erase,
    /// Anything this version does not know.
    #[serde(other)]
    Other,
}

/// In which manner a memory was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Its file was read.
    Read,
    /// Somebody named it.
    Cited,
    /// It was edited or corrected.
    Edited,
    /// A file was edited that it is about.
    EditedRelated,
    /// The user said that it is so.
    Confirmed,
    /// Anything this version does not know.
    #[serde(other)]
    Other,
}

/// The ledgers of one vault.
#[derive(Debug, Clone)]
pub struct Ledger {
    dir: Dir,
    state: Dir,
    machine: String,
}

impl Ledger {
    /// Opens the ledgers in `dir`; `state` is where temporary files are swept, `machine` says whose lines we write.
    pub fn new(dir: Dir, state: Dir, machine: String) -> Self {
        Self { dir, state, machine }
    }

    /// Appends `events` to this month's file.
    pub fn append(&self, events: &[Event]) -> io::Result<()> {
        let Some(first) = events.first() else { return Ok(()) };
        let lines: Vec<String> =
            events.iter().filter_map(|event| serde_json::to_string(event).ok()).collect();
        let month = first.t.strftime("%Y-%m");
        self.dir.append_line(&format!("usage-{}-{month}.jsonl", self.machine), &lines.join("\n"))
    }

    /// Returns who said the version `sha256`, if we wrote it.
    pub fn provenance_of(&self, sha256: ContentHash) -> io::Result<Option<Provenance>> {
        let mut found = None;
        self.for_each_with(&sha256.to_string(), |event| {
            if event.ev == EventKind::Written && event.sha256 == Some(sha256) {
                found = event.prov;
            }
        })?;
        Ok(found)
    }

    /// Says whether the user accepted the version `sha256`, which somebody else wrote.
    pub fn is_accepted(&self, sha256: ContentHash) -> io::Result<bool> {
        let mut found = false;
        self.for_each_with(&sha256.to_string(), |event| {
            found |= event.ev == EventKind::Accepted && event.sha256 == Some(sha256);
        })?;
        Ok(found)
    }

    /// Returns which teammate wrote the version `sha256`, if the user accepted it as theirs.
    pub fn author_of(&self, sha256: ContentHash) -> io::Result<Option<String>> {
        let mut found = None;
        self.for_each_with(&sha256.to_string(), |event| {
            if event.ev == EventKind::Accepted && event.sha256 == Some(sha256) {
                found = event.who;
            }
        })?;
        Ok(found)
    }

    /// Returns the hashes of the files in which something that was proposed waits, or once waited.
    pub fn proposals(&self) -> io::Result<BTreeSet<ContentHash>> {
        let mut hashes = BTreeSet::new();
        self.for_each_with("proposed", |event| {
            if event.ev == EventKind::Proposed {
                hashes.extend(event.sha256);
            }
        })?;
        Ok(hashes)
    }

    /// Returns the hashes of the lines of the index page to which one of `kinds` happened.
    pub fn lines(&self, kinds: &[EventKind]) -> io::Result<BTreeSet<ContentHash>> {
        let mut hashes = BTreeSet::new();
        self.for_each_with(INDEX_PAGE, |event| {
            if event.mem == INDEX_PAGE && kinds.contains(&event.ev) {
                hashes.extend(event.sha256);
            }
        })?;
        Ok(hashes)
    }

    /// Calls `visit` for every line that can be read, oldest month first.
    pub fn for_each(&self, visit: impl FnMut(Event)) -> io::Result<()> {
        self.for_each_with("", visit)
    }

    /// Calls `visit` for every line that can be read and in which `text` occurs; the others are not even parsed.
    fn for_each_with(&self, text: &str, mut visit: impl FnMut(Event)) -> io::Result<()> {
        for name in self.files()? {
            let Ok(Some((file, _))) = self.dir.open_file(&name) else { continue };
            for line in BufReader::new(file).split(b'\n') {
                let line = line?;
                let Ok(line) = str::from_utf8(&line) else { continue };
                if line.contains(text)
                    && let Ok(event) = serde_json::from_str(line)
                {
                    visit(event);
                }
            }
        }
        Ok(())
    }

    /// Rewrites every line that `change` returns a new one for, durably; for erasing.
    pub fn rewrite(&self, mut change: impl FnMut(&Event) -> Option<Event>) -> io::Result<()> {
        for name in self.files()? {
            let Some(bytes) = self.dir.read(&name, u64::MAX >> 1).map_err(io::Error::other)? else {
                continue;
            };
            let mut changed = false;
            let mut text = Vec::with_capacity(bytes.len());
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                let replaced = serde_json::from_slice::<Event>(line).ok().and_then(|event| change(&event));
                match replaced.and_then(|event| serde_json::to_vec(&event).ok()) {
                    Some(line) => {
                        changed = true;
                        text.extend(line);
                        text.push(b'\n');
                    }
                    None => text.extend(line),
                }
            }
            if changed {
                self.state.stage(&text)?.rename_over(&self.dir, &name)?;
                self.dir.sync()?;
            }
        }
        Ok(())
    }

    fn files(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        self.dir.for_each(|name, _| {
            if name.starts_with("usage-") && name.ends_with(".jsonl") {
                names.push(name.to_owned());
            }
        })?;
        // By month first: the machine's name stands before it.
        names.sort_by(|a, b| month_of(a).cmp(month_of(b)).then_with(|| a.cmp(b)));
        Ok(names)
    }
}

fn month_of(name: &str) -> &str {
    let stem = name.trim_end_matches(".jsonl");
    stem.get(stem.len().saturating_sub("2026-04".len())..).unwrap_or(stem)
}

/// Returns this machine's short name; `None` if it has none yet.
pub fn known_machine(home: &Dir) -> Option<String> {
    key(home).map(|key| ContentHash::of(&key).short())
}

/// Returns this machine's secret; `None` if it has none yet.
pub fn key(home: &Dir) -> Option<Vec<u8>> {
    home.read(MACHINE_KEY, 4096).ok()?.filter(|key| !key.is_empty())
}

/// Returns this machine's short name, making its secret key on first use, by way of a temporary file in `state`.
pub fn machine(home: &Dir, state: &Dir) -> io::Result<String> {
    if let Some(name) = known_machine(home) {
        return Ok(name);
    }
    let mut secret = [0; 32];
    disk::random(&mut secret)?;
    let key = to_hex(&secret);
    state.stage(key.as_bytes())?.rename_over(home, MACHINE_KEY)?;
    home.sync()?;
    Ok(ContentHash::of(key.as_bytes()).short())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_costs_only_itself() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        let ledger = Ledger::new(dir.clone(), dir.clone(), "m1".into());
        let at: Timestamp = "2026-04-02T10:31:00Z".parse().unwrap();
        let hash = ContentHash::of(b"x");
        let event = Event {
            sha256: Some(hash),
            by: Some(Surface::Cli),
            prov: Some(Provenance::User),
            ..Event::new(at, EventKind::Written, "a")
        };
        ledger.append(std::slice::from_ref(&event)).unwrap();
        let file = temp.path().join("usage-m1-2026-04.jsonl");
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, [&whole[..], b"{\"t\":\"2026-0"].concat()).unwrap();
        ledger.append(std::slice::from_ref(&event)).unwrap();
        let mut n_events = 0;
        ledger
            .for_each(|read| {
                assert_eq!(read, event);
                n_events += 1;
            })
            .unwrap();
        assert_eq!(n_events, 2);
        assert_eq!(ledger.provenance_of(hash).unwrap(), Some(Provenance::User));
        assert_eq!(ledger.provenance_of(ContentHash::of(b"y")).unwrap(), None);
    }
}
