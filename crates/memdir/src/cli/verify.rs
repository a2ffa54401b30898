//! `memdir verify`: what memories claim, looked up in the project.

use std::collections::BTreeMap;

use jiff::Timestamp;
use memdir_core::change::Surface;
use memdir_core::claims::{Checked, Source, State, Verdict, Verification};
use memdir_core::memory::Status;
use memdir_core::text::{age, age_days, count};
use memdir_store::ledger::EventKind;
use memdir_store::vault::{Loaded, Vault};
use memdir_store::verify::{Extent, Subject, Verifier};
use serde_json::{Value, json};

use crate::context::{Context, Found, Shelf, USER};
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Check what memories claim against the project
///
/// Files, functions, flags, tasks, versions, branches, commits and days that a memory names are looked up in the work
/// tree and in git's history; addresses are never fetched. Nothing is changed. Exit code 1 says that something no
/// longer holds.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory; all of this project and of the user by default
    name: Option<String>,
}

/// A memory and what was found about it.
struct Row {
    vault: Vault,
    loaded: Loaded,
    verification: Verification,
    /// When it was last written or accepted, which is another question than whether it is so.
    active: Timestamp,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let verifier = Verifier::around(&context.place, &context.env, context.now, context.zone.clone());
    let rows = match &args.name {
        Some(name) => {
            let Found { vault, loaded } = context.find(name)?;
            verify(&verifier, &vault, vec![loaded], Extent::Some, ui)
        }
        None => {
            let mut rows = Vec::new();
            for shelf in context.shelves()? {
                let loaded = active(&shelf)?;
                rows.extend(verify(&verifier, &shelf.vault, loaded, Extent::Vault, ui));
            }
            rows
        }
    };
    let n_stale = rows.iter().filter(|row| row.verdict() == Verdict::Stale).count();
    if ui.is_json() {
        ui.json(&answer(&rows, &verifier, context));
    } else if args.name.is_some() {
        rows.iter().for_each(|row| print_one(row, context, ui));
    } else {
        print_all(&rows, context, ui);
    }
    Ok(if n_stale > 0 { Outcome::Nothing } else { Outcome::Done })
}

/// Reads the memories that still count; one that was replaced may be wrong.
fn active(shelf: &Shelf) -> Result<Vec<Loaded>, Failure> {
    let replaced = [Status::Deprecated, Status::Superseded];
    let entries = shelf.snapshot.memories.iter().filter(|entry| !replaced.contains(&entry.memory.status));
    entries.map(|entry| shelf.load(&entry.path)).collect()
}

fn verify(verifier: &Verifier, vault: &Vault, loaded: Vec<Loaded>, extent: Extent, ui: &Ui) -> Vec<Row> {
    let mut progress = ui.progress();
    let subjects: Vec<Subject> = loaded.iter().map(|loaded| verifier.subject(vault, loaded)).collect();
    let found =
        verifier.verify(vault, &subjects, extent, Surface::Cli, |done, total| progress.at(done, total));
    let activity = activity(vault);
    let rows = loaded.into_iter().zip(found).map(|(loaded, verification)| {
        let noted = activity.get(loaded.path.stem()).copied();
        let active = noted.map_or(loaded.modified(), |noted| noted.max(loaded.modified()));
        Row { vault: vault.clone(), loaded, verification, active }
    });
    rows.collect()
}

/// Returns when each memory was last written, accepted or brought back. That it was checked is no use of it.
fn activity(vault: &Vault) -> BTreeMap<String, Timestamp> {
    let mut latest: BTreeMap<String, Timestamp> = BTreeMap::new();
    let counts = |kind| {
        use EventKind::{Accepted, Corrected, Rename, Restore, Written};
        matches!(kind, Accepted | Corrected | Rename | Restore | Written)
    };
    if let Some(ledger) = vault.ledger() {
        // What cannot be read tells nothing.
        let _ = ledger.for_each(|event| {
            if counts(event.ev) {
                let stem = event.mem.trim_end_matches(".md").to_owned();
                let known = latest.entry(stem).or_insert(event.t);
                *known = event.t.max(*known);
            }
        });
    }
    latest
}

impl Row {
    fn verdict(&self) -> Verdict {
        self.verification.verdict()
    }

    fn name(&self) -> String {
        let home = if self.vault.id() == USER { "~/" } else { "" };
        format!("{home}{}", self.loaded.path.stem())
    }

    fn advice(&self, context: &Context) -> Option<String> {
        self.verification.advice(self.loaded.memory.verified.as_ref(), context.now)
    }

    /// Returns the command that brings a stale memory up to date.
    fn update(&self) -> Option<String> {
        (self.verdict() == Verdict::Stale).then(|| format!("memdir correct {}", self.name()))
    }
}

