//! Takes up what other programs did to a vault since we last looked.
//!
//! An editor, an agent's own file tool or a clean-up can create, change, rename and remove memories without asking
//! us. Each such change is recorded like one of ours, with the author `outside`, so that it can be seen and undone;
//! text that an outsider removed or overwrote goes to the trash. Nothing in the vault is changed by this, except
//! that frontmatter which another program blanked is put back.

use std::collections::BTreeMap;

use memdir_core::change::{Author, ChangeSet, Edit, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, INDEX_PAGE, Memory, MemoryPath, ProblemKind, Provenance};

use super::catalog::{Doc, Known};
use super::commit::Writer;
use super::listing::Listing;
use super::plan::Plan;
use super::{CommitError, MAX_MEMORY};
use crate::disk::{ReadError, Stat};
use crate::history::{Area, Change, ChangeId, FileOp, OpKind, Versions};

/// What an outsider did to one file.
struct Noticed {
    path: MemoryPath,
    /// The version that we knew.
    before: Option<(ContentHash, Option<ChangeId>)>,
    /// The version that is there, and the file as it looked.
    after: Option<(Vec<u8>, Stat)>,
}

impl Writer<'_> {
    /// Compares the vault with what we know of it, and records the difference.
    pub(super) fn take_up(&mut self) -> Result<(), CommitError> {
        let noticed = self.notice()?;
        if noticed.is_empty() {
            return Ok(());
        }
        let mut known = KnownVersions::default();
        let mut plan = Plan::default();
        let mut blanked = Vec::new();
        for noticed in &noticed {
            self.record_noticed(noticed, &mut known, &mut plan);
        }
        join_renames(&mut plan.ops);
        for noticed in &noticed {
            self.save_what_is_lost(noticed, &mut plan, &mut blanked)?;
        }
        let found = noticed.iter().all(|noticed| noticed.before.is_none());
        let reason = if found { "found in the vault" } else { "changed by another program" };
        let (author, by) = self.who_wrote(&noticed);
        let change = Change {
            id: self.next_id()?,
            at: self.now,
            by,
            author,
            session: None,
            reason: reason.to_owned(),
            force: None,
            undoes: None,
            project: self.project.clone(),
            ops: plan.ops.clone(),
        };
        let id = change.id.clone();
        self.carry_out(plan, change)?;
        let page = self.areas.vault.read(INDEX_PAGE, MAX_MEMORY).ok().flatten().unwrap_or_default();
        let page = String::from_utf8_lossy(&page);
        for noticed in noticed {
            self.know(noticed, &id, &page)?;
        }
        self.save_catalog();
        self.restore_blanked(blanked)
    }

    /// Says who wrote what was noticed: the agent, where a hook saw it write each of these versions.
    fn who_wrote(&self, noticed: &[Noticed]) -> (Author, Surface) {
        // Each is looked up in the whole ledger; an agent does not write more of them between two looks.
        const FEW: usize = 16;
        let is_agents = |noticed: &Noticed| {
            let hash = noticed.after.as_ref().map(|(bytes, _)| ContentHash::of(bytes));
            hash.and_then(|hash| self.provenance_of(hash)) == Some(Provenance::Agent)
        };
        if noticed.len() <= FEW && noticed.iter().all(is_agents) {
            (Author::Agent, Surface::Hook)
        } else {
            (Author::Outside, Surface::Cli)
        }
    }

    fn notice(&mut self) -> Result<Vec<Noticed>, CommitError> {
        let root = self.areas.vault.clone();
        let failed = |source| CommitError::Read { path: root.path().to_owned(), source };
        let listing = Listing::read(&root).map_err(|err| failed(err.into()))?;
        let mut noticed = Vec::new();
        let mut gone = self.catalog.all().map_err(|err| self.unreadable_catalog(err))?;
        self.catalog.looked_at(listing.folders.into_iter().zip(listing.stats), self.now);
        for path in listing.paths {
            let before = gone.remove(&path);
            let Some(stat) = self.stat(&path).map_err(failed)? else { continue };
            if before.is_some_and(|known| known.is_current(stat)) {
                continue;
            }
            let before = self.known(&path, before)?;
            let bytes = match root.read(path.as_str(), MAX_MEMORY) {
                Ok(Some(bytes)) => bytes,
                Ok(None) | Err(ReadError::NotAFile | ReadError::TooLarge { .. }) => continue,
                Err(source) => {
                    return Err(CommitError::Read { path: root.path().join(path.as_str()), source });
                }
            };
            if let Some((hash, change)) = &before
                && *hash == ContentHash::of(&bytes)
            {
                let doc = Doc::describe(&path, &bytes, Some(stat), self.now, change.clone());
                self.catalog.insert(doc);
                continue;
            }
            noticed.push(Noticed { path, before, after: Some((bytes, stat)) });
        }
        for (path, known) in gone {
            let before = self.known(&path, Some(known))?;
            noticed.push(Noticed { path, before, after: None });
        }
        Ok(noticed)
    }

    /// Returns the version that we know, with the change that holds its bytes.
    fn known(
        &self,
        path: &MemoryPath,
        known: Option<Known>,
    ) -> Result<Option<(ContentHash, Option<ChangeId>)>, CommitError> {
        let Some(known) = known else { return Ok(None) };
        let doc = self.catalog.get(path).map_err(|err| self.unreadable_catalog(err))?;
        Ok(Some((known.sha256, doc.and_then(|doc| doc.change))))
    }

    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, ReadError> {
        let (folder, name) = match self.areas.vault.folder(path.as_str()) {
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        Ok(folder.stat(name)?)
    }

    /// Adds what was noticed to the record, with the versions before and after.
    fn record_noticed(&self, noticed: &Noticed, known: &mut KnownVersions, plan: &mut Plan) {
        let before = noticed.before.as_ref().map(|(hash, _)| *hash);
        if let Some((hash, change)) = &noticed.before
            && let Some(bytes) = known.get(self, *hash, change.as_ref())
        {
            plan.remember(&bytes);
        }
        let after = noticed.after.as_ref().map(|(bytes, _)| plan.remember(bytes));
        let op = if after.is_some() { OpKind::Write } else { OpKind::Delete };
        let path = noticed.path.to_string();
        plan.ops.push(FileOp { op, area: Area::Vault, path, from: None, before, after, erased: false });
    }

    /// Puts text that is in no file any more into the trash, and blanked frontmatter on the list of what to restore.
    fn save_what_is_lost(
        &self,
        noticed: &Noticed,
        plan: &mut Plan,
        blanked: &mut Vec<Edit>,
    ) -> Result<(), CommitError> {
        let before = noticed.before.as_ref().map(|(hash, _)| *hash);
        let Some(lost) = before.and_then(|hash| plan.versions.get(&hash).cloned()) else { return Ok(()) };
        let moved = plan.ops.iter().any(|op| op.from.as_deref() == Some(noticed.path.as_str()));
        match &noticed.after {
            Some((bytes, _)) if is_blanked(&noticed.path, &lost, bytes) => {
                blanked.push(Edit::Replace { path: noticed.path.clone(), base: bytes.clone(), text: lost });
            }
            Some((bytes, _)) if keeps_every_line(&lost, bytes) => {}
            None if moved => {}
            _ => self.plan_aside(Area::Trash, &noticed.path, &lost, plan)?,
        }
        Ok(())
    }

    /// Takes what was noticed into the catalog. The index page gets a new line for a memory that has none and for
    /// one that describes itself anew; the wording of all other lines is somebody's, and stays.
    fn know(&mut self, noticed: Noticed, change: &ChangeId, page: &str) -> Result<(), CommitError> {
        let path = noticed.path;
        let Some((bytes, stat)) = noticed.after else {
            self.catalog.remove(&path);
            return Ok(());
        };
        let doc = Doc::describe(&path, &bytes, Some(stat), self.now, Some(change.clone()));
        let known = self.catalog.get(&path).map_err(|err| self.unreadable_catalog(err))?;
        let renewed = match known {
            Some(known) => known.hook() != doc.hook(),
            None => !page.contains(&format!("]({path})")),
        };
        if renewed {
            self.touched.insert(path);
        }
        self.catalog.insert(doc);
        Ok(())
    }

    fn restore_blanked(&mut self, edits: Vec<Edit>) -> Result<(), CommitError> {
        if edits.is_empty() {
            return Ok(());
        }
        let set = ChangeSet {
            author: Author::Person,
            by: Surface::Cli,
            provenance: Provenance::Outside,
            reason: "restored frontmatter that another program blanked".to_owned(),
            session: None,
            force: None,
            edits,
        };
        self.commit(&set).map(drop)
    }
}

