//! `memdir remember`: a sentence becomes a memory.

use serde_json::{Value, json};

use crate::setup::sandbox;

fn dry(text: &str) -> Value {
    sandbox().memdir(&["remember", "--dry-run", text]).json()
}

/// TY-03: a role is a private user memory.
#[test]
fn ty_03_what_becomes_known_about_the_user() {
    let answer = dry("I'm a data scientist investigating logging");
    assert_eq!((&answer["type"], &answer["scope"]), (&json!("user"), &json!("private")));
}

/// TY-04: corrections and confirmations are both feedback.
#[test]
fn ty_04_corrections_and_confirmations() {
    for text in ["yes exactly, keep doing that", "Stop summarising at the end of every reply"] {
        assert_eq!(dry(text)["type"], "feedback", "{text}");
    }
}

/// TY-05: feedback is private unless it speaks for a team or a whole repository.
#[test]
fn ty_05_scope_of_feedback() {
    assert_eq!(dry("Don't mock the database")["scope"], "private");
    assert_eq!(dry("In this repo we never mock the database")["scope"], "team");
}

/// TY-08: a project memory is private where no team shares a vault.
#[test]
fn ty_08_scope_of_project_memories() {
    let answer = dry("merge freeze after 2026-03-05 for the mobile release");
    assert_eq!((&answer["type"], &answer["scope"]), (&json!("project"), &json!("private")));
}

/// TY-11: a pointer to an outside system is a team reference.
#[test]
fn ty_11_pointers_are_for_everybody() {
    let answer = dry("bugs are in Linear INGEST");
    assert_eq!((&answer["type"], &answer["scope"]), (&json!("reference"), &json!("team")));
}

/// TY-12: a finer kind stands beside the type.
#[test]
fn ty_12_a_decision_is_a_kind_of_project_memory() {
    let answer = dry("We chose Postgres over MongoDB because reporting speaks SQL");
    assert_eq!((&answer["type"], &answer["kind"]), (&json!("project"), &json!("decision")));
}

#[test]
fn a_dry_run_writes_nothing_and_shows_everything() {
    let sandbox = sandbox();
    let answer =
        sandbox.memdir(&["remember", "--dry-run", "never mock the database because it hid a bug"]).json();
    for key in ["name", "type", "scope", "kind", "description", "body", "tags", "links", "questions"] {
        assert!(answer.get(key).is_some(), "{key} is missing in {answer}");
    }
    assert!(answer.get("path").is_none());
    assert!(answer["body"].as_str().unwrap().contains("**Why:** it hid a bug"), "{answer}");
    assert_eq!(sandbox.memdir(&["list"]).json(), json!([]));
}

#[test]
fn what_is_remembered_is_saved_and_can_be_named() {
    let sandbox = sandbox();
    let answer =
        sandbox.memdir(&["remember", "please remember: bugs are tracked in Linear project INGEST"]).json();
    let name = answer["name"].as_str().unwrap();
    assert!(sandbox.read(name).contains("Bugs are tracked in Linear project INGEST"), "{answer}");
    assert_eq!(answer["path"], sandbox.memory(name).to_str().unwrap());
    let text = "the design files of the checkout live in Figma, file Checkout 2";
    sandbox
        .memdir(&[
            "remember",
            "--name",
            "where-designs-are",
            "--type",
            "reference",
            "--scope",
            "private",
            "-",
        ])
        .stdin(text)
        .ok();
    assert!(sandbox.read("where-designs-are").contains("Figma"));
}

#[test]
fn what_is_known_already_is_offered_as_an_update() {
    let sandbox = sandbox();
    let text = "Bugs of the ingest pipeline are tracked in the Linear project called INGEST";
    sandbox.memdir(&["remember", "--name", "where-bugs-are", text]).ok();
    let refused = sandbox.memdir(&["remember", text]).code(1);
    assert!(refused.stderr.contains("memdir edit where-bugs-are"), "{refused}");
    let dry = sandbox.memdir(&["remember", "--dry-run", text]).ok();
    assert!(dry.stderr.contains("memdir edit where-bugs-are"), "{dry}");
    sandbox.memdir(&["remember", "--force", "a test", text]).ok();
}

#[test]
fn a_person_is_told_what_was_understood() {
    let output = sandbox().memdir(&["remember", "Stop summarising at the end of every reply"]).ok();
    assert!(output.stdout.contains("feedback, private: Stop summarising"), "{output}");
    assert!(output.stderr.contains("question: why is that so?"), "{output}");
}

#[test]
fn rows_are_classified_and_not_saved() {
    let sandbox = sandbox();
    let rows = "{\"id\":1,\"text\":\"I prefer tabs\"}\n{\"id\":2}\n";
    let output = sandbox.memdir(&["remember", "--jsonl"]).stdin(rows).code(2);
    let rows: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["id"], &rows[0]["type"]), (&json!(1), &json!("user")));
    assert!(rows[1]["error"].is_string());
    assert_eq!(sandbox.memdir(&["list"]).json(), json!([]));
}

#[test]
fn nothing_is_not_remembered() {
    let output = sandbox().memdir(&["remember"]).code(2);
    assert!(output.stderr.contains("nothing to remember"), "{output}");
    sandbox().memdir(&["remember", "  "]).code(2);
}
