//! `memdir dashboard`: where the project stands, on one page.

use jiff::Timestamp;
use memdir_core::journal::{OpenItem, briefing};
use memdir_core::memory::MemoryType;
use memdir_core::status::{STATUS, Status};
use memdir_core::text::count;
use memdir_store::journal::Journal;
use memdir_store::standing::{CommitLine, Standing};
use memdir_store::vault::Entry;
use serde_json::{Value, json};

use super::overview::{self, Overview};
use super::sheet::Sheet;
use super::stale::{self, Idle};
use crate::context::{Context, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// As many commits are shown.
const N_COMMITS: usize = 10;
/// As many lines of a STATUS.md that somebody keeps by hand.
const N_STATUS_LINES: usize = 15;
/// As many memories.
const N_MEMORIES: usize = 12;
/// As much of the page is for the briefing, in bytes.
const BRIEFING: usize = 3_000;
/// Dates that come as near as this are told, in days.
const SOON: i32 = 7;

/// Show where the project stands, on one page
///
/// Four parts: STATUS.md and the last commits, the memories of this project, what lies idle in any project, and what the
/// last session left unfinished. Changes nothing, and is short enough for an agent's context.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir dashboard
  memdir dashboard --days 30
  memdir journal open       everything that is unfinished, with ids
  memdir wrap               what to run at the end of a session")]
pub(crate) struct Args {
    /// Idle means untouched for this many days
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    days: i64,
}

/// What the page shows.
struct Page {
    here: Overview,
    status: Option<Vec<u8>>,
    commits: Vec<CommitLine>,
    memories: Vec<Entry>,
    idle: Vec<Idle>,
    idle_projects: Vec<(String, i64)>,
    last: Option<memdir_core::journal::Entry>,
}

impl Default for Args {
    fn default() -> Self {
        Self { days: 14 }
    }
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let page = gather(args.days, context)?;
    if ui.is_json() {
        ui.json(&as_json(&page, context));
        return Ok(Outcome::Done);
    }
    let mut sheet = Sheet::default();
    let verdict = &page.here.verdict;
    let title = format!("Status of {} ({}: {})", page.here.project.name, verdict.tier, verdict.because);
    sheet.part(&title, status_lines(&page, context), "git log");
    let title = format!("Memories of this project ({})", page.here.n_memories);
    sheet.part(&title, memory_lines(&page, context), "memdir list");
    let title = format!("Stale: untouched for {} days or more, in all projects", args.days);
    sheet.part(&title, stale_lines(&page), "memdir stale");
    sheet.part("Briefing", briefing_lines(&page, context), "memdir journal open");
    sheet.print(ui);
    Ok(Outcome::Done)
}

fn gather(days: i64, context: &Context) -> Result<Page, Failure> {
    let place = &context.place;
    let standing = Standing::of(place, &context.env);
    let journal = Journal::of(place);
    let last = journal
        .entries()?
        .map(|(_, entry)| entry)
        .find(|entry| !entry.sections.summary.starts_with("Done: "));
    let shelf = context.open_project()?.map(Shelf::new).transpose()?;
    let mut memories = shelf.map(|shelf| shelf.snapshot.memories).unwrap_or_default();
    memories.sort_by(|a, b| b.modified().cmp(&a.modified()).then_with(|| a.path.cmp(&b.path)));
    let idle_projects = overview::all(context, false)?
        .iter()
        .filter(|other| !other.is_here)
        .filter_map(|other| Some((other.project.name.clone(), other.idle_days(context)?)))
        .filter(|(_, idle)| *idle >= days)
        .collect();
    Ok(Page {
        here: overview::look_at(&place.project, context),
        // What cannot be read is told by `wrap`, which has to.
        status: standing.read(STATUS).ok().flatten(),
        commits: standing.commits(N_COMMITS, context.env.search_path.as_deref()),
        memories,
        idle: stale::idle(days, context)?,
        idle_projects,
        last,
    })
}

fn status_lines(page: &Page, context: &Context) -> Vec<String> {
    let mut lines = match &page.status {
        None => vec![format!("no {STATUS} ({}); `memdir wrap` writes one", page.here.status.words())],
        Some(bytes) => match Status::read(bytes) {
            Some(status) => section_lines(&status),
            None => {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                lines.take(N_STATUS_LINES).map(str::to_owned).collect()
            }
        },
    };
    if page.commits.is_empty() {
        lines.push("no commits".to_owned());
    }
    lines.extend(page.commits.iter().map(|commit| {
        let day = commit.at.map(|at| day(at, context)).unwrap_or_default();
        format!("{} {day} {}", commit.hash, commit.subject)
    }));
    lines
}

/// Shows a status in one line a section.
pub(super) fn section_lines(status: &Status) -> Vec<String> {
    let line = |title: &str, items: &[String]| {
        let items = if items.is_empty() { "nothing".to_owned() } else { items.join("; ") };
        format!("{title}: {items}")
    };
    let mut lines = vec![
        line("In progress", &status.in_progress),
        line("Blocked", &status.blocked),
        line("Next", &status.next),
    ];
    lines.extend(status.day.map(|day| format!("Doc Sync: {day}")));
    lines
}

fn memory_lines(page: &Page, context: &Context) -> Vec<String> {
    if page.memories.is_empty() {
        return vec!["none yet: `memdir remember \"…\"` saves one".to_owned()];
    }
    let line = |entry: &Entry| {
        let kind = entry.memory.memory_type.map_or("?", MemoryType::as_str);
        let description = &entry.memory.description;
        format!("[{kind}] {} — {description} ({})", entry.path.stem(), day(entry.modified(), context))
    };
    let mut lines: Vec<String> = page.memories.iter().take(N_MEMORIES).map(line).collect();
    if page.memories.len() > N_MEMORIES {
        lines.push(format!("… {} more: memdir list", page.memories.len() - N_MEMORIES));
    }
    lines
}

fn stale_lines(page: &Page) -> Vec<String> {
    let mut lines: Vec<String> = page
        .idle_projects
        .iter()
        .map(|(name, days)| format!("{name}: nothing happened for {days} days"))
        .collect();
    lines.extend(idle_by_project(&page.idle));
    if lines.is_empty() {
        lines.push("nothing lies idle".to_owned());
    }
    lines
}

/// Shows idle memories in one line a project, the longest idle first.
pub(super) fn idle_by_project(idle: &[Idle]) -> Vec<String> {
    /// As many are named.
    const NAMED: usize = 5;
    let mut projects: Vec<&str> = Vec::new();
    for item in idle {
        if !projects.contains(&item.project.as_str()) {
            projects.push(&item.project);
        }
    }
    let line = |project: &&str| {
        let of: Vec<&Idle> = idle.iter().filter(|item| item.project == **project).collect();
        let named: Vec<String> =
            of.iter().take(NAMED).map(|item| format!("{} ({} days)", item.name, item.idle_days)).collect();
        let more = of.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        format!("{project}: {} idle: {}{more}", count(of.len(), "memory", "memories"), named.join(", "))
    };
    projects.iter().map(line).collect()
}

fn briefing_lines(page: &Page, context: &Context) -> Vec<String> {
    let brief = briefing(page.last.as_ref(), &page.here.open, &context.zone, BRIEFING);
    let mut lines: Vec<String> = brief.lines().map(str::to_owned).collect();
    lines.extend(coming(page, context));
    if page.here.n_waiting > 0 {
        let waiting = count(page.here.n_waiting, "proposal waits", "proposals wait");
        lines.push(format!("{waiting} for your word: memdir review"));
    }
    lines.extend(document_lines(&page.here));
    if lines.is_empty() {
        lines.push("nothing is unfinished; `memdir wrap` ends a session".to_owned());
    }
    lines
}

/// Tells what is missing of a project's documents, or more than it needs.
pub(super) fn document_lines(overview: &Overview) -> Vec<String> {
    let verdict = &overview.verdict;
    let mut lines = Vec::new();
    if !verdict.missing.is_empty() && overview.is_there {
        lines.push(format!("Missing for a {}: {}", verdict.tier, verdict.missing.join(", ")));
    }
    lines.extend(verdict.notes.iter().map(|note| format!("Note: {note}")));
    lines
}

/// Tells what ends in the next days.
fn coming(page: &Page, context: &Context) -> Vec<String> {
    let today = context.now.to_zoned(context.zone.clone()).date();
    let is_near = |entry: &&Entry| {
        entry.memory.expires.is_some_and(|day| (0..=SOON).contains(&(day - today).get_days()))
    };
    let near = page.memories.iter().filter(is_near);
    near.map(|entry| {
        let day = entry.memory.expires.map(|day| day.to_string()).unwrap_or_default();
        format!("Ends {day}: {} — {}", entry.path.stem(), entry.memory.description)
    })
    .collect()
}

fn day(at: Timestamp, context: &Context) -> String {
    at.to_zoned(context.zone.clone()).date().to_string()
}

fn as_json(page: &Page, context: &Context) -> Value {
    let status = page.status.as_deref().and_then(Status::read);
    let commit =
        |commit: &CommitLine| json!({ "hash": commit.hash, "at": commit.at, "subject": commit.subject });
    let memory = |entry: &Entry| {
        json!({
            "name": entry.path.stem(),
            "type": entry.memory.memory_type,
            "description": entry.memory.description,
            "modified": entry.modified(),
        })
    };
    json!({
        "project": page.here.project.id,
        "name": page.here.project.name,
        "tier": page.here.verdict.tier,
        "status": status.as_ref().map(status_json),
        "commits": page.commits.iter().map(commit).collect::<Vec<Value>>(),
        "memories": page.memories.iter().take(N_MEMORIES).map(memory).collect::<Vec<Value>>(),
        "stale": {
            "projects": page.idle_projects.iter()
                .map(|(name, days)| json!({ "project": name, "idle_days": days })).collect::<Vec<Value>>(),
            "memories": stale::as_json(&page.idle),
        },
        "briefing": {
            "last_session": page.last.as_ref().map(|entry| json!({
                "name": entry.name, "at": entry.at(), "session": entry.session, "description": entry.description,
                "decisions": entry.sections.decisions,
            })),
            "unfinished": page.here.open.iter().map(item_json).collect::<Vec<Value>>(),
            "coming": coming(page, context),
            "waiting": page.here.n_waiting,
            "missing": page.here.verdict.missing,
            "notes": page.here.verdict.notes,
        },
    })
}

/// Shows a status to programs.
pub(super) fn status_json(status: &Status) -> Value {
    json!({ "in_progress": status.in_progress, "blocked": status.blocked, "next": status.next, "day": status.day })
}

/// Shows an open item to programs.
pub(super) fn item_json(item: &OpenItem) -> Value {
    json!({ "id": item.id, "text": item.text, "since": item.since, "last": item.last, "entry": item.entry })
}
