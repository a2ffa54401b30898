//! The sentences of a message, as people type them.
//!
//! Chat has no capitals after a full stop and a line break where a full stop would be, so sentences are cut more freely
//! here than in a document. Each is read once, by [`crate::statement`].

use std::ops::Range;

use super::prose::own_lines;
use super::words::{lower, written_out};
use crate::statement::{Reading, Writing, cut, read};
use crate::text::is_unspaced;

/// As many sentences of one message are read.
const MAX_SENTENCES: usize = 60;
/// Shorter than this nothing lasting is said: words, or characters where words are not told apart.
const MIN_WORDS: usize = 3;
const MIN_UNSPACED: usize = 6;

/// A sentence that somebody said.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    /// Its words, as they stand in the message.
    pub(super) text: String,
    /// The same written out in lower case, with plain apostrophes.
    pub(super) lower: String,
    /// Where it stands in the message, in bytes.
    pub(super) range: Range<usize>,
    /// What it does.
    pub(super) reading: Reading,
}

impl Sentence {
    fn new(message: &str, range: Range<usize>) -> Self {
        Self::read(&message[range.clone()], range)
    }

    fn read(text: &str, range: Range<usize>) -> Self {
        let written = written_out(text);
        Self { lower: lower(&written), reading: read(&written), text: text.to_owned(), range }
    }

    /// Returns a part of it as a sentence of its own; `within` is a range of its text.
    pub(super) fn part(&self, within: Range<usize>) -> Self {
        let text = self.text[within.clone()].trim();
        let from = self.range.start + within.start + leading_space(&self.text[within]);
        Self::read(text, from..from + text.len())
    }

    /// Says whether it is long enough to say something that lasts.
    pub(super) fn is_long_enough(&self) -> bool {
        self.text.split_whitespace().count() >= MIN_WORDS
            || self.text.chars().filter(|c| is_unspaced(*c)).count() >= MIN_UNSPACED
    }

    /// Says whether a sign was seen in it.
    pub(super) fn shows(&self, signs: &[&str]) -> bool {
        signs.iter().any(|sign| self.reading.seen(sign).is_some())
    }
}

fn leading_space(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Returns the sentences of a message that are its author's own words.
pub(super) fn sentences(message: &str) -> Vec<Sentence> {
    let words = |line: Range<usize>| line.start + list_mark(&message[line.clone()])..line.end;
    let ranges = own_lines(message).into_iter().flat_map(|line| cut(message, words(line), Writing::Chat));
    ranges.take(MAX_SENTENCES).map(|range| Sentence::new(message, range)).collect()
}

/// Returns how many bytes of a line are the mark of a list item.
fn list_mark(line: &str) -> usize {
    let rest = line.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let behind = match rest[digits..].chars().next() {
        Some('-' | '*' | '+') if digits == 0 => &rest[1..],
        Some('•') if digits == 0 => &rest['•'.len_utf8()..],
        Some('.' | ')') if (1..=2).contains(&digits) => &rest[digits + 1..],
        _ => return 0,
    };
    if behind.starts_with(' ') { line.len() - behind.trim_start().len() } else { 0 }
}
