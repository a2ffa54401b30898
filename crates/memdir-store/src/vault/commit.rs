//! The one door: a change set goes in, and all of it happens or none of it.
//!
//! A [`Writer`] holds the vault's lock. It plans a change set against what is on disk at that moment (see `plan`),
//! publishes it (see `publish`), and records it. When another program changes a file between plan and publication, the plan is
//! thrown away and made again.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::change::ChangeSet;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MemoryPath, Provenance};

use super::catalog::{self, Catalog, Doc};
use super::inbox::Proposal;
use super::plan::Plan;
use super::publish::{Areas, PublishError, Step, publish};
use super::restore::{Copy, PageBase};
use super::{CommitError, INTENT, MAX_MEMORY, Vault, recover};
use crate::disk::{Dir, ReadError};
use crate::gate::Gate;
use crate::history::{self, Area, Change, ChangeId, History, Record};
use crate::ledger::{self, Event, EventKind, Ledger};
use crate::lock::Lock;

/// How often a change is planned again because another program was faster.
const MAX_ATTEMPTS: usize = 20;

/// Changes a vault, one change set after another, while it holds the lock.
#[derive(Debug)]
pub struct Writer<'v> {
    pub(super) vault: &'v Vault,
    pub(super) now: Timestamp,
    pub(super) gate: &'v Gate,
    pub(super) areas: Areas,
    pub(super) history: History,
    pub(super) catalog: Catalog,
    /// Memories whose line on the index page may be out of date.
    pub(super) touched: BTreeSet<MemoryPath>,
    /// The user vault's writer, for changes that reach both.
    pub(super) user: Option<Box<Writer<'v>>>,
    pub(super) ledger: Option<Ledger>,
    /// The project that the changes are made in.
    pub(super) project: Option<String>,
    index: Dir,
    _lock: Lock,
}

/// What happens together with a change set, beside its edits.
#[derive(Debug, Default)]
pub(super) struct Beside<'a> {
    /// Copies that come back beside the vault.
    pub(super) copies: &'a [Copy],
    /// Proposals that leave the inbox.
    pub(super) leaving: &'a [Proposal],
    /// What the index page is rendered from.
    pub(super) page: PageBase,
    /// Why the change set waits for the user's word whatever the settings say.
    pub(super) waits: Option<&'static str>,
    /// Who said versions that are made of others.
    pub(super) said_by: BTreeMap<ContentHash, Provenance>,
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

impl Committed {
    /// Says whether nothing was changed because the change waits in the inbox.
    pub fn waits(&self) -> bool {
        self.written.iter().any(|written| written.quarantined)
    }
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

impl<'v> Writer<'v> {
    /// Takes the lock, finishes what a crash left, and takes up what other programs changed.
    pub(super) fn begin(vault: &'v Vault, now: Timestamp, gate: &'v Gate) -> Result<Self, CommitError> {
        let lock = vault.lock()?;
        let ensure = |path: PathBuf| Dir::ensure(&path).map_err(|source| CommitError::Write { path, source });
        let state = ensure(vault.state_path())?;
        vault.recover(&state)?;
        let areas = Areas { vault: vault.root.clone(), user: None, state };
        let history = History::ensure(&areas.state)
            .map_err(|source| CommitError::Write { path: areas.state.path().to_owned(), source })?;
        let index = ensure(vault.home.join("index"))?;
        let catalog = Catalog::load(&index, &vault.id);
        let is_undisturbed = catalog.as_ref().is_some_and(|known| known.is_undisturbed(&areas.vault, now));
        let swept = [Some(&areas.state), Some(&areas.vault).filter(|_| !is_undisturbed)];
        for dir in swept.into_iter().flatten() {
            recover::sweep(&areas, dir, None)
                .map_err(|source| CommitError::Read { path: dir.path().to_owned(), source })?;
        }
        let catalog = match catalog {
            Some(catalog) => catalog,
            None => from_history(&history)?,
        };
        let home = ensure(vault.home.clone())?;
        let ledger_dir = ensure(areas.state.path().join("ledger"))?;
        let ledger = ledger::machine(&home, &areas.state).ok();
        let ledger = ledger.map(|machine| Ledger::new(ledger_dir, areas.state.clone(), machine));
        let touched = BTreeSet::new();
        let mut writer = Self {
            vault,
            now,
            gate,
            areas,
            history,
            catalog,
            touched,
            user: None,
            ledger,
            project: None,
            index,
            _lock: lock,
        };
        if !is_undisturbed {
            writer.with_catalog(Self::take_up)?;
        }
        Ok(writer)
    }

