//! `memdir links`: what a memory leads to and what leads to it.

use memdir_core::memory::{LinkVault, Resolver, links};
use serde_json::json;

use crate::context::{Context, Found, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Show the links of a memory, in both directions
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory
    name: String,
}

/// One link, seen from the memory that was asked for.
struct Row {
    out: bool,
    name: String,
    relation: String,
    resolved: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Found { vault, loaded } = context.find(&args.name)?;
    let shelf = Shelf::new(vault)?;
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
            out: true,
            name: target.map_or(name, |index| memories[index].path.stem().to_owned()),
            relation: link.relation.map_or_else(|| "wiki".to_owned(), |relation| relation.word),
            resolved: target.is_some() || elsewhere,
        });
    }
    for entry in memories.iter().filter(|entry| entry.path != loaded.path) {
        let other = shelf.load(&entry.path)?;
        for link in links(other.document.body()).into_iter().filter(|link| link.vault == LinkVault::Same) {
            let target = resolver.resolve(&link.name).map(|index| &memories[index].path);
            if target == Some(&loaded.path) {
                let relation = link.relation.map_or_else(|| "wiki".to_owned(), |relation| relation.word);
                rows.push(Row { out: false, name: entry.path.stem().to_owned(), relation, resolved: true });
            }
        }
    }
    print(&rows, ui);
    Ok(if rows.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn print(rows: &[Row], ui: &mut Ui) {
    if ui.is_json() {
        let row = |row: &Row| json!({ "name": row.name, "direction": if row.out { "out" } else { "in" }, "kind": row.relation, "resolved": row.resolved });
        ui.json(&rows.iter().map(row).collect::<Vec<_>>());
        return;
    }
    let columns =
        [Column::new(""), Column::new("name").tone(Tone::Strong), Column::new("kind"), Column::new("")];
    let cell = |row: &Row| {
        let arrow = if row.out { "→" } else { "←" };
        let note = if row.resolved { "" } else { "(not there yet)" };
        vec![arrow.to_owned(), row.name.clone(), row.relation.clone(), note.to_owned()]
    };
    ui.table(&columns, &rows.iter().map(cell).collect::<Vec<_>>());
    if rows.is_empty() {
        ui.say("no links in either direction");
    }
}
