//! The words by which a text is found.
//!
//! A text becomes a list of [`Term`]s: folded, without stop words, stemmed, names from code taken apart, scripts without
//! spaces cut into pairs of characters. What is not English gets its English words beside its own, as far as a glossary of
//! developers' words goes, so that a German prompt finds an English note and the other way round. A term is a hash that is
//! the same in every version of an index and on every machine. Look at [`terms`] first.

#[cfg(test)]
mod coverage;
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

/// What the words of a text with spaces are written in, as far as endings and the glossary care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    English,
    German,
    French,
    Spanish,
}

/// Returns the terms of a text, in order, a repeated word each time.
pub fn terms(text: &str) -> Vec<Occurrence> {
    let words = fold::words(text);
    let language = language_of(&words);
    let stemmer = Stemmer::new(match language {
        Language::English | Language::French | Language::Spanish => Algorithm::English,
        Language::German => Algorithm::German,
    });
    let english = Stemmer::new(Algorithm::English);
    let mut found = Vec::with_capacity(words.len());
    let mut push = |word: &str, origin: Origin| {
        found.push(Occurrence { term: Term::of(word), origin, word: word.to_owned() });
    };
    for reading in read(&words, language) {
        for word in reading.words {
            match word.starts_with(is_unspaced) {
                true => unspaced(word, &mut |pair| push(pair, Origin::Said)),
                false if is_stop_word(word) => {}
                false => push(&fold::without_marks(&stemmer.stem(word)), Origin::Said),
            }
        }
        for meaning in reading.meanings {
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
    let mut english: Vec<&str> = Vec::with_capacity(words.len());
    for reading in read(&words, language) {
        let meanings = reading.meanings;
        match meanings.is_empty() {
            true => {
                english.extend(reading.words.iter().filter(|word| !is_stop_word(word)).map(String::as_str))
            }
            // A run without spaces has many words, one with spaces several meanings of one.
            false if reading.words[0].starts_with(is_unspaced) => english.extend(meanings),
            false => english.extend(meanings.into_iter().take(2)),
        }
    }
    Cow::Owned(english.join(" "))
}

/// Words that the glossary takes together, and what they mean.
struct Reading<'a> {
    words: &'a [String],
    meanings: Vec<&'static str>,
}

/// Reads a text with the glossary: one word at a time, or several where they are a phrase.
fn read<'a>(words: &'a [String], language: Language) -> Vec<Reading<'a>> {
    let script = glossary::Script::of(words);
    let mut readings = Vec::with_capacity(words.len());
    let mut rest = words;
    while let Some(word) = rest.first() {
        let (n_words, meanings) = match word.starts_with(is_unspaced) {
            true => (1, glossary::of_unspaced(word, script)),
            false => match glossary::of_phrase(rest, language) {
                Some(phrase) => phrase,
                None if is_stop_word(word) => (1, Vec::new()),
                None => (1, glossary::of_word(word, language)),
            },
        };
        let (here, after) = rest.split_at(n_words);
        readings.push(Reading { words: here, meanings });
        rest = after;
    }
    readings
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
    let n_romance = count(|word| {
        stop::is_french(word)
            || stop::is_spanish(word)
            || word.contains(['à', 'â', 'é', 'è', 'ê', 'î', 'ô', 'ñ', 'á', 'ó', 'í', 'ú', 'ç'])
    });
    match n_german.max(n_romance).max(n_english) {
        0 => language_by_glossary(words),
        n if n == n_english => Language::English,
        n if n == n_german => Language::German,
        _ => {
            let n_french =
                count(|word| stop::is_french(word) || word.contains(['à', 'â', 'è', 'ê', 'î', 'ô', 'ç']));
            let n_spanish = count(|word| stop::is_spanish(word) || word.contains(['ñ', 'á', 'ó', 'í', 'ú']));
            if n_spanish > n_french { Language::Spanish } else { Language::French }
        }
    }
}

/// Tells the language of a text without small words: German by any word of its list, French and Spanish by more than half,
/// because they share more with English.
fn language_by_glossary(words: &[String]) -> Language {
    let n_known = |language| words.iter().filter(|word| glossary::knows(word, language)).count();
    if n_known(Language::German) > 0 {
        return Language::German;
    }
    let (n_french, n_spanish) = (n_known(Language::French), n_known(Language::Spanish));
    match 2 * n_french.max(n_spanish) > words.len() {
        true if n_spanish > n_french => Language::Spanish,
        true => Language::French,
        false => Language::English,
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
    fn an_elided_article_is_taken_off_and_a_phrase_is_read_as_one() {
        check("l'hébergeur et le mot de passe", expect!["hebergeur mot pass =password"]);
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
