//! What a sync did or would do, for people and programs.

use memdir_core::text::{count, visible_line};
use memdir_store::team::{Report, Waiting};
use serde_json::{Value, json};

use super::super::team::{Team, label};
use crate::ui::{Tone, Ui};

/// No more names are listed on one line.
const MAX_NAMES: usize = 12;

/// Prints what a sync did.
pub(in crate::cli) fn report(report: &Report, is_dry: bool, ui: &mut Ui) {
    if ui.is_json() {
        ui.json(&as_json(report));
        return;
    }
    let would = if is_dry { "would be " } else { "" };
    let lines = [
        (&report.pushed, "sent"),
        (&report.pulled, "taken over"),
        (&report.merged, "merged"),
        (&report.deleted_here, "moved to the trash here"),
        (&report.erased_here, "erased here, as there"),
        (&report.deleted_there, "taken away there"),
    ];
    for (list, what) in lines {
        if !list.is_empty() {
            ui.line(&format!("{} {would}{what}: {}", list.len(), names(list)));
        }
    }
    for conflict in &report.conflicts {
        ui.toned(
            Tone::Warning,
            &format!(
                "both kept: `{}` says what the team says, `{}` what you said",
                conflict.name, conflict.copy
            ),
        );
    }
    told(report, ui);
    if report.is_idle() {
        ui.line(if report.is_in_sync() { "in sync" } else { "nothing else to do" });
    }
    if let Some(cut) = &report.cut {
        ui.warn(&format!("it ended early: {cut}; `memdir sync` goes on from there"));
    }
}

/// Tells what did not travel, and what the user should know.
fn told(report: &Report, ui: &mut Ui) {
    for name in &report.erased_there {
        ui.say(&format!(
            "`{}` was erased there with every version; here it is in the trash, and `memdir undo` brings it back",
            visible_line(name)
        ));
    }
    for name in &report.survived {
        ui.say(&format!(
            "`{}` was deleted on one side and changed on the other: the change stands",
            visible_line(name)
        ));
    }
    for name in &report.replaced {
        ui.say(&format!(
            "`{}` gave way to the team's version; `memdir log {0}` has yours",
            visible_line(name)
        ));
    }
    for refused in &report.refused {
        ui.warn(&format!(
            "`{}` stays as it is: {} ({})",
            visible_line(&refused.name),
            refused.why,
            refused.rule
        ));
    }
    if !report.held.is_empty() {
        let waits = count(report.held.len(), "memory waits", "memories wait");
        ui.say(&format!("{waits} because you did not trust who wrote it: `memdir trust` shows whose"));
    }
    if report.n_away > 0 {
        ui.say(&format!(
            "{} not on the checked-out branch, left alone",
            count(report.n_away, "memory is", "memories are")
        ));
    }
}

/// Prints how both sides stand.
pub(in crate::cli) fn status(report: &Report, conflicts: &[String], team: &Team, ui: &mut Ui) {
    let Waiting { at, .. } = team.store.waiting();
    if ui.is_json() {
        let mut value = as_json(report);
        value["open_conflicts"] = json!(conflicts);
        value["last_sync"] = json!(at);
        ui.json(&value);
        return;
    }
    let policy = team.joined.policy;
    let last = at.map_or_else(
        || "never synced".to_owned(),
        |at| format!("last synced {}", at.strftime("%Y-%m-%d %H:%M UTC")),
    );
    ui.line(&format!("{} ({policy}, {last})", label(&team.joined.home)));
    let rows = [
        (&report.pushed, "to send"),
        (&report.pulled, "to take over"),
        (&report.merged, "to merge"),
        (&report.deleted_here, "deleted there"),
        (&report.deleted_there, "to take away there"),
    ];
    for (list, what) in rows {
        if !list.is_empty() {
            ui.line(&format!("  {} {what}: {}", list.len(), names(list)));
        }
    }
    for conflict in &report.conflicts {
        ui.line(&format!("  cannot be merged, both would stay: {}", conflict.name));
    }
    for name in conflicts {
        ui.toned(Tone::Warning, &format!("  conflict: {name} is a second version; keep what is right of it, then `memdir forget {name}`"));
    }
    told(report, ui);
    if report.is_idle() && report.is_in_sync() && conflicts.is_empty() {
        ui.line("  in sync");
    }
}

fn names(list: &[String]) -> String {
    let shown: Vec<&str> = list.iter().take(MAX_NAMES).map(String::as_str).collect();
    match list.len().saturating_sub(MAX_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn as_json(report: &Report) -> Value {
    let conflicts = report.conflicts.iter().map(|c| json!({ "name": c.name, "copy": c.copy }));
    let held = report.held.iter().map(|held| {
        json!({ "name": held.name, "author": held.author, "at": held.at, "description": held.description })
    });
    let refused = report.refused.iter().map(|refused| {
        json!({ "name": refused.name, "rule": refused.rule, "why": refused.why, "line": refused.line })
    });
    json!({
        "remote": report.label,
        "policy": report.policy,
        "in_sync": report.is_in_sync(),
        "pushed": report.pushed,
        "pulled": report.pulled,
        "merged": report.merged,
        "deleted": { "here": report.deleted_here, "there": report.deleted_there },
        "erased": report.erased_here,
        "erased_there": report.erased_there,
        "conflicts": conflicts.collect::<Vec<_>>(),
        "held": held.collect::<Vec<_>>(),
        "refused": refused.collect::<Vec<_>>(),
        "survived": report.survived,
        "replaced": report.replaced,
        "away": report.n_away,
        "requests": report.traffic.requests,
        "sent": report.traffic.sent,
        "received": report.traffic.received,
        "change": report.change.as_ref().map(ToString::to_string),
        "cut": report.cut.as_ref().map(ToString::to_string),
    })
}
