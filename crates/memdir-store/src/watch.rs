//! What changed behind the memories of a vault since somebody last looked.
//!
//! [`look`] glances at every memory, which takes milliseconds each, and looks thoroughly only at those for which the glance
//! says something new, that nobody has looked at yet, or whose project is at another commit. What it finds is kept and
//! noted as `memdir verify` would: a memory whose claims no longer hold needs to be verified by whoever is shown it. That
//! is another question than whether anybody uses the memory, and both are answered apart.

use std::io;

use jiff::Zoned;
use memdir_core::change::Surface;
use memdir_core::claims::{Verdict, Verification};
use memdir_core::memory::Status;
use memdir_core::recall::{Moment, Note, Signal, triggers};
use memdir_core::text::age_days;

use crate::usage::Usage;
use crate::vault::{Loaded, Vault};
use crate::verify::{Cache, Extent, Subject, Verifier};

/// What there is to say about one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// Its name.
    pub name: String,
    /// Whether something that it claims is no longer so.
    pub needs_verification: bool,
    /// Whether that is news: at the last look it was not.
    pub is_news: bool,
    /// What was found about its claims, in a clause.
    pub found: String,
    /// For how many days nobody has changed or used it.
    pub idle_days: i64,
    /// The day that it names and that comes near, in words.
    pub near: Option<String>,
}

/// Looks at every memory of a vault that still counts; `beat` is called now and then. A memory that cannot be read is
/// passed over.
pub fn look(
    vault: &Vault,
    verifier: &Verifier,
    now: &Zoned,
    beat: &mut dyn FnMut(),
) -> io::Result<Vec<Sight>> {
    let replaced = [Status::Deprecated, Status::Superseded];
    let snapshot = vault.snapshot()?;
    let entries = snapshot.memories.iter().filter(|entry| !replaced.contains(&entry.memory.status));
    let loaded: Vec<Loaded> = entries.filter_map(|entry| vault.load(&entry.path).ok().flatten()).collect();
    let cache = Cache::load(vault);
    let mut known: Vec<Known> = Vec::with_capacity(loaded.len());
    for loaded in &loaded {
        beat();
        known.push(Known::glance(verifier.subject(vault, loaded), verifier, &cache));
    }
    let suspects: Vec<Subject> =
        known.iter().filter(|known| known.is_suspect).map(|known| known.subject.clone()).collect();
    if !suspects.is_empty() {
        let found = verifier.verify(vault, &suspects, Extent::Some, Surface::Hook, |_, _| beat());
        let places = known.iter_mut().filter(|known| known.is_suspect);
        places.zip(found).for_each(|(known, found)| known.now = found);
    }
    let usage = Usage::of(vault, None, now.timestamp());
    Ok(loaded.iter().zip(&known).map(|(loaded, known)| sight(loaded, known, &usage, now)).collect())
}

/// What is known about the claims of a memory.
struct Known {
    subject: Subject,
    before: Option<Verification>,
    now: Verification,
    is_suspect: bool,
}

impl Known {
    fn glance(subject: Subject, verifier: &Verifier, cache: &Cache) -> Self {
        let before = cache.get(&subject.path, subject.hash);
        if subject.claims.is_empty() || !subject.is_ours {
            let now = before.clone().unwrap_or_default();
            return Self { subject, before, now, is_suspect: false };
        }
        let now = verifier.glance(&subject, cache);
        let is_suspect = before.as_ref().is_none_or(|before| {
            before.verdict() != now.verdict()
                || before.commit.as_deref() != verifier.commit()
                || differs(before, &now)
        });
        Self { subject, before, now, is_suspect }
    }

    fn is_stale(&self) -> bool {
        self.now.verdict() == Verdict::Stale
    }
}

/// Says whether one of the claims is in another state than it was.
fn differs(before: &Verification, now: &Verification) -> bool {
    now.claims.iter().any(|claim| {
        let old = before.claims.iter().find(|old| old.claim.is_about(&claim.claim));
        old.is_some_and(|old| old.state.as_str() != claim.state.as_str())
    })
}

fn sight(loaded: &Loaded, known: &Known, usage: &Usage, now: &Zoned) -> Sight {
    let since = usage.get(loaded.path.stem()).last_used.max(Some(loaded.modified()));
    let near = triggers(&Note::of(&loaded.memory, &loaded.document), &Moment::default(), now);
    let was_stale = known.before.as_ref().is_some_and(|before| before.verdict() == Verdict::Stale);
    Sight {
        name: loaded.path.stem().to_owned(),
        needs_verification: known.is_stale(),
        is_news: known.is_stale() && !was_stale,
        found: known.now.clause(now.timestamp()),
        idle_days: since.map_or(0, |since| age_days(since, now.timestamp())),
        near: near.into_iter().find(|trigger| trigger.kind == Signal::Day).map(|trigger| trigger.text),
    }
}
