//! Takes a sentence apart into words and the other things people write between them.
//!
//! A code span, a path, a URL or a version is one token, so that what stands inside them is never taken for a word of
//! the sentence.

use std::ops::Range;

use super::kind::{Kind, kind_of, kind_of_code};
use super::language::is_hangul;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// The text, in lower case, without the marks of a code span.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// Where it stands in the sentence.
    pub(super) range: Range<usize>,
    /// Whether it begins with a capital.
    pub(super) capital: bool,
}

/// Takes a text apart.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let end = if first.is_whitespace() || matches!(first, '*' | '\u{200b}') {
            at + first.len_utf8()
        } else if first == '`' {
            span(text, at, &mut found)
        } else {
            chunk(text, at, &mut found)
        };
        at = end;
    }
    found
}

/// Reads a code span; a back-tick that nothing closes is a mark.
fn span(text: &str, at: usize, found: &mut Vec<Token>) -> usize {
    let n_ticks = text[at..].bytes().take_while(|byte| *byte == b'`').count();
    let open = at + n_ticks;
    let Some(length) = text[open..].find(&text[at..open]) else {
        push(found, text, at..open, Kind::Mark);
        return open;
    };
    let inner = text[open..open + length].trim();
    let end = open + length + n_ticks;
    let kind = match kind_of_code(inner) {
        Kind::Word if inner.contains(char::is_whitespace) => Kind::Command,
        Kind::Word => Kind::Identifier,
        kind => kind,
    };
    found.push(Token { text: inner.to_lowercase(), kind, range: at..end, capital: false });
    end
}

/// Reads up to the next space: marks around it, and what they surround.
fn chunk(text: &str, at: usize, found: &mut Vec<Token>) -> usize {
    let length = text[at..].find(|c: char| c.is_whitespace() || c == '`').unwrap_or(text.len() - at);
    let mut range = at..at + length;
    let leading =
        |c: char| !c.is_alphanumeric() && !matches!(c, '#' | '/' | '.' | '@' | '_' | '~' | '$' | '%');
    while let Some(c) = text[range.clone()].chars().next().filter(|c| leading(*c)) {
        push(found, text, range.start..range.start + c.len_utf8(), Kind::Mark);
        range.start += c.len_utf8();
    }
    let mut tail = Vec::new();
    let mut n_open = text[range.clone()].matches('(').count();
    while let Some(c) = text[range.clone()].chars().next_back().filter(|c| trails(*c, range.len(), n_open)) {
        tail.push(range.end - c.len_utf8()..range.end);
        range.end -= c.len_utf8();
        n_open -= usize::from(c == '(');
    }
    let is_ordinal = text[range.clone()].bytes().all(|byte| byte.is_ascii_digit()) && range.len() <= 2;
    if !range.is_empty() {
        inner(text, range, found);
    }
    // "am 12. Oktober": a full stop behind a short number ends a sentence only at the end of the text.
    if is_ordinal && at + length < text.trim_end().len() {
        tail.retain(|mark| &text[mark.clone()] != ".");
    }
    for mark in tail.into_iter().rev() {
        push(found, text, mark, Kind::Mark);
    }
    at + length
}

/// Says whether the last character of a chunk of so many bytes and open parentheses only stands behind it.
fn trails(c: char, length: usize, n_open: usize) -> bool {
    match c {
        '/' | '%' | '_' | '#' | '+' | '@' | '$' => length == c.len_utf8(),
        ')' => n_open == 0,
        _ => !c.is_alphanumeric(),
    }
}

/// Reads what stands between marks: one thing, or words joined by marks that do not belong to any.
fn inner(text: &str, range: Range<usize>, found: &mut Vec<Token>) {
    let chunk = &text[range.clone()];
    if let Some(ending) = korean_ending(chunk) {
        inner(text, range.start..range.start + ending, found);
        return word(text, range.start + ending..range.end, found);
    }
    let kind = kind_of(chunk);
    if kind != Kind::Word {
        return push(found, text, range, kind);
    }
    let mut start = range.start;
    for (at, c) in chunk.char_indices().map(|(at, c)| (range.start + at, c)) {
        if !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-' | '‑' | '%') {
            word(text, start..at, found);
            push(found, text, at..at + c.len_utf8(), Kind::Mark);
            start = at + c.len_utf8();
        }
    }
    word(text, start..range.end, found);
}

