//! What memory costs a session: the time of the hook before each prompt, and the bytes that a model has to read.
//!
//! `cargo bench -p memdir --bench session` prints both, with `-- time` or `-- bytes` behind it one of them. The hook is timed as the agent sees it, from spawn to exit, by
//! turns with a process that does nothing. The bytes are those of a session of twenty prompts over one vault of the
//! labelled suite, through the real hook, beside what loading all memories at the start would take.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints and has nobody to report to"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const N_MEMORIES: usize = 10_000;
const N_ROUNDS: usize = 41;
const N_PROMPTS: usize = 20;
/// Without a tokenizer a token is as many bytes.
const BYTES_A_TOKEN: usize = 4;

fn main() {
    let wants = |what: &str| std::env::args().skip(1).all(|arg| arg == what || arg.starts_with("--"));
    if wants("bytes") {
        ["kiln", "rota"].into_iter().for_each(budget);
    }
    if wants("time") {
        latency();
    }
}

/// The hook of a prompt that brings a memory, as a ratio to the least that a process can take.
fn latency() {
    let machine = Machine::new();
    for n in 0..N_MEMORIES {
        machine.write(&synthetic(n));
    }
    machine.settle();
    println!("{N_MEMORIES} memories, medians of {N_ROUNDS} rounds by turns, from spawn to exit");
    let silent = |n: usize| format!("thanks, that is fine for number {n}");
    let telling = |n: usize| format!("where is the ledger of note {} kept?", n * 7);
    let (mut nothing, mut version, mut quiet, mut told) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut n_told = 0;
    for n in 0..N_ROUNDS {
        nothing.push(timed(Command::new("true"), ""));
        version.push(timed(machine.memdir(&["--version"]), ""));
        quiet.push(timed(machine.hook("UserPromptSubmit"), &machine.prompt(&silent(n), "quiet", n)));
        told.push(timed(machine.hook("UserPromptSubmit"), &machine.prompt(&telling(n), "telling", n)));
        n_told += usize::from(told.last().is_some_and(|(_, text)| !text.is_empty()));
    }
    let base = median(&nothing);
    for (name, times) in [
        ("true", &nothing),
        ("memdir --version", &version),
        ("hook, nothing to say", &quiet),
        ("hook, a question", &told),
    ] {
        let time = median(times);
        println!(
            "  {name:<22} {:>8.2} ms  {:>5.1}×",
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() / base.as_secs_f64()
        );
    }
    println!("  ({n_told} of {N_ROUNDS} questions brought a memory)");
}

