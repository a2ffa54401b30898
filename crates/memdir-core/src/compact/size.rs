//! How large a text is: tokens are estimated as a quarter of the characters of the JSON.
//!
//! Everything is counted as it will be printed, escapes too, so that what fits by count fits in fact.

/// Without a tokenizer, a token is as many characters.
pub const CHARS_A_TOKEN: usize = 4;

/// Returns the tokens of a JSON text.
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(CHARS_A_TOKEN)
}

/// Returns how many characters a text takes inside of a JSON string.
pub(super) fn cost(text: &str) -> usize {
    text.chars().map(char_cost).sum()
}

fn char_cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// Returns the longest beginning of a text that takes at most `room` characters inside of a JSON string.
pub(super) fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += char_cost(*c);
        used > room
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Returns the longest end of a text that takes at most `room` characters inside of a JSON string.
pub(super) fn tail(text: &str, room: usize) -> &str {
    let mut used = 0;
    let start = text.char_indices().rev().find(|(_, c)| {
        used += char_cost(*c);
        used > room
    });
    &text[start.map_or(0, |(at, c)| at + c.len_utf8())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_costs_what_it_takes_when_it_is_printed() {
        for text in ["", "plain", "\"quoted\\\"\n\t\u{1}", "é한😀\u{7f}\u{2028}"] {
            let printed = serde_json::to_string(text).unwrap();
            assert_eq!(cost(text) + 2, printed.chars().count(), "{printed}");
        }
    }

    #[test]
    fn a_cut_text_costs_no_more_than_it_may() {
        let text = "a\n\"é\u{1}한b";
        for room in 0..=cost(text) + 1 {
            assert!(cost(head(text, room)) <= room && cost(tail(text, room)) <= room);
            assert!(text.starts_with(head(text, room)) && text.ends_with(tail(text, room)));
        }
        assert_eq!((head(text, 99), tail(text, 99)), (text, text));
    }
}
