//! `memdir magic`: documents of the project that are kept up to date.

use std::io::Read;
use std::path::{Path, PathBuf};

use memdir_core::magic::{MAX_DOC, difference};
use memdir_core::text::age;
use memdir_store::magic::{Entry, Magic, MagicError};
use serde_json::{Value, json};

use crate::context::{Context, STDIN, claim_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};
use crate::work;

/// Keep documents of the project up to date
///
/// A markdown file whose first heading is `# MAGIC DOC: <title>` is a magic doc; an italic line below it says how it is to
/// be kept. Once an agent has read it and files that it names, or that are beside it, have changed, it is out of date: that
/// is told here, with what changed. Where a model is configured it writes a new text; anybody else can give one.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  memdir magic
  memdir magic stale
  memdir magic update docs/api.md --text new.md
  memdir magic undo docs/api.md

Exit codes: 0 done or found, 1 nothing found or refused, 2 error."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the magic docs of the project
    List,
    /// List those that are out of date, with what changed
    Stale,
    /// Show what is known of one
    Show {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    Update(UpdateArgs),
    /// Put the text back that stood there before the last update
    Undo {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Write a new text, and nothing but that file
///
/// The heading and the rule stay as they are, whatever the new text says. The difference is shown first; `--yes` writes
/// without asking. Refused: a link, a file that git ignores or does not have, one that is not text, a text with secrets.
#[derive(Debug, clap::Args)]
struct UpdateArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Take the new text from this file instead of asking a model; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Show the difference and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write without asking
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let magic = Magic::of(&context.place, &context.env);
    let here = |file: &Path| magic.path_of(&context.env.cwd, file).map_err(|err| refused(&err));
    match &args.what {
        None | Some(What::List) => {
            let entries = looked(&magic, context)?;
            list(&entries, context, ui);
            Ok(if entries.is_empty() { Outcome::Nothing } else { Outcome::Done })
        }
        Some(What::Stale) => {
            let mut entries = looked(&magic, context)?;
            entries.retain(|entry| entry.stale.is_some());
            list(&entries, context, ui);
            Ok(if entries.is_empty() { Outcome::Nothing } else { Outcome::Done })
        }
        Some(What::Show { file }) => show(&here(file)?, &magic, context, ui),
        Some(What::Update(args)) => update(args, &here(&args.file)?, &magic, context, ui),
        Some(What::Undo { file }) => {
            let path = here(file)?;
            magic.undo(&path, context.now).map_err(|err| refused(&err))?;
            ui.say(&format!("{path} is as it was"));
            Ok(Outcome::Done)
        }
    }
}

fn looked(magic: &Magic, context: &Context) -> Result<Vec<Entry>, Failure> {
    magic.scan(context.now)?;
    Ok(magic.look(context.now)?)
}

fn list(entries: &[Entry], context: &Context, ui: &mut Ui) {
    if ui.is_json() {
        ui.json(&entries.iter().map(as_json).collect::<Vec<_>>());
        return;
    }
    let columns = [
        Column::new("file").tone(Tone::Strong),
        Column::new("title").giving_way(),
        Column::new("state").giving_way(),
    ];
    let row = |entry: &Entry| vec![entry.path.clone(), entry.title.clone(), state(entry, context)];
    ui.table(&columns, &entries.iter().map(row).collect::<Vec<_>>());
    if entries.iter().any(|entry| entry.stale.is_some()) {
        ui.say("`memdir magic update FILE` writes a new text");
    }
}

fn state(entry: &Entry, context: &Context) -> String {
    match (&entry.stale, entry.read) {
        (Some(stale), _) => format!("out of date: {}", stale.brief),
        (None, Some(read)) => format!("up to date, read {}", age(read, context.now)),
        (None, None) => "no agent has read it yet".to_owned(),
    }
}

fn show(path: &str, magic: &Magic, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let entries = looked(magic, context)?;
    let Some(entry) = entries.iter().find(|entry| entry.path == path) else {
        return Err(Failure::refusal(format!("{path} is no magic doc"))
            .hint("its first heading must be `# MAGIC DOC: <title>`"));
    };
    if ui.is_json() {
        ui.json(&as_json(entry));
        return Ok(Outcome::Done);
    }
    ui.toned(Tone::Strong, &entry.title);
    ui.line(&format!("file: {}", entry.path));
    ui.line(&format!("rule: {}", entry.rule.as_deref().unwrap_or("none")));
    ui.line(&format!("state: {}", state(entry, context)));
    if let Some(undo) = &entry.undo {
        ui.line(&format!("written by memdir {}: `memdir magic undo {path}`", age(undo.at, context.now)));
        if let (Some(former), Ok(read)) = (magic.former_text(entry), magic.open(path)) {
            ui.block(&difference(path, &former, &read.text));
        }
    }
    Ok(Outcome::Done)
}

fn update(
    args: &UpdateArgs,
    path: &str,
    magic: &Magic,
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let read = magic.open(path).map_err(|err| refused(&err))?;
    let scanner = &context.gate()?.scanner;
    let proposed = match &args.text {
        Some(file) => Some(text_of(file)?),
        None => work::magic::proposed(magic, path, &read, context)?,
    };
    let new = match proposed {
        Some(new) => magic.checked(path, &read.text, &new, scanner).map_err(|err| refused(&err))?,
        None => read.text.clone(),
    };
    let diff = difference(path, &read.text, &new);
    if new == read.text {
        ui.say(&format!("{path} says all that there is to say"));
        return Ok(Outcome::Nothing);
    }
    if ui.is_json() {
        let written = !args.dry_run && args.yes;
        if written {
            magic.write(path, &read.text, &new, scanner, context.now).map_err(|err| refused(&err))?;
        }
        ui.json(&json!({ "path": path, "diff": diff, "written": written }));
        return Ok(Outcome::Done);
    }
    ui.block(&diff);
    if args.dry_run {
        return Ok(Outcome::Done);
    }
    if !args.yes && !ui.confirm(&format!("write {path}?")) {
        return Err(Failure::refusal("nothing was written").hint("`--yes` writes without asking"));
    }
    magic.write(path, &read.text, &new, scanner, context.now).map_err(|err| refused(&err))?;
    ui.say(&format!("wrote {path}; `memdir magic undo {path}` takes it back"));
    Ok(Outcome::Done)
}

fn text_of(file: &Path) -> Result<String, Failure> {
    let limit = MAX_DOC as u64 + 1;
    let mut text = String::new();
    let read = if file == Path::new(STDIN) {
        claim_stdin()?;
        std::io::stdin().lock().take(limit).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(limit).read_to_string(&mut text))
    };
    read.map_err(|err| Failure::error(format!("could not read {}: {err}", file.display())))?;
    Ok(text)
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "path": entry.path,
        "title": entry.title,
        "rule": entry.rule,
        "read": entry.read,
        "updated": entry.updated,
        "stale": entry.stale,
        "can_undo": entry.undo.is_some(),
    })
}

/// A refusal is the user's to hear, not a fault; what the file system said is one.
fn refused(err: &MagicError) -> Failure {
    let failure = Failure::from_chain(err);
    match err {
        MagicError::Io { .. } => failure,
        MagicError::Raced(_) => Failure { code: 1, ..failure }.hint("run it again"),
        MagicError::Secret { .. } => {
            Failure { code: 1, ..failure }.hint("nothing was written; say where it is kept instead")
        }
        _ => Failure { code: 1, ..failure },
    }
}
