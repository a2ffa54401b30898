//! `memdir remember`: makes a memory out of a plain sentence.

use memdir_core::change::Edit;
use memdir_core::classify::{Known, Proposed, classify};
use memdir_core::dates;
use memdir_core::likeness::{Likeness, nearest_duplicate};
use memdir_core::memory::{MemoryName, MemoryType, Scope};
use memdir_core::policy::{self, Refusal};
use memdir_store::gate::Gate;
use memdir_store::team::has_team;
use memdir_store::vault::{CommitError, Committed};
use serde_json::{Value, json};

use super::rows;
use super::writing::{self, Why};
use crate::context::{Context, Shelf, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

/// Remember a sentence
///
/// Finds out what the sentence is, gives it a name, a description and a body, and saves it. What only you can answer
/// is asked: the reason, when it counts, a date that can be read in two ways.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir remember \"never mock the database in integration tests, mocks hid a broken migration\"
  memdir remember --dry-run \"bugs are tracked in Linear project INGEST\"")]
pub(crate) struct Args {
    /// The sentence, or `-` for stdin
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// Show the memory and save nothing
    #[arg(long)]
    dry_run: bool,
    /// Read rows {"id","text"} from stdin and show the memory of each; saves nothing
    #[arg(long, conflicts_with = "text")]
    jsonl: bool,
    /// What it is about, if the sentence does not tell: user, feedback, project or reference
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    memory_type: Option<String>,
    /// Who may see it: private or team
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Its name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Leave secrets out instead of refusing: `[REDACTED:kind]` stands in their place
    #[arg(long)]
    redact: bool,
    /// Save it although a gate refuses; the reason is kept in the log
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    force: Option<String>,
    #[command(flatten)]
    why: Why,
}

/// What the person said about the memory, checked.
#[derive(Debug, Default)]
struct Said {
    memory_type: Option<MemoryType>,
    scope: Option<Scope>,
    name: Option<MemoryName>,
}

/// A proposal with what has to be asked about its dates.
struct Settled {
    proposed: Proposed,
    questions: Vec<String>,
    /// What the gates have against it.
    refusals: Vec<Refusal>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let said = Said {
        memory_type: args.memory_type.as_deref().map(str::parse).transpose()?,
        scope: args.scope.as_deref().map(str::parse).transpose()?,
        name: args.name.as_deref().map(MemoryName::new).transpose()?,
    };
    let shelves = context.shelves()?;
    let names = Names::of(&shelves);
    let gate = context.gate()?;
    if args.jsonl {
        return rows::answer(ui, |row| {
            Ok(as_json(&propose(rows::text(row, "text")?, &said, &names, context, gate), None))
        });
    }
    let text =
        text_or_stdin(args.text.clone())?.ok_or_else(|| Failure::error("there is nothing to remember"))?;
    if text.trim().is_empty() {
        return Err(Failure::error("there is nothing to remember"));
    }
    let (clean, has_secret) = gate.redacted(&text);
    let text = if args.redact { clean } else { text };
    if has_secret && !args.redact && !args.dry_run {
        return Err(CommitError::Refused(policy::secrets(&gate.scanner, text.as_bytes(), None)).into());
    }
    let settled = propose(&text, &said, &names, context, gate);
    // The gate refuses a near-duplicate by itself; a dry run never gets there.
    if let Some(name) = args.dry_run.then(|| duplicate(&settled.proposed, &shelves)).flatten() {
        ui.warn(&format!("memory `{name}` says nearly the same: `memdir edit {name}` updates it"));
    }
    let committed = if args.dry_run { None } else { Some(save(&settled.proposed, args, context, ui)?) };
    print(&settled, committed.as_ref(), ui);
    Ok(Outcome::Done)
}

/// The names that are taken, and the other names that memories have.
struct Names {
    names: Vec<String>,
    aliases: Vec<(String, String)>,
}

impl Names {
    fn of(shelves: &[Shelf]) -> Self {
        let entries = || shelves.iter().flat_map(|shelf| &shelf.snapshot.memories);
        let names = entries().map(|entry| entry.path.stem().to_owned()).collect();
        let aliases = entries().flat_map(|entry| {
            entry.memory.aliases.iter().map(|alias| (alias.clone(), entry.path.stem().to_owned()))
        });
        Self { names, aliases: aliases.collect() }
    }
}

