//! The conformance tests of the format that only a whole program can pass.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use memdir_testkit::{Sandbox, Tree};

use crate::setup::{assert_all_ok, index_entries, listed_names, memory_file, prose, sandbox, storm};

/// Conformance 5.
#[test]
fn a_hundred_readings_leave_files_times_and_git_status_as_they_were() {
    let sandbox = sandbox();
    for number in 0..5 {
        sandbox.save(&format!("note-{number}"), &prose(number));
    }
    sandbox.write("outside.md", memory_file("outside", "written by another program", &prose(9)));
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "-A"]);
    git(&sandbox, &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start"]);
    let (before, stamps) = (vault(&sandbox), times(&sandbox.vault()));
    let commands: [&[&str]; 10] = [
        &["list"],
        &["list", "--json"],
        &["list", "--type", "project"],
        &["manifest"],
        &["show", "note-1"],
        &["show", "outside", "--raw"],
        &["search", "written"],
        &["links", "note-1"],
        &["log"],
        &["doctor"],
    ];
    for command in commands.iter().cycle().take(100) {
        sandbox.memdir(command).run();
    }
    assert_eq!(before.changes(&vault(&sandbox)), [""; 0]);
    assert_eq!(times(&sandbox.vault()), stamps);
    assert_eq!(git(&sandbox, &["status", "--porcelain"]), "");
}

/// Conformance 7.
#[test]
fn two_concurrent_writers_keep_both_entries() {
    let sandbox = sandbox();
    assert_all_ok(&storm(2, 20, |worker, turn| {
        let name = format!("note-{worker}-{turn}");
        let save = sandbox.memdir(&["save", &name, "--type", "project", "--description", &name]);
        save.stdin(prose(worker * 100 + turn)).run()
    }));
    let (entries, more) = index_entries(&sandbox.index_page());
    assert_eq!((entries.len(), more), (40, 0));
}

/// Conformance 8.
#[test]
fn everything_derived_can_be_deleted_and_comes_back_equal() {
    let sandbox = sandbox();
    for number in 0..5 {
        sandbox.save(&format!("note-{number}"), &format!("{} commonword", prose(number)));
    }
    let answers = |sandbox: &Sandbox| {
        let run = |args: &[&str]| sandbox.memdir(args).run().stdout;
        [run(&["list", "--json"]), run(&["search", "commonword", "--json"]), run(&["manifest"])]
    };
    let (before, page) = (answers(&sandbox), sandbox.index_page());
    let _ = fs::remove_dir_all(sandbox.state().join("index"));
    assert_eq!(answers(&sandbox), before, "without the search index");

    fs::remove_file(sandbox.vault().join("MEMORY.md")).unwrap();
    assert_eq!(answers(&sandbox), before, "without the index page");
    sandbox.memdir(&["doctor", "--fix"]).run();
    assert_eq!(sandbox.index_page(), page);
}

/// Conformance 8: the files are the truth, even without anything we keep beside them.
#[test]
fn without_our_state_every_memory_is_still_there() {
    let sandbox = sandbox();
    for number in 0..5 {
        sandbox.save(&format!("note-{number}"), &prose(number));
    }
    let (names, tree) = (listed_names(&sandbox), sandbox.vault_tree());
    fs::remove_dir_all(sandbox.state()).unwrap();
    assert_eq!(listed_names(&sandbox), names);
    sandbox.memdir(&["edit", "note-1", "--tag", "later"]).ok();
    let changes = tree.changes(&sandbox.vault_tree());
    assert_eq!(changes, ["~note-1.md"]);
}

/// Conformance 12.
#[test]
fn a_recursive_scan_sees_only_memories_after_every_kind_of_command() {
    let sandbox = sandbox();
    sandbox.save("rule", &prose(1));
    sandbox.save("other", &prose(2));
    let base = sandbox.memdir(&["edit", "rule", "--tag", "x"]).json()["hash"].as_str().unwrap().to_owned();
    let import = sandbox.root().join("import");
    fs::create_dir(&import).unwrap();
    fs::write(import.join("imported.md"), memory_file("imported", "d", &prose(4))).unwrap();
    let commands: [&[&str]; 18] = [
        &["edit", "rule", "--body", "All new."],
        &["edit", "rule", "--body", "A conflict.", "--base", &base],
        &["rename", "rule", "law"],
        &["undo"],
        &["correct", "rule", "--body", "Corrected."],
        &["forget", "other", "--yes"],
        &["undo"],
        &["import", "claude-code", import.to_str().unwrap()],
        &["supersede", "imported", "other"],
        &["save", "../bad", "--type", "project", "--description", "d", "--body", "b"],
        &["save", "third", "--type", "misc", "--description", "d", "--body", "b"],
        &["list"],
        &["search", "new"],
        &["doctor"],
        &["doctor", "--fix"],
        &["forget", "law", "--erase", "--yes"],
        &["forget", "rule", "--erase", "--yes"],
        &["init"],
    ];
    for command in commands {
        sandbox.memdir(command).run();
        let stray: Vec<_> =
            sandbox.vault_tree().paths().filter(|path| !is_memory(path)).map(str::to_owned).collect();
        assert_eq!(stray, [""; 0], "{command:?}");
        let files = sandbox.vault_tree().paths().filter(|path| *path != "MEMORY.md").count();
        assert_eq!(files, listed_names(&sandbox).len(), "{command:?}");
    }
}

fn is_memory(path: &str) -> bool {
    path == "MEMORY.md" || path.ends_with(".md") && !path.contains('/') && !path.starts_with('.')
}

fn vault(sandbox: &Sandbox) -> Tree {
    sandbox.vault_tree().without(|path| path.starts_with(".git/"))
}

/// When each file and the directory itself were last changed.
fn times(directory: &Path) -> Vec<(String, SystemTime)> {
    let files = Tree::of(directory).without(|path| path.starts_with(".git/"));
    let names = files.paths().map(str::to_owned).chain([String::new()]);
    names
        .map(|name| (name.clone(), fs::metadata(directory.join(name)).unwrap().modified().unwrap()))
        .collect()
}

fn git(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(sandbox.vault()).env("HOME", sandbox.home());
    let output = command.output().expect("install git: this test cannot do without");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
