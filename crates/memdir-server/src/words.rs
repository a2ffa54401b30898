//! What a memory is found by on a server: the terms of its text, as words that any full-text index can take.
//!
//! The terms are those of recall (stems, names from code taken apart, scripts without spaces, English beside other languages),
//! each printed as the 16 hex digits of its number. So every database finds the same, and its index holds no readable word.

use std::collections::HashSet;

use memdir_core::terms;

/// How many different words a question may have; more say nothing new.
const MAX_ASKED: usize = 32;

/// Returns the words of a text, one for each occurrence, with single spaces between.
pub fn of_text(text: &str) -> String {
    let mut words = String::new();
    terms::each_term(text, |term, _| {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&format!("{:016x}", term.value()));
    });
    words
}

/// Returns the words of a question, each once, in their order.
pub fn of_question(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    terms::each_term(text, |term, _| {
        if words.len() < MAX_ASKED && seen.insert(term) {
            words.push(format!("{:016x}", term.value()));
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shares_words_with_the_text_that_answers_it() {
        let text = of_text("Integration tests use a real database.");
        let asked = of_question("which databases do the tests use");
        assert!(asked.iter().any(|word| text.split(' ').any(|other| other == word)), "{text} {asked:?}");
        let other = of_question("kubernetes");
        assert!(!other.iter().any(|word| text.contains(word.as_str())));
    }

    #[test]
    fn no_word_can_be_read_and_no_question_grows_without_end() {
        let text = of_text("secretword and others");
        assert!(text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b' '), "{text}");
        let long: String = (0..1_000).map(|n| format!("word{n} ")).collect();
        assert_eq!(of_question(&long).len(), MAX_ASKED);
    }
}
