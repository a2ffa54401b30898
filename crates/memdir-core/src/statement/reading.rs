//! What was read out of one sentence.

use std::fmt::Write;
use std::ops::Range;

use super::act::Act;
use super::language::{Language, Mix};
use super::sign::Sign;
use super::token::{Token, tokens};
use super::{lexicon, structure};
use crate::learned::{self, Feature, Question};

/// From here on a sentence is believed to do nothing of what we know.
const NOTHING: f32 = 0.5;
/// How many acts an explanation names, and how much for each.
const MAX_EXPLAINED: usize = 3;
const MAX_NAMED: usize = 5;

/// A sentence that was read.
#[derive(Debug, Clone)]
pub struct Reading {
    text: String,
    language: Language,
    signs: Vec<(Sign, Range<usize>)>,
    features: Vec<Feature>,
    /// Each act by its name and how probable it is; `none` among them.
    likely: Vec<(&'static str, f32)>,
}

/// Reads one sentence or short text.
pub fn read(sentence: &str) -> Reading {
    let tokens = tokens(sentence);
    let starts = structure::starts(&tokens);
    let mix = Mix::of(&tokens);
    let mut found = structure::shapes(&tokens, &starts, mix.has(Language::English));
    found.extend(lexicon::find(&tokens, &starts, mix));
    let signs = first_of_each(found, &tokens);
    let names: Vec<&str> = signs.iter().map(|(sign, _)| sign.name()).collect();
    let features = learned::features(sentence, &names);
    let likely = learned::answers(Question::Act, &features);
    Reading { text: sentence.to_owned(), language: mix.main(), signs, features, likely }
}

/// Keeps the longest sight of each sign, as a range of bytes.
fn first_of_each(found: Vec<(Sign, Range<usize>)>, tokens: &[Token]) -> Vec<(Sign, Range<usize>)> {
    let mut best: Vec<Option<Range<usize>>> = vec![None; Sign::COUNT];
    let mut order = Vec::new();
    for (sign, range) in found {
        let bytes = tokens[range.start].range.start..tokens[range.end - 1].range.end;
        let slot = &mut best[sign as usize];
        match slot {
            None => order.push(sign),
            Some(known) if known.len() >= bytes.len() => continue,
            Some(_) => {}
        }
        *slot = Some(bytes);
    }
    order.sort_unstable_by_key(|sign: &Sign| *sign as usize);
    order.into_iter().filter_map(|sign| best[sign as usize].take().map(|range| (sign, range))).collect()
}

impl Reading {
    /// Returns what the sentence does, if anything can be told. A question tells nothing, but it may reproach: "why
    /// did you delete the test?"
    pub fn act(&self) -> Option<Act> {
        let best = Act::ALL.into_iter().max_by(|a, b| self.likely(*a).total_cmp(&self.likely(*b)))?;
        let is_told = self.probability("none") < NOTHING;
        (is_told && (!self.is_question() || best == Act::Feedback)).then_some(best)
    }

    /// Returns how probable it is that the sentence does this.
    pub fn likely(&self, act: Act) -> f32 {
        self.probability(act.as_str())
    }

    fn probability(&self, name: &str) -> f32 {
        self.likely.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, probability)| *probability)
    }

    /// Returns where a sign was seen, by its name.
    pub fn seen(&self, name: &str) -> Option<Range<usize>> {
        self.signs.iter().find(|(sign, _)| sign.name() == name).map(|(_, range)| range.clone())
    }

    /// Returns where a reason is stated.
    pub fn reason(&self) -> Option<Range<usize>> {
        self.span(Sign::Reason).map(|range| range.start..self.text.len())
    }

    /// Says whether it asks something.
    pub fn is_question(&self) -> bool {
        self.span(Sign::Question).is_some()
    }

    /// Says whether it speaks for a team or a whole project rather than for one person.
    pub fn speaks_for_team(&self) -> bool {
        self.span(Sign::We).is_some() || self.span(Sign::Everywhere).is_some()
    }

    /// Returns the language that most of it is in.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns what was weighed.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Explains itself: the likely acts, each with what speaks for it.
    pub fn explain(&self) -> String {
        let mut acts: Vec<(Act, f32)> = Act::ALL.into_iter().map(|act| (act, self.likely(act))).collect();
        acts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let mut out = String::new();
        for (act, likely) in acts.into_iter().take(MAX_EXPLAINED) {
            let speaking = learned::speaking_for(Question::Act, act.as_str(), &self.features);
            let names: Vec<String> =
                speaking.into_iter().take(MAX_NAMED).map(|(name, _)| format!("`{name}`")).collect();
            // Writing into a string cannot fail.
            let _ = writeln!(out, "{act} {:.0} %: {}", likely * 100.0, names.join(", "));
        }
        out
    }

    pub(super) fn span(&self, wanted: Sign) -> Option<Range<usize>> {
        self.signs.iter().find(|(sign, _)| *sign == wanted).map(|(_, range)| range.clone())
    }
}
