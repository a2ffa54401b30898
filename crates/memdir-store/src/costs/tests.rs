//! The book under caps, many hands and crashes.

use std::fs;

use super::*;

const NOW: &str = "2026-04-02T10:30:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn book(home: &Path, day_usd: u64) -> CostBook {
    let caps = Caps { day_usd: Usd(day_usd), day_tokens: 1_000_000, session_percent: 10 };
    CostBook::new(home, &UserSettings::default()).with_caps(caps)
}

fn run() -> Run {
    Run::new(Job::Extract, "m", None).unwrap()
}

fn costing(usd: u64) -> Counted {
    Counted { tokens_in: 100, tokens_out: 10, cached: 40, usd: Usd(usd) }
}

/// Makes the entry of a run look as if its process had been killed.
fn kill(home: &Path) {
    let file = home.join("costs/book.json");
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    value["runs"][0]["process"]["started"] = serde_json::json!(1);
    fs::write(&file, value.to_string()).unwrap();
}

fn end(ms: u64, mems: &[&str]) -> RunEnd {
    RunEnd {
        outcome: RunOutcome::Ok,
        ms,
        mems: mems.iter().map(|name| (*name).to_owned()).collect(),
        refused: 0,
    }
}

#[test]
fn a_receipt_has_the_fields_of_the_format_and_no_others() {
    let temp = tempfile::tempdir().unwrap();
    let (book, run) = (book(temp.path(), 1_000_000), run());
    assert_eq!(book.reserve(&run, costing(500), now()).unwrap(), Decision::Allowed);
    book.spend(&run, costing(250), now()).unwrap();
    let receipt = book.close(&run, end(12, &["a"]), now()).unwrap().unwrap();
    assert_eq!(book.receipts(Some("2026-04")).unwrap(), [receipt]);
    let file = fs::read_dir(temp.path().join("costs")).unwrap().flatten();
    let file = file.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "jsonl"));
    let line: serde_json::Value = serde_json::from_slice(&fs::read(file.unwrap()).unwrap()).unwrap();
    let mut wanted = serde_json::json!({
        "t": NOW, "run": run.id, "job": "extract", "model": "m", "tokens_in": 100, "tokens_out": 10, "cached": 40,
        "usd": 0.00025, "ms": 12, "outcome": "ok", "mems": ["a"],
    });
    assert_eq!(line, wanted.take());
}

#[test]
fn ux_03_what_is_reserved_counts_and_what_is_not_used_of_it_comes_back() {
    let temp = tempfile::tempdir().unwrap();
    let book = book(temp.path(), 1_000);
    let (first, second) = (run(), run());
    assert_eq!(book.reserve(&first, costing(800), now()).unwrap(), Decision::Allowed);
    let refused = book.reserve(&second, costing(300), now()).unwrap();
    assert_eq!(refused, Decision::DayMoney { spent: Usd(800), cap: Usd(1_000) });
    book.spend(&first, costing(100), now()).unwrap();
    assert_eq!(book.reserve(&second, costing(300), now()).unwrap(), Decision::Allowed);
    book.close(&first, end(1, &[]), now()).unwrap();
    assert_eq!(book.today(now()).unwrap().usd, Usd(400));
}

#[test]
fn ux_03_the_next_day_begins_anew() {
    let temp = tempfile::tempdir().unwrap();
    let (book, run) = (book(temp.path(), 1_000), run());
    book.reserve(&run, costing(1_000), now()).unwrap();
    book.spend(&run, costing(1_000), now()).unwrap();
    book.close(&run, end(1, &[]), now()).unwrap();
    let (late, next): (Timestamp, Timestamp) =
        ("2026-04-02T23:59:59Z".parse().unwrap(), "2026-04-03T00:00:00Z".parse().unwrap());
    assert_ne!(book.reserve(&self::run(), costing(1), late).unwrap(), Decision::Allowed);
    assert_eq!(book.reserve(&self::run(), costing(1), next).unwrap(), Decision::Allowed);
}

#[test]
fn ux_03_many_at_once_never_overshoot_the_cap_together() {
    let temp = tempfile::tempdir().unwrap();
    let book = book(temp.path(), 1_000);
    let n_allowed = std::thread::scope(|scope| {
        let ask = || book.reserve(&run(), costing(150), now()).unwrap() == Decision::Allowed;
        let handles: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        handles.into_iter().map(|handle| usize::from(handle.join().unwrap())).sum::<usize>()
    });
    assert_eq!(n_allowed, 6, "six times 150 fit into 1000");
}

