//! What a run of the sub-agent did, in counts and a few lines.
//!
//! Whatever the model asked for and did not get is counted by its kind; the first few are kept as lines that a person can
//! read. A report holds no memory and no message, only names and reasons.

use std::collections::BTreeMap;
use std::fmt;

use memdir_core::text::{fit, visible_line};
use serde::{Deserialize, Serialize};

use super::budget::{End, Spent};
use crate::sandbox::Walls;

/// As many refusals are kept as lines.
const MAX_LINES: usize = 20;
/// As wide is a line.
const LINE: usize = 160;

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// What it took.
    pub spent: Spent,
    /// How often each kind of request was refused.
    pub refused: BTreeMap<Kind, u32>,
    /// The first refusals, a line each.
    pub lines: Vec<String>,
    /// Memories that were too many to be handed over with their text.
    pub left_out: usize,
    /// What kept the sub-agent in its place; none if it ran without a process of its own.
    pub walls: Option<Walls>,
}

/// Why something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// There is no such tool: a shell, a network, a delete.
    Tool,
    /// The path leads out of the vault, or is none.
    Path,
    /// There is no such memory.
    Missing,
    /// What was handed over cannot be read.
    Input,
    /// The words it rests on were not said.
    Evidence,
    /// It is too long.
    Size,
    /// There are too many of them.
    Files,
    /// It takes more memories away than it may.
    Removals,
    /// Tools have returned as much as they may.
    Bytes,
    /// One answer called too many tools.
    Calls,
    /// A memory says it already.
    Duplicate,
    /// The name is taken, or was proposed twice.
    Taken,
    /// The memory was not read first, or is not what was read.
    Stale,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Path => "path",
            Self::Missing => "missing",
            Self::Input => "input",
            Self::Evidence => "evidence",
            Self::Size => "size",
            Self::Files => "files",
            Self::Removals => "removals",
            Self::Bytes => "bytes",
            Self::Calls => "calls",
            Self::Duplicate => "duplicate",
            Self::Taken => "taken",
            Self::Stale => "stale",
        })
    }
}

/// Something the model asked for and does not get, with one line that tells it why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Which kind.
    pub kind: Kind,
    /// Why, for the model and for people.
    pub line: String,
}

impl Refused {
    /// Refuses; what the line repeats of the model's words is made harmless.
    pub fn new(kind: Kind, line: impl AsRef<str>) -> Self {
        let line = visible_line(line.as_ref());
        Self { kind, line: fit(&line, LINE).into_owned() }
    }
}

impl Default for Report {
    fn default() -> Self {
        Self {
            end: End::Finished,
            spent: Spent::default(),
            refused: BTreeMap::new(),
            lines: Vec::new(),
            left_out: 0,
            walls: None,
        }
    }
}

impl Report {
    /// Counts a refusal.
    pub fn refuse(&mut self, refused: &Refused) {
        let count = self.refused.entry(refused.kind).or_default();
        *count = count.saturating_add(1);
        if self.lines.len() < MAX_LINES {
            self.lines.push(format!("{}: {}", refused.kind, refused.line));
        }
    }

    /// Returns how often this kind was refused.
    pub fn n_refused(&self, kind: Kind) -> u32 {
        self.refused.get(&kind).copied().unwrap_or_default()
    }

    /// Returns how often anything was refused.
    pub fn n_refused_in_all(&self) -> u32 {
        self.refused.values().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Takes a report from somebody who may have written anything into it.
    pub(crate) fn sanitised(mut self) -> Self {
        self.lines.truncate(MAX_LINES);
        for line in &mut self.lines {
            *line = fit(&visible_line(line), LINE).into_owned();
        }
        if let End::Failed(why) = &mut self.end {
            *why = fit(&visible_line(why), LINE).into_owned();
        }
        self
    }

    /// Sums it up in one line.
    pub fn line(&self) -> String {
        let end = match &self.end {
            End::Finished => "finished".to_owned(),
            End::Turns => "stopped at its turns".to_owned(),
            End::Tokens => "stopped at its tokens".to_owned(),
            End::Time => "stopped at its time".to_owned(),
            End::Declined => "the model declined".to_owned(),
            End::Failed(why) => format!("failed: {why}"),
        };
        let refused = self.n_refused_in_all();
        let Spent { turns, files, .. } = self.spent;
        let tokens = self.spent.tokens();
        format!("{end}; {turns} turns, {tokens} tokens, {files} proposed, {refused} refused")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_and_the_first_are_told() {
        let mut report = Report::default();
        for n in 0..1_000 {
            report.refuse(&Refused::new(Kind::Path, format!("`../{n}`\u{1b}[31m\nleads out")));
        }
        report.refuse(&Refused::new(Kind::Tool, "x".repeat(100_000)));
        assert_eq!((report.n_refused(Kind::Path), report.n_refused(Kind::Tool)), (1_000, 1));
        assert_eq!(report.lines.len(), MAX_LINES);
        assert!(report.lines.iter().all(|line| line.len() < 400 && !line.contains(['\u{1b}', '\n'])));
        assert_eq!(report.line(), "finished; 0 turns, 0 tokens, 0 proposed, 1001 refused");
    }
}
