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
    assert_eq!(answer["replay"]["worse"][0]["query"], QUESTION);
    let archive = operations(&answer, "archive");
    assert!(archive[0]["blocked"].as_str().unwrap().contains(QUESTION), "{answer}");
    let done = world.memdir(&["dream", "apply", id(&answer), "--json"]).ok().json();
    assert_eq!(done["left"][0]["names"], "project-voucher");
    assert!(world.files().contains_key("project-voucher.md"));
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

/// DR-08, AS-03: what is used together gets a link.
#[test]
fn dr_08_what_is_used_together_is_linked() {
    let world = World::new();
    for session in ["s1", "s2"] {
        for name in ["reference-lighthouse", "reference-harbour"] {
            world.memdir(&["show", name, "--session", session]).ok();
        }
    }
    let answer = world.propose();
    let links = operations(&answer, "link");
    assert_eq!(links.len(), 1, "{answer}");
    assert_eq!(
        (&links[0]["names"][0], &links[0]["into"]),
        (&"reference-harbour".into(), &"reference-lighthouse".into())
    );
    world.memdir(&["dream", "apply", id(&answer)]).ok();
    assert!(world.sandbox.read("reference-harbour").contains("[[reference-lighthouse]]"));
}
