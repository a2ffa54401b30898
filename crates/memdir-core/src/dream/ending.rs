//! Which memories no longer hold by themselves: their day has come, somebody said so, or what they point to is gone.

use std::collections::{BTreeMap, BTreeSet};

use jiff::ToSpan;
use jiff::civil::Date;

use super::subject::{Subject, reports};
use super::{Evidence, Source};
use crate::memory::{MemoryType, Status, links};
use crate::recall::Note;

/// An event is long over after so many days.
const LONG_OVER_DAYS: i64 = 30;
/// A memory that points nowhere may wait so long for its target to be written.
const FORWARD_DAYS: i64 = 14;
/// A memory that says so few words beside its links only points.
const POINTS_ONLY: usize = 1;

/// Words of things that are over once their day has passed.
#[rustfmt::skip]
const EVENTS: &[&str] = &[
    "freeze", "frozen", "deadline", "due", "sprint", "release", "launch", "cutover", "cut", "maintenance", "window", "milestone", "sale", "campaign",
    "vacation", "holiday", "leave", "trip", "conference", "rollout", "until", "by", "ends", "event", "demo", "hackathon", "offsite", "embargo",
    "beta", "trial", "handover", "kickoff", "presentation", "submission", "exam", "moratorium", "blackout", "sunset", "expires", "away", "ooo", "pto",
    "frist", "urlaub", "wartung", "wartungsfenster", "freigabe", "einfrieren", "abgabe", "bis", "messe", "umzug", "mitternacht", "codefreeze",
    "마감", "동결", "휴가", "배포", "까지", "límite", "congelación", "vacaciones", "gel", "échéance", "congés", "livraison", "entrega",
];
/// Words of what lasts, though it began on a day.
#[rustfmt::skip]
const LASTING: &[&str] = &[
    "decided", "decision", "adopted", "since", "seit", "ab", "after", "nach", "agreed", "entschieden", "entscheidung", "beschlossen",
    "always", "never", "immer", "nie", "every", "starting", "onwards", "founded", "introduced", "이후", "부터", "결정", "desde", "depuis", "jede", "jeden", "each",
];

/// Why a memory leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) reason: String,
    /// Whether somebody had better look: it is a conclusion, and nobody said so.
    pub(super) risky: bool,
    /// The memory that took its place.
    pub(super) into: Option<String>,
}

