//! Finding phrases in a sentence, whole words only, and the tables of phrases that several rules need.
//!
//! Everything here is in lower case and expects text in lower case with plain apostrophes; see [`lower`].

use std::collections::HashMap;
use std::sync::LazyLock;

/// The tables, by name.
static TABLES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut tables: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut name = "";
    for line in include_str!("phrases.txt").lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(next) => name = next,
            None => {
                let phrases = line.split('|').map(str::trim_start).filter(|phrase| !phrase.trim().is_empty());
                tables.entry(name).or_default().extend(phrases.map(as_written));
            }
        }
    }
    tables
});

/// A phrase ends with its last letter; one that ends with a space is written with `_` for it.
fn as_written(phrase: &str) -> &str {
    phrase.trim_end()
}

/// Returns the phrases of a table.
pub(super) fn table(name: &str) -> &'static [&'static str] {
    TABLES.get(name).map_or(&[], Vec::as_slice)
}

/// Returns a text with what people type in a hurry written out.
pub(super) fn written_out(text: &str) -> String {
    let written = |word: &str| {
        let core = word.trim_end_matches([',', '.', '!', '?', ';', ':']);
        let meant = table("typed").iter().find_map(|entry| {
            let (typed, meant) = entry.split_once(" = ")?;
            typed.eq_ignore_ascii_case(core).then_some(meant)
        });
        meant.map_or_else(|| word.to_owned(), |meant| format!("{meant}{}", &word[core.len()..]))
    };
    text.split(' ').map(written).collect::<Vec<_>>().join(" ")
}

/// Returns a text as the tables expect it.
pub(super) fn lower(text: &str) -> String {
    text.to_lowercase().replace(['’', '‘', '´'], "'")
}

/// Says whether one of the phrases stands in a text. Phrases in scripts that join words are found inside of words.
pub(super) fn has(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| find(text, phrase).is_some())
}

/// Says whether a text begins with one of the phrases.
pub(super) fn begins(text: &str, phrases: &[&str]) -> bool {
    rest_behind(text, phrases).is_some()
}

/// Returns what stands behind the longest of the phrases with which a text begins.
pub(super) fn rest_behind<'t>(text: &'t str, phrases: &[&str]) -> Option<&'t str> {
    let fits = |phrase: &&&str| text.starts_with(**phrase) && ends_word(&text[phrase.len()..], phrase);
    let longest = phrases.iter().filter(fits).max_by_key(|phrase| phrase.len())?;
    Some(&text[longest.len()..])
}

/// Returns where a phrase stands in a text.
pub(super) fn find(text: &str, phrase: &str) -> Option<usize> {
    let begins_word = |at: usize| {
        !is_joined(phrase)
            || !text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '\'')
    };
    let mut places = text.match_indices(phrase).map(|(at, _)| at);
    places.find(|at| begins_word(*at) && ends_word(&text[at + phrase.len()..], phrase))
}

fn ends_word(rest: &str, phrase: &str) -> bool {
    !is_joined(phrase)
        || !rest.starts_with(|c: char| c.is_alphanumeric())
        || !phrase.ends_with(char::is_alphanumeric)
}

/// Says whether a phrase is in a script in which a word ends where no letter follows.
fn is_joined(phrase: &str) -> bool {
    !phrase.chars().any(|c| ('\u{ac00}'..='\u{d7a3}').contains(&c))
}

/// Takes away what stands before what somebody means to say.
pub(super) fn without_interjections(text: &str) -> &str {
    let text = text.trim_start();
    let lower = lower(text);
    // Letters whose small form has another length cannot be counted; such a text stays as it is.
    if lower.len() != text.len() {
        return text;
    }
    let mut rest = lower.as_str();
    while let Some(behind) = rest_behind(rest, table("interjections")) {
        let next = behind.trim_start_matches([',', '.', '!', ':', ';', '-', '–', '—', ' ', '…', '，']);
        let is_set_off = next.len() < behind.len();
        if !is_set_off || next.is_empty() || !may_stand_alone(rest, behind) {
            break;
        }
        rest = next;
    }
    text.get(text.len() - rest.len()..).unwrap_or(text)
}

/// "no tests without fixtures", "good tests are short", "so far" begin with a word that only looks like an interjection.
fn may_stand_alone(lower: &str, behind: &str) -> bool {
    let word = &lower[..lower.len() - behind.len()];
    if !table("bound interjections").contains(&word) {
        return true;
    }
    let is_marked = behind.starts_with([',', '.', '!', ':', ';', '—', '–', '-']) || behind.starts_with(" -");
    let is_order = word == "no"
        && begins(
            behind.trim_start(),
            &["don't", "do not", "we", "never", "stop", "please", "use", "you", "i", "always", "not"],
        );
    is_marked
        || is_order
        || matches!(word, "so")
            && begins(behind.trim_start(), &["we", "i", "please", "don't", "never", "always"])
}
