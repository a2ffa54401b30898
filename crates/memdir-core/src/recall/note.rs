//! A memory as recall sees it: what is looked up, and what is needed to rank it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::civil::Date;

use serde::{Deserialize, Serialize};

use super::gist::Gist;
use crate::embed::{self, Row};
use crate::memory::{Document, Memory, MemoryType, Status, Tier, links};
use crate::terms::{Origin, Term, Words, in_english};
use crate::worth::mentions;

/// What a word in each part of a memory counts, in quarters: in its name, description, tags and aliases, and in its body.
const HEAD_WEIGHT: u16 = 12;
const BODY_WEIGHT: u16 = 4;
/// The English of a word counts half of it.
const TRANSLATED: u16 = 2;
/// As much of a body is read: what is longer is a document.
const MAX_BODY: usize = 16 * 1024;
/// As many sentences are compared one by one.
const MAX_SENTENCES: usize = 24;

/// What is known of a memory without opening it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Where it is in its vault.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Its tags and other names.
    pub words: Vec<String>,
    /// Its type.
    pub memory_type: MemoryType,
    /// `gotcha`, `howto`, `decision`, …; empty if it says none.
    pub kind: String,
    /// Whether it was confirmed, or came about by itself.
    pub tier: Tier,
    /// Whether it still holds.
    pub status: Status,
    /// When it last changed.
    pub modified: Option<Timestamp>,
    /// When it ends.
    pub expires: Option<Date>,
    /// The globs of its paths.
    pub paths: Vec<String>,
    /// The names it links to.
    pub links: Vec<String>,
    /// The session it was learned in.
    pub session: String,
    /// Whether it has rules that hold before a tool is used.
    pub has_rules: bool,
    /// The body, perhaps cut.
    pub body: String,
    /// What was worked out of it; see [`Note::gist`].
    #[serde(skip)]
    gist: OnceLock<Gist>,
}

/// What the index keeps to find a note.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its terms with their weights.
    pub terms: Vec<(Term, u16)>,
    /// What it is looked up by that is no word.
    pub facets: Vec<Term>,
    /// Its length in terms.
    pub length: u32,
    /// Where it points.
    pub row: Option<Row>,
}

impl Note {
    /// Takes what recall needs from a memory; `None` for one without a type, which is nothing yet.
    pub fn of(memory: &Memory, document: &Document) -> Self {
        let body = String::from_utf8_lossy(document.body());
        let mut end = body.len().min(MAX_BODY);
        while !body.is_char_boundary(end) {
            end -= 1;
        }
        let mut words = memory.tags.clone();
        words.extend(memory.aliases.iter().cloned());
        Self {
            path: memory.path.as_str().to_owned(),
            name: memory.name.clone(),
            description: memory.description.clone(),
            words,
            memory_type: memory.memory_type.unwrap_or(MemoryType::Project),
            kind: memory.kind.clone().unwrap_or_default(),
            tier: memory.tier,
            status: memory.status,
            modified: memory.modified.or(memory.created),
            expires: memory.expires,
            paths: memory.paths.clone(),
            links: links(document.body()).into_iter().map(|link| link.name).collect(),
            session: memory.session.clone().unwrap_or_default(),
            has_rules: !memory.rules.is_empty(),
            body: body[..end].trim().to_owned(),
            gist: OnceLock::new(),
        }
    }

    /// Says whether a program writes it out of other things: where this project and where all of them stand, each time that
    /// a session is wrapped. People write memories of kind `status` too, so the name and the first words count as well.
    pub fn is_generated(&self) -> bool {
        let opening = match self.name.as_str() {
            "project-status" => "As of ",
            "reference-projects" => "Which projects there are, and where each stands.",
            _ => return false,
        };
        self.kind == "status" && self.body.starts_with(opening)
    }

    /// Returns what is known of its text without reading it again.
    pub fn gist(&self) -> &Gist {
        self.gist.get_or_init(|| Gist::of(self, &Words::of(&self.head()), &Words::of(&self.body)))
    }

    /// Gives it the gist that was worked out of it earlier.
    pub fn with_gist(mut self, gist: Gist) -> Self {
        self.gist = OnceLock::from(gist);
        self
    }

