//! What explains a claim: the reason for it, when it counts, and the sentence that it leans on.

use super::sentence::Sentence;
use super::words::{begins, has, lower, table, without_interjections};

/// What may stand between a claim and its reason inside of one sentence.
const SEPARATORS: [&str; 7] = [", ", " - ", " – ", " — ", ": ", "; ", " ("];
/// Neither the claim nor the reason is shorter, in words.
const MIN_WORDS: usize = 2;

/// Says whether a sentence gives the reason for the one before it.
pub(super) fn is_reason(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let tells = sentence.shows(&["incident", "reason", "motive"])
        && !sentence.shows(&["imperative", "ban", "please"]);
    let ends_so = sentence.lower.trim_end_matches(['.', '!', ' ']);
    let ends_so =
        ["서요", "거든요", "때문이에요", "니까요", "때문입니다"].iter().any(|end| ends_so.ends_with(end));
    let warns = ends_so || has(said, &["otherwise", "sonst", "그렇지 않으면"]);
    !sentence.reading.is_question() && (begins(said, table("reasons")) || tells || warns)
}

/// Says whether a plain statement behind an order gives the reason for it, as it nearly always does.
pub(super) fn is_statement(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let is_told =
        !sentence.reading.is_question() && !sentence.shows(&["imperative", "please", "ban", "address"]);
    let is_whole = sentence.is_long_enough() && sentence.text.split_whitespace().count() >= 4;
    let is_talk = [table("wish"), table("task"), table("approval"), table("widening"), table("asking")];
    is_told && is_whole && !is_talk.iter().any(|talk| begins(said, talk))
}

/// Says whether an order is about what was just spoken of: "don't keep them in the repo".
pub(super) fn is_about_the_same(sentence: &Sentence) -> bool {
    let n_words = sentence.text.split_whitespace().count();
    let points = has(&sentence.lower, &["them", "it", "there", "those", "any"]);
    (n_words <= 9 && points || n_words <= 3) && sentence.shows(&["imperative", "ban"])
}

/// Says whether a sentence tells when the one before it counts.
pub(super) fn is_application(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    !sentence.reading.is_question() && begins(said, table("applications"))
}

/// Says whether a sentence cannot be understood without the one before it.
pub(super) fn leans(sentence: &Sentence) -> bool {
    begins(without_interjections(&sentence.lower), table("leaning"))
}

/// Parts a claim from a reason that follows in the same sentence without a word such as "because".
pub(super) fn part_reason(point: &str) -> (&str, Option<&str>) {
    let lower = lower(point);
    if lower.len() != point.len() {
        return (point, None);
    }
    let words = |text: &str| text.split_whitespace().count();
    let mut places: Vec<(usize, usize)> = SEPARATORS
        .iter()
        .flat_map(|separator| lower.match_indices(separator).map(|(at, _)| (at, at + separator.len())))
        .collect();
    places.sort_unstable();
    for (end, start) in places {
        let is_reason = begins(&lower[start..], table("reasons"));
        if is_reason && words(&point[..end]) >= MIN_WORDS && words(&point[start..]) > MIN_WORDS {
            return (&point[..end], Some(point[start..].trim_end_matches(')')));
        }
    }
    (point, None)
}
