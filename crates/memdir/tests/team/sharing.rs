//! What travels and what becomes of two versions: TS-01 to TS-07, the scopes, undo, status, leaving.

use std::fs;

use memdir_testkit::Tree;
use serde_json::json;

use crate::world::{Common, Machine, each, list, plant, refused};

/// Ten lines, so that two people can change different ones.
fn long() -> String {
    let lines = ["Ann", "Berth", "Crane", "Dock", "Engine", "Ferry", "Gull", "Hold", "Inlet", "Jetty"];
    lines.map(|word| format!("{word} is asked first.\n")).concat()
}

/// Two members who have the same memory.
fn agreed(common: &Common) -> (Machine, Machine) {
    let (ann, bob) = common.pair();
    ann.save("project-berths", &long());
    ann.synced();
    bob.synced();
    assert_eq!(ann.memories(), bob.memories());
    (ann, bob)
}

#[test]
fn ts_01_different_lines_are_merged_and_all_end_equal() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.rewrite("project-berths", "Berth is asked first", "Berth is asked by kittiwake");
    bob.rewrite("project-berths", "Hold is asked first", "Hold is asked by fulmar");
    ann.synced();
    let report = bob.synced();
    assert_eq!(list(&report["merged"]), ["project-berths"], "{report}");
    ann.synced();
    let text = ann.read("project-berths");
    assert!(text.contains("kittiwake") && text.contains("fulmar"), "{text}");
    assert_eq!(ann.memories(), bob.memories());
    assert_eq!(ann.memories(), common.shared());
}

#[test]
fn ts_01_the_same_line_is_kept_in_both_versions() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.rewrite("project-berths", "Crane is asked first", "Crane is asked by kittiwake");
    bob.rewrite("project-berths", "Crane is asked first", "Crane is asked by fulmar");
    ann.synced();
    let report = bob.synced();
    let copy = report["conflicts"][0]["copy"].as_str().unwrap().to_owned();
    assert_eq!(report["conflicts"], json!([{ "name": "project-berths", "copy": copy }]));
    ann.synced();
    assert!(ann.read("project-berths").contains("kittiwake"), "who was first keeps the name");
    assert!(ann.read(&copy).contains("fulmar"), "the second version travels");
    assert_eq!(ann.memories(), bob.memories());
    assert_eq!(ann.memories(), common.shared());
    for machine in [&ann, &bob] {
        let status = machine.memdir(&["team", "status", "--json"]).code(1).json();
        assert_eq!(list(&status["open_conflicts"]), [copy.as_str()], "{status}");
        let doctor = machine.memdir(&["doctor", "--json"]).run();
        assert!(doctor.stdout.contains("team-conflict") && doctor.stdout.contains(&copy), "{doctor}");
    }
    bob.memdir(&["forget", &copy, "--yes"]).ok();
    bob.synced();
    ann.synced();
    assert!(!ann.has(&copy), "decided by one, decided for all");
    ann.memdir(&["team", "status"]).ok();
}

#[test]
fn ts_01_two_new_memories_of_one_name_both_stay() {
    let common = Common::new();
    let (ann, bob) = common.pair();
    ann.save("project-tides", "Low water is at six. kittiwake");
    bob.save("project-tides", "Low water is at seven. fulmar");
    ann.synced();
    let report = bob.synced();
    let copy = report["conflicts"][0]["copy"].as_str().unwrap();
    ann.synced();
    assert!(ann.read("project-tides").contains("kittiwake") && ann.read(copy).contains("fulmar"));
    assert_eq!(ann.memories(), bob.memories());
}

/// T3, T6: two machines that said the same against a third keep it beside under one name.
#[test]
fn ts_01_a_second_version_that_is_there_already_is_kept_once() {
    let common = Common::new();
    let (ann, bob) = common.pair();
    let carl = common.member("carl");
    carl.save("project-tides", "Low water is at six. kittiwake");
    carl.synced();
    for machine in [&ann, &bob] {
        plant(machine.vault(), "project-tides", "Low water is at seven. fulmar");
    }
    let copy = ann.synced()["conflicts"][0]["copy"].as_str().unwrap().to_owned();
    assert_eq!(bob.synced()["conflicts"][0]["copy"], copy.as_str());
    assert_eq!(ann.memories(), bob.memories());
    assert_eq!(bob.memories(), common.shared());
    // Somebody goes on with the second version before the third machine meets it.
    ann.rewrite(&copy, "at seven", "at half past seven, says dunlin,");
    ann.synced();
    let dora = common.member("dora");
    dora.memdir(&["team", "leave"]).ok();
    plant(dora.vault(), "project-tides", "Low water is at seven. fulmar");
    dora.memdir(&["team", "join", common.share().to_str().unwrap()]).ok();
    dora.memdir(&["trust", "--all"]).ok();
    dora.synced();
    assert!(dora.read(&copy).contains("dunlin"));
    assert_eq!(dora.memories().containing(b"at seven. fulmar").len(), 1, "under a longer name");
    for machine in [&ann, &bob] {
        machine.synced();
        assert_eq!(machine.memories(), dora.memories());
    }
}

