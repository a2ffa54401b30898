//! Names that differ less than they seem: equal contents, case only, composed and decomposed letters.

use crate::setup::{listed_names, memory_file, sandbox};

/// K10.
#[test]
fn equal_contents_under_two_names_are_both_kept_and_reported() {
    let sandbox = sandbox();
    let text = memory_file("one", "the same thing twice", "Say it once.");
    sandbox.write("one.md", &text);
    sandbox.write("two.md", &text);
    assert_eq!(sandbox.memdir(&["list"]).json().as_array().unwrap().len(), 2);
    let doctor = sandbox.memdir(&["doctor"]).run();
    assert!(doctor.stdout.contains("one") && doctor.stdout.contains("two"), "{doctor}");
    sandbox.memdir(&["doctor", "--fix"]).run();
    assert_eq!(sandbox.read("one"), text);
    assert_eq!(sandbox.read("two"), text);
}

/// K10.
#[test]
fn a_rename_that_changes_only_the_case_loses_nothing() {
    let sandbox = sandbox();
    sandbox.write("Release-Notes.md", memory_file("Release-Notes", "where they are", "In the wiki."));
    sandbox.memdir(&["rename", "Release-Notes", "release-notes"]).ok();
    assert_eq!(listed_names(&sandbox), ["release-notes"]);
    assert!(sandbox.read("release-notes").contains("In the wiki."));
    sandbox.memdir(&["undo"]).ok();
    assert!(sandbox.read("Release-Notes").contains("In the wiki."));
}

/// K10.
#[test]
fn names_that_differ_only_in_case_are_two_memories_and_reported() {
    let sandbox = sandbox();
    sandbox.write("Notes.md", memory_file("Notes", "upper", "Upper case."));
    sandbox.write("notes.md", memory_file("notes", "lower", "Lower case."));
    assert_eq!(sandbox.memdir(&["list"]).json().as_array().unwrap().len(), 2);
    let doctor = sandbox.memdir(&["doctor"]).run();
    assert!(doctor.stdout.contains("Notes") && doctor.stdout.contains("notes"), "{doctor}");
    sandbox.memdir(&["edit", "notes", "--append", "More."]).ok();
    assert!(sandbox.read("notes").contains("More.") && !sandbox.read("Notes").contains("More."));
}

/// K10.
#[test]
fn composed_and_decomposed_names_are_both_kept_and_reported() {
    let sandbox = sandbox();
    let composed = memory_file("caf\u{e9}", "composed", "The composed one.");
    let decomposed = memory_file("cafe\u{301}", "decomposed", "The decomposed one.");
    sandbox.write("caf\u{e9}.md", &composed);
    sandbox.write("cafe\u{301}.md", &decomposed);
    let before = sandbox.vault_tree().without(|path| path == "MEMORY.md");
    sandbox.memdir(&["list"]).ok();
    let doctor = sandbox.memdir(&["doctor"]).run();
    let tells_them_apart = |line: &str| line.contains("caf\u{e9}.md") && line.contains("cafe\u{301}.md");
    assert!(doctor.stdout.lines().any(tells_them_apart), "{doctor}");
    sandbox.memdir(&["doctor", "--fix"]).run();
    sandbox.save("other", "Something else.");
    let after = sandbox.vault_tree().without(|path| path == "MEMORY.md");
    assert_eq!(before.changes(&after), ["+other.md"]);
}
