//! The memory tool over the real vault: exact sentences, one change a command, in the agent's name.

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::host::{Host, Said, sandbox};

const NOTE: &str = "---\nname: feedback-tabs\ndescription: Tabs, not spaces\ntype: feedback\n---\n\nUse tabs.\n\n**Why:** the \
                    linter.\n\n**How to apply:** everywhere.\n";

fn memory(host: &mut Host, arguments: Value) -> Said {
    host.call("memory", arguments)
}

fn create(path: &str, text: &str) -> Value {
    json!({ "command": "create", "path": path, "file_text": text })
}

fn good(text: &str) -> Said {
    Said { text: text.to_owned(), is_error: false }
}

fn bad(text: &str) -> Said {
    Said { text: text.to_owned(), is_error: true }
}

/// A.5: every row of the table, through the server, over files.
#[test]
fn a5_every_sentence_of_the_memory_tool() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    let mut check = |arguments: Value, expected: Said| {
        assert_eq!(memory(&mut host, arguments.clone()), expected, "{arguments}")
    };
    let view = |path: &str| json!({ "command": "view", "path": path });
    let head = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";
    check(view("/memories"), good(&format!("{head}\n4.0K\t/memories")));
    check(
        view("/memories/a.md"),
        bad("The path /memories/a.md does not exist. Please provide a valid path."),
    );
    check(create("/memories/a.md", "one\ntwo\n"), good("File created successfully at: /memories/a.md"));
    check(create("/memories/a.md", "other\n"), bad("Error: File /memories/a.md already exists"));
    check(
        view("/memories/a.md"),
        good("Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo"),
    );
    let ranged = json!({ "command": "view", "path": "/memories/a.md", "view_range": [2, 2] });
    check(ranged, good("Here's the content of /memories/a.md with line numbers:\n     2\ttwo"));
    let replace = |old: &str, new: &str| json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": old, "new_str": new });
    check(replace("two", "2"), good("The memory file has been edited.\n     1\tone\n     2\t2"));
    check(
        replace("three", "3"),
        bad("No replacement was performed, old_str `three` did not appear verbatim in /memories/a.md."),
    );
    let insert = |path: &str, line: i64| json!({ "command": "insert", "path": path, "insert_line": line, "insert_text": "2" });
    check(insert("/memories/a.md", 2), good("The file /memories/a.md has been edited."));
    check(
        replace("2", "two"),
        bad(
            "No replacement was performed. Multiple occurrences of old_str `2` in lines: 2, 3. Please ensure it is unique",
        ),
    );
    check(
        insert("/memories/a.md", 9),
        bad(
            "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 3]",
        ),
    );
    check(insert("/memories/b.md", 0), bad("Error: The path /memories/b.md does not exist"));
    let rename = |old: &str, new: &str| json!({ "command": "rename", "old_path": old, "new_path": new });
    check(
        rename("/memories/a.md", "/memories/b.md"),
        good("Successfully renamed /memories/a.md to /memories/b.md"),
    );
    check(rename("/memories/a.md", "/memories/c.md"), bad("Error: The path /memories/a.md does not exist"));
    check(create("/memories/c.md", "x\n"), good("File created successfully at: /memories/c.md"));
    check(
        rename("/memories/b.md", "/memories/c.md"),
        bad("Error: The destination /memories/c.md already exists"),
    );
    check(create("/memories/team/d.md", "deep\n"), good("File created successfully at: /memories/team/d.md"));
    let delete = |path: &str| json!({ "command": "delete", "path": path });
    check(delete("/memories/team"), good("Successfully deleted /memories/team"));
    check(delete("/memories/b.md"), good("Successfully deleted /memories/b.md"));
    check(delete("/memories/b.md"), bad("Error: The path /memories/b.md does not exist"));
    assert!(memory(&mut host, delete("/memories")).is_error);
    assert_eq!(sandbox.read("c"), "x\n", "byte for byte");
}

