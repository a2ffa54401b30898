//! `memdir search`: finds memories by words and meaning.
//!
//! The index answers; where it has nothing, files are read one by one and matched by the beginnings of words.

use memdir_core::memory::{Memory, MemoryPath, Tier};
use memdir_core::recall::{self as core, Moment, Part, rank};
use memdir_core::search::{Query, Text};
use memdir_core::text::{age, age_days};
use memdir_store::usage::Usage;
use memdir_store::vault::Loaded;
use serde_json::{Map, Value, json};

use super::recall;
use crate::context::{Context, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Search memories by words and meaning
#[derive(Debug, clap::Args)]
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
}

/// A memory that matches.
pub(super) struct Hit {
    pub(super) shelf: usize,
    pub(super) loaded: Loaded,
    pub(super) score: f64,
    snippet: String,
    /// What speaks for it, and what led to it.
    parts: Map<String, Value>,
    via: Vec<String>,
}

/// What has no word of the query must be this near to it.
const NEAR: f32 = 0.35;
/// As many candidates of a vault are looked at.
const MAX_CANDIDATES: usize = 50;

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let shelves = if args.all { context.all_shelves()? } else { context.shelves()? };
    let query = Query::new(&args.words.join(" "));
    let mut hits = indexed(&shelves, &query, &args.words.join(" "), context, ui)?;
    if hits.is_empty() {
        hits = self::hits(&shelves, &query);
    }
    // Such a file belongs into the inbox; where one stands in a vault all the same, it is found on request only.
    hits.retain(|hit| args.all || !hit.loaded.memory.quarantined);
    if args.all {
        hits.extend(archived(&shelves, &query));
        sort(&mut hits);
    }
    hits.truncate(args.limit);
    if ui.is_json() {
        let hit = |hit: &Hit| {
            json!({
                "name": hit.loaded.path.stem(),
                "path": shelves[hit.shelf].vault.path().join(hit.loaded.path.as_str()).display().to_string(),
                "layer": "memory",
                "score": hit.score,
                "type": hit.loaded.memory.memory_type,
                "tier": hit.loaded.memory.tier,
                "description": hit.loaded.memory.description,
                "snippet": hit.snippet,
                "age_days": age_days(hit.loaded.modified(), context.now),
                "via": hit.via,
                "parts": hit.parts,
            })
        };
        ui.json(&json!({ "hits": hits.iter().map(hit).collect::<Vec<_>>(), "abstained": hits.is_empty() }));
        return Ok(if hits.is_empty() { Outcome::Nothing } else { Outcome::Done });
    }
    let columns = [
        Column::new("name").tone(Tone::Strong),
        Column::new("description").giving_way(),
        Column::new("saved").tone(Tone::Faint),
    ];
    let row = |hit: &Hit| {
        vec![
            hit.loaded.path.stem().to_owned(),
            labelled(&hit.loaded.memory),
            age(hit.loaded.modified(), context.now),
        ]
    };
    ui.table(&columns, &hits.iter().map(row).collect::<Vec<_>>());
    if hits.is_empty() {
        ui.say("no memory found");
    }
    Ok(if hits.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Asks the index of each vault, the best first.
fn indexed(
    shelves: &[Shelf],
    query: &Query,
    text: &str,
    context: &Context,
    ui: &Ui,
) -> Result<Vec<Hit>, Failure> {
    let moment = Moment { prompt: text.to_owned(), ..Moment::default() };
    let mut hits = Vec::new();
    for (index, shelf) in shelves.iter().enumerate() {
        let usage = Usage::of(&shelf.vault, None, context.now);
        let ranked = recall::ask(&shelf.vault, context, ui, |notes, now, weights| {
            rank(notes, &moment, now, weights, &usage)
        })?;
        let matches =
            |hit: &core::Hit| hit.parts.get(Part::Words) > 0.0 || hit.parts.get(Part::Meaning) >= NEAR;
        for found in ranked.into_iter().filter(matches).take(MAX_CANDIDATES) {
            let path = MemoryPath::new(&found.note.path).ok();
            let Some(loaded) = path.and_then(|path| shelf.snapshot.load(&path).ok().flatten()) else {
                continue;
            };
            let body = String::from_utf8_lossy(loaded.document.body()).into_owned();
            hits.push(Hit {
                shelf: index,
                score: f64::from(found.score),
                snippet: query.snippet(&body),
                parts: recall::parts_json(&found.parts),
                via: found.via,
                loaded,
            });
        }
    }
    sort(&mut hits);
    Ok(hits)
}

/// Finds the memories that match by the beginnings of words, best first, file by file.
pub(super) fn hits(shelves: &[Shelf], query: &Query) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, shelf) in shelves.iter().enumerate() {
        let loaded = shelf
            .snapshot
            .memories
            .iter()
            .filter_map(|entry| shelf.snapshot.load(&entry.path).ok().flatten());
        hits.extend(loaded.filter_map(|loaded| hit(index, loaded, query)));
    }
    sort(&mut hits);
    hits
}

/// Finds what left the vaults for the archive.
fn archived(shelves: &[Shelf], query: &Query) -> Vec<Hit> {
    let archives = shelves.iter().enumerate().map(|(index, shelf)| (index, shelf.vault.archived()));
    archives
        .flat_map(|(index, loaded)| loaded.into_iter().filter_map(move |loaded| hit(index, loaded, query)))
        .collect()
}

fn hit(shelf: usize, loaded: Loaded, query: &Query) -> Option<Hit> {
    let body = String::from_utf8_lossy(loaded.document.body()).into_owned();
    let tags = loaded.memory.tags.join(" ");
    let text =
        Text { name: &loaded.memory.name, description: &loaded.memory.description, tags: &tags, body: &body };
    let score = query.score(&text)?;
    let mut parts = Map::new();
    parts.insert("words".to_owned(), json!(score));
    Some(Hit { shelf, score, snippet: query.snippet(&body), parts, via: Vec::new(), loaded })
}

/// Sorts the best to the front; at equal score what was confirmed stands before what is supplementary.
fn sort(hits: &mut [Hit]) {
    let key = |hit: &Hit| (hit.loaded.memory.tier, hit.loaded.path.clone());
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| key(a).cmp(&key(b))));
}

/// Returns the description, and the tier where it is not the usual one.
fn labelled(memory: &Memory) -> String {
    match memory.tier {
        Tier::Confirmed => memory.description.clone(),
        Tier::Supplementary => format!("(supplementary) {}", memory.description),
    }
}
