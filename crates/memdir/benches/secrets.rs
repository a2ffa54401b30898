//! What a scan for secrets costs: throughput over prose and code, one memory cold and warm, the worst of repeated
//! characters, and Kingfisher on the same files in the same run.
//!
//! `cargo bench -p memdir --bench secrets` prints a few lines. Two programs that are compared run by turns. Kingfisher
//! (`pip install kingfisher-bin`) is never let near a network; where it is missing, that is said.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints and has nobody to report to"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use memdir_core::secrets::Scanner;
use memdir_testkit::Random;

const CORPUS: usize = 20_000_000;
const N_FILES: usize = 200;
const N_ROUNDS: usize = 7;
/// One memory.
const MEMORY: usize = 2_048;

fn main() {
    let mut random = Random::new(20_261_115);
    let memory = text(&mut random, MEMORY);
    let start = Instant::now();
    let n_found = Scanner::builtin().scan(memory.as_bytes()).len();
    println!(
        "one memory of 2 KiB, first scan of the process   {:>8.3} ms ({n_found} findings)",
        millis(start.elapsed())
    );
    let memories: Vec<String> = (0..500).map(|_| text(&mut random, MEMORY)).collect();
    let start = Instant::now();
    memories.iter().for_each(|memory| drop(Scanner::builtin().scan(memory.as_bytes())));
    println!("one memory of 2 KiB, warm                        {:>8.3} ms", millis(start.elapsed()) / 500.0);
    repeated_characters();

    let temp = tempfile::tempdir().unwrap();
    let corpus = temp.path().join("corpus");
    fs::create_dir(&corpus).unwrap();
    for n in 0..N_FILES {
        fs::write(corpus.join(format!("note-{n}.md")), text(&mut random, CORPUS / N_FILES)).unwrap();
    }
    let whole: Vec<u8> =
        (0..N_FILES).flat_map(|n| fs::read(corpus.join(format!("note-{n}.md"))).unwrap()).collect();
    let time = median((0..N_ROUNDS).map(|_| timed(|| drop(Scanner::builtin().scan(&whole)))));
    println!("20 MB in one text, one thread                    {:>8.1} MB/s", rate(time));
    compare(temp.path(), &corpus);
}

/// X3: no text of one character takes long.
fn repeated_characters() {
    let time = |byte: u8| timed(|| drop(Scanner::builtin().scan(&vec![byte; 1 << 20])));
    let worst = (0x20..0x7f_u8).map(|byte| (time(byte), byte)).max().unwrap();
    println!(
        "1 MiB of one character, the worst ({:?})           {:>8.2} ms",
        char::from(worst.1),
        millis(worst.0)
    );
}

/// Runs us and Kingfisher over the same files, by turns.
fn compare(home: &Path, corpus: &Path) {
    let memdir = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.env_clear().env("HOME", home).env("MEMDIR_HOME", home.join("state"));
        command.env("MEMDIR_VAULT", home.join("vault")).args(["secrets", "scan", "--json"]).arg(corpus);
        command
    };
    let kingfisher = || {
        let mut command = Command::new("kingfisher");
        command.args(["scan", "--no-validate", "--no-update-check", "--format", "json"]).arg(corpus);
        command
    };
    let is_there =
        Command::new("kingfisher").arg("--version").output().is_ok_and(|output| output.status.success());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..N_ROUNDS {
        ours.push(timed(|| run(memdir())));
        if is_there {
            theirs.push(timed(|| run(kingfisher())));
        }
    }
    let ours = median(ours.into_iter());
    println!(
        "20 MB in {N_FILES} files, memdir with its start          {:>8.1} MB/s ({:.0} ms)",
        rate(ours),
        millis(ours)
    );
    if is_there {
        let theirs = median(theirs.into_iter());
        println!(
            "20 MB in {N_FILES} files, kingfisher with its start      {:>8.1} MB/s ({:.0} ms)",
            rate(theirs),
            millis(theirs)
        );
    } else {
        println!("kingfisher IS NOT INSTALLED: no comparison was made (`pip install kingfisher-bin`)");
    }
}

/// Both end with another code than 0 when they found something.
fn run(mut command: Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.code().is_some_and(|code| code != 2), "{command:?}: {status}");
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn rate(time: Duration) -> f64 {
    CORPUS as f64 / 1e6 / time.as_secs_f64()
}

/// Makes prose and code of about `len` bytes, with the words that make a scanner look twice.
fn text(random: &mut Random, len: usize) -> String {
    const SENTENCES: &[&str] = &[
        "The worker pulls jobs from the queue and writes the results back.",
        "Integration tests use a real database, because mocks hid a broken migration.",
        "The token is refreshed hourly and never stored.",
        "Ask Anna for the password of the staging cluster; it is in the vault.",
        "Latency is watched on the api board, see https://grafana.internal/d/api-latency.",
        "We decided on SQLite instead of Postgres: one file, no service, no key to rotate.",
        "Merge freeze after 2026-03-05 for the mobile release.",
        "Das Team schreibt Entscheidungen in docs/decisions/, nicht in CLAUDE.md.",
        "배포는 매주 목요일에 합니다. 비밀번호는 금고에 있습니다.",
    ];
    const CODE: &[&str] = &[
        "    let token = env::var(\"API_TOKEN\").context(\"no token\")?;",
        "    const password = await prompt('Password: ');",
        "    for (key, value) in map.iter().filter(|(key, _)| !key.is_empty()) {",
        "        \"integrity\": \"sha512-q1MUVu8t2d6AL5gbMvGnKBJaHHzgXvDVT9EfHG7SBhVq7Cc5hBDmtX8qgQdwEbKvPGsUJgnzVjVQ3TfDlQm1Xw==\",",
        "    assert_eq!(parse(\"a: b\"), Ok(Document { keys: vec![(\"a\", \"b\")] }));",
        "    return fetch(`${base}/v1/users/${id}`, { headers: { Authorization: `Bearer ${token}` } });",
        "  image: images.acme.example/acme/api@sha256:3f9c2a1b5d7e8f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8",
        "}",
    ];
    let mut text = String::with_capacity(len + 200);
    while text.len() < len {
        let lines = if random.one_in(3) { CODE } else { SENTENCES };
        for _ in 0..1 + random.below(6) {
            text.push_str(random.pick::<&str>(lines));
            text.push(if lines.len() == CODE.len() { '\n' } else { ' ' });
        }
        text.push_str("\n\n");
    }
    text
}
