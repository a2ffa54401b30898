//! `memdir wrap`: ends a session with five effects, each of which may be repeated without harm.
//!
//! ```text
//!   words (flags, stdin) ─┐                 ┌─▶ journal    one entry, its unfinished items with ids
//!                         ├─▶ plan ─▶ jobs ─┼─▶ status     the block of STATUS.md
//!   session file (digest) ┘                 ├─▶ memory     project-status, the table of projects
//!                                           ├─▶ facts      candidates in the inbox, never memories
//!                                           └─▶ doc sync   dates of documents that were brought up to date
//! ```
//!
//! Everything is planned before the first write, so no job waits for another: with `--full` the first four run at the same
//! time. A job that fails is reported and leaves the others alone.

mod jobs;
mod source;

use std::thread;

use jiff::civil::Date;
use memdir_core::dates;
use memdir_core::journal::OpenItem;
use memdir_core::status::Status;
use memdir_store::journal::{Journal, Planned};
use memdir_store::place::ProjectId;
use memdir_store::standing::Standing;
use memdir_store::vault::Vault;
use serde_json::{Value, json};

use super::dashboard::{item_json, section_lines};
use super::journal::{Words, change_texts};
use super::writing::Why;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};
use source::{Message, Source};

/// End a session: journal, STATUS.md, status memory, candidates, dates
///
/// Say what was done by flags or on stdin (`## Summary`, `## Decisions`, `## Unfinished`, `## Related`). Without words the
/// session's own file is read and summed up by rules: prompts, files, commands, errors, todos. That takes no model and
/// no room in anybody's context. Wrapping twice changes nothing the second time.
#[derive(Debug, clap::Args)]
#[command(after_help = "What it does:
  journal    writes one entry that never changes; unfinished items get ids (memdir journal open)
  status     STATUS.md: what is in progress, blocked, next; only between its marks
  memory     updates the memory `project-status`, and `reference-projects` in the user vault
  facts      puts what you said and what may last into the inbox (memdir review)
  doc_sync   sets `Doc Sync: YYYY-MM-DD` in documents that this session brought up to date

Examples:
  memdir wrap
  memdir wrap --summary \"Moved token refresh behind a queue\" --unfinished \"rotate the staging key\" \\
              --blocked \"load test: waits for the staging cluster\" --next \"write the runbook\"
  memdir wrap --done 7QX2ZK --synced docs/architecture.md
  memdir wrap --full --session 5da15695")]
pub(crate) struct Args {
    #[command(flatten)]
    words: Words,
    /// A document that was brought up to date in this session; may be repeated
    #[arg(long = "synced", value_name = "FILE")]
    synced: Vec<String>,
    /// Do the first four at the same time, and read the whole session also when words were given
    #[arg(long)]
    full: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    why: Why,
}

/// All that the jobs need; made before the first of them runs.
struct Work {
    why: Why,
    project: ProjectId,
    name: String,
    /// Set before the jobs run.
    vault: Option<Vault>,
    journal: Journal,
    planned: Planned,
    status: Status,
    standing: Standing,
    messages: Vec<Message>,
    /// Documents that were named, and those that the session edited.
    synced: Vec<String>,
    named: Vec<String>,
    today: Date,
}

/// What became of one effect.
struct Report {
    effect: &'static str,
    state: State,
    detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    Unchanged,
    Skipped,
    Failed,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unchanged => "unchanged",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

type Job = fn(&Work, &Context) -> Result<(State, String), Failure>;

/// The effects, in the order in which they are told; all but the last can run at the same time.
const JOBS: [(&str, Job); 4] =
    [("journal", jobs::journal), ("status", jobs::status), ("memory", jobs::memory), ("facts", jobs::facts)];

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut work = prepare(args, context)?;
    if args.dry_run {
        return Ok(preview(&work, ui));
    }
    work.register(context, ui)?;
    let mut reports = if args.full { at_once(&work, context) } else { in_turn(&work, context) };
    reports.push(report("doc_sync", jobs::doc_sync(&work, context)));
    print(&work, &reports, ui);
    let failed = reports.iter().any(|report| report.state == State::Failed);
    Ok(if failed { Outcome::Nothing } else { Outcome::Done })
}

impl Work {
    /// Makes the project known and its vault ready, before the first job runs.
    fn register(&mut self, context: &Context, ui: &Ui) -> Result<(), Failure> {
        let vault = context.create_project(ui)?;
        self.project = vault.id().parse().map_err(|err| Failure::from_chain(&err))?;
        self.journal = Journal::below(&context.place.home, vault.id());
        self.vault = Some(vault);
        Ok(())
    }

    /// Returns the project's vault.
    fn vault(&self) -> Result<&Vault, Failure> {
        self.vault.as_ref().ok_or_else(|| Failure::error("the project has no vault yet"))
    }
}

