//! `memdir diff`: what a change changed.

use memdir_core::merge::unified;
use memdir_store::history::Record;
use memdir_store::vault::CommitError;
use serde_json::json;

use crate::context::{Context, unreadable_history};
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

/// Show what a change changed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which change: its id, or a beginning or end of it
    change: String,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let record = find(&args.change, context)?;
    let text = diff(&record);
    if ui.is_json() {
        ui.json(&json!({ "change": record.change.id, "diff": text }));
        return Ok(Outcome::Done);
    }
    print(&text, ui);
    Ok(Outcome::Done)
}

/// Prints a unified diff, with what comes and what goes set off.
pub(super) fn print(text: &str, ui: &mut Ui) {
    for line in text.lines() {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(b'@') => Tone::Faint,
            _ => Tone::Plain,
        };
        ui.toned(tone, line);
    }
}

fn find(text: &str, context: &Context) -> Result<Record, Failure> {
    for (vault, history) in context.histories()? {
        let Some(id) = history.find(text).map_err(|err| unreadable_history(&vault, &err))? else { continue };
        if let Some(record) = history.record(&id).map_err(|err| unreadable_history(&vault, &err))? {
            return Ok(record);
        }
    }
    Err(CommitError::NoChange(text.to_owned()).into())
}

pub(super) fn diff(record: &Record) -> String {
    let mut text = String::new();
    for op in &record.change.ops {
        let bytes = |hash| record.versions.get(hash).map(Vec::as_slice);
        let (before, after) = (op.before.as_ref().map(bytes), op.after.as_ref().map(bytes));
        let folder = op.area.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
        let path = format!("{folder}{}", op.path);
        match (before, after) {
            (Some(None), _) | (_, Some(None)) => {
                text.push_str(&format!("{path}: the text is no longer kept\n"))
            }
            (before, after) => text.push_str(&unified(before.flatten(), after.flatten(), &path)),
        }
    }
    text
}
