//! `memdir gateway undo`: conversations that were shortened, in full length again.
//!
//! The client has all of a conversation and sends it with every request; what was summed up is only not passed on. So nothing has to be
//! brought back: the summary is forgotten, and from the next request on the original passes through.

use std::path::Path;

use memdir_core::text::count;
use memdir_store::gateway::Conversations;
use serde_json::json;

use crate::context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Ui};

/// Have a conversation that was shortened go on in full length
///
/// The client still has all of it and sends it; the gateway only sends a summary in the place of its beginning. Undone, every message
/// passes again from the next request on, and the conversation is not shortened again. Without a name, those that go on shortened are
/// listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The conversation, as the list and the log call it
    conversation: Option<String>,
}

pub(super) fn run(args: &Args, home: &Path, ui: &mut Ui) -> Result<Outcome, Failure> {
    let conversations = Conversations::below(home);
    match &args.conversation {
        Some(id) => undo(&conversations, id, ui),
        None => list(&conversations, ui),
    }
}

fn undo(conversations: &Conversations, id: &str, ui: &mut Ui) -> Result<Outcome, Failure> {
    let was_short = conversations.leave_whole(id, context::now());
    if ui.is_json() {
        ui.json(&json!({ "conversation": id, "undone": was_short }));
    } else if was_short {
        ui.say(&format!("{id} goes on in full length from its next request on"));
    } else {
        return Err(Failure::refusal(format!("no conversation `{id}` was shortened"))
            .hint("`memdir gateway undo` lists those that were"));
    }
    Ok(if was_short { Outcome::Done } else { Outcome::Nothing })
}

fn list(conversations: &Conversations, ui: &mut Ui) -> Result<Outcome, Failure> {
    let unreadable = |err| Failure::error(format!("could not read the conversations of the gateway: {err}"));
    let short = conversations.shortened().map_err(unreadable)?;
    let seen = |at: &Option<jiff::Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    if ui.is_json() {
        let rows = short.iter().map(|(id, at)| json!({ "conversation": id, "seen": seen(at) }));
        ui.json(&json!({ "shortened": rows.collect::<Vec<_>>() }));
    } else if short.is_empty() {
        ui.say("no conversation goes on shortened");
    } else {
        let rows: Vec<Vec<String>> = short.iter().map(|(id, at)| vec![id.clone(), seen(at)]).collect();
        ui.table(&["conversation", "last request"].map(Column::new), &rows);
        ui.say(&format!("{} in a summary's words at the beginning", count(short.len(), "goes on", "go on")));
    }
    Ok(if short.is_empty() { Outcome::Nothing } else { Outcome::Done })
}
