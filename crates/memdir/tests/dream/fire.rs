//! A dream while everybody writes.

use std::thread;

use memdir_testkit::Invocation;

use crate::world::{World, id};

/// K6: four processes save a hundred memories and edit ten that the dream read, between its reading and its writing.
#[test]
fn k6_a_dream_under_fire_loses_nothing_and_leaves_alone_what_was_edited() {
    let world = World::new();
    for n in 0..12 {
        world.write(
            &format!("project-lamp-{n}"),
            "project",
            "2026-06-10",
            &format!("Lamp {n} is collected next week"),
            &format!("Lamp {n} of the hall is collected next week."),
            "",
        );
    }
    world.memdir(&["doctor", "--fix"]).run();
    let answer = world.propose();
    thread::scope(|scope| {
        for writer in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for n in 0..25 {
                    let (name, about) =
                        (format!("reference-note-{writer}-{n}"), format!("crate {n} of yard {writer}"));
                    let body = format!("Crate {n} of yard {writer} holds {} parts.", n * 37 + writer);
                    let kind = ["--type", "reference", "--force", "a test"];
                    let args = [&["save", &name, "--description", &about], &kind[..]].concat();
                    insist(&world.memdir(&args).stdin(body));
                }
                for n in (writer..10).step_by(4) {
                    let (name, text) = (format!("project-lamp-{n}"), format!("\nEdited {n}.\n"));
                    insist(&world.memdir(&["edit", &name, "--append", &text]));
                }
            });
        }
    });
    let before = world.files();
    let done = world.memdir(&["dream", "apply", id(&answer), "--yes", "--json"]).ok().json();
    let left = done["left"].as_array().unwrap();
    assert_eq!(left.len(), 10, "{done}");
    let after = world.files();
    for n in 0..10 {
        let name = format!("project-lamp-{n}.md");
        assert_eq!(after[&name], before[&name], "{name}");
        assert!(left.iter().any(|row| row["names"] == format!("project-lamp-{n}")), "{done}");
    }
    let notes = after.keys().filter(|name| name.starts_with("reference-note-")).count();
    assert_eq!(notes, 100);
    let archived = world.archived();
    for (name, bytes) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        assert!(archived.contains(bytes), "{name} is lost");
    }
    world.memdir(&["dream", "undo", id(&answer)]).ok();
    assert_eq!(world.files(), before);
}

/// Repeats a command until it is acknowledged: on a busy machine a writer may wait for the lock in vain.
fn insist(command: &Invocation) {
    let done = (0..50).any(|_| command.clone().run().is_ok());
    assert!(done, "{command:?}");
}
