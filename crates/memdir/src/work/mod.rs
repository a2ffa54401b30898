//! The worker: does what hooks have no time for.
//!
//! A hook pushes a job and calls [`start()`]; somebody calls [`drain`]: a short-lived process that [`start()`] made, the
//! daemon, or `memdir watch`. Whoever drains takes the lease of each queue that has work, does the jobs one by one at the
//! place that each of them names, and leaves. A queue that somebody else works on is left to that one.
//!
//! ```text
//!   hook ─▶ push ─▶ start ─▶ memdir work --once ─▶ drain ─▶ turn   keeps turns, working memory, what was taught
//!                     │                              ▲     ├▶ end    journal entry, what was shown in vain, retire
//!                     │                              │     ├▶ settle what others wrote, page, index
//!                     └ a daemon is there: nothing   │     ├▶ verify claims against the project
//!                                     daemon · watch ┘     ├▶ dream-gate puts memories in order
//!                                                          ├▶ magic  documents that keep themselves up to date
//!                                                          └▶ sync   the team's memories and ours
//! ```
//!
//! A job may be done twice if its worker is killed in the middle, so each of them looks at what is there before it adds to
//! it. A new kind of work is a variant of [`Kind`], a file here and a line in [`run`].

mod asked;
mod dream;
mod end;
pub(crate) mod extract;
mod listen;
pub(crate) mod magic;
pub(crate) mod mind;
mod settle;
pub(crate) mod share;
mod start;
mod tick;
mod turn;
mod working;

use std::path::{Path, PathBuf};

use memdir_core::host::Agent;
use memdir_store::place::{self, Environment, Place, Project, Registry};
use memdir_store::queue::{Job, Kind, Queue, QueueError};
use memdir_store::transcript::Transcripts;
use memdir_store::working::Session;

use crate::context::{self, Context};
use crate::failure::Failure;
use crate::ui::Ui;

pub(crate) use listen::Ears;
pub(crate) use start::{DAEMON, detach, start};
pub(crate) use tick::{Tick, places, tick};

/// What a drain did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Drained {
    /// Jobs that were done.
    pub(crate) done: usize,
    /// Jobs that could not be done.
    pub(crate) failed: usize,
    /// Queues that somebody else works on.
    pub(crate) busy: usize,
}

impl Drained {
    fn add(&mut self, other: Self) {
        self.done += other.done;
        self.failed += other.failed;
        self.busy += other.busy;
    }
}

/// Does what waits in every queue of the state root; `beat` is called with what is being done, now and then.
pub(crate) fn drain(
    home: &Path,
    env: &Environment,
    ui: &Ui,
    beat: &mut dyn FnMut(&str),
) -> Result<Drained, Failure> {
    let mut drained = Drained::default();
    for queue in Queue::all(home)? {
        drained.add(drain_one(&queue, env, ui, beat).map_err(|err| Failure::from_chain(&err))?);
    }
    Ok(drained)
}

fn drain_one(
    queue: &Queue,
    env: &Environment,
    ui: &Ui,
    beat: &mut dyn FnMut(&str),
) -> Result<Drained, QueueError> {
    let mut drained = Drained::default();
    // Whoever pushed while we were leaving found the lease taken and went away: so we look again once it is free.
    while queue.has_work(context::now()) {
        let Some(mut lease) = queue.lease()? else {
            drained.busy += 1;
            return Ok(drained);
        };
        while let Some(claim) = lease.next(context::now())? {
            let key = claim.job.key();
            beat(&key);
            let mut alive = || {
                lease.beat(&claim);
                beat(&key);
            };
            match run(&claim.job, queue.id(), env, &mut alive) {
                Ok(()) => {
                    drained.done += 1;
                    lease.done(claim)?;
                }
                Err(failure) => {
                    drained.failed += 1;
                    ui.warn(&format!("{}: {}", claim.job.key(), failure.message));
                    lease.failed(claim, &failure.message, context::now())?;
                }
            }
        }
    }
    Ok(drained)
}

