//! The reference's tokens and vectors, and what the stored form keeps of a vector.

use super::*;

/// `ids TAB text` a line, ids by the teacher's own tokenizer; `check_tokens.py --hardest` writes it.
const HARDEST: &str = include_str!("fixtures/tokens.txt");
/// `text TAB ids TAB components × 10,000` a line; `train.py` writes it beside the table.
const EXPECTED: &str = include_str!("fixtures/vectors.txt");

/// Reads a text in which `\u{…}` stands for a character.
fn unescape(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Vec<T> {
    text.split_ascii_whitespace().map(|word| word.parse().unwrap()).collect()
}

fn cosine_of(a: &str, b: &str) -> f32 {
    vector(a).unwrap().cosine(&vector(b).unwrap())
}

#[test]
fn tokens_of_the_hardest_lines_are_those_of_the_reference() {
    let mut n_lines = 0;
    for line in HARDEST.lines() {
        let (ids, text) = line.split_once('\t').unwrap();
        assert_eq!(tokens(&unescape(text)), numbers::<u16>(ids), "{text}");
        n_lines += 1;
    }
    assert!(n_lines >= 300, "{n_lines}");
}

#[test]
fn vectors_are_those_of_the_reference() {
    let mut n_vectors = 0;
    for line in EXPECTED.lines() {
        let [text, ids, components] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let text = unescape(text);
        assert_eq!(tokens(&text), numbers::<u16>(ids), "{text}");
        let expected: Vec<f32> = numbers(components);
        let Some(vector) = vector(&text) else {
            assert!(expected.is_empty(), "{text}");
            continue;
        };
        let dot: f32 = vector.components().iter().zip(&expected).map(|(a, b)| a * b).sum();
        let length = expected.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!(dot / length >= 0.9999, "{text}: {}", dot / length);
        n_vectors += 1;
    }
    assert_eq!(n_vectors, 17);
}

#[test]
fn a_text_of_unknown_words_has_no_vector() {
    for text in ["", " \n\t", "\u{200b}\u{7}", "🚀🚀", &"x".repeat(101)] {
        assert_eq!(vector(text), None, "{text:?}");
    }
}

#[test]
fn a_vector_has_length_one() {
    for text in ["a", "the", "never deploy on Friday", &"log line 17\n".repeat(10_000)] {
        let vector = vector(text).unwrap();
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-5, "{text:.20}");
    }
}

#[test]
fn the_same_in_other_words_is_nearer_than_something_else() {
    let note = "Integration tests use a real database, mocks hid a broken migration";
    let same = cosine_of(note, "should I stub out postgres in this test suite");
    let other = cosine_of(note, "the logo needs a darker shade of green");
    assert!(same > other + 0.1, "{same} {other}");
}

#[test]
fn only_the_first_tokens_count() {
    let long = "memory ".repeat(MAX_TOKENS);
    assert_eq!(tokens(&long).len(), MAX_TOKENS);
    assert_eq!(tokens(&format!("{long} and what follows")), tokens(&long));
    let ideographs = "中".repeat(MAX_TOKENS + 1);
    assert_eq!(tokens(&ideographs).len(), MAX_TOKENS);
}

#[test]
fn bytes_keep_the_cosine() {
    let texts: Vec<String> = HARDEST.lines().map(|line| unescape(line.split_once('\t').unwrap().1)).collect();
    let vectors: Vec<Vector> = texts.iter().filter_map(|text| vector(text)).collect();
    assert!(vectors.len() > 200, "{}", vectors.len());
    for (a, b) in vectors.iter().zip(&vectors[1..]) {
        let stored = dot(&a.to_bytes(), &b.to_bytes()) as f32 / DOT_SCALE;
        assert!((stored - a.cosine(b)).abs() < 0.02, "{stored} {}", a.cosine(b));
    }
}

#[test]
fn the_dot_product_counts_every_component() {
    let row: Row = std::array::from_fn(|i| (i % 255) as i8);
    let one_by_one: i32 = row.iter().map(|&x| i32::from(x) * i32::from(x)).sum();
    assert_eq!(dot(&row, &row), one_by_one);
    for position in 0..DIMENSIONS {
        let mut only: Row = [0; DIMENSIONS];
        only[position] = -127;
        assert_eq!(dot(&only, &row), -127 * i32::from(row[position]), "{position}");
    }
}

#[test]
fn nothing_is_cut_off_in_bytes() {
    let mut along_an_axis = [0.0; DIMENSIONS];
    along_an_axis[3] = -9.0;
    let row = Vector::pointing(along_an_axis).unwrap().to_bytes();
    assert_eq!(row[3], -127);
    assert_eq!(dot(&row, &row) as f32, DOT_SCALE);
}

#[test]
fn topics_are_stored_vectors_apart_from_each_other() {
    let topics = centroids();
    assert_eq!(topics.len(), 256);
    for (number, topic) in topics.iter().enumerate() {
        let length = (dot(topic, topic) as f32 / DOT_SCALE).sqrt();
        assert!((length - 1.0).abs() < 0.02, "{number}: {length}");
        let nearest = topics
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != number)
            .map(|(_, other)| dot(topic, other));
        assert!(nearest.max().unwrap() as f32 / DOT_SCALE < 0.97, "{number}");
    }
}

#[test]
fn the_same_in_other_words_is_in_a_topic_nearby() {
    let nearest = |text: &str| {
        let row = vector(text).unwrap().to_bytes();
        let mut order: Vec<usize> = (0..centroids().len()).collect();
        order.sort_by_key(|&topic| -dot(&row, &centroids()[topic]));
        order
    };
    for (one, two) in [
        ("how do I undo the last commit", "revert my most recent git revision"),
        ("the query planner ignores the index", "postgres does a sequential scan of the table"),
        ("a mutable borrow outlives its owner", "lifetime error in a struct that holds a reference"),
    ] {
        let topic = nearest(two)[0];
        assert!(nearest(one)[..16].contains(&topic), "{one} / {two}");
    }
}
