//! One run on disk: `dreams/<id>/plan.json`, the versions before and after, and a report for people.
//!
//! The state in the file is a convenience. Whether a run was carried out stands in the vault's history, which is written
//! in one piece with the change: a process that is killed in between leaves a run that finds its state there.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::dream::{Operation, Phases, Plan, Replay, Versions, report};
use memdir_core::hash::ContentHash;
use serde::{Deserialize, Serialize};

use super::Dreamer;
use crate::disk::{Dir, EntryKind, ReadError};
use crate::history::{ChangeId, History};
use crate::vault::{MAX_MEMORY, Vault, Writer};

/// The folder below a vault's state, and what is in a run.
const FOLDER: &str = "dreams";
const PLAN: &str = "plan.json";
const REPORT: &str = "report.md";
const BEFORE: &str = "before";
const AFTER: &str = "after";
/// No plan is larger.
const MAX_PLAN: u64 = 64 << 20;
/// As many runs are kept.
const KEPT: usize = 30;
/// As many of the last ones are told of at a session's start.
const LATELY: usize = 3;

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits for a person.
    Proposed,
    /// It was carried out.
    Applied,
    /// It was carried out and taken back.
    Undone,
    /// Nobody wants it.
    Discarded,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proposed => "proposed",
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Discarded => "discarded",
        })
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name.
    pub id: ChangeId,
    /// When it was proposed.
    pub at: Timestamp,
    /// What became of it.
    pub state: State,
    /// How many memories there were.
    pub memories: usize,
    /// What was looked at and found.
    pub phases: Phases,
    /// What is proposed, in order.
    pub operations: Vec<Operation>,
    /// What becomes of past questions.
    pub replay: Replay,
    /// How many more operations were found than one run takes up.
    #[serde(default)]
    pub left_over: usize,
    /// The change by which it was carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// What was left alone when it was carried out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<(String, String)>,
    /// Whether a session was told of it.
    #[serde(default)]
    pub told: bool,
    /// The bytes of every version that the operations name; they lie in files of their own.
    #[serde(skip)]
    pub versions: Versions,
}

impl Run {
    /// Keeps the operations at some places of a plan as a run of its own that waits.
    pub(super) fn new(
        dreamer: &Dreamer<'_>,
        plan: &Plan,
        places: &[usize],
        replay: &Replay,
        memories: usize,
    ) -> io::Result<Self> {
        let now = dreamer.now.timestamp();
        let dreams = Dir::ensure(&path(dreamer.vault))?;
        let last = ids(&dreams)?.into_iter().next_back();
        let operations: Vec<Operation> = places.iter().map(|at| plan.operations[*at].clone()).collect();
        let changes = operations.iter().flat_map(|operation| &operation.changes);
        let named = changes.flat_map(|change| [Some(change.before), change.after]).flatten();
        let versions: Versions =
            named.filter_map(|hash| Some((hash, plan.versions.get(&hash)?.clone()))).collect();
        let run = Self {
            id: ChangeId::next(now, last.as_ref())?,
            at: now,
            state: State::Proposed,
            memories,
            phases: plan.phases.clone(),
            operations,
            replay: replay.clone(),
            left_over: plan.left_over,
            change: None,
            left: Vec::new(),
            told: false,
            versions,
        };
        run.keep(&dreams)?;
        Ok(run)
    }

    /// Writes a run whole; the plan comes last, so that what has one is complete.
    fn keep(&self, dreams: &Dir) -> io::Result<()> {
        let dir = dreams.ensure_sub(self.id.as_str())?;
        let (before, after) = (dir.ensure_sub(BEFORE)?, dir.ensure_sub(AFTER)?);
        let write = |folder: &Dir, name: String, hash: &ContentHash| match self.versions.get(hash) {
            Some(bytes) => dir.replace_derived(folder, &name, bytes),
            None => Ok(()),
        };
        let plan = self.plan();
        let originals = plan.originals();
        for (path, hash) in &originals {
            write(&before, file_name(path, hash, false), hash)?;
        }
        let mut last = std::collections::BTreeMap::new();
        for change in self.operations.iter().flat_map(|operation| &operation.changes) {
            last.insert(change.path.as_str(), change.after);
        }
        for change in self.operations.iter().flat_map(|operation| &operation.changes) {
            if let Some(hash) = &change.after {
                let is_passing = last.get(change.path.as_str()) != Some(&Some(*hash));
                write(&after, file_name(&change.path, hash, is_passing), hash)?;
            }
        }
        dir.replace_derived(&dir, REPORT, self.report().as_bytes())?;
        self.save(&dir, &dir)
    }

    /// Writes the plan, by way of a temporary file in `through`.
    fn save(&self, through: &Dir, dir: &Dir) -> io::Result<()> {
        through.stage(&serde_json::to_vec_pretty(self)?)?.rename_over(dir, PLAN)?;
        dir.sync()
    }

