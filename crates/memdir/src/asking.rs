//! Asking the model that the user configured: under the caps, behind the breaker, with a receipt and with signs of life.
//!
//! Whatever asks in the background fills in an [`Asking`] and is handed a [`Run`]. What the guard has to tell the user is
//! left for the next session (`memdir_store::news`), also where nobody is there to read it now.

use std::time::Instant;

use memdir_core::text::visible_line;
use memdir_mind::guard::Guarded;
use memdir_mind::model::{Beating, Model, ModelError, Opened, Purpose};
use memdir_store::breaker::Breakers;
use memdir_store::costs::{CostBook, Job, Receipt, SessionTokens};
use memdir_store::news;

use crate::cli::model;
use crate::context::Context;

/// A model while it is asked for one piece of work.
pub(crate) type Run<'r, M = Opened> = Beating<'r, Guarded<'r, M>>;

/// A piece of work that asks a model.
pub(crate) struct Asking<'a> {
    /// For whom.
    pub(crate) context: &'a Context,
    /// What the receipt says it was for.
    pub(crate) job: Job,
    /// On whose account.
    pub(crate) session: Option<SessionTokens>,
    /// Gives a sign of life.
    pub(crate) beat: &'a mut dyn FnMut(),
}

/// What came of asking.
pub(crate) struct Asked<T> {
    /// The answer.
    pub(crate) answer: T,
    /// What it cost; `None` if nobody was asked after all.
    pub(crate) receipt: Option<Receipt>,
}

impl Asking<'_> {
    /// Lets `ask` talk to a model; an error if it may not be asked.
    pub(crate) fn run<M: Model + Send, T>(
        self,
        model: M,
        ask: impl FnOnce(&mut Run<'_, M>) -> T,
    ) -> Result<Asked<T>, ModelError> {
        let Self { context, job, session, beat } = self;
        let book = CostBook::new(&context.place.home, &context.place.settings);
        let breakers = Breakers::new(&context.place.home);
        let guarded = Guarded::new(model, &book, &breakers, job, session, context.now)?;
        let mut run = Beating::new(guarded, beat);
        let answer = ask(&mut run);
        let guarded = run.into_model();
        let told: Vec<String> = guarded.news().iter().map(|told| visible_line(told).into_owned()).collect();
        // Not being able to leave word costs a line that somebody might have read.
        let _ = news::leave(&context.place.home, &told);
        Ok(Asked { answer, receipt: guarded.finish() })
    }
}

/// Lets `ask` talk to the model for work that wants judgement, on nobody's account but the day's.
pub(crate) fn with_model<T>(
    context: &Context,
    job: Job,
    ask: impl FnOnce(&mut dyn Model) -> T,
) -> Result<T, ModelError> {
    let model = model::open(context, Purpose::Large)?;
    let asking = Asking { context, job, session: None, beat: &mut || {} };
    asking.run(model, |run| ask(run)).map(|asked| asked.answer)
}

/// Leaves the receipt of a run that asked nobody: it cost nothing, and `memdir costs` tells of it all the same.
pub(crate) fn note_free(
    job: Job,
    session: Option<&str>,
    started: Instant,
    mems: &[String],
    context: &Context,
) {
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let book = CostBook::new(&context.place.home, &context.place.settings);
    // Not being able to costs a line of the book that says 0.
    let _ = book.note_free(job, session, ms, mems, context.now);
}
