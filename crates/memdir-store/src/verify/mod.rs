//! Looks up what memories claim, in the work tree around a vault and in git's history.
//!
//! [`Verifier::verify`] does it thoroughly, for a command or a background process: one pass over the tracked files for
//! all names of all memories, git asked about what is missing, the answers kept in a derived file and the verdicts noted
//! in the ledger. [`Verifier::look_again`] does it for whoever shows a memory: it reads what is kept, looks at the files that
//! it names, and asks git only about what is not there, for as long as the reader can wait. [`Verifier::glance`] does the
//! same and runs nothing. [`Verifier::remember`] keeps what such a look saw, so that the next one knows what held when.
//!
//! A repository is not trusted: only its tracked files are read, no link out of it is followed, every read has a bound,
//! addresses are never fetched, and git runs with nothing of the repository's own in reach. A memory file is never
//! touched. Which claims count is decided in `memdir_core::claims`.

mod cache;
mod head;
mod history;
mod look;
mod manifests;
mod patch;
mod search;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memdir_core::change::Surface;
use memdir_core::claims::{
    Checked, Claim, ClaimKind, Held, State, Verdict, Verification, claims, flag_spellings,
};
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::text::age_days;

use crate::ledger::{Event, EventKind};
use crate::place::git::Repository;
use crate::place::{Environment, Place};
use crate::surroundings::{self, Surroundings};
use crate::vault::{Loaded, Vault};
use cache::{Past, Pasts};
use history::History;
use look::Look;
use manifests::Manifests;
use search::{Bounds, Search};

pub use cache::Cache;
pub(crate) use cache::file_name;

/// The state id of the user vault, whose memories belong to no project.
const USER: &str = "user";

/// Nobody who reads a memory waits longer for git.
const LONGEST_LOOK: Duration = Duration::from_secs(2);

/// Looks up claims in one project.
#[derive(Debug)]
pub struct Verifier {
    surroundings: Surroundings,
    repository: Option<Repository>,
    root: PathBuf,
    search_path: Option<OsString>,
    project: String,
    now: Timestamp,
    zone: TimeZone,
    head: Option<String>,
    manifests: OnceCell<Manifests>,
}

/// A memory whose claims are to be looked up.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Where it is in its vault.
    pub path: MemoryPath,
    /// Which version.
    pub hash: ContentHash,
    /// What it claims.
    pub claims: Vec<Claim>,
    /// Whether its claims are about this project.
    pub is_ours: bool,
}

/// Which memories of a vault are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All: what is kept about others is dropped.
    Vault,
    /// Some.
    Some,
}

impl Verifier {
    /// Looks at where `place` is; `zone` decides which day it is.
    pub fn around(place: &Place, env: &Environment, now: Timestamp, zone: TimeZone) -> Self {
        let surroundings = Surroundings::around(place, env);
        let ground = surroundings::ground(place, env);
        let head = surroundings.git().and_then(head::commit);
        Self {
            surroundings,
            root: ground.as_ref().map(|ground| ground.dir.clone()).unwrap_or_default(),
            repository: ground.and_then(|ground| ground.repository),
            search_path: env.search_path.clone(),
            project: place.project.id.as_str().to_owned(),
            now,
            zone,
            head,
            manifests: OnceCell::new(),
        }
    }

