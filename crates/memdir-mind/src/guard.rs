//! Every background question goes through here: under the caps, behind the breaker, with a receipt.
//!
//! [`Guarded`] is a [`Model`] around another. Before it asks, it looks whether the service rests and puts down what the
//! answer costs at most; after it, it notes what it took and what came of it. What it refuses is [`ModelError::Held`], and
//! its caller does without a model, quietly: what the user should hear of it, once, is in [`Guarded::news`]. A run is the
//! life of one such value and leaves one receipt, when it is finished or dropped.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use memdir_core::breaker::{Admission, Outcome};
use memdir_core::budget::{Decision, Price, most_tokens, price_of};
use memdir_store::breaker::Breakers;
use memdir_store::costs::{CostBook, Counted, Job, Receipt, Run, RunEnd, RunOutcome, SessionTokens};

use crate::model::{Answer, Model, ModelError, Request, Usage};

/// A model under the caps, behind the breaker, with a receipt.
pub struct Guarded<'b, M: Model> {
    model: M,
    book: &'b CostBook,
    breakers: &'b Breakers,
    run: Run,
    price: Price,
    started: Instant,
    now: Timestamp,
    outcome: RunOutcome,
    mems: Vec<String>,
    refused: u32,
    is_closed: bool,
    /// The cap that stopped the run.
    reached: Option<Decision>,
}

impl<'b, M: Model> Guarded<'b, M> {
    /// Begins a run of `job`, on the account of `session` if there is one.
    pub fn new(
        model: M,
        book: &'b CostBook,
        breakers: &'b Breakers,
        job: Job,
        session: Option<SessionTokens>,
        now: Timestamp,
    ) -> Result<Self, ModelError> {
        let run = Run::new(job, model.name(), session).map_err(|err| held(&err))?;
        let price = match book.stated_price() {
            _ if !model.is_metered() => Price::FREE,
            Some(price) => price,
            None => price_of(model.name()).0,
        };
        Ok(Self {
            model,
            book,
            breakers,
            run,
            price,
            started: Instant::now(),
            now,
            outcome: RunOutcome::Held,
            mems: Vec::new(),
            refused: 0,
            is_closed: false,
            reached: None,
        })
    }

    /// Notes which memories came of the run, for its receipt.
    pub fn brought(&mut self, mems: impl IntoIterator<Item = String>) {
        self.mems.extend(mems);
    }

    /// Notes how many requests of the model were refused, for the receipt.
    pub fn refused(&mut self, n_refused: u32) {
        self.refused = self.refused.saturating_add(n_refused);
    }

    /// Notes that the last answer could not be used. Three such in a row, and the service is left alone as if it had
    /// not answered: it costs money either way.
    pub fn disappointed(&mut self) {
        self.outcome = RunOutcome::Failed;
        let now = self.time();
        // What cannot be noted is noted the next time: an answer in between would have been one all the same.
        let _ = self.breakers.settle(&unusable(self.model.service()), Outcome::Failed { attempts: 1 }, now);
    }

    /// Notes that the last answer was of use.
    pub fn satisfied(&mut self) {
        let now = self.time();
        let _ = self.breakers.settle(&unusable(self.model.service()), Outcome::Answered, now);
    }

    /// Returns what the user should be told, the first time it is asked for: that a service is left alone, or that a
    /// cap is reached.
    pub fn news(&self) -> Vec<String> {
        let now = self.time();
        let mut news = rested(self.breakers, now);
        if let Some(decision) = &self.reached {
            let session = self.run.session.as_ref().map(|session| session.id.as_str());
            if self.book.tell(decision, session, now).unwrap_or(false) {
                news.push(format!("the model is not asked any more: {decision}"));
            }
        }
        news
    }

    /// Ends the run and returns its receipt; a run that asked nobody has none.
    pub fn finish(mut self) -> Option<Receipt> {
        self.close()
    }

    fn close(&mut self) -> Option<Receipt> {
        if std::mem::replace(&mut self.is_closed, true) {
            return None;
        }
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        // A book that cannot be written keeps the run as spent until it can.
        let (mems, refused) = (std::mem::take(&mut self.mems), self.refused);
        let end = RunEnd { outcome: self.outcome, ms, mems, refused };
        self.book.close(&self.run, end, self.time()).ok().flatten()
    }

