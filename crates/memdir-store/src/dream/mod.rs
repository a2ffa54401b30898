//! Dreams of one vault: when, on what, with whose word, and the way back.
//!
//! What a dream would do is decided in `memdir_core::dream`. Here it is given the memories and what is known beside them,
//! its proposal is kept as a run below the vault's state, past questions are asked again, and what may be done is done
//! through the one door, as one change.
//!
//! ```text
//!   gates ─▶ lock ─▶ gather ─▶ plan ─▶ replay ─▶ review ─▶ run: proposed ─┬─▶ apply (one change) ─▶ applied ─▶ undone
//!   (rest)   (post)  (snapshot)                                           └─▶ discarded
//! ```
//!
//! Nobody waits for a dream: it reads a snapshot, and at the end a memory that was changed meanwhile is left alone. Look at
//! [`dream`] first, then at [`Run`].

mod apply;
pub mod asked;
mod gather;
mod overlay;
mod replay;
mod rest;
mod run;

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Zoned;
use memdir_core::dream::{
    Advice, Decision, Limits, Mode, Plan, Source, decide, plan_while, review, split, take_advice,
};

use crate::gate::Gate;
use crate::lock::LockError;
use crate::notes::NotesError;
use crate::queue::Post;
use crate::vault::{CommitError, Vault};
use crate::verify::Verifier;

pub use apply::{Applied, Undone, apply, discard, undo};
pub use rest::{heard, rest};
pub(crate) use run::scrub;
pub use run::{Run, State, find, lately, newest, runs, told};

/// Why a dream did not come to an end.
#[derive(Debug, thiserror::Error)]
pub enum DreamError {
    /// The vault or its state could not be read or written.
    #[error("could not use {}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// There is no lock to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The change was not made.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Past questions could not be asked.
    #[error(transparent)]
    Notes(#[from] NotesError),
    /// The run is not in a state in which this can be done.
    #[error("dream {id} is {state} already")]
    Settled {
        /// Which.
        id: String,
        /// Its state.
        state: State,
    },
    /// It took too long; nothing was done.
    #[error("the dream took longer than {} seconds; nothing was done", limit.as_secs())]
    Late {
        /// How long it may take.
        limit: Duration,
    },
    /// Too many memories would leave.
    #[error("{leaving} of {memories} memories would leave")]
    TooMany {
        /// How many would leave.
        leaving: usize,
        /// How many there are.
        memories: usize,
    },
}

/// What a dream works with.
#[derive(Debug, Clone, Copy)]
pub struct Dreamer<'a> {
    /// The vault.
    pub vault: &'a Vault,
    /// What a writer judges by.
    pub gate: &'a Gate,
    /// Looks up what memories point to; none where there is no project.
    pub verifier: Option<&'a Verifier>,
    /// The time, where the user is.
    pub now: &'a Zoned,
    /// How long it may take until it begins to write.
    pub limit: Duration,
}

/// As long a dream may take, whatever the vault and whoever advises it.
pub const LIMIT: Duration = Duration::from_secs(20 * 60);

/// Whoever looks at the memories and says what could be done; nothing, where there is nobody or no answer.
pub type Adviser<'a> = dyn FnMut(&[Source], &mut dyn FnMut()) -> Vec<Advice> + 'a;

/// How a dream was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// By the clock: the gates decide.
    WhenDue,
    /// By a person, now.
    Now,
    /// By a person who only wants to see what would be done.
    DryRun,
}

/// What came of a wish to dream.
#[derive(Debug)]
pub enum Dreamt {
    /// The gates are shut.
    NotNow(Decision),
    /// Somebody else is dreaming.
    Busy,
    /// There is nothing to do; how many memories there are.
    Nothing(Box<Plan>),
    /// Something was done, or waits.
    Done {
        /// What was carried out.
        applied: Option<Box<(Run, Applied)>>,
        /// What waits for a person.
        waiting: Option<Box<Run>>,
    },
}

/// Names the post of whoever dreams over a vault.
pub fn post(vault: &Vault) -> String {
    format!("dream-{}", vault.id())
}

/// Says whether a vault may dream now, by its gates.
pub fn may(vault: &Vault, now: jiff::Timestamp) -> Decision {
    decide(&rest(vault), &Limits::default(), now)
}

/// Dreams over a vault, as far as the gates, the lock and the review allow.
pub fn dream(
    dreamer: &Dreamer<'_>,
    mode: Mode,
    wish: Wish,
    adviser: &mut Adviser<'_>,
    beat: &mut dyn FnMut(),
) -> Result<Dreamt, DreamError> {
    let now = dreamer.now.timestamp();
    if wish == Wish::WhenDue {
        match may(dreamer.vault, now) {
            Decision::Dream => {}
            decision => return Ok(Dreamt::NotNow(decision)),
        }
    }
    let Some(mut post) = Post::attempt(dreamer.vault.home(), &post(dreamer.vault))? else {
        return Ok(Dreamt::Busy);
    };
    post.beat("dreaming");
    let done = under_lock(dreamer, mode, wish, adviser, &mut || {
        post.beat("dreaming");
        beat();
    });
    if wish == Wish::DryRun {
        return done;
    }
    let noted = match &done {
        Ok(_) => rest::dreamt(dreamer.vault, now),
        Err(_) => rest::failed(dreamer.vault, now),
    };
    let failed = |source| DreamError::Io { path: dreamer.vault.state_path(), source };
    done.and_then(|done| noted.map_err(failed).map(|()| done))
}

fn under_lock(
    dreamer: &Dreamer<'_>,
    mode: Mode,
    wish: Wish,
    adviser: &mut Adviser<'_>,
    beat: &mut dyn FnMut(),
) -> Result<Dreamt, DreamError> {
    let started = Instant::now();
    let late = || DreamError::Late { limit: dreamer.limit };
    let in_time = || started.elapsed() < dreamer.limit;
    let vault = dreamer.vault;
    let failed = |source| DreamError::Io { path: vault.path().to_owned(), source };
    let (sources, evidence) = gather::gather(dreamer, beat).map_err(failed)?;
    beat();
    let plan = plan_while(&sources, &evidence, dreamer.now, &mut || {
        beat();
        in_time()
    });
    let mut plan = plan.ok_or_else(late)?;
    // What is declined is of no use to anybody: who advises is asked again another day.
    let _ = take_advice(&mut plan, &sources, adviser(&sources, beat));
    beat();
    if plan.operations.is_empty() {
        return Ok(Dreamt::Nothing(Box::new(plan)));
    }
    let pasts = replay::replay(dreamer, &plan, beat)?;
    // From here on things are written, and what is begun is brought to its end.
    if !in_time() {
        return Err(late());
    }
    let replay = review(&mut plan, &pasts, &sources);
    // The first dream of a vault only shows what it would do.
    let is_first = rest(vault).last.is_none();
    let mode = if is_first || wish == Wish::DryRun { Mode::Always } else { mode };
    let split = split(&plan, mode, sources.len());
    let failed = |source| DreamError::Io { path: vault.state_path(), source };
    let part = |places: &[usize]| Run::new(dreamer, &plan, places, &replay, sources.len());
    let applied = match split.now.is_empty() {
        true => None,
        false => {
            let mut run = part(&split.now).map_err(failed)?;
            let applied = apply(dreamer, &mut run, true)?;
            Some(Box::new((run, applied)))
        }
    };
    let waiting = match split.waiting.is_empty() {
        true => None,
        false => Some(Box::new(part(&split.waiting).map_err(failed)?)),
    };
    run::prune(vault).map_err(failed)?;
    Ok(Dreamt::Done { applied, waiting })
}
