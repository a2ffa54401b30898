//! Weighs a whole text: whether anything is left when what others show is taken away.
//!
//! Two readers decide. Learned weights read the manner of the whole text, and where they are sure, they have the say.
//! Where they are not, the sentences are weighed one by one against what the project shows: a cause outside the code,
//! in a sentence or in a stated reason, keeps all of it, also where it names files; otherwise the two sides are added
//! up, and a text that is mostly shown elsewhere is refused by the rule that weighs most. What an instruction file
//! says already is refused however it is told. What nothing is known about is kept: a wrong refusal costs knowledge, a
//! wrong save one line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use serde::Serialize;

use super::evidence::Evidence;
use super::features::Features;
use super::mentions::{Mentions, mentions};
use super::refusal::{NotWorth, refuse};
use super::scores::{Scores, is_standing};
use super::sentence::{Fate, OUTSIDE, Rule, Sentence};
use super::trace;
use crate::learned::{self, Question};
use crate::memory::MemoryType;
use crate::statement::{Gist, Part as Place, Reading, Statement, read};

/// A sentence of a text and the rule that speaks against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The sentence.
    pub text: String,
    /// The rule, if one speaks against it.
    pub rule: Option<String>,
}

/// What a text weighs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    /// Why it is not worth remembering; empty if it is.
    pub refusals: Vec<NotWorth>,
    /// Its sentences one by one, where some are worth remembering and some are not.
    pub parts: Vec<Part>,
}

/// Says why a text is not worth remembering as a memory of this type; nothing if it is.
pub fn judge(gist: &Gist<'_>, memory_type: MemoryType, evidence: &Evidence) -> Vec<NotWorth> {
    weigh(gist, memory_type, evidence).refusals
}

/// Weighs a text and tells its parts apart.
pub fn weigh(gist: &Gist<'_>, memory_type: MemoryType, evidence: &Evidence) -> Weighed {
    let text = gist.text;
    let mentions = mentions(text);
    let pieces = pieces(gist).into_iter();
    let sentences: Vec<Sentence<'_>> =
        pieces.map(|(statement, reading)| Sentence::new(statement, reading, &mentions, evidence)).collect();
    let fates: Vec<(Scores, Fate)> = sentences
        .iter()
        .map(|sentence| {
            let scores = Scores::of(sentence, memory_type);
            (scores, sentence.fate(scores))
        })
        .collect();
    let weighed = balance(text, &sentences, &fates);
    let repeats = weighed.as_ref().is_some_and(|weight| matches!(weight.rule, Rule::Duplicate { .. }));
    let found = match manner(&gist.whole) {
        _ if repeats => weighed,
        Manner::Keep => None,
        Manner::Refuse(rule) if is_borne_out(&rule, &sentences, &mentions, evidence) => {
            let sentence = sentences.iter().zip(&fates).find(|(_, (_, fate))| fate.is_by(&rule));
            Some(Weight { rule, score: 1.0, sentence: sentence.map(|(sentence, _)| sentence) })
        }
        Manner::Refuse(_) | Manner::Unsure => weighed,
    };
    let refusals = found.map(|weight| refuse(text, &weight.rule, weight.sentence, evidence));
    let refusals = refusals.into_iter().collect();
    Weighed { refusals, parts: parts(&sentences, &fates) }
}

/// One side of the balance: a rule, its weight, and the sentence it was seen in; none for the text as a whole.
struct Weight<'a> {
    rule: Rule,
    score: f32,
    sentence: Option<&'a Sentence<'a>>,
}

/// Above this the manner of a text says that it is worth keeping, below that that it is not.
const SURELY_KEPT: f32 = 0.7;
const SURELY_SHOWN: f32 = 0.2;

/// What the manner of a text says about it.
enum Manner {
    Keep,
    Refuse(Rule),
    Unsure,
}

fn manner(whole: &Reading) -> Manner {
    let answers = learned::answers(Question::Gate, whole.features());
    let keep = answers.iter().find(|(name, _)| *name == "keep").map_or(1.0, |(_, probability)| *probability);
    if keep >= SURELY_KEPT {
        return Manner::Keep;
    }
    let shown = answers.iter().filter(|(name, _)| *name != "keep").max_by(|a, b| a.1.total_cmp(&b.1));
    match shown.map(|(name, _)| *name).filter(|_| keep < SURELY_SHOWN) {
        Some("structure") => Manner::Refuse(Rule::Structure),
        Some("git") => Manner::Refuse(Rule::Git),
        Some("debugging") => Manner::Refuse(Rule::Debugging),
        Some("ephemeral") => Manner::Refuse(Rule::Ephemeral),
        _ => Manner::Unsure,
    }
}

