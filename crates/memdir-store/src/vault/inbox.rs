//! What waits for the user's word: proposals that were not carried out.
//!
//! A change set that must wait (see [`memdir_core::policy::waits`]) is kept whole in one file, `inbox/<id>.md`. The
//! file reads as the memory it proposes, marked as quarantined; its last line is a comment that holds the rest: who
//! proposes it and why it waits, what else changes with it, and the versions it was made from. So a proposal
//! against a memory that changed meanwhile can still be merged, however long it waited. Accepting it is a commit of
//! its own, which passes every gate again and takes the file away in the same change.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use memdir_core::change::{Author, ChangeSet, Edit, Exit, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, Memory, MemoryPath, Provenance, Tier, Value};
use memdir_core::merge::{three_way_memory, unified};
use memdir_core::policy::Refusal;

use super::commit::{Beside, Committed, Writer, Written};
use super::envelope::{TRUST, lifted, main_text, main_text_mut, render, split};
use super::plan::Plan;
use super::{CommitError, MAX_MEMORY, Vault};
use crate::disk::{Dir, ReadError};
use crate::history::{Area, ChangeId};
use crate::ledger::{Event, EventKind};

/// Why a memory waits that a tool's output asked for.
const HEARSAY: &str = "something that a tool brought in asked for it";
/// The field that quotes what a proposal was taken from; it stays behind in the inbox.
pub const SAID: &str = "said";
/// How many proposals wait at most: a page that asks again and again must not fill the disk.
const MAX_WAITING: usize = 1_000;

/// A change set that waits for the user's word.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// Its name, which is that of the change that proposed it; also says when that was.
    pub id: ChangeId,
    /// Why it waits.
    pub why: String,
    /// What it would do, as the proposer said it.
    pub set: ChangeSet,
    /// The file it waits in.
    pub file: PathBuf,
    /// The bytes of that file.
    bytes: Vec<u8>,
}

impl Vault {
    /// Lists what waits, oldest first. Who proposed it is believed only of a file as we wrote it, by the ledger.
    pub fn inbox(&self) -> io::Result<Vec<Proposal>> {
        let dir = match Dir::open(&self.state_path()).and_then(|state| state.sub("inbox")) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            dir => dir?,
        };
        let mut ids: Vec<ChangeId> = Vec::new();
        dir.for_each(|name, _| ids.extend(name.strip_suffix(".md").and_then(ChangeId::parse)))?;
        ids.sort_unstable();
        let ledger = self.ledger().filter(|_| !ids.is_empty());
        let ours = ledger.map_or(Ok(BTreeSet::new()), |ledger| ledger.proposals())?;
        let mut proposals = Vec::with_capacity(ids.len());
        for id in ids {
            match dir.read(&file_name(&id), MAX_MEMORY) {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    let is_ours = ours.contains(&ContentHash::of(&bytes));
                    proposals.extend(Proposal::read(id, &dir, bytes, is_ours));
                }
                Err(ReadError::Io(err)) => return Err(err),
                // Whatever that is, we did not put it there.
                Err(ReadError::NotAFile | ReadError::TooLarge { .. }) => {}
            }
        }
        Ok(proposals)
    }
}

impl Proposal {
    fn read(id: ChangeId, dir: &Dir, bytes: Vec<u8>, is_ours: bool) -> Option<Self> {
        let file = dir.path().join(file_name(&id));
        let (text, envelope) = split(&bytes);
        let text = lifted(text);
        let known = envelope.and_then(|envelope| Some((envelope.change_set(&text)?, envelope.why)));
        let (mut set, mut why) = match known {
            Some(known) => known,
            None => (unknown(&text)?, String::new()),
        };
        if !is_ours {
            (set.author, set.provenance) = (Author::Outside, Provenance::Outside);
            why = "nobody knows who wrote it".to_owned();
        }
        Some(Self { id, why, set, file, bytes })
    }

    /// Returns the memory that it is about, under the name that it would have.
    pub fn path(&self) -> Option<&MemoryPath> {
        self.set.edits.first().map(|edit| match edit {
            Edit::Rename { to, .. } | Edit::Remove { into: Exit::UserVault(to, _), .. } => to,
            edit => edit.path(),
        })
    }

