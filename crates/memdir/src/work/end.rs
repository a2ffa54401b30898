//! After a session: what nobody looked at yet is looked through, its digest becomes a journal entry, what it was shown in
//! vain is noted, its working memory goes.
//!
//! Done again after a kill it does nothing twice: the journal knows what the session said, the ledger what was noted.

use std::io;

use jiff::Timestamp;
use memdir_core::change::Surface;
use memdir_core::dates;
use memdir_core::journal::{Digest, Item, OpenItem, Sections};
use memdir_store::evidence::{self, Witness};
use memdir_store::journal::{About, Journal, JournalError};
use memdir_store::obedience;
use memdir_store::place;
use memdir_store::queue::{Job, Kind, Queue};
use memdir_store::standing::Standing;
use memdir_store::working;

use super::{Subject, extract, settle, turn};
use crate::context::Context;
use crate::failure::Failure;

pub(super) fn run(job: &Job, context: &Context, beat: &mut dyn FnMut()) -> Result<(), Failure> {
    let Some(session) = job.session.as_deref() else { return Ok(()) };
    let context = &context.at(place::register(&context.place)?);
    if let Some(subject) = Subject::of(job, &context.place) {
        turn::keep(&subject, context)?;
        super::working::run(&subject, true, context, beat)?;
        // DR-10: the unread tail is looked through once, whatever the setting `extract.every` says.
        extract::run(&subject, job, extract::When::SessionEnd, context, beat)?;
    }
    if let Some(digest) = working::digest(&context.place, session)? {
        write_entry(&digest, job, session, context)?;
    }
    let witness = Witness { session, now: context.now, by: Surface::Hook };
    let vaults = context.vaults()?;
    evidence::end(&vaults, &witness);
    obedience::end(&vaults, &witness);
    settle::run(context)?;
    working::retire(&context.place, session)?;
    let gate = Job::new(Kind::DreamGate, &context.place, context.now);
    Queue::of(&context.place).push(&gate).map_err(|err| Failure::from_chain(&err))?;
    end_abandoned(context).map(drop)
}

/// Wishes for the end of sessions that have been silent for a day, because their host died, and returns their ids.
pub(super) fn end_abandoned(context: &Context) -> Result<Vec<String>, Failure> {
    let queue = Queue::of(&context.place);
    let mut ended = Vec::new();
    for job in working::abandoned(&context.place, context.now)? {
        queue.push(&job).map_err(|err| Failure::from_chain(&err))?;
        ended.extend(job.session);
    }
    Ok(ended)
}

/// Writes what the session left into the journal, unless somebody wrapped it up in words and nothing was asked since.
fn write_entry(digest: &Digest, job: &Job, session: &str, context: &Context) -> Result<(), Failure> {
    let journal = Journal::of(&context.place);
    let unreadable =
        |err| Failure::error(format!("could not read the journal {}: {err}", journal.path().display()));
    if digest.is_empty() || is_wrapped(digest, session, &journal).map_err(unreadable)? {
        return Ok(());
    }
    let sections = sections(digest, &journal.open_items().map_err(unreadable)?, context)?;
    let about = About {
        session: Some(session.to_owned()),
        started: digest.started,
        ended: digest.ended,
        branch: digest.branch.clone(),
        agent: job.agent.clone(),
    };
    match journal.add(sections, &about, context.now, &context.zone, &context.gate()?.scanner) {
        // It stands in the transcript still; what must not be written down is not.
        Ok(_) | Err(JournalError::Empty | JournalError::Secret(_)) => Ok(()),
        Err(err) => Err(Failure::from_chain(&err)),
    }
}

fn is_wrapped(digest: &Digest, session: &str, journal: &Journal) -> io::Result<bool> {
    let asked: Option<Timestamp> = digest.messages().filter_map(|(at, _)| at).max();
    let is_later = |at: Timestamp| asked.is_some_and(|asked| asked <= at);
    let mut entries = journal.entries()?;
    Ok(entries.any(|(file, entry)| entry.session.as_deref() == Some(session) && is_later(file.at)))
}

/// Makes the sections of the entry. What the agent finished and an earlier session left open is closed.
fn sections(digest: &Digest, open: &[OpenItem], context: &Context) -> Result<Sections, Failure> {
    let standing = Standing::of(&context.place, &context.env);
    let root = standing.root().and_then(|root| root.to_str()).unwrap_or_default();
    let mut sections = digest.sections(root);
    let done = digest.todos().iter().filter(|(_, is_done)| *is_done).map(|(text, _)| text);
    let is_open = |text: &&String| open.iter().any(|item| item.text.eq_ignore_ascii_case(text));
    sections.unfinished.extend(done.filter(is_open).map(|text| Item { is_done: true, ..Item::open(text) }));
    let (gate, then) = (context.gate()?, digest.ended.unwrap_or(context.now).to_zoned(context.zone.clone()));
    let settled = |text: &str| dates::settle(&gate.redacted(text).0, &then).text;
    crate::cli::journal::change_texts(&mut sections, settled);
    Ok(sections)
}
