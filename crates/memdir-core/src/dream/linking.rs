//! Links between memories that are used together and do not say so.

use std::collections::{BTreeMap, BTreeSet};

use super::subject::Subject;
use crate::memory::{Document, MemoryType, links};
use crate::recall::Together;

/// Two memories belong together once they were shown at once, or used in one session, so often.
const SHOWN: u32 = 3;
const USED: u32 = 2;
/// A memory gets so many links in one run.
const MOST: usize = 2;

/// Says whether two memories came up together often enough.
pub(super) fn belong_together(together: Together) -> bool {
    together.shown >= SHOWN || together.used >= USED
}

/// Finds the pairs that get a link, from the first to the second; `free` says which memories may be touched.
pub(super) fn pairs(
    subjects: &[Subject<'_>],
    together: &BTreeMap<(String, String), Together>,
    free: impl Fn(usize) -> bool,
) -> Vec<(usize, usize, Together)> {
    let places: BTreeMap<&str, usize> =
        subjects.iter().enumerate().map(|(at, subject)| (subject.name(), at)).collect();
    let mut n_links: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let mut often: Vec<_> = together.iter().filter(|(_, together)| belong_together(**together)).collect();
    often.sort_by_key(|(_, together)| std::cmp::Reverse((together.used, together.shown)));
    for ((one, other), together) in often {
        let (Some(&a), Some(&b)) = (places.get(one.as_str()), places.get(other.as_str())) else { continue };
        if a == b || !free(a) || !free(b) || are_linked(&subjects[a], &subjects[b]) {
            continue;
        }
        let may_hold = |at: usize| {
            let subject = &subjects[at];
            subject.is_touchable && subject.memory_type() != Some(MemoryType::User)
        };
        let room = |at: &usize| may_hold(*at) && n_links.get(at).is_none_or(|n| *n < MOST);
        let Some(from) = [a, b].into_iter().find(room) else { continue };
        *n_links.entry(from).or_default() += 1;
        found.push((from, if from == a { b } else { a }, *together));
    }
    found
}

fn are_linked(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let names = |subject: &Subject<'_>| -> BTreeSet<String> {
        let found = links(subject.source.document.body());
        found.into_iter().map(|link| link.name.to_lowercase()).collect()
    };
    names(a).contains(&b.name().to_lowercase()) || names(b).contains(&a.name().to_lowercase())
}

/// Adds a link to the end of a body.
pub(super) fn with_link(document: &Document, name: &str) -> Option<Document> {
    let body = std::str::from_utf8(document.body()).ok()?;
    let text = format!("{}\n\nSee also [[{name}]].\n", body.trim_end());
    document.with_body(text.as_bytes()).ok()
}
