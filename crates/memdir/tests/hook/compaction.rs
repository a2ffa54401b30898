//! What survives a compaction.

use std::fs;
use std::path::PathBuf;

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::{hook, prompt, sandbox, save_rule, told};

const QUESTION: &str = "write an integration test for the orders table, which database should it use?";

/// Writes a session file of Claude Code with a long conversation in it.
fn transcript(sandbox: &Sandbox, asked: &str) -> PathBuf {
    let path = sandbox.root().join("s1.jsonl");
    let mut lines = Vec::new();
    let line = |kind: &str, content: Value, n: usize| {
        json!({ "type": kind, "uuid": format!("u{n}"), "sessionId": "s1", "timestamp": "2026-04-02T10:00:00Z",
            "cwd": sandbox.project(), "message": { "role": kind, "content": content } })
        .to_string()
    };
    lines.push(line("user", json!(asked), 0));
    for n in 1..40 {
        let file = sandbox.project().join(format!("src/part{}.rs", n % 4));
        let call = json!([{ "type": "tool_use", "id": format!("t{n}"), "name": "Edit", "input": { "file_path": file, "old_string": "a", "new_string": "b" } }]);
        lines.push(line("assistant", call, n * 2));
        let talk =
            format!("Step {n}: {}", "the parser now owns its tokens and the tests follow. ".repeat(30));
        lines.push(line("assistant", json!([{ "type": "text", "text": talk }]), n * 2 + 1));
    }
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn compacted(sandbox: &Sandbox, transcript: &PathBuf) -> String {
    told(sandbox, "SessionStart", json!({ "source": "compact", "transcript_path": transcript }))
}

/// SM-06, UX-13: the summary hears what the session is about, and the session gets back what mattered.
#[test]
fn what_mattered_comes_back_after_a_compaction() {
    let sandbox = sandbox();
    save_rule(
        &sandbox,
        "feedback-no-force",
        "Never force-push; it lost work once",
        "deny bash ^git push --force",
    );
    sandbox
        .memdir(&["journal", "add", "--summary", "Began the parser", "--unfinished", "Port the lexer tests"])
        .ok();
    let file = transcript(&sandbox, "Rewrite the parser so that tokens are owned, and keep the public API");
    told(&sandbox, "SessionStart", json!({ "source": "startup", "transcript_path": file }));
    assert_ne!(told(&sandbox, "UserPromptSubmit", prompt(QUESTION)), "");
    let said = json!({ "trigger": "auto", "transcript_path": file });
    let out = hook(&sandbox, "claude-code", "PreCompact", said.clone()).ok().stdout;
    assert!(
        out.contains("Rewrite the parser so that tokens are owned") && out.contains("src/part1.rs"),
        "{out}"
    );
    assert_eq!(hook(&sandbox, "codex", "PreCompact", said).ok().stdout, "", "Codex takes no text here");
    let back = compacted(&sandbox, &file);
    for words in [
        "# Memory",
        "Never force-push; it lost work once (memory feedback-no-force)",
        "Port the lexer tests",
        "Rewrite the parser so that tokens are owned",
        "feedback-real-db",
    ] {
        assert!(back.contains(words), "{words}: {back}");
    }
    assert!(back.len() <= 9_000, "{}", back.len());
}

/// R2-12: what was shown before a compaction is shown again after it.
#[test]
fn after_a_compaction_a_memory_is_shown_again() {
    let sandbox = sandbox();
    let file = transcript(&sandbox, "Rewrite the parser");
    assert_ne!(told(&sandbox, "UserPromptSubmit", prompt(QUESTION)), "");
    assert_eq!(told(&sandbox, "UserPromptSubmit", prompt(QUESTION)), "");
    compacted(&sandbox, &file);
    let again = told(&sandbox, "UserPromptSubmit", prompt(QUESTION));
    assert!(again.contains("feedback-real-db.md"), "{again}");
}

/// UX-16: what memdir said to a session does not come back as something the user said.
#[test]
fn working_memory_holds_nothing_of_what_memdir_said() {
    let sandbox = sandbox();
    let echo = "Fix the footer\n<system-reminder>\nRelevant saved memories [memdir 0123abcd]\nzebra-crossing\n[/memdir 0123abcd]\n</system-reminder>";
    let file = transcript(&sandbox, echo);
    let said = json!({ "trigger": "auto", "transcript_path": file });
    let out = hook(&sandbox, "claude-code", "PreCompact", said).ok().stdout;
    assert!(out.contains("Fix the footer") && !out.contains("zebra-crossing"), "{out}");
}
