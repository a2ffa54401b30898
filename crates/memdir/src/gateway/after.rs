//! After an answer: how full the conversation is, what was said, what that says about memories, and a job for whoever
//! learns from it.

use memdir_core::change::Surface;
use memdir_core::gateway::{Answer, Decision, Limits, Load, decide, is_near, window};
use memdir_store::evidence::{self, Sign, Witness};
use memdir_store::gateway::Said;
use memdir_store::queue::{Job, Kind, Queue};
use memdir_store::session::Session;

use super::Desk;
use super::passing::Passing;
use super::summing::{self, Way};
use crate::context::{Context, is_remote};
use crate::failure::Failure;
use crate::work;

/// Looks at an answer. Nobody waits for it, and what cannot be done costs a lesson, no memory.
pub(super) fn heard(desk: &Desk, passing: &Passing, answer: &Answer, way: Option<&Way>) {
    let fill = weigh(desk, passing, answer);
    // Where hooks speak they also listen, and the agent has a file of its own.
    if !passing.reading().has_frame {
        let _ = learn(desk, passing, answer);
        match (fill, way) {
            (Fill::Full { budget, read }, _) => passing.shorten(desk, budget, read),
            (Fill::Near, Some(way)) => {
                let _ = summing::sum_up(desk, passing, way);
            }
            (Fill::Near | Fill::Fits, _) => {}
        }
    }
}

/// How full a conversation is.
enum Fill {
    Fits,
    /// It must be shortened before long.
    Near,
    /// It must be shortened now (AC-05).
    Full {
        /// To so many tokens.
        budget: u64,
        /// What was read just now.
        read: u64,
    },
}

fn weigh(desk: &Desk, passing: &Passing, answer: &Answer) -> Fill {
    let Some(usage) = answer.usage else { return Fill::Fits };
    let reading = passing.reading();
    let limits = Limits { window: window(&reading.model) };
    let known = desk.conversations.update(passing.id(), crate::context::now(), |known| {
        known.read = usage.read();
        known.clone()
    });
    if known.is_left_whole {
        return Fill::Fits;
    }
    let (failures, unsummed) = (known.failures, known.unsummed);
    let load = Load { read: usage.read(), written: usage.output, is_agents: reading.is_agents, failures };
    match decide(&load, &limits) {
        Decision::Shorten { budget } => Fill::Full { budget, read: usage.read() },
        _ if is_near(&Load { failures: unsummed, ..load }, &limits) => Fill::Near,
        _ => Fill::Fits,
    }
}

/// Notes what was said, and wishes for it to be learned from once the turn is over.
fn learn(desk: &Desk, passing: &Passing, answer: &Answer) -> Result<(), Failure> {
    let (env, place) = passing.place(desk)?;
    let (Some(session), Some(turn)) = (passing.conversation(), passing.reading().turns.last()) else {
        return Ok(());
    };
    if place.off {
        return Ok(());
    }
    let context = Context::unheard(env, place)?;
    let ignores =
        Session::of(&context.place.home, session).is_some_and(|session| session.state().ignores_memory);
    if ignores || context.leaves_memory_aside() {
        return Ok(());
    }
    let is_first = desk.conversations.update(passing.id(), context.now, |known| known.notes(&turn.key));
    let mut said = Vec::new();
    if is_first {
        said.push(Said { is_users: true, text: &turn.said, tools: &[] });
    }
    if !answer.text.is_empty() || !answer.tools.is_empty() {
        said.push(Said { is_users: false, text: &answer.text, tools: &answer.tools });
    }
    let cwd = passing.project.as_ref().map(|dir| dir.display().to_string());
    desk.conversations.note(session, cwd.as_deref(), &said, &context.scanner()?, context.now)?;
    if answer.tools.is_empty() {
        let vaults = context.vaults()?;
        let witness = Witness { session, now: context.now, by: Surface::Hook };
        evidence::note(&vaults, &[Sign::Said(&answer.text)], &witness);
        hand_over(session, desk, &context);
    }
    Ok(())
}

/// Leaves a job for whoever has the time.
fn hand_over(session: &str, desk: &Desk, context: &Context) {
    let job = Job { remote: is_remote(), ..Job::new(Kind::Turn, &context.place, context.now) };
    let job = job.about(session, None, Some(desk.conversations.said(session)));
    let queue = Queue::of(&context.place);
    if queue.push(&job).is_ok() {
        let _ = work::start(&context.place.home, &queue);
    }
}
