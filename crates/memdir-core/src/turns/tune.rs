//! Fits the weights to questions whose answers are known.
//!
//! A weight at a time is moved along a grid and stays where the value is greatest, until no weight moves any more; then
//! two at a time are moved by a step, since one part often stands in for another. What is made greatest is the mean over
//! the given sets of recall at 5 and at 10. A set counts by the root of how many questions it has, as sure as its own mean
//! is: a large set does not drown a small one, and the chance of a small one does not overrule a large one.
//! Nothing is random: the same questions give the same table.

use super::features::Features;
use super::log::Log;
use super::weights::{N_WEIGHTS, Weights};

/// How far apart two values of a weight are, and how many there are above 0.
const STEP: f32 = 0.05;
const N_STEPS: u16 = 12;
/// The weights settle long before.
const MAX_ROUNDS: usize = 12;
/// A gain below this is chance: the weight stays where it is.
const LEAST_GAIN: f64 = 1e-4;

/// A question whose answers are known.
#[derive(Debug)]
pub struct Labelled<'l> {
    /// The log it is asked of.
    pub log: &'l Log,
    /// What speaks for each of its turns.
    pub features: Features,
    /// The places of the turns that answer it.
    pub gold: Vec<usize>,
    /// How many turns answer it, also such as are not in the log.
    pub n_gold: usize,
}

/// Says how good weights are for each set: the mean of recall at 5 and at 10.
pub fn values(sets: &[Vec<Labelled<'_>>], weights: &Weights) -> Vec<f64> {
    let of_set = |set: &Vec<Labelled<'_>>| {
        let sum: f64 = set.iter().map(|question| question.value(weights)).sum();
        sum / set.len().max(1) as f64
    };
    sets.iter().map(of_set).collect()
}

/// Says how good weights are: the mean over the sets, each counted by the root of its size.
pub fn value(sets: &[Vec<Labelled<'_>>], weights: &Weights) -> f64 {
    let counts: Vec<f64> = sets.iter().map(|set| (set.len() as f64).sqrt()).collect();
    let sum: f64 = values(sets, weights).iter().zip(&counts).map(|(value, counts)| value * counts).sum();
    sum / counts.iter().sum::<f64>().max(1.0)
}

/// Fits weights, beginning with `start`. `step` is told how many of how many steps are done at most.
pub fn fit(sets: &[Vec<Labelled<'_>>], start: &Weights, mut step: impl FnMut(usize, usize)) -> Weights {
    let mut weights = start.to_array();
    let mut best = value(sets, start);
    for round in 0..MAX_ROUNDS {
        let before = weights;
        for at in 0..N_WEIGHTS {
            step(round * N_WEIGHTS + at, MAX_ROUNDS * N_WEIGHTS);
            (weights, best) = fit_one(sets, weights, at, best);
        }
        if weights == before {
            (weights, best) = fit_pairs(sets, weights, best);
        }
        if weights == before {
            break;
        }
    }
    Weights::from_array(weights)
}

/// Moves two weights by a step each, and keeps the best of all such moves.
fn fit_pairs(
    sets: &[Vec<Labelled<'_>>],
    weights: [f32; N_WEIGHTS],
    mut best: f64,
) -> ([f32; N_WEIGHTS], f64) {
    let mut kept = weights;
    for first in 0..N_WEIGHTS {
        for second in first + 1..N_WEIGHTS {
            for (up, over) in [(STEP, STEP), (STEP, -STEP), (-STEP, STEP), (-STEP, -STEP)] {
                let mut tried = weights;
                tried[first] = (tried[first] + up).max(0.0);
                tried[second] = (tried[second] + over).max(0.0);
                let value = value(sets, &Weights::from_array(tried));
                if value > best + LEAST_GAIN {
                    (kept, best) = (tried, value);
                }
            }
        }
    }
    (kept, best)
}

fn fit_one(
    sets: &[Vec<Labelled<'_>>],
    mut weights: [f32; N_WEIGHTS],
    at: usize,
    mut best: f64,
) -> ([f32; N_WEIGHTS], f64) {
    let mut tried = weights;
    for n in 0..=N_STEPS {
        tried[at] = f32::from(n) * STEP;
        let value = value(sets, &Weights::from_array(tried));
        if value > best + LEAST_GAIN {
            (weights, best) = (tried, value);
        }
    }
    (weights, best)
}

impl Labelled<'_> {
    fn value(&self, weights: &Weights) -> f64 {
        let scores = self.log.scores(&self.features, weights);
        let found = |places: &[usize]| places.iter().filter(|at| self.gold.contains(at)).count();
        let best = self.log.best(&scores, 10);
        let n_found = found(&best[..best.len().min(5)]) + found(&best);
        n_found as f64 / (2 * self.n_gold.max(1)) as f64
    }
}
