//! What goes both ways through a server: memories, merges, conflicts, deletions, trust.

use crate::world::{Machine, Server};

fn pair(server: &Server) -> (Machine, Machine) {
    let ann = Machine::member("ann", &server.admin());
    let bob = Machine::member("bob", &server.invite("bob", "write"));
    (ann, bob)
}

/// UX-06, UX-08, UX-14, TS-06.
#[test]
fn two_clones_meet_and_a_new_author_is_held_until_trusted() {
    let server = Server::start(&[]);
    let (ann, bob) = pair(&server);
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    let sent = ann.synced();
    assert_eq!(sent["pushed"], serde_json::json!(["project-freeze"]));
    let held = bob.sync();
    assert_eq!(held["held"][0]["author"], "ann", "{held}");
    assert_eq!(bob.text("project-freeze"), "");
    let status = bob.memdir(&["team", "status"]).code(1);
    assert!(status.stdout.contains("team at") && status.stderr.contains("trust"), "{status}");
    bob.trust("ann");
    assert_eq!(bob.text("project-freeze"), ann.text("project-freeze"));
    bob.memdir(&["team", "status"]).ok();
    assert_eq!(bob.synced()["requests"], 1);
}

/// TS-01, TS-03.
#[test]
fn both_sides_merge_or_stay_both_and_deletions_travel() {
    let server = Server::start(&[]);
    let (ann, bob) = pair(&server);
    ann.trust("bob");
    bob.trust("ann");
    let body = "The gate opens at six.\n\nThe crane is slow.\n\nThe dock floods at night.\n";
    ann.save("project-dock", body);
    ann.save("project-gone", "the old pier is closed for good because of the storm");
    ann.synced();
    bob.synced();
    ann.rewrite("project-dock", "six", "seven");
    bob.rewrite("project-dock", "night", "noon");
    bob.memdir(&["forget", "project-gone", "--yes"]).run();
    ann.synced();
    bob.synced();
    ann.synced();
    let text = ann.text("project-dock");
    assert!(text.contains("seven") && text.contains("noon"), "{text}");
    assert_eq!(text, bob.text("project-dock"));
    assert_eq!(ann.names(), bob.names());
    ann.rewrite("project-dock", "slow", "fast");
    bob.rewrite("project-dock", "slow", "broken");
    ann.synced();
    let report = bob.sync();
    assert_eq!(report["conflicts"].as_array().unwrap().len(), 1, "{report}");
    ann.synced();
    assert_eq!(ann.names(), bob.names());
    let all: String = ann.names().iter().map(|name| ann.text(name)).collect();
    assert!(all.contains("fast") && all.contains("broken"), "{all}");
}

#[test]
fn a_reader_receives_and_is_told_that_nothing_of_theirs_is_taken() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let bob = Machine::member("bob", &server.invite("bob", "read"));
    bob.trust("ann");
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    ann.synced();
    bob.save("project-mine", "bob's own view of the feast, for the team to read");
    let report = bob.sync();
    assert!(bob.names().contains(&"project-freeze".to_owned()));
    assert!(report["cut"].as_str().is_some_and(|cut| cut.contains("does not allow")), "{report}");
    ann.synced();
    assert!(!ann.names().contains(&"project-mine".to_owned()));
}

/// T5.
#[test]
fn what_a_team_forgot_is_gone_and_stays_gone() {
    let server = Server::start(&[]);
    let (ann, bob) = pair(&server);
    bob.trust("ann");
    ann.save("project-freeze", "no deploys in the week of the harbour feast");
    ann.synced();
    bob.synced();
    ann.memdir(&["forget", "project-freeze", "--yes"]).run();
    assert_eq!(ann.synced()["deleted"]["there"], serde_json::json!(["project-freeze"]));
    bob.synced();
    assert_eq!(bob.text("project-freeze"), "");
    bob.synced();
    ann.synced();
    assert!(ann.names().is_empty() && bob.names().is_empty());
    // A new memory of the same name is written over the tombstone.
    bob.save("project-freeze", "the freeze is now in the week of the regatta");
    assert_eq!(bob.synced()["pushed"], serde_json::json!(["project-freeze"]));
}

/// F1.
#[test]
fn an_erased_memory_is_erased_on_the_server_at_once_or_with_the_next_sync() {
    let mut server = Server::start(&[]);
    let (ann, bob) = pair(&server);
    bob.trust("ann");
    let canaries = ["xylophone-walrus-quicksand", "bassoon-otter-landslide"];
    for (name, canary) in ["project-freeze", "project-thaw"].iter().zip(canaries) {
        ann.save(name, &format!("no deploys in the week of {canary}"));
    }
    ann.synced();
    bob.synced();
    let is_there = |canary: &str| {
        ["team.db", "team.db-wal"].iter().any(|file| {
            let bytes = std::fs::read(server_file(&server, file)).unwrap_or_default();
            bytes.windows(canary.len()).any(|window| window == canary.as_bytes())
        })
    };
    assert!(is_there(canaries[0]) && is_there(canaries[1]));
    let erased = ann.memdir(&["forget", "project-freeze", "--erase", "--yes"]).ok();
    assert!(erased.stderr.contains("erased at team at"), "{erased}");
    assert!(!is_there(canaries[0]) && is_there(canaries[1]));
    server.kill();
    let erased = ann.memdir(&["forget", "project-thaw", "--erase", "--yes"]).ok();
    assert!(
        erased.stderr.contains("could not be asked") && erased.stderr.contains("cannot be reached"),
        "{erased}"
    );
    server.restart();
    ann.synced();
    bob.synced();
    let is_there = |canary: &str| {
        let bytes = std::fs::read(server.database()).unwrap();
        bytes.windows(canary.len()).any(|window| window == canary.as_bytes())
    };
    assert!(!is_there(canaries[1]));
    assert!(bob.names().is_empty() && ann.names().is_empty());
}

fn server_file(server: &Server, name: &str) -> std::path::PathBuf {
    server.database().with_file_name(name)
}

/// The server was put back to an older copy of itself: cursors are from the future, and nothing is lost by it.
#[test]
fn a_server_that_lost_its_newest_days_is_filled_again() {
    let mut server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    ann.save("project-one", "the first thing that everybody has to know here");
    ann.synced();
    let copy = server.back_up();
    ann.save("project-two", "the second thing that everybody has to know here");
    ann.rewrite("project-one", "first", "very first");
    ann.synced();
    server.kill();
    std::fs::copy(copy, server.database()).unwrap();
    for rest in ["team.db-wal", "team.db-shm"] {
        let _ = std::fs::remove_file(server.database().with_file_name(rest));
    }
    server.restart();
    let report = ann.synced();
    assert_eq!(report["pushed"], serde_json::json!(["project-one", "project-two"]), "{report}");
    assert_eq!(ann.names(), ["project-one", "project-two"]);
    assert!(ann.text("project-one").contains("very first"), "{}", ann.text("project-one"));
}
