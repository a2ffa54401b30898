//! `memdir manifest`: one line a memory, for programs that choose among them.

use memdir_core::memory::MemoryType;
use memdir_core::page::router;
use serde_json::json;

use super::overview;
use crate::context::{Context, USER, unreadable_state};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Print one line per memory: type, file, time, description
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print what a session gets of the index pages instead, the user's first, with the table of projects
    #[arg(long)]
    page: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    if args.page {
        return pages(context, ui);
    }
    let mut lines = Vec::new();
    for shelf in context.shelves()? {
        for entry in &shelf.snapshot.memories {
            let kind = entry.memory.memory_type.map_or("?", MemoryType::as_str);
            let line =
                format!("- [{kind}] {} ({:.0}): {}", entry.path, entry.modified(), entry.memory.description);
            lines.push(line);
        }
    }
    if ui.is_json() {
        ui.json(&lines);
    } else {
        lines.iter().for_each(|line| ui.line(line));
    }
    Ok(if lines.is_empty() && !ui.is_json() { Outcome::Nothing } else { Outcome::Done })
}

/// Prints the index pages without what nobody vouched for.
fn pages(context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut pages = Vec::new();
    // A vault that was named stands alone.
    let table = if context.place.explicit { String::new() } else { router(&overview::rows(context)?) };
    if !table.is_empty() {
        pages.push(json!({ "vault": "router", "text": table }));
        if !ui.is_json() {
            ui.block(&table);
        }
    }
    for vault in context.vaults()?.iter().rev() {
        let text = vault.injectable_page().map_err(|err| unreadable_state(vault, &err))?;
        if !text.is_empty() {
            let name = if vault.id() == USER { "user" } else { "project" };
            pages.push(json!({ "vault": name, "text": text }));
            if !ui.is_json() {
                ui.block(&text);
            }
        }
    }
    if ui.is_json() {
        ui.json(&pages);
    }
    Ok(if pages.is_empty() { Outcome::Nothing } else { Outcome::Done })
}
