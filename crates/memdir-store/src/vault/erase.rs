//! Takes every byte of a memory out of everything we hold, and keeps old history short.
//!
//! Erasing cannot be undone, so it does not go through the intent record, which would hold the text. Instead a note
//! of what to erase (paths and hashes, no text) is made durable first; every step after that can be repeated, and a
//! crash in between is finished by the next command. What stays is the fact: hashes and dates in log and ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use jiff::{SignedDuration, Timestamp};
use memdir_core::change::{Author, Surface};
use memdir_core::echo::Echoes;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MemoryPath};
use serde::{Deserialize, Serialize};

use super::catalog::{self, Catalog};
use super::commit::Writer;
use super::plan::Plan;
use super::{CommitError, MAX_MEMORY, Vault, echo, envelope};
use crate::costs;
use crate::disk::{Dir, ReadError};
use crate::dream;
use crate::history::{Area, Change, ChangeId, FileOp, History, OpKind, Record};
use crate::ledger::{self, EventKind, Ledger};
use crate::notes;
use crate::team;
use crate::verify;

/// The note of an erasure on its way, below a vault's state.
pub(super) const ERASING: &str = "erasing.json";
/// How long a change can be undone.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How often old history is looked at.
const PRUNE_EVERY: SignedDuration = SignedDuration::from_hours(24);

/// What an erasure removed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Erased {
    /// Live files.
    pub n_live: usize,
    /// Copies in trash, archive, conflicts and inbox.
    pub n_copies: usize,
    /// Versions in history.
    pub n_versions: usize,
    /// Files of sessions that repeated its words.
    pub n_echoes: usize,
    /// Which versions these were.
    pub hashes: BTreeSet<ContentHash>,
    /// What they said, for a look at files that are not ours.
    pub echoes: Echoes,
}

impl Erased {
    /// Counts what another erasure removed as well.
    pub fn add(&mut self, other: &Self) {
        self.n_live += other.n_live;
        self.n_copies += other.n_copies;
        self.n_versions += other.n_versions;
        self.n_echoes += other.n_echoes;
        self.echoes.add(&other.echoes);
        self.hashes.extend(&other.hashes);
    }
}

/// What is to be erased: no text, only where it was and which versions it had.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    paths: BTreeSet<String>,
    hashes: BTreeSet<ContentHash>,
}

impl Note {
    /// Says whether a change of a file is about the memory: by its name, by a name it had, or as a copy of it.
    fn concerns(&self, op: &FileOp) -> bool {
        match op.area.folder() {
            None => {
                [Some(&op.path), op.from.as_ref()].into_iter().flatten().any(|path| self.paths.contains(path))
            }
            Some(_) => self.is_copy(&op.path),
        }
    }

    /// Says whether a file beside the vault is a copy: `<name>@<sha8>.md`, or `<name>.<random>.md` in an editor.
    fn is_copy(&self, file: &str) -> bool {
        let mut stems = self
            .paths
            .iter()
            .map(|path| path.rsplit('/').next().unwrap_or(path))
            .map(|file| file.strip_suffix(".md").unwrap_or(file));
        stems.any(|stem| file.strip_prefix(stem).is_some_and(|rest| rest.starts_with(['@', '.'])))
    }
}

