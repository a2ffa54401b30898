//! What a text says, taken apart so that two texts can be compared: its words, its values, what it denies.
//!
//! A value is what can change while the subject stays the same: a number, a day, a version. Everything else is a word, and
//! a word is hard when it names something: in code, with a capital, with digits in it. Look at [`Saying`].

use std::collections::{BTreeMap, BTreeSet};

use super::words::{
    canonical, is_change, is_denier, is_measured, is_negation, is_numbered, is_plain, is_qualifier,
    is_report, is_versioned, number, weekday,
};
use crate::terms::{Origin, is_stop_word, terms};

/// A text taken apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Saying {
    /// The stems of its words, each with how it is written; words that say little are left out.
    pub(super) words: BTreeMap<String, String>,
    /// The stems among them that name something.
    pub(super) hard: BTreeSet<String>,
    /// Numbers, days and versions by their kind.
    pub(super) values: BTreeMap<Kind, BTreeSet<String>>,
    /// Whether it denies something.
    pub(super) is_negated: bool,
    /// The stems right after a word that denies.
    pub(super) denied: BTreeSet<String>,
    /// Whether it tells of a change.
    pub(super) tells_change: bool,
    /// Whether it reports what happened.
    pub(super) is_report: bool,
}

/// What kind of thing a value is; numbers of different units are of different kinds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Day,
    Clock,
    Weekday,
    Version,
    Number(String),
}

/// After a word that denies, so many telling words are denied.
const DENIED: usize = 2;

impl Saying {
    /// Takes a text apart.
    pub(super) fn of(text: &str) -> Self {
        let tokens: Vec<Token> = tokens(text);
        let mut saying = Self::default();
        let mut to_deny = 0;
        for (at, token) in tokens.iter().enumerate() {
            let lower = token.lower.as_str();
            saying.is_negated |= is_negation(lower);
            saying.tells_change |= is_change(lower);
            saying.is_report |= is_report(lower);
            if is_denier(lower) {
                to_deny = DENIED;
                continue;
            }
            if let Some((kind, value)) = value(&tokens, at) {
                saying.values.entry(kind).or_default().insert(value);
                continue;
            }
            if is_stop_word(lower) || is_plain(lower) || (is_change(lower) && !is_qualifier(lower)) {
                to_deny = if ends_denial(lower, to_deny < DENIED) { 0 } else { to_deny };
                continue;
            }
            saying.word(token, &mut to_deny);
        }
        saying
    }

    /// Takes a word in.
    fn word(&mut self, token: &Token, to_deny: &mut usize) {
        let word = canonical(&token.lower);
        for stem in stems(word) {
            if token.is_name {
                self.hard.insert(stem.clone());
            }
            if *to_deny > 0 {
                self.denied.insert(stem.clone());
            }
            self.words.insert(stem, word.to_owned());
        }
        *to_deny = to_deny.saturating_sub(1);
    }

    /// Says whether a word tells like things apart.
    pub(super) fn is_telling(&self, stem: &str) -> bool {
        self.hard.contains(stem) || self.words.get(stem).is_some_and(|word| is_qualifier(word))
    }

    /// Returns how many words and values it has.
    pub(super) fn len(&self) -> usize {
        self.words.len() + self.values.values().map(BTreeSet::len).sum::<usize>()
    }

    /// Takes in what another text says.
    pub(super) fn add(&mut self, other: &Self) {
        self.words.extend(other.words.iter().map(|(stem, word)| (stem.clone(), word.clone())));
        self.hard.extend(other.hard.iter().cloned());
        for (kind, values) in &other.values {
            self.values.entry(kind.clone()).or_default().extend(values.iter().cloned());
        }
        self.is_negated |= other.is_negated;
        self.denied.extend(other.denied.iter().cloned());
        self.tells_change |= other.tells_change;
        self.is_report |= other.is_report;
    }
}

/// Says whether a small word ends what a denial reaches: "from Jenkins **to** Actions". "No longer on Jenkins" goes on.
fn ends_denial(word: &str, has_denied: bool) -> bool {
    match word {
        "to" | "with" | "by" | "zu" | "durch" => true,
        "for" | "in" | "on" | "auf" | "für" | "and" | "und" => has_denied,
        _ => false,
    }
}