/// The bytes of versions in history, each record read once.
#[derive(Default)]
struct KnownVersions {
    records: BTreeMap<ChangeId, Versions>,
}

impl KnownVersions {
    fn get(&mut self, writer: &Writer<'_>, hash: ContentHash, change: Option<&ChangeId>) -> Option<Vec<u8>> {
        let change = change?;
        if !self.records.contains_key(change) {
            let record = writer.history.record(change).ok().flatten()?;
            self.records.insert(change.clone(), record.versions);
        }
        self.records.get(change)?.get(&hash).cloned()
    }
}

/// A file that vanished and one that appeared with the same bytes are one file under another name.
fn join_renames(ops: &mut Vec<FileOp>) {
    let is_lost = |op: &FileOp| op.area == Area::Vault && op.after.is_none();
    let lost: Vec<usize> = (0..ops.len()).filter(|at| is_lost(&ops[*at])).collect();
    let mut joined = Vec::new();
    for created in 0..ops.len() {
        let is_new =
            ops[created].area == Area::Vault && ops[created].before.is_none() && ops[created].after.is_some();
        // A vault that is seen for the first time has nothing but new files.
        let twin = lost.iter().copied().find(|at| is_new && ops[*at].before == ops[created].after);
        let Some(removed) = twin.filter(|at| !joined.contains(at)) else { continue };
        let (from, before) = (ops[removed].path.clone(), ops[removed].before);
        let op = &mut ops[created];
        (op.op, op.from, op.before) = (OpKind::Rename, Some(from), before);
        joined.push(removed);
    }
    joined.sort_unstable();
    for index in joined.into_iter().rev() {
        ops.remove(index);
    }
}

/// Says whether another program emptied the frontmatter of a memory and left its body alone.
fn is_blanked(path: &MemoryPath, before: &[u8], after: &[u8]) -> bool {
    let (before, after) = (Document::parse(before), Document::parse(after));
    let blanked = |document: &Document| {
        Memory::read(path, document).1.iter().any(|problem| problem.kind == ProblemKind::Blanked)
    };
    before.body() == after.body() && blanked(&after) && !blanked(&before)
}

/// Says whether nothing of `old` is missing in `new`, line by line.
fn keeps_every_line(old: &[u8], new: &[u8]) -> bool {
    let mut rest = new.split(|&byte| byte == b'\n');
    old.split(|&byte| byte == b'\n').all(|line| rest.any(|other| other == line))
}
