//! Decides whether a sentence of the user says something that lasts, and of which type.
//!
//! What a sentence does is read elsewhere; here it is asked whether that outlives the task at hand. "Don't rename it yet"
//! and "never push to main" do the same, and only one of them is a rule. So each type has what must speak for it, and what
//! passes is told by what it points at: this file, right now, just this once. A question, a guess and a wish claim nothing.

use super::fact::{
    tells_address, tells_channel, tells_choice, tells_experience, tells_promise, tells_rhythm,
    tells_who_answers,
};
use super::sentence::Sentence;
use super::shape::{asks_for_work, ends_with_reason, is_one_off, tells_where_kept, therefore};
use super::words::{begins, has, table, without_interjections};
use crate::memory::MemoryType;
use crate::statement::Act;

/// How sure the reading must be where other signs speak for it too, and where none does.
const LIKELY: f32 = 0.5;
const SURE: f32 = 0.7;

/// What a sentence claims.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Claim {
    /// The memory it would make.
    pub(super) memory_type: MemoryType,
    /// How likely it is.
    pub(super) likely: f32,
}

/// What stands around a sentence, as far as it changes what the sentence means.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beside {
    /// A reason for it stands in the next sentence.
    pub(super) has_reason: bool,
    /// The next sentence says that it holds for more than the case at hand.
    pub(super) is_extended: bool,
    /// The agent had said or done something before it.
    pub(super) answers: bool,
}

/// Says what a sentence claims, if anything that lasts.
pub(super) fn claim(sentence: &Sentence, beside: Beside) -> Option<Claim> {
    let is_told = sentence.is_long_enough() && !sentence.reading.is_question() && !ends_as_question(sentence);
    if !is_told || is_guess(sentence) || is_about_session(sentence) || is_quotation(sentence) {
        return None;
    }
    let is_claimed = |memory_type: MemoryType, likely: f32| {
        let holds = match memory_type {
            MemoryType::Feedback => is_feedback(sentence, likely, beside),
            MemoryType::User => is_about_user(sentence, likely),
            MemoryType::Project => is_context(sentence, likely, beside),
            MemoryType::Reference => is_pointer(sentence, likely),
        };
        holds.then_some(Claim { memory_type, likely })
    };
    if is_praise(sentence) && is_right_call(&sentence.lower) && has_content(sentence) {
        let likely = sentence.reading.likely(Act::Feedback).max(LIKELY);
        return Some(Claim { memory_type: MemoryType::Feedback, likely });
    }
    let types = by_likelihood(sentence);
    let likely =
        |wanted: MemoryType| types.iter().find(|(known, _)| *known == wanted).map_or(0.0, |(_, p)| *p);
    if likely(MemoryType::Reference) >= 0.1 && tells_where_kept(sentence)
        || tells_channel(sentence)
        || tells_address(sentence)
    {
        let likely = likely(MemoryType::Reference).max(LIKELY);
        return Some(Claim { memory_type: MemoryType::Reference, likely });
    }
    if tells_who_answers(sentence) || tells_rhythm(sentence) || tells_promise(sentence) {
        let likely = likely(MemoryType::Project).max(SURE);
        return Some(Claim { memory_type: MemoryType::Project, likely });
    }
    if tells_experience(sentence) {
        let likely = likely(MemoryType::User).max(LIKELY);
        return Some(Claim { memory_type: MemoryType::User, likely });
    }
    let by_words = types.into_iter().find_map(|(memory_type, likely)| is_claimed(memory_type, likely));
    let choice =
        || Claim { memory_type: MemoryType::Project, likely: likely(MemoryType::Project).max(LIKELY) };
    by_words
        .or_else(|| by_shape(sentence, likely(MemoryType::Feedback), beside))
        .or_else(|| tells_choice(sentence).then(choice))
}