/// Says whether nothing contradicts a refusal. An order that holds on every occasion of a kind is not over; paths and names that are all unknown here are those of
/// another system, which no look at this one shows.
fn is_borne_out(rule: &Rule, sentences: &[Sentence<'_>], mentions: &Mentions, evidence: &Evidence) -> bool {
    let is_known = !evidence.paths.is_empty() || !evidence.symbols.is_empty();
    let is_here = is_known || mentions.names_no_code() || !evidence.has_tree;
    match rule {
        Rule::Structure => is_here && !sentences.iter().any(Sentence::is_elsewhere),
        Rule::Ephemeral => !sentences.iter().any(is_standing),
        Rule::Git | Rule::Debugging | Rule::Duplicate { .. } => true,
    }
}

/// Weighs the sentences against each other; returns what speaks against the text if that weighs more.
fn balance<'a>(text: &str, sentences: &'a [Sentence<'a>], fates: &[(Scores, Fate)]) -> Option<Weight<'a>> {
    let mut worth = 0.0;
    let mut against = Vec::new();
    for (sentence, (scores, fate)) in sentences.iter().zip(fates) {
        match fate {
            Fate::Worth if is_outside(sentence, *scores) => return None,
            Fate::Worth if sentence.place == Place::Why => worth += sentence.fact(),
            Fate::Worth => worth += scores.keeps().min(MAX_WORTH),
            Fate::Plain => {}
            Fate::Shown(rule, score) => {
                against.push(Weight { rule: rule.clone(), score: *score, sentence: Some(sentence) });
            }
        }
    }
    if let Some(score) = story(text) {
        against.push(Weight { rule: Rule::Debugging, score, sentence: None });
    }
    let total: f32 = against.iter().map(|weight| weight.score).sum();
    heaviest(against).filter(|_| worth < total)
}

/// One sentence may outweigh so much.
const MAX_WORTH: f32 = 3.0;

/// Says whether a sentence gives a cause outside the code; a stated reason needs less to be believed.
fn is_outside(sentence: &Sentence<'_>, scores: Scores) -> bool {
    scores.outside >= if sentence.place == Place::Why { 1.0 } else { OUTSIDE }
}

/// Returns the first sight of the rule that weighs most in all.
fn heaviest(against: Vec<Weight<'_>>) -> Option<Weight<'_>> {
    let mut totals: HashMap<Discriminant<Rule>, f32> = HashMap::new();
    for weight in &against {
        *totals.entry(discriminant(&weight.rule)).or_default() += weight.score;
    }
    let best = totals.values().copied().fold(f32::MIN, f32::max);
    against.into_iter().find(|weight| totals[&discriminant(&weight.rule)] >= best)
}

/// Two of the three parts of a story must weigh as much; all three may be slight.
const STORY: f32 = 2.0;

/// Says how strongly the text as a whole tells of an error and its cure, however it is spread over sentences.
fn story(text: &str) -> Option<f32> {
    if trace::pasted(text).is_some() {
        return Some(3.0);
    }
    let parts = Features::of(text).story(1.5);
    let n_parts = parts.iter().filter(|part| **part > 0.0).count();
    let score: f32 = parts.iter().sum();
    (n_parts == 3 || n_parts == 2 && score >= STORY).then_some(score)
}

/// Tells the sentences apart, where they differ.
fn parts(sentences: &[Sentence<'_>], fates: &[(Scores, Fate)]) -> Vec<Part> {
    let is_shown = |fate: &Fate| matches!(fate, Fate::Shown(..));
    let is_mixed =
        fates.iter().any(|(_, fate)| is_shown(fate)) && fates.iter().any(|(_, fate)| *fate == Fate::Worth);
    let part = |(sentence, (_, fate)): (&Sentence<'_>, &(Scores, Fate))| Part {
        text: sentence.text.to_owned(),
        rule: match fate {
            Fate::Shown(rule, _) => Some(rule.id()),
            Fate::Worth | Fate::Plain => None,
        },
    };
    if is_mixed { sentences.iter().zip(fates).map(part).collect() } else { Vec::new() }
}

/// Returns the sentences of a text with what was read in them; lines that only stand below each other are one each.
fn pieces<'a>(gist: &'a Gist<'_>) -> Vec<(Statement<'a>, Cow<'a, Reading>)> {
    let mut pieces = Vec::new();
    for (statement, reading) in &gist.parts {
        let is_list = statement.text.contains('\n') && statement.text.lines().skip(1).all(begins_anew);
        if !is_list {
            pieces.push((statement.clone(), Cow::Borrowed(reading)));
            continue;
        }
        let mut at = statement.range.start;
        for line in statement.text.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let text = line.trim();
            pieces.push((Statement { text, range, ..statement.clone() }, Cow::Owned(read(text))));
        }
    }
    pieces
}

/// A longer line is wrapped text.
const MAX_RECORD: usize = 90;

/// Says whether a line does not go on with the one before: it begins like a record, not like the middle of a sentence.
fn begins_anew(line: &str) -> bool {
    let has_key = line.split_once(": ").is_some_and(|(key, _)| key.split_whitespace().count() <= 3);
    let has_number = line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    line.len() < MAX_RECORD && (has_key || has_number)
}
