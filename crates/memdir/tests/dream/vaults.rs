//! The labelled vaults of three hundred memories, through the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use memdir_testkit::Sandbox;
use serde_json::Value;

use crate::vault::{self, Vault};
use crate::world::{NOW, World, id};

/// Says whether an operation of the answer is of one of some kinds and about all of the names.
fn is_found(answer: &Value, kind: &str, names: &[String]) -> bool {
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let kinds: Vec<&str> = vault::kinds(kind).iter().map(|kind| kind.as_str()).collect();
    answer["operations"].as_array().unwrap().iter().any(|one| {
        let about: BTreeSet<&str> = one["names"]
            .as_array()
            .unwrap()
            .iter()
            .chain(std::iter::once(&one["into"]))
            .filter_map(Value::as_str)
            .collect();
        kinds.contains(&one["kind"].as_str().unwrap()) && names.is_subset(&about)
    })
}

/// Writes a vault to disk, dreams over it, carries everything out and takes it back.
fn check(text: &str) {
    let vault = Vault::read(text);
    let world = World { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_memdir")) };
    for source in &vault.sources {
        world.sandbox.write(&source.path.to_string(), source.document.bytes());
    }
    world.memdir(&["doctor", "--fix"]).run();
    let before = world.files();
    assert!(before.len() > vault.sources.len(), "{} files", before.len());
    // The first dream of a vault waits.
    let answer = world.memdir(&["dream", "--now", "--json"]).ok().json();
    assert_eq!(world.files(), before);

    let mut found: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    for group in vault.groups.iter().filter(|group| group.kind != "sound") {
        let kind = found.entry(group.kind).or_default();
        kind.0 += 1;
        if !is_found(&answer, group.kind, &group.names) {
            kind.1.push(group.names.join(" "));
        }
    }
    for (kind, (all, missed)) in &found {
        assert!(missed.len() * 10 <= *all, "{kind}: {missed:?} of {all}");
    }

    world.memdir(&["dream", "apply", id(&answer), "--yes"]).ok();
    let after = world.files();
    let gone: Vec<&str> = vault.sound().filter(|name| !after.contains_key(&format!("{name}.md"))).collect();
    assert_eq!(gone, [""; 0], "sound memories left");
    assert!(after.len() < before.len());
    world.memdir(&["dream", "undo"]).ok();
    assert_eq!(world.files(), before);
    let left = fs::read_dir(world.sandbox.vault()).unwrap().count();
    assert_eq!(left, before.len(), "nothing but what was there, at {NOW}");
}

/// DR-05, DR-07, DR-12.
#[test]
fn dr_12_the_vault_that_was_built_on_through_the_command_and_back() {
    check(include_str!("../../../memdir-core/tests/dream/built.txt"));
}

/// DR-05, DR-07, DR-12.
#[test]
fn dr_12_the_vault_that_was_not_seen_through_the_command_and_back() {
    check(include_str!("../../../memdir-core/tests/dream/unseen.txt"));
}
