//! `memdir bench latency`: what a hook and a save cost, beside the least that this binary costs.
//!
//! Cold processes run by turns, so that a busy machine slows both; what counts is the ratio of the medians. Absolute
//! times are only there to be read. Warm questions are asked of an index that is open.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memdir_core::recall::{Moment, Unknown, Weights, recall};
use memdir_store::index::IndexError;
use memdir_store::notes::{self, Notes};
use memdir_store::place::{self, Environment};
use memdir_store::vault::Vault;
use serde_json::json;

use super::scratch::{Scratch, millis, quantile, quantiles};
use super::synthetic;
use crate::context::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// How often a file is replaced by another program before a recall.
const N_NOTICED: usize = 11;
/// A folder is young for less than this after a change.
const YOUNG: Duration = Duration::from_millis(100);

/// How many memories, and how often.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Sizes {
    /// How many memories the vault has
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    memories: usize,
    /// How often each cold process is run
    #[arg(long, value_name = "N", default_value_t = 101)]
    runs: usize,
    /// How many questions are asked of the open index
    #[arg(long, value_name = "N", default_value_t = 500)]
    queries: usize,
}

/// Measures, and prints the figures as JSON.
pub(super) fn run(sizes: &Sizes, context: &Context, ui: &mut Ui) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let directory = scratch.path().join("vault");
    fs::DirBuilder::new().mode(0o700).create(&directory)?;
    let mut progress = ui.progress();
    synthetic::write(&directory, sizes.memories, |done| progress.at(done, sizes.memories))?;
    drop(progress);
    let vault = open(scratch.path(), &directory)?;
    let start = Instant::now();
    notes::build(&vault).map_err(|err| Failure::from_chain(&err))?;
    let build = start.elapsed();

    let this = std::env::current_exe()?;
    let process = |args: &[&str]| command(&this, scratch.path(), &directory, args);
    let (mut version, mut cold) = (Vec::new(), Vec::new());
    let mut progress = ui.progress();
    // The first pair brings files into the cache and is not counted.
    for run in 0..=sizes.runs {
        progress.at(run, sizes.runs);
        let prompt = synthetic::prompt(run, sizes.memories);
        let times = (time(&mut process(&["--version"]))?, time(&mut process(&["recall", &prompt]))?);
        if run > 0 {
            version.push(times.0);
            cold.push(times.1);
        }
    }
    drop(progress);
    let mut saves = Vec::new();
    // The first save takes up a vault that it has never seen, and the second looks at every file once more.
    for run in 0..sizes.runs + 2 {
        let body = format!("Said for the {run}. time.");
        let args =
            ["save", "bench-save", "--type", "project", "--description", "what a save costs", "--body"];
        let time = time(&mut process(&[&args[..], &[&body]].concat()))?;
        if run > 1 {
            saves.push(time);
        }
    }
    let mut noticed = Vec::new();
    for run in 0..sizes.runs.min(N_NOTICED) {
        let prompt = synthetic::prompt(run, sizes.memories);
        // The first one settles what was written before, so that the second has one change to notice.
        thread::sleep(YOUNG);
        time(&mut process(&["recall", &prompt]))?;
        synthetic::replace(&directory, run, sizes.memories)?;
        noticed.push(time(&mut process(&["recall", &prompt]))?);
    }
    let now = context.now.to_zoned(context.zone.clone());
    let asked = notes::ask(&vault, |notes| warm(notes, sizes.queries, sizes.memories, &now));
    let (mut warm, _) = asked.map_err(|err| Failure::from_chain(&err))?;

    let (least, median) = (quantile(&mut version, 0.5), quantile(&mut cold, 0.5));
    ui.json(&json!({
        "memories": sizes.memories,
        "runs": sizes.runs,
        "build_ms": millis(build),
        "version_ms": quantiles(&mut version),
        "recall_ms": quantiles(&mut cold),
        "save_ms": quantiles(&mut saves),
        "noticed_ms": quantiles(&mut noticed),
        "ratio": (median.as_secs_f64() / least.as_secs_f64().max(1e-9) * 100.0).round() / 100.0,
        "query_ms": quantiles(&mut warm),
    }));
    Ok(())
}

/// Asks an open index many questions and returns what each took.
pub(super) fn warm(
    notes: &Notes,
    n_queries: usize,
    n_memories: usize,
    now: &jiff::Zoned,
) -> Result<Vec<Duration>, IndexError> {
    let weights = Weights::fitted();
    let mut times = Vec::with_capacity(n_queries);
    for number in 0..n_queries {
        let moment = Moment { prompt: synthetic::prompt(number, n_memories), ..Moment::default() };
        let start = Instant::now();
        recall(notes, &moment, now, &weights, &Unknown)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Opens the vault as the cold processes will find it.
fn open(home: &Path, directory: &Path) -> Result<Vault, Failure> {
    let vars = variables(home, directory);
    let env = Environment::from_vars(home.to_owned(), |name| {
        vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone().into_os_string())
    });
    let place = place::locate(&env)?;
    Ok(Vault::open(&place.home, place.project.id.as_str(), &place.vault)?)
}

fn command(this: &Path, home: &Path, directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(this);
    command.env_clear().envs(variables(home, directory)).current_dir(home).args(args);
    command
}

fn variables(home: &Path, directory: &Path) -> [(&'static str, PathBuf); 3] {
    [("HOME", home.to_owned()), ("MEMDIR_HOME", home.join("state")), ("MEMDIR_VAULT", directory.to_owned())]
}

/// Runs a process and returns how long it took. That it found nothing is an answer too.
fn time(command: &mut Command) -> Result<Duration, Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let time = start.elapsed();
    match status.code() {
        Some(0 | 1) => Ok(time),
        _ => Err(Failure::error(format!("a measured process failed: {status}"))),
    }
}