    /// Returns its name, description and tags as one text.
    pub fn head(&self) -> String {
        format!("{}. {}. {}", self.name.replace(['-', '_'], " "), self.description, self.words.join(", "))
    }

    /// Returns what the index keeps of it.
    pub fn entry(&self) -> Entry {
        let mut weights: Vec<(Term, u16)> = Vec::new();
        let mut length = 0;
        let (head, body) = (Words::of(&self.head()), Words::of(&self.body));
        self.gist.get_or_init(|| Gist::of(self, &head, &body));
        for (words, weight) in [(head, HEAD_WEIGHT), (body, BODY_WEIGHT)] {
            words.each_term(|term, origin| {
                let weight = if origin == Origin::Said { weight } else { weight / TRANSLATED };
                length += u32::from(origin == Origin::Said);
                weights.push((term, weight));
            });
        }
        weights.sort_unstable();
        weights.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 = if is_same { kept.1.saturating_add(next.1) } else { kept.1 };
            is_same
        });
        let row = embed::vector(&in_english(&self.meaning())).map(|vector| vector.to_bytes());
        Entry { terms: weights, facets: self.facets(), length, row }
    }

    /// Returns the text whose vector stands for the note: the head, and what the body says first.
    fn meaning(&self) -> String {
        let first = self.body.split("\n\n").next().unwrap_or_default();
        format!("{}. {first}", self.head())
    }

    /// Returns the sentences that are compared with a prompt one by one.
    pub fn sentences(&self) -> Vec<&str> {
        let body = self.body.split(['\n', '.', '!', '?', ';']).map(|part| {
            part.trim().trim_start_matches("**Why:**").trim_start_matches("**How to apply:**").trim()
        });
        let is_long = |part: &&str| part.split_whitespace().count() >= 3;
        [self.description.as_str()].into_iter().chain(body.filter(is_long)).take(MAX_SENTENCES).collect()
    }

    /// Says whether the note has a link to another, by its name.
    pub(super) fn links_to(&self, other: &Self) -> bool {
        self.name != other.name && self.links.iter().any(|link| link.eq_ignore_ascii_case(&other.name))
    }

    /// Returns the days that the note names, and its last one.
    pub fn days(&self) -> BTreeSet<Date> {
        let text = [self.description.as_str(), self.body.as_str()];
        text.iter().flat_map(|text| days(text)).chain(self.expires).collect()
    }

    fn facets(&self) -> Vec<Term> {
        let mut facets = BTreeSet::new();
        let mut add = |kind: &str, value: &str| facets.insert(facet(kind, value));
        for glob in &self.paths {
            add("dir", literal_dir(glob));
        }
        let text = format!("{}\n{}", self.description, self.body);
        for path in mentions(&text).paths {
            let name = path.text.rsplit('/').next().unwrap_or(&path.text);
            add("file", name);
        }
        for link in &self.links {
            add("link", link);
        }
        if !self.session.is_empty() {
            add("session", &self.session);
        }
        for day in self.days() {
            add("day", &day.to_string());
        }
        if self.has_rules {
            facets.insert(with_rules());
        }
        facets.into_iter().collect()
    }
}

/// Returns the facet of notes that have rules.
pub fn with_rules() -> Term {
    facet("has", "rules")
}

/// Makes the term of something that is looked up and not scored.
pub(super) fn facet(kind: &str, value: &str) -> Term {
    Term::of(&format!("{kind}:{}", value.to_lowercase()))
}

/// Returns the folders of a glob up to its first wildcard.
pub(super) fn literal_dir(glob: &str) -> &str {
    let end = glob.find(['*', '?', '[', '{']).unwrap_or(glob.len());
    glob[..end].rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// Finds days written as `2026-04-14`.
pub(super) fn days(text: &str) -> impl Iterator<Item = Date> + '_ {
    let starts = text.match_indices("20").map(|(at, _)| at);
    starts.filter_map(|at| {
        let before = text[..at].chars().next_back();
        let is_alone = before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-');
        let day = text.get(at..at + 10).filter(|_| is_alone)?;
        let is_end = text[at + 10..].chars().next().is_none_or(|c| !c.is_ascii_digit());
        day.parse().ok().filter(|_| is_end)
    })
}