/// Finds where a Korean ending begins that is written onto a name in Latin letters: `parser.rs를`, `DB에`.
fn korean_ending(chunk: &str) -> Option<usize> {
    let named =
        chunk.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/' | '#' | '@' | '_'));
    let at = chunk.find(is_hangul).filter(|_| named)?;
    (at > 0 && chunk[..at].is_ascii() && chunk[at..].chars().all(is_hangul)).then_some(at)
}

fn word(text: &str, range: Range<usize>, found: &mut Vec<Token>) {
    if range.is_empty() {
        return;
    }
    let kind = kind_of(&text[range.clone()]);
    push(found, text, range, kind);
    if let Some((pronoun, verb)) = found.last().and_then(|token| contraction(&token.text)) {
        let whole = found.pop().expect("it was pushed above");
        found.push(Token { text: pronoun, ..whole.clone() });
        found.push(Token { text: verb.to_owned(), capital: false, ..whole });
    }
}

/// Takes `i'm`, `we've`, `it's` apart. What ends in `n't` stays whole: it is a negation as it is.
fn contraction(word: &str) -> Option<(String, &'static str)> {
    const PRONOUNS: &[&str] =
        &["i", "you", "he", "she", "it", "we", "they", "that", "there", "this", "who", "what", "let"];
    let (pronoun, rest) = word.split_once('\'')?;
    let verb = match (pronoun, rest) {
        ("let", "s") => "us",
        (_, "m") => "am",
        (_, "s") => "is",
        (_, "re") => "are",
        (_, "ve") => "have",
        (_, "ll") => "will",
        (_, "d") => "would",
        _ => return None,
    };
    PRONOUNS.contains(&pronoun).then(|| (pronoun.to_owned(), verb))
}

fn push(found: &mut Vec<Token>, text: &str, range: Range<usize>, kind: Kind) {
    let source = &text[range.clone()];
    let capital = source.chars().next().is_some_and(char::is_uppercase);
    found.push(Token { text: source.to_lowercase().replace('’', "'"), kind, range, capital });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(String, Kind)> {
        tokens(text).into_iter().map(|token| (token.text, token.kind)).collect()
    }

    #[test]
    fn what_is_no_word_is_one_token() {
        for (text, kind) in [
            ("src/api/mod.rs", Kind::Path),
            ("docs/", Kind::Path),
            ("foo.rs", Kind::Path),
            (".env", Kind::Path),
            ("load_config()", Kind::Identifier),
            ("UserService", Kind::Identifier),
            ("GitHub", Kind::Word),
            ("`make lint`", Kind::Command),
            ("https://x.example/a?b=c", Kind::Url),
            ("grafana.internal/d/api", Kind::Url),
            ("a@b.example", Kind::Url),
            ("https://x.example/a/commit/4f2a9c1", Kind::Commit),
            ("4f2a9c1", Kind::Commit),
            ("#12", Kind::Ticket),
            ("INGEST-42", Kind::Ticket),
            ("#team-data", Kind::Channel),
            ("2026-03-05", Kind::Day),
            ("v1.2.3", Kind::Number),
            ("60%", Kind::Number),
        ] {
            let found = tokens(text);
            assert_eq!(found.iter().map(|token| token.kind).collect::<Vec<_>>(), [kind], "{text}");
        }
    }

    #[test]
    fn contractions_and_korean_endings_come_apart() {
        let texts = |text| kinds(text).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        assert_eq!(texts("I'm sure we’ve won’t"), ["i", "am", "sure", "we", "have", "won't"]);
        assert_eq!(texts("parser.rs를 고친다."), ["parser.rs", "를", "고친다", "."]);
    }
}
