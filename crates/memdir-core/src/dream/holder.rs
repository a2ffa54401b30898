//! Whose a role is, and where a thing is: of these there is one at a time, so another name is another answer.
//!
//! "On call for billing is Alex" and "… is Priya" differ in a name, as the sentences of two services do. What tells them
//! apart is the place of the name: it stands where the answer stands, after "is", after a colon, or before "owns", and
//! everything else that the two memories say is the same. Look at [`took_over`].

use std::collections::BTreeSet;

use super::saying::{Saying, stems};
use super::subject::{Subject, first_clause};
use super::words::{is_answer, is_beside, is_qualifier, is_role, is_site, weekday};

/// As many sentences of each memory are held against each other.
const MAX_SENTENCES: usize = 4;
/// No name has more words.
const MAX_NAME: usize = 3;
/// A sentence says at least so much beside the name.
const MIN_REST: usize = 3;
/// The newer memory may say so many words of its own, which name nothing.
const SLACK: usize = 2;

/// Says who took whose place, where that is all in which two memories differ.
pub(super) fn took_over(old: &Subject<'_>, new: &Subject<'_>) -> Option<String> {
    let pairs = old
        .sentences
        .iter()
        .take(MAX_SENTENCES)
        .flat_map(|one| new.sentences.iter().take(MAX_SENTENCES).map(move |other| (one, other)));
    // A person has a longer name in one sentence than in the next.
    let changed: Vec<(String, String)> =
        pairs.into_iter().filter_map(|(one, other)| changed_name(one, other)).collect();
    let longest = |names: Vec<&String>| names.into_iter().max_by_key(|name| name.len()).cloned();
    let gone = longest(changed.iter().map(|(gone, _)| gone).collect())?;
    let come = longest(changed.iter().map(|(_, come)| come).collect())?;
    let is_negated = old.facts.is_negated || new.facts.is_negated;
    let is_all = is_known_but(old, new, &gone, 0) && is_known_but(new, old, &come, SLACK);
    (is_all && !is_negated).then(|| format!("`{gone}` became `{come}`"))
}

/// Says whether one memory says nothing, but for a name, that the other does not know.
fn is_known_but(one: &Subject<'_>, other: &Subject<'_>, name: &str, slack: usize) -> bool {
    let name: BTreeSet<String> = name.split(' ').flat_map(|word| stems(&word.to_lowercase())).collect();
    let rest = |saying: &Saying| -> Vec<String> {
        let words = saying.words.keys().filter(|stem| !name.contains(*stem));
        words.filter(|stem| !super::compare::knows(&other.whole, stem)).cloned().collect()
    };
    let (facts, title) = (rest(&one.facts), rest(&one.title));
    let has_values = |kind| other.whole.values.contains_key(kind);
    facts.len() <= slack
        && title.len() <= 1
        && !facts.iter().any(|stem| one.facts.is_telling(stem))
        && !title.iter().any(|stem| one.title.is_telling(stem))
        && one.facts.values.iter().all(|(kind, values)| {
            !has_values(kind) || other.whole.values.get(kind).is_some_and(|others| values.is_subset(others))
        })
}

/// Finds the name that stands in one sentence where another stands in the other, if the place is that of an answer.
fn changed_name(old: &str, new: &str) -> Option<(String, String)> {
    let (old, new) = (words(old), words(new));
    let is_equal = |(a, b): &(&Word, &Word)| a.lower == b.lower;
    let before = old.iter().zip(&new).take_while(is_equal).count();
    let room = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(room).take_while(is_equal).count();
    let (gone, come) = (&old[before..old.len() - after], &new[before..new.len() - after]);
    let rest: Vec<&Word> = old[..before].iter().chain(&old[old.len() - after..]).collect();
    let are_names = [gone, come]
        .into_iter()
        .all(|name| (1..=MAX_NAME).contains(&name.len()) && name.iter().all(|word| word.is_name));
    let is_beside = old.iter().chain(&new).any(|word| is_beside(&word.lower));
    if !are_names || is_beside || rest.len() < MIN_REST {
        return None;
    }
    let has_role = rest.iter().any(|word| is_role(&word.lower));
    let last = before.checked_sub(1).map(|at| &old[at]);
    let is_after_answer = after == 0 && last.is_some_and(|word| word.ends || is_answer(&word.lower));
    let is_before_answer =
        before == 0 && old.get(gone.len()).is_some_and(|word| is_answer(&word.lower) || is_role(&word.lower));
    let is_role_holder = has_role && (is_after_answer || is_before_answer);
    let verb = before.checked_sub(2).map(|at| old[at].lower.as_str());
    let is_placed = last.is_some_and(|word| matches!(word.lower.as_str(), "in" | "at" | "bei"));
    let is_site = is_placed && verb.is_some_and(is_site);
    (is_role_holder || is_site).then(|| (shown(gone), shown(come)))
}

/// A word of a sentence, and whether it may be a name.
struct Word {
    text: String,
    lower: String,
    is_name: bool,
    /// Whether a colon follows.
    ends: bool,
}

fn words(sentence: &str) -> Vec<Word> {
    let word = |raw: &str| {
        let text = raw.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let lower = text.to_lowercase();
        let is_plain = text.chars().all(|c| c.is_alphabetic() || "-'’.".contains(c));
        let is_name = is_plain
            && text.starts_with(char::is_uppercase)
            && !is_qualifier(&lower)
            && weekday(&lower).is_none()
            && !crate::terms::is_stop_word(&lower);
        Word { text, lower, is_name, ends: raw.ends_with(':') }
    };
    let words = first_clause(sentence).split_whitespace().map(word);
    words.filter(|word| !word.text.is_empty()).collect()
}

fn shown(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, is_change: bool) {
        assert_eq!(changed_name(old, new).is_some(), is_change, "{old} / {new}");
    }

    #[test]
    fn another_name_in_the_place_of_an_answer_is_another_answer() {
        check("On call for the billing service is Alex.", "On call for the billing service is Priya.", true);
        check("Alex owns the importer", "Priya owns the importer", true);
        check("Contact for payments: Sara Lind.", "Contact for payments: Omar Haddad.", true);
        check("Nightly backups are stored in Frankfurt", "Nightly backups are stored in Dublin", true);
        check("Zuständig für die Abrechnung ist Anna", "Zuständig für die Abrechnung ist Jonas", true);
    }

    #[test]
    fn another_name_elsewhere_is_another_thing() {
        check("On call for Billing this year is Alex", "On call for Search this year is Alex", false);
        check("The contact for Acme is Sara", "The contact for Globex is Sara", false);
        check("The contact for Acme is Sara", "The contact for Globex is Omar", false);
        check("The UI is reviewed by Noa", "The UI is also reviewed by Liam", false);
        check("The app is tested with Chrome", "The app is tested with Safari", false);
        check("Logs are stored in Staging here", "Logs are stored in Production here", false);
    }
}