#[test]
fn ts_01_mirror_takes_what_is_there_and_keeps_what_was_here() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.rewrite("project-berths", "Crane is asked first", "Crane is asked by kittiwake");
    bob.rewrite("project-berths", "Crane is asked first", "Crane is asked by fulmar");
    let ours = bob.read("project-berths");
    ann.synced();
    let report = bob.memdir(&["sync", "--policy", "mirror", "--json"]).ok().json();
    assert_eq!(list(&report["replaced"]), ["project-berths"], "{report}");
    assert_eq!(bob.memories(), common.shared());
    assert!(!bob.read("project-berths").contains("fulmar"));
    bob.memdir(&["undo", report["change"].as_str().unwrap()]).ok();
    assert_eq!(bob.read("project-berths"), ours, "the version that gave way comes back byte for byte");
}

#[test]
fn ts_02_one_of_ten_changed_is_one_upload() {
    let common = Common::new();
    let (ann, bob) = common.pair();
    for n in 0..10 {
        ann.save(
            &format!("project-berth-{n}"),
            &format!("Berth {n} has {} bollards. kittiwake{n}", n * 7 + 3),
        );
    }
    assert_eq!(ann.synced()["pushed"].as_array().unwrap().len(), 10);
    assert_eq!(bob.synced()["pulled"].as_array().unwrap().len(), 10);
    let before = Tree::of(&common.folder());
    assert_eq!(ann.synced()["pushed"], json!([]));
    assert_eq!(before.changes(&Tree::of(&common.folder())), Vec::<String>::new());
    ann.rewrite("project-berth-4", "bollards", "rings");
    for policy in ["merge", "mirror"] {
        let report = ann.memdir(&["sync", "--policy", policy, "--json"]).ok().json();
        let expected: &[&str] = if policy == "merge" { &["project-berth-4"] } else { &[] };
        assert_eq!(list(&report["pushed"]), expected, "{report}");
    }
    ann.rewrite("project-berth-5", "bollards", "rings");
    let report = ann.memdir(&["sync", "--policy", "mirror", "--json"]).ok().json();
    assert_eq!(list(&report["pushed"]), ["project-berth-5"]);
    assert_eq!(before.changes(&Tree::of(&common.folder())), ["~project-berth-4.md", "~project-berth-5.md"]);
}

#[test]
fn ts_03_a_deletion_travels_and_in_mirror_it_returns() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.memdir(&["forget", "project-berths", "--yes"]).ok();
    let report = ann.memdir(&["sync", "--policy", "mirror", "--json"]).ok().json();
    assert_eq!(list(&report["survived"]), ["project-berths"], "{report}");
    assert!(ann.has("project-berths"), "in mirror a deletion does not travel");
    ann.memdir(&["forget", "project-berths", "--yes"]).ok();
    assert_eq!(list(&ann.synced()["deleted"]["there"]), ["project-berths"]);
    assert_eq!(list(&bob.synced()["deleted"]["here"]), ["project-berths"]);
    assert!(!bob.has("project-berths") && common.shared() == Tree::default());
}

