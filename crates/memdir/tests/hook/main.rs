//! Drives `memdir hook` as agents do: JSON on stdin, JSON on stdout, exit 0 whatever happens.
//!
//! Tests carry the ids of the behaviours and promises they hold. The deadline is moved far away, because a machine that
//! runs many tests at once is slow; where the deadline itself is tested, it is not.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod claims;
mod compaction;
mod failing;
mod hostile;
mod ignoring;
mod prompt;
mod rules;
mod session;
mod start;
mod tools;

use memdir_testkit::{Invocation, Output, Sandbox};
use serde_json::{Value, json};

const REAL_DB: &str = "Integration tests run against a real PostgreSQL, never against mocks.\n\n\
    **Why:** mocks hid a broken migration.\n**How to apply:** start it with compose before the tests.\n";

/// A vault with a few memories of one project.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    save(
        &sandbox,
        "feedback-real-db",
        "feedback",
        "Integration tests use a real database, never mocks",
        REAL_DB,
    );
    save(
        &sandbox,
        "project-mobile-freeze",
        "project",
        "Merges to main stop on 2026-04-09 for the mobile release",
        "Nobody merges to main from 2026-04-09 until the mobile release is out.\n",
    );
    save(
        &sandbox,
        "reference-grafana",
        "reference",
        "Latency dashboards are in Grafana, folder Checkout",
        "The dashboards of the checkout service are in Grafana, folder Checkout.\n",
    );
    sandbox
}

fn save(sandbox: &Sandbox, name: &str, memory_type: &str, description: &str, body: &str) {
    sandbox.memdir(&["save", name, "--type", memory_type, "--description", description]).stdin(body).ok();
}

/// Saves a feedback memory with a rule, as the user says it.
fn save_rule(sandbox: &Sandbox, name: &str, description: &str, rule: &str) {
    let body = "Do it another way.\n\n**Why:** it went wrong once.\n**How to apply:** always.\n";
    sandbox
        .memdir(&["save", name, "--type", "feedback", "--description", description, "--rule", rule])
        .stdin(body)
        .ok();
}

/// Prepares a call of the hook in the sandbox's project, in session `s1`.
fn hook(sandbox: &Sandbox, agent: &str, event: &str, said: Value) -> Invocation {
    let mut all = json!({ "session_id": "s1", "cwd": sandbox.project(), "hook_event_name": event });
    all.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
    sandbox.memdir(&["hook", agent, event]).env("MEMDIR_HOOK_DEADLINE_MS", "30000").stdin(all.to_string())
}

/// Calls a hook of Claude Code and returns what it tells the model.
fn told(sandbox: &Sandbox, event: &str, said: Value) -> String {
    context(&hook(sandbox, "claude-code", event, said).ok())
}

/// Returns what an answer in Claude Code's shape tells the model; empty if it says nothing.
fn context(output: &Output) -> String {
    assert_eq!(output.stderr, "", "a hook says nothing on stderr");
    if output.stdout.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

fn prompt(text: &str) -> Value {
    json!({ "prompt": text })
}
