//! Each change has who, when, why and session; every one can be undone, for thirty days.

use memdir_testkit::{NOW, Sandbox};
use serde_json::Value;

use crate::setup::{history, listed_names, prose, sandbox, strings_at};

/// F9.
#[test]
fn the_log_says_who_when_why_and_in_which_session() {
    let sandbox = sandbox();
    let save = [
        "save",
        "rule",
        "--type",
        "project",
        "--description",
        "d",
        "--reason",
        "said in review",
        "--session",
        "5da15695",
    ];
    sandbox.memdir(&save).stdin(prose(1)).ok();
    let [change] = &history(&sandbox)[..] else { panic!("one change") };
    assert_eq!(change["at"], NOW);
    assert_eq!(change["reason"], "said in review");
    assert_eq!(change["session"], "5da15695");
    assert!(change["author"].is_string(), "{change}");
    let file = &change["files"][0];
    assert_eq!((&file["name"], &file["op"]), (&"rule".into(), &"write".into()));
    assert_eq!(file["before"], Value::Null);
    assert_eq!(file["after"].as_str().map(str::len), Some(64), "the whole hash");
}

/// F9.
#[test]
fn the_hashes_of_the_log_form_a_chain() {
    let sandbox = sandbox();
    sandbox.save("rule", "First.");
    sandbox.memdir(&["edit", "rule", "--append", "Second."]).ok();
    sandbox.memdir(&["edit", "rule", "--append", "Third."]).ok();
    let log = history(&sandbox);
    for pair in log.windows(2) {
        assert_eq!(pair[0]["files"][0]["before"], pair[1]["files"][0]["after"]);
    }
    let mut ids = strings_at(&Value::Array(log), "change");
    ids.reverse();
    assert!(ids.is_sorted(), "newest first, and later ids are greater: {ids:?}");
}

/// F9.
#[test]
fn undo_restores_every_byte_of_every_kind_of_change() {
    let kinds: [&[&str]; 13] = [
        &["save", "new", "--type", "reference", "--description", "d", "--body", "Entirely new text."],
        &["save", "rule", "--type", "project", "--description", "other", "--body", "Written over."],
        &["edit", "rule", "--append", "More."],
        &["edit", "rule", "--description", "better"],
        &["edit", "rule", "--set", "confidence=high"],
        &["edit", "windows", "--tag", "t"],
        &["rename", "rule", "law"],
        &["correct", "rule", "--body", "Corrected."],
        &["forget", "rule", "--yes"],
        &["forget", "rule", "windows", "--yes"],
        &["supersede", "rule", "other"],
        &["import", "claude-code", "IMPORT"],
        &["promote", "rule", "--to", "user"],
    ];
    for kind in kinds {
        let sandbox = linked_sandbox();
        let import = sandbox.root().join("import");
        let command: Vec<&str> =
            kind.iter().map(|word| if *word == "IMPORT" { import.to_str().unwrap() } else { word }).collect();
        let before = sandbox.vault_tree();
        sandbox.memdir(&command).ok();
        let after = sandbox.vault_tree();
        assert_ne!(before.changes(&after), [""; 0], "{command:?} did nothing");
        sandbox.memdir(&["undo"]).ok();
        assert_eq!(before.changes(&sandbox.vault_tree()), [""; 0], "{command:?}");

        let undo = history(&sandbox)[0]["change"].as_str().unwrap().to_owned();
        sandbox.memdir(&["undo", &undo]).ok();
        assert_eq!(after.changes(&sandbox.vault_tree()), [""; 0], "{command:?}: an undo can be undone");
    }
}

/// F9.
#[test]
fn an_older_change_can_be_undone_by_its_id() {
    let sandbox = sandbox();
    sandbox.save("one", &prose(1));
    sandbox.save("two", &prose(2));
    let oldest = history(&sandbox)[1]["change"].as_str().unwrap().to_owned();
    sandbox.memdir(&["undo", &oldest]).ok();
    assert_eq!(listed_names(&sandbox), ["two"]);
}

