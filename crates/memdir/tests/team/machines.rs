//! UX-06: the same memory on every machine of one user, through a directory of their own.

use std::fs;
use std::path::PathBuf;

use memdir_testkit::Tree;
use serde_json::json;

use crate::world::{Common, Machine, list, memories, refused};

fn own(common: &Common, name: &str) -> Machine {
    let machine = common.machine(name);
    machine.memdir(&["team", "join", common.share().to_str().unwrap(), "--own"]).ok();
    machine
}

fn user_vault(machine: &Machine) -> PathBuf {
    machine.sandbox.state().join("user")
}

fn save_user(machine: &Machine, name: &str, body: &str) {
    machine.memdir(&["save", name, "--type", "user", "--description", "about me", "--body", body]).ok();
}

fn save_rule(machine: &Machine) {
    let body = "Integration tests run against a real PostgreSQL, never against mocks.\n\n\
        **Why:** mocks hid a broken migration.\n**How to apply:** start it with compose before the tests.\n";
    machine.save_as("feedback-real-db", "feedback", "team", body);
}

/// Reminds a session of it.
fn asked(machine: &Machine, session: &str) {
    let asked = "shall the integration tests use mocks or a real PostgreSQL?";
    machine.memdir(&["recall", asked, "--session", session]).ok();
}

fn ledgers(machine: &Machine) -> Tree {
    Tree::of(&machine.state().join("ledger"))
}

#[test]
fn ux_06_two_machines_end_with_equal_vaults() {
    let common = Common::new();
    let (laptop, desk) = (own(&common, "laptop"), own(&common, "desk"));
    laptop.save_as("project-mine", "project", "private", "The harbour fee is split in three. kittiwake");
    laptop.save("project-ours", "The ferry has two ramps. sanderling");
    save_user(&laptop, "user-role", "A pilot who reads charts. fulmar");
    desk.save_as("feedback-words", "feedback", "private", "Say port when you write to the pilot. dunlin");
    save_user(&desk, "user-tools", "Works with two screens. whimbrel");
    laptop.synced();
    let report = desk.synced();
    assert_eq!(list(&report["pulled"]), ["project-mine", "project-ours", "~/user-role"], "{report}");
    laptop.synced();
    assert_eq!(laptop.memories(), desk.memories());
    assert_eq!(laptop.memories().paths().count(), 3);
    assert_eq!(memories(&user_vault(&laptop)), memories(&user_vault(&desk)));
    assert_eq!(memories(&user_vault(&laptop)).paths().count(), 2);
    assert_ne!(laptop.vault().file_name(), None);
    assert_ne!(laptop.vault().parent().unwrap().file_name(), desk.vault().parent().unwrap().file_name());
    desk.memdir(&["forget", "project-mine", "--yes"]).ok();
    desk.memdir(&["forget", "~/user-role", "--yes"]).ok();
    desk.synced();
    laptop.synced();
    assert!(!laptop.has("project-mine") && !user_vault(&laptop).join("user-role.md").exists());
    laptop.memdir(&["team", "status"]).ok();
}

#[test]
fn ux_06_what_was_used_is_known_on_every_machine() {
    let common = Common::new();
    let (laptop, desk) = (own(&common, "laptop"), own(&common, "desk"));
    save_rule(&laptop);
    laptop.synced();
    desk.synced();
    for (machine, session) in [(&laptop, "r"), (&desk, "s"), (&laptop, "s")] {
        asked(machine, session);
    }
    for machine in [&laptop, &desk, &laptop] {
        machine.synced();
    }
    let (here, there) = (ledgers(&laptop), ledgers(&desk));
    assert_eq!(here, there);
    assert_eq!(here.paths().count(), 2, "a ledger a machine: {here:?}");
    assert_eq!(here.containing(b"feedback-real-db").len(), 2, "both were shown it");
    asked(&laptop, "t");
    laptop.synced();
    desk.synced();
    assert_eq!(ledgers(&laptop), ledgers(&desk), "what a ledger gained is all that travels");
}

#[test]
fn ux_06_what_is_ones_own_never_goes_to_a_team() {
    let common = Common::new();
    let ann = common.member("ann");
    save_user(&ann, "user-role", "A pilot who reads charts. fulmar");
    save_rule(&ann);
    asked(&ann, "s");
    ann.synced();
    let shared = Tree::of(&common.share());
    let strange = |path: &&str| {
        !path.ends_with("MEMORY.md") && !path.ends_with("/feedback-real-db.md") && !path.ends_with('/')
    };
    assert_eq!(shared.paths().filter(strange).collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(shared.containing(b"fulmar"), Vec::<&str>::new());
    let output = common.machine("bob").memdir(&["team", "join", "--own"]).code(2);
    assert!(refused(&output, &["read by others"]), "{output}");
}

#[test]
fn ux_06_a_disk_that_is_not_there_deletes_nothing() {
    let common = Common::new();
    let (laptop, desk) = (own(&common, "laptop"), own(&common, "desk"));
    laptop.save("project-ours", "The ferry of the harbour has two ramps. sanderling");
    laptop.synced();
    desk.synced();
    let away = common.path().join("away");
    fs::rename(common.share(), &away).unwrap();
    assert!(refused(&laptop.memdir(&["sync"]).code(2), &["cannot be reached"]));
    fs::create_dir(common.share()).unwrap();
    assert!(
        refused(&laptop.memdir(&["sync"]).code(2), &["gone or empty"]),
        "an empty mount point is no empty vault"
    );
    assert!(laptop.has("project-ours"));
    fs::remove_dir(common.share()).unwrap();
    fs::rename(away, common.share()).unwrap();
    assert_eq!(laptop.synced()["pulled"], json!([]));
    assert!(desk.has("project-ours"));
}
