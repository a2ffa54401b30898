//! What other programs do to a vault: taken up, recorded, undoable, and nothing lost by it.

use std::fs;

use crate::setup::{memory_file, prose, sandbox};

/// W2-01, W2-02.
#[test]
fn a_file_that_an_agent_wrote_gets_its_line_and_an_entry_in_the_log() {
    let sandbox = sandbox();
    sandbox.save("ours", &prose(1));
    sandbox.write("theirs.md", memory_file("theirs", "what they know", &prose(2)));
    sandbox.save("next", &prose(3));
    assert!(sandbox.index_page().contains("(theirs.md) — what they know"));
    let log = sandbox.memdir(&["log", "theirs"]).json();
    assert_eq!(log[0]["author"], "outside", "{log}");
}

/// Format 1.3: a rename by hand is recognised by the content, and nothing goes to the trash.
#[test]
fn a_rename_by_hand_is_recognised() {
    let sandbox = sandbox();
    sandbox.save("before", &prose(1));
    fs::rename(sandbox.memory("before"), sandbox.memory("after")).unwrap();
    sandbox.save("next", &prose(2));
    let log = sandbox.memdir(&["log", "after"]).json();
    assert_eq!(
        (&log[0]["files"][0]["op"], &log[0]["files"][0]["from"]),
        (&"rename".into(), &"before".into()),
        "{log}"
    );
    assert_eq!(log.as_array().unwrap().len(), 2, "the save is in its history: {log}");
    assert!(sandbox.state_tree().containing(prose(1).as_bytes()).iter().all(|path| !path.contains("trash")));
}

/// UX-02.
#[test]
fn what_another_program_removed_or_overwrote_is_in_the_trash_and_comes_back_by_undo() {
    let sandbox = sandbox();
    sandbox.save("removed", &prose(1));
    sandbox.save("overwritten", &prose(2));
    let before = sandbox.vault_tree();
    fs::remove_file(sandbox.memory("removed")).unwrap();
    sandbox.write("overwritten.md", memory_file("overwritten", "new", &prose(3)));
    sandbox.save("next", &prose(4));
    for text in [prose(1), prose(2)] {
        let state = sandbox.state_tree();
        let holders = state.containing(text.as_bytes());
        assert!(holders.iter().any(|path| path.contains("trash")), "{holders:?}");
    }
    let log = sandbox.memdir(&["log", "removed"]).json();
    sandbox.memdir(&["undo", log[0]["change"].as_str().unwrap()]).ok();
    for name in ["removed.md", "overwritten.md"] {
        assert_eq!(sandbox.vault_tree().get(name), before.get(name), "{name}");
    }
}

/// Format 1.2.
#[test]
fn frontmatter_that_another_program_blanked_is_restored_by_the_next_change() {
    let sandbox = sandbox();
    sandbox.save("note", &prose(1));
    let (before, text) = (sandbox.vault_tree(), sandbox.read("note"));
    let body = &text[text.rfind("---\n").unwrap()..];
    sandbox.write("note.md", format!("---\nname: \"\"\n{body}"));
    sandbox.memdir(&["list"]).ok();
    assert_ne!(sandbox.vault_tree().get("note.md"), before.get("note.md"), "reading restores nothing");
    sandbox.save("next", &prose(2));
    assert_eq!(sandbox.vault_tree().get("note.md"), before.get("note.md"));
}

/// Format 2: the wording of a line that a change does not name is somebody's, and stays.
#[test]
fn the_first_save_into_a_hand_written_page_keeps_the_wording_of_its_lines() {
    let sandbox = sandbox();
    sandbox.write("theirs.md", memory_file("theirs", "the description of the file", &prose(1)));
    sandbox
        .write("MEMORY.md", "# Notes\n\n- [A title of their own](theirs.md) — and a hook\n\nTheir words.\n");
    sandbox.save("ours", &prose(2));
    let page = sandbox.index_page();
    assert!(page.contains("- [A title of their own](theirs.md) — and a hook\n"), "{page}");
    assert!(page.starts_with("# Notes\n") && page.contains("Their words.\n"), "{page}");
}
