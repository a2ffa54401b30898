//! A small log with known answers, and each part of its scores.

use crate::terms::Term;

use super::turn::sentences;
use super::*;

const SAID: [(&str, &str, &str, &str); 8] = [
    ("one", "Ada", "2023-05-08T13:56:00", "Hello Ben! How was the trip to the coast?"),
    ("one", "Ben", "2023-05-08T13:56:00", "Great. We saw seals on the rocks! The kids were thrilled."),
    ("one", "Ada", "2023-05-08T13:56:00", "Which camera did you take along?"),
    ("one", "Ben", "2023-05-08T13:56:00", "The old one with the broken strap."),
    ("two", "Ada", "2023-06-20", "I started to learn pottery in the evening."),
    ("two", "Ben", "2023-06-20", "Pottery? I would drop every bowl."),
    ("two", "Ada", "2023-06-20", "So do I. My first vase leans like a tower."),
    ("two", "Ben", "2023-06-20", "Bring it along, I will give it a home."),
];

fn turn(at: usize) -> Turn {
    let (session, speaker, date, text) = SAID[at];
    Turn {
        id: format!("t{at}"),
        session: session.to_owned(),
        position: at as u32,
        speaker: speaker.to_owned(),
        date: date.to_owned(),
        text: text.to_owned(),
    }
}

fn turns() -> Vec<Turn> {
    (0..SAID.len()).map(turn).collect()
}

/// Opens turns the way an index would: through what it keeps of them.
fn open(turns: &[Turn]) -> (Log, Vec<Indexed>) {
    let indexed: Vec<Indexed> = turns.iter().map(Turn::indexed).collect();
    let member = |indexed: &Indexed| Member {
        stored: Stored::read(&indexed.payload).unwrap(),
        length: indexed.length,
        row: indexed.row,
    };
    (Log::new(indexed.iter().map(member).collect()), indexed)
}

fn counts(indexed: &[Indexed], question: &Question) -> Vec<Vec<(usize, u32)>> {
    let of = |term: &Term| {
        let count = |(at, indexed): (usize, &Indexed)| {
            let found = indexed.terms.iter().find(|(known, _)| known == term)?;
            Some((at, u32::from(found.1)))
        };
        indexed.iter().enumerate().filter_map(count).collect()
    };
    question.terms().iter().map(of).collect()
}

fn features(text: &str) -> (Log, Features) {
    let (log, indexed) = open(&turns());
    let question = Question::new(text);
    let features = log.features(&question, &counts(&indexed, &question));
    (log, features)
}

fn best(question: &str) -> usize {
    let (log, features) = features(question);
    let scores = log.scores(&features, &Weights::fitted());
    log.best(&scores, 1)[0]
}

#[test]
fn the_turn_that_answers_comes_first() {
    assert_eq!(best("When did Ada begin with pottery?"), 4);
    assert_eq!(best("What animals did Ben see at the sea?"), 1);
    assert_eq!(best("Whose camera has a broken strap?"), 3);
}

#[test]
fn a_turn_is_read_back_from_its_payload() {
    for turn in turns() {
        let payload = turn.indexed().payload;
        assert_eq!(Stored::read(&payload).unwrap().turn, turn);
        assert_eq!(Stored::read(&payload[..payload.len() - 1]), None);
        assert_eq!(Stored::read(&payload[..9]), None);
    }
    assert_eq!(Stored::read(&turn(1).indexed().payload).unwrap().sentences.len(), 3);
    assert!(Stored::read(&turn(2).indexed().payload).unwrap().sentences.is_empty());
}

#[test]
fn parts_are_scaled_over_the_log() {
    let (_, features) = features("pottery in the evening with Ada");
    for part in [&features.words, &features.window, &features.meaning, &features.sentence, &features.session]
    {
        assert_eq!(part.iter().copied().fold(f32::INFINITY, f32::min), 0.0);
        assert_eq!(part.iter().copied().fold(0.0, f32::max), 1.0);
    }
    // A part that is equal everywhere says nothing.
    let (_, features) = self::features("xyzzy");
    assert!(features.words.iter().chain(&features.session).all(|&value| value == 0.0));
}

