//! What the learned weights look at: words, their beginnings and endings, neighbours, and the shape of what is no word.
//!
//! Names, numbers, paths and links are reduced to their kind, so that a weight says something about language and not
//! about one project. Korean words are taken apart into pairs of syllables, because an ending carries the grammar.

use crate::korean::is_syllable;

/// Letters of a long word that stand for its stem.
const STEM: usize = 5;
/// Words after which a text says nothing new about its manner.
const MAX_WORDS: usize = 400;

/// One thing to weigh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feature {
    /// A sign that a table of the statement module knows.
    Sign(String),
    /// A word, a part of one, or the kind of what is no word.
    Word(String),
}

impl Feature {
    /// Returns its name.
    pub fn name(&self) -> &str {
        let (Self::Sign(name) | Self::Word(name)) = self;
        name
    }

    /// Says whether people can make something of its name: a sign or a whole word.
    pub(super) fn is_told(&self) -> bool {
        self.name().starts_with("sign ") || self.name().starts_with("w ")
    }

    /// Returns its name for people.
    pub(super) fn told(&self) -> &str {
        self.name().split_once(' ').map_or(self.name(), |(_, told)| told)
    }
}

/// Returns the features of a text in which these signs were seen.
pub fn features(text: &str, signs: &[&str]) -> Vec<Feature> {
    let mut features: Vec<Feature> = signs.iter().map(|sign| Feature::Sign(format!("sign {sign}"))).collect();
    for Token { word, opens } in tokens(text).into_iter().take(MAX_WORDS) {
        let mut send = |kind: &str, part: &str| features.push(Feature::Word(format!("{kind} {part}")));
        send("w", &word);
        if opens {
            send("^", &word);
        }
        parts(&word, &mut send);
    }
    features
}

/// Sends the parts of one word.
fn parts(word: &str, send: &mut impl FnMut(&str, &str)) {
    let letters: Vec<char> = word.chars().collect();
    let text = |letters: &[char]| letters.iter().collect::<String>();
    if letters.iter().any(|letter| is_syllable(*letter)) {
        letters.windows(2).for_each(|pair| send("k", &text(pair)));
        for n in 1..=3.min(letters.len()) {
            send("ke", &text(&letters[letters.len() - n..]));
        }
    } else if letters.len() > STEM && letters[0].is_alphabetic() {
        send("s", &text(&letters[..STEM]));
    }
}

/// A word in lower case, or the kind of what is no word.
struct Token {
    word: String,
    /// It begins a sentence, a line or a list item.
    opens: bool,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
            if in_fence {
                tokens.push(Token { word: "<fence>".to_owned(), opens: true });
            }
            continue;
        }
        if !in_fence {
            line_tokens(line, &mut tokens);
        }
    }
    tokens
}

fn line_tokens(line: &str, tokens: &mut Vec<Token>) {
    let mut opens = true;
    let mut rest = line.trim();
    if let Some(item) = rest.strip_prefix("- ").or_else(|| rest.strip_prefix("* ")) {
        tokens.push(Token { word: "<item>".to_owned(), opens: true });
        rest = item;
    }
    while !rest.is_empty() {
        let (piece, is_code, tail) = next_piece(rest);
        rest = tail.trim_start();
        let ends = |piece: &str| piece.ends_with(['.', '!', '?', ':', ';', '。']);
        let bare =
            piece.trim_matches(|letter: char| letter.is_ascii_punctuation() && !"#@/<>_".contains(letter));
        let word = match is_code {
            true => format!("<code {}>", kind_of_code(piece)),
            false if bare.is_empty() => piece.to_owned(),
            false => kind(bare).map_or_else(|| bare.to_lowercase(), str::to_owned),
        };
        let closes = rest.is_empty() || (!is_code && ends(piece));
        if !is_code && piece.ends_with('?') {
            tokens.push(Token { word: "<?>".to_owned(), opens: false });
        }
        tokens.push(Token { word, opens });
        opens = closes;
    }
}

/// Splits off the next word or code span.
fn next_piece(rest: &str) -> (&str, bool, &str) {
    if let Some(code) = rest.strip_prefix('`')
        && let Some(end) = code.find('`')
    {
        return (&code[..end], true, &code[end + 1..]);
    }
    let end = rest.find(|letter: char| letter.is_whitespace()).unwrap_or(rest.len());
    let end = rest[..end].char_indices().skip(1).find(|(_, letter)| *letter == '`').map_or(end, |(at, _)| at);
    (&rest[..end], false, &rest[end..])
}

/// Returns the kind of a word that is no word of a language.
fn kind(word: &str) -> Option<&'static str> {
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    if word.contains("://") || word.starts_with("www.") {
        return Some("<url>");
    }
    if word.starts_with('#') && n_digits > 0 {
        return Some("<ref>");
    }
    if word.starts_with('@') && word.len() > 1 {
        return Some("<at>");
    }
    if word.starts_with("[[") {
        return Some("<link>");
    }
    if is_date(word) {
        return Some("<date>");
    }
    if word.contains('/') && word.len() > 3 || has_extension(word) {
        return Some("<path>");
    }
    if n_digits > 0 && word.bytes().all(|byte| byte.is_ascii_digit() || b".,:%-+xv~".contains(&byte)) {
        return Some(if word.ends_with('%') { "<percent>" } else { "<num>" });
    }
    if n_digits >= 2 && word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some("<hash>");
    }
    is_identifier(word).then_some("<ident>")
}

fn kind_of_code(code: &str) -> &'static str {
    match () {
        () if code.contains(' ') => "words",
        () if code.ends_with(')') => "call",
        () if code.contains('/') || has_extension(code) => "path",
        () if code.starts_with('-') => "flag",
        () => "name",
    }
}

fn is_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 10
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[5..7].iter().all(u8::is_ascii_digit)
}

/// Says whether a word ends like a file name.
fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.len() > 1
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_lowercase())
            && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
    })
}

/// Says whether a word is a name from code: `snake_case`, `camelCase`, `Two::Parts`.
fn is_identifier(word: &str) -> bool {
    let inner_capital =
        word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    word.is_ascii()
        && (word.contains("::") || word[1..].contains('_') || inner_capital || word.ends_with("()"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let shown: Vec<String> =
            features(text, &[]).iter().map(|feature| feature.name().to_owned()).collect();
        expected.assert_eq(&shown.join(" | "));
    }

    #[test]
    fn names_are_reduced_to_their_kind() {
        check(
            "Merged #12 into src/api.",
            expect!["w merged | ^ merged | s merge | w <ref> | w into | w <path>"],
        );
        check(
            "`run_all()` calls parseConfig",
            expect!["w <code call> | ^ <code call> | w calls | w <ident>"],
        );
    }

    #[test]
    fn korean_words_are_taken_apart() {
        check(
            "배포했다.",
            expect!["w 배포했다 | ^ 배포했다 | k 배포 | k 포했 | k 했다 | ke 다 | ke 했다 | ke 포했다"],
        );
    }
}
