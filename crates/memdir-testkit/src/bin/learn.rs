//! Learns the weights of `memdir_core::learned` from labelled sentences.
//!
//! `learn OUT ROWS…` reads JSON lines with a `text` and the labels `act` and `gate`, either of which may be missing,
//! and writes the weights. `learn --check ROWS…` says how well one fifth is read after learning from the others.
//! The same rows give the same bytes.
#![expect(clippy::print_stdout, reason = "a program for developers that reports figures")]
#![expect(clippy::unwrap_used, reason = "a program for developers reports by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use memdir_core::learned::{BUCKETS, Feature, Input, Question, Weights, softmax};
use memdir_core::statement;
use memdir_testkit::Random;
use serde_json::Value;

/// How often the weights are moved.
const STEPS: usize = 250;
/// How far a weight moves at once.
const STEP: f32 = 0.05;
/// How strongly weights are held at zero, against one row.
const PULL: f32 = 1.0;
/// Into how many parts the rows are cut for a check.
const FOLDS: usize = 5;

fn main() {
    let mut args = std::env::args().skip(1);
    let first = args.next().expect("usage: learn OUT|--check ROWS…");
    let rows: Vec<Value> = args.flat_map(|path| read(&path)).collect();
    if first == "--check" {
        Question::ALL.iter().for_each(|question| check(question.as_str(), &rows));
    } else {
        std::fs::write(first, learn(&Question::ALL.map(Question::as_str), &rows.iter().collect::<Vec<_>>()))
            .unwrap();
    }
}

fn read(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|err| panic!("{path}: {err}"));
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|err| panic!("{path}: {err}: {line}"));
    text.lines().map(parse).collect()
}

fn features_of(row: &Value) -> Vec<Feature> {
    let text = row["text"].as_str().expect("a row has a text");
    statement::read(text).features().to_vec()
}

/// Learns from all rows but one fifth and counts what is right in that fifth, five times.
fn check(question: &str, rows: &[Value]) {
    let mut rows: Vec<&Value> = rows.iter().filter(|row| row[question].is_string()).collect();
    let mut random = Random::new(7);
    for at in (1..rows.len()).rev() {
        rows.swap(at, random.below(at + 1));
    }
    let mut n_right: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut confused: BTreeMap<(String, String), usize> = BTreeMap::new();
    for fold in 0..FOLDS {
        let (mut others, mut asked) = (Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate() {
            if at % FOLDS == fold { asked.push(*row) } else { others.push(*row) }
        }
        let file = learn(&[question], &others);
        let weights = Weights::parse(&file).unwrap();
        let model = weights.model(question).unwrap();
        for row in asked {
            let read = model.read(&Input::new(&features_of(row), weights.rarity));
            let best = read.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
            let label = row[question].as_str().unwrap();
            let language = n_right.entry(row["lang"].as_str().unwrap_or("?")).or_default();
            language.1 += 1;
            if best == label {
                language.0 += 1;
            } else {
                *confused.entry((label.to_owned(), best.to_owned())).or_default() += 1;
            }
        }
    }
    let (right, all) = n_right.values().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    println!(
        "{question}: {right} of {all} right ({:.3}); by language {n_right:?}",
        right as f32 / all as f32
    );
    let mut confused: Vec<_> = confused.into_iter().collect();
    confused.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for ((is, read), n) in confused.into_iter().take(15) {
        println!("  {n:3} × {is} read as {read}");
    }
}

/// Learns the answers to `questions`, and returns the file of weights.
fn learn(questions: &[&str], rows: &[&Value]) -> Vec<u8> {
    let features: Vec<Vec<Feature>> = rows.iter().map(|row| features_of(row)).collect();
    let mut file = Input::rarity(&features);
    let inputs: Vec<Input> = features.iter().map(|features| Input::new(features, &file)).collect();
    for question in questions {
        let label = |row: &Value| row[*question].as_str().map(str::to_owned);
        let mut classes: Vec<String> = rows.iter().filter_map(|row| label(row)).collect();
        classes.sort();
        classes.dedup();
        let class =
            |row: &Value| label(row).and_then(|label| classes.iter().position(|class| *class == label));
        let answered: Vec<(&Input, usize)> =
            inputs.iter().zip(rows).filter_map(|(input, row)| Some((input, class(row)?))).collect();
        let (bias, weights) = descend(&answered, classes.len());
        file.extend(print_model(question, &classes, &bias, &weights));
    }
    file
}

/// Finds the weights of a logistic regression in which each class counts the same, by Adam over all rows at once.
fn descend(rows: &[(&Input, usize)], n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut sizes = vec![0usize; n];
    rows.iter().for_each(|(_, class)| sizes[*class] += 1);
    let worth: Vec<f32> = sizes.iter().map(|size| rows.len() as f32 / (n * size) as f32).collect();
    let mut weights = vec![0f32; (BUCKETS + 1) * n];
    let (mut mean, mut spread) = (weights.clone(), weights.clone());
    let bias = BUCKETS * n;
    for step in 1..=STEPS {
        let mut slope: Vec<f32> = weights.iter().map(|weight| weight * PULL).collect();
        slope[bias..].fill(0.0);
        for (input, class) in rows {
            let mut scores = weights[bias..].to_vec();
            for (bucket, value) in &input.0 {
                (0..n).for_each(|at| scores[at] += weights[bucket * n + at] * value);
            }
            softmax(&mut scores);
            scores[*class] -= 1.0;
            scores.iter_mut().for_each(|score| *score *= worth[*class]);
            for (bucket, value) in &input.0 {
                (0..n).for_each(|at| slope[bucket * n + at] += scores[at] * value);
            }
            (0..n).for_each(|at| slope[bias + at] += scores[at]);
        }
        let (early_mean, early_spread) = (1.0 - 0.9f32.powi(step as i32), 1.0 - 0.999f32.powi(step as i32));
        for (at, slope) in slope.iter().enumerate() {
            mean[at] = 0.9 * mean[at] + 0.1 * slope;
            spread[at] = 0.999 * spread[at] + 0.001 * slope * slope;
            weights[at] -= STEP * (mean[at] / early_mean) / ((spread[at] / early_spread).sqrt() + 1e-8);
        }
    }
    (weights.split_off(bias), weights)
}

fn print_model(question: &str, classes: &[String], bias: &[f32], weights: &[f32]) -> Vec<u8> {
    let most = weights.iter().fold(1e-6f32, |most, weight| most.max(weight.abs()));
    let scale = most / 127.0;
    let mut head = format!("{question} {scale}");
    for (class, bias) in classes.iter().zip(bias) {
        write!(head, " {class} {bias:.4}").unwrap();
    }
    let mut file = format!("{head}\n").into_bytes();
    file.extend(weights.iter().map(|weight| ((weight / scale).round() as i8).cast_unsigned()));
    file
}
