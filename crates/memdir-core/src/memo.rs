//! Remembers what was worked out of a word, because most words of a text stand in many texts.
//!
//! A memo changes no answer, only how long it takes. It is small and empties itself when it is full.

use std::collections::HashMap;

/// As many words are remembered: those that make up nearly all of what people write, in a few megabytes.
const MAX_WORDS: usize = 1 << 16;
/// Longer words are seldom met twice.
const MAX_BYTES: usize = 32;

/// What was worked out of words.
#[derive(Debug)]
pub(crate) struct Memo<V>(HashMap<Box<str>, V>);

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<V> Memo<V> {
    /// Hands what belongs to a word to `look`, working it out by `make` where it is not known.
    pub(crate) fn of<T>(
        &mut self,
        word: &str,
        make: impl FnOnce(&str) -> V,
        look: impl FnOnce(&V) -> T,
    ) -> T {
        if let Some(known) = self.0.get(word) {
            return look(known);
        }
        let made = make(word);
        let answer = look(&made);
        if word.len() <= MAX_BYTES {
            if self.0.len() >= MAX_WORDS {
                self.0.clear();
            }
            self.0.insert(word.into(), made);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_worked_out_once_and_the_memo_stays_small() {
        let mut memo: Memo<usize> = Memo::default();
        let mut n_made = 0;
        for _ in 0..2 {
            let len = memo.of(
                "word",
                |word| {
                    n_made += 1;
                    word.len()
                },
                |len| *len,
            );
            assert_eq!((len, n_made), (4, 1));
        }
        for n in 0..3 * MAX_WORDS {
            assert_eq!(memo.of(&n.to_string(), str::len, |len| *len), n.to_string().len());
        }
        assert!(memo.0.len() <= MAX_WORDS);
        memo.of(&"x".repeat(100), str::len, |_| ());
        assert!(memo.0.keys().all(|word| word.len() <= MAX_BYTES));
    }
}
