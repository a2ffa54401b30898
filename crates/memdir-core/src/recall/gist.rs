//! What is worked out of a note once, when it is indexed, because every question that meets the note would need it again.
//!
//! Reading a text takes longer than anything else a recall does: words are folded, stemmed, looked up in a glossary and cut
//! into tokens. A [`Gist`] keeps the outcome in some hundred bytes: the terms of the head, and the tokens of the sentences
//! and of the words that are compared one by one. What becomes of the numbers is decided by whoever ranks.

use super::note::Note;
use crate::embed::{self, Vector};
use crate::terms::{Term, Words, english_words, in_english};

/// As many words of a head and of a body are compared.
const MAX_HEAD: usize = 32;
const MAX_BODY: usize = 64;

/// A text as the embedding knows it: the numbers of its tokens.
type Tokens = Vec<u16>;

/// What is known of a note's text without reading it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gist {
    /// The terms of name, description and tags, ascending, each once.
    pub(super) head: Vec<Term>,
    /// The sentences.
    sentences: Vec<Tokens>,
    /// The telling words of the head and of the body, each once.
    pub(super) head_words: Vec<Tokens>,
    pub(super) body_words: Vec<Tokens>,
}

impl Gist {
    /// Reads a note whose head and body were taken apart already.
    pub(super) fn of(note: &Note, head: &Words, body: &Words) -> Self {
        let mut found = Vec::new();
        head.each_term(|term, _| found.push(term));
        found.sort_unstable();
        found.dedup();
        Self {
            head: found,
            sentences: note.sentences().into_iter().map(|text| embed::tokens(&in_english(text))).collect(),
            head_words: words(head, || note.head(), MAX_HEAD),
            body_words: words(body, || note.body.clone(), MAX_BODY),
        }
    }

    /// Returns where each sentence points.
    pub(super) fn sentences(&self) -> impl Iterator<Item = Vector> {
        self.sentences.iter().filter_map(|tokens| embed::vector_of(tokens))
    }

    /// Returns it as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_number(&mut bytes, self.head.len());
        self.head.iter().for_each(|term| bytes.extend(term.value().to_le_bytes()));
        for texts in [&self.sentences, &self.head_words, &self.body_words] {
            put_number(&mut bytes, texts.len());
            for tokens in texts {
                put_number(&mut bytes, tokens.len());
                tokens.iter().for_each(|token| bytes.extend(token.to_le_bytes()));
            }
        }
        bytes
    }

    /// Reads what [`Gist::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let n_terms = take_number(&mut rest)?;
        let (head, after) = rest.split_at_checked(8 * n_terms)?;
        rest = after;
        let head = head.as_chunks::<8>().0.iter().map(|term| Term::from_value(u64::from_le_bytes(*term)));
        let mut texts = || -> Option<Vec<Tokens>> {
            let n = take_number(&mut rest)?;
            (0..n).map(|_| take_tokens(&mut rest)).collect()
        };
        let gist =
            Self { head: head.collect(), sentences: texts()?, head_words: texts()?, body_words: texts()? };
        rest.is_empty().then_some(gist)
    }
}

/// Returns the telling words of a text, each once, as the embedding knows them.
fn words(words: &Words, text: impl FnOnce() -> String, limit: usize) -> Vec<Tokens> {
    let mut seen = Vec::with_capacity(limit);
    let mut found = Vec::with_capacity(limit);
    let mut add = |word: &str, term: Term| {
        if seen.len() < limit && !seen.contains(&term) {
            seen.push(term);
            found.push(embed::tokens(word));
        }
    };
    if !words.each_english(&mut add) {
        english_words(&text()).into_iter().for_each(|(word, term)| add(&word, term));
    }
    found
}

/// Appends a number in two bytes: no list here is longer than its text, which is cut.
fn put_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number.min(usize::from(u16::MAX)) as u16).to_le_bytes());
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let (number, after) = rest.split_first_chunk::<2>()?;
    *rest = after;
    Some(usize::from(u16::from_le_bytes(*number)))
}

fn take_tokens(rest: &mut &[u8]) -> Option<Tokens> {
    let n = take_number(rest)?;
    let (tokens, after) = rest.split_at_checked(2 * n)?;
    *rest = after;
    Some(tokens.as_chunks::<2>().0.iter().map(|token| u16::from_le_bytes(*token)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Document, Memory, MemoryPath};

    fn note() -> Note {
        let text = "---\nname: tests\ndescription: Tests use a real database\ntype: feedback\n---\n\n\
                    Never mock it. Die Migrationen laufen vorher. 데이터베이스를 쓴다\n";
        let document = Document::parse(text.as_bytes());
        let path = MemoryPath::new("tests.md").unwrap();
        Note::of(&Memory::read(&path, &document).0, &document)
    }

    #[test]
    fn it_is_written_and_read() {
        let gist = note().gist().clone();
        assert_eq!(gist.sentences.len(), 3);
        assert!(gist.head.is_sorted() && !gist.head_words.is_empty() && !gist.body_words.is_empty());
        let bytes = gist.to_bytes();
        assert_eq!(Gist::from_bytes(&bytes), Some(gist));
        assert!((0..bytes.len()).all(|len| Gist::from_bytes(&bytes[..len]).is_none()));
        assert!(Gist::from_bytes(&[&bytes[..], &[0]].concat()).is_none());
    }

    #[test]
    fn the_sentences_point_where_their_texts_do() {
        let note = note();
        let texts: Vec<_> =
            note.sentences().into_iter().filter_map(|text| embed::vector(&in_english(text))).collect();
        assert_eq!(note.gist().sentences().collect::<Vec<_>>(), texts);
    }
}
