//! `memdir links`: what a memory leads to and what leads to it.

use memdir_core::memory::{LinkVault, Resolver, links};
use memdir_core::recall::{Note, edges};
use memdir_store::usage::Usage;
use memdir_store::vault::Loaded;
use serde_json::json;

use crate::context::{Context, Found, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// A link that somebody wrote ties as much as anything can.
const WRITTEN: f32 = 1.0;
/// At most so many memories are named that are merely related.
const MAX_RELATED: usize = 20;

/// Show what a memory is tied to, and why
///
/// The weight of a tie is between 0 and 1. Links are written in the memories; the other ties come from what both speak of,
/// the session they were learned in, the files they are for, and from being recalled together.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory
    name: String,
}

/// One tie, seen from the memory that was asked for.
struct Row {
    direction: Direction,
    name: String,
    relation: String,
    weight: f32,
    why: String,
    resolved: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Out,
    In,
    Both,
}

impl Direction {
    fn as_str(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Both => "both",
        }
    }

    fn arrow(self) -> &'static str {
        match self {
            Self::Out => "→",
            Self::In => "←",
            Self::Both => "↔",
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Found { vault, loaded } = context.find(&args.name)?;
    let shelf = Shelf::new(vault)?;
    let others: Vec<Loaded> =
        shelf.snapshot.memories.iter().map(|entry| shelf.load(&entry.path)).collect::<Result<_, _>>()?;
    let mut rows = written(&shelf, &loaded, &others);
    rows.extend(related(&shelf, &loaded, &others));
    print(&rows, ui);
    Ok(if rows.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Returns the links that stand in memories.
fn written(shelf: &Shelf, loaded: &Loaded, others: &[Loaded]) -> Vec<Row> {
    let memories = &shelf.snapshot.memories;
    let resolver = Resolver::new(memories.iter().map(|entry| &entry.memory));
    let mut rows = Vec::new();
    for link in links(loaded.document.body()) {
        let target = if link.vault == LinkVault::Same { resolver.resolve(&link.name) } else { None };
        let (name, elsewhere) = match &link.vault {
            LinkVault::Same => (link.name.clone(), false),
            LinkVault::User => (format!("~/{}", link.name), true),
            LinkVault::Project(project) => (format!("{project}/{}", link.name), true),
        };
        rows.push(Row {
            direction: Direction::Out,
            name: target.map_or(name, |index| memories[index].path.stem().to_owned()),
            relation: link.relation.map_or_else(|| "wiki".to_owned(), |relation| relation.word),
            weight: WRITTEN,
            why: String::new(),
            resolved: target.is_some() || elsewhere,
        });
    }
    for other in others.iter().filter(|other| other.path != loaded.path) {
        for link in links(other.document.body()).into_iter().filter(|link| link.vault == LinkVault::Same) {
            let target = resolver.resolve(&link.name).map(|index| &memories[index].path);
            if target == Some(&loaded.path) {
                rows.push(Row {
                    direction: Direction::In,
                    name: other.path.stem().to_owned(),
                    relation: link.relation.map_or_else(|| "wiki".to_owned(), |relation| relation.word),
                    weight: WRITTEN,
                    why: String::new(),
                    resolved: true,
                });
            }
        }
    }
    rows
}

/// Returns what the memory has in common with others.
fn related(shelf: &Shelf, loaded: &Loaded, others: &[Loaded]) -> Vec<Row> {
    let notes: Vec<Note> = others.iter().map(Loaded::note).collect();
    let together = Usage::together(&shelf.vault, loaded.path.stem());
    let found = edges(&loaded.note(), &notes, |name| together.get(name).copied().unwrap_or_default());
    let row = |edge: memdir_core::recall::Edge| Row {
        direction: Direction::Both,
        name: edge.name,
        relation: edge.kind.as_str().to_owned(),
        weight: edge.weight,
        why: edge.why,
        resolved: true,
    };
    found.into_iter().take(MAX_RELATED).map(row).collect()
}

fn print(rows: &[Row], ui: &mut Ui) {
    if ui.is_json() {
        let row = |row: &Row| {
            json!({
                "name": row.name,
                "direction": row.direction.as_str(),
                "kind": row.relation,
                "weight": row.weight,
                "why": row.why,
                "resolved": row.resolved,
            })
        };
        ui.json(&rows.iter().map(row).collect::<Vec<_>>());
        return;
    }
    let columns = [
        Column::new(""),
        Column::new("name").tone(Tone::Strong),
        Column::new("kind"),
        Column::new("weight"),
        Column::new("").giving_way(),
    ];
    let cell = |row: &Row| {
        let note = if row.resolved { row.why.clone() } else { "(not there yet)".to_owned() };
        let weight = format!("{:.2}", row.weight);
        vec![row.direction.arrow().to_owned(), row.name.clone(), row.relation.clone(), weight, note]
    };
    ui.table(&columns, &rows.iter().map(cell).collect::<Vec<_>>());
    if rows.is_empty() {
        ui.say("no links in either direction");
    }
}
