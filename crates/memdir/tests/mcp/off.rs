//! Memory that is off, or to be ignored, answers as an empty vault does.

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::host::{Era, Host, sandbox, server};

fn full() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("project-lighthouse", "The lighthouse keeper signs the tide tables.");
    sandbox
}

/// Asks everything that reads, and returns all of what is answered.
fn readings(host: &mut Host) -> Vec<Value> {
    let mut answers = Vec::new();
    for (name, arguments) in [
        ("search_memory", json!({ "query": "lighthouse keeper" })),
        (
            "search_memory",
            json!({ "query": "lighthouse", "layers": ["memory", "journal", "transcript"], "all_projects": true }),
        ),
        ("memory", json!({ "command": "view", "path": "/memories" })),
        ("memory", json!({ "command": "view", "path": "/memories/project-lighthouse.md" })),
        ("check_stale", json!({ "days": 0 })),
        ("index_markdown", json!({})),
    ] {
        answers.push(host.result("tools/call", json!({ "name": name, "arguments": arguments })));
    }
    answers.push(host.result("resources/list", json!({})));
    answers.push(
        host.request("resources/read", json!({ "uri": "memdir://memory/project-lighthouse" }))["error"]
            .clone(),
    );
    answers.push(host.request("resources/read", json!({ "uri": "memdir://page" }))["error"].clone());
    answers
}

/// F5, RQ: told to ignore memory, the hub answers byte for byte as with an empty vault.
#[test]
fn f5_ignored_memory_answers_as_an_empty_vault() {
    let empty = readings(&mut Host::start(&sandbox()));
    let sandbox = full();
    assert_ne!(readings(&mut Host::start(&sandbox)), empty);
    for variable in ["MEMDIR_IGNORE", "MEMDIR_OFF"] {
        let mut command = server(&sandbox, &[]);
        command.env(variable, "1");
        let mut host = Host::of(command, Era::Handshake);
        assert_eq!(readings(&mut host), empty, "{variable}");
        let before = sandbox.vault_tree();
        let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "x" });
        for (name, arguments) in [("memory", create), ("log_session", json!({ "summary": "x y z" }))] {
            assert!(host.call(name, arguments).is_error, "{variable} {name}");
        }
        assert!(before.changes(&sandbox.vault_tree()).is_empty());
    }
}

/// F4: a project whose settings switch memory off.
#[test]
fn f4_a_project_that_is_off_answers_as_an_empty_vault() {
    let empty = readings(&mut Host::start(&sandbox()));
    let sandbox = full();
    std::fs::write(sandbox.state().join("config.toml"), "off = true\n").unwrap();
    assert_eq!(readings(&mut Host::start(&sandbox)), empty);
}

/// F4: off by the environment, nothing is opened, nothing made, and no instructions are given.
#[test]
fn f4_off_means_that_nothing_is_opened() {
    let sandbox = full();
    let state = sandbox.state_tree();
    let about = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let input = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "search_memory", "arguments": { "query": "lighthouse" } } }),
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    let off = sandbox.memdir(&["mcp"]).env("MEMDIR_OFF", "1").stdin(input.clone());
    let (output, trace) = off.traced("%file");
    assert_eq!(output.stdout.lines().count(), 2, "{output}");
    assert!(!output.stdout.contains("instructions") && output.stdout.contains("no memory found"), "{output}");
    let touched = |trace: &memdir_testkit::Trace| {
        trace.calls.iter().filter(|call| call.path().starts_with(sandbox.root())).count()
    };
    assert_eq!(touched(&trace), 0);
    assert!(state.changes(&sandbox.state_tree()).is_empty());
    // With memory on, nothing is opened before the first call either.
    let hello = input.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    let (output, trace) = sandbox.memdir(&["mcp"]).stdin(hello).traced("%file");
    assert!(output.stdout.contains("instructions"), "{output}");
    let opened = trace
        .calls
        .iter()
        .filter(|call| call.path().starts_with(sandbox.vault()) || call.path().starts_with(sandbox.state()));
    assert_eq!(opened.count(), 0);
}
