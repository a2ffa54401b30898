//! Measures the gates on labelled sets, through the real commands.
//!
//! Each set has two parts that were written by different hands: `build`, on which the rules were made, and `judge`,
//! which nobody looked at while making them. The figures of both are printed; those of `judge` must reach the bar.
//! `MEMDIR_SETS=DIR` runs other sets of the same form instead of `judge`, `MEMDIR_SHOW_WRONG=1` lists what went
//! wrong. The formats are told in `README.md` beside this file.
#![expect(clippy::print_stdout, reason = "the figures are the point")]

mod repository;
mod sets;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::sets::{Part, Tally, rows, text};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}

/// Sends rows through a command that answers line by line, and pairs each with its answer.
fn ask(sandbox: &Sandbox, args: &[&str], rows: &[Value], keys: &[&str]) -> Vec<Value> {
    let row = |row: &Value| {
        let picked = keys.iter().map(|key| ((*key).to_owned(), row[*key].clone()));
        Value::Object(picked.collect()).to_string() + "\n"
    };
    let output = sandbox.memdir(args).stdin(rows.iter().map(row).collect::<String>()).run();
    assert_ne!(output.code, 2, "{output}");
    let answers: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect();
    let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&answers), ids(rows), "one answer for each row, in order");
    answers
}

/// PV-01, PV-02, MH-06.
#[test]
fn placement_finds_the_place() {
    for part in Part::both() {
        let sandbox = sandbox();
        let rows = rows(&part, "placement");
        let answers = ask(&sandbox, &["place", "--jsonl"], &rows, &["id", "text", "target"]);
        let mut tally = Tally::new("placement", &part);
        for (row, answer) in rows.iter().zip(&answers) {
            let best = row["best"].as_array().expect("`best` is a list");
            let right = answer["ok"] == row["ok"] && best.contains(&answer["destinations"][0]);
            tally.count(text(row, "lang"), right, || {
                format!("{} → {} wanted {} {}", row["text"], answer, row["ok"], row["best"])
            });
        }
        tally.close(0.88);
    }
}

/// NS-01…NS-07, against a repository with history and instructions.
#[test]
fn the_gate_keeps_what_is_worth_keeping() {
    for part in Part::both() {
        let sandbox = sandbox();
        repository::lay_out(&sandbox.project(), &sandbox.home(), &part.file("repo.txt"));
        let rows = rows(&part, "gate");
        let answers = ask(&sandbox, &["why-not", "--jsonl"], &rows, &["id", "text", "type"]);
        let mut tally = Tally::new("what not to save", &part);
        let mut rules = Tally::new("  its rule", &part);
        for (row, answer) in rows.iter().zip(&answers) {
            let wrong = || format!("{} → {} wanted {} {}", row["text"], answer, row["saved"], row["rule"]);
            tally.count(text(row, "lang"), answer["saved"] == row["saved"], wrong);
            if let (Some(rule), Some(wanted)) = (answer["rule"].as_str(), row["rule"].as_str()) {
                rules.count(wanted, rule.starts_with(wanted), wrong);
            }
        }
        rules.print();
        tally.close(0.88);
    }
}

/// TY-03…TY-05, TY-08, TY-11, TY-12.
#[test]
fn a_plain_sentence_gets_its_type() {
    for part in Part::both() {
        let sandbox = sandbox();
        let rows = rows(&part, "classify");
        let answers = ask(&sandbox, &["remember", "--jsonl"], &rows, &["id", "text"]);
        let mut tally = Tally::new("type of a sentence", &part);
        let mut finer = Tally::new("  its scope and kind", &part);
        for (row, answer) in rows.iter().zip(&answers) {
            let wrong = || format!("{} → {} wanted {}", row["text"], answer["type"], row["type"]);
            tally.count(text(row, "lang"), answer["type"] == row["type"], wrong);
            for key in ["scope", "kind"] {
                if !row[key].is_null() {
                    let wrong = || format!("{} → {key} {} wanted {}", row["text"], answer[key], row[key]);
                    finer.count(key, answer[key] == row[key], wrong);
                }
            }
        }
        finer.print();
        tally.close(0.90);
    }
}