/// What the shape of a sentence claims where its words do not.
fn by_shape(sentence: &Sentence, likely: f32, beside: Beside) -> Option<Claim> {
    let feedback = |likely: f32| Some(Claim { memory_type: MemoryType::Feedback, likely });
    if let Some((_, order)) = therefore(sentence).filter(|_| sentence.lower.len() == sentence.text.len()) {
        let order = sentence.part(order..sentence.text.len());
        let sum = order.reading.likely(Act::Feedback) + order.reading.likely(Act::Rule);
        let is_lasting =
            (is_order(&order) || is_ban(&order)) && !is_one_off(&order.lower) && !points_at_one(&order);
        if is_lasting || is_lasting_order(&order, sum, beside) {
            return feedback(likely.max(0.5));
        }
    }
    // Who says from when on, gives a rule, whatever the verb.
    let said = without_interjections(&sentence.lower);
    if begins(said, table("opening a rule")) && !is_one_off(&sentence.lower) {
        return feedback(likely.max(LIKELY));
    }
    // "drop the flattery", "no, comments always in English".
    let is_manner = begins(said, table("away with")) && has(said, table("manners"));
    let is_corrected = corrects(sentence) && beside.answers && sentence.shows(&["always"]);
    if (is_manner || is_corrected && !points_at_one(sentence)) && !is_one_off(&sentence.lower) {
        return feedback(likely.max(LIKELY));
    }
    let gives_reason = ends_with_reason(&sentence.lower) || beside.has_reason;
    let is_told = is_order(sentence) || is_ban(sentence);
    let is_lasting = is_told && gives_reason && !is_one_off(&sentence.lower) && !points_at_one(sentence);
    if is_lasting && likely >= 0.1 { feedback(likely) } else { None }
}

/// What is told to be done or not is a rule, also where a story comes with it; a day makes it a fact of the project.
fn is_told_as_rule(sentence: &Sentence, likeliest: MemoryType) -> bool {
    let begins_so = begins(
        without_interjections(&sentence.lower),
        &["no", "leave", "anything", "everything", "nothing", "keine", "kein"],
    );
    let is_told = is_order(sentence)
        || is_ban(sentence)
        || begins_so
        || sentence.shows(&["duty"]) && corrects(sentence);
    likeliest == MemoryType::Project && is_told && !sentence.shows(&["deadline", "date", "decided"])
}

/// How the agent is to answer is feedback, also where it is told as a liking.
fn is_told_to_agent(sentence: &Sentence) -> bool {
    let is_said = |words: &[&str]| has(&sentence.lower, words);
    sentence.shows(&["agent's conduct"])
        && is_said(&["please", "bitte", "주세요", "your", "you", "deine", "du"])
}

/// Returns the types, the likeliest first.
fn by_likelihood(sentence: &Sentence) -> [(MemoryType, f32); 4] {
    let sum = |acts: &[Act]| acts.iter().map(|act| sentence.reading.likely(*act)).sum::<f32>();
    let mut types = [
        (MemoryType::Feedback, sum(&[Act::Feedback, Act::Rule])),
        (MemoryType::User, sum(&[Act::Preference, Act::Role])),
        (MemoryType::Project, sum(&[Act::Decision, Act::Context, Act::Gotcha])),
        (MemoryType::Reference, sum(&[Act::Pointer])),
    ];
    // "always use tabs in my files" tells a liking by way of an order: whoever orders, corrects.
    if is_order(sentence) || is_ban(sentence) {
        types[0].1 += std::mem::take(&mut types[1].1);
    }
    types.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let feedback = types.iter().position(|(memory_type, _)| *memory_type == MemoryType::Feedback);
    let is_told =
        is_told_to_agent(sentence) && types[0].0 == MemoryType::User || is_told_as_rule(sentence, types[0].0);
    if let Some(at) = feedback.filter(|at| is_told && types[*at].1 >= 0.15) {
        types[..=at].rotate_right(1);
    }
    types
}

/// People leave the mark away.
fn ends_as_question(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    sentence.text.trim_end().ends_with(['?', '？'])
        || begins(said, table("asking")) && !has(said, &["because", "the reason"])
        || asks_by_order(said)
}

/// "how does it work" asks, "how we name flags is in the wiki" does not: the word behind the first tells.
fn asks_by_order(said: &str) -> bool {
    let mut words = said.split(|c: char| c.is_whitespace() || c == ',');
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let is_asking = matches!(
        first,
        "what"
            | "how"
            | "why"
            | "which"
            | "who"
            | "where"
            | "when"
            | "was"
            | "wie"
            | "warum"
            | "wieso"
            | "welche"
            | "wo"
    );
    is_asking && table("behind a question word").contains(&second)
        || matches!(first, "what's" | "how's" | "where's" | "who's" | "why's" | "whats" | "hows")
}

/// A guess, a wish, a case that is only imagined.
fn is_guess(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    let begins_so = begins(said, table("imagined"));
    let doubts = has(&sentence.lower, table("doubting"));
    begins_so || doubts || sentence.shows(&["undecided"]) && !sentence.shows(&["decided"])
}

