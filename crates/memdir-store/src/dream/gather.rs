//! Brings together what a dream looks at: the memories, what was used together, whose targets are gone, the index page.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use memdir_core::change::Surface;
use memdir_core::claims::{ClaimKind, State};
use memdir_core::dream::{Evidence, Source};
use memdir_core::memory::{MemoryType, Provenance};
use memdir_core::recall::Together;
use memdir_core::statement::statements;

use super::Dreamer;
use crate::usage::{Occasions, Usage};
use crate::vault::{Loaded, Vault};
use crate::verify::{Extent, Subject, Verifier};

/// A memory with more sentences than this says something beside where a thing is.
const POINTS_ONLY: usize = 2;
/// In one moment or session more memories than this belong together by chance.
const MANY: usize = 12;

/// Reads what a dream looks at.
pub(super) fn gather(dreamer: &Dreamer<'_>, beat: &mut dyn FnMut()) -> io::Result<(Vec<Source>, Evidence)> {
    let vault = dreamer.vault;
    let snapshot = vault.snapshot()?;
    let mut loaded: Vec<Loaded> = Vec::with_capacity(snapshot.memories.len());
    for entry in &snapshot.memories {
        beat();
        // What vanished meanwhile is none of our business.
        loaded.extend(snapshot.load(&entry.path).ok().flatten());
    }
    let usage = Usage::of(vault, None, dreamer.now.timestamp());
    let missing = dreamer.verifier.map(|verifier| missing(vault, verifier, &loaded)).unwrap_or_default();
    let archived = vault
        .archived()
        .iter()
        .map(|old| old.path.stem().split('@').next().unwrap_or_default().to_owned())
        .collect();
    let page = snapshot.index_page().ok().flatten();
    let sources: Vec<Source> = loaded.into_iter().map(|loaded| source(loaded, &usage)).collect();
    let evidence = Evidence { together: together(vault), missing, archived, names: BTreeSet::new(), page };
    let evidence = evidence.with_names(&sources);
    Ok((sources, evidence))
}

fn source(loaded: Loaded, usage: &Usage) -> Source {
    let said_by = usage.said_by(loaded.hash);
    Source {
        path: loaded.path,
        document: loaded.document,
        memory: loaded.memory,
        problems: loaded.problems,
        written: loaded.written,
        said_by,
        // What a tool said was accepted as the very text it is, or not at all: it stays as it is.
        is_untrusted: said_by == Provenance::Tool,
    }
}

/// Counts for every pair of memories how often both were shown at once, or used in one session.
pub(super) fn together(vault: &Vault) -> BTreeMap<(String, String), Together> {
    let occasions = Occasions::of(vault);
    let mut together: BTreeMap<(String, String), Together> = BTreeMap::new();
    for_each_pair(occasions.shown, |pair| together.entry(pair).or_default().shown += 1);
    for_each_pair(occasions.used, |pair| together.entry(pair).or_default().used += 1);
    together
}

fn for_each_pair(groups: Vec<BTreeSet<String>>, mut visit: impl FnMut((String, String))) {
    for names in groups.into_iter().filter(|names| names.len() <= MANY) {
        let names: Vec<String> = names.into_iter().collect();
        for (at, one) in names.iter().enumerate() {
            names[at + 1..].iter().for_each(|other| visit((one.clone(), other.clone())));
        }
    }
}

/// Finds memories that only say where something is, and whose every place is gone.
fn missing(vault: &Vault, verifier: &Verifier, loaded: &[Loaded]) -> BTreeMap<String, String> {
    let pointing: Vec<&Loaded> = loaded.iter().filter(|loaded| only_points(loaded)).collect();
    let subjects: Vec<Subject> = pointing
        .iter()
        .map(|loaded| verifier.subject(vault, loaded))
        .filter(|subject| subject.is_ours && names_a_file(subject))
        .collect();
    if subjects.is_empty() {
        return BTreeMap::new();
    }
    let found = verifier.verify(vault, &subjects, Extent::Some, Surface::Dream, |_, _| {});
    let mut missing = BTreeMap::new();
    for (subject, verification) in subjects.iter().zip(found) {
        let firm: Vec<_> = verification.claims.iter().filter(|checked| checked.claim.firm).collect();
        // What git never knew may be in another repository, or not written yet.
        let is_gone = |state: &State| matches!(state, State::Missing { gone: Some(_) });
        let may_be_found = verification.claims.iter().any(|checked| {
            matches!(checked.state, State::Holds { .. } | State::Moved { .. } | State::Changed { .. })
                || checked.claim.kind == ClaimKind::Url
        });
        if !firm.is_empty() && firm.iter().all(|checked| is_gone(&checked.state)) && !may_be_found {
            let names: Vec<String> =
                firm.iter().map(|checked| format!("`{}`", checked.claim.value)).collect();
            missing.insert(subject.path.stem().to_owned(), names.join(", "));
        }
    }
    missing
}

fn only_points(loaded: &Loaded) -> bool {
    let body = String::from_utf8_lossy(loaded.document.body());
    loaded.memory.memory_type == Some(MemoryType::Reference)
        && !loaded.memory.pinned
        && statements(&body).len() <= POINTS_ONLY
}

fn names_a_file(subject: &Subject) -> bool {
    subject.claims.iter().any(|claim| claim.firm && claim.kind == ClaimKind::Path)
}
