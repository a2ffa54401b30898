//! F4 and F5: memory that is switched off, and memory that is left aside.

use std::fs;

use memdir_testkit::{Sandbox, Tree};
use serde_json::{Value, json};

use crate::{context, hook, prompt, sandbox, told};

/// An event, and what is said at it.
type Told = (&'static str, fn() -> Value);

const EVENTS: [Told; 5] = [
    ("SessionStart", || json!({ "source": "startup" })),
    ("UserPromptSubmit", || prompt("which database do the integration tests use?")),
    (
        "PreToolUse",
        || json!({ "tool_name": "Bash", "tool_input": { "command": "git push --force" }, "tool_use_id": "1" }),
    ),
    ("Stop", || json!({ "last_assistant_message": "done" })),
    ("SessionEnd", || json!({ "reason": "other" })),
];

/// F4: by the environment, by the user's setting, by the repository's.
#[test]
fn off_says_nothing_and_makes_nothing() {
    for way in ["env", "setting", "project"] {
        let sandbox = sandbox();
        match way {
            "setting" => fs::write(sandbox.state().join("config.toml"), "off = true\n").unwrap(),
            "project" => {
                fs::create_dir_all(sandbox.project().join(".memdir")).unwrap();
                fs::write(sandbox.project().join(".memdir/config.toml"), "off = true\n").unwrap();
            }
            _ => {}
        }
        let before = Tree::of(sandbox.root());
        for (event, said) in EVENTS {
            let call = hook(&sandbox, "claude-code", event, said());
            let call = if way == "env" { call.env("MEMDIR_OFF", "1") } else { call };
            let output = call.ok();
            assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""), "{way} {event}");
        }
        assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0], "{way}");
    }
}

/// F4.
#[test]
fn off_opens_nothing_of_the_vault() {
    let sandbox = sandbox();
    let vault = sandbox.vault().to_string_lossy().into_owned();
    for (event, said) in EVENTS {
        let (output, trace) =
            hook(&sandbox, "claude-code", event, said()).env("MEMDIR_OFF", "1").traced("%file");
        assert!(output.is_ok(), "{output}");
        let named = trace.calls.iter().find(|call| call.args.contains(&vault) && call.name != "execve");
        assert_eq!(named, None, "{event}");
    }
}

/// F5: by the environment: byte for byte as with an empty vault.
#[test]
fn ignoring_memory_answers_as_an_empty_vault_would() {
    let full = sandbox();
    let empty = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    for (event, said) in EVENTS {
        let ignoring = hook(&full, "claude-code", event, said()).env("MEMDIR_IGNORE", "1").ok().stdout;
        let nothing = hook(&empty, "claude-code", event, said()).ok().stdout;
        let at = |sandbox: &Sandbox, text: &str| text.replace(&*sandbox.root().to_string_lossy(), "ROOT");
        assert_eq!(at(&full, &ignoring), at(&empty, &nothing), "{event}");
    }
    let search = |sandbox: &Sandbox| {
        sandbox.memdir(&["search", "real database", "--json"]).env("MEMDIR_IGNORE", "1").run().stdout
    };
    assert_eq!(search(&full), search(&empty));
    let recall = |sandbox: &Sandbox| {
        sandbox
            .memdir(&["recall", "which database do tests use", "--json"])
            .env("MEMDIR_IGNORE", "1")
            .run()
            .stdout
    };
    assert_eq!(recall(&full), recall(&empty));
}

/// F5, R1-03: by the user's word, until the user says otherwise, in this session and no other.
#[test]
fn who_is_told_to_ignore_memory_does() {
    let sandbox = sandbox();
    let question = prompt("what did we decide about the database in integration tests?");
    let told_so = told(
        &sandbox,
        "UserPromptSubmit",
        prompt("Ignore memory for this session. Which database do integration tests use?"),
    );
    assert_eq!(told_so, "");
    assert_eq!(told(&sandbox, "UserPromptSubmit", question.clone()), "memdir: no memory found\n");
    let mut other = question.clone();
    other["session_id"] = json!("s2");
    assert!(
        context(&hook(&sandbox, "claude-code", "UserPromptSubmit", other).ok())
            .contains("feedback-real-db.md")
    );
    told(&sandbox, "UserPromptSubmit", prompt("ok, use memory again"));
    assert!(told(&sandbox, "UserPromptSubmit", question).contains("feedback-real-db.md"));
}
