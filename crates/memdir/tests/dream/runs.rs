//! One run from proposal to the way back.

use std::process::Command;

use crate::world::{World, id, operations};

fn git(world: &World, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(args)
        .current_dir(world.sandbox.project())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// DR-07: a pointer to a file that git saw removed leaves; one to a file that git never knew stays.
#[test]
fn dr_07_only_what_git_saw_removed_is_taken_for_gone() {
    let world = World::new();
    let page = world.sandbox.project().join("docs/old.md");
    std::fs::create_dir_all(page.parent().unwrap()).unwrap();
    std::fs::write(&page, "The guide.\n").unwrap();
    git(&world, &["init", "-q"]);
    git(&world, &["add", "-A"]);
    git(&world, &["commit", "-qm", "guide"]);
    git(&world, &["rm", "-q", "docs/old.md"]);
    git(&world, &["commit", "-qm", "no guide"]);
    let reference = |name: &str, body: &str| world.write(name, "reference", "2026-03-01", body, body, "");
    reference("reference-old-guide", "The guide is `docs/old.md`.");
    reference("reference-security", "The security guide is `docs/security.md` in the handbook repository.");
    let answer = world.propose();
    let archived: Vec<&str> =
        operations(&answer, "archive").iter().filter_map(|one| one["names"][0].as_str()).collect();
    assert!(archived.contains(&"reference-old-guide"), "{answer}");
    assert!(!archived.contains(&"reference-security"), "{answer}");
}

/// DR-04, DR-05, DR-06, DR-07.
#[test]
fn dr_04_a_dry_run_tells_four_phases_and_changes_nothing() {
    let world = World::new();
    let before = world.files();
    let answer = world.propose();
    let phases = answer["phases"].as_object().unwrap();
    assert_eq!(
        phases.keys().map(String::as_str).collect::<Vec<_>>(),
        ["orient", "gather", "consolidate", "prune"]
    );
    assert_eq!(phases["orient"]["memories"], 30);
    assert_eq!(phases["consolidate"]["merged"], 1);
    assert_eq!(phases["consolidate"]["superseded"], 1);
    assert_eq!(operations(&answer, "merge").len(), 1, "{answer}");
    assert_eq!(operations(&answer, "supersede")[0]["into"], "project-upload-limit-new");
    assert_eq!(operations(&answer, "archive")[0]["names"][0], "project-voucher");
    assert_eq!(operations(&answer, "rewrite-dates")[0]["names"][0], "project-demo");
    assert_eq!(answer["replay"]["queries"], 0);
    assert_eq!(world.files(), before);
}

/// DR-12, UX-02, UX-04.
#[test]
fn dr_12_a_run_is_one_change_and_undo_brings_back_every_byte() {
    let world = World::new();
    let before = world.files();
    let answer = world.propose();
    let done = world.memdir(&["dream", "apply", id(&answer), "--json"]).ok().json();
    assert_eq!(done["left"].as_array().unwrap().len(), 0, "{done}");
    let after = world.files();
    let gone: Vec<&String> = before.keys().filter(|name| !after.contains_key(*name)).collect();
    assert_eq!(gone.len(), 3, "{gone:?}");
    let archived = world.archived();
    for name in gone {
        assert!(archived.contains(&before[name]), "{name} is not in the archive");
        assert!(!String::from_utf8_lossy(&after["MEMORY.md"]).contains(&format!("({name})")));
    }
    let demo = String::from_utf8_lossy(&after["project-demo.md"]).into_owned();
    assert!(demo.contains("2026-06-15") && !demo.contains("next week"), "{demo}");
    let log = world.memdir(&["log", "--json"]).ok().json();
    let change = &log[0];
    assert_eq!(
        (change["author"].as_str(), change["change"].as_str()),
        (Some("dream"), done["change"].as_str())
    );
    assert!(change["files"].as_array().unwrap().iter().any(|file| file["name"] == "project-voucher"));

    world.memdir(&["dream", "undo"]).ok();
    assert_eq!(world.files(), before);
    let runs = world.memdir(&["dream", "list", "--json"]).ok().json();
    assert_eq!(runs[0]["state"], "undone");
    let again = world.memdir(&["dream", "undo", id(&answer)]).run();
    assert!(!again.is_ok());
}

/// DR-11: the page is within its limits and whole.
#[test]
fn dr_11_afterwards_the_index_page_is_whole() {
    let world = World::new();
    let page = world.sandbox.index_page();
    world.sandbox.write(
        "MEMORY.md",
        page.replace("- [", "- [Gone](project-gone.md) — it is gone\n- [").replacen(
            "(reference-ferry.md)",
            "(reference-nowhere.md)",
            1,
        ),
    );
    let answer = world.propose();
    assert_eq!(operations(&answer, "reindex").len(), 1, "{answer}");
    world.memdir(&["dream", "apply", id(&answer)]).ok();
    let page = world.sandbox.index_page();
    assert!(
        page.contains("(reference-ferry.md)") && !page.contains("nowhere") && !page.contains("project-gone"),
        "{page}"
    );
    assert!(page.lines().count() <= 200);
}

/// DR-12: a file that was edited since is not overwritten by undo.
#[test]
fn dr_12_undo_leaves_alone_what_was_edited_since() {
    let world = World::new();
    let before = world.files();
    let answer = world.propose();
    world.memdir(&["dream", "apply", id(&answer)]).ok();
    world.memdir(&["edit", "project-demo", "--append", "\nBring the adapter.\n"]).ok();
    let undone = world.memdir(&["dream", "undo", id(&answer), "--json"]).ok().json();
    assert_eq!(undone["left"][0], "project-demo.md");
    let after = world.files();
    assert!(String::from_utf8_lossy(&after["project-demo.md"]).contains("Bring the adapter."));
    for (name, bytes) in
        before.iter().filter(|(name, _)| !["project-demo.md", "MEMORY.md"].contains(&name.as_str()))
    {
        assert_eq!(after.get(name), Some(bytes), "{name}");
    }
}

/// DR-12: at most a fifth leaves without a word.
#[test]
fn dr_12_more_than_a_fifth_needs_a_word() {
    let world = World::new();
    for n in 0..8 {
        world.write(
            &format!("project-over-{n}"),
            "project",
            "2026-01-01",
            &format!("Lamp {n} of the hall"),
            &format!("Lamp {n} is on loan."),
            "  expires: 2026-02-01\n",
        );
    }
    let answer = world.propose();
    let refused = world.memdir(&["dream", "apply", id(&answer)]).run();
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("--yes"), "{refused}");
    world.memdir(&["dream", "apply", id(&answer), "--yes"]).ok();
    assert!(!world.files().contains_key("project-over-3.md"));
}

