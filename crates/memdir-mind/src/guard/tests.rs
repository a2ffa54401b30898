//! The guard around a model that says what it is told to, with a real book and real breakers.

use std::collections::VecDeque;
use std::path::Path;

use memdir_core::budget::{Caps, Usd};
use memdir_store::place::settings::UserSettings;

use super::*;
use crate::model::{Message, Part, Stop};

/// Answers what is in its queue, then fails.
struct Scripted {
    answers: VecDeque<Result<Answer, ModelError>>,
    n_asked: u32,
    allowed: Vec<u32>,
    is_metered: bool,
    begun: u32,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Result<Answer, ModelError>>) -> Self {
        let answers = answers.into_iter().collect();
        Self { answers, n_asked: 0, allowed: Vec::new(), is_metered: true, begun: 0 }
    }
}

impl Model for &mut Scripted {
    fn name(&self) -> &str {
        "claude-haiku-4-5"
    }

    fn ask(&mut self, _: &Request) -> Result<Answer, ModelError> {
        self.n_asked += 1;
        self.answers.pop_front().unwrap_or_else(|| Err(ModelError::Unreachable("down".into())))
    }

    fn service(&self) -> &str {
        "scripted"
    }

    fn limit_attempts(&mut self, attempts: u32) {
        self.allowed.push(attempts);
    }

    fn begun(&self) -> u32 {
        self.begun
    }

    fn is_metered(&self) -> bool {
        self.is_metered
    }
}

struct World {
    temp: tempfile::TempDir,
    book: CostBook,
    breakers: Breakers,
}

impl World {
    fn new(caps: Caps) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let book = CostBook::new(temp.path(), &UserSettings::default()).with_caps(caps);
        let breakers = Breakers::new(temp.path());
        Self { temp, book, breakers }
    }

    fn guard<'w, 'm>(&'w self, model: &'m mut Scripted, at: &str) -> Guarded<'w, &'m mut Scripted> {
        Guarded::new(model, &self.book, &self.breakers, Job::Extract, None, time(at)).unwrap()
    }
}

fn time(at: &str) -> Timestamp {
    format!("2026-04-02T{at}Z").parse().unwrap()
}

fn request() -> Request {
    Request { messages: vec![Message::user("x".repeat(2_000))], max_tokens: 100, ..Request::default() }
}

fn answer(input: u64, cached: u64, output: u64) -> Result<Answer, ModelError> {
    let usage = Usage { input, cached, stored: 0, output };
    Ok(Answer { parts: vec![Part::Text("ok".into())], stop: Stop::End, usage })
}

#[test]
fn ux_03_a_run_of_several_questions_leaves_one_receipt_of_their_sum() {
    let world = World::new(Caps::default());
    let mut model = Scripted::new([answer(1_000, 10_000, 100), answer(500, 0, 50)]);
    let mut guarded = world.guard(&mut model, "10:00:00");
    guarded.ask(&request()).unwrap();
    guarded.ask(&request()).unwrap();
    guarded.brought(["a".to_owned()]);
    let receipt = guarded.finish().unwrap();
    assert_eq!((receipt.tokens_in, receipt.tokens_out, receipt.cached), (11_500, 150, 10_000));
    assert_eq!(receipt.usd, 0.00325);
    assert_eq!((receipt.outcome, receipt.mems.as_slice()), (RunOutcome::Ok, ["a".to_owned()].as_slice()));
    assert_eq!(world.book.receipts(None).unwrap(), [receipt]);
}

#[test]
fn ux_03_what_might_exceed_the_cap_is_not_asked_and_the_user_is_told_once() {
    // The request may take 1,000 tokens in and 100 out: 1,250 and 500 millionths.
    let world = World::new(Caps { day_usd: Usd(3_000), ..Caps::default() });
    let mut model = Scripted::new([answer(1_000, 0, 100), answer(1_000, 0, 100), answer(1, 0, 1)]);
    let mut guarded = world.guard(&mut model, "10:00:00");
    assert!(guarded.ask(&request()).is_ok());
    let held = guarded.ask(&request()).unwrap_err();
    assert!(matches!(&held, ModelError::Held(why) if why.contains("0.0015 USD")), "{held}");
    assert_eq!(guarded.news().len(), 1);
    assert_eq!(guarded.news().len(), 0);
    drop(guarded);
    assert_eq!(model.n_asked, 1);
    let mut again = world.guard(&mut model, "11:00:00");
    assert!(matches!(again.ask(&request()), Err(ModelError::Held(_))));
    assert_eq!((again.news().len(), again.finish()), (0, None));
    assert_eq!(world.book.receipts(None).unwrap().len(), 1, "who asked nobody leaves no receipt");
}

