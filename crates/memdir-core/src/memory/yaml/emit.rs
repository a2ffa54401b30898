//! Writes scalars so that every YAML reader gets the same text back.
//!
//! We write two kinds: plain, where no reader can mistake it for something else, and double-quoted, on one line.

use std::borrow::Cow;

/// Where a scalar is going to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// After `key: ` or `- `.
    Block,
    /// The same, in a field that other readers expect to be a date or a truth value.
    Typed,
    /// Between brackets, where commas have a meaning.
    Flow,
}

/// Writes `text` plain if that is safe, else in double quotes.
pub(crate) fn scalar(text: &str, place: Place) -> Cow<'_, str> {
    let plain = is_plain(text)
        && (place == Place::Typed || !reads_as_other_type(text))
        && (place != Place::Flow || !text.contains([',', '[', ']', '{', '}', ':']));
    match plain {
        true => Cow::Borrowed(text),
        false => Cow::Owned(double_quoted(text)),
    }
}

fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let indicator = "-?:,[]{}#&*!|>'\"%@`~=<".contains(first);
    !indicator
        && !text.starts_with("...")
        && !text.starts_with(' ')
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(['#', '"', '\''])
        && !text.contains(needs_escape)
}

/// Characters that a single line of YAML cannot show, or that a reader may take for a line break.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Says whether some YAML reader takes the plain text for a truth value, nothing, a number or a date.
fn reads_as_other_type(text: &str) -> bool {
    const WORDS: [&str; 11] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", ".inf", ".nan"];
    if WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return true;
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    is_number(unsigned) || is_date(text)
}

/// Decimal, hexadecimal, octal and binary numbers, floats with exponent, and base-60 times of older readers.
fn is_number(text: &str) -> bool {
    if let Some(digits) = ["0x", "0o", "0b"].iter().find_map(|prefix| text.strip_prefix(prefix)) {
        return digits.chars().all(|c| c.is_ascii_hexdigit() || c == '_');
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent = exponent.trim_start_matches(['+', '-']);
    mantissa.contains(|c: char| c.is_ascii_digit())
        && mantissa.chars().all(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | ':'))
        && !exponent.is_empty()
        && exponent.chars().all(|c| c.is_ascii_digit())
}

/// `2026-04-01`, whatever follows it.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-'
}

fn double_quoted(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if needs_escape(c) => {
                // Writing into a string cannot fail.
                let _ = match u32::from(c) {
                    code @ ..0x100 => write!(out, "\\x{code:02x}"),
                    code => write!(out, "\\u{code:04x}"),
                };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_mistaken_is_quoted() {
        let table = [
            ("plain words", "plain words"),
            ("한국어 🙂", "한국어 🙂"),
            ("a:b, [c] - d", "a:b, [c] - d"),
            ("https://example.org/x?y=z", "https://example.org/x?y=z"),
            ("v1.2 of 2026", "v1.2 of 2026"),
            ("5da15695-411e-4859-a37b-b739ede023ae", "5da15695-411e-4859-a37b-b739ede023ae"),
            ("", r#""""#),
            (" a", r#"" a""#),
            ("a ", r#""a ""#),
            ("see #412", r#""see #412""#),
            ("C#", r#""C#""#),
            ("rule: always", r#""rule: always""#),
            ("ends:", r#""ends:""#),
            ("it's", r#""it's""#),
            ("say \"hi\" \\o/", r#""say \"hi\" \\o/""#),
            ("- item", r#""- item""#),
            ("@team", r#""@team""#),
            ("true", r#""true""#),
            ("No", r#""No""#),
            ("~", r#""~""#),
            ("010", r#""010""#),
            ("1.10", r#""1.10""#),
            ("0x1F", r#""0x1F""#),
            ("1e3", r#""1e3""#),
            ("12:30:45", r#""12:30:45""#),
            ("2026-04-01", r#""2026-04-01""#),
            ("2026-04-01 by human:ann", r#""2026-04-01 by human:ann""#),
            ("a\nb\tc", r#""a\nb\tc""#),
            ("\u{1b}[31m\u{85}\u{2028}", r#""\x1b[31m\x85\u2028""#),
        ];
        for (text, written) in table {
            assert_eq!(scalar(text, Place::Block), written, "{text:?}");
        }
        assert_eq!(scalar("2026-04-01T10:30:00Z", Place::Typed), "2026-04-01T10:30:00Z");
        assert_eq!(scalar("true", Place::Typed), "true");
        assert_eq!(scalar("a,b", Place::Flow), r#""a,b""#);
    }
}
