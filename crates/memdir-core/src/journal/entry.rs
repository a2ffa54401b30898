//! One entry of the journal, as a file.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::Date;

use super::sections::{Sections, one_line};
use crate::hash::ContentHash;
use crate::memory::yaml::emit::{Place, scalar};
use crate::memory::{Document, MAX_NAME, MemoryName};
use crate::text::count;

/// As many words of the summary make a name.
const NAME_WORDS: usize = 6;
/// Longest description, in characters, without the count of open items.
const MAX_DESCRIPTION: usize = 140;

/// What one session left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// `2026-04-02-auth-refactor`.
    pub name: String,
    /// One line: what was done, and how much is left.
    pub description: String,
    /// The project's id.
    pub project: String,
    /// The session, by the host's id.
    pub session: Option<String>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it ended, or when the entry was written.
    pub ended: Option<Timestamp>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The agent that worked on it.
    pub agent: Option<String>,
    /// What it left.
    pub sections: Sections,
}

impl Entry {
    /// Returns when it was written, as well as it can be told.
    pub fn at(&self) -> Option<Timestamp> {
        self.ended.or(self.started)
    }

    /// Writes the file.
    pub fn render(&self) -> String {
        let mut out = String::from("---\n");
        let mut line = |indent: usize, key: &str, value: &str, place: Place| {
            let _ = writeln!(out, "{:indent$}{key}: {}", "", scalar(value, place));
        };
        line(0, "name", &self.name, Place::Typed);
        line(0, "description", &one_line(&self.description), Place::Block);
        line(0, "type", "session", Place::Block);
        let seconds = |time: Option<Timestamp>| time.map(|time| format!("{time:.0}"));
        let fields = [
            ("project", Some(self.project.clone()), Place::Block),
            ("session", self.session.clone(), Place::Block),
            ("started", seconds(self.started), Place::Typed),
            ("ended", seconds(self.ended), Place::Typed),
            ("branch", self.branch.clone(), Place::Block),
            ("agent", self.agent.clone(), Place::Block),
        ];
        out.push_str("metadata:\n");
        for (key, value, place) in fields {
            if let Some(value) = value {
                let _ = writeln!(out, "  {key}: {}", scalar(&one_line(&value), place));
            }
        }
        format!("{out}---\n\n{}", self.sections.render())
    }

    /// Reads a file, or the beginning of one. What it does not say is taken from `stem`, its name without the ending.
    pub fn read(stem: &str, bytes: &[u8]) -> Self {
        let document = Document::parse(bytes);
        let field = |key: &str| document.text(key).map(str::to_owned).or_else(|| document.guess(key));
        let field = |key: &str| field(key).filter(|value| !value.trim().is_empty());
        let time = |key: &str| field(key).and_then(|text| text.parse::<Timestamp>().ok());
        let mut sections = Sections::read(&String::from_utf8_lossy(document.body()));
        let name = field("name").unwrap_or_else(|| stem.to_owned());
        for item in sections.unfinished.iter_mut().filter(|item| item.id.is_empty()) {
            // Written by hand: known by what it says and where.
            let hash = ContentHash::of(format!("{stem}\n{}", item.text).as_bytes()).to_string();
            item.id = format!("h{}", &hash[..15]);
        }
        Self {
            description: field("description").unwrap_or_else(|| describe(&sections)),
            project: field("project").unwrap_or_default(),
            session: field("session"),
            started: time("started"),
            ended: time("ended"),
            branch: field("branch"),
            agent: field("agent"),
            name,
            sections,
        }
    }

    /// Returns all that a search may find it by.
    pub fn text(&self) -> String {
        let items = self.sections.unfinished.iter().map(|item| &item.text);
        let lines = std::iter::once(&self.sections.summary).chain(&self.sections.decisions).chain(items);
        lines.chain(&self.sections.related).map(|line| format!("{line}\n")).collect()
    }
}

/// Names an entry by its day and the first words of its summary.
pub fn name(day: Date, sections: &Sections) -> String {
    let words: Vec<&str> = sections.summary.split_whitespace().take(NAME_WORDS).collect();
    let slug = MemoryName::from_words(&words.join(" "))
        .map_or_else(|| "session".to_owned(), |name| name.to_string());
    let mut name = format!("{day}-{slug}");
    name.truncate(MAX_NAME);
    name.trim_end_matches('-').to_owned()
}

/// Describes an entry: the first sentence of its summary, and how much is left open.
pub fn describe(sections: &Sections) -> String {
    let line = sections.summary.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("a session");
    let end = line.find(". ").unwrap_or(line.len());
    let sentence = one_line(line[..end].trim_end_matches(['.', ';']));
    let cut: String = sentence.chars().take(MAX_DESCRIPTION).collect();
    let sentence = if cut.len() < sentence.len() { format!("{}…", cut.trim_end()) } else { cut };
    match sections.n_open() {
        0 => sentence,
        n => format!("{sentence}; {}", count(n, "open item", "open items")),
    }
}
