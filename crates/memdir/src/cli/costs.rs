//! `memdir costs`: what background work has cost, by day, by job and by model, and what it may.

use std::collections::BTreeMap;

use memdir_core::budget::{PRICES_AS_OF, Usd};
use memdir_core::text::count;
use memdir_store::costs::{CostBook, Receipt, day};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Show what background work has cost, and what it may
///
/// Every run of extraction, selection, dreaming and the like leaves a receipt, also where no model was asked. Days are
/// those of UTC. The caps are in `config.toml`: `[budget] day_usd`, `day_tokens`, `session_percent`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// This month, such as 2026-04; without it the current one
    #[arg(long, value_name = "YYYY-MM", value_parser = month)]
    month: Option<String>,
    /// Everything there is
    #[arg(long, conflicts_with = "month")]
    all: bool,
}

const COLUMNS: [Column; 7] = [
    Column::new("").tone(Tone::Faint),
    Column::new("").tone(Tone::Strong),
    Column::new("runs"),
    Column::new("tokens in"),
    Column::new("cached"),
    Column::new("out"),
    Column::new("USD"),
];

/// What runs are summed under that no session caused.
const NO_SESSION: &str = "no session";

/// What some receipts come to.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    runs: usize,
    tokens_in: u64,
    tokens_out: u64,
    cached: u64,
    refused: u64,
    usd: Usd,
}

impl Total {
    fn of<'r>(receipts: impl Iterator<Item = &'r Receipt>) -> Self {
        receipts.fold(Self::default(), |sum, receipt| Self {
            runs: sum.runs + 1,
            tokens_in: sum.tokens_in.saturating_add(receipt.tokens_in),
            tokens_out: sum.tokens_out.saturating_add(receipt.tokens_out),
            cached: sum.cached.saturating_add(receipt.cached),
            refused: sum.refused.saturating_add(u64::from(receipt.refused)),
            usd: sum.usd + receipt.spending().usd,
        })
    }

    fn json(&self) -> Value {
        json!({
            "runs": self.runs, "tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "cached": self.cached,
            "refused": self.refused, "usd": self.usd.dollars(),
        })
    }

    fn cells(&self, by: &str, name: &str) -> Vec<String> {
        let counts = [self.tokens_in, self.cached, self.tokens_out].map(|n| n.to_string());
        let [tokens_in, cached, out] = counts;
        let usd = format!("{:.4}", self.usd.dollars());
        vec![by.to_owned(), name.to_owned(), self.runs.to_string(), tokens_in, cached, out, usd]
    }
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let book = CostBook::new(&context.place.home, &context.place.settings);
    let this_month = || context.now.strftime("%Y-%m").to_string();
    let month = if args.all { None } else { Some(args.month.clone().unwrap_or_else(this_month)) };
    let unreadable = |err| Failure::error(format!("could not read the receipts: {err}"));
    let receipts = book.receipts(month.as_deref()).map_err(unreadable)?;
    let today = book.today(context.now).map_err(unreadable)?;
    let total = Total::of(receipts.iter());
    let days = grouped(&receipts, |receipt| day(receipt.t));
    let jobs = grouped(&receipts, |receipt| receipt.job.to_string());
    let models = grouped(&receipts, |receipt| receipt.model.clone());
    let sessions =
        grouped(&receipts, |receipt| receipt.session.clone().unwrap_or_else(|| NO_SESSION.to_owned()));
    let caps = book.caps();
    if ui.is_json() {
        let rows = |key: &str, groups: &BTreeMap<String, Total>| -> Vec<Value> {
            groups.iter().map(|(name, total)| with(key, name, total.json())).collect()
        };
        ui.json(&json!({
            "month": month, "total": total.json(), "by_day": rows("day", &days), "by_job": rows("job", &jobs),
            "by_model": rows("model", &models), "by_session": rows("session", &sessions), "today": {"tokens": today.tokens, "usd": today.usd.dollars()},
            "caps": {
                "day_usd": caps.day_usd.dollars(), "day_tokens": caps.day_tokens,
                "session_percent": caps.session_percent,
            },
            "prices_as_of": PRICES_AS_OF,
        }));
        return Ok(Outcome::Done);
    }
    let when = month.map_or_else(String::new, |month| format!(" in {month}"));
    if receipts.is_empty() {
        ui.say(&format!("nothing was done in the background{when}, so nothing was spent"));
    } else {
        let groups = [("day", &days), ("job", &jobs), ("model", &models)];
        let rows =
            groups.iter().flat_map(|(by, groups)| groups.iter().map(|(name, total)| total.cells(by, name)));
        ui.table(&COLUMNS, &rows.collect::<Vec<_>>());
        ui.line(&format!("{}{when}: {}", count(total.runs, "run", "runs"), total.usd));
        let (none, n_sessions) = (sessions.get(NO_SESSION), sessions.keys().filter(|id| *id != NO_SESSION));
        let n_sessions = count(n_sessions.count(), "session", "sessions");
        let none = count(none.map_or(0, |none| none.runs), "run", "runs");
        if total.refused > 0 {
            let requests = count(total.refused as usize, "request", "requests");
            ui.line(&format!(
                "{requests} of models refused: out of reach, not said by the user, or stopped by a gate"
            ));
        }
        ui.line(&format!("on the account of {n_sessions}; {none} of no session"));
    }
    ui.say(&format!(
        "today: {} of {}, {} of {} tokens; a session lends {} % of its own; prices of {PRICES_AS_OF}",
        today.usd, caps.day_usd, today.tokens, caps.day_tokens, caps.session_percent
    ));
    Ok(if receipts.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn grouped(receipts: &[Receipt], key: impl Fn(&Receipt) -> String) -> BTreeMap<String, Total> {
    let mut groups: BTreeMap<String, Vec<&Receipt>> = BTreeMap::new();
    for receipt in receipts {
        groups.entry(key(receipt)).or_default().push(receipt);
    }
    groups.into_iter().map(|(name, group)| (name, Total::of(group.into_iter()))).collect()
}

fn with(key: &str, name: &str, mut row: Value) -> Value {
    row[key] = json!(name);
    row
}

fn month(text: &str) -> Result<String, String> {
    let is_month = text.len() == 7 && format!("{text}-01").parse::<jiff::civil::Date>().is_ok();
    is_month.then(|| text.to_owned()).ok_or_else(|| "it is no month such as 2026-04".to_owned())
}
