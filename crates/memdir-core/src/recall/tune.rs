//! Fits the weights to labelled moments, and says how good they are.
//!
//! The fit is plain logistic regression over candidates: which of them were right. Links are followed from what the weights
//! themselves believe, so it is done in rounds. The floor is then set so that few moments at which nothing helps get a
//! note. Nothing here is random: the same rows give the same table.

use std::collections::BTreeMap;

use jiff::Zoned;

use super::library::Library;
use super::parts::{N_PARTS, Parts, Weights};
use super::prompt::Moment;
use super::rank::{Hit, Unknown, choose, rank, recall};

/// A moment with what should come to mind.
#[derive(Debug, Clone)]
pub struct Labelled {
    /// What it tests.
    pub kind: String,
    /// The moment.
    pub moment: Moment,
    /// The names of the notes that help, the best first; none where nothing does.
    pub gold: Vec<String>,
}

/// How good a set of weights is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// For each kind how many moments there are and at how many a right note was shown.
    pub kinds: BTreeMap<String, (usize, usize)>,
    /// How many notes were shown, and how many of them were right.
    pub shown: (usize, usize),
    /// How many moments should stay silent, and at how many something was shown.
    pub silent: (usize, usize),
}

impl Figures {
    /// Returns the mean over kinds of the share of moments with a right note.
    pub fn mean_hit(&self) -> f64 {
        let shares = self.kinds.values().map(|(n, hit)| *hit as f64 / *n as f64);
        shares.sum::<f64>() / self.kinds.len().max(1) as f64
    }

    /// Returns the share of shown notes that were right.
    pub fn precision(&self) -> f64 {
        self.shown.1 as f64 / self.shown.0.max(1) as f64
    }

    /// Returns the share of silent moments at which something was shown.
    pub fn false_alarms(&self) -> f64 {
        self.silent.1 as f64 / self.silent.0.max(1) as f64
    }

    fn add(&mut self, row: &Labelled, shown: &[String]) {
        let n_right = shown.iter().filter(|name| row.gold.contains(name)).count();
        if row.gold.is_empty() {
            self.silent.0 += 1;
            self.silent.1 += usize::from(!shown.is_empty());
        } else {
            let (n, n_hit) = self.kinds.entry(row.kind.clone()).or_default();
            *n += 1;
            *n_hit += usize::from(n_right > 0);
        }
        self.shown.0 += shown.len();
        self.shown.1 += n_right;
    }
}

/// Says how good `weights` are on labelled moments, each with the index it belongs to.
pub fn measure<L: Library>(
    rows: &[(&L, Labelled)],
    now: &Zoned,
    weights: &Weights,
) -> Result<Figures, L::Error> {
    let mut figures = Figures::default();
    for (library, row) in rows {
        let recalled = recall(*library, &row.moment, now, weights, &Unknown)?;
        let shown: Vec<String> = recalled.hits.into_iter().map(|hit| hit.note.name).collect();
        figures.add(row, &shown);
    }
    Ok(figures)
}

/// How often links are followed anew, how many steps each fit takes, and how large a step is.
const ROUNDS: usize = 3;
const STEPS: usize = 600;
const RATE: f32 = 0.4;
/// How strongly weights are held at zero.
const DECAY: f32 = 1e-5;
/// The second and third right note count less: one is enough.
const LESSER: f32 = 0.5;

/// Fits weights to labelled moments; false alarms stay at or below `alarms`.
pub fn fit<L: Library>(
    rows: &[(&L, Labelled)],
    now: &Zoned,
    start: &Weights,
    alarms: f64,
) -> Result<Weights, L::Error> {
    let mut weights = start.clone();
    for _ in 0..ROUNDS {
        let mut examples: Vec<(Parts, f32, f32)> = Vec::new();
        for (library, row) in rows {
            for hit in rank(*library, &row.moment, now, &weights, &Unknown)? {
                let place = row.gold.iter().position(|name| *name == hit.note.name);
                let counts = match place {
                    Some(at) if at > 0 => LESSER,
                    _ => 1.0,
                };
                examples.push((hit.parts, f32::from(u8::from(place.is_some())), counts));
            }
        }
        descend(&mut weights.parts, &examples);
    }
    set_floors(rows, now, weights, alarms)
}

/// Follows the slope of the error down, with a step of its own for each weight (Adam).
fn descend(weights: &mut [f32; N_PARTS], examples: &[(Parts, f32, f32)]) {
    let total: f32 = examples.iter().map(|(_, _, counts)| counts).sum::<f32>().max(1.0);
    let (mut mean, mut spread) = ([0.0_f32; N_PARTS], [0.0_f32; N_PARTS]);
    for step in 1..=STEPS {
        let mut slope = [0.0_f32; N_PARTS];
        for (parts, label, counts) in examples {
            let sum: f32 = weights.iter().zip(&parts.0).map(|(weight, part)| weight * part).sum();
            let error = (1.0 / (1.0 + (-sum).exp()) - label) * counts / total;
            for (slope, part) in slope.iter_mut().zip(&parts.0) {
                *slope += error * part;
            }
        }
        let rate = RATE * (1.0 - step as f32 / (STEPS + 1) as f32);
        for at in 0..N_PARTS {
            let slope = slope[at] + if at == 0 { 0.0 } else { DECAY * weights[at] };
            mean[at] = 0.9 * mean[at] + 0.1 * slope;
            spread[at] = 0.999 * spread[at] + 0.001 * slope * slope;
            let unbiased = spread[at] / (1.0 - 0.999_f32.powi(step as i32));
            let first = mean[at] / (1.0 - 0.9_f32.powi(step as i32));
            weights[at] -= rate * first / (unbiased.sqrt() + 1e-8);
        }
    }
}

/// Tries floors and margins and keeps the best that respects the limit of false alarms.
fn set_floors<L: Library>(
    rows: &[(&L, Labelled)],
    now: &Zoned,
    weights: Weights,
    alarms: f64,
) -> Result<Weights, L::Error> {
    let mut ranked = Vec::new();
    for (library, row) in rows {
        ranked.push((row, rank(*library, &row.moment, now, &weights, &Unknown)?));
    }
    let mut best: Option<(f64, Weights)> = None;
    for floor in (10..=70).step_by(2).map(|n| n as f32 / 100.0) {
        for asked_floor in [0.05, 0.1, 0.2, 0.3].into_iter().filter(|asked| *asked <= floor) {
            for margin in [0.2, 0.3, 0.4, 0.5, 0.6, 0.7] {
                let tried = Weights { floor, asked_floor, margin, ..weights.clone() };
                let mut figures = Figures::default();
                for (row, hits) in &ranked {
                    figures.add(row, &shown(hits.clone(), &row.moment, &tried));
                }
                let excess =
                    (figures.false_alarms() - alarms).max(0.0) + (PRECISION - figures.precision()).max(0.0);
                let value = figures.mean_hit() - 10.0 * excess;
                if best.as_ref().is_none_or(|(known, _)| value > *known) {
                    best = Some((value, tried));
                }
            }
        }
    }
    Ok(best.map_or(weights, |(_, weights)| weights))
}

/// What is shown is right this often, at least.
const PRECISION: f64 = 0.87;

fn shown(hits: Vec<Hit>, moment: &Moment, weights: &Weights) -> Vec<String> {
    let recalled = choose(hits, moment, weights);
    recalled.hits.into_iter().map(|hit| hit.note.name).collect()
}
