//! What is wrong with a memory, said in one line.
//!
//! Reading never fails, so whatever is odd about a file is a [`Problem`] beside it. The words of [`ProblemKind`] are
//! stable: people write them into settings and scripts compare them.

use std::fmt;

use serde::Serialize;

use super::words::words;
use crate::text::visible_line;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The memory works, but less well than it could.
    Warning,
    /// The memory is not understood, or says something that must not be.
    Error,
}

words! {
    /// Which rule a memory breaks.
    ProblemKind, "problem" {
        /// The frontmatter is not in our subset of YAML.
        Raw = "raw",
        /// The frontmatter was emptied by another program while the body is intact.
        Blanked = "blanked",
        /// The file has no frontmatter.
        NoFrontmatter = "no-frontmatter",
        /// The name is missing or empty.
        MissingName = "missing-name",
        /// The description is missing or empty.
        MissingDescription = "missing-description",
        /// The type is missing or empty.
        MissingType = "missing-type",
        /// The name is not the stem of the file.
        NameMismatch = "name-mismatch",
        /// There is a type at the top level and another under `metadata`.
        TypeTwice = "type-twice",
        /// The type is none of the four.
        UnknownType = "unknown-type",
        /// The scope is neither private nor team.
        UnknownScope = "unknown-scope",
        /// Another field holds a word that it does not know.
        UnknownWord = "unknown-word",
        /// A memory about the user is marked for the team.
        UserInTeam = "user-in-team",
        /// A date or time cannot be read.
        BadDate = "bad-date",
        /// An entry of `rule` cannot be read, or is on a memory that may have none.
        BadRule = "bad-rule",
        /// A field holds a list or mapping where a text belongs, or the other way round.
        WrongShape = "wrong-shape",
        /// A key of ours or somebody's stands beside `metadata` instead of in it.
        TopLevelKey = "top-level-key",
        /// The description is longer than advised.
        LongDescription = "long-description",
        /// The description has several lines.
        MultiLineDescription = "multi-line-description",
        /// A feedback or project memory does not say why.
        MissingWhy = "missing-why",
        /// A feedback or project memory does not say how to apply it.
        MissingHow = "missing-how-to-apply",
        /// The body is longer than advised.
        LongBody = "long-body",
        /// The body is longer than we write.
        OversizedBody = "oversized-body",
        /// The file holds a NUL byte.
        NulByte = "nul-byte",
        /// The file is not UTF-8.
        InvalidUtf8 = "invalid-utf8",
        /// The file holds a control character, for instance a terminal escape.
        ControlCharacter = "control-character",
        /// The file holds characters that hide or reorder text.
        HiddenCharacter = "hidden-character",
    }
}

impl ProblemKind {
    /// Returns how bad it is.
    pub fn severity(self) -> Severity {
        match self {
            Self::Raw | Self::Blanked | Self::UnknownType | Self::UnknownScope => Severity::Error,
            Self::UserInTeam | Self::OversizedBody | Self::InvalidUtf8 => Severity::Error,
            Self::TopLevelKey => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

/// One thing that is wrong with a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Which rule it breaks.
    pub kind: ProblemKind,
    /// The line of the file, counted from 1, where one can be named.
    pub line: Option<usize>,
    /// What is wrong, in one line that is safe to print.
    pub message: String,
}

impl Problem {
    /// Makes a problem; what the message quotes from a file is escaped here.
    pub fn new(kind: ProblemKind, line: Option<usize>, message: impl AsRef<str>) -> Self {
        Self { kind, line, message: visible_line(message.as_ref()).into_owned() }
    }

    /// Returns how bad it is.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{} ({})", self.message, self.kind)
    }
}
