//! What the shape of a sentence tells where its words do not: an order with its reason, and where things are kept.
//!
//! "Write boring code, we have many juniors" is a rule because it gives a reason that outlives the task; "results go into
//! Foobar" is a pointer whatever Foobar is. Such shapes are found by the words that hold them together.

use super::sentence::Sentence;
use super::words::{begins, find, has, table, without_interjections};

/// What parts an order from its reason.
const MARKS: [&str; 6] = [", ", " - ", " – ", " — ", "; ", " ("];
/// What leads from a reason to an order.
const THEREFORE: [&str; 7] =
    [", so ", " so please ", ", therefore ", ", also bitte ", ", deshalb ", ", daher ", ", hence "];

/// Returns the parts of a sentence of the shape "reason, so order", as ranges of its lower case: reason and order.
pub(super) fn therefore(sentence: &Sentence) -> Option<(usize, usize)> {
    let lower = &sentence.lower;
    THEREFORE.iter().find_map(|word| lower.find(word).map(|at| (at, at + word.len())))
}

/// Says whether a sentence of the shape "order, reason" gives a reason: behind a mark somebody or something else is spoken of.
pub(super) fn ends_with_reason(lower: &str) -> bool {
    let tails =
        MARKS.iter().flat_map(|mark| lower.match_indices(mark).map(|(at, mark)| &lower[at + mark.len()..]));
    tails.filter(|tail| tail.split_whitespace().count() >= 3).any(is_stated_of_others)
}

/// Says whether a clause tells something of us, our users or how things are, rather than what to do.
fn is_stated_of_others(clause: &str) -> bool {
    let head: Vec<&str> = clause.split_whitespace().take(6).collect();
    let head = head.join(" ");
    begins(clause, table("reasons")) || has(&head, table("others")) && !begins(clause, table("task"))
}

/// Says whether an order is about one thing at hand: "add a button", "fix the parser", "move it".
pub(super) fn is_one_off(lower: &str) -> bool {
    let said = without_interjections(lower);
    let mut words = said.split_whitespace();
    let verb = words.next().unwrap_or_default();
    let next = words.next().unwrap_or_default();
    begins(verb, table("task")) && table("determiners").contains(&next.trim_matches([',', '.']))
}

/// Says whether work is asked for somewhere in a sentence: "it hangs, add some logging".
pub(super) fn asks_for_work(lower: &str) -> bool {
    let clauses = lower.split([',', ';', ':']).flat_map(|part| part.split(" - "));
    clauses.map(|clause| without_interjections(clause.trim())).any(|clause| begins(clause, table("task")))
}

/// Says whether a sentence tells where things are kept outside of the project: "results go into Foobar".
pub(super) fn tells_where_kept(sentence: &Sentence) -> bool {
    let is_inside =
        sentence.shows(&["path", "several paths", "name from code"]) && !names_share(&sentence.text);
    let is_kept = has(&sentence.lower, table("kept things"));
    if is_inside || !is_kept || sentence.shows(&["imperative", "question", "duty"]) {
        return false;
    }
    let place =
        table("kept in").iter().find_map(|words| find(&sentence.lower, words).map(|at| at + words.len()));
    let names_place =
        |at: usize| sentence.lower.len() == sentence.text.len() && names_place(&sentence.text[at..]);
    place.is_some_and(|at| names_place(at) || sentence.shows(&["outside system", "address", "channel"]))
}

fn names_share(text: &str) -> bool {
    text.contains("\\\\") || text.contains("://")
}

/// Says whether a place has a name: capitals, quotation marks, an address, or a word for a place outside.
fn names_place(text: &str) -> bool {
    let is_name = |word: &str| {
        let word = word.trim_start_matches(['"', '“', '„', '(', '\'']);
        word.starts_with(char::is_uppercase)
    };
    text.split_whitespace().take(8).any(is_name)
        || names_share(text)
        || has(&text.to_lowercase(), table("places outside"))
}
