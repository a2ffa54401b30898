//! `memdir work`: does what waits; hooks start it, nobody types it.

use memdir_store::place::Environment;
use memdir_store::queue::Queue;
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::ui::Ui;
use crate::work;

/// Do what waits in the queues, then leave
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Do what there is and leave; a queue that somebody works on is left alone
    #[arg(long)]
    once: bool,
    /// In a session of its own
    #[arg(long, requires = "once")]
    detached: bool,
    /// Start a process that does it, if there is work and nobody is at it, and do not wait for it
    #[arg(long, conflicts_with = "once")]
    start: bool,
}

pub(crate) fn run(args: &Args, env: &Environment, ui: &mut Ui) -> Result<Outcome, Failure> {
    let home = env.state_root()?;
    if args.start {
        return start(&home, ui);
    }
    if args.detached {
        work::detach();
    }
    let drained = work::drain(&home, env, ui, &mut |_| {})?;
    if ui.is_json() {
        ui.json(&json!({ "done": drained.done, "failed": drained.failed, "busy": drained.busy }));
    }
    Ok(if drained.done + drained.failed > 0 { Outcome::Done } else { Outcome::Nothing })
}

fn start(home: &std::path::Path, ui: &mut Ui) -> Result<Outcome, Failure> {
    let now = crate::context::now();
    let waits = Queue::all(home)?.into_iter().find(|queue| queue.has_work(now));
    let started = waits.map_or(Ok(false), |queue| work::start(home, &queue))?;
    if ui.is_json() {
        ui.json(&json!({ "started": started }));
    }
    Ok(if started { Outcome::Done } else { Outcome::Nothing })
}
