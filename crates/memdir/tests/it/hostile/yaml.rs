//! Frontmatter that attacks its reader, and frontmatter that is only unusual. Neither is rewritten unasked.

use std::fmt::Write;

use memdir_testkit::Sandbox;

use crate::setup::{memory_file, prose, run_or_give_up, sandbox};

/// Enough for the binary and a vault of small files, far too little for a bomb that goes off.
const MEMORY_LIMIT: &str = "--as=268435456";

/// S9.
#[test]
fn no_frontmatter_keeps_the_other_memories_from_loading() {
    for (what, text) in bombs() {
        let sandbox = sandbox();
        sandbox.write("good.md", memory_file("good", "an ordinary memory", "Findable marmalade."));
        sandbox.write("bomb.md", &text);
        for command in [&["list"][..], &["search", "marmalade"], &["manifest"], &["doctor"]] {
            let output = run_or_give_up(sandbox.memdir(command).under(&["prlimit", MEMORY_LIMIT]));
            assert!(matches!(output.code, 0 | 1), "{what}: {command:?}\n{output}");
            if command[0] != "doctor" {
                assert!(output.stdout.contains("good"), "{what}: {command:?}\n{output}");
            }
        }
        sandbox.memdir(&["show", "good"]).ok();
        sandbox.save("another", "Saving works beside it.");
        assert_eq!(std::fs::read(sandbox.memory("bomb")).unwrap(), text.as_bytes(), "{what}: rewritten");
    }
}

/// S9.
#[test]
fn doctor_gives_broken_frontmatter_one_line_each() {
    let sandbox = sandbox();
    for (number, (_, text)) in bombs().iter().enumerate() {
        sandbox.write(&format!("bomb-{number}.md"), text);
    }
    let output = run_or_give_up(sandbox.memdir(&["doctor"]).under(&["prlimit", MEMORY_LIMIT]));
    assert_eq!(output.code, 1, "{output}");
    for (number, (what, _)) in bombs().iter().enumerate() {
        let name = format!("bomb-{number}.md");
        assert!(output.stdout.contains(&name), "{what} ({name}) is not listed\n{output}");
    }
    let longest = output.stdout.lines().map(str::len).max();
    assert!(longest < Some(1000), "a problem is one line, not the file\n{output}");
}

/// S9.
#[test]
fn broken_frontmatter_is_not_edited_and_not_lost() {
    for (what, text) in bombs() {
        let sandbox = sandbox();
        sandbox.write("bomb.md", &text);
        let commands: [&[&str]; 3] = [
            &["edit", "bomb", "--description", "better"],
            &["edit", "bomb", "--tag", "t"],
            &["doctor", "--fix"],
        ];
        for command in commands {
            let output = run_or_give_up(sandbox.memdir(command));
            let now = std::fs::read(sandbox.memory("bomb")).unwrap();
            let may_change = output.is_ok() && command[0] == "edit";
            assert!(may_change || now == text.as_bytes(), "{what}: {command:?} rewrote it\n{output}");
            std::fs::write(sandbox.memory("bomb"), &text).unwrap();
        }
    }
}

/// S9, format conformance 2.
#[test]
fn an_edit_changes_only_the_named_line_whatever_the_layout() {
    for (what, text) in unusual() {
        check_one_line_changes(what, &text, &["edit", "rule", "--description", "Changed."], "description");
    }
}

/// S9.
#[test]
fn a_files_line_endings_and_first_bytes_survive_an_append() {
    let sandbox = sandbox();
    let windows = memory_file("rule", "from another system", "One.\n\nTwo.").replace('\n', "\r\n");
    sandbox.write("rule.md", format!("\u{feff}{windows}"));
    sandbox.memdir(&["edit", "rule", "--append", "Three."]).ok();
    let text = sandbox.read("rule");
    assert!(text.starts_with('\u{feff}'), "{text:?}");
    let bare = text.replace("\r\n", "").contains('\n');
    assert!(!bare && text.contains("Three."), "{text:?}");
}