impl Writer<'_> {
    /// Erases the memory at `path`, live or not, with every version it ever had and every copy we hold.
    pub fn erase(&mut self, path: &MemoryPath) -> Result<Erased, CommitError> {
        let note = self.with_catalog(|writer| writer.note(path))?;
        if note.hashes.is_empty() {
            return Err(CommitError::Missing(path.stem().to_owned()));
        }
        self.erase_noted(&note)
    }

    fn erase_noted(&mut self, note: &Note) -> Result<Erased, CommitError> {
        let state = self.areas.state.clone();
        let bytes = serde_json::to_vec(note).map_err(|err| self.failed(err.into()))?;
        state.replace(ERASING, &bytes).map_err(|source| self.failed(source))?;
        let erased = self.vault.scrub(&state, note).map_err(|source| self.failed(source))?;
        self.erase_catalog().map_err(|source| self.failed(source))?;
        if erased != Erased::default() {
            self.record_erasure(note)?;
        }
        state.remove(ERASING).map_err(|source| self.failed(source))?;
        self.take_up()?;
        Ok(Erased { hashes: note.hashes.clone(), ..erased })
    }

    fn failed(&self, source: io::Error) -> CommitError {
        CommitError::Write { path: self.areas.state.path().to_owned(), source }
    }

    /// Erases versions that another vault's erasure named, where they are not a memory of this vault. A memory that
    /// was promoted to that vault is erased with all it was here.
    pub fn erase_versions(&mut self, hashes: &BTreeSet<ContentHash>) -> Result<Erased, CommitError> {
        let all = self.with_catalog(|writer| writer.known_of(Catalog::all))?;
        let live: BTreeSet<ContentHash> = all.values().map(|known| known.sha256).collect();
        let mut note = Note { paths: BTreeSet::new(), hashes: hashes.difference(&live).copied().collect() };
        let changes = self.changes().map_err(|source| self.failed(source))?;
        let names =
            |op: &FileOp| [op.before, op.after].into_iter().flatten().any(|hash| note.hashes.contains(&hash));
        let concerned: Vec<&Change> = changes.iter().filter(|change| change.ops.iter().any(names)).collect();
        if concerned.is_empty() {
            return Ok(Erased::default());
        }
        let promotions =
            concerned.iter().filter(|change| change.ops.iter().any(|op| op.area == Area::User && names(op)));
        let left = promotions
            .flat_map(|change| &change.ops)
            .filter(|op| op.area == Area::Vault && op.after.is_none());
        let left: Vec<MemoryPath> = left.filter_map(|op| MemoryPath::new(&op.path).ok()).collect();
        for path in left.iter().filter(|path| !all.contains_key(*path)) {
            let former = self.note(path)?;
            note.paths.extend(former.paths);
            note.hashes.extend(former.hashes);
        }
        self.erase_noted(&note)
    }

    /// Collects the names and versions of a memory through history, newest change first, under each name it had.
    fn note(&self, path: &MemoryPath) -> Result<Note, CommitError> {
        let changes = self.changes().map_err(|source| self.failed(source))?;
        let mut note = Note { paths: BTreeSet::from([path.to_string()]), hashes: BTreeSet::new() };
        let all = self.known_of(Catalog::all)?;
        let is_live = |name: &str| MemoryPath::new(name).is_ok_and(|path| all.contains_key(&path));
        if !is_live(path.as_str())
            && let Some(now) = renamed_to(&changes, path.as_str()).filter(|name| is_live(name))
        {
            return Err(CommitError::Renamed {
                name: path.stem().to_owned(),
                now: now.trim_end_matches(".md").to_owned(),
            });
        }
        for op in
            changes.iter().flat_map(|change| &change.ops).filter(|op| op.path != INDEX_PAGE && !op.erased)
        {
            match &op.from {
                // Another memory, alive under its new name, had ours before: what is older is its history.
                Some(from)
                    if note.paths.contains(from) && !note.paths.contains(&op.path) && is_live(&op.path) =>
                {
                    note.paths.remove(from);
                    continue;
                }
                _ if !note.concerns(op) => continue,
                _ => {}
            }
            if op.area.folder().is_none() {
                note.paths.extend([Some(op.path.clone()), op.from.clone()].into_iter().flatten());
            }
            note.hashes.extend([op.before, op.after].into_iter().flatten());
        }
        if let Some(known) = all.get(path) {
            note.hashes.insert(known.sha256);
        }
        note.hashes.extend(self.waiting(path.stem()).map_err(|source| self.failed(source))?);
        note.paths.insert(path.to_string());
        // Another live memory keeps its text, and its name where it is one that this memory once had.
        for (other, known) in all.iter().filter(|(other, _)| *other != path) {
            note.hashes.remove(&known.sha256);
            note.paths.remove(other.as_str());
        }
        Ok(note)
    }

    /// Reads every change without its bytes, newest first.
    fn changes(&self) -> io::Result<Vec<Change>> {
        let mut changes = Vec::new();
        for id in self.history.ids()?.into_iter().rev() {
            changes.extend(self.history.change(&id).map_err(io::Error::other)?);
        }
        Ok(changes)
    }

    /// Finds the versions of a memory that wait in the inbox, where files have no name of their own.
    fn waiting(&self, name: &str) -> io::Result<Vec<ContentHash>> {
        let Some(folder) = found(self.areas.state.sub("inbox"))? else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        folder.for_each(|file, _| files.push(file.to_owned()))?;
        let mut hashes = Vec::new();
        for file in files {
            let Some(bytes) = readable(&folder, &file)? else { continue };
            if envelope::concerns(&bytes, name) {
                hashes.push(ContentHash::of(&bytes));
            }
        }
        Ok(hashes)
    }

    /// Leaves the fact in the log: what went, by hash, and when.
    fn record_erasure(&mut self, note: &Note) -> Result<(), CommitError> {
        let op = |hash: &ContentHash| FileOp {
            op: OpKind::Delete,
            area: Area::Vault,
            path: erased_name(Some(*hash)),
            from: None,
            before: Some(*hash),
            after: None,
            erased: true,
        };
        let mut plan = Plan::default();
        plan.ops.extend(note.hashes.iter().map(op));
        if let (Some(hash), Ok(path)) =
            (note.hashes.first(), MemoryPath::new(&erased_name(note.hashes.first().copied())))
        {
            plan.events.push((EventKind::Erase, path, Some(*hash)));
        }
        let change = Change {
            id: self.next_id()?,
            at: self.now,
            by: Surface::Cli,
            author: Author::Person,
            session: None,
            reason: "erase".to_owned(),
            force: None,
            undoes: None,
            project: self.project.clone(),
            ops: plan.ops.clone(),
        };
        Ok(self.carry_out(plan, change).map(drop)?)
    }

    /// Drops history older than it can be undone, and what it kept in the trash; at most once a day.
    pub fn prune(&mut self) -> io::Result<()> {
        if self.catalog.pruned.is_some_and(|last| self.now.duration_since(last) < PRUNE_EVERY) {
            return Ok(());
        }
        self.catalog.pruned = Some(self.now);
        let oldest = self.now.checked_sub(KEPT).unwrap_or(Timestamp::MIN);
        let old: Vec<ChangeId> = self.history.ids()?.into_iter().take_while(|id| id.at() < oldest).collect();
        let live = if old.is_empty() { BTreeMap::new() } else { self.live_versions()? };
        for id in &old {
            self.prune_one(id, live.get(id))?;
        }
        if !old.is_empty() {
            self.catalog.forget_what_is_gone();
        }
        self.save_catalog();
        Ok(())
    }

    /// Returns the versions of live memories by the change that holds their bytes.
    fn live_versions(&self) -> io::Result<BTreeMap<ChangeId, BTreeSet<ContentHash>>> {
        let mut live: BTreeMap<ChangeId, BTreeSet<ContentHash>> = BTreeMap::new();
        for path in self.catalog.all().map_err(io::Error::other)?.into_keys() {
            let doc = self.catalog.get(&path).map_err(io::Error::other)?;
            if let Some((change, sha256)) = doc.and_then(|doc| Some((doc.change?, doc.sha256))) {
                live.entry(change).or_default().insert(sha256);
            }
        }
        Ok(live)
    }

    /// Keeps of an old change only the versions that are live, so that a vault somebody deletes can be brought back.
    fn prune_one(&self, id: &ChangeId, live: Option<&BTreeSet<ContentHash>>) -> io::Result<()> {
        let Some(mut record) = self.history.record(id).map_err(io::Error::other)? else {
            return self.history.remove(id);
        };
        for op in record.change.ops.iter().filter(|op| op.area == Area::Trash && op.after.is_some()) {
            self.areas.root(Area::Trash)?.remove(&op.path)?;
        }
        let Some(live) = live else { return self.history.remove(id) };
        record
            .change
            .ops
            .retain(|op| op.area == Area::Vault && op.after.is_some_and(|after| live.contains(&after)));
        let n_versions = record.versions.len();
        record.versions.retain(|hash, _| live.contains(hash));
        if record.versions.len() == n_versions { Ok(()) } else { self.history.write(&record) }
    }
}

