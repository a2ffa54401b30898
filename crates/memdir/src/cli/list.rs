//! `memdir list`: what there is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use memdir_core::claims::{Verdict, Verification};
use memdir_core::memory::{Memory, MemoryPath, MemoryType, Tier};
use memdir_core::strength::strength;
use memdir_core::text::{age, age_days};
use memdir_store::usage::Usage;
use memdir_store::vault::Entry;
use memdir_store::verify::Cache;
use serde_json::{Value, json};

use crate::context::{Context, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// List the memories of this project and of the user
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this type: user, feedback, project or reference
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    memory_type: Option<String>,
    /// Only memories with this tag
    #[arg(long, value_name = "WORD")]
    tag: Option<String>,
    /// Only memories of this kind, for instance decision or gotcha
    #[arg(long, value_name = "WORD")]
    kind: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let memory_type: Option<MemoryType> = args.memory_type.as_deref().map(str::parse).transpose()?;
    let wanted = |memory: &Memory| {
        memory_type.is_none_or(|kind| memory.memory_type == Some(kind))
            && args.tag.as_ref().is_none_or(|tag| memory.tags.contains(tag))
            && args.kind.as_ref().is_none_or(|kind| memory.kind.as_ref() == Some(kind))
    };
    let shelves = context.shelves()?;
    let rows: Vec<(&Shelf, &Entry)> = shelves
        .iter()
        .flat_map(|shelf| shelf.snapshot.memories.iter().map(move |entry| (shelf, entry)))
        .filter(|(_, entry)| wanted(&entry.memory))
        .collect();
    let checks = Checks::of(&shelves);
    if ui.is_json() {
        let usages: Vec<Usage> =
            shelves.iter().map(|shelf| Usage::of(&shelf.vault, None, context.now)).collect();
        let usage_of = |wanted: &Shelf| {
            shelves.iter().position(|shelf| std::ptr::eq(shelf, wanted)).map(|at| &usages[at])
        };
        let rows: Vec<Value> = rows
            .iter()
            .map(|(shelf, entry)| row_json(shelf, entry, usage_of(shelf), &checks, context))
            .collect();
        ui.json(&rows);
        return Ok(Outcome::Done);
    }
    if rows.is_empty() {
        ui.say("no memories yet: `memdir save NAME --type T --description D` makes one");
        return Ok(Outcome::Nothing);
    }
    // Where nothing was ever looked up there is nothing to tell.
    let is_checked = rows.iter().any(|(shelf, entry)| checks.get(shelf, entry).is_some());
    let mut columns = vec![
        Column::new("name").tone(Tone::Strong),
        Column::new("type"),
        Column::new("description").giving_way(),
        Column::new("saved").tone(Tone::Faint),
    ];
    columns.extend(is_checked.then(|| Column::new("claims")));
    let cells = |(shelf, entry): &(&Shelf, &Entry)| {
        let mut cells = row(shelf, entry, context);
        cells.extend(is_checked.then(|| state(checks.get(shelf, entry)).as_str().to_owned()));
        cells
    };
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    ui.table(&columns, &cells);
    Ok(Outcome::Done)
}

/// What the last check of each vault found.
struct Checks(Vec<(PathBuf, BTreeMap<String, Verification>)>);

impl Checks {
    fn of(shelves: &[Shelf]) -> Self {
        let of_shelf = |shelf: &Shelf| {
            let cache = Cache::load(&shelf.vault);
            let mut found = BTreeMap::new();
            for path in cache.known().into_keys() {
                // Only what was looked at is opened: the check holds for that version alone.
                let Ok(path) = MemoryPath::new(&path) else { continue };
                let loaded = shelf.snapshot.load(&path).ok().flatten();
                let checked = loaded.and_then(|loaded| cache.get(&path, loaded.hash));
                found.extend(checked.map(|checked| (path.as_str().to_owned(), checked)));
            }
            (shelf.vault.path().to_owned(), found)
        };
        Self(shelves.iter().map(of_shelf).collect())
    }

    fn get(&self, shelf: &Shelf, entry: &Entry) -> Option<&Verification> {
        let (_, found) = self.0.iter().find(|(path, _)| path == shelf.vault.path())?;
        found.get(entry.path.as_str())
    }
}

fn state(checked: Option<&Verification>) -> Verdict {
    checked.map_or(Verdict::Unverified, Verification::verdict)
}

fn row(shelf: &Shelf, entry: &Entry, context: &Context) -> Vec<String> {
    let memory = &entry.memory;
    let home = if shelf.is_user() { "~/" } else { "" };
    let kind = memory.memory_type.map_or("?", MemoryType::as_str);
    let tier = if memory.tier == Tier::Supplementary { ", supplementary" } else { "" };
    let description = if memory.description.is_empty() { "(no description)" } else { &memory.description };
    vec![
        format!("{home}{}", entry.path.stem()),
        format!("{kind}{tier}"),
        description.to_owned(),
        age(entry.modified(), context.now),
    ]
}

fn row_json(
    shelf: &Shelf,
    entry: &Entry,
    usage: Option<&Usage>,
    checks: &Checks,
    context: &Context,
) -> Value {
    let checked = checks.get(shelf, entry);
    let memory = &entry.memory;
    let days = age_days(entry.modified(), context.now);
    let used = usage.map(|usage| usage.get(entry.path.stem())).unwrap_or_default();
    let since = used.last_used.unwrap_or(entry.modified()).max(entry.modified());
    let since = context.now.duration_since(since);
    json!({
        "name": entry.path.stem(),
        "path": shelf.vault.path().join(entry.path.as_str()).display().to_string(),
        "type": memory.memory_type,
        "scope": memory.scope,
        "tier": memory.tier,
        "kind": memory.kind,
        "description": memory.description,
        "tags": memory.tags,
        "created": memory.created,
        "modified": entry.modified(),
        "age_days": days,
        "strength": memory.memory_type.map(|kind| strength(kind, since, used.stability())),
        "state": state(checked),
        "checked": checked.and_then(|checked| checked.checked),
        "claims": checked.map(|checked| checked.clause(context.now)),
        "verified": memory.verified.as_ref().map(ToString::to_string),
        "vault": if shelf.is_user() { "user" } else { "project" },
    })
}
