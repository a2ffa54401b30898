//! Finds what must never be stored: tokens, keys, passwords, private keys, connection strings.
//!
//! [`Scanner::scan`] reads a text and returns [`Finding`]s: which rule, which line, which bytes. A finding never holds
//! the value, so it can be printed and logged; who needs the value has the text. Memories are prose, so a token in a
//! sentence counts as much as one in an assignment.
//!
//! ```text
//!   text ──▶ keywords (one pass) ──▶ tokens · patterns · names and their values ──▶ judge ──▶ findings
//!    │                                           ▲
//!    └──▶ other readings (view): unescaped · joined · decoded
//! ```
//!
//! The rules are data, in `table`; the judgement of plain values is in `judge` and `value`.

mod check;
mod extra;
mod judge;
mod meaning;
mod reader;
mod rule;
mod scanner;
mod table;
mod terminal;
#[cfg(test)]
mod tests;
mod value;
mod view;
mod words;

use std::borrow::Cow;

use serde::Serialize;

use crate::hash::ContentHash;

pub use extra::{Rules, RulesError};
pub use scanner::Scanner;

/// Where a secret stands, and of what kind it is. The value itself is not in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: Cow<'static, str>,
    /// What it is, for people.
    #[serde(skip)]
    pub description: Cow<'static, str>,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The offset of its first byte in the whole text.
    pub start: usize,
    /// The offset behind its last byte in the whole text.
    pub end: usize,
}

impl Finding {
    /// Returns the hash by which the user may vouch for the value in `text`.
    pub fn value_hash(&self, text: &[u8]) -> ContentHash {
        ContentHash::of(&text[self.start..self.end])
    }
}

/// A value that the user vouches for, by its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    /// The sha256 of the value.
    pub hash: ContentHash,
    /// Why it may stand.
    pub reason: String,
}

/// A kind of secret that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// The field it belongs to.
    pub field: &'static str,
    /// The rule's id.
    pub rule: &'static str,
    /// What it is, for people.
    pub description: &'static str,
}

/// Returns every kind of our own, field by field.
pub fn kinds() -> impl Iterator<Item = Kind> {
    table::FIELDS.iter().flat_map(|(field, rules)| {
        rules.iter().map(|rule| Kind { field, rule: rule.id, description: rule.about })
    })
}

/// Puts `[REDACTED:<rule>]` in the place of each finding. `findings` are those of `text`, in order.
pub fn redact(text: &[u8], findings: &[Finding]) -> Vec<u8> {
    let mut redacted = Vec::with_capacity(text.len());
    let mut at = 0;
    for finding in findings.iter().filter(|finding| finding.start < finding.end) {
        redacted.extend_from_slice(&text[at..finding.start.max(at)]);
        redacted.extend_from_slice(format!("[REDACTED:{}]", finding.rule).as_bytes());
        at = finding.end.max(at);
    }
    redacted.extend_from_slice(&text[at..]);
    redacted
}
