//! The control sequences of terminals: colours, cursor moves, titles and links, raw or as escapes write them.
//!
//! A colour sequence ends in a letter, so it hides the beginning of the token behind it from every rule that asks for a
//! word's. Tools colour what they print, and what they print ends up in JSON, in logs and in memories.

/// The longest string that a sequence may carry, such as a title or the address of a link.
const MAX_CARRIED: usize = 400;
/// The most parameters of a sequence, in bytes.
const MAX_PARAMETERS: usize = 40;

/// How ESC is written where it is not a byte: behind one to four backslashes, as often as JSON was put into JSON.
const ESCAPES: &[&[u8]] = &[b"x1b", b"x1B", b"u001b", b"u001B", b"u{1b}", b"u{1B}", b"033", b"e", b"E"];
/// How the one-character form of `ESC [` is written.
const C1_ESCAPES: &[&[u8]] = &[b"x9b", b"x9B", b"u009b", b"u009B", b"233"];
const BELLS: &[&[u8]] = &[b"x07", b"u0007", b"007", b"a"];

/// Returns how long the sequence is that begins at `at`; `None` if none does.
pub(super) fn sequence_len(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    if let Some(len) = control_len(text, at) {
        return Some(len + parameters_len(&rest[len..])?);
    }
    let escape = escape_len(rest)?;
    let after = &rest[escape..];
    let len = match after.first()? {
        b'[' => 1 + parameters_len(&after[1..])?,
        b']' | b'P' | b'X' | b'^' | b'_' => 1 + carried_len(&after[1..])?,
        b' '..=b'/' => 1 + usize::from(after.get(1).is_some_and(|byte| (0x30..=0x7e).contains(byte))),
        // `\e` and `^[` are too short to be believed before just any letter.
        b'7' | b'8' | b'=' | b'>' | b'c' | b'D' | b'E' | b'H' | b'M' if rest[0] == 0x1b => 1,
        _ => return None,
    };
    Some(escape + len)
}

/// Reads ESC: the byte, `^[` as `cat -v` shows it, or an escape.
fn escape_len(rest: &[u8]) -> Option<usize> {
    match rest {
        [0x1b, ..] => Some(1),
        [b'^', b'[', ..] => Some(2),
        _ => escaped(rest, ESCAPES),
    }
}

/// Reads `ESC [` in one character: U+009B, its byte, or an escape.
fn control_len(text: &[u8], at: usize) -> Option<usize> {
    match &text[at..] {
        [0xC2, 0x9B, ..] => Some(2),
        // Inside of UTF-8 the byte is a part of a letter.
        [0x9B, ..] if at == 0 || text[at - 1].is_ascii() => Some(1),
        rest => escaped(rest, C1_ESCAPES),
    }
}

fn escaped(rest: &[u8], forms: &[&[u8]]) -> Option<usize> {
    let slashes = rest.iter().take(5).take_while(|byte| **byte == b'\\').count();
    if !(1..=4).contains(&slashes) {
        return None;
    }
    let form = forms.iter().find(|form| rest[slashes..].starts_with(form))?;
    Some(slashes + form.len())
}

/// Reads parameters and the letter that ends them.
fn parameters_len(rest: &[u8]) -> Option<usize> {
    let len = rest.iter().take(MAX_PARAMETERS).take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
    rest.get(len).is_some_and(|byte| (0x40..=0x7e).contains(byte)).then_some(len + 1)
}

/// Reads a string up to BEL or `ESC \`.
fn carried_len(rest: &[u8]) -> Option<usize> {
    (0..rest.len().min(MAX_CARRIED)).find_map(|at| Some(at + end_len(&rest[at..])?))
}

fn end_len(rest: &[u8]) -> Option<usize> {
    match rest {
        [0x07, ..] => return Some(1),
        [0xC2, 0x9C, ..] => return Some(2),
        _ => {}
    }
    if let Some(bell) = escaped(rest, BELLS) {
        return Some(bell);
    }
    let escape = escape_len(rest)?;
    let slashes = rest[escape..].iter().take(4).take_while(|byte| **byte == b'\\').count();
    (slashes > 0).then_some(escape + slashes)
}

#[cfg(test)]
mod tests {
    use super::sequence_len;

    #[test]
    fn sequences_of_terminals_are_read_whole() {
        for sequence in [
            "\x1b[32m",
            "\x1b[K",
            "\x1b[38;5;208m",
            "\x1b[0m",
            "\x1b]0;title\x07",
            "\x1b]8;;https://a.b\x1b\\",
            "\u{9b}1m",
            "\\x1b[32m",
            "\\u001b[01;31m",
            "\\\\u001b[K",
            "\\033[1m",
            "\\e[0m",
            "^[[32m",
            "\\u009b1m",
            "\\x1b]0;t\\x07",
            "\x1b(B",
            "\x1b7",
        ] {
            assert_eq!(sequence_len(sequence.as_bytes(), 0), Some(sequence.len()), "{sequence:?}");
        }
        for text in ["\\example", "^[a-z]", "\\e", "plain", "雛m", "\\n[x]"] {
            assert_eq!(sequence_len(text.as_bytes(), 0), None, "{text:?}");
        }
    }
}
