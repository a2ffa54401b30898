//! Readers never wait for writers and read either version whole.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::Sandbox;

use crate::setup::{prose, sandbox};

/// How long the writer alternates; the promise's ten seconds are `MEMDIR_REPEAT` of these.
const WHILE: Duration = Duration::from_secs(3);

/// K7.
#[test]
fn every_read_beside_a_busy_writer_is_one_of_the_two_versions_whole() {
    let sandbox = sandbox();
    let bodies = [long_body(1), long_body(2)];
    let versions = [0, 1].map(|number| {
        write(&sandbox, &bodies[number]);
        sandbox.read("hot")
    });
    write(&sandbox, &bodies[0]);
    assert_eq!(sandbox.read("hot"), versions[0], "with a fixed clock a version is always the same bytes");

    let is_over = AtomicBool::new(false);
    let seen: BTreeSet<usize> = thread::scope(|scope| {
        let readers: Vec<_> = (0..8)
            .map(|number| {
                let (sandbox, versions, is_over) = (&sandbox, &versions, &is_over);
                scope.spawn(move || read_until(is_over, versions, || read(sandbox, number)))
            })
            .collect();
        let end = Instant::now() + WHILE;
        for number in (0..2).cycle().take_while(|_| Instant::now() < end) {
            write(&sandbox, &bodies[number]);
        }
        is_over.store(true, Ordering::Relaxed);
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    });
    assert_eq!(seen, BTreeSet::from([0, 1]), "the readers met both versions");
}

/// Reads the way half of the world does, and the way our own command does.
fn read(sandbox: &Sandbox, number: usize) -> String {
    if number.is_multiple_of(2) {
        thread::sleep(Duration::from_millis(1));
        return fs::read_to_string(sandbox.memory("hot")).unwrap();
    }
    sandbox.memdir(&["show", "hot", "--raw"]).ok().stdout
}

/// Reads until the writer is done and returns which versions came up.
fn read_until(is_over: &AtomicBool, versions: &[String; 2], read: impl Fn() -> String) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    while !is_over.load(Ordering::Relaxed) {
        let text = read();
        let version = versions.iter().position(|version| *version == text);
        seen.insert(version.unwrap_or_else(|| panic!("neither version: {} bytes\n{text}", text.len())));
    }
    seen
}

fn write(sandbox: &Sandbox, body: &str) {
    let save = sandbox.memdir(&["save", "hot", "--type", "project", "--description", "a busy memory"]);
    save.stdin(body).ok();
}

/// Some 40 KB, so that a torn write would show.
fn long_body(number: usize) -> String {
    (0..200).map(|line| prose(number * 1000 + line) + "\n").collect()
}
