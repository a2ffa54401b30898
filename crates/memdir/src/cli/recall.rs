//! `memdir recall`: what an agent would be reminded of at a moment.

pub(crate) mod select;

use std::path::Path;
use std::time::Duration;

use jiff::Zoned;
use memdir_core::change::Surface;
use memdir_core::recall::{self as core, Moment, Trigger, Weights};
use memdir_core::text::age_days;
use memdir_store::index::IndexError;
use memdir_store::notes::{self, Upkeep};
use memdir_store::remind::{Asker, BUDGET, Reminded, Reminder, remind, remind_within};
use memdir_store::vault::Vault;
use serde_json::{Map, Value, json};

use crate::context::{Context, dash_is_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Show what an agent would be reminded of
///
/// Prints exactly what the prompt hook would put before the model: at most five memories that are likely to help, or
/// nothing. With --session each memory is shown once, within the session's budget.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir recall \"which database do the tests use?\"
  memdir recall \"continue\" --file db/migrate.rs --branch release/mobile
  cargo test 2>&1 | tail -20 | memdir recall \"why does it fail\" --error -")]
pub(crate) struct Args {
    /// What the user typed
    #[arg(value_name = "PROMPT", num_args = 0..)]
    prompt: Vec<String>,
    /// The session that asks
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// A tool that was used lately
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// A file that is read or edited
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// The command that was run
    #[arg(long, value_name = "TEXT", default_value = "")]
    command: String,
    /// What it printed when it failed; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// The branch
    #[arg(long, value_name = "NAME", default_value = "")]
    branch: String,
    /// Somebody who wrote what is at hand, by name
    #[arg(long = "author", value_name = "NAME")]
    authors: Vec<String>,
    /// Answer within so many milliseconds with what there is by then, or with nothing; never with an error
    #[arg(long, value_name = "MS")]
    deadline: Option<u64>,
    /// Let the small model that is configured choose among them; it can leave out, never add
    #[arg(long, conflicts_with = "deadline")]
    select: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let moment = moment(args, context)?;
    let vaults = context.vaults()?;
    let asker = Asker {
        place: &context.place,
        env: &context.env,
        now: context.now,
        zone: &context.zone,
        session: args.session.as_deref(),
        by: Surface::Cli,
        until: None,
    };
    let reminded = match args.deadline {
        _ if args.select => select::remind(&vaults, &moment, &asker, context, ui)?,
        Some(ms) => remind_within(Duration::from_millis(ms), &vaults, &moment, &asker),
        None => remind(&vaults, &moment, &asker).map_err(|err| Failure::from_chain(&err))?,
    };
    reminded.rebuilt.iter().for_each(|at| say_rebuilt(&vaults[*at], ui));
    print(&reminded, &vaults, context, ui);
    Ok(if reminded.shown.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn moment(args: &Args, context: &Context) -> Result<Moment, Failure> {
    let error = args.error.clone().map(dash_is_stdin).transpose()?.unwrap_or_default();
    Ok(Moment {
        prompt: dash_is_stdin(args.prompt.join(" "))?,
        files: args.files.iter().map(|file| in_project(file, context)).collect(),
        command: dash_is_stdin(args.command.clone())?,
        error,
        branch: args.branch.clone(),
        tools: args.tools.clone(),
        authors: args.authors.clone(),
    })
}

/// Returns a path from the project's root, where it is given in full.
pub(super) fn in_project(file: &str, context: &Context) -> String {
    let root = context.place.dir.as_deref().unwrap_or(Path::new("/"));
    Path::new(file).strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(file).replace('\\', "/")
}

/// Asks the notes of a vault, and says so when the index had to be built anew.
pub(super) fn ask<T>(
    vault: &Vault,
    context: &Context,
    ui: &Ui,
    question: impl Fn(&notes::Notes, &Zoned, &Weights) -> Result<T, IndexError>,
) -> Result<T, Failure> {
    let now = context.now.to_zoned(context.zone.clone());
    let weights = Weights::fitted();
    let (answer, upkeep) = notes::ask(vault, |notes| question(notes, &now, &weights))
        .map_err(|err| Failure::from_chain(&err))?;
    if upkeep == Upkeep::Rebuilt {
        say_rebuilt(vault, ui);
    }
    Ok(answer)
}

fn say_rebuilt(vault: &Vault, ui: &Ui) {
    let path = vault.path().display();
    ui.warn(&format!("the index of {path} was damaged or of another version; it was built anew"));
}

fn print(reminded: &Reminded, vaults: &[Vault], context: &Context, ui: &mut Ui) {
    if !ui.is_json() {
        if reminded.text.is_empty() {
            ui.say("nothing comes to mind");
        } else {
            ui.raw(format!("<system-reminder>\n{}</system-reminder>\n", reminded.text).as_bytes());
        }
        return;
    }
    let hit = |reminder: &Reminder| hit_json(reminder, &vaults[reminder.vault], context);
    let skipped = |(name, why): &(String, &str)| json!({ "name": name, "why": why });
    ui.json(&json!({
        "hits": reminded.shown.iter().map(hit).collect::<Vec<Value>>(),
        "abstained": reminded.shown.is_empty(),
        "bytes": reminded.text.len(),
        "budget_left": BUDGET.saturating_sub(reminded.n_bytes),
        "skipped": reminded.skipped.iter().map(skipped).collect::<Vec<Value>>(),
        "considered": reminded.n_considered,
        "late": reminded.is_late,
    }));
}

fn hit_json(reminder: &Reminder, vault: &Vault, context: &Context) -> Value {
    let Reminder { hit, loaded, triggers, .. } = reminder;
    json!({
        "name": loaded.path.stem(),
        "path": vault.path().join(loaded.path.as_str()).display().to_string(),
        "layer": "memory",
        "score": hit.score,
        "type": loaded.memory.memory_type,
        "tier": loaded.memory.tier,
        "description": loaded.memory.description,
        "snippet": loaded.memory.description,
        "age_days": age_days(loaded.modified(), context.now),
        "via": hit.via,
        "triggers": triggers.iter().map(trigger_json).collect::<Vec<_>>(),
        "parts": parts_json(&hit.parts),
    })
}

/// Says what around the prompt called a memory up.
pub(super) fn trigger_json(trigger: &Trigger) -> Value {
    json!({ "kind": trigger.kind.as_str(), "text": trigger.text })
}

/// Returns the parts that are not nothing.
pub(super) fn parts_json(parts: &core::Parts) -> Map<String, Value> {
    let parts = core::Part::ALL.iter().map(|part| (part.as_str().to_owned(), parts.get(*part)));
    parts.filter(|(_, value)| *value != 0.0).map(|(name, value)| (name, json!(value))).collect()
}
