//! Facts that nobody writes into code and that are told in passing: who answers for what, what happens in a rhythm, and
//! which channel things are told in.
//!
//! They are found by the shape of the sentence: a subject that is a person, a team or a thing, and a verb that holds today
//! and tomorrow. What somebody wants done, did or is about to do has another shape and is none of them.

use super::sentence::Sentence;
use super::shape::asks_for_work;
use super::words::{begins, find, has, table, without_interjections};

/// Says whether a sentence names who answers for a part: "Priya owns billing", "the data team runs the warehouse".
pub(super) fn tells_who_answers(sentence: &Sentence) -> bool {
    if !is_told_of_others(sentence) {
        return false;
    }
    let verb =
        table("answers for").iter().filter_map(|verb| Some((find(&sentence.lower, verb)?, verb.len())));
    let Some((at, length)) = verb.min() else { return false };
    let (before, behind) = (&sentence.lower[..at], &sentence.lower[at + length..]);
    let n_words = |text: &str| text.split_whitespace().count();
    let is_subject = n_words(without_interjections(before)) <= 5 && names_somebody(sentence, at);
    let is_korean = has(&sentence.lower, table("answers for, behind"));
    is_subject && (n_words(behind) >= 1 || is_korean) && n_words(before) >= 1
}

/// Says whether the text before `end` names a person or a team.
fn names_somebody(sentence: &Sentence, end: usize) -> bool {
    if sentence.lower.len() != sentence.text.len() {
        return has(&sentence.lower, table("somebody"));
    }
    let Some(before) = sentence.text.get(..end) else { return false };
    let subject = without_interjections(before);
    let is_name = |word: &str| {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        letters.starts_with(char::is_uppercase) && letters.chars().skip(1).any(char::is_lowercase)
    };
    // What begins with a capital may only begin the sentence; a name has a verb right behind it.
    let n_words = subject.split_whitespace().count();
    subject.split_whitespace().any(is_name) && n_words <= 3 || has(&sentence.lower[..end], table("somebody"))
}

/// Says whether a sentence tells what happens again and again: "keys rotate on the 1st", "staging is wiped every Sunday".
pub(super) fn tells_rhythm(sentence: &Sentence) -> bool {
    let is_inside = sentence.shows(&["path", "several paths", "name from code"]);
    let has_subject =
        sentence.text.split_whitespace().count() >= 5 || sentence.text.chars().any(crate::text::is_unspaced);
    is_told_of_others(sentence) && !is_inside && has_subject && has(&sentence.lower, table("rhythm"))
}

/// Says whether a sentence tells what a channel is for: "incidents get posted in #eng-incidents".
pub(super) fn tells_channel(sentence: &Sentence) -> bool {
    let is_habit = has(&sentence.lower, table("habit of a channel"));
    sentence.shows(&["channel"]) && is_habit && is_told_of_others(sentence)
}

/// Says whether a sentence states something of others that holds: no order, no wish, no report of what was done, no
/// specification of what is being built.
fn is_told_of_others(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let is_of_task = [table("task"), table("wish"), table("asking"), table("not told of others")];
    let is_passing = sentence.shows(&["doing right now", "this session", "undecided", "doubt"]);
    let first_clause = said.split([',', ';']).next().unwrap_or(said);
    !is_passing
        && !sentence.reading.is_question()
        && !is_of_task.iter().any(|words| begins(said, words))
        && !asks_for_work(first_clause)
        && !has(first_clause, table("specified"))
}
