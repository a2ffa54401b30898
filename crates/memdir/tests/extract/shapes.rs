//! The same conversation in the files of three agents, and in none of them.

use std::fs;

use serde_json::{Value, json};

use crate::conversation::Message;
use crate::world::{World, claude, codex, gemini};

fn messages() -> Vec<Message> {
    let said = [
        ("user", "write the importer tests"),
        (
            "agent",
            "I wrote the failing test first and only then changed the importer, instead of testing afterwards.",
        ),
        ("user", "yes exactly, keep doing that"),
        ("agent", "Will do."),
        (
            "user",
            "we're freezing all merges after Thursday because the mobile team cuts a release. now run the tests",
        ),
        ("tool", "12 passed"),
    ];
    said.map(|(who, text)| (who.to_owned(), text.to_owned())).to_vec()
}

fn told(candidates: &[Value]) -> Vec<(String, String)> {
    let text = |candidate: &Value, key: &str| candidate[key].as_str().unwrap().to_owned();
    candidates.iter().map(|candidate| (text(candidate, "type"), text(candidate, "description"))).collect()
}

/// W1-08, TY-04, TY-10: one engine for every host; evidence quotes messages as they stand.
#[test]
fn three_hosts_teach_the_same() {
    let world = World::new();
    let messages = messages();
    let files = [
        ("rollout-2026.jsonl", codex(&messages, &world.dir)),
        ("chat.jsonl", gemini(&messages)),
        ("claude.jsonl", claude(&messages, 0, &world.dir)),
    ];
    for (name, text) in files {
        let file = world.sandbox.root().join(name);
        fs::write(&file, text).unwrap();
        let found = world.dry_run(&file);
        let told = told(&found);
        assert_eq!(told.len(), 2, "{name}: {found:#?}");
        assert!(told[0].0 == "feedback" && told[0].1.contains("failing test"), "{name}: {told:?}");
        assert!(told[1].0 == "project" && told[1].1.contains("2026-04-09"), "{name}: {told:?}");
        for candidate in &found {
            assert_eq!((&candidate["provenance"], &candidate["trust"]), (&json!("user"), &json!("trusted")));
            for evidence in candidate["evidence"].as_array().unwrap() {
                let n = usize::try_from(evidence["message"].as_u64().unwrap()).unwrap();
                assert!(messages[n].1.contains(evidence["quote"].as_str().unwrap()), "{name}: {evidence}");
            }
        }
    }
    assert!(world.memories().is_empty() && world.waiting().is_empty(), "a dry run changes nothing");
}

#[test]
fn a_dialogue_without_a_host_is_read_too() {
    let world = World::new();
    let file = world.sandbox.root().join("talk.txt");
    fs::write(&file, "User: I'm a data scientist, new to Rust\nAssistant: Welcome.\nUser: add a button\n")
        .unwrap();
    let found = world.dry_run(&file);
    assert_eq!(told(&found).iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(), ["user"]);
    let missing = world.memdir(&["extract", "--transcript", "/nowhere/x.jsonl"]).run();
    assert_eq!(missing.code, 2, "{missing}");
}
