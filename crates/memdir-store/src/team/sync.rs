//! One sync: what is there is asked, each key is decided about, what comes in is one change of the vault, the rest is sent.
//!
//! No lock is held while the other side is asked. What was planned meanwhile is compared before it is committed: a memory
//! that moved in between is left for the next round, which begins anew, as does a run that finds the state of another one.
//! Order: the vault, then the state, then what is sent, then the state again; a crash between any two leaves a vault and a
//! state from which the next run comes to the same end, because a text that is there already is recognised by its hash.
//! Look at [`run`] first.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::change::{ChangeSet, Edit, Exit, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, MAX_BODY, Memory, MemoryPath, Provenance, folded};
use memdir_core::team::conflict::{Combined, combine, is_copy};
use memdir_core::team::reconcile::{Block, Policy, Sending, Sides, Step, Taking, There, decide};
use memdir_core::team::share::Audience;

use super::fit;
use super::here::{self, File};
use super::remote::{
    About, Ask, Changes, Item, Outcome, Phase, Progress, Remote, RemoteError, State as There_, Version,
    Wanted, Write,
};
use super::report::{Conflict, Held, Refused, Report};
use super::state::{Key, Merging, State, Store, Waiting};
use crate::gate::Gate;
use crate::ledger::{Event, EventKind};
use crate::lock::{Lock, LockError};
use crate::vault::{CommitError, MAX_MEMORY, Vault};

/// How often a run begins anew because something moved.
const MAX_ROUNDS: usize = 6;

/// Whoever wrote it, by name; `None` is an author whom nobody knows.
type Believes<'a> = &'a dyn Fn(Option<&str>) -> bool;

/// What a sync works on.
pub struct Syncing<'a> {
    /// The vault.
    pub vault: &'a Vault,
    /// What new texts are judged by; its scanner sees everything that leaves.
    pub gate: &'a Gate,
    /// The user's clock, for the log.
    pub now: Timestamp,
    /// How two sides become one.
    pub policy: Policy,
    /// Whom the user believes.
    pub believes: Believes<'a>,
}

/// Why a sync came to no end. What it did before stands, and the next one goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The other side could not be asked.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The vault could not be changed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Another sync was at work all the time.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file of ours could not be read or written.
    #[error("could not use {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Brings both sides together.
pub fn run(
    syncing: &Syncing<'_>,
    remote: &mut dyn Remote,
    tell: &mut dyn FnMut(Progress),
) -> Result<Report, SyncError> {
    let mut report =
        Report { label: remote.about().label.clone(), policy: syncing.policy, ..Report::default() };
    for _ in 0..MAX_ROUNDS {
        report.unfinished = false;
        // What could not travel is found again by every round.
        report.refused.clear();
        report.held.clear();
        let mut round = Round::begin(syncing, remote, tell)?;
        round.erase_there(remote)?;
        round.plan(&mut report);
        round.fetch(remote, false, tell)?;
        round.take_over(&mut report, tell)?;
        if !report.unfinished || round.has_to_send() {
            round.send(remote, &mut report, tell)?;
        }
        round.note_waiting(&report);
        if !report.unfinished || report.cut.is_some() {
            break;
        }
    }
    report.traffic = remote.traffic();
    Ok(report)
}

/// Says what a sync would do, and does nothing.
pub fn preview(
    syncing: &Syncing<'_>,
    remote: &mut dyn Remote,
    tell: &mut dyn FnMut(Progress),
) -> Result<Report, SyncError> {
    let mut report =
        Report { label: remote.about().label.clone(), policy: syncing.policy, ..Report::default() };
    let mut round = Round::begin(syncing, remote, tell)?;
    round.plan(&mut report);
    round.fetch(remote, true, tell)?;
    round.foretell(&mut report);
    report.traffic = remote.traffic();
    Ok(report)
}

