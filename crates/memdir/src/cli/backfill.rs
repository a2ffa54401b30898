//! `memdir backfill`: keeps copies of old sessions, if the user agrees.

use std::path::PathBuf;

use memdir_core::text::count;
use memdir_store::place;
use memdir_store::transcript::{Report, TranscriptError, Transcripts};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// One megabyte, as settings count them.
const MB: u64 = 1_000_000;

/// Keep what was said in old sessions, if you agree
///
/// Agents sweep their session files after some weeks; copies are found by `memdir grep` after that. Without your word nothing is written: it only says what there is. You agree for good with `keep = true` under
/// `[transcripts]` in config.toml, or for one run with `--keep`. Secrets are redacted. A run that was stopped goes on
/// where it was, and one that finds nothing new writes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Take every session file below this directory, whatever project it is of
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Agree, for this run
    #[arg(long, conflicts_with = "remove")]
    keep: bool,
    /// Remove every copy that was kept of this project's sessions
    #[arg(long, conflicts_with = "dir")]
    remove: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    if args.remove {
        return remove(context, ui);
    }
    let dir = args.dir.as_ref().map(|dir| context.env.cwd.join(dir));
    let settings = context.place.settings.transcripts;
    if !args.keep && !settings.keep {
        return look(dir, context, ui);
    }
    let scanner = context.scanner()?;
    let place = place::register(&context.place)?;
    let transcripts = Transcripts::of(&place);
    let mut progress = ui.progress();
    let kilobytes = |bytes: u64| usize::try_from(bytes / 1_024).unwrap_or(usize::MAX);
    let report = transcripts
        .backfill(dir.as_deref(), &scanner, settings.max_mb.saturating_mul(MB), &mut |step| {
            progress.at(kilobytes(step.done), kilobytes(step.total));
        })
        .map_err(|err| failure(&err))?;
    drop(progress);
    tell(&report, settings.max_mb, ui);
    Ok(if report.sessions == 0 { Outcome::Nothing } else { Outcome::Done })
}

/// Says what there is, and writes nothing.
fn look(dir: Option<PathBuf>, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let outlook = Transcripts::of(&context.place).outlook(dir.as_deref()).map_err(|err| failure(&err))?;
    if ui.is_json() {
        ui.json(&json!({
            "agreed": false,
            "sessions": outlook.sessions,
            "new_sessions": outlook.new_sessions,
            "new_bytes": outlook.new_bytes,
            "kept_bytes": outlook.kept_bytes,
        }));
    } else if outlook.sessions == 0 {
        ui.say("no session found");
    } else {
        let sessions = count(outlook.sessions, "session", "sessions");
        ui.line(&format!(
            "{sessions} found, {} with something new in {}",
            outlook.new_sessions,
            size(outlook.new_bytes)
        ));
        ui.say("nothing was kept: `memdir backfill --keep` keeps copies now, `keep = true` under `[transcripts]` in config.toml always");
    }
    Ok(if outlook.sessions == 0 { Outcome::Nothing } else { Outcome::Done })
}

fn remove(context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let n = Transcripts::of(&context.place).remove_kept().map_err(|err| failure(&err))?;
    if ui.is_json() {
        ui.json(&json!({ "removed": n }));
    } else {
        ui.say(&format!("{} removed", count(n, "copy", "copies")));
    }
    Ok(if n == 0 { Outcome::Nothing } else { Outcome::Done })
}

fn tell(report: &Report, max_mb: u64, ui: &mut Ui) {
    if ui.is_json() {
        ui.json(&json!({
            "agreed": true,
            "sessions": report.sessions,
            "new_sessions": report.new_sessions,
            "turns": report.turns,
            "redacted": report.redacted,
            "unreadable_lines": report.left_out.total(),
            "unreadable_files": report.unreadable,
            "dropped": report.dropped,
            "kept_bytes": report.kept_bytes,
        }));
        return;
    }
    if report.sessions == 0 {
        return ui.say("no session found");
    }
    ui.line(&format!(
        "{}, {} with something new: {} kept, {} in all",
        count(report.sessions, "session", "sessions"),
        report.new_sessions,
        count(report.turns, "turn", "turns"),
        size(report.kept_bytes),
    ));
    if report.redacted > 0 {
        ui.say(&format!("{} redacted", count(report.redacted, "secret", "secrets")));
    }
    if report.left_out.total() > 0 {
        ui.say(&format!("{} could not be read", count(report.left_out.total(), "line", "lines")));
    }
    if report.unreadable > 0 {
        ui.warn(&format!("{} could not be read", count(report.unreadable, "file", "files")));
    }
    if !report.dropped.is_empty() {
        let sessions = count(report.dropped.len(), "old session", "old sessions");
        ui.say(&format!(
            "{sessions} not kept: the limit is {max_mb} MB (`transcripts.max_mb` in config.toml)"
        ));
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        1_000..MB => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / MB, bytes % MB / 100_000),
    }
}

fn failure(err: &TranscriptError) -> Failure {
    let failure = Failure::from_chain(err);
    match err {
        TranscriptError::Busy => failure.hint("wait for it, or end it: what it has kept stays"),
        _ => failure,
    }
}