/// Finds what is over, by the place of the memory.
pub(super) fn endings(subjects: &[Subject<'_>], evidence: &Evidence, today: Date) -> BTreeMap<usize, Ending> {
    let names: BTreeSet<&str> = subjects.iter().map(Subject::name).collect();
    let replaced = replaced(subjects);
    let mut found = BTreeMap::new();
    for (at, subject) in subjects.iter().enumerate() {
        if !subject.is_touchable || subject.memory_type() == Some(MemoryType::User) {
            continue;
        }
        let ending = expired(subject.source, today)
            .or_else(|| superseded(subject.source, &names, replaced.get(subject.name()).copied()))
            .or_else(|| long_over(subject, today))
            .or_else(|| without_target(subject, evidence, today));
        found.extend(ending.map(|ending| (at, ending)));
    }
    found
}

/// Returns who says that it replaces which memory; what is newer than its replacement is not meant.
fn replaced<'s>(subjects: &'s [Subject<'_>]) -> BTreeMap<&'s str, &'s str> {
    let mut replaced = BTreeMap::new();
    let said: BTreeMap<&str, _> = subjects.iter().map(|subject| (subject.name(), subject.said())).collect();
    for subject in subjects {
        for old in &subject.source.memory.supersedes {
            if said.get(old.as_str()).is_some_and(|at| *at <= subject.said()) && old != subject.name() {
                replaced.insert(old.as_str(), subject.name());
            }
        }
    }
    replaced
}

fn expired(source: &Source, today: Date) -> Option<Ending> {
    let day = source.memory.expires.filter(|day| *day <= today)?;
    Some(Ending { reason: format!("expired on {day}"), risky: false, into: None })
}

fn superseded(source: &Source, names: &BTreeSet<&str>, by: Option<&str>) -> Option<Ending> {
    let memory = &source.memory;
    let named = memory.superseded_by.iter().find(|name| names.contains(name.as_str())).map(String::as_str);
    let is_marked = memory.status == Status::Superseded;
    let into = named.or(by).filter(|name| *name != source.path.stem());
    let reason = match into {
        Some(name) => format!("`{name}` took its place"),
        None if is_marked => "marked as superseded".to_owned(),
        None => return None,
    };
    Some(Ending { reason, risky: false, into: into.map(str::to_owned) })
}

/// A project memory about an event whose days are all long past.
fn long_over(subject: &Subject<'_>, today: Date) -> Option<Ending> {
    if subject.memory_type() != Some(MemoryType::Project) || reports(subject) {
        return None;
    }
    let limit = today.checked_sub(LONG_OVER_DAYS.days()).ok()?;
    let memory = &subject.source.memory;
    let note = Note::of(memory, &subject.source.document);
    let last = note.days().into_iter().max().filter(|day| *day < limit)?;
    let is_changed_since =
        memory.modified.is_some_and(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date() > last);
    let said = format!("{} {} {}", note.name.replace(['-', '_'], " "), note.description, lead(&note.body));
    let words: Vec<String> = said
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let has =
        |table: &[&str]| words.iter().any(|word| table.contains(&word.as_str()) || ends_so(word, table));
    // "From 2026-04-01 on" lasts; figures that come from somebody do not make a thing last.
    let has_begun = words.windows(2).any(|pair| {
        pair[0] == "from" && (pair[1].starts_with(|c: char| c.is_ascii_digit()) || pair[1] == "now")
    });
    let lasts = has_begun || has(LASTING) || memory.kind.as_deref().is_some_and(|kind| kind != "status");
    (has(EVENTS) && !lasts && !is_changed_since).then(|| Ending {
        reason: format!("was over on {last}"),
        risky: true,
        into: None,
    })
}

/// Korean endings stand at the word: `2026-05-01까지`, `마감일`.
fn ends_so(word: &str, table: &[&str]) -> bool {
    !word.is_ascii()
        && table.iter().any(|known| !known.is_ascii() && known.chars().count() > 1 && word.contains(known))
}

fn lead(body: &str) -> &str {
    body.split("\n\n").next().unwrap_or_default()
}

/// A memory that is only good for finding something that is no longer there.
fn without_target(subject: &Subject<'_>, evidence: &Evidence, today: Date) -> Option<Ending> {
    let risky = |reason: String| Some(Ending { reason, risky: true, into: None });
    if let Some(gone) = evidence.missing.get(subject.name()) {
        return risky(format!("all that it points to is gone: {gone}"));
    }
    let body = subject.source.body();
    let targets: Vec<String> = links(body.as_bytes()).into_iter().map(|link| link.name).collect();
    let is_old = today
        .since(subject.said().to_zoned(jiff::tz::TimeZone::UTC).date())
        .is_ok_and(|age| age.get_days() > FORWARD_DAYS as i32);
    let is_dead = |name: &String| !evidence.resolves(name) && (evidence.archived.contains(name) || is_old);
    let only_points = subject.memory_type() == Some(MemoryType::Reference);
    if !only_points || targets.is_empty() || !targets.iter().all(is_dead) {
        return None;
    }
    let mut rest = body.clone();
    for name in &targets {
        rest = rest.replace(&format!("[[{name}]]"), " ");
    }
    let said = super::saying::Saying::of(&rest);
    if said.len() > POINTS_ONLY {
        return None;
    }
    risky(format!("all that it points to is gone: [[{}]]", targets.join("]], [[")))
}
