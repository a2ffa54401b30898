//! `memdir forget`: removes memories; with `--erase`, every byte of them.

use std::path::PathBuf;

use memdir_core::change::{Edit, Exit};
use memdir_core::echo::Echoes;
use memdir_core::memory::{MemoryPath, links};
use memdir_core::search::Query;
use memdir_core::text::count;
use memdir_store::transcript::Transcripts;
use memdir_store::vault::{Erased, Loaded, Vault};
use serde_json::json;

use super::search;
use super::team::{Team, label};
use super::writing::{self, Why};
use crate::context::{Context, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Remove memories
///
/// They go to the trash, and `memdir undo` brings them back for 30 days. With --erase no byte is left in the
/// vault, its history and its copies; that cannot be undone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memories
    #[arg(required_unless_present = "query")]
    names: Vec<String>,
    /// Every memory that matches these words; lists them first
    #[arg(long, short = 'Q', value_name = "WORDS", conflicts_with = "names", allow_hyphen_values = true)]
    query: Option<String>,
    /// Leave no byte of them anywhere
    #[arg(long)]
    erase: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    why: Why,
}

/// A memory that is to go, by where it is.
struct Target {
    shelf: usize,
    path: MemoryPath,
    loaded: Option<Loaded>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let shelves = context.shelves()?;
    let targets = match &args.query {
        Some(query) => by_query(query, &shelves),
        None => by_name(&args.names, args.erase, &shelves, context)?,
    };
    if targets.is_empty() {
        return Err(Failure::refusal("no memory matches"));
    }
    if (args.query.is_some() || args.erase) && !args.yes && !is_agreed(&targets, args.erase, ui) {
        let names: Vec<&str> = targets.iter().map(|target| target.path.stem()).collect();
        return Err(Failure::refusal(format!(
            "nothing was removed; it would have been: {}",
            names.join(", ")
        ))
        .hint("`--yes` removes them"));
    }
    if args.erase {
        erase(&targets, &shelves, context, ui)
    } else {
        forget(args, &targets, &shelves, context, ui)
    }
}

fn by_query(query: &str, shelves: &[Shelf]) -> Vec<Target> {
    let hits = search::hits(shelves, &Query::new(query));
    let target = |hit: search::Hit| Target {
        shelf: hit.shelf,
        path: hit.loaded.path.clone(),
        loaded: Some(hit.loaded),
    };
    hits.into_iter().map(target).collect()
}

fn by_name(
    names: &[String],
    erase: bool,
    shelves: &[Shelf],
    context: &Context,
) -> Result<Vec<Target>, Failure> {
    let mut targets: Vec<Target> = Vec::new();
    for name in names {
        let target = match context.find(name) {
            Ok(found) => {
                let shelf = shelves.iter().position(|shelf| shelf.vault.path() == found.vault.path());
                let shelf = shelf.ok_or_else(|| Failure::no_memory(name))?;
                Target { shelf, path: found.loaded.path.clone(), loaded: Some(found.loaded) }
            }
            // What was forgotten before can still be erased.
            Err(failure) if erase && failure.code == 1 && !shelves.is_empty() => {
                let (name, shelf) =
                    name.strip_prefix("~/").map_or((name.as_str(), 0), |name| (name, shelves.len() - 1));
                Target {
                    shelf,
                    path: MemoryPath::new(&format!("{}.md", name.trim_end_matches(".md")))?,
                    loaded: None,
                }
            }
            Err(failure) => return Err(failure),
        };
        if !targets.iter().any(|other| other.shelf == target.shelf && other.path == target.path) {
            targets.push(target);
        }
    }
    Ok(targets)
}

fn is_agreed(targets: &[Target], erase: bool, ui: &Ui) -> bool {
    for target in targets {
        let description = target.loaded.as_ref().map_or("", |loaded| loaded.memory.description.as_str());
        ui.say(&format!("{}  {description}", target.path.stem()));
    }
    let verb = if erase { "erase, for good," } else { "forget" };
    ui.is_interactive() && ui.confirm(&format!("{verb} these {}?", targets.len()))
}

