//! Makes memories out of the notes of other programs.
//!
//! Fields that a memory needs are added, nothing is taken away: tags, observations, relations and unknown keys stay
//! where they are. A note whose frontmatter cannot be read is kept byte for byte.

use std::collections::{BTreeMap, BTreeSet};

use super::fate::Incoming;
use super::relink::relink;
use crate::hash::ContentHash;
use crate::memory::{
    ADVISED_DESCRIPTION, Document, EditError, Frontmatter, MemoryName, MemoryType, Value, folded, sections,
    suggest_type,
};

/// Whose notes they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A vault of Obsidian: notes are called by their file name.
    Obsidian,
    /// basic-memory: notes are called by their title or permalink.
    BasicMemory,
}

/// A note as another program keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its path in the folder of notes, with `/` and `.md`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Makes memories out of `notes`: flat, each under a name of ours, with the links between them rewritten.
pub fn adapt(notes: Vec<Note>, dialect: Dialect) -> Vec<Incoming> {
    let mut given = BTreeSet::new();
    let named: Vec<(Note, Document, MemoryName)> = notes
        .into_iter()
        .map(|note| {
            let document = Document::parse(&note.bytes);
            let name = choose_name(&note, &document, &mut given);
            (note, document, name)
        })
        .collect();
    let names = link_names(&named, dialect);
    named
        .into_iter()
        .map(|(note, document, name)| {
            let path = name.path();
            let text = memory(&note, &document, &name, &names);
            Incoming { origin: note.path, path, bytes: text.unwrap_or(note.bytes) }
        })
        .collect()
}

/// Keeps the file's name where it is one of ours and free, else makes one of it.
fn choose_name(note: &Note, document: &Document, given: &mut BTreeSet<String>) -> MemoryName {
    let stem = stem(&note.path);
    let title = document.text("title").unwrap_or_default();
    let name = MemoryName::new(stem)
        .ok()
        .or_else(|| MemoryName::from_words(stem))
        .or_else(|| MemoryName::from_words(title))
        .unwrap_or_else(|| by_hash(&note.bytes));
    let mut chosen = name.clone();
    for n in 2.. {
        if given.insert(folded(chosen.as_str())) {
            break;
        }
        let words = format!("{}-{n}", &name.as_str()[..name.as_str().len().min(56)]);
        chosen = MemoryName::new(&words).unwrap_or_else(|_| by_hash(note.path.as_bytes()));
    }
    chosen
}

fn by_hash(bytes: &[u8]) -> MemoryName {
    let name = format!("note-{}", ContentHash::of(bytes).short());
    MemoryName::new(&name).expect("hex digits behind a word are a name")
}

/// Says under which names links know each note; a name that two notes have leads to the first.
fn link_names(named: &[(Note, Document, MemoryName)], dialect: Dialect) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let mut learn = |name: &str, new: &MemoryName| {
        names.entry(name.to_lowercase()).or_insert_with(|| new.to_string());
    };
    for (note, document, new) in named {
        learn(stem(&note.path), new);
        learn(note.path.trim_end_matches(".md"), new);
        if dialect == Dialect::BasicMemory {
            ["title", "permalink"]
                .iter()
                .filter_map(|key| document.text(key))
                .for_each(|name| learn(name, new));
        }
    }
    names
}

/// Completes a note; fails if its frontmatter cannot be edited, then the note stays as it is.
fn memory(
    note: &Note,
    document: &Document,
    name: &MemoryName,
    names: &BTreeMap<String, String>,
) -> Result<Vec<u8>, EditError> {
    let mut document = document.clone();
    if let Some(body) = relink(document.body(), names) {
        document = document.with_body(&body)?;
    }
    let description = description(&document, stem(&note.path));
    let body = String::from_utf8_lossy(document.body()).into_owned();
    let suggested = suggest_type(name.as_str(), &format!("{description} {}", sections(&body).lead));
    if matches!(document.frontmatter(), Frontmatter::Absent) {
        document = document.with_frontmatter(name.as_str(), &description, suggested)?;
    } else {
        document = complete(document, name, &description, suggested)?;
    }
    document = document.set("provenance", &Value::from("import"))?;
    document = document.set("source", &Value::from(format!("import:{}", note.path)))?;
    Ok(document.bytes().to_owned())
}

