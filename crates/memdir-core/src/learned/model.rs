//! The weights, and how a text is weighed.

use std::collections::BTreeMap;

use super::features::Feature;

/// Features are told apart by their hash, in so many places.
pub const BUCKETS: usize = 1 << 14;
/// What one sign counts, beside all words together.
const SIGN: f32 = 0.6;
/// What all words of a text count together.
const WORDS: f32 = 3.0;
/// So many different words and parts of words tell as much as more would.
const ENOUGH: f32 = 16.0;
/// Steps of a rarity in one byte.
const RARITY: f32 = 24.0;

/// A text as numbers: buckets with what each counts.
#[derive(Debug, Clone)]
pub struct Input(pub Vec<(usize, f32)>);

impl Input {
    /// Weighs features: a sign counts fully, a word by its `rarity`, and long texts no more than those of a sentence.
    pub fn new(features: &[Feature], rarity: &[u8]) -> Self {
        let mut signs = Vec::new();
        let mut words: BTreeMap<usize, f32> = BTreeMap::new();
        for feature in features {
            match feature {
                Feature::Sign(name) => signs.push((bucket(name), SIGN)),
                Feature::Word(name) => *words.entry(bucket(name)).or_default() += 1.0,
            }
        }
        let words: Vec<(usize, f32)> = words
            .into_iter()
            .map(|(bucket, n)| (bucket, (1.0 + n.ln()) * f32::from(rarity[bucket]) / RARITY))
            .collect();
        let length = words.iter().map(|(_, value)| value * value).sum::<f32>().sqrt().max(1e-6);
        // Of two or three words nobody can tell much.
        let told = (words.len() as f32 / ENOUGH).sqrt().min(1.0) * WORDS;
        let words = words.into_iter().map(|(bucket, value)| (bucket, value / length * told));
        Self(signs.into_iter().chain(words).collect())
    }

    /// Returns what one of a text's features counts.
    pub fn share(feature: &Feature, features: &[Feature], rarity: &[u8]) -> f32 {
        let wanted = bucket(feature.name());
        Self::new(features, rarity)
            .0
            .iter()
            .filter(|(bucket, _)| *bucket == wanted)
            .map(|(_, value)| value)
            .sum()
    }

    /// Returns how rare each bucket is among `texts`, in bytes.
    pub fn rarity(texts: &[Vec<Feature>]) -> Vec<u8> {
        let mut n_texts = vec![0u32; BUCKETS];
        for features in texts {
            let mut seen: Vec<usize> = features.iter().map(|feature| bucket(feature.name())).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.into_iter().for_each(|bucket| n_texts[bucket] += 1);
        }
        let rarity = |n: &u32| ((1.0 + texts.len() as f32) / (1.0 + *n as f32)).ln() + 1.0;
        n_texts.iter().map(|n| (rarity(n) * RARITY).min(255.0) as u8).collect()
    }
}

/// FNV-1a: stable over versions and machines, which the standard library's hash is not.
fn bucket(name: &str) -> usize {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash ^ (hash >> 32)) % BUCKETS as u64) as usize
}

/// The weights of one question: for each bucket and class a signed byte, for each class a bias.
#[derive(Debug, Clone)]
pub struct Model<'w> {
    /// What is asked.
    pub question: &'w str,
    /// What a text can be.
    pub classes: Vec<&'w str>,
    /// How much a weight of one counts.
    pub scale: f32,
    /// What each class starts with.
    pub bias: Vec<f32>,
    /// Bucket by bucket, class by class.
    pub weights: &'w [u8],
}

impl<'w> Model<'w> {
    /// Returns how much a feature speaks for a class, against the mean of all classes.
    pub fn weight(&self, feature: &Feature, class: &str) -> f32 {
        let n = self.classes.len();
        let row = self.weights[bucket(feature.name()) * n..][..n]
            .iter()
            .map(|weight| f32::from(weight.cast_signed()));
        let mean = row.clone().sum::<f32>() / n as f32;
        let own = self.classes.iter().zip(row).find(|(known, _)| **known == class);
        own.map_or(0.0, |(_, weight)| (weight - mean) * self.scale)
    }

    /// Returns each class and how probable it is.
    pub fn read(&self, input: &Input) -> Vec<(&'w str, f32)> {
        let mut scores = self.bias.clone();
        for (bucket, value) in &input.0 {
            let row = &self.weights[bucket * scores.len()..][..scores.len()];
            let weigh = |weight: &u8| f32::from(weight.cast_signed()) * self.scale * value;
            scores.iter_mut().zip(row).for_each(|(score, weight)| *score += weigh(weight));
        }
        softmax(&mut scores);
        self.classes.iter().copied().zip(scores).collect()
    }
}

/// Everything that was learned.
#[derive(Debug, Clone)]
pub struct Weights<'w> {
    /// How rare each bucket is.
    pub rarity: &'w [u8],
    models: Vec<Model<'w>>,
}

impl<'w> Weights<'w> {
    /// Reads a file: the rarities, then for each question a line `question scale class bias …` and its weights.
    pub fn parse(file: &'w [u8]) -> Option<Self> {
        let (rarity, mut file) = file.split_at_checked(BUCKETS)?;
        let mut models = Vec::new();
        while !file.is_empty() {
            let end = file.iter().position(|byte| *byte == b'\n')?;
            let mut words = std::str::from_utf8(&file[..end]).ok()?.split(' ');
            let (question, scale) = (words.next()?, words.next()?.parse().ok()?);
            let (mut classes, mut bias) = (Vec::new(), Vec::new());
            while let Some(class) = words.next() {
                classes.push(class);
                bias.push(words.next()?.parse().ok()?);
            }
            let (weights, rest) = file[end + 1..].split_at_checked(BUCKETS * classes.len())?;
            models.push(Model { question, classes, scale, bias, weights });
            file = rest;
        }
        Some(Self { rarity, models })
    }

    /// Returns the weights of a question.
    pub fn model(&self, question: &str) -> Option<&Model<'w>> {
        self.models.iter().find(|model| model.question == question)
    }
}

/// Makes probabilities of scores.
pub fn softmax(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}
