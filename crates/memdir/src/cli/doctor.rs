//! `memdir doctor`: what is wrong, and what can be done about it without touching a memory's text.

mod probe;
mod sandbox;
mod wiring;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::host::Agent;
use memdir_core::text::count;
use memdir_store::disk::Dir;
use memdir_store::health::{Finding, Remedy, Severity, examine, examine_place};
use memdir_store::magic::{Entry, Magic};
use memdir_store::place::settings::ServiceKind;
use memdir_store::place::{self, Environment, LocateError, Place, Registry, RegistryError};
use memdir_store::queue::Queue;
use memdir_store::vault::Vault;
use serde_json::{Value, json};

use self::wiring::Survey;
use super::{import, init};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Look for what is wrong with memories, vaults, state and the settings of agents
///
/// Without --fix nothing is changed. With it MEMORY.md is repaired, interrupted changes are finished, left-over
/// files removed, permissions closed, memories that a moved project left behind copied over, and agents told of
/// memdir anew whose settings call another program. The text of a memory is never changed. Exit code 1 says that a
/// problem is left.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Repair what can be repaired safely
    #[arg(long)]
    fix: bool,
}

/// A finding and whether it was repaired.
struct Row {
    finding: Finding,
    fixed: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut survey = wiring::survey(context);
    // Without a model there is no sub-agent.
    if context.place.settings.model.service != ServiceKind::None {
        survey.walls = sandbox::look();
    }
    let found = look(context, &survey, ui)?;
    let rows = if args.fix && found.iter().any(|finding| finding.remedy.is_some()) {
        fix(&found, &context.at(place::locate(&context.env)?), ui)?;
        let context = context.at(place::locate(&context.env)?);
        let walls = survey.walls.take();
        survey = wiring::survey(&context);
        survey.walls = walls;
        compare(found, look(&context, &survey, ui)?)
    } else {
        found.into_iter().map(|finding| Row { finding, fixed: false }).collect()
    };
    let healthy = !rows.iter().any(|row| row.finding.severity == Severity::Problem && !row.fixed);
    print(&rows, &survey, healthy, args.fix, ui);
    Ok(if healthy { Outcome::Done } else { Outcome::Nothing })
}

/// Closes a vault that others may write to, which no other command touches; `None` if it stays as it is. A vault
/// that cannot be used is a finding, not a fault of this command.
pub(crate) fn open_up(
    args: &Args,
    err: LocateError,
    env: &Environment,
    ui: &mut Ui,
) -> Result<Option<Place>, Failure> {
    if let (LocateError::WritableByAll { path }, true) = (&err, args.fix) {
        restrict(path)?;
        return Ok(Some(place::locate(env)?));
    }
    let rule = match err {
        LocateError::WritableByAll { .. } => "writable-by-all",
        LocateError::NotOurs { .. } => "foreign-owner",
        LocateError::VaultIsLink { .. } | LocateError::VaultIsFile { .. } => "not-a-directory",
        err => return Err(err.into()),
    };
    let message = err.hint().map_or_else(|| err.to_string(), |hint| format!("{err}; {hint}"));
    let finding = Finding { severity: Severity::Problem, rule, file: None, message, remedy: None };
    print(&[Row { finding, fixed: false }], &Survey::default(), false, false, ui);
    Ok(None)
}

/// Looks at both vaults and what is around them, without a lock and without writing.
fn look(context: &Context, survey: &Survey, ui: &Ui) -> Result<Vec<Finding>, Failure> {
    let mut findings = examine_place(&context.place, &context.env);
    findings.extend(background(context));
    findings.extend(magic_docs(context));
    findings.extend(survey.findings.iter().cloned());
    findings.extend(survey.walls.iter().flat_map(sandbox::Seen::findings));
    let mut progress = ui.progress();
    for vault in [context.open_project()?, context.open_user()?].into_iter().flatten() {
        let examined = examine(&vault, &context.gate()?.scanner, |done, total| progress.at(done, total));
        findings.extend(examined.map_err(|err| {
            Failure::error(format!("could not read the vault {}: {err}", vault.path().display()))
        })?);
    }
    let mut seen = BTreeSet::new();
    findings.retain(|finding| seen.insert((finding.rule, finding.file.clone(), finding.message.clone())));
    findings.sort_by_key(|finding| finding.severity);
    Ok(findings)
}