    /// Now, by the clock that the run began with.
    fn time(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.started.elapsed()).unwrap_or_default();
        self.now.checked_add(elapsed).unwrap_or(self.now)
    }

    /// Asks the breakers of the service, and says how many attempts may be made.
    fn admit(&self) -> Result<u32, ModelError> {
        let now = self.time();
        let service = self.model.service();
        let mut attempts = 0;
        for name in [service, &unusable(service)] {
            match self.breakers.admit(name, now).map_err(|err| held(&err))? {
                Admission::Ask { attempts: left } => attempts = if attempts == 0 { left } else { attempts },
                Admission::Try => attempts = 1,
                Admission::Rest { until } => {
                    // The first may have let us try, and we shall not.
                    let _ = self.breakers.settle(service, Outcome::Untried, now);
                    let until = until.strftime("%Y-%m-%d %H:%M UTC");
                    return Err(ModelError::Held(format!(
                        "{service} failed and is left alone until {until}"
                    )));
                }
            }
        }
        Ok(attempts)
    }

    /// Puts down what a request costs at most, and returns it.
    fn reserve(&mut self, request: &Request) -> Result<Counted, ModelError> {
        let tokens_in = most_tokens(request.bytes()) + self.model.overhead();
        let tokens_out = u64::from(request.max_tokens);
        let usd = self.price.at_most(tokens_in, tokens_out);
        let most = Counted { tokens_in, tokens_out, cached: 0, usd };
        match self.book.reserve(&self.run, most, self.time()).map_err(|err| held(&err))? {
            Decision::Allowed => Ok(most),
            decision => {
                self.reached = Some(decision);
                Err(ModelError::Held(decision.to_string()))
            }
        }
    }

    fn counted(&self, usage: &Usage) -> Counted {
        let Usage { input, cached, stored, output } = *usage;
        let usd = self.price.of(input, cached, stored, output);
        Counted { tokens_in: usage.read(), tokens_out: output, cached, usd }
    }
}

/// Returns which services rest, for whoever has not been told.
pub fn rested(breakers: &Breakers, now: Timestamp) -> Vec<String> {
    let untold = breakers.untold(now).unwrap_or_default();
    let told = untold.into_iter().map(|(service, until)| {
        let until = until.strftime("%Y-%m-%d %H:%M UTC");
        format!(
            "{service} failed three times in a row; memory works without it and tries again after {until}"
        )
    });
    told.collect()
}

/// The name under which answers that cannot be used are counted: a service that answers is not one that fails.
fn unusable(service: &str) -> String {
    format!("answers of {service}")
}

fn held(why: &dyn std::fmt::Display) -> ModelError {
    ModelError::Held(why.to_string())
}

impl<M: Model> Model for Guarded<'_, M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        let attempts = self.admit()?;
        let most = match self.reserve(request) {
            Ok(most) => most,
            Err(error) => {
                let _ = self.breakers.settle(self.model.service(), Outcome::Untried, self.time());
                return Err(error);
            }
        };
        self.model.limit_attempts(attempts);
        let answer = self.model.ask(request);
        let now = self.time();
        // An answer that broke off has cost something, and nobody says how much.
        let broken = (0..self.model.begun()).fold(Counted::default(), |sum, _| sum + most);
        let (took, outcome) = match &answer {
            Ok(answer) => (self.counted(&answer.usage) + broken, Outcome::Answered),
            Err(_) => (broken, Outcome::Failed { attempts: self.model.attempts().max(1) }),
        };
        self.outcome = if answer.is_ok() { RunOutcome::Ok } else { RunOutcome::Failed };
        self.book.spend(&self.run, took, now).map_err(|err| held(&err))?;
        self.breakers.settle(self.model.service(), outcome, now).map_err(|err| held(&err))?;
        answer
    }

    fn service(&self) -> &str {
        self.model.service()
    }

    fn limit_time(&mut self, limit: Duration) {
        self.model.limit_time(limit);
    }

    fn overhead(&self) -> u64 {
        self.model.overhead()
    }

    fn is_metered(&self) -> bool {
        self.model.is_metered()
    }
}

impl<M: Model> Drop for Guarded<'_, M> {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests;
