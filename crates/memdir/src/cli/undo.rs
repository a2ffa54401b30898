//! `memdir undo`: takes a change back, byte for byte.

use memdir_store::disk::ReadError;
use memdir_store::history::{Area, Change};
use memdir_store::vault::{CommitError, Vault};
use serde_json::json;

use crate::context::{Context, unreadable_history};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Take back a change, byte for byte
///
/// Without CHANGE it is the newest one. An undo is a change itself: undoing it redoes the first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which change: its id, or a beginning or end of it
    change: Option<String>,
    /// The session this comes from
    #[arg(long, value_name = "ID", env = "MEMDIR_SESSION")]
    session: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let (vault, change) = choose(args.change.as_deref(), context)?;
    let reaches_user = change.ops.iter().any(|op| op.area == Area::User);
    let user = if reaches_user { Some(context.create_user()?) } else { None };
    let mut writer = vault.writer(context.now, context.gate()?)?;
    if let Some(user) = &user {
        writer = writer.with_user_vault(user)?;
    }
    let undone = writer.undo(&change.id, args.session.clone())?;
    let names = names(&undone.undone);
    if ui.is_json() {
        ui.json(&json!({ "undone": undone.undone.id, "change": undone.change, "names": names }));
    } else {
        ui.line(&format!("undone: {} {}", undone.undone.reason, names.join(", ")));
    }
    Ok(Outcome::Done)
}

/// Returns the memories that a change is about.
pub(super) fn names(change: &Change) -> Vec<String> {
    let memories =
        change.ops.iter().filter(|op| matches!(op.area, Area::Vault | Area::User) && op.path != "MEMORY.md");
    memories.map(|op| op.path.trim_end_matches(".md").to_owned()).collect()
}

fn choose(change: Option<&str>, context: &Context) -> Result<(Vault, Change), Failure> {
    let mut chosen: Option<(Vault, Change)> = None;
    for (vault, history) in context.histories()? {
        let found = match change {
            Some(text) => history.find(text).map_err(Into::into).and_then(|id| match id {
                Some(id) => history.change(&id),
                None => Ok(None),
            }),
            None => history.last_undoable(),
        };
        let Some(found) = found.map_err(|err: ReadError| unreadable_history(&vault, &err))? else { continue };
        if chosen.as_ref().is_none_or(|(_, other)| other.id < found.id) {
            chosen = Some((vault, found));
        }
    }
    chosen.ok_or_else(|| match change {
        Some(text) => CommitError::NoChange(text.to_owned()).into(),
        None => Failure::refusal("there is nothing to undo").hint("changes can be undone for 30 days"),
    })
}
