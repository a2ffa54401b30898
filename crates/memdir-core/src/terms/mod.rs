//! The words by which a text is found.
//!
//! A text becomes a list of [`Term`]s: folded, without stop words, stemmed, names from code taken apart, scripts without
//! spaces cut into pairs of characters. What is not English gets its English words beside its own, as far as a glossary of
//! developers' words goes, so that a German prompt finds an English note and the other way round. A term is a hash that is
//! the same in every version of an index and on every machine. Look at [`terms`] first.

mod fold;
mod glossary;
mod stop;

use std::borrow::Cow;
use std::fmt;

use frostem::{Algorithm, Stemmer};

use crate::text::is_unspaced;
pub use stop::is_stop_word;

/// A word as the index knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u64);

impl Term {
    /// Takes a word that is folded and stemmed, or a facet such as `link:name`.
    pub fn of(word: &str) -> Self {
        // FNV-1a, and a last mix so that every bit counts: stable, which the standard library's hash is not.
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Self(hash ^ (hash >> 32))
    }

    /// Returns it as a number.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What a term is to its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A word that stands there.
    Said,
    /// The English of a word that stands there.
    Translated,
}

/// One occurrence of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The term.
    pub term: Term,
    /// What it is to the text.
    pub origin: Origin,
    /// The word as it is shown to people.
    pub word: String,
}

/// What most of a text is written in, as far as endings and the glossary care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    English,
    German,
    /// French and Spanish.
    Romance,
}

/// Returns the terms of a text, in order, a repeated word each time.
pub fn terms(text: &str) -> Vec<Occurrence> {
    let words = fold::words(text);
    let language = language_of(&words);
    let stemmer = Stemmer::new(match language {
        Language::English | Language::Romance => Algorithm::English,
        Language::German => Algorithm::German,
    });
    let english = Stemmer::new(Algorithm::English);
    let mut found = Vec::with_capacity(words.len());
    let mut push = |word: &str, origin: Origin| {
        found.push(Occurrence { term: Term::of(word), origin, word: word.to_owned() });
    };
    for word in &words {
        if word.starts_with(is_unspaced) {
            unspaced(word, &mut |pair| push(pair, Origin::Said));
            for meaning in glossary::of_unspaced(word) {
                meaning.split(' ').for_each(|word| push(&english.stem(word), Origin::Translated));
            }
            continue;
        }
        if is_stop_word(word) {
            continue;
        }
        push(&fold::without_marks(&stemmer.stem(word)), Origin::Said);
        for meaning in glossary::of_word(word, language) {
            meaning.split(' ').for_each(|word| push(&english.stem(word), Origin::Translated));
        }
    }
    found
}

/// Returns a text in English as far as the glossary goes, word by word, for those who know nothing but English. An
/// English text is returned as it is.
pub fn in_english(text: &str) -> Cow<'_, str> {
    let words = fold::words(text);
    let language = language_of(&words);
    if language == Language::English && !words.iter().any(|word| word.starts_with(is_unspaced)) {
        return Cow::Borrowed(text);
    }
    let mut english: Vec<Cow<'_, str>> = Vec::with_capacity(words.len());
    for word in &words {
        let meanings = match word.starts_with(is_unspaced) {
            true => glossary::of_unspaced(word),
            false if is_stop_word(word) => continue,
            false => glossary::of_word(word, language).into_iter().take(2).collect(),
        };
        match meanings.is_empty() {
            true => english.push(Cow::Borrowed(word)),
            false => english.extend(meanings.into_iter().map(Cow::Borrowed)),
        }
    }
    Cow::Owned(english.join(" "))
}

/// Returns the telling words of a text in English as far as the glossary goes, as they are written, each with its term.
pub fn english_words(text: &str) -> Vec<(String, Term)> {
    let english = Stemmer::new(Algorithm::English);
    let words = fold::words(&in_english(text)).into_iter().filter(|word| !is_stop_word(word));
    words.map(|word| (word.clone(), Term::of(&fold::without_marks(&english.stem(&word))))).collect()
}

/// Cuts a run of characters into pairs; one alone stands for itself.
fn unspaced(run: &str, push: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() <= 3 {
        return push(run);
    }
    for window in starts.windows(3) {
        push(&run[window[0]..window[2]]);
    }
}

/// Tells languages apart by their small words and letters; a text without any, by the glossary.
fn language_of(words: &[String]) -> Language {
    let count = |is_one: fn(&str) -> bool| words.iter().filter(|word| is_one(word)).count();
    let n_english = count(stop::is_english);
    let n_german = count(|word| stop::is_german(word) || word.contains(['ä', 'ö', 'ü', 'ß']));
    let n_romance =
        count(|word| stop::is_romance(word) || word.contains(['é', 'è', 'ê', 'ñ', 'ó', 'í', 'ç']));
    match n_german.max(n_romance).max(n_english) {
        0 if words.iter().any(|word| glossary::knows(word, Language::German)) => Language::German,
        n if n == n_english => Language::English,
        n if n == n_german => Language::German,
        _ => Language::Romance,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let shown: Vec<String> = terms(text)
            .into_iter()
            .map(|found| match found.origin {
                Origin::Said => found.word,
                Origin::Translated => format!("={}", found.word),
            })
            .collect();
        expected.assert_eq(&shown.join(" "));
    }

    #[test]
    fn words_are_folded_and_stemmed_and_small_ones_left_out() {
        check("The Migrations are never run on Fridays", expect!["migrat never run friday"]);
        check("Naïve café, ﬁle № 5", expect!["naiv cafe file 5"]);
        check("don't, it's, we've", expect![""]);
    }

    #[test]
    fn names_from_code_come_apart_and_stay_whole() {
        check("parseConfig() in src/db_pool.rs", expect!["parseconfig pars config src db pool rs"]);
        check("HTTPServer v1.2.3 --no-verify", expect!["httpserver http server v1 2 3 verifi"]);
    }

    #[test]
    fn scripts_without_spaces_are_pairs() {
        check("데이터베이스", expect!["데이 이터 터베 베이 이스 =databas"]);
        check("数", expect!["数"]);
    }

    #[test]
    fn a_term_is_the_same_everywhere() {
        assert_eq!(Term::of("migrat").value(), Term::of("migrat").value());
        assert_ne!(Term::of("migrat"), Term::of("migrate"));
        expect!["a581"].assert_eq(&format!("{:?}", Term::of("migrat"))[..4]);
    }
}