fn answer(rows: &[Row], verifier: &Verifier, context: &Context) -> Value {
    let n_of = |verdict: Verdict| rows.iter().filter(|row| row.verdict() == verdict).count();
    json!({
        "commit": verifier.commit(),
        "verified": n_of(Verdict::Verified),
        "stale": n_of(Verdict::Stale),
        "unverified": n_of(Verdict::Unverified),
        "memories": rows.iter().map(|row| row_json(row, context)).collect::<Vec<_>>(),
    })
}

fn row_json(row: &Row, context: &Context) -> Value {
    let Row { vault, loaded, verification, active } = row;
    json!({
        "name": loaded.path.stem(),
        "path": vault.path().join(loaded.path.as_str()).display().to_string(),
        "vault": if vault.id() == USER { "user" } else { "project" },
        "state": row.verdict(),
        "note": verification.clause(context.now),
        "verify": row.advice(context),
        "checked": verification.checked,
        "commit": verification.commit,
        "age_days": age_days(loaded.modified(), context.now),
        "idle_days": age_days(*active, context.now),
        "update": row.update(),
        "claims": verification.claims.iter().map(|claim| claim_json(claim, verification)).collect::<Vec<_>>(),
    })
}

fn claim_json(checked: &Checked, verification: &Verification) -> Value {
    let Checked { claim, state, held } = checked;
    let (at, to, why) = match state {
        State::Holds { at } => (at.as_deref(), None, None),
        State::Moved { to, .. } | State::Changed { now: to, .. } => (None, Some(to), None),
        State::Unchecked { why } => (None, None, Some(why.as_str())),
        State::Missing { .. } | State::Suspect { .. } | State::Expired { .. } => (None, None, None),
    };
    json!({
        "kind": claim.kind,
        "value": claim.value,
        "within": claim.within,
        "source": claim.source,
        "state": state.as_str(),
        "checked": verification.checked,
        "at": at,
        "to": to,
        "since": state.gone(),
        "last_verified": held,
        "why": why,
    })
}

fn print_all(rows: &[Row], context: &Context, ui: &mut Ui) {
    if rows.is_empty() {
        ui.say("no memories yet: `memdir save NAME --type T --description D` makes one");
        return;
    }
    let columns = [
        Column::new("state"),
        Column::new("name").tone(Tone::Strong),
        Column::new("what was found").giving_way(),
        Column::new("saved").tone(Tone::Faint),
    ];
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| row.verdict() != Verdict::Stale);
    let cells: Vec<Vec<String>> = order
        .iter()
        .map(|row| {
            let saved = age(row.loaded.modified(), context.now);
            vec![row.verdict().as_str().to_owned(), row.name(), row.verification.clause(context.now), saved]
        })
        .collect();
    ui.table(&columns, &cells);
    let n_stale = rows.iter().filter(|row| row.verdict() == Verdict::Stale).count();
    if n_stale > 0 {
        let memories = count(n_stale, "memory is stale", "memories are stale");
        ui.warn(&format!(
            "{memories}: `memdir correct NAME` brings one up to date, `memdir verify NAME` shows why"
        ));
    }
}

fn print_one(row: &Row, context: &Context, ui: &mut Ui) {
    let saved = age(row.loaded.modified(), context.now);
    let clause = row.verification.clause(context.now);
    ui.toned(Tone::Strong, &format!("{}: {}", row.name(), row.verdict().as_str()));
    ui.toned(Tone::Faint, &format!("saved {saved}, {clause}"));
    let columns = [
        Column::new("state"),
        Column::new("kind"),
        Column::new("claim").giving_way(),
        Column::new("").tone(Tone::Faint),
    ];
    let cells: Vec<Vec<String>> = row.verification.claims.iter().map(claim_cells).collect();
    ui.table(&columns, &cells);
    if let Some(update) = row.update() {
        ui.warn(&format!("{clause}; what you see counts, not the memory: `{update}` brings it up to date"));
    }
}

fn claim_cells(checked: &Checked) -> Vec<String> {
    let Checked { claim, state, .. } = checked;
    let value = match (&claim.within, claim.source) {
        (Some(within), Source::Evidence) => format!("{within}#{}", claim.value),
        _ => claim.value.clone(),
    };
    let since = state.gone().map(|gone| format!(" since {} ({})", gone.on, gone.commit)).unwrap_or_default();
    let detail = match state {
        State::Holds { at } => at.clone().unwrap_or_default(),
        State::Missing { .. } => since.trim_start().to_owned(),
        State::Moved { to, .. } => format!("to {to}{since}"),
        State::Changed { now, .. } => format!("{now}{since}"),
        State::Suspect { left } => format!("no longer in {left}"),
        State::Expired { on } => format!("on {on}"),
        State::Unchecked { why } => why.as_str().to_owned(),
    };
    vec![state.as_str().to_owned(), claim.kind.as_str().to_owned(), value, detail]
}
