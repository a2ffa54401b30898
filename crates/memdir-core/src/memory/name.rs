//! Names of memories and the paths they may have inside a vault.
//!
//! A name comes from a person, a model, a teammate or a file system, so it is checked here once and passed on
//! as a type. [`MemoryName`] is what we are willing to *create*: a short lower-case slug. [`MemoryPath`] is what
//! we are willing to *read*: any style of name that other programs left in a vault, as long as it stays inside.

use std::fmt;

use serde::Serialize;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::text::hidden_characters;

/// Longest name we create, in bytes.
pub const MAX_NAME: usize = 64;
/// Longest path below a vault that we read, in bytes.
pub const MAX_PATH: usize = 1024;
/// Longest name of a file or folder that every machine can have, in bytes: file systems take 255, and copies that are kept
/// of a memory have a few letters more.
const MAX_FILE_NAME: usize = 240;
/// How many folders deep a vault is read, counting the file itself.
pub const MAX_DEPTH: usize = 4;
/// The index page's file name; never a memory.
pub const INDEX_PAGE: &str = "MEMORY.md";

/// Says why a text is not a name for a memory or a path inside a vault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a memory needs a name")]
    Empty,
    /// The name is longer than [`MAX_NAME`] or the path longer than [`MAX_PATH`].
    #[error("the name is {bytes} bytes long: the limit is {limit}")]
    TooLong { bytes: usize, limit: usize },
    /// The name has a character outside `a-z`, `0-9`, `-` and `_`, or begins with `-` or `_`.
    #[error("`{}` is not a memory name", shown.escape_debug())]
    NotASlug { shown: String },
    /// The name belongs to a file that other programs give a meaning.
    #[error("`{0}` is reserved")]
    Reserved(String),
    /// The path is absolute, climbs, is hidden, too deep, or not a plain `.md` file.
    #[error("`{}` is not a path inside a vault", shown.escape_debug())]
    Outside { shown: String },
}

/// A name we are willing to create: `[a-z0-9][a-z0-9_-]{0,63}`, equal to the file's stem.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MemoryName(String);

