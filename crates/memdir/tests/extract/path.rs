//! From the end of a turn to the inbox: when nothing is wanted, only what is new, once, and what the user says to it.

use std::fs;

use memdir_store::queue::{Kind, Queue};
use serde_json::json;

use crate::world::{SESSION, World};

const RULE: (&str, &str) = (
    "user",
    "no, never mock the database in integration tests. we got burned last quarter when a migration failed in production",
);
const ASK: (&str, &str) = ("user", "write the importer tests");
const DONE: (&str, &str) = ("agent", "I mocked the database layer.");

/// W1-01, W1-02, W1-12, W1-16, W1-17, TT-01, TT-02: rules make candidates of what was said, and no memories.
#[test]
fn a_turn_ends_and_what_it_taught_waits_for_the_users_word() {
    let world = World::new();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    let before = fs::read(world.transcript()).unwrap();
    world.turn_ends();
    assert_eq!(fs::read(world.transcript()).unwrap(), before, "the session's own file stays as it is");
    assert!(world.memories().is_empty());
    let waiting = world.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:#?}");
    let candidate = &waiting[0];
    assert_eq!((&candidate["type"], &candidate["tier"]), (&json!("feedback"), &json!("supplementary")));
    assert_eq!((&candidate["author"], &candidate["provenance"]), (&json!("extraction"), &json!("user")));
    assert_eq!(candidate["session"], SESSION);
    let quote = candidate["evidence"][0].as_str().unwrap();
    assert!(RULE.1.contains(quote), "{quote}");
    let id = candidate["id"].as_str().unwrap();
    let shown = world.memdir(&["review", "show", id]).ok();
    assert!(shown.stdout.contains("said: “") && shown.stdout.contains("**Why:**"), "{shown}");
    assert!(!world.place().vault.join("MEMORY.md").exists(), "a candidate is on no index page");
    assert_eq!(world.offset(), before.len() as u64);

    world.memdir(&["review", "accept", id]).ok();
    let name = candidate["name"].as_str().unwrap();
    let text = fs::read_to_string(world.place().vault.join(format!("{name}.md"))).unwrap();
    assert!(
        !text.contains("supplementary") && !text.contains("said:") && !text.contains("quarantined"),
        "{text}"
    );
    assert!(text.contains("provenance: user"), "{text}");
    let page = fs::read_to_string(world.place().vault.join("MEMORY.md")).unwrap();
    assert!(page.contains(name), "{page}");
}

/// W1-03: in a turn in which the agent wrote memories itself nothing is learned, and the cursor moves.
#[test]
fn who_wrote_memories_is_not_followed() {
    let world = World::new();
    let memory = world.place().vault.join("feedback-db.md");
    let call = format!("call {}", memory.display());
    world.says(&[ASK, DONE, RULE, ("tool", &call), ("agent", "Saved.")]);
    world.turn_ends();
    assert!(world.waiting().is_empty(), "{:#?}", world.waiting());
    assert_eq!(world.offset(), fs::metadata(world.transcript()).unwrap().len());
    world.says(&[("user", "I'm a data scientist and new to this code base"), ("agent", "Welcome.")]);
    world.turn_ends();
    assert_eq!(world.waiting().len(), 1, "the next turn counts again");
}

/// W1-04: every third turn.
#[test]
fn every_so_many_turns() {
    let world = World::new();
    fs::create_dir_all(world.sandbox.state()).unwrap();
    fs::write(world.sandbox.state().join("config.toml"), "[extract]\nevery = 3\n").unwrap();
    let mut waiting = Vec::new();
    let turns =
        [RULE, ("user", "run them"), ("user", "again"), ("user", "I'm a data scientist, new to Rust")];
    for turn in turns.into_iter().chain([("user", "ok"), ("user", "go on then")]) {
        world.says(&[turn, ("agent", "Done.")]);
        world.turn_ends();
        waiting.push(world.waiting().len());
    }
    assert_eq!(waiting, [0, 0, 1, 1, 1, 2]);
}