    /// Does work that asks the catalog. If that turns out to be damaged, it is built anew and the work done again.
    pub(super) fn with_catalog<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T, CommitError>,
    ) -> Result<T, CommitError> {
        let done = work(self);
        let is_damaged = |writer: &Self| writer.catalog.is_damaged();
        if !is_damaged(self) && !self.user.as_deref().is_some_and(is_damaged) {
            return done;
        }
        self.renew_catalog()?;
        work(self)
    }

    /// Builds the catalog from history and the vault, where it cannot be read.
    fn renew_catalog(&mut self) -> Result<(), CommitError> {
        if let Some(user) = self.user.as_deref_mut() {
            user.renew_catalog()?;
        }
        if self.catalog.is_damaged() {
            self.catalog = from_history(&self.history)?;
            self.take_up()?;
        }
        Ok(())
    }

    /// Builds the catalog from history with nothing left of the one before, which told of what is erased.
    pub(super) fn erase_catalog(&mut self) -> io::Result<()> {
        catalog::remove(&self.index, &self.vault.id)?;
        self.catalog = Catalog::from_history(&self.history).map_err(io::Error::other)?;
        Ok(())
    }

    /// Makes the error for a catalog that cannot be read.
    pub(super) fn unreadable_catalog(&self, source: ReadError) -> CommitError {
        CommitError::Read { path: self.index.path().to_owned(), source }
    }

    /// Lets change sets reach the user vault too.
    pub fn with_user_vault(mut self, user: &'v Vault) -> Result<Self, CommitError> {
        let writer = Writer::begin(user, self.now, self.gate)?;
        self.areas.user = Some(user.root.clone());
        self.user = Some(Box::new(writer));
        Ok(self)
    }

    /// Notes in which project the changes are made.
    #[must_use]
    pub fn for_project(mut self, id: &str) -> Self {
        self.project = Some(id.to_owned());
        self
    }

    /// Carries out a change set.
    pub fn commit(&mut self, set: &ChangeSet) -> Result<Committed, CommitError> {
        self.commit_with(set, &Beside::default())
    }

    /// Carries out a change set that a sync brings. `said_by` tells of versions that are not the team's who said them.
    pub(crate) fn commit_synced(
        &mut self,
        set: &ChangeSet,
        said_by: BTreeMap<ContentHash, Provenance>,
    ) -> Result<Committed, CommitError> {
        self.commit_with(set, &Beside { said_by, ..Beside::default() })
    }

