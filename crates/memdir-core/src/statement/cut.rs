//! Cuts running text where a sentence ends.
//!
//! One place for documents and for chat. They differ in three things, which [`Writing`] names: what ends a sentence, what
//! is an abbreviation, and whether a small letter may begin the next one. Each full stop is looked at with the few letters
//! before it and never with the whole text, so a megabyte without a space costs what a megabyte of prose costs.

use std::ops::Range;

/// How a text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// With capitals and full stops.
    Document,
    /// In a hurry: no capital after a full stop, a semicolon or dots where one would be.
    Chat,
}

/// Longest word before a full stop that is looked up, in characters: no abbreviation is longer.
const MAX_ABBREVIATION: usize = 8;

/// Abbreviations that a full stop belongs to.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "approx", "dr", "mr", "ms", "mrs", "z.b", "d.h", "bzw", "ca", "nr",
    "usw", "u.a", "ggf", "evtl", "inkl", "bspw", "vgl", "max", "min", "incl", "resp", "sog", "mio",
];
/// In chat "no." answers.
const IN_DOCUMENTS: &[&str] = &["no", "st"];
/// In documents a capital behind the name of a month begins a sentence.
const IN_CHAT: &[&str] = &[
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez", "a.m",
    "p.m",
];

impl Writing {
    fn is_mark(self, c: char) -> bool {
        match self {
            Self::Document => matches!(c, '.' | '!' | '?' | '。'),
            Self::Chat => matches!(c, '.' | '!' | '?' | '。' | ';' | '…' | '！' | '？'),
        }
    }

    fn abbreviations(self) -> &'static [&'static str] {
        match self {
            Self::Document => IN_DOCUMENTS,
            Self::Chat => IN_CHAT,
        }
    }
}

/// Cuts a part of a text into sentences, without the space around them.
pub(crate) fn cut(text: &str, within: Range<usize>, writing: Writing) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = within.start;
    let (mut in_code, mut in_quotes) = (false, false);
    for (at, c) in text[within.clone()].char_indices().map(|(at, c)| (within.start + at, c)) {
        in_code ^= c == '`';
        in_quotes ^= c == '"' && writing == Writing::Chat;
        let end = at + c.len_utf8();
        let may_end = !in_code && !in_quotes && writing.is_mark(c);
        if may_end && ends_sentence(&text[start..end], &text[end..within.end], writing) {
            found.extend(trimmed(text, start..end));
            start = end;
        }
    }
    found.extend(trimmed(text, start..within.end));
    found
}

/// Returns a range without the space around it, if it holds a letter or a digit.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let sentence = &text[range.clone()];
    let start = range.start + (sentence.len() - sentence.trim_start().len());
    let end = start + sentence.trim().len();
    sentence.contains(char::is_alphanumeric).then_some(start..end)
}

/// Says whether a mark ends a sentence: not in a number, in an abbreviation, or in a document before a small letter.
fn ends_sentence(before: &str, after: &str, writing: Writing) -> bool {
    let is_set_off = |c: char| c.is_whitespace() || matches!(c, '*' | '"' | ')' | '”');
    if !after.starts_with(|c| is_set_off(c) || c == '“' && writing == Writing::Document) {
        return false;
    }
    let Some(body) = before.strip_suffix('.') else { return true };
    if short_word_at_end(body).is_some_and(|word| is_abbreviation(&word, writing)) {
        return false;
    }
    let next = after.trim_start().trim_start_matches(['*', '"', '(', '„', '“', '_', '[']).chars().next();
    writing == Writing::Chat || next.is_none_or(|c| !c.is_lowercase())
}

/// Returns the last word of a text in lower case, unless it is longer than any abbreviation.
fn short_word_at_end(text: &str) -> Option<String> {
    let letters = text.char_indices().rev().take_while(|(_, c)| !c.is_whitespace());
    let mut start = text.len();
    for (n, (at, _)) in letters.enumerate() {
        if n == MAX_ABBREVIATION {
            return None;
        }
        start = at;
    }
    Some(text[start..].trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
}

/// "e.g", "3" of "am 3. Mai", "b" of "plan b": a full stop behind it may belong to it.
fn is_abbreviation(word: &str, writing: Writing) -> bool {
    let is_ordinal = (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut letters = word.chars();
    let is_alone =
        |c: char| if writing == Writing::Chat { c.is_ascii_alphabetic() } else { c.is_alphabetic() };
    let is_letter = letters.next().is_some_and(is_alone) && letters.next().is_none();
    is_ordinal || is_letter || ABBREVIATIONS.contains(&word) || writing.abbreviations().contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, writing: Writing) -> Vec<&str> {
        cut(text, 0..text.len(), writing).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_full_stop_ends_a_sentence_where_its_writer_meant_it() {
        let text = "Use e.g. tabs. they align; spaces drift. No. 3 is v1.2. Ok";
        let document = ["Use e.g. tabs. they align; spaces drift.", "No. 3 is v1.2.", "Ok"];
        assert_eq!(parts(text, Writing::Document), document);
        let chat = ["Use e.g. tabs.", "they align;", "spaces drift.", "No.", "3 is v1.2.", "Ok"];
        assert_eq!(parts(text, Writing::Chat), chat);
    }

    #[test]
    fn code_and_quotation_marks_hold_a_sentence_together() {
        assert_eq!(parts("run `a. b` now. Then rest", Writing::Document), ["run `a. b` now.", "Then rest"]);
        assert_eq!(parts("he said \"stop. now.\" twice", Writing::Chat), ["he said \"stop. now.\" twice"]);
    }

    /// A word of any length before a full stop is looked at by its last letters.
    #[test]
    fn only_the_end_of_a_word_is_looked_at() {
        assert_eq!(short_word_at_end("see e.g"), Some("e.g".to_owned()));
        assert_eq!(short_word_at_end("abcdefgh"), Some("abcdefgh".to_owned()));
        assert_eq!(short_word_at_end("abcdefghi"), None);
        assert_eq!(short_word_at_end(""), Some(String::new()));
        let long = ".*a".repeat(10_000);
        assert_eq!(parts(&long, Writing::Document), [long.as_str()]);
    }
}
