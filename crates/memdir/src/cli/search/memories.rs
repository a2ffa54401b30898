//! Memories that match, now or then.
//!
//! The index answers; where it has nothing, files are read one by one and matched by the beginnings of words. The past
//! has no index: its memories are put together from history and ranked by the same engine.

use jiff::Timestamp;
use memdir_core::memory::MemoryPath;
use memdir_core::recall::{self as core, Moment, Part, Unknown, Weights, rank};
use memdir_core::search::{Query, Text};
use memdir_store::usage::Usage;
use memdir_store::vault::Loaded;
use serde_json::{Map, Value, json};

use super::{Layer, NEAR, Row, Search};
use crate::cli::recall;
use crate::context::{Shelf, unreadable_history};
use crate::failure::Failure;
use crate::ui::Ui;

/// A memory that matches.
pub(in crate::cli) struct Hit {
    pub(in crate::cli) shelf: usize,
    pub(in crate::cli) loaded: Loaded,
    score: f64,
    snippet: String,
    /// What speaks for it, and what led to it.
    parts: Map<String, Value>,
    via: Vec<String>,
}

/// As many candidates of a vault are looked at.
const MAX_CANDIDATES: usize = 50;

/// Searches the vaults that hold here, or all; as they are, or as they were.
pub(super) fn rows(search: &Search<'_>, ui: &Ui) -> Result<Vec<Row>, Failure> {
    let context = search.context;
    let shelves = if search.all { context.all_shelves()? } else { context.shelves()? };
    let mut hits = match search.as_of {
        Some(time) => then(&shelves, search, time, ui)?,
        None => now(&shelves, search, ui)?,
    };
    // Such a file belongs into the inbox; where one stands in a vault all the same, it is found on request only.
    hits.retain(|hit| search.all || !hit.loaded.memory.quarantined);
    sort(&mut hits);
    Ok(hits.into_iter().map(|hit| row(hit, &shelves)).collect())
}

fn row(hit: Hit, shelves: &[Shelf]) -> Row {
    let vault = &shelves[hit.shelf].vault;
    let at = hit.loaded.modified();
    let body = String::from_utf8_lossy(hit.loaded.document.body()).into_owned();
    let memory = hit.loaded.memory.clone();
    Row {
        layer: Layer::Memory,
        project: vault.id().to_owned(),
        name: hit.loaded.path.stem().to_owned(),
        path: vault.path().join(hit.loaded.path.as_str()),
        score: hit.score,
        memory_type: memory.memory_type,
        tier: memory.tier,
        description: memory.description,
        snippet: hit.snippet,
        text: body,
        loaded: Some(Box::new(hit.loaded)),
        at,
        origin: memory.origin_project,
        via: hit.via,
        parts: hit.parts,
        more: Map::new(),
    }
}

/// Searches the vaults as they are.
fn now(shelves: &[Shelf], search: &Search<'_>, ui: &Ui) -> Result<Vec<Hit>, Failure> {
    let mut hits = indexed(shelves, search, ui)?;
    if hits.is_empty() {
        hits = self::hits(shelves, &search.query);
    }
    if search.all {
        hits.extend(archived(shelves, &search.query));
    }
    Ok(hits)
}

/// Searches the vaults as they were at a time; there is no index of the past, so all of it is read.
fn then(shelves: &[Shelf], search: &Search<'_>, time: Timestamp, ui: &Ui) -> Result<Vec<Hit>, Failure> {
    let moment = Moment { prompt: search.text.clone(), ..Moment::default() };
    let zoned = time.to_zoned(search.context.zone.clone());
    let mut hits = Vec::new();
    for (index, shelf) in shelves.iter().enumerate() {
        let then = shelf.vault.then(time).map_err(|err| unreadable_history(&shelf.vault, &err))?;
        if !then.is_whole {
            let since = then.since.map_or_else(|| "now".to_owned(), |since| since.to_string());
            let path = shelf.vault.path().display();
            ui.warn(&format!(
                "the history of {path} is kept since {since}: what changed before is not known"
            ));
        }
        let past = core::Shelf::new(then.memories.iter().map(Loaded::note).collect());
        let Ok(ranked) = rank(&past, &moment, &zoned, &Weights::fitted(), &Unknown);
        for found in ranked.into_iter().filter(matches).take(MAX_CANDIDATES) {
            let loaded = then.memories.iter().find(|loaded| loaded.path.as_str() == found.note.path);
            hits.extend(loaded.map(|loaded| found_hit(index, loaded.clone(), found, &search.query)));
        }
    }
    Ok(hits)
}

fn matches(hit: &core::Hit) -> bool {
    hit.parts.get(Part::WordsAtAll) > 0.0 || hit.parts.get(Part::Meaning) >= NEAR
}

fn found_hit(shelf: usize, loaded: Loaded, found: core::Hit, query: &Query) -> Hit {
    let body = String::from_utf8_lossy(loaded.document.body()).into_owned();
    let tags = loaded.memory.tags.join(" ");
    Hit {
        shelf,
        score: query.lift(f64::from(found.score), &text(&loaded, &tags, &body)),
        snippet: query.snippet(&body),
        parts: recall::parts_json(&found.parts),
        via: found.via,
        loaded,
    }
}

fn text<'a>(loaded: &'a Loaded, tags: &'a str, body: &'a str) -> Text<'a> {
    Text { name: &loaded.memory.name, description: &loaded.memory.description, tags, body }
}

/// Asks the index of each vault.
fn indexed(shelves: &[Shelf], search: &Search<'_>, ui: &Ui) -> Result<Vec<Hit>, Failure> {
    let moment = Moment { prompt: search.text.clone(), ..Moment::default() };
    let mut hits = Vec::new();
    for (index, shelf) in shelves.iter().enumerate() {
        let usage = Usage::of(&shelf.vault, None, search.context.now);
        let ranked = recall::ask(&shelf.vault, search.context, ui, |notes, now, weights| {
            rank(notes, &moment, now, weights, &usage)
        })?;
        for found in ranked.into_iter().filter(matches).take(MAX_CANDIDATES) {
            let path = MemoryPath::new(&found.note.path).ok();
            let loaded = path.and_then(|path| shelf.snapshot.load(&path).ok().flatten());
            hits.extend(loaded.map(|loaded| found_hit(index, loaded, found, &search.query)));
        }
    }
    Ok(hits)
}

/// Finds the memories that match by the beginnings of words, best first, file by file.
pub(in crate::cli) fn hits(shelves: &[Shelf], query: &Query) -> Vec<Hit> {
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
    let score = query.score(&text(&loaded, &tags, &body))?;
    let mut parts = Map::new();
    parts.insert("words".to_owned(), json!(score));
    Some(Hit { shelf, score, snippet: query.snippet(&body), parts, via: Vec::new(), loaded })
}

/// Sorts the best to the front; at equal score what was confirmed stands before what is supplementary.
fn sort(hits: &mut [Hit]) {
    let key = |hit: &Hit| (hit.loaded.memory.tier, hit.loaded.path.clone());
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| key(a).cmp(&key(b))));
}
