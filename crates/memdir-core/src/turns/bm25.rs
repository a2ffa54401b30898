//! BM25 over the few texts of one log, from counts that somebody else took.

/// How a text's length and a repeated word count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// How soon a repeated word stops to count.
    pub(super) k1: f32,
    /// How much a long text is held back.
    pub(super) b: f32,
}

/// Scores texts of these lengths. `counts` has, for each term, the texts that have it with how often.
pub(super) fn scores(shape: Shape, lengths: &[u32], counts: &[Vec<(usize, u32)>]) -> Vec<f32> {
    let n = lengths.len() as f32;
    let mean = lengths.iter().map(|&length| length as f32).sum::<f32>() / n.max(1.0);
    let mean = if mean > 0.0 { mean } else { 1.0 };
    let mut scores = vec![0.0; lengths.len()];
    for having in counts {
        let n_having = having.len() as f32;
        let rarity = (1.0 + (n - n_having + 0.5) / (n_having + 0.5)).ln();
        for &(text, count) in having {
            let count = count as f32;
            let held_back = shape.k1 * (1.0 - shape.b + shape.b * lengths[text] as f32 / mean);
            scores[text] += rarity * count * (shape.k1 + 1.0) / (count + held_back);
        }
    }
    scores
}
