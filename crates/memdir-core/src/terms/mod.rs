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
use std::cell::RefCell;
use std::fmt;

use frostem::{Algorithm, Stemmer};

use crate::memo::Memo;
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

    /// Takes the number of a term back.
    pub fn from_value(value: u64) -> Self {
        Self(value)
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

/// What is done with a word before it is a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It is stemmed as English.
    English,
    /// It is stemmed as German.
    German,
    /// It stays as it is.
    Whole,
}

/// Returns the terms of a text, in order, a repeated word each time.
pub fn terms(text: &str) -> Vec<Occurrence> {
    let mut found = Vec::new();
    each_word(text, |word, form, origin| {
        let word = stemmed(word, form).into_owned();
        found.push(Occurrence { term: Term::of(&word), origin, word });
    });
    found
}

/// Calls `visit` with each term of a text, in order: for those who need no words.
pub fn each_term(text: &str, visit: impl FnMut(Term, Origin)) {
    Words::of(text).each_term(visit);
}

/// Calls `visit` with each word of a text that finds something, and with its English.
fn each_word(text: &str, visit: impl FnMut(&str, Form, Origin)) {
    Words::of(text).each(visit);
}

/// A text that was taken apart once, for everything that is worked out of it.
#[derive(Debug)]
pub struct Words {
    words: Vec<String>,
    language: Language,
    has_unspaced: bool,
}

impl Words {
    /// Takes a text apart.
    pub fn of(text: &str) -> Self {
        let words = fold::words(text);
        let language = language_of(&words);
        let has_unspaced = words.iter().any(|word| word.starts_with(is_unspaced));
        Self { words, language, has_unspaced }
    }

    /// Calls `visit` with each of its terms, in order.
    pub fn each_term(&self, mut visit: impl FnMut(Term, Origin)) {
        self.each(|word, form, origin| visit(term_of(word, form), origin));
    }

    /// Calls `visit` with each of its telling words in English, if it is English throughout, and says whether it is.
    pub fn each_english(&self, mut visit: impl FnMut(&str, Term)) -> bool {
        let is_english = self.is_english();
        if is_english {
            let telling = self.words.iter().filter(|word| !is_stop_word(word));
            telling.for_each(|word| visit(word, term_of(word, Form::English)));
        }
        is_english
    }

    fn is_english(&self) -> bool {
        self.language == Language::English && !self.has_unspaced
    }

    fn each(&self, mut visit: impl FnMut(&str, Form, Origin)) {
        let form = if self.language == Language::German { Form::German } else { Form::English };
        for reading in read(&self.words, self.language) {
            for word in reading.words {
                match word.starts_with(is_unspaced) {
                    true => unspaced(word, &mut |pair| visit(pair, Form::Whole, Origin::Said)),
                    false if is_stop_word(word) => {}
                    false => visit(word, form, Origin::Said),
                }
            }
            for meaning in reading.meanings {
                meaning.split(' ').for_each(|word| visit(word, Form::English, Origin::Translated));
            }
        }
    }
}

thread_local! {
    /// The terms of English words that were stemmed before.
    static STEMMED: RefCell<Memo<Term>> = RefCell::default();
}

fn term_of(word: &str, form: Form) -> Term {
    let make = |word: &str| Term::of(&stemmed(word, form));
    match form {
        Form::English => STEMMED.with_borrow_mut(|known| known.of(word, make, |term| *term)),
        Form::German | Form::Whole => make(word),
    }
}

fn stemmed(word: &str, form: Form) -> Cow<'_, str> {
    let algorithm = match form {
        Form::English => Algorithm::English,
        Form::German => Algorithm::German,
        Form::Whole => return Cow::Borrowed(word),
    };
    Cow::Owned(fold::without_marks(&Stemmer::new(algorithm).stem(word)))
}

/// Returns a text in English as far as the glossary goes, word by word, for those who know nothing but English. An
/// English text is returned as it is.
pub fn in_english(text: &str) -> Cow<'_, str> {
    // Nearly every text shows by its small words that it is English, without being taken apart.
    if text.is_ascii() && fold::count_small(text).is_english() {
        return Cow::Borrowed(text);
    }
    let whole = Words::of(text);
    if whole.is_english() {
        return Cow::Borrowed(text);
    }
    let mut english: Vec<&str> = Vec::with_capacity(whole.words.len());
    for reading in read(&whole.words, whole.language) {
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
    let mut found = Vec::new();
    let is_english = Words::of(text).each_english(|word, term| found.push((word.to_owned(), term)));
    if !is_english {
        let words = fold::words(&in_english(text)).into_iter().filter(|word| !is_stop_word(word));
        found.extend(words.map(|word| (word.clone(), term_of(&word, Form::English))));
    }
    found
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
    let mut small = Small::default();
    for word in words {
        small.add(word);
    }
    small.language().unwrap_or_else(|| language_by_glossary(words))
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

/// How many words of a text stand for each language.
#[derive(Debug, Clone, Copy, Default)]
struct Small {
    n_english: usize,
    n_german: usize,
    n_french: usize,
    n_spanish: usize,
    /// Those of French or Spanish, each once.
    n_romance: usize,
}

impl Small {
    fn add(&mut self, word: &str) {
        let lists = stop::lists_of(word);
        let has = |letters: &[char]| !word.is_ascii() && word.contains(letters);
        let is_french = lists.is_french() || has(&['à', 'â', 'è', 'ê', 'î', 'ô', 'ç']);
        let is_spanish = lists.is_spanish() || has(&['ñ', 'á', 'ó', 'í', 'ú']);
        self.n_english += usize::from(lists.is_english());
        self.n_german += usize::from(lists.is_german() || has(&['ä', 'ö', 'ü', 'ß']));
        self.n_french += usize::from(is_french);
        self.n_spanish += usize::from(is_spanish);
        self.n_romance += usize::from(is_french || is_spanish || has(&['é']));
    }

    /// Returns the language that most of them stand for; `None` without any.
    fn language(self) -> Option<Language> {
        match self.n_german.max(self.n_romance).max(self.n_english) {
            0 => None,
            n if n == self.n_english => Some(Language::English),
            n if n == self.n_german => Some(Language::German),
            _ if self.n_spanish > self.n_french => Some(Language::Spanish),
            _ => Some(Language::French),
        }
    }

    fn is_english(self) -> bool {
        self.language() == Some(Language::English)
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