/// Returns the stems of one word; a name from code has several.
pub(super) fn stems(word: &str) -> Vec<String> {
    terms(word).into_iter().filter(|term| term.origin == Origin::Said).map(|term| term.word).collect()
}

/// Small words that show that a text is German.
#[rustfmt::skip]
const GERMAN: &[&str] = &[
    "der", "die", "das", "dem", "den", "des", "ein", "eine", "einen", "und", "oder", "nicht", "kein", "keine", "ist", "sind", "wird",
    "werden", "auf", "mit", "für", "im", "zur", "zum", "von", "vom", "beim", "aus", "nur", "ohne", "bis", "wir", "auch", "nie", "bei", "am", "um",
];

/// One word of a text.
struct Token {
    lower: String,
    /// Whether it names something.
    is_name: bool,
    is_capital: bool,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut begins = true;
    let mut n_capitals = 0;
    for raw in text.split_whitespace() {
        let raw = raw.trim_start_matches("[[").trim_end_matches("]]");
        let is_code = raw.contains('`');
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && !"#%$€£<>≤≥~+-/".contains(c));
        let word = word.trim_end_matches(['/', '-', '+', '~', '>', '<']).trim_start_matches(['-', '<', '>']);
        let ends = raw.ends_with(['.', '!', '?', ':', ';', '。']);
        if !word.is_empty() {
            let is_capital = word.starts_with(char::is_uppercase);
            n_capitals += usize::from(is_capital && !begins);
            let is_upper =
                word.chars().filter(|c| c.is_uppercase()).count() > 1 && !word.contains(char::is_lowercase);
            let inner = word.contains(['/', '_', '@']) || word.trim_end_matches('.').contains('.');
            let is_camel = word.chars().skip(1).any(char::is_uppercase) && word.contains(char::is_lowercase);
            let has_digit = word.contains(|c: char| c.is_ascii_digit());
            let is_name = is_code || is_upper || inner || is_camel || has_digit || (is_capital && !begins);
            found.push(Token { lower: word.to_lowercase(), is_name, is_capital });
        }
        begins = ends || (word.is_empty() && begins);
    }
    // A text in which every noun or every word has a capital says nothing by it.
    let is_german = found.iter().any(|token| GERMAN.contains(&token.lower.as_str()));
    if is_german || n_capitals * 3 > found.len() * 2 {
        for token in &mut found {
            let is_odd = |c: char| !c.is_alphabetic() && c != '-';
            token.is_name &= token.lower.contains(is_odd);
        }
    }
    found
}

/// Reads the value that stands at a place, if one does.
fn value(tokens: &[Token], at: usize) -> Option<(Kind, String)> {
    let word = tokens[at].lower.as_str();
    if let Some(day) = weekday(word) {
        return Some((Kind::Weekday, day.to_string()));
    }
    if let Some(digits) = number(word) {
        return Some((Kind::Number(unit_after(tokens, at)), digits.to_owned()));
    }
    if !word.starts_with(|c: char| c.is_ascii_digit() || "v$€£<>≤≥~+".contains(c)) {
        return None;
    }
    let before = at.checked_sub(1).map_or("", |before| tokens[before].lower.as_str());
    let bare = word.trim_start_matches(['$', '€', '£', '<', '>', '≤', '≥', '~', '+']);
    if is_day(bare) {
        return Some((Kind::Day, bare.to_owned()));
    }
    let unversioned = bare.strip_prefix('v').unwrap_or(bare);
    if is_dotted(unversioned) {
        return Some((Kind::Version, unversioned.to_owned()));
    }
    let is_version = at > 0 && is_versioned(before, tokens[at - 1].is_capital);
    if is_version && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some((Kind::Version, bare.to_owned()));
    }
    if is_numbered(before) {
        return None;
    }
    if is_clock(bare) {
        return Some((Kind::Clock, bare.trim_start_matches('0').to_owned()));
    }
    let n_digits = bare.find(|c: char| !c.is_ascii_digit() && !",._".contains(c)).unwrap_or(bare.len());
    let (digits, suffix) = bare.split_at(n_digits);
    let is_unit = suffix.chars().count() <= 4 && suffix.chars().all(|c| c.is_alphabetic() || c == '%');
    if digits.is_empty() || !is_unit {
        return None;
    }
    // "Lamp 3" is one of several lamps; "port 8081" and "iOS 16" are values of one thing.
    let is_alone = suffix.is_empty() && unit_after(tokens, at).is_empty();
    if is_alone && at > 0 && !tokens[at - 1].is_name && counts_things(before) {
        return None;
    }
    let unit = if suffix.is_empty() { unit_after(tokens, at) } else { suffix.to_owned() };
    Some((Kind::Number(unit), digits.replace([',', '_'], "")))
}

