//! Makes a candidate of what was found: dates made absolute, a name, a description that stands alone, the body's template.
//!
//! What a memory says already makes no candidate; where a number, a date or a negation differs, the candidate has the
//! memory's name and would bring it up to date.

use std::collections::BTreeSet;

use jiff::{Timestamp, Zoned};

use super::explain::part_reason;
use super::words::{begins, has, lower, table, without_interjections};
use super::{Candidate, Evidence};
use crate::classify::{Known, Proposed, classify};
use crate::dates;
use crate::host::hearsay::{Words, words};
use crate::likeness::{Likeness, nearest_duplicate};
use crate::memory::{MemoryName, MemoryType, Provenance};
use crate::statement::{Language, read};

/// As much of what a candidate says must stand in a memory for it to be said already.
const SAID: f64 = 0.75;
/// As much for it to be about the same.
const ABOUT: f64 = 0.6;
/// Fewer telling words tell nothing about likeness.
const MIN_WORDS: usize = 4;

/// What there is around a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// When it is looked at, for messages that do not say when they were written; its zone counts for all.
    pub now: &'a Zoned,
    /// The memories there are, and what waits to become one.
    pub held: &'a [Held],
    /// Other names by which memories are called, each with the memory's name.
    pub aliases: &'a [(String, String)],
    /// Whether there is a vault that the team shares.
    pub has_team_vault: bool,
    /// What was said before the window, oldest first: read only to learn what a message points at.
    pub earlier: &'a [super::Said],
}

/// A memory as far as extraction needs to know it.
#[derive(Debug, Clone)]
pub struct Held {
    name: String,
    memory_type: Option<MemoryType>,
    is_memory: bool,
    likeness: Likeness,
    words: Words,
    facts: BTreeSet<String>,
}

impl Held {
    /// Takes a memory of a vault.
    pub fn memory(name: &str, memory_type: Option<MemoryType>, description: &str, body: &str) -> Self {
        let text = format!("{description}\n{body}");
        let (likeness, words, facts) = (Likeness::of(description, body), words(&text), facts(&text));
        Self { name: name.to_owned(), memory_type, is_memory: true, likeness, words, facts }
    }

    /// Returns its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Takes what waits for the user's word: it is not proposed again and cannot be brought up to date.
    pub fn waiting(name: &str, memory_type: Option<MemoryType>, description: &str, body: &str) -> Self {
        Self { is_memory: false, ..Self::memory(name, memory_type, description, body) }
    }
}

/// What was found in a conversation, before it is a candidate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// The memory's type, if what was said decides it.
    pub(super) memory_type: Option<MemoryType>,
    /// The rule or fact, as it was said.
    pub(super) point: String,
    /// The reason, if one was given in a sentence of its own.
    pub(super) why: Option<String>,
    /// When it counts, likewise.
    pub(super) how: Option<String>,
    /// Who said it.
    pub(super) provenance: Provenance,
    /// When.
    pub(super) at: Option<Timestamp>,
    /// Where.
    pub(super) evidence: Vec<Evidence>,
}

/// What became of a finding.
enum Standing<'h> {
    New,
    Known,
    Changes(&'h Held),
}

/// Makes a candidate of a finding; `None` if it is known already. `taken` are names that others have.
pub(super) fn candidate(finding: &Finding, around: &Around<'_>, taken: &[String]) -> Option<Candidate> {
    let then =
        finding.at.map_or_else(|| around.now.clone(), |at| at.to_zoned(around.now.time_zone().clone()));
    let text = dates::settle(&finding.text(), &then).text;
    let known = Known { names: taken, aliases: around.aliases, has_team_vault: around.has_team_vault };
    let mut proposed = classify(&text, &known);
    if let Some(memory_type) = finding.memory_type {
        proposed = proposed.as_type(memory_type, &known);
    }
    let name = match standing(&proposed, around.held) {
        Standing::Known => return None,
        Standing::Changes(held) => MemoryName::new(&held.name).unwrap_or(proposed.name),
        Standing::New => proposed.name,
    };
    Some(Candidate {
        name,
        memory_type: proposed.memory_type,
        kind: proposed.kind.map(str::to_owned),
        scope: proposed.scope,
        description: capitalized(&proposed.description),
        body: proposed.body,
        provenance: finding.provenance,
        evidence: finding.evidence.clone(),
    })
}

impl Finding {
    /// Writes it down in the template of a body.
    fn text(&self) -> String {
        let point = without_interjections(&self.point);
        let is_user = self.memory_type == Some(MemoryType::User);
        let (point, inner) = if is_user { (point, None) } else { part_reason(point) };
        let why: Vec<&str> = inner.into_iter().chain(self.why.as_deref()).collect();
        let point = if is_user { told_of_user(point) } else { point.to_owned() };
        let mut text = sentence(&point);
        for (label, part) in [("Why", why.join(" ")), ("How to apply", self.how.clone().unwrap_or_default())]
        {
            if !part.is_empty() {
                text.push_str(&format!("\n\n**{label}:** {}", sentence(&part)));
            }
        }
        text
    }
}

