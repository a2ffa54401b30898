//! What ties notes together: links, what both speak of, the session they were learned in, being recalled together.
//!
//! An [`Edge`] leads from one note to another with a kind, a weight from 0 to 1 and the reason. Links are what somebody
//! wrote and weigh most; what is merely shared weighs less, the more so the more notes share it.

use std::collections::{BTreeMap, BTreeSet};

use super::note::Note;
use crate::worth::mentions;

/// The most that what two notes share, being recalled together, a session or a path can weigh.
const ENTITY: f32 = 0.6;
const TOGETHER: f32 = 0.6;
const SESSION: f32 = 0.3;
const PATH: f32 = 0.4;
/// What more than this share of the notes speak of ties none of them together, unless they are few.
const COMMON: f32 = 0.2;
const FEW: usize = 4;
/// A name of fewer letters may be anything.
const MIN_NAME: usize = 4;
/// Weaker ties are none.
const LEAST: f32 = 0.05;

/// Why two notes belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Both speak of the same thing.
    Entity,
    /// They were shown or used together.
    Together,
    /// They were learned in the same session.
    Session,
    /// They are for the same files.
    Path,
}

impl EdgeKind {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Together => "co_recall",
            Self::Session => "same_session",
            Self::Path => "same_path",
        }
    }
}

/// How often two notes came up together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Together {
    /// How often both were shown at once.
    pub shown: u32,
    /// In how many sessions both were used.
    pub used: u32,
}

/// A tie to another note.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The other note.
    pub name: String,
    /// Why they belong together.
    pub kind: EdgeKind,
    /// How much, from 0 to 1.
    pub weight: f32,
    /// The reason in words.
    pub why: String,
}

/// Finds what ties `of` to the `others`, the strongest first; `together` says how often two came up together.
pub fn edges(of: &Note, others: &[Note], together: impl Fn(&str) -> Together) -> Vec<Edge> {
    let entities: Vec<BTreeMap<String, String>> = others.iter().map(entities).collect();
    let mut n_notes: BTreeMap<&str, usize> = BTreeMap::new();
    for key in entities.iter().flat_map(BTreeMap::keys) {
        *n_notes.entry(key).or_default() += 1;
    }
    let own = self::entities(of);
    let mut found = Vec::new();
    for (other, theirs) in others.iter().zip(&entities).filter(|(other, _)| other.path != of.path) {
        let ties = [
            by_entity(&own, theirs, &n_notes, others.len()).map(|tie| (EdgeKind::Entity, tie)),
            by_use(together(&other.name)).map(|tie| (EdgeKind::Together, tie)),
            by_session(of, other).map(|tie| (EdgeKind::Session, tie)),
            by_path(of, other).map(|tie| (EdgeKind::Path, tie)),
        ];
        found.extend(ties.into_iter().flatten().map(|(kind, (weight, why))| Edge {
            name: other.name.clone(),
            kind,
            weight,
            why,
        }));
    }
    found.retain(|edge| edge.weight >= LEAST);
    found.sort_by(|a, b| {
        b.weight.total_cmp(&a.weight).then_with(|| (&a.name, a.kind).cmp(&(&b.name, b.kind)))
    });
    found
}

fn by_entity(
    own: &BTreeMap<String, String>,
    theirs: &BTreeMap<String, String>,
    n_notes: &BTreeMap<&str, usize>,
    n_all: usize,
) -> Option<(f32, String)> {
    let count = |key: &str| n_notes.get(key).copied().unwrap_or(1).max(1);
    let is_telling = |key: &str| count(key) <= FEW.max((COMMON * n_all as f32) as usize);
    let shared: Vec<(&String, f32)> = own
        .iter()
        .filter(|(key, _)| theirs.contains_key(*key) && is_telling(key))
        .map(|(key, shown)| (shown, 1.0 / (count(key) as f32 - 1.0).max(1.0)))
        .collect();
    let sum: f32 = shared.iter().map(|(_, worth)| worth).sum();
    let names: Vec<String> = shared.iter().take(3).map(|(shown, _)| format!("`{shown}`")).collect();
    (!shared.is_empty())
        .then(|| (ENTITY * (1.0 - (-sum).exp()), format!("both speak of {}", names.join(", "))))
}