/// W1-05, UX-21: what a sub-agent ends starts nothing.
#[test]
fn a_sub_agent_starts_nothing() {
    let world = World::new();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    let stop = json!({ "agent_id": "ac4c", "agent_type": "general-purpose", "stop_hook_active": false });
    let answer = world.hook("Stop", stop).ok();
    assert_eq!(answer.stdout.trim(), "");
    assert!(!Queue::of(&world.place()).has_work(memdir_testkit::NOW.parse().unwrap()));
    assert!(world.waiting().is_empty());
}

/// W1-06, W1-14: far from the user nothing is learned, in silence, and the cursor moves.
#[test]
fn nothing_is_learned_far_from_the_user() {
    let world = World::new();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    let answer =
        world.hook("Stop", json!({ "stop_hook_active": false })).env("CLAUDE_CODE_REMOTE", "true").ok();
    assert_eq!(answer.stdout.trim(), "");
    let mut n_looks = 0;
    while world.offset() == 0 && n_looks < 200 {
        // Whoever the hook started may be at it still.
        let done = world.memdir(&["work", "--once", "--json"]).run();
        assert_eq!(done.stderr.trim(), "", "{done}");
        std::thread::sleep(std::time::Duration::from_millis(50));
        n_looks += 1;
    }
    assert_eq!(world.offset(), fs::metadata(world.transcript()).unwrap().len());
    assert!(world.waiting().is_empty());
}

/// W1-07: five turns that end while nobody works are one job.
#[test]
fn turns_that_end_meanwhile_are_looked_at_once() {
    let world = World::new();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    for _ in 0..5 {
        world.push(Kind::Turn);
    }
    assert_eq!(world.work()["done"], 1);
    assert_eq!(world.waiting().len(), 1);
}

/// W1-08: only messages since the cursor, and what they point at.
#[test]
fn only_what_is_new_is_read() {
    let world = World::new();
    world.says(&[
        RULE,
        ("agent", "I split the change into one commit per concern instead of one large commit."),
    ]);
    world.turn_ends();
    let id = world.waiting()[0]["id"].as_str().unwrap().to_owned();
    world.memdir(&["review", "drop", &id]).ok();
    world.says(&[("user", "perfect, do it like this every time"), ("agent", "I will.")]);
    world.turn_ends();
    let waiting = world.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:#?}");
    assert!(waiting[0]["description"].as_str().unwrap().contains("one commit per concern"), "{waiting:#?}");
}

/// Killed before the cursor moved, a worker looks again and makes nothing twice.
#[test]
fn what_was_made_is_not_made_again() {
    let world = World::new();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    world.turn_ends();
    let cursors = world.place().state_dir().join("cursors.json");
    fs::remove_file(&cursors).unwrap();
    world.turn_ends();
    assert_eq!(world.waiting().len(), 1, "it waits already");
}

/// What was dropped does not come back, whoever looks again.
#[test]
fn what_was_dropped_is_not_made_again() {
    let world = World::new();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    world.turn_ends();
    let id = world.waiting()[0]["id"].as_str().unwrap().to_owned();
    world.memdir(&["review", "drop", &id]).ok();
    world.memdir(&["extract", "--transcript", world.transcript().to_str().unwrap()]).ok();
    assert!(world.waiting().is_empty(), "it was dropped");
}

/// W1-13: the session is told once which files were written; the index page is none of them.
#[test]
fn the_session_is_told_what_was_written() {
    let world = World::new();
    let asked = "remember that staging deploys only work from the office VPN because of the firewall";
    world.hook("UserPromptSubmit", json!({ "prompt": asked })).ok();
    world.says(&[("user", asked), ("agent", "I will.")]);
    world.turn_ends();
    let memories = world.memories();
    assert_eq!(memories.len(), 1, "{memories:?}");
    let told =
        world.hook("UserPromptSubmit", json!({ "prompt": "now look at the failing build please" })).ok();
    assert!(told.stdout.contains(&format!("{}.md", memories[0])), "{told}");
    assert!(!told.stdout.contains("MEMORY.md"), "{told}");
    let again = world.hook("UserPromptSubmit", json!({ "prompt": "and what about the linter then" })).ok();
    assert!(!again.stdout.contains("saved from what was said"), "{again}");
}

