//! The summary of a conversation, asked of its own model before it is needed (CI-07).
//!
//! The question goes the way of the conversation's last request: the same bytes with one message more, so the service reads
//! nearly all of it from its cache. It costs the user's money, so it is asked only if they want it (`gateway.summaries =
//! "model"`), under the caps and behind the breakers of every background question, and its receipt says what came from the
//! cache. Whatever goes wrong, the conversation is shortened in its own words.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use memdir_core::gateway::{self, Dialect, Ear, Summary, fork};
use memdir_mind::compact::words_here;
use memdir_mind::model::{Answer, Model, ModelError, Part, Request, Role, Stop, Usage};
use memdir_server::gateway::{Again, End, Hearer, Note, Usage as Took};
use memdir_store::costs::Job;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::Desk;
use super::hearing::took;
use super::passing::Passing;
use crate::asking::Asking;
use crate::context::Context;
use crate::failure::Failure;

/// As many summaries are asked for at a time; each holds a thread.
const AT_ONCE: usize = 4;

/// The conversations whose summaries are being asked for, each once: answers go on coming meanwhile.
#[derive(Debug, Default)]
pub(super) struct Summing {
    conversations: Mutex<HashSet<String>>,
}

impl Summing {
    /// Takes a place for a conversation; none if it has one, or if all are taken.
    fn begin(&self, conversation: &str) -> Option<Asked<'_>> {
        let mut conversations = self.lock();
        let is_new = conversations.len() < AT_ONCE && conversations.insert(conversation.to_owned());
        is_new.then(|| Asked { summing: self, conversation: conversation.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is given back.
struct Asked<'s> {
    summing: &'s Summing,
    conversation: String,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.summing.lock().remove(&self.conversation);
    }
}

/// The way of a request, and what was sent on it.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) again: Again,
    pub(super) sent: Bytes,
    /// The name of the upstream.
    pub(super) upstream: String,
    pub(super) handle: Handle,
}

/// Asks for the summary of a conversation that will have to be shortened, unless there is one.
pub(super) fn sum_up(desk: &Desk, passing: &Passing, way: &Way) -> Result<(), Failure> {
    let (env, place) = passing.place(desk)?;
    let (dialect, body) = (passing.dialect(), passing.came());
    let has_one = || {
        let summary = desk.conversations.known(passing.id()).summary;
        summary.is_some_and(|summary| summary.begins(dialect, body))
    };
    if place.off || !place.settings.gateway.has_model_summaries || has_one() {
        return Ok(());
    }
    let Some(_asked) = desk.summing.begin(passing.id()) else { return Ok(()) };
    let context = Context::unheard(env, place)?;
    let words = match ask(desk, passing, way, &context) {
        // Nobody was asked: what may be spent is spent, or the service is left alone.
        Err(ModelError::Held(_)) => return Ok(()),
        words => words.ok(),
    };
    let scanner = context.scanner()?;
    let made = words.and_then(|words| Summary::of(dialect, body, scanner.redacted(&words).into_owned()));
    desk.conversations.update(passing.id(), crate::context::now(), |known| match made {
        Some(summary) => (known.summary, known.unsummed) = (Some(summary), 0),
        None => known.unsummed += 1,
    });
    Ok(())
}

fn ask(desk: &Desk, passing: &Passing, way: &Way, context: &Context) -> Result<String, ModelError> {
    let reading = passing.reading();
    let model = Here {
        way,
        is_over: desk.is_over.subscribe(),
        conversation: passing.conversation().map(str::to_owned),
        dialect: passing.dialect(),
        name: reading.model.clone(),
        service: format!("{} through the gateway", way.upstream),
    };
    let asking = Asking { context, job: Job::Session, session: None, beat: &mut || {} };
    let asked = asking.run(model, |run| {
        let words = words_here(run);
        match &words {
            Ok(_) => run.model().satisfied(),
            Err(ModelError::Malformed(_)) => run.model().disappointed(),
            Err(_) => {}
        }
        words
    })?;
    asked.answer
}

/// The model of a conversation, asked behind its last message.
struct Here<'w> {
    way: &'w Way,
    /// Whether nobody waits any more.
    is_over: watch::Receiver<bool>,
    conversation: Option<String>,
    dialect: Dialect,
    name: String,
    service: String,
}

impl Model for Here<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn service(&self) -> &str {
        &self.service
    }

    /// What stands before the question.
    fn overhead(&self) -> u64 {
        memdir_core::budget::most_tokens(self.way.sent.len())
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        let said = request.messages.iter().rev().find(|message| message.role == Role::User);
        let said = said.into_iter().flat_map(|message| &message.parts).find_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Call { .. } | Part::Result { .. } => None,
        });
        let body = said.and_then(|said| fork(self.dialect, &self.way.sent, said));
        let body = body.ok_or_else(|| ModelError::Refused("there is nothing to go on from".to_owned()))?;
        let note = Note { conversation: self.conversation.clone(), kind: "summary", ..Note::default() };
        let heard = Arc::default();
        let hearer = Box::new(Catching { ear: Ear::new(self.dialect), heard: Arc::clone(&heard) });
        let asking = self.way.again.ask(Bytes::from(body), note, hearer);
        let end = self.way.handle.block_on(async {
            tokio::select! {
                end = asking => end,
                _ = self.is_over.wait_for(|is_over| *is_over) => End::Cut,
            }
        });
        let heard = heard.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (end, heard) {
            (End::Whole, Some(answer)) if answer.is_over => Ok(answered(answer)),
            (End::Status(status), _) if (400..500).contains(&status) && status != 429 => {
                Err(ModelError::Refused(format!("status {status}")))
            }
            (End::Status(status), _) => Err(ModelError::Unreachable(format!("status {status}"))),
            (End::Whole | End::Cut, _) => Err(ModelError::Unreachable("its answer broke off".to_owned())),
        }
    }
}

fn answered(answer: gateway::Answer) -> Answer {
    let stop = match answer.stop.as_deref() {
        _ if !answer.tools.is_empty() => Stop::Tools,
        _ if answer.is_cut => Stop::Length,
        Some("max_tokens" | "length" | "incomplete" | "max_output_tokens" | "MAX_TOKENS") => Stop::Length,
        Some("refusal" | "content_filter" | "SAFETY") => Stop::Refused,
        _ => Stop::End,
    };
    let usage = answer.usage.unwrap_or_default();
    let usage =
        Usage { input: usage.input, cached: usage.cached, stored: usage.stored, output: usage.output };
    Answer { parts: vec![Part::Text(answer.text)], stop, usage }
}

/// Catches an answer for whoever waits for it.
#[derive(Debug)]
struct Catching {
    ear: Ear,
    heard: Arc<Mutex<Option<gateway::Answer>>>,
}

impl Hearer for Catching {
    fn piece(&mut self, bytes: &[u8]) {
        self.ear.hear(bytes);
    }

    fn end(self: Box<Self>, _end: End) -> Option<Took> {
        let answer = self.ear.finish();
        let took = took(&answer);
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        took
    }
}
