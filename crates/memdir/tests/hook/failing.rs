//! Whatever an agent says and whatever is broken, the hook exits with 0, in time, and says nothing wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::{hook, prompt, sandbox};

const AGENTS: [&str; 8] =
    ["claude-code", "codex", "gemini", "opencode", "copilot", "cursor", "vscode", "goose"];
const EVENTS: [&str; 22] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeTool",
    "AfterTool",
    "userPromptSubmitted",
    "agentStop",
    "beforeShellExecution",
    "afterFileEdit",
    "Notification",
    "Nonsense",
    "",
];

fn is_valid(output: &memdir_testkit::Output, what: &str) {
    assert!(output.is_ok(), "{what}: {output}");
    if !output.stdout.is_empty() {
        let answer: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|err| panic!("{what}: {err}"));
        assert!(answer.is_object(), "{what}");
    }
}

/// Truncated, huge, unknown and hostile JSON at every event.
#[test]
fn every_event_survives_every_input() {
    let sandbox = sandbox();
    let deep = "[".repeat(100_000);
    let wide = format!("{{\"prompt\":\"{}\"}}", "x ".repeat(1_000_000));
    let inputs: Vec<String> = vec![
        String::new(),
        "{".to_owned(),
        "null".to_owned(),
        "[1,2,3]".to_owned(),
        "{\"session_id\":\"s1\",\"prompt\":\"which data".to_owned(),
        "\u{0}\u{1}\u{fffd}".to_owned(),
        deep,
        wide,
        json!({ "session_id": 7, "cwd": ["/"], "prompt": { "a": 1 }, "tool_name": null, "tool_input": 3, "source": [] }).to_string(),
        json!({ "session_id": "../../../etc", "cwd": "relative", "prompt": "\u{0}", "transcript_path": "/dev/zero" }).to_string(),
        json!({ "session_id": "x".repeat(100_000), "cwd": "/nonexistent/directory", "prompt": "what did we decide?" }).to_string(),
        json!({ "session_id": "s", "cwd": sandbox.project(), "tool_name": "Bash", "tool_input": { "command": "(".repeat(50_000) } }).to_string(),
    ];
    for (nth, event) in EVENTS.iter().enumerate() {
        for (kind, input) in inputs.iter().enumerate() {
            let agent = AGENTS[(nth + kind) % AGENTS.len()];
            let call = sandbox.memdir(&["hook", agent, event]).env("MEMDIR_HOOK_DEADLINE_MS", "30000");
            is_valid(&call.stdin(input).run(), &format!("{agent} {event} input {kind}"));
        }
    }
    for agent in ["nobody", "claude", ""] {
        is_valid(&sandbox.memdir(&["hook", agent, "SessionStart"]).stdin("{}").run(), agent);
    }
    assert!(!sandbox.root().join("etc").exists());
}

/// A rule is the only thing that an answer may refuse; nothing is ever said at the end of a turn.
#[test]
fn nothing_is_said_where_it_would_make_the_agent_go_on() {
    let sandbox = sandbox();
    for event in ["Stop", "SubagentStop", "SessionEnd", "PostCompact"] {
        let said = json!({ "last_assistant_message": "which database do the integration tests use?", "reason": "other", "compact_summary": "x" });
        for agent in AGENTS {
            let output = hook(&sandbox, agent, event, said.clone()).ok();
            assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""), "{agent} {event}");
        }
    }
}

/// L8: no state, no index, nothing that can be written.
#[test]
fn a_hook_without_a_place_to_write_still_answers() {
    let sandbox = sandbox();
    fs::remove_dir_all(sandbox.state().join("index")).unwrap();
    let output =
        hook(&sandbox, "claude-code", "UserPromptSubmit", prompt("which database do integration tests use?"))
            .ok();
    assert!(output.stdout.contains("feedback-real-db.md"), "{output}");
    fs::write(sandbox.state().join("sessions"), "a file where a folder should be").unwrap_or_default();
    let output = hook(&sandbox, "claude-code", "SessionStart", json!({ "source": "startup" })).ok();
    is_valid(&output, "no sessions");
}

/// L8: a vault that cannot be read: exit 0, empty, one line in the log.
#[test]
fn what_goes_wrong_is_one_line_in_the_log() {
    let sandbox = sandbox();
    fs::remove_dir_all(sandbox.vault()).unwrap();
    fs::write(sandbox.vault(), "not a directory").unwrap();
    let output =
        hook(&sandbox, "claude-code", "UserPromptSubmit", prompt("which database do integration tests use?"))
            .ok();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    let log = fs::read_to_string(sandbox.state().join("hooks.log")).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("claude-code UserPromptSubmit: ") && !log.contains("database"), "{log}");
}

/// L8: a file system that hangs. The deadline is the real one; the time-out here is a generous one against hanging.
#[test]
fn a_stalled_disk_holds_up_nobody() {
    let sandbox = sandbox();
    let vault = sandbox.vault();
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-P"];
    let stall = [
        "-e",
        "trace=openat,openat2,read,getdents64,newfstatat,statx",
        "-e",
        "inject=openat,openat2,read,getdents64,newfstatat,statx:delay_enter=20000000",
    ];
    let path = vault.to_string_lossy().into_owned();
    let wrapper: Vec<&str> = strace.iter().copied().chain([path.as_str()]).chain(stall).collect();
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        return;
    }
    let begun = jiff::Timestamp::now();
    let output =
        hook(&sandbox, "claude-code", "UserPromptSubmit", prompt("which database do integration tests use?"))
            .without_env("MEMDIR_HOOK_DEADLINE_MS")
            .under(&wrapper)
            .run();
    assert!(output.is_ok(), "{output}");
    assert_eq!(output.stdout, "");
    // strace itself stays until the stall is over; we left when we said so.
    let log = fs::read_to_string(sandbox.state().join("hooks.log")).unwrap();
    let (left, what) = log.trim_end().split_once(' ').unwrap();
    assert_eq!(what, "claude-code UserPromptSubmit: there was no answer in time");
    let left: jiff::Timestamp = left.parse().unwrap();
    assert!(left.duration_since(begun) < jiff::SignedDuration::from_secs(15), "the stall was waited for");
}

/// L8: whoever calls and never stops talking is not waited for.
#[test]
fn stdin_that_stays_open_is_not_waited_for() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_memdir"))
        .args(["hook", "claude-code", "UserPromptSubmit"])
        .env_clear()
        .env("HOME", sandbox.home())
        .env("MEMDIR_HOME", sandbox.state())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take();
    let begun = Instant::now();
    let status = child.wait().unwrap();
    drop(stdin);
    assert!(status.success() && begun.elapsed() < Duration::from_secs(60));
}

/// The log keeps to itself and does not grow for ever.
#[test]
fn the_log_is_private_and_bounded() {
    let sandbox = sandbox();
    let log = sandbox.state().join("hooks.log");
    fs::write(&log, "x".repeat(600 * 1024)).unwrap();
    sandbox.memdir(&["hook", "nobody", "Stop"]).stdin("{}").ok();
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.len() < 1000 && text.contains("nobody Stop: no agent is called that"), "{text}");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o077, 0);
    assert_eq!(fs::metadata(sandbox.state().join("hooks.log.1")).unwrap().len(), 600 * 1024);
}