impl Vault {
    /// Finishes an erasure that a crash interrupted. The caller holds the lock.
    pub(super) fn finish_erasing(&self, state: &Dir) -> io::Result<()> {
        let Some(bytes) = state.read(ERASING, MAX_MEMORY).map_err(io::Error::other)? else { return Ok(()) };
        if let Ok(note) = serde_json::from_slice::<Note>(&bytes) {
            self.scrub(state, &note)?;
        }
        if let Ok(index) = Dir::open(&self.home.join("index")) {
            catalog::remove(&index, &self.id)?;
        }
        state.remove(ERASING)
    }

    /// Removes what the note names from everywhere; harmless to repeat.
    fn scrub(&self, state: &Dir, note: &Note) -> io::Result<Erased> {
        // First, while the text is still there to be looked for: a crash behind this leaves no echo, one before it all.
        let echoes = self.echoes(state, note)?;
        let mut erased = Erased { n_echoes: echo::redact(&self.home, &echoes)?, echoes, ..Erased::default() };
        notes::erase(self)?;
        for path in &note.paths {
            erased.n_live += usize::from(remove_live(&self.root, path, note)?);
        }
        self.root.sync()?;
        self.scrub_page(note)?;
        for folder in
            [Area::Trash, Area::Archive, Area::Conflicts, Area::Inbox].into_iter().filter_map(Area::folder)
        {
            erased.n_copies += scrub_folder(state, folder, note)?;
        }
        erased.n_copies += scrub_folder(state, SCRATCH, note)?;
        erased.n_copies +=
            dream::scrub(self, |path, hash| note.paths.contains(path) || note.hashes.contains(hash))?;
        if let Some(history) = History::open(state)? {
            erased.n_versions = scrub_history(&history, note)?;
        }
        if let Some(dir) = found(state.sub("ledger"))? {
            scrub_ledger(&Ledger::new(dir, state.clone(), String::new()), note)?;
        }
        team::Store::below(state.path()).erase(&note.paths)?;
        costs::erase_names(&self.home, &stems(note))?;
        // What memories claim is text of theirs; it is looked up anew.
        if let Some(index) = found(Dir::open(&self.home.join("index")))? {
            index.remove(&verify::file_name(&self.id))?;
        }
        Ok(erased)
    }