/// One attempt: the three sides of every key, and what is to happen to each.
struct Round<'a> {
    syncing: &'a Syncing<'a>,
    about: About,
    store: Store,
    /// The state as it was read.
    loaded: State,
    /// The state with what is there now.
    state: State,
    files: BTreeMap<MemoryPath, File>,
    away: BTreeSet<MemoryPath>,
    /// Keys that the other side has in a form that is not taken.
    unusable: Vec<Refused>,
    stuck: BTreeSet<MemoryPath>,
    /// Texts of the other side.
    texts: BTreeMap<MemoryPath, Vec<u8>>,
    steps: BTreeMap<MemoryPath, Step>,
}

impl<'a> Round<'a> {
    /// Looks at both sides.
    fn begin(
        syncing: &'a Syncing<'a>,
        remote: &mut dyn Remote,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Self, SyncError> {
        let about = remote.about().clone();
        let store = Store::below(&syncing.vault.state_path());
        let loaded = store.state(&about.id).map_err(|source| failed(syncing.vault, source))?;
        tell(Progress { phase: Phase::Reading, done: 0, of: None });
        let files = here::scan(syncing.vault, &store, about.audience)
            .map_err(|source| SyncError::Io { path: syncing.vault.path().to_owned(), source })?;
        let mut round = Self {
            syncing,
            about,
            store,
            state: loaded.clone(),
            loaded,
            files,
            away: BTreeSet::new(),
            unusable: Vec::new(),
            stuck: BTreeSet::new(),
            texts: BTreeMap::new(),
            steps: BTreeMap::new(),
        };
        round.recognise_merges();
        let changes = round.ask(remote, tell)?;
        round.overlay(changes);
        Ok(round)
    }

    /// A merge that a crash kept from the state: what is here was made of what is there.
    fn recognise_merges(&mut self) {
        for (path, merging) in self.store.merging() {
            let is_it = self.files.get(&path).is_some_and(|file| file.here.hash == merging.here);
            if let Some(key) = self.state.keys.get_mut(&path).filter(|_| is_it) {
                key.base = Some(merging.there);
            }
        }
    }

    fn ask(&self, remote: &mut dyn Remote, tell: &mut dyn FnMut(Progress)) -> Result<Changes, RemoteError> {
        let known = self.state.known();
        let since = self.state.cursor.clone();
        match remote.changes(&Ask { since: since.clone(), known: &known }, tell) {
            Err(RemoteError::CursorGone { .. }) if since.is_some() => {
                remote.changes(&Ask { since: None, known: &known }, tell)
            }
            changes => changes,
        }
    }

    /// Takes in what is there now.
    fn overlay(&mut self, changes: Changes) {
        let mut named = BTreeSet::new();
        for refused in changes.refused {
            named.extend(refused.path.clone());
            self.stuck.extend(refused.path);
            self.unusable.push(Refused {
                name: refused.name,
                rule: "remote".to_owned(),
                why: refused.why,
                line: None,
            });
        }
        for item in changes.items {
            named.insert(item.path.clone());
            self.overlay_item(item);
        }
        if changes.complete {
            let missing = self.state.keys.iter_mut().filter(|(path, _)| !named.contains(*path));
            for (_, key) in missing {
                (key.hash, key.author, key.stamp) = (None, None, None);
            }
        }
        self.state.cursor = changes.cursor;
    }

    fn overlay_item(&mut self, item: Item) {
        let Item { path, version, state, author, at, stamp } = item;
        let hash = match state {
            There_::Away => {
                self.away.insert(path);
                return;
            }
            There_::Gone { .. } => None,
            There_::Live { hash, size, text } => {
                let lies = text.as_ref().is_some_and(|text| ContentHash::of(text) != hash);
                if lies || size > MAX_BODY as u64 {
                    let (rule, why) = if lies {
                        ("hash", "its text is not what its hash says".to_owned())
                    } else {
                        ("size", format!("{size} bytes: a memory has at most {MAX_BODY}"))
                    };
                    self.unusable.push(Refused::new(&path, rule, why));
                    self.stuck.insert(path);
                    return;
                }
                self.texts.extend(text.map(|text| (path.clone(), text)));
                Some(hash)
            }
        };
        let known = self.state.keys.get(&path);
        let base = known.and_then(|key| key.base);
        // A version that was known before was written by whoever wrote it then.
        let same = known.filter(|key| key.version == version && author.is_none());
        let (author, at) = same.map_or((author, at), |key| (key.author.clone(), key.at));
        if hash.is_none() && base.is_none() && !self.files.contains_key(&path) {
            self.state.keys.remove(&path);
            return;
        }
        self.state.keys.insert(path, Key { base, version, hash, author, at, stamp });
    }

    /// Asks the other side to erase what was erased here.
    fn erase_there(&mut self, remote: &mut dyn Remote) -> Result<(), SyncError> {
        let pending = self.store.pending_erase();
        if pending.is_empty() {
            return Ok(());
        }
        let outcomes = remote.erase(&pending).outcomes;
        let done = |outcome: &Outcome| matches!(outcome, Outcome::Done { .. } | Outcome::Stale { .. });
        let done: BTreeSet<MemoryPath> = pending
            .into_iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| done(outcome))
            .map(|(path, _)| path)
            .collect();
        for path in &done {
            self.state.keys.remove(path);
            self.texts.remove(path);
        }
        self.save_over(&self.loaded.clone(), &done)?;
        self.store.erased(&done).map_err(|source| failed(self.syncing.vault, source))
    }

