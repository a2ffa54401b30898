//! Deletions and erasures: T5, F1, F2.

use std::fs;

use memdir_testkit::Tree;

use crate::world::{Common, Machine, list};

const BODY: &str =
    "The signal lamp was given away.\n\nIt stood on the mole. kittiwake\n\nNobody asked for it.";

fn agreed(common: &Common) -> (Machine, Machine) {
    let (ann, bob) = common.pair();
    ann.save("project-lamp", BODY);
    ann.synced();
    bob.synced();
    (ann, bob)
}

#[test]
fn t5_a_deletion_reaches_who_did_not_change_it_and_stays() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.memdir(&["forget", "project-lamp", "--yes"]).ok();
    ann.synced();
    for _ in 0..3 {
        bob.synced();
        ann.synced();
    }
    assert!(!ann.has("project-lamp") && !bob.has("project-lamp"));
    assert_eq!(common.shared(), Tree::default());
    let trash = Tree::of(&bob.state().join("trash"));
    assert_eq!(trash.containing(b"kittiwake").len(), 1, "what leaves is kept");
}

#[test]
fn t5_an_edit_outlives_a_deletion_and_that_is_shown() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.memdir(&["forget", "project-lamp", "--yes"]).ok();
    bob.rewrite("project-lamp", "Nobody asked", "Only fulmar asked");
    ann.synced();
    let report = bob.synced();
    assert_eq!(list(&report["survived"]), ["project-lamp"], "{report}");
    let report = ann.synced();
    assert_eq!(list(&report["pulled"]), ["project-lamp"], "{report}");
    assert!(ann.read("project-lamp").contains("fulmar"));
    assert_eq!(ann.memories(), bob.memories());
}

#[test]
fn t5_a_deletion_meets_an_edit_that_came_first() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    bob.rewrite("project-lamp", "Nobody asked", "Only fulmar asked");
    bob.synced();
    ann.memdir(&["forget", "project-lamp", "--yes"]).ok();
    let report = ann.synced();
    assert_eq!(list(&report["survived"]), ["project-lamp"], "{report}");
    assert!(ann.read("project-lamp").contains("fulmar"));
}

#[test]
fn t5_who_was_away_for_a_hundred_days_brings_nothing_back() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.memdir(&["forget", "project-lamp", "--yes"]).ok();
    ann.synced();
    let (ann, bob) = (ann.at("2026-07-11T10:30:00Z"), bob.at("2026-07-11T10:30:00Z"));
    ann.synced();
    assert_eq!(list(&bob.synced()["deleted"]["here"]), ["project-lamp"]);
    ann.synced();
    assert!(!ann.has("project-lamp") && !bob.has("project-lamp"));
}

/// Says where a word is, in everything that anybody has: files, states, the shared directory.
fn holders(common: &Common, word: &str) -> Vec<String> {
    let wide: Vec<u8> = word.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tree = Tree::of(common.path());
    [word.as_bytes(), &wide].iter().flat_map(|bytes| tree.containing(bytes)).map(str::to_owned).collect()
}

#[test]
fn f1_an_erased_memory_is_gone_here_and_at_the_place_and_in_the_trash_of_teammates() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.memdir(&["search", "kittiwake"]).ok();
    ann.rewrite("project-lamp", "Nobody asked", "Only phalarope asked");
    ann.synced();
    bob.synced();
    bob.rewrite("project-lamp", "The signal lamp", "The old lamp of turnstone");
    bob.synced();
    ann.synced();
    // Nobody can be asked at the moment, so it waits for the next sync.
    let elsewhere = common.path().join("elsewhere");
    fs::rename(common.share(), &elsewhere).unwrap();
    let erased = ann.memdir(&["forget", "project-lamp", "--erase", "--yes"]).run();
    assert!(erased.code < 2, "{erased}");
    let doctor = ann.memdir(&["doctor", "--json"]).run();
    assert!(doctor.stdout.contains("team-erase"), "{doctor}");
    fs::rename(&elsewhere, common.share()).unwrap();
    ann.synced();
    let at_anns: Vec<String> = holders(&common, "phalarope");
    let own = |path: &&String| {
        path.starts_with(ann.sandbox.root().file_name().unwrap().to_str().unwrap())
            || path.starts_with("share")
    };
    assert_eq!(at_anns.iter().filter(own).collect::<Vec<_>>(), Vec::<&String>::new());
    let report = bob.synced();
    assert_eq!(list(&report["erased_there"]), ["project-lamp"], "{report}");
    for word in ["kittiwake", "phalarope", "turnstone"] {
        let left = holders(&common, word);
        assert_eq!(left.iter().filter(own).collect::<Vec<_>>(), Vec::<&String>::new(), "{word}");
    }
    assert!(!bob.has("project-lamp"));
    bob.memdir(&["undo"]).ok();
    assert!(bob.read("project-lamp").contains("turnstone"), "nobody takes away another's text for good");
    assert!(ann.memdir(&["doctor"]).run().code < 2);
}

#[test]
fn f2_an_erased_memory_stays_gone() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    let carl = common.member("carl");
    ann.memdir(&["forget", "project-lamp", "--erase", "--yes"]).ok();
    // A teammate who has not heard of it syncs first.
    bob.save("project-other", "The mole has a rail. sanderling");
    bob.synced();
    for _ in 0..2 {
        for machine in [&ann, &carl, &bob] {
            machine.synced();
            machine.memdir(&["index", "rebuild"]).ok();
        }
    }
    for machine in [&ann, &bob, &carl] {
        assert!(!machine.has("project-lamp") && machine.has("project-other"));
    }
    let anns = ann.sandbox.root().file_name().unwrap().to_str().unwrap();
    let left = holders(&common, "kittiwake");
    let is_hers = |path: &&String| path.starts_with(anns) || path.starts_with("share");
    assert_eq!(left.iter().filter(is_hers).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn f2_an_edit_that_nobody_had_seen_outlives_an_erasure() {
    let common = Common::new();
    let (ann, bob) = agreed(&common);
    ann.memdir(&["forget", "project-lamp", "--erase", "--yes"]).ok();
    bob.rewrite("project-lamp", "Nobody asked", "Only fulmar asked");
    ann.synced();
    let report = bob.synced();
    assert_eq!(list(&report["survived"]), ["project-lamp"], "{report}");
    ann.synced();
    assert!(ann.read("project-lamp").contains("fulmar"), "what is new is nobody's to erase unseen");
}