/// Every write is one change of the agent, with its session and the host's name, and can be taken back.
#[test]
fn writes_are_changes_of_the_agent_and_can_be_undone() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    host.ok("memory", create("/memories/feedback-tabs.md", NOTE));
    host.ok("memory", json!({ "command": "delete", "path": "/memories/feedback-tabs.md" }));
    let log = sandbox.memdir(&["log"]).json();
    let reasons: Vec<&str> =
        log.as_array().unwrap().iter().map(|change| change["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["memory tool, delete by test-host", "memory tool, create by test-host"]);
    for change in log.as_array().unwrap() {
        assert_eq!(change["author"], "agent");
        assert!(change["session"].as_str().unwrap().starts_with("mcp-"), "{change}");
    }
    let trash = sandbox.state_tree().without(|path| !path.contains("/trash/") || !path.ends_with(".md"));
    assert_eq!(trash.paths().count(), 1, "what is deleted goes to the trash");
    sandbox.memdir(&["undo"]).ok();
    assert_eq!(sandbox.read("feedback-tabs"), NOTE);
    let shown = sandbox.memdir(&["show", "feedback-tabs"]).json();
    assert_eq!(shown["provenance"], "agent");
}

/// A.5: hard gates refuse in one line; soft gates let it in, say nothing, and stand in the log and with doctor.
#[test]
fn hard_gates_refuse_and_soft_gates_alter_no_sentence() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    let secret = format!("aws_access_key_id = AKIA{}\n", "QYLPMN5HFIQR7XYA");
    let said = memory(&mut host, create("/memories/key.md", &secret));
    assert!(said.is_error && said.text.starts_with("Error: line 1: "), "{said:?}");
    assert!(!said.text.contains("QYLPMN5"), "{said:?}");
    assert!(memory(&mut host, create("/memories/big.md", &"x".repeat(102_401))).is_error);
    assert!(memory(&mut host, create("/memories/../x.md", "x")).is_error);
    assert_eq!(sandbox.vault_tree().paths().count(), 0);
    // No frontmatter, a type that is none, nearly the same twice, what git shows: all of it is the agent's affair.
    let notes = [
        ("/memories/plain.md", "just a note to self\n".to_owned()),
        ("/memories/odd.md", "---\nname: other\ntype: misc\n---\n\nx\n".to_owned()),
        ("/memories/broken.md", "---\nname: [\n---\n\nx\n".to_owned()),
        ("/memories/feedback-tabs.md", NOTE.to_owned()),
        (
            "/memories/feedback-tabs-again.md",
            NOTE.replace("name: feedback-tabs", "name: feedback-tabs-again"),
        ),
    ];
    for (path, text) in &notes {
        assert_eq!(
            memory(&mut host, create(path, text)),
            good(&format!("File created successfully at: {path}"))
        );
    }
    let log = sandbox.memdir(&["log"]).json();
    let forced = log.as_array().unwrap().iter().filter(|change| !change["force"].is_null()).count();
    assert_eq!(forced, 4, "all but the sound one: {log}");
    let doctor = sandbox.memdir(&["doctor"]).run().stdout;
    assert!(doctor.contains("plain") && doctor.contains("odd") && doctor.contains("broken"), "{doctor}");
}

/// In MEMORY.md what is ours is made anew, what is outside stays, and waits for the user's word.
#[test]
fn the_index_page_can_be_edited_outside_its_block() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    host.ok("memory", create("/memories/feedback-tabs.md", NOTE));
    let page = "/memories/MEMORY.md";
    let insert = json!({ "command": "insert", "path": page, "insert_line": 1, "insert_text": "Ask Ada about releases." });
    assert_eq!(memory(&mut host, insert), good("The file /memories/MEMORY.md has been edited."));
    let replace = json!({ "command": "str_replace", "path": page, "old_str": "- [Tabs](feedback-tabs.md)", "new_str": "- [X](nothing.md)" });
    memory(&mut host, replace);
    let text = sandbox.index_page();
    assert!(text.contains("Ask Ada about releases.") && text.contains("(feedback-tabs.md)"), "{text}");
    assert!(!host.read("memdir://page").contains("Ada"), "nobody vouched for it");
    let secret = json!({ "command": "insert", "path": page, "insert_line": 1, "insert_text": format!("key AKIA{}", "QYLPMN5HFIQR7XYA") });
    assert!(memory(&mut host, secret).is_error);
    for refused in [
        json!({ "command": "delete", "path": page }),
        json!({ "command": "rename", "old_path": page, "new_path": "/memories/x.md" }),
    ] {
        assert!(memory(&mut host, refused).is_error);
    }
}

/// A rename mends the name inside and the links of others, as the command does.
#[test]
fn a_rename_mends_links() {
    let sandbox = sandbox();
    let mut host = Host::start(&sandbox);
    host.ok("memory", create("/memories/feedback-tabs.md", NOTE));
    host.ok("memory", create("/memories/notes.md", "see [[feedback-tabs]]\n"));
    let rename = json!({ "command": "rename", "old_path": "/memories/feedback-tabs.md", "new_path": "/memories/feedback-indent.md" });
    host.ok("memory", rename);
    assert!(sandbox.read("feedback-indent").contains("name: feedback-indent\n"));
    assert_eq!(sandbox.read("notes"), "see [[feedback-indent]]\n");
    assert_eq!(sandbox.memdir(&["log"]).json().as_array().unwrap().len(), 3, "one change a command");
}

/// With `review = "ask"` an agent is told that its change waits.
#[test]
fn a_change_that_waits_is_told() {
    let sandbox = sandbox();
    write_settings(&sandbox, "review = \"ask\"\n");
    let mut host = Host::start(&sandbox);
    let said = memory(&mut host, create("/memories/feedback-tabs.md", NOTE));
    assert!(said.is_error && said.text.contains("memdir review"), "{said:?}");
    assert_eq!(sandbox.vault_tree().paths().count(), 0);
    assert_eq!(sandbox.memdir(&["review"]).json().as_array().unwrap().len(), 1);
}

fn write_settings(sandbox: &Sandbox, text: &str) {
    std::fs::create_dir_all(sandbox.state()).unwrap();
    std::fs::write(sandbox.state().join("config.toml"), text).unwrap();
}
