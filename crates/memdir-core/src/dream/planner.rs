//! The four phases: from memories to a plan.

use std::collections::BTreeSet;

use jiff::Zoned;

use super::compare::{Relation, relation};
use super::dating::{absolute, may_be_dated};
use super::ending::endings;
use super::grouping::{Group, Relations, alike, contrary};
use super::linking;
use super::merging::{merged, with_names};
use super::pairs::candidates;
use super::plan::{FileChange, Operation, OperationKind, Plan, RULES};
use super::subject::Subject;
use super::{Evidence, Source};
use crate::memory::{Document, MemoryPath};
use crate::page::{self, Load, PageProblem};

/// One run takes up so many operations; the next one takes up what is left.
const MAX_OPERATIONS: usize = 500;

/// Plans what a dream would do to the memories of a vault, at `now` in the user's zone.
pub fn plan(sources: &[Source], evidence: &Evidence, now: &Zoned) -> Plan {
    plan_while(sources, evidence, now, &mut || true).unwrap_or_default()
}

/// Plans the same as long as `goes_on` says so, which is asked all the time; `None` if it was stopped.
pub fn plan_while(
    sources: &[Source],
    evidence: &Evidence,
    now: &Zoned,
    goes_on: &mut dyn FnMut() -> bool,
) -> Option<Plan> {
    let mut planner = Planner::default();
    let dated = planner.rewrite_dates(sources, now, goes_on)?;
    let mut subjects: Vec<Subject<'_>> = Vec::with_capacity(dated.len());
    for source in &dated {
        subjects.push(goes_on().then(|| Subject::of(source))?);
    }
    planner.orient(&subjects, evidence);
    planner.archive(&subjects, evidence, now);
    let relations = planner.gather(&subjects, evidence, goes_on)?;
    planner.supersede(&subjects, &relations);
    planner.merge(&subjects, &relations);
    planner.link(&subjects, evidence);
    planner.reindex(sources, evidence);
    Some(planner.finish())
}

/// A plan that is being made.
#[derive(Debug, Default)]
struct Planner {
    plan: Plan,
    /// Memories that an operation is about already, by their place.
    taken: BTreeSet<usize>,
}

