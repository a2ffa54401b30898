//! Fits the weights to labelled moments, and says how good they are.
//!
//! The fit is a conditional logit: at each moment the candidates compete with each other and with nothing at all, and the
//! weights are those under which the right ones win most probably. Links are followed from what the weights themselves
//! believe, so it is done in rounds. The floor is then set so that few moments at which nothing helps get a note. Nothing
//! here is random: the same rows give the same table.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Zoned;

use super::library::Library;
use super::parts::{N_PARTS, Part, Weights};
use super::prompt::{Moment, asks_for_memory};
use super::rank::{MAX_SHOWN, Rival, Unknown, anything, is_silent, pick, rank, recall, rivals};

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

    fn add(&mut self, row: &Labelled, n_shown: usize, n_right: usize) {
        if row.gold.is_empty() {
            self.silent.0 += 1;
            self.silent.1 += usize::from(n_shown > 0);
        } else {
            let (n, n_hit) = self.kinds.entry(row.kind.clone()).or_default();
            *n += 1;
            *n_hit += usize::from(n_right > 0);
        }
        self.shown.0 += n_shown;
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
        let n_right = recalled.hits.iter().filter(|hit| row.gold.contains(&hit.note.name)).count();
        figures.add(row, recalled.hits.len(), n_right);
    }
    Ok(figures)
}

/// How many steps each fit takes at most.
const STEPS: usize = 40;
/// A step moves no weight further than this.
const MAX_STEP: f64 = 3.0;
/// How strongly weights are held at zero; those of parts that are always small less.
const DECAY: f64 = 2e-3;
/// No kind of moment counts more than so many times its share.
const MAX_COUNTS: f64 = 3.0;

/// A moment as the fit sees it: what speaks for each candidate, which ones are right, and what the moment counts.
struct Example {
    candidates: Vec<[f64; N_PARTS]>,
    is_right: Vec<bool>,
    counts: f64,
}

/// Fits the weights of all parts to labelled moments; the floors stay those of `start`.
pub fn fit<L: Library>(
    rows: &[(&L, Labelled)],
    now: &Zoned,
    start: &Weights,
    rounds: usize,
) -> Result<Weights, L::Error> {
    let mut weights = start.clone();
    for _ in 0..rounds {
        let mut examples = Vec::new();
        for (library, row) in rows {
            let hits = rank(*library, &row.moment, now, &weights, &Unknown)?;
            examples.push(Example {
                candidates: hits.iter().map(|hit| hit.parts.0.map(f64::from)).collect(),
                is_right: hits.iter().map(|hit| row.gold.contains(&hit.note.name)).collect(),
                counts: counts(rows, row),
            });
        }
        let found = climb(&examples);
        weights.parts = found.map(|weight| weight as f32);
    }
    Ok(weights)
}

/// Lets every kind of moment count the same, whatever the number of its rows; a silent moment counts once.
fn counts<L>(rows: &[(&L, Labelled)], row: &Labelled) -> f64 {
    if row.gold.is_empty() {
        return 1.0;
    }
    let n_of_kind = rows.iter().filter(|(_, other)| other.kind == row.kind).count();
    let told = rows.iter().filter(|(_, other)| !other.gold.is_empty());
    let kinds: BTreeSet<&str> = told.clone().map(|(_, other)| other.kind.as_str()).collect();
    (told.count() as f64 / kinds.len() as f64 / n_of_kind as f64).min(MAX_COUNTS)
}

/// Parts that never speak against a note: in few labelled moments they may seem to.
const NEVER_AGAINST: [Part; 2] = [Part::Via, Part::ViaMeaning];
/// How strongly a weight is held that stays at zero.
const FIXED: f64 = 1e9;

