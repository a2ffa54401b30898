//! Takes a text apart into words in one case, without accents in compatibility forms.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::is_unspaced;

/// A longer run is no word: a hash, a key, a line of data.
const MAX_WORD: usize = 64;

/// Returns the words of a text in lower case: letters and digits, or a run of a script without spaces. A name such as
/// `parseConfig` is given whole and in parts. A contraction loses what stands behind its apostrophe, an elision (`l'heure`)
/// what stands before it.
pub(super) fn words(text: &str) -> Vec<String> {
    let text: String = if text.is_ascii() { text.to_owned() } else { text.nfkc().collect() };
    let mut words = Vec::new();
    for chunk in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’')) {
        let chunk = chunk.trim_matches(['\'', '’']);
        let chunk = match chunk.split_once(['\'', '’']) {
            Some((article, word)) if is_elided(article) && word.chars().count() > 2 => word,
            Some((word, _)) => word,
            None => chunk,
        };
        let mut start = 0;
        let mut was_unspaced = None;
        for (at, c) in chunk.char_indices() {
            let now = is_unspaced(c);
            if was_unspaced.is_some_and(|before| before != now) {
                spaced_or_not(&chunk[start..at], &mut words);
                start = at;
            }
            was_unspaced = Some(now);
        }
        spaced_or_not(&chunk[start..], &mut words);
    }
    words
}

/// Says whether French leaves out a vowel after this and writes an apostrophe.
fn is_elided(article: &str) -> bool {
    let article = article.to_lowercase();
    matches!(article.as_str(), "l" | "d" | "n" | "s" | "j" | "m" | "t" | "c" | "qu" | "jusqu" | "lorsqu")
}

fn spaced_or_not(run: &str, words: &mut Vec<String>) {
    if run.is_empty() || run.len() > MAX_WORD && !run.starts_with(is_unspaced) {
        return;
    }
    words.push(run.to_lowercase());
    if !run.starts_with(is_unspaced) {
        let parts = humps(run);
        if parts.len() > 1 {
            words.extend(parts.into_iter().map(str::to_lowercase));
        }
    }
}

/// Returns the parts of `parseConfig` and `HTTPServer`; one part for a word of a language.
fn humps(word: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..letters.len() {
        let (before, (here, c)) = (letters[at - 1].1, letters[at]);
        let after = letters.get(at + 1).map(|(_, c)| *c);
        let begins_word = before.is_lowercase() && c.is_uppercase();
        let ends_shout = before.is_uppercase() && c.is_uppercase() && after.is_some_and(char::is_lowercase);
        if begins_word || ends_shout {
            parts.push(&word[start..here]);
            start = here;
        }
    }
    parts.push(&word[start..]);
    parts
}

/// Takes accents off.
pub(super) fn without_marks(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    word.nfd().filter(|c| !is_combining_mark(*c)).collect()
}