/// Says what the memories there are say of a proposal.
fn standing<'h>(proposed: &Proposed, held: &'h [Held]) -> Standing<'h> {
    let likeness = Likeness::of(&proposed.description, &proposed.body);
    if nearest_duplicate(&likeness, held.iter().map(|held| &held.likeness)).is_some() {
        return Standing::Known;
    }
    let text = format!("{}\n{}", proposed.description, proposed.body);
    let (words, facts) = (words(&text), facts(&text));
    if words.len() < MIN_WORDS {
        return Standing::New;
    }
    let share = |held: &Held| words.intersection(&held.words).count() as f64 / words.len() as f64;
    let nearest = held.iter().map(|held| (share(held), held)).max_by(|(a, _), (b, _)| a.total_cmp(b));
    match nearest {
        Some((share, held)) if share >= SAID && facts.is_subset(&held.facts) => Standing::Known,
        Some((share, held)) if share >= ABOUT && facts != held.facts && is_same_kind(held, proposed) => {
            Standing::Changes(held)
        }
        _ => Standing::New,
    }
}

fn is_same_kind(held: &Held, proposed: &Proposed) -> bool {
    held.is_memory && held.memory_type == Some(proposed.memory_type)
}

/// Returns what makes one statement another: its numbers and dates, and whether it denies.
fn facts(text: &str) -> BTreeSet<String> {
    let said = lower(text);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | ':' | '%');
    let numbers = said.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['-', '.', ':']));
    let numbers = numbers.filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    let mut facts: BTreeSet<String> = numbers.map(str::to_owned).collect();
    if has(&said, table("denying")) {
        facts.insert("not".to_owned());
    }
    facts
}

/// Makes a sentence of words: a capital, a full stop.
fn sentence(text: &str) -> String {
    let text = capitalized(text.trim().trim_end_matches([',', ';', ':', '-', '–', '—', ' ']));
    let is_closed = text.ends_with(['.', '!', '?', '。', '`', '"', '”', '…', ')']);
    if is_closed { text } else { format!("{text}.") }
}

/// Puts a capital first, unless the first word is a name as code has it.
fn capitalized(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let is_plain = word.chars().all(|c| c.is_lowercase() || matches!(c, '\'' | '’' | ',' | ':' | '-'));
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if is_plain => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// Tells in the third person what the user said of themself, in English; other languages stay as they are.
fn told_of_user(point: &str) -> String {
    let said = lower(point);
    if read(point).language() != Language::English
        || said.len() != point.len()
        || !begins(&said, table("i forms"))
    {
        return point.to_owned();
    }
    let (first, rest) = point.split_once(' ').unwrap_or((point, ""));
    let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let head = match lower(first).as_str() {
        "i'm" => format!("The user is {verb}"),
        "i've" => format!("The user has {verb}"),
        "i'd" => format!("The user would {verb}"),
        "my" => format!("The user's {verb}"),
        _ => format!("The user {}", third_person(verb)),
    };
    let rest: Vec<String> =
        rest.split(' ').map(|word| of_them(word).unwrap_or_else(|| word.to_owned())).collect();
    format!("{head} {}", rest.join(" ")).trim_end().to_owned()
}

fn third_person(verb: &str) -> String {
    match verb {
        "am" => "is".to_owned(),
        "have" => "has".to_owned(),
        "do" => "does".to_owned(),
        "don't" => "doesn't".to_owned(),
        verb if verb.ends_with("ed") || verb.ends_with("ly") || begins(verb, table("unbending verbs")) => {
            verb.to_owned()
        }
        verb if verb.ends_with(['s', 'x', 'z']) || verb.ends_with("ch") || verb.ends_with("sh") => {
            format!("{verb}es")
        }
        verb => format!("{verb}s"),
    }
}

fn of_them(word: &str) -> Option<String> {
    let (core, mark) = match word.strip_suffix([',', '.', ';', '!']) {
        Some(core) => (core, &word[core.len()..]),
        None => (word, ""),
    };
    let them = match lower(core).as_str() {
        "i" => "they",
        "i'm" => "they're",
        "i've" => "they've",
        "i'd" => "they'd",
        "i'll" => "they'll",
        "my" => "their",
        "me" => "them",
        "mine" => "theirs",
        "myself" => "themselves",
        _ => return None,
    };
    Some(format!("{them}{mark}"))
}
