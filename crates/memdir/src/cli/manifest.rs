//! `memdir manifest`: one line a memory, for programs that choose among them.

use memdir_core::memory::MemoryType;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Print one line per memory: type, file, time, description
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
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
