//! One sentence of a text before its judges, and what becomes of it.
//!
//! `scores` weighs it, here the weights are compared: what something else shows against what nothing else does. A label
//! in front ("Why:") and a request to remember are taken away first, so that asking for it changes nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::evidence::{Evidence, InstructionLine};
use super::features::{Feature, Features};
use super::mentions::{Mention, Mentions};
use super::saying::Saying;
use super::scores::Scores;
use crate::statement::{Act, Part as Place, Reading, Statement, read};

/// What becomes of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fate {
    /// Something that nothing else shows.
    Worth,
    /// Nothing that we know a sign of; it goes with the others.
    Plain,
    /// Something else shows it, this strongly.
    Shown(Rule, f32),
}

/// What shows it, or where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    Structure,
    Git,
    Debugging,
    Ephemeral,
    Duplicate { file: String, line: usize, text: String },
}

impl Fate {
    /// Says whether this rule speaks against the sentence.
    pub(super) fn is_by(&self, rule: &Rule) -> bool {
        matches!(self, Self::Shown(own, _) if own == rule)
    }
}

/// A sentence with what can be known about it.
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
    pub(super) place: Place,
    pub(super) reading: Cow<'a, Reading>,
    pub(super) features: Features,
    pub(super) saying: Saying,
    pub(super) evidence: &'a Evidence,
    range: Range<usize>,
    mentions: &'a Mentions,
}

/// What an act weighs that is certain.
const CERTAIN: f32 = 4.0;
/// From here on a sentence is called worth remembering.
const WORTH: f32 = 1.2;
/// From here on something else is believed to show it.
pub(super) const SHOWN: f32 = 1.5;
/// That much is enough where little speaks for the sentence.
const BARELY: f32 = 1.0;
const LITTLE: f32 = 1.0;
/// From here on a cause outside the code is believed.
pub(super) const OUTSIDE: f32 = 1.5;
/// A cause outside the code that weighs as much excuses any number of names.
const SURELY_OUTSIDE: f32 = 2.0;
/// What names and describes so much code instructs nobody.
const SURELY_STRUCTURE: f32 = 2.8;
/// What a repeated instruction weighs.
const REPEATED: f32 = 3.0;
/// So much tells what a list is about.
const TOPIC: f32 = 0.8;
/// A reason in fewer words restates something.
const MIN_REASON_WORDS: usize = 7;
/// A longer line with a colon at its end is a sentence.
const MAX_ANNOUNCEMENT: usize = 100;

impl<'a> Sentence<'a> {
    pub(super) fn new(
        statement: Statement<'a>,
        reading: Cow<'a, Reading>,
        mentions: &'a Mentions,
        evidence: &'a Evidence,
    ) -> Self {
        let Statement { text: whole, range, part, .. } = statement;
        let (place, text) = labelled(whole).unwrap_or((part, whole));
        let text = without_request(text);
        let reading = if text == whole { reading } else { Cow::Owned(read(text)) };
        let (features, saying) = (Features::of(text), Saying::of(text));
        Self { text, place, reading, features, saying, evidence, range, mentions }
    }

    /// Compares what speaks for the sentence with what speaks against it.
    pub(super) fn fate(&self, scores: Scores) -> Fate {
        match self.place {
            Place::Heading | Place::HowToApply => return Fate::Plain,
            Place::Why if self.is_reason(scores) => return Fate::Worth,
            Place::Why => return Fate::Plain,
            Place::Paragraph | Place::Item => {}
        }
        if self.text.ends_with(':') && self.text.len() < MAX_ANNOUNCEMENT {
            return announced(scores);
        }
        // A description of what is there repeats no rule about it, however many words they share.
        let describes = scores.structure >= SURELY_STRUCTURE && scores.rule < WORTH;
        if scores.outside < OUTSIDE
            && !describes
            && let Some(line) = self.repeated()
        {
            let (file, text) = (line.file.clone(), line.text.clone());
            return Fate::Shown(Rule::Duplicate { file, line: line.line, text }, REPEATED);
        }
        let keeps = scores.keeps();
        let enough = if keeps < LITTLE { BARELY } else { SHOWN };
        match strongest(scores) {
            (rule, score) if score >= enough && score >= keeps => Fate::Shown(rule, score),
            _ if keeps >= WORTH => Fate::Worth,
            _ => Fate::Plain,
        }
    }

