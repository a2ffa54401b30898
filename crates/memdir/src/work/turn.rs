//! After an answer: takes up what others wrote, keeps what was said if the user agreed, brings working memory up to date,
//! remembers what the user asked to remember, and learns from what is new since the cursor.

use memdir_store::queue::Job;
use memdir_store::transcript::{SessionFile, TranscriptError, Transcripts};
use memdir_store::working::digest;

use super::{Subject, asked, extract, settle, working};
use crate::context::Context;
use crate::failure::Failure;

/// One megabyte, as settings count them.
const MB: u64 = 1_000_000;

pub(super) fn run(job: &Job, context: &Context, beat: &mut dyn FnMut()) -> Result<(), Failure> {
    settle::run(context)?;
    // A session whose file is gone has nothing new to say.
    let Some(subject) = Subject::of(job, &context.place) else { return Ok(()) };
    keep(&subject, context)?;
    working::run(&subject, false, context, beat)?;
    if let Some(digest) = digest(&context.place, &subject.id)? {
        asked::run(&subject.id, &digest, context)?;
    }
    extract::run(&subject, job, extract::When::TurnEnd, context, beat)
}

/// Keeps the turns of a session where they are found after the host has swept its file. Without the user's word nothing is
/// kept.
pub(super) fn keep(subject: &Subject, context: &Context) -> Result<(), Failure> {
    let settings = context.place.settings.transcripts;
    if !settings.keep {
        return Ok(());
    }
    let Some(file) = SessionFile::at(&subject.transcript, None) else { return Ok(()) };
    let scanner = &context.gate()?.scanner;
    let kept = Transcripts::of(&context.place).keep(file, scanner, settings.max_mb.saturating_mul(MB));
    match kept {
        // Whoever is at it keeps this session too.
        Ok(_) | Err(TranscriptError::Busy) => Ok(()),
        Err(err) => Err(Failure::from_chain(&err)),
    }
}
