//! Whether it is time to dream, asked after every answer, at the end of a session and every few minutes.
//!
//! Asking is cheap: a small file says when the last dream was and which sessions there were since. Only when the gates of a
//! vault are open a job is wished for, and only the job dreams.

use std::time::Instant;

use memdir_core::dream::Decision;
use memdir_store::costs;
use memdir_store::dream::{self, Dreamt, Wish};
use memdir_store::queue::{Job, Kind, Queue};

use crate::asking::note_free;
use crate::cli::dream::dream_over;
use crate::context::Context;
use crate::failure::Failure;

/// Dreams over each vault whose gates are open.
pub(super) fn run(context: &Context, beat: &mut dyn FnMut()) -> Result<(), Failure> {
    for vault in context.vaults()? {
        let started = Instant::now();
        match dream_over(&vault, context, Wish::WhenDue, beat)? {
            // Somebody else does it, or it is not time: the next who asks finds out.
            Dreamt::NotNow(_) | Dreamt::Busy => {}
            Dreamt::Nothing(_) | Dreamt::Done { .. } => {
                note_free(costs::Job::Dream, None, started, &[], context)
            }
        }
    }
    Ok(())
}

/// Notes that there was a session.
pub(super) fn heard(session: &str, context: &Context) -> Result<(), Failure> {
    for vault in context.vaults()? {
        dream::heard(&vault, session)?;
    }
    Ok(())
}

/// Wishes for a dream where the gates of a vault are open.
pub(super) fn wish(context: &Context) -> Result<(), Failure> {
    let is_due = |vault: &memdir_store::vault::Vault| dream::may(vault, context.now) == Decision::Dream;
    if context.vaults()?.iter().any(is_due) {
        let job = Job::new(Kind::DreamGate, &context.place, context.now);
        Queue::of(&context.place).push(&job).map_err(|err| Failure::from_chain(&err))?;
    }
    Ok(())
}
