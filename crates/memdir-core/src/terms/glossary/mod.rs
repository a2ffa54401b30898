//! The English of developers' words in other languages.
//!
//! Each `.txt` is a list `word=english,english`, sorted by bytes and looked into where it stands: nothing is built when a
//! process starts, and English texts never come here. The lists beside this file are written by hand; those in `learnt/`
//! were learnt from translated software (`training/glossary`) and hold stems where a language has endings. What is written
//! by hand comes first. Endings and compounds of German, endings of French and Spanish, particles of Korean and unspaced
//! Japanese and Chinese are taken into account as far as a list can. Look at [`of_word`] and [`of_unspaced`] first.

use std::cmp::Ordering;

use frostem::{Algorithm, Stemmer};

use super::Language;
use crate::korean::is_syllable;

/// What is known of a language: by hand, and learnt.
#[derive(Clone, Copy)]
struct Lists {
    written: &'static str,
    learnt: &'static str,
}

const GERMAN: Lists =
    Lists { written: include_str!("german.txt"), learnt: include_str!("learnt/german.txt") };
const KOREAN: Lists =
    Lists { written: include_str!("korean.txt"), learnt: include_str!("learnt/korean.txt") };
const FRENCH: Lists =
    Lists { written: include_str!("french.txt"), learnt: include_str!("learnt/french.txt") };
const SPANISH: Lists =
    Lists { written: include_str!("spanish.txt"), learnt: include_str!("learnt/spanish.txt") };
const JAPANESE: Lists =
    Lists { written: include_str!("japanese.txt"), learnt: include_str!("learnt/japanese.txt") };
const CHINESE: Lists =
    Lists { written: include_str!("chinese.txt"), learnt: include_str!("learnt/chinese.txt") };

/// A word has at most so many meanings: more of them find more than is meant.
const MAX_MEANINGS: usize = 4;
/// Parts of a compound are at least so long.
const MIN_PART: usize = 4;
/// Longest word of the lists of scripts without spaces, in characters.
const MAX_UNSPACED: usize = 12;
/// Longest phrase of the lists, in words: `mise en place de …`.
const MAX_PHRASE: usize = 4;

/// Returns what a word of a language with spaces means.
pub(super) fn of_word(word: &str, language: Language) -> Vec<&'static str> {
    match language {
        Language::English => Vec::new(),
        Language::German => german(word),
        Language::French => inflected(FRENCH, Algorithm::French, word, &ROMANCE_ENDINGS, &["er", "e"]),
        Language::Spanish => {
            inflected(SPANISH, Algorithm::Spanish, word, &ROMANCE_ENDINGS, &["ar", "er", "o"])
        }
    }
}

/// Returns how many of the words at the start are a phrase such as `mot de passe`, and what it means. Phrases are a matter
/// of French and Spanish; German writes them as one word.
pub(super) fn of_phrase(words: &[String], language: Language) -> Option<(usize, Vec<&'static str>)> {
    let lists = match language {
        Language::French => FRENCH,
        Language::Spanish => SPANISH,
        Language::English | Language::German => return None,
    };
    (2..=words.len().min(MAX_PHRASE)).rev().find_map(|n_words| {
        let last = &words[n_words - 1];
        let phrase = words[..n_words].join(" ");
        let singular = phrase.strip_suffix('s').filter(|_| last.len() > 3);
        // `pièces jointes`, `copias de seguridad`: every word or only the first may stand in the plural.
        let first = words[0]
            .strip_suffix('s')
            .map(|first| [&[first.to_owned()], &words[1..n_words]].concat().join(" "));
        let each = words[..n_words]
            .iter()
            .map(|word| word.strip_suffix('s').unwrap_or(word))
            .collect::<Vec<_>>()
            .join(" ");
        let forms = [Some(phrase.as_str()), singular, first.as_deref(), Some(&each)];
        let found = forms.into_iter().flatten().find_map(|form| meanings(lists.written, form))?;
        Some((n_words, found.collect()))
    })
}

/// Says whether a word stands in a list written by hand as it is.
pub(super) fn knows(word: &str, language: Language) -> bool {
    let lists: &[Lists] = match language {
        Language::English => &[],
        Language::German => &[GERMAN],
        Language::French => &[FRENCH],
        Language::Spanish => &[SPANISH],
    };
    lists.iter().any(|list| meanings(list.written, word).is_some())
}

const GERMAN_ENDINGS: [&str; 14] =
    ["ungen", "ten", "ter", "tes", "te", "en", "er", "es", "em", "et", "st", "e", "n", "s"];
const ROMANCE_ENDINGS: [&str; 14] =
    ["ées", "ée", "és", "é", "ados", "ado", "ada", "es", "as", "os", "s", "e", "a", "o"];

fn german(word: &str) -> Vec<&'static str> {
    let found = german_part(word);
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
        let mut heads = joints.iter().filter_map(|joint| first.strip_suffix(joint));
        let Some(first) = heads.find_map(|head| exact(GERMAN, Algorithm::German, head)) else { continue };
        let rest = german_part(rest);
        if !rest.is_empty() {
            return first.into_iter().take(2).chain(rest.into_iter().take(2)).collect();
        }
        if alone.is_empty() {
            alone = first;
        }
    }
    alone
}