    /// Returns the text that is proposed; none if a memory is to go.
    pub fn text(&self) -> Option<&[u8]> {
        self.set.edits.first().and_then(main_text)
    }

    /// Returns what the proposed text says.
    pub fn memory(&self) -> Option<Memory> {
        Some(Memory::read(self.path()?, &Document::parse(self.text()?)).0)
    }

    /// Returns the words that it was taken from, where it was found in a conversation.
    pub fn said(&self) -> Vec<String> {
        let Some(text) = self.text() else { return Vec::new() };
        let said = Document::parse(text).get(SAID);
        said.iter().flat_map(Value::texts).map(str::to_owned).collect()
    }

    /// Says in one word what would happen, given what the vault holds now.
    pub fn kind(&self, vault: &Vault) -> &'static str {
        let exists = |path: &MemoryPath| vault.load(path).ok().flatten().is_some();
        match self.set.edits.first() {
            Some(Edit::Create { path, .. } | Edit::Replace { path, .. }) if exists(path) => "change",
            Some(Edit::Create { .. } | Edit::Replace { .. }) => "new",
            Some(Edit::Rename { .. }) => "rename",
            Some(Edit::Remove { into: Exit::UserVault(..), .. }) => "promote",
            Some(Edit::Remove { .. }) | None => "remove",
        }
    }

    /// Shows what would change in the vault as it is now.
    pub fn diff(&self, vault: &Vault) -> String {
        let live = |path: &MemoryPath| vault.load(path).ok().flatten().map(|loaded| loaded.document);
        let shown = |from: &MemoryPath, after: Option<&[u8]>, to: &MemoryPath| {
            let before = live(from);
            unified(before.as_ref().map(Document::bytes), after, to.as_str())
        };
        let edits = self.set.edits.iter().map(|edit| match edit {
            Edit::Create { path, text } => shown(path, Some(text), path),
            Edit::Replace { path, base, text } => {
                let merged = live(path).and_then(|live| three_way_memory(base, text, live.bytes()).ok());
                shown(path, Some(merged.as_deref().unwrap_or(text)), path)
            }
            Edit::Rename { from, to, text, .. } => {
                format!("rename from {from}\nrename to {to}\n{}", shown(from, Some(text), to))
            }
            Edit::Remove { path, into: Exit::UserVault(to, text), .. } => {
                format!("move to ~/{to}\n{}", shown(path, Some(text), path))
            }
            Edit::Remove { path, .. } => shown(path, None, path),
        });
        edits.collect()
    }
}

