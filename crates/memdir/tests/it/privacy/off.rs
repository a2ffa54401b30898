//! Off means off: no read, no write, no file made.

use std::fs;

use memdir_testkit::{Sandbox, Tree};

use crate::setup::{can_use, prose, sandbox};

/// Everything that reads or writes.
const COMMANDS: [&[&str]; 14] = [
    &["list"],
    &["list", "--json"],
    &["manifest"],
    &["show", "rule"],
    &["search", "anything"],
    &["search", "anything", "--json"],
    &["links", "rule"],
    &["log"],
    &["log", "--json"],
    &["save", "new", "--type", "project", "--description", "d", "--body", "b"],
    &["edit", "rule", "--append", "x"],
    &["forget", "rule", "--yes"],
    &["undo"],
    &["doctor"],
];

/// F4.
#[test]
fn off_by_the_environment_opens_nothing_and_answers_empty() {
    let sandbox = full_sandbox();
    let before = Tree::of(sandbox.root());
    for command in COMMANDS {
        let output = sandbox.memdir(command).env("MEMDIR_OFF", "1").ok();
        assert_empty(command, &output.stdout);
        assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0], "{command:?}");
    }
}

/// F4.
#[test]
fn off_by_the_environment_makes_no_call_below_our_directories() {
    if !can_use(&["strace"]) {
        return;
    }
    let sandbox = full_sandbox();
    for command in COMMANDS {
        let (output, trace) = sandbox.memdir(command).env("MEMDIR_OFF", "1").traced("%file");
        assert!(output.is_ok(), "{output}");
        for directory in [sandbox.vault(), sandbox.state()] {
            let directory = directory.to_string_lossy().into_owned();
            let named =
                trace.calls.iter().find(|call| call.args.contains(&directory) && call.name != "execve");
            assert_eq!(named, None, "{command:?}");
        }
    }
}

/// F4.
#[test]
fn off_by_the_setting_answers_empty_and_makes_nothing() {
    let sandbox = full_sandbox();
    fs::write(sandbox.state().join("config.toml"), "off = true\n").unwrap();
    let before = Tree::of(sandbox.root());
    for command in COMMANDS {
        let output = sandbox.memdir(command).ok();
        assert_empty(command, &output.stdout);
        assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0], "{command:?}");
    }
}

/// F4. The setting has to be read, but nothing beside it.
#[test]
fn off_by_the_setting_opens_no_memory() {
    if !can_use(&["strace"]) {
        return;
    }
    let sandbox = full_sandbox();
    fs::write(sandbox.state().join("config.toml"), "off = true\n").unwrap();
    for command in COMMANDS {
        let (_, trace) = sandbox.memdir(command).traced("open,openat,openat2");
        let vault = sandbox.vault().to_string_lossy().into_owned();
        let opened =
            trace.calls.iter().find(|call| call.args.contains(&vault) || call.result.contains(&vault));
        assert_eq!(opened, None, "{command:?}");
    }
}

/// F4.
#[test]
fn off_makes_no_directory_for_somebody_new() {
    let sandbox = sandbox();
    fs::remove_dir(sandbox.vault()).unwrap();
    let before = Tree::of(sandbox.root());
    for command in COMMANDS {
        sandbox.memdir(command).env("MEMDIR_OFF", "1").ok();
    }
    assert_eq!(before.changes(&Tree::of(sandbox.root())), [""; 0]);
}

/// F4. The check above would pass if a command did nothing anyway.
#[test]
fn off_is_a_choice_and_zero_is_not_off() {
    let sandbox = full_sandbox();
    for value in ["0", ""] {
        let output = sandbox.memdir(&["list"]).env("MEMDIR_OFF", value).ok();
        assert!(output.stdout.contains("rule"), "MEMDIR_OFF={value}\n{output}");
    }
}

fn full_sandbox() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("rule", &prose(1));
    sandbox
}

/// Nothing for people; for programs the empty document of the command.
fn assert_empty(command: &[&str], stdout: &str) {
    if !command.contains(&"--json") {
        assert_eq!(stdout, "", "{command:?}");
        return;
    }
    let document: serde_json::Value = serde_json::from_str(stdout).unwrap();
    let is_empty = document.as_array().is_some_and(Vec::is_empty)
        || document["hits"].as_array().is_some_and(Vec::is_empty);
    assert!(is_empty, "{command:?}: {stdout}");
}
