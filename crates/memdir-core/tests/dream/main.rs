//! How well a dream without a model does: vaults written by hand, with what is to be found planted among what is sound.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::print_stderr, reason = "the figures are what the test is for")]

mod vault;

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::dream::{OperationKind, Plan, plan};
use vault::Vault;

/// What a dream did to a vault, by kind.
#[derive(Debug, Default)]
struct Figures {
    found: BTreeMap<&'static str, (usize, usize)>,
    harmed: Vec<String>,
    missed: Vec<String>,
}

impl Figures {
    fn of(vault: &Vault, plan: &Plan) -> Self {
        let mut figures = Self::default();
        for group in &vault.groups {
            if group.kind == "sound" {
                continue;
            }
            let names: BTreeSet<&str> = group.names.iter().map(String::as_str).collect();
            let is_found = plan.operations.iter().any(|operation| {
                let about: BTreeSet<&str> =
                    operation.names.iter().map(String::as_str).chain(operation.into.as_deref()).collect();
                vault::kinds(group.kind).contains(&operation.kind) && names.is_subset(&about)
            });
            let count = figures.found.entry(group.kind).or_default();
            count.0 += usize::from(is_found);
            count.1 += 1;
            if !is_found {
                figures.missed.push(format!("{}: {}", group.kind, group.names.join(" ")));
            }
        }
        let sound: BTreeSet<&str> = vault.sound().collect();
        let leaving = plan
            .operations
            .iter()
            .flat_map(|operation| operation.leaving().map(move |name| (name, operation)));
        for (name, operation) in leaving {
            // What is planted may go, but only with its own.
            let own = vault.groups.iter().find(|group| group.names.iter().any(|one| one == name));
            let is_own = own.is_some_and(|own| operation.names.iter().all(|one| own.names.contains(one)));
            if sound.contains(name) || !is_own {
                figures.harmed.push(format!(
                    "{} {:?} into {:?}: {}",
                    operation.kind.as_str(),
                    operation.names,
                    operation.into,
                    operation.reason
                ));
            }
        }
        let rewritten = plan.operations.iter().filter(|one| one.kind == OperationKind::RewriteDates);
        for operation in rewritten.filter(|one| one.names.iter().any(|name| sound.contains(name.as_str()))) {
            figures.harmed.push(format!("{:?}: {}", operation.names, operation.reason));
        }
        figures
    }
}

/// Finds at least so many of ten of each kind and takes nothing sound away.
fn check(text: &str, of_ten: usize, least: usize) {
    let vault = Vault::read(text);
    assert!(vault.sources.len() >= least, "{} memories", vault.sources.len());
    assert!(vault.sound().count() * 2 >= least, "{} sound ones", vault.sound().count());
    let plan = plan(&vault.sources, &vault.evidence(), &vault::today());
    let figures = Figures::of(&vault, &plan);
    for (kind, (found, all)) in &figures.found {
        eprintln!("{kind}: {found} of {all}");
    }
    eprintln!("missed: {:#?}", figures.missed);
    assert_eq!(figures.harmed, [""; 0], "sound memories would leave");
    for (kind, (found, all)) in &figures.found {
        // Of few cases one may be missed.
        let is_enough = found * 10 >= all * of_ten || (*all < 10 && found + 1 >= *all && least < 300);
        assert!(is_enough, "{kind}: {found} of {all}: {:#?}", figures.missed);
    }
}

/// DR-05, DR-06, DR-07, TY-07.
#[test]
fn dr_05_a_dream_finds_what_is_planted_and_nothing_else_in_the_vault_it_was_built_on() {
    check(include_str!("built.txt"), 9, 300);
}

/// DR-08.
#[test]
fn dr_08_what_is_used_together_is_linked() {
    let vault = Vault::read(include_str!("built.txt"));
    let plan = plan(&vault.sources, &vault.evidence(), &vault::today());
    let linked = plan.operations.iter().filter(|operation| operation.kind == OperationKind::Link).count();
    assert!(linked * 10 >= vault.together.len() * 9, "{linked} of {}", vault.together.len());
}

/// DR-05, DR-06, DR-07, TY-07: a vault that was written after the rules stood.
#[test]
fn dr_05_a_dream_finds_what_is_planted_and_nothing_else_in_a_vault_it_has_not_seen() {
    check(include_str!("unseen.txt"), 9, 300);
}

/// DR-05, DR-06, DR-07, TY-07: a smaller vault that was written before anybody looked at how the rules do on it.
#[test]
fn dr_05_a_dream_finds_what_is_planted_and_nothing_else_in_a_fresh_vault() {
    check(include_str!("fresh.txt"), 9, 120);
}

/// DR-05, DR-06, DR-07, TY-07: another one, written after the rules had met the fresh one.
#[test]
fn dr_05_a_dream_finds_what_is_planted_and_nothing_else_in_a_later_vault() {
    check(include_str!("later.txt"), 9, 90);
}
