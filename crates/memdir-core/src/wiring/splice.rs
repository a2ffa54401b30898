//! Texts that are put into a file so that they can be taken out again, byte for byte.
//!
//! A [`Draft`] only ever inserts. What it inserted, in order, is an [`Undo`]; [`Undo::take_back`] removes it from the
//! end to the beginning, and gives up where the file no longer says what was inserted.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A text that was put into a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insertion {
    /// The offset in bytes, in the file as it was just before.
    pub at: usize,
    /// What was inserted.
    pub text: String,
}

/// What it takes to take a wiring back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Undo {
    /// What was inserted, in order.
    pub insertions: Vec<Insertion>,
    /// Objects and arrays that were made for it, as `/hooks/Stop`: they go again once they are empty.
    #[serde(default)]
    pub made: Vec<String>,
}

impl Undo {
    /// Returns the text without what was inserted; `None` if it no longer stands where it was put.
    pub fn take_back(&self, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        for Insertion { at, text: inserted } in self.insertions.iter().rev() {
            let span = *at..at.checked_add(inserted.len())?;
            if text.get(span.clone())? != inserted {
                return None;
            }
            text.replace_range(span, "");
        }
        Some(text)
    }
}

/// A file's text while something is added to it.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) undo: Undo,
}

impl Draft {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), undo: Undo::default() }
    }

    /// Inserts a text, which may be empty.
    pub(super) fn insert(&mut self, at: usize, text: &str) {
        if !text.is_empty() {
            self.text.insert_str(at, text);
            self.undo.insertions.push(Insertion { at, text: text.to_owned() });
        }
    }
}

/// Returns the text without these spans, which are in order and do not overlap.
pub(super) fn without(text: &str, spans: &[Range<usize>]) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        rest.push_str(&text[done..span.start]);
        done = span.end;
    }
    rest.push_str(&text[done..]);
    rest
}

/// Returns the text without one span.
pub(super) fn cut(text: &str, span: Range<usize>) -> String {
    format!("{}{}", &text[..span.start], &text[span.end..])
}

/// Returns the line break that a text uses.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the whole line around an offset, without its line break.
pub(super) fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    start..end
}