    /// Reads every version of the note that is left, for the words that sessions repeat.
    fn echoes(&self, state: &Dir, note: &Note) -> io::Result<Echoes> {
        let mut echoes = Echoes::default();
        let is_meant = |bytes: &[u8]| note.hashes.contains(&ContentHash::of(bytes));
        for path in &note.paths {
            if let Some(bytes) = readable(&self.root, path)?.filter(|bytes| is_meant(bytes)) {
                echoes.add_version(&bytes);
            }
        }
        if let Some(history) = History::open(state)? {
            for id in history.ids()? {
                let Some(record) = history.record(&id).map_err(io::Error::other)? else { continue };
                let versions = record.versions.iter().filter(|(hash, _)| note.hashes.contains(*hash));
                versions.for_each(|(_, bytes)| echoes.add_version(bytes));
            }
        }
        // Without a version left this is a repetition, and the names may be those of others by now.
        if !echoes.is_empty() {
            stems(note).into_iter().for_each(|name| echoes.add_name(name));
        }
        Ok(echoes)
    }

    /// Takes the memory's line off the index page, without a trace in history.
    fn scrub_page(&self, note: &Note) -> io::Result<()> {
        let Some(current) = readable(&self.root, INDEX_PAGE)? else { return Ok(()) };
        let cleaned: Vec<u8> = current
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| !points_at(line, note))
            .flatten()
            .copied()
            .collect();
        if cleaned == current { Ok(()) } else { self.root.replace(INDEX_PAGE, &cleaned) }
    }
}

/// Returns what a memory was renamed to in the end; `changes` come newest first.
fn renamed_to(changes: &[Change], name: &str) -> Option<String> {
    let ops = changes.iter().rev().flat_map(|change| &change.ops).filter(|op| op.area == Area::Vault);
    ops.fold(None, |now: Option<String>, op| {
        let current = now.as_deref().unwrap_or(name);
        if op.from.as_deref() == Some(current) { Some(op.path.clone()) } else { now }
    })
}

/// Reads a file that may hold the text; what is no file of ours holds none.
fn readable(dir: &Dir, path: &str) -> io::Result<Option<Vec<u8>>> {
    match dir.read(path, MAX_MEMORY) {
        Ok(bytes) => Ok(bytes),
        Err(ReadError::Io(err)) => Err(err),
        Err(ReadError::NotAFile | ReadError::TooLarge { .. }) => Ok(None),
    }
}