/// Runs one edit and demands that exactly one line, one holding `key`, has changed or come (besides `modified`).
fn check_one_line_changes(what: &str, text: &str, edit: &[&str], key: &str) {
    let sandbox = sandbox();
    sandbox.write("rule.md", text);
    sandbox.memdir(edit).ok();
    let after = sandbox.read("rule");
    let lines = |text: &str| -> Vec<String> { text.split_inclusive('\n').map(str::to_owned).collect() };
    let (before, after) = (lines(text), lines(&after));
    let gone: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    let come: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    let is_clock = |line: &&&String| line.contains("modified:") || line.contains("metadata:");
    let gone: Vec<_> = gone.iter().filter(|line| !is_clock(line)).collect();
    let come: Vec<_> = come.iter().filter(|line| !is_clock(line)).collect();
    assert!(gone.iter().all(|line| line.contains(key)), "{what}: gone {gone:?}");
    assert!(come.len() == 1 && come[0].contains(key), "{what}: come {come:?}");
    undo_restores(&sandbox, text);
}

fn undo_restores(sandbox: &Sandbox, text: &str) {
    sandbox.memdir(&["undo"]).ok();
    assert_eq!(sandbox.read("rule"), text);
}

/// Files that parse, or that must be left alone; each is legal text in some editor.
fn unusual() -> Vec<(&'static str, String)> {
    let flat = memory_file("rule", "as it was", &prose(1));
    let nested = "---\nname: rule\ndescription: as it was\nmetadata: \n  node_type: memory\n  type: project\n  originSessionId: 5da15695\n  custom: [a, b]\n  modified: 2026-04-01T10:30:00.123Z\n---\n\nText.\n";
    let commented = "---\n# who wrote this\nname: rule # inline\ndescription: \"as # it: was\"\n\ntype: project\nunknown: kept\nmetadata:\n    deep:   spaced\n---\nText without a blank line before it\n\n\n";
    vec![
        ("plain", flat.clone()),
        ("windows line endings", flat.replace('\n', "\r\n")),
        ("byte order mark", format!("\u{feff}{flat}")),
        ("no newline at the end", flat.trim_end().to_owned()),
        ("trailing spaces", flat.replace("type: project", "type: project   ")),
        ("nested", nested.to_owned()),
        ("comments and unknown keys", commented.to_owned()),
        ("single quotes", flat.replace("as it was", "'as it''s been'")),
        ("other letters", flat.replace("as it was", "\"설명 🏴 #1: \\\"quoted\\\"\"")),
    ]
}

fn bombs() -> Vec<(&'static str, String)> {
    let with = |frontmatter: &str| format!("---\nname: bomb\n{frontmatter}\ntype: project\n---\n\nBody.\n");
    let mut aliases = "a0: &a0 [x, x]\n".to_owned();
    for level in 1..30 {
        writeln!(aliases, "a{level}: &a{level} [*a{0}, *a{0}, *a{0}, *a{0}]", level - 1).unwrap();
    }
    let deep =
        |open: &str, close: &str, n: usize| format!("description: {}{}", open.repeat(n), close.repeat(n));
    let steps: String = (0..2000).map(|level| format!("{}k:\n", " ".repeat(level))).collect();
    let keys: String = (0..5000).map(|number| format!("key{number}: value\n")).collect();
    vec![
        ("alias bomb", with(&aliases)),
        ("self-reference", with("description: &x [*x]")),
        ("flow nesting", with(&deep("[", "]", 50_000))),
        ("map nesting", with(&deep("{a: ", "}", 50_000))),
        ("block nesting", with(&steps)),
        ("a scalar of 10 MB", with(&format!("description: {}", "x".repeat(10_000_000)))),
        ("too many keys", with(&keys)),
        ("a key twice", with("description: one\ndescription: two")),
        ("a tag", with("description: !!python/object/apply:os.system [id]")),
        ("a merge key", with("base: &b {x: 1}\n<<: *b\ndescription: d")),
        ("tabs", with("metadata:\n\tscope: team\ndescription: d")),
        ("not closed", "---\nname: bomb\ndescription: never ends\n\nBody.\n".to_owned()),
        ("an open quote", with("description: \"never ends")),
        ("an open list", with("description: [a, b")),
        ("a colon in the middle", with("description: a: b: c")),
        ("two documents", with("description: d\n...\n---\nname: other")),
        ("a multi-line scalar", with("description: |\n  one\n  two")),
        ("a folded scalar", with("description: >-\n  one\n  two")),
        ("a list at the top", "---\n- name\n- bomb\n---\n\nBody.\n".to_owned()),
        ("a scalar at the top", "---\njust words\n---\n\nBody.\n".to_owned()),
    ]
}