/// What a session of twenty prompts is told, against all there is to tell.
fn budget(name: &str) {
    let machine = Machine::new();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recall/fit");
    for memory in rows(&suite.join(format!("{name}.memories.jsonl"))) {
        machine.write(&of_row(&memory));
    }
    machine.settle();
    let page = fs::read(machine.vault().join("MEMORY.md")).unwrap().len();
    let files = fs::read_dir(machine.vault()).unwrap().flatten();
    let all: usize = files.map(|file| usize::try_from(file.metadata().unwrap().len()).unwrap()).sum();

    let start = json!({"session_id": "s", "cwd": machine.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let (_, start) = timed(machine.hook("SessionStart"), &start.to_string());
    let start = context(&start).len();
    // Prompts of all kinds that people type, evenly from the whole file.
    let prompts = rows(&suite.join(format!("{name}.prompts.jsonl")));
    let typed =
        prompts.iter().filter(|row| row["kind"].as_str().is_some_and(|kind| !kind.starts_with("ambient")));
    let step = typed.clone().count() / N_PROMPTS;
    let (mut told, mut n_told) = (0, 0);
    for (n, row) in typed.step_by(step).take(N_PROMPTS).enumerate() {
        let (_, text) =
            timed(machine.hook("UserPromptSubmit"), &machine.prompt(row["prompt"].as_str().unwrap(), "s", n));
        let bytes = context(&text).len();
        told += bytes;
        n_told += usize::from(bytes > 0);
    }
    println!("{name}: {N_PROMPTS} prompts, {n_told} of them brought something");
    for (what, bytes) in [
        ("at the start (instructions, pages, briefing)", start),
        ("at prompts", told),
        ("memdir in all", start + told),
        ("MEMORY.md alone", page),
        ("MEMORY.md and every memory", all),
    ] {
        println!("  {what:<46} {bytes:>7} bytes {:>6} tokens", bytes / BYTES_A_TOKEN);
    }
}

/// A home with a vault and a project.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        use std::os::unix::fs::DirBuilderExt;
        let machine = Self { root: tempfile::tempdir().unwrap() };
        for path in [machine.vault(), machine.project()] {
            fs::DirBuilder::new().mode(0o700).create(path).unwrap();
        }
        machine
    }

    fn vault(&self) -> PathBuf {
        self.root.path().join("vault")
    }

    fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    fn write(&self, (name, text): &(String, String)) {
        fs::write(self.vault().join(format!("{name}.md")), text).unwrap();
    }

    /// Takes up what was written, so that page and index are there as after any save.
    fn settle(&self) {
        let args = [
            "save",
            "project-last",
            "--type",
            "project",
            "--description",
            "the last one",
            "--body",
            "The last one.",
        ];
        timed(self.memdir(&args), "");
        timed(self.memdir(&["recall", "the last one"]), "");
    }

    fn memdir(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.env_clear().current_dir(self.project()).args(args);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.root.path());
        command.env("MEMDIR_HOME", self.root.path().join("state")).env("MEMDIR_VAULT", self.vault());
        command
    }

    /// The hook of an agent that loads no page by itself. It may take its time: what it takes is what is asked.
    fn hook(&self, event: &str) -> Command {
        let mut command = self.memdir(&["hook", "codex", event]);
        command.env("MEMDIR_HOOK_DEADLINE_MS", "4000");
        command
    }

    fn prompt(&self, prompt: &str, session: &str, n: usize) -> String {
        json!({
            "session_id": session, "prompt_id": format!("p{n}"), "cwd": self.project(),
            "hook_event_name": "UserPromptSubmit", "prompt": prompt,
        })
        .to_string()
    }
}

/// Runs a command to its end; returns how long that took and what it said.
fn timed(mut command: Command, input: &str) -> (Duration, String) {
    let start = Instant::now();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // A process that reads nothing may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let time = start.elapsed();
    assert!(output.status.success() || output.status.code() == Some(1), "{command:?}: {}", output.status);
    (time, String::from_utf8(output.stdout).unwrap())
}

fn median(runs: &[(Duration, String)]) -> Duration {
    let mut times: Vec<Duration> = runs.iter().map(|(time, _)| *time).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// What the model is told by a hook's answer.
fn context(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

fn rows(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A memory of the suite as a file.
fn of_row(row: &Value) -> (String, String) {
    let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let text = format!(
        "---\nname: {name}\ndescription: {description}\ntype: {kind}\nmetadata:\n  created: {modified}\n  modified: \
         {modified}\n  provenance: user\n---\n\n{body}\n",
        name = word("name"),
        description = json!(word("description")),
        kind = word("type"),
        modified = word("modified"),
        body = word("body"),
    );
    (word("name"), text)
}

fn synthetic(n: usize) -> (String, String) {
    const WORDS: [&str; 8] =
        ["quartz", "lantern", "harbour", "ledger", "meadow", "signal", "copper", "violet"];
    let word = |k: usize| WORDS[(n / 7 + k * n) % WORDS.len()];
    let kind = ["user", "feedback", "project", "reference"][n % 4];
    let name = format!("{kind}-note-{n}");
    let text = format!(
        "---\nname: {name}\ndescription: \"Note {n} about the {} and the {}: what to know\"\ntype: {kind}\nmetadata:\n  \
         created: 2026-04-01T10:30:00Z\n  modified: 2026-04-01T10:30:00Z\n  provenance: user\n---\n\nThe {} of note {n} \
         is kept beside the {}.\n\n**Why:** it was moved in week {n}.\n",
        word(1),
        word(2),
        word(3),
        word(4),
    );
    (name, text)
}