fn forget(
    args: &Args,
    targets: &[Target],
    shelves: &[Shelf],
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let (mut names, mut waiting) = (Vec::new(), Vec::new());
    let mut changes = Vec::new();
    for (index, shelf) in shelves.iter().enumerate() {
        let edits: Vec<Edit> =
            targets.iter().filter(|target| target.shelf == index).filter_map(removal).collect();
        if edits.is_empty() {
            continue;
        }
        let gone: Vec<String> = edits.iter().map(|edit| edit.path().stem().to_owned()).collect();
        let set = args.why.change_set("forget", edits)?;
        let committed = writing::commit(&shelf.vault, &set, context, ui)?;
        if committed.waits() {
            waiting.extend(gone)
        } else {
            names.extend(gone)
        }
        changes.extend(committed.change);
    }
    if ui.is_json() {
        ui.json(&json!({ "forgotten": names, "waiting": waiting, "changes": changes }));
    } else if !names.is_empty() {
        ui.line(&format!("forgotten: {}", names.join(", ")));
        ui.say("`memdir undo` brings it back for 30 days");
    }
    Ok(Outcome::Done)
}

fn removal(target: &Target) -> Option<Edit> {
    let base = target.loaded.as_ref()?.document.bytes().to_vec();
    Some(Edit::Remove { path: target.path.clone(), base, into: Exit::Trash })
}

fn erase(targets: &[Target], shelves: &[Shelf], context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut erased = Erased::default();
    for target in targets {
        let vault: &Vault = &shelves[target.shelf].vault;
        let removed = vault.writer(context.now, context.gate()?)?.erase(&target.path)?;
        // A memory that was promoted left its text in the history of another vault.
        for shelf in context.all_shelves()?.iter().filter(|shelf| shelf.vault.path() != vault.path()) {
            erased.add(&shelf.vault.writer(context.now, context.gate()?)?.erase_versions(&removed.hashes)?);
        }
        erased.add(&removed);
    }
    let names: Vec<&str> = targets.iter().map(|target| target.path.stem()).collect();
    let mentioned = mentions(targets, shelves);
    let (n_live, n_copies, n_versions) = (erased.n_live, erased.n_copies, erased.n_versions);
    let theirs = still_said_in(&erased.echoes, context);
    let team = Team::joined(context, ui)?;
    let asked = team.as_ref().map(|team| (label(&team.joined.home), team.erase_there(context)));
    if ui.is_json() {
        let asked = asked.as_ref().map(|(place, asked)| {
            json!({ "place": place, "erased": asked.is_ok(), "why": asked.as_ref().err().map(|failure| &failure.message) })
        });
        ui.json(&json!({
            "erased": names, "files": n_live, "copies": n_copies, "versions": n_versions, "sessions": erased.n_echoes,
            "still_mentioned_in": mentioned, "still_said_in": theirs, "team": asked,
        }));
        return Ok(Outcome::Done);
    }
    ui.line(&format!(
        "erased: {} ({n_live} files, {n_copies} copies, {n_versions} versions in history)",
        names.join(", ")
    ));
    if erased.n_echoes > 0 {
        let files = count(erased.n_echoes, "file", "files");
        ui.say(&format!("taken out of what is kept of sessions: {files}"));
    }
    for file in &theirs {
        ui.say(&format!(
            "still said in a file of your agent, which is not ours to change: {}",
            file.display()
        ));
    }
    if !mentioned.is_empty() {
        ui.say(&format!("still linked from: {}", mentioned.join(", ")));
    }
    match &asked {
        Some((place, Ok(()))) => {
            ui.say(&format!("erased at {place} too; teammates' copies go with their next sync"))
        }
        Some((place, Err(failure))) => ui.warn(&format!(
            "{place} could not be asked to erase it: {}; the next `memdir sync` asks again",
            failure.message
        )),
        None => {}
    }
    ui.say("out of reach: git history, exports and backups you made, other machines");
    Ok(Outcome::Done)
}

/// Names the files of agents in which the words still stand.
fn still_said_in(echoes: &Echoes, context: &Context) -> Vec<PathBuf> {
    let sessions = Transcripts::of(&context.place).sessions();
    let says = |session: &memdir_store::transcript::Session| {
        session.turns().is_ok_and(|mut turns| turns.any(|turn| echoes.is_in(&turn.text)))
    };
    let of_agents = sessions.into_iter().filter(|session| session.file.is_some());
    of_agents.filter(says).map(|session| session.path().to_owned()).collect()
}

/// Names the memories that still link to what was erased: their text is not ours to change.
fn mentions(targets: &[Target], shelves: &[Shelf]) -> Vec<String> {
    let gone = |name: &str| targets.iter().any(|target| target.path.stem().eq_ignore_ascii_case(name));
    let mut names = Vec::new();
    for shelf in shelves {
        for entry in &shelf.snapshot.memories {
            let Ok(Some(loaded)) = shelf.snapshot.load(&entry.path) else { continue };
            if links(loaded.document.body()).iter().any(|link| gone(&link.name)) {
                names.push(entry.path.stem().to_owned());
            }
        }
    }
    names
}
