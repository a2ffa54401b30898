//! A model whose answers are waited for with signs of life.
//!
//! An answer may take longer than a worker may be silent. So the question is put on a thread of its own, and whoever asked
//! calls `beat` now and then until it is answered. Nothing else happens at the same time: the caller waits as before.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::{Answer, Model, ModelError, Request};

/// How often a sign of life is given; a worker that is silent for six times as long counts as hung.
const EVERY: Duration = Duration::from_secs(10);

/// A model around another, with a sign of life before, during and after each question.
pub struct Beating<'b, M: Model + Send> {
    model: M,
    beat: &'b mut dyn FnMut(),
    every: Duration,
}

impl<'b, M: Model + Send> Beating<'b, M> {
    /// Takes a model and how to give a sign of life.
    pub fn new(model: M, beat: &'b mut dyn FnMut()) -> Self {
        Self { model, beat, every: EVERY }
    }

    /// Gives a sign of life this often.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// Returns the model.
    pub fn model(&mut self) -> &mut M {
        &mut self.model
    }

    /// Returns the model for good.
    pub fn into_model(self) -> M {
        self.model
    }
}

impl<M: Model + Send> Model for Beating<'_, M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        let Self { model, beat, every } = self;
        beat();
        let answer = thread::scope(|scope| {
            let (done, wait) = mpsc::channel::<()>();
            let asking = scope.spawn(move || {
                // Dropped with the thread, also by a panic: whoever waits need not wait for the next beat.
                let _done = done;
                model.ask(request)
            });
            while wait.recv_timeout(*every) == Err(RecvTimeoutError::Timeout) {
                beat();
            }
            asking.join()
        });
        beat();
        answer.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn service(&self) -> &str {
        self.model.service()
    }

    fn limit_attempts(&mut self, attempts: u32) {
        self.model.limit_attempts(attempts);
    }

    fn attempts(&self) -> u32 {
        self.model.attempts()
    }

    fn begun(&self) -> u32 {
        self.model.begun()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::{Message, Part, Stop, Usage};
    use super::*;

    /// Answers only once so many signs of life were given.
    struct Slow(Arc<AtomicUsize>);

    const WANTED: usize = 5;

    impl Model for Slow {
        fn name(&self) -> &str {
            "slow"
        }

        fn ask(&mut self, _: &Request) -> Result<Answer, ModelError> {
            while self.0.load(Ordering::SeqCst) < WANTED {
                thread::yield_now();
            }
            let parts = vec![Part::Text("at last".to_owned())];
            Ok(Answer { parts, stop: Stop::End, usage: Usage::default() })
        }
    }

    struct Panics;

    impl Model for Panics {
        fn name(&self) -> &str {
            "panics"
        }

        fn ask(&mut self, _: &Request) -> Result<Answer, ModelError> {
            panic!("on its own thread")
        }
    }

    fn request() -> Request {
        Request { messages: vec![Message::user("well?")], ..Request::default() }
    }

    /// A model that answers only after five signs of life is answered by: without them this would wait for ever.
    #[test]
    fn signs_of_life_are_given_while_a_slow_model_answers() {
        let beats = Arc::new(AtomicUsize::new(0));
        let mut beat = || {
            beats.fetch_add(1, Ordering::SeqCst);
        };
        let mut model = Beating::new(Slow(Arc::clone(&beats)), &mut beat).every(Duration::from_millis(1));
        assert_eq!(model.ask(&request()).unwrap().text(), "at last");
        assert!(beats.load(Ordering::SeqCst) > WANTED, "one more after the answer");
    }

    #[test]
    fn an_answer_that_is_there_is_not_waited_for_and_a_panic_comes_through() {
        let mut n_beats = 0;
        let mut beat = || n_beats += 1;
        let every = Duration::from_secs(86_400);
        let answered = Arc::new(AtomicUsize::new(WANTED));
        Beating::new(Slow(answered), &mut beat).every(every).ask(&request()).unwrap();
        assert_eq!(n_beats, 2, "before and after");
        let panicked = std::panic::catch_unwind(|| {
            Beating::new(Panics, &mut || {}).every(every).ask(&request()).map(|_| ())
        });
        assert!(panicked.is_err());
    }
}
