//! Text for people: made visible, cut to a width, and times in words.
//!
//! A memory is untrusted bytes. Printed as it is, it could move the cursor, rename the window, fill the clipboard
//! or show its words in another order than they stand in the file. [`visible_line`] and [`visible_block`] show
//! such characters as escapes instead of obeying them; ordinary writing in any script, and emoji, pass untouched.
//! Nothing here decides what is printed; whoever prints passes everything it did not write itself through here.

use std::borrow::Cow;
use std::fmt::Write;

use jiff::Timestamp;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Shows `text` on one line: every control or invisible character, line breaks and tabs too, becomes an escape.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Shows `text` as a block: like [`visible_line`], but line feeds and tabs keep their effect.
pub fn visible_block(text: &str) -> Cow<'_, str> {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// Finds the characters that [`visible_line`] would escape, with their offsets in bytes.
pub fn hidden_characters(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut flag_end = 0;
    text.char_indices().filter(move |&(at, c)| {
        let end = at + c.len_utf8();
        if c == BLACK_FLAG {
            flag_end = end + region_tag_len(&text[end..]);
        }
        end > flag_end && is_hidden(c, &text[..at], &text[end..])
    })
}

/// Cuts `text` to at most `columns` terminal columns; `…` stands for what was cut off.
///
/// Widths are those of printable text, so escape first and cut then.
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(1) else { return Cow::Borrowed("") };
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        used += c.width().unwrap_or(1);
        (used > room).then_some(at)
    });
    let end = cluster_start(text, end.unwrap_or(text.len()));
    Cow::Owned(format!("{}…", &text[..end]))
}

/// Returns the lines of `text` that fit into `limit` bytes, whole, with their ends.
pub fn whole_lines(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let room = &text[..text.floor_char_boundary(limit)];
    room.rfind('\n').map_or("", |end| &room[..=end])
}

/// Says whether a character belongs to a script whose words are not, or not reliably, told apart by spaces.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

