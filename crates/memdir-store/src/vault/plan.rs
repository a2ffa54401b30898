//! Plans a change set against the vault as it is at this moment.
//!
//! What others changed elsewhere in a file is merged, what cannot be merged is put aside, the gates are asked, and the
//! index page is rendered. A [`Plan`] says what is to be done and holds what it takes to take it back; nothing is
//! changed here.

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::change::{Author, ChangeSet, Edit, Exit};
use memdir_core::hash::ContentHash;
use memdir_core::likeness::nearest_duplicate;
use memdir_core::memory::{Document, INDEX_PAGE, Memory, MemoryPath, Provenance, folded};
use memdir_core::merge::three_way_memory;
use memdir_core::page::{self, Load, Page, PageEntry};
use memdir_core::policy::{
    Proposal, Refusal, Verdict, Version, is_said_now, is_weighed_against_others, judge, said, secrets, waits,
    with_absolute_dates,
};

use memdir_core::worth::Evidence;

use super::catalog::{self, Catalog, Doc};
use super::commit::{Committed, Writer, Written};
use super::publish::{Step, aside_name};
use super::restore::PageBase;
use super::{CommitError, MAX_MEMORY};
use crate::disk::ReadError;
use crate::history::{Area, ChangeId, FileOp, OpKind, Versions};
use crate::ledger::EventKind;

/// What is to be done, against the vault as it is now.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) ops: Vec<FileOp>,
    pub(super) versions: Versions,
    pub(super) events: Vec<(EventKind, MemoryPath, Option<ContentHash>)>,
    /// What the index page is rendered from.
    pub(super) page: PageBase,
    /// Names that the plan takes, by what links and careless file systems tell apart: without folder and case.
    names: BTreeMap<String, MemoryPath>,
    /// Whether a gate was passed over for a stated reason.
    pub(super) forced: bool,
    pub(super) provenance: Option<Provenance>,
    /// The id that the change must have, because a file is named after it.
    pub(super) id: Option<ChangeId>,
    /// Versions that say what another one said, and who said that.
    pub(super) said_by: BTreeMap<ContentHash, Provenance>,
    /// Foreign lines of the index page that the remarks tell of.
    pub(super) noticed: Vec<ContentHash>,
    /// What enters the user vault, and who said it.
    pub(super) promoted: Vec<(MemoryPath, ContentHash, Provenance)>,
    pub(super) committed: Committed,
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

    pub(super) fn remember(&mut self, bytes: &[u8]) -> ContentHash {
        let hash = ContentHash::of(bytes);
        self.versions.entry(hash).or_insert_with(|| bytes.to_owned());
        hash
    }
}

