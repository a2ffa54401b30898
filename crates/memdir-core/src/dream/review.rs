//! What is checked before anything of a plan may be carried out, and which part of it waits for a person.
//!
//! Past questions are asked again of the vault as it would be: an operation by which one of them loses what it found is
//! blocked, and the question is shown. A link that led somewhere must still lead somewhere, and at most a fifth of the
//! memories leave without a person's word. Who made the plan is not asked.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Source;
use super::plan::{Operation, Plan};
use crate::hash::ContentHash;
use crate::memory::{folded, links};

/// Of all memories at most this share leaves without a person's word.
pub const MAX_LEAVING: f64 = 0.2;

/// Which operations wait for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Those by which something could be lost.
    #[default]
    Risky,
    /// All.
    Always,
    /// None that passes the review.
    Auto,
}

impl Mode {
    /// Reads the word of a setting.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "risky" => Some(Self::Risky),
            "always" => Some(Self::Always),
            "auto" => Some(Self::Auto),
            _ => None,
        }
    }
}

/// A question that was asked in the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The question.
    pub query: String,
    /// What it finds in the vault as it is.
    pub before: Vec<String>,
    /// What it would find afterwards.
    pub after: Vec<String>,
}

/// What became of past questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// How many were asked.
    pub queries: usize,
    /// Those that find less.
    pub worse: Vec<Worse>,
}

/// A question that would find less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worse {
    /// The question.
    pub query: String,
    /// What it would no longer find.
    pub lost: Vec<String>,
}

/// Checks a plan: blocks the operations that do harm, and says which past questions lose by it.
pub fn review(plan: &mut Plan, pasts: &[Past], sources: &[Source]) -> Replay {
    block_dangling(plan, sources);
    let mut replay = Replay { queries: pasts.len(), worse: Vec::new() };
    for past in pasts {
        let lost: Vec<String> =
            past.before.iter().filter(|name| !is_found(plan, name, &past.after)).cloned().collect();
        if lost.is_empty() {
            continue;
        }
        for operation in &mut plan.operations {
            if concerns(operation, &lost) {
                operation.blocked.get_or_insert_with(|| format!("`{}` would no longer find it", past.query));
            }
        }
        replay.worse.push(Worse { query: past.query.clone(), lost });
    }
    replay
}

/// Says whether a memory, or the one that stands for it, is among what is found.
fn is_found(plan: &Plan, name: &str, found: &[String]) -> bool {
    let has = |name: &str| found.iter().any(|one| one == name);
    has(name) || plan.successor(name).is_some_and(has)
}

/// Says whether an operation changes or removes one of these memories.
fn concerns(operation: &Operation, names: &[String]) -> bool {
    operation.changes.iter().any(|change| names.iter().any(|name| name == change.name()))
}

/// Blocks operations after which a link of another memory would lead nowhere.
fn block_dangling(plan: &mut Plan, sources: &[Source]) {
    let leaving: BTreeSet<String> = plan.leaving().into_iter().map(folded).collect();
    if leaving.is_empty() {
        return;
    }
    let mut linked: BTreeMap<String, String> = BTreeMap::new();
    for source in sources.iter().filter(|source| !leaving.contains(&folded(source.path.stem()))) {
        for link in links(source.document.body()) {
            linked.entry(folded(&link.name)).or_insert_with(|| source.path.stem().to_owned());
        }
    }
    for operation in plan.operations.iter_mut().filter(|operation| operation.into.is_none()) {
        let lost =
            operation.leaving().find_map(|name| Some((name.to_owned(), linked.get(&folded(name))?.clone())));
        if let Some((name, by)) = lost {
            operation.blocked = Some(format!("`{by}` links to [[{name}]]"));
        }
    }
}

/// A plan in two parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// The places of the operations that may be carried out by themselves.
    pub now: Vec<usize>,
    /// The places of those that wait for a person.
    pub waiting: Vec<usize>,
}

/// Divides the operations of a plan that was reviewed, of a vault with `n_memories`.
pub fn split(plan: &Plan, mode: Mode, n_memories: usize) -> Split {
    let mut split = Split::default();
    let mut n_leaving = 0;
    // The versions as they are after what is done now: who begins with another waits for what waits.
    let mut current: BTreeMap<&str, ContentHash> = plan.originals();
    for (at, operation) in plan.operations.iter().enumerate() {
        let waits = match mode {
            Mode::Always => true,
            Mode::Risky => operation.risky || operation.blocked.is_some(),
            Mode::Auto => operation.blocked.is_some(),
        };
        let leaves = operation.leaving().count();
        let fits =
            operation.changes.iter().all(|change| current.get(change.path.as_str()) == Some(&change.before));
        if waits || !fits || is_too_many(n_leaving + leaves, n_memories) {
            split.waiting.push(at);
            continue;
        }
        n_leaving += leaves;
        for change in &operation.changes {
            match change.after {
                Some(after) => current.insert(&change.path, after),
                None => current.remove(change.path.as_str()),
            };
        }
        split.now.push(at);
    }
    split
}

fn is_too_many(n_leaving: usize, n_memories: usize) -> bool {
    n_leaving as f64 > MAX_LEAVING * n_memories as f64
}

/// Says whether more memories would leave than may without a person's word.
pub fn leaves_too_many(n_leaving: usize, n_memories: usize) -> bool {
    is_too_many(n_leaving, n_memories)
}