/// F9.
#[test]
fn an_undo_does_not_overwrite_what_was_edited_since() {
    let sandbox = sandbox();
    sandbox.save("rule", "First.");
    sandbox.memdir(&["edit", "rule", "--body", "Second."]).ok();
    let second = history(&sandbox)[0]["change"].as_str().unwrap().to_owned();
    sandbox.memdir(&["edit", "rule", "--body", "Third."]).ok();
    let output = sandbox.memdir(&["undo", &second]).run();
    assert!(sandbox.read("rule").contains("Third."), "{output}");
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stderr.contains("rule"), "{output}");
}

/// F9.
#[test]
fn an_undo_with_nothing_to_undo_says_so() {
    let sandbox = sandbox();
    let output = sandbox.memdir(&["undo"]).code(1);
    assert!(!output.stderr.is_empty(), "{output}");
}

/// F9.
#[test]
fn history_older_than_thirty_days_is_pruned_and_what_lives_stays() {
    let sandbox = sandbox();
    sandbox.save("old", "An old memory with an oldsecondword.");
    sandbox.memdir(&["edit", "old", "--body", "Rewritten long ago."]).ok();
    let before = sandbox.read("old");
    sandbox
        .memdir(&["save", "new", "--type", "project", "--description", "d", "--body", "New."])
        .at("2026-05-20T00:00:00Z")
        .ok();

    assert_eq!(sandbox.read("old"), before, "what lives is not history");
    assert!(sandbox.state_tree().containing(b"oldsecondword").is_empty(), "kept beyond its time");
    assert_eq!(history(&sandbox).iter().filter(|change| change["files"][0]["name"] == "new").count(), 1);

    std::fs::remove_file(sandbox.memory("old")).unwrap();
    sandbox.memdir(&["doctor", "--fix"]).at("2026-05-20T00:00:01Z").run();
    let outside = history(&sandbox).into_iter().find(|change| change["author"] == "outside").unwrap();
    let vanished = outside["change"].as_str().unwrap().to_owned();
    sandbox.memdir(&["undo", &vanished]).at("2026-05-20T00:00:02Z").ok();
    assert_eq!(sandbox.read("old"), before, "what lived can be brought back");
}

/// F9.
#[test]
fn history_of_the_last_thirty_days_is_not_pruned() {
    let sandbox = sandbox();
    sandbox.save("old", "First.");
    let first = sandbox.read("old");
    sandbox.memdir(&["edit", "old", "--append", "Second."]).ok();
    sandbox
        .memdir(&["save", "new", "--type", "project", "--description", "d", "--body", "New."])
        .at("2026-05-01T00:00:00Z")
        .ok();
    let edit = history(&sandbox)[1]["change"].as_str().unwrap().to_owned();
    sandbox.memdir(&["undo", &edit]).at("2026-05-01T00:00:00Z").ok();
    assert_eq!(sandbox.read("old"), first);
}

/// F9.
#[test]
fn the_audit_holds_no_erased_text() {
    let sandbox = sandbox();
    sandbox.save("rule", "Text to be erased: quizzaciously.");
    sandbox.memdir(&["forget", "rule", "--erase", "--yes"]).ok();
    let log = sandbox.memdir(&["log"]).json().to_string();
    assert!(!log.contains("quizzaciously"), "{log}");
    assert!(sandbox.state_tree().containing(b"quizzaciously").is_empty());
    assert!(log.contains("erase"), "that something was erased is still known: {log}");
    let outsiders = history(&sandbox).iter().filter(|change| change["author"] == "outside").count();
    assert_eq!(outsiders, 0, "we did it ourselves: {log}");
}

/// Memories that link to each other, so that a rename touches more than one file.
fn linked_sandbox() -> Sandbox {
    let sandbox = sandbox();
    sandbox.save("rule", &prose(1));
    sandbox.save("other", &format!("{} See [[rule]] and [it](rule.md).", prose(2)));
    sandbox.write(
        "windows.md",
        crate::setup::memory_file("windows", "from afar", &prose(3)).replace('\n', "\r\n"),
    );
    let import = sandbox.root().join("import");
    std::fs::create_dir(&import).unwrap();
    std::fs::write(import.join("imported.md"), crate::setup::memory_file("imported", "d", &prose(4)))
        .unwrap();
    sandbox.memdir(&["edit", "other", "--tag", "seen"]).ok();
    sandbox
}