impl MemoryName {
    /// Checks `text` as a name; a trailing `.md` is forgiven.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let stem = text.strip_suffix(".md").unwrap_or(text);
        if stem.is_empty() {
            return Err(NameError::Empty);
        }
        if stem.len() > MAX_NAME {
            return Err(NameError::TooLong { bytes: stem.len(), limit: MAX_NAME });
        }
        let slug = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'_';
        if !stem.bytes().all(slug) || stem.starts_with(['-', '_']) {
            if text.eq_ignore_ascii_case(INDEX_PAGE) || text.eq_ignore_ascii_case("memory") {
                return Err(NameError::Reserved(text.to_owned()));
            }
            return Err(NameError::NotASlug { shown: text.to_owned() });
        }
        if is_reserved(stem) {
            return Err(NameError::Reserved(stem.to_owned()));
        }
        Ok(Self(stem.to_owned()))
    }

    /// Makes a name out of free text: lower-case words joined by `-`, cut at a word.
    pub fn from_words(text: &str) -> Option<Self> {
        let mut slug = String::new();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        for word in words {
            if slug.len() + 1 + word.len() > MAX_NAME {
                break;
            }
            if !slug.is_empty() {
                slug.push('-');
            }
            slug.push_str(&word.to_ascii_lowercase());
        }
        Self::new(&slug).ok()
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of a new memory with this name.
    pub fn path(&self) -> MemoryPath {
        MemoryPath(format!("{}.md", self.0))
    }
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a file name as file systems compare it that fold case and composed letters.
pub fn folded(name: &str) -> String {
    name.nfc().collect::<String>().to_lowercase()
}

/// Names that mean a device on Windows, or the index page where case is folded.
fn is_reserved(stem: &str) -> bool {
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    matches!(stem, "con" | "prn" | "aux" | "nul" | "memory") || numbered("com") || numbered("lpt")
}

/// The path of a memory below its vault, `/` between folders. Holds for any file we read, whoever named it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MemoryPath(String);

impl MemoryPath {
    /// Checks `text` as a path below a vault: relative, not hidden, not climbing, not too deep, an `.md` file
    /// that is not the index page.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let outside = || NameError::Outside { shown: text.to_owned() };
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > MAX_PATH {
            return Err(NameError::TooLong { bytes: text.len(), limit: MAX_PATH });
        }
        let plain = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && !part.contains(['\\', ':'])
                && !part.chars().any(char::is_control)
        };
        let parts: Vec<&str> = text.split('/').collect();
        let file = parts.last().copied().unwrap_or_default();
        let is_memory =
            file.len() > ".md".len() && file.ends_with(".md") && !file.eq_ignore_ascii_case(INDEX_PAGE);
        if parts.len() > MAX_DEPTH || !parts.iter().all(|part| plain(part)) || !is_memory || !is_nfc(text) {
            return Err(outside());
        }
        Ok(Self(text.to_owned()))
    }

    /// Says whether every machine can have a file of this name, and everybody who reads it sees the same: not too long, no device of
    /// Windows, no dot or space at an end, nothing that looks like an option, no hidden character.
    pub fn is_portable(&self) -> bool {
        let is_plain = |part: &str| {
            let stem = part.split('.').next().unwrap_or(part);
            part.len() <= MAX_FILE_NAME
                && !is_reserved(&folded(stem))
                && !part.starts_with(['-', ' '])
                && !part.trim_end_matches(".md").ends_with(['.', ' '])
                && !part.contains(['<', '>', '"', '|', '?', '*'])
        };
        self.0.split('/').all(is_plain) && hidden_characters(&self.0).next().is_none()
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the file name without folder and ending: what links and commands call the memory.
    pub fn stem(&self) -> &str {
        let file = self.0.rsplit('/').next().unwrap_or(&self.0);
        file.strip_suffix(".md").unwrap_or(file)
    }
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for MemoryPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S1.
    #[test]
    fn a_portable_path_is_one_that_every_machine_can_have() {
        let path = |text: &str| MemoryPath::new(text).unwrap();
        for good in
            ["feedback-testing.md", "user_role.md", "a b.md", "sub/Übergabe.md", "v1.2.md", "컨벤션.md"]
        {
            assert!(path(good).is_portable(), "{good}");
        }
        for bad in [
            "con.md",
            "CON.md",
            "nul.x.md",
            "sub/com1.md",
            "aux/x.md",
            "-rf.md",
            "a .md",
            "a..md",
            "a./b.md",
            "a\u{202e}b.md",
            "a?.md",
        ] {
            assert!(!path(bad).is_portable(), "{bad}");
        }
    }

    #[test]
    fn names_we_create_are_slugs() {
        for good in ["a", "feedback-testing", "user_role", "0x", "x.md"] {
            assert!(MemoryName::new(good).is_ok(), "{good}");
        }
        let long = "x".repeat(65);
        for bad in [
            "",
            ".md",
            "../x",
            "/etc/passwd",
            "a/b",
            "a b",
            "A",
            "a.",
            "-a",
            "con",
            "com1",
            "MEMORY.md",
            "memory",
            "ä",
            "a\0b",
            &long,
        ] {
            assert!(MemoryName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn paths_we_read_stay_inside() {
        for good in ["a.md", "User Prefs.md", "sub/dir/a.md", "한국어.md"] {
            assert!(MemoryPath::new(good).is_ok(), "{good}");
        }
        for bad in [
            "a",
            ".a.md",
            "../a.md",
            "/a.md",
            "a/../b.md",
            "a//b.md",
            "a/b/c/d/e.md",
            "MEMORY.md",
            "sub/memory.md",
            ".md",
            "a\n.md",
            "C:x.md",
            "a\u{308}.md",
        ] {
            assert!(MemoryPath::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(MemoryPath::new("sub/a.b.md").unwrap().stem(), "a.b");
    }

    #[test]
    fn free_text_becomes_a_name() {
        assert_eq!(
            MemoryName::from_words("Use a real DB, always!").unwrap().as_str(),
            "use-a-real-db-always"
        );
        assert_eq!(MemoryName::from_words("한국어"), None);
    }
}
