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

use memdir_store::vault::Loaded;
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
pub(crate) enum Layer {
    /// Memories in the vaults
    Memory,
    /// What each session left behind
    Journal,
    /// What was said in sessions, turn by turn
    Transcript,
}

impl Layer {
    /// All of them, in the order in which they are looked into.
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Journal, Self::Transcript];

    /// Returns its name, as it is written on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Journal => "journal",
            Self::Transcript => "transcript",
        }
    }
}

/// What was found, in whichever layer.
pub(crate) struct Row {
    pub(crate) layer: Layer,
    /// The project it is from; `user` for the user vault.
    pub(crate) project: String,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) score: f64,
    pub(crate) memory_type: Option<MemoryType>,
    pub(crate) tier: Tier,
    pub(crate) description: String,
    pub(crate) snippet: String,
    /// All of what was found there.
    pub(crate) text: String,
    /// The memory, if it is one.
    pub(crate) loaded: Option<Box<Loaded>>,
    pub(crate) at: Timestamp,
    /// The project that a memory of the user was learned in.
    pub(crate) origin: Option<String>,
    pub(crate) via: Vec<String>,
    pub(crate) parts: Map<String, Value>,
    /// What only this layer knows.
    pub(crate) more: Map<String, Value>,
}

/// What somebody looks for, and where.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The words.
    pub(crate) text: String,
    /// Where to look.
    pub(crate) layers: Vec<Layer>,
    /// In every project, and in the archives.
    pub(crate) all: bool,
    /// At most this many.
    pub(crate) limit: usize,
    /// Only what was there then.
    pub(crate) as_of: Option<Timestamp>,
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
    let as_of = args.as_of.as_deref().map(|text| moment(text, context)).transpose()?;
    let is_wanted =
        |layer: &Layer| args.layers.contains(layer) || (*layer == Layer::Transcript && args.transcripts);
    let wanted = Wanted {
        text: args.words.join(" "),
        layers: Layer::ALL.into_iter().filter(is_wanted).collect(),
        all: args.all,
        limit: args.limit,
        as_of,
    };
    let rows = find(&wanted, context, ui)?;
    print(&rows, args.all, context, ui);
    Ok(if rows.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Finds what is wanted, the best first.
pub(crate) fn find(wanted: &Wanted, context: &Context, ui: &Ui) -> Result<Vec<Row>, Failure> {
    let Wanted { text, all, limit, as_of, .. } = wanted.clone();
    if context.is_blind {
        return Ok(Vec::new());
    }
    let search = Search { query: Query::new(&text), text, all, limit, as_of, context };
    let mut rows = Vec::new();
    for layer in &wanted.layers {
        rows.extend(match layer {
            Layer::Memory => memories::rows(&search, ui)?,
            Layer::Journal => sessions::journal(&search)?,
            Layer::Transcript => sessions::transcripts(&search)?,
        });
    }
    // Stable: at equal score memories stand before the journal, and that before what was merely said.
    rows.sort_by(|a, b| b.score.total_cmp(&a.score));
    rows.truncate(limit);
    Ok(rows)
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

fn print(rows: &[Row], all: bool, context: &Context, ui: &mut Ui) {
    if ui.is_json() {
        let hits: Vec<Value> = rows.iter().map(|row| as_json(row, context)).collect();
        return ui.json(&json!({ "hits": hits, "abstained": rows.is_empty() }));
    }
    let is_mixed = rows.iter().any(|row| row.layer != Layer::Memory);
    let mut columns = vec![Column::new("name").tone(Tone::Strong)];
    columns.extend(is_mixed.then(|| Column::new("layer")));
    columns.extend(all.then(|| Column::new("project").tone(Tone::Faint)));
    columns.extend([Column::new("description").giving_way(), Column::new("saved").tone(Tone::Faint)]);
    let cells = |row: &Row| {
        let mut cells = vec![row.name.clone()];
        cells.extend(is_mixed.then(|| row.layer.as_str().to_owned()));
        cells.extend(all.then(|| row.project.clone()));
        cells.extend([labelled(row), age(row.at, context.now)]);
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
