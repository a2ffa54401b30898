//! The end of a turn and of a session, and what is left of them.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::{sandbox, told};

/// Waits until something is there; a generous time-out ends what hangs.
pub(crate) fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it did not come about");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// W2-01, W2-02: a file that an agent wrote gets its line on the page, its record and its place in the index.
#[test]
fn at_the_end_of_a_turn_what_the_agent_wrote_is_taken_up() {
    let sandbox = sandbox();
    let text = "---\nname: project-chose-sqlite\ndescription: The cache is SQLite because it must survive restarts\ntype: project\n---\n\nThe cache is SQLite.\n";
    sandbox.write("project-chose-sqlite.md", text);
    assert!(!sandbox.index_page().contains("project-chose-sqlite.md"));
    told(&sandbox, "Stop", json!({ "last_assistant_message": "Saved.", "stop_hook_active": false }));
    eventually(|| sandbox.index_page().contains("](project-chose-sqlite.md)").then_some(()));
    let log = sandbox.memdir(&["log", "project-chose-sqlite"]).json();
    assert_eq!(log.as_array().unwrap().len(), 1, "{log}");
    assert_eq!(sandbox.read("project-chose-sqlite"), text, "the file itself is left as it is");
}

/// SM-01, LC: a session's end leaves a journal entry and nothing else.
#[test]
fn the_end_of_a_session_is_a_journal_entry() {
    let sandbox = sandbox();
    let file = sandbox.root().join("s1.jsonl");
    let line = |kind: &str, text: &str| {
        json!({ "type": kind, "uuid": kind, "sessionId": "s1", "timestamp": "2026-04-02T10:00:00Z", "cwd": sandbox.project(),
            "message": { "role": kind, "content": text } })
    };
    let lines =
        [line("user", "Move the session store to Redis"), line("assistant", "Moved it, the tests pass.")];
    fs::write(&file, lines.map(|line| line.to_string() + "\n").concat()).unwrap();
    told(&sandbox, "SessionEnd", json!({ "reason": "other", "transcript_path": file }));
    let entries = eventually(|| {
        let entries = sandbox.memdir(&["journal", "list"]).json();
        (!entries.as_array().unwrap().is_empty()).then_some(entries)
    });
    assert!(entries.to_string().contains("Move the session store to Redis"), "{entries}");
    let next = told(&sandbox, "SessionStart", json!({ "source": "startup", "session_id": "s2" }));
    assert!(next.contains("Move the session store to Redis"), "{next}");
}

/// CI-04: one Stop, one process, however often it is called while nobody works.
#[test]
fn many_turns_leave_nothing_waiting() {
    let sandbox = sandbox();
    for n in 0..5 {
        told(
            &sandbox,
            "Stop",
            json!({ "last_assistant_message": format!("answer {n}"), "prompt_id": format!("p{n}") }),
        );
    }
    eventually(|| {
        let projects = fs::read_dir(sandbox.state().join("projects")).unwrap().flatten();
        let mut queues = projects.map(|project| project.path().join("queue"));
        let is_empty = queues.all(|queue| fs::read_dir(queue).is_ok_and(|mut jobs| jobs.next().is_none()));
        is_empty.then_some(())
    });
}
