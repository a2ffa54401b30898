//! Plain ways of ranking turns, to measure the fitted one against in the same run.

use super::bm25::{self, Shape};
use super::features::scaled;
use super::log::Log;
use super::question::Question;

/// The usual constants of BM25.
const USUAL: Shape = Shape { k1: 1.2, b: 0.75 };
/// The usual constant of reciprocal rank fusion.
const RANK_OFFSET: f32 = 60.0;

/// A plain way of ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// BM25 over the turns.
    Words,
    /// The cosine of turn and question.
    Meaning,
    /// Reciprocal rank fusion of both.
    Ranks,
    /// The mean of both, each scaled to 0..1.
    Sum,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Words, Self::Meaning, Self::Ranks, Self::Sum];

    /// Returns the name that reports have.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "bm25",
            Self::Meaning => "embedding",
            Self::Ranks => "reciprocal_ranks",
            Self::Sum => "half_and_half",
        }
    }
}

impl Log {
    /// Returns the score of each turn by a plain way; `counts` is that of [`Log::features`].
    pub fn plainly(&self, baseline: Baseline, question: &Question, counts: &[Vec<(usize, u32)>]) -> Vec<f32> {
        let words = || {
            let lengths: Vec<u32> = self.members.iter().map(|member| member.length).collect();
            bm25::scores(USUAL, &lengths, counts)
        };
        match baseline {
            Baseline::Words => words(),
            Baseline::Meaning => self.meaning(question),
            Baseline::Ranks => {
                let (words, meaning) = (self.by_rank(&words()), self.by_rank(&self.meaning(question)));
                words.into_iter().zip(meaning).map(|(a, b)| a + b).collect()
            }
            Baseline::Sum => {
                let (words, meaning) = (scaled(words()), scaled(self.meaning(question)));
                words.into_iter().zip(meaning).map(|(a, b)| a + b).collect()
            }
        }
    }

    /// Scores each turn by its place in a ranking; what has nothing of what was looked for gets nothing.
    fn by_rank(&self, scores: &[f32]) -> Vec<f32> {
        let mut ranked = vec![0.0; scores.len()];
        for (rank, at) in self.best(scores, scores.len()).into_iter().enumerate() {
            if scores[at] > 0.0 {
                ranked[at] = 1.0 / (RANK_OFFSET + 1.0 + rank as f32);
            }
        }
        ranked
    }
}