fn propose(said_text: &str, said: &Said, names: &Names, context: &Context, gate: &Gate) -> Settled {
    // A secret is neither shown nor does it lend its letters to a name.
    let (text, _) = gate.redacted(said_text);
    let (text, mut questions) = settle_dates(&text, context);
    let has_team_vault = has_team(&context.place.state_dir());
    let known = Known { names: &names.names, aliases: &names.aliases, has_team_vault };
    let mut proposed = classify(&text, &known);
    if let Some(memory_type) = said.memory_type {
        proposed = proposed.as_type(memory_type, &known);
    }
    proposed.scope = said.scope.unwrap_or(proposed.scope);
    if let Some(name) = &said.name {
        proposed.name = name.clone();
    }
    questions.extend(proposed.questions.iter().map(ToString::to_string));
    let evidence = gate.evidence(&proposed.body);
    let mut refusals = policy::secrets(&gate.scanner, said_text.as_bytes(), None);
    refusals.extend(policy::against(&proposed.body, proposed.memory_type, &gate.scanner, &evidence));
    Settled { proposed, questions, refusals }
}

/// Makes relative dates absolute; returns the text and what is ambiguous in it.
fn settle_dates(text: &str, context: &Context) -> (String, Vec<String>) {
    let settled = dates::settle(text, &context.now.to_zoned(context.zone.clone()));
    (settled.text, settled.questions.iter().map(ToString::to_string).collect())
}

/// Finds a memory that says nearly the same.
fn duplicate(proposed: &Proposed, shelves: &[Shelf]) -> Option<String> {
    let draft = Likeness::of(&proposed.description, &proposed.body);
    for shelf in shelves {
        let same_type =
            |entry: &&memdir_store::vault::Entry| entry.memory.memory_type == Some(proposed.memory_type);
        let loaded: Vec<_> = shelf
            .snapshot
            .memories
            .iter()
            .filter(same_type)
            .filter_map(|entry| shelf.snapshot.load(&entry.path).ok().flatten())
            .collect();
        let likenesses: Vec<Likeness> = loaded
            .iter()
            .map(|loaded| {
                Likeness::of(&loaded.memory.description, &String::from_utf8_lossy(loaded.document.body()))
            })
            .collect();
        if let Some((at, _)) = nearest_duplicate(&draft, &likenesses) {
            return Some(loaded[at].path.stem().to_owned());
        }
    }
    None
}

fn save(proposed: &Proposed, args: &Args, context: &Context, ui: &Ui) -> Result<Committed, Failure> {
    let draft = writing::drafted(proposed, args.why.session.as_deref(), args.why.provenance()?, context);
    let edit = Edit::Create { path: proposed.name.path(), text: draft.render() };
    let mut set = args.why.change_set("remember", vec![edit])?;
    set.force = args.force.clone();
    writing::commit(&context.vault_for(proposed.memory_type, ui)?, &set, context, ui)
}

fn as_json(settled: &Settled, committed: Option<&Committed>) -> Value {
    let Settled { proposed, questions, refusals } = settled;
    let mut answer = json!({
        "name": proposed.name,
        "type": proposed.memory_type,
        "scope": proposed.scope,
        "kind": proposed.kind,
        "description": proposed.description,
        "body": proposed.body,
        "tags": proposed.tags,
        "links": proposed.links,
        "questions": questions,
    });
    if committed.is_none() && !refusals.is_empty() {
        answer["refused"] = json!(refusals);
    }
    if let Some(committed) = committed {
        let path = committed.written.first().map(|written| written.path.display().to_string());
        answer["path"] = json!(path);
        answer["change"] = json!(committed.change);
    }
    answer
}

fn print(settled: &Settled, committed: Option<&Committed>, ui: &mut Ui) {
    if ui.is_json() {
        return ui.json(&as_json(settled, committed));
    }
    let Settled { proposed, questions, refusals } = settled;
    let kind = proposed.kind.map(|kind| format!(", {kind}")).unwrap_or_default();
    match committed.and_then(|committed| committed.written.first()) {
        Some(written) => ui.line(&written.path.display().to_string()),
        None => ui.toned(Tone::Strong, proposed.name.as_str()),
    }
    ui.toned(
        Tone::Faint,
        &format!("{}, {}{kind}: {}", proposed.memory_type, proposed.scope, proposed.description),
    );
    if committed.is_none() {
        ui.block(&format!("\n{}", proposed.body));
    }
    for refusal in refusals.iter().filter(|_| committed.is_none()) {
        ui.warn(&format!("would be refused ({}): {}", refusal.rule, refusal.evidence));
    }
    for question in questions {
        ui.say(&format!("question: {question}"));
    }
    if committed.is_some() && !questions.is_empty() {
        ui.say(&format!("answer with `memdir edit {}`", proposed.name));
    }
}
