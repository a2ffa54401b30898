//! `memdir stale`: what nobody touched for a while, over all projects.

use memdir_core::memory::MemoryType;
use memdir_core::text::age_days;
use memdir_store::usage::Usage;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// List memories of all projects that nobody changed or used for a while
///
/// Idle is not wrong: whether what a memory claims still holds is what `memdir verify` looks at.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For at least this many days
    #[arg(value_name = "DAYS", default_value_t = 14)]
    days: i64,
}

/// A memory that lies idle.
#[derive(Debug, Clone)]
pub(crate) struct Idle {
    /// The project's id.
    pub(crate) project: String,
    pub(crate) name: String,
    pub(crate) memory_type: Option<MemoryType>,
    pub(crate) description: String,
    pub(crate) idle_days: i64,
    pub(crate) has_ended: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let idle = idle(args.days, context)?;
    print(&idle, ui);
    Ok(if idle.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Returns the memories of all projects that nobody touched for at least this many days, the longest idle first.
pub(crate) fn idle(days: i64, context: &Context) -> Result<Vec<Idle>, Failure> {
    let today = context.now.to_zoned(context.zone.clone()).date();
    let mut idle = Vec::new();
    for shelf in context.all_shelves()? {
        let usage = Usage::of(&shelf.vault, None, context.now);
        for entry in &shelf.snapshot.memories {
            let since = usage.get(entry.path.stem()).last_used.max(Some(entry.modified()));
            let idle_days = since.map_or(0, |since| age_days(since, context.now));
            if idle_days >= days {
                idle.push(Idle {
                    project: shelf.vault.id().to_owned(),
                    name: entry.path.stem().to_owned(),
                    memory_type: entry.memory.memory_type,
                    description: entry.memory.description.clone(),
                    idle_days,
                    has_ended: entry.memory.expires.is_some_and(|day| day <= today),
                });
            }
        }
    }
    idle.sort_by(|a, b| {
        b.idle_days.cmp(&a.idle_days).then_with(|| (&a.project, &a.name).cmp(&(&b.project, &b.name)))
    });
    Ok(idle)
}

/// Shows them to programs.
pub(super) fn as_json(idle: &[Idle]) -> Vec<Value> {
    let row = |item: &Idle| {
        json!({
            "project": item.project,
            "name": item.name,
            "type": item.memory_type,
            "description": item.description,
            "idle_days": item.idle_days,
            "expired": item.has_ended,
        })
    };
    idle.iter().map(row).collect()
}

fn print(idle: &[Idle], ui: &mut Ui) {
    if ui.is_json() {
        return ui.json(&as_json(idle));
    }
    let columns = [
        Column::new("project").tone(Tone::Faint),
        Column::new("name").tone(Tone::Strong),
        Column::new("description").giving_way(),
        Column::new("idle"),
    ];
    let row = |item: &Idle| {
        let ended = if item.has_ended { ", ended" } else { "" };
        vec![
            item.project.clone(),
            item.name.clone(),
            item.description.clone(),
            format!("{} days{ended}", item.idle_days),
        ]
    };
    ui.table(&columns, &idle.iter().map(row).collect::<Vec<_>>());
    if idle.is_empty() {
        ui.say("nothing lies idle");
    }
}
