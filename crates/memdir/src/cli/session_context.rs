//! `memdir context`: what a session is told when it begins.

use memdir_core::host::{Agent, MAX_CONTEXT};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::hook::opening;
use crate::ui::Ui;

/// Print what a session is told when it begins
///
/// How memory is used, the index pages and where work stands: the very bytes that the hook at session start gives to the
/// agent. They have no clock, counter or random number in them, so that prompt caches hold.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir context
  memdir context --agent codex | wc -c")]
pub(crate) struct Args {
    /// As this agent gets it: Claude Code loads MEMORY.md by itself
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<Agent>,
    /// As if nothing had ever been saved
    #[arg(long)]
    blank: bool,
}

fn agent(name: &str) -> Result<Agent, String> {
    let names = || Agent::ALL.map(Agent::as_str).join(", ");
    Agent::parse(name).ok_or_else(|| format!("no agent is called that; there are {}", names()))
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let start = opening::gather(context, args.agent, args.blank || context.is_blind);
    let block = opening::block(&start, context, MAX_CONTEXT);
    if ui.is_json() {
        let bytes = block.len();
        ui.json(&json!({ "text": block, "bytes": bytes, "tokens": bytes.div_ceil(4) }));
    } else {
        ui.raw(block.as_bytes());
    }
    Ok(Outcome::Done)
}