    /// Decides about every key.
    fn plan(&mut self, report: &mut Report) {
        report.refused.append(&mut self.unusable);
        let keys: BTreeSet<MemoryPath> = self.files.keys().chain(self.state.keys.keys()).cloned().collect();
        for path in keys {
            if self.stuck.contains(&path) {
                continue;
            }
            let step = decide(self.syncing.policy, &self.sides(&path));
            if step != Step::Leave {
                self.steps.insert(path, step);
            }
        }
        report.n_away = self.away.len();
        self.give_way(report);
        self.tell_what_stays(report);
    }

    fn sides(&self, path: &MemoryPath) -> Sides {
        let key = self.state.keys.get(path);
        let there = match key {
            _ if self.away.contains(path) => There::Away,
            None => There::Nothing,
            Some(key) => key.hash.map_or(There::Gone, There::Live),
        };
        let here = self.files.get(path).map(|file| file.here);
        Sides { here, base: key.and_then(|key| key.base), there, is_believed: self.is_believed(key) }
    }

    fn is_believed(&self, key: Option<&Key>) -> bool {
        let Some(key) = key else { return true };
        let author = key.author.as_deref().filter(|_| self.about.names_authors);
        let is_ours = author.is_some() && author == self.about.member.as_deref();
        // That a place no longer has what it had says the place itself, unless it names somebody.
        let is_places_own = key.hash.is_none() && key.author.is_none();
        self.about.audience == Audience::Own || is_ours || is_places_own || (self.syncing.believes)(author)
    }

    /// A name that differs from another only in case or folder cannot come in while the other is here.
    fn give_way(&mut self, report: &mut Report) {
        let mut taken: BTreeMap<String, MemoryPath> =
            self.files.keys().map(|path| (folded(path.stem()), path.clone())).collect();
        let comes = |step: &Step| matches!(step, Step::Take(Taking::New | Taking::Back));
        let coming: Vec<MemoryPath> =
            self.steps.iter().filter(|(_, step)| comes(step)).map(|(path, _)| path.clone()).collect();
        for path in coming {
            let other = taken.entry(folded(path.stem())).or_insert_with(|| path.clone()).clone();
            if other == path {
                continue;
            }
            self.steps.remove(&path);
            if self.steps.get(&other) == Some(&Step::Remove) {
                report.unfinished = true;
                continue;
            }
            let why = format!("`{other}` has the same name but for case or folder: rename one of the two");
            report.refused.push(Refused::new(&path, "name", why));
        }
    }

    /// Reports what nothing will be done about.
    fn tell_what_stays(&mut self, report: &mut Report) {
        for (path, step) in &self.steps {
            match step {
                Step::Blocked(Block::Unfit) => {
                    let Some(file) = self.files.get(path) else { continue };
                    if file.is_teams || self.state.keys.contains_key(path) {
                        let why = file.fault.clone().unwrap_or_else(|| Block::Unfit.why().to_owned());
                        report.refused.push(Refused::new(path, "format", why));
                    }
                }
                Step::Blocked(Block::Away) => {}
                Step::Blocked(block) => {
                    report.refused.push(Refused::new(path, "name", block.why().to_owned()));
                }
                Step::Hold => report.held.push(self.held(path)),
                _ => {}
            }
        }
    }