/// Says whether a number after the word tells which one of several is meant.
fn counts_things(word: &str) -> bool {
    let is_word = word.chars().all(char::is_alphabetic);
    is_word && !is_stop_word(word) && !is_plain(word) && !is_change(word) && !is_measured(word)
}

/// Returns the unit that follows a number: the next word, if it is a small one of measure.
fn unit_after(tokens: &[Token], at: usize) -> String {
    let next = tokens.get(at + 1).map_or("", |token| token.lower.as_str());
    let is_unit = next.chars().all(char::is_alphabetic) && !is_stop_word(next) && !is_plain(next);
    if is_unit { stems(next).pop().unwrap_or_default() } else { String::new() }
}

fn is_day(word: &str) -> bool {
    let parts: Vec<&str> = word.split(['-', '.', '/']).filter(|part| !part.is_empty()).collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_year = parts.iter().any(|part| part.len() == 4);
    (2..=3).contains(&parts.len())
        && parts.iter().all(is_number)
        && (has_year && !(parts.len() == 2 && word.contains('.')))
}

fn is_clock(word: &str) -> bool {
    let Some((hours, minutes)) = word.split_once(':') else { return false };
    let is_number = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    is_number(hours) && is_number(minutes.get(..2).unwrap_or(minutes))
}

fn is_dotted(word: &str) -> bool {
    let number = word.split(['-', '+']).next().unwrap_or(word);
    let mut parts = number.split('.');
    number.contains('.')
        && parts.all(|part| {
            (!part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit())) || part == "x"
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let saying = Saying::of(text);
        let words: Vec<&str> = saying.words.keys().map(String::as_str).collect();
        let values: Vec<String> =
            saying.values.iter().map(|(kind, values)| format!("{kind:?}={values:?}")).collect();
        format!("{} | {}", words.join(" "), values.join(" "))
    }

    #[test]
    fn what_can_change_is_told_from_what_is_named() {
        assert_eq!(
            shown("The billing service listens on port 8081."),
            "bill port servic | Number(\"\")={\"8081\"}"
        );
        assert_eq!(
            shown("Deploys go out every Tuesday at 10:30"),
            "deploy | Clock={\"10:30\"} Weekday={\"tuesday\"}"
        );
        assert_eq!(shown("Uploads are limited to 50 MB"), "limit mb upload | Number(\"mb\")={\"50\"}");
        assert_eq!(shown("axum 0.7 until 2026-03-05"), "axum | Day={\"2026-03-05\"} Version={\"0.7\"}");
    }

    #[test]
    fn a_numbered_thing_is_a_name() {
        for text in ["Sprint 14 closes with shard 2", "Lamp 3 is on loan", "the light in hall 2"] {
            let saying = Saying::of(text);
            assert!(saying.values.is_empty(), "{:?}", saying.values);
        }
        assert!(!Saying::of("the app needs iOS 16").values.is_empty());
        assert_eq!(shown("the web build needs Node 18"), "build node web | Version={\"18\"}");
        assert!(Saying::of("the backup is made on node 3").values.is_empty());
    }

    #[test]
    fn what_is_denied_is_known() {
        let saying = Saying::of("CI moved from Jenkins to GitHub Actions");
        assert_eq!(saying.denied.into_iter().collect::<Vec<_>>(), ["jenkin"]);
        assert!(saying.tells_change && !saying.is_negated);
        let saying = Saying::of("CI runs on Buildkite, no longer on Jenkins");
        assert_eq!(saying.denied.into_iter().collect::<Vec<_>>(), ["jenkin"]);
    }
}
