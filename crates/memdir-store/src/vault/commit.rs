//! The one door: a change set goes in, and all of it happens or none of it.
//!
//! A [`Writer`] holds the vault's lock. It plans a change set against what is on disk at that moment (merging what
//! others changed elsewhere in a file, putting aside what cannot be merged), asks the gates, renders the index
//! page, publishes, and records. When another program changes a file between plan and publication, the plan is
//! thrown away and made again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::change::{Author, ChangeSet, Edit, Exit};
use memdir_core::hash::ContentHash;
use memdir_core::likeness::nearest_duplicate;
use memdir_core::memory::{Document, INDEX_PAGE, Memory, MemoryPath, Provenance};
use memdir_core::merge::three_way_memory;
use memdir_core::page::{self, Load, PageEntry};
use memdir_core::policy::{Proposal, Verdict, Version, judge};

use super::catalog::{self, Catalog, Doc};
use super::publish::{Areas, PublishError, Step, aside_name, publish};
use super::restore::{Copy, PageBase};
use super::{CommitError, INTENT, MAX_MEMORY, Vault, recover};
use crate::disk::{Dir, ReadError};
use crate::history::{self, Area, Change, ChangeId, FileOp, History, OpKind, Record, Versions};
use crate::ledger::{self, Event, EventKind, Ledger};
use crate::lock::Lock;

/// How often a change is planned again because another program was faster.
const MAX_ATTEMPTS: usize = 20;

/// Changes a vault, one change set after another, while it holds the lock.
#[derive(Debug)]
pub struct Writer<'v> {
    pub(super) vault: &'v Vault,
    pub(super) now: Timestamp,
    pub(super) areas: Areas,
    pub(super) history: History,
    pub(super) catalog: Catalog,
    /// Memories whose line on the index page may be out of date.
    pub(super) touched: BTreeSet<MemoryPath>,
    /// The user vault's writer, for changes that reach both.
    pub(super) user: Option<Box<Writer<'v>>>,
    ledger: Option<Ledger>,
    index: Dir,
    _lock: Lock,
}

/// What a commit did.
#[derive(Debug, Default)]
pub struct Committed {
    /// The change; none if there was nothing to do.
    pub change: Option<ChangeId>,
    /// The memories as they are now, in the order of the change set.
    pub written: Vec<Written>,
    /// What the author should know.
    pub remarks: Vec<String>,
    /// Memories that left the index page to keep it within its limits.
    pub left_page: Vec<MemoryPath>,
}

/// One memory that a commit wrote.
#[derive(Debug, Clone)]
pub struct Written {
    /// Where it is.
    pub path: PathBuf,
    /// Which version it is.
    pub hash: ContentHash,
    /// Whether it was merged with what somebody else wrote meanwhile.
    pub merged: bool,
    /// Whether it waits in the inbox instead of the vault.
    pub quarantined: bool,
}

/// What is to be done, against the vault as it is now.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) ops: Vec<FileOp>,
    pub(super) versions: Versions,
    pub(super) events: Vec<(EventKind, MemoryPath, Option<ContentHash>)>,
    /// What the index page is rendered from.
    pub(super) page: PageBase,
    /// The memories by what links and careless file systems tell apart: the name, without folder and case.
    names: BTreeMap<String, MemoryPath>,
    provenance: Option<Provenance>,
    committed: Committed,
}

impl Plan {
    /// Adds a file that becomes `after`; the record gets what is needed to do it again and to take it back.
    pub(super) fn write(
        &mut self,
        area: Area,
        path: &str,
        before: Option<&[u8]>,
        after: &[u8],
    ) -> ContentHash {
        let before_hash = before.map(|bytes| self.remember(bytes));
        let after_hash = self.remember(after);
        self.steps.push(Step {
            area,
            path: path.to_owned(),
            before: before_hash,
            after: Some(after.to_owned()),
        });
        let (path, from) = (path.to_owned(), None);
        self.ops.push(FileOp {
            op: OpKind::Write,
            area,
            path,
            from,
            before: before_hash,
            after: Some(after_hash),
            erased: false,
        });
        after_hash
    }

    /// Adds a file that goes away.
    pub(super) fn delete(&mut self, area: Area, path: &str, before: &[u8]) {
        let before = Some(self.remember(before));
        self.steps.push(Step { area, path: path.to_owned(), before, after: None });
        self.ops.push(FileOp {
            op: OpKind::Delete,
            area,
            path: path.to_owned(),
            from: None,
            before,
            after: None,
            erased: false,
        });
    }

