//! A directory as Claude Code leaves it after a year: three generations of frontmatter, hand-written lines in
//! `MEMORY.md`, a broken file. No byte changes that the command did not name.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use memdir_testkit::{Sandbox, Tree};

use crate::setup::{prose, sandbox};

/// Lines of the page that point to no memory; they belong to whoever wrote them.
const OWN_LINES: [&str; 8] = [
    "# Project memory\n",
    "Hand-written: keep this paragraph. The build box is called *hedgehog*.   \n",
    "## Older notes\n",
    "\ttab-indented line, and one with two trailing spaces  \n",
    "- not a pointer, just a bullet\n",
    "<!-- a comment somebody left -->\n",
    "- [Gone](project_gone.md) — the file was deleted long ago\n",
    "last line without a newline",
];

#[test]
fn reading_changes_nothing() {
    let sandbox = copied();
    let before = sandbox.vault_tree();
    let commands: [&[&str]; 8] = [
        &["list"],
        &["manifest"],
        &["show", "feedback_testing"],
        &["show", "Deploy Steps"],
        &["show", "feedback_broken"],
        &["search", "bolometer"],
        &["links", "feedback_testing"],
        &["doctor"],
    ];
    for command in commands {
        let output = sandbox.memdir(command).run();
        assert!(output.is_ok() || command == ["doctor"], "{command:?}\n{output}");
        assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "{command:?}");
    }
}

#[test]
fn every_file_is_listed_with_its_type() {
    let sandbox = copied();
    let list = sandbox.memdir(&["list"]).json();
    let mut shown: Vec<(String, String)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| {
            (memory["path"].as_str().unwrap().to_owned(), memory["type"].as_str().unwrap_or("-").to_owned())
        })
        .map(|(path, kind)| (relative(&sandbox, &path), kind))
        .collect();
    shown.sort();
    let paths: Vec<_> = shown.iter().map(|(path, _)| path.as_str()).collect();
    let expected = [
        "Deploy Steps.md",
        "archive-2025/retro-2025.md",
        "blanked.md",
        "feedback_broken.md",
        "feedback_testing.md",
        "project-migration-freeze.md",
        "scratch.md",
        "user_role.md",
        "windows-notes.md",
    ];
    assert_eq!(paths, expected);
    let type_of = |path: &str| shown.iter().find(|(known, _)| known == path).map(|(_, kind)| kind.as_str());
    assert_eq!(type_of("user_role.md"), Some("user"));
    assert_eq!(type_of("feedback_testing.md"), Some("feedback"));
    assert_eq!(type_of("project-migration-freeze.md"), Some("project"));
}

#[test]
fn doctor_names_what_is_wrong_and_fix_touches_only_what_it_names() {
    let sandbox = copied();
    let before = sandbox.vault_tree();
    let report = sandbox.memdir(&["doctor"]).code(1);
    for name in ["feedback_broken.md", "project_gone.md", "blanked.md"] {
        assert!(report.stdout.contains(name), "{name}\n{report}");
    }
    let fixed = sandbox.memdir(&["doctor", "--fix"]).run();
    assert!(matches!(fixed.code, 0 | 1), "{fixed}");
    for change in before.changes(&sandbox.vault_tree()) {
        let name = change[1..].rsplit('/').next().unwrap();
        assert!(fixed.stdout.contains(name), "{change} was not named\n{fixed}");
    }
    let untouchable =
        ["feedback_broken.md", "windows-notes.md", "scratch.md", "user_role.md", "feedback_testing.md"];
    for name in untouchable {
        assert_eq!(before.get(name), sandbox.vault_tree().get(name), "{name}");
    }
    assert_own_lines(&sandbox, &["project_gone.md"]);
}