    /// Returns the commit that is checked out.
    pub fn commit(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Finds what a memory of `vault` claims. What the user vault says of paths is about the project it was learned in.
    pub fn subject(&self, vault: &Vault, loaded: &Loaded) -> Subject {
        let origin = loaded.memory.origin_project.as_deref();
        Subject {
            path: loaded.path.clone(),
            hash: loaded.hash,
            claims: claims(&loaded.memory, &loaded.document),
            is_ours: vault.id() != USER || origin == Some(self.project.as_str()),
        }
    }

    /// Looks up everything that memories of `vault` claim, keeps the answers and notes the verdicts in the ledger.
    ///
    /// Neither a cache nor a ledger that cannot be written is an error: the answers are still right.
    pub fn verify(
        &self,
        vault: &Vault,
        subjects: &[Subject],
        extent: Extent,
        by: Surface,
        progress: impl FnMut(usize, usize),
    ) -> Vec<Verification> {
        let cache = Cache::load(vault);
        let before: Vec<Option<Verification>> =
            subjects.iter().map(|subject| cache.get(&subject.path, subject.hash)).collect();
        let ours = subjects.iter().filter(|subject| subject.is_ours);
        let search = self.search(ours.flat_map(|subject| &subject.claims), &[], Bounds::WHOLE, progress);
        let looks: Vec<Vec<Look>> = subjects.iter().map(|subject| self.looks(subject, &search)).collect();
        let mut pasts = self.pasts(&cache);
        self.ask_history(looks.iter().flatten(), &mut pasts, Instant::now() + history::PATIENCE);
        let verifications: Vec<Verification> = (subjects.iter().zip(looks))
            .zip(&before)
            .map(|((subject, looks), before)| self.conclude(subject, looks, &pasts, before.as_ref()))
            .collect();
        self.keep(vault, &cache, subjects, &verifications, &pasts, extent);
        self.note(vault, subjects, &before, &verifications, by);
        verifications
    }

    /// Looks again at what a memory claims with what is kept and a few files, in a few milliseconds: for a recall.
    ///
    /// Never runs git and writes nothing. What a glance cannot tell is as it was at the last check.
    pub fn glance(&self, subject: &Subject, cache: &Cache) -> Verification {
        self.look_within(subject, cache, None)
    }

    /// Looks at what a memory claims before somebody reads it, whether it was ever looked up or not: a name that the code
    /// does not have is looked up in git's history, for at most `patience`. What that is too short for is not checked.
    pub fn look_again(&self, subject: &Subject, cache: &Cache, patience: Duration) -> Verification {
        self.look_within(subject, cache, Some(Instant::now() + patience.min(LONGEST_LOOK)))
    }

    /// Keeps what a look saw where nothing is kept of that version yet or something else, and notes nothing else.
    pub fn remember(&self, vault: &Vault, seen: &[(Subject, Verification)]) {
        let cache = Cache::load(vault);
        let is_new = |(subject, found): &&(Subject, Verification)| {
            let kept = cache.get(&subject.path, subject.hash);
            // What was not looked at in time is no answer to keep.
            let is_whole = !found.claims.iter().any(Checked::is_open);
            is_whole && subject.is_ours && kept.is_none_or(|kept| !kept.says_the_same(found))
        };
        let rows: Vec<_> = seen
            .iter()
            .filter(is_new)
            .map(|(subject, found)| (subject.path.clone(), subject.hash, found.clone()))
            .collect();
        if !rows.is_empty() {
            let pasts = self.head.as_deref().map(|head| (head, cache.pasts(head)));
            // Derived: the next look sees it anew.
            let _ = cache.save(vault, &rows, pasts.as_ref().map(|(head, pasts)| (*head, pasts)), |_| true);
        }
    }

    fn look_within(&self, subject: &Subject, cache: &Cache, until: Option<Instant>) -> Verification {
        let before = cache.get(&subject.path, subject.hash);
        let kept = |claim: &Claim| {
            before.as_ref().map(|before| before.claims.iter().find(|old| old.claim.is_about(claim)))
        };
        // A guess that the whole project did not confirm is not looked at again.
        let claims = subject.claims.iter().filter(|claim| kept(claim).is_none_or(|old| old.is_some()));
        let subject = &Subject { claims: claims.cloned().collect(), ..subject.clone() };
        let first: Vec<String> =
            before.iter().flat_map(|before| &before.claims).filter_map(file_of).collect();
        // What the whole code did not have is not looked for in a part of it.
        let is_idle = |claim: &Claim| kept(claim).flatten().is_some_and(|old| !old.state.is_answer());
        let claims = subject.claims.iter().filter(|claim| subject.is_ours && !is_idle(claim));
        let bounds = until.map_or(Bounds::GLANCE, Bounds::until);
        let search = self.search(claims, &first, bounds, |_, _| {});
        let looks = self.looks(subject, &search);
        let (looks, is_old): (Vec<Look>, Vec<bool>) = looks
            .into_iter()
            .zip(&subject.claims)
            .map(|(look, claim)| look.or_as_before(claim, before.as_ref(), &search))
            .unzip();
        let is_asking = looks.iter().any(|look| look.question().is_some());
        let mut pasts = if is_asking { self.pasts(cache) } else { Pasts::new() };
        if let Some(until) = until.filter(|_| is_asking) {
            self.ask_history(looks.iter(), &mut pasts, until);
        }
        let mut verification = self.conclude(subject, looks, &pasts, before.as_ref());
        if is_old.contains(&true)
            && let Some(before) = before
        {
            // An answer is as old as its oldest part.
            (verification.checked, verification.commit) = (before.checked, before.commit);
        }
        verification
    }

    fn search<'s>(
        &self,
        claims: impl Iterator<Item = &'s Claim>,
        first: &[String],
        bounds: Bounds,
        progress: impl FnMut(usize, usize),
    ) -> Search {
        let wanted: BTreeSet<Vec<String>> = claims.map(names_of).filter(|names| !names.is_empty()).collect();
        match self.surroundings.project() {
            Some(root) if !wanted.is_empty() => {
                let mut search =
                    Search::run(root, || self.surroundings.tree(), first, &wanted, bounds, progress);
                search.is_whole &= self.knows_every_file();
                search
            }
            _ => Search::default(),
        }
    }

    fn looks(&self, subject: &Subject, search: &Search) -> Vec<Look> {
        subject.claims.iter().map(|claim| self.look(claim, subject.is_ours, search)).collect()
    }

    /// Returns what git told at this commit, as far as what it led to is still there.
    fn pasts(&self, cache: &Cache) -> Pasts {
        let mut pasts = self.head.as_deref().map(|head| cache.pasts(head)).unwrap_or_default();
        let is_there = |past: &Past| match past {
            Past::Renamed { to, .. } => self.surroundings.is_there(to),
            _ => true,
        };
        pasts.retain(|(kind, _), past| *kind != ClaimKind::Path || is_there(past));
        pasts
    }