/// Repeats in quotation marks what somebody else said.
fn is_quotation(sentence: &Sentence) -> bool {
    let marks = ['"', '“', '”', '„', '«', '»'];
    if sentence.text.matches(marks).count() < 2 {
        return false;
    }
    let quoted: usize = sentence.text.split(marks).skip(1).step_by(2).map(str::len).sum();
    has(&sentence.lower, table("reporting")) || 2 * quoted > sentence.text.len()
}

/// What holds for this session and not after it.
fn is_about_session(sentence: &Sentence) -> bool {
    has(&sentence.lower, table("this session"))
}

/// Speaks of all cases and not of one.
fn is_general(sentence: &Sentence) -> bool {
    sentence.shows(&[
        "always",
        "from now on",
        "occasion of work",
        "whole project",
        "custom",
        "never happens",
        "condition",
    ]) || has(&sentence.lower, table("every case"))
}

/// Points at one thing that is before both: this file, that test, the line over there.
fn points_at_one(sentence: &Sentence) -> bool {
    // What an order is about stands in its first clause.
    let end = sentence.lower.find([',', ';']);
    let end = end.filter(|end| sentence.lower[..*end].split_whitespace().count() > 2);
    let lower = &sentence.lower[..end.unwrap_or(sentence.lower.len())];
    let shows_it = |word: &str| matches!(word, "이" | "그" | "저");
    has(lower, table("pointing"))
        || lower.split_whitespace().any(shows_it)
        || sentence.shows(&["path", "name from code", "several paths"])
        || has_definite_object(lower)
}

/// "don't rename the field": an order about something definite.
fn has_definite_object(lower: &str) -> bool {
    let said = without_interjections(lower);
    let said = super::words::rest_behind(said, &["please", "don't", "do not", "never", "stop", "just"])
        .unwrap_or(said);
    let mut words = said.split_whitespace();
    words.next();
    matches!(words.next(), Some("the" | "my" | "your"))
}

/// Corrects what the agent did, in so many words.
fn corrects(sentence: &Sentence) -> bool {
    sentence.shows(&["correction"])
        || begins(&sentence.lower, table("correcting begin"))
        || has(&sentence.lower, table("correcting"))
}

fn is_feedback(sentence: &Sentence, likely: f32, beside: Beside) -> bool {
    if is_praise(sentence) && is_right_call(&sentence.lower) {
        return likely >= LIKELY && has_content(sentence);
    }
    if is_wish(sentence)
        && !sentence.shows(&["agent's conduct"])
        && !has(&sentence.lower, table("henceforth"))
    {
        return false;
    }
    if is_ban(sentence) {
        return is_lasting_ban(sentence, likely, beside);
    }
    if is_order(sentence) {
        return is_lasting_order(sentence, likely, beside);
    }
    if begins(without_interjections(&sentence.lower), table("habits of the agent")) {
        return likely >= LIKELY;
    }
    let is_conduct = sentence.shows(&["agent's conduct"]) && !points_at_one(sentence);
    let is_plain = is_general(sentence) || is_conduct || sentence.shows(&["duty", "we", "you did"]);
    if is_custom(sentence, beside) && likely >= 0.2 {
        return true;
    }
    let is_duty = sentence.shows(&["always"]) && sentence.shows(&["duty"]) && likely >= 0.2;
    let is_likely = likely >= SURE && is_plain || likely >= 0.45 && n_general_signs(sentence) >= 2 || is_duty;
    (is_likely || beside.is_extended && likely >= 0.3) && !is_specification(sentence)
}

/// Counts the signs that something holds in all cases; the first alone says little.
fn n_general_signs(sentence: &Sentence) -> usize {
    const SIGNS: [&str; 7] = [
        "always",
        "from now on",
        "custom",
        "general statement",
        "condition",
        "occasion of work",
        "whole project",
    ];
    const HELPERS: [&str; 4] = ["we", "duty", "correction", "reason"];
    let count = |signs: &[&str]| signs.iter().filter(|sign| sentence.shows(&[**sign])).count();
    match count(&SIGNS) {
        0 => 0,
        n => n + count(&HELPERS),
    }
}

/// "never push to main" holds; "don't touch that file" holds for as long as it is spoken of, unless there is a reason.
fn is_lasting_ban(sentence: &Sentence, likely: f32, beside: Beside) -> bool {
    let gives_reason =
        beside.has_reason || sentence.shows(&["reason", "incident"]) || ends_with_reason(&sentence.lower);
    let is_conduct = sentence.shows(&["agent's conduct"]);
    let is_plain = is_general(sentence) || is_conduct || !points_at_one(sentence);
    let waits = has(&sentence.lower, &["yet", "noch nicht", "아직"]);
    likely >= 0.35 && !waits && (is_plain || gives_reason) && !is_small_thing(sentence)
}

