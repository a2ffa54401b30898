//! Takes a change back, byte for byte, as a change of its own.
//!
//! A file that was edited since is not overwritten: the undo is refused and says which file. The index page is put
//! back exactly when nobody touched it since; otherwise it is rendered anew.

use std::io;

use memdir_core::change::{Author, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MemoryPath};

use super::commit::Writer;
use super::plan::Plan;
use super::publish::PublishError;
use super::{CommitError, MAX_MEMORY};
use crate::disk::ReadError;
use crate::history::{Area, Change, ChangeId, FileOp, History, Record};
use crate::ledger::EventKind;

/// What an undo did.
#[derive(Debug)]
pub struct Undone {
    /// The change that was taken back.
    pub undone: Change,
    /// The change that did it.
    pub change: Option<ChangeId>,
}

/// Where the changes of a vault stand, as an editor knows it: what is done and can be taken back, and what was taken
/// back and can be done again.
#[derive(Debug, Default)]
pub struct UndoStack {
    done: Vec<UndoStep>,
    undone: Vec<UndoStep>,
}

/// A change on the stack.
#[derive(Debug, Clone)]
pub struct UndoStep {
    /// What was done at first.
    pub change: Change,
    /// The last event about it: the change itself, the undo or the redo. To undo or redo the step, take this one back.
    pub event: ChangeId,
}

impl UndoStack {
    /// Adds the next change of a history. A change that is neither undo nor redo ends what could be done again.
    fn push(&mut self, change: Change) {
        let event = change.id.clone();
        let Some(target) = &change.undoes else {
            // Nothing is left of what was erased.
            if !change.ops.iter().all(|op| op.erased) {
                self.done.push(UndoStep { change, event });
                self.undone.clear();
            }
            return;
        };
        let (from, to) = match self.done.iter().any(|step| step.event == *target) {
            true => (&mut self.done, &mut self.undone),
            false => (&mut self.undone, &mut self.done),
        };
        if let Some(at) = from.iter().position(|step| step.event == *target) {
            let change = from.remove(at).change;
            to.push(UndoStep { change, event });
        }
    }

    /// Returns the newest step that can be taken back and for which `is_meant` holds.
    pub fn last_done(&self, is_meant: impl Fn(&Change) -> bool) -> Option<&UndoStep> {
        self.done.iter().rev().find(|step| is_meant(&step.change))
    }

    /// Returns the step that was taken back last and for which `is_meant` holds.
    pub fn last_undone(&self, is_meant: impl Fn(&Change) -> bool) -> Option<&UndoStep> {
        self.undone.iter().rev().find(|step| is_meant(&step.change))
    }
}

impl History {
    /// Returns where the changes stand.
    pub fn undo_stack(&self) -> Result<UndoStack, ReadError> {
        let mut stack = UndoStack::default();
        for id in self.ids()? {
            if let Some(change) = self.change(&id)? {
                stack.push(change);
            }
        }
        Ok(stack)
    }

    /// Returns every change whose id begins or ends with a text.
    pub fn matching(&self, text: &str) -> io::Result<Vec<ChangeId>> {
        let text = text.to_ascii_uppercase();
        let is_meant = |id: &ChangeId| id.as_str().starts_with(&text) || id.as_str().ends_with(&text);
        Ok(self.ids()?.into_iter().filter(is_meant).collect())
    }

    /// Finds a change by its id, or by a beginning or end of it that only one change has.
    pub fn find(&self, text: &str) -> io::Result<Option<ChangeId>> {
        let text = text.to_ascii_uppercase();
        let is_meant = |id: &ChangeId| id.as_str().starts_with(&text) || id.as_str().ends_with(&text);
        let mut matching = self.ids()?.into_iter().filter(is_meant);
        let found = matching.next().filter(|_| text.len() >= 4);
        Ok(found.filter(|_| matching.next().is_none()))
    }
}

