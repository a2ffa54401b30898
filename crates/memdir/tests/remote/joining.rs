//! Joining a server, the token that comes of it, people, and leaving.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::{Machine, Server};

/// S19.
#[test]
fn an_invitation_becomes_a_token_that_is_nowhere_but_in_its_file() {
    let server = Server::start(&[]);
    let ann = Machine::new("ann");
    let joined = ann.memdir(&["team", "join", &server.admin(), "--as", "ann"]).ok();
    ann.save("project-door", "the back door is repaired by the landlord");
    let synced = ann.memdir(&["sync"]).ok();
    let status = ann.memdir(&["team", "status", "--json"]).ok();
    let files = ann.files_with("mdt_");
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].parent().unwrap().ends_with("keys"));
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let token = fs::read_to_string(&files[0]).unwrap();
    for output in [&joined, &synced, &status] {
        assert!(!output.stdout.contains(&token) && !output.stderr.contains(&token), "{output}");
        assert!(!output.stdout.contains("mdi_") && !output.stderr.contains("mdi_"), "{output}");
    }
    assert!(ann.files_with("mdi_").is_empty());
}

#[test]
fn a_second_project_joins_with_the_same_token_and_leaving_both_forgets_it() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let other = ann.sandbox.root().join("other");
    ann.clone_project(&other, "https://code.example/harbour/other.git");
    let there = |args: &[&str]| ann.memdir(args).cwd(&other);
    there(&["team", "join", &server.url()]).ok();
    // The whole line once more, as people copy it: the invitation is used, the token is here.
    there(&["team", "join", &server.admin()]).ok();
    assert_eq!(ann.files_with("mdt_").len(), 1);
    ann.memdir(&["team", "leave"]).ok();
    assert_eq!(ann.files_with("mdt_").len(), 1, "the other project needs it");
    there(&["sync"]).ok();
    there(&["team", "leave"]).ok();
    assert!(ann.files_with("mdt_").is_empty());
    let refused = there(&["team", "join", &server.url()]).code(1);
    assert!(refused.stderr.contains("invitation"), "{refused}");
}

#[test]
fn a_project_has_one_team() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let refused = ann.memdir(&["team", "join"]).code(1);
    assert!(refused.stderr.contains("team at") && refused.stderr.contains("leave"), "{refused}");
    let elsewhere = format!("http://127.0.0.1:1#mdi_{}", "0".repeat(48));
    let refused = ann.memdir(&["team", "join", &elsewhere]).code(1);
    assert!(refused.stderr.contains("leave"), "{refused}");
    let other = Machine::new("bob");
    other.memdir(&["team", "join"]).ok();
    other.memdir(&["team", "join", &server.invite("bob", "write")]).code(1);
    assert!(other.files_with("mdt_").is_empty(), "the invitation was not used for nothing");
    other.memdir(&["team", "leave"]).ok();
}

#[test]
fn what_is_no_address_and_no_invitation_is_told_before_anything_happens() {
    let ann = Machine::new("ann");
    let zeros = "0".repeat(48);
    for (address, word) in [
        ("http://memory.example", "--insecure"),
        ("http://192.168.1.9:7420", "--insecure"),
        ("https://me:pw@memory.example", "user"),
        ("https://memory.example#mdi_123", "no invitation"),
        ("https://memory.example#mdt_123", "no invitation"),
        ("https://", "no URL"),
    ] {
        let refused = ann.memdir(&["team", "join", address, "--as", "ann"]).code(2);
        assert!(refused.stderr.contains(word), "{address}: {refused}");
        assert!(!refused.stderr.contains("mdt_123") && !refused.stderr.contains("mdi_123"), "{refused}");
    }
    let nobody =
        ann.memdir(&["team", "join", &format!("http://127.0.0.1:1#mdi_{zeros}"), "--as", "ann"]).code(2);
    assert!(nobody.stderr.contains("cannot be reached"), "{nobody}");
    let status = ann.memdir(&["team", "status"]).code(1);
    assert!(status.stderr.contains("shares no memories"), "{status}");
}