    /// Says whether a stated reason gives one: a fact that is not itself in the code, not a purpose that any note has.
    fn is_reason(&self, scores: Scores) -> bool {
        const PURPOSES: [&str; 14] = [
            "so ",
            "to ",
            "this is how ",
            "that is how ",
            "in order ",
            "if ",
            "for ",
            "because it ",
            "damit ",
            "um ",
            "zur ",
            "zum ",
            "weil es ",
            "falls ",
        ];
        if scores.outside >= LITTLE {
            return true;
        }
        let text = self.text.to_lowercase();
        let is_purpose = PURPOSES.iter().any(|start| text.starts_with(start));
        let is_empty = self.features.get(Feature::Empty) > 0.0
            || self.text.split_whitespace().count() < MIN_REASON_WORDS;
        let is_shown = self.n_found() > 0 || scores.debugging >= SHOWN || scores.ephemeral >= SHOWN;
        !is_purpose && !is_empty && !is_shown
    }

    /// Weighs a reason that names no known cause: one with a number or a name is more likely a fact.
    pub(super) fn fact(&self) -> f32 {
        let has_number = self.text.contains(|c: char| c.is_ascii_digit());
        let has_name = self.text.split_whitespace().skip(1).any(|word| word.starts_with(char::is_uppercase));
        if has_number || has_name { 2.6 } else { 2.0 }
    }

    /// Returns the line of the project's own description that tells it.
    pub(super) fn documented(&self) -> Option<&'a InstructionLine> {
        self.evidence.documents.iter().find(|line| self.saying.is_told_by(&line.saying))
    }

    /// Returns the instruction that says the same. One with an exception is another rule.
    fn repeated(&self) -> Option<&'a InstructionLine> {
        const EXCEPTIONS: [&str; 16] = [
            "except",
            "unless",
            "but not",
            "exception",
            "other than",
            "outside",
            "außerhalb",
            "after all",
            "außer",
            "ausgenommen",
            "ausnahme",
            "es sei denn",
            "제외",
            "빼고",
            "예외",
            "다만",
        ];
        let text = self.text.to_lowercase();
        let line = self.saying.repeated(&self.evidence.instructions)?;
        let excepts = |text: &str| EXCEPTIONS.iter().any(|word| text.contains(word));
        (!excepts(&text) || excepts(&line.text.to_lowercase())).then_some(line)
    }

    /// Weighs what a sentence does, on the scale of this module.
    pub(super) fn score(&self, act: Act) -> f32 {
        self.reading.likely(act) * CERTAIN
    }

    /// Returns the mentioned paths and symbols that the project has.
    pub(super) fn n_found(&self) -> usize {
        self.found_paths().count() + self.found_symbols().count()
    }

    /// Says whether it names paths and none of them is one of the project's.
    pub(super) fn is_elsewhere(&self) -> bool {
        let is_foreign = |mention: &Mention| mention.text.starts_with('/') || self.evidence.has_tree;
        self.n_found() == 0 && self.within(&self.mentions.paths).any(is_foreign)
    }

    pub(super) fn found_paths(&self) -> impl Iterator<Item = &Mention> {
        self.within(&self.mentions.paths).filter(|mention| self.evidence.paths.contains_key(&mention.text))
    }

    pub(super) fn found_symbols(&self) -> impl Iterator<Item = &Mention> {
        self.within(&self.mentions.symbols)
            .filter(|mention| self.evidence.symbols.contains_key(&mention.text))
    }

    pub(super) fn commits(&self) -> impl Iterator<Item = &Mention> {
        self.within(&self.mentions.commits)
    }

    pub(super) fn requests(&self) -> impl Iterator<Item = &Mention> {
        self.within(&self.mentions.requests)
    }

    pub(super) fn refs(&self) -> impl Iterator<Item = &Mention> {
        self.within(&self.mentions.refs)
    }

    fn within<'m>(&self, mentions: &'m [Mention]) -> impl Iterator<Item = &'m Mention> {
        let Range { start, end } = self.range;
        mentions.iter().filter(move |mention| start <= mention.span.start && mention.span.end <= end)
    }
}