#[test]
fn a_second_fix_finds_nothing_more_to_do() {
    let sandbox = copied();
    sandbox.memdir(&["doctor", "--fix"]).run();
    let before = sandbox.vault_tree();
    sandbox.memdir(&["doctor", "--fix"]).run();
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

#[test]
fn a_save_adds_one_file_and_one_line_and_undo_takes_both_back() {
    let sandbox = copied();
    sandbox.memdir(&["doctor", "--fix"]).run();
    let before = sandbox.vault_tree();
    sandbox.save("project-new", &prose(1));
    let after = sandbox.vault_tree();
    assert_eq!(before.changes(&after), ["~MEMORY.md", "+project-new.md"]);
    let lines = |tree: &Tree| -> Vec<String> {
        let page = String::from_utf8(tree.get("MEMORY.md").unwrap().to_vec()).unwrap();
        page.split_inclusive('\n').map(str::to_owned).collect()
    };
    let (old, new) = (lines(&before), lines(&after));
    let come: Vec<_> = new.iter().filter(|line| !old.contains(line)).collect();
    assert!(come.len() == 1 && come[0].contains("project-new.md"), "{come:?}");
    assert!(old.iter().all(|line| new.contains(line)), "a line of the page is gone");

    sandbox.memdir(&["undo"]).ok();
    assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0]);
}

#[test]
fn a_first_save_without_a_fix_keeps_every_hand_written_line() {
    let sandbox = copied();
    let before = sandbox.vault_tree();
    sandbox.save("project-new", &prose(1));
    assert_eq!(before.changes(&sandbox.vault_tree()), ["~MEMORY.md", "+project-new.md"]);
    assert_own_lines(&sandbox, &["project_gone.md"]);
    let page = sandbox.index_page();
    for pointer in ["user_role.md", "feedback_testing.md", "project-migration-freeze.md", "project-new.md"] {
        assert_eq!(page.matches(&format!("]({pointer})")).count(), 1, "{pointer}\n{page}");
    }

    sandbox.memdir(&["undo"]).ok();
    let memories = |tree: Tree| tree.without(|path| path == "MEMORY.md");
    assert_eq!(memories(before).changes(&memories(sandbox.vault_tree())), [""; 0]);
    assert_own_lines(&sandbox, &["project_gone.md"]);
}

#[test]
fn an_edit_of_each_generation_changes_only_what_was_asked() {
    for file in ["user_role", "feedback_testing", "project-migration-freeze", "Deploy Steps", "windows-notes"]
    {
        let sandbox = copied();
        let before = sandbox.vault_tree();
        sandbox.memdir(&["edit", file, "--append", "Added."]).ok();
        let path = format!("{file}.md");
        let changes = before.changes(&sandbox.vault_tree());
        assert_eq!(
            changes.iter().filter(|change| *change != "~MEMORY.md").collect::<Vec<_>>(),
            [&format!("~{path}")]
        );
        let old = String::from_utf8(before.get(&path).unwrap().to_vec()).unwrap();
        let new = sandbox.read(file);
        let is_kept = |line: &&str| new.contains(*line) || line.contains("modified:");
        let lost: Vec<_> = old.split_inclusive('\n').filter(|line| !is_kept(line)).collect();
        assert_eq!(lost, [""; 0], "{file}\n{new}");
        sandbox.memdir(&["undo"]).ok();
        assert_eq!(sandbox.read(file), old);
    }
}

/// Copies the fixture with the modes that Claude Code leaves: readable by others, writable only by us.
fn copied() -> Sandbox {
    let sandbox = sandbox();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-dir");
    copy(&fixture, &sandbox.vault());
    sandbox
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
            continue;
        }
        fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).unwrap();
    }
}

fn relative(sandbox: &Sandbox, path: &str) -> String {
    let vault = format!("{}/", sandbox.vault().display());
    path.strip_prefix(&vault).unwrap_or(path).to_owned()
}

/// Every line of the page that is nobody's pointer is there byte for byte, except those with one of these words.
fn assert_own_lines(sandbox: &Sandbox, may_go: &[&str]) {
    let page = sandbox.index_page();
    for line in OWN_LINES {
        let is_excused = may_go.iter().any(|word| line.contains(word));
        assert!(is_excused || page.contains(line), "gone: {line:?}\n{page}");
    }
}