#[test]
fn ts_04_private_memories_and_those_about_the_user_never_leave() {
    let common = Common::new();
    let (ann, _bob) = common.pair();
    ann.save_as("project-mine", "project", "private", "The harbour fee is split in three. kittiwake");
    ann.save_as("feedback-mine", "feedback", "private", "Never say harbour when you mean port. fulmar");
    let user = "---\nname: user-me\ndescription: who I am\ntype: user\nmetadata:\n  scope: team\n---\n\nA diver. dunlin\n";
    fs::write(ann.file("user-me"), user).unwrap();
    ann.memdir(&[
        "save",
        "user-role",
        "--type",
        "user",
        "--description",
        "role",
        "--body",
        "A pilot. whimbrel",
    ])
    .ok();
    ann.save("project-ours", "The ferry has two ramps. sanderling");
    let report = ann.synced();
    assert_eq!(list(&report["pushed"]), ["project-ours"], "{report}");
    let shared = Tree::of(&common.share());
    for word in ["kittiwake", "fulmar", "dunlin", "whimbrel"] {
        assert_eq!(shared.containing(word.as_bytes()), Vec::<&str>::new(), "{word}");
    }
    assert_eq!(shared.containing(b"sanderling").len(), 1);
}

#[test]
fn ts_04_one_made_private_is_taken_away_there_and_stays_here() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.rewrite("project-berths", "scope: team", "scope: private");
    let report = ann.synced();
    assert_eq!(list(&report["deleted"]["there"]), ["project-berths"], "{report}");
    bob.synced();
    assert!(ann.has("project-berths") && !bob.has("project-berths"));
    assert_eq!(common.shared(), Tree::default());
}

#[test]
fn ts_04_a_private_name_is_not_overwritten_by_the_team() {
    let common = Common::new();
    let (ann, bob) = common.pair();
    bob.save_as("project-tides", "project", "private", "My own list of tides. fulmar");
    ann.save("project-tides", "Low water is at six. kittiwake");
    ann.synced();
    let report = bob.memdir(&["sync", "--json"]).code(1).json();
    assert_eq!(each(&report["refused"], "name"), ["project-tides"], "{report}");
    assert!(bob.read("project-tides").contains("fulmar"));
    assert!(common.shared().containing(b"kittiwake").len() == 1);
}

#[test]
fn ty_02_a_user_memory_with_scope_team_is_refused() {
    let common = Common::new();
    let ann = common.member("ann");
    let args = [
        "save",
        "user-role",
        "--type",
        "user",
        "--scope",
        "team",
        "--description",
        "d",
        "--body",
        "A pilot.",
    ];
    let output = ann.memdir(&args).code(1);
    assert!(refused(&output, &["user"]), "{output}");
}

#[test]
fn ts_07_ty_05_ty_08_ty_11_scope_follows_from_the_type() {
    let common = Common::new();
    let alone = common.machine("carl");
    let ann = common.member("ann");
    let cases = [
        ("project-tides", "project", "Low water is at six. kittiwake", "private", "team"),
        (
            "reference-log",
            "reference",
            "The log of ships is kept at https://log.example/ships",
            "private",
            "team",
        ),
        (
            "feedback-words",
            "feedback",
            "Say port, not harbour, when you write to the pilot. fulmar",
            "private",
            "private",
        ),
    ];
    for (name, memory_type, body, apart, together) in cases {
        let args =
            ["save", name, "--type", memory_type, "--description", "what there is to know", "--body", body];
        for (machine, scope) in [(&alone, apart), (&ann, together)] {
            machine.memdir(&args).ok();
            let listed = machine.memdir(&["list", "--json"]).ok().json();
            let found = listed.as_array().unwrap().iter().find(|item| item["name"] == name).unwrap();
            assert_eq!(found["scope"], scope, "{name}");
        }
    }
    let remembered = ann.memdir(&[
        "remember",
        "We freeze merges after 2026-05-07 because the auditors come.",
        "--dry-run",
        "--json",
    ]);
    assert_eq!(remembered.run().json()["scope"], "team");
}

#[test]
fn ux_04_undo_takes_a_sync_back_byte_for_byte() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    bob.save("project-own", "The ferry has two ramps. sanderling");
    bob.synced();
    ann.synced();
    ann.rewrite("project-berths", "Crane is asked first", "Crane is asked by kittiwake");
    ann.memdir(&["forget", "project-own", "--yes"]).ok();
    ann.save("project-new", "The pilot speaks three languages. fulmar");
    ann.synced();
    let before = bob.memories();
    let change = bob.synced()["change"].as_str().unwrap().to_owned();
    assert_eq!(before.changes(&bob.memories()).len(), 3, "a change, a deletion and a new one in one change");
    bob.memdir(&["undo", &change]).ok();
    assert_eq!(bob.memories(), before);
}

