//! What the gate adds to a save: weighing one memory against a large repository, as a ratio to the durable write.
//!
//! `cargo bench -p memdir --bench gate` makes a repository of 50,000 files in git's index and weighs a memory of 2 KiB,
//! with everything of the project opened anew each time: secrets, dates, place, worth. The baseline is the durable write of
//! a save, five fsyncs. Both run by turns in one loop, so that a busy machine slows both; the figure is the ratio of the
//! medians. Tables are taken apart once a process; the first round shows what that costs.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints and has nobody to report to"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memdir_core::memory::MemoryType;
use memdir_core::placement::{self, Place};
use memdir_core::policy::{self, Review};
use memdir_core::secrets::Scanner;
use memdir_core::statement::gist;
use memdir_core::{dates, worth};
use memdir_store::disk::Dir;
use memdir_store::gate::Gate;
use memdir_store::place::{Environment, locate};
use memdir_store::surroundings::Surroundings;

const N_FILES: usize = 50_000;
/// Files that exist on disk too; the others stand only in the index, which is all that the gate reads.
const N_WRITTEN: usize = 2_000;
const N_COMMITS: usize = 500;
const N_ROUNDS: usize = 31;
/// Each replacement syncs a file and its directory; one more sync makes the five of a save.
const N_REPLACED: usize = 2;

fn main() {
    let temp = tempfile::tempdir().unwrap();
    let project = temp.path().join("project");
    make_repository(&project);
    let text = memory();
    let index = fs::metadata(project.join(".git/index")).unwrap().len();
    println!(
        "{N_FILES} files, an index of {} KiB, a memory of {} bytes, medians of {N_ROUNDS} rounds",
        index / 1024,
        text.len()
    );

    let target = temp.path().join("vault");
    fs::create_dir(&target).unwrap();
    let vault = Dir::open(&target).unwrap();
    let env = environment(temp.path(), &project);
    let opened = open_gate(&env);
    let [mut first, mut next, mut judged, mut write] = [const { Vec::new() }; 4];
    for n in 0..N_ROUNDS {
        // Another text each time: a gate remembers what it found out about one.
        let other = format!("{text}{n}\n");
        first.push(time(|| weigh(&open_gate(&env), &text)));
        next.push(time(|| weigh(&opened, &other)));
        judged.push(time(|| weigh_alone(&text)));
        write.push(time(|| write_durably(&vault, &text)));
    }
    println!("{:<44} {:>8.2} ms", "the first round, tables taken apart", millis(first[0]));
    let write = median(write);
    println!("{:<44} {:>8.2} ms", "durable write (5 fsyncs)", millis(write));
    for (what, times) in [
        ("the whole gate, nothing opened yet", first),
        ("the whole gate, the project opened", next),
        ("worth alone, without a project to ask", judged),
    ] {
        let time = median(times);
        println!("{what:<44} {:>8.2} ms {:>6.2}×", millis(time), ratio(time, write));
    }
}

/// Opens the project as a new process does.
fn open_gate(env: &Environment) -> Gate {
    let place = locate(env).unwrap();
    let surroundings = Some(Surroundings::around(&place, env));
    Gate::new(TimeZone::UTC, surroundings, Scanner::builtin(), Review::Off)
}

fn weigh(gate: &Gate, text: &str) {
    let evidence = gate.evidence(text);
    assert!(evidence.has_tree && !evidence.paths.is_empty());
    let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    black_box(dates::settle(text, &now));
    black_box(policy::secrets(&gate.scanner, text.as_bytes(), None));
    let gist = gist(text);
    black_box(worth::judge(&gist, MemoryType::Project, &evidence));
    let target = Place::Memory(MemoryType::Project);
    black_box(placement::place(&gist, target, &placement::Surroundings::default()));
}

fn weigh_alone(text: &str) {
    black_box(worth::judge(&gist(text), MemoryType::Project, &worth::Evidence::default()));
}

fn write_durably(vault: &Dir, text: &str) {
    for n in 0..N_REPLACED {
        vault.replace(&format!("memory-{n}.md"), text.as_bytes()).unwrap();
    }
    vault.sync().unwrap();
}

/// A memory of 2 KiB that names paths, symbols, a commit and a person, some of which exist.
fn memory() -> String {
    let mut text = String::from(
        "The quota in `Part17Store` stays at 500 although `part_900/store_3.rs` could take more.\n\n\
         **Why:** the vendor bills each call above 500 a month, and the contract runs until 2027.\n\
         **How to apply:** ask Mirja before touching src/part_17/store_3.rs; see 1a2b3c4 and `missing_symbol`.\n\n",
    );
    let filler = "What else was said: the site manager reads the report on paper, so one page is the limit. ";
    while text.len() + filler.len() <= 2048 {
        text.push_str(filler);
    }
    text
}

fn make_repository(project: &Path) {
    fs::create_dir(project).unwrap();
    git(project, &["init", "-q", "-b", "main"], "");
    let rules: String =
        (0..100).map(|n| format!("- Rule {n}: keep part {n} apart from part {}.\n", n + 1)).collect();
    fs::write(project.join("CLAUDE.md"), format!("# Rules\n\n- Use pnpm.\n{rules}")).unwrap();
    let path = |n: usize| format!("src/part_{}/store_{}.rs", n / 20, n % 20);
    for n in 0..N_WRITTEN {
        let path = project.join(path(n));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("pub struct Part{}Store;\n\n{}", n / 20, "// more\n".repeat(400))).unwrap();
    }
    let blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    let entries: String = (0..N_FILES).map(|n| format!("100644 {blob}\t{}\n", path(n))).collect();
    git(project, &["update-index", "--add", "--index-info"], &entries);
    let commit = |n: usize| {
        let head = format!("{blob} {n:040x} Mirja Okafor <mirja@example.org> {n} +0000");
        format!("{head}\tcommit: store: keep part {n} apart from the others\n")
    };
    fs::create_dir_all(project.join(".git/logs")).unwrap();
    fs::write(project.join(".git/logs/HEAD"), (0..N_COMMITS).map(commit).collect::<String>()).unwrap();
}

fn git(dir: &Path, args: &[&str], input: &str) {
    use std::io::Write;
    let mut child = Command::new("git").args(args).current_dir(dir).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "git {args:?}");
}

fn environment(home: &Path, project: &Path) -> Environment {
    Environment {
        cwd: project.to_owned(),
        home: Some(home.to_owned()),
        memdir_home: Some(home.join("state")),
        ..Environment::default()
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}
