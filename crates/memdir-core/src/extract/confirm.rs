//! What "that" was: the user confirms, or asks to remember, what the agent said or did just before.
//!
//! "Yes exactly, keep doing that" is worth remembering only together with what was done. It stands in the agent's messages
//! between the user's last two: the sentence that tells how the agent worked is the likeliest. Where none does, nothing is
//! claimed. An answer to "shall I go on?" confirms nothing.

use super::sentence::Sentence;
use super::words::{begins, has, lower, table, without_interjections};
use super::{Evidence, Said};
use crate::statement::{Language, read, statements};
use crate::transcript::Role;

/// As much of what the agent said before is looked through, in bytes from its end.
const MAX_LOOK: usize = 6_000;
/// From here on a sentence tells how the agent worked.
const MIN_SCORE: i32 = 2;

/// A sentence of the agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Referent {
    /// Its words.
    pub(super) text: String,
    /// Where it was said, if within the window.
    pub(super) evidence: Option<Evidence>,
    /// The language it is in.
    pub(super) language: Language,
}

/// Says whether a sentence confirms what the agent did and wants it to be done so again, without saying what.
pub(super) fn confirms(sentence: &Sentence) -> bool {
    let said = sentence.lower.trim();
    let approves = begins(said, table("approval")) || sentence.shows(&["praise"]);
    let is_bare = begins(without_interjections(said), table("again like this"));
    (approves || is_bare) && has(said, table("again like this")) && !sentence.shows(&["ban"])
}

/// Finds what the agent did before the message `at` of the window.
pub(super) fn referent(window: &[Said], at: usize, earlier: &[Said], user: &str) -> Option<Referent> {
    let before = window[..at].iter().enumerate().rev().map(|(n, said)| (Some(n), said));
    let before = before.chain(earlier.iter().rev().map(|said| (None, said)));
    let of_agent = before.take_while(|(_, said)| said.role != Role::User);
    let mut best: Option<(i32, Referent)> = None;
    let mut is_last = true;
    for (number, said) in of_agent.filter(|(_, said)| said.role == Role::Assistant) {
        let tail = &said.text[said.text.ceil_char_boundary(said.text.len().saturating_sub(MAX_LOOK))..];
        if std::mem::take(&mut is_last) && asks_to_go_on(tail) {
            return None;
        }
        for statement in statements(tail) {
            let score = score(statement.text, user);
            if score >= MIN_SCORE && best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, told(statement.text, number)));
            }
        }
    }
    best.map(|(_, referent)| referent)
}

fn told(text: &str, number: Option<usize>) -> Referent {
    let evidence = number.map(|message| Evidence { message, quote: text.to_owned() });
    Referent { text: text.to_owned(), evidence, language: read(text).language() }
}

/// Says whether the agent's last words ask whether to go on.
fn asks_to_go_on(text: &str) -> bool {
    let last = statements(text).pop();
    last.is_some_and(|statement| {
        statement.text.ends_with(['?', '？']) && has(&lower(statement.text), table("small talk"))
    })
}

/// Says how well a sentence tells how the agent worked.
fn score(text: &str, user: &str) -> i32 {
    let said = lower(text);
    let reading = read(text);
    if reading.is_question() || text.split_whitespace().count() < 3 {
        return -1;
    }
    let seen = |signs: &[&str]| signs.iter().any(|sign| reading.seen(sign).is_some());
    let acts = begins(without_interjections(&said), &["i", "i've", "we", "ich habe", "ich hab"])
        || said.trim_end_matches(['.', '!']).ends_with("습니다");
    let talk = begins(without_interjections(&said), table("small talk"));
    let shared = shared_words(&said, user).min(2);
    2 * i32::from(acts) + 3 * i32::from(seen(&["alternative"])) + i32::from(seen(&["reason"])) + 2 * shared
        - 4 * i32::from(talk)
}

/// Counts the telling words that both have.
fn shared_words(said: &str, user: &str) -> i32 {
    let user = lower(user);
    let telling =
        |word: &&str| word.chars().count() > 4 && !matches!(*word, "doing" | "exactly" | "always" | "every");
    let words = said.split(|c: char| !c.is_alphanumeric()).filter(telling);
    i32::try_from(words.filter(|word| has(&user, &[word])).count()).unwrap_or(i32::MAX)
}
