//! Which memories are worth comparing: those that share what few others have.
//!
//! All pairs of ten thousand memories are fifty million. Only memories that have a rare word in common, or two words that
//! are rarely together, are compared, and each with few others: the work grows with the number of memories and not with
//! its square.

use std::collections::{BTreeSet, HashMap};

use super::subject::Subject;
use crate::terms::Term;

/// A key that more memories have than this tells nothing.
const COMMON: usize = 48;
/// So many of a memory's rarest words are looked up, and pairs are made of so many.
const RAREST: usize = 14;
const PAIRED: usize = 7;
/// Each memory is compared with so many others that come before it.
const MOST: usize = 16;

/// Returns the pairs to compare, the smaller number first, in order.
pub(super) fn candidates(subjects: &[Subject<'_>]) -> Vec<(usize, usize)> {
    let stems: Vec<Vec<Term>> = subjects.iter().map(stems).collect();
    let mut n_with: HashMap<Term, u32> = HashMap::new();
    for term in stems.iter().flatten() {
        *n_with.entry(*term).or_default() += 1;
    }
    let mut with: HashMap<Term, Vec<u32>> = HashMap::new();
    let mut pairs = BTreeSet::new();
    for (at, (subject, stems)) in subjects.iter().zip(stems).enumerate() {
        if !subject.is_touchable {
            continue;
        }
        let mut n_shared: HashMap<u32, f32> = HashMap::new();
        for key in keys(stems, &n_with) {
            let known = with.entry(key).or_default();
            if known.len() <= COMMON {
                let worth = 1.0 / (1.0 + known.len() as f32);
                known.iter().for_each(|other| *n_shared.entry(*other).or_default() += worth);
                known.push(at as u32);
            }
        }
        let mut best: Vec<(u32, f32)> = n_shared.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        pairs.extend(best.into_iter().take(MOST).map(|(other, _)| (other as usize, at)));
    }
    pairs.into_iter().collect()
}

fn stems(subject: &Subject<'_>) -> Vec<Term> {
    let words = subject.facts.words.keys().chain(subject.title.words.keys());
    let stems: BTreeSet<Term> = words.map(|stem| Term::of(stem)).collect();
    stems.into_iter().collect()
}

/// Returns what a memory is looked up by: its rarest words, and pairs of the rarest of them.
fn keys(mut stems: Vec<Term>, n_with: &HashMap<Term, u32>) -> Vec<Term> {
    let count = |term: &Term| n_with.get(term).copied().unwrap_or_default();
    // What nobody else has leads nowhere.
    stems.retain(|term| count(term) > 1);
    stems.sort_by_key(|term| (count(term), *term));
    let mut keys: Vec<Term> = Vec::new();
    for (at, first) in stems.iter().take(PAIRED).enumerate() {
        for second in &stems[at + 1..stems.len().min(PAIRED)] {
            let (low, high) = if first < second { (first, second) } else { (second, first) };
            keys.push(Term::from_value(low.value().rotate_left(17) ^ high.value()));
        }
    }
    keys.extend(stems.into_iter().take(RAREST));
    keys
}