/// An order that holds beyond the task: it says so, it is about how the agent works, or it corrects with a reason.
fn is_lasting_order(sentence: &Sentence, likely: f32, beside: Beside) -> bool {
    let said = without_interjections(&sentence.lower);
    let is_henceforth =
        has(&sentence.lower, table("henceforth")) || begins(said, table("order of all cases"));
    if is_henceforth || beside.is_extended {
        return likely >= 0.3;
    }
    if begins(said, table("task")) || points_at_one(sentence) {
        return false;
    }
    let gives_reason = beside.has_reason || sentence.shows(&["reason", "incident"]);
    let is_set_against = sentence.shows(&["alternative", "negation"]);
    let is_correction = corrects(sentence) && beside.answers && (gives_reason || is_set_against);
    let is_lasting = is_general(sentence) && likely >= LIKELY;
    likely >= 0.4
        && (is_lasting
            || sentence.shows(&["agent's conduct"])
            || is_correction
            || gives_reason && is_set_against)
}

/// "don't use a class for this": a choice for the thing at hand.
fn is_small_thing(sentence: &Sentence) -> bool {
    has(
        &sentence.lower,
        &["for this", "in this case", "for that", "in that case", "dafür", "hierfür", "이 경우"],
    ) && !has(&sentence.lower, &["for this project", "for this repo", "for this codebase", "for this reason"])
}

/// "the function should return null", "it should be sorted": how a thing is to be, which the code will show.
fn is_specification(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    begins(
        said,
        &[
            "it should",
            "it must",
            "it has to",
            "this should",
            "that should",
            "if the user",
            "when the user",
            "there should",
        ],
    ) || sentence.shows(&["name from code", "path"]) && !is_general(sentence)
        || begins(said, &["the"]) && sentence.shows(&["function, type or folder"]) && !is_general(sentence)
}

/// "we never …", "we use X, not Y": how a team works, said to who did otherwise.
fn is_custom(sentence: &Sentence, beside: Beside) -> bool {
    let said = without_interjections(&sentence.lower);
    let begins_so = begins(said, table("team custom"));
    let uses = begins(said, table("team uses"));
    let is_set_against = sentence.shows(&["negation", "alternative", "ban"])
        || has(&sentence.lower, &["not", "never", "instead of", "nicht", "statt", "nie"]);
    let follows = sentence.shows(&["custom"])
        && has(&sentence.lower, &["so keep", "so please", "so use", "so don't", "also bitte"]);
    begins_so
        && sentence.shows(&["ban", "always", "custom", "negation", "general statement", "never happens"])
        || uses && (is_set_against || follows || beside.answers && corrects(sentence))
}

fn is_ban(sentence: &Sentence) -> bool {
    sentence.shows(&["ban"])
        || begins(without_interjections(&sentence.lower), &["stop", "hör auf", "lass das", "그만"])
}

fn is_order(sentence: &Sentence) -> bool {
    sentence.shows(&["imperative", "please"])
        && !begins(without_interjections(&sentence.lower), &["we", "i", "our", "wir", "ich"])
}

fn is_praise(sentence: &Sentence) -> bool {
    sentence.shows(&["praise"]) && !sentence.shows(&["ban", "from now on"])
}

/// Praise that tells what was right, so that it can be done again.
fn is_right_call(lower: &str) -> bool {
    has(lower, table("right call"))
}

/// Says whether praise tells of what: more than its own words.
fn has_content(sentence: &Sentence) -> bool {
    let words = sentence.lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| word.chars().count() > 1 && !table("empty praise").contains(word)).count() >= 3
        || sentence.text.chars().filter(|c| crate::text::is_unspaced(*c)).count() >= 10
}

fn is_about_user(sentence: &Sentence, likely: f32) -> bool {
    let is_passing = sentence.shows(&["doing right now", "this session"]) && likely < 0.9;
    let names_self = sentence.shows(&[
        "first person",
        "profession",
        "liking",
        "own tool",
        "knowledge",
        "responsibility",
        "unnamed person",
        "person",
    ]);
    // "I've never used this flag before" tells of the flag that is before both.
    let is_first_sight = ["never", "this", "before"].iter().all(|word| has(&sentence.lower, &[word]));
    let runs_on = begins(without_interjections(&sentence.lower), &["i'm on"]) && names_system(&sentence.text);
    (likely >= 0.6 || runs_on) && !is_wish(sentence) && !is_passing && !is_first_sight && names_self
}

