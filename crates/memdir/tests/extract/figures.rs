//! How well rules tell what lasts from what passes, on labelled conversations.

use std::collections::BTreeMap;
use std::fs;

use crate::conversation::{Conversation, Set};
use crate::world::{World, claude};

/// What was found, wanted and found in vain, of one type.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    found: usize,
    wanted: usize,
    extra: usize,
}

impl Tally {
    fn precision(self) -> f64 {
        self.found as f64 / (self.found + self.extra).max(1) as f64
    }

    fn recall(self) -> f64 {
        self.found as f64 / self.wanted.max(1) as f64
    }
}

fn measure(set: &Set) -> (BTreeMap<String, Tally>, Vec<String>) {
    let world = World::new();
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut faults = Vec::new();
    for conversation in &set.conversations {
        let Conversation { name, messages, wanted, tolerated } = conversation;
        let file = world.sandbox.root().join("session.jsonl");
        fs::write(&file, claude(messages, 0, &world.dir)).unwrap();
        let mut left = world.dry_run(&file);
        for wanted in wanted {
            let tally = tallies.entry(wanted.types[0].clone()).or_default();
            tally.wanted += 1;
            match left.iter().position(|candidate| wanted.is(candidate)) {
                Some(at) => {
                    tally.found += 1;
                    left.remove(at);
                }
                None => faults.push(format!("{name}: missed {wanted:?}")),
            }
        }
        left.retain(|candidate| !tolerated.iter().any(|known| known.is(candidate)));
        for candidate in left {
            tallies.entry(candidate["type"].as_str().unwrap().to_owned()).or_default().extra += 1;
            faults.push(format!("{name}: {} in vain: {}", candidate["type"], candidate["description"]));
        }
    }
    (tallies, faults)
}

fn check(name: &'static str) {
    let set = Set::read(name);
    let (tallies, faults) = measure(&set);
    let mut all = Tally::default();
    for (kind, tally) in &tallies {
        eprintln!(
            "{name} {kind}: precision {:.2}, recall {:.2} {tally:?}",
            tally.precision(),
            tally.recall()
        );
        all.found += tally.found;
        all.wanted += tally.wanted;
        all.extra += tally.extra;
    }
    let (precision, recall) = (all.precision(), all.recall());
    let n = set.conversations.len();
    eprintln!(
        "{name}: {n} conversations, precision {precision:.2}, recall {recall:.2}\n{}",
        faults.join("\n")
    );
    let (least_precision, least_recall) = set.floors;
    assert!(precision >= least_precision, "precision {precision:.2} on {}: {faults:#?}", set.name);
    assert!(recall >= least_recall, "recall {recall:.2} on {}: {faults:#?}", set.name);
}

/// TY-03, TY-04, TY-08, TY-11, W1-16: the conversations that rules were made on.
#[test]
fn conversations_that_rules_were_made_on_are_understood() {
    check("build");
}

/// TY-03, TY-08, W1-16: everyday sessions, most of them without anything to keep.
#[test]
fn everyday_sessions_that_rules_were_made_on_are_understood() {
    check("everyday");
}

/// The same, on everyday sessions that no rule was made on.
#[test]
fn everyday_sessions_that_rules_never_saw_are_understood() {
    check("judge-everyday");
}

/// The same, on conversations that were written after the rules.
#[test]
fn conversations_that_rules_never_saw_are_understood() {
    check("judge");
}
