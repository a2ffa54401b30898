//! A memory that does not exist yet, and how its file looks.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::Date;

use super::name::MemoryName;
use super::read::Verified;
use super::words::{MemoryType, Provenance, Scope};
use super::yaml::emit::{Place, scalar};

/// Where a new file has its type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// At the top level, beside name and description.
    #[default]
    Flat,
    /// Under `metadata`, as newer versions of Claude Code write it.
    Nested,
}

/// A memory about to be written for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its name, which is the stem of its file.
    pub name: MemoryName,
    /// What it is about, in one line.
    pub description: String,
    /// Its type.
    pub memory_type: MemoryType,
    /// Who may see it; written only when it is not the default.
    pub scope: Scope,
    /// A finer kind than the type.
    pub kind: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The files it is about, as globs from the project's root.
    pub paths: Vec<String>,
    /// What a hook refuses, asks or says before a tool is used; see [`super::Rule`].
    pub rules: Vec<String>,
    /// When it is saved.
    pub created: Option<Timestamp>,
    /// The same, until its content changes.
    pub modified: Option<Timestamp>,
    /// The session it was learned in.
    pub session: Option<String>,
    /// Who said it.
    pub provenance: Option<Provenance>,
    /// When and by whom it was checked.
    pub verified: Option<Verified>,
    /// The day from which on it is stale.
    pub expires: Option<Date>,
    /// Whether it always stands first on the index page.
    pub pinned: bool,
    /// The project in which a memory of the user vault was learned.
    pub origin_project: Option<String>,
    /// The memories it replaces.
    pub supersedes: Vec<String>,
    /// Where it comes from.
    pub source: Vec<String>,
    /// The markdown after the frontmatter.
    pub body: String,
    /// Where the type stands.
    pub layout: Layout,
}

impl Draft {
    /// Begins a draft with the required fields; everything else is absent.
    pub fn new(name: MemoryName, memory_type: MemoryType, description: impl Into<String>) -> Self {
        Self {
            name,
            description: description.into(),
            memory_type,
            scope: Scope::Private,
            kind: None,
            tags: Vec::new(),
            paths: Vec::new(),
            rules: Vec::new(),
            created: None,
            modified: None,
            session: None,
            provenance: None,
            verified: None,
            expires: None,
            pinned: false,
            origin_project: None,
            supersedes: Vec::new(),
            source: Vec::new(),
            body: String::new(),
            layout: Layout::Flat,
        }
    }

    /// Writes the file: frontmatter, a blank line, the body, one line break at the end.
    pub fn render(&self) -> Vec<u8> {
        let mut out = String::with_capacity(256 + self.body.len());
        out.push_str("---\n");
        line(&mut out, 0, "name", self.name.as_str(), Place::Block);
        line(&mut out, 0, "description", &self.description, Place::Block);
        if self.layout == Layout::Flat {
            line(&mut out, 0, "type", self.memory_type.as_str(), Place::Block);
        }
        let metadata = self.metadata();
        if !metadata.is_empty() {
            out.push_str("metadata:\n");
            out.push_str(&metadata);
        }
        out.push_str("---\n");
        let body = self.body.trim_matches(['\n', '\r']);
        if !body.is_empty() {
            out.push('\n');
            out.push_str(body);
            out.push('\n');
        }
        out.into_bytes()
    }

    fn metadata(&self) -> String {
        let mut out = String::new();
        let mut text = |key, value: Option<String>, place| {
            if let Some(value) = value {
                line(&mut out, 2, key, &value, place);
            }
        };
        let nested_type = (self.layout == Layout::Nested).then(|| self.memory_type.to_string());
        let team = (self.scope == Scope::Team).then(|| self.scope.to_string());
        text("type", nested_type, Place::Block);
        text("scope", team, Place::Block);
        text("kind", self.kind.clone(), Place::Block);
        text("created", self.created.map(seconds), Place::Typed);
        text("modified", self.modified.map(seconds), Place::Typed);
        text("originSessionId", self.session.clone(), Place::Block);
        text("provenance", self.provenance.map(|who| who.to_string()), Place::Block);
        text("verified", self.verified.as_ref().map(Verified::to_string), Place::Typed);
        text("expires", self.expires.map(|day| day.to_string()), Place::Typed);
        text("pinned", self.pinned.then(|| "true".to_owned()), Place::Typed);
        text("origin_project", self.origin_project.clone(), Place::Block);
        list(&mut out, "supersedes", &self.supersedes);
        list(&mut out, "source", &self.source);
        list(&mut out, "tags", &self.tags);
        list(&mut out, "paths", &self.paths);
        list(&mut out, "rule", &self.rules);
        out
    }
}

/// Returns the body that `memdir new` offers for a type.
pub fn template(memory_type: MemoryType) -> &'static str {
    match memory_type {
        MemoryType::User => "Who the user is or what they know, want or prefer.\n",
        MemoryType::Feedback => {
            "What to do or not to do.\n\n**Why:** what went wrong or right.\n\n**How to apply:** when and where it counts.\n"
        }
        MemoryType::Project => {
            "What is going on.\n\n**Why:** the reason behind it.\n\n**How to apply:** what it changes for the work.\n"
        }
        MemoryType::Reference => "Where to look, and for what.\n",
    }
}

fn line(out: &mut String, indent: usize, key: &str, value: &str, place: Place) {
    // Writing into a string cannot fail.
    let _ = writeln!(out, "{:indent$}{key}: {}", "", scalar(value, place));
}

fn list(out: &mut String, key: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "  {key}:");
    for item in items {
        let _ = writeln!(out, "    - {}", scalar(item, Place::Block));
    }
}

/// Writes a time in whole seconds, as the format wants it.
fn seconds(time: Timestamp) -> String {
    format!("{time:.0}")
}