    fn manifests(&self) -> &Manifests {
        self.manifests.get_or_init(|| match self.surroundings.project() {
            Some(root) => Manifests::read(root, self.surroundings.tree()),
            None => Manifests::default(),
        })
    }

    /// Asks git about everything that is not there and not yet known at this commit.
    fn ask_history<'l>(&self, looks: impl Iterator<Item = &'l Look>, pasts: &mut Pasts, until: Instant) {
        let (Some(repository), Some(_), Some(root)) =
            (&self.repository, &self.head, self.surroundings.project())
        else {
            return;
        };
        let open: Vec<&Look> =
            looks.filter(|look| look.question().is_some_and(|key| !pasts.contains_key(&key))).collect();
        let paths: BTreeSet<String> = open.iter().filter_map(|look| look.path().map(str::to_owned)).collect();
        if open.is_empty() {
            return;
        }
        let history = History::new(repository, self.search_path.clone(), until);
        if !paths.is_empty() {
            let found = history.paths(&paths, |path| self.surroundings.is_there(path));
            pasts.extend(found.into_iter().map(|(path, past)| ((ClaimKind::Path, path), past)));
        }
        for look in open {
            if let (Some(spellings), Some(key)) = (look.spellings(), look.question())
                && !pasts.contains_key(&key)
            {
                pasts.insert(key, history.name(spellings, root));
            }
        }
    }

    /// Puts together what was seen, what git told and what held before. A guess that nobody confirms is left out.
    fn conclude(
        &self,
        subject: &Subject,
        looks: Vec<Look>,
        pasts: &Pasts,
        before: Option<&Verification>,
    ) -> Verification {
        let mut claims = Vec::new();
        for (claim, look) in subject.claims.iter().zip(looks) {
            let known =
                before.and_then(|before| before.claims.iter().find(|checked| checked.claim.is_about(claim)));
            let held = known.and_then(|checked| checked.held.clone());
            let past = look.question().and_then(|key| pasts.get(&key)).unwrap_or(&Past::Unknown);
            let Some(state) = look.conclude(claim, past, held.is_some(), self.head.is_some()) else {
                continue;
            };
            let held = match state {
                State::Holds { .. } => Some(Held { at: self.now, commit: self.head.clone() }),
                _ => held,
            };
            claims.push(Checked { claim: claim.clone(), state, held });
        }
        Verification { claims, checked: Some(self.now), commit: self.head.clone() }
    }

    fn keep(
        &self,
        vault: &Vault,
        cache: &Cache,
        subjects: &[Subject],
        verifications: &[Verification],
        pasts: &Pasts,
        extent: Extent,
    ) {
        // What another project's memories claim is kept as that project saw it.
        let ours = subjects.iter().zip(verifications).filter(|(subject, _)| subject.is_ours);
        let rows: Vec<_> =
            ours.map(|(subject, found)| (subject.path.clone(), subject.hash, found.clone())).collect();
        let live: BTreeSet<&str> = subjects.iter().map(|subject| subject.path.as_str()).collect();
        let keeps = |mem: &str| extent == Extent::Some || live.contains(mem);
        // Derived: the next check writes it anew.
        let _ = cache.save(vault, &rows, self.head.as_deref().map(|head| (head, pasts)), keeps);
    }

    /// Notes a verdict where it is news: another than before, at another commit, or after a day.
    fn note(
        &self,
        vault: &Vault,
        subjects: &[Subject],
        before: &[Option<Verification>],
        verifications: &[Verification],
        by: Surface,
    ) {
        let Some(ledger) = vault.ledger() else { return };
        let is_news = |before: &Option<Verification>, now: &Verification| {
            before.as_ref().is_none_or(|before| {
                let is_old = before.checked.is_none_or(|checked| age_days(checked, self.now) > 0);
                before.verdict() != now.verdict() || before.commit != now.commit || is_old
            })
        };
        let mut events = Vec::new();
        for ((subject, before), now) in subjects.iter().zip(before).zip(verifications) {
            let ev = match now.verdict() {
                Verdict::Verified => EventKind::Verified,
                Verdict::Stale => EventKind::Stale,
                Verdict::Unverified => continue,
            };
            if is_news(before, now) {
                let (mem, sha256) = (subject.path.stem().to_owned(), Some(subject.hash));
                events.push(Event { sha256, by: Some(by), ..Event::new(self.now, ev, &mem) });
            }
        }
        // The ledger is not waited for.
        let _ = ledger.append(&events);
    }
}

/// Returns the names to look for in the code.
fn names_of(claim: &Claim) -> Vec<String> {
    match claim.kind {
        ClaimKind::Symbol => vec![claim.value.clone()],
        ClaimKind::Flag => flag_spellings(&claim.value),
        _ => Vec::new(),
    }
}

/// Returns the file in which a claim was last seen to hold.
fn file_of(checked: &Checked) -> Option<String> {
    match &checked.state {
        State::Holds { at: Some(at) } => at.rsplit_once(':').map(|(file, _)| file.to_owned()),
        _ => None,
    }
}
