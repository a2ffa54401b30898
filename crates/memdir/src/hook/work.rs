//! What a hook hands over: working memory before and after a compaction, and jobs for whoever has the time.

use std::path::Path;

use memdir_core::host::{Moment, Source};
use memdir_store::queue::{Job, Kind, Queue};
use memdir_store::working;

use super::desk::{Answer, Desk};
use crate::context::is_remote;
use crate::work;

/// As much is given back after a compaction, in bytes.
const MAX_RESTORED: usize = 3_600;

impl Desk<'_> {
    /// SM-06: whoever writes the summary is told what the session is about.
    pub(super) fn before_compaction(&self) -> Answer {
        if self.ignores_memory {
            return Answer::default();
        }
        let notes = self.working_session().and_then(|session| {
            // What cannot be read is left to the host's own summary.
            working::before_compaction(&session, self.context.now).ok().flatten()
        });
        Answer::telling(notes.unwrap_or_default())
    }

    /// What the session knew before its history was shortened.
    pub(super) fn restoration(&self) -> String {
        let rules = self.rules().unwrap_or_default();
        let (place, session) = (&self.context.place, &self.occasion.session);
        if self.ignores_memory {
            return String::new();
        }
        working::restore(place, session, &self.vaults, rules.bound(), MAX_RESTORED)
    }

    /// Leaves for others what there is no time for here. Not being able to costs an entry in the journal, no memory.
    pub(super) fn hand_over(&self) {
        let kind = match &self.occasion.moment {
            // A project that memory knows nothing of has nothing to be brought up to date.
            Moment::Start(Source::New | Source::Cleared) if !self.vaults.is_empty() => Kind::Settle,
            Moment::Stop { .. } => Kind::Turn,
            Moment::End { .. } => Kind::End,
            _ => return,
        };
        // What a sub-agent is told and does is looked at with the session that started it (W1-05).
        let is_subagents = self.occasion.subagent.is_some() && kind == Kind::Turn;
        if self.occasion.session.is_empty() || self.ignores_memory || is_subagents {
            return;
        }
        let job = Job { remote: is_remote(), ..Job::new(kind, &self.context.place, self.context.now) };
        let job = match kind {
            Kind::Settle => job,
            _ => {
                let transcript = self.occasion.transcript.as_ref().map(Into::into);
                job.about(&self.occasion.session, Some(self.occasion.agent), transcript)
            }
        };
        let queue = Queue::of(&self.context.place);
        if kind == Kind::Settle {
            // What the team wrote meanwhile is fetched beside the session; the end of a session wishes for it later.
            let _ = work::share::wish(&self.context);
        }
        if queue.push(&job).is_ok() {
            let _ = work::start(&self.context.place.home, &queue);
        }
    }

    /// Brings working memory up to date while the session works, where that is due.
    pub(super) fn note_progress(&self) {
        if let Some(session) = self.working_session().filter(|_| !self.ignores_memory) {
            // The worker reads what is left.
            let _ = working::note(&session, false, self.context.now);
        }
    }

    fn working_session(&self) -> Option<working::Session<'_>> {
        let transcript = self.occasion.transcript.as_deref().map(Path::new).filter(|path| path.is_file())?;
        (!self.occasion.session.is_empty() && self.occasion.subagent.is_none()).then_some(working::Session {
            place: &self.context.place,
            env: &self.context.env,
            id: &self.occasion.session,
            agent: self.occasion.agent,
            transcript,
        })
    }
}
