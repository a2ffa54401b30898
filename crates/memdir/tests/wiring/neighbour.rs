//! UX-24: what other agents keep comes in, what we have goes out, and both ways nothing of theirs is lost.

use std::fs;
use std::path::{Path, PathBuf};

use memdir_testkit::Sandbox;
use serde_json::Value;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_memdir"))
}

fn put(sandbox: &Sandbox, name: &str, text: &str) -> PathBuf {
    let path = sandbox.root().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// A vault with two memories that hold and one that does not.
fn full() -> Sandbox {
    let sandbox = sandbox();
    for (name, kind, extra, body) in [
        ("feedback-real-db", "feedback", "  paths:\n    - \"tests/**/*.rs\"\n", "Use a real database.\n"),
        ("project-freeze", "project", "  pinned: true\n", "No merges from 2026-03-05.\n"),
        ("project-old", "project", "  status: superseded\n", "Replaced.\n"),
    ] {
        let text = format!(
            "---\nname: {name}\ndescription: \"about {name}: # so\"\ntype: {kind}\nmetadata:\n{extra}---\n\n{body}"
        );
        sandbox.write(&format!("{name}.md"), text);
    }
    sandbox
}

fn run(sandbox: &Sandbox, args: &[&str], path: &Path) -> Value {
    sandbox.memdir(args).args(&[path]).json()
}

fn names(report: &Value, key: &str) -> Vec<String> {
    let mut names: Vec<String> = report[key]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn ux_24_notes_for_codex_come_back_byte_for_byte() {
    let (from, to) = (full(), sandbox());
    let dir = from.root().join("codex/memories");
    let report = run(&from, &["export", "codex"], &dir);
    assert_eq!(report["files"], 2, "{report:#}");
    assert_eq!(report["left_out"][0]["why"], "it no longer holds");
    let again = run(&from, &["export", "codex"], &dir);
    assert_eq!(again["files"], 2);
    let notes = fs::read_dir(dir.join("extensions/ad_hoc/notes")).unwrap().count();
    assert_eq!(notes, 2, "the same memory is the same note");
    let back = run(&to, &["import", "codex"], &from.root().join("codex"));
    assert_eq!(back["imported"], 2, "{back:#}");
    for name in ["feedback-real-db", "project-freeze"] {
        assert_eq!(to.read(name), from.read(name));
    }
    let same = run(&from, &["import", "codex"], &dir);
    assert_eq!((same["imported"].as_u64(), same["files"][0]["fate"].as_str()), (Some(0), Some("same")));
}

#[test]
fn ux_24_what_codex_wrote_is_imported_and_what_is_not_is_said() {
    let sandbox = sandbox();
    put(
        &sandbox,
        "c/memories/MEMORY.md",
        "# Task Group: Releases\n\nTags are cut by hand, because the robot lost its key.\n",
    );
    put(&sandbox, "c/memories/raw_memories.md", "raw");
    let report = run(&sandbox, &["import", "codex"], &sandbox.root().join("c"));
    assert_eq!(names(&report, "files"), ["project-releases"], "{report:#}");
    assert_eq!(report["left_out"][0]["path"], "raw_memories.md");
    assert!(sandbox.read("project-releases").contains("the robot lost its key"));
    assert!(sandbox.read("project-releases").contains("provenance: import"));
    sandbox.memdir(&["undo"]).ok();
    assert!(!sandbox.memory("project-releases").exists());
}

#[test]
fn ux_24_geminis_page_keeps_its_text_and_files_come_back() {
    let (from, to) = (full(), sandbox());
    let page = put(&from, "memory/MEMORY.md", "# Mine\n- likes short answers\n");
    let dir = page.parent().unwrap();
    run(&from, &["export", "gemini"], dir);
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.starts_with("# Mine\n- likes short answers\n") && text.contains("(project-freeze.md)"),
        "{text}"
    );
    run(&from, &["export", "gemini"], dir);
    assert_eq!(fs::read_to_string(&page).unwrap(), text, "a second time changes nothing");
    fs::write(dir.join("project-freeze.md"), "theirs now").unwrap();
    let report = run(&from, &["export", "gemini"], dir);
    assert!(report["left_out"].to_string().contains("another text is there"), "{report:#}");
    assert_eq!(fs::read_to_string(dir.join("project-freeze.md")).unwrap(), "theirs now");
    from.memdir(&["export", "gemini", "--force"]).args(&[dir]).ok();
    let back = run(&to, &["import", "gemini"], dir);
    assert_eq!(
        names(&back, "files"),
        ["feedback-real-db", "likes-short-answers", "project-freeze"],
        "{back:#}"
    );
    assert_eq!(to.read("project-freeze"), from.read("project-freeze"));
}

#[test]
fn ux_24_rules_for_cursor_carry_their_files_and_come_back() {
    let (from, to) = (full(), sandbox());
    fs::create_dir(from.project().join(".cursor")).unwrap();
    run(&from, &["export", "cursor"], &from.project());
    let rule = fs::read_to_string(from.project().join(".cursor/rules/feedback-real-db.mdc")).unwrap();
    assert!(rule.contains("\nglobs: tests/**/*.rs\nalwaysApply: false\n"), "{rule}");
    put(&from, "project/.cursorrules", "Always answer in English.\n");
    let back = run(&to, &["import", "cursor"], &from.project());
    assert_eq!(
        names(&back, "files"),
        ["feedback-cursor-rules", "feedback-real-db", "project-freeze"],
        "{back:#}"
    );
    let text = to.read("feedback-real-db");
    assert!(
        text.contains("type: feedback")
            && text.contains("tests/**/*.rs")
            && text.contains("Use a real database."),
        "{text}"
    );
    assert!(to.read("project-freeze").contains("pinned: true"));
    let own = run(&from, &["import", "cursor"], &from.project().join(".cursor/rules"));
    assert_eq!(own["imported"], 0, "{own:#}");
    assert!(own["left_out"][0]["why"].as_str().unwrap().contains("the vault has it"));
}

#[test]
fn ux_24_agents_md_keeps_every_byte_outside_of_the_block() {
    let (from, to) = (full(), sandbox());
    let mine = "# Rules\r\n\r\nBe brief.\r\n\r\n## Tests\r\n\r\nRun them all.\r\n";
    let page = put(&from, "project/AGENTS.md", mine);
    let real = from.root().join("CLAUDE.md");
    fs::rename(&page, &real).unwrap();
    std::os::unix::fs::symlink(&real, &page).unwrap();
    let report = run(&from, &["export", "agents"], &from.project());
    assert_eq!(report["files"], 2, "{report:#}");
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.starts_with(mine) && text.contains("### about feedback-real-db: # so"), "{text}");
    assert!(fs::symlink_metadata(&page).unwrap().is_symlink());
    from.memdir(&["forget", "project-freeze", "--yes"]).ok();
    run(&from, &["export", "agents"], &page);
    let fewer = fs::read_to_string(&real).unwrap();
    assert!(fewer.starts_with(mine) && !fewer.contains("No merges"), "{fewer}");
    fs::write(&real, &text).unwrap();
    let back = run(&to, &["import", "agents"], &page);
    assert_eq!(names(&back, "files"), ["feedback-real-db", "feedback-tests", "project-freeze"], "{back:#}");
    assert!(back["left_out"][0]["path"].as_str().unwrap().contains("the beginning"));
}

#[test]
fn a_dry_run_imports_nothing_and_a_missing_page_is_an_error() {
    let sandbox = sandbox();
    let page = put(&sandbox, "project/AGENTS.md", "## Tests\nRun them.\n");
    let report = sandbox.memdir(&["import", "agents", "--dry-run"]).args(&[&page]).json();
    assert_eq!((report["imported"].as_u64(), report["dry_run"].as_bool()), (Some(1), Some(true)));
    assert!(!sandbox.memory("feedback-tests").exists());
    sandbox.memdir(&["import", "agents", "nowhere.md"]).code(2);
    sandbox.memdir(&["export", "codex", "-"]).code(2);
}