/// The first dream of a vault waits; a later one does by itself what loses nothing.
#[test]
fn the_first_dream_waits_and_later_ones_do_what_loses_nothing() {
    let world = World::new();
    let before = world.files();
    let first = world.memdir(&["dream", "--now", "--json"]).ok().json();
    assert!(first["applied"].is_null(), "{first}");
    assert_eq!(world.files(), before);
    let second = world.memdir(&["dream", "--now", "--json"]).at("2026-06-17T12:00:00Z").ok().json();
    assert!(second["applied"]["done"].as_u64().unwrap() >= 3, "{second}");
    let kinds: Vec<&str> =
        second["operations"].as_array().unwrap().iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["supersede"], "what contradicts waits for a person");
    assert!(world.files().contains_key("project-upload-limit.md"));
    assert!(!world.files().contains_key("project-voucher.md"));
    world.memdir(&["dream", "discard", id(&second)]).ok();
    assert!(!world.memdir(&["dream", "apply", id(&second)]).run().is_ok());
}

/// F1: what is erased is in no run either.
#[test]
fn f1_erasing_a_memory_removes_it_from_every_run() {
    let world = World::new();
    let answer = world.propose();
    world.memdir(&["recall", "which voucher gives ten percent?", "--session", "s1"]).run();
    world.memdir(&["forget", "project-voucher", "--erase", "--yes"]).ok();
    let tree = world.sandbox.state_tree();
    assert_eq!(tree.containing(b"ten percent"), [""; 0], "of run {}", id(&answer));
}
