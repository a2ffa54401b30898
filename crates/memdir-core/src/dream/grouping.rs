//! From pairs to groups: which memories become one, and which one stands for those that it contradicts.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::Relation;
use super::subject::Subject;
use crate::memory::MemoryType;

/// Advice is merged where at least so many memories give it.
const MIN_AKIN: usize = 3;
/// More memories do not become one at once.
const MAX_GROUP: usize = 8;

/// Pairs of memories and what they are to each other, without mere neighbours.
pub(super) type Relations = BTreeMap<(usize, usize), Relation>;

/// Memories that become one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) members: Vec<usize>,
    /// Whether they say the same, and not only the like.
    pub(super) is_same: bool,
}

/// Returns for each memory that holds now the older ones that it contradicts, with the reason of the first.
pub(super) fn contrary(
    relations: &Relations,
    subjects: &[Subject<'_>],
) -> BTreeMap<usize, (Vec<usize>, String)> {
    let mut newest: BTreeMap<usize, (usize, &str)> = BTreeMap::new();
    for ((a, b), relation) in relations {
        let Relation::Contrary(why) = relation else { continue };
        let is_older = |a: usize, b: usize| (subjects[a].said(), a) < (subjects[b].said(), b);
        let (old, new) = if is_older(*a, *b) { (*a, *b) } else { (*b, *a) };
        // What was said at the same time contradicts itself: nobody can say which holds.
        if subjects[old].said() == subjects[new].said() {
            continue;
        }
        let known = newest.entry(old).or_insert((new, why));
        if is_older(known.0, new) {
            *known = (new, why);
        }
    }
    let mut found: BTreeMap<usize, (Vec<usize>, String)> = BTreeMap::new();
    for (&old, &(mut into, why)) in &newest {
        while let Some((newer, _)) = newest.get(&into) {
            into = *newer;
        }
        found.entry(into).or_insert_with(|| (Vec::new(), why.to_owned())).0.push(old);
    }
    found
}

/// Returns the groups of memories that become one. Each is in one group, and all of a group are like each other.
pub(super) fn alike(
    relations: &Relations,
    subjects: &[Subject<'_>],
    is_taken: impl Fn(usize) -> bool,
) -> Vec<Group> {
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut groups = Vec::new();
    for with_akin in [false, true] {
        let counts = |relation: &Relation| match relation {
            Relation::Same(_) => true,
            Relation::Akin(_) => with_akin,
            _ => false,
        };
        let mut like: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for ((a, b), _) in relations.iter().filter(|(_, relation)| counts(relation)) {
            like.entry(*a).or_default().insert(*b);
            like.entry(*b).or_default().insert(*a);
        }
        for (&at, others) in &like {
            let is_free = |at: &usize| !is_taken(*at) && !taken.contains(at);
            if !is_free(&at) {
                continue;
            }
            let mut members = vec![at];
            for other in others.iter().filter(|other| is_free(other)) {
                let fits = members.iter().all(|member| like[member].contains(other));
                if fits && members.len() < MAX_GROUP {
                    members.push(*other);
                }
            }
            let least = if with_akin { MIN_AKIN } else { 2 };
            let is_advice = subjects[at].memory_type() == Some(MemoryType::Feedback);
            if members.len() < least || (with_akin && !is_advice) {
                continue;
            }
            taken.extend(&members);
            groups.push(Group { members, is_same: !with_akin });
        }
    }
    absorb(&mut groups, relations, &is_taken);
    groups.sort_by_key(|group| group.members[0]);
    groups
}

/// Lets what gives the same advice as a whole group join it: two that say the same and a third that says the like.
fn absorb(groups: &mut [Group], relations: &Relations, is_taken: &impl Fn(usize) -> bool) {
    let mut taken: BTreeSet<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
    // Looked up by memory: going through all pairs for every group would grow with their product.
    let mut near_to: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (a, b) in relations.keys() {
        near_to.entry(*a).or_default().insert(*b);
        near_to.entry(*b).or_default().insert(*a);
    }
    for group in groups.iter_mut() {
        let akin = |one: usize, other: usize| {
            let pair = (one.min(other), one.max(other));
            matches!(relations.get(&pair), Some(Relation::Same(_) | Relation::Akin(_)))
        };
        let near: BTreeSet<usize> = group
            .members
            .iter()
            .filter_map(|member| near_to.get(member))
            .flatten()
            .copied()
            .filter(|other| !group.members.contains(other))
            .collect();
        for other in near {
            let fits = group.members.iter().all(|member| akin(*member, other));
            if fits && !is_taken(other) && group.members.len() < MAX_GROUP && taken.insert(other) {
                group.members.push(other);
                group.is_same = false;
            }
        }
        group.members.sort_unstable();
    }
}
