//! `memdir bench`: how good and how fast recall is, and the weights it goes by.

mod dream;
mod haystacks;
mod latency;
mod retrieval;
mod scale;
mod scratch;
mod suite;
mod synthetic;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memdir_core::recall::tune::{self, Figures, Ranked};
use memdir_core::recall::{Unknown, Weights, recall};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;
use suite::Suite;

/// Measure recall, and fit its weights
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show how often the right memory comes to mind on a labelled suite
    Recall {
        /// Directory with NAME.memories.jsonl and NAME.prompts.jsonl
        #[arg(long, value_name = "DIR")]
        suite: PathBuf,
        /// Print each moment that went wrong
        #[arg(long)]
        wrong: bool,
        /// Table of weights to measure instead of the one that ships
        #[arg(long, value_name = "FILE")]
        table: Option<PathBuf>,
    },
    /// Show how often the right turns of a long log are found, and how fast
    Retrieval(retrieval::Files),
    /// Show what a hook costs at a number of memories, beside the least that the binary costs
    Latency(latency::Sizes),
    /// Show how cost grows with the number of memories
    Scale(scale::Sizes),
    /// Show how the planning of a dream grows with the number of memories
    Dream(dream::Sizes),
    /// Fit the weights to a labelled suite, or to logs with questions, and print the table
    Tune {
        /// Directory with NAME.memories.jsonl and NAME.prompts.jsonl
        #[arg(long, value_name = "DIR", required_unless_present = "docs", conflicts_with = "docs")]
        suite: Option<PathBuf>,
        /// Turns of logs, one JSON row a line; several times for several sets
        #[arg(long, value_name = "FILE", requires = "queries")]
        docs: Vec<PathBuf>,
        /// Questions about them, a file for each of --docs
        #[arg(long, value_name = "FILE", requires = "docs")]
        queries: Vec<PathBuf>,
        /// Share of silent moments that may get a memory
        #[arg(long, value_name = "SHARE", default_value_t = 0.04)]
        alarms: f64,
        /// Print what each floor gives on vaults that the weights have not seen
        #[arg(long, requires = "suite")]
        curve: bool,
    },
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let now = Timestamp::to_zoned(context.now, TimeZone::UTC);
    match &args.what {
        What::Recall { suite, wrong, table } => {
            let suite = Suite::read(suite)?;
            let weights = table.as_deref().map_or_else(|| Ok(Weights::fitted()), weights_of)?;
            let Ok(figures) = tune::measure(&suite.rows(), &now, &weights);
            if *wrong {
                show_wrong(&suite, &now, &weights, ui);
            }
            print(&figures, ui);
        }
        What::Retrieval(files) => retrieval::run(files, ui)?,
        What::Latency(sizes) => latency::run(sizes, context, ui)?,
        What::Scale(sizes) => scale::run(sizes, context, ui)?,
        What::Dream(sizes) => dream::run(sizes, context, ui)?,
        What::Tune { suite: None, docs, queries, .. } => retrieval::tune(docs, queries, ui)?,
        What::Tune { suite: Some(suite), alarms, curve, .. } => {
            let suite = Suite::read(suite)?;
            let rows = suite.rows();
            let Ok(weights) = tune::fit(&rows, &now, &Weights::fitted(), ROUNDS);
            let unseen = ranked_unseen(&suite, &now, &weights);
            // Weights fitted to half of the vaults are worse than those that ship, and those know their own rows too
            // well: the truth lies between.
            let Ok(seen) = tune::ranked(&rows, &now, &weights);
            let weights = tune::set_floors(&[unseen.clone(), seen].concat(), weights, *alarms);
            let Ok(figures) = tune::measure(&rows, &now, &weights);
            ui.block(&weights.to_table());
            ui.say(&format!("fitted to all: {}", summary(&figures)));
            let figures = tune::measure_ranked(&unseen, &weights);
            ui.say(&format!("each vault by the others: {}", summary(&figures)));
            if *curve {
                show_curve(&unseen, &weights, ui);
            }
        }
    }
    Ok(Outcome::Done)
}

