//! `memdir review`: what waits for the user's word, and the word.
//!
//! Two things wait: proposals in the inbox, and lines that somebody else wrote into `MEMORY.md`. A third is only
//! told, where the settings say so: what agents wrote since the user last looked. Text that waits is shown as what
//! it is, with every character visible, and no more of it than was asked for.

mod print;

use memdir_core::change::{Edit, Exit};
use memdir_core::memory::{Draft, MemoryName, MemoryType};
use memdir_core::page::ForeignLine;
use memdir_core::policy::Review;
use memdir_store::history::Change;
use memdir_store::vault::{Committed, Proposal, Vault};
use serde_json::json;

use super::edit::{Scratch, editor};
use super::writing::{self, Why, as_body, one_line};
use crate::context::{Context, unreadable_state};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Decide about what waits: proposals in the inbox, and lines that somebody wrote into MEMORY.md
///
/// Without a command it lists them. An id may be cut to any beginning or end that only one of them has.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show one of them, as a diff against what is there
    Show {
        /// Which one
        id: String,
    },
    /// Let them in; every gate is asked again
    Accept {
        /// Which ones
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// All that waits
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        /// Although a gate refuses; the reason is kept in the log
        #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
        force: Option<String>,
    },
    /// Change a proposal in $VISUAL or $EDITOR, then let it in
    Edit {
        /// Which one
        id: String,
        /// Although a gate refuses; the reason is kept in the log
        #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
        force: Option<String>,
    },
    /// Throw them away; `memdir undo` brings them back for 30 days
    Drop {
        /// Which ones
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// All that waits
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
    /// Make a memory of a line that somebody wrote into MEMORY.md, and take it off the page
    Save {
        /// Which line
        id: String,
        /// The memory's name
        name: String,
        /// What it is about: user, feedback, project or reference
        #[arg(long = "type", short = 't', value_name = "TYPE")]
        memory_type: String,
        /// One line that says when this memory matters, instead of the line itself
        #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
        description: Option<String>,
    },
}

/// Something to decide about, or to know.
struct Row {
    vault: Vault,
    id: String,
    what: What,
}

enum What {
    Proposal(Proposal),
    Line(ForeignLine),
    Notice(Change),
}

impl Row {
    /// Returns the name that people know it by.
    fn name(&self) -> String {
        match &self.what {
            What::Proposal(proposal) => {
                proposal.path().map_or_else(String::new, |path| path.stem().to_owned())
            }
            What::Line(line) => format!("MEMORY.md:{}", line.number),
            What::Notice(change) => super::undo::names(change).join(", "),
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut rows = waiting(context)?;
    match &args.action {
        None => list(rows, context, ui),
        Some(Action::Show { id }) => {
            print::show(&take(&mut rows, id)?, context, ui);
            Ok(Outcome::Done)
        }
        Some(Action::Accept { ids, all, force }) => {
            let chosen = choose(rows, ids, *all)?;
            decide(&chosen, "accepted", ui, |row, ui| accept(row, None, force.clone(), context, ui))
        }
        Some(Action::Edit { id, force }) => edit(&take(&mut rows, id)?, force.clone(), context, ui),
        Some(Action::Drop { ids, all }) => {
            let chosen = choose(rows, ids, *all)?;
            decide(&chosen, "dropped", ui, |row, ui| discard(row, context, ui))
        }
        Some(Action::Save { id, name, memory_type, description }) => {
            let row = take(&mut rows, id)?;
            save(&row, name, memory_type.parse()?, description.as_deref(), context, ui)
        }
    }
}

/// Collects what waits, vault by vault.
fn waiting(context: &Context) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for vault in context.vaults()? {
        let row = |id: String, what| Row { vault: vault.clone(), id, what };
        let unreadable = |err| unreadable_state(&vault, &err);
        for proposal in vault.inbox().map_err(unreadable)? {
            rows.push(row(proposal.id.to_string(), What::Proposal(proposal)));
        }
        for line in vault.foreign_lines().map_err(unreadable)? {
            // The same text twice is one decision.
            let id = line.hash.short();
            if !rows.iter().any(|row: &Row| row.id == id) {
                rows.push(row(id, What::Line(line)));
            }
        }
    }
    Ok(rows)
}

/// Collects what was written without asking, for who wants to be told, and remembers that it was told.
fn tell(context: &Context) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    if context.place.settings.review != Review::Notify {
        return Ok(rows);
    }
    for vault in context.vaults()? {
        let unreadable = |err| unreadable_state(&vault, &err);
        let unseen = vault.unseen().map_err(unreadable)?;
        if let Some(last) = unseen.last() {
            vault.mark_seen(&last.id).map_err(unreadable)?;
        }
        let row = |change: Change| Row {
            vault: vault.clone(),
            id: change.id.to_string(),
            what: What::Notice(change),
        };
        rows.extend(unseen.into_iter().map(row));
    }
    Ok(rows)
}

