//! What a prompt brings to mind.

use memdir_testkit::{Sandbox, Tree};
use serde_json::{Value, json};

use crate::{context, hook, prompt, sandbox, told};

const QUESTION: &str = "write an integration test for the orders table, which database should it use?";

/// R2-07, R3-03, R2-14: the memory is in the answer, framed, and a prompt that nothing bears on brings nothing.
#[test]
fn a_prompt_brings_the_right_memory_or_nothing() {
    let sandbox = sandbox();
    let text = told(&sandbox, "UserPromptSubmit", prompt(QUESTION));
    assert!(text.contains("[feedback] feedback-real-db.md — saved just now, said by user"), "{text}");
    assert!(text.starts_with("Relevant saved memories") && !text.contains("grafana"), "{text}");
    assert_eq!(told(&sandbox, "UserPromptSubmit", prompt("center the title of the about page")), "");
    assert_eq!(told(&sandbox, "UserPromptSubmit", prompt("continue")), "");
}

/// R2-12: once a session, and again in the next.
#[test]
fn a_memory_is_shown_once_a_session() {
    let sandbox = sandbox();
    assert_ne!(told(&sandbox, "UserPromptSubmit", prompt(QUESTION)), "");
    assert_eq!(told(&sandbox, "UserPromptSubmit", prompt(QUESTION)), "");
    let other = json!({ "prompt": QUESTION, "session_id": "s2" });
    assert_ne!(told(&sandbox, "UserPromptSubmit", other), "");
}

/// An agent that is wired twice calls twice for one prompt.
#[test]
fn one_prompt_is_answered_once() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    let said = |id: &str| json!({ "prompt": "what did we decide about kubernetes?", "prompt_id": id });
    assert_eq!(told(&sandbox, "UserPromptSubmit", said("p1")), "memdir: no memory found\n");
    assert_eq!(told(&sandbox, "UserPromptSubmit", said("p1")), "");
    assert_eq!(told(&sandbox, "UserPromptSubmit", said("p2")), "memdir: no memory found\n", "asked anew");
}

/// R3-04.
#[test]
fn who_asks_for_a_memory_gets_one_or_hears_that_there_is_none() {
    let sandbox = sandbox();
    let text = told(&sandbox, "UserPromptSubmit", prompt("what did we decide about the database in tests?"));
    assert!(text.contains("feedback-real-db.md"), "{text}");
    let empty = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    let text = told(&empty, "UserPromptSubmit", prompt("what did we decide about the database in tests?"));
    assert_eq!(text, "memdir: no memory found\n");
}

/// R2-12, R3-04: what the session was shown is there, and nobody says that it is not.
#[test]
fn who_asks_again_for_what_was_shown_does_not_hear_that_there_is_none() {
    let sandbox = sandbox();
    let ask = |text: &str| told(&sandbox, "UserPromptSubmit", prompt(text));
    assert!(ask("what did we decide about the database in tests?").contains("feedback-real-db.md"));
    assert_eq!(ask("again: what did we decide about the database in tests?"), "");
}

/// UX-16: machine text and our own words are not the user's.
#[test]
fn what_a_machine_says_in_the_users_place_brings_nothing() {
    let sandbox = sandbox();
    for text in [
        format!("<task-notification>\n<task-id>a1</task-id>\n{QUESTION}\n</task-notification>"),
        format!("<local-command-stdout>{QUESTION}</local-command-stdout>"),
        format!("<hook_context>{QUESTION}</hook_context>"),
    ] {
        assert_eq!(told(&sandbox, "UserPromptSubmit", prompt(&text)), "", "{text}");
    }
    let echo =
        format!("fix the typo in the footer\nnotes [memdir 0123abcd]\n{QUESTION}\n[/memdir 0123abcd]\n");
    assert_eq!(told(&sandbox, "UserPromptSubmit", prompt(&echo)), "");
}