/// DR-10: what nobody looked at is looked through once at the end of a session.
#[test]
fn the_unread_tail_is_looked_through_at_the_end() {
    let world = World::new();
    fs::create_dir_all(world.sandbox.state()).unwrap();
    fs::write(world.sandbox.state().join("config.toml"), "[extract]\nevery = 50\n").unwrap();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    world.turn_ends();
    assert!(world.waiting().is_empty());
    for _ in 0..2 {
        world.push(Kind::End);
        world.work();
        assert_eq!(world.waiting().len(), 1);
    }
}

/// F5: a session that leaves memory aside teaches nothing.
#[test]
fn a_session_without_memory_teaches_nothing() {
    let world = World::new();
    world.says(&[ASK, DONE, RULE, ("agent", "Understood.")]);
    world.hook("UserPromptSubmit", json!({ "prompt": "ignore memory for this session" })).ok();
    world.turn_ends();
    assert!(world.waiting().is_empty());
    assert_eq!(world.offset(), fs::metadata(world.transcript()).unwrap().len());
}

/// UX-16: what was injected, and what is a memory already, is not extracted again.
#[test]
fn no_echo() {
    let world = World::new();
    world.says(&[RULE, ("agent", "Understood.")]);
    world.turn_ends();
    let id = world.waiting()[0]["id"].as_str().unwrap().to_owned();
    world.memdir(&["review", "accept", &id]).ok();
    let recalled = world.memdir(&["recall", "should integration tests mock the database"]).run().stdout;
    assert!(recalled.contains("mock"), "{recalled}");
    let prompt = format!("{recalled}\nso write the tests for the exporter");
    world.says(&[
        ("user", &prompt),
        ("agent", "As saved: never mock the database in integration tests."),
        RULE,
    ]);
    world.turn_ends();
    assert!(world.waiting().is_empty(), "{:#?}", world.waiting());
}

/// TT-03: promotion passes the gates and makes a file; what is confirmed counts more than a candidate.
#[test]
fn a_candidate_is_promoted() {
    let world = World::new();
    world.says(&[
        ASK,
        DONE,
        RULE,
        ("user", "the merge freeze starts on 2026-05-04 because mobile cuts a release"),
    ]);
    world.turn_ends();
    let waiting = world.waiting();
    assert_eq!(waiting.len(), 2, "{waiting:#?}");
    for candidate in &waiting {
        world.memdir(&["promote", candidate["name"].as_str().unwrap()]).ok();
    }
    assert_eq!(world.memories().len(), 2);
    let freeze =
        waiting.iter().find(|candidate| candidate["type"] == "project").unwrap()["name"].as_str().unwrap();
    let said = "the merge freeze starts on 2026-05-11 because mobile cuts a release";
    world.says(&[("user", said), ("agent", "Noted.")]);
    world.turn_ends();
    let waiting = world.waiting();
    assert_eq!(
        (waiting.len(), &waiting[0]["name"], &waiting[0]["kind"]),
        (1, &json!(freeze), &json!("change"))
    );
    let text = fs::read_to_string(world.place().vault.join(format!("{freeze}.md"))).unwrap();
    assert!(text.contains("2026-05-04") && !text.contains("2026-05-11"), "what is confirmed stands: {text}");
    world.memdir(&["review", "accept", waiting[0]["id"].as_str().unwrap()]).ok();
    let text = fs::read_to_string(world.place().vault.join(format!("{freeze}.md"))).unwrap();
    assert!(text.contains("2026-05-11"), "{text}");
}

/// UX-15: what a secret stands in is no candidate, and its value is nowhere.
#[test]
fn a_secret_is_no_candidate() {
    let world = World::new();
    let key = format!("sk_live_{}", "4eC39HqLyjWDarjtT1zdp7dc");
    world.says(&[
        ("user", &format!("remember that the staging key is {key}, we always use it for demos")),
        DONE,
    ]);
    world.turn_ends();
    assert!(world.waiting().is_empty());
    let tree = format!("{:?}", world.sandbox.state_tree());
    assert!(!tree.contains(&key));
}
