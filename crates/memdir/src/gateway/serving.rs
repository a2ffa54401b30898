//! Calls of the memory tool, answered by the vault of the conversation's project.
//!
//! A client whose answer broke off asks again, and the model calls again what was done already. So what changed something is known
//! for a while ([`Runs`]): the same call in another attempt at the same answer is told what it came to, and done once.

use std::collections::VecDeque;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memdir_core::change::Surface;
use memdir_core::gateway::{Call, Kept, Outcome};
use memdir_core::memory_tool::Answer;
use memdir_server::gateway::{Served, Tool};
use memdir_store::session::Session;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::Desk;
use super::passing::Passing;
use crate::context::Context;
use crate::failure::Failure;
use crate::memory_tool::{self, User};
use crate::ui::Ui;

/// What the client is called in the history of a vault.
const CLIENT: &str = "a client of the gateway";
/// What was done is known for so long, and so much of it: clients ask again within seconds.
const REMEMBERED: Duration = Duration::from_secs(600);
const MAX_RUNS: usize = 256;
/// So often it is tried to keep what a client was not shown.
const TRIES: usize = 20;
/// What a call is told that came to nothing.
const FAULT: &str = "the memory could not be reached";

/// Returns who answers the memory tool in a conversation, if the user wants the vault to.
pub(super) fn tool(desk: &Arc<Desk>, passing: &Arc<Passing>) -> Option<Served> {
    let name = passing.tool()?.to_owned();
    let attempt = desk.runs.attempts.fetch_add(1, Ordering::Relaxed);
    let tool = Arc::new(Vault { desk: desk.clone(), passing: passing.clone(), attempt });
    Some(Served { name, n_messages: passing.reading().n_messages, tool })
}

/// The vault of a conversation.
#[derive(Debug, Clone)]
struct Vault {
    desk: Arc<Desk>,
    passing: Arc<Passing>,
    /// Tells this attempt at an answer from others.
    attempt: u64,
}

/// What was done for answers that did not come to their end.
#[derive(Debug, Default)]
pub(super) struct Runs {
    attempts: AtomicU64,
    done: Mutex<VecDeque<Run>>,
}

/// A call that was carried out.
#[derive(Debug)]
struct Run {
    at: Instant,
    attempt: u64,
    /// The answer: its conversation, and how many messages were before it.
    answer: (String, usize),
    input: Map<String, Value>,
    outcome: Outcome,
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Run>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the same call came to in another attempt at an answer. It counts once.
    fn before(&self, attempt: u64, answer: &(String, usize), call: &Call) -> Option<Outcome> {
        let mut done = self.lock();
        done.retain(|run| run.at.elapsed() < REMEMBERED);
        let is_same = |run: &Run| run.attempt != attempt && run.answer == *answer && run.input == call.input;
        let run = done.iter().position(is_same).and_then(|at| done.remove(at))?;
        let outcome = run.outcome.clone();
        done.push_back(Run { attempt, ..run });
        Some(outcome)
    }

    fn note(&self, attempt: u64, answer: (String, usize), call: &Call, outcome: &Outcome) {
        let mut done = self.lock();
        let (input, outcome) = (call.input.clone(), outcome.clone());
        done.push_back(Run { at: Instant::now(), attempt, answer, input, outcome });
        if done.len() > MAX_RUNS {
            done.pop_front();
        }
    }

    /// Forgets an answer that came to its end.
    fn forget(&self, answer: &(String, usize)) {
        self.lock().retain(|run| run.answer != *answer);
    }
}

impl Tool for Vault {
    fn run(&self, calls: Vec<Call>) -> Pin<Box<dyn Future<Output = Vec<Outcome>> + Send>> {
        let (vault, n_calls) = (self.clone(), calls.len());
        Box::pin(async move {
            let ran = spawn_blocking(move || calls.iter().map(|call| vault.answer(call)).collect());
            ran.await.unwrap_or_else(|_| vec![outcome(Answer::refusal(FAULT)); n_calls])
        })
    }

    fn keep(&self, kept: Kept) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let vault = self.clone();
        Box::pin(async move {
            // Not being able to costs the model what it has seen, and a prompt cache.
            let _ = spawn_blocking(move || vault.note(kept)).await;
        })
    }

    fn over(&self) {
        self.desk.runs.forget(&self.name());
    }
}

impl Vault {
    /// Returns the answer that this is an attempt at.
    fn name(&self) -> (String, usize) {
        (self.passing.id().to_owned(), self.passing.reading().n_messages)
    }

    fn answer(&self, call: &Call) -> Outcome {
        let (name, runs) = (self.name(), &self.desk.runs);
        if let Some(outcome) = runs.before(self.attempt, &name, call) {
            return outcome;
        }
        let ran = self.run_one(call);
        let outcome = outcome(ran.unwrap_or_else(|failure| Answer::refusal(&failure.message)));
        if call.input.get("command").is_some_and(|command| command != "view") && !outcome.is_error {
            runs.note(self.attempt, name, call, &outcome);
        }
        outcome
    }

    fn run_one(&self, call: &Call) -> Result<Answer, Failure> {
        let (env, place) = self.desk.place_now(self.passing.project.as_deref())?;
        let context = (!place.off).then(|| Context::unheard(env, place)).transpose()?;
        let is_told = |home: &Path| {
            let session = self.passing.conversation().and_then(|session| Session::of(home, session));
            session.is_some_and(|session| session.state().ignores_memory)
        };
        let context =
            context.filter(|context| !context.leaves_memory_aside() && !is_told(&context.place.home));
        let ui = Ui::collecting();
        let user = context.as_ref().map(|context| User {
            context,
            ui: &ui,
            session: self.passing.conversation().unwrap_or_default(),
            client: CLIENT,
            by: Surface::Hook,
            may_write: true,
        });
        memory_tool::run(&call.input, user)
    }

    /// Notes what the client was not shown, without secrets: a call that was refused for one holds it.
    fn note(&self, mut kept: Kept) -> Result<(), Failure> {
        let (env, place) = self.passing.place(&self.desk)?;
        let context = Context::unheard(env, place)?;
        if context.place.off {
            return Ok(());
        }
        let scanner = context.scanner()?;
        kept.change_texts(|text| scanner.redacted(text).into_owned());
        // Somebody may hold on to what is known of the conversation; nobody waits for this but the end of the answer.
        for _ in 0..TRIES {
            self.desk.conversations.update(self.passing.id(), context.now, |known| known.keep(kept.clone()));
            if self.desk.conversations.known(self.passing.id()).kept.contains(&kept) {
                break;
            }
        }
        Ok(())
    }
}

fn outcome(answer: Answer) -> Outcome {
    Outcome { text: answer.text, is_error: answer.is_error }
}
