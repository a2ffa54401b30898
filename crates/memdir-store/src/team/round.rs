//! One attempt of a sync: the three sides of every key, and what is to happen to each.
//!
//! A [`Round`] looks at the vault, the state and the other side, and decides. Nothing is changed here: `incoming` takes over,
//! `outgoing` sends.

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, MAX_BODY, Memory, MemoryPath, Provenance, folded};
use memdir_core::team::conflict::{Combined, combine, is_copy};
use memdir_core::team::reconcile::{Block, Sides, Step, Taking, There, decide};
use memdir_core::team::share::Audience;

use super::fit;
use super::here::{self, File};
use super::remote::{
    About, Ask, Changes, Item, Phase, Progress, Remote, RemoteError, State as OtherSide, Wanted,
};
use super::report::{Conflict, Held, Refused, Report};
use super::state::{Key, State, Store, Waiting};
use super::sync::{SyncError, Syncing, erased, failed};
use crate::vault::MAX_MEMORY;

/// One attempt: the three sides of every key, and what is to happen to each.
pub(super) struct Round<'a> {
    pub(super) syncing: &'a Syncing<'a>,
    pub(super) about: About,
    pub(super) store: Store,
    /// The state as it was read.
    pub(super) loaded: State,
    /// The state with what is there now.
    pub(super) state: State,
    pub(super) files: BTreeMap<MemoryPath, File>,
    pub(super) away: BTreeSet<MemoryPath>,
    /// Keys that the other side has in a form that is not taken.
    pub(super) unusable: Vec<Refused>,
    pub(super) stuck: BTreeSet<MemoryPath>,
    /// Texts of the other side.
    pub(super) texts: BTreeMap<MemoryPath, Vec<u8>>,
    pub(super) steps: BTreeMap<MemoryPath, Step>,
}

