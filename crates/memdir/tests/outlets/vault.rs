//! Memories with secrets that somebody wrote by hand, past every gate: what is exported, answered and noted of them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use memdir_testkit::{NOW, Sandbox};
use serde_json::{Value, json};

use crate::canary::{Canary, canaries, check_files, check_none, sentence};

/// A vault with a memory for each secret, in description and body, as an editor writes them.
fn planted(seed: u64) -> (Sandbox, Vec<Canary>) {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    sandbox.save("project-shop", "The shop opens at nine.");
    let canaries = canaries(seed);
    for (n, canary) in canaries.iter().enumerate() {
        let said = sentence(canary);
        let text = format!(
            "---\nname: project-account-{n}\ndescription: >-\n  {said}\ntype: project\n---\n\nThe {} account.\n{said}\n",
            canary.kind
        );
        sandbox.write(&format!("project-account-{n}.md"), text);
    }
    (sandbox, canaries)
}

/// X5: every format that others read is without them, says so, and keeps the rest.
#[test]
fn x5_exports_for_others_leave_secrets_out() {
    let (sandbox, canaries) = planted(11);
    for format in ["claude-code", "obsidian", "json", "codex", "gemini", "cursor", "agents"] {
        let path = sandbox.root().join("exports").join(format);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if ["codex", "gemini", "cursor", "agents"].contains(&format) {
            fs::create_dir_all(&path).unwrap();
        }
        let output = sandbox.memdir(&["--json", "export", format, path.to_str().unwrap()]).ok();
        check_none(&canaries, format, &format!("{}{}", output.stdout, output.stderr));
        let redacted = output.json()["redacted"].as_array().unwrap().clone();
        let paths: std::collections::BTreeSet<&str> =
            redacted.iter().map(|one| one["path"].as_str().unwrap()).collect();
        assert!(paths.len() >= canaries.len(), "{format} names each memory: {redacted:?}");
        assert!(redacted.iter().all(|one| one["line"].as_u64() > Some(0) && one["rule"].is_string()));
    }
    let exports = sandbox.root().join("exports");
    assert!(check_files(&canaries, &exports, &|_| false) > 4 * canaries.len());
    let whole = fs::read_to_string(exports.join("claude-code/project-account-0.md")).unwrap();
    assert!(whole.contains("The github account.") && whole.contains("[REDACTED:github-pat]"), "{whole}");
}

/// X5, F7: an archive is the user's own copy, complete to the byte, and a warning goes with it.
#[test]
fn x5_an_archive_is_whole_and_says_what_it_holds() {
    let (sandbox, canaries) = planted(12);
    let path = sandbox.root().join("all.memdir");
    let output = sandbox.memdir(&["export", "archive", path.to_str().unwrap()]).ok();
    assert!(output.stderr.contains("keep it to yourself"), "{}", output.stderr);
    check_none(&canaries, "what is said of an archive", &format!("{}{}", output.stdout, output.stderr));
    let archive = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
    assert!(canaries.iter().all(|canary| archive.contains(&canary.value)), "the archive is not whole");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "an archive is for its owner");
}

/// X5: asking and being reminded notes names, never texts. Only what is a copy of the vault holds what stands in it: the index, and
/// the versions that undo needs.
#[test]
fn x5_ledgers_and_notes_of_use_hold_no_secret() {
    let (sandbox, canaries) = planted(13);
    for canary in canaries.iter().step_by(3) {
        let question = format!("which {} account does the shop use? {}", canary.kind, canary.text);
        sandbox.memdir(&["recall", &question, "--session", "s1"]).run();
        sandbox.memdir(&["search", &question]).run();
        sandbox.memdir(&["why", &question]).run();
    }
    let is_copy = |name: &str| {
        let parts: Vec<&str> = name.split('/').collect();
        parts.iter().any(|part| ["index", "changes", "archive", "trash", "conflicts"].contains(part))
    };
    assert!(check_files(&canaries, &sandbox.state(), &is_copy) > 3);
}

/// X5, X7: doctor names file, kind and line of each.
#[test]
fn x5_doctor_tells_where_and_never_what() {
    let (sandbox, canaries) = planted(14);
    for form in [&["--json", "doctor"][..], &["doctor"]] {
        let output = sandbox.memdir(form).run();
        let said = format!("{}{}", output.stdout, output.stderr);
        check_none(&canaries, "doctor", &said);
        let n_named = (0..canaries.len()).filter(|n| said.contains(&format!("project-account-{n}"))).count();
        assert_eq!(n_named, canaries.len(), "{said}");
    }
}

/// X5: what other agents get over MCP.
#[test]
fn x5_answers_to_other_agents_hold_no_secret() {
    let (sandbox, canaries) = planted(15);
    let mut calls = vec![
        ("tools/call", json!({ "name": "memory", "arguments": { "command": "view", "path": "/memories" } })),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
    ];
    for (n, canary) in canaries.iter().enumerate() {
        let path = format!("/memories/project-account-{n}.md");
        let arguments = json!({ "command": "view", "path": path });
        calls.push(("tools/call", json!({ "name": "memory", "arguments": arguments })));
        let query = json!({ "query": format!("the {} account of the shop", canary.kind) });
        calls.push(("tools/call", json!({ "name": "search_memory", "arguments": query })));
    }
    let wrong = json!({ "command": "view", "path": format!("/memories/{}.md", canaries[0].value) });
    calls.push(("tools/call", json!({ "name": "memory", "arguments": wrong })));
    let answers = asked(&sandbox, &calls);
    let mut n_redacted = 0;
    for (call, answer) in calls.iter().zip(&answers) {
        check_none(&canaries, &format!("{call:?}"), &answer.to_string());
        n_redacted += usize::from(answer.to_string().contains("[REDACTED:"));
    }
    assert!(n_redacted >= canaries.len(), "{n_redacted} answers were about them: {answers:?}");
}

/// Asks the server over its standard streams, one after the other.
fn asked(sandbox: &Sandbox, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.arg("mcp").env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", sandbox.home()).env("MEMDIR_HOME", sandbox.state()).env("TZ", "UTC");
    command.env("MEMDIR_VAULT", sandbox.vault()).env("MEMDIR_NOW", NOW).current_dir(sandbox.project());
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let about = json!({ "name": "test-host", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
    let all = std::iter::once(("initialize", hello)).chain(calls.iter().cloned());
    let mut answers = Vec::new();
    for (id, (method, params)) in all.enumerate() {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{request}").unwrap();
        answers.push(serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
        if id == 0 {
            writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
                .unwrap();
        }
    }
    drop(input);
    server.wait().unwrap();
    answers.split_off(1)
}
