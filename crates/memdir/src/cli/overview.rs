//! One look at a project: what it holds, where it stands, how far it has grown.

use jiff::Timestamp;
use memdir_core::journal::OpenItem;
use memdir_core::page::ProjectRow;
use memdir_core::status::Status;
use memdir_core::text::age_days;
use memdir_core::tiers::Verdict;
use memdir_store::journal::Journal;
use memdir_store::place::{Project, Registry};
use memdir_store::standing::{self, Standing};
use memdir_store::vault::Vault;

use crate::context::Context;
use crate::failure::Failure;

/// What can be seen of a project without changing anything. What cannot be opened counts as empty.
#[derive(Debug)]
pub(super) struct Overview {
    pub(super) project: Project,
    pub(super) is_here: bool,
    /// Whether its directory is still there.
    pub(super) is_there: bool,
    pub(super) n_memories: usize,
    /// How many of them have something wrong with them.
    pub(super) n_faulty: usize,
    /// How many proposals wait.
    pub(super) n_waiting: usize,
    /// When something last happened in it.
    pub(super) last: Option<Timestamp>,
    pub(super) open: Vec<OpenItem>,
    pub(super) status: Status,
    pub(super) verdict: Verdict,
}

impl Overview {
    /// Returns for how many days nothing happened; `None` if nothing ever did.
    pub(super) fn idle_days(&self, context: &Context) -> Option<i64> {
        self.last.map(|last| age_days(last, context.now))
    }

    /// Returns its row in the table of projects.
    pub(super) fn row(&self, context: &Context) -> ProjectRow {
        ProjectRow {
            project: self.project.name.clone(),
            status: self.status.words(),
            last_activity: self.last.map(|last| last.to_zoned(context.zone.clone()).date()),
            doc_tier: self.verdict.tier.as_str().to_owned(),
        }
    }
}

/// Looks at every registered project, the one with the latest activity first. One that was joined to another is left out
/// unless `with_joined`.
pub(super) fn all(context: &Context, with_joined: bool) -> Result<Vec<Overview>, Failure> {
    let (registry, _) = Registry::load(&context.place.home).map_err(|err| Failure::from_chain(&err))?;
    let projects = registry.projects().filter(|project| with_joined || project.linked_to.is_none());
    let mut all: Vec<Overview> = projects.map(|project| look_at(project, context)).collect();
    all.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.project.id.cmp(&b.project.id)));
    Ok(all)
}

/// Looks at one project.
/// Returns the rows of the table of projects; those that use the memory of another are part of that.
pub(super) fn rows(context: &Context) -> Result<Vec<ProjectRow>, Failure> {
    Ok(all(context, false)?.iter().map(|project| project.row(context)).collect())
}

pub(super) fn look_at(project: &Project, context: &Context) -> Overview {
    let place = &context.place;
    let is_here = project.id == place.project.id;
    let standing = if is_here { Standing::of(place, &context.env) } else { Standing::at(project) };
    let journal = Journal::below(&place.home, project.id.as_str());
    let n_sessions = journal.files().map_or(0, |files| files.len());
    let open = journal.open_items().unwrap_or_default();
    let signals = standing.signals(n_sessions, context.env.search_path.as_deref());
    let today = context.now.to_zoned(context.zone.clone()).date();
    let worked_on = standing::last_worked_on(project, &place.home, &place.session_dirs);
    let mut overview = Overview {
        project: project.clone(),
        is_here,
        is_there: standing.root().is_some(),
        n_memories: 0,
        n_faulty: 0,
        n_waiting: 0,
        last: worked_on.max(standing.last_commit()),
        status: Status::of(&open, today),
        open,
        verdict: Verdict::of(&signals, project.locked_tier()),
    };
    let vault =
        project.vault.as_ref().and_then(|path| Vault::open(&place.home, project.id.as_str(), path).ok());
    if let Some(vault) = vault {
        overview.add_vault(&vault);
    }
    overview
}

impl Overview {
    fn add_vault(&mut self, vault: &Vault) {
        if let Ok(snapshot) = vault.snapshot() {
            let memories = &snapshot.memories;
            self.n_memories = memories.len();
            let is_faulty = |problem: &memdir_core::memory::Problem| {
                problem.severity() == memdir_core::memory::Severity::Error
            };
            self.n_faulty = memories.iter().filter(|entry| entry.problems.iter().any(is_faulty)).count();
            self.n_faulty += snapshot.skipped.len();
            self.last = self.last.max(memories.iter().map(|entry| entry.modified()).max());
        }
        self.n_waiting = vault.inbox().map_or(0, |inbox| inbox.len());
        let newest = vault.history().ok().flatten().and_then(|history| history.ids().ok()?.pop());
        self.last = self.last.max(newest.map(|id| id.at()));
    }
}