#[test]
fn ux_03_a_tenth_of_the_session_and_no_more() {
    let world = World::new(Caps::default());
    let mut model = Scripted::new([answer(400, 0, 100), answer(400, 0, 100), answer(400, 0, 100)]);
    let session = SessionTokens { id: "s".into(), tokens: 15_999 };
    let mut guarded =
        Guarded::new(&mut model, &world.book, &world.breakers, Job::Session, Some(session), time("10:00:00"))
            .unwrap();
    assert!(guarded.ask(&request()).is_ok());
    assert!(guarded.ask(&request()).is_err(), "500 of 1,599 are spent, and 1,100 might come");
    drop(guarded);
    assert_eq!(model.n_asked, 1);
}

#[test]
fn keyless_models_cost_no_money_but_their_tokens_count() {
    let world = World::new(Caps { day_usd: Usd(0), day_tokens: 3_000, session_percent: 10 });
    let mut model = Scripted { is_metered: false, ..Scripted::new([answer(1_900, 0, 100), answer(1, 0, 1)]) };
    let mut guarded = world.guard(&mut model, "10:00:00");
    assert!(guarded.ask(&request()).is_ok());
    assert!(guarded.ask(&request()).is_err());
    let receipt = guarded.finish().unwrap();
    assert_eq!((receipt.usd, receipt.tokens_in), (0.0, 1_900));
}

#[test]
fn ac_02_after_three_failures_nobody_asks_until_the_pause_is_over() {
    let world = World::new(Caps::default());
    let mut model = Scripted::new([]);
    for n_asked in [1, 2, 3, 3, 3] {
        let mut guarded = world.guard(&mut model, "10:00:00");
        assert!(guarded.ask(&request()).is_err());
        drop(guarded);
        assert_eq!(model.n_asked, n_asked);
    }
    assert_eq!(model.allowed, [3, 2, 1]);
    model.answers.push_back(answer(1, 0, 1));
    let mut after = world.guard(&mut model, "10:01:30");
    assert!(after.ask(&request()).is_ok());
    drop(after);
    assert_eq!(model.allowed.last(), Some(&1), "one try, and no repetition");
    assert!(world.breakers.states().is_empty());
}

#[test]
fn ac_03_that_a_service_is_left_alone_is_told_once() {
    let world = World::new(Caps::default());
    let mut model = Scripted::new([]);
    let mut told = Vec::new();
    for _ in 0..5 {
        let mut guarded = world.guard(&mut model, "10:00:00");
        let _ = guarded.ask(&request());
        told.extend(guarded.news());
    }
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("scripted failed three times in a row"), "{told:?}");
}

#[test]
fn a_cap_that_is_reached_does_not_use_up_the_one_try_of_a_service() {
    let world = World::new(Caps { day_tokens: 10, ..Caps::default() });
    world.breakers.settle("scripted", Outcome::Failed { attempts: 3 }, time("10:00:00")).unwrap();
    let mut model = Scripted::new([answer(1, 0, 1)]);
    assert!(world.guard(&mut model, "10:02:00").ask(&request()).is_err());
    assert_eq!(world.breakers.admit("scripted", time("10:02:00")).unwrap(), Admission::Try);
}

#[test]
fn answers_that_are_of_no_use_are_failures_too() {
    let world = World::new(Caps::default());
    let mut model = Scripted::new((0..9).map(|_| answer(1, 0, 1)));
    for _ in 0..5 {
        let mut guarded = world.guard(&mut model, "10:00:00");
        if guarded.ask(&request()).is_ok() {
            guarded.disappointed();
            assert_eq!(guarded.finish().unwrap().outcome, RunOutcome::Failed);
        }
    }
    assert_eq!(model.n_asked, 3);
    let mut later = world.guard(&mut model, "10:01:30");
    later.ask(&request()).unwrap();
    later.satisfied();
    drop(later);
    assert!(world.breakers.states().is_empty());
}

#[test]
fn an_answer_that_broke_off_is_counted_as_the_most_it_may_have_cost() {
    let world = World::new(Caps::default());
    let mut model = Scripted { begun: 1, ..Scripted::new([]) };
    let mut guarded = world.guard(&mut model, "10:00:00");
    assert!(guarded.ask(&request()).is_err());
    let receipt = guarded.finish().unwrap();
    assert_eq!((receipt.outcome, receipt.tokens_in, receipt.tokens_out), (RunOutcome::Failed, 1_000, 100));
    assert!(receipt.usd > 0.0);
}

#[test]
fn where_the_book_cannot_be_kept_nothing_is_spent() {
    let world = World::new(Caps::default());
    std::fs::write(world.temp.path().join("costs"), "a file in the way").unwrap();
    let mut model = Scripted::new([answer(1, 0, 1)]);
    let held = world.guard(&mut model, "10:00:00").ask(&request());
    assert!(matches!(held, Err(ModelError::Held(_))), "{held:?}");
    assert_eq!(model.n_asked, 0);
    assert!(Path::new(world.temp.path()).exists());
}
