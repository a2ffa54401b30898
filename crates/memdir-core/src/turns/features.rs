//! What speaks for each turn of a log, and the sum of it.
//!
//! Window and session are scored from the same counts as the turn itself: a window has what its turns have. A date
//! belongs to its turn and to nothing else, or every session would be long by its dates.

use crate::embed::{DOT_SCALE, Row, dot};

use super::bm25::{self, Shape};
use super::log::Log;
use super::question::Question;
use super::weights::Weights;

/// Turns differ much in length, and long ones have every word.
const TURN: Shape = Shape { k1: 1.2, b: 1.0 };
const WINDOW: Shape = Shape { k1: 1.2, b: 0.5 };
const SESSION: Shape = Shape { k1: 1.2, b: 0.75 };

/// A turn of so many terms leans on its neighbours half as much as one of a word. What a long turn is about it says itself;
/// "yes, the second one" is about what was said before it.
const LONG: f32 = 160.0;

/// What speaks for the turns of a log, each part with a value from 0 to 1 for each turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The words of the question in the turn and its date.
    pub words: Vec<f32>,
    /// The words in the turn and the two beside it.
    pub window: Vec<f32>,
    /// How near its meaning is.
    pub meaning: Vec<f32>,
    /// How near its nearest sentence is.
    pub sentence: Vec<f32>,
    /// The words in the whole session.
    pub session: Vec<f32>,
    /// 1 where the question names who speaks.
    pub speaker: Vec<f32>,
}

impl Log {
    /// Works out what speaks for each turn. `counts` has for each term of the question, in its order, the places of the
    /// turns that have the term, ascending, with how often.
    pub fn features(&self, question: &Question, counts: &[Vec<(usize, u32)>]) -> Features {
        let lengths: Vec<u32> = self.members.iter().map(|member| member.length).collect();
        let sessions = self.session_scores(question, counts);
        let of_session = self.session.iter().map(|&session| sessions[session]).collect();
        let whole = self.meaning(question);
        let nearest = self.members.iter().zip(&whole).map(|(member, &whole)| {
            let sentences = member.stored.sentences.iter();
            sentences.map(|row| nearness(question, Some(row))).reduce(f32::max).unwrap_or(whole)
        });
        Features {
            words: scaled(bm25::scores(TURN, &lengths, counts)),
            window: scaled(self.window_scores(question, counts)),
            sentence: scaled(nearest.collect()),
            meaning: scaled(whole),
            session: scaled(of_session),
            speaker: self.speakers(question),
        }
    }

    /// Returns how near the meaning of each turn is.
    pub(super) fn meaning(&self, question: &Question) -> Vec<f32> {
        self.members.iter().map(|member| nearness(question, member.row.as_ref())).collect()
    }

    /// Returns the score of each turn.
    pub fn scores(&self, features: &Features, weights: &Weights) -> Vec<f32> {
        let own: Vec<f32> = (0..self.members.len())
            .map(|at| {
                weights.words * features.words[at]
                    + weights.window * features.window[at]
                    + weights.meaning * features.meaning[at]
                    + weights.sentence * features.sentence[at]
            })
            .collect();
        (0..own.len())
            .map(|at| {
                let beside: f32 = self.beside(at).map(|beside| own[beside]).sum();
                own[at]
                    + weights.neighbours * self.leaning(at) * beside
                    + weights.session * features.session[at]
                    + weights.speaker * features.speaker[at]
            })
            .collect()
    }

    /// Returns how much a turn leans on its neighbours, from 0 to 1.
    fn leaning(&self, at: usize) -> f32 {
        LONG / (LONG + self.members[at].length as f32)
    }

    /// Returns the places of the best `limit` turns, best first, equals in their order.
    pub fn best(&self, scores: &[f32], limit: usize) -> Vec<usize> {
        let by_score = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
        let mut places: Vec<usize> = (0..scores.len()).collect();
        if limit == 0 {
            return Vec::new();
        }
        if limit < places.len() {
            places.select_nth_unstable_by(limit - 1, by_score);
            places.truncate(limit);
        }
        places.sort_unstable_by(by_score);
        places
    }

    fn window_scores(&self, question: &Question, counts: &[Vec<(usize, u32)>]) -> Vec<f32> {
        let length = |at: usize| {
            self.members[at].length + self.beside(at).map(|beside| self.said_length(beside)).sum::<u32>()
        };
        let lengths: Vec<u32> = (0..self.members.len()).map(length).collect();
        let counts = counts.iter().zip(question.terms()).map(|(counts, &term)| {
            let own = counts.iter().copied();
            let beside = counts.iter().flat_map(|&(at, count)| {
                let said = self.said(at, term, count);
                self.beside(at).map(move |beside| (beside, said))
            });
            summed(own.chain(beside))
        });
        bm25::scores(WINDOW, &lengths, &counts.collect::<Vec<_>>())
    }

    /// Returns the score of each session.
    fn session_scores(&self, question: &Question, counts: &[Vec<(usize, u32)>]) -> Vec<f32> {
        let mut lengths = vec![0; self.n_sessions];
        for at in 0..self.members.len() {
            lengths[self.session[at]] += self.said_length(at);
        }
        let counts = counts.iter().zip(question.terms()).map(|(counts, &term)| {
            summed(counts.iter().map(|&(at, count)| (self.session[at], self.said(at, term, count))))
        });
        bm25::scores(SESSION, &lengths, &counts.collect::<Vec<_>>())
    }

    /// Marks the turns of those whom the question names, unless that is everybody.
    fn speakers(&self, question: &Question) -> Vec<f32> {
        let mut known: Vec<(&str, bool)> = Vec::new();
        let mut is_named = |speaker| match known.iter().find(|(name, _)| *name == speaker) {
            Some(&(_, is_named)) => is_named,
            None => {
                known.push((speaker, question.names(speaker)));
                question.names(speaker)
            }
        };
        let named: Vec<bool> =
            self.members.iter().map(|member| is_named(member.stored.turn.speaker.as_str())).collect();
        let all = named.iter().all(|&named| named);
        named.into_iter().map(|named| f32::from(u8::from(named && !all))).collect()
    }
}

/// Adds the counts of each text, ascending; texts that have none are left out.
fn summed(counts: impl Iterator<Item = (usize, u32)>) -> Vec<(usize, u32)> {
    let mut counts: Vec<(usize, u32)> = counts.filter(|&(_, count)| count > 0).collect();
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    counts
}

/// Scales values so that the least is 0 and the greatest 1; equal ones say nothing and are all 0.
pub(super) fn scaled(mut values: Vec<f32>) -> Vec<f32> {
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let range = values.iter().copied().fold(f32::NEG_INFINITY, f32::max) - least;
    for value in &mut values {
        *value = if range > 0.0 { (*value - least) / range } else { 0.0 };
    }
    values
}

/// Returns the cosine of a question and a text; 0 where either has no word that is known.
fn nearness(question: &Question, row: Option<&Row>) -> f32 {
    question.row().zip(row).map_or(0.0, |(a, b)| dot(a, b) as f32 / DOT_SCALE)
}
