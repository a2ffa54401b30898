//! What somebody else advises a dream to do, checked before it becomes part of the plan.
//!
//! A model reads the memories and says which of them say the same, which one made another untrue and which are of no more
//! use. It decides nothing: [`take_advice`] lets through what the rules could have found themselves, had they understood it, and
//! says of everything else why not. A merged text may hold no word that nobody said and lose none that names or counts
//! something; what is pinned or not trusted is not touched; and every such operation waits for a person like any other that
//! could lose something. Replay, links and the bound on what leaves are asked afterwards, as for the rules.

use std::collections::BTreeSet;

use super::Source;
use super::compare::{is_compatible, knows, may_meet};
use super::merging::{with_names, with_text};
use super::plan::{FileChange, Operation, OperationKind, Plan};
use super::saying::Saying;
use super::subject::Subject;
use crate::hash::ContentHash;
use crate::memory::{Document, MemoryType};

/// Who proposes what a model advised.
pub const MODEL: &str = "model";
/// A reason is cut behind so many characters.
const MAX_REASON: usize = 200;
/// Such a share of the words of each source stays; what names or counts something stays always.
const KEPT: f32 = 0.8;

/// One piece of advice, by the names of memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// One memory in place of several.
    Merge {
        /// Those that become one.
        names: Vec<String>,
        /// The one of them that stays.
        into: String,
        /// Its description then.
        description: String,
        /// Its body then.
        body: String,
    },
    /// A memory that a newer one made untrue.
    Supersede {
        /// The one that leaves.
        name: String,
        /// The one that holds.
        by: String,
        /// Why.
        reason: String,
    },
    /// A memory that is of no more use.
    Archive {
        /// Which one.
        name: String,
        /// Why.
        reason: String,
    },
}

/// Advice that was not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declined {
    /// Which memories it was about.
    pub names: Vec<String>,
    /// Why not.
    pub why: &'static str,
}

/// Takes advice into a plan, after what the plan has; returns what was declined.
pub fn take_advice(plan: &mut Plan, sources: &[Source], advice: Vec<Advice>) -> Vec<Declined> {
    let mut declined = Vec::new();
    let mut touched: BTreeSet<String> = plan
        .operations
        .iter()
        .flat_map(|operation| &operation.changes)
        .map(|change| change.name().to_owned())
        .collect();
    let last = plan.operations.pop_if(|last| last.kind == OperationKind::Reindex);
    for one in advice {
        let names = one.names();
        let is_touched = names.iter().any(|name| touched.contains(name));
        let planned =
            if is_touched { Err("something else happens to it already") } else { one.planned(sources) };
        match planned {
            Ok((operation, versions)) => {
                touched.extend(names);
                count(plan, &operation);
                plan.versions.extend(versions);
                plan.operations.push(operation);
            }
            Err(why) => declined.push(Declined { names, why }),
        }
    }
    plan.operations.extend(last);
    declined
}

fn count(plan: &mut Plan, operation: &Operation) {
    match operation.kind {
        OperationKind::Merge => plan.phases.consolidate.merged += 1,
        OperationKind::Supersede => plan.phases.consolidate.superseded += operation.names.len(),
        OperationKind::Archive => plan.phases.prune.archived += 1,
        OperationKind::RewriteDates | OperationKind::Link | OperationKind::Reindex => {}
    }
}

/// An operation with the versions it names.
type Planned = (Operation, Vec<(ContentHash, Vec<u8>)>);

impl Advice {
    /// Returns the memories it is about.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Merge { names, .. } => names.clone(),
            Self::Supersede { name, by, .. } => vec![name.clone(), by.clone()],
            Self::Archive { name, .. } => vec![name.clone()],
        }
    }

    fn planned(&self, sources: &[Source]) -> Result<Planned, &'static str> {
        let find = |name: &str| {
            let source = sources.iter().find(|source| source.path.stem() == name);
            let subject = Subject::of(source.ok_or("there is no such memory")?);
            if subject.is_touchable { Ok(subject) } else { Err("it is not to be touched") }
        };
        match self {
            Self::Merge { names, into, description, body } => {
                let group = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
                merge(&group, into, description, body)
            }
            Self::Supersede { name, by, reason } => supersede(&find(name)?, &find(by)?, reason),
            Self::Archive { name, reason } => archive(&find(name)?, reason),
        }
    }
}

