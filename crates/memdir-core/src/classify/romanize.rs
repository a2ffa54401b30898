//! Latin letters for Korean and German words, so that names stay plain.

const INITIALS: [&str; 19] =
    ["g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s", "ss", "", "j", "jj", "ch", "k", "t", "p", "h"];
const VOWELS: [&str; 21] = [
    "a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae", "oe", "yo", "u", "wo", "we", "wi",
    "yu", "eu", "ui", "i",
];
const FINALS: [&str; 28] = [
    "", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "l", "l", "l", "p", "l", "m", "p", "p", "t", "t",
    "ng", "t", "t", "k", "t", "p", "t",
];

/// Writes a word in plain Latin letters: Korean by Revised Romanization, syllable by syllable, umlauts as two letters.
/// What has no such form is left out.
pub(super) fn romanize(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).map(letters).collect()
}

fn letters(c: char) -> String {
    match c {
        'a'..='z' | '0'..='9' | '-' => c.to_string(),
        'ä' => "ae".to_owned(),
        'ö' => "oe".to_owned(),
        'ü' => "ue".to_owned(),
        'ß' => "ss".to_owned(),
        '\u{ac00}'..='\u{d7a3}' => {
            let at = (u32::from(c) - 0xac00) as usize;
            format!("{}{}{}", INITIALS[at / 588], VOWELS[at % 588 / 28], FINALS[at % 28])
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_plain_letters() {
        for (word, plain) in [
            ("Größe", "groesse"),
            ("한국", "hanguk"),
            ("배포", "baepo"),
            ("결제", "gyeolje"),
            ("PR", "pr"),
            ("日本", ""),
        ] {
            assert_eq!(romanize(word), plain, "{word}");
        }
    }
}
