//! Says what `memdir init` did: to people line by line, to programs as one document.

use std::path::Path;

use memdir_core::host::Agent;
use memdir_core::merge::unified;
use memdir_core::text::count;
use memdir_core::wiring::{Part, Scope, events};
use serde_json::{Value, json};

use super::Args;
use super::act::{Fate, Row};
use crate::cli::diff;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

pub(super) fn print(
    args: &Args,
    made: &[String],
    rows: &[Row],
    context: &Context,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let failure = failure(rows, ui);
    if ui.is_json() {
        let document = as_json(args, made, rows, context)?;
        return match failure {
            Some(failure) => Err(Failure { json: Some(Box::new(document)), ..failure }),
            None => {
                ui.json(&document);
                Ok(Outcome::Done)
            }
        };
    }
    tell(args, made, rows, context, ui);
    failure.map_or(Ok(Outcome::Done), Err)
}

fn tell(args: &Args, made: &[String], rows: &[Row], context: &Context, ui: &mut Ui) {
    let home = context.env.home.as_deref();
    if args.dry_run {
        rows.iter().for_each(|row| show_difference(row, home, ui));
    }
    made.iter().for_each(|line| ui.toned(Tone::Good, line));
    for row in rows.iter().filter(|row| is_change(&row.fate)) {
        ui.toned(Tone::Good, &line(row, args.dry_run, home));
    }
    let passed = rows.iter().filter(|row| matches!(row.fate, Fate::Passed(_) | Fate::Told(_)));
    passed.for_each(|row| ui.line(&line(row, args.dry_run, home)));
    let n_changes = rows.iter().filter(|row| is_change(&row.fate)).count();
    let is_open = rows.iter().any(|row| matches!(row.fate, Fate::Failed(_) | Fate::Told(_)));
    if made.is_empty() && n_changes == 0 && !is_open {
        ui.line(match (args.gateway, args.remove) {
            (true, true) => "no agent asks the gateway",
            (false, true) => "no agent was told of memdir",
            _ => "everything is set up already",
        });
    }
    if args.remove && !args.gateway {
        ui.say(&format!("memories stay where they are: {}", context.place.vault.display()));
        return;
    }
    if !args.gateway {
        ui.line(&format!("project  {}", context.place.project.id));
        ui.line(&format!("vault    {}", context.place.vault.display()));
    }
    steps(args, rows).iter().for_each(|step| ui.say(step));
}

fn is_change(fate: &Fate) -> bool {
    matches!(fate, Fate::Wired | Fate::Renewed | Fate::Removed)
}

fn line(row: &Row, dry_run: bool, home: Option<&Path>) -> String {
    let title = row.agent.title();
    let path = row.path.as_ref().map_or_else(String::new, |path| shown(path, home));
    let would = if dry_run { "would have " } else { "" };
    let what = what(row);
    match &row.fate {
        Fate::Wired => format!("{title}: {would}{what} in {path}"),
        Fate::Renewed => format!("{title}: {would}{what} renewed in {path}"),
        Fate::Removed => format!("{title}: {would}{what} removed from {path}"),
        Fate::Already => format!("{title}: {what} there already, in {path}"),
        Fate::Absent => format!("{title}: nothing in {path}"),
        Fate::Passed(why) => format!("{title}: {why}"),
        Fate::Told(how) => format!("{title}: {how}"),
        Fate::Failed(problem) => format!("{title}: {path}: {}", problem.message),
    }
}

fn what(row: &Row) -> String {
    let hooks = || count(events(row.agent).len(), "hook", "hooks");
    match row.part {
        Some(Part::Hooks) => hooks(),
        Some(Part::Server) => "MCP server".to_owned(),
        Some(Part::Both) => format!("{} and MCP server", hooks()),
        Some(Part::Manifest) => "plugin".to_owned(),
        Some(Part::Address) => "address of the gateway".to_owned(),
        None => String::new(),
    }
}

