//! How much of what developers write the glossary knows, by sentences that were written before it was learnt.
//!
//! `sentences.txt` has twenty sentences a language, each with its content words and the English that a reader would accept
//! for them. The figures are kept as they are, so that a change of a list or of a rule shows what it does.

use std::collections::{BTreeMap, HashSet};

use expect_test::expect;
use frostem::{Algorithm, Stemmer};

use super::terms;

const SENTENCES: &str = include_str!("sentences.txt");

#[test]
fn most_content_words_of_unseen_sentences_get_a_right_english_word() {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for line in SENTENCES.lines().filter(|line| !line.starts_with('#')) {
        let (language, found, n_words) = look_up(line);
        let count = counts.entry(language).or_default();
        count.0 += found;
        count.1 += n_words;
    }
    let shown: Vec<String> = counts
        .iter()
        .map(|(language, (found, n_words))| format!("{language} {found} of {n_words}"))
        .collect();
    expect![[r#"
        chinese 77 of 99
        french 87 of 106
        german 81 of 101
        japanese 81 of 93
        korean 84 of 99
        spanish 91 of 111"#]]
    .assert_eq(&shown.join("\n"));
}

/// Returns the language of a line, how many of its words are understood, and how many there are.
fn look_up(line: &str) -> (&str, usize, usize) {
    let english = Stemmer::new(Algorithm::English);
    let mut fields = line.split(" | ");
    let (Some(language), Some(sentence), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
        panic!("not a sentence: {line}");
    };
    let understood: HashSet<String> = terms(sentence).into_iter().map(|found| found.word).collect();
    let (mut found, mut n_words) = (0, 0);
    for (_, accepted) in words.split("; ").filter_map(|word| word.split_once('=')) {
        n_words += 1;
        found += usize::from(accepted.split(',').any(|word| understood.contains(&*english.stem(word))));
    }
    (language, found, n_words)
}
