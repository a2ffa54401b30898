//! `memdir compact`: makes a list of messages fit.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use memdir_core::compact::{CompactError, Compacted, Options, Plan};
use memdir_core::secrets::Scanner;
use memdir_core::text::count;
use memdir_mind::compact::{self, Writer};
use memdir_mind::model::ModelError;
use memdir_store::costs::Job;
use memdir_store::disk::Dir;
use memdir_store::place::{self, Environment};
use memdir_store::secrets;
use serde_json::json;

use crate::asking::with_model;
use crate::context::{Context, STDIN, claim_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// No list is larger.
const MAX_LIST: u64 = 512 * 1024 * 1024;

/// Make a list of messages fit into a budget
///
/// A list as Anthropic's API takes it, OpenAI's (chat completions, Responses) or Gemini's (generateContent), comes out in
/// the same shape. In this order, and only as far as needed: pictures are dropped, messages are grouped by round, the old
/// rounds are replaced by a summary that quotes them, the five files that matter most come back (50,000 tokens), then
/// skills (25,000, 5,000 each). The last rounds stay as they are. A list that fits is printed byte for byte. A token is estimated as four characters of
/// the JSON. No memory is read, and without --by-model nothing is sent anywhere.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir compact request.json --budget 50000 > smaller.json
  memdir compact - --budget 20000 --keep 3 < messages.json
  memdir compact request.json --budget 50000 --summary-only")]
pub(crate) struct Args {
    /// The list: an array, or an object with `messages`, `input` or `contents`; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The result has at most this many tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// Keep this many of the last rounds as they are, as far as they fit [default: what fits into half of the budget]
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Write the list to this file and tell what was done
    #[arg(long, value_name = "FILE", conflicts_with = "summary_only")]
    output: Option<PathBuf>,
    /// Have the configured model write the summary: it is sent the messages that are replaced, without secrets
    #[arg(long)]
    by_model: bool,
    /// Print what would be said in the place of the old rounds, and nothing else
    #[arg(long)]
    summary_only: bool,
}

pub(crate) fn run(args: &Args, env: &Environment, ui: &mut Ui) -> Result<Outcome, Failure> {
    let input = read(&args.file)?;
    let options = Options { budget: usize::try_from(args.budget).unwrap_or(usize::MAX), keep: args.keep };
    let plan = Plan::new(&input, &options).map_err(|err| explained(&err))?;
    let compacted = if args.by_model { by_model(plan, env, ui)? } else { plan.finish(None, &scanner(env)?) };
    if args.summary_only {
        return Ok(summary(&compacted, ui));
    }
    let Some(output) = &args.output else {
        ui.say(&told(&compacted));
        ui.raw(compacted.text.as_bytes());
        return Ok(Outcome::Done);
    };
    write(output, compacted.text.as_bytes())?;
    if ui.is_json() {
        ui.json(&compacted.report);
    } else {
        ui.line(&told(&compacted));
    }
    Ok(Outcome::Done)
}

/// Has the configured model sum up. Without an answer the rounds are quoted, and the user hears why.
fn by_model(plan: Plan<'_>, env: &Environment, ui: &Ui) -> Result<Compacted, Failure> {
    let context = Context::new(env.clone(), place::locate(env)?, ui)?;
    let scanner = &context.gate()?.scanner;
    let mut plan = Some(plan);
    let asked = with_model(&context, Job::Session, |model| {
        plan.take().map(|plan| compact::compact(plan, Some(model), scanner))
    });
    let quoted = |err: &ModelError| ui.warn(&format!("{err}: the rounds are quoted instead"));
    match (asked, plan) {
        (Ok(Some((compacted, writer))), _) => {
            if let Writer::Rules(err) = &writer {
                quoted(err);
            }
            Ok(compacted)
        }
        (Err(err), Some(plan)) => {
            quoted(&err);
            Ok(plan.finish(None, scanner))
        }
        _ => Err(Failure::error("the list was not compacted")),
    }
}

/// Prints the summary; a list that fits has none.
fn summary(compacted: &Compacted, ui: &mut Ui) -> Outcome {
    let summary = &compacted.report.summary;
    if ui.is_json() {
        ui.json(&json!({ "summary": summary, "replaced": compacted.report.replaced }));
    } else if !summary.is_empty() {
        ui.block(summary);
    }
    if summary.is_empty() { Outcome::Nothing } else { Outcome::Done }
}

fn told(compacted: &Compacted) -> String {
    let report = &compacted.report;
    let sizes = format!("{} of {} tokens", report.tokens_after, report.tokens_before);
    if report.tokens_after == report.tokens_before {
        return format!("{sizes}: it fits as it is");
    }
    let mut done = Vec::new();
    if report.images > 0 {
        done.push(format!("{} dropped", count(report.images, "picture", "pictures")));
    }
    if report.rounds > 0 {
        let kept = if report.trimmed { " with long texts cut" } else { "" };
        done.push(format!("{} replaced", count(report.replaced, "message", "messages")));
        done.push(format!("{} kept{kept}", count(report.kept, "round", "rounds")));
        done.push(format!("{} restored", count(report.files.len(), "file", "files")));
        done.push(format!("{} restored", count(report.skills.len(), "skill", "skills")));
    }
    format!("{sizes}: {}", done.join(", "))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |err| Failure::error(format!("could not read {}: {err}", file.display()));
    let mut bytes = Vec::new();
    let read = if file == Path::new(STDIN) {
        claim_stdin()?;
        std::io::stdin().lock().take(MAX_LIST + 1).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(MAX_LIST + 1).read_to_end(&mut bytes))
    };
    read.map_err(unreadable)?;
    if bytes.len() as u64 > MAX_LIST {
        return Err(Failure::error(format!("the list is longer than {MAX_LIST} bytes")));
    }
    Ok(bytes)
}

/// Replaces a file whole: whoever reads it meanwhile reads one list or the other.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |err: std::io::Error| Failure::error(format!("could not write {}: {err}", file.display()));
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| failed(std::io::Error::from(std::io::ErrorKind::InvalidInput)))?;
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Dir::open(parent).and_then(|dir| dir.replace(name, bytes)).map_err(failed)
}

/// Builds the scanner with the user's own rules, where there are any: a list can be compacted anywhere.
fn scanner(env: &Environment) -> Result<Scanner, Failure> {
    let Ok(place) = place::locate(env) else { return Ok(Scanner::builtin()) };
    let user_home = env.user_home().ok();
    secrets::scanner(&place.home, user_home, &place.settings).map_err(|err| Failure::from_chain(&err))
}

fn explained(err: &CompactError) -> Failure {
    let failure = Failure::error(err.to_string());
    match err {
        CompactError::NotText(_) | CompactError::NotJson(_) => failure.hint("the list may have been cut off"),
        CompactError::NoList | CompactError::NoMessage { .. } => {
            failure.hint("it looks like `[{\"role\": \"user\", \"content\": \"…\"}, …]`")
        }
        CompactError::TooSmall { needed, .. } => failure.hint(format!("`--budget {needed}` is possible")),
    }
}
