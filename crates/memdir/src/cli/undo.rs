//! `memdir undo` and `memdir redo`: take a change back, byte for byte, and do it again.

use memdir_core::change::Author;
use memdir_core::text::{age, count};
use memdir_store::history::{Area, Change, ChangeId};
use memdir_store::vault::{CommitError, UndoStack, UndoStep, Vault};
use serde_json::json;

use super::diff;
use crate::context::{Context, USER, unreadable_history};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// As many names are told; a change may be an import of thousands.
const MAX_NAMES: usize = 8;

/// Take back a change, byte for byte
///
/// Without CHANGE it is the newest one of this project that is not taken back yet, by whomever: you, an agent, or another
/// program that touched the files. A change of the user vault that was made in another project is left alone, unless
/// --user asks for it. Doing it again goes one further back; `memdir redo` goes forward.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which change: its id, or a beginning or end of it
    change: Option<String>,
    /// The newest change of the user vault, wherever it was made
    #[arg(long, conflicts_with = "change")]
    user: bool,
    /// Only show what would be taken back
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Do not ask before another's change is taken back
    #[arg(long, short)]
    yes: bool,
    /// The session this comes from
    #[arg(long, value_name = "ID", env = "MEMDIR_SESSION")]
    session: Option<String>,
}

/// Do again what `memdir undo` took back
///
/// The last undo first. A new change in between ends it: then `memdir undo ID` takes back the undo that `memdir log` names.
#[derive(Debug, clap::Args)]
pub(crate) struct RedoArgs {
    /// The last undo in the user vault, wherever it was made
    #[arg(long)]
    user: bool,
    /// Only show what would be done again
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// The session this comes from
    #[arg(long, value_name = "ID", env = "MEMDIR_SESSION")]
    session: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let chosen = match &args.change {
        Some(text) => named(text, context)?,
        None => newest(args.user, context, |stack, is_meant| stack.last_done(is_meant).cloned())?
            .ok_or_else(|| {
                Failure::refusal("there is nothing to undo")
                    .hint("changes can be undone for 30 days; `memdir log` lists them")
            })?,
    };
    let is_anothers = is_anothers(&chosen.step.change, args.session.as_deref());
    let told = described(&chosen.step.change, context);
    if args.dry_run {
        return preview(&chosen, &format!("would undo: {told}"), ui);
    }
    if args.change.is_none() {
        ui.say(&format!("undoing: {told}"));
        if is_anothers && ui.is_interactive() && !args.yes && !ui.confirm("Take it back?") {
            return Err(Failure::refusal("nothing was undone"));
        }
    }
    let change = take_back(&chosen, args.session.clone(), context)?;
    report("undone", &chosen.step.change, change.as_ref(), ui);
    Ok(Outcome::Done)
}

pub(crate) fn redo(args: &RedoArgs, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let chosen = newest(args.user, context, |stack, is_meant| stack.last_undone(is_meant).cloned())?;
    let chosen = chosen.ok_or_else(|| {
        Failure::refusal("there is nothing to redo").hint(
            "a new change ends what can be redone; `memdir undo ID` still takes an undo of `memdir log` back",
        )
    })?;
    let told = described(&chosen.step.change, context);
    if args.dry_run {
        return preview(&chosen, &format!("would redo: {told}"), ui);
    }
    let change = take_back(&chosen, args.session.clone(), context)?;
    report("redone", &chosen.step.change, change.as_ref(), ui);
    Ok(Outcome::Done)
}

/// A step, and the vault it belongs to.
struct Chosen {
    vault: Vault,
    step: UndoStep,
}

fn take_back(
    chosen: &Chosen,
    session: Option<String>,
    context: &Context,
) -> Result<Option<ChangeId>, Failure> {
    let Chosen { vault, step } = chosen;
    let reaches_user = step.change.ops.iter().any(|op| op.area == Area::User);
    let user = if reaches_user { Some(context.create_user()?) } else { None };
    let mut writer = context.writer(vault)?;
    if let Some(user) = &user {
        writer = writer.with_user_vault(user)?;
    }
    Ok(writer.undo(&step.event, session)?.change)
}

/// Chooses by an id, or by a part of one that only one change has.
fn named(text: &str, context: &Context) -> Result<Chosen, Failure> {
    let mut found = Vec::new();
    for (vault, history) in context.histories()? {
        for id in history.matching(text).map_err(|err| unreadable_history(&vault, &err))? {
            found.push((vault.clone(), id));
        }
    }
    if found.len() > 1 {
        let ids: Vec<String> = found.iter().take(MAX_NAMES).map(|(_, id)| format!("`{id}`")).collect();
        let more = found.len() - ids.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        return Err(Failure::error(format!("`{text}` means more than one change"))
            .hint(format!("it may be {}{more}: say more of the id", ids.join(", "))));
    }
    let unknown = || Failure::from(CommitError::NoChange(text.to_owned()));
    let (vault, id) = found.pop().ok_or_else(unknown)?;
    let history = vault.history().map_err(|err| unreadable_history(&vault, &err))?.ok_or_else(unknown)?;
    let change = history.change(&id).map_err(|err| unreadable_history(&vault, &err))?.ok_or_else(unknown)?;
    Ok(Chosen { vault, step: UndoStep { change, event: id } })
}

