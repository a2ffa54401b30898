//! The keys that other programs rely on.

use serde_json::Value;

use super::furnished;
use crate::setup::sandbox;

#[test]
fn save_answers_with_name_path_hash_change_and_warnings() {
    let sandbox = sandbox();
    let save = ["save", "rule", "--type", "project", "--description", "d", "--body", "Text."];
    let answer = sandbox.memdir(&save).json();
    assert_has(&answer, &["name", "path", "hash", "change", "warnings"]);
    assert_eq!(answer["name"], "rule");
    assert_eq!(answer["path"], sandbox.memory("rule").to_str().unwrap());
    assert_eq!(answer["hash"].as_str().map(str::len), Some(64));
    assert!(answer["warnings"].is_array());
}

#[test]
fn a_refusal_answers_with_rule_evidence_and_destination() {
    let sandbox = sandbox();
    let body =
        "Integration tests must run against a real database, never against mocks, in every suite we have.";
    let save = |name| {
        ["save", name, "--type", "project", "--description", "Tests use a real database", "--body", body]
    };
    sandbox.memdir(&save("first")).ok();
    let output = sandbox.memdir(&save("second")).args(&["--json"]).code(1);
    let refused = &output.json()["refused"];
    assert_has(&refused[0], &["rule", "evidence", "destination"]);
}

#[test]
fn list_answers_with_a_row_for_each_memory() {
    let list = furnished().memdir(&["list"]).json();
    let row = &list[0];
    let wanted = [
        "name",
        "path",
        "type",
        "scope",
        "tier",
        "description",
        "created",
        "modified",
        "age_days",
        "strength",
    ];
    assert_has(row, &wanted);
    assert_eq!(list.as_array().unwrap().len(), 3);
}

#[test]
fn an_empty_list_is_an_empty_list() {
    let output = sandbox().memdir(&["list", "--json"]).run();
    assert_eq!(output.json(), Value::Array(Vec::new()), "{output}");
}

#[test]
fn search_answers_with_hits_and_whether_it_abstained() {
    let sandbox = furnished();
    let answer = sandbox.memdir(&["search", "database"]).json();
    assert_has(&answer, &["hits", "abstained"]);
    let wanted =
        ["name", "path", "layer", "score", "type", "description", "snippet", "age_days", "via", "parts"];
    assert_has(&answer["hits"][0], &wanted);
    assert_eq!(answer["abstained"], false);
    let nothing = sandbox.memdir(&["search", "xylophone"]).json();
    assert_eq!(nothing["hits"], Value::Array(Vec::new()));
}

#[test]
fn log_answers_with_a_row_for_each_change() {
    let log = furnished().memdir(&["log"]).json();
    assert_has(&log[0], &["change", "at", "author", "reason", "session", "files"]);
    assert_has(&log[0]["files"][0], &["name", "op", "before", "after"]);
}

#[test]
fn every_command_answers_one_document() {
    let sandbox = furnished();
    let export = sandbox.root().join("export");
    let change = sandbox.memdir(&["log"]).json()[0]["change"].as_str().unwrap().to_owned();
    let commands: [&[&str]; 19] = [
        &["show", "feedback-testing"],
        &["show", "feedback-testing", "--raw"],
        &["list"],
        &["manifest"],
        &["links", "feedback-testing"],
        &["search", "database"],
        &["log"],
        &["diff", &change],
        &["edit", "feedback-testing", "--append", "x"],
        &["rename", "feedback-testing", "feedback-tests"],
        &["correct", "feedback-tests", "--body", "New."],
        &["forget", "feedback-tests", "--yes"],
        &["undo"],
        &["doctor"],
        &["doctor", "--fix"],
        &["projects"],
        &["export", "archive", export.to_str().unwrap()],
        &["import", "archive", export.to_str().unwrap()],
        &["init", "--dry-run"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).args(&["--json"]).run();
        assert!(matches!(output.code, 0 | 1), "{command:?}\n{output}");
        output.json();
    }
}

/// Demands the contract's keys; more may come, none may go.
fn assert_has(value: &Value, keys: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("not an object: {value}"));
    let missing: Vec<_> = keys.iter().filter(|key| !object.contains_key(**key)).collect();
    assert!(missing.is_empty(), "{missing:?} missing in {value}");
}