#[test]
fn ts_06_through_the_repository_it_is_the_same() {
    let common = Common::new();
    let (ann, bob) = (common.committer("ann"), common.committer("bob"));
    let (of_ann, of_bob) = ("ann@shop.example", "bob@shop.example");
    ann.save("project-berths", &long());
    ann.save("project-gone", "The old crane is painted red. dunlin");
    ann.synced();
    ann.push();
    bob.pull();
    assert_eq!(each(&bob.sync()["held"], "author"), [of_ann, of_ann]);
    bob.memdir(&["trust", of_ann]).ok();
    assert_eq!(ann.memories(), bob.memories());
    bob.rewrite("project-berths", "Hold is asked first", "Hold is asked by fulmar");
    bob.memdir(&["forget", "project-gone", "--yes"]).ok();
    let report = bob.synced();
    assert_eq!(list(&report["pushed"]), ["project-berths"], "{report}");
    bob.push();
    ann.rewrite("project-berths", "Berth is asked first", "Berth is asked by kittiwake");
    ann.pull();
    ann.memdir(&["trust", of_bob]).ok();
    let text = ann.read("project-berths");
    assert!(text.contains("fulmar") && text.contains("kittiwake"), "{text}");
    assert!(!ann.has("project-gone"), "the deletion travelled");
    ann.push();
    bob.pull();
    bob.synced();
    assert_eq!(ann.memories(), bob.memories());
    ann.memdir(&["team", "status"]).ok();
    bob.memdir(&["team", "status"]).ok();
}

#[test]
fn ts_06_another_branch_deletes_nothing() {
    let common = Common::new();
    let ann = common.committer("ann");
    ann.git(&["branch", "old"]);
    ann.save("project-berths", &long());
    ann.synced();
    ann.commit();
    ann.git(&["checkout", "-q", "old"]);
    let report = ann.sync();
    assert_eq!(report["deleted"], json!({ "here": [], "there": [] }), "{report}");
    assert!(ann.has("project-berths"));
    ann.git(&["checkout", "-q", "main"]);
    ann.synced();
    assert!(ann.has("project-berths") && ann.team_folder().join("project-berths.md").exists());
}

#[test]
fn status_and_preview_change_nothing_and_say_what_a_sync_would_do() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.memdir(&["team", "status"]).ok();
    ann.save("project-new", "The pilot speaks three languages. fulmar");
    let (shared, own) = (Tree::of(&common.share()), ann.memories());
    let status = ann.memdir(&["team", "status", "--json"]).code(1).json();
    assert_eq!(list(&status["pushed"]), ["project-new"]);
    let would = ann.memdir(&["sync", "--dry-run", "--json"]).ok().json();
    assert_eq!(list(&would["pushed"]), ["project-new"]);
    assert_eq!((Tree::of(&common.share()), ann.memories()), (shared, own));
    ann.synced();
    let status = bob.memdir(&["team", "status", "--json"]).code(1).json();
    assert_eq!(list(&status["pulled"]), ["project-new"]);
    assert!(!bob.has("project-new"));
    let outsider = common.machine("carl");
    assert!(refused(&outsider.memdir(&["team", "status"]).code(1), &["shares no memories"]));
    assert!(refused(&outsider.memdir(&["sync"]).code(1), &["shares no memories"]));
}

#[test]
fn who_leaves_takes_only_their_own_along_unless_told_to_keep() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    bob.save("project-own", "The ferry has two ramps. sanderling");
    bob.synced();
    let shared = common.shared();
    let before = bob.memories();
    let left = bob.memdir(&["team", "leave", "--json"]).ok().json();
    assert_eq!(list(&left["removed"]), ["project-berths"]);
    assert!(bob.has("project-own") && !bob.has("project-berths"));
    assert_eq!(common.shared(), shared, "leaving takes nothing from the others");
    bob.memdir(&["undo"]).ok();
    assert_eq!(bob.memories(), before);
    bob.memdir(&["sync"]).code(1);
    ann.synced();
    ann.memdir(&["team", "leave", "--keep"]).ok();
    assert!(ann.has("project-berths") && ann.has("project-own"));
    let rejoined = ann.memdir(&["team", "join", common.share().to_str().unwrap(), "--json"]).ok().json();
    assert_eq!((&rejoined["held"], &rejoined["to_send"]), (&json!(0), &json!(0)), "{rejoined}");
}

#[test]
fn a_project_has_one_team() {
    let common = Common::new();
    let ann = common.member("ann");
    let output = ann.memdir(&["team", "join"]).code(1);
    assert!(refused(&output, &["team leave"]), "{output}");
}
