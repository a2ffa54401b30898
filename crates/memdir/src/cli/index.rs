//! `memdir index`: the derived index of each vault.

use memdir_store::notes;
use serde_json::{Value, json};

use super::recall::ask;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Show or rebuild the search index
///
/// The index is derived: it can be deleted at any time, and is kept up to date by whoever asks it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show what the index of each vault holds
    Status,
    /// Build the index of each vault anew
    Rebuild,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut rows: Vec<(String, usize, u64)> = Vec::new();
    for vault in context.vaults()? {
        if matches!(args.what, What::Rebuild) {
            notes::build(&vault).map_err(|err| Failure::from_chain(&err))?;
        }
        let n_notes =
            ask(&vault, context, ui, |notes, _, _| Ok(memdir_core::recall::Library::n_notes(notes)))?;
        let path = notes::directory(&vault);
        let sizes = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let n_bytes = sizes.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum();
        rows.push((path.display().to_string(), n_notes, n_bytes));
    }
    if ui.is_json() {
        let row = |(path, n_notes, n_bytes): &(String, usize, u64)| json!({ "path": path, "memories": n_notes, "bytes": n_bytes });
        ui.json(&rows.iter().map(row).collect::<Vec<Value>>());
        return Ok(Outcome::Done);
    }
    let columns = [
        Column::new("index").tone(Tone::Strong).giving_way(),
        Column::new("memories"),
        Column::new("bytes").tone(Tone::Faint),
    ];
    let row = |(path, n_notes, n_bytes): &(String, usize, u64)| {
        vec![path.clone(), n_notes.to_string(), n_bytes.to_string()]
    };
    ui.table(&columns, &rows.iter().map(row).collect::<Vec<_>>());
    Ok(Outcome::Done)
}
