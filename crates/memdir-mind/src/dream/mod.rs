//! What a model makes of a whole vault: which memories say the same, which are no longer true, which nobody needs.
//!
//! [`consolidate`] runs the sub-agent over a copy of the memories and returns [`Advice`]. Nothing follows from it by itself:
//! a dream holds it against the memories (`memdir_core::dream::take_advice`), asks past questions again and lets it wait for a
//! person. What nobody vouched for, and what holds a secret, is not in the copy.

mod prompt;

use jiff::civil::Date;
use memdir_core::dream::{Advice, MAX_LEAVING, Source};
use memdir_core::hash::ContentHash;
use memdir_core::memory::Severity;
use memdir_core::secrets::Scanner;

use crate::agent::{Budget, Job, Known, Proposal, Purpose, Report, View};
use crate::model::Model;
use crate::sandbox::{Brief, RunError, Sandbox};

pub use prompt::{system, task};

/// As much text is copied.
const MAX_BYTES: usize = 8 << 20;

/// What a consolidation works on.
#[derive(Debug)]
pub struct Material<'a> {
    /// The memories.
    pub sources: &'a [Source],
    /// The day it is, for the user.
    pub today: Date,
    /// What counts as a secret.
    pub scanner: &'a Scanner,
    /// This machine's secret, of which frames are marked; the sub-agent gets another one made of it.
    pub key: &'a [u8],
    /// What may be spent.
    pub budget: Budget,
}

/// What a model advises.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What could be done.
    pub advice: Vec<Advice>,
    /// What was done and refused.
    pub report: Report,
}

/// Asks a model what could be done with the memories of a vault. Where it fails halfway, nothing of it counts: half of a
/// consolidation is none.
pub fn consolidate(
    model: &mut dyn Model,
    sandbox: &Sandbox,
    material: Material<'_>,
) -> Result<Found, RunError> {
    let Material { sources, today, scanner, key, mut budget } = material;
    let view = view(sources, scanner);
    if view.memories.len() < 2 {
        return Ok(Found { advice: Vec::new(), report: Report::default() });
    }
    // More may not leave without a person's word, and who proposes more is not taken at their word.
    budget.removals = budget.removals.min((view.memories.len() as f64 * MAX_LEAVING) as usize);
    let key = ContentHash::of(&[key, b" dream"].concat()).as_bytes().to_vec();
    let brief = Brief { system: system(&budget), task: task(&view, today, &key) };
    let job = Job { purpose: Purpose::Dream, window: Vec::new(), view, budget, key };
    let finished = sandbox.run(&job, &brief, model)?;
    if let Some(failure) = finished.failure {
        return Err(failure.into());
    }
    let advice = finished.proposals.into_iter().filter_map(advice).collect();
    Ok(Found { advice, report: finished.report })
}

/// Copies the memories that a model may see, the newest first.
fn view(sources: &[Source], scanner: &Scanner) -> View {
    let mut shown: Vec<&Source> = sources.iter().filter(|source| is_shown(source)).collect();
    shown.sort_by_key(|source| std::cmp::Reverse(source.said()));
    let mut room = MAX_BYTES;
    let mut memories = Vec::with_capacity(shown.len());
    for source in shown {
        let bytes = source.document.bytes();
        let Some(left) = room.checked_sub(bytes.len()) else { break };
        if !scanner.scan(bytes).is_empty() {
            continue;
        }
        room = left;
        memories.push(Known {
            path: source.path.clone(),
            memory_type: source.memory.memory_type,
            description: source.memory.description.clone(),
            modified: source.said().strftime("%Y-%m-%d").to_string(),
            is_sound: !source.memory.pinned,
            base: Some(source.hash()),
            text: String::from_utf8_lossy(bytes).into_owned(),
        });
    }
    View { memories }
}

fn is_shown(source: &Source) -> bool {
    let is_readable = !source.problems.iter().any(|problem| problem.severity() == Severity::Error);
    is_readable && !source.is_untrusted && !source.memory.quarantined
}

/// Makes advice of a proposal. A text for a single memory is none: a dream does not rewrite what somebody said.
fn advice(proposal: Proposal) -> Option<Advice> {
    match proposal {
        Proposal::New { .. } | Proposal::Update { .. } => None,
        Proposal::Merge { sources, name, content } => Some(Advice::Merge {
            names: sources.iter().map(|source| source.path.stem().to_owned()).collect(),
            into: name.to_string(),
            description: content.description,
            body: content.body,
        }),
        Proposal::Supersede { target, by, reason } => {
            Some(Advice::Supersede { name: target.path.stem().to_owned(), by: by.stem().to_owned(), reason })
        }
        Proposal::Archive { target, reason } => {
            Some(Advice::Archive { name: target.path.stem().to_owned(), reason })
        }
    }
}