fn found(dir: io::Result<Dir>) -> io::Result<Option<Dir>> {
    match dir {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        dir => dir.map(Some),
    }
}

/// Private copies that an editor works on, below a vault's state.
pub const SCRATCH: &str = "editing";

/// Removes the file at `path` if it holds a version of the note: a new memory under an old name stays.
fn remove_live(root: &Dir, path: &str, note: &Note) -> io::Result<bool> {
    let Some(bytes) = readable(root, path)? else { return Ok(false) };
    if !note.hashes.contains(&ContentHash::of(&bytes)) {
        return Ok(false);
    }
    let (folder, name) = root.folder(path)?;
    folder.remove(name)?;
    folder.sync()?;
    Ok(true)
}

fn scrub_folder(state: &Dir, folder: &str, note: &Note) -> io::Result<usize> {
    let Some(dir) = found(state.sub(folder))? else { return Ok(0) };
    let mut names = Vec::new();
    dir.for_each(|name, _| names.push(name.to_owned()))?;
    let mut n_removed = 0;
    for name in names {
        let holds = || {
            readable(&dir, &name)
                .map(|bytes| bytes.is_some_and(|bytes| note.hashes.contains(&ContentHash::of(&bytes))))
        };
        if note.is_copy(&name) || holds()? {
            dir.remove(&name)?;
            n_removed += 1;
        }
    }
    dir.sync()?;
    Ok(n_removed)
}

fn scrub_history(history: &History, note: &Note) -> io::Result<usize> {
    let mut n_versions = 0;
    for id in history.ids()? {
        let Some(mut record) = history.record(&id).map_err(io::Error::other)? else { continue };
        let before = record.clone();
        // Old index pages show titles and descriptions, also under former names; a page can be rendered anew.
        let pages = page_versions(&record);
        record.versions.retain(|hash, _| !pages.contains(hash) && !note.hashes.contains(hash));
        n_versions += before.versions.len() - record.versions.len();
        scrub_ops(&mut record, note);
        if record != before {
            history.write(&record)?;
        }
    }
    Ok(n_versions)
}

/// Names and reasons are text too: what concerns the memory keeps hash and date only.
fn scrub_ops(record: &mut Record, note: &Note) {
    let mut concerned = false;
    for op in &mut record.change.ops {
        let hash = op.after.or(op.before);
        let versions = [op.before, op.after].into_iter().flatten().any(|hash| note.hashes.contains(&hash));
        if op.path == INDEX_PAGE || !(versions || note.paths.contains(&op.path)) {
            continue;
        }
        concerned = true;
        op.erased = true;
        op.path = erased_name(hash);
        op.from = op.from.as_ref().map(|_| erased_name(op.before));
    }
    if concerned {
        record.change.reason = "erased".to_owned();
        record.change.force = record.change.force.take().map(|_| "erased".to_owned());
    }
}

/// Says whether a line of the index page leads to the memory.
fn points_at(line: &[u8], note: &Note) -> bool {
    let line = String::from_utf8_lossy(line);
    let listed = line.trim_start().starts_with(['-', '*']);
    listed
        && note
            .paths
            .iter()
            .any(|path| line.contains(&format!("]({path})")) || line.contains(&format!("](<{path}>)")))
}

/// Returns the versions of the index page that a change names.
fn page_versions(record: &Record) -> BTreeSet<ContentHash> {
    let pages = record.change.ops.iter().filter(|op| op.path == INDEX_PAGE);
    pages.flat_map(|op| [op.before, op.after]).flatten().collect()
}

/// The names of the memories that are erased.
fn stems(note: &Note) -> BTreeSet<&str> {
    note.paths.iter().map(|path| path.strip_suffix(".md").unwrap_or(path)).collect()
}

fn scrub_ledger(ledger: &Ledger, note: &Note) -> io::Result<()> {
    let stems = stems(note);
    ledger.rewrite(|event| {
        let concerned = stems.contains(event.mem.as_str());
        concerned.then(|| ledger::Event {
            mem: erased_name(event.sha256).trim_end_matches(".md").to_owned(),
            ..event.clone()
        })
    })
}

fn erased_name(hash: Option<ContentHash>) -> String {
    hash.map_or_else(|| "erased.md".to_owned(), |hash| format!("erased-{}.md", hash.short()))
}
