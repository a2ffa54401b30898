//! The vault as the sub-agent sees it: a copy in memory, made before it begins.
//!
//! A copy cannot be written through, has no paths that lead anywhere, and needs no file to be opened by the one who looks
//! at it. Links, hidden files and whatever else is no memory are not in it. [`View::of`] makes one; the rest answers the
//! tools.

use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, MemoryPath, MemoryType};
use memdir_core::search::{Query, Text};
use memdir_store::vault::Snapshot;
use serde::{Deserialize, Serialize};

use super::report::{Kind, Refused};

/// As much text is copied; memories beyond it are listed without their text.
const MAX_BYTES: usize = 16 << 20;

/// A vault as it was when the run began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Its memories, by path.
    pub memories: Vec<Known>,
}

/// One memory of the copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Where it is.
    pub path: MemoryPath,
    /// Its type, if it has one.
    pub memory_type: Option<MemoryType>,
    /// What it is about.
    pub description: String,
    /// When it last changed, as a day.
    pub modified: String,
    /// Whether it may be changed: what cannot be read whole is only looked at.
    pub is_sound: bool,
    /// Which version it is; none if its text is not here.
    pub base: Option<ContentHash>,
    /// The whole file.
    pub text: String,
}

impl Known {
    /// Returns what follows the frontmatter.
    pub fn body(&self) -> String {
        String::from_utf8_lossy(Document::parse(self.text.as_bytes()).body()).into_owned()
    }

    /// Returns its line in a list.
    pub fn line(&self) -> String {
        let memory_type = self.memory_type.map_or("?", MemoryType::as_str);
        format!("- [{memory_type}] {} ({}): {}", self.path.stem(), self.modified, self.description)
    }
}

impl View {
    /// Copies a vault. The newest memories come with their text, older ones as far as there is room; one that is gone or
    /// cannot be read any more is left out.
    pub fn of(snapshot: &Snapshot) -> Self {
        // What waits for the user's word is shown to nobody who did not ask for it.
        let mut entries: Vec<_> =
            snapshot.memories.iter().filter(|entry| !entry.memory.quarantined).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified()));
        let mut room = MAX_BYTES;
        let mut memories = Vec::with_capacity(entries.len());
        for entry in entries {
            let mut known = Known {
                path: entry.path.clone(),
                memory_type: entry.memory.memory_type,
                description: entry.memory.description.clone(),
                modified: entry.modified().strftime("%Y-%m-%d").to_string(),
                is_sound: false,
                base: None,
                text: String::new(),
            };
            if usize::try_from(entry.size).is_ok_and(|size| size <= room) {
                let Ok(Some(loaded)) = snapshot.load(&entry.path) else { continue };
                let bytes = loaded.document.bytes();
                room = room.saturating_sub(bytes.len());
                known.is_sound = std::str::from_utf8(bytes).is_ok();
                known.text = String::from_utf8_lossy(bytes).into_owned();
                known.base = Some(loaded.hash);
            }
            memories.push(known);
        }
        Self { memories }
    }

    /// Puts the memories of another vault behind these.
    pub fn join(&mut self, other: Self) {
        self.memories.extend(other.memories);
    }

    /// Counts the memories without their text.
    pub fn n_left_out(&self) -> usize {
        self.memories.iter().filter(|known| known.base.is_none()).count()
    }

    /// Finds a memory by the name that a model gave it: a name or a path below the vault, and nothing else.
    pub fn find(&self, name: &str) -> Result<&Known, Refused> {
        let file = if name.ends_with(".md") { name.to_owned() } else { format!("{name}.md") };
        let path = MemoryPath::new(&file)
            .map_err(|_| Refused::new(Kind::Path, format!("`{name}` is no path inside the vault")))?;
        let by_path = self.memories.iter().find(|known| known.path == path);
        let by_stem =
            || self.memories.iter().find(|known| known.path.stem() == path.as_str().trim_end_matches(".md"));
        let known = by_path.or_else(by_stem);
        known.ok_or_else(|| Refused::new(Kind::Missing, format!("there is no memory `{name}`")))
    }

    /// Returns the best matches of a few words, best first.
    pub fn search(&self, words: &str, n_most: usize) -> Vec<(&Known, String)> {
        let query = Query::new(words);
        let mut found: Vec<_> = self.memories.iter().filter_map(|known| score(&query, known)).collect();
        found.sort_by(|(a, x, _), (b, y, _)| b.total_cmp(a).then_with(|| x.path.cmp(&y.path)));
        found.into_iter().take(n_most).map(|(_, known, snippet)| (known, snippet)).collect()
    }
}

fn score<'v>(query: &Query, known: &'v Known) -> Option<(f64, &'v Known, String)> {
    let body = known.body();
    let text = Text { name: known.path.stem(), description: &known.description, tags: "", body: &body };
    Some((query.score(&text)?, known, query.snippet(&body)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes a view of a few memories, as `(name, type, description, body)`.
    pub(crate) fn view(memories: &[(&str, MemoryType, &str, &str)]) -> View {
        let known = memories.iter().map(|(name, memory_type, description, body)| {
            let text = format!(
                "---\nname: {name}\ndescription: {description}\ntype: {memory_type}\n---\n\n{body}\n"
            );
            Known {
                path: MemoryPath::new(&format!("{name}.md")).unwrap(),
                memory_type: Some(*memory_type),
                description: (*description).to_owned(),
                modified: "2026-04-01".to_owned(),
                is_sound: true,
                base: Some(ContentHash::of(text.as_bytes())),
                text,
            }
        });
        View { memories: known.collect() }
    }

    /// IS-03: a name never leads out.
    #[test]
    fn only_names_of_memories_are_found() {
        let view = view(&[("user-role", MemoryType::User, "data scientist", "Works on ranking.")]);
        for name in ["user-role", "user-role.md"] {
            assert_eq!(view.find(name).unwrap().path.as_str(), "user-role.md");
        }
        for name in
            ["/etc/passwd", "../user-role", "a/../../b.md", "~/.ssh/id", "", "MEMORY.md", ".hidden", "a\0b"]
        {
            assert_eq!(view.find(name).unwrap_err().kind, Kind::Path, "{name:?}");
        }
        assert_eq!(view.find("user-roles").unwrap_err().kind, Kind::Missing);
    }

    #[test]
    fn words_find_the_best_memory_first() {
        let view = view(&[
            ("a", MemoryType::Project, "merge freeze", "The release needs a freeze."),
            ("b", MemoryType::Feedback, "real database", "No mocks of the database in tests."),
            ("c", MemoryType::Reference, "tracker", "Bugs of the database team are in a tracker."),
        ]);
        let found = view.search("database mocks", 2);
        assert_eq!(found.iter().map(|(known, _)| known.path.stem()).collect::<Vec<_>>(), ["b", "c"]);
        assert!(found[0].1.contains("mocks"));
        assert!(view.search("kubernetes", 5).is_empty());
    }
}
