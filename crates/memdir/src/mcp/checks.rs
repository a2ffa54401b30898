//! The tools `check_stale`, `validate_placement` and `index_markdown`: short questions with short answers.

use memdir_core::frame::{defused, enclosed};
use memdir_core::memory::MemoryType;
use memdir_core::placement::{Place, Surroundings, UnknownPlace, place};
use memdir_core::statement::gist;
use memdir_core::text::{count, fit, visible_line};
use memdir_store::notes::{self, Refreshed};

use super::arguments::Arguments;
use super::desk::Desk;
use super::reply::Reply;
use crate::cli::placing;
use crate::cli::stale::{Idle, idle};
use crate::failure::Failure;

/// As many idle memories are listed.
const MAX_IDLE: usize = 50;
/// As much of a description is shown, in columns.
const WIDTH: usize = 100;
/// The days that are meant if none are named, and at most.
pub(super) const DAYS: i64 = 14;
pub(super) const MAX_DAYS: i64 = 36_500;

/// Lists what nobody touched for some days, over all projects.
pub(super) fn check_stale(arguments: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let days = arguments.number("days", DAYS, 0, MAX_DAYS)?;
    let found = match desk {
        Some(desk) => idle(days, &desk.context)?,
        None => Vec::new(),
    };
    let (Some(desk), false) = (desk, found.is_empty()) else {
        return Ok(Reply::text(format!("nothing lies idle for {days} days or more")));
    };
    let mut lines: String = found.iter().take(MAX_IDLE).map(idle_line).collect();
    if found.len() > MAX_IDLE {
        lines.push_str(&format!("… and {} more\n", found.len() - MAX_IDLE));
    }
    let head = format!(
        "{} idle for {days} days or more, over all projects. Idle is not wrong: see first whether it still holds.",
        count(found.len(), "memory is", "memories are")
    );
    Ok(Reply::text(enclosed(&head, &lines, &desk.key(&desk.context.vaults()?))))
}

fn idle_line(item: &Idle) -> String {
    let memory_type = item.memory_type.map_or("memory", MemoryType::as_str);
    let ended = if item.has_ended { ", ended" } else { "" };
    let text = format!("{}: {} — {}", item.project, item.name, fit(&item.description, WIDTH));
    format!("[{memory_type}] idle {} days{ended}, {}\n", item.idle_days, defused(&visible_line(&text)))
}

/// Says whether a text belongs where somebody wants to put it.
pub(super) fn validate_placement(arguments: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let text = arguments.text("text")?;
    let target: Place = arguments.text("target")?.parse().map_err(|err: UnknownPlace| {
        Failure::refusal(defused(&visible_line(&err.to_string()))).hint(UnknownPlace::HINT.replace('`', ""))
    })?;
    let around = desk.map_or_else(Surroundings::default, |desk| placing::surroundings(&desk.context));
    let verdict = place(&gist(&text), target, &around);
    let word = if verdict.ok { "in place" } else { "out of place" };
    let mut reply = format!("{word} in {target}: {}", defused(&visible_line(&verdict.reason)));
    for destination in verdict.destinations.iter().filter(|_| !verdict.ok) {
        reply.push_str(&format!("\n- {destination}: {}", destination.purpose()));
    }
    Ok(Reply::text(reply))
}

/// Brings the search index up to date and says what that took.
pub(super) fn index_markdown(_: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let vaults = desk.map_or_else(|| Ok(Vec::new()), |desk| desk.context.vaults())?;
    let mut sum = Refreshed::default();
    for vault in &vaults {
        let one = notes::refresh(vault).map_err(|err| Failure::from_chain(&err))?;
        sum.n_notes += one.n_notes;
        sum.n_taken_up += one.n_taken_up;
        sum.n_gone += one.n_gone;
    }
    Ok(Reply::text(format!(
        "{} re-indexed, {} removed, {} unchanged",
        count(sum.n_taken_up, "file", "files"),
        sum.n_gone,
        sum.n_notes.saturating_sub(sum.n_taken_up)
    )))
}