fn merge(group: &[Subject<'_>], into: &str, description: &str, body: &str) -> Result<Planned, &'static str> {
    let is_named_twice = group.iter().map(Subject::name).collect::<BTreeSet<_>>().len() < group.len();
    if group.len() < 2 || is_named_twice {
        return Err("a merge needs two memories");
    }
    let stays =
        group.iter().position(|subject| subject.name() == into).ok_or("none of them has that name")?;
    let (survivor, first) = (&group[stays], &group[0]);
    let fits = |other: &Subject<'_>| {
        may_meet(first, other) && is_compatible(first, other) && first.memory_type() == other.memory_type()
    };
    if !group.iter().all(fits) {
        return Err("they are of different types, languages, scopes or authors");
    }
    let mut said = Saying::of(description);
    said.add(&Saying::of(body));
    check_text(&said, group)?;
    let others: Vec<&Subject<'_>> =
        group.iter().enumerate().filter(|(at, _)| *at != stays).map(|(_, other)| other).collect();
    let document = with_text(survivor, &others, description, body).ok_or("its file cannot be edited")?;
    let mut planned = begin(OperationKind::Merge, Some(survivor.name()), "they say the same");
    planned.0.names = group.iter().map(|subject| subject.name().to_owned()).collect();
    change(&mut planned, survivor, Some(&document));
    others.iter().for_each(|other| change(&mut planned, other, None));
    Ok(planned)
}

/// Says what is wrong with the text of a merged memory: a word that nobody said, or something that got lost.
fn check_text(said: &Saying, group: &[Subject<'_>]) -> Result<(), &'static str> {
    let is_known = |stem: &String| group.iter().any(|subject| knows(&subject.whole, stem));
    let has_value = |kind, value| {
        let mut values = group.iter().filter_map(|subject| subject.whole.values.get(kind));
        values.any(|values: &BTreeSet<String>| values.contains(value))
    };
    let is_said = said.words.keys().all(is_known)
        && said.values.iter().all(|(kind, values)| values.iter().all(|value| has_value(kind, value)));
    if !is_said {
        return Err("it says what none of them said");
    }
    if group.iter().any(|subject| subject.whole.is_negated) != said.is_negated {
        return Err("it denies what they say, or no longer what they deny");
    }
    for subject in group {
        let kept = |stem: &&String| knows(said, stem);
        let n_kept = subject.facts.words.keys().filter(kept).count();
        let names = subject.whole.words.keys().filter(|stem| subject.whole.is_telling(stem));
        let values = subject.whole.values.iter();
        let mut lost = values
            .filter(|(kind, values)| !said.values.get(*kind).is_some_and(|kept| values.is_subset(kept)));
        let is_whole = n_kept as f32 >= KEPT * subject.facts.words.len() as f32
            && names.into_iter().all(|stem| knows(said, stem))
            && lost.next().is_none();
        if !is_whole {
            return Err("something that they say would be lost");
        }
    }
    Ok(())
}

fn supersede(old: &Subject<'_>, new: &Subject<'_>, reason: &str) -> Result<Planned, &'static str> {
    if [old, new].iter().any(|subject| subject.memory_type() == Some(MemoryType::User)) {
        return Err("what is about the user is theirs to change");
    }
    if new.said() <= old.said() {
        return Err("what was said later is not made untrue by what was said before");
    }
    let is_shared = old.facts.words.keys().any(|stem| knows(&new.whole, stem));
    if !may_meet(old, new) || !is_shared {
        return Err("they are not about the same thing");
    }
    let document = with_names(new.source.document.clone(), &new.source.memory, &[old]);
    let document = document.ok_or("its file cannot be edited")?;
    let mut planned = begin(OperationKind::Supersede, Some(new.name()), reason);
    planned.0.names.push(old.name().to_owned());
    change(&mut planned, new, Some(&document));
    change(&mut planned, old, None);
    Ok(planned)
}

fn archive(subject: &Subject<'_>, reason: &str) -> Result<Planned, &'static str> {
    if subject.memory_type() == Some(MemoryType::User) {
        return Err("what is about the user is theirs to change");
    }
    let mut planned = begin(OperationKind::Archive, None, reason);
    planned.0.names.push(subject.name().to_owned());
    change(&mut planned, subject, None);
    Ok(planned)
}

/// Begins an operation. A model's conclusion is one that a person had better look at, whatever it is.
fn begin(kind: OperationKind, into: Option<&str>, reason: &str) -> Planned {
    let reason: String = crate::text::visible_block(reason).chars().take(MAX_REASON).collect();
    let operation = Operation {
        kind,
        names: Vec::new(),
        into: into.map(str::to_owned),
        reason: format!("a model says: {}", reason.split_whitespace().collect::<Vec<_>>().join(" ")),
        risky: true,
        proposer: MODEL.to_owned(),
        changes: Vec::new(),
        blocked: None,
    };
    (operation, Vec::new())
}

/// Notes what becomes of a file, and keeps both versions.
fn change(planned: &mut Planned, subject: &Subject<'_>, after: Option<&Document>) {
    let (operation, versions) = planned;
    let mut keep = |bytes: &[u8]| {
        let hash = ContentHash::of(bytes);
        versions.push((hash, bytes.to_vec()));
        hash
    };
    let before = keep(subject.source.document.bytes());
    let after = after.map(|document| keep(document.bytes()));
    let said_by = after.map(|_| subject.source.said_by);
    operation.changes.push(FileChange { path: subject.source.path.to_string(), before, after, said_by });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryPath;

    fn source(name: &str, kind: &str, day: u8, description: &str, body: &str) -> Source {
        let said = format!("2026-03-{day:02}T09:00:00Z");
        let text = format!(
            "---\nname: {name}\ndescription: \"{description}\"\ntype: {kind}\ncreated: {said}\nmodified: {said}\n---\n\n{body}\n"
        );
        let path = MemoryPath::new(&format!("{name}.md")).unwrap();
        Source::read(path, text.as_bytes(), said.parse().unwrap())
    }

    fn vault() -> Vec<Source> {
        vec![
            source(
                "project-rates",
                "project",
                1,
                "Rates come from the bank",
                "Rates are read from the bank at 08:00.",
            ),
            source(
                "project-bank",
                "project",
                2,
                "The bank gives the rates",
                "The bank gives the rates, never the broker.",
            ),
            source(
                "project-broker",
                "project",
                3,
                "The broker is gone",
                "The broker is gone since the bank gives the rates.",
            ),
            source("user-name", "user", 1, "Is called Mina", "The user is called Mina."),
        ]
    }

    fn why(advice: Advice) -> Option<&'static str> {
        let mut plan = Plan::default();
        let declined = take_advice(&mut plan, &vault(), vec![advice]);
        assert_eq!(plan.operations.len() + declined.len(), 1);
        assert!(plan.operations.iter().all(|operation| operation.risky && operation.proposer == MODEL));
        declined.first().map(|declined| declined.why)
    }

    fn merging(names: &[&str], into: &str, body: &str) -> Option<&'static str> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let description = "Rates come from the bank".to_owned();
        why(Advice::Merge { names, into: into.to_owned(), description, body: body.to_owned() })
    }

    const BOTH: [&str; 2] = ["project-rates", "project-bank"];

    #[test]
    fn a_merged_text_says_what_was_said_and_all_of_it() {
        let whole = "The bank gives the rates, never the broker; they are read at 08:00.";
        assert_eq!(merging(&BOTH, "project-bank", whole), None);
        let adds = "The bank gives the rates, never the broker; read at 08:00 with the password in Slack.";
        assert_eq!(merging(&BOTH, "project-bank", adds), Some("it says what none of them said"));
        let loses = "The bank gives the rates, never the broker; they are read.";
        assert_eq!(merging(&BOTH, "project-bank", loses), Some("something that they say would be lost"));
        let turns = "The bank gives the rates, and the broker; they are read at 08:00.";
        assert_eq!(
            merging(&BOTH, "project-bank", turns),
            Some("it denies what they say, or no longer what they deny")
        );
    }

    #[test]
    fn who_is_merged_is_there_once_and_of_one_kind() {
        let text = "The bank gives the rates, never the broker; they are read at 08:00.";
        assert!(merging(&["project-rates", "project-rates"], "project-rates", text).is_some());
        assert!(merging(&["project-rates", "user-name"], "project-rates", text).is_some());
        assert!(merging(&["project-rates", "../secret"], "project-rates", text).is_some());
        assert!(merging(&BOTH, "project-else", text).is_some());
    }

    #[test]
    fn what_is_newer_or_about_the_user_stays() {
        let supersede = |name: &str, by: &str| {
            why(Advice::Supersede { name: name.into(), by: by.into(), reason: "it changed".into() })
        };
        assert_eq!(supersede("project-rates", "project-broker"), None);
        assert!(supersede("project-broker", "project-rates").is_some());
        assert!(supersede("user-name", "project-rates").is_some());
        assert!(why(Advice::Archive { name: "user-name".into(), reason: "x".into() }).is_some());
        assert_eq!(why(Advice::Archive { name: "project-rates".into(), reason: "over".into() }), None);
    }

    #[test]
    fn nothing_happens_to_a_memory_twice() {
        let mut plan = Plan::default();
        let archive = Advice::Archive { name: "project-rates".into(), reason: "over".into() };
        let declined = take_advice(&mut plan, &vault(), vec![archive.clone(), archive]);
        assert_eq!((plan.operations.len(), declined.len()), (1, 1));
        assert_eq!(plan.phases.prune.archived, 1);
    }
}