/// Says what is wrong with the work that is done in the background.
fn background(context: &Context) -> Vec<Finding> {
    let queue = Queue::of(&context.place);
    let finding = |rule, message| {
        let file = Some(queue.path());
        Finding { severity: Severity::Warning, rule, file, message, remedy: None }
    };
    let aside = queue.set_aside().unwrap_or_default().into_iter().map(|failed| {
        let message = format!("`{}` was given up: {}", failed.job.key(), failed.reason);
        finding("job-set-aside", message)
    });
    let hung = queue.worker().filter(|holder| holder.is_hung(Timestamp::now())).map(|holder| {
        let pid = holder.process.pid;
        finding(
            "worker-hangs",
            format!("process {pid} gives no sign of life: `kill {pid}` lets another one go on"),
        )
    });
    aside.chain(hung).collect()
}

/// Says which magic docs are known to be out of date.
fn magic_docs(context: &Context) -> Vec<Finding> {
    let entries = Magic::of(&context.place, &context.env).entries().unwrap_or_default();
    let root = context.place.dir.clone().unwrap_or_default();
    let finding = |entry: Entry| {
        let message = format!("`{}` is out of date: {}", entry.title, entry.stale?.brief);
        let file = Some(root.join(entry.path));
        Some(Finding { severity: Severity::Note, rule: "magic-doc-stale", file, message, remedy: None })
    };
    entries.into_iter().filter_map(finding).collect()
}

/// Carries out the remedies: permissions first, because a vault open to all is not written to.
fn fix(found: &[Finding], context: &Context, ui: &Ui) -> Result<(), Failure> {
    let remedies = || found.iter().filter_map(|finding| finding.remedy.as_ref());
    for path in remedies().flat_map(paths_to_close) {
        if let Err(err) = restrict(path) {
            ui.warn(&format!("could not close {}: {err}", path.display()));
        }
    }
    if remedies().any(|remedy| *remedy == Remedy::RewriteRegistry) {
        Registry::update(&context.place.home, |_| Ok::<_, RegistryError>(()))
            .map_err(|err| Failure::from_chain(&err))?;
    }
    if remedies().any(|remedy| *remedy == Remedy::MakeVault) {
        context.create_project(ui)?;
    }
    let agents: Vec<Agent> = remedies()
        .filter_map(|remedy| if let Remedy::Rewire(agent) = remedy { Some(*agent) } else { None })
        .collect();
    if !agents.is_empty() {
        init::rewire(&agents, context, ui)?;
    }
    let adoptions =
        remedies().filter_map(|remedy| if let Remedy::Adopt(dir) = remedy { Some(dir) } else { None });
    for dir in adoptions {
        adopt(dir, context, ui)?;
    }
    for vault in [context.open_project()?, context.open_user()?].into_iter().flatten() {
        mend(found, &vault, context, ui)?;
    }
    Ok(())
}

/// Repairs one vault: beginning to write finishes what was interrupted, the page is written where it was wrong.
fn mend(found: &[Finding], vault: &Vault, context: &Context, ui: &Ui) -> Result<(), Failure> {
    let concerns = |finding: &&Finding| {
        let file = finding.file.as_deref().unwrap_or(Path::new(""));
        file.starts_with(vault.path()) || file.starts_with(vault.state_path())
    };
    let has = |remedy: Remedy| {
        found.iter().filter(concerns).any(|finding| finding.remedy.as_ref() == Some(&remedy))
    };
    if !has(Remedy::RefreshPage) && !has(Remedy::Settle) && !has(Remedy::MakeVault) {
        return Ok(());
    }
    let mut writer = vault.writer(context.now, context.gate()?)?;
    if has(Remedy::RefreshPage) {
        super::writing::announce(&writer.refresh_page()?, ui);
    }
    Ok(())
}

fn paths_to_close(remedy: &Remedy) -> &[PathBuf] {
    if let Remedy::Restrict(paths) = remedy { paths } else { &[] }
}

