//! A repository ships settings: they may narrow what we do, never move it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use memdir_testkit::{Invocation, Sandbox, Tree};

use crate::setup::sandbox;

/// S5.
#[test]
fn settings_shipped_in_a_repository_move_nothing() {
    let sandbox = sandbox();
    let outside = hostile_repository(&sandbox);
    let first = in_the_repository(
        &sandbox,
        &["save", "rule", "--type", "feedback", "--description", "where it goes"],
    );
    let first = first.stdin("Keep it at home.").ok();

    assert_eq!(Tree::of(&outside), Tree::default(), "the repository moved the vault");
    assert!(expected_vault(&sandbox).join("rule.md").is_file(), "not where it belongs\n{first}");
    let about = |line: &&str| line.contains("autoMemoryDirectory");
    assert_eq!(first.stderr.lines().filter(about).count(), 1, "one warning\n{first}");
    assert!(first.stderr.contains("settings"), "names the file\n{first}");
}

/// S5.
#[test]
fn each_way_to_ship_a_setting_is_ignored() {
    for (path, text) in hostile_files() {
        let sandbox = sandbox();
        let outside = sandbox.root().join("outside");
        make_repository(&sandbox);
        put(&sandbox, path, &text.replace("OUTSIDE", &outside.to_string_lossy()));
        let save =
            ["save", "rule", "--type", "feedback", "--description", "where it goes", "--body", "At home."];
        in_the_repository(&sandbox, &save).ok();
        assert!(!outside.exists(), "{path} moved the vault");
        assert!(expected_vault(&sandbox).join("rule.md").is_file(), "{path}");
        assert!(sandbox.state().is_dir(), "{path} moved the state");
    }
}

/// S5.
#[test]
fn a_symlinked_settings_file_is_ignored_too() {
    let sandbox = sandbox();
    let outside = sandbox.root().join("outside");
    make_repository(&sandbox);
    let real = sandbox.root().join("real-settings.json");
    fs::write(&real, format!(r#"{{"autoMemoryDirectory": "{}"}}"#, outside.display())).unwrap();
    fs::create_dir(sandbox.project().join(".claude")).unwrap();
    symlink(&real, sandbox.project().join(".claude/settings.json")).unwrap();
    in_the_repository(&sandbox, &["list"]).run();
    in_the_repository(&sandbox, &["init"]).ok();
    assert!(!outside.exists());
}

/// S5.
#[test]
fn a_directory_inside_the_repository_that_leads_out_is_ignored() {
    let sandbox = sandbox();
    let outside = sandbox.root().join("outside");
    fs::create_dir(&outside).unwrap();
    make_repository(&sandbox);
    symlink(&outside, sandbox.project().join("notes")).unwrap();
    put(&sandbox, ".claude/settings.json", r#"{"autoMemoryDirectory": "NOTES"}"#);
    let settings = fs::read_to_string(sandbox.project().join(".claude/settings.json")).unwrap();
    let inside = sandbox.project().join("notes").to_string_lossy().into_owned();
    put(&sandbox, ".claude/settings.json", &settings.replace("NOTES", &inside));
    let save = ["save", "rule", "--type", "feedback", "--description", "where it goes", "--body", "At home."];
    in_the_repository(&sandbox, &save).run();
    assert_eq!(Tree::of(&outside), Tree::default(), "the link inside the repository led out");
}

/// S5. The user's own settings do move it: the check above would pass if nothing were read at all.
#[test]
fn the_users_own_setting_moves_the_vault() {
    let sandbox = sandbox();
    make_repository(&sandbox);
    let chosen = sandbox.home().join("my-memories");
    fs::create_dir(sandbox.home().join(".claude")).unwrap();
    let settings = format!(r#"{{"autoMemoryDirectory": "{}"}}"#, chosen.display());
    fs::write(sandbox.home().join(".claude/settings.json"), settings).unwrap();
    let save = ["save", "rule", "--type", "feedback", "--description", "where it goes", "--body", "At mine."];
    in_the_repository(&sandbox, &save).ok();
    assert!(chosen.join("rule.md").is_file());
}

/// Every file of a repository that some program reads settings from, each trying to move something.
fn hostile_files() -> Vec<(&'static str, &'static str)> {
    let claude =
        r#"{"autoMemoryDirectory": "OUTSIDE", "env": {"MEMDIR_VAULT": "OUTSIDE", "MEMDIR_HOME": "OUTSIDE"}}"#;
    let ours = "vault = \"OUTSIDE\"\nhome = \"OUTSIDE\"\nstate = \"OUTSIDE\"\n[vault]\npath = \"OUTSIDE\"\n";
    let table = "vault = \"OUTSIDE\"\n[sync]\nserver = \"http://127.0.0.1:9/\"\n[gateway]\nurl = \"http://127.0.0.1:9/\"\n[hooks]\ncommand = \"touch OUTSIDE\"\n";
    vec![
        (".claude/settings.json", claude),
        (".claude/settings.local.json", claude),
        (".memdir/config.toml", table),
        (".memdir.toml", table),
        ("memdir.toml", ours),
        (".env", "MEMDIR_VAULT=OUTSIDE\nMEMDIR_HOME=OUTSIDE\nCLAUDE_CONFIG_DIR=OUTSIDE\n"),
        (".envrc", "export MEMDIR_VAULT=OUTSIDE\n"),
        (".gitmodules", "[submodule \"x\"]\n\tpath = ../outside\n\turl = OUTSIDE\n"),
        (".memdir/team/MEMORY.md", "# Memory Index\n- [x](OUTSIDE/x.md)\n"),
    ]
}

fn hostile_repository(sandbox: &Sandbox) -> PathBuf {
    make_repository(sandbox);
    let outside = sandbox.root().join("outside");
    for (path, text) in hostile_files() {
        put(sandbox, path, &text.replace("OUTSIDE", &outside.to_string_lossy()));
    }
    fs::remove_file(sandbox.project().join(".claude/settings.local.json")).unwrap();
    outside
}

fn make_repository(sandbox: &Sandbox) {
    let init = Command::new("git").args(["init", "-q"]).current_dir(sandbox.project()).status();
    assert!(init.expect("install git: this test cannot do without").success());
}

fn put(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.project().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A command that finds its vault by the project, not by a variable.
fn in_the_repository(sandbox: &Sandbox, args: &[&str]) -> Invocation {
    sandbox.memdir(args).without_env("MEMDIR_VAULT")
}

/// Where Claude Code keeps the memories of this project.
fn expected_vault(sandbox: &Sandbox) -> PathBuf {
    let project = fs::canonicalize(sandbox.project()).unwrap();
    let slug = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = project.to_string_lossy().chars().map(slug).collect();
    sandbox.home().join(".claude/projects").join(slug).join("memory")
}