impl Writer<'_> {
    /// Turns a plan that must wait into one that keeps the change set in the inbox. The gates have been asked.
    pub(super) fn plan_waiting(
        &self,
        set: &ChangeSet,
        why: &'static str,
        planned: Plan,
    ) -> Result<Plan, CommitError> {
        let mut plan = Plan::default();
        if planned.ops.is_empty() {
            plan.committed = planned.committed;
            return Ok(plan);
        }
        let written = |path, hash| Written { path, hash, merged: false, quarantined: true };
        let waiting = self.vault.inbox().map_err(|source| CommitError::Read {
            path: self.areas.display(Area::Inbox, ""),
            source: ReadError::Io(source),
        })?;
        if let Some(same) = waiting.iter().find(|proposal| says_the_same(&proposal.set, set)) {
            plan.committed.remarks.push(format!("it waits in the inbox already: {why}"));
            plan.committed.written.push(written(same.file.clone(), ContentHash::of(&same.bytes)));
            return Ok(plan);
        }
        if waiting.len() >= MAX_WAITING {
            return Err(full());
        }
        let (id, bytes) = (self.next_id()?, render(set, why)?);
        let hash = plan.write(Area::Inbox, &file_name(&id), None, &bytes);
        plan.committed.remarks.push(format!("it waits in the inbox: {why}"));
        plan.committed.written.push(written(self.areas.display(Area::Inbox, &file_name(&id)), hash));
        plan.events
            .extend(set.edits.first().map(|edit| (EventKind::Proposed, edit.path().clone(), Some(hash))));
        plan.id = Some(id);
        Ok(plan)
    }

    /// Keeps a change set in the inbox whatever the settings say; every gate is asked. One that waits already is not
    /// kept twice.
    pub fn propose(&mut self, set: &ChangeSet, why: &'static str) -> Result<Committed, CommitError> {
        self.commit_with(set, &Beside { waits: Some(why), ..Beside::default() })
    }

    /// Takes what an agent wrote at a stranger's request out of the vault and keeps it in the inbox; returns how many
    /// memories that were. A memory that was changed so is as before, a new one goes to the trash.
    pub fn set_hearsay_aside(&mut self) -> Result<usize, CommitError> {
        let mut suspects = Vec::new();
        let noted = |event: Event| {
            if let (EventKind::Written, Some(Surface::Hook), Some(Provenance::Tool)) =
                (event.ev, event.by, event.prov)
            {
                suspects.extend(event.sha256.map(|hash| (event.mem, hash, event.sid)));
            }
        };
        // What cannot be read accuses nobody.
        let _ = self.ledger.as_ref().map(|ledger| ledger.for_each(noted));
        let mut n_aside = 0;
        for (name, hash, session) in suspects {
            let Ok(path) = MemoryPath::new(&format!("{name}.md")) else { continue };
            let text = self.read(&path)?.filter(|text| ContentHash::of(text) == hash);
            if let Some(text) = text.filter(|_| !self.vault.is_accepted(hash)) {
                self.set_aside(path, text, hash, session)?;
                n_aside += 1;
            }
        }
        Ok(n_aside)
    }

    fn set_aside(
        &mut self,
        path: MemoryPath,
        text: Vec<u8>,
        hash: ContentHash,
        session: Option<String>,
    ) -> Result<(), CommitError> {
        let set = |edit: Edit, provenance, reason: &str| ChangeSet {
            author: Author::Agent,
            by: Surface::Hook,
            provenance,
            reason: reason.to_owned(),
            session: session.clone(),
            force: Some("it is set aside".to_owned()),
            edits: vec![edit],
        };
        let (back, wish) = match self.version_before(&path, hash) {
            Some(before) => (
                Edit::Replace { path: path.clone(), base: text.clone(), text: before.clone() },
                Edit::Replace { path, base: before, text },
            ),
            None => (
                Edit::Remove { path: path.clone(), base: text.clone(), into: Exit::Trash },
                Edit::Create { path, text },
            ),
        };
        self.commit(&set(back, Provenance::User, "a tool's output had asked for it"))?;
        match self.propose(&set(wish, Provenance::Tool, "written by the agent"), HEARSAY) {
            // What a gate is against stays where it is kept: in history, and the trash.
            Ok(_) | Err(CommitError::Refused(_) | CommitError::Exists(_)) => Ok(()),
            Err(err) => Err(err),
        }
    }

    /// Returns what a memory was before it became this version.
    fn version_before(&self, path: &MemoryPath, hash: ContentHash) -> Option<Vec<u8>> {
        for id in self.history.ids().ok()?.into_iter().rev() {
            let Ok(Some(record)) = self.history.record(&id) else { continue };
            let made = record.change.ops.iter().find(|op| op.path == path.as_str() && op.after == Some(hash));
            if let Some(op) = made {
                return record.versions.get(&op.before?).cloned();
            }
        }
        None
    }

    /// Carries out a proposal on the word of the user, perhaps with another text. Every gate is asked again; who
    /// said it stays as it was.
    pub fn accept(
        &mut self,
        proposal: &Proposal,
        text: Option<Vec<u8>>,
        force: Option<String>,
    ) -> Result<Committed, CommitError> {
        let mut set = proposal.set.clone();
        if let Some(main) = set.edits.first_mut().and_then(main_text_mut) {
            *main = confirmed(text.as_deref().unwrap_or(main));
        }
        self.check_merge(proposal, &set)?;
        set.author = Author::Person;
        set.by = Surface::Cli;
        set.reason = format!("accepted: {}", set.reason);
        set.force = force;
        self.commit_with(&set, &Beside { leaving: std::slice::from_ref(proposal), ..Beside::default() })
    }

    /// Takes proposals out of the inbox without carrying them out; an undo brings them back.
    pub fn drop_proposals(&mut self, proposals: &[Proposal]) -> Result<Committed, CommitError> {
        let set = ChangeSet {
            author: Author::Person,
            by: Surface::Cli,
            provenance: Provenance::User,
            reason: "dropped from the inbox".to_owned(),
            session: None,
            force: None,
            edits: Vec::new(),
        };
        self.commit_with(&set, &Beside { leaving: proposals, ..Beside::default() })
    }

    /// Refuses what no longer fits the vault, before a commit would put the text aside a second time.
    fn check_merge(&self, proposal: &Proposal, set: &ChangeSet) -> Result<(), CommitError> {
        for edit in &set.edits {
            let Some(live) = self.read(edit.path())? else { continue };
            let name = || edit.path().stem().to_owned();
            match edit {
                Edit::Create { text, .. } if live != *text => return Err(CommitError::Exists(name())),
                Edit::Replace { base, text, .. } if three_way_memory(base, text, &live).is_err() => {
                    return Err(CommitError::Conflict { name: name(), kept: proposal.file.clone() });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the files of proposals out of the inbox, and notes what the user vouched for by accepting them.
    pub(super) fn plan_leaving(&self, leaving: &[Proposal], plan: &mut Plan) -> Result<(), CommitError> {
        for proposal in leaving {
            let name = file_name(&proposal.id);
            let file = |source| CommitError::Read { path: proposal.file.clone(), source };
            let inbox = self.areas.root(Area::Inbox).map_err(|err| file(ReadError::Io(err)))?;
            match inbox.read(&name, MAX_MEMORY).map_err(file)? {
                Some(bytes) if bytes == proposal.bytes => plan.delete(Area::Inbox, &name, &bytes),
                _ => return Err(CommitError::Stale(proposal.id.to_string())),
            }
        }
        let written = plan.events.iter().filter(|(kind, ..)| *kind == EventKind::Written);
        let accepted: Vec<_> =
            written.map(|(_, path, hash)| (EventKind::Accepted, path.clone(), *hash)).collect();
        if !leaving.is_empty() {
            plan.events.extend(accepted);
        }
        Ok(())
    }
}

fn full() -> CommitError {
    CommitError::Refused(vec![Refusal {
        rule: "inbox-full".into(),
        evidence: format!("{MAX_WAITING} proposals wait already"),
        destination: "decide about them: memdir review".to_owned(),
        question: None,
        can_force: false,
    }])
}

fn file_name(id: &ChangeId) -> String {
    format!("{id}.md")
}

/// Reads a file that says nothing about who put it there.
fn unknown(text: &[u8]) -> Option<ChangeSet> {
    let name = Document::parse(text).text("name")?.to_owned();
    let path = MemoryPath::new(&format!("{name}.md")).ok()?;
    Some(ChangeSet {
        author: Author::Outside,
        by: Surface::Cli,
        provenance: Provenance::Outside,
        reason: "found in the inbox".to_owned(),
        session: None,
        force: None,
        edits: vec![Edit::Create { path, text: text.to_owned() }],
    })
}

/// Says whether two change sets would do the same to the same memories, but for when and in which session.
fn says_the_same(a: &ChangeSet, b: &ChangeSet) -> bool {
    let timeless = |text: &[u8]| {
        let fields = ["created", "modified", "originSessionId", TRUST, SAID];
        let remove = |document: Document, field: &&str| document.remove(field).unwrap_or(document);
        fields.iter().fold(Document::parse(text), remove).bytes().to_owned()
    };
    let text = |edit: &Edit| main_text(edit).map(timeless);
    a.edits.len() == b.edits.len()
        && a.edits.iter().zip(&b.edits).all(|(a, b)| {
            std::mem::discriminant(a) == std::mem::discriminant(b)
                && a.path() == b.path()
                && text(a) == text(b)
        })
}

/// Returns a text that the user agreed to: neither quarantined nor supplementary any more.
fn confirmed(text: &[u8]) -> Vec<u8> {
    let mut document = Document::parse(&lifted(text));
    let is_supplementary = document.text("tier") == Some(Tier::Supplementary.as_str());
    let leaving = [is_supplementary.then_some("tier"), Some(SAID)];
    for field in leaving.into_iter().flatten() {
        document = document.remove(field).unwrap_or(document);
    }
    document.bytes().to_owned()
}
