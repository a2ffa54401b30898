//! What `grep` looks for: a text as it is written, or a regular expression.
//!
//! Both become one linear-time expression over bytes with a limited size, so no pattern can hold a search up.
//! Without Unicode tables a class such as `\w` means its ASCII part; a literal folds the case of every script.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 4_096;
/// The largest compiled pattern, and the largest cache of a search, in bytes.
const MAX_COMPILED: usize = 4 * 1024 * 1024;

/// Whether capital and small letters differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Only if the pattern has a capital letter.
    #[default]
    Smart,
    /// Always.
    Sensitive,
    /// Never.
    Insensitive,
}

/// Something to look for.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    /// How long a hit is, if it stands in a file byte for byte as it stands in a turn.
    raw_len: Option<usize>,
}

/// Why a text is no pattern.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// There is nothing to look for.
    #[error("the pattern is empty")]
    Empty,
    /// It is longer than we take.
    #[error("the pattern is longer than {MAX_PATTERN} bytes")]
    TooLong,
    /// It is no regular expression, or too large a one.
    #[error("the pattern cannot be used: {0}")]
    Invalid(String),
}

impl Pattern {
    /// Looks for `text` as it is written.
    pub fn literal(text: &str, case: Case) -> Result<Self, PatternError> {
        let folds = folds_case(text, case);
        let pattern =
            text.chars().map(|c| if folds { either_case(c) } else { escaped(c) }).collect::<String>();
        let raw_len = text.chars().all(is_same_in_json).then_some(text.len());
        Ok(Self { raw_len, ..Self::compile(text, &pattern, folds)? })
    }

    /// Looks for a regular expression.
    pub fn regex(text: &str, case: Case) -> Result<Self, PatternError> {
        Self::compile(text, text, folds_case(text, case))
    }

    fn compile(written: &str, pattern: &str, folds: bool) -> Result<Self, PatternError> {
        if written.is_empty() {
            return Err(PatternError::Empty);
        }
        if written.len() > MAX_PATTERN {
            return Err(PatternError::TooLong);
        }
        let mut builder = RegexBuilder::new(pattern);
        builder.unicode(false).multi_line(true).case_insensitive(folds);
        builder.size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED);
        let regex = builder.build().map_err(|err| PatternError::Invalid(last_line(&err.to_string())))?;
        Ok(Self { regex, raw_len: None })
    }

    /// Returns the bytes of the first hit, widened to whole characters.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        let found = self.regex.find(text.as_bytes())?;
        Some(text.floor_char_boundary(found.start())..text.ceil_char_boundary(found.end()))
    }

    /// Returns how long a hit is, if a file without it byte for byte has no turn with it either. Most words are such
    /// patterns, and a file that lacks them need not be parsed.
    pub fn raw_len(&self) -> Option<usize> {
        self.raw_len
    }

    /// Says whether it occurs in the bytes of a file.
    pub fn is_in_raw(&self, bytes: &[u8]) -> bool {
        self.regex.is_match(bytes)
    }
}

/// Says whether a character is written in JSON as it is, and is none that we put between the parts of a turn: names and
/// values of arguments are joined by a colon, parts by line breaks.
fn is_same_in_json(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.')
}

fn folds_case(text: &str, case: Case) -> bool {
    match case {
        Case::Smart => !text.chars().any(char::is_uppercase),
        Case::Sensitive => false,
        Case::Insensitive => true,
    }
}

/// The library draws the place of an error below the pattern; only what it says about it fits a line.
fn last_line(message: &str) -> String {
    let line = message.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

fn escaped(c: char) -> String {
    regex::escape(c.encode_utf8(&mut [0; 4]))
}

/// Matches a character in both cases. ASCII letters are left to the expression itself.
fn either_case(c: char) -> String {
    if c.is_ascii() {
        return escaped(c);
    }
    let mut forms = vec![c.to_string(), c.to_lowercase().collect(), c.to_uppercase().collect()];
    forms.sort();
    forms.dedup();
    match forms.as_slice() {
        [form] => form.clone(),
        forms => format!("(?:{})", forms.join("|")),
    }
}
