//! What other coding agents keep of their own: read as memories, and memories written as they read them.
//!
//! Each agent has one file here with both ways. Where an agent keeps files like ours they go over byte for byte; where it
//! has one page for everything, memories stand in a block with marks and the rest of the page stays as it is. Reading
//! returns an [`Intake`]: what comes in, and what does not and why, so that nothing is taken over unsaid.

mod agents;
mod codex;
mod cursor;
mod gemini;
mod markdown;

pub use agents::{agents_page, from_agents};
pub use codex::{codex_note_name, from_codex};
pub use cursor::{cursor_rule, from_cursor};
pub use gemini::{from_gemini, gemini_page};

use super::fate::Incoming;
use super::notes::{Dialect, Note, adapt};
use crate::memory::{Document, MemoryName, MemoryPath, MemoryType};

/// A file as it was read: its path below the directory, and its text.
pub type Page = (String, String);

/// What is taken over from another agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Intake {
    /// What comes in.
    pub files: Vec<Incoming>,
    /// What we wrote there ourselves: no news if the vault has a memory of that name.
    pub ours: Vec<MemoryPath>,
    /// What stays out, and why.
    pub left_out: Vec<(String, &'static str)>,
}

impl Intake {
    /// Takes a file that is a memory as it is; everything else is made into one.
    fn take(&mut self, origin: String, name: &str, text: &str) {
        if let Some(path) = memory_path(name, text) {
            self.files.push(Incoming { origin, path, bytes: text.as_bytes().to_owned() });
        } else {
            self.adapt(vec![(origin, name.to_owned(), text.to_owned())]);
        }
    }

    /// Makes memories out of texts: where each comes from, what it may be called, what it says.
    fn adapt(&mut self, texts: Vec<(String, String, String)>) {
        for (origin, name, text) in texts {
            if text.trim().is_empty() {
                continue;
            }
            let note = Note { path: format!("{name}.md"), bytes: text.into_bytes() };
            for file in adapt(vec![note], Dialect::Obsidian) {
                self.files.push(Incoming { origin: origin.clone(), ..file });
            }
        }
    }
}

/// Returns the path of a text that is a memory of ours by its frontmatter.
fn memory_path(name: &str, text: &str) -> Option<MemoryPath> {
    let document = Document::parse(text.as_bytes());
    let is_typed = document.text("type").is_some_and(|word| word.parse::<MemoryType>().is_ok());
    (is_typed && document.text("name") == Some(name)).then_some(())?;
    Some(MemoryName::new(name).ok()?.path())
}
