//! The rules of feedback memories: which hold now, and how well they were kept.
//!
//! The index knows which memories have rules, so that nobody opens the others before each use of a tool. What a rule may do
//! depends on who said it, which the ledger knows and the file does not. [`memdir_core::obedience`] judges; here rules
//! are found and what came of them is noted. Look at [`Rules::of`] first.

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::host::Tool;
use memdir_core::memory::{MemoryPath, MemoryType, Status};
use memdir_core::obedience::{Bound, Judgement, judge};
use memdir_core::recall::{Library, with_rules};

use crate::evidence::Witness;
use crate::ledger::{Event, EventKind};
use crate::notes::{self, NotesError};
use crate::vault::{Loaded, Vault};

/// The rules that hold, and where each comes from.
#[derive(Debug, Default)]
pub struct Rules {
    bound: Vec<Bound>,
    /// For each memory the place of its vault among those that were asked.
    homes: BTreeMap<String, usize>,
}

/// How well the rules of one memory were kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The name of the memory.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Its rules, as far as they count for who said them.
    pub rules: Vec<String>,
    /// How often a session was shown it.
    pub recalled: usize,
    /// How many sessions were shown it and did nothing against it.
    pub obeyed: usize,
    /// How often a tool was used, or nearly, against it.
    pub violated: usize,
}

impl Rules {
    /// Finds the rules of some vaults.
    pub fn of(vaults: &[Vault]) -> Result<Self, NotesError> {
        let mut rules = Self::default();
        for (at, vault) in vaults.iter().enumerate() {
            for loaded in ruled(vault)? {
                let name = loaded.path.stem().to_owned();
                rules.bound.extend(bound(vault, &loaded));
                rules.homes.entry(name).or_insert(at);
            }
        }
        Ok(rules)
    }

    /// Holds the use of a tool against them. `root` is the project's directory.
    pub fn judge(&self, tool: &Tool, root: &str) -> Judgement {
        judge(&self.bound, tool, root)
    }

    /// Returns them, for whoever may have forgotten them.
    pub fn bound(&self) -> &[Bound] {
        &self.bound
    }

    /// Notes which memories' rules were broken; not being able to costs a count.
    pub fn note_broken(&self, broken: &[String], vaults: &[Vault], witness: &Witness<'_>) {
        for name in broken {
            let Some(vault) = self.homes.get(name).and_then(|at| vaults.get(*at)) else { continue };
            note(vault, &[name.as_str()], EventKind::Violated, witness);
        }
    }
}

/// Notes at the end of a session which rules it was shown and kept; once, however often it ends.
pub fn end(vaults: &[Vault], witness: &Witness<'_>) {
    for vault in vaults {
        let Some(ledger) = vault.ledger() else { continue };
        let (mut shown, mut over) = (BTreeSet::new(), BTreeSet::new());
        let visit = |event: Event| {
            if event.sid.as_deref() != Some(witness.session) {
                return;
            }
            match event.ev {
                EventKind::Surfaced => drop(shown.insert(event.mem)),
                EventKind::Violated | EventKind::Obeyed => drop(over.insert(event.mem)),
                _ => {}
            }
        };
        if ledger.for_each(visit).is_err() || shown.is_subset(&over) {
            continue;
        }
        let Ok(ruled) = ruled(vault) else { continue };
        let kept = ruled.iter().map(|loaded| loaded.path.stem());
        let kept: Vec<&str> = kept.filter(|name| shown.contains(*name) && !over.contains(*name)).collect();
        note(vault, &kept, EventKind::Obeyed, witness);
    }
}

/// Counts how well the rules of some vaults were kept, by the names of their memories.
pub fn kept(vaults: &[Vault]) -> Result<Vec<Kept>, NotesError> {
    let mut all = Vec::new();
    for vault in vaults {
        let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
        let visit = |event: Event| {
            let at = match event.ev {
                EventKind::Surfaced => 0,
                EventKind::Obeyed => 1,
                EventKind::Violated => 2,
                _ => return,
            };
            counts.entry(event.mem).or_default()[at] += 1;
        };
        if let Some(ledger) = vault.ledger() {
            // What cannot be read is not counted.
            let _ = ledger.for_each(visit);
        }
        for loaded in ruled(vault)? {
            let name = loaded.path.stem().to_owned();
            let [recalled, obeyed, violated] = counts.get(&name).copied().unwrap_or_default();
            let rules = bound(vault, &loaded).iter().map(|bound| bound.rule.to_string()).collect();
            let description = loaded.memory.description;
            all.push(Kept { name, description, rules, recalled, obeyed, violated });
        }
    }
    all.sort_by(|a, b| b.violated.cmp(&a.violated).then_with(|| a.name.cmp(&b.name)));
    Ok(all)
}

/// Opens the memories that have rules and may be believed.
fn ruled(vault: &Vault) -> Result<Vec<Loaded>, NotesError> {
    let (paths, _) = notes::ask(vault, |notes| {
        let docs = notes.facet(with_rules())?;
        docs.into_iter().map(|doc| Ok(notes.note(doc)?.path)).collect::<Result<Vec<String>, _>>()
    })?;
    let load = |path: String| vault.load(&MemoryPath::new(&path).ok()?).ok().flatten();
    let holds = |loaded: &Loaded| {
        let memory = &loaded.memory;
        memory.memory_type == Some(MemoryType::Feedback)
            && !memory.quarantined
            && memory.status == Status::Active
    };
    Ok(paths.into_iter().filter_map(load).filter(holds).collect())
}

fn bound(vault: &Vault, loaded: &Loaded) -> Vec<Bound> {
    let who = vault.said_by(loaded.hash);
    let is_accepted = vault.is_accepted(loaded.hash);
    let rules = loaded.memory.rules.iter().cloned();
    rules
        .map(|rule| Bound {
            memory: loaded.path.stem().to_owned(),
            says: loaded.memory.description.clone(),
            rule: rule.said_by(who, is_accepted),
        })
        .collect()
}

fn note(vault: &Vault, names: &[&str], kind: EventKind, witness: &Witness<'_>) {
    let event = |name: &&str| Event {
        sid: Some(witness.session.to_owned()),
        by: Some(witness.by),
        ..Event::new(witness.now, kind, name)
    };
    let events: Vec<Event> = names.iter().map(event).collect();
    if let Ok(ledger) = vault.ensure_ledger()
        && !events.is_empty()
    {
        let _ = ledger.append(&events);
    }
}