#[test]
fn words_and_windows_score_as_counted_by_hand() {
    let (_, features) = features("pottery");
    // Two turns of eight have it. Turn 4 has the terms ada start learn potteri even june 20 2023.
    let lengths: Vec<f32> = turns().iter().map(|turn| turn.indexed().length as f32).collect();
    let mean = lengths.iter().sum::<f32>() / 8.0;
    let score = |at: usize| 2.2 / (1.0 + 1.2 * lengths[at] / mean);
    let (first, second) = (score(4), score(5));
    assert_eq!(lengths[4], 8.0);
    assert!((features.words[4] - first / first.max(second)).abs() < 1e-5);
    assert!((features.words[5] - second / first.max(second)).abs() < 1e-5);
    // Its window reaches one turn further, and never into another session.
    let has_it: Vec<bool> = features.window.iter().map(|&value| value > 0.0).collect();
    assert_eq!(has_it, [false, false, false, false, true, true, true, false]);
    assert_eq!(features.session, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn a_date_is_found_in_its_turn_alone() {
    let (_, features) = features("What was said on the 8th of May, in May 2023?");
    let (may, june) = features.words.split_at(4);
    assert!(may.iter().all(|value| june.iter().all(|other| value > other)));
    // The date is not among what a session is found by, so May says nothing for one.
    let (_, features) = self::features("Say it: May");
    assert!(features.words[0] > 0.0);
    assert!(features.session.iter().all(|&value| value == 0.0));
}

#[test]
fn a_speaker_is_named_by_name_and_short_form() {
    let named = |question: &str, speaker: &str| Question::new(question).names(speaker);
    assert!(named("What is Caroline's plan?", "Caroline"));
    assert!(named("what did caroline say", "Caroline Smith"));
    assert!(named("Where does Mel live?", "Melanie"));
    assert!(!named("where does mel live?", "Melanie"));
    assert!(!named("And then?", "Andrew"));
    assert!(!named("Which user did I use?", "user"));
    let (_, features) = features("What does Ben own?");
    assert_eq!(features.speaker, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    let (_, features) = self::features("What do Ada and Ben own?");
    assert_eq!(features.speaker, [0.0; 8]);
}

#[test]
fn neighbours_are_those_of_the_session_also_when_sessions_alternate() {
    let mut turns = turns();
    turns.sort_by_key(|turn| turn.position % 4);
    let (log, _) = open(&turns);
    let beside = |at: usize| -> Vec<&str> {
        log.beside(at).map(|at| log.members()[at].stored.turn.id.as_str()).collect()
    };
    assert_eq!(beside(2), ["t0", "t2"]);
    assert_eq!(beside(1), ["t5"]);
}

#[test]
fn a_long_turn_leans_less_on_its_neighbours() {
    let only_neighbours = |long: &str| {
        let mut turns = turns();
        turns[6].text = format!("So do I. {long}");
        let (log, indexed) = open(&turns);
        let question = Question::new("drop every bowl");
        let features = log.features(&question, &counts(&indexed, &question));
        let weights = |neighbours: f32| Weights { neighbours, ..Weights::fitted() };
        let scores = |neighbours| log.scores(&features, &weights(neighbours))[6];
        scores(1.0) - scores(0.0)
    };
    let (short, long) = (only_neighbours(""), only_neighbours(&"A tower leans. ".repeat(80)));
    // The neighbour scores nearly the same in both: it is the turn's own length that counts.
    assert!(long > 0.0 && long < 0.7 * short, "{short} {long}");
}

#[test]
fn a_set_counts_by_the_root_of_its_size() {
    let (log, indexed) = open(&turns());
    let asked = |gold: usize| {
        let question = Question::new("strap");
        let features = log.features(&question, &counts(&indexed, &question));
        // Among eight turns nothing is beyond the tenth place: a turn that is not there is never found.
        Labelled { log: &log, features, gold: vec![gold], n_gold: 1 }
    };
    let found: Vec<Labelled> = (0..4).map(|_| asked(3)).collect();
    let sets = vec![found, vec![asked(99)]];
    assert_eq!(values(&sets, &Weights::fitted()), [1.0, 0.0]);
    assert_eq!(value(&sets, &Weights::fitted()), 2.0 / 3.0);
}

#[test]
fn sentences_end_at_their_marks() {
    let cut = |text| sentences(text).collect::<Vec<_>>();
    assert_eq!(cut("One. Two!  Three?\nFour"), ["One.", "Two!", "Three?", "Four"]);
    assert_eq!(cut("v1.2 stays\nwhole"), ["v1.2 stays\nwhole"]);
    assert_eq!(cut("- a\n\n- b"), ["- a\n", "- b"]);
    assert_eq!(cut("  "), [] as [&str; 0]);
}

#[test]
fn measures_are_those_of_the_textbook() {
    let measures = Measures::of(&["a", "b", "c", "d"], &["b", "d", "x"], &[1, 2, 4]).unwrap();
    let recall: Vec<f64> = measures.recall.values().copied().collect();
    assert_eq!(recall, [0.0, 1.0 / 3.0, 2.0 / 3.0]);
    assert_eq!(measures.reciprocal, 0.5);
    let gain = |place: f64| 1.0 / (place + 1.0).log2();
    let expected = (gain(2.0) + gain(4.0)) / (gain(1.0) + gain(2.0) + gain(3.0));
    assert!((measures.ndcg - expected).abs() < 1e-12);
    assert_eq!(Measures::of(&["a"], &[], &[1]), None);
}

#[test]
fn an_interval_holds_the_mean_and_narrows_with_the_number_of_questions() {
    let measures = |n: usize| -> Vec<Measures> {
        let ranking = |at: usize| if at.is_multiple_of(3) { ["x"] } else { ["a"] };
        (0..n).filter_map(|at| Measures::of(&ranking(at), &["a"], &[1])).collect()
    };
    let width = |n: usize| {
        let measures = measures(n);
        let (name, (low, high)) = intervals(&measures, &[1], 7).remove(0);
        let (mean_name, mean) = Figures::of(&measures, &[1]).means.remove(0);
        assert_eq!(name, mean_name);
        assert!(low < mean && mean < high, "{low} {mean} {high}");
        high - low
    };
    assert!(width(600) < width(60));
    assert_eq!(intervals(&measures(60), &[1], 7), intervals(&measures(60), &[1], 7));
    assert!(intervals(&[], &[1], 7).iter().all(|(_, interval)| *interval == (0.0, 0.0)));
}

#[test]
fn fitting_finds_what_helps_and_is_repeatable() {
    let (log, indexed) = open(&turns());
    let labelled = |text: &str, gold: usize| {
        let question = Question::new(text);
        let features = log.features(&question, &counts(&indexed, &question));
        Labelled { log: &log, features, gold: vec![gold], n_gold: 1 }
    };
    let sets = || vec![vec![labelled("strap", 3), labelled("seals", 1), labelled("vase", 6)]];
    let nothing =
        Weights::parse("words 0\nwindow 0\nmeaning 0\nsentence 0\nneighbours 0\nsession 0\nspeaker 0\n")
            .unwrap();
    assert!(value(&sets(), &nothing) < 1.0);
    let fitted = fit(&sets(), &nothing, |_, _| {});
    assert_eq!(value(&sets(), &fitted), 1.0);
    assert_eq!(fit(&sets(), &nothing, |_, _| {}), fitted);
}

#[test]
fn the_table_is_read_and_written() {
    let weights = Weights::fitted();
    assert_eq!(Weights::parse(&weights.to_table()), Some(weights));
    assert_eq!(Weights::parse("words 1\n"), None);
    assert_eq!(Weights::parse(&format!("{}other 1\n", weights.to_table())), None);
}