/// "I'm on NixOS" names a system, "I'm on main" a branch, "I'm on it" nothing.
fn names_system(text: &str) -> bool {
    let behind = text.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("on")).nth(1);
    behind.is_some_and(|word| word.contains(char::is_uppercase) && !word.contains('/'))
}

/// Says what somebody wants done, did or sees now, and not who they are.
fn is_wish(sentence: &Sentence) -> bool {
    begins(without_interjections(&sentence.lower), table("wish"))
}

/// Signs of what no file shows.
const CONTEXT: &[&str] = &[
    "goal",
    "deadline",
    "incident",
    "law or contract",
    "stakeholder",
    "motive",
    "outside limit",
    "outside party",
    "plan",
    "decided by others",
    "surprise",
    "decided",
];

fn is_context(sentence: &Sentence, likely: f32, beside: Beside) -> bool {
    let has_day = sentence.shows(&["deadline"]) && sentence.shows(&["date"])
        || sentence.shows(&["goal", "decided by others"]);
    let n_signs = CONTEXT.iter().chain(&["reason", "date"]).filter(|sign| sentence.shows(&[**sign])).count();
    let is_bound = sentence.shows(&["we", "law or contract"]) && has(&sentence.lower, table("obligations"));
    let is_backed = has_day && likely >= 0.2 || (n_signs >= 2 || is_bound) && likely >= 0.3;
    if likely < LIKELY && (!is_backed || is_plain_order(sentence)) {
        return false;
    }
    let gives_reason = beside.has_reason || sentence.shows(&["reason", "motive"]);
    let decision = sentence.reading.likely(Act::Decision);
    if decision > likely / 2.0 {
        let is_said =
            sentence.shows(&["decided"]) || decision >= 0.85 && sentence.shows(&["we", "alternative"]);
        return gives_reason && !is_plain_order(sentence)
            || is_said && decision >= 0.8 && !is_plain_order(sentence);
    }
    let is_passing =
        sentence.shows(&["doing right now", "this session"]) && !sentence.shows(&["deadline", "date"]);
    let has_sign = sentence.shows(CONTEXT);
    let is_work = asks_for_work(&sentence.lower)
        && !sentence.shows(&["deadline", "law or contract", "stakeholder", "decided", "reason", "goal"]);
    !is_passing
        && !is_work
        && !is_plain_order(sentence)
        && (is_backed || has_sign && likely >= 0.55 || likely >= 0.85)
}

/// An order to do something, with nothing in it that no file shows.
fn is_plain_order(sentence: &Sentence) -> bool {
    let said = without_interjections(&sentence.lower);
    is_order(sentence)
        && !sentence.shows(&["deadline", "law or contract", "incident", "stakeholder", "decided", "date"])
        || begins(said, table("task")) && !sentence.shows(&["reason", "deadline", "date"])
}

/// Signs of where something is found outside of the project.
const PLACES: [&str; 5] =
    ["where to find", "board, page or runbook", "channel", "outside system", "place inside a system"];

fn is_pointer(sentence: &Sentence, likely: f32) -> bool {
    let n_signs = PLACES.iter().filter(|sign| sentence.shows(&[**sign])).count();
    // "check the wiki page on releases" sends somebody there now; "check the board before you deploy" tells a place.
    let is_plain =
        !sentence.shows(&["board, page or runbook", "outside system"]) || !sentence.shows(&["address"]);
    let is_visit = begins(without_interjections(&sentence.lower), table("visiting"))
        && is_plain
        && !is_general(sentence)
        && !has(&sentence.lower, table("henceforth"));
    let is_failing = has(&sentence.lower, table("failing")) && sentence.shows(&["address"]);
    let is_one = has(&sentence.lower, table("one page")) || sentence.shows(&["commit or merge"]);
    let floor = if n_signs > 1 { LIKELY } else { 0.6 };
    let said = without_interjections(&sentence.lower);
    let is_task = begins(said, table("task"))
        || begins(said, table("cases of a program"))
        || sentence.shows(&["duty"]) && n_signs < 2 && !sentence.shows(&["outside system", "channel"]);
    likely >= floor
        && !is_visit
        && !is_one
        && !is_failing
        && !is_task
        && (n_signs > 0 || sentence.shows(&["address"]))
}