/// Every agent gets it in its own shape.
#[test]
fn every_agent_is_answered_in_its_own_shape() {
    let sandbox = sandbox();
    let found = |agent: &str, event: &str, said: Value, pointer: &str| {
        let mut said = said;
        said["session_id"] = json!(agent);
        said["sessionId"] = json!(agent);
        let output = hook(&sandbox, agent, event, said).ok();
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        let text =
            answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{agent}: {answer}"));
        assert!(text.contains("feedback-real-db.md"), "{agent}: {text}");
    };
    let claude = "/hookSpecificOutput/additionalContext";
    found("claude-code", "UserPromptSubmit", prompt(QUESTION), claude);
    found("codex", "UserPromptSubmit", json!({ "prompt": QUESTION, "turn_id": "t1" }), claude);
    found(
        "gemini",
        "BeforeAgent",
        json!({ "prompt": QUESTION, "timestamp": "2026-04-02T10:30:00Z" }),
        claude,
    );
    found("vscode", "UserPromptSubmit", prompt(QUESTION), claude);
    found("copilot", "userPromptSubmitted", prompt(QUESTION), "/additionalContext");
    found("opencode", "prompt", prompt(QUESTION), "/context");
}

/// Cursor takes no text at a prompt: what comes to mind stands beside the next result of a tool, once. goose takes none at all.
#[test]
fn what_cannot_be_said_at_a_prompt_is_said_as_soon_as_it_can() {
    let sandbox = sandbox();
    let said = |agent: &str, event: &str, mut said: Value| {
        said["session_id"] = json!(agent);
        hook(&sandbox, agent, event, said).ok().stdout
    };
    let result = |id: &str| json!({ "tool_name": "Grep", "tool_input": { "pattern": "x" }, "tool_output": "{}", "tool_use_id": id });
    assert_eq!(said("cursor", "beforeSubmitPrompt", prompt(QUESTION)), "");
    let answer: Value = serde_json::from_str(&said("cursor", "postToolUse", result("t1"))).unwrap();
    let text = answer["additional_context"].as_str().unwrap();
    assert!(text.contains("feedback-real-db.md"), "{text}");
    assert_eq!(said("cursor", "postToolUse", result("t2")), "");
    assert_eq!(said("goose", "UserPromptSubmit", prompt(QUESTION)), "");
    assert_eq!(said("goose", "PostToolUse", result("t1")), "");
}

/// R2-09: recently used tools.
#[test]
fn a_tool_in_use_needs_no_howto_but_its_gotcha() {
    let sandbox = sandbox();
    let kinds = [
        (
            "reference-cargo-usage",
            "howto",
            "How cargo is used here: cargo build, cargo test",
            "Run cargo build, then cargo test.\n",
        ),
        (
            "reference-cargo-gotcha",
            "gotcha",
            "Gotcha: cargo test fails while cargo watch holds the lock",
            "Stop cargo watch before cargo test.\n",
        ),
    ];
    for (name, kind, description, body) in kinds {
        let text = format!(
            "---\nname: {name}\ndescription: \"{description}\"\ntype: reference\nkind: {kind}\n---\n\n{body}"
        );
        sandbox.write(&format!("{name}.md"), text);
    }
    let used = json!({ "tool_name": "Bash", "tool_input": { "command": "cargo build" }, "tool_use_id": "c1", "tool_response": {} });
    told(&sandbox, "PostToolUse", used);
    let text = told(&sandbox, "UserPromptSubmit", prompt("cargo test fails, how do I run cargo test here?"));
    assert!(
        text.contains("reference-cargo-gotcha.md") && !text.contains("reference-cargo-usage.md"),
        "{text}"
    );
}

/// A hundred prompts leave every memory as it was.
#[test]
fn prompts_change_no_memory() {
    let sandbox = sandbox();
    let before = sandbox.vault_tree();
    for n in 0..10 {
        let said = json!({ "prompt": QUESTION, "session_id": format!("s{n}") });
        assert_ne!(told(&sandbox, "UserPromptSubmit", said), "");
    }
    assert_eq!(before.changes(&Tree::of(&sandbox.vault())), [""; 0]);
    let none =
        hook(&sandbox, "claude-code", "UserPromptSubmit", json!({ "prompt": QUESTION, "session_id": "" }));
    assert_ne!(context(&none.ok()), "", "a session without an id is reminded too");
}
