//! A seeded simulation: random saves, edits, renames, forgets, undos, kills and restarts against a model in memory.
//!
//! After each kill the vault is as it was before or after the one command in flight; in the end nothing that was
//! acknowledged is lost and everything derived equals a rebuild. A failing seed prints its commands; repeat it with
//! `MEMDIR_SIM_SEED=s`. `MEMDIR_SIM_SEEDS=n` sets how many are run, `MEMDIR_TEST_BINARY` which binary.
#![cfg(target_os = "linux")]

mod model;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, thread};

use memdir_testkit::Random;
use world::World;

/// Few enough for every `cargo test`; the test command asks for a thousand.
const DEFAULT_SEEDS: u64 = 20;
const STEPS: usize = 25;

#[test]
#[expect(clippy::print_stdout, reason = "a failed run's log must say which seeds it played")]
fn no_seed_loses_what_was_acknowledged() {
    let tools = Tools::build();
    let seeds = seeds();
    println!("seeds {} to {}, MEMDIR_SIM_SEED repeats one", seeds.start, seeds.end - 1);
    let next = AtomicU64::new(seeds.start);
    let failures = Mutex::new(Vec::new());
    let n_threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some(seed) = take_seed(&next, seeds.end) {
                    if let Err(failure) = run_seed(&tools, seed) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let n_failed = failures.len();
    assert!(failures.is_empty(), "{n_failed} seeds failed; the first:\n{}", failures[0]);
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().expect("a whole number"));
    match number("MEMDIR_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("MEMDIR_SIM_SEEDS").unwrap_or(DEFAULT_SEEDS),
    }
}

fn take_seed(next: &AtomicU64, end: u64) -> Option<u64> {
    let seed = next.fetch_add(1, Ordering::Relaxed);
    (seed < end).then_some(seed)
}

/// Plays one seed and returns what went wrong, with everything that led to it.
fn run_seed(tools: &Tools, seed: u64) -> Result<(), String> {
    let mut world = World::new(tools, seed);
    let mut random = Random::new(seed);
    let mut play = || (0..STEPS).try_for_each(|_| world.step(&mut random)).and_then(|()| world.settle());
    let played =
        catch_unwind(AssertUnwindSafe(&mut play)).unwrap_or_else(|_| Err("the harness panicked".to_owned()));
    played.map_err(|problem| format!("seed {seed}: {problem}\n{}", world.story()))
}

/// What a simulation needs beside memdir.
struct Tools {
    killat: PathBuf,
    /// A RAM disk where there is one: a thousand seeds wait for no disk.
    place: PathBuf,
}

impl Tools {
    fn build() -> Self {
        let killat = Path::new(env!("CARGO_TARGET_TMPDIR")).join("killat");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/crash/killat.c");
        let built = Command::new("cc").args(["-O1", "-o"]).args([&killat, &source]).status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "a C compiler is needed to build {}",
            source.display()
        );
        let ram = Path::new("/dev/shm");
        let place = if ram.is_dir() { ram.to_owned() } else { env::temp_dir() };
        Self { killat, place }
    }
}