/// Finds the weights under which what is right is most probable among all candidates and nothing.
fn climb(examples: &[Example]) -> [f64; N_PARTS] {
    let mut held = held(examples);
    loop {
        let mut weights = climb_held(examples, &held);
        weights
            .iter_mut()
            .zip(&held)
            .filter(|(_, held)| **held >= FIXED)
            .for_each(|(weight, _)| *weight = 0.0);
        let against = |part: &Part| weights[*part as usize] < 0.0 && held[*part as usize] < FIXED;
        let Some(part) = NEVER_AGAINST.into_iter().find(against) else {
            return weights;
        };
        held[part as usize] = FIXED;
    }
}

/// The same for weights that are held at zero so strongly each (Newton's method).
fn climb_held(examples: &[Example], held: &[f64; N_PARTS]) -> [f64; N_PARTS] {
    let mut weights = [0.0; N_PARTS];
    for _ in 0..STEPS {
        let mut slope: [f64; N_PARTS] = std::array::from_fn(|at| held[at] * weights[at]);
        let mut bend = vec![[0.0; N_PARTS]; N_PARTS];
        for at in 0..N_PARTS {
            bend[at][at] = held[at] + 1e-6;
        }
        for example in examples {
            example.add(&weights, &mut slope, &mut bend);
        }
        let step = solve(bend, slope);
        let longest = step.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
        let share = (MAX_STEP / longest.max(1e-12)).min(1.0);
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= share * step);
        if longest < 1e-3 {
            break;
        }
    }
    weights
}

/// Says how strongly each weight is held at zero: the less a part varies, the less.
fn held(examples: &[Example]) -> [f64; N_PARTS] {
    let all: Vec<&[f64; N_PARTS]> = examples.iter().flat_map(|example| &example.candidates).collect();
    let total: f64 = examples.iter().map(|example| example.counts).sum();
    std::array::from_fn(|at| {
        if at == 0 {
            return 0.0;
        }
        let n = all.len().max(1) as f64;
        let mean = all.iter().map(|parts| parts[at]).sum::<f64>() / n;
        let variance = all.iter().map(|parts| (parts[at] - mean).powi(2)).sum::<f64>() / n;
        DECAY * total * (4.0 * variance.max(0.0025)).min(1.0)
    })
}

impl Example {
    /// Adds what this moment says of the slope and the bend of the error.
    fn add(&self, weights: &[f64; N_PARTS], slope: &mut [f64; N_PARTS], bend: &mut [[f64; N_PARTS]]) {
        let sum = |parts: &[f64; N_PARTS]| weights.iter().zip(parts).map(|(a, b)| a * b).sum::<f64>();
        let sums: Vec<f64> = self.candidates.iter().map(sum).collect();
        let largest = sums.iter().copied().fold(0.0, f64::max);
        let odds: Vec<f64> = sums.iter().map(|sum| (sum - largest).exp()).collect();
        let total = (-largest).exp() + odds.iter().sum::<f64>();
        let right: f64 = odds.iter().zip(&self.is_right).filter(|(_, is)| **is).map(|(odds, _)| odds).sum();
        let mut mean = [0.0; N_PARTS];
        for ((parts, odds), is_right) in self.candidates.iter().zip(&odds).zip(&self.is_right) {
            let probability = odds / total;
            let wanted = if *is_right && right > 0.0 { odds / right } else { 0.0 };
            for (at, part) in parts.iter().enumerate().filter(|(_, part)| **part != 0.0) {
                slope[at] += self.counts * (probability - wanted) * part;
                mean[at] += probability * part;
                for (other, more) in parts.iter().enumerate() {
                    bend[at][other] += self.counts * probability * part * more;
                }
            }
        }
        for at in 0..N_PARTS {
            for other in 0..N_PARTS {
                bend[at][other] -= self.counts * mean[at] * mean[other];
            }
        }
    }
}

