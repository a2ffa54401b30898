//! The end of a turn and of a session, and what is left of them.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::{hook, sandbox, told};

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

/// After everything that the sandbox was set up with.
const LATER: &str = "2026-04-02T11:00:00Z";

/// Ends a turn then.
fn stop(sandbox: &memdir_testkit::Sandbox, said: serde_json::Value) {
    hook(sandbox, "claude-code", "Stop", said).at(LATER).ok();
}

/// Writes a session file of Claude Code with one message of the user.
fn said(sandbox: &memdir_testkit::Sandbox, message: &str) -> serde_json::Value {
    let file = sandbox.root().join("s1.jsonl");
    let line = json!({ "type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": LATER,
        "cwd": sandbox.project(), "message": { "role": "user", "content": message } });
    fs::write(&file, format!("{line}\n")).unwrap();
    let prompt = json!({ "prompt": message, "transcript_path": file });
    hook(sandbox, "claude-code", "UserPromptSubmit", prompt).at(LATER).ok();
    json!({ "last_assistant_message": "Noted.", "stop_hook_active": false, "transcript_path": file })
}

/// W2-03: what the user asks to remember is remembered in the same turn, also if the agent does not.
#[test]
fn what_the_user_asks_to_remember_is_saved_in_the_turn() {
    let sandbox = sandbox();
    let turn = said(
        &sandbox,
        "Remember that deploys to production happen on Tuesdays only, because support is staffed then",
    );
    stop(&sandbox, turn);
    let found = eventually(|| {
        let list = sandbox.memdir(&["list"]).json();
        list.as_array().unwrap().iter().find(|entry| entry.to_string().contains("Tuesdays")).cloned()
    });
    let log = sandbox.memdir(&["log", found["name"].as_str().unwrap()]).json();
    assert_eq!((&log[0]["author"], &log[0]["session"]), (&json!("extraction"), &json!("s1")), "{log}");
    let other = json!({ "prompt": "when do we deploy to production?", "session_id": "s2" });
    assert!(told(&sandbox, "UserPromptSubmit", other).contains("said by user"));
}

/// W2-03: what the agent saved itself is not saved twice, and a secret not at all.
#[test]
fn what_the_agent_saved_itself_is_not_saved_twice() {
    let sandbox = sandbox();
    let turn = said(
        &sandbox,
        "Remember that deploys to production happen on Tuesdays only, because support is staffed then",
    );
    let args = [
        "save",
        "project-tuesday-deploys",
        "--type",
        "project",
        "--description",
        "Production deploys on Tuesdays only",
    ];
    sandbox.memdir(&args).stdin("Support is staffed then.\n").at(LATER).ok();
    stop(&sandbox, turn);
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let turn = said(&sandbox, &format!("Remember that the token for the mirror is {token}"));
    stop(&sandbox, turn);
    told(&sandbox, "SessionEnd", json!({ "reason": "other" }));
    eventually(|| {
        let state = fs::read_to_string(sandbox.state().join("sessions/s1.json")).unwrap();
        state.contains("\"asked\":null").then_some(())
    });
    let list = sandbox.memdir(&["list"]).json();
    assert_eq!(list.as_array().unwrap().len(), 4, "{list}");
    let found =
        std::process::Command::new("grep").args(["-rl", &token]).arg(sandbox.state()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "the token is in none of our files");
}

/// W2-04, W2-06: forgetting, and putting one memory in place of another, are one call each and can be undone.
#[test]
fn forgetting_and_superseding_are_one_call_each() {
    let sandbox = sandbox();
    sandbox.memdir(&["forget", "--query", "the mobile freeze", "--yes"]).ok();
    assert!(!sandbox.memory("project-mobile-freeze").exists());
    assert!(!sandbox.index_page().contains("mobile-freeze"));
    sandbox.memdir(&["undo"]).ok();
    assert!(sandbox.memory("project-mobile-freeze").exists());
    sandbox
        .memdir(&[
            "correct",
            "reference-grafana",
            "--body",
            "The dashboards moved to Grafana, folder Payments.",
        ])
        .ok();
    assert!(sandbox.read("reference-grafana").contains("folder Payments"));
    crate::save(
        &sandbox,
        "reference-dashboards",
        "reference",
        "Dashboards are in Perses",
        "The dashboards are in Perses now.\n",
    );
    sandbox.memdir(&["supersede", "reference-grafana", "reference-dashboards"]).ok();
    let shown = told(
        &sandbox,
        "UserPromptSubmit",
        json!({ "prompt": "where are the latency dashboards of the checkout service?" }),
    );
    assert!(!shown.contains("reference-grafana.md"), "{shown}");
}