fn german_part(word: &str) -> Vec<&'static str> {
    inflected(GERMAN, Algorithm::German, word, &GERMAN_ENDINGS, &["en", "e", "n", "ung"])
}

/// Looks a word up as it is, by its stem, without its ending, and with the ending of its base form.
fn inflected(
    lists: Lists,
    algorithm: Algorithm,
    word: &str,
    endings: &[&str],
    bases: &[&str],
) -> Vec<&'static str> {
    if let Some(found) = exact(lists, algorithm, word) {
        return found;
    }
    // `ausgerollt` and `angelegt` are kept by the list itself; here only what endings change.
    let stems = endings.iter().filter_map(|ending| word.strip_suffix(ending)).chain([word]);
    for stem in stems.filter(|stem| stem.chars().count() >= 3) {
        if let Some(found) = meanings(lists.written, stem) {
            return found.collect();
        }
        for base in bases {
            if let Some(found) = meanings(lists.written, &format!("{stem}{base}")) {
                return found.collect();
            }
        }
    }
    Vec::new()
}

/// Looks a word up as it is written, and its stem among what was learnt.
fn exact(lists: Lists, algorithm: Algorithm, word: &str) -> Option<Vec<&'static str>> {
    let stem = Stemmer::new(algorithm).stem(word);
    merged(meanings(lists.written, word), meanings(lists.learnt, &stem))
}

/// Puts what was learnt behind what is written by hand.
fn merged(
    written: Option<impl Iterator<Item = &'static str>>,
    learnt: Option<impl Iterator<Item = &'static str>>,
) -> Option<Vec<&'static str>> {
    let mut found: Vec<&'static str> = Vec::with_capacity(MAX_MEANINGS);
    for meaning in written.into_iter().flatten().chain(learnt.into_iter().flatten()) {
        if found.len() < MAX_MEANINGS && !found.contains(&meaning) {
            found.push(meaning);
        }
    }
    (!found.is_empty()).then_some(found)
}

/// What the characters of Chinese are used for in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Beside kana: Japanese.
    Japanese,
    /// Alone: Chinese, or a title in Japanese.
    Either,
}

impl Script {
    /// Tells by the kana of the whole text.
    pub(super) fn of(words: &[String]) -> Self {
        let has_kana = words.iter().any(|word| word.chars().any(|c| ('\u{3041}'..='\u{30ff}').contains(&c)));
        if has_kana { Self::Japanese } else { Self::Either }
    }
}

/// Returns what a run of a script without reliable spaces means, the longest words first.
pub(super) fn of_unspaced(run: &str, script: Script) -> Vec<&'static str> {
    let is_korean = run.starts_with(is_syllable);
    let lists: &[Lists] = match script {
        _ if is_korean => &[KOREAN],
        Script::Japanese => &[JAPANESE],
        Script::Either => &[CHINESE, JAPANESE],
    };
    let mut found = Vec::new();
    let (mut rest, mut before) = (run, None);
    while let Some(c) = rest.chars().next() {
        let ends: Vec<usize> =
            rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(MAX_UNSPACED).collect();
        let begins_word = match before {
            None => true,
            Some(before) => !(is_korean || is_katakana(before) && is_katakana(c)),
        };
        let known = ends.iter().rev().find_map(|end| {
            let word = &rest[..*end];
            let here = lists.iter().find_map(|lists| {
                let learnt = begins_word.then(|| meanings(lists.learnt, word)).flatten();
                merged(meanings(lists.written, word), learnt)
            })?;
            Some((*end, here))
        });
        rest = match known {
            Some((end, here)) => {
                found.extend(here);
                before = None;
                &rest[end..]
            }
            None => {
                before = Some(c);
                &rest[c.len_utf8()..]
            }
        };
    }
    found
}

fn is_katakana(c: char) -> bool {
    ('\u{30a1}'..='\u{30ff}').contains(&c)
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
        let lists = [GERMAN, KOREAN, FRENCH, SPANISH, JAPANESE, CHINESE];
        for list in lists.into_iter().flat_map(|lists| [lists.written, lists.learnt]) {
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
        assert!(of_unspaced("배포했을", Script::Either).contains(&"deploy"));
        assert!(of_word("facturas", Language::Spanish).contains(&"invoice"));
        assert!(of_word("commentaires", Language::French).contains(&"comment"));
        assert!(of_word("table", Language::English).is_empty());
    }

    #[test]
    fn what_is_written_by_hand_comes_before_what_was_learnt() {
        for lists in [KOREAN, JAPANESE, CHINESE] {
            for line in lists.written.lines() {
                let (word, english) = line.split_once('=').unwrap();
                let found = merged(meanings(lists.written, word), meanings(lists.learnt, word)).unwrap();
                let first = english.split(',').next().unwrap();
                assert_eq!(found[0], first, "{word}");
                assert!(found.len() <= MAX_MEANINGS, "{word}");
            }
        }
    }

    #[test]
    fn chinese_characters_beside_kana_are_japanese() {
        assert_eq!(Script::of(&["削除".to_owned(), "する".to_owned()]), Script::Japanese);
        assert_eq!(Script::of(&["删除".to_owned()]), Script::Either);
        assert!(of_unspaced("フォルダーを削除", Script::Japanese).contains(&"delete"));
    }
}
