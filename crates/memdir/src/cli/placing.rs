//! `memdir place`: says where a text belongs, and finds what is out of place.

use std::path::{Path, PathBuf};

use memdir_core::placement::{Misplaced, Place, Surroundings, UnknownPlace, Verdict, lint, place};
use memdir_core::statement::gist;
use memdir_store::team::has_team;
use serde_json::{Value, json};

use super::rows;
use crate::context::{Context, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

/// Say where a text belongs
///
/// Rules belong into CLAUDE.md, state into STATUS.md, decisions into docs/decisions/, how the parts work together into
/// docs/architecture.md, what it is and how to use it into README.md, and what no file shows into the vault.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir place --target CLAUDE.md \"Decided to use Next.js instead of Astro 5\"
  memdir place --lint")]
pub(crate) struct Args {
    /// The text, instead of stdin
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// Where it is to go: a file, docs/decisions/, or memory:user, memory:feedback, memory:project, memory:reference
    #[arg(long, short, value_name = "PLACE")]
    target: Option<String>,
    /// Judge rows {"id","text","target"} from stdin, one answer each
    #[arg(long, conflicts_with = "text")]
    jsonl: bool,
    /// Find what is out of place in these files; CLAUDE.md and STATUS.md of the project if none is named
    #[arg(long, value_name = "FILE", num_args = 0.., conflicts_with_all = ["text", "target", "jsonl"])]
    lint: Option<Vec<PathBuf>>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let around = surroundings(context);
    if let Some(files) = &args.lint {
        return lint_files(files, context, ui);
    }
    if args.jsonl {
        return rows::answer(ui, |row| {
            let target = match (row.get("target"), &args.target) {
                (None, Some(target)) => target,
                _ => rows::text(row, "target")?,
            };
            let target: Place = target.parse().map_err(|err: UnknownPlace| err.to_string())?;
            Ok(verdict_json(&place(&gist(rows::text(row, "text")?), target, &around)))
        });
    }
    let target = args.target.as_deref().ok_or_else(no_target)?;
    let target: Place = target.parse().map_err(|err| unknown_place(&err))?;
    let text =
        text_or_stdin(args.text.clone())?.ok_or_else(|| Failure::error("there is no text to place"))?;
    let verdict = place(&gist(&text), target, &around);
    print(&verdict, ui);
    Ok(if verdict.ok { Outcome::Done } else { Outcome::Nothing })
}

fn no_target() -> Failure {
    Failure::error("`--target` says where the text is to go").hint(UnknownPlace::HINT)
}

fn unknown_place(err: &UnknownPlace) -> Failure {
    Failure::error(err.to_string()).hint(UnknownPlace::HINT)
}

/// Looks at the project for what changes a verdict.
pub(crate) fn surroundings(context: &Context) -> Surroundings {
    let has = |path: &str| context.place.dir.as_ref().is_some_and(|dir| dir.join(path).is_dir());
    let has_team_vault = has_team(&context.place.state_dir());
    Surroundings { has_decisions: has("docs/decisions") || has("docs/adr"), has_team_vault }
}

fn verdict_json(verdict: &Verdict) -> Value {
    let names = |places: &[Place]| places.iter().map(|place| place.as_str()).collect::<Vec<_>>();
    let parts: Vec<Value> = verdict
        .parts
        .iter()
        .map(|part| json!({ "text": part.text, "act": part.act.as_str(), "destinations": names(&part.destinations) }))
        .collect();
    json!({
        "ok": verdict.ok,
        "reason": verdict.reason,
        "destinations": names(&verdict.destinations),
        "parts": parts,
    })
}

fn print(verdict: &Verdict, ui: &mut Ui) {
    if ui.is_json() {
        return ui.json(&verdict_json(verdict));
    }
    let (tone, word) = if verdict.ok { (Tone::Good, "in place") } else { (Tone::Warning, "out of place") };
    ui.toned(tone, &format!("{word}: {}", verdict.reason));
    if !verdict.ok {
        for destination in &verdict.destinations {
            ui.line(&format!("  {destination}: {}", destination.purpose()));
        }
    }
    let acts: Vec<_> = verdict.parts.iter().map(|part| part.act).collect();
    if acts.windows(2).any(|pair| pair[0] != pair[1]) {
        for part in &verdict.parts {
            let first = part.destinations.first().map_or("nowhere", |place| place.as_str());
            ui.toned(Tone::Faint, &format!("  {} → {first}: {}", part.act, part.text));
        }
    }
}

/// A file with what is out of place in it.
struct Linted {
    file: String,
    found: Vec<Misplaced>,
}

fn lint_files(files: &[PathBuf], context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let files = if files.is_empty() { project_files(context) } else { files.to_vec() };
    let linted: Vec<Linted> = files.iter().map(|file| lint_file(file, context)).collect::<Result<_, _>>()?;
    if ui.is_json() {
        let rows: Vec<Value> =
            linted.iter().flat_map(|linted| linted.found.iter().map(|one| row(&linted.file, one))).collect();
        ui.json(&rows);
    } else {
        print_lint(&linted, ui);
    }
    let clean = linted.iter().all(|linted| linted.found.is_empty());
    Ok(if clean { Outcome::Done } else { Outcome::Nothing })
}

/// The documents of the project that have a law.
fn project_files(context: &Context) -> Vec<PathBuf> {
    let dir = context.place.dir.clone().unwrap_or_default();
    let names = ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", "STATUS.md"];
    names.iter().map(|name| dir.join(name)).filter(|path| path.is_file()).collect()
}

fn lint_file(file: &Path, context: &Context) -> Result<Linted, Failure> {
    let shown = context.place.dir.as_ref().and_then(|dir| file.strip_prefix(dir).ok()).unwrap_or(file);
    let shown = shown.display().to_string();
    let kind: Place = shown.parse().map_err(|err| unknown_place(&err))?;
    let text = std::fs::read(file).map_err(|err| Failure::error(format!("could not read {shown}: {err}")))?;
    Ok(Linted { found: lint(kind, &String::from_utf8_lossy(&text)), file: shown })
}

fn row(file: &str, found: &Misplaced) -> Value {
    json!({
        "file": file,
        "line": found.line,
        "sentence": found.sentence,
        "act": found.act.as_str(),
        "destination": found.destination.map(Place::as_str),
        "reason": found.reason,
    })
}

fn print_lint(linted: &[Linted], ui: &mut Ui) {
    for Linted { file, found } in linted {
        for one in found {
            let destination = one.destination.map_or("nowhere", Place::as_str);
            ui.toned(Tone::Strong, &format!("{file}:{}: {}", one.line, one.sentence));
            ui.line(&format!("  {} → {destination}: {}", one.act, one.reason));
        }
    }
    if linted.is_empty() {
        ui.say("there is no CLAUDE.md, AGENTS.md or STATUS.md here");
    } else if linted.iter().all(|linted| linted.found.is_empty()) {
        ui.say("everything is in its place");
    }
}
