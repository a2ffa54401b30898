//! What a dream tells: for people in lines, for programs as the contract says.

use memdir_core::dream::{FileChange, Plan, Replay, operation_line, phase_lines, replay_line};
use memdir_core::merge::unified;
use memdir_core::text::count;
use memdir_store::dream::{Applied, Run, State, Undone};
use serde_json::{Value, json};

use crate::cli::diff;
use crate::ui::{Tone, Ui};

/// Tells that there is nothing to do.
pub(super) fn nothing(plan: &Plan, ui: &mut Ui) {
    if ui.is_json() {
        let replay = Replay::default();
        return ui.json(&json!({ "id": null, "phases": plan.phases, "operations": [], "replay": replay }));
    }
    phase_lines(&plan.phases).iter().for_each(|line| ui.line(line));
    ui.line("nothing to do");
}

/// Tells what was done by itself and what waits.
pub(super) fn done(applied: Option<&(Run, Applied)>, waiting: Option<&Run>, ui: &mut Ui) {
    if ui.is_json() {
        let mut value = match (waiting, applied) {
            (Some(run), _) | (None, Some((run, _))) => described(run),
            (None, None) => json!({}),
        };
        value["applied"] = applied.map_or(Value::Null, |(run, applied)| outcome(run, applied));
        return ui.json(&value);
    }
    let Some(first) = waiting.or(applied.map(|(run, _)| run)) else { return };
    phase_lines(&first.phases).iter().for_each(|line| ui.line(line));
    ui.line(&format!("replay: {}", replay_line(&first.replay)));
    if let Some((run, applied)) = applied {
        ui.line("");
        ui.toned(Tone::Strong, &format!("done: dream {}", run.id));
        operations(run, ui);
        left(&applied.left, ui);
        ui.say(&format!("`memdir dream undo {}` takes it back", run.id));
    }
    if let Some(run) = waiting {
        ui.line("");
        ui.toned(Tone::Strong, &format!("waits for your word: dream {}", run.id));
        operations(run, ui);
        worse(&run.replay, ui);
        ui.say(&format!(
            "`memdir dream show {0}` shows the diff, `memdir dream apply {0}` carries it out",
            run.id
        ));
    }
}

fn operations(run: &Run, ui: &mut Ui) {
    for operation in &run.operations {
        ui.line(&format!("  {:<13} {}", operation.kind.as_str(), operation_line(operation)));
    }
    if run.left_over > 0 {
        ui.line(&format!("  {} more for the next run", count(run.left_over, "operation", "operations")));
    }
}

fn worse(replay: &Replay, ui: &mut Ui) {
    for worse in &replay.worse {
        ui.warn(&format!("`{}` would no longer find {}", worse.query, worse.lost.join(", ")));
    }
}

fn left(left: &[(String, String)], ui: &Ui) {
    for (names, why) in left {
        ui.warn(&format!("left alone: {names}: {why}"));
    }
}

/// Describes a run as the contract says.
fn described(run: &Run) -> Value {
    let operations: Vec<Value> = run
        .operations
        .iter()
        .map(|operation| {
            json!({
                "kind": operation.kind,
                "names": operation.names,
                "into": operation.into,
                "reason": operation.reason,
                "risky": operation.risky,
                "blocked": operation.blocked,
                "proposer": operation.proposer,
                "changes": operation.changes,
            })
        })
        .collect();
    json!({
        "id": run.id,
        "state": run.state,
        "at": run.at,
        "phases": run.phases,
        "operations": operations,
        "replay": run.replay,
        "left_over": run.left_over,
        "change": run.change,
    })
}

fn outcome(run: &Run, applied: &Applied) -> Value {
    let left: Vec<Value> =
        applied.left.iter().map(|(names, why)| json!({ "names": names, "why": why })).collect();
    json!({ "id": run.id, "change": applied.change, "done": applied.n_done, "left": left })
}

/// Tells what carrying out a run did.
pub(super) fn applied(run: &Run, applied: &Applied, ui: &mut Ui) {
    if ui.is_json() {
        return ui.json(&outcome(run, applied));
    }
    ui.line(&format!("{} carried out", count(applied.n_done, "operation", "operations")));
    left(&applied.left, ui);
    if applied.n_done > 0 {
        ui.say(&format!("`memdir dream undo {}` takes it back", run.id));
    }
}

/// Tells what taking a run back did.
pub(super) fn undone(run: &Run, undone: &Undone, ui: &mut Ui) {
    if ui.is_json() {
        return ui.json(&json!({
            "id": run.id,
            "change": undone.change,
            "restored": undone.n_restored,
            "left": undone.left,
        }));
    }
    let n = count(undone.n_restored, "memory is", "memories are");
    ui.line(&format!("undone: dream {}, {n} as before", run.id));
    for path in &undone.left {
        ui.warn(&format!("left alone: `{path}` was edited since"));
    }
}

/// Lists runs.
pub(super) fn list(runs: &[(&str, Run)], ui: &mut Ui) {
    if ui.is_json() {
        let rows: Vec<Value> = runs
            .iter()
            .map(|(whose, run)| {
                json!({ "id": run.id, "at": run.at, "state": run.state, "vault": whose, "operations": run.operations.len(), "change": run.change })
            })
            .collect();
        return ui.json(&rows);
    }
    for (whose, run) in runs {
        let tone = if run.state == State::Proposed { Tone::Strong } else { Tone::Plain };
        let n = count(run.operations.len(), "operation", "operations");
        let at = run.at.strftime("%Y-%m-%d %H:%M");
        ui.toned(tone, &format!("{}  {at}  {:<9}  {whose}  {n}", run.id, run.state.to_string()));
    }
}

/// Shows a run with its diff.
pub(super) fn show(run: &Run, ui: &mut Ui) {
    let text = difference(run);
    if ui.is_json() {
        let mut value = described(run);
        value["diff"] = Value::String(text);
        return ui.json(&value);
    }
    ui.block(&run.report());
    worse(&run.replay, ui);
    ui.line("");
    diff::print(&text, ui);
}

fn difference(run: &Run) -> String {
    let text = |change: &FileChange| {
        let before = run.versions.get(&change.before).map(Vec::as_slice);
        let after = change.after.and_then(|hash| run.versions.get(&hash)).map(Vec::as_slice);
        unified(before, after, &change.path)
    };
    run.operations.iter().flat_map(|operation| &operation.changes).map(text).collect()
}
