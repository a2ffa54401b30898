//! Writers that do not know us: an editor, an agent's own tools, a shell. Nothing they or we wrote is lost.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Command;
use std::thread;
use std::time::Duration;

use memdir_testkit::{Running, Sandbox, Tree};
use serde_json::Value;

use crate::setup::{can_use, history, kept_in, memory_file, sandbox, storm};

/// K2.
#[test]
fn every_acknowledged_text_survives_shells_that_replace_the_file() {
    let sandbox = sandbox();
    sandbox.save("hot", "Everybody writes here.");
    let acked: Vec<String> = thread::scope(|scope| {
        let shells: Vec<_> = (0..2).map(|number| replacing_shell(&sandbox, number)).collect();
        let in_place = scope.spawn(|| append_in_place(&sandbox));
        let outputs = storm(4, 25, |worker, turn| {
            sandbox.memdir(&["edit", "hot", "--append", &api_text(worker, turn)]).run()
        });
        in_place.join().unwrap();
        shells.into_iter().for_each(|mut shell| assert!(shell.wait().unwrap().success()));
        let texts = (0..4).flat_map(|worker| (0..25).map(move |turn| api_text(worker, turn)));
        let unexpected = outputs.iter().find(|output| !matches!(output.code, 0 | 1));
        assert!(unexpected.is_none(), "{}", unexpected.unwrap());
        texts.zip(&outputs).filter(|(_, output)| output.is_ok()).map(|(text, _)| text).collect()
    });
    assert!(acked.len() > 20, "only {} of 100 were acknowledged", acked.len());
    for text in &acked {
        assert!(!kept_in(&sandbox, text).is_empty(), "lost: {text}");
    }
    assert_history_holds_every_version(&sandbox);
}

/// K2. The foreign write lands at every moment between our reading and our acknowledgement.
#[test]
fn a_file_replaced_while_we_publish_is_kept() {
    if !can_use(&["strace"]) {
        return;
    }
    for moment in publishing_moments() {
        let sandbox = hot_sandbox();
        let ours = sandbox.memdir(&["edit", "hot", "--body", "Ours: new."]);
        let delayed = ours.under(&["strace", "-f", "-qq", "-o", "/dev/null", "-e", &moment]).spawn();
        wait_for_a_temporary_file(&sandbox, &delayed);
        let aside = sandbox.root().join("theirs.md");
        fs::write(&aside, memory_file("hot", "theirs", "Theirs: new.")).unwrap();
        fs::rename(&aside, sandbox.memory("hot")).unwrap();
        assert_nobody_lost(&sandbox, delayed, &moment);
    }
}

/// K2.
#[test]
fn a_file_edited_in_place_while_we_publish_is_kept() {
    if !can_use(&["strace"]) {
        return;
    }
    for moment in publishing_moments().into_iter().filter(|moment| moment.contains("delay_enter")) {
        let sandbox = hot_sandbox();
        let ours = sandbox.memdir(&["edit", "hot", "--body", "Ours: new."]);
        let delayed = ours.under(&["strace", "-f", "-qq", "-o", "/dev/null", "-e", &moment]).spawn();
        wait_for_a_temporary_file(&sandbox, &delayed);
        append(&sandbox, "Theirs: new.\n");
        assert_nobody_lost(&sandbox, delayed, &moment);
    }
}

/// K2.
#[test]
fn a_file_changed_by_hand_before_an_edit_is_the_base_of_that_edit() {
    let sandbox = hot_sandbox();
    append(&sandbox, "By hand.\n");
    sandbox.memdir(&["edit", "hot", "--append", "By command."]).ok();
    let text = sandbox.read("hot");
    assert!(text.contains("By hand.\n") && text.contains("By command."), "{text}");
    sandbox.memdir(&["undo"]).ok();
    let text = sandbox.read("hot");
    assert!(text.contains("By hand.\n") && !text.contains("By command."), "{text}");
}

/// K2.
#[test]
fn a_save_over_a_file_changed_by_hand_keeps_the_hand_written_version() {
    let sandbox = hot_sandbox();
    append(&sandbox, "By hand.\n");
    let save = sandbox.memdir(&["save", "hot", "--type", "project", "--description", "all of it"]);
    save.stdin("Entirely new.").ok();
    assert!(!kept_in(&sandbox, "By hand.").is_empty(), "the hand-written version is gone");
    assert_history_holds_every_version(&sandbox);
}