    /// Carries out a change set together with what else happens in the same change.
    pub(super) fn commit_with(
        &mut self,
        set: &ChangeSet,
        beside: &Beside<'_>,
    ) -> Result<Committed, CommitError> {
        self.refuse_secrets(set)?;
        let (set, remarks) = &self.with_absolute_dates(set);
        for _ in 0..MAX_ATTEMPTS {
            let plan = self.with_catalog(|writer| {
                let mut plan = writer.plan(set)?;
                if let Some(why) = beside.waits.filter(|_| !plan.committed.waits()) {
                    plan = writer.plan_waiting(set, why, plan)?;
                }
                plan.committed.remarks.extend(remarks.iter().cloned());
                plan.page = beside.page.clone();
                plan.said_by.extend(&beside.said_by);
                writer.plan_copies(beside.copies, &mut plan)?;
                writer.plan_leaving(beside.leaving, &mut plan)?;
                writer.plan_pages(&mut plan)?;
                Ok(plan)
            })?;
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
        self.catalog.doubt(&self.areas.vault);
        publish(&self.areas, &plan.steps, &record)?;
        // From here on the change stands, whatever fails: the intent is durable and says all there is to say.
        let said_by = |hash| match plan.said_by.get(&hash) {
            Some(known) => Some(*known),
            None => plan.provenance.map(|who| self.believed(who, hash)),
        };
        self.record_events(&record.change, &plan.events, said_by);
        self.record_noticed_lines(&plan.noticed);
        self.absorb(&record.change, &plan.steps);
        if let Some(user) = self.user.as_deref_mut() {
            user.record_twin(&record, &plan.steps);
            for (path, hash, said_by) in plan.promoted {
                let written = (EventKind::Written, path, Some(hash));
                user.record_events(&record.change, &[written], |_| Some(said_by));
            }
        }
        let name = history::file_name(&record.change.id);
        if let Err(err) = self.areas.state.rename(INTENT, self.history.dir(), &name) {
            committed.remarks.push(format!("the change is made, but its record is still open: {err}"));
        }
        committed.change = Some(record.change.id);
        Ok(committed)
    }

    fn describe(&self, set: &ChangeSet, plan: &Plan) -> Result<Change, CommitError> {
        Ok(Change {
            id: plan.id.clone().map_or_else(|| self.next_id(), Ok)?,
            at: self.now,
            by: set.by,
            author: set.author,
            session: set.session.clone(),
            reason: if plan.committed.waits() {
                format!("proposed: {}", set.reason)
            } else {
                set.reason.clone()
            },
            force: set.force.clone().filter(|_| plan.forced),
            undoes: None,
            project: self.project.clone(),
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

    /// Reads a memory of the vault as it is now.
    pub(super) fn read(&self, path: &MemoryPath) -> Result<Option<Vec<u8>>, CommitError> {
        let shown = || self.areas.display(Area::Vault, path.as_str());
        self.areas
            .vault
            .read(path.as_str(), MAX_MEMORY)
            .map_err(|source| CommitError::Read { path: shown(), source })
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
            None => self.catalog.remove(&path),
            Some(bytes) => {
                let stat =
                    self.areas.vault.folder(path.as_str()).and_then(|(folder, name)| folder.stat(name));
                let doc = Doc::describe(&path, bytes, stat.ok().flatten(), self.now, Some(change.clone()));
                self.catalog.insert(doc);
            }
        }
    }

    /// A catalog that could not be saved must not stay behind: it would deny what just happened.
    pub(super) fn save_catalog(&mut self) {
        let id = &self.vault.id;
        if self.catalog.save(&self.areas.vault, &self.areas.state, &self.index, id).is_err() {
            let _ = catalog::remove(&self.index, id);
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

    /// A version that comes back by a repair is still said by whoever said it first.
    fn believed(&self, who: Provenance, hash: ContentHash) -> Provenance {
        let known = if who == Provenance::Outside { self.provenance_of(hash) } else { None };
        known.unwrap_or(who)
    }

    /// Returns who said a version, if we wrote it.
    pub(super) fn provenance_of(&self, hash: ContentHash) -> Option<Provenance> {
        self.ledger.as_ref()?.provenance_of(hash).ok().flatten()
    }

    fn record_events(
        &self,
        change: &Change,
        events: &[(EventKind, MemoryPath, Option<ContentHash>)],
        who: impl Fn(ContentHash) -> Option<Provenance>,
    ) {
        let Some(ledger) = &self.ledger else { return };
        let event = |(ev, path, sha256): &(EventKind, MemoryPath, Option<ContentHash>)| Event {
            sha256: *sha256,
            sid: change.session.clone(),
            by: Some(change.by),
            prov: sha256.filter(|_| *ev == EventKind::Written).and_then(&who),
            ..Event::new(self.now, *ev, path.stem())
        };
        let events: Vec<Event> = events.iter().map(event).collect();
        // Not waited for and not fatal: the history record says the same.
        let _ = ledger.append(&events);
    }
}

fn from_history(history: &History) -> Result<Catalog, CommitError> {
    let unreadable = |source| CommitError::Read { path: history.dir().path().to_owned(), source };
    Catalog::from_history(history).map_err(unreadable)
}
