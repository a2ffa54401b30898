//! The parts of a markdown text that are not prose: code, addresses, links, short quotations.
//!
//! Dates in them belong to somebody else: a fence is a program's text, a path is a name. They are found in one pass
//! per kind of mark, never looking back.

use std::ops::Range;

/// Quotations up to this many words name a thing; longer ones are somebody's sentence.
const QUOTED_NAME: usize = 2;
/// So far we look for the other end of a quotation, in bytes.
const LONGEST_QUOTATION: usize = 80;
/// So far we look for the other end of anything else. Without a bound, a line of opening brackets would be read once
/// for each of them.
const LONGEST_SPAN: usize = 400;

/// Finds what is not prose, sorted, apart from each other.
pub(super) fn shielded(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut fence: Option<(char, usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let marker = fence_marker(line);
        match (fence, marker) {
            (Some((c, len, start)), Some((end, n, true))) if end == c && n >= len => {
                found.push(start..at + line.trim_end().len());
                fence = None;
            }
            (None, Some((c, n, _))) => fence = Some((c, n, at)),
            (Some(_), _) => {}
            (None, None) => shield_line(line, at, &mut found),
        }
        at += line.len();
    }
    if let Some((_, _, start)) = fence {
        found.push(start..text.len());
    }
    found
}

/// Reads the marks that begin or end a fence: which, how many, and whether nothing follows them.
fn fence_marker(line: &str) -> Option<(char, usize, bool)> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let c = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(c);
    let n = line.len() - rest.len();
    (n >= 3 && !rest.contains('`')).then(|| (c, n, rest.trim().is_empty()))
}

fn shield_line(line: &str, at: usize, found: &mut Vec<Range<usize>>) {
    let mut i = 0;
    while let Some(step) = line[i..].find(STARTS) {
        i += step;
        let rest = &line[i..];
        let len = shield_at(rest, line[..i].chars().next_back());
        if let Some(len) = len {
            found.push(at + i..at + i + len);
            i += len;
        } else {
            i += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
}

const STARTS: [char; 14] = ['`', '[', ']', '<', '"', '\'', '“', '‘', '„', '«', '‚', '「', ':', '{'];

/// Measures what is shielded at the beginning of `rest`, given the character before it.
fn shield_at(rest: &str, before: Option<char>) -> Option<usize> {
    let rest = head(rest, LONGEST_SPAN);
    match rest.chars().next()? {
        '`' => {
            let ticks = rest.len() - rest.trim_start_matches('`').len();
            let close = rest[ticks..].find(&rest[..ticks])?;
            Some(close + 2 * ticks)
        }
        '[' => rest.strip_prefix("[[")?.find("]]").map(|close| close + 4),
        ']' => rest.strip_prefix("](")?.find(')').map(|close| close + 3),
        '<' if rest[1..].starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '!')) => {
            rest.find('>').map(|close| close + 1)
        }
        '{' => rest.find('}').map(|close| close + 1),
        ':' => {
            rest.strip_prefix("://").map(|address| 3 + address.find(is_address_end).unwrap_or(address.len()))
        }
        '\'' if before.is_some_and(char::is_alphanumeric) => None,
        '"' | '\'' | '“' | '‘' | '„' | '«' | '‚' | '「' => quoted_name(rest),
        _ => None,
    }
}

fn is_address_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, ')' | '>' | '"' | '\'' | '`')
}

/// Measures a quotation that is a name: of few words, or of several that all begin with a capital.
fn quoted_name(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices();
    let (_, open) = chars.next()?;
    let closes: &[char] = match open {
        '“' => &['”'],
        '„' => &['“', '”'],
        '‘' => &['’'],
        '‚' => &['‘'],
        '«' => &['»'],
        '「' => &['」'],
        _ => std::slice::from_ref(if open == '"' { &'"' } else { &'\'' }),
    };
    let start = open.len_utf8();
    let close = closing(&head(rest, LONGEST_QUOTATION)[start..], closes)?;
    let inside = &rest[start..start + close];
    let n_words = inside.split_whitespace().count();
    let is_title = inside
        .split_whitespace()
        .all(|word| word.chars().count() < 4 || word.starts_with(char::is_uppercase));
    let is_name = n_words <= QUOTED_NAME || is_title && n_words <= 2 * QUOTED_NAME + 2;
    let close_len = rest[start + close..].chars().next().map_or(0, char::len_utf8);
    is_name.then_some(start + close + close_len)
}

/// Finds the mark that closes a quotation; one inside a word is an apostrophe.
fn closing(text: &str, closes: &[char]) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let inside_word = c == '\'' && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if closes.contains(&c) && !inside_word {
            return Some(at);
        }
    }
    None
}

/// The beginning of a text, at most `limit` bytes.
fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
