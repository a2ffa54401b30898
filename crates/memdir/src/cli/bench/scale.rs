//! `memdir bench scale`: how cost grows with the number of memories.
//!
//! Memories go straight into an index, without files. A process of its own then opens it, so that its memory is that of
//! a question and not that of the building.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use memdir_core::embed;
use memdir_core::recall::Note;
use memdir_store::index::{Entry, Index, Options, Stamp, Writer};
use memdir_store::notes::{self, Notes};
use serde_json::{Value, json};

use super::scratch::{Clock, Scratch, Spent, millis, quantiles, rate};
use super::{latency, synthetic};
use crate::context::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Which numbers of memories.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Sizes {
    /// Go on to a million memories
    #[arg(long)]
    million: bool,
    /// Measure these numbers of memories instead
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "million")]
    sizes: Vec<usize>,
    /// How many questions are asked
    #[arg(long, value_name = "N", default_value_t = 500)]
    queries: usize,
    /// Open the index in DIR and report on it; how this command measures in a process of its own
    #[arg(long, value_name = "DIR", hide = true)]
    probe: Option<PathBuf>,
}

/// Measures, and prints the figures as JSON.
pub(super) fn run(sizes: &Sizes, context: &Context, ui: &mut Ui) -> Result<(), Failure> {
    if let Some(directory) = &sizes.probe {
        let report = probe(directory, sizes.queries, context)?;
        ui.json(&report);
        return Ok(());
    }
    let counts = match &sizes.sizes[..] {
        [] if sizes.million => vec![1_000, 10_000, 100_000, 1_000_000],
        [] => vec![1_000, 10_000, 100_000],
        counts => counts.to_vec(),
    };
    let mut rows = Vec::new();
    for n in counts {
        let scratch = Scratch::new()?;
        let (ingest, save) = build(scratch.path(), n, ui)?;
        let mut row = json!({
            "memories": n,
            "ingest_docs_per_s": rate(n, ingest.time),
            "ingest_docs_per_cpu_s": ingest.work.map(|work| rate(n, work)),
            "save_ms": millis(save),
            "bytes": bytes(scratch.path())?,
        });
        if let (Value::Object(row), Value::Object(found)) = (&mut row, ask(scratch.path(), sizes.queries)?) {
            row.extend(found);
        }
        rows.push(row);
    }
    ui.json(&json!({ "sizes": rows }));
    Ok(())
}

/// So many memories are made at a time, which is not part of what is measured.
const CHUNK: usize = 1_000;

/// Builds an index and changes one memory of it; returns what either took.
fn build(directory: &Path, n: usize, ui: &Ui) -> Result<(Spent, Duration), Failure> {
    let broken = |err| Failure::from_chain(&err);
    let mut progress = ui.progress();
    let mut making = Spent::default();
    let start = Clock::start();
    let mut writer = Writer::open(directory, Options::new(embed::centroids())).map_err(broken)?;
    let entries = (0..n).step_by(CHUNK).flat_map(|first| {
        progress.at(first, n);
        let start = Clock::start();
        let notes: Vec<Note> = (first..n.min(first + CHUNK)).filter_map(synthetic::note).collect();
        making = making + start.spent();
        notes
    });
    writer.rebuild(entries.filter_map(|note| entry(&note))).map_err(broken)?;
    let ingest = start.spent() - making;
    let changed: Vec<Entry> = synthetic::note(n / 2).iter().filter_map(entry).collect();
    let start = Instant::now();
    writer.apply(changed, Vec::new()).map_err(broken)?;
    Ok((ingest, start.elapsed()))
}

fn entry(note: &Note) -> Option<Entry> {
    notes::entry_of(note, &format!("{}.md", note.name), Stamp::default())
}

fn bytes(directory: &Path) -> Result<u64, Failure> {
    let mut sum = 0;
    for entry in std::fs::read_dir(directory)? {
        sum += entry?.metadata()?.len();
    }
    Ok(sum)
}

/// Lets another process open the index and ask it.
fn ask(directory: &Path, n_queries: usize) -> Result<Value, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bench", "scale", "--queries", &n_queries.to_string(), "--probe"]).arg(directory);
    command.env_clear().env("HOME", directory).env("MEMDIR_HOME", directory.join("state"));
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::error(format!("the process that asks failed: {}", said.trim())));
    }
    serde_json::from_slice(&output.stdout).map_err(|err| Failure::from_chain(&err))
}

/// Opens the index and asks it: once for what a cold process needs, then often.
fn probe(directory: &Path, n_queries: usize, context: &Context) -> Result<Value, Failure> {
    let broken = |err| Failure::from_chain(&err);
    let now = context.now.to_zoned(context.zone.clone());
    let start = Instant::now();
    let index = Index::open(directory, embed::centroids()).map_err(broken)?;
    let open = start.elapsed();
    let n = index.len();
    let notes = Notes::Indexed(index);
    let first = latency::warm(&notes, 1, n, &now).map_err(broken)?;
    let cold_rss = peak_memory()?;
    let mut times = latency::warm(&notes, n_queries, n, &now).map_err(broken)?;
    Ok(json!({
        "open_ms": millis(open),
        "first_query_ms": millis(first.iter().sum()),
        "query_ms": quantiles(&mut times),
        "first_rss_mb": cold_rss,
        "rss_mb": peak_memory()?,
    }))
}

/// Returns the most memory that this process has had so far, in MB.
fn peak_memory() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok());
    let kilobytes: f64 =
        kilobytes.ok_or_else(|| Failure::error("this system does not say how much memory is used"))?;
    Ok((kilobytes / 102.4).round() / 10.0)
}
