//! `memdir place`: where a text belongs.

use std::fs;

use serde_json::{Value, json};

use crate::setup::sandbox;

/// MH-06, PV-02: a decision is out of place among rules, and the verdict says where it belongs.
#[test]
fn mh_06_a_decision_does_not_go_into_claude_md() {
    let sandbox = sandbox();
    let place = ["place", "--target", "CLAUDE.md", "Decided to use Next.js instead of Astro 5", "--json"];
    let verdict = sandbox.memdir(&place).code(1).json();
    assert_eq!(verdict["ok"], false);
    assert_eq!(verdict["destinations"], json!(["docs/decisions/", "STATUS.md"]));
    assert!(verdict["reason"].as_str().is_some_and(|reason| reason.contains("decision")), "{verdict}");
}

/// PV-01: the same text is in place where it belongs, and a path will do as a target.
#[test]
fn pv_01_a_target_may_be_a_path() {
    let sandbox = sandbox();
    let text = "Decided to use Next.js instead of Astro 5";
    for target in ["docs/adr/0001-x.md", "./STATUS.md", "docs/decisions/"] {
        sandbox.memdir(&["place", "--target", target, text]).ok();
    }
    let output = sandbox.memdir(&["place", "--target", "docs/CLAUDE.md", text]).code(1);
    assert!(output.stdout.starts_with("out of place: "), "{output}");
}

#[test]
fn the_text_may_come_from_stdin() {
    let sandbox = sandbox();
    sandbox.memdir(&["place", "--target", "CLAUDE.md"]).stdin("Always run clippy before pushing\n").ok();
    let output = sandbox.memdir(&["place", "--target", "CLAUDE.md"]).code(2);
    assert!(output.stderr.contains("no text"), "{output}");
}

#[test]
fn an_unknown_target_is_an_error_that_lists_the_places() {
    let output = sandbox().memdir(&["place", "--target", "src/main.rs", "x"]).code(2);
    assert!(output.stderr.contains("memory:reference"), "{output}");
    let output = sandbox().memdir(&["place", "x"]).code(2);
    assert!(output.stderr.contains("--target"), "{output}");
}

#[test]
fn rows_are_answered_in_order_and_a_bad_row_says_why() {
    let rows = concat!(
        "{\"id\":\"a\",\"text\":\"I prefer tabs\",\"target\":\"memory:user\"}\n",
        "nonsense\n",
        "{\"id\":7,\"text\":\"I prefer tabs\",\"target\":\"elsewhere\"}\n",
        "{\"id\":\"b\",\"text\":\"I prefer tabs\",\"target\":\"README.md\"}\n",
    );
    let output = sandbox().memdir(&["place", "--jsonl"]).stdin(rows).code(2);
    let rows: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 4, "{output}");
    assert_eq!((&rows[0]["id"], &rows[0]["ok"]), (&json!("a"), &json!(true)));
    assert!(rows[1]["error"].is_string());
    assert_eq!(rows[2]["id"], 7);
    assert!(rows[2]["error"].is_string());
    assert_eq!((&rows[3]["ok"], &rows[3]["destinations"][0]), (&json!(false), &json!("memory:user")));
}

/// PV-04: state in CLAUDE.md and rules in STATUS.md are found.
#[test]
fn pv_04_documents_are_linted() {
    let sandbox = sandbox();
    let lint = |code| sandbox.memdir(&["place", "--lint", "--json"]).code(code).json();
    fs::write(sandbox.project().join("CLAUDE.md"), "- Always run clippy before pushing.\n").unwrap();
    assert_eq!(lint(0), json!([]));
    let state =
        "- Always run clippy before pushing.\n- As of 2026-04-01 the importer handles 6 of 9 formats.\n";
    fs::write(sandbox.project().join("CLAUDE.md"), state).unwrap();
    fs::write(
        sandbox.project().join("STATUS.md"),
        "Phase 2 is done.\n\nNever push to main without a review.\n",
    )
    .unwrap();
    let found = lint(1);
    assert_eq!(
        (&found[0]["file"], &found[0]["line"], &found[0]["destination"]),
        (&json!("CLAUDE.md"), &json!(2), &json!("STATUS.md"))
    );
    assert_eq!(
        (&found[1]["file"], &found[1]["line"], &found[1]["destination"]),
        (&json!("STATUS.md"), &json!(3), &json!("CLAUDE.md"))
    );
    let named = sandbox.memdir(&["place", "--lint", "STATUS.md"]).code(1);
    assert!(named.stdout.starts_with("STATUS.md:3: "), "{named}");
}
