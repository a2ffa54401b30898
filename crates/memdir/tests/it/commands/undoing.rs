//! `memdir undo` and `memdir redo` take back, and do again, what the user means.

use std::fs;
use std::path::PathBuf;

use memdir_testkit::{Invocation, Output, Sandbox};

use crate::setup::{prose, sandbox};

/// A user with two projects that share a user vault, as on every machine.
struct TwoProjects {
    sandbox: Sandbox,
}

impl TwoProjects {
    fn new() -> Self {
        let sandbox = sandbox();
        for name in ["shop", "other"] {
            fs::create_dir_all(sandbox.root().join(name)).unwrap();
        }
        Self { sandbox }
    }

    fn memdir(&self, project: &str, args: &[&str]) -> Invocation {
        let directory = self.sandbox.root().join(project);
        self.sandbox.memdir(args).without_env("MEMDIR_VAULT").cwd(&directory)
    }

    fn save(&self, project: &str, name: &str, kind: &str) -> Output {
        let args = ["save", name, "--type", kind, "--description", &format!("about {name}")];
        self.memdir(project, &args)
            .stdin(format!(
                "What there is to know about {name}.\n\n**Why:** it matters.\n\n**How to apply:** always."
            ))
            .ok()
    }

    fn has(&self, project: &str, name: &str) -> bool {
        self.memdir(project, &["show", name]).run().code == 0
    }

    fn file(&self, project: &str, name: &str) -> PathBuf {
        let shown = self.memdir(project, &["show", name]).json();
        PathBuf::from(shown["path"].as_str().unwrap())
    }
}

/// UX-02, UX-04: a clean-up by another program is the newest change, and is what a bare undo takes back.
#[test]
fn a_bare_undo_brings_back_what_another_program_deleted() {
    let world = TwoProjects::new();
    world.save("shop", "project-first", "project");
    world.save("shop", "project-last", "project");
    let file = world.file("shop", "project-first");
    let before = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let undone = world.memdir("shop", &["undo"]).ok();
    assert_eq!(undone.stdout, "restored: project-first (deleted by another program)\n", "{undone}");
    assert!(undone.stderr.contains("by another program"), "it says what it is about to do: {undone}");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(world.has("shop", "project-last"));
    // One further back.
    world.memdir("shop", &["undo"]).ok();
    assert!(!world.has("shop", "project-last") && world.has("shop", "project-first"));
}

/// UX-04: what was saved about the user in another project stays, unless it is asked for.
#[test]
fn a_bare_undo_leaves_alone_what_was_done_in_another_project() {
    let world = TwoProjects::new();
    world.save("other", "project-there", "project");
    world.save("shop", "user-language", "user");
    let undone = world.memdir("other", &["undo"]).ok();
    assert_eq!(undone.stdout, "undone: save project-there\n");
    assert!(world.has("shop", "user-language"));
    let nothing = world.memdir("other", &["undo"]).code(1);
    assert!(nothing.stderr.contains("nothing to undo"), "{nothing}");
    // Where it was made it is the newest change.
    let undone = world.memdir("shop", &["undo"]).ok();
    assert_eq!(undone.stdout, "undone: save user-language\n");
    assert!(!world.has("shop", "user-language"));
    world.memdir("shop", &["redo"]).ok();
    assert!(world.has("shop", "user-language"));
    // And by its name from anywhere.
    world.memdir("other", &["undo", "--user"]).ok();
    assert!(!world.has("other", "user-language"));
}

/// UX-04: undo goes back and redo forward, as in an editor, byte for byte.
#[test]
fn undo_and_redo_walk_back_and_forth() {
    let world = TwoProjects::new();
    world.save("shop", "project-a", "project");
    let page = world.file("shop", "project-a").with_file_name("MEMORY.md");
    let vault = || memdir_testkit::Tree::of(page.parent().unwrap());
    let mut states = vec![vault()];
    world.memdir("shop", &["edit", "project-a", "--append", "More of it."]).ok();
    states.push(vault());
    world.save("shop", "project-b", "project");
    states.push(vault());
    world.memdir("shop", &["rename", "project-b", "project-c"]).ok();
    states.push(vault());
    for expected in states.iter().rev().skip(1) {
        world.memdir("shop", &["undo"]).ok();
        assert_eq!(vault(), *expected);
    }
    for expected in &states[1..] {
        let redone = world.memdir("shop", &["redo"]).ok();
        assert!(redone.stdout.starts_with("redone: "), "{redone}");
        assert_eq!(vault(), *expected);
    }
    let nothing = world.memdir("shop", &["redo"]).code(1);
    assert!(nothing.stderr.contains("nothing to redo"), "{nothing}");
    // A new change ends what could be redone.
    world.memdir("shop", &["undo"]).ok();
    world.save("shop", "project-new", "project");
    world.memdir("shop", &["redo"]).code(1);
    assert_eq!(world.memdir("shop", &["undo"]).ok().stdout, "undone: save project-new\n");
    assert_eq!(world.memdir("shop", &["undo"]).ok().stdout, "undone: save project-b\n");
}

/// UX-04: it can be seen before it is done.
#[test]
fn undo_shows_what_it_would_do_and_changes_nothing() {
    let world = TwoProjects::new();
    world.save("shop", "project-a", "project");
    world.memdir("shop", &["edit", "project-a", "--append", "More of it."]).ok();
    let file = world.file("shop", "project-a");
    let before = fs::read(&file).unwrap();
    let shown = world.memdir("shop", &["undo", "-n"]).ok();
    assert!(shown.stdout.starts_with("would undo: edit project-a"), "{shown}");
    assert!(shown.stdout.contains("+More of it."), "{shown}");
    assert_eq!(fs::read(&file).unwrap(), before);
    let shown = world.memdir("shop", &["undo", "--dry-run"]).json();
    assert_eq!(shown["names"], serde_json::json!(["project-a"]));
    world.memdir("shop", &["undo"]).ok();
    assert!(world.memdir("shop", &["redo", "-n"]).ok().stdout.starts_with("would redo: edit project-a"));
}

#[test]
fn a_part_of_an_id_that_several_have_is_told_apart_from_one_that_none_has() {
    let sandbox = sandbox();
    sandbox.save("first", &prose(1));
    sandbox.save("second", &prose(2));
    let several = sandbox.memdir(&["undo", "01"]).code(2);
    assert!(several.stderr.contains("means more than one change"), "{several}");
    let log = sandbox.memdir(&["log"]).json();
    for row in log.as_array().unwrap() {
        assert!(several.stderr.contains(row["change"].as_str().unwrap()), "{several}");
    }
    let none = sandbox.memdir(&["undo", "ZZZZ"]).code(1);
    assert!(none.stderr.contains("no change `ZZZZ`"), "{none}");
    let id = log[0]["change"].as_str().unwrap();
    sandbox.memdir(&["undo", &id[20..]]).ok();
}

/// A change of many memories names a few of them.
#[test]
fn undoing_an_import_tells_a_few_names() {
    let sandbox = sandbox();
    let old = sandbox.root().join("old");
    fs::create_dir(&old).unwrap();
    for n in 0..40 {
        let text =
            format!("---\nname: project-{n}\ndescription: Note {n}\ntype: project\n---\n\n{}\n", prose(n));
        fs::write(old.join(format!("project-{n}.md")), text).unwrap();
    }
    sandbox.memdir(&["import", "claude-code", old.to_str().unwrap()]).ok();
    let undone = sandbox.memdir(&["undo"]).ok();
    assert!(undone.stdout.contains(" and 32 more") && undone.stdout.len() < 300, "{undone}");
    assert!(!sandbox.memory("project-1").exists());
}