/// Chooses the newest step of this project. What other programs did is taken up first, so that it counts.
fn newest(
    of_user_vault: bool,
    context: &Context,
    last: impl Fn(&UndoStack, &dyn Fn(&Change) -> bool) -> Option<UndoStep>,
) -> Result<Option<Chosen>, Failure> {
    let mut chosen: Option<Chosen> = None;
    for vault in context.vaults()? {
        let is_user = vault.id() == USER;
        if of_user_vault && !is_user {
            continue;
        }
        drop(context.writer(&vault)?);
        let Some(history) = vault.history().map_err(|err| unreadable_history(&vault, &err))? else {
            continue;
        };
        let stack = history.undo_stack().map_err(|err| unreadable_history(&vault, &err))?;
        let project = context.place.project.id.as_str();
        let is_meant = |change: &Change| {
            // What another program did to the user vault was taken up here by chance.
            let is_made_here = change.project.as_deref() == Some(project) && change.author != Author::Outside;
            !is_user || of_user_vault || is_made_here
        };
        let Some(step) = last(&stack, &is_meant) else { continue };
        if chosen.as_ref().is_none_or(|other| other.step.event < step.event) {
            chosen = Some(Chosen { vault, step });
        }
    }
    Ok(chosen)
}

/// Says whether somebody else made a change: another program, or a session that is not this one.
fn is_anothers(change: &Change, session: Option<&str>) -> bool {
    change.author == Author::Outside
        || change.session.as_deref().is_some_and(|made_in| Some(made_in) != session)
}

fn preview(chosen: &Chosen, told: &str, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Chosen { vault, step } = chosen;
    let history = vault.history().map_err(|err| unreadable_history(vault, &err))?;
    let record = history.map(|history| history.record(&step.change.id)).transpose();
    let record = record.map_err(|err| unreadable_history(vault, &err))?.flatten();
    let text = record.map(|record| diff::diff(&record)).unwrap_or_default();
    if ui.is_json() {
        let names = names(&step.change);
        ui.json(
            &json!({ "change": step.change.id, "reason": step.change.reason, "names": names, "diff": text }),
        );
    } else {
        ui.line(told);
        diff::print(&text, ui);
    }
    Ok(Outcome::Done)
}

/// Says in a line what a change was: what, when, by whom.
fn described(change: &Change, context: &Context) -> String {
    let when = age(change.at, context.now);
    let by = match (&change.author, &change.session) {
        (Author::Outside, _) => ", by another program".to_owned(),
        (_, Some(session)) => format!(", in session {session}"),
        (Author::Person, None) => String::new(),
        (author, None) => format!(", by {}", author.as_str()),
    };
    format!("{} ({when}{by}, {})", summed_up(change), change.id)
}

/// Says what a change did to which memories.
fn summed_up(change: &Change) -> String {
    let names = names(change);
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {}", count(more, "more", "more")) } else { String::new() };
    let reason = change.reason.trim();
    if shown.is_empty() { reason.to_owned() } else { format!("{reason} {shown}{more}") }
}

fn report(word: &str, change: &Change, by: Option<&ChangeId>, ui: &mut Ui) {
    if ui.is_json() {
        ui.json(&json!({ word: change.id, "change": by, "names": names(change) }));
        return;
    }
    let is_deletion = |change: &Change| {
        change
            .ops
            .iter()
            .filter(|op| op.area == Area::Vault && op.path != "MEMORY.md")
            .all(|op| op.after.is_none())
    };
    // To take back an undo is to do it again.
    let (word, told) = match summed_up(change) {
        told if change.undoes.is_some() && told.starts_with("undo: ") => {
            ("redone", told["undo: ".len()..].to_owned())
        }
        told => (word, told),
    };
    match change.author == Author::Outside && word == "undone" && is_deletion(change) {
        true => ui.line(&format!("restored: {} (deleted by another program)", names(change).join(", "))),
        false => ui.line(&format!("{word}: {told}")),
    }
}

/// Returns the memories that a change is about.
pub(super) fn names(change: &Change) -> Vec<String> {
    let is_memory = |path: &str| path != "MEMORY.md";
    let memories =
        change.ops.iter().filter(|op| matches!(op.area, Area::Vault | Area::User) && is_memory(&op.path));
    memories.map(|op| op.path.trim_end_matches(".md").to_owned()).collect()
}
