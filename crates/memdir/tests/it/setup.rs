//! What several themes need: a sandbox around this crate's binary, storms of processes, a search of every byte.
//!
//! Only what more than one module uses lives here. The sandbox itself belongs to `memdir_testkit`.

use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

use memdir_testkit::{Invocation, Output, Random, Sandbox, Tree};
use serde_json::Value;

/// Ends a command that hangs; far above what any command here takes on a busy machine.
const HANG_SECONDS: &str = "60";

/// Makes a sandbox around the binary under test.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(binary())
}

/// The binary under test.
pub(crate) fn binary() -> PathBuf {
    env!("CARGO_BIN_EXE_memdir").into()
}

/// How often a loop runs: `MEMDIR_REPEAT`, else `default`.
pub(crate) fn repeat(default: usize) -> usize {
    let wanted = std::env::var("MEMDIR_REPEAT").ok();
    wanted.map_or(default, |number| number.parse().expect("MEMDIR_REPEAT is a number"))
}

/// Says whether a test that needs root and these programs can run.
///
/// As root a missing program is a fault of the set-up and panics; others are told why the test did not run.
pub(crate) fn can_use(programs: &[&str]) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    let missing: Vec<_> = programs.iter().filter(|program| !is_installed(program)).collect();
    assert!(!is_root || missing.is_empty(), "install {missing:?}: this test cannot do without");
    if !is_root {
        explain("needs root");
    }
    is_root
}

#[expect(clippy::print_stderr, reason = "the test runner shows why a test had nothing to do")]
fn explain(why: &str) {
    eprintln!("not run: {why}");
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Runs a command that might hang on what it meets.
pub(crate) fn run_or_give_up(invocation: Invocation) -> Output {
    let output = invocation.under(&["timeout", "-s", "KILL", HANG_SECONDS]).run();
    assert!(output.code != 137, "hangs\n{output}");
    output
}

/// Runs `work(worker, turn)` for every turn of every worker, the workers side by side from one starting shot.
pub(crate) fn storm(
    workers: usize,
    turns: usize,
    work: impl Fn(usize, usize) -> Output + Sync,
) -> Vec<Output> {
    let start = Barrier::new(workers);
    let run = |worker| {
        start.wait();
        (0..turns).map(|turn| work(worker, turn)).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || run(worker))).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    })
}

/// Panics with the first few failures, if there are any.
pub(crate) fn assert_all_ok(outputs: &[Output]) {
    let failed: Vec<_> = outputs.iter().filter(|output| !output.is_ok()).collect();
    let shown: String = failed.iter().take(3).map(|output| output.to_string()).collect();
    assert!(failed.is_empty(), "{} of {} failed, such as\n{shown}", failed.len(), outputs.len());
}

/// Made-up words that no other number has, so that no two memories look alike to a duplicate check.
pub(crate) fn prose(number: usize) -> String {
    let mut random = Random::new(number as u64);
    let mut word = || -> String {
        let syllable = |random: &mut Random| {
            let vowel = *random.pick(&['a', 'e', 'i', 'o', 'u']);
            [*random.pick(&['b', 'd', 'f', 'k', 'l', 'm', 'n', 'r', 's', 't', 'v']), vowel]
        };
        (0..4).flat_map(|_| syllable(&mut random)).collect()
    };
    (0..24).map(|_| word()).collect::<Vec<_>>().join(" ")
}

/// A memory file as an agent's own tool writes it.
pub(crate) fn memory_file(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\ntype: project\n---\n\n{body}\n")
}

/// The names that `list` shows, sorted.
pub(crate) fn listed_names(sandbox: &Sandbox) -> Vec<String> {
    let list = run_or_give_up(sandbox.memdir(&["list", "--json"]));
    let mut names = strings_at(&list.json(), "name");
    names.sort();
    names
}

/// The changes that `log` shows, newest first.
pub(crate) fn history(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.memdir(&["log", "--limit", "100000"]).json().as_array().unwrap().clone()
}

/// The text at `key` of every object in a list.
pub(crate) fn strings_at(list: &Value, key: &str) -> Vec<String> {
    let items = list.as_array().unwrap_or_else(|| panic!("not a list: {list}"));
    items
        .iter()
        .map(|item| item[key].as_str().unwrap_or_else(|| panic!("no {key}: {item}")).to_owned())
        .collect()
}

/// The places where a text is kept: the vault, and everything under the state directory that outlives a command.
pub(crate) fn kept_in(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let found = |tree: &Tree, place: &str| -> Vec<String> {
        tree.containing(text.as_bytes()).iter().map(|path| format!("{place}/{path}")).collect()
    };
    let live = sandbox.vault_tree().without(|path| path.contains(".memdir-tmp-"));
    let kept =
        sandbox.state_tree().without(|path| path.contains(".memdir-tmp-") || !path.starts_with("projects/"));
    [found(&live, "vault"), found(&kept, "state")].concat()
}

/// The entries of an index page and the number in its overflow line.
pub(crate) fn index_entries(page: &str) -> (Vec<String>, usize) {
    let target = |line: &str| {
        let rest = line.strip_prefix("- [")?.split_once("](")?.1;
        Some(rest.split_once(')')?.0.to_owned())
    };
    let more = |line: &str| line.strip_prefix("- ")?.split_once(" more: ")?.0.parse::<usize>().ok();
    (page.lines().filter_map(target).collect(), page.lines().find_map(more).unwrap_or(0))
}

/// Writes an executable-by-`sh` script and returns the command line that runs it, as `$EDITOR` wants it.
pub(crate) fn editor(sandbox: &Sandbox, script: &str) -> String {
    let path = sandbox.root().join("editor.sh");
    std::fs::write(&path, script).unwrap();
    // Through `sh`, because a fresh script that another thread's child still holds open cannot be executed.
    format!("sh {}", path.display())
}