/// Solves a system of linear equations by elimination, the largest first.
fn solve(mut rows: Vec<[f64; N_PARTS]>, mut right: [f64; N_PARTS]) -> [f64; N_PARTS] {
    for at in 0..N_PARTS {
        let largest = (at..N_PARTS).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()));
        let largest = largest.unwrap_or(at);
        rows.swap(at, largest);
        right.swap(at, largest);
        let own = rows[at];
        for below in at + 1..N_PARTS {
            let share = rows[below][at] / own[at];
            rows[below].iter_mut().zip(&own).for_each(|(x, own)| *x -= share * own);
            right[below] -= share * right[at];
        }
    }
    for at in (0..N_PARTS).rev() {
        let known: f64 = (at + 1..N_PARTS).map(|other| rows[at][other] * right[other]).sum();
        right[at] = (right[at] - known) / rows[at][at];
    }
    right
}

/// A moment whose candidates were ranked by weights that had not seen it.
#[derive(Debug, Clone)]
pub struct Ranked {
    row: Labelled,
    rivals: Vec<Rival>,
    is_right: Vec<bool>,
    anything: f32,
}

/// Ranks the candidates of labelled moments.
pub fn ranked<L: Library>(
    rows: &[(&L, Labelled)],
    now: &Zoned,
    weights: &Weights,
) -> Result<Vec<Ranked>, L::Error> {
    let mut ranked = Vec::new();
    for (library, row) in rows {
        let mut hits = rank(*library, &row.moment, now, weights, &Unknown)?;
        let anything = anything(&hits);
        hits.truncate(if is_silent(&row.moment) { 0 } else { 8 * MAX_SHOWN });
        ranked.push(Ranked {
            rivals: rivals(&hits, &row.moment),
            is_right: hits.iter().map(|hit| row.gold.contains(&hit.note.name)).collect(),
            row: row.clone(),
            anything,
        });
    }
    Ok(ranked)
}

/// Says how good the floors of `weights` are on ranked moments.
pub fn measure_ranked(ranked: &[Ranked], weights: &Weights) -> Figures {
    let mut figures = Figures::default();
    for Ranked { row, rivals, is_right, anything } in ranked {
        let is_asked = asks_for_memory(&row.moment.prompt);
        let floor = if is_asked { weights.asked_floor } else { weights.floor };
        let picked = pick(rivals, *anything, floor, weights);
        let shown = picked.iter().zip(is_right).filter(|(skipped, _)| skipped.is_none());
        figures.add(row, shown.clone().count(), shown.filter(|(_, is)| **is).count());
    }
    figures
}

/// Tries floors and margins on ranked moments and keeps the best that respects the limit of false alarms.
///
/// Weights are surer of the moments they were fitted to than of any other, so the moments should be ranked by weights
/// that have not seen them.
pub fn set_floors(ranked: &[Ranked], weights: Weights, alarms: f64) -> Weights {
    let mut best: Option<(f64, Weights)> = None;
    for tried in floors(&weights) {
        let figures = measure_ranked(ranked, &tried);
        let excess = (figures.false_alarms() - alarms).max(0.0) + (PRECISION - figures.precision()).max(0.0);
        // Among tables that find as much the one that shows less is better.
        let value = figures.mean_hit() + 0.05 * figures.precision() - 10.0 * excess;
        if best.as_ref().is_none_or(|(known, _)| value > *known) {
            best = Some((value, tried));
        }
    }
    best.map_or(weights, |(_, weights)| weights)
}

/// Returns the tables with all floors and margins that are tried.
fn floors(weights: &Weights) -> Vec<Weights> {
    let mut tried = Vec::new();
    for floor in (40..=96).step_by(2).map(|n| n as f32 / 100.0) {
        for margin in [0.2, 0.3, 0.4, 0.5] {
            for together in [0.25, 0.5, 0.75, 1.0] {
                // Who asks for it gets a lower floor in any case.
                let asked_floor = ASKED * floor;
                tried.push(Weights { floor, asked_floor, margin, together, ..weights.clone() });
            }
        }
    }
    tried
}

/// The floor for who asks, as a share of the other one.
const ASKED: f32 = 0.5;
/// What is shown is right this often, at least.
const PRECISION: f64 = 0.9;
