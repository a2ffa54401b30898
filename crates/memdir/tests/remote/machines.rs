//! One person's machines on a server: everything travels, the ledgers of use too.

use std::fs;

use crate::world::{Machine, Server};

/// UX-06.
#[test]
fn ones_own_machines_have_everything_in_common() {
    let server = Server::start(&[]);
    let (desk, lap) = (Machine::new("desk"), Machine::new("lap"));
    desk.memdir(&["team", "join", &server.own_team("mine"), "--as", "me", "--own"]).ok();
    lap.memdir(&["team", "join", &server.invite_to("mine", "me"), "--own"]).ok();
    desk.memdir(&[
        "save",
        "user-role",
        "--type",
        "user",
        "--description",
        "what the user does",
        "--force",
        "t",
    ])
    .stdin("a harbour pilot who writes software at night")
    .ok();
    desk.memdir(&[
        "save",
        "feedback-tone",
        "--type",
        "feedback",
        "--description",
        "how to write",
        "--force",
        "t",
    ])
    .stdin("write plainly, because the crew reads it on deck")
    .ok();
    desk.memdir(&["recall", "how shall I write for the crew"]).run();
    desk.synced();
    lap.synced();
    assert_eq!(lap.text("feedback-tone"), desk.text("feedback-tone"));
    assert!(lap.names().iter().any(|name| name.contains("user-role")), "{:?}", lap.names());
    let ledgers = |machine: &Machine| {
        let project = machine.vault();
        let state = machine.sandbox.state().join("projects");
        let mut lines = Vec::new();
        crate::world::files_below(&state, &mut |path, bytes| {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("usage-")) {
                lines.push((path.file_name().unwrap().to_owned(), bytes.to_vec()));
            }
        });
        assert!(project.is_dir());
        lines.sort();
        lines
    };
    desk.synced();
    lap.synced();
    desk.synced();
    assert_eq!(ledgers(&desk), ledgers(&lap));
    assert!(!ledgers(&desk).is_empty());
    assert!(fs::read_dir(lap.vault()).unwrap().count() > 0);
}

/// TS-04.
#[test]
fn a_team_gets_neither_private_memories_nor_ledgers() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.memdir(&[
        "save",
        "feedback-tone",
        "--type",
        "feedback",
        "--description",
        "how to write",
        "--force",
        "t",
    ])
    .stdin("canary-private: write plainly, because the crew reads it on deck")
    .ok();
    ann.memdir(&[
        "save",
        "user-role",
        "--type",
        "user",
        "--description",
        "what the user does",
        "--force",
        "t",
    ])
    .stdin("canary-user: a harbour pilot who writes software at night")
    .ok();
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    ann.memdir(&["recall", "how shall I write for the crew"]).run();
    let report = ann.synced();
    assert_eq!(report["pushed"], serde_json::json!(["project-freeze"]));
    let up = String::from_utf8_lossy(&server.proxy.up()).into_owned();
    assert!(!up.contains("/usage"), "{up}");
    assert_eq!(report["requests"], 2);
}
