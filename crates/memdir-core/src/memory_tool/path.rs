//! Paths as models write them, checked before anything is looked at.
//!
//! A path is never joined to another: below `/memories` it must be made of plain parts, and what a file is reached by is a
//! [`MemoryPath`], which is checked again and opened below a directory handle.

use super::{Answer, File};
use crate::memory::{INDEX_PAGE, MAX_DEPTH, MAX_PATH, MemoryName, MemoryPath, NameError};

/// What the vault is called in paths.
pub const ROOT: &str = "/memories";
/// The longest name that file systems take.
const MAX_PART: usize = 255;

/// A path below `/memories`; the root itself is the empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolPath {
    shown: String,
    below: String,
}

impl ToolPath {
    /// Checks a path as a model wrote it.
    pub(super) fn new(text: &str) -> Result<Self, Answer> {
        if text.len() > MAX_PATH {
            return Err(Answer::refusal(&format!("a path has at most {MAX_PATH} bytes")));
        }
        let refused = |why: &str| {
            Err(Answer::refusal(&format!("`{}` is not a path below {ROOT}: {why}", text.escape_debug())))
        };
        let Some(rest) = text.strip_prefix(ROOT) else { return refused("it must begin with that") };
        let below = rest.strip_suffix('/').unwrap_or(rest);
        if below.is_empty() {
            return Ok(Self { shown: ROOT.to_owned(), below: String::new() });
        }
        let Some(below) = below.strip_prefix('/') else { return refused("it must begin with that") };
        if is_encoded(below) {
            return refused("write characters as they are");
        }
        if below.contains('\\') || below.chars().any(char::is_control) {
            return refused("it has characters that no name has");
        }
        let parts: Vec<&str> = below.split('/').collect();
        if parts.iter().any(|part| part.is_empty() || part.starts_with('.')) {
            return refused("it may not climb, and nothing there is hidden");
        }
        if parts.len() > MAX_DEPTH {
            return refused("it is too deep");
        }
        Ok(Self { shown: format!("{ROOT}/{below}"), below: below.to_owned() })
    }

    /// Returns the path as it is shown to the model.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the path below the vault.
    pub(super) fn below(&self) -> &str {
        &self.below
    }

    pub(super) fn is_root(&self) -> bool {
        self.below.is_empty()
    }

    /// Says whether this is a directory that `file` is in.
    pub(super) fn holds(&self, file: &str) -> bool {
        self.is_root() || file.strip_prefix(&self.below).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns the file that this path may name.
    pub(super) fn file(&self) -> Option<File> {
        if self.below == INDEX_PAGE {
            return Some(File::Page);
        }
        MemoryPath::new(&self.below).ok().map(File::Memory)
    }

    /// Returns the file that may be made under this path.
    pub(super) fn new_file(&self) -> Result<File, Answer> {
        if self.below == INDEX_PAGE { Ok(File::Page) } else { new_memory(&self.below).map(File::Memory) }
    }

    /// Returns the path of a file that moves from below `old` to here.
    pub(super) fn with_rest(&self, file: &str, old: &Self) -> Result<MemoryPath, Answer> {
        let rest = file.strip_prefix(&old.below).unwrap_or_default();
        new_memory(&format!("{}{rest}", self.below))
    }
}

/// Says whether a text has a character in the form of URLs, behind which anything may hide.
fn is_encoded(text: &str) -> bool {
    let is_hex = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    text.match_indices('%').any(|(at, _)| is_hex(at + 1) && is_hex(at + 2))
}

/// Checks the path of a memory that is to be made: names that every file system and every other program can bear.
fn new_memory(below: &str) -> Result<MemoryPath, Answer> {
    let refused =
        |why: &str| Answer::refusal(&format!("`{}` cannot be a memory: {why}", below.escape_debug()));
    if !below.ends_with(".md") {
        return Err(refused("memories are markdown files, so its name ends in .md"));
    }
    let is_plain = |part: &str| {
        let in_order = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
        part.len() <= MAX_PART
            && part.chars().all(in_order)
            && part.starts_with(char::is_alphanumeric)
            && !part.ends_with([' ', '.'])
    };
    let stem = below.rsplit('/').next().and_then(|file| file.strip_suffix(".md")).unwrap_or_default();
    if !below.split('/').all(is_plain) || !is_plain(stem) {
        return Err(refused("a name is made of letters, digits, `-` and `_`"));
    }
    if let Err(NameError::Reserved(name)) = MemoryName::new(&stem.to_lowercase()) {
        return Err(refused(&format!("`{name}` is reserved")));
    }
    MemoryPath::new(below).map_err(|err| Answer::refusal(&err.to_string()))
}
