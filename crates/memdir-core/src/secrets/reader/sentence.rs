//! The words of a sentence around a name, and those that tie a value to it.

use std::ops::Range;

/// The longest token that is read whole.
const MAX_TOKEN: usize = 1_000;

/// A token of a sentence, without what surrounds it.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) span: Range<usize>,
    pub(super) quoted: bool,
    pub(super) ends_sentence: bool,
}

/// Words that say "here comes the value".
pub(super) fn is_connector(word: &[u8]) -> bool {
    const CONNECTORS: &[&str] = &[
        "is", "was", "are", "be", "becomes", "remains", "equals", "to", "as", "=", ":", "->", "→", "-", "–",
        "—", "use", "uses", "using", "used", "paste", "enter", "type", "lautet", "ist", "war", "heißt",
        "sei", "auf", "mit", "nutze", "nutzen", "nehmen", "est", "es", "/", "with", "set", "that's", "it's",
        "namely", "say", "says", "called",
    ];
    CONNECTORS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word)) || word.ends_with(b":")
}

/// Words that leave no doubt that a quoted word is the value.
pub(super) fn states(word: &[u8]) -> bool {
    const STATING: &[&str] =
        &["is", "was", "to", "=", ":", "lautet", "ist", "war", "auf", "equals", "becomes", "remains"];
    STATING.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word)) || word.ends_with(b":")
}

/// Words that say "what came before is it".
pub(super) fn is_back_connector(word: &[u8]) -> bool {
    const CONNECTORS: &[&str] = &["is", "as", "was", "=", "ist", "als", "being", "(", "—", "-"];
    CONNECTORS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// Words that may stand between "is" and the value.
pub(super) fn is_adverb(word: &[u8]) -> bool {
    const ADVERBS: &[&str] = &[
        "now",
        "currently",
        "still",
        "just",
        "simply",
        "literally",
        "always",
        "the",
        "a",
        "following",
        "again",
        "set",
        "changed",
        "jetzt",
        "aktuell",
        "noch",
        "einfach",
        "nun",
        "same",
        "probably",
        "temporarily",
        "today",
        "actually",
        "geändert",
        "gesetzt",
        "현재",
        "지금",
        "이제",
    ];
    ADVERBS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// Cuts a line into tokens: what white space separates, less the quotes and brackets around it.
pub(super) fn pieces(text: &[u8], start: usize, len: usize) -> Vec<Piece> {
    let end = text.len().min(start + len);
    let end = text[start..end].iter().position(|byte| *byte == b'\n').map_or(end, |n| start + n);
    // A token that the limit would cut is read whole.
    let cut = text[end..].iter().take(MAX_TOKEN).take_while(|byte| is_solid(**byte)).count();
    let end = end + cut;
    let mut pieces = Vec::new();
    let mut at = start;
    while at < end {
        if !is_solid(text[at]) {
            at += utf8_len(text[at]);
            continue;
        }
        let len = text[at..end].iter().take_while(|byte| is_solid(**byte)).count();
        pieces.extend(trimmed(text, at..at + len));
        at += len;
    }
    pieces
}

fn utf8_len(byte: u8) -> usize {
    usize::from(byte.is_ascii()).max(1)
}

/// Says whether a byte belongs to a token; tokens are ASCII, so scripts around them end them.
fn is_solid(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'|'
}

fn trimmed(text: &[u8], span: Range<usize>) -> Option<Piece> {
    const OPENING: &[u8] = b"\"'`([{<*";
    const CLOSING: &[u8] = b"\"'`)]}>*.,;:";
    let (mut start, mut end) = (span.start, span.end);
    while start < end && OPENING.contains(&text[start]) {
        start += 1;
    }
    let mut ends_sentence = false;
    while end > start && CLOSING.contains(&text[end - 1]) {
        // A colon alone is a word of its own.
        if text[end - 1] == b':' && end == span.end && end - start > 1 {
            break;
        }
        ends_sentence |= text[end - 1] == b'.';
        end -= 1;
    }
    if start == end {
        (start, end) = (span.start, span.end);
    }
    let first = text[span.start];
    let quoted = start > span.start && matches!(first, b'"' | b'\'' | b'`') && end < span.end;
    Some(Piece { span: start..end, quoted, ends_sentence })
}
