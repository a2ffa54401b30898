//! A labelled suite: vaults of memories and moments with what should come to mind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memdir_core::memory::{Document, Memory, MemoryPath};
use memdir_core::recall::tune::Labelled;
use memdir_core::recall::{Moment, Note, Shelf};
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;

/// The moments of a suite with the shelves they belong to.
pub(super) struct Suite {
    pub(super) shelves: Vec<Shelf>,
    /// Each with the place of its shelf.
    pub(super) moments: Vec<(usize, String, Labelled)>,
}

#[derive(Deserialize)]
struct MomentRow {
    id: String,
    kind: String,
    prompt: String,
    #[serde(default)]
    gold: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    command: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    branch: String,
    #[serde(default)]
    tools: Vec<String>,
}

impl Suite {
    /// Reads every `NAME.memories.jsonl` of a directory with its `NAME.prompts.jsonl`.
    pub(super) fn read(dir: &Path) -> Result<Self, Failure> {
        let entries =
            std::fs::read_dir(dir).map_err(|err| Failure::error(format!("{}: {err}", dir.display())))?;
        let mut names: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        names.sort();
        let mut suite = Self { shelves: Vec::new(), moments: Vec::new() };
        for path in names {
            let Some(name) = path.to_str().and_then(|path| path.strip_suffix(".memories.jsonl")) else {
                continue;
            };
            let notes: Vec<Note> = rows::<Value>(&path)?
                .iter()
                .map(note)
                .collect::<Option<_>>()
                .ok_or_else(|| Failure::error(format!("{}: a row is no memory", path.display())))?;
            let prompts = PathBuf::from(format!("{name}.prompts.jsonl"));
            for row in rows::<MomentRow>(&prompts)? {
                let MomentRow { id, kind, prompt, gold, files, command, error, branch, tools } = row;
                let moment = Moment { prompt, files, command, error, branch, tools, ..Moment::default() };
                suite.moments.push((suite.shelves.len(), id, Labelled { kind, moment, gold }));
            }
            suite.shelves.push(Shelf::new(notes));
        }
        if suite.shelves.is_empty() {
            return Err(Failure::error(format!("{}: there is no NAME.memories.jsonl", dir.display())));
        }
        Ok(suite)
    }

    /// Returns the moments beside their shelves.
    pub(super) fn rows(&self) -> Vec<(&Shelf, Labelled)> {
        self.moments.iter().map(|(shelf, _, row)| (&self.shelves[*shelf], row.clone())).collect()
    }
}

fn rows<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|err| Failure::error(format!("{}: {err}", path.display())))?;
    let row = |(n, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|err| Failure::error(format!("{}:{}: {err}", path.display(), n + 1)))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

/// Makes the file that the row stands for, and reads it as every file is read.
fn note(row: &Value) -> Option<Note> {
    let text = markdown(row)?;
    let path = MemoryPath::new(&format!("{}.md", row["name"].as_str()?)).ok()?;
    let document = Document::parse(text.as_bytes());
    let (memory, _) = Memory::read(&path, &document);
    Some(Note::of(&memory, &document))
}

/// Writes a row as a memory file.
pub(super) fn markdown(row: &Value) -> Option<String> {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    let mut head = BTreeMap::new();
    for key in ["kind", "expires", "modified"] {
        if !text(key).is_empty() {
            head.insert(key, format!(" {}\n", text(key)));
        }
    }
    for key in ["tags", "aliases", "paths"] {
        let items: Vec<String> = row[key].as_array()?.iter().map(|item| format!("    - {item}\n")).collect();
        if !items.is_empty() {
            head.insert(key, format!("\n{}", items.concat()));
        }
    }
    let metadata: String = head.into_iter().map(|(key, value)| format!("  {key}:{value}")).collect();
    let description = serde_json::to_string(text("description")).ok()?;
    Some(format!(
        "---\nname: {}\ndescription: {description}\ntype: {}\nmetadata:\n{metadata}---\n\n{}\n",
        text("name"),
        text("type"),
        text("body")
    ))
}