/// TY-10.
#[test]
fn dates_become_absolute() {
    for part in Part::both() {
        let mut tally = Tally::new("dates", &part);
        for row in rows(&part, "dates") {
            let now: Timestamp = text(&row, "now").parse().expect("`now` is a time");
            let zone = TimeZone::get(text(&row, "tz")).expect("the machine knows the zone");
            let settled = memdir_core::dates::settle(text(&row, "text"), &now.to_zoned(zone));
            let asks = !settled.questions.is_empty();
            let right = settled.text == text(&row, "want") && json!(asks) == row["asks"];
            tally.count(text(&row, "lang"), right, || {
                format!(
                    "{} {} → {:?} asks {asks}, wanted {}",
                    row["now"], row["text"], settled.text, row["want"]
                )
            });
        }
        tally.close(0.95);
    }
}

/// TY-10: a standing rule about a day stays a rule; what happens once gets its date.
#[test]
fn a_standing_rule_about_a_day_is_not_made_one_date() {
    for part in Part::both() {
        let mut left = Tally::new("standing rules left", &part);
        let mut dated = Tally::new("single days dated", &part);
        for row in rows(&part, "standing") {
            let now: Timestamp = text(&row, "now").parse().expect("`now` is a time");
            let settled = memdir_core::dates::settle(text(&row, "text"), &now.to_zoned(TimeZone::UTC));
            let tally = if row["standing"] == json!(true) { &mut left } else { &mut dated };
            tally.count(text(&row, "lang"), settled.text == text(&row, "want"), || {
                format!("{} → {:?}, wanted {}", row["text"], settled.text, row["want"])
            });
        }
        left.close(0.85);
        dated.close(0.9);
    }
}

/// X1, X2, NS-08.
#[test]
fn secrets_are_found_and_look_alikes_are_not() {
    for part in Part::both() {
        let sandbox = sandbox();
        let rows: Vec<Value> = rows(&part, "secrets").iter().map(sets::assembled).collect();
        let answers = ask(&sandbox, &["secrets", "scan", "--jsonl"], &rows, &["id", "text"]);
        let mut recall = Tally::new("secrets found", &part);
        let mut alarms = Tally::new("look-alikes passed", &part);
        for (row, answer) in rows.iter().zip(&answers) {
            let found = answer["findings"].as_array().is_some_and(|findings| !findings.is_empty());
            let is_secret = row["found"] == json!(true);
            let tally = if is_secret { &mut recall } else { &mut alarms };
            tally.count(text(row, "form"), found == is_secret, || {
                format!("{} {} {} → {}", row["kind"], row["form"], row["text"], answer["findings"])
            });
        }
        recall.close(0.95);
        alarms.close(0.97);
    }
}

/// The sets themselves: large enough, and no shortcut solves them.
#[test]
fn the_sets_are_as_large_as_they_claim() {
    let count = |set: &str, keep: fn(&Value) -> bool| -> usize {
        Part::both().iter().map(|part| rows(part, set).iter().filter(|row| keep(row)).count()).sum()
    };
    assert!(count("placement", |_| true) >= 120);
    assert!(count("gate", |_| true) >= 160);
    assert!(count("classify", |_| true) >= 100);
    assert!(count("dates", |_| true) >= 200);
    assert!(count("secrets", |row| row["found"] == json!(true)) >= 300);
    assert!(count("secrets", |row| row["found"] == json!(false)) >= 200);
    let kinds: BTreeMap<String, ()> = Part::both()
        .iter()
        .flat_map(|part| rows(part, "secrets"))
        .filter(|row| row["found"] == json!(true))
        .map(|row| (text(&row, "kind").to_owned(), ()))
        .collect();
    assert!(kinds.len() >= 150, "{} kinds", kinds.len());
}
