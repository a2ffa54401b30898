//! How good a ranking is, over many questions, and how sure that is.

use std::collections::BTreeMap;

/// Up to which place discounted gain counts.
const GAIN_DEPTH: usize = 10;
/// As often the questions are drawn anew for an interval.
const N_DRAWS: usize = 1_000;

/// How good the answer to one question is.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// The share of what is right among the first k, for each k.
    pub recall: BTreeMap<usize, f64>,
    /// Discounted gain of the first ten, 1 for the best order there is.
    pub ndcg: f64,
    /// One over the place of the first right answer; 0 if there is none.
    pub reciprocal: f64,
}

impl Measures {
    /// Measures a ranking, best first, against what is right; `None` if nothing is right.
    pub fn of<T: PartialEq>(ranking: &[T], gold: &[T], depths: &[usize]) -> Option<Self> {
        if gold.is_empty() {
            return None;
        }
        let places: Vec<usize> = (0..ranking.len()).filter(|&at| gold.contains(&ranking[at])).collect();
        let share = |&k: &usize| {
            let found = places.iter().filter(|&&at| at < k).count();
            (k, found as f64 / gold.len() as f64)
        };
        let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
        let most: f64 = (0..gold.len().min(GAIN_DEPTH)).map(gain).sum();
        let gained: f64 = places.iter().filter(|&&at| at < GAIN_DEPTH).map(|&at| gain(at)).sum();
        Some(Self {
            recall: depths.iter().map(share).collect(),
            ndcg: gained / most,
            reciprocal: places.first().map_or(0.0, |&at| 1.0 / (at + 1) as f64),
        })
    }
}

/// Means over questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// How many questions had something right.
    pub n: usize,
    /// The means, by name: `recall@5`, `ndcg@10`, `mrr`.
    pub means: Vec<(String, f64)>,
}

impl Figures {
    /// Returns the means over some questions; all zero where there are none.
    pub fn of<'m>(measures: impl IntoIterator<Item = &'m Measures>, depths: &[usize]) -> Self {
        let measures: Vec<&Measures> = measures.into_iter().collect();
        let names = names(depths);
        let mut sums = vec![0.0; names.len()];
        for measures in &measures {
            sums.iter_mut().zip(values(measures)).for_each(|(sum, value)| *sum += value);
        }
        let n = measures.len();
        let means = names.into_iter().zip(sums).map(|(name, sum)| (name, sum / n.max(1) as f64));
        Self { n, means: means.collect() }
    }
}

/// The least and the greatest that a mean may be, 95 times of 100.
pub type Interval = (f64, f64);

/// Returns the interval of each mean by drawing the questions anew many times. The same questions give the same
/// intervals: what is drawn follows from `seed`.
pub fn intervals(measures: &[Measures], depths: &[usize], seed: u64) -> Vec<(String, Interval)> {
    let names = names(depths);
    let rows: Vec<Vec<f64>> = measures.iter().map(|measures| values(measures).collect()).collect();
    let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(N_DRAWS); names.len()];
    let mut state = seed;
    for _ in 0..N_DRAWS {
        let mut sums = vec![0.0; names.len()];
        for _ in &rows {
            let row = &rows[(next(&mut state) % rows.len() as u64) as usize];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        for (drawn, sum) in drawn.iter_mut().zip(sums) {
            drawn.push(sum / rows.len().max(1) as f64);
        }
    }
    let interval = |mut means: Vec<f64>| {
        means.sort_unstable_by(f64::total_cmp);
        (means[N_DRAWS / 40], means[N_DRAWS - 1 - N_DRAWS / 40])
    };
    names.into_iter().zip(drawn).map(|(name, means)| (name, interval(means))).collect()
}

fn names(depths: &[usize]) -> Vec<String> {
    let depths: BTreeMap<usize, ()> = depths.iter().map(|&k| (k, ())).collect();
    let recalls = depths.keys().map(|k| format!("recall@{k}"));
    recalls.chain([format!("ndcg@{GAIN_DEPTH}"), "mrr".to_owned()]).collect()
}

fn values(measures: &Measures) -> impl Iterator<Item = f64> {
    measures.recall.values().copied().chain([measures.ndcg, measures.reciprocal])
}

/// Draws a number (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