    /// Writes what became of the run.
    fn update(&self, vault: &Vault) -> io::Result<()> {
        let dir = Dir::open(&path(vault).join(self.id.as_str()))?;
        self.save(&dir, &dir)
    }

    /// Writes what became of the run, while the vault's lock is held: by way of the state's own folder, where what a crash
    /// leaves is swept by the next who holds it.
    pub(super) fn update_locked(&self, vault: &Vault, _writer: &Writer<'_>) -> io::Result<()> {
        let state = Dir::open(&vault.state_path())?;
        self.save(&state, &Dir::open(&path(vault).join(self.id.as_str()))?)
    }

    /// Returns the report.
    pub fn report(&self) -> String {
        let title = format!("Dream {}", self.id);
        report(&title, &self.phases, &self.operations, &self.replay, self.left_over)
    }

    /// Returns the run as a plan.
    pub fn plan(&self) -> Plan {
        Plan {
            phases: self.phases.clone(),
            operations: self.operations.clone(),
            versions: self.versions.clone(),
            left_over: self.left_over,
        }
    }

    /// Reads a run without the bytes of its versions; `None` if there is none, or nothing that is one.
    fn load_plan(dreams: &Dir, id: &ChangeId) -> io::Result<Option<Self>> {
        let Some(dir) = sub(dreams, id.as_str())? else { return Ok(None) };
        let run: Option<Self> =
            read(&dir, PLAN, MAX_PLAN)?.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(run.filter(|run| run.id == *id))
    }

    fn load(dreams: &Dir, id: &ChangeId) -> io::Result<Option<Self>> {
        let (Some(dir), Some(mut run)) = (sub(dreams, id.as_str())?, Self::load_plan(dreams, id)?) else {
            return Ok(None);
        };
        for name in [BEFORE, AFTER] {
            let Some(folder) = sub(&dir, name)? else { continue };
            let mut names = Vec::new();
            folder
                .for_each(|name, _| names.push(name.to_owned()))
                .map_err(|err| told_of(folder.path(), &err))?;
            for name in names {
                // A version is known by its bytes; what is no version of the plan is never asked for.
                run.versions
                    .extend(read(&folder, &name, MAX_MEMORY)?.map(|bytes| (ContentHash::of(&bytes), bytes)));
            }
        }
        Ok(Some(run))
    }

    /// Names the change by which a run is carried out, for the log.
    pub(super) fn reason(&self, done: &str) -> String {
        format!("dream {}: {done}", self.id)
    }

    /// Finds in the history what became of a run.
    fn settle(&mut self, vault: &Vault, history: &History) {
        if !matches!(self.state, State::Proposed | State::Applied) {
            return;
        }
        let Ok(ids) = history.ids() else { return };
        let mark = self.reason("");
        let before = self.state;
        for id in ids.iter().filter(|other| **other > self.id || other.at() >= self.at) {
            let Ok(Some(change)) = history.change(id) else { continue };
            if change.reason.starts_with(mark.trim_end()) {
                (self.state, self.change) = (State::Applied, Some(id.clone()));
            }
            if self.change.is_some() && change.undoes == self.change {
                self.state = State::Undone;
            }
        }
        if self.state != before {
            // Found again by the next who looks, if it cannot be written down.
            let _ = self.update(vault);
        }
    }
}

/// Names the file of a version: the memory's own name, unless the version is only passed through.
fn file_name(path: &str, hash: &ContentHash, is_passing: bool) -> String {
    let stem = path.strip_suffix(".md").unwrap_or(path).replace('/', "~");
    if is_passing { format!("{stem}@{}.md", hash.short()) } else { format!("{stem}.md") }
}

fn path(vault: &Vault) -> PathBuf {
    vault.state_path().join(FOLDER)
}

/// Returns the folder of a vault's dreams, making it where it is missing.
pub(super) fn folder(vault: &Vault) -> io::Result<Dir> {
    Dir::ensure(&path(vault))
}

/// Returns the folder of a vault's dreams; `None` if there never was one.
pub(super) fn known_folder(vault: &Vault) -> io::Result<Option<Dir>> {
    let path = path(vault);
    found(Dir::open(&path), &path)
}

/// Opens a folder in a folder; `None` if it is not there.
fn sub(dir: &Dir, name: &str) -> io::Result<Option<Dir>> {
    found(dir.sub(name), &dir.path().join(name))
}

fn found<T>(opened: io::Result<T>, path: &Path) -> io::Result<Option<T>> {
    match opened {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some).map_err(|err| told_of(path, &err)),
    }
}