/// What is left for the user to do.
fn steps(args: &Args, rows: &[Row]) -> Vec<String> {
    let dry_run = args.dry_run;
    let changed = |agent: Agent, part: Part| {
        rows.iter().any(|row| {
            row.agent == agent && row.part == Some(part) && matches!(row.fate, Fate::Wired | Fate::Renewed)
        })
    };
    let mut steps = Vec::new();
    if args.gateway {
        if !dry_run && rows.iter().any(|row| matches!(row.fate, Fate::Wired | Fate::Renewed | Fate::Told(_)))
        {
            steps.push(
                "next: keep `memdir gateway` running; these agents reach no model without it, and \
                 `memdir init --gateway --remove` leads them back"
                    .to_owned(),
            );
        }
        return steps;
    }
    if changed(Agent::Codex, Part::Hooks) {
        steps.push("next: start `codex`, open `/hooks` and trust those of memdir; until then Codex runs none of them".to_owned());
    }
    let in_project = rows.iter().any(|row| row.scope == Scope::Project && is_change(&row.fate));
    if in_project {
        steps.push(
            "the project's files now name a program of this machine: keep them out of its repository"
                .to_owned(),
        );
    }
    if rows.iter().any(|row| is_change(&row.fate)) && !dry_run {
        steps.push(
            "next: start a new session of your agent; `memdir doctor` says whether it reaches memdir"
                .to_owned(),
        );
    } else if rows.is_empty() {
        let names: Vec<&str> = Agent::ALL.map(Agent::as_str).to_vec();
        steps.push(format!(
            "no agent was found: `memdir init --agent NAME` tells one all the same ({})",
            names.join(", ")
        ));
    }
    steps
}

fn show_difference(row: &Row, home: Option<&Path>, ui: &mut Ui) {
    if let (Some(text), Some(path)) = (difference(row), &row.path) {
        ui.toned(Tone::Strong, &shown(path, home));
        diff::print(&text, ui);
    }
}

fn difference(row: &Row) -> Option<String> {
    let (change, path) = (row.change.as_ref()?, row.path.as_ref()?);
    let bytes = |text: &Option<String>| text.as_ref().map(|text| text.as_bytes().to_owned());
    let name = path.display().to_string();
    let (before, after) = (bytes(&change.before), bytes(&change.after));
    Some(unified(before.as_deref(), after.as_deref(), name.trim_start_matches('/')))
}

fn shown(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Every file that could not be done, as one failure; what could be done is done.
fn failure(rows: &[Row], ui: &Ui) -> Option<Failure> {
    let failed: Vec<(&Row, &super::file::Problem)> = rows
        .iter()
        .filter_map(|row| if let Fate::Failed(problem) = &row.fate { Some((row, problem)) } else { None })
        .collect();
    let (first, problem) = failed.first()?;
    for (row, problem) in &failed[1..] {
        ui.warn(&format!("{}; {}", line(row, false, None), problem.hint));
    }
    Some(Failure::error(line(first, false, None)).hint(problem.hint.clone()))
}

fn as_json(args: &Args, made: &[String], rows: &[Row], context: &Context) -> Result<Value, Failure> {
    let n_memories = if args.dry_run || args.remove {
        0
    } else {
        context.shelves()?.iter().map(|shelf| shelf.snapshot.memories.len()).sum()
    };
    let changes = rows.iter().filter(|row| is_change(&row.fate)).map(|row| line(row, args.dry_run, None));
    Ok(json!({
        "project": context.place.project.id,
        "vault": context.place.vault.display().to_string(),
        "dry_run": args.dry_run,
        "changed": made.iter().cloned().chain(changes).collect::<Vec<_>>(),
        "memories": n_memories,
        "agents": rows.iter().map(|row| row_json(row, args.dry_run)).collect::<Vec<_>>(),
        "next": steps(args, rows),
    }))
}

fn row_json(row: &Row, dry_run: bool) -> Value {
    let (state, why, hint) = match &row.fate {
        Fate::Wired => ("wired", None, None),
        Fate::Renewed => ("renewed", None, None),
        Fate::Already => ("already", None, None),
        Fate::Removed => ("removed", None, None),
        Fate::Absent => ("absent", None, None),
        Fate::Passed(why) => ("passed", Some((*why).to_owned()), None),
        Fate::Told(how) => ("told", Some(how.clone()), None),
        Fate::Failed(problem) => ("failed", Some(problem.message.clone()), Some(problem.hint.clone())),
    };
    json!({
        "agent": row.agent.as_str(),
        "scope": if row.scope == Scope::User { "user" } else { "project" },
        "file": row.path.as_ref().map(|path| path.display().to_string()),
        "part": row.part.map(part_word),
        "state": state,
        "why": why,
        "hint": hint,
        "diff": dry_run.then(|| difference(row)).flatten(),
    })
}

fn part_word(part: Part) -> &'static str {
    match part {
        Part::Hooks => "hooks",
        Part::Server => "mcp",
        Part::Both => "hooks+mcp",
        Part::Manifest => "manifest",
        Part::Address => "gateway",
    }
}
