//! Finds words that somebody is said to have said.
//!
//! A model that quotes may break lines elsewhere, straighten quotation marks or change the case of a letter. That much is
//! forgiven; anything else is not a quote. What is found is the place in the text as it stands.

use std::ops::Range;

use jiff::civil::Date;
use memdir_core::transcript::Role;
use serde::{Deserialize, Serialize};

/// Something that was said in the session that is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// By whom.
    pub role: Role,
    /// On which day, for the user, if that is known: "on Thursday" means another one a week later.
    pub day: Option<Date>,
    /// In which words, without what was injected.
    pub text: String,
}

/// A quote of fewer letters and digits is found in anything.
const MIN_LETTERS: usize = 6;
/// The same where a letter is a syllable or a word.
const MIN_UNSPACED: usize = 3;

/// Finds a quote in a text.
pub fn find_quote(text: &str, quote: &str) -> Option<Range<usize>> {
    let quote: String = folded(quote.trim()).into_iter().map(|(_, c)| c).collect();
    if !is_long_enough(&quote) {
        return None;
    }
    let folded = folded(text);
    let flat: String = folded.iter().map(|(_, c)| *c).collect();
    let at = flat.find(&quote)?;
    let first = flat[..at].chars().count();
    let last = first + quote.chars().count() - 1;
    let (start, end) = (folded.get(first)?.0, folded.get(last)?.0);
    let end = end + text[end..].chars().next().map_or(0, char::len_utf8);
    Some(start..end)
}

fn is_long_enough(quote: &str) -> bool {
    let letters = || quote.chars().filter(|c| c.is_alphanumeric());
    letters().count() >= MIN_LETTERS
        || letters().filter(|c| memdir_core::text::is_unspaced(*c) || is_hangul(*c)).count() >= MIN_UNSPACED
}

fn is_hangul(c: char) -> bool {
    ('\u{ac00}'..='\u{d7a3}').contains(&c)
}

/// Returns each character as it is compared, with the place of the one it stands for. Runs of space are one.
fn folded(text: &str) -> Vec<(usize, char)> {
    let mut out: Vec<(usize, char)> = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let c = match c {
            '‘' | '’' | '‚' | '`' | '´' => '\'',
            '“' | '”' | '„' | '«' | '»' => '"',
            '–' | '—' | '‐' | '‑' => '-',
            c if c.is_whitespace() => ' ',
            // One character for one, so that places stay what they are.
            c => c.to_lowercase().next().unwrap_or(c),
        };
        if c != ' ' || out.last().is_none_or(|(_, last)| *last != ' ') {
            out.push((at, c));
        }
    }
    out
}

/// Says whether a place of a message is something that was pasted into it: in a fence, or in quoted lines.
pub fn is_pasted(text: &str, place: &Range<usize>) -> bool {
    let touched = lines(text).filter(|(line, _)| line.start < place.end && place.start < line.end);
    touched.into_iter().all(|(_, is_pasted)| is_pasted)
}

/// Returns a message without what was pasted into it.
pub fn own_words(text: &str) -> String {
    lines(text).filter(|(_, is_pasted)| !is_pasted).map(|(line, _)| &text[line]).collect()
}

/// Returns each line's place, and whether it was pasted.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut in_fence = false;
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = line.trim_start();
        let is_fence = start.starts_with("```") || start.starts_with("~~~");
        let is_pasted = in_fence || is_fence || start.starts_with('>');
        in_fence ^= is_fence;
        at += line.len();
        (at - line.len()..at, is_pasted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_found_where_it_stands() {
        let text = "No — don’t  mock\nthe Database here.\nÄrgerlich!";
        let found = find_quote(text, "don't mock the database").unwrap();
        assert_eq!(&text[found], "don’t  mock\nthe Database");
        assert_eq!(&text[find_quote(text, " ärgerlich! ").unwrap()], "Ärgerlich!");
        assert_eq!(find_quote(text, "don't mock the network"), None);
    }

    #[test]
    fn what_is_too_short_to_mean_anything_is_no_quote() {
        assert_eq!(find_quote("the tests are the thing", "the"), None);
        assert_eq!(find_quote("the tests", ""), None);
        assert_eq!(find_quote("the tests", "   "), None);
        assert!(find_quote("네, 목 객체는 쓰지 마세요", "쓰지 마세요").is_some());
        assert!(find_quote("はい、モックは禁止です", "モックは禁止").is_some());
    }

    #[test]
    fn fences_and_quoted_lines_are_pasted() {
        let text = "look at this:\n```\nalways use the mirror\n```\n> remember the mirror\nI never use it";
        let pasted = |quote| is_pasted(text, &find_quote(text, quote).unwrap());
        assert!(pasted("always use the mirror"));
        assert!(pasted("remember the mirror"));
        assert!(!pasted("I never use it"));
        assert!(!pasted("remember the mirror\nI never use it"));
    }
}
