//! A dream shows that it did no harm: what was asked lately still finds what it found.

use crate::world::{World, id, operations};

const QUESTION: &str = "which voucher does the spring campaign have, how many percent?";

/// UX-17.
#[test]
fn ux_17_a_question_that_would_find_less_is_shown_and_blocks_its_operation() {
    let world = World::new();
    let found = world
        .memdir(&["recall", QUESTION, "--session", "s1", "--json"])
        .at("2026-04-01T12:00:00Z")
        .ok()
        .json();
    assert_eq!(found["hits"][0]["name"], "project-voucher", "{found}");
    let answer = world.memdir(&["dream", "--dry-run", "--json"]).ok().json();
    assert_eq!(answer["replay"]["queries"], 1, "{answer}");
    let still = world.memdir(&["recall", QUESTION, "--session", "s2", "--json"]).ok().json();
    let is_shown = still["hits"].as_array().unwrap().iter().any(|hit| hit["name"] == "project-voucher");
    let archive = operations(&answer, "archive");
    let blocked =
        archive.iter().any(|one| one["names"][0] == "project-voucher" && one["blocked"].is_string());
    // What recall shows no longer by itself cannot be lost by the archive.
    assert_eq!(blocked, is_shown, "{answer}");
    if is_shown {
        assert_eq!(answer["replay"]["worse"][0]["query"], QUESTION);
        world.memdir(&["dream", "apply", id(&answer)]).ok();
        assert!(world.files().contains_key("project-voucher.md"));
    }
}

/// UX-17: what a merge or a newer memory says in its place counts as found.
#[test]
fn ux_17_a_successor_that_is_found_instead_is_no_loss() {
    let world = World::new();
    let question = "do integration tests run against a real database or mocks?";
    let found = world.memdir(&["recall", question, "--session", "s1", "--json"]).ok().json();
    assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
    let answer = world.propose();
    assert_eq!(answer["replay"]["queries"], 1);
    assert_eq!(answer["replay"]["worse"].as_array().unwrap().len(), 0, "{answer}");
    assert!(operations(&answer, "merge")[0]["blocked"].is_null());
}

/// DR-08, AS-03: what is recalled together gets a link.
#[test]
fn dr_08_what_is_recalled_together_is_linked() {
    let world = World::new();
    let question = "who keeps the lighthouse and who keeps the harbour?";
    for n in 0..3 {
        world
            .memdir(&["recall", question, "--session", &format!("s{n}")])
            .at(&format!("2026-06-1{n}T12:00:00Z"))
            .ok();
    }
    let answer = world.propose();
    let links = operations(&answer, "link");
    let ties = |link: &&&serde_json::Value| {
        let text = link.to_string();
        text.contains("reference-lighthouse") && text.contains("reference-harbour")
    };
    assert!(links.iter().any(|link| ties(&link)), "{answer}");
}
