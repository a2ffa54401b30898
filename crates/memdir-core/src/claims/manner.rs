//! How a sentence speaks of what it names: as there, as gone, or as something that may be.
//!
//! "`src/old.rs` was removed" is still true when the file is missing, and "we will add `src/new.rs`" is no promise that
//! it is there. Few words tell; a sentence without them speaks of what is.

use std::ops::Range;

/// How a sentence speaks of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It is there.
    Present,
    /// It may be: a plan or an example.
    Possible,
    /// It is not there any more.
    Gone,
}

/// Bytes on each side that are looked at: a longer sentence is cut.
const MAX_SENTENCE: usize = 300;
/// Words and phrases of sentences about what is gone.
const GONE: [&str; 29] = [
    "removed",
    "deleted",
    "dropped",
    "gone",
    "formerly",
    "previously",
    "obsolete",
    "retired",
    "abandoned",
    "replaced",
    "renamed",
    "superseded",
    "reverted",
    "no longer",
    "used to ",
    "does not exist",
    "doesn't exist",
    "got rid of",
    "instead of",
    "rather than",
    "moved from",
    "moved to",
    "migrated from",
    "entfernt",
    "gelöscht",
    "ersetzt",
    "삭제",
    "제거",
    "대신",
];
/// The same for plans and examples.
const POSSIBLE: [&str; 15] = [
    "will ",
    "planned",
    "plan to",
    "todo",
    "to be ",
    "would ",
    "could ",
    "create ",
    "add ",
    "for example",
    "for instance",
    "e.g.",
    "such as",
    "z.b.",
    "예를 들어",
];
/// Words that deny what follows.
const NO: [&str; 10] =
    ["not", "never", "don't", "doesn't", "avoid", "without", "no", "nicht", "kein", "statt"];

/// Says how the sentence around `span` speaks.
pub(super) fn manner(text: &str, span: &Range<usize>) -> Manner {
    let sentence = sentence(text, span).to_lowercase();
    let has = |cues: &[&str]| cues.iter().any(|cue| begins_word(&sentence, cue));
    if has(&GONE) {
        Manner::Gone
    } else if has(&POSSIBLE) || is_denied(text, span.start) {
        Manner::Possible
    } else {
        Manner::Present
    }
}

/// Says whether one of the three words before is a no: "never `x`", "do not use `x`".
fn is_denied(text: &str, at: usize) -> bool {
    let before = text[text.floor_char_boundary(at.saturating_sub(40))..at].to_lowercase();
    let before = before.rsplit(['.', ',', ';', '\n']).next().unwrap_or_default();
    before
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .rev()
        .filter(|word| !word.is_empty())
        .take(3)
        .any(|word| NO.contains(&word))
}

/// Returns the sentence around `span`, as far as full stops and line breaks tell.
pub(super) fn sentence<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    let first = text.floor_char_boundary(span.start.saturating_sub(MAX_SENTENCE));
    let last = text.floor_char_boundary(span.end.saturating_add(MAX_SENTENCE).min(text.len()));
    let bytes = text.as_bytes();
    let is_end = |at: usize| match bytes[at] {
        b'\n' | b';' => true,
        // "e.g. this" is one sentence.
        b'.' if at >= 2 && bytes[at - 2] == b'.' => false,
        b'.' | b'!' | b'?' => bytes.get(at + 1).is_none_or(|next| matches!(next, b' ' | b'\n')),
        _ => false,
    };
    // Ends are ASCII, so that what they cut is text.
    let start = (first..span.start).rev().find(|at| is_end(*at)).map_or(first, |at| at + 1);
    let end = (span.end..last).find(|at| is_end(*at)).unwrap_or(last);
    &text[start..end]
}

/// Says whether `cue` stands in the text as a word of its own, and not inside a path or a name.
fn begins_word(text: &str, cue: &str) -> bool {
    // Words of other scripts are written together.
    if !cue.is_ascii() {
        return text.contains(cue);
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-' | '.');
    let goes_on =
        |rest: &str| rest.starts_with(['_', '/']) || rest.starts_with('.') && rest[1..].starts_with(is_name);
    text.match_indices(cue).any(|(at, _)| !text[..at].ends_with(is_name) && !goes_on(&text[at + cue.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_tells_whether_it_speaks_of_what_is() {
        for (text, expected) in [
            ("Handlers live in X today.", Manner::Present),
            ("We removed X in March.", Manner::Gone),
            ("X is no longer built. Ask first.", Manner::Gone),
            ("We will write X next.", Manner::Possible),
            ("That was removed. X stays.", Manner::Present),
            ("X stays.\nThe other was deleted.", Manner::Present),
            ("`src/removed/list.rs` and X belong together", Manner::Present),
            ("Such files, e.g. X here, are fine.", Manner::Possible),
            ("Run it, never use X here.", Manner::Possible),
            ("Not in a hurry: all of it is in X.", Manner::Present),
            ("X wurde entfernt", Manner::Gone),
            ("X는 삭제되었다", Manner::Gone),
        ] {
            let at = text.find('X').unwrap();
            assert_eq!(manner(text, &(at..at + 1)), expected, "{text}");
        }
    }
}
