//! `memdir monthly`: how healthy each project is.

use memdir_core::text::{age_days, count};
use serde_json::{Value, json};

use super::dashboard::{document_lines, status_json};
use super::overview::{self, Overview};
use super::sheet::Sheet;
use super::stale::{self, Idle};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Report how healthy each project is
///
/// One part a project: tier of documentation, when something last happened, what lies idle, what is unfinished for long,
/// which documents are missing or out of date, and what waits for you. Changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir monthly
  memdir monthly --days 60 --json
  memdir projects tier . tree      what you say about a tier counts more than any sign")]
pub(crate) struct Args {
    /// Idle means untouched for this many days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    days: i64,
}

/// One project and what there is to say about it.
struct Report {
    overview: Overview,
    idle: Vec<Idle>,
    remarks: Vec<String>,
}

impl Default for Args {
    fn default() -> Self {
        Self { days: 30 }
    }
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let idle = stale::idle(args.days, context)?;
    let reports: Vec<Report> = overview::all(context, false)?
        .into_iter()
        .map(|overview| report(overview, &idle, args.days, context))
        .collect();
    if ui.is_json() {
        let rows: Vec<Value> = reports.iter().map(|report| as_json(report, context)).collect();
        ui.json(&json!({ "days": args.days, "projects": rows }));
        return Ok(Outcome::Done);
    }
    if reports.is_empty() {
        ui.say("no projects yet: `memdir init` registers this one");
        return Ok(Outcome::Nothing);
    }
    let mut sheet = Sheet::default();
    for report in &reports {
        sheet.part(&title(report, context), lines(report), "memdir stale");
    }
    sheet.print(ui);
    Ok(Outcome::Done)
}

fn report(overview: Overview, idle: &[Idle], days: i64, context: &Context) -> Report {
    let idle = idle.iter().filter(|item| item.project == overview.project.id.as_str()).cloned().collect();
    let mut remarks = Vec::new();
    if !overview.is_there && !overview.project.roots.is_empty() {
        remarks.push("its directory is gone".to_owned());
    }
    let for_long = |days_ago: Option<i64>| days_ago.filter(|idle| *idle >= days);
    if let Some(idle) = for_long(overview.idle_days(context)) {
        remarks.push(format!("nothing happened for {idle} days"));
    }
    let old = |item: &&memdir_core::journal::OpenItem| {
        item.since.is_some_and(|since| age_days(since, context.now) >= days)
    };
    let n_old = overview.open.iter().filter(old).count();
    if n_old > 0 {
        remarks.push(format!(
            "{} for {days} days or more: memdir journal open",
            count(n_old, "item is open", "items are open")
        ));
    }
    remarks.extend(document_lines(&overview));
    let today = context.now.to_zoned(context.zone.clone()).date();
    for (document, day) in overview.project.doc_sync() {
        let idle = today.since(day).map_or(0, |span| i64::from(span.get_days()));
        if idle >= days {
            remarks.push(format!("{document} was last brought up to date on {day}"));
        }
    }
    if overview.n_faulty > 0 {
        remarks.push(format!(
            "{} not in order: memdir doctor",
            count(overview.n_faulty, "memory is", "memories are")
        ));
    }
    if overview.n_waiting > 0 {
        remarks.push(format!(
            "{} for your word: memdir review",
            count(overview.n_waiting, "proposal waits", "proposals wait")
        ));
    }
    Report { overview, idle, remarks }
}

fn title(report: &Report, context: &Context) -> String {
    let Overview { project, verdict, n_memories, .. } = &report.overview;
    let row = report.overview.row(context);
    let last =
        row.last_activity.map_or_else(|| "never worked on".to_owned(), |day| format!("last worked on {day}"));
    format!("{} ({}), {last}, {}", project.name, verdict.tier, count(*n_memories, "memory", "memories"))
}

fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![format!(
        "{}; {} because {}",
        report.overview.status.words(),
        report.overview.verdict.tier,
        report.overview.verdict.because
    )];
    lines.extend(report.remarks.iter().cloned());
    lines.extend(
        super::dashboard::idle_by_project(&report.idle)
            .iter()
            .map(|line| line.split_once(": ").map_or(line.as_str(), |(_, rest)| rest).to_owned()),
    );
    if is_healthy(report) {
        lines.push("healthy".to_owned());
    }
    lines
}

/// A note is no fault.
fn is_healthy(report: &Report) -> bool {
    report.idle.is_empty() && report.remarks.iter().all(|remark| remark.starts_with("Note: "))
}

fn as_json(report: &Report, context: &Context) -> Value {
    let Overview { project, verdict, .. } = &report.overview;
    json!({
        "id": project.id,
        "name": project.name,
        "tier": verdict.tier,
        "tier_locked": verdict.is_locked,
        "because": verdict.because,
        "missing": verdict.missing,
        "notes": verdict.notes,
        "status": status_json(&report.overview.status),
        "memories": report.overview.n_memories,
        "last_activity": report.overview.last,
        "idle_days": report.overview.idle_days(context),
        "stale": stale::as_json(&report.idle),
        "unfinished": report.overview.open.len(),
        "waiting": report.overview.n_waiting,
        "doc_sync": project.doc_sync(),
        "healthy": is_healthy(report),
        "remarks": report.remarks,
    })
}