#[test]
fn an_invitation_works_once_and_for_its_name() {
    let server = Server::start(&[]);
    let _ann = Machine::member("ann", &server.admin());
    let for_bob = server.invite("bob", "write");
    let eve = Machine::new("eve");
    let refused = eve.memdir(&["team", "join", &for_bob, "--as", "eve"]).code(2);
    assert!(refused.stderr.contains("another name"), "{refused}");
    let _bob = Machine::member("bob", &for_bob);
    let refused = eve.memdir(&["team", "join", &for_bob, "--as", "bob"]).code(2);
    assert!(refused.stderr.contains("does not count"), "{refused}");
    let nameless = server.admin();
    let refused = eve.memdir(&["team", "join", &nameless]).code(2);
    assert!(refused.stderr.contains("does not count"), "{refused}");
}

/// A server that calls itself one's own would get private memories.
#[test]
fn s22_only_the_user_says_that_a_server_is_for_their_own_machines() {
    let server = Server::start(&[]);
    let own = server.own_team("mine");
    let ann = Machine::new("ann");
    let refused = ann.memdir(&["team", "join", &own, "--as", "ann"]).code(1);
    assert!(refused.stderr.contains("--own"), "{refused}");
    assert!(ann.memdir(&["team", "status"]).code(1).stderr.contains("shares no memories"));
    ann.memdir(&["team", "join", &server.url(), "--own"]).ok();
    let bob = Machine::new("bob");
    let refused = bob.memdir(&["team", "join", &server.admin(), "--as", "bob", "--own"]).code(1);
    assert!(refused.stderr.contains("several people"), "{refused}");
}

#[test]
fn people_are_listed_invited_and_revoked_and_what_they_did_is_seen() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let invited = ann.memdir(&["team", "invite", "--as", "bob", "--days", "3", "--json"]).ok().json();
    let link = invited["join"].as_str().unwrap();
    assert!(link.starts_with(&server.url()), "{link}");
    let bob = Machine::member("bob", link);
    bob.save("reference-board", "incidents are tracked on the harbour board");
    bob.synced();
    let members = ann.memdir(&["team", "members", "--json"]).ok().json();
    let names: Vec<&str> =
        members.as_array().unwrap().iter().map(|m| m["member"].as_str().unwrap()).collect();
    assert_eq!(names, ["ann", "bob"]);
    let found = ann.memdir(&["team", "search", "harbour board", "--json"]).ok().json();
    assert_eq!(found["hits"][0]["path"], "reference-board.md");
    ann.memdir(&["team", "search", "zeppelin"]).code(1);
    let tokens = bob.memdir(&["team", "tokens", "--json"]).ok();
    assert!(!tokens.stdout.contains("mdt_"), "{tokens}");
    let audit = ann.memdir(&["team", "audit"]).ok();
    assert!(audit.stdout.contains("bob create") && !audit.stdout.contains("incidents are"), "{audit}");
    let refused = bob.memdir(&["team", "audit"]).code(2);
    assert!(refused.stderr.contains("admin"), "{refused}");
    ann.memdir(&["team", "revoke", "bob"]).ok();
    let out = bob.memdir(&["sync"]).code(2);
    assert!(out.stderr.contains("does not let us in") && out.stderr.contains("team join"), "{out}");
}

#[test]
fn leaving_everywhere_ends_the_membership_and_leaving_here_does_not() {
    let server = Server::start(&[]);
    let ann = Machine::member("ann", &server.admin());
    let bob = Machine::member("bob", &server.invite("bob", "write"));
    let members = || {
        let list = ann.memdir(&["team", "members", "--json"]).ok().json();
        list.as_array().unwrap().iter().filter(|member| !member["scope"].is_null()).count()
    };
    bob.memdir(&["team", "leave"]).ok();
    assert_eq!(members(), 2);
    bob.memdir(&["team", "join", &server.invite("bob", "write")]).ok();
    bob.memdir(&["team", "leave", "--everywhere"]).ok();
    assert_eq!(members(), 1);
    assert!(bob.files_with("mdt_").is_empty());
}
