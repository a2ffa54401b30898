//! Hosts that lend their own model to the calls they make.

use std::fs;

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::host::{Host, sandbox};

const TOLD: &str =
    "please never mock the database in integration tests, a broken migration went to production that way";

/// A user who wants the model of whichever host calls.
fn lent() -> Sandbox {
    let sandbox = sandbox();
    fs::create_dir_all(sandbox.state()).unwrap();
    fs::write(sandbox.state().join("config.toml"), "[model]\nservice = \"sampling\"\n").unwrap();
    sandbox
}

fn conversation() -> Value {
    json!({ "text": format!("User: {TOLD}\nAssistant: Understood.") })
}

/// What a model writes that takes the sub-agent's tools for its own.
fn proposes() -> String {
    json!({ "calls": [{ "name": "propose", "input": { "proposals": [{
        "action": "new", "name": "feedback-real-db", "type": "feedback", "description": "integration tests use a real database",
        "body": "Never mock the database in integration tests.\n\n**Why:** a broken migration went to production that way.",
        "evidence": [{ "message": 1, "quote": TOLD }],
    }] } }] })
    .to_string()
}

fn prompt(params: &Value) -> String {
    params["messages"][0]["content"]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_host_that_lends_its_model_is_asked_for_facts() {
    let sandbox = lent();
    let mut host = Host::lending(&sandbox);
    let mut asked = Vec::new();
    let found = host.ok_lending("extract_facts", conversation(), |params| {
        asked.push(params.clone());
        Ok(if asked.len() == 1 { proposes() } else { "done".to_owned() })
    });
    assert!(found.contains("1 candidate by your own model; nothing is saved"), "{found}");
    assert!(found.contains("name feedback-real-db") && found.contains("said by user"), "{found}");
    assert_eq!(asked.len(), 2);
    assert!(
        prompt(&asked[0]).contains(TOLD) && asked[0]["systemPrompt"].as_str().unwrap().contains("propose")
    );
    assert!(prompt(&asked[1]).contains("taken"), "the sub-agent's tools answered: {}", asked[1]);
    let costs = sandbox.memdir(&["costs", "--all"]).json();
    let by_model = &costs["by_model"][0];
    assert_eq!(
        (&by_model["model"], &by_model["usd"]),
        (&json!("sampling-test-host"), &json!(0.0)),
        "{costs}"
    );
    assert!(sandbox.vault_tree().containing(b"mock").is_empty(), "nothing is saved");
}

#[test]
fn a_host_that_refuses_is_answered_by_rules_and_left_alone_after_three_times() {
    let sandbox = lent();
    let mut host = Host::lending(&sandbox);
    let mut n_asked = 0;
    for _ in 0..5 {
        let found = host.ok_lending("extract_facts", conversation(), |_| {
            n_asked += 1;
            Err("User rejected sampling request".to_owned())
        });
        assert!(found.contains("by rules; nothing is saved"), "{found}");
    }
    assert_eq!(n_asked, 3);
}

#[test]
fn a_host_that_lends_nothing_or_a_user_who_wants_none_of_it_is_not_asked() {
    let never = |_: &Value| -> Result<String, String> { panic!("nobody may be asked") };
    let found = Host::start(&lent()).ok_lending("extract_facts", conversation(), never);
    assert!(found.contains("by rules"), "{found}");
    let found = Host::lending(&sandbox()).ok_lending("extract_facts", conversation(), never);
    assert!(found.contains("by rules"), "{found}");
}

/// R2-06: the model chooses among what was found, and may leave out; without it the local ranking stands.
#[test]
fn a_host_that_lends_its_model_chooses_among_what_was_found() {
    let sandbox = lent();
    sandbox.save(
        "project-freeze",
        "Merges are frozen on 2026-04-09 because the mobile release is cut that day.",
    );
    sandbox.save(
        "project-train",
        "The release train of the mobile team leaves on Thursdays, since the partners ask for it.",
    );
    let mut host = Host::lending(&sandbox);
    let query = json!({ "query": "when is the mobile release", "layers": ["memory"], "select": true });
    let both = host.ok_lending("search_memory", query.clone(), |_| Err("not now".to_owned()));
    assert!(both.contains("project-freeze") && both.contains("project-train"), "{both}");
    assert!(both.contains("nothing was asked of a model"), "{both}");
    let mut asked = String::new();
    let chosen = host.ok_lending("search_memory", query, |params| {
        asked = prompt(params);
        Ok(json!({ "selected_memories": ["project-freeze.md"] }).to_string())
    });
    assert!(chosen.contains("project-freeze") && !chosen.contains("project-train"), "{chosen}");
    assert!(chosen.contains("your own model chose among them"), "{chosen}");
    assert!(
        asked.contains("Query: when is the mobile release") && asked.contains("project-train.md"),
        "{asked}"
    );
    let plain =
        host.ok("search_memory", json!({ "query": "when is the mobile release", "layers": ["memory"] }));
    assert!(plain.contains("project-train"), "nobody asked to select: {plain}");
}

/// Outside of a call there is no host: the command says so, and work in the background goes by rules.
#[test]
fn without_a_call_there_is_nobody_to_ask() {
    let sandbox = lent();
    let shown = sandbox.memdir(&["model"]).run();
    assert!(shown.stdout.contains("only to the calls it makes of `memdir mcp`"), "{shown}");
    let said = sandbox.memdir(&["model", "use", "sampling"]).ok();
    assert!(said.stderr.contains("while it calls `memdir mcp`"), "{said}");
}