/// Does one job.
fn run(job: &Job, project: &str, env: &Environment, beat: &mut dyn FnMut()) -> Result<(), Failure> {
    let context = at(job, project, env)?;
    if context.place.off {
        // Memory was switched off since: what was wished for before counts no more.
        return Ok(());
    }
    match job.kind {
        Kind::Turn => turn::run(job, &context, beat)
            .and_then(|()| after(job, &context))
            .and_then(|()| share::wish_if_behind(&context)),
        // Counted before its end wishes for a dream.
        Kind::End => after(job, &context)
            .and_then(|()| end::run(job, &context, beat))
            .and_then(|()| share::wish(&context)),
        Kind::Settle => settle::run(&context),
        Kind::Verify => tick(&context, beat).map(drop),
        Kind::Magic => magic::run(job, &context, beat),
        Kind::DreamGate => dream::run(&context, beat),
        Kind::Sync => share::run(&context),
    }
}

/// Counts the session that a job is about, and asks whether it is time to dream.
fn after(job: &Job, context: &Context) -> Result<(), Failure> {
    if let Some(session) = job.session.as_deref() {
        dream::heard(session, context)?;
    }
    dream::wish(context)
}

/// Finds the place that a job is about: where it was wished for, or, if that is gone, wherever the project still is.
fn at(job: &Job, project: &str, env: &Environment) -> Result<Context, Failure> {
    let asked = job.environment(env);
    let (asked, place) = match place::locate(&asked) {
        Ok(place) => (asked, place),
        Err(err) => registered(project, env).and_then(|project| whereabouts(&project, env)).ok_or(err)?,
    };
    context_at(asked, place)
}

/// Begins to act at a place. What is odd about it is told by the commands that people run.
fn context_at(env: Environment, mut place: Place) -> Result<Context, Failure> {
    place.warnings.clear();
    Context::new(env, place, &Ui::new(false, true))
}

fn registered(id: &str, env: &Environment) -> Option<Project> {
    let (registry, _) = Registry::load(&env.state_root().ok()?).ok()?;
    registry.projects().find(|known| known.id.as_str() == id).cloned()
}

/// Finds a registered project by a directory that is still there, or by its vault alone.
fn whereabouts(project: &Project, env: &Environment) -> Option<(Environment, Place)> {
    let plain = Environment { project_flag: None, vault_flag: None, vault: None, ..env.clone() };
    let roots = project.roots.iter().map(|root| Environment { cwd: root.clone(), ..plain.clone() });
    let vault = project.vault.iter().map(|vault| Environment { vault: Some(vault.clone()), ..plain.clone() });
    roots.chain(vault).find_map(|env| {
        let place = place::locate(&env).ok()?;
        (place.project.id == project.id).then_some((env, place))
    })
}

/// A session as a job names it.
struct Subject {
    id: String,
    agent: Agent,
    transcript: PathBuf,
}

impl Subject {
    /// Finds the session's file; `None` if there is none (any more), or the job names no session.
    fn of(job: &Job, place: &Place) -> Option<Self> {
        let id = job.session.clone()?;
        let named = job.agent.as_deref().and_then(Agent::parse);
        if let Some(transcript) = job.transcript.clone().filter(|path| path.is_file()) {
            return Some(Self { id, agent: named.unwrap_or(Agent::ClaudeCode), transcript });
        }
        let session = Transcripts::of(place).sessions().into_iter().find(|session| session.id == id)?;
        let agent = Agent::parse(session.host.word()).or(named).unwrap_or(Agent::ClaudeCode);
        Some(Self { id, agent, transcript: session.file?.path })
    }

    fn session<'s>(&'s self, context: &'s Context) -> Session<'s> {
        Session {
            place: &context.place,
            env: &context.env,
            id: &self.id,
            agent: self.agent,
            transcript: &self.transcript,
        }
    }
}
