//! `memdir search`: finds memories, journal entries and what was said in sessions, by words and meaning.
//!
//! Each layer brings its [`Row`]s; here they are put in one order and printed. Another project's layers are opened only
//! on request.

mod memories;
mod sessions;

use std::path::PathBuf;

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use memdir_core::memory::{MemoryType, Tier};
use memdir_core::search::Query;
use memdir_core::text::{age, age_days};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

pub(super) use memories::{Hit, hits};

/// Search memories, the journal and past sessions by words and meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir search real database
  memdir search --layer memory,journal,transcript \"PoolTimedOut at night\"
  memdir search --as-of 2026-03-01 release process")]
pub(crate) struct Args {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    words: Vec<String>,
    /// At most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Search every registered project and the archives, not only what holds here
    #[arg(long)]
    all: bool,
    /// Where to look
    #[arg(long = "layer", value_name = "LAYER", value_delimiter = ',', default_value = "memory")]
    layers: Vec<Layer>,
    /// Look into past sessions too: the same as adding `transcript` to --layer
    #[arg(long)]
    transcripts: bool,
    /// Search what was there at the end of this day, or at this time
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
}

/// What has no word of the query must be this near to it.
const NEAR: f32 = 0.35;

/// Where something can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layer {
    /// Memories in the vaults
    Memory,
    /// What each session left behind
    Journal,
    /// What was said in sessions, turn by turn
    Transcript,
}

impl Layer {
    fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Journal => "journal",
            Self::Transcript => "transcript",
        }
    }
}

/// What was found, in whichever layer.
struct Row {
    layer: Layer,
    /// The project it is from; `user` for the user vault.
    project: String,
    name: String,
    path: PathBuf,
    score: f64,
    memory_type: Option<MemoryType>,
    tier: Tier,
    description: String,
    snippet: String,
    at: Timestamp,
    /// The project that a memory of the user was learned in.
    origin: Option<String>,
    via: Vec<String>,
    parts: Map<String, Value>,
    /// What only this layer knows.
    more: Map<String, Value>,
}

/// What is looked for, and where.
struct Search<'a> {
    text: String,
    query: Query,
    all: bool,
    limit: usize,
    /// Only what was there then.
    as_of: Option<Timestamp>,
    context: &'a Context,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let text = args.words.join(" ");
    let as_of = args.as_of.as_deref().map(|text| moment(text, context)).transpose()?;
    let query = Query::new(&text);
    let search = Search { text, query, all: args.all, limit: args.limit, as_of, context };
    let is_named =
        |layer: Layer| args.layers.contains(&layer) || (layer == Layer::Transcript && args.transcripts);
    let is_wanted = |layer: Layer| is_named(layer) && !context.is_blind;
    let mut rows = Vec::new();
    if is_wanted(Layer::Memory) {
        rows.extend(memories::rows(&search, ui)?);
    }
    if is_wanted(Layer::Journal) {
        rows.extend(sessions::journal(&search)?);
    }
    if is_wanted(Layer::Transcript) {
        rows.extend(sessions::transcripts(&search)?);
    }
    // Stable: at equal score memories stand before the journal, and that before what was merely said.
    rows.sort_by(|a, b| b.score.total_cmp(&a.score));
    rows.truncate(args.limit);
    print(&rows, &search, ui);
    Ok(if rows.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Reads a day, whose end is meant, or a time.
fn moment(text: &str, context: &Context) -> Result<Timestamp, Failure> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let day: Date = text.parse().map_err(|_| {
        Failure::error(format!("`{text}` is no date"))
            .hint("write it like 2026-03-02 or 2026-03-02T12:00:00Z")
    })?;
    let end = day.to_datetime(Time::MAX).to_zoned(context.zone.clone());
    end.map(|end| end.timestamp()).map_err(|_| Failure::error(format!("`{text}` is beyond every calendar")))
}

fn print(rows: &[Row], search: &Search<'_>, ui: &mut Ui) {
    if ui.is_json() {
        let hits: Vec<Value> = rows.iter().map(|row| as_json(row, search.context)).collect();
        return ui.json(&json!({ "hits": hits, "abstained": rows.is_empty() }));
    }
    let is_mixed = rows.iter().any(|row| row.layer != Layer::Memory);
    let mut columns = vec![Column::new("name").tone(Tone::Strong)];
    columns.extend(is_mixed.then(|| Column::new("layer")));
    columns.extend(search.all.then(|| Column::new("project").tone(Tone::Faint)));
    columns.extend([Column::new("description").giving_way(), Column::new("saved").tone(Tone::Faint)]);
    let cells = |row: &Row| {
        let mut cells = vec![row.name.clone()];
        cells.extend(is_mixed.then(|| row.layer.as_str().to_owned()));
        cells.extend(search.all.then(|| row.project.clone()));
        cells.extend([labelled(row), age(row.at, search.context.now)]);
        cells
    };
    ui.table(&columns, &rows.iter().map(cells).collect::<Vec<_>>());
    if rows.is_empty() {
        ui.say("no memory found");
    }
}

/// Returns the description, with what is not usual about the row.
fn labelled(row: &Row) -> String {
    let tier = if row.tier == Tier::Supplementary { "(supplementary) " } else { "" };
    let origin = row.origin.as_ref().map(|origin| format!(" (learned in {origin})")).unwrap_or_default();
    // Of what was said there is no description: the words themselves are it.
    let text = if row.layer == Layer::Transcript { &row.snippet } else { &row.description };
    format!("{tier}{text}{origin}")
}

fn as_json(row: &Row, context: &Context) -> Value {
    let mut hit = json!({
        "name": row.name,
        "path": row.path.display().to_string(),
        "layer": row.layer.as_str(),
        "project": row.project,
        "score": row.score,
        "type": row.memory_type,
        "tier": row.tier,
        "description": row.description,
        "snippet": row.snippet,
        "age_days": age_days(row.at, context.now),
        "origin": row.origin,
        "via": row.via,
        "parts": row.parts,
    });
    if let Value::Object(fields) = &mut hit {
        fields.extend(row.more.clone());
    }
    hit
}
