//! Cuts a text into tokens, exactly as the texts were cut that the table was trained on.
//!
//! First words: control characters are dropped, case and accents are taken off, white space ends a word, and every
//! punctuation mark and every Chinese character is a word of its own. Then pieces: from its beginning, a word is cut
//! into the longest pieces the vocabulary has. A word that cannot be cut to its end is one unknown token.

use std::cell::RefCell;

use super::character::{is_dropped, is_ideograph, is_mark, is_punctuation};
use super::vocabulary::{Place, longest_prefix};
use crate::memo::Memo;
use unicode_normalization::UnicodeNormalization;

/// How many tokens of a text are read. What a text is about shows in its beginning, and a pasted log costs no more
/// than this.
pub const MAX_TOKENS: usize = 512;

/// The token of a word the vocabulary cannot spell. Its row in the table is zero.
const UNKNOWN: u16 = 100;

/// A longer word is unknown: it is a hash or a blob, and its pieces would mean nothing.
const MAX_WORD_CHARS: usize = 100;

/// Cuts a text into the ids of its tokens, [`MAX_TOKENS`] at most.
pub fn tokens(text: &str) -> Vec<u16> {
    let mut words = Words::default();
    let mut rest = text;
    while !rest.is_empty() && words.ids.len() < MAX_TOKENS {
        rest = if rest.as_bytes()[0].is_ascii() {
            words.read_ascii(rest)
        } else {
            words.read_beyond_ascii(rest)
        };
    }
    words.finish()
}

/// The word being read and the tokens of those before it.
#[derive(Default)]
struct Words {
    word: String,
    ids: Vec<u16>,
}

impl Words {
    /// Reads ASCII letters and digits, or one other ASCII character, and returns the rest of the text.
    fn read_ascii<'a>(&mut self, text: &'a str) -> &'a str {
        let n = text.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
        let (first, rest) = text.split_at(n.max(1));
        if n == 0 {
            first.chars().for_each(|c| self.read(c));
        } else {
            let start = self.word.len();
            self.word.push_str(first);
            self.word[start..].make_ascii_lowercase();
        }
        rest
    }

    /// Reads all up to the next ASCII character. Decomposition never reaches across one, so the run stands for itself.
    fn read_beyond_ascii<'a>(&mut self, text: &'a str) -> &'a str {
        let end = text.bytes().position(|byte| byte.is_ascii()).unwrap_or(text.len());
        let (run, rest) = text.split_at(end);
        let plain = run.chars().filter(|&c| !is_dropped(c)).nfd().filter(|&c| !is_mark(c));
        for c in plain {
            self.read(c);
            if self.ids.len() >= MAX_TOKENS {
                break;
            }
        }
        rest
    }

    fn read(&mut self, c: char) {
        if is_dropped(c) {
            return;
        }
        if c.is_whitespace() {
            self.end_word();
        } else if is_punctuation(c) || is_ideograph(c) {
            self.end_word();
            self.word.push(c);
            self.end_word();
        } else {
            self.word.extend(c.to_lowercase());
        }
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            PIECES.with_borrow_mut(|known| known.of(&self.word, pieces, |ids| self.ids.extend(ids)));
            self.word.clear();
        }
    }

    fn finish(mut self) -> Vec<u16> {
        self.end_word();
        self.ids.truncate(MAX_TOKENS);
        self.ids
    }
}

thread_local! {
    /// The pieces of words that were cut before.
    static PIECES: RefCell<Memo<Vec<u16>>> = RefCell::default();
}

/// Cuts a word into pieces, or makes one unknown token of it.
fn pieces(word: &str) -> Vec<u16> {
    let mut ids = Vec::new();
    let (mut rest, mut place) = (word, Place::Start);
    if word.chars().count() > MAX_WORD_CHARS {
        return vec![UNKNOWN];
    }
    while !rest.is_empty() {
        let Some((id, length)) = longest_prefix(rest, place) else { return vec![UNKNOWN] };
        ids.push(id);
        (rest, place) = (&rest[length..], Place::Inside);
    }
    ids
}
