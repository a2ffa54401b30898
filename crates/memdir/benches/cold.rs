//! What a user waits for: a cold process, as a ratio to the least that the machine could do.
//!
//! `cargo bench -p memdir` prints one line per command. Each command and its baseline run by turns in one loop, so that
//! a busy machine slows both; the figure is the ratio of the medians. Absolute times are only there to be read.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints and has nobody to report to"
)]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const N_MEMORIES: usize = 10_000;
const N_ROUNDS: usize = 15;
/// As much of each file as frontmatter needs; what the baseline reads too.
const HEADER: usize = 4096;

fn main() {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("--read-headers") {
        return read_headers(Path::new(&args.next().unwrap()));
    }
    let temp = tempfile::tempdir().unwrap();
    let vault = temp.path().join("vault");
    write_vault(&vault, N_MEMORIES);
    println!("{N_MEMORIES} memories, medians of {N_ROUNDS} rounds, cold processes");
    println!("{:<34} {:>10} {:>10} {:>8}  baseline", "command", "time", "baseline", "ratio");

    let memdir = |args: &[&str]| command(temp.path(), &vault, args);
    let this = std::env::current_exe().unwrap();
    let headers = || {
        let mut command = Command::new(&this);
        command.arg("--read-headers").arg(&vault);
        command
    };
    let nothing = || Command::new("/bin/true");
    let version = || memdir(&["--version"]);

    compare("memdir --version", version, "/bin/true", nothing);
    compare("memdir list", || memdir(&["list"]), "read every header", headers);
    compare("memdir list --json", || memdir(&["list", "--json"]), "read every header", headers);
    compare("memdir manifest", || memdir(&["manifest"]), "read every header", headers);
    compare("memdir show NAME", || memdir(&["show", "reference-note-79"]), "read every header", headers);
    compare("memdir search WORDS", || memdir(&["search", "quartz lantern"]), "read every header", headers);
    // The first save meets a vault it has never seen; the ones that count follow it.
    memdir(&["save", "warm-up", "--type", "project", "--description", "warm up", "--body", "0"])
        .output()
        .unwrap();
    let mut n = 0;
    let mut save = || {
        n += 1;
        memdir(&["save", "bench", "--type", "project", "--description", "bench", "--body", &n.to_string()])
    };
    compare("memdir save (over, 10,000 beside)", &mut save, "read every header", headers);
}

/// Runs the two by turns and prints the ratio of their medians.
fn compare(
    name: &str,
    mut command: impl FnMut() -> Command,
    baseline_name: &str,
    mut baseline: impl FnMut() -> Command,
) {
    let (mut times, mut base) = (Vec::new(), Vec::new());
    for _ in 0..N_ROUNDS {
        times.push(time(&mut command()));
        base.push(time(&mut baseline()));
    }
    let (time, base) = (median(times), median(base));
    let ratio = time.as_secs_f64() / base.as_secs_f64();
    println!("{name:<34} {:>7.2} ms {:>7.2} ms {ratio:>7.2}×  {baseline_name}", millis(time), millis(base));
}

fn time(command: &mut Command) -> Duration {
    let start = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?} failed: {status}");
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn command(home: &Path, vault: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command
        .env_clear()
        .env("HOME", home)
        .env("MEMDIR_HOME", home.join("state"))
        .env("MEMDIR_VAULT", vault)
        .args(args);
    command
}

/// The least a listing can do: list the directory, open, read and close each file.
fn read_headers(vault: &Path) {
    let mut buffer = vec![0; HEADER];
    let mut n_bytes = 0;
    for entry in fs::read_dir(vault).unwrap() {
        n_bytes += fs::File::open(entry.unwrap().path()).unwrap().read(&mut buffer).unwrap();
    }
    assert!(n_bytes > 0);
}

fn write_vault(vault: &Path, n_memories: usize) {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(vault).unwrap();
    let words = ["quartz", "lantern", "harbour", "ledger", "meadow", "signal", "copper", "violet"];
    for n in 0..n_memories {
        let word = |k: usize| words[(n / 7 + k * n) % words.len()];
        let kind = ["user", "feedback", "project", "reference"][n % 4];
        let text = format!(
            "---\nname: {kind}-note-{n}\ndescription: \"Note {n} about the {} and the {}: what to know\"\ntype: {kind}\n\
             metadata:\n  created: 2026-04-01T10:30:00Z\n  modified: 2026-04-01T10:30:00Z\n  provenance: user\n---\n\n\
             The {} of note {n} is kept beside the {}.\n\n**Why:** it was moved in week {n}.\n\n{}",
            word(1),
            word(2),
            word(3),
            word(4),
            "More about it in plain words. ".repeat(n % 40),
        );
        fs::write(vault.join(format!("{kind}-note-{n}.md")), text).unwrap();
    }
}
