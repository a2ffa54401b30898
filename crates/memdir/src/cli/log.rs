//! `memdir log`: who changed what, when and why.

use memdir_core::text::age;
use memdir_store::disk::ReadError;
use memdir_store::history::{Area, Change, FileOp};
use serde_json::{Value, json};

use super::undo::names;
use crate::context::{Context, unreadable_history};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Show what changed, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only changes of this memory
    name: Option<String>,
    /// At most this many
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let changes = changes(args, context)?;
    if ui.is_json() {
        ui.json(&changes.iter().map(change_json).collect::<Vec<_>>());
        return Ok(Outcome::Done);
    }
    let columns = [
        Column::new("change").tone(Tone::Faint),
        Column::new("when"),
        Column::new("who"),
        Column::new("what").giving_way(),
        Column::new("memories").tone(Tone::Strong).giving_way(),
    ];
    let row = |change: &Change| {
        let force = change.force.as_ref().map(|reason| format!(" (forced: {reason})")).unwrap_or_default();
        vec![
            change.id.to_string(),
            age(change.at, context.now),
            change.author.to_string(),
            format!("{}{force}", change.reason),
            names(change).join(", "),
        ]
    };
    ui.table(&columns, &changes.iter().map(row).collect::<Vec<_>>());
    Ok(if changes.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn changes(args: &Args, context: &Context) -> Result<Vec<Change>, Failure> {
    let mut changes: Vec<Change> = Vec::new();
    for (vault, history) in context.histories()? {
        // Going back in time, a memory is looked for under each name it had.
        let mut names: Vec<String> =
            args.name.iter().map(|name| stem(name.strip_prefix("~/").unwrap_or(name))).collect();
        let unreadable = |err: ReadError| unreadable_history(&vault, &err);
        for id in history.ids().map_err(|err| unreadable(err.into()))?.into_iter().rev() {
            let Some(change) = history.change(&id).map_err(unreadable)? else { continue };
            let twin = changes.iter().any(|other| other.id == id);
            if !twin && (names.is_empty() || concerns(&change, &mut names)) {
                changes.push(change);
            }
        }
    }
    changes.sort_by(|a, b| b.id.cmp(&a.id));
    changes.truncate(args.limit.unwrap_or(usize::MAX));
    Ok(changes)
}

fn concerns(change: &Change, names: &mut Vec<String>) -> bool {
    let mut found = false;
    for op in &change.ops {
        let from = op.from.as_deref().map(stem);
        let named = |name: &String| *name == stem(&op.path) || Some(name) == from.as_ref();
        if names.iter().any(named) {
            found = true;
            names.extend(from);
        }
    }
    found
}

fn stem(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md").to_lowercase()
}

fn change_json(change: &Change) -> Value {
    json!({
        "change": change.id,
        "at": change.at,
        "author": change.author,
        "by": change.by,
        "reason": change.reason,
        "session": change.session,
        "force": change.force,
        "undoes": change.undoes,
        "files": change.ops.iter().map(op_json).collect::<Vec<_>>(),
    })
}

fn op_json(op: &FileOp) -> Value {
    let stem = |path: &str| path.trim_end_matches(".md").to_owned();
    let area = if op.area == Area::Vault { Value::Null } else { json!(op.area) };
    json!({ "name": stem(&op.path), "from": op.from.as_deref().map(stem), "op": op.op, "area": area, "before": op.before, "after": op.after })
}
