//! What a character is to the tokenizer.
//!
//! The classes are those of the tokenizer the table was trained with, which knows an older Unicode than the standard
//! library. They are therefore tables of our own (440 ranges, 3.5 KB) and not a crate: a newer table would split words
//! differently than in training.

mod ranges;

use ranges::{DROPPED, MARKS, PUNCTUATION};

/// Says whether a text is read as if this character were not there: control, format, private use.
pub(super) fn is_dropped(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    }
    contains(&DROPPED, c)
}

/// Says whether this is an accent that decomposition set free.
pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii() && contains(&MARKS, c)
}

/// Says whether this character is a word of its own. All ASCII symbols are, also those Unicode does not call
/// punctuation: `$ + < = > ^ ` | ~`.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    contains(&PUNCTUATION, c)
}

/// Says whether this is a Chinese character, written without blanks: each is a word of its own. Kana and hangul are
/// not among them.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF
        | 0x3400..=0x4DBF
        | 0x2_0000..=0x2_A6DF
        | 0x2_A700..=0x2_B73F
        | 0x2_B740..=0x2_B81F
        | 0x2_B920..=0x2_CEAF
        | 0xF900..=0xFAFF
        | 0x2_F800..=0x2_FA1F)
}

fn contains(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let after = ranges.partition_point(|&(first, _)| first <= code);
    after > 0 && code <= ranges[after - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted_and_apart() {
        for ranges in [&DROPPED[..], &MARKS[..], &PUNCTUATION[..]] {
            assert!(ranges.iter().all(|(first, last)| 127 < *first && first <= last));
            assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }

    #[test]
    fn no_character_is_in_two_classes() {
        for c in '\u{80}'..=char::MAX {
            let classes = [is_dropped(c), is_mark(c), is_punctuation(c), is_ideograph(c)];
            assert!(classes.iter().filter(|&&is| is).count() <= 1, "{c:?}: {classes:?}");
        }
    }

    #[test]
    fn the_ends_of_a_range_belong_to_it() {
        assert!(is_mark('\u{300}') && is_mark('\u{36f}') && !is_mark('\u{2ff}') && !is_mark('\u{370}'));
        assert!(is_dropped('\u{80}') && is_dropped('\u{9f}') && !is_dropped('\u{a0}'));
        assert!(is_punctuation('…') && is_punctuation('«') && !is_punctuation('€'));
    }
}