fn by_use(together: Together) -> Option<(f32, String)> {
    let Together { shown, used } = together;
    let sum = 0.25 * shown as f32 + used as f32;
    let why = match (shown, used) {
        (0, 0) => return None,
        (_, 0) => format!("shown together {shown}×"),
        (0, _) => format!("used together {used}×"),
        _ => format!("shown together {shown}×, used together {used}×"),
    };
    Some((TOGETHER * (1.0 - (-sum / 3.0).exp()), why))
}

fn by_session(of: &Note, other: &Note) -> Option<(f32, String)> {
    let is_same = !of.session.is_empty() && of.session == other.session;
    is_same.then(|| (SESSION, format!("both learned in session {}", of.session)))
}

fn by_path(of: &Note, other: &Note) -> Option<(f32, String)> {
    let glob = of.paths.iter().find(|glob| other.paths.contains(glob))?;
    Some((PATH, format!("both are for `{glob}`")))
}

/// Returns what a note speaks of by name, in lower case, each as it is written there: tags, names from code, files,
/// requests, and words within a sentence that begin with a capital.
fn entities(note: &Note) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut add = |name: &str| {
        if name.chars().count() >= MIN_NAME {
            found.entry(name.to_lowercase()).or_insert_with(|| name.to_owned());
        }
    };
    note.words.iter().for_each(|word| add(word));
    let text = format!("{}\n{}", note.description, note.body);
    let mentions = mentions(&text);
    for mention in mentions.symbols.iter().chain(&mentions.requests).chain(&mentions.refs) {
        add(&mention.text);
    }
    for path in &mentions.paths {
        add(path.text.rsplit('/').next().unwrap_or(&path.text));
    }
    proper_names(&text).into_iter().for_each(add);
    found
}

/// Finds words that begin with a capital although no sentence begins there. A text in which most words do says nothing by
/// it: German nouns, titles.
fn proper_names(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut n_words = 0;
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        n_words += 1;
        if !begins && bare.starts_with(char::is_uppercase) && bare.chars().all(char::is_alphanumeric) {
            names.insert(bare);
        }
        begins = word.ends_with(['.', '!', '?', ':', '*']);
    }
    if names.len() * 4 > n_words { BTreeSet::new() } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Document, Memory, MemoryPath};

    fn note(name: &str, metadata: &str, description: &str, body: &str) -> Note {
        let text = format!(
            "---\nname: {name}\ndescription: \"{description}\"\ntype: project\nmetadata:\n  created: 2026-01-01T00:00:00Z\n{metadata}---\n\n{body}\n"
        );
        let document = Document::parse(text.as_bytes());
        let (memory, _) = Memory::read(&MemoryPath::new(&format!("{name}.md")).unwrap(), &document);
        Note::of(&memory, &document)
    }

    /// AS-02, AS-03.
    #[test]
    fn as_02_each_tie_has_a_kind_a_weight_and_a_reason() {
        let session = "  originSessionId: s1\n";
        let notes = [
            note(
                "tests",
                session,
                "Tests hit a real database",
                "The compose service has Postgres; see `open_pool`.",
            ),
            note("pool", "", "How large the pool is", "We raise `open_pool` to twenty for Postgres."),
            note("ports", session, "Which ports are taken", "Mail is 8026."),
            note("lamp", "", "The lamp is from a museum", "It was shipped by boat."),
        ];
        let together = |used| {
            move |name: &str| match name {
                "lamp" => Together { shown: 2, used },
                _ => Together::default(),
            }
        };
        let found = edges(&notes[0], &notes, together(0));
        let shown: Vec<(&str, &str, &str)> =
            found.iter().map(|edge| (edge.name.as_str(), edge.kind.as_str(), edge.why.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("pool", "entity", "both speak of `open_pool`, `Postgres`"),
                ("ports", "same_session", "both learned in session s1"),
                ("lamp", "co_recall", "shown together 2×"),
            ]
        );
        assert!(found.iter().all(|edge| (0.0..=1.0).contains(&edge.weight)));
        let weight = |used| {
            let found = edges(&notes[0], &notes, together(used));
            found.iter().find(|edge| edge.kind == EdgeKind::Together).map(|edge| edge.weight).unwrap()
        };
        assert!(weight(1) > weight(0) && weight(3) > weight(1), "use makes a pair stronger");
    }

    #[test]
    fn what_every_note_speaks_of_ties_none_together() {
        let name = |n: usize| format!("n{n}");
        let notes: Vec<Note> =
            (0..12).map(|n| note(&name(n), "", "A note", "It runs on Postgres as ever.")).collect();
        assert_eq!(edges(&notes[0], &notes, |_| Together::default()), []);
    }
}
