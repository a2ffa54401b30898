//! Which relative dates of a memory become absolute, and how sure it is on which day they were said.
//!
//! "Next week" is a week; "on Thursday" may be every Thursday. A weekday alone is made a date only where something is
//! spoken of that happens once, and then it waits for a person.

use std::collections::BTreeSet;

use jiff::Zoned;

use super::Source;
use super::words::{is_negation, weekday};
use crate::dates::{Resolved, settle_relative};
use crate::memory::{Document, MemoryType, Severity};
use crate::policy::with_relative_dates_settled;
use crate::statement::statements;

/// Says whether the dates of a memory may be made absolute.
pub(super) fn may_be_dated(source: &Source) -> bool {
    let memory = &source.memory;
    let is_readable = !source.problems.iter().any(|problem| problem.severity() == Severity::Error);
    let is_users = memory.memory_type.is_none_or(|kind| kind == MemoryType::User);
    is_readable && !is_users && !memory.pinned && !memory.quarantined && !source.is_untrusted
}

/// Returns a memory with its dates made absolute, what was done, and whether it is sure on which day it was said.
pub(super) fn absolute(source: &Source, now: &Zoned) -> Option<(Document, String, bool)> {
    let zone = now.time_zone();
    let settled = |at: jiff::Timestamp| {
        with_relative_dates_settled(source.document.clone(), &at.to_zoned(zone.clone()))
    };
    let dated = settled(source.said());
    if dated.document.bytes() == source.document.bytes() {
        return None;
    }
    let said = |text: &str| settle_relative(text, &source.said().to_zoned(zone.clone())).changes;
    let changes: Vec<Resolved> = [said(&source.memory.description), said(&source.body())].concat();
    // "Within a week" of something is a span and no day, unless somebody says it of today.
    let is_said_of_a_day = changes.iter().any(|change| !is_habit(&change.said));
    let is_once = !is_said_of_a_day && happens_once(source);
    if changes.iter().any(|change| is_span(&change.said)) || !(is_said_of_a_day || is_once) {
        return None;
    }
    // Edited on another day than it was saved: the phrase may be from either.
    let created = source.memory.created.filter(|created| *created != source.said());
    let is_doubtful =
        created.is_some_and(|created| settled(created).document.bytes() != dated.document.bytes());
    let told: BTreeSet<String> =
        changes.iter().map(|change| format!("`{}` is {}", change.said, change.means)).collect();
    let reason = told.into_iter().collect::<Vec<_>>().join(", ");
    Some((dated.document, reason, is_doubtful || is_once))
}

/// Says whether a phrase may tell of every week: a day of the week, and nothing that says which one.
fn is_habit(phrase: &str) -> bool {
    const WHICH: [&str; 18] = [
        "this",
        "next",
        "last",
        "coming",
        "past",
        "diese",
        "nächst",
        "komm",
        "letzt",
        "vergangen",
        "이번",
        "다음",
        "지난",
        "ago",
        "vor",
        "in ",
        "tomorrow",
        "yesterday",
    ];
    let phrase = phrase.to_lowercase();
    let names_a_day = phrase.split(|c: char| !c.is_alphabetic()).any(|word| weekday(word).is_some());
    let is_weekly =
        names_a_day || phrase.contains("weekend") || phrase.contains("wochenende") || phrase.contains("주말");
    is_weekly && !WHICH.iter().any(|word| phrase.contains(word))
}

/// Words of what happens once, on a day that somebody names by its weekday.
#[rustfmt::skip]
const ONCE: &[&str] = &[
    "demo", "deadline", "launch", "launches", "due", "cutover", "kickoff", "presentation", "offsite", "workshop", "audit", "auditors", "pentest", "visit", "visits", "exam",
    "handover", "submission", "conference", "away", "vacation", "holiday", "back", "ends", "expires", "appointment", "interview", "migration", "rollout", "announcement",
    "trial", "freeze", "frozen", "arrives", "leaves", "signs",
    "frist", "abgabe", "umzug", "vorführung", "urlaub", "abnahme", "präsentation", "besuch", "prüfung", "übergabe",
];
/// Words of what is so every week.
#[rustfmt::skip]
const HABITUAL: &[&str] = &[
    "every", "each", "weekly", "always", "usually", "regularly", "recurring", "routine", "sprint", "sprints", "standup", "retro", "meets", "meeting", "meetings", "sync",
    "maintenance", "window", "whenever", "if", "rotation",
    "jeden", "jede", "jedes", "immer", "wöchentlich", "meist", "wartung", "wartungsfenster", "falls", "wenn",
];

/// Says whether a project's memory names a weekday for something that happens once: the very next one is meant.
fn happens_once(source: &Source) -> bool {
    let body = source.body();
    let mut sentences: Vec<&str> = statements(&body).into_iter().map(|statement| statement.text).collect();
    sentences.push(&source.memory.description);
    let names_a_day = |words: &Vec<String>| words.iter().any(|word| weekday(word).is_some());
    let named: Vec<Vec<String>> =
        sentences.iter().map(|sentence| words(sentence)).filter(names_a_day).collect();
    let has = |words: &[String], table: &[&str]| words.iter().any(|word| table.contains(&word.as_str()));
    // "On Fridays" is every Friday.
    let is_one = |word: &String| weekday(word).is_none_or(|_| !word.ends_with('s'));
    source.memory.memory_type == Some(MemoryType::Project)
        && !named.is_empty()
        && named.iter().all(|words| {
            has(words, ONCE)
                && !has(words, HABITUAL)
                && words.iter().all(is_one)
                && !words.iter().any(|word| is_negation(word))
        })
}

fn words(sentence: &str) -> Vec<String> {
    let words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Says whether a phrase tells how long something takes.
fn is_span(phrase: &str) -> bool {
    let phrase = phrase.to_lowercase();
    ["within", "inside", "innerhalb", "binnen", "이내", "안에"].iter().any(|word| phrase.contains(word))
}
