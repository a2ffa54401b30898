//! Takes a text apart into words in one case, without accents in compatibility forms.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::Small;
use crate::text::is_unspaced;

/// A longer run is no word: a hash, a key, a line of data.
const MAX_WORD: usize = 64;

/// Returns the words of a text in lower case: letters and digits, or a run of a script without spaces. A name such as
/// `parseConfig` is given whole and in parts. A contraction loses what stands behind its apostrophe, an elision (`l'heure`)
/// what stands before it.
pub(super) fn words(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return ascii_words(text);
    }
    let text: String = text.nfkc().collect();
    let mut words = Vec::new();
    for chunk in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’')) {
        let chunk = chunk.trim_matches(['\'', '’']);
        let chunk = without_apostrophe(chunk);
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

/// A contraction loses what stands behind its apostrophe, an elision what stands before it.
fn without_apostrophe(chunk: &str) -> &str {
    match chunk.split_once(['\'', '’']) {
        Some((article, word)) if is_elided(article) && word.chars().count() > 2 => word,
        Some((word, _)) => word,
        None => chunk,
    }
}

/// Says whether French leaves out a vowel after this and writes an apostrophe.
fn is_elided(article: &str) -> bool {
    let article = article.to_lowercase();
    matches!(article.as_str(), "l" | "d" | "n" | "s" | "j" | "m" | "t" | "c" | "qu" | "jusqu" | "lorsqu")
}

/// Does the same for a text in which nothing has to be composed and every script has spaces.
fn ascii_words(text: &str) -> Vec<String> {
    let mut words = Vec::with_capacity(text.len() / 6);
    for chunk in ascii_chunks(text) {
        words.push(chunk.to_ascii_lowercase());
        if has_humps(chunk) {
            let parts = humps(chunk);
            if parts.len() > 1 {
                words.extend(parts.into_iter().map(str::to_ascii_lowercase));
            }
        }
    }
    words
}

/// Counts the small words of an ASCII text, as if it were taken apart.
pub(super) fn count_small(text: &str) -> Small {
    let mut small = Small::default();
    let mut lower = [0; MAX_WORD];
    for chunk in ascii_chunks(text) {
        if has_humps(chunk) {
            humps(chunk).into_iter().filter(|part| part.len() < chunk.len()).for_each(|part| {
                small.add(&part.to_ascii_lowercase());
            });
        }
        let lower = &mut lower[..chunk.len()];
        lower.copy_from_slice(chunk.as_bytes());
        lower.make_ascii_lowercase();
        small.add(str::from_utf8(lower).unwrap_or_default());
    }
    small
}

fn ascii_chunks(text: &str) -> impl Iterator<Item = &str> {
    let chunks = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '\'');
    let words = chunks.map(|chunk| without_apostrophe(chunk.trim_matches('\'')));
    words.filter(|word| !word.is_empty() && word.len() <= MAX_WORD)
}

/// Says whether a word may have more parts than one.
fn has_humps(word: &str) -> bool {
    word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_taken_apart_like_any_other_text() {
        let texts = [
            "don't 'quoted' it's'",
            "parseConfig HTTPServer a1B2 X",
            "_a__b-c/d.e",
            "",
            "' ' '",
            "ABc AB aB",
        ];
        for text in texts {
            // A character beyond ASCII that is no word leaves the words as they are.
            assert_eq!(words(text), words(&format!("{text} \u{2026}")), "{text}");
        }
        for text in texts {
            let (mut taken_apart, counted) = (Small::default(), count_small(text));
            words(text).iter().for_each(|word| taken_apart.add(word));
            assert_eq!(format!("{taken_apart:?}"), format!("{counted:?}"), "{text}");
        }
        assert_eq!(words(&"x".repeat(65)), Vec::<String>::new());
    }
}
