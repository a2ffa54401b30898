//! The English of developers' words in other languages.
//!
//! Each `.txt` is a list `word=english,english`, sorted by bytes and looked into where it stands: nothing is built when a
//! process starts, and English texts never come here. Endings and compounds of German, endings of French and Spanish,
//! particles of Korean and unspaced Japanese and Chinese are taken into account as far as a list can.

use std::cmp::Ordering;

use super::Language;
use crate::korean::is_syllable;

const GERMAN: &str = include_str!("german.txt");
const KOREAN: &str = include_str!("korean.txt");
const FRENCH: &str = include_str!("french.txt");
const SPANISH: &str = include_str!("spanish.txt");
const JAPANESE: &str = include_str!("japanese.txt");
const CHINESE: &str = include_str!("chinese.txt");

/// Parts of a compound are at least so long.
const MIN_PART: usize = 4;
/// Longest word of the lists of scripts without spaces, in characters.
const MAX_UNSPACED: usize = 12;

/// Returns what a word of a language with spaces means.
pub(super) fn of_word(word: &str, language: Language) -> Vec<&'static str> {
    match language {
        Language::English => Vec::new(),
        Language::German => german(word),
        Language::Romance => {
            let lists = [FRENCH, SPANISH].into_iter();
            lists.flat_map(|list| inflected(list, word, &ROMANCE_ENDINGS, &["er", "ar", "e", "o"])).collect()
        }
    }
}

/// Says whether a word stands in a list as it is.
pub(super) fn knows(word: &str, language: Language) -> bool {
    let lists: &[&str] = match language {
        Language::English => &[],
        Language::German => &[GERMAN],
        Language::Romance => &[FRENCH, SPANISH],
    };
    lists.iter().any(|list| meanings(list, word).is_some())
}

const GERMAN_ENDINGS: [&str; 14] =
    ["ungen", "ten", "ter", "tes", "te", "en", "er", "es", "em", "et", "st", "e", "n", "s"];
const ROMANCE_ENDINGS: [&str; 14] =
    ["ées", "ée", "és", "é", "ados", "ado", "ada", "es", "as", "os", "s", "e", "a", "o"];

fn german(word: &str) -> Vec<&'static str> {
    let found = inflected(GERMAN, word, &GERMAN_ENDINGS, &["en", "e", "n", "ung"]);
    if !found.is_empty() || word.len() < 2 * MIN_PART {
        return found;
    }
    // The longest first part that is a word, best before a rest that is one too: what is left may be spelled as in English.
    let cuts =
        word.char_indices().map(|(at, _)| at).filter(|at| *at >= MIN_PART && word.len() - at >= MIN_PART);
    let mut alone = Vec::new();
    for at in cuts.rev() {
        let (first, rest) = word.split_at(at);
        let joints = ["", "s", "es", "n", "en"];
        let first = joints.iter().find_map(|joint| meanings(GERMAN, first.strip_suffix(joint)?));
        let Some(first) = first else { continue };
        let rest = inflected(GERMAN, rest, &GERMAN_ENDINGS, &["en", "e", "n"]);
        if !rest.is_empty() {
            return first.chain(rest).collect();
        }
        if alone.is_empty() {
            alone = first.collect();
        }
    }
    alone
}

/// Looks a word up as it is, without its ending, and with the ending of its base form.
fn inflected(list: &'static str, word: &str, endings: &[&str], bases: &[&str]) -> Vec<&'static str> {
    if let Some(found) = meanings(list, word) {
        return found.collect();
    }
    // `ausgerollt` and `angelegt` are kept by the list itself; here only what endings change.
    let stems = endings.iter().filter_map(|ending| word.strip_suffix(ending)).chain([word]);
    for stem in stems.filter(|stem| stem.chars().count() >= 3) {
        if let Some(found) = meanings(list, stem) {
            return found.collect();
        }
        for base in bases {
            if let Some(found) = meanings(list, &format!("{stem}{base}")) {
                return found.collect();
            }
        }
    }
    Vec::new()
}

/// Returns what a run of a script without reliable spaces means, the longest words first.
pub(super) fn of_unspaced(run: &str) -> Vec<&'static str> {
    let lists: &[&'static str] = if run.starts_with(is_syllable) { &[KOREAN] } else { &[JAPANESE, CHINESE] };
    let mut found = Vec::new();
    let mut rest = run;
    while !rest.is_empty() {
        let ends: Vec<usize> =
            rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(MAX_UNSPACED).collect();
        let known = ends.iter().rev().find_map(|end| {
            let here: Vec<&str> =
                lists.iter().filter_map(|list| meanings(list, &rest[..*end])).flatten().collect();
            (!here.is_empty()).then_some((*end, here))
        });
        let end = match known {
            Some((end, here)) => {
                found.extend(here);
                end
            }
            None => ends[0],
        };
        rest = &rest[end..];
    }
    found
}

/// Looks a word up in a sorted list.
fn meanings(list: &'static str, word: &str) -> Option<impl Iterator<Item = &'static str> + use<>> {
    let bytes = list.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = low.midpoint(high);
        let start = bytes[low..middle].iter().rposition(|b| *b == b'\n').map_or(low, |at| low + at + 1);
        let end = bytes[start..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |len| start + len);
        let (known, english) = list[start..end].split_once('=')?;
        match known.cmp(word) {
            Ordering::Equal => return Some(english.split(',')),
            Ordering::Less => low = end + 1,
            Ordering::Greater => high = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_every_line_is_found() {
        for list in [GERMAN, KOREAN, FRENCH, SPANISH, JAPANESE, CHINESE] {
            let words: Vec<&str> = list.lines().map(|line| line.split_once('=').unwrap().0).collect();
            assert!(words.is_sorted_by(|a, b| a < b));
            assert!(words.iter().all(|word| meanings(list, word).is_some()));
            assert!(meanings(list, "zzzzz").is_none() && meanings(list, "").is_none());
        }
    }

    #[test]
    fn inflected_and_compound_words_are_found_by_their_parts() {
        let german = |word: &str| of_word(word, Language::German);
        assert!(german("datenbanken").contains(&"database"));
        assert!(german("datenbankumzug").contains(&"database"));
        assert!(of_unspaced("배포했을").contains(&"deploy"));
        assert!(of_word("table", Language::English).is_empty());
    }
}