    /// Adds a file that gets another name and perhaps another text. The new one comes first: no moment without it.
    fn rename(&mut self, from: &str, before: &[u8], to: &str, after: &[u8]) -> ContentHash {
        let (before, after_hash) = (Some(self.remember(before)), self.remember(after));
        let area = Area::Vault;
        self.steps.push(Step { area, path: to.to_owned(), before: None, after: Some(after.to_owned()) });
        self.steps.push(Step { area, path: from.to_owned(), before, after: None });
        let (path, from) = (to.to_owned(), Some(from.to_owned()));
        self.ops.push(FileOp {
            op: OpKind::Rename,
            area,
            path,
            from,
            before,
            after: Some(after_hash),
            erased: false,
        });
        after_hash
    }

    /// Takes a name for a new memory. One that another memory has in a folder, or that differs from another only in
    /// case, is refused: links could not tell the two apart, and some file systems would make them one file. What
    /// is imported was told apart where it comes from.
    fn claim_name(
        &mut self,
        set: &ChangeSet,
        path: &MemoryPath,
        from: Option<&MemoryPath>,
    ) -> Result<(), CommitError> {
        let taken = self.names.insert(folded_stem(path), path.clone());
        match taken.filter(|other| Some(other) != from) {
            Some(other) if set.author != Author::Import || other == *path => {
                Err(CommitError::Exists(other.stem().to_owned()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn remember(&mut self, bytes: &[u8]) -> ContentHash {
        let hash = ContentHash::of(bytes);
        self.versions.entry(hash).or_insert_with(|| bytes.to_owned());
        hash
    }
}

fn folded_stem(path: &MemoryPath) -> String {
    path.stem().to_lowercase()
}

impl<'v> Writer<'v> {
    /// Takes the lock, finishes what a crash left, and takes up what other programs changed.
    pub(super) fn begin(vault: &'v Vault, now: Timestamp) -> Result<Self, CommitError> {
        let lock = vault.lock()?;
        let ensure = |path: PathBuf| Dir::ensure(&path).map_err(|source| CommitError::Write { path, source });
        let state = ensure(vault.state_path())?;
        vault.recover(&state)?;
        let areas = Areas { vault: vault.root.clone(), user: None, state };
        for dir in [&areas.vault, &areas.state] {
            recover::sweep(&areas, dir, None)
                .map_err(|source| CommitError::Read { path: dir.path().to_owned(), source })?;
        }
        let history = History::ensure(&areas.state)
            .map_err(|source| CommitError::Write { path: areas.state.path().to_owned(), source })?;
        let index = ensure(vault.home.join("index"))?;
        let catalog = match Catalog::load(&index, &vault.id) {
            Some(catalog) => catalog,
            None => Catalog::from_history(&history)
                .map_err(|err| CommitError::Read { path: history.dir().path().to_owned(), source: err })?,
        };
        let home = ensure(vault.home.clone())?;
        let ledger_dir = ensure(areas.state.path().join("ledger"))?;
        let ledger = ledger::machine(&home, &areas.state).ok();
        let ledger = ledger.map(|machine| Ledger::new(ledger_dir, areas.state.clone(), machine));
        let touched = BTreeSet::new();
        let mut writer =
            Self { vault, now, areas, history, catalog, touched, user: None, ledger, index, _lock: lock };
        writer.take_up()?;
        Ok(writer)
    }

    /// Lets change sets reach the user vault too.
    pub fn with_user_vault(mut self, user: &'v Vault) -> Result<Self, CommitError> {
        let writer = Writer::begin(user, self.now)?;
        self.areas.user = Some(user.root.clone());
        self.user = Some(Box::new(writer));
        Ok(self)
    }

    /// Carries out a change set.
    pub fn commit(&mut self, set: &ChangeSet) -> Result<Committed, CommitError> {
        self.commit_with(set, &[], &PageBase::Current)
    }

    /// Carries out a change set together with copies beside the vault, and says what the page is rendered from.
    pub(super) fn commit_with(
        &mut self,
        set: &ChangeSet,
        copies: &[Copy],
        page: &PageBase,
    ) -> Result<Committed, CommitError> {
        for _ in 0..MAX_ATTEMPTS {
            let mut plan = self.plan(set)?;
            plan.page = page.clone();
            self.plan_copies(copies, &mut plan)?;
            self.plan_pages(&mut plan)?;
            let change = self.describe(set, &plan)?;
            match self.carry_out(plan, change) {
                Err(PublishError::Raced { .. }) => self.take_up()?,
                Err(err) => return Err(err.into()),
                Ok(committed) => return Ok(committed),
            }
        }
        let path = set.edits.first().map_or_else(|| INDEX_PAGE.to_owned(), |edit| edit.path().to_string());
        Err(CommitError::Stale(path))
    }

    /// Publishes a plan and records it.
    pub(super) fn carry_out(&mut self, plan: Plan, change: Change) -> Result<Committed, PublishError> {
        let mut committed = plan.committed;
        if plan.ops.is_empty() {
            return Ok(committed);
        }
        let record = Record { change, versions: plan.versions };
        publish(&self.areas, &plan.steps, &record)?;
        // From here on the change stands, whatever fails: the intent is durable and says all there is to say.
        self.record_events(&record.change, &plan.events, plan.provenance);
        self.absorb(&record.change, &plan.steps);
        if let Some(user) = self.user.as_deref_mut() {
            user.record_twin(&record, &plan.steps);
        }
        let name = history::file_name(&record.change.id);
        if let Err(err) = self.areas.state.rename(INTENT, self.history.dir(), &name) {
            committed.remarks.push(format!("the change is made, but its record is still open: {err}"));
        }
        committed.change = Some(record.change.id);
        Ok(committed)
    }

    fn plan(&mut self, set: &ChangeSet) -> Result<Plan, CommitError> {
        let names = self.catalog.docs.keys().map(|path| (folded_stem(path), path.clone())).collect();
        let mut plan = Plan { provenance: Some(set.provenance), names, ..Plan::default() };
        for edit in &set.edits {
            match edit {
                Edit::Create { path, text } => self.plan_create(set, path, text, &mut plan)?,
                Edit::Replace { path, base, text } => self.plan_replace(set, path, base, text, &mut plan)?,
                Edit::Rename { from, base, to, text } => {
                    self.plan_rename(set, from, base, to, text, &mut plan)?
                }
                Edit::Remove { path, base, into } => self.plan_remove(path, base, into, &mut plan)?,
            }
        }
        Ok(plan)
    }

    fn plan_create(
        &mut self,
        set: &ChangeSet,
        path: &MemoryPath,
        text: &[u8],
        plan: &mut Plan,
    ) -> Result<(), CommitError> {
        match self.read(path)? {
            Some(live) if live == text => return Ok(()),
            Some(_) => return Err(self.put_aside(path, text)),
            None => plan.claim_name(set, path, None)?,
        }
        let area = self.judge(set, path, text, None, plan)?;
        let written_path = match area {
            Area::Inbox => format!("{}.md", self.next_id()?),
            _ => path.to_string(),
        };
        let hash = plan.write(area, &written_path, None, text);
        self.report(plan, area, &written_path, hash, false);
        if area == Area::Vault {
            plan.events.push((EventKind::Written, path.clone(), Some(hash)));
        }
        Ok(())
    }

    fn plan_replace(
        &mut self,
        set: &ChangeSet,
        path: &MemoryPath,
        base: &[u8],
        text: &[u8],
        plan: &mut Plan,
    ) -> Result<(), CommitError> {
        let live = self.read(path)?;
        let Some(live) = live else {
            // Deleted meanwhile: an edit weighs more than a deletion, which can be had again.
            plan.committed
                .remarks
                .push(format!("memory `{}` had been removed meanwhile; it is back", path.stem()));
            return self.plan_create(set, path, text, plan);
        };
        let merged = live != base && live != text;
        let text = match merged {
            false => text.to_owned(),
            true => match three_way_memory(base, text, &live) {
                Ok(merged) => merged,
                Err(_) => return Err(self.put_aside(path, text)),
            },
        };
        if live == text {
            self.report(plan, Area::Vault, path.as_str(), ContentHash::of(&text), merged);
            return Ok(());
        }
        self.judge(set, path, &text, Some(&live), plan)?;
        let hash = plan.write(Area::Vault, path.as_str(), Some(&live), &text);
        plan.events.push((EventKind::Written, path.clone(), Some(hash)));
        self.report(plan, Area::Vault, path.as_str(), hash, merged);
        Ok(())
    }

    fn plan_rename(
        &mut self,
        set: &ChangeSet,
        from: &MemoryPath,
        base: &[u8],
        to: &MemoryPath,
        text: &[u8],
        plan: &mut Plan,
    ) -> Result<(), CommitError> {
        self.expect(from, base)?;
        if self.read(to)?.is_some() {
            return Err(CommitError::Exists(to.stem().to_owned()));
        }
        plan.claim_name(set, to, Some(from))?;
        self.judge(set, to, text, Some(base), plan)?;
        let hash = plan.rename(from.as_str(), base, to.as_str(), text);
        plan.events.push((EventKind::Rename, from.clone(), None));
        plan.events.push((EventKind::Written, to.clone(), Some(hash)));
        self.report(plan, Area::Vault, to.as_str(), hash, false);
        Ok(())
    }

    fn plan_remove(
        &mut self,
        path: &MemoryPath,
        base: &[u8],
        into: &Exit,
        plan: &mut Plan,
    ) -> Result<(), CommitError> {
        self.expect(path, base)?;
        let hash = ContentHash::of(base);
        match into {
            Exit::Trash => self.plan_aside(Area::Trash, path, base, plan)?,
            Exit::Archive(text) => {
                self.plan_aside(Area::Archive, path, text, plan)?;
                plan.events.push((EventKind::Archive, path.clone(), Some(hash)));
            }
            Exit::UserVault(to, text) => {
                let user = self.user.as_ref().ok_or_else(|| CommitError::Missing("user vault".to_owned()))?;
                if user.read(to)?.is_some() {
                    return Err(CommitError::Exists(to.stem().to_owned()));
                }
                let hash = plan.write(Area::User, to.as_str(), None, text);
                self.report(plan, Area::User, to.as_str(), hash, false);
            }
        }
        plan.delete(Area::Vault, path.as_str(), base);
        Ok(())
    }

    /// Keeps a version outside the vault; one that is there already is as good.
    pub(super) fn plan_aside(
        &self,
        area: Area,
        path: &MemoryPath,
        text: &[u8],
        plan: &mut Plan,
    ) -> Result<(), CommitError> {
        let name = aside_name(path.as_str(), &ContentHash::of(text));
        let shown = || self.areas.display(area, &name);
        let dir = self.areas.root(area).map_err(|source| CommitError::Write { path: shown(), source })?;
        let there =
            dir.read(&name, MAX_MEMORY).map_err(|source| CommitError::Read { path: shown(), source })?;
        if there.is_none() {
            plan.write(area, &name, None, text);
        }
        Ok(())
    }

    /// Adds the index pages of the vaults that the plan changes.
    pub(super) fn plan_pages(&mut self, plan: &mut Plan) -> Result<(), CommitError> {
        if let Some(user) = self.user.as_mut() {
            user.plan_page(Area::User, plan)?;
        }
        self.plan_page(Area::Vault, plan)
    }

    fn plan_page(&mut self, area: Area, plan: &mut Plan) -> Result<(), CommitError> {
        let steps = || plan.steps.iter().filter(|step| step.area == area);
        let changing: BTreeSet<&str> = steps().map(|step| step.path.as_str()).collect();
        let staying = self.catalog.docs.iter().filter(|(path, _)| !changing.contains(path.as_str()));
        let mut entries: Vec<PageEntry> = staying.map(|(_, doc)| doc.page_entry(self.now)).collect();
        let mut touched = self.touched.clone();
        for step in steps() {
            let Ok(path) = MemoryPath::new(&step.path) else { continue };
            if let Some(bytes) = &step.after {
                entries.push(Doc::describe(&path, bytes, None, self.now, None).page_entry(self.now));
            }
            touched.insert(path);
        }
        let current = match self.areas.vault.read(INDEX_PAGE, MAX_MEMORY) {
            Ok(current) => current,
            Err(ReadError::Io(source)) => {
                return Err(CommitError::Write { path: self.areas.vault.path().join(INDEX_PAGE), source });
            }
            Err(err) => {
                plan.committed.remarks.push(format!("{INDEX_PAGE} is left alone: {err}"));
                return Ok(());
            }
        };
        let base = if area == Area::Vault { &plan.page } else { &PageBase::Current };
        let page = base.render(current.as_deref(), &entries, &touched);
        if current.as_deref() == Some(&page.bytes) || (current.is_none() && entries.is_empty()) {
            return Ok(());
        }
        if let Some(warning) = page::over_limit_message(Load::measure(&page.bytes)) {
            plan.committed.remarks.push(warning);
        }
        let shortened = page.shortened.iter().filter(|path| touched.contains(*path));
        plan.committed.remarks.extend(shortened.map(|path| {
            format!("the line of `{}` in {INDEX_PAGE} was cut to {} characters", path.stem(), page::MAX_LINE)
        }));
        plan.committed.left_page.extend(page.left);
        plan.write(area, INDEX_PAGE, current.as_deref(), &page.bytes);
        Ok(())
    }

    fn describe(&self, set: &ChangeSet, plan: &Plan) -> Result<Change, CommitError> {
        Ok(Change {
            id: self.next_id()?,
            at: self.now,
            by: set.by,
            author: set.author,
            session: set.session.clone(),
            reason: set.reason.clone(),
            force: set.force.clone(),
            undoes: None,
            ops: plan.ops.clone(),
        })
    }

    /// Makes the next change's id: after every other one here, whatever the clock says.
    pub(super) fn next_id(&self) -> Result<ChangeId, CommitError> {
        let users = self.user.as_ref().and_then(|user| user.catalog.last.as_ref());
        let last = self.catalog.last.as_ref().max(users);
        ChangeId::next(self.now, last)
            .map_err(|source| CommitError::Write { path: self.history.dir().path().to_owned(), source })
    }

    /// Asks the gates, and says into which area the text may go.
    fn judge(
        &self,
        set: &ChangeSet,
        path: &MemoryPath,
        text: &[u8],
        before: Option<&[u8]>,
        plan: &mut Plan,
    ) -> Result<Area, CommitError> {
        let document = Document::parse(text);
        let (memory, problems) = Memory::read(path, &document);
        let before = before.map(|bytes| {
            let document = Document::parse(bytes);
            let (memory, problems) = Memory::read(path, &document);
            (document, memory, problems)
        });
        let is_new = before.is_none() && set.author != Author::Import;
        let duplicate = if is_new { self.duplicate_of(&memory, &document)? } else { None };
        let proposal = Proposal {
            text: Version { document: &document, memory: &memory, problems: &problems },
            before: before.as_ref().map(|(document, memory, problems)| Version {
                document,
                memory,
                problems,
            }),
            author: set.author,
            provenance: set.provenance,
            force: set.force.as_deref(),
            duplicate: duplicate.as_ref().map(|(path, likeness)| (path.stem(), *likeness)),
        };
        match judge(&proposal) {
            Verdict::Accept { remarks } => {
                plan.committed.remarks.extend(remarks);
                Ok(Area::Vault)
            }
            Verdict::Quarantine { reason } => {
                plan.committed.remarks.push(format!("it waits in the inbox: {reason}"));
                Ok(Area::Inbox)
            }
            Verdict::Refuse(refusals) => Err(CommitError::Refused(refusals)),
        }
    }

    /// Finds a memory of the same type that says nearly the same. Only those whose sketch is close are opened.
    fn duplicate_of(
        &self,
        memory: &Memory,
        document: &Document,
    ) -> Result<Option<(MemoryPath, f64)>, CommitError> {
        let draft = catalog::likeness(memory, document);
        let sketch = catalog::sketch(&draft);
        let mut candidates = Vec::new();
        for (path, doc) in &self.catalog.docs {
            if doc.memory_type() != memory.memory_type || !doc.may_resemble(&sketch) {
                continue;
            }
            if let Some(bytes) = self.read(path)? {
                let document = Document::parse(&bytes);
                let (memory, _) = Memory::read(path, &document);
                candidates.push((path, catalog::likeness(&memory, &document)));
            }
        }
        let nearest = nearest_duplicate(&draft, candidates.iter().map(|(_, likeness)| likeness));
        Ok(nearest.map(|(index, likeness)| (candidates[index].0.clone(), likeness)))
    }

    /// Reads a memory of the vault as it is now.
    pub(super) fn read(&self, path: &MemoryPath) -> Result<Option<Vec<u8>>, CommitError> {
        let shown = || self.areas.display(Area::Vault, path.as_str());
        self.areas
            .vault
            .read(path.as_str(), MAX_MEMORY)
            .map_err(|source| CommitError::Read { path: shown(), source })
    }

    /// Checks that a memory is what the caller saw.
    fn expect(&self, path: &MemoryPath, base: &[u8]) -> Result<(), CommitError> {
        match self.read(path)? {
            None => Err(CommitError::Missing(path.stem().to_owned())),
            Some(live) if live != base => Err(CommitError::Stale(path.stem().to_owned())),
            Some(_) => Ok(()),
        }
    }

    /// Puts aside a text that cannot be merged, and says so.
    fn put_aside(&self, path: &MemoryPath, text: &[u8]) -> CommitError {
        match self.areas.put_aside(path.as_str(), text) {
            Ok(kept) => CommitError::Conflict { name: path.stem().to_owned(), kept },
            Err(source) => {
                CommitError::Write { path: self.areas.display(Area::Conflicts, path.as_str()), source }
            }
        }
    }

    fn report(&self, plan: &mut Plan, area: Area, path: &str, hash: ContentHash, merged: bool) {
        let quarantined = area == Area::Inbox;
        plan.committed.written.push(Written {
            path: self.areas.display(area, path),
            hash,
            merged,
            quarantined,
        });
    }

    /// Takes what a change did into the catalog.
    pub(super) fn absorb(&mut self, change: &Change, steps: &[Step]) {
        for step in steps.iter().filter(|step| step.area == Area::Vault) {
            self.absorb_step(step, &change.id);
        }
        self.catalog.last = Some(change.id.clone());
        self.save_catalog();
    }

    fn absorb_step(&mut self, step: &Step, change: &ChangeId) {
        let Ok(path) = MemoryPath::new(&step.path) else {
            self.touched.clear(); // the index page itself: it is up to date now
            return;
        };
        match &step.after {
            None => drop(self.catalog.docs.remove(&path)),
            Some(bytes) => {
                let stat =
                    self.areas.vault.folder(path.as_str()).and_then(|(folder, name)| folder.stat(name));
                let doc = Doc::describe(&path, bytes, stat.ok().flatten(), self.now, Some(change.clone()));
                self.catalog.docs.insert(path, doc);
            }
        }
    }

    /// A catalog that could not be saved must not stay behind: it would deny what just happened.
    pub(super) fn save_catalog(&mut self) {
        let id = &self.vault.id;
        if self.catalog.save(&self.areas.state, &self.index, id).is_err() {
            let _ = self.index.remove(&catalog::file_name(id));
        }
    }

    /// Keeps the user vault's part of a change in its own history too, so that it can be seen and restored there.
    fn record_twin(&mut self, record: &Record, steps: &[Step]) {
        let mut twin = record.clone();
        twin.change.ops.retain(|op| op.area == Area::User);
        if twin.change.ops.is_empty() {
            return;
        }
        twin.change.ops.iter_mut().for_each(|op| op.area = Area::Vault);
        let named: BTreeSet<ContentHash> =
            twin.change.ops.iter().flat_map(|op| [op.before, op.after]).flatten().collect();
        twin.versions.retain(|hash, _| named.contains(hash));
        let _ = self.history.write(&twin);
        let steps: Vec<Step> = steps.iter().filter(|step| step.area == Area::User).cloned().collect();
        let steps: Vec<Step> = steps.into_iter().map(|step| Step { area: Area::Vault, ..step }).collect();
        self.absorb(&twin.change, &steps);
    }

    fn record_events(
        &self,
        change: &Change,
        events: &[(EventKind, MemoryPath, Option<ContentHash>)],
        prov: Option<Provenance>,
    ) {
        let Some(ledger) = &self.ledger else { return };
        let event = |(ev, path, sha256): &(EventKind, MemoryPath, Option<ContentHash>)| Event {
            t: self.now,
            ev: *ev,
            mem: path.stem().to_owned(),
            sha256: *sha256,
            sid: change.session.clone(),
            by: Some(change.by),
            prov: prov.filter(|_| *ev == EventKind::Written),
        };
        let events: Vec<Event> = events.iter().map(event).collect();
        // Not waited for and not fatal: the history record says the same.
        let _ = ledger.append(&events);
    }
}
