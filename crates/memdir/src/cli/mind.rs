//! `memdir mind`: the process in which a sub-agent works; memdir starts it, nobody types it.
//!
//! It speaks to the one who started it over its standard input and output, and knows no vault, no settings and no
//! environment. `--probe` shows what its walls hold back on this system.

use memdir_mind::sandbox;

use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Serve one sub-agent, walled in
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run against the walls instead, and tell which held
    #[arg(long)]
    probe: bool,
}

pub(crate) fn run(args: &Args, ui: &mut Ui) -> Result<Outcome, Failure> {
    if args.probe {
        return Ok(probe(ui));
    }
    // Who started it knows by the end of the pipe that something went wrong; there is nobody else to tell.
    let served = sandbox::serve();
    Ok(if served.is_ok() { Outcome::Done } else { Outcome::Nothing })
}

fn probe(ui: &mut Ui) -> Outcome {
    let probe = sandbox::probe();
    let held = probe.went_through.iter().all(|(_, went_through)| !went_through);
    if ui.is_json() {
        ui.json(&probe);
    } else {
        let walls = &probe.walls;
        ui.line(&format!("limits    {}", walls.limits));
        let version = walls.landlock_abi.map(|abi| format!(", version {abi}")).unwrap_or_default();
        ui.line(&format!("landlock  {}{version}", walls.landlock));
        ui.line(&format!("calls     {}", walls.calls));
        ui.line(&format!("tether    {}", walls.tether));
        for (attempt, went_through) in &probe.went_through {
            let what = if *went_through { "went through" } else { "held back" };
            ui.line(&format!("{attempt}: {what}"));
        }
    }
    if held { Outcome::Done } else { Outcome::Nothing }
}