impl<'a> Round<'a> {
    /// Looks at both sides.
    pub(super) fn begin(
        syncing: &'a Syncing<'a>,
        remote: &mut dyn Remote,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Self, SyncError> {
        let about = remote.about().clone();
        let store = Store::below(&syncing.vault.state_path());
        let loaded = store.state(&about.id).map_err(|source| failed(syncing.vault, source))?;
        tell(Progress { phase: Phase::Reading, done: 0, of: None });
        let files = here::scan(syncing.vault, &store, about.audience)?;
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
    pub(super) fn recognise_merges(&mut self) {
        for (path, merging) in self.store.merging() {
            let is_it = self.files.get(&path).is_some_and(|file| file.here.hash == merging.here);
            if let Some(key) = self.state.keys.get_mut(&path).filter(|_| is_it) {
                key.base = Some(merging.there);
            }
        }
    }

    pub(super) fn ask(
        &self,
        remote: &mut dyn Remote,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Changes, RemoteError> {
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
    pub(super) fn overlay(&mut self, changes: Changes) {
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
        for path in changes.lost {
            match self.state.keys.get_mut(&path).filter(|_| named.contains(&path)) {
                Some(key) => key.base = key.hash,
                None => drop(self.state.keys.remove(&path)),
            }
        }
        if changes.complete {
            let missing = self.state.keys.iter_mut().filter(|(path, _)| !named.contains(*path));
            for (_, key) in missing {
                (key.hash, key.author, key.stamp) = (None, None, None);
            }
        }
        self.state.cursor = changes.cursor;
    }

    pub(super) fn overlay_item(&mut self, item: Item) {
        let Item { path, version, state, author, at, stamp } = item;
        let erased = state == OtherSide::Gone { erased: true };
        let hash = match state {
            OtherSide::Away => {
                self.away.insert(path);
                return;
            }
            OtherSide::Gone { .. } => None,
            OtherSide::Live { hash, size, text } => {
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
        self.state.keys.insert(path, Key { base, version, hash, author, at, stamp, erased });
    }

    /// Asks the other side to erase what was erased here.
    pub(super) fn erase_there(&mut self, remote: &mut dyn Remote) -> Result<(), SyncError> {
        let pending = self.store.pending_erase();
        if pending.is_empty() {
            return Ok(());
        }
        let done = erased(&pending, &remote.erase(&pending).outcomes);
        for path in &done {
            self.state.keys.remove(path);
            self.texts.remove(path);
        }
        self.save_over(&self.loaded.clone(), &done)?;
        self.store.erased(&done).map_err(|source| failed(self.syncing.vault, source))
    }

    /// Decides about every key.
    pub(super) fn plan(&mut self, report: &mut Report) {
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

    pub(super) fn sides(&self, path: &MemoryPath) -> Sides {
        let key = self.state.keys.get(path);
        let there = match key {
            _ if self.away.contains(path) => There::Away,
            None => There::Nothing,
            Some(key) => key.hash.map_or(There::Gone, There::Live),
        };
        let here = self.files.get(path).map(|file| file.here);
        Sides { here, base: key.and_then(|key| key.base), there, is_believed: self.is_believed(key) }
    }

    pub(super) fn is_believed(&self, key: Option<&Key>) -> bool {
        let Some(key) = key else { return true };
        // That a place no longer has what it had says the place itself, unless it names somebody.
        let is_places_own = key.hash.is_none() && key.author.is_none();
        is_places_own || self.is_trusted(key)
    }

    /// Says whether the user believes who wrote what is there.
    pub(super) fn is_trusted(&self, key: &Key) -> bool {
        let author = key.author.as_deref().filter(|_| self.about.names_authors);
        self.about.audience == Audience::Own || self.is_our_word(key) || (self.syncing.believes)(author)
    }

    /// Says whether what is there in our own name is ours indeed. The place says who wrote what, and may say what it likes:
    /// so our name counts only with bytes that were written on this machine. Otherwise it is a name like any other.
    fn is_our_word(&self, key: &Key) -> bool {
        let is_our_name = key.author.is_some() && key.author == self.about.member;
        let is_known = |hash| self.syncing.vault.said_by(hash) != Provenance::Outside;
        self.about.names_authors && is_our_name && key.hash.is_some_and(is_known)
    }

    /// A name that differs from another only in case or folder cannot come in while the other is here.
    pub(super) fn give_way(&mut self, report: &mut Report) {
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
    pub(super) fn tell_what_stays(&mut self, report: &mut Report) {
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

    pub(super) fn held(&self, path: &MemoryPath) -> Held {
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
    pub(super) fn fetch(
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
    pub(super) fn foretell(&mut self, report: &mut Report) -> Result<(), SyncError> {
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
                Step::Combine => match self.combined(path)? {
                    Some(Combined::Merged(_)) => report.merged.push(name),
                    Some(Combined::Both(copy)) => {
                        report.conflicts.push(Conflict { name, copy: copy.path.stem().to_owned() })
                    }
                    None => report.unfinished = true,
                },
                Step::Leave | Step::Note | Step::Forget | Step::Hold | Step::Blocked(_) => {}
            }
        }
        Ok(())
    }

    /// Reports why a text of the other side may not come in.
    pub(super) fn refuses(&self, path: &MemoryPath, report: &mut Report) -> bool {
        let before = self.text_here(path);
        let refused = self.texts.get(path).and_then(|text| {
            fit::against(path, text, before.as_deref(), self.about.audience, self.syncing.gate)
        });
        let is_refused = refused.is_some();
        report.refused.extend(refused);
        is_refused
    }

    /// Returns the text of a memory here, if it still is the one that was planned with.
    pub(super) fn text_here(&self, path: &MemoryPath) -> Option<Vec<u8>> {
        let file = self.files.get(path)?;
        if let Some(text) = &file.text {
            return Some(text.clone());
        }
        let text = self.syncing.vault.dir().read(path.as_str(), MAX_MEMORY).ok()??;
        (ContentHash::of(&text) == file.here.hash).then_some(text)
    }

    /// Makes one of both sides of a key; `None` if one of them moved.
    pub(super) fn combined(&self, path: &MemoryPath) -> Result<Option<Combined>, SyncError> {
        let (Some(here), Some(there)) = (self.text_here(path), self.texts.get(path)) else { return Ok(None) };
        let base = self.state.keys.get(path).and_then(|key| key.base);
        let base = match base.map(|hash| self.store.base(path, hash)) {
            Some(Err(source)) => return Err(SyncError::Io { path: self.store.base_path(path), source }),
            Some(Ok(base)) => base,
            None => None,
        };
        // A name that the other side has is taken, too: another machine may have kept the same text beside, and what is
        // there and was not fetched is some other text.
        let there_too = self.state.keys.iter().filter(|(other, key)| is_copy(other) && key.hash.is_some());
        let mut taken: BTreeMap<MemoryPath, Vec<u8>> = there_too
            .map(|(other, _)| (other.clone(), self.texts.get(other).cloned().unwrap_or_default()))
            .collect();
        let copies = self.files.keys().filter(|other| is_copy(other));
        taken.extend(copies.filter_map(|other| Some((other.clone(), self.text_here(other)?))));
        let taken = |other: &MemoryPath| taken.get(other).map(Vec::as_slice);
        Ok(Some(combine(path, base.as_deref(), &here, there, taken)))
    }

    /// Leaves what waits where it can be told without a look at everything.
    pub(super) fn note_waiting(&self, report: &Report) {
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
