//! Clocks lie: order comes from the store, never from the time of day, and no age is negative.

use memdir_testkit::{Invocation, NOW, Sandbox};

use crate::setup::{assert_all_ok, can_use, history, sandbox, storm};

const A_YEAR_BEFORE: &str = "2025-04-02T10:30:00Z";

/// K12.
#[test]
fn a_writer_three_hours_behind_loses_nothing() {
    check_skewed_writer("-3h");
}

/// K12.
#[test]
fn a_writer_a_year_behind_loses_nothing() {
    check_skewed_writer("-365d");
}

/// K12.
#[test]
fn undo_takes_back_the_last_change_even_if_the_clock_jumped_back() {
    let sandbox = sandbox();
    sandbox.save("rule", "First.");
    sandbox.memdir(&["edit", "rule", "--append", "Second."]).ok();
    sandbox.memdir(&["edit", "rule", "--append", "Third."]).at(A_YEAR_BEFORE).ok();
    assert_eq!(
        history(&sandbox)[0]["at"].as_str().map(|at| &at[..4]),
        Some("2025"),
        "the newest comes first"
    );

    sandbox.memdir(&["undo"]).at(A_YEAR_BEFORE).ok();
    let text = sandbox.read("rule");
    assert!(text.contains("Second.") && !text.contains("Third."), "{text}");
}

/// K12.
#[test]
fn a_clock_behind_the_past_loses_no_history() {
    let sandbox = sandbox();
    sandbox.save("rule", "First.");
    for at in ["1970-01-01T00:00:00Z", NOW, A_YEAR_BEFORE] {
        sandbox.memdir(&["edit", "rule", "--append", at]).at(at).ok();
    }
    assert_eq!(history(&sandbox).len(), 4);
    assert!(sandbox.read("rule").contains("1970-01-01T00:00:00Z"));
}

/// K12.
#[test]
fn no_age_is_negative() {
    let sandbox = sandbox();
    sandbox.save("rule", "Written in the future, as it turns out.");
    let list = sandbox.memdir(&["list"]).at(A_YEAR_BEFORE).json();
    assert_eq!(list[0]["age_days"], 0, "{list}");
    let hits = sandbox.memdir(&["search", "future"]).at(A_YEAR_BEFORE).json();
    assert_eq!(hits["hits"][0]["age_days"], 0, "{hits}");
    for command in [&["list"][..], &["show", "rule"], &["log"], &["search", "future"]] {
        let output = sandbox.memdir(command).at(A_YEAR_BEFORE).ok();
        let shown = output.stdout.replace("2026-04-02", "");
        let is_negative =
            |word: &str| word.starts_with('-') && word[1..].starts_with(|c: char| c.is_ascii_digit());
        assert!(!shown.split_whitespace().any(is_negative), "{output}");
    }
}

fn check_skewed_writer(offset: &str) {
    if !can_use(&["faketime"]) {
        return;
    }
    let sandbox = sandbox();
    sandbox.save("shared", "Lines from everybody.");
    let outputs = storm(4, 15, |worker, turn| {
        let append = append(&sandbox, &line(worker, turn)).without_env("MEMDIR_NOW");
        let is_skewed = worker.is_multiple_of(2);
        if is_skewed { append.under(&["faketime", "-f", offset]).run() } else { append.run() }
    });
    assert_all_ok(&outputs);
    let text = sandbox.read("shared");
    for (worker, turn) in (0..4).flat_map(|worker| (0..15).map(move |turn| (worker, turn))) {
        assert!(text.contains(&line(worker, turn)), "lost: {}", line(worker, turn));
    }
    let list = sandbox.memdir(&["list"]).without_env("MEMDIR_NOW").json();
    assert!(list[0]["age_days"].as_i64().unwrap() >= 0, "{list}");
}

fn append(sandbox: &Sandbox, line: &str) -> Invocation {
    sandbox.memdir(&["edit", "shared", "--append", line])
}

fn line(worker: usize, turn: usize) -> String {
    format!("line {worker}.{turn}.")
}
