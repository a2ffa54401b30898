//! Two writers and ten readers at once: nobody errs, and every reader sees some moment of the writing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

const ALL: u64 = 42;
const N_ROUNDS: u64 = 120;

#[test]
fn two_writers_and_ten_readers_do_not_disturb_each_other() {
    let temp = tempfile::tempdir().unwrap();
    Writer::open(temp.path(), tiny()).unwrap().rebuild([]).unwrap();
    let n_writing = AtomicUsize::new(2);
    thread::scope(|scope| {
        for name in ["a", "b"] {
            let (path, n_writing) = (temp.path(), &n_writing);
            scope.spawn(move || {
                for n in 0..N_ROUNDS {
                    write(path, name, n);
                }
                n_writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for _ in 0..10 {
            scope.spawn(|| {
                let mut last = 0;
                while n_writing.load(Ordering::SeqCst) > 0 {
                    let seen = look(temp.path());
                    assert!(seen >= last, "{seen} after {last}");
                    last = seen;
                }
            });
        }
    });
    assert_eq!(look(temp.path()), 2 * N_ROUNDS as usize + 1);
}

fn write(path: &Path, name: &str, n: u64) {
    let mut writer = Writer::open(path, tiny()).unwrap();
    let entry = |key: String| Entry {
        key,
        terms: vec![(ALL, n as u16 + 1)],
        length: 1,
        vector: Some(row(n as i8 % 3, 1, 0)),
        ..Entry::default()
    };
    writer.apply(vec![entry(format!("{name}{n}")), entry("shared".to_owned())], vec![]).unwrap();
}

/// Opens the index, asserts that it is whole, and returns how many documents it has.
fn look(path: &Path) -> usize {
    let index = open(path).unwrap();
    let postings = index.postings(ALL).unwrap();
    assert_eq!(postings.len(), index.len());
    assert_eq!(index.total_length(), index.len() as u64);
    assert_eq!(index.nearest(&row(1, 1, 0), 1000, 1000).unwrap().len(), index.len());
    for name in ["a", "b"] {
        let has = |n: u64| index.by_key(&format!("{name}{n}")).unwrap().is_some();
        // Each writer's documents came in order.
        let n_there = (0..N_ROUNDS).take_while(|&n| has(n)).count() as u64;
        assert!(n_there == N_ROUNDS || !has(n_there + 1));
    }
    index.len()
}
