//! What sessions left behind: their journal, and what was said in them.

use memdir_core::memory::Tier;
use memdir_core::recall::{self as core, Moment, Part, Shelf, Unknown, Weights, rank};
use memdir_store::journal::{Journal, Noted};
use memdir_store::place::Project;
use memdir_store::transcript::{Said, Transcripts};
use serde_json::{Map, Value, json};

use super::{Layer, NEAR, Row, Search};
use crate::cli::recall::parts_json;
use crate::failure::Failure;

/// Searches the journal of this project, or of all.
pub(super) fn journal(search: &Search<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for project in projects(search)? {
        let journal = Journal::below(&search.context.place.home, project.id.as_str());
        let mut entries = journal.notes()?;
        entries.retain(|entry| search.as_of.is_none_or(|time| entry.at <= time));
        rows.extend(ranked(search, &entries, project.id.as_str()));
    }
    Ok(rows)
}

fn ranked(search: &Search<'_>, entries: &[Noted], project: &str) -> Vec<Row> {
    let shelf = Shelf::new(entries.iter().map(|entry| entry.note.clone()).collect());
    let moment = Moment { prompt: search.text.clone(), ..Moment::default() };
    let now = search.as_of.unwrap_or(search.context.now).to_zoned(search.context.zone.clone());
    let Ok(hits) = rank(&shelf, &moment, &now, &Weights::fitted(), &Unknown);
    let matches =
        |hit: &core::Hit| hit.parts.get(Part::WordsAtAll) > 0.0 || hit.parts.get(Part::Meaning) >= NEAR;
    let row = |hit: core::Hit| {
        let entry = entries.iter().find(|entry| entry.note.path == hit.note.path)?;
        Some(Row {
            layer: Layer::Journal,
            project: project.to_owned(),
            name: hit.note.name,
            path: entry.path.clone(),
            score: f64::from(hit.score),
            memory_type: None,
            tier: Tier::Confirmed,
            description: hit.note.description,
            snippet: search.query.snippet(&hit.note.body),
            text: hit.note.body,
            loaded: None,
            at: entry.at,
            origin: None,
            via: hit.via,
            parts: parts_json(&hit.parts),
            more: Map::from_iter([("session".to_owned(), json!(entry.session))]),
        })
    };
    hits.into_iter().filter(matches).take(search.limit).filter_map(row).collect()
}

/// Searches what was said in the sessions of this project, or of all.
pub(super) fn transcripts(search: &Search<'_>) -> Result<Vec<Row>, Failure> {
    let scanner = search.context.scanner()?;
    let place = &search.context.place;
    let mut rows = Vec::new();
    for project in projects(search)? {
        let transcripts = match project.id == place.project.id {
            true => Transcripts::of(place),
            false => Transcripts::of_project(place, &project),
        };
        let said = transcripts.search(&search.text, search.limit, search.as_of, &scanner);
        rows.extend(said.into_iter().map(|said| row(search, said, project.id.as_str())));
    }
    Ok(rows)
}

fn row(search: &Search<'_>, said: Said, project: &str) -> Row {
    let parts = said.parts.into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
    let more = json!({
        "session": said.session,
        "agent": said.host,
        "turn": said.turn.uuid,
        "role": said.turn.role,
        "at": said.turn.at,
        "kept": said.is_kept,
    });
    Row {
        layer: Layer::Transcript,
        project: project.to_owned(),
        description: format!("said by the {} in a session of {}", said.turn.role.word(), said.host.word()),
        name: said.session,
        path: said.path,
        score: f64::from(said.score),
        memory_type: None,
        tier: Tier::Confirmed,
        snippet: search.query.snippet(&said.turn.text),
        text: said.turn.text,
        loaded: None,
        at: said.turn.at.unwrap_or(search.context.now),
        origin: None,
        via: Vec::new(),
        parts: parts.collect(),
        more: match more {
            Value::Object(fields) => fields,
            _ => Map::new(),
        },
    }
}

/// Returns the project here, and with `--all` every other one.
fn projects(search: &Search<'_>) -> Result<Vec<Project>, Failure> {
    let here = search.context.place.project.clone();
    let mut projects = vec![here];
    if search.all {
        projects.extend(search.context.other_projects()?);
    }
    Ok(projects)
}
