//! Working memory of a session, brought up to date: by rules, and in better words where a model may be asked.
//!
//! Rules write first, always and at once; a model is asked afterwards, and what it wrote takes the place of that. The user's
//! own Claude Code is asked as a fork of the session, which knows it already and reads it from its prompt cache; anybody else
//! is told of it. Whoever is not asked, does not answer or answers something else leaves the notes of the rules.

use std::path::Path;
use std::time::Instant;

use memdir_core::host::Agent;
use memdir_mind::agent::Said;
use memdir_mind::model::{ModelError, Opened, Purpose, Request, Running, open_fork};
use memdir_mind::working::{notes, of_a_fork, told};
use memdir_store::costs::Job;
use memdir_store::working::{self, Session};

use super::{Subject, mind};
use crate::asking::{Asking, note_free};
use crate::cli::model;
use crate::context::Context;
use crate::failure::Failure;

/// Brings working memory up to date. At the end of a session no model is asked any more: the notes go with it.
pub(super) fn run(
    subject: &Subject,
    is_over: bool,
    context: &Context,
    beat: &mut dyn FnMut(),
) -> Result<(), Failure> {
    let started = Instant::now();
    let session = subject.session(context);
    working::catch_up(&session, true, context.now, beat)?;
    let Some(wanting) = working::wanting(&session)? else { return Ok(()) };
    let asked = match model::open(context, Purpose::Large) {
        Ok(model) if !is_over => ask(model, subject, &session, context, beat)?,
        // What is wrong with the settings is told by `memdir model`.
        _ => Words::default(),
    };
    wanting.answered(&session, asked.notes.as_deref())?;
    if !asked.left_receipt {
        note_free(Job::Session, Some(&subject.id), started, &[], context);
    }
    Ok(())
}

/// What a model wrote, if anything, and whether asking left a receipt.
#[derive(Default)]
struct Words {
    notes: Option<String>,
    left_receipt: bool,
}

fn ask(
    model: Opened,
    subject: &Subject,
    session: &Session<'_>,
    context: &Context,
    beat: &mut dyn FnMut(),
) -> Result<Words, Failure> {
    let used = mind::used(&subject.transcript);
    let (model, parent) = who(model, subject, session, used.last, context)?;
    let scanner = &context.gate()?.scanner;
    let asking = Asking { context, job: Job::Session, session: used.account(&subject.id), beat };
    let asked = asking.run(model, |run| {
        let notes = notes(run, &parent, scanner);
        match &notes {
            Ok(_) => run.model().satisfied(),
            Err(ModelError::Malformed(_)) => run.model().disappointed(),
            Err(_) => {}
        }
        notes.ok()
    });
    Ok(asked.map_or_else(
        |_| Words::default(),
        |asked| Words { notes: asked.answer, left_receipt: asked.receipt.is_some() },
    ))
}

/// Says who is asked, and what stands before the question: a fork has the session, anybody else is told of it.
fn who(
    model: Opened,
    subject: &Subject,
    session: &Session<'_>,
    tokens: u64,
    context: &Context,
) -> Result<(Opened, Request), Failure> {
    let (turns, began) = working::lately(session)?;
    if let Some(fork) = began.as_deref().and_then(|began| fork(subject, began, tokens, context)) {
        return Ok((fork, of_a_fork()));
    }
    let day = |at: jiff::Timestamp| at.to_zoned(context.zone.clone()).date();
    let said =
        turns.iter().map(|turn| Said { role: turn.role, day: turn.at.map(day), text: turn.text.clone() });
    let said: Vec<Said> = said.collect();
    let notes = working::read(&context.place, &subject.id)?.unwrap_or_default();
    Ok((model, told(&notes, &said, &context.gate()?.scanner, &context.key())))
}

fn fork(subject: &Subject, project: &Path, tokens: u64, context: &Context) -> Option<Opened> {
    // What was noted on the way through the gateway is no session that could be gone on with.
    let is_noted = subject.transcript.starts_with(context.place.home.join("gateway"));
    if subject.agent != Agent::ClaudeCode || is_noted {
        return None;
    }
    let running = Running { session: &subject.id, project, transcript: &subject.transcript, tokens };
    open_fork(&context.place.settings.model, &model::surroundings(context), &running)
}