impl Planner {
    fn orient(&mut self, subjects: &[Subject<'_>], evidence: &Evidence) {
        let orient = &mut self.plan.phases.orient;
        orient.memories = subjects.len();
        orient.untouchable = subjects.iter().filter(|subject| !subject.is_touchable).count();
        orient.index_lines = evidence.page.as_deref().map_or(0, |page| Load::measure(page).lines);
    }

    /// Makes relative dates absolute, by the day on which each memory was said, and returns the memories as they are then.
    fn rewrite_dates(
        &mut self,
        sources: &[Source],
        now: &Zoned,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<Source>> {
        let mut dated = Vec::with_capacity(sources.len());
        for source in sources {
            if !goes_on() {
                return None;
            }
            let subject_may = may_be_dated(source);
            let found = subject_may.then(|| absolute(source, now)).flatten();
            let Some((document, reason, risky)) = found else {
                dated.push(source.clone());
                continue;
            };
            let change = self.change(source, Some(&document), None);
            let names = vec![source.path.stem().to_owned()];
            self.push(OperationKind::RewriteDates, names, None, reason, risky, vec![change]);
            dated.push(source.with(document));
        }
        Some(dated)
    }

    /// Proposes the archive for what no longer holds.
    fn archive(&mut self, subjects: &[Subject<'_>], evidence: &Evidence, now: &Zoned) {
        for (at, ending) in endings(subjects, evidence, now.date()) {
            let source = subjects[at].source;
            let change = self.change(source, None, None);
            let names = vec![source.path.stem().to_owned()];
            self.push(OperationKind::Archive, names, ending.into, ending.reason, ending.risky, vec![change]);
            self.taken.insert(at);
        }
        self.plan.phases.gather.without_target = evidence.missing.len();
    }

    /// Compares what is worth comparing.
    fn gather(
        &mut self,
        subjects: &[Subject<'_>],
        evidence: &Evidence,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Option<Relations> {
        let gather = &mut self.plan.phases.gather;
        gather.together = evidence.together.len();
        let mut relations = Relations::new();
        for (a, b) in candidates(subjects) {
            if self.taken.contains(&a) || self.taken.contains(&b) {
                continue;
            }
            if !goes_on() {
                return None;
            }
            gather.compared += 1;
            match relation(&subjects[a], &subjects[b]) {
                Relation::Neighbours => {}
                found => drop(relations.insert((a, b), found)),
            }
        }
        Some(relations)
    }

    /// Lets the newest of contradicting memories stand for the others.
    fn supersede(&mut self, subjects: &[Subject<'_>], relations: &Relations) {
        for (into, (olds, why)) in contrary(relations, subjects) {
            let winner = subjects[into].source;
            let others: Vec<&Subject<'_>> = olds.iter().map(|at| &subjects[*at]).collect();
            let Some(document) = with_names(winner.document.clone(), &winner.memory, &others) else {
                continue;
            };
            let mut changes = vec![self.change(winner, Some(&document), None)];
            changes.extend(others.iter().map(|old| self.change(old.source, None, None)));
            let names = others.iter().map(|old| old.name().to_owned()).collect();
            let name = winner.path.stem().to_owned();
            self.push(
                OperationKind::Supersede,
                names,
                Some(name),
                format!("contradiction: {why}"),
                true,
                changes,
            );
            self.taken.insert(into);
            self.taken.extend(olds);
        }
    }

    /// Makes one of those that say the same.
    fn merge(&mut self, subjects: &[Subject<'_>], relations: &Relations) {
        let taken = self.taken.clone();
        for Group { members, is_same } in alike(relations, subjects, |at| taken.contains(&at)) {
            let group: Vec<&Subject<'_>> = members.iter().map(|at| &subjects[*at]).collect();
            let Some((stays, document)) = merged(&group) else { continue };
            let survivor = group[stays].source;
            let mut changes = vec![self.change(survivor, Some(&document), Some(survivor.said_by))];
            let others = group.iter().enumerate().filter(|(at, _)| *at != stays);
            changes.extend(others.map(|(_, other)| self.change(other.source, None, None)));
            let names = group.iter().map(|subject| subject.name().to_owned()).collect();
            let n = group.len();
            let reason = match is_same {
                true => format!("{n} memories say the same; every sentence is kept"),
                false => format!("{n} memories give advice of one kind; every sentence is kept"),
            };
            let into = Some(survivor.path.stem().to_owned());
            self.push(OperationKind::Merge, names, into, reason, !is_same, changes);
            self.taken.extend(members);
        }
    }

    /// Links what is used together. A memory that something else happens to waits for the next run.
    fn link(&mut self, subjects: &[Subject<'_>], evidence: &Evidence) {
        let taken = self.taken.clone();
        let mut texts: std::collections::BTreeMap<usize, Source> = std::collections::BTreeMap::new();
        for (from, to, together) in linking::pairs(subjects, &evidence.together, |at| !taken.contains(&at)) {
            let name = subjects[to].name().to_owned();
            let source = texts.get(&from).unwrap_or(subjects[from].source).clone();
            let Some(document) = linking::with_link(&source.document, &name) else { continue };
            let change = self.change(&source, Some(&document), Some(source.said_by));
            let reason = match together.used {
                0 => format!("shown together {} times", together.shown),
                used => format!("used together in {used} sessions"),
            };
            let names = vec![source.path.stem().to_owned()];
            self.push(OperationKind::Link, names, Some(name), reason, false, vec![change]);
            texts.insert(from, source.with(document));
        }
    }

    /// Repairs the index page where it does not show the vault, or is too long.
    fn reindex(&mut self, sources: &[Source], evidence: &Evidence) {
        let existing: BTreeSet<MemoryPath> = sources.iter().map(|source| source.path.clone()).collect();
        let page = evidence.page.as_deref().unwrap_or_default();
        let problems = page::lint(page, &existing);
        let mut names = BTreeSet::new();
        let mut reasons = BTreeSet::new();
        for problem in &problems {
            let (name, reason) = match problem {
                PageProblem::Dangling { path, .. } => (Some(path), "pointers that lead nowhere"),
                PageProblem::Unindexed { path } => (Some(path), "memories without a line"),
                PageProblem::Duplicate { path, .. } => (Some(path), "second pointers"),
                PageProblem::TooLong { .. } => (None, "lines that are too long"),
                // Text that somebody wrote there is theirs.
                PageProblem::Content { .. } | PageProblem::StrayMarker { .. } => continue,
            };
            names.extend(name.map(|path| path.stem().to_owned()));
            reasons.insert(reason);
        }
        if page::over_limit_message(Load::measure(page)).is_some() {
            reasons.insert("more than fits");
        }
        if reasons.is_empty() || sources.is_empty() {
            return;
        }
        self.plan.phases.prune.index_repairs = problems.len();
        let reason = format!("MEMORY.md has {}", reasons.into_iter().collect::<Vec<_>>().join(", "));
        self.push(OperationKind::Reindex, names.into_iter().collect(), None, reason, false, Vec::new());
    }

    /// Notes what becomes of a file, and keeps both versions.
    fn change(
        &mut self,
        source: &Source,
        after: Option<&Document>,
        said_by: Option<crate::memory::Provenance>,
    ) -> FileChange {
        let mut keep = |bytes: &[u8]| {
            let hash = crate::hash::ContentHash::of(bytes);
            self.plan.versions.entry(hash).or_insert_with(|| bytes.to_vec());
            hash
        };
        let before = keep(source.document.bytes());
        let after = after.map(|document| keep(document.bytes()));
        FileChange { path: source.path.to_string(), before, after, said_by }
    }

    fn push(
        &mut self,
        kind: OperationKind,
        names: Vec<String>,
        into: Option<String>,
        reason: String,
        risky: bool,
        changes: Vec<FileChange>,
    ) {
        let proposer = RULES.to_owned();
        let operation = Operation { kind, names, into, reason, risky, proposer, changes, blocked: None };
        self.plan.operations.push(operation);
    }

    /// Counts, and leaves for the next run what is too much for one.
    fn finish(mut self) -> Plan {
        if self.plan.operations.len() > MAX_OPERATIONS {
            let reindex = self.plan.operations.pop_if(|last| last.kind == OperationKind::Reindex);
            self.plan.left_over = self.plan.operations.len() - MAX_OPERATIONS;
            self.plan.operations.truncate(MAX_OPERATIONS);
            self.plan.operations.extend(reindex);
        }
        let named: BTreeSet<_> = self
            .plan
            .operations
            .iter()
            .flat_map(|operation| &operation.changes)
            .flat_map(|change| [Some(change.before), change.after])
            .flatten()
            .collect();
        self.plan.versions.retain(|hash, _| named.contains(hash));
        let count = |kind| self.plan.operations.iter().filter(|operation| operation.kind == kind).count();
        let (merged, dated) = (count(OperationKind::Merge), count(OperationKind::RewriteDates));
        let (linked, archived) = (count(OperationKind::Link), count(OperationKind::Archive));
        let supersedes = self.plan.operations.iter().filter(|one| one.kind == OperationKind::Supersede);
        let superseded = supersedes.map(|one| one.names.len()).sum();
        let consolidate = &mut self.plan.phases.consolidate;
        (consolidate.merged, consolidate.superseded) = (merged, superseded);
        (consolidate.dated, consolidate.linked) = (dated, linked);
        self.plan.phases.prune.archived = archived;
        self.plan
    }
}
