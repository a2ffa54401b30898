//! Cuts a text into words, numbers and marks, once from its first character to its last.
//!
//! Words are looked up in the [`Lexicon`] as they are cut, so that everything behind this module compares small
//! numbers. Korean does not tell words from particles by spaces; a run of Hangul is cut into the words that the
//! lexicon has, longest first, and what remains of it is one unknown word. What the shield covers (code, links,
//! addresses) is one opaque mark.

use std::ops::Range;

use crate::korean::is_syllable;

use super::lexicon::{Lexicon, UNKNOWN, WordId, fold};

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Hangul,
    Number,
    Mark,
    /// Something that is not prose: code, an address, a link.
    Opaque,
}

/// A word, number or mark with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) kind: Kind,
    pub(super) word: WordId,
    /// Whether nothing, not even a space, stands before it.
    pub(super) glued: bool,
    /// How many line ends stand before it; a text begins with many.
    pub(super) breaks: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is(&self, mark: char) -> bool {
        self.kind == Kind::Mark && self.text.starts_with(mark)
    }

    pub(super) fn is_wordlike(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Hangul | Kind::Number)
    }

    pub(super) fn is_capital(&self) -> bool {
        self.kind == Kind::Word && self.text.starts_with(char::is_uppercase)
    }

    /// Whether it is this word, given folded.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
            || !self.text.is_ascii() && self.kind == Kind::Word && fold(self.text) == word
    }

    /// Reads a number of at most four digits.
    pub(super) fn number(&self) -> Option<i32> {
        (self.kind == Kind::Number && self.text.len() <= 4).then(|| self.text.parse().ok())?
    }
}

/// Cuts `text`, with the `shielded` ranges (sorted, apart) as opaque marks.
pub(super) fn tokens<'t>(text: &'t str, shielded: &[Range<usize>], lexicon: &Lexicon) -> Vec<Token<'t>> {
    let mut cutter =
        Cutter { text, tokens: Vec::with_capacity(text.len() / 4), glued: false, breaks: 2, lexicon };
    let mut at = 0;
    for shield in shielded {
        cutter.cut(at..shield.start);
        cutter.push(shield.clone(), Kind::Opaque, UNKNOWN);
        at = shield.end;
    }
    cutter.cut(at..text.len());
    cutter.tokens
}

struct Cutter<'t, 'l> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    glued: bool,
    breaks: usize,
    lexicon: &'l Lexicon,
}

impl Cutter<'_, '_> {
    fn cut(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while let Some(c) = self.text[at..range.end].chars().next() {
            let end = match c {
                _ if c.is_whitespace() => {
                    self.glued = false;
                    self.breaks += usize::from(c == '\n');
                    at += c.len_utf8();
                    continue;
                }
                _ if c.is_ascii_digit() => self.run(at, range.end, |c| c.is_ascii_digit()),
                _ if is_syllable(c) => self.run(at, range.end, is_syllable),
                _ if c.is_alphabetic() => self.run(at, range.end, |c| c.is_alphabetic() && !is_syllable(c)),
                _ => at + c.len_utf8(),
            };
            match c {
                _ if c.is_ascii_digit() => self.push(at..end, Kind::Number, UNKNOWN),
                _ if is_syllable(c) => self.cut_hangul(at..end),
                _ if c.is_alphabetic() => {
                    self.push(at..end, Kind::Word, self.lexicon.word(&self.text[at..end]))
                }
                _ => self.push(at..end, Kind::Mark, UNKNOWN),
            }
            at = end;
        }
    }

    /// Finds the end of the characters of one kind that begin at `at`.
    fn run(&self, at: usize, limit: usize, belongs: impl Fn(char) -> bool) -> usize {
        let rest = &self.text[at..limit];
        at + rest.find(|c| !belongs(c)).unwrap_or(rest.len())
    }

    fn cut_hangul(&mut self, run: Range<usize>) {
        let mut at = run.start;
        while at < run.end {
            let (len, word) =
                self.lexicon.korean_prefix(&self.text[at..run.end]).unwrap_or((run.end - at, UNKNOWN));
            self.push(at..at + len, Kind::Hangul, word);
            at += len;
        }
    }

    fn push(&mut self, at: Range<usize>, kind: Kind, word: WordId) {
        let (glued, breaks) = (self.glued, self.breaks);
        self.tokens.push(Token { text: &self.text[at.clone()], start: at.start, kind, word, glued, breaks });
        (self.glued, self.breaks) = (true, 0);
    }
}
