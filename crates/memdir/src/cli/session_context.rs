//! `memdir context`: what a session is told when it begins, and which files it would need again after a compaction.

use std::path::{Path, PathBuf};

use memdir_core::compact::{RESTORED_FILES, Reference, References};
use memdir_core::host::{Agent, MAX_CONTEXT};
use memdir_core::text::count;
use memdir_core::transcript::Turn;
use memdir_store::transcript::{SessionFile, Transcripts};
use serde_json::{Value, json};

use crate::context::{self, Context};
use crate::failure::{Failure, Outcome};
use crate::hook::opening;
use crate::ui::{Column, Tone, Ui};

/// Print what a session is told when it begins
///
/// How memory is used, the index pages and where work stands: the very bytes that the hook at session start gives to the
/// agent. They have no clock, counter or random number in them, so that prompt caches hold.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  memdir context
  memdir context --agent codex | wc -c
  memdir context restore"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// As this agent gets it: Claude Code loads MEMORY.md by itself
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<Agent>,
    /// As if nothing had ever been saved
    #[arg(long)]
    blank: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Restore(RestoreArgs),
}

/// List the five files that matter most to a session
///
/// Those are the files that it referred to most often and most lately: what it would have to read again once its history
/// was shortened.
#[derive(Debug, clap::Args)]
struct RestoreArgs {
    /// The session [default: the one this is run in, or the latest of the project]
    #[arg(long, value_name = "ID", conflicts_with = "transcript")]
    session: Option<String>,
    /// A session file
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
}

fn agent(name: &str) -> Result<Agent, String> {
    let names = || Agent::ALL.map(Agent::as_str).join(", ");
    Agent::parse(name).ok_or_else(|| format!("no agent is called that; there are {}", names()))
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    if let Some(What::Restore(args)) = &args.what {
        return restore(args, context, ui);
    }
    let start = opening::gather(context, args.agent, args.blank || context.is_blind);
    let block = opening::block(&start, context, MAX_CONTEXT);
    if ui.is_json() {
        let bytes = block.len();
        ui.json(&json!({ "text": block, "bytes": bytes, "tokens": bytes.div_ceil(4) }));
    } else {
        ui.raw(block.as_bytes());
    }
    Ok(Outcome::Done)
}

/// AC-04.
fn restore(args: &RestoreArgs, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut references = References::default();
    for turn in turns(args, context)? {
        references.take(&turn);
    }
    let top = references.top(RESTORED_FILES);
    let root = context.place.dir.as_deref().unwrap_or(Path::new("/"));
    if ui.is_json() {
        let file = |file: &Reference<'_>| -> Value {
            json!({ "path": below(file.path, root), "references": file.count, "exists": root.join(file.path).is_file() })
        };
        ui.json(&json!({ "files": top.iter().map(file).collect::<Vec<_>>() }));
    } else {
        let row = |file: &Reference<'_>| {
            let gone = if root.join(file.path).is_file() { "" } else { "gone" };
            vec![below(file.path, root), count(file.count, "reference", "references"), gone.to_owned()]
        };
        let columns = [
            Column::new("file").tone(Tone::Strong).giving_way(),
            Column::new("referred to"),
            Column::new("").tone(Tone::Warning),
        ];
        ui.table(&columns, &top.iter().map(row).collect::<Vec<_>>());
    }
    Ok(if top.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Reads the session that is meant; of none there is nothing to be said.
fn turns(args: &RestoreArgs, context: &Context) -> Result<Vec<Turn>, Failure> {
    if let Some(path) = &args.transcript {
        let unreadable = || Failure::error(format!("could not read {} as a session", path.display()));
        let file = SessionFile::at(path, None).ok_or_else(unreadable)?;
        return Ok(file.turns()?.collect());
    }
    let sessions = Transcripts::of(&context.place).sessions();
    let named = args.session.clone();
    let found = match named.clone().or_else(context::session) {
        Some(id) => sessions.into_iter().find(|session| session.id == id),
        None => sessions.into_iter().next(),
    };
    match (found, named) {
        (Some(session), _) => Ok(session.turns()?.collect()),
        (None, Some(id)) => Err(Failure::refusal(format!("no session `{id}`"))
            .hint("`memdir context restore` alone takes the latest")),
        (None, None) => Ok(Vec::new()),
    }
}

fn below(path: &str, root: &Path) -> String {
    Path::new(path).strip_prefix(root).unwrap_or(Path::new(path)).display().to_string()
}
