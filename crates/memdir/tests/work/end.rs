//! What becomes of a session: working memory while it lasts, an entry in the journal afterwards.

use std::fs;

use memdir_core::working::HEADINGS;
use memdir_store::queue::Kind;
use serde_json::json;

use crate::world::World;

/// SM-01, SM-02: a turn makes working memory, the end makes a journal entry of it.
#[test]
fn a_session_leaves_a_journal_entry_and_no_working_memory() {
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::Turn, "s-1");
    assert_eq!(world.work()["done"], 1);
    let working = world.working("s-1").unwrap();
    for heading in HEADINGS {
        assert!(working.contains(&format!("## {heading}\n")), "{heading} in {working}");
    }
    assert!(
        working.contains("- Changed: src/doors.rs") && working.contains("- [ ] rotate the key of s-1"),
        "{working}"
    );
    world.push(Kind::End, "s-1");
    world.work();
    assert_eq!(world.working("s-1"), None);
    let journal = world.journal();
    assert_eq!(journal.len(), 1, "{journal:?}");
    assert_eq!((&journal[0]["session"], &journal[0]["agent"]), (&json!("s-1"), &json!("claude-code")));
    let entry = world.memdir(&["journal", "show", "s-1"]).json();
    assert!(entry["summary"].as_str().unwrap().contains("Changed: src/doors.rs"), "{entry}");
    assert_eq!(entry["unfinished"][0]["text"], "rotate the key of s-1");
    assert_eq!(world.queued(), [""; 0], "the gates of dream were asked too");
    let left = fs::read_dir(world.place.state_dir().join("session")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["s-1.ended"], "only how far the host's file was read");
    world.push(Kind::End, "s-1");
    world.work();
    assert_eq!(world.journal().len(), 1, "once is enough");
}

/// A session that goes on after its end adds what is new, and closes what it had left open.
#[test]
fn a_session_that_goes_on_tells_only_what_is_new() {
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::End, "s-1");
    world.work();
    let todos = json!([{ "content": "rotate the key of s-1", "status": "completed", "activeForm": "r" }]);
    let call = json!([{ "type": "tool_use", "id": "t9", "name": "TodoWrite", "input": { "todos": todos } }]);
    world.says("s-1", 11, &[("user", json!("now rotate that key")), ("assistant", call)]);
    world.push(Kind::End, "s-1");
    world.memdir(&["work", "--once"]).at("2026-04-02T11:30:00Z").ok();
    assert_eq!(world.journal().len(), 2);
    let entry = world.memdir(&["journal", "show"]).json();
    let summary = entry["summary"].as_str().unwrap();
    assert!(summary.contains("now rotate that key") && !summary.contains("Move token refresh"), "{summary}");
    assert_eq!(entry["unfinished"][0]["done"], true, "{entry}");
    assert_eq!(world.memdir(&["journal", "open"]).json(), json!([]));
}

/// Whoever wrapped a session up in words is not talked over.
#[test]
fn a_session_that_was_wrapped_gets_no_second_entry() {
    let world = World::new();
    world.long_session("s-1");
    world.memdir(&["wrap", "--session", "s-1", "--summary", "Token refresh waits in a queue now"]).ok();
    assert_eq!(world.journal().len(), 1);
    world.push(Kind::End, "s-1");
    assert!(world.work()["failed"] == 0);
    assert_eq!(world.journal().len(), 1);
    world.says("s-1", 11, &[("user", json!("one more thing: the retry"))]);
    world.push(Kind::End, "s-1");
    world.memdir(&["work", "--once"]).at("2026-04-02T11:30:00Z").ok();
    assert_eq!(world.journal().len(), 2, "what was asked after that is told");
}

/// UX-25: turns are kept only where the user agreed.
#[test]
fn turns_are_kept_if_the_user_agreed() {
    let world = World::new();
    world.long_session("s-1");
    let kept = world.place.state_dir().join("transcripts/s-1.jsonl");
    world.push(Kind::Turn, "s-1");
    world.work();
    assert!(!kept.exists());
    fs::write(world.sandbox.state().join("config.toml"), "[transcripts]\nkeep = true\n").unwrap();
    world.push(Kind::Turn, "s-1");
    assert_eq!(world.work()["done"], 1);
    assert!(fs::read_to_string(kept).unwrap().contains("Move token refresh of s-1"));
}

/// What happens to a session whose directory, or whose file, is gone by the time somebody works.
#[test]
fn a_session_is_ended_after_its_directory_is_gone() {
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::End, "s-1");
    world.push(Kind::End, "s-without-a-file");
    fs::rename(&world.dir, world.sandbox.root().join("elsewhere")).unwrap();
    let work = world.memdir(&["work", "--once"]).cwd(world.sandbox.root()).json();
    assert_eq!((&work["failed"], world.queued()), (&json!(0), vec![]), "{work}");
    fs::rename(world.sandbox.root().join("elsewhere"), &world.dir).unwrap();
    assert_eq!(world.journal().len(), 1);
}

/// Without a daemon, too, a session whose host died is ended: when another one ends.
#[test]
fn the_end_of_a_session_ends_those_that_were_left_alone() {
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::Turn, "s-1");
    world.work();
    let day_after =
        jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_hours(25)).unwrap().to_string();
    world.push(Kind::End, "s-2");
    world.memdir(&["work", "--once"]).at(&day_after).ok();
    let told: Vec<_> = world.journal().iter().map(|entry| entry["session"].clone()).collect();
    assert_eq!((told, world.working("s-1"), world.queued()), (vec![json!("s-1")], None, vec![]));
}

/// F4: off means off.
#[test]
fn a_job_is_dropped_where_memory_was_switched_off() {
    let world = World::new();
    world.long_session("s-1");
    world.push(Kind::End, "s-1");
    fs::write(world.sandbox.state().join("config.toml"), "off = true\n").unwrap();
    world.work();
    fs::remove_file(world.sandbox.state().join("config.toml")).unwrap();
    assert_eq!((world.journal(), world.working("s-1"), world.queued()), (vec![], None, vec![]));
}