/// Finds out what there is to say and what saying it would do. Writes nothing.
fn prepare(args: &Args, context: &Context) -> Result<Work, Failure> {
    let journal = Journal::of(&context.place);
    let now = context.now.to_zoned(context.zone.clone());
    let gate = context.gate()?;
    let said = args.words.sections(&journal.open_items()?, gate, &now)?;
    let standing = Standing::of(&context.place, &context.env);
    let source = Source::find(args.why.session.as_deref(), said.is_none() || args.full, &journal, context)?;
    let root = standing.root().and_then(|root| root.to_str()).unwrap_or_default().to_owned();
    let sections = match said {
        Some(sections) => sections,
        None => {
            let digest = source.digest.as_ref().filter(|digest| !digest.is_empty()).ok_or_else(nothing)?;
            let mut sections = digest.sections(&root);
            let then = digest.ended.unwrap_or(context.now).to_zoned(context.zone.clone());
            change_texts(&mut sections, |text| dates::settle(&gate.redacted(text).0, &then).text);
            sections
        }
    };
    let planned = journal.plan(sections, &source.about, context.now, &context.zone)?;
    // What may not be written down must not reach a status or a memory either.
    journal.check(&planned, &gate.scanner).map_err(super::journal::failure)?;
    let below = |file: &str| file.strip_prefix(&root).unwrap_or(file).trim_start_matches('/').to_owned();
    let edited = source.digest.iter().flat_map(|digest| digest.files());
    let mut why = args.why.clone();
    why.session = why.session.or_else(|| source.about.session.clone());
    Ok(Work {
        why,
        name: context.place.project.name.clone(),
        status: Status::of(&planned.open, now.date()),
        synced: args.synced.iter().map(String::as_str).chain(edited).map(below).collect(),
        named: args.synced.iter().map(|file| below(file)).collect(),
        today: now.date(),
        messages: source.messages,
        project: context.place.project.id.clone(),
        vault: None,
        journal,
        planned,
        standing,
    })
}

fn nothing() -> Failure {
    Failure::refusal("there is nothing to wrap: no words, and no session file of this project")
        .hint("say what was done: `memdir wrap --summary TEXT`")
}

fn in_turn(work: &Work, context: &Context) -> Vec<Report> {
    JOBS.iter().map(|(effect, job)| report(effect, job(work, context))).collect()
}

/// Runs the jobs side by side, each with a view of the project of its own.
fn at_once(work: &Work, context: &Context) -> Vec<Report> {
    thread::scope(|scope| {
        let run = |(effect, job): &(&'static str, Job)| {
            let (effect, job, own) = (*effect, *job, context.at(context.place.clone()));
            (effect, scope.spawn(move || job(work, &own)))
        };
        let running: Vec<_> = JOBS.iter().map(run).collect();
        let crashed = |_| Err(Failure::error("the job ended by a fault of memdir"));
        running.into_iter().map(|(effect, job)| report(effect, job.join().unwrap_or_else(crashed))).collect()
    })
}

fn report(effect: &'static str, outcome: Result<(State, String), Failure>) -> Report {
    let (state, detail) = outcome.unwrap_or_else(|failure| (State::Failed, failure.message));
    Report { effect, state, detail }
}

fn preview(work: &Work, ui: &mut Ui) -> Outcome {
    if ui.is_json() {
        ui.json(&answer(work, &[]));
    } else {
        ui.block(&work.planned.entry.render());
        ui.line("");
        section_lines(&work.status).iter().for_each(|line| ui.line(line));
        ui.say("nothing was written");
    }
    Outcome::Done
}

fn print(work: &Work, reports: &[Report], ui: &mut Ui) {
    if ui.is_json() {
        return ui.json(&answer(work, reports));
    }
    let columns =
        [Column::new("effect").tone(Tone::Strong), Column::new("state"), Column::new("detail").giving_way()];
    let row = |report: &Report| {
        vec![report.effect.to_owned(), report.state.as_str().to_owned(), report.detail.clone()]
    };
    ui.table(&columns, &reports.iter().map(row).collect::<Vec<_>>());
    for report in reports.iter().filter(|report| report.state == State::Failed) {
        ui.warn(&format!("{} failed: {}; the others are not touched by that", report.effect, report.detail));
    }
}

fn answer(work: &Work, reports: &[Report]) -> Value {
    let effect = |report: &Report| json!({ "effect": report.effect, "state": report.state.as_str(), "detail": report.detail });
    let open = |item: &OpenItem| item_json(item);
    json!({
        "project": work.project,
        "session": work.planned.entry.session,
        "entry": work.planned.entry.name,
        "description": work.planned.entry.description,
        "open": work.planned.open.iter().map(open).collect::<Vec<Value>>(),
        "effects": reports.iter().map(effect).collect::<Vec<Value>>(),
    })
}