    fn held(&self, path: &MemoryPath) -> Held {
        let key = self.state.keys.get(path);
        let text = self.texts.get(path).filter(|_| key.is_some_and(|key| key.hash.is_some()));
        let description = text.map(|text| Memory::read(path, &Document::parse(text)).0.description);
        Held {
            name: path.stem().to_owned(),
            author: key.and_then(|key| key.author.clone()),
            at: key.and_then(|key| key.at),
            description: description.unwrap_or_default(),
        }
    }

    /// Fetches the texts that are needed and did not come along.
    fn fetch(
        &mut self,
        remote: &mut dyn Remote,
        is_preview: bool,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), SyncError> {
        let is_needed = |step: &Step| match step {
            Step::Take(_) | Step::Combine => true,
            Step::Hold => is_preview,
            _ => false,
        };
        let needed =
            self.steps.iter().filter(|(path, step)| is_needed(step) && !self.texts.contains_key(*path));
        let wanted: Vec<Wanted> = needed
            .filter_map(|(path, _)| {
                let key = self.state.keys.get(path)?;
                Some(Wanted { path: path.clone(), version: key.version.clone(), hash: key.hash? })
            })
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let texts = remote.texts(&wanted, tell)?;
        for (wanted, text) in wanted.into_iter().zip(texts) {
            if let Some(text) = text.filter(|text| ContentHash::of(text) == wanted.hash) {
                self.texts.insert(wanted.path, text);
            }
        }
        Ok(())
    }

    /// Says what would be done, where nothing is.
    fn foretell(&mut self, report: &mut Report) {
        report.held = self
            .steps
            .iter()
            .filter(|(_, step)| **step == Step::Hold)
            .map(|(path, _)| self.held(path))
            .collect();
        let steps = std::mem::take(&mut self.steps);
        for (path, step) in &steps {
            let name = path.stem().to_owned();
            match step {
                Step::Take(_) if self.refuses(path, report) => {}
                Step::Take(_) => report.pulled.push(name),
                Step::Remove => report.deleted_here.push(name),
                Step::Withdraw(_) => report.deleted_there.push(name),
                Step::Send(_) => {
                    match self.text_here(path).and_then(|text| fit::secret_in(path, &text, self.syncing.gate))
                    {
                        Some(refused) => report.refused.push(refused),
                        None => report.pushed.push(name),
                    }
                }
                Step::Combine if self.refuses(path, report) => {}
                Step::Combine => match self.combined(path) {
                    Some(Combined::Merged(_)) => report.merged.push(name),
                    Some(Combined::Both(copy)) => {
                        report.conflicts.push(Conflict { name, copy: copy.path.stem().to_owned() })
                    }
                    None => report.unfinished = true,
                },
                Step::Leave | Step::Note | Step::Forget | Step::Hold | Step::Blocked(_) => {}
            }
        }
    }

    /// Reports why a text of the other side may not come in.
    fn refuses(&self, path: &MemoryPath, report: &mut Report) -> bool {
        let before = self.text_here(path);
        let refused = self.texts.get(path).and_then(|text| {
            fit::against(path, text, before.as_deref(), self.about.audience, self.syncing.gate)
        });
        let is_refused = refused.is_some();
        report.refused.extend(refused);
        is_refused
    }

    /// Returns the text of a memory here, if it still is the one that was planned with.
    fn text_here(&self, path: &MemoryPath) -> Option<Vec<u8>> {
        let file = self.files.get(path)?;
        if let Some(text) = &file.text {
            return Some(text.clone());
        }
        let text = self.syncing.vault.dir().read(path.as_str(), MAX_MEMORY).ok()??;
        (ContentHash::of(&text) == file.here.hash).then_some(text)
    }