/// Returns what speaks most against a sentence.
fn strongest(scores: Scores) -> (Rule, f32) {
    // What names much code and has a cause outside it is exactly what is worth keeping.
    let structure = if scores.outside >= SURELY_OUTSIDE { 0.0 } else { scores.structure };
    let mut best = (Rule::Debugging, scores.debugging);
    for next in [(Rule::Git, scores.git), (Rule::Ephemeral, scores.ephemeral), (Rule::Structure, structure)] {
        if next.1 > best.1 {
            best = next;
        }
    }
    best
}

/// A line that announces others says what they are about, and nothing else.
fn announced(scores: Scores) -> Fate {
    if scores.outside >= LITTLE {
        return Fate::Worth;
    }
    let topics =
        [(Rule::Git, scores.git), (Rule::Debugging, scores.debugging), (Rule::Ephemeral, scores.ephemeral)];
    let topic = topics.into_iter().find(|(_, score)| *score >= TOPIC);
    topic.map_or(Fate::Plain, |(rule, score)| Fate::Shown(rule, score))
}

/// Reads a label in front of a sentence that is no paragraph of its own.
fn labelled(text: &str) -> Option<(Place, &str)> {
    let text = text.trim_start_matches(['*', '_', ' ']);
    let (label, rest) = text.split_once([':', '：'])?;
    let place = match label.trim_end_matches(['*', '_', ' ']).to_lowercase().as_str() {
        "why" | "reason" | "background" | "warum" | "grund" | "begründung" | "hintergrund" => Place::Why,
        "이유" | "왜" | "배경" => Place::Why,
        "how to apply" | "apply" | "how" | "anwenden" | "anwendung" | "so anwenden" => Place::HowToApply,
        "적용" | "적용 방법" => Place::HowToApply,
        _ => return None,
    };
    Some((place, rest.trim_start_matches(['*', '_', ' '])))
}

/// Words that ask to remember what follows.
const REQUESTS: &[&str] = &[
    "please remember that",
    "please remember:",
    "please save this:",
    "remember that",
    "remember:",
    "save this:",
    "note that",
    "note:",
    "keep in mind that",
    "keep in mind:",
    "don't forget that",
    "don't forget:",
    "fyi:",
    "fyi,",
    "for the record:",
    "for the record,",
    "bitte merken:",
    "merk dir, dass",
    "merk dir:",
    "merke:",
    "nicht vergessen:",
    "기억해 줘:",
    "기억해:",
    "참고로",
];

fn without_request(text: &str) -> &str {
    let is_start =
        |request: &&&str| text.get(..request.len()).is_some_and(|start| start.to_lowercase() == ***request);
    REQUESTS.iter().find(is_start).map_or(text, |request| text[request.len()..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_requests_are_taken_away() {
        assert_eq!(labelled("**Warum:** der Kunde will es"), Some((Place::Why, "der Kunde will es")));
        assert_eq!(labelled("적용: 항상"), Some((Place::HowToApply, "항상")));
        assert_eq!(labelled("src/api: the handlers"), None);
        assert_eq!(without_request("Remember that x is y"), "x is y");
        assert_eq!(without_request("Merk dir: x"), "x");
        assert_eq!(without_request("기억해: x"), "x");
        assert_eq!(without_request("Remembering x is hard"), "Remembering x is hard");
    }
}