impl Writer<'_> {
    pub(super) fn plan(&mut self, set: &ChangeSet) -> Result<Plan, CommitError> {
        let mut plan = Plan { provenance: Some(set.provenance), ..Plan::default() };
        for edit in &set.edits {
            match edit {
                Edit::Create { path, text } => self.plan_create(set, path, text, &mut plan)?,
                Edit::Replace { path, base, text } => self.plan_replace(set, path, base, text, &mut plan)?,
                Edit::Rename { from, base, to, text } => {
                    self.plan_rename(set, from, base, to, text, &mut plan)?
                }
                Edit::Remove { path, base, into } => self.plan_remove(set, path, base, into, &mut plan)?,
            }
        }
        match waits(set.author, set.provenance, self.gate.review) {
            Some(why) => self.plan_waiting(set, why, plan),
            None => Ok(plan),
        }
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
            None => self.claim_name(set, path, None, plan)?,
        }
        self.judge(set, path, text, None, plan)?;
        let hash = plan.write(Area::Vault, path.as_str(), None, text);
        self.report(plan, Area::Vault, path.as_str(), hash, false);
        plan.events.push((EventKind::Written, path.clone(), Some(hash)));
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
        plan.said_by.extend(self.still_said_by(set, path, &live, &text));
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
        self.claim_name(set, to, Some(from), plan)?;
        self.judge(set, to, text, Some(base), plan)?;
        let hash = plan.rename(from.as_str(), base, to.as_str(), text);
        plan.said_by.extend(self.still_said_by(set, to, base, text));
        plan.events.push((EventKind::Rename, from.clone(), None));
        plan.events.push((EventKind::Written, to.clone(), Some(hash)));
        self.report(plan, Area::Vault, to.as_str(), hash, false);
        Ok(())
    }

    fn plan_remove(
        &mut self,
        set: &ChangeSet,
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
                if !user.named(to.stem())?.is_empty() {
                    return Err(CommitError::Exists(to.stem().to_owned()));
                }
                // It is new there and passes every gate as such; what is only remarked on was said at its first save.
                let n_remarks = plan.committed.remarks.len();
                user.judge(set, to, text, None, plan)?;
                plan.committed.remarks.truncate(n_remarks);
                let written = plan.write(Area::User, to.as_str(), None, text);
                self.report(plan, Area::User, to.as_str(), written, false);
                // It moves house; who said it stays who said it.
                let said_by = self.provenance_of(hash).unwrap_or(Provenance::Outside);
                plan.promoted.push((to.clone(), written, said_by));
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
        let mut written = Vec::new();
        let mut touched = self.touched.clone();
        for step in steps() {
            let Ok(path) = MemoryPath::new(&step.path) else { continue };
            if let Some(bytes) = &step.after {
                written.push(Doc::describe(&path, bytes, None, self.now, None).page_entry(self.now));
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
        let (page, entries) = match (base, current.as_deref()) {
            (PageBase::Current, Some(current)) => self.render_page(current, &changing, &written, &touched)?,
            _ => {
                let entries = [self.entries(&changing)?, written].concat();
                (base.render(current.as_deref(), &entries, &touched), entries)
            }
        };
        if area == Area::Vault {
            let existing: BTreeSet<&MemoryPath> = entries.iter().map(|entry| &entry.path).collect();
            self.notice_lines(&page.bytes, |path| existing.contains(path), plan);
        }
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

    /// Renders a page that is there, from the memories it names where it is too full for the others, and returns it with
    /// the memories that were looked at.
    fn render_page(
        &self,
        current: &[u8],
        changing: &BTreeSet<&str>,
        written: &[PageEntry],
        touched: &BTreeSet<MemoryPath>,
    ) -> Result<(Page, Vec<PageEntry>), CommitError> {
        let mut entries = written.to_vec();
        let mut n_others = self.known_of(Catalog::len)?;
        // What the plan changes or takes away is known already, and not one of the others.
        for path in changing.iter().filter_map(|path| MemoryPath::new(path).ok()) {
            n_others -= usize::from(self.known_of(|catalog| catalog.contains(&path))?);
        }
        for path in page::named(current).union(touched).filter(|path| !changing.contains(path.as_str())) {
            if let Some(doc) = self.known_of(|catalog| catalog.get(path))? {
                entries.push(doc.page_entry(self.now));
                n_others -= 1;
            }
        }
        if let Some(page) = page::render_full_page(current, &entries, n_others, touched) {
            return Ok((page, entries));
        }
        let entries = [self.entries(changing)?, written.to_vec()].concat();
        Ok((page::render(Some(current), &entries, touched), entries))
    }

    /// Returns what the page needs to know of every memory that is not `changing`.
    fn entries(&self, changing: &BTreeSet<&str>) -> Result<Vec<PageEntry>, CommitError> {
        let mut entries = Vec::new();
        for path in self.known_of(Catalog::all)?.into_keys().filter(|path| !changing.contains(path.as_str()))
        {
            let doc = self.known_of(|catalog| catalog.get(&path))?;
            entries.extend(doc.map(|doc| doc.page_entry(self.now)));
        }
        Ok(entries)
    }

    /// Asks the catalog.
    pub(super) fn known_of<T>(
        &self,
        ask: impl FnOnce(&Catalog) -> Result<T, ReadError>,
    ) -> Result<T, CommitError> {
        ask(&self.catalog).map_err(|err| self.unreadable_catalog(err))
    }

    /// Says who said the version `text`, where the change touches nothing of what its memory says: a new name, links
    /// that follow one, a tag. Otherwise a stranger's words would become the user's by the user's tidying.
    fn still_said_by(
        &self,
        set: &ChangeSet,
        path: &MemoryPath,
        before: &[u8],
        text: &[u8],
    ) -> Option<(ContentHash, Provenance)> {
        let is_rename = |edit: &Edit| matches!(edit, Edit::Rename { .. });
        // Only of the user's own renames: in what somebody else proposed, any text may stand beside one.
        let is_renaming = set.provenance == Provenance::User
            && set.author == Author::Person
            && set.edits.iter().any(is_rename);
        let says = |bytes: &[u8]| {
            let document = Document::parse(bytes);
            let memory = Memory::read(path, &document).0;
            (memory.description, memory.rules, document.body().to_owned())
        };
        let is_untouched = is_renaming || says(before) == says(text);
        let known = || self.provenance_of(ContentHash::of(before)).unwrap_or(Provenance::Outside);
        is_untouched.then(|| (ContentHash::of(text), known()))
    }

    /// Returns the memories that have this name, in whatever folder and case.
    fn named(&self, stem: &str) -> Result<BTreeSet<MemoryPath>, CommitError> {
        self.known_of(|catalog| catalog.named(stem))
    }

    /// Takes a name for a new memory. One that another memory has in a folder, or that differs from another only in
    /// case, is refused: links could not tell the two apart, and some file systems would make them one file. What
    /// is imported was told apart where it comes from.
    fn claim_name(
        &self,
        set: &ChangeSet,
        path: &MemoryPath,
        from: Option<&MemoryPath>,
        plan: &mut Plan,
    ) -> Result<(), CommitError> {
        let taken = match plan.names.insert(folded(path.stem()), path.clone()) {
            Some(other) => Some(other),
            None => self.named(path.stem())?.pop_last(),
        };
        match taken.filter(|other| Some(other) != from) {
            Some(other) if set.author != Author::Import || other == *path => {
                Err(CommitError::Exists(other.stem().to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a change set that holds a secret anywhere, before any of it is kept: in the vault, in the log, or aside.
    pub(super) fn refuse_secrets(&self, set: &ChangeSet) -> Result<(), CommitError> {
        let check = |text: &[u8], before: Option<&[u8]>| secrets(&self.gate.scanner, text, before);
        let notes = [Some(&set.reason), set.force.as_ref(), set.session.as_ref()];
        let mut refusals: Vec<Refusal> =
            notes.into_iter().flatten().flat_map(|note| check(note.as_bytes(), None)).collect();
        for edit in &set.edits {
            refusals.extend(match edit {
                Edit::Create { text, .. } => check(text, None),
                Edit::Replace { base, text, .. } | Edit::Rename { base, text, .. } => check(text, Some(base)),
                Edit::Remove { base, into: Exit::Archive(text) | Exit::UserVault(_, text), .. } => {
                    check(text, Some(base))
                }
                Edit::Remove { .. } => Vec::new(),
            });
        }
        if refusals.is_empty() { Ok(()) } else { Err(CommitError::Refused(refusals)) }
    }

    /// Makes the dates absolute that a change set brings in, and tells which.
    pub(super) fn with_absolute_dates(&self, set: &ChangeSet) -> (ChangeSet, Vec<String>) {
        let (mut set, mut remarks) = (set.clone(), Vec::new());
        if !is_said_now(set.author) {
            return (set, remarks);
        }
        let now = self.gate.at(self.now);
        for edit in &mut set.edits {
            let (text, base) = match edit {
                Edit::Create { text, .. } => (text, None),
                Edit::Replace { base, text, .. } | Edit::Rename { base, text, .. } => (text, Some(base)),
                Edit::Remove { .. } => continue,
            };
            let before = base.map(|base| Document::parse(base));
            let dated = with_absolute_dates(Document::parse(text), before.as_ref(), &now);
            remarks.extend(dated.remarks);
            *text = dated.document.bytes().to_vec();
        }
        (set, remarks)
    }

    /// Asks the gates. A text that must wait has passed them; `plan` sees to it that it waits.
    fn judge(
        &self,
        set: &ChangeSet,
        path: &MemoryPath,
        text: &[u8],
        before: Option<&[u8]>,
        plan: &mut Plan,
    ) -> Result<(), CommitError> {
        let document = Document::parse(text);
        let (memory, problems) = Memory::read(path, &document);
        let before = before.map(|bytes| {
            let document = Document::parse(bytes);
            let (memory, problems) = Memory::read(path, &document);
            (document, memory, problems)
        });
        let is_new = before.is_none() && is_weighed_against_others(set.author);
        let duplicate = if is_new { self.duplicate_of(&memory, &document)? } else { None };
        let text = Version { document: &document, memory: &memory, problems: &problems };
        let said = said(text);
        let evidence = if is_said_now(set.author) { self.gate.evidence(&said) } else { Evidence::default() };
        let proposal = Proposal {
            text,
            before: before.as_ref().map(|(document, memory, problems)| Version {
                document,
                memory,
                problems,
            }),
            author: set.author,
            provenance: set.provenance,
            force: set.force.as_deref(),
            review: self.gate.review,
            scanner: &self.gate.scanner,
            evidence: &evidence,
            duplicate: duplicate.as_ref().map(|(path, likeness)| (path.stem(), *likeness)),
        };
        match judge(&proposal) {
            Verdict::Accept { remarks, forced } => {
                plan.forced |= forced;
                plan.committed.remarks.extend(remarks);
                Ok(())
            }
            Verdict::Quarantine { .. } => Ok(()),
            Verdict::Refuse(refusals) => {
                if refusals.iter().any(|refusal| refusal.rule == "debugging") {
                    self.gate.record_refused(&said, self.now);
                }
                Err(CommitError::Refused(refusals))
            }
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
        for path in self.known_of(|catalog| catalog.resembling(&sketch, memory.memory_type))? {
            if let Some(bytes) = self.read(&path)? {
                let document = Document::parse(&bytes);
                let (memory, _) = Memory::read(&path, &document);
                candidates.push((path, catalog::likeness(&memory, &document)));
            }
        }
        let nearest = nearest_duplicate(&draft, candidates.iter().map(|(_, likeness)| likeness));
        Ok(nearest.map(|(index, likeness)| (candidates[index].0.clone(), likeness)))
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
        let path = self.areas.display(area, path);
        plan.committed.written.push(Written { path, hash, merged, quarantined: false });
    }
}