fn weights_of(file: &Path) -> Result<Weights, Failure> {
    let text =
        std::fs::read_to_string(file).map_err(|err| Failure::error(format!("{}: {err}", file.display())))?;
    Weights::parse(&text)
        .ok_or_else(|| Failure::error(format!("{}: this is no table of weights", file.display())))
}

/// How often links are followed anew while the weights are fitted.
const ROUNDS: usize = 2;

/// Ranks the moments of each vault by weights fitted to the other vaults: what to expect of one nobody has seen.
fn ranked_unseen(suite: &Suite, now: &jiff::Zoned, start: &Weights) -> Vec<Ranked> {
    let mut ranked = Vec::new();
    for left in 0..suite.shelves.len() {
        let rows = |is_left: bool| -> Vec<_> {
            let moments = suite.moments.iter().filter(|(shelf, _, _)| (*shelf == left) == is_left);
            moments.map(|(shelf, _, row)| (&suite.shelves[*shelf], row.clone())).collect()
        };
        let Ok(weights) = tune::fit(&rows(false), now, start, 1);
        let Ok(here) = tune::ranked(&rows(true), now, &weights);
        ranked.extend(here);
    }
    ranked
}

/// Shows what is found and how often nothing should have been, by the floor, on vaults that the weights have not seen.
fn show_curve(unseen: &[Ranked], weights: &Weights, ui: &mut Ui) {
    for floor in (40..=90).step_by(5).map(|n| n as f32 / 100.0) {
        let asked_floor = floor * weights.asked_floor / weights.floor;
        let figures = tune::measure_ranked(unseen, &Weights { floor, asked_floor, ..weights.clone() });
        ui.say(&format!("floor {floor:.2}: {}", summary(&figures)));
    }
}

fn show_wrong(suite: &Suite, now: &jiff::Zoned, weights: &Weights, ui: &mut Ui) {
    for (shelf, id, row) in &suite.moments {
        let Ok(recalled) = recall(&suite.shelves[*shelf], &row.moment, now, weights, &Unknown);
        let names: Vec<&str> = recalled.hits.iter().map(|hit| hit.note.name.as_str()).collect();
        let is_right = if row.gold.is_empty() {
            names.is_empty()
        } else {
            names.iter().any(|name| row.gold.iter().any(|gold| gold == name))
        };
        if !is_right {
            let best = recalled.skipped.iter().find(|(hit, _)| row.gold.contains(&hit.note.name));
            let best = best.map(|(hit, why)| format!("{:.2} {}", hit.score, why.as_str()));
            ui.line(&format!(
                "{id}: {} | shown {names:?} | right {:?} {}",
                row.moment.prompt.replace('\n', " "),
                row.gold,
                best.unwrap_or_default()
            ));
        }
    }
}

fn print(figures: &Figures, ui: &mut Ui) {
    if ui.is_json() {
        let kinds: serde_json::Map<String, serde_json::Value> = figures
            .kinds
            .iter()
            .map(|(kind, (n, hit))| (kind.clone(), json!({ "moments": n, "hit": *hit as f64 / *n as f64 })))
            .collect();
        ui.json(&json!({
            "kinds": kinds,
            "mean_hit": figures.mean_hit(),
            "precision": figures.precision(),
            "false_alarms": figures.false_alarms(),
            "silent": figures.silent.0,
        }));
        return;
    }
    for (kind, (n, hit)) in &figures.kinds {
        ui.line(&format!("{kind:<16} {:.2} ({hit} of {n})", *hit as f64 / *n as f64));
    }
    ui.line(&summary(figures));
}

fn summary(figures: &Figures) -> String {
    format!(
        "mean {:.3}, precision {:.3} ({} shown), false alarms {:.3} ({} silent)",
        figures.mean_hit(),
        figures.precision(),
        figures.shown.0,
        figures.false_alarms(),
        figures.silent.0
    )
}