#[test]
fn ux_03_a_session_lends_a_tenth_of_its_tokens_over_all_its_runs() {
    let temp = tempfile::tempdir().unwrap();
    let book = book(temp.path(), 1_000_000);
    let of = |id: &str| Some(SessionTokens { id: id.into(), tokens: 3_000 });
    let run = |id: &str| Run::new(Job::Session, "m", of(id)).unwrap();
    let (first, second, other) = (run("s"), run("s"), run("other"));
    for (run, is_allowed) in [(&first, true), (&second, true)] {
        assert_eq!(book.reserve(run, costing(1), now()).unwrap() == Decision::Allowed, is_allowed);
    }
    book.spend(&first, costing(1), now()).unwrap();
    book.close(&first, end(1, &[]), now()).unwrap();
    let refused = book.reserve(&run("s"), costing(1), now()).unwrap();
    assert_eq!(refused, Decision::SessionTokens { spent: 220, cap: 300 });
    assert_eq!(book.reserve(&other, costing(1), now()).unwrap(), Decision::Allowed);
}

#[test]
fn a_killed_run_is_paid_for_as_if_it_had_spent_all_it_might() {
    let temp = tempfile::tempdir().unwrap();
    let (book, run) = (book(temp.path(), 1_000), run());
    book.reserve(&run, costing(900), now()).unwrap();
    kill(temp.path());
    assert_ne!(book.reserve(&self::run(), costing(200), now()).unwrap(), Decision::Allowed);
    let receipts = book.receipts(None).unwrap();
    assert_eq!(receipts.len(), 1);
    assert_eq!((receipts[0].outcome, receipts[0].usd), (RunOutcome::Lost, 0.0009));
    assert_ne!(book.reserve(&self::run(), costing(200), now()).unwrap(), Decision::Allowed);
    assert_eq!(book.receipts(None).unwrap().len(), 1, "a loss is written down once");
}

#[test]
fn a_run_that_was_killed_after_its_receipt_is_not_counted_twice() {
    let temp = tempfile::tempdir().unwrap();
    let (book, run) = (book(temp.path(), 1_000), run());
    book.reserve(&run, costing(400), now()).unwrap();
    book.spend(&run, costing(400), now()).unwrap();
    let before = fs::read(temp.path().join("costs/book.json")).unwrap();
    book.close(&run, end(1, &[]), now()).unwrap();
    fs::write(temp.path().join("costs/book.json"), before).unwrap();
    kill(temp.path());
    assert_eq!(book.today(now()).unwrap().usd, Usd(400));
    assert_eq!(book.reserve(&self::run(), costing(600), now()).unwrap(), Decision::Allowed);
    assert_eq!(book.receipts(None).unwrap().len(), 1);
}

#[test]
fn a_run_that_asked_nothing_leaves_no_receipt_and_one_without_a_model_shows_zero() {
    let temp = tempfile::tempdir().unwrap();
    let book = book(temp.path(), 1_000);
    assert_eq!(book.close(&run(), RunEnd { outcome: RunOutcome::Held, ..end(1, &[]) }, now()).unwrap(), None);
    let free = book.note_free(Job::Dream, None, 3, &[], now()).unwrap();
    assert_eq!((free.model.as_str(), free.usd, free.tokens_in), ("none", 0.0, 0));
    assert_eq!(book.receipts(None).unwrap(), [free]);
}

#[test]
fn a_cap_that_was_reached_is_told_once_a_day() {
    let temp = tempfile::tempdir().unwrap();
    let book = book(temp.path(), 1_000);
    let reached = Decision::DayMoney { spent: Usd(1), cap: Usd(1) };
    let tell = |at: Timestamp| book.tell(&reached, None, at).unwrap();
    assert_eq!((tell(now()), tell(now())), (true, false));
    assert!(tell("2026-04-03T00:00:00Z".parse().unwrap()));
    assert!(!book.tell(&Decision::Allowed, None, now()).unwrap());
}

#[test]
fn lines_that_cannot_be_read_cost_only_themselves() {
    let temp = tempfile::tempdir().unwrap();
    let book = book(temp.path(), 1_000);
    let receipt = book.note_free(Job::Select, None, 3, &[], now()).unwrap();
    fs::write(temp.path().join("costs/other-2026-04.jsonl"), b"{\"t\":\n\xff\n").unwrap();
    assert_eq!(book.receipts(Some("2026-04")).unwrap(), [receipt]);
    assert_eq!(book.receipts(Some("2026-03")).unwrap(), []);
}

#[test]
fn f1_names_of_erased_memories_leave_the_receipts_and_nothing_else_does() {
    let temp = tempfile::tempdir().unwrap();
    let book = book(temp.path(), 1_000);
    erase_names(temp.path(), &BTreeSet::from(["a"])).unwrap();
    let kept = book.note_free(Job::Extract, None, 1, &["b".into()], now()).unwrap();
    let mut told = book.note_free(Job::Extract, None, 2, &["a".into(), "b".into()], now()).unwrap();
    erase_names(temp.path(), &BTreeSet::from(["a", "c"])).unwrap();
    told.mems[0] = "erased".into();
    assert_eq!(book.receipts(None).unwrap(), [kept, told]);
}