    fn combined(&self, path: &MemoryPath) -> Option<Combined> {
        let (here, there) = (self.text_here(path)?, self.texts.get(path)?);
        let base = self.state.keys.get(path).and_then(|key| key.base);
        let base = base.and_then(|hash| self.store.base(path, hash));
        let taken: BTreeMap<MemoryPath, Vec<u8>> = self
            .files
            .keys()
            .filter(|other| is_copy(other))
            .filter_map(|other| Some((other.clone(), self.text_here(other)?)))
            .collect();
        let taken = |other: &MemoryPath| taken.get(other).map(Vec::as_slice);
        Some(combine(path, base.as_deref(), &here, there, taken))
    }
}

/// What a change of the vault brings, and what is known of it afterwards.
#[derive(Default)]
struct Incoming {
    edits: Vec<Edit>,
    /// What the other side had, key by key, which is the base from now on.
    bases: Vec<MemoryPath>,
    /// What is gone on both sides from now on.
    gone: Vec<MemoryPath>,
    merging: BTreeMap<MemoryPath, Merging>,
    /// Texts here afterwards that are to be sent.
    sending: Vec<(MemoryPath, Vec<u8>)>,
    said_by: BTreeMap<ContentHash, Provenance>,
    report: Report,
}

impl Round<'_> {
    /// Takes over what came in as one change of the vault, and writes the state.
    fn take_over(&mut self, report: &mut Report, tell: &mut dyn FnMut(Progress)) -> Result<(), SyncError> {
        let vault = self.syncing.vault;
        let _lock = Lock::acquire(&vault.home().join("locks"), &lock_name(vault))?;
        let standing = self.store.state(&self.about.id).map_err(|source| failed(vault, source))?;
        if standing != self.loaded {
            // Another sync came first; what it knows is better than what we planned with.
            report.unfinished = true;
            self.steps.clear();
            return Ok(());
        }
        let mut incoming = Incoming::default();
        if self.steps.values().any(|step| matches!(step, Step::Take(_) | Step::Combine | Step::Remove)) {
            tell(Progress { phase: Phase::Writing, done: 0, of: Some(self.steps.len()) });
            // Taken before the files are compared: from here on only programs that do not know us can move them.
            let mut writer = vault.writer(self.syncing.now, self.syncing.gate)?;
            self.gather(&mut incoming);
            let set = self.change_set(std::mem::take(&mut incoming.edits));
            self.store.note_merging(&incoming.merging).map_err(|source| failed(vault, source))?;
            match writer.commit_synced(&set, incoming.said_by.clone()) {
                Ok(committed) => report.change = committed.change.or(report.change.take()),
                // A program that does not know us was faster: the next round sees what it wrote.
                Err(CommitError::Stale(_) | CommitError::Conflict { .. } | CommitError::Exists(_)) => {
                    report.unfinished = true;
                    self.steps.clear();
                    return Ok(());
                }
                Err(err) => return Err(err.into()),
            }
            drop(writer);
        }
        report.absorb(&mut incoming.report);
        self.vouch(&incoming.report.authors);
        self.settle(&incoming)?;
        for (path, text) in incoming.sending {
            let hash = ContentHash::of(&text);
            let here = memdir_core::team::reconcile::Here {
                hash,
                sharing: memdir_core::team::reconcile::Sharing::Shared,
            };
            self.files.insert(path.clone(), File { here, fault: None, is_teams: true, text: Some(text) });
            self.steps.insert(path, Step::Send(Sending::Changed));
        }
        report.authors.append(&mut incoming.report.authors);
        Ok(())
    }

    fn change_set(&self, edits: Vec<Edit>) -> ChangeSet {
        let (author, provenance) = fit::enters_as(self.about.audience);
        ChangeSet {
            author,
            by: Surface::Sync,
            provenance,
            reason: format!("sync with {}", self.about.label),
            session: None,
            force: None,
            edits,
        }
    }

    /// Collects the edits of the vault. What moved since it was looked at is left for the next round.
    fn gather(&mut self, incoming: &mut Incoming) {
        for (path, step) in self.steps.clone() {
            let comes_in = matches!(step, Step::Take(_) | Step::Combine | Step::Remove);
            if !comes_in {
                continue;
            }
            let now = self.syncing.vault.dir().read(path.as_str(), MAX_MEMORY).ok().flatten();
            let planned = self.files.get(&path).map(|file| file.here.hash);
            if now.as_deref().map(ContentHash::of) != planned {
                incoming.report.unfinished = true;
                continue;
            }
            if step != Step::Remove {
                if !self.texts.contains_key(&path) {
                    incoming.report.unfinished = true;
                    continue;
                }
                if self.refuses(&path, &mut incoming.report) {
                    continue;
                }
            }
            self.gather_key(&path, step, now, incoming);
        }
    }

    fn gather_key(&mut self, path: &MemoryPath, step: Step, now: Option<Vec<u8>>, incoming: &mut Incoming) {
        let name = path.stem().to_owned();
        let author = self.state.keys.get(path).and_then(|key| key.author.clone());
        let report = &mut incoming.report;
        match (step, now) {
            (Step::Remove, Some(base)) => {
                incoming.edits.push(Edit::Remove { path: path.clone(), base, into: Exit::Trash });
                incoming.gone.push(path.clone());
                report.deleted_here.push(name);
            }
            (Step::Take(taking), now) => {
                let text = self.texts[path].clone();
                report.authors.push((path.clone(), ContentHash::of(&text), author));
                incoming.bases.push(path.clone());
                match taking {
                    Taking::Back => report.survived.push(name.clone()),
                    Taking::Preferred => report.replaced.push(name.clone()),
                    Taking::New | Taking::Changed => {}
                }
                report.pulled.push(name);
                let path = path.clone();
                incoming.edits.push(match now {
                    None => Edit::Create { path, text },
                    Some(base) => Edit::Replace { path, base, text },
                });
            }
            (Step::Combine, Some(here)) => self.gather_both(path, here, author, incoming),
            _ => report.unfinished = true,
        }
    }

    fn gather_both(
        &mut self,
        path: &MemoryPath,
        here: Vec<u8>,
        author: Option<String>,
        incoming: &mut Incoming,
    ) {
        let Some(combined) = self.combined(path) else {
            incoming.report.unfinished = true;
            return;
        };
        let there = self.texts[path].clone();
        let name = path.stem().to_owned();
        let text = match combined {
            Combined::Merged(text) => {
                // Two harmless halves can make a whole that a gate refuses.
                let refused = fit::against(path, &text, Some(&here), self.about.audience, self.syncing.gate);
                if let Some(refused) = refused {
                    incoming.report.refused.push(refused);
                    return;
                }
                let merging = Merging { there: ContentHash::of(&there), here: ContentHash::of(&text) };
                incoming.merging.insert(path.clone(), merging);
                if text != there {
                    incoming.sending.push((path.clone(), text.clone()));
                }
                incoming.report.merged.push(name);
                text
            }
            Combined::Both(copy) => {
                let said_by = self.syncing.vault.said_by(ContentHash::of(&here));
                incoming.said_by.insert(ContentHash::of(&copy.text), said_by);
                incoming.report.conflicts.push(Conflict { name, copy: copy.path.stem().to_owned() });
                if !self.files.contains_key(&copy.path) {
                    incoming.edits.push(Edit::Create { path: copy.path.clone(), text: copy.text.clone() });
                }
                incoming.sending.push((copy.path, copy.text));
                there
            }
        };
        incoming.report.authors.push((path.clone(), ContentHash::of(&text), author));
        incoming.bases.push(path.clone());
        incoming.edits.push(Edit::Replace { path: path.clone(), base: here, text });
    }

    /// Notes in the ledger that the user believes who wrote these versions: that makes them enforce, and names them.
    fn vouch(&self, authors: &[(MemoryPath, ContentHash, Option<String>)]) {
        if authors.is_empty() || self.about.audience == Audience::Own {
            return;
        }
        let event = |(path, hash, who): &(MemoryPath, ContentHash, Option<String>)| Event {
            sha256: Some(*hash),
            by: Some(Surface::Sync),
            who: who.clone(),
            ..Event::new(self.syncing.now, EventKind::Accepted, path.stem())
        };
        let events: Vec<Event> = authors.iter().map(event).collect();
        // If it fails, a rule reminds where it could deny, until the version after this one.
        if let Ok(ledger) = self.syncing.vault.ensure_ledger() {
            let _ = ledger.append(&events);
        }
    }

    /// Writes what is known after the vault was changed: the bases, then the state, then that nothing is on its way.
    fn settle(&mut self, incoming: &Incoming) -> Result<(), SyncError> {
        let vault = self.syncing.vault;
        let io = |source| failed(vault, source);
        for path in &incoming.bases {
            if let Some(key) = self.state.keys.get_mut(path) {
                key.base = key.hash;
            }
            self.store.keep_base(path, &self.texts[path]).map_err(io)?;
        }
        let noted: Vec<MemoryPath> = self
            .steps
            .iter()
            .filter(|(_, step)| **step == Step::Note)
            .map(|(path, _)| path.clone())
            .collect();
        for path in noted {
            let Some(text) = self.text_here(&path) else { continue };
            self.store.keep_base(&path, &text).map_err(io)?;
            if let Some(key) = self.state.keys.get_mut(&path) {
                key.base = key.hash;
            }
        }
        let forgotten = self.steps.iter().filter(|(_, step)| **step == Step::Forget).map(|(path, _)| path);
        let gone: Vec<MemoryPath> = forgotten.chain(&incoming.gone).cloned().collect();
        for path in gone {
            self.state.keys.remove(&path);
            self.store.drop_base(&path).map_err(io)?;
        }
        if self.state != self.loaded {
            self.store.save(&self.state).map_err(io)?;
        }
        self.loaded = self.state.clone();
        self.store.note_merging(&BTreeMap::new()).map_err(io)
    }

    fn has_to_send(&self) -> bool {
        self.steps.values().any(|step| matches!(step, Step::Send(_) | Step::Withdraw(_)))
    }

    /// Sends what is to be sent, and notes what stands there now.
    fn send(
        &mut self,
        remote: &mut dyn Remote,
        report: &mut Report,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), SyncError> {
        let mut writes = self.writes(report);
        if writes.is_empty() {
            return Ok(());
        }
        let before = self.state.clone();
        let mut touched = BTreeSet::new();
        let mut pushed = remote.push(&writes, tell);
        self.state.cursor = pushed.cursor.take().or(self.state.cursor.take());
        let over_deleted = self.take_outcomes(&writes, pushed.outcomes, &mut touched, report);
        report.cut = pushed.cut;
        if !over_deleted.is_empty() && report.cut.is_none() {
            // A tombstone stood there that we did not know of: once more, naming it.
            writes = over_deleted;
            let again = remote.push(&writes, tell);
            let left = self.take_outcomes(&writes, again.outcomes, &mut touched, report);
            report.unfinished |= !left.is_empty();
            report.cut = again.cut;
        }
        let _lock = Lock::acquire(&self.syncing.vault.home().join("locks"), &lock_name(self.syncing.vault))?;
        self.save_over(&before, &touched)
    }

    fn writes(&mut self, report: &mut Report) -> Vec<Write> {
        let mut writes = Vec::new();
        for (path, step) in &self.steps {
            let text = match step {
                Step::Send(_) => match self.text_here(path) {
                    // It moved since: the next round sends what it is by then.
                    None => {
                        report.unfinished = true;
                        continue;
                    }
                    Some(text) => Some(text),
                },
                Step::Withdraw(_) => None,
                _ => continue,
            };
            let secret = text.as_ref().and_then(|text| fit::secret_in(path, text, self.syncing.gate));
            if let Some(refused) = secret {
                report.refused.push(refused);
                continue;
            }
            let base = self.state.keys.get(path).map(|key| key.version.clone());
            writes.push(Write { path: path.clone(), base, text });
        }
        writes
    }

    /// Notes what became of writes. Returns those that met a tombstone, to be written over it.
    fn take_outcomes(
        &mut self,
        writes: &[Write],
        outcomes: Vec<Outcome>,
        touched: &mut BTreeSet<MemoryPath>,
        report: &mut Report,
    ) -> Vec<Write> {
        let mut over_deleted = Vec::new();
        for (write, outcome) in writes.iter().zip(outcomes) {
            let pushed = write.text.as_deref().map(ContentHash::of);
            match outcome {
                Outcome::Done { version, stamp } => {
                    self.stands(write, version, stamp, report);
                    touched.insert(write.path.clone());
                }
                // A reply that was lost: what we wanted is there already.
                Outcome::Stale { current: Some(current) } if current.hash == pushed => {
                    self.stands(write, current.version, None, report);
                    touched.insert(write.path.clone());
                }
                Outcome::Stale { current: Some(current) } if current.hash.is_none() => {
                    over_deleted.push(Write { base: Some(current.version), ..write.clone() });
                }
                Outcome::Stale { .. } => report.unfinished = true,
                Outcome::Refused { code, message } => {
                    report.refused.push(Refused::new(&write.path, &code, message));
                }
                Outcome::Unknown => report.unfinished = true,
            }
        }
        over_deleted
    }

    /// Notes that a write stands over there.
    fn stands(
        &mut self,
        write: &Write,
        version: Version,
        stamp: Option<super::remote::Stamp>,
        report: &mut Report,
    ) {
        let name = write.path.stem().to_owned();
        let Some(text) = &write.text else {
            self.state.keys.remove(&write.path);
            let _ = self.store.drop_base(&write.path);
            report.deleted_there.push(name);
            return;
        };
        let hash = Some(ContentHash::of(text));
        let author = self.about.member.clone();
        let key = Key { base: hash, version, hash, author, at: Some(self.syncing.now), stamp };
        self.state.keys.insert(write.path.clone(), key);
        // A base that is missing costs a merge, not a text.
        let _ = self.store.keep_base(&write.path, text);
        if self.steps.get(&write.path) == Some(&Step::Send(Sending::Again)) {
            report.survived.push(name.clone());
        }
        if !report.merged.contains(&name) {
            report.pushed.push(name);
        }
    }

    /// Saves the state; where another run saved one since `before`, only the keys that were touched.
    fn save_over(&mut self, before: &State, touched: &BTreeSet<MemoryPath>) -> Result<(), SyncError> {
        let vault = self.syncing.vault;
        let io = |source| failed(vault, source);
        let standing = self.store.state(&self.about.id).map_err(io)?;
        if standing != *before && standing != self.loaded {
            let mut merged = standing;
            for path in touched {
                match self.state.keys.get(path) {
                    Some(key) => drop(merged.keys.insert(path.clone(), key.clone())),
                    None => drop(merged.keys.remove(path)),
                }
            }
            self.state = merged;
        }
        if self.state != self.loaded {
            self.store.save(&self.state).map_err(io)?;
            self.loaded = self.state.clone();
        }
        Ok(())
    }

    /// Leaves what waits where it can be told without a look at everything.
    fn note_waiting(&self, report: &Report) {
        let mut waiting = Waiting { at: Some(self.syncing.now), ..Waiting::default() };
        for held in &report.held {
            let author = held.author.clone().unwrap_or_else(|| self.about.label.clone());
            *waiting.held.entry(author).or_default() += 1;
        }
        waiting.conflicts =
            self.files.keys().filter(|path| is_copy(path)).map(|path| path.stem().to_owned()).collect();
        // Derived: the next sync says it again.
        let _ = self.store.note_waiting(&waiting);
    }
}

impl Report {
    /// Adds what a round did.
    fn absorb(&mut self, other: &mut Self) {
        self.pulled.append(&mut other.pulled);
        self.merged.append(&mut other.merged);
        self.deleted_here.append(&mut other.deleted_here);
        self.conflicts.append(&mut other.conflicts);
        self.refused.append(&mut other.refused);
        self.survived.append(&mut other.survived);
        self.replaced.append(&mut other.replaced);
        self.unfinished |= other.unfinished;
    }
}

fn lock_name(vault: &Vault) -> String {
    format!("sync-{}.lock", vault.id())
}

fn failed(vault: &Vault, source: io::Error) -> SyncError {
    SyncError::Io { path: vault.state_path().join("sync"), source }
}