/// Reads a file; `None` if it is not there, or not what we put there.
fn read(dir: &Dir, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match dir.read(name, limit) {
        Ok(bytes) => Ok(bytes),
        Err(ReadError::Io(err)) => Err(told_of(&dir.path().join(name), &err)),
        Err(ReadError::NotAFile | ReadError::TooLarge { .. }) => Ok(None),
    }
}

/// Names the file that could not be read.
fn told_of(path: &Path, err: &io::Error) -> io::Error {
    io::Error::new(err.kind(), format!("{}: {err}", path.display()))
}

fn ids(dreams: &Dir) -> io::Result<Vec<ChangeId>> {
    let mut ids = Vec::new();
    let listed = dreams.for_each(|name, kind| {
        if kind == EntryKind::Dir {
            ids.extend(ChangeId::parse(name));
        }
    });
    listed.map_err(|err| told_of(dreams.path(), &err))?;
    ids.sort_unstable();
    Ok(ids)
}

/// Lists the runs of a vault, the newest first.
pub fn runs(vault: &Vault) -> io::Result<Vec<Run>> {
    let Some(dreams) = known_folder(vault)? else { return Ok(Vec::new()) };
    let mut runs = Vec::new();
    for id in ids(&dreams)?.iter().rev() {
        runs.extend(Run::load(&dreams, id)?);
    }
    if let Ok(Some(history)) = vault.history() {
        runs.iter_mut().for_each(|run| run.settle(vault, &history));
    }
    Ok(runs)
}

/// Finds a run by its id, or by a beginning or end of it that only one has.
pub fn find(vault: &Vault, text: &str) -> io::Result<Option<Run>> {
    let text = text.to_ascii_uppercase();
    let is_meant = |run: &Run| run.id.as_str().starts_with(&text) || run.id.as_str().ends_with(&text);
    let mut found = runs(vault)?.into_iter().filter(is_meant);
    let run = found.next().filter(|_| text.len() >= 4);
    Ok(run.filter(|_| found.next().is_none()))
}

/// Returns the newest run that is in a state.
pub fn newest(vault: &Vault, state: State) -> io::Result<Option<Run>> {
    Ok(runs(vault)?.into_iter().find(|run| run.state == state))
}

/// Returns the last runs as their files say, without versions and without a look at history, the newest first: for
/// whoever has no time, and does without what cannot be read.
pub fn lately(vault: &Vault) -> Vec<Run> {
    let Ok(Some(dreams)) = known_folder(vault) else { return Vec::new() };
    let ids = ids(&dreams).unwrap_or_default();
    let last = ids.iter().rev().take(LATELY);
    last.filter_map(|id| Run::load_plan(&dreams, id).ok().flatten()).collect()
}

/// Notes that a session was told of the runs that were carried out.
pub fn told(vault: &Vault) {
    for mut run in lately(vault).into_iter().filter(|run| run.state == State::Applied && !run.told) {
        run.told = true;
        // Told once more, if it cannot be written down.
        let _ = run.update(vault);
    }
}

/// Drops the oldest runs; what they did is still in the vault's history.
pub(super) fn prune(vault: &Vault) -> io::Result<()> {
    let Some(dreams) = known_folder(vault)? else { return Ok(()) };
    let ids = ids(&dreams)?;
    let (old, kept) = ids.split_at(ids.len().saturating_sub(KEPT));
    for id in old {
        remove(vault, id)?;
    }
    // A run without a plan was left by somebody who died; who dreams is alone.
    for id in kept {
        if Run::load_plan(&dreams, id)?.is_none() {
            remove(vault, id)?;
        }
    }
    Ok(())
}

fn remove(vault: &Vault, id: &ChangeId) -> io::Result<()> {
    match std::fs::remove_dir_all(path(vault).join(id.as_str())) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes every run that holds a version or a name for which `concerns` says so, and the questions that were asked: what is
/// erased must not be read there.
pub(crate) fn scrub(vault: &Vault, concerns: impl Fn(&str, &ContentHash) -> bool) -> io::Result<usize> {
    super::asked::erase(vault)?;
    let Some(dreams) = known_folder(vault)? else { return Ok(0) };
    let mut n_removed = 0;
    for id in ids(&dreams)? {
        let is_meant = Run::load(&dreams, &id)?.is_none_or(|run| {
            let mut changes = run.operations.iter().flat_map(|operation| &operation.changes);
            changes.any(|change| {
                let hashes = [Some(change.before), change.after];
                hashes.into_iter().flatten().any(|hash| concerns(&change.path, &hash))
            }) || run.operations.iter().any(|operation| {
                let names = operation.names.iter().chain(&operation.into);
                names.map(|name| format!("{name}.md")).any(|path| concerns(&path, &ContentHash::of(b"")))
            })
        });
        if is_meant {
            remove(vault, &id)?;
            n_removed += 1;
        }
    }
    Ok(n_removed)
}