/// Counts things in words: `1 memory`, `2 memories`.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Tells how long ago `from` was, in words; a time after `now` is "just now".
pub fn age(from: Timestamp, now: Timestamp) -> String {
    let minutes = seconds_between(from, now) / 60;
    let (hours, days) = (minutes / 60, minutes / (60 * 24));
    let (count, unit) = match (minutes, hours, days) {
        (0, ..) => return "just now".to_owned(),
        (_, 0, _) => (minutes, "minute"),
        (_, _, 0) => (hours, "hour"),
        (.., ..30) => (days, "day"),
        (.., ..365) => (days / 30, "month"),
        _ => (days / 365, "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// Counts the whole days from `from` to `now`; none if `from` lies in the future.
pub fn age_days(from: Timestamp, now: Timestamp) -> i64 {
    seconds_between(from, now) / (24 * 60 * 60)
}

/// A clock that was set back must not make anything older than it is, nor negative.
fn seconds_between(from: Timestamp, now: Timestamp) -> i64 {
    now.duration_since(from).as_secs().max(0)
}

/// Moves `at` back to where the character that people see begins: marks and joined emoji are not cut apart.
fn cluster_start(text: &str, mut at: usize) -> usize {
    while let Some(last) = text[..at].chars().next_back() {
        let continues = text[at..].chars().next().is_some_and(|next| next.width() == Some(0));
        if !continues && last != ZWJ {
            break;
        }
        at -= last.len_utf8();
    }
    at
}

fn escape(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Printable ASCII is nearly all we ever see, and it never needs a look at its neighbours.
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut copied = 0;
    for (at, c) in hidden_characters(text).filter(|&(_, c)| !keeps(c)) {
        shown.push_str(&text[copied..at]);
        push_escape(&mut shown, c);
        copied = at + c.len_utf8();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

fn push_escape(shown: &mut String, c: char) {
    let code = u32::from(c);
    let written =
        if code < 0x100 { write!(shown, "\\x{code:02x}") } else { write!(shown, "\\u{{{code:x}}}") };
    debug_assert!(written.is_ok(), "writing into a string cannot fail");
}

const BLACK_FLAG: char = '\u{1f3f4}';
const ZWNJ: char = '\u{200c}';
const ZWJ: char = '\u{200d}';
const EMOJI_STYLE: char = '\u{fe0f}';

/// Whether a terminal would obey `c`, or a reader would not see it.
fn is_hidden(c: char, before: &str, after: &str) -> bool {
    match c {
        _ if c.is_control() => true,
        ZWNJ | ZWJ => !joins(c, before, after),
        '\u{fe00}'..=EMOJI_STYLE => !last(before).is_some_and(|c| !is_hidden_anywhere(c) && !is_selector(c)),
        '\u{e0100}'..='\u{e01ef}' => !last(before).is_some_and(is_ideograph),
        _ => is_hidden_anywhere(c),
    }
}

fn is_hidden_anywhere(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
        || c.is_control()
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..=EMOJI_STYLE | '\u{e0100}'..='\u{e01ef}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A joiner is writing, not hiding, between two emoji and inside words of scripts that need it.
fn joins(c: char, before: &str, after: &str) -> bool {
    let (Some(previous), Some(next)) = (last(before.trim_end_matches(EMOJI_STYLE)), after.chars().next())
    else {
        return false;
    };
    let emoji = c == ZWJ && is_emoji(previous) && is_emoji(next);
    emoji || (is_joining_script(previous) && is_joining_script(next))
}

/// Approximates the pictographs that take part in joined emoji, skin tones included.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Arabic and its neighbours, and the scripts of India, where a joiner changes how a word is spelled.
fn is_joining_script(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{df3}') && !is_hidden_anywhere(c)
}

/// Returns the length of the tags that make a black flag the flag of a region such as Scotland, else 0.
///
/// A region code is short; a longer run of tags is a hidden message, not a flag.
fn region_tag_len(after: &str) -> usize {
    const CANCEL: char = '\u{e007f}';
    let is_code = |c: &char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let code: String = after.chars().take_while(is_code).collect();
    if !(3..=6).contains(&code.chars().count()) || !after[code.len()..].starts_with(CANCEL) {
        return 0;
    }
    code.len() + CANCEL.len_utf8()
}

fn last(text: &str) -> Option<char> {
    text.chars().next_back()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_instead() {
        for (text, shown) in [
            ("plain text", "plain text"),
            ("\x1b[31mred", r"\x1b[31mred"),
            ("\x1b]52;c;ZXZpbA==\x07", r"\x1b]52;c;ZXZpbA==\x07"),
            ("a\rb", r"a\x0db"),
            ("\u{9b}31m", r"\x9b31m"),
            ("a\x7f\0", r"a\x7f\x00"),
            ("a\nb\tc", r"a\x0ab\x09c"),
            ("user\u{202e}dm.txt", r"user\u{202e}dm.txt"),
            ("pass\u{200b}word", r"pass\u{200b}word"),
            ("a\u{200d}b", r"a\u{200d}b"),
            ("\u{e0041}\u{e0042}", r"\u{e0041}\u{e0042}"),
            ("\u{feff}bom", r"\u{feff}bom"),
            ("a\u{fe0f}\u{fe0f}", "a\u{fe0f}\\u{fe0f}"),
            ("a\u{e0101}", r"a\u{e0101}"),
            ("a\u{2028}b", r"a\u{2028}b"),
        ] {
            assert_eq!(visible_line(text), shown, "{text:?}");
        }
        assert_eq!(visible_block("a\n\tb\r\n\x1b"), "a\n\tb\\x0d\n\\x1b");
    }

    #[test]
    fn writing_of_any_script_and_emoji_pass() {
        for text in [
            "Grüße, 한국어, 日本語, עברית, العربية",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} Scotland",
            "👨‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 👩🏽‍💻",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "葛\u{e0100}城",
            "e\u{301}",
        ] {
            assert!(matches!(visible_line(text), Cow::Borrowed(_)), "{text}: {}", visible_line(text));
        }
    }

    #[test]
    fn a_flag_hides_no_message() {
        let open = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}";
        assert_eq!(visible_line(open), "\u{1f3f4}\\u{e0067}\\u{e0062}\\u{e0073}");
        let long = format!("\u{1f3f4}{}\u{e007f}", "\u{e0061}".repeat(7));
        assert_eq!(visible_line(&long).matches(r"\u{e0061}").count(), 7);
    }

    #[test]
    fn text_is_cut_by_columns() {
        for (text, columns, cut) in [
            ("hello", 5, "hello"),
            ("hello", 4, "hel…"),
            ("hello", 1, "…"),
            ("hello", 0, ""),
            ("", 0, ""),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("👨‍👩‍👧‍👦", 2, "👨‍👩‍👧‍👦"),
            ("👨‍👩‍👧‍👦 family", 5, "…"),
        ] {
            assert_eq!(fit(text, columns), cut, "{text} in {columns}");
        }
    }

    #[test]
    fn ages_are_words_and_never_negative() {
        let now: Timestamp = "2026-04-01T12:00:00Z".parse().unwrap();
        for (from, words, days) in [
            ("2026-04-01T12:00:00Z", "just now", 0),
            ("2026-04-01T11:59:01Z", "just now", 0),
            ("2027-04-01T12:00:00Z", "just now", 0),
            ("2026-04-01T11:59:00Z", "1 minute ago", 0),
            ("2026-04-01T11:55:00Z", "5 minutes ago", 0),
            ("2026-04-01T11:00:00Z", "1 hour ago", 0),
            ("2026-03-31T12:00:01Z", "23 hours ago", 0),
            ("2026-03-31T12:00:00Z", "1 day ago", 1),
            ("2026-03-29T12:00:00Z", "3 days ago", 3),
            ("2026-03-03T11:00:00Z", "29 days ago", 29),
            ("2026-03-02T11:00:00Z", "1 month ago", 30),
            ("2026-01-31T12:00:00Z", "2 months ago", 60),
            ("2025-04-02T12:00:00Z", "12 months ago", 364),
            ("2025-04-01T12:00:00Z", "1 year ago", 365),
            ("2023-04-01T12:00:00Z", "3 years ago", 1096),
        ] {
            let from: Timestamp = from.parse().unwrap();
            assert_eq!(age(from, now), words, "{from}");
            assert_eq!(age_days(from, now), days, "{from}");
        }
        assert_eq!(age(Timestamp::MIN, Timestamp::MAX), "20012 years ago");
        assert_eq!(age(Timestamp::MAX, Timestamp::MIN), "just now");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_and_escaping_twice_changes_nothing(text in any::<String>()) {
            let shown = visible_line(&text);
            prop_assert!(!shown.chars().any(char::is_control));
            prop_assert_eq!(visible_line(&shown), shown.as_ref());
        }

        #[test]
        fn what_was_cut_fits(text in "\\PC{0,40}", columns in 0usize..30) {
            prop_assert!(fit(&text, columns).width() <= columns);
        }
    }
}