fn complete(
    document: Document,
    name: &MemoryName,
    description: &str,
    suggested: MemoryType,
) -> Result<Document, EditError> {
    let mut document = document.set("name", &Value::from(name.as_str()))?;
    if document.text("description").unwrap_or_default().trim().is_empty() {
        document = document.set("description", &Value::from(description))?;
    }
    let word = document.text("type").unwrap_or_default().trim().to_owned();
    if word.parse::<MemoryType>().is_err() {
        document = document.set("type", &Value::from(suggested.as_str()))?;
        // Their word says more than ours: it stays as the kind, unless it says nothing.
        if !matches!(word.as_str(), "" | "note") && document.get("kind").is_none() {
            document = document.set("kind", &Value::from(word))?;
        }
    }
    Ok(document)
}

/// Finds one line that says what a note is about: its description, its title, its first line, its name.
fn description(document: &Document, stem: &str) -> String {
    let body = String::from_utf8_lossy(document.body());
    let plain = |line: &str| line.trim().trim_start_matches(['#', '>', '-', '*', ' ']).trim().to_owned();
    let first = body.lines().map(plain).find(|line| !line.is_empty());
    let fields = ["description", "title"].iter().filter_map(|key| document.text(key)).map(str::to_owned);
    let text = fields.chain(first).find(|text| !text.trim().is_empty()).unwrap_or_else(|| stem.to_owned());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(ADVISED_DESCRIPTION).collect()
}

fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".md").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(dialect: Dialect, notes: &[(&str, &str)], expected: Expect) {
        let note =
            |(path, text): &(&str, &str)| Note { path: (*path).to_owned(), bytes: text.as_bytes().to_vec() };
        let files = adapt(notes.iter().map(note).collect(), dialect);
        let shown: String = files
            .iter()
            .map(|file| {
                format!("=== {} from {}\n{}", file.path, file.origin, String::from_utf8_lossy(&file.bytes))
            })
            .collect();
        expected.assert_eq(&shown);
    }

    #[test]
    fn notes_of_obsidian_become_flat_memories_with_working_links() {
        check(
            Dialect::Obsidian,
            &[
                (
                    "Work/My Note.md",
                    "# On testing\n\nAlways use a real database, see [[Other]] and [[Work/Third]].\n",
                ),
                ("Other.md", "---\ntags: [a, b] # mine\naliases:\n  - o\n---\nLinks to [[My Note]].\n"),
                ("Work/Third.md", "---\nbad: [\n---\nraw\n"),
            ],
            expect![[r#"
                === my-note.md from Work/My Note.md
                ---
                name: my-note
                description: On testing
                type: project
                metadata:
                  provenance: import
                  source: import:Work/My Note.md
                ---

                # On testing

                Always use a real database, see [[other|Other]] and [[third|Third]].
                === other.md from Other.md
                ---
                name: other
                description: Links to [[my-note|My Note]].
                type: project
                tags: [a, b] # mine
                aliases:
                  - o
                metadata:
                  provenance: import
                  source: import:Other.md
                ---
                Links to [[my-note|My Note]].
                === third.md from Work/Third.md
                ---
                bad: [
                ---
                raw
            "#]],
        );
    }

    #[test]
    fn notes_of_basic_memory_keep_observations_and_relations() {
        check(
            Dialect::BasicMemory,
            &[
                (
                    "coffee/Brewing Methods.md",
                    "---\ntitle: Brewing Methods\ntype: decision\npermalink: coffee/brewing\ntags:\n- coffee\n---\n\n- [method] Pour over #slow\n- relates_to [[Coffee Beans]]\n",
                ),
                (
                    "coffee/beans.md",
                    "---\ntitle: Coffee Beans\ntype: note\npermalink: coffee/beans\n---\n\nBeans.\n",
                ),
            ],
            expect![[r#"
                === brewing-methods.md from coffee/Brewing Methods.md
                ---
                name: brewing-methods
                description: Brewing Methods
                title: Brewing Methods
                type: project
                permalink: coffee/brewing
                tags:
                - coffee
                metadata:
                  kind: decision
                  provenance: import
                  source: import:coffee/Brewing Methods.md
                ---

                - [method] Pour over #slow
                - relates_to [[beans|Coffee Beans]]
                === beans.md from coffee/beans.md
                ---
                name: beans
                description: Coffee Beans
                title: Coffee Beans
                type: project
                permalink: coffee/beans
                metadata:
                  provenance: import
                  source: import:coffee/beans.md
                ---

                Beans.
            "#]],
        );
    }

    #[test]
    fn two_notes_of_one_name_and_a_name_without_letters_all_get_their_own() {
        let note = |path: &str| Note { path: path.to_owned(), bytes: b"x".to_vec() };
        let files = adapt(vec![note("a/Plan.md"), note("b/plan.md"), note("한국어.md")], Dialect::Obsidian);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths[..2], ["plan.md", "plan-2.md"]);
        assert!(paths[2].starts_with("note-"), "{paths:?}");
    }
}