fn restrict(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Dir::open(path)?.restrict(".");
    }
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) => Dir::open(parent)?.restrict(name),
        _ => Ok(()),
    }
}

/// Copies the memories of a directory that was left behind, and remembers that this was done.
fn adopt(dir: &Path, context: &Context, ui: &Ui) -> Result<(), Failure> {
    let vault = context.create_project(ui)?;
    let report = import::adopt(dir, &vault, context, ui)?;
    ui.say(&format!("copied {} memories from {}, which stays as it is", report.n_entered(), dir.display()));
    if report.n_refused() > 0 {
        ui.warn(&format!("{} files of {} stay out", report.n_refused(), dir.display()));
        return Ok(());
    }
    Ok(place::record_adopted(&context.place, dir)?)
}

/// Says which findings are gone; what is new since stands behind them.
fn compare(before: Vec<Finding>, after: Vec<Finding>) -> Vec<Row> {
    let mut rows: Vec<Row> = before
        .into_iter()
        .map(|finding| Row { fixed: finding.remedy.is_some() && !after.contains(&finding), finding })
        .filter(|row| row.fixed || after.contains(&row.finding))
        .collect();
    let new = after.into_iter().filter(|finding| !rows.iter().any(|row| row.finding == *finding));
    let new: Vec<Row> = new.map(|finding| Row { finding, fixed: false }).collect();
    rows.extend(new);
    rows
}

fn print(rows: &[Row], survey: &Survey, healthy: bool, fix: bool, ui: &mut Ui) {
    if ui.is_json() {
        let findings: Vec<Value> = rows.iter().map(as_json).collect();
        let walls = survey.walls.as_ref().map(|seen| &seen.walls);
        ui.json(&json!({ "healthy": healthy, "findings": findings, "agents": survey.to_json(), "sandbox": walls }));
        return;
    }
    if let Some(seen) = &survey.walls {
        ui.say(&seen.line());
    }
    for (severity, tone) in
        [(Severity::Problem, Tone::Bad), (Severity::Warning, Tone::Warning), (Severity::Note, Tone::Faint)]
    {
        let columns = [
            Column::new("severity").tone(tone),
            Column::new("rule").tone(Tone::Strong),
            Column::new("file").giving_way(),
            Column::new("what").giving_way(),
            Column::new("--fix").tone(Tone::Faint).giving_way(),
        ];
        let cells: Vec<Vec<String>> =
            rows.iter().filter(|row| row.finding.severity == severity).map(|row| cells(row, fix)).collect();
        if !cells.is_empty() {
            ui.table(&columns, &cells);
        }
    }
    let n_left = rows.iter().filter(|row| !row.fixed && row.finding.severity == Severity::Problem).count();
    let fixable = rows.iter().any(|row| !row.fixed && row.finding.remedy.is_some());
    match (healthy, rows.is_empty()) {
        (true, true) => ui.line("all is well"),
        (true, false) => ui.say("nothing is broken"),
        (false, _) => ui.say(&format!("{} left", count(n_left, "problem", "problems"))),
    }
    if fixable && !fix {
        ui.say("`memdir doctor --fix` does what the last column says");
    }
}

fn cells(row: &Row, fix: bool) -> Vec<String> {
    let finding = &row.finding;
    let file = finding.file.as_ref().map_or_else(String::new, |file| file.display().to_string());
    let remedy = match (row.fixed, &finding.remedy) {
        (true, _) => "done".to_owned(),
        (false, Some(_)) if fix => "not done".to_owned(),
        (false, Some(remedy)) => remedy.describe(),
        (false, None) => String::new(),
    };
    vec![word(finding.severity).to_owned(), finding.rule.to_owned(), file, finding.message.clone(), remedy]
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Problem => "problem",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn as_json(row: &Row) -> Value {
    let finding = &row.finding;
    json!({
        "severity": finding.severity,
        "rule": finding.rule,
        "file": finding.file.as_ref().map(|file| file.display().to_string()),
        "message": finding.message,
        "fix": finding.remedy.as_ref().map(Remedy::describe),
        "fixed": row.fixed,
    })
}
