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
    let agrees = has(&sentence.lower, table("has to agree"));
    if !(if agrees { is_stated(sentence) } else { is_told_of_others(sentence) }) {
        return false;
    }
    let verbs = table(if agrees { "has to agree" } else { "answers for" });
    let verbs = verbs.iter().filter_map(|verb| Some((find(&sentence.lower, verb)?, verb.len())));
    let Some((at, length)) = verbs.min() else { return false };
    let n_behind = sentence.lower[at + length..].split_whitespace().count();
    let ends_so = has(&sentence.lower, table("answers for, behind"));
    (n_behind >= 1 || ends_so) && names_somebody(sentence, at)
}

/// Says whether what stands before a verb at `end` is a person or a team, perhaps by a pronoun for who was just named.
fn names_somebody(sentence: &Sentence, end: usize) -> bool {
    let before = &sentence.lower[..end];
    let clause_at = before.rfind([',', ';', '(']).map_or(0, |at| at + 1);
    let subject = without_interjections(&before[clause_at..]).trim();
    let is_pronoun = ["she", "he", "they", "sie", "er"].contains(&subject);
    let is_short = subject.split_whitespace().count() <= 5;
    let has_name = |from: usize| {
        let is_same_length = sentence.lower.len() == sentence.text.len();
        let named = sentence.text.get(from..end).filter(|_| is_same_length).unwrap_or_default();
        without_interjections(named).split_whitespace().take(8).any(is_name)
    };
    is_pronoun && has_name(0)
        || is_short
            && (has(subject, table("somebody"))
                || has_name(clause_at) && !begins(subject, table("determiners")))
}

/// A name begins with a capital and goes on in small letters.
fn is_name(word: &str) -> bool {
    let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
    letters.starts_with(char::is_uppercase) && letters.chars().skip(1).any(char::is_lowercase)
}

/// Says whether a sentence tells what others were promised: "answers within 300 ms, that is in the contract".
pub(super) fn tells_promise(sentence: &Sentence) -> bool {
    let is_bound = has(&sentence.lower, table("obligations")) && has(&sentence.lower, table("specified"));
    is_bound && is_stated(sentence) && !sentence.shows(&["ban", "please", "imperative"])
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

/// Says whether a sentence tells at which address something is: "error budgets are on https://…".
pub(super) fn tells_address(sentence: &Sentence) -> bool {
    let at = ["https://", "http://"].iter().filter_map(|scheme| sentence.lower.find(scheme)).min();
    let Some(before) = at.map(|at| sentence.lower[..at].trim_end_matches([' ', ':', '<', '('])) else {
        return false;
    };
    let names_it = |words: &&str| {
        before.strip_suffix(*words).is_some_and(|subject| {
            subject.ends_with(' ') && without_interjections(subject).split_whitespace().next().is_some()
        })
    };
    is_stated(sentence) && table("is at").iter().any(names_it)
}

/// Says whether a sentence tells what a team does and why: "we pin node to 20 because the runtime has no 22".
pub(super) fn tells_choice(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let verb = said.split_whitespace().nth(1).unwrap_or_default();
    begins(said, table("team does"))
        && !begins(said, table("team is about to"))
        && (!verb.ends_with("ed") || verb == "need")
        && has(&sentence.lower, table("because"))
        && is_told_of_others(sentence)
}

/// Says whether somebody tells how much they know of something: "shipped React for years, never touched Svelte".
pub(super) fn tells_experience(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let first_clause = said.split([',', ';']).next().unwrap_or(said);
    let is_of_one_thing = has(first_clause, &["this", "that", "these", "it", "das", "diese", "diesen"]);
    begins(said, table("i forms"))
        && !begins(said, table("wish"))
        && has(first_clause, table("experience"))
        && !is_of_one_thing
}

/// Says whether a sentence states something of others that holds: no order, no wish, no report of what was done, no
/// specification of what is being built.
fn is_told_of_others(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let first_clause = said.split([',', ';']).next().unwrap_or(said);
    is_stated(sentence) && !has(first_clause, table("specified"))
}

/// Says whether a sentence states something of others, be it how it is or how it has to be.
fn is_stated(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let is_of_task = [table("task"), table("wish"), table("asking"), table("not told of others")];
    let is_passing = sentence.shows(&["doing right now", "this session", "undecided", "doubt"]);
    let first_clause = said.split([',', ';']).next().unwrap_or(said);
    let is_told = !is_passing && !sentence.reading.is_question();
    is_told && !is_of_task.iter().any(|words| begins(said, words)) && !asks_for_work(first_clause)
}
