//! What comes in with a sync: one change of the vault, then the state.

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::change::{ChangeSet, Edit, Exit, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, Provenance};
use memdir_core::team::conflict::Combined;
use memdir_core::team::reconcile::{Here, Sending, Sharing, Step, Taking};
use memdir_core::team::share::Audience;

use super::fit;
use super::here::File;
use super::remote::{Phase, Progress};
use super::report::{Conflict, Report};
use super::round::Round;
use super::state::Merging;
use super::sync::{SyncError, failed, lock_name};
use crate::ledger::{Event, EventKind};
use crate::lock::Lock;
use crate::vault::{CommitError, MAX_MEMORY};

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

impl Incoming {
    /// A text that is kept beside may come from the other side as well: it is made once.
    fn keep_once(&mut self) {
        let mut made = BTreeSet::new();
        self.edits.retain(|edit| match edit {
            Edit::Create { path, text } => made.insert((path.clone(), ContentHash::of(text))),
            _ => true,
        });
    }
}

impl Round<'_> {
    /// Takes over what came in as one change of the vault, and writes the state.
    pub(super) fn take_over(
        &mut self,
        report: &mut Report,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), SyncError> {
        let vault = self.syncing.vault;
        let _lock = Lock::acquire(&vault.home().join("locks"), &lock_name(vault))?;
        self.store.sweep();
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
            self.gather(&mut incoming)?;
            incoming.keep_once();
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
        self.erase_here(&mut incoming)?;
        report.absorb(&mut incoming.report);
        self.vouch(&incoming.report.authors);
        self.settle(&incoming)?;
        for (path, text) in incoming.sending {
            let hash = ContentHash::of(&text);
            let here = Here { hash, sharing: Sharing::Shared };
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
    fn gather(&mut self, incoming: &mut Incoming) -> Result<(), SyncError> {
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
            self.gather_key(&path, step, now, incoming)?;
        }
        Ok(())
    }

    fn gather_key(
        &mut self,
        path: &MemoryPath,
        step: Step,
        now: Option<Vec<u8>>,
        incoming: &mut Incoming,
    ) -> Result<(), SyncError> {
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
            (Step::Combine, Some(here)) => self.gather_both(path, here, author, incoming)?,
            _ => report.unfinished = true,
        }
        Ok(())
    }

    fn gather_both(
        &mut self,
        path: &MemoryPath,
        here: Vec<u8>,
        author: Option<String>,
        incoming: &mut Incoming,
    ) -> Result<(), SyncError> {
        let Some(combined) = self.combined(path)? else {
            incoming.report.unfinished = true;
            return Ok(());
        };
        let there = self.texts[path].clone();
        let name = path.stem().to_owned();
        let text = match combined {
            Combined::Merged(text) => {
                // Two harmless halves can make a whole that a gate refuses.
                let refused = fit::against(path, &text, Some(&here), self.about.audience, self.syncing.gate);
                if let Some(refused) = refused {
                    incoming.report.refused.push(refused);
                    return Ok(());
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
                if self.texts.get(&copy.path) != Some(&copy.text) {
                    incoming.sending.push((copy.path, copy.text));
                }
                there
            }
        };
        incoming.report.authors.push((path.clone(), ContentHash::of(&text), author));
        incoming.bases.push(path.clone());
        incoming.edits.push(Edit::Replace { path: path.clone(), base: here, text });
        Ok(())
    }

    /// Takes away every version of what was erased on another machine of the user's own. Comes before the state: after a
    /// crash in between, the next run does it again. What somebody else erased went to the trash like anything that was
    /// deleted, and stays in history: nobody takes another's memory away for good.
    fn erase_here(&self, incoming: &mut Incoming) -> Result<(), SyncError> {
        let is_gone =
            |path: &MemoryPath| self.steps.get(path) == Some(&Step::Forget) || incoming.gone.contains(path);
        let erased = self.state.keys.iter().filter(|(path, key)| key.erased && is_gone(path));
        let erased: Vec<MemoryPath> = erased.map(|(path, _)| path.clone()).collect();
        if self.about.audience != Audience::Own {
            let name = |path: &MemoryPath| path.stem().to_owned();
            let trashed = erased.iter().filter(|path| incoming.gone.contains(path)).map(name);
            incoming.report.erased_there.extend(trashed);
            return Ok(());
        }
        for path in erased {
            match self.syncing.vault.writer(self.syncing.now, self.syncing.gate)?.erase(&path) {
                // What it was renamed to since is another memory.
                Err(CommitError::Missing(_) | CommitError::Renamed { .. }) => continue,
                erased => erased.map(drop)?,
            }
            let name = path.stem().to_owned();
            incoming.report.deleted_here.retain(|other| *other != name);
            incoming.report.erased_here.push(name);
            // What the place keeps on this machine of its own past goes with the next round.
            incoming.report.unfinished = true;
        }
        Ok(())
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
}

impl Report {
    /// Adds what a round did.
    fn absorb(&mut self, other: &mut Self) {
        self.pulled.append(&mut other.pulled);
        self.merged.append(&mut other.merged);
        self.deleted_here.append(&mut other.deleted_here);
        self.erased_here.append(&mut other.erased_here);
        self.erased_there.append(&mut other.erased_there);
        self.conflicts.append(&mut other.conflicts);
        self.refused.append(&mut other.refused);
        self.survived.append(&mut other.survived);
        self.replaced.append(&mut other.replaced);
        self.unfinished |= other.unfinished;
    }
}
