//! Magic docs in the background: what changed behind those that agents read, and a new text where a model writes one.
//!
//! Without a model a doc is marked with a brief of what changed, which `memdir magic` and `memdir doctor` tell. With one
//! it is asked for a new text, which passes the same checks as anybody's and can reach that one file and no other.

use std::time::Instant;

use memdir_core::magic::Changes;
use memdir_mind::magic::{Material, ask};
use memdir_mind::model::{Model, ModelError, Purpose};
use memdir_store::costs::{Job, SessionTokens};
use memdir_store::magic::{Entry, Magic, MagicError, Read};
use memdir_store::queue;

use super::mind;
use crate::asking::{Asked, Asking, note_free, with_model};
use crate::cli::model::{self, failure};
use crate::context::Context;
use crate::failure::Failure;

/// Files that changed are shown to a model, as many and as much of them, in bytes.
const SHOWN_FILES: usize = 20;
const SHOWN_BYTES: usize = 60_000;

pub(super) fn run(job: &queue::Job, context: &Context, beat: &mut dyn FnMut()) -> Result<(), Failure> {
    let started = Instant::now();
    let magic = Magic::of(&context.place, &context.env);
    if magic.is_empty() {
        return Ok(());
    }
    let mut entries = magic.look(context.now)?;
    entries.retain(|entry| entry.stale.is_some());
    if entries.is_empty() {
        return Ok(());
    }
    // Without a model, or where it may not be asked, the marks stay.
    let asked = model::open(context, Purpose::Large).and_then(|model| {
        let asking = Asking { context, job: Job::Magic, session: account(job), beat };
        asking.run(model, |run| entries.iter().try_for_each(|entry| refresh(&magic, entry, run, context)))
    });
    let is_news =
        entries.iter().any(|entry| entry.stale.as_ref().is_some_and(|stale| stale.since == context.now));
    match asked {
        Ok(Asked { answer, receipt: Some(_) }) => answer,
        asked => {
            if is_news {
                note_free(Job::Magic, job.session.as_deref(), started, &[], context);
            }
            asked.map_or(Ok(()), |asked| asked.answer)
        }
    }
}

/// Returns the account of the session that had the docs looked at; the day's caps alone hold where none did.
fn account(job: &queue::Job) -> Option<SessionTokens> {
    let (session, transcript) = (job.session.as_deref()?, job.transcript.as_deref()?);
    mind::used(transcript).account(session)
}

/// Asks the model for a new text of one doc and writes it. What cannot be written stays marked.
fn refresh(magic: &Magic, entry: &Entry, model: &mut dyn Model, context: &Context) -> Result<(), Failure> {
    let Ok(read) = magic.open(&entry.path) else { return Ok(()) };
    let changes = entry.stale.as_ref().map(|stale| stale.changes.clone()).unwrap_or_default();
    let scanner = &context.gate()?.scanner;
    // A model that does not answer leaves the mark; whether it is asked again is decided elsewhere.
    let Ok(Some(new)) = words(magic, &entry.path, &read, &changes, model, context)? else { return Ok(()) };
    match magic.write(&entry.path, &read.text, &new, scanner, context.now) {
        // Somebody was faster, or the text cannot be taken: the mark stays, and the next look begins anew.
        Ok(_) | Err(MagicError::Raced(_) | MagicError::Rewrite { .. } | MagicError::Secret { .. }) => Ok(()),
        Err(err) => Err(Failure::from_chain(&err)),
    }
}

/// Returns the text that a model proposes for a doc; `None` if it has nothing to add.
pub(crate) fn proposed(
    magic: &Magic,
    path: &str,
    read: &Read,
    context: &Context,
) -> Result<Option<String>, Failure> {
    let entries = magic.look(context.now)?;
    let entry = entries.into_iter().find(|entry| entry.path == path);
    let changes = entry.and_then(|entry| entry.stale).map(|stale| stale.changes).unwrap_or_default();
    let asked = with_model(context, Job::Magic, |model| words(magic, path, read, &changes, model, context));
    let answer = asked.unwrap_or_else(|err| Ok(Err(err)))?;
    answer.map_err(|err| {
        failure(&err).hint(format!("or give the new text yourself: `memdir magic update {path} --text FILE`"))
    })
}

fn words(
    magic: &Magic,
    path: &str,
    read: &Read,
    changes: &Changes,
    model: &mut dyn Model,
    context: &Context,
) -> Result<Result<Option<String>, ModelError>, Failure> {
    let files = shown(magic, changes);
    let material = Material {
        path,
        title: &read.doc.title,
        rule: read.doc.rule.as_deref(),
        text: &read.text,
        brief: &changes.brief(),
        files: &files,
    };
    Ok(ask(model, &material, &context.gate()?.scanner))
}

/// Reads the files that changed, as far as there is room for them.
fn shown(magic: &Magic, changes: &Changes) -> Vec<(String, String)> {
    let mut left = SHOWN_BYTES;
    let mut files = Vec::new();
    for path in changes.changed.iter().chain(&changes.added).take(SHOWN_FILES) {
        if let Some(text) = magic.related_text(path).filter(|text| text.len() <= left) {
            left -= text.len();
            files.push((path.clone(), text));
        }
    }
    files
}