fn list(mut rows: Vec<Row>, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    rows.extend(tell(context)?);
    print::list(&rows, context, ui);
    Ok(if rows.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Takes the one that `id` means out of the list.
fn take(rows: &mut Vec<Row>, id: &str) -> Result<Row, Failure> {
    const SHORTEST: usize = 4;
    let wanted = id.to_ascii_uppercase();
    let is_meant = |row: &Row| {
        let known = row.id.to_ascii_uppercase();
        known == wanted || (known.starts_with(&wanted) || known.ends_with(&wanted)) && id.len() >= SHORTEST
    };
    let found: Vec<usize> = (0..rows.len()).filter(|&index| is_meant(&rows[index])).collect();
    match found[..] {
        [index] => Ok(rows.remove(index)),
        [] => {
            Err(Failure::refusal(format!("nothing waits under `{id}`"))
                .hint("`memdir review` lists what waits"))
        }
        _ => Err(Failure::error(format!("`{id}` means more than one")).hint("write more of the id")),
    }
}

fn choose(mut rows: Vec<Row>, ids: &[String], all: bool) -> Result<Vec<Row>, Failure> {
    if !all {
        return ids.iter().map(|id| take(&mut rows, id)).collect();
    }
    if rows.is_empty() {
        return Err(Failure::refusal("nothing waits"));
    }
    Ok(rows)
}

/// Carries out one decision after another. What a gate refuses stays, and does not keep the others.
fn decide(
    rows: &[Row],
    verb: &str,
    ui: &mut Ui,
    act: impl Fn(&Row, &Ui) -> Result<Option<Committed>, Failure>,
) -> Result<Outcome, Failure> {
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for row in rows {
        match act(row, ui) {
            Ok(committed) => {
                let change = committed.and_then(|committed| committed.change);
                done.push(json!({ "id": row.id, "name": row.name(), "change": change }));
                if !ui.is_json() {
                    ui.line(&format!("{verb}: {}", row.name()));
                }
            }
            Err(failure) if rows.len() == 1 => return Err(failure),
            Err(failure) => {
                ui.warn(&format!("{} stays: {}", row.name(), failure.message));
                refused.push(json!({ "id": row.id, "name": row.name(), "error": failure.message }));
            }
        }
    }
    let is_complete = refused.is_empty();
    if ui.is_json() {
        ui.json(&json!({ verb: done, "refused": refused }));
    }
    Ok(if is_complete { Outcome::Done } else { Outcome::Nothing })
}

fn accept(
    row: &Row,
    text: Option<Vec<u8>>,
    force: Option<String>,
    context: &Context,
    ui: &Ui,
) -> Result<Option<Committed>, Failure> {
    let mut writer = context.writer(&row.vault)?;
    match &row.what {
        What::Line(line) => {
            writer.accept_lines([line.hash])?;
            Ok(None)
        }
        What::Proposal(proposal) => {
            let is_promotion = |edit: &Edit| matches!(edit, Edit::Remove { into: Exit::UserVault(..), .. });
            let reaches_user = proposal.set.edits.iter().any(is_promotion);
            let user = if reaches_user { Some(context.create_user()?) } else { None };
            if let Some(user) = &user {
                writer = writer.with_user_vault(user)?;
            }
            let committed = writer.accept(proposal, text, force)?;
            writing::announce(&committed, ui);
            Ok(Some(committed))
        }
        What::Notice(_) => Ok(None),
    }
}

fn discard(row: &Row, context: &Context, ui: &Ui) -> Result<Option<Committed>, Failure> {
    let mut writer = context.writer(&row.vault)?;
    let committed = match &row.what {
        What::Line(line) => writer.drop_lines([line.hash].into())?,
        What::Proposal(proposal) => writer.drop_proposals(std::slice::from_ref(proposal))?,
        What::Notice(_) => return Ok(None),
    };
    writing::announce(&committed, ui);
    Ok(Some(committed))
}

fn edit(row: &Row, force: Option<String>, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let What::Proposal(proposal) = &row.what else {
        return Err(Failure::error("only a proposal can be edited")
            .hint(format!("`memdir review save {} NAME --type T` makes a memory of a line", row.id)));
    };
    let (Some(path), Some(text)) = (proposal.path(), proposal.text()) else {
        return Err(Failure::error("there is no text to edit: a memory is to go")
            .hint(format!("`memdir review accept {0}` or `memdir review drop {0}`", row.id)));
    };
    let editor = editor().ok_or_else(|| Failure::error("no editor is set").hint("set $EDITOR"))?;
    let scratch = Scratch::new(&row.vault, path.stem(), text)?;
    let edited = scratch.edit(&editor)?;
    let committed = accept(row, Some(edited), force, context, ui)?.unwrap_or_default();
    scratch.discard();
    writing::print_written(path.stem(), &committed, ui);
    Ok(Outcome::Done)
}

fn save(
    row: &Row,
    name: &str,
    memory_type: MemoryType,
    description: Option<&str>,
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let What::Line(line) = &row.what else {
        return Err(Failure::error("only a line of MEMORY.md is saved")
            .hint(format!("`memdir review accept {}` lets a proposal in", row.id)));
    };
    let text = line.text.trim().trim_start_matches(['-', '*', '#', '>']).trim_start();
    let name = MemoryName::new(name)?;
    let why = Why::default();
    let draft = Draft {
        created: Some(context.now),
        modified: Some(context.now),
        provenance: Some(why.provenance()?),
        body: as_body(text),
        layout: context.place.settings.layout,
        ..Draft::new(name.clone(), memory_type, one_line(description.unwrap_or(text), ui)?)
    };
    let create = Edit::Create { path: name.path(), text: draft.render() };
    let set = why.change_set("saved a line of MEMORY.md", vec![create])?;
    let committed = context.writer(&row.vault)?.replace_lines([line.hash].into(), &set)?;
    writing::announce(&committed, ui);
    writing::print_written(name.as_str(), &committed, ui);
    Ok(Outcome::Done)
}
