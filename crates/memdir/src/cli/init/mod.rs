//! `memdir init`: makes the vault of this project and tells the agents on this machine of it.
//!
//! Which entry goes into which file is decided in `memdir_core::wiring`. Here files are found (`machine.rs`), read and
//! written (`file.rs`), one after the other (`act.rs`), and what was done is kept for the way back (`record.rs`).

mod act;
mod file;
mod machine;
mod record;
mod report;

use std::collections::BTreeSet;
use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use memdir_core::host::Agent;
use memdir_core::wiring::Scope;
use memdir_store::lock::Lock;

use self::act::{Actor, Fate};
use self::record::Record;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

pub(crate) use self::act::chosen;
pub(crate) use self::file::SettingsFile;
pub(crate) use self::machine::Machine;

/// Set up memory for this project and tell your coding agents of it
///
/// Makes the vault and the user vault, registers the project, and adds hooks and an MCP server to the settings of every
/// agent that is found. Nothing else in those files is touched, an agent's own memory stays switched on, and --remove
/// leaves the files as they were. Doing it again changes nothing.
///
/// With --gateway agents are not told of hooks but led to `memdir gateway`: what they ask their model goes through it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tell only this agent, whether it was found or not; can be repeated
    #[arg(long = "agent", value_name = "NAME", num_args = 1.., value_parser = agent_parser())]
    agents: Vec<Agent>,
    /// For whom: all projects of the user, or this project alone
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeWord>,
    /// Take back what an earlier run told the agents; memories stay
    #[arg(long)]
    remove: bool,
    /// Have agents ask the gateway, by the base URL in their settings, or say how they are told; nothing else is done
    #[arg(long, conflicts_with = "scope")]
    gateway: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeWord {
    User,
    Project,
}

impl From<ScopeWord> for Scope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::User => Self::User,
            ScopeWord::Project => Self::Project,
        }
    }
}

fn agent_parser() -> impl clap::builder::TypedValueParser<Value = Agent> {
    let names = Agent::ALL.map(Agent::as_str).into_iter().chain(["claude"]);
    PossibleValuesParser::new(names)
        .map(|name| Agent::parse(&name).expect("clap lets only names of agents through"))
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    // Looked at first: the vault is made in a directory that looks like an agent's.
    let machine = Machine::new(context)?;
    let found = machine.agents();
    let made = if args.remove || args.gateway { Vec::new() } else { make_vaults(args, context, ui)? };
    let _lock = if args.dry_run { None } else { Some(lock(&context.place.home)?) };
    let mut actor = Actor {
        machine: &machine,
        home: &context.place.home,
        record: Record::load(&context.place.home),
        dry_run: args.dry_run,
        rows: Vec::new(),
    };
    match (args.gateway, args.remove) {
        (true, _) => lead(args, &found, context, &mut actor)?,
        (false, true) => {
            lead(args, &found, context, &mut actor)?;
            remove(args, &mut actor)?;
        }
        (false, false) => {
            let agents = if args.agents.is_empty() { &found } else { &args.agents };
            for agent in Agent::ALL.into_iter().filter(|agent| agents.contains(agent)) {
                actor.wire(agent, scope(args, agent))?;
            }
        }
    }
    let rows = actor.rows;
    report::print(args, &made, &rows, context, ui)
}

/// Leads agents to the gateway, or back from it. Whoever takes everything back is led back, too: an address at which nobody
/// listens any more would leave the agent without its model.
fn lead(args: &Args, found: &[Agent], context: &Context, actor: &mut Actor<'_>) -> Result<(), Failure> {
    if args.remove {
        // Whatever the settings say by now: where agents were led is known.
        let base = super::gateway::base(context).unwrap_or_else(|_| super::gateway::usual_base());
        let is_wanted = |agent: &Agent| args.agents.is_empty() || args.agents.contains(agent);
        for agent in Agent::ALL.into_iter().filter(is_wanted) {
            actor.lead_back(agent, &base)?;
        }
        if !args.gateway {
            // Who was never led anywhere is not spoken of.
            actor.rows.retain(|row| matches!(row.fate, Fate::Removed | Fate::Failed(_)));
        }
        return Ok(());
    }
    let base = super::gateway::base(context)?;
    let agents = if args.agents.is_empty() { found } else { &args.agents };
    for agent in Agent::ALL.into_iter().filter(|agent| agents.contains(agent)) {
        actor.lead(agent, &base)?;
    }
    Ok(())
}

/// Returns every address of the gateway that agents were told.
pub(crate) fn gateways(context: &Context) -> BTreeSet<String> {
    Record::load(&context.place.home).gateways
}

/// Wires agents of the user again whose entries call another program, or are not complete; what doctor does.
pub(super) fn rewire(agents: &[Agent], context: &Context, ui: &Ui) -> Result<(), Failure> {
    let machine = Machine::new(context)?;
    let _lock = lock(&context.place.home)?;
    let record = Record::load(&context.place.home);
    let mut actor =
        Actor { machine: &machine, home: &context.place.home, record, dry_run: false, rows: Vec::new() };
    for agent in agents {
        actor.wire(*agent, Scope::User)?;
    }
    for row in &actor.rows {
        if let (Fate::Failed(problem), Some(path)) = (&row.fate, &row.path) {
            ui.warn(&format!("{}: {}", path.display(), problem.message));
        }
    }
    Ok(())
}

/// VS Code can only be told in a project; whoever names it means that.
fn scope(args: &Args, agent: Agent) -> Scope {
    match args.scope {
        Some(scope) => scope.into(),
        None if agent == Agent::VsCode && args.agents.contains(&agent) => Scope::Project,
        None => Scope::User,
    }
}

/// Takes everything back that was not excluded: what is in the user's files, in this project's, and in those of projects
/// that an earlier run was about.
fn remove(args: &Args, actor: &mut Actor<'_>) -> Result<(), Failure> {
    let wanted = |agent: Agent, scope: Scope| {
        (args.agents.is_empty() || args.agents.contains(&agent))
            && args.scope.is_none_or(|word| Scope::from(word) == scope)
    };
    for agent in Agent::ALL {
        for scope in [Scope::User, Scope::Project] {
            if wanted(agent, scope) {
                actor.unwire(agent, scope)?;
            }
        }
    }
    if args.scope.is_none() {
        actor.unwire_elsewhere(wanted)?;
    }
    Ok(())
}

fn lock(home: &Path) -> Result<Lock, Failure> {
    Lock::acquire(&home.join("locks"), "wiring.lock").map_err(|err| Failure::from_chain(&err))
}

/// Makes the vaults and registers the project; returns what was, or would be, made.
fn make_vaults(args: &Args, context: &Context, ui: &Ui) -> Result<Vec<String>, Failure> {
    let place = &context.place;
    let mut made = Vec::new();
    let mut wanted = vec![place.vault.clone()];
    if !place.explicit {
        wanted.push(place.user_vault());
    }
    for path in wanted.iter().filter(|path| !path.exists()) {
        made.push(format!("{} {}", if args.dry_run { "would make" } else { "made" }, path.display()));
    }
    if !place.is_registered() {
        let verb = if args.dry_run { "would register" } else { "registered" };
        made.push(format!("{verb} the project {}", place.project.id));
    }
    if !args.dry_run {
        context.create_project(ui)?;
        if !place.explicit {
            context.create_user()?;
        }
    }
    Ok(made)
}
