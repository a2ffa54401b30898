//! `memdir watch`: looks every few minutes at what changed behind the memories.

use std::time::{Duration, Instant};

use memdir_store::place::{self, Environment};
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;
use crate::work::{self, Drained, Tick};

/// Look every five minutes at what changed behind your memories
///
/// Files, functions, flags and days that memories name are looked up in the project; a memory whose claims no longer hold is
/// marked, so that the next session that is shown it is told. Sessions that nobody ended are ended, and what waits in the
/// queue is done, also a dream when its time has come. `memdir daemon run` does the same for all projects in the background.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Look once and leave; exit code 1 says that something no longer holds
    #[arg(long)]
    once: bool,
    /// Look at every project on this machine
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    loop {
        let started = Instant::now();
        let (ticks, drained) = look(args.all, &context.env, ui)?;
        print(&ticks, drained, ui);
        if args.once {
            let is_well = ticks.iter().all(Tick::is_well);
            return Ok(if is_well { Outcome::Done } else { Outcome::Nothing });
        }
        if !ui.flush() {
            // Nobody reads any more.
            return Ok(Outcome::Done);
        }
        std::thread::sleep(Duration::from_secs(args.every).saturating_sub(started.elapsed()));
    }
}

/// Looks at the project, or at all, then does what waits.
fn look(all: bool, env: &Environment, ui: &Ui) -> Result<(Vec<Tick>, Drained), Failure> {
    let contexts = if all { work::places(env)? } else { vec![here(env, ui)?] };
    let mut ticks = Vec::new();
    for context in &contexts {
        match work::tick(context, &mut || {}) {
            Ok(tick) => ticks.push(tick),
            // One project that cannot be looked at leaves the others alone.
            Err(failure) => ui.warn(&format!("{}: {}", context.place.project.name, failure.message)),
        }
    }
    let drained = work::drain(&env.state_root()?, env, ui, &mut |_| {})?;
    Ok((ticks, drained))
}

/// Finds the project anew: settings, vault and clock may have changed since the last look.
fn here(env: &Environment, ui: &Ui) -> Result<Context, Failure> {
    Context::new(env.clone(), place::locate(env)?, ui)
}

fn print(ticks: &[Tick], drained: Drained, ui: &mut Ui) {
    let at = context::now();
    if ui.is_json() {
        let projects: Vec<_> = ticks.iter().map(Tick::json).collect();
        return ui.json_row(&json!({
            "at": at,
            "projects": projects,
            "queue": { "done": drained.done, "failed": drained.failed, "busy": drained.busy },
        }));
    }
    let clock = at.strftime("%H:%M");
    let done = if drained.done > 0 { format!("; {} done", drained.done) } else { String::new() };
    let failed = if drained.failed > 0 { format!("; {} failed", drained.failed) } else { String::new() };
    for tick in ticks {
        ui.line(&format!("{clock} {}{done}{failed}", tick.line()));
    }
}