impl Writer<'_> {
    /// Takes back the change `id`.
    pub fn undo(&mut self, id: &ChangeId, session: Option<String>) -> Result<Undone, CommitError> {
        let record = self.record_of(id)?;
        let mut plan = Plan::default();
        for op in record.change.ops.iter().rev() {
            self.plan_back(&record, op, &mut plan)?;
        }
        self.plan_pages_back(&record, &mut plan)?;
        self.carry_back(record, plan, session)
    }

    /// Takes back of the change `id` what nobody edited since, and returns the paths of the rest.
    pub(super) fn undo_as_far(&mut self, id: &ChangeId) -> Result<(Undone, Vec<String>), CommitError> {
        let record = self.record_of(id)?;
        let mut plan = Plan::default();
        let mut left = Vec::new();
        for op in record.change.ops.iter().rev() {
            match self.plan_back(&record, op, &mut plan) {
                Err(CommitError::CannotUndo { .. }) => left.push(op.path.clone()),
                planned => planned?,
            }
        }
        self.plan_pages_back(&record, &mut plan)?;
        Ok((self.carry_back(record, plan, None)?, left))
    }

    fn record_of(&self, id: &ChangeId) -> Result<Record, CommitError> {
        let failed = |source| CommitError::Read { path: self.history.dir().path().to_owned(), source };
        let record = self.history.record(id).map_err(failed)?;
        record.ok_or_else(|| CommitError::NoChange(id.to_string()))
    }

    fn carry_back(
        &mut self,
        record: Record,
        plan: Plan,
        session: Option<String>,
    ) -> Result<Undone, CommitError> {
        let id = &record.change.id;
        let change = Change {
            id: self.next_id()?,
            at: self.now,
            by: Surface::Cli,
            author: Author::Person,
            session,
            reason: reason_back(&record.change.reason),
            force: None,
            undoes: Some(id.clone()),
            project: self.project.clone(),
            ops: plan.ops.clone(),
        };
        let committed = self.carry_out(plan, change).map_err(|err| match err {
            PublishError::Raced { path } => {
                cannot(id, format!("`{path}` is being changed by another program"))
            }
            err => err.into(),
        })?;
        Ok(Undone { undone: record.change, change: committed.change })
    }

    fn plan_back(&self, record: &Record, op: &FileOp, plan: &mut Plan) -> Result<(), CommitError> {
        if op.path == INDEX_PAGE {
            return Ok(());
        }
        let id = &record.change.id;
        let old = match op.before {
            None => None,
            Some(hash) => match record.versions.get(&hash) {
                Some(bytes) => Some(bytes),
                None => return Err(cannot(id, format!("the text of `{}` is no longer kept", op.path))),
            },
        };
        let target = op.from.as_deref().unwrap_or(&op.path);
        let live = self.live(op.area, &op.path)?;
        let live_hash = live.as_deref().map(ContentHash::of);
        let is_copy = op.area.folder().is_some(); // the trash and its like hold copies, which may be gone by now
        if live_hash != op.after && !(is_copy && live.is_none()) {
            return Err(cannot(id, format!("`{}` was changed since", op.path)));
        }
        if op.from.is_some() && self.live(op.area, target)?.is_some() {
            return Err(cannot(id, format!("`{target}` exists again")));
        }
        match (op.from.as_deref(), old, live.as_deref()) {
            (Some(from), Some(old), Some(live)) => {
                plan.write(op.area, from, None, old);
                plan.delete(op.area, &op.path, live);
            }
            (None, Some(old), live) => {
                plan.write(op.area, &op.path, live, old);
            }
            (_, None, Some(live)) => plan.delete(op.area, &op.path, live),
            _ => {}
        }
        if let (Area::Vault, Ok(path), Some(hash)) = (op.area, MemoryPath::new(target), op.before) {
            plan.events.push((EventKind::Restore, path, Some(hash)));
        }
        Ok(())
    }

    /// Puts the index page back as it was, if it still is as the change left it.
    fn plan_pages_back(&mut self, record: &Record, plan: &mut Plan) -> Result<(), CommitError> {
        let pages: Vec<&FileOp> = record.change.ops.iter().filter(|op| op.path == INDEX_PAGE).collect();
        let mut exact = true;
        for op in pages {
            let live = self.live(op.area, INDEX_PAGE)?;
            let untouched = live.as_deref().map(ContentHash::of) == op.after;
            match (untouched, op.before.map(|hash| record.versions.get(&hash)), live) {
                (true, Some(Some(old)), live) => {
                    plan.write(op.area, INDEX_PAGE, live.as_deref(), old);
                }
                (true, None, Some(live)) => plan.delete(op.area, INDEX_PAGE, &live),
                _ => exact = false,
            }
        }
        if exact && plan.steps.iter().any(|step| step.path == INDEX_PAGE) {
            return Ok(());
        }
        self.plan_pages(plan)
    }

    fn live(&self, area: Area, path: &str) -> Result<Option<Vec<u8>>, CommitError> {
        let shown = || self.areas.display(area, path);
        let root = self.areas.root(area).map_err(|source| CommitError::Write { path: shown(), source })?;
        root.read(path, MAX_MEMORY).map_err(|source| CommitError::Read { path: shown(), source })
    }
}

/// Says what taking a change back is: of an undo it is a redo, of a redo an undo again.
fn reason_back(reason: &str) -> String {
    match (reason.strip_prefix("undo: "), reason.strip_prefix("redo: ")) {
        (Some(first), _) => format!("redo: {first}"),
        (None, Some(first)) => format!("undo: {first}"),
        (None, None) => format!("undo: {reason}"),
    }
}

fn cannot(id: &ChangeId, why: String) -> CommitError {
    CommitError::CannotUndo { id: id.clone(), why }
}
