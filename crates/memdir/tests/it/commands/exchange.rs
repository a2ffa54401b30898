//! `init`, `projects`, `import`, `export`: how memories come and go.

use std::fs;

use expect_test::expect;
use memdir_testkit::Tree;

use super::{furnished, shown, transcript};
use crate::setup::{listed_names, memory_file, prose, sandbox};

#[test]
fn init_makes_the_vault_and_says_what_it_did() {
    let sandbox = sandbox();
    let init = |args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT");
    let dry = transcript(&sandbox, init(&["init", "--dry-run"]));
    assert!(
        !sandbox.home().join(".claude").exists() && !sandbox.state().exists(),
        "a dry run changes nothing\n{dry}"
    );
    init(&["init"]).ok();
    let home = Tree::of(&sandbox.home());
    assert_eq!(home.paths().filter(|path| path.ends_with("/memory/")).count(), 1, "{home:?}");
    let again = init(&["init"]).ok();
    assert!(!again.stdout.is_empty() || !again.stderr.is_empty());
}

#[test]
fn projects_lists_what_is_known() {
    let sandbox = sandbox();
    let run = |args: &[&str]| sandbox.memdir(args).without_env("MEMDIR_VAULT");
    run(&["save", "rule", "--type", "project", "--description", "d", "--body", "Text."]).ok();
    let list = run(&["projects"]).json();
    let project = &list.as_array().unwrap_or_else(|| panic!("{list}"))[0];
    assert_eq!(project["name"], "project", "{list}");
    let output = run(&["projects"]).ok();
    assert!(output.stdout.contains("project"), "{output}");
}

#[test]
fn another_project_is_chosen_by_its_directory() {
    let sandbox = sandbox();
    let elsewhere = sandbox.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let save = ["save", "rule", "--type", "project", "--description", "d", "--body", "Text."];
    sandbox.memdir(&save).without_env("MEMDIR_VAULT").args(&["--project", elsewhere.to_str().unwrap()]).ok();
    sandbox.memdir(&["show", "rule"]).without_env("MEMDIR_VAULT").code(1);
    sandbox.memdir(&["show", "rule"]).without_env("MEMDIR_VAULT").cwd(&elsewhere).ok();
}

#[test]
fn import_of_a_claude_code_directory_says_what_came() {
    let sandbox = furnished();
    let from = sandbox.root().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("imported.md"), memory_file("imported", "from afar", &prose(1))).unwrap();
    fs::write(from.join("MEMORY.md"), "# Memory Index\n- [Imported](imported.md) — from afar\n").unwrap();
    expect![[r#"
        imported 1 memory
    "#]]
    .assert_eq(&shown(&sandbox, &["import", "claude-code", from.to_str().unwrap()]));
    assert!(listed_names(&sandbox).contains(&"imported".to_owned()));
}

#[test]
fn import_of_notes_makes_memories_of_them() {
    for from in ["obsidian", "basic-memory"] {
        let sandbox = sandbox();
        let folder = sandbox.root().join("notes");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::create_dir_all(folder.join(".obsidian")).unwrap();
        fs::write(folder.join(".obsidian/app.json"), "{}").unwrap();
        let note = "---\ntitle: Coffee Machine\ntype: note\npermalink: sub/coffee-machine\ntags:\n  - office\n---\n\nDescale it monthly. See [[Kitchen]].\n";
        fs::write(folder.join("sub/Coffee Machine.md"), note).unwrap();
        sandbox.memdir(&["import", from, folder.to_str().unwrap()]).ok();
        let list = sandbox.memdir(&["list"]).json();
        assert_eq!(list.as_array().unwrap().len(), 1, "{from}: {list}");
        let found = sandbox.memdir(&["search", "descale"]).ok();
        assert!(found.stdout.to_lowercase().contains("coffee"), "{from}\n{found}");
    }
}

#[test]
fn import_from_nowhere_is_an_error() {
    let sandbox = sandbox();
    let output = sandbox.memdir(&["import", "claude-code", "/no/such/directory"]).code(2);
    assert!(output.stderr.contains("/no/such/directory"), "{output}");
}

#[test]
fn export_says_what_went_and_overwrites_nothing() {
    let sandbox = furnished();
    let to = sandbox.root().join("export");
    expect![[r#"
        4 files to $ROOT/export
    "#]]
    .assert_eq(&shown(&sandbox, &["export", "archive", to.to_str().unwrap()]));
    fs::write(sandbox.root().join("precious"), "mine").unwrap();
    let onto = sandbox.root().join("precious");
    sandbox.memdir(&["export", "archive", onto.to_str().unwrap()]).code(2);
    assert_eq!(fs::read_to_string(onto).unwrap(), "mine");
}