fn hot_sandbox() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("hot", "Everybody writes here.");
    sandbox
}

fn api_text(worker: usize, turn: usize) -> String {
    format!("api {worker}.{turn}.")
}

fn replacing_shell(sandbox: &Sandbox, number: usize) -> std::process::Child {
    let script = r#"
        i=0
        while [ $i -lt 30 ]; do
            printf -- '---\nname: hot\ndescription: shell\ntype: project\n---\n\nshell %s.%s.\n' "$1" $i > "$2.$1"
            mv "$2.$1" "$3"
            i=$((i + 1))
            sleep 0.1
        done"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh", &number.to_string()]);
    shell.arg(sandbox.root().join("shell")).arg(sandbox.memory("hot")).spawn().unwrap()
}

fn append_in_place(sandbox: &Sandbox) {
    for turn in 0..30 {
        append(sandbox, &format!("in place {turn}.\n"));
        thread::sleep(Duration::from_millis(100));
    }
}

fn append(sandbox: &Sandbox, text: &str) {
    let mut file = OpenOptions::new().append(true).open(sandbox.memory("hot")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Every version a change says it replaced or wrote is stored beside it, byte for byte.
fn assert_history_holds_every_version(sandbox: &Sandbox) {
    let stored = stored_hashes(&sandbox.state_tree());
    for change in history(sandbox) {
        for file in change["files"].as_array().unwrap() {
            for side in ["before", "after"] {
                let Some(hash) = file[side].as_str() else { continue };
                assert!(stored.iter().any(|known| known == hash), "{side} of {change} is not stored");
            }
        }
    }
}

/// The hashes of the versions in the change files, each checked against its bytes where they are text.
fn stored_hashes(state: &Tree) -> Vec<String> {
    let changes = state.paths().filter(|path| path.contains("/changes/") && path.ends_with(".jsonl"));
    let lines = changes.flat_map(|path| {
        let text = std::str::from_utf8(state.get(path).unwrap()).unwrap();
        text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    });
    lines
        .map(|version| {
            let hash = version["sha256"].as_str().unwrap().to_owned();
            if let Some(text) = version["text"].as_str() {
                assert_eq!(memdir_core::hash::ContentHash::of(text.as_bytes()).to_string(), hash);
            }
            hash
        })
        .collect()
}

/// Every rename of one edit, held up for a moment before it happens and for one after.
fn publishing_moments() -> Vec<String> {
    let sandbox = hot_sandbox();
    let edit = sandbox.memdir(&["edit", "hot", "--body", "Ours: new."]);
    let (_, trace) = edit.traced("rename,renameat,renameat2");
    let mut moments = Vec::new();
    for name in ["rename", "renameat", "renameat2"] {
        for number in 1..=trace.named(&[name]).count() {
            moments.push(format!("inject={name}:delay_enter=600ms:when={number}"));
            moments.push(format!("inject={name}:delay_exit=600ms:when={number}"));
        }
    }
    assert!(!moments.is_empty(), "an edit publishes by a rename");
    moments
}

/// Waits until the edit has prepared its new version, or is over.
fn wait_for_a_temporary_file(sandbox: &Sandbox, running: &Running) {
    let is_temporary = |entry: fs::DirEntry| entry.file_name().to_string_lossy().contains(".memdir-tmp-");
    let is_there = || fs::read_dir(sandbox.vault()).unwrap().flatten().any(is_temporary);
    let proc = format!("/proc/{}", running.id());
    for _ in 0..200 {
        if is_there() || fs::metadata(&proc).is_err() {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    // Time enough to come to the rename that is held up.
    thread::sleep(Duration::from_millis(150));
}

fn assert_nobody_lost(sandbox: &Sandbox, running: Running, moment: &str) {
    let output = running.wait();
    assert!(matches!(output.code, 0 | 1), "{moment}\n{output}");
    for text in ["Theirs: new.", "Ours: new."] {
        assert!(!kept_in(sandbox, text).is_empty(), "{moment}: lost {text}\n{output}");
    }
    sandbox.memdir(&["edit", "hot", "--append", "Afterwards."]).ok();
    assert!(!kept_in(sandbox, "Theirs: new.").is_empty(), "{moment}: lost by the next command");
}
