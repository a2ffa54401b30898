//! The commands: one file each, and the table that names them.

mod agents;
mod backfill;
mod bench;
mod cache_audit;
mod compact;
mod completions;
mod correct;
mod costs;
mod daemon;
pub(crate) mod dashboard;
mod diff;
mod doctor;
pub(crate) mod dream;
mod edit;
mod export;
mod extract;
mod forget;
mod gateway;
mod grep;
mod import;
mod index;
mod init;
pub(crate) mod journal;
mod links;
mod list;
mod log;
mod magic;
mod manifest;
mod mcp;
mod mind;
pub(crate) mod model;
pub(crate) mod monthly;
mod new;
mod obedience;
mod overview;
pub(crate) mod placing;
mod projects;
mod promote;
pub(crate) mod recall;
mod remember;
pub(crate) mod rename;
mod review;
mod rows;
mod save;
pub(crate) mod search;
mod secrets;
mod serve;
mod session_context;
mod sheet;
mod show;
pub(crate) mod stale;
mod supersede;
pub(crate) mod sync;
pub(crate) mod team;
mod trust;
mod undo;
mod verify;
mod watch;
mod why;
mod why_not;
mod work;
mod wrap;
pub(crate) mod writing;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use memdir_store::place;

use crate::context::{self, Context};
use crate::failure::{Failure, Outcome};
use crate::hook;
use crate::outlet;
use crate::ui::Ui;

/// Persistent memory for coding agents: markdown files you can trust.
#[derive(Debug, Parser)]
#[command(name = "memdir", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  memdir init
  memdir save feedback-real-db --type feedback --description \"Integration tests use a real database\" --body \"…\"
  memdir search real database
  memdir undo

Exit codes: 0 done or found, 1 nothing found or refused, 2 error.";

/// What every command understands.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Work on this vault and nothing else
    #[arg(long, global = true, value_name = "DIR", help_heading = "Common options")]
    vault: Option<PathBuf>,
    /// Work on the project of this directory instead of the current one
    #[arg(long, global = true, value_name = "DIR", help_heading = "Common options")]
    project: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) json: bool,
    /// Say nothing but the answer and errors
    #[arg(long, short, global = true, help_heading = "Common options")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Save(save::Args),
    Remember(remember::Args),
    New(new::Args),
    Show(show::Args),
    List(list::Args),
    Search(search::Args),
    Recall(recall::Args),
    Why(why::Args),
    Stale(stale::Args),
    Index(index::Args),
    Grep(grep::Args),
    Backfill(backfill::Args),
    Edit(edit::Args),
    Correct(correct::Args),
    Rename(rename::Args),
    Supersede(supersede::Args),
    Promote(promote::Args),
    Forget(forget::Args),
    Log(log::Args),
    Diff(diff::Args),
    Undo(undo::Args),
    Redo(undo::RedoArgs),
    Links(links::Args),
    Verify(verify::Args),
    Manifest(manifest::Args),
    #[command(name = "why-not")]
    WhyNot(why_not::Args),
    Place(placing::Args),
    Secrets(secrets::Args),
    Extract(extract::Args),
    Review(review::Args),
    Team(team::Args),
    Sync(sync::Args),
    Trust(trust::Args),
    Dream(dream::Args),
    Doctor(doctor::Args),
    Dashboard(dashboard::Args),
    Wrap(Box<wrap::Args>),
    Journal(journal::Args),
    Monthly(monthly::Args),
    Projects(projects::Args),
    Watch(watch::Args),
    Daemon(daemon::Args),
    #[command(hide = true)]
    Work(work::Args),
    Import(import::Args),
    Export(export::Args),
    Bench(bench::Args),
    Hook(hook::Args),
    Context(session_context::Args),
    Obedience(obedience::Args),
    Model(model::Args),
    Costs(costs::Args),
    #[command(name = "cache-audit")]
    CacheAudit(cache_audit::Args),
    Compact(compact::Args),
    Magic(magic::Args),
    Mcp(mcp::Args),
    Gateway(gateway::Args),
    Serve(serve::Args),
    #[command(hide = true)]
    Mind(mind::Args),
    Completions(completions::Args),
}

impl Command {
    /// Says whether it shows memories and changes none: such a command is blind where memory is left aside.
    fn reads_memories(&self) -> bool {
        matches!(
            self,
            Self::Show(_)
                | Self::List(_)
                | Self::Search(_)
                | Self::Recall(_)
                | Self::Why(_)
                | Self::Links(_)
                | Self::Manifest(_)
                | Self::Context(_)
        )
    }
}

/// Reads the command line. Help and version print themselves.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    if let Some(cli) = agents::read(&std::env::args_os().collect::<Vec<_>>()) {
        return Ok(cli);
    }
    Cli::try_parse().map_err(|err| {
        if err.use_stderr() {
            // It repeats what was typed, which may hold anything.
            Ui::complain(&outlet::clean(&err.render().to_string()));
        } else {
            // A closed pipe is a quiet success.
            let _ = err.print();
        }
        ExitCode::from(u8::try_from(err.exit_code()).unwrap_or(2))
    })
}

/// Runs the command.
pub(crate) fn run(cli: Cli, ui: &mut Ui) -> Result<Outcome, Failure> {
    if let Command::Completions(args) = &cli.command {
        return completions::run(args, ui);
    }
    if let Command::Compact(args) = &cli.command {
        // It reads no memory, and a list that came in must come out.
        return compact::run(args, &context::environment(cli.global.vault, cli.global.project), ui);
    }
    if let Command::Mind(args) = &cli.command {
        return mind::run(args, ui);
    }
    if let Command::Hook(args) = &cli.command {
        return Ok(hook::run(args, cli.global.vault, cli.global.project));
    }
    if let Command::Serve(args) = &cli.command {
        // It touches no vault, so it serves also where memory is off.
        return serve::run(args, ui);
    }
    if let Command::Gateway(args) = &cli.command {
        // What it is given goes on also where memory is off.
        return gateway::run(args, cli.global.vault, cli.global.project, ui);
    }
    if let Command::Mcp(args) = &cli.command {
        // It answers also where memory is off, and looks at a place only when it is asked.
        return mcp::run(args, cli.global.vault, cli.global.project);
    }
    // Who looks for secrets must not take silence for an answer.
    let looks_for_secrets = matches!(cli.command, Command::Secrets(_));
    if context::is_off() && !looks_for_secrets {
        return answer_nothing(&cli.command, ui);
    }
    let Global { vault, project, .. } = cli.global;
    let env = context::environment(vault, project);
    // These act for whole state roots, wherever they are run.
    match &cli.command {
        Command::Daemon(args) => return daemon::run(args, &env, ui),
        Command::Work(args) => return work::run(args, &env, ui),
        _ => {}
    }
    let place = match (place::locate(&env), &cli.command) {
        (Err(err), Command::Doctor(args)) => match doctor::open_up(args, err, &env, ui)? {
            Some(place) => place,
            None => return Ok(Outcome::Nothing),
        },
        (place, _) => place?,
    };
    let mut context = Context::new(env, place, ui)?;
    context.is_blind = cli.command.reads_memories() && context.leaves_memory_aside();
    if context.place.off && !looks_for_secrets {
        return answer_nothing(&cli.command, ui);
    }
    match cli.command {
        Command::Init(args) => init::run(&args, &context, ui),
        Command::Save(args) => save::run(args, &context, ui),
        Command::Remember(args) => remember::run(&args, &context, ui),
        Command::New(args) => new::run(args, &context, ui),
        Command::Show(args) => show::run(&args, &context, ui),
        Command::List(args) => list::run(&args, &context, ui),
        Command::Search(args) => search::run(&args, &context, ui),
        Command::Grep(args) => grep::run(&args, &context, ui),
        Command::Backfill(args) => backfill::run(&args, &context, ui),
        Command::Edit(args) => edit::run(args, &context, ui),
        Command::Correct(args) => correct::run(args, &context, ui),
        Command::Rename(args) => rename::run(&args, &context, ui),
        Command::Supersede(args) => supersede::run(&args, &context, ui),
        Command::Promote(args) => promote::run(&args, &context, ui),
        Command::Forget(args) => forget::run(&args, &context, ui),
        Command::Log(args) => log::run(&args, &context, ui),
        Command::Diff(args) => diff::run(&args, &context, ui),
        Command::Undo(args) => undo::run(&args, &context, ui),
        Command::Redo(args) => undo::redo(&args, &context, ui),
        Command::Links(args) => links::run(&args, &context, ui),
        Command::Verify(args) => verify::run(&args, &context, ui),
        Command::Manifest(args) => manifest::run(&args, &context, ui),
        Command::WhyNot(args) => why_not::run(&args, &context, ui),
        Command::Place(args) => placing::run(&args, &context, ui),
        Command::Secrets(args) => secrets::run(&args, &context, ui),
        Command::Extract(args) => extract::run(&args, &context, ui),
        Command::Review(args) => review::run(&args, &context, ui),
        Command::Team(args) => team::run(&args, &context, ui),
        Command::Sync(args) => sync::run(&args, &context, ui),
        Command::Trust(args) => trust::run(&args, &context, ui),
        Command::Dream(args) => dream::run(&args, &context, ui),
        Command::Doctor(args) => doctor::run(&args, &context, ui),
        Command::Dashboard(args) => dashboard::run(&args, &context, ui),
        Command::Wrap(args) => wrap::run(&args, &context, ui),
        Command::Journal(args) => journal::run(&args, &context, ui),
        Command::Monthly(args) => monthly::run(&args, &context, ui),
        Command::Projects(args) => projects::run(&args, &context, ui),
        Command::Import(args) => import::run(&args, &context, ui),
        Command::Export(args) => export::run(&args, &context, ui),
        Command::Recall(args) => recall::run(&args, &context, ui),
        Command::Why(args) => why::run(&args, &context, ui),
        Command::Stale(args) => stale::run(&args, &context, ui),
        Command::Index(args) => index::run(&args, &context, ui),
        Command::Watch(args) => watch::run(&args, &context, ui),
        Command::Daemon(args) => daemon::run(&args, &context.env, ui),
        Command::Work(args) => work::run(&args, &context.env, ui),
        Command::Bench(args) => bench::run(&args, &context, ui),
        Command::Context(args) => session_context::run(&args, &context, ui),
        Command::Model(args) => model::run(&args, &context, ui),
        Command::Costs(args) => costs::run(&args, &context, ui),
        Command::Obedience(_) => obedience::run(&context, ui),
        Command::CacheAudit(args) => cache_audit::run(&args, &context, ui),
        Command::Compact(args) => compact::run(&args, &context.env, ui),
        Command::Magic(args) => magic::run(&args, &context, ui),
        Command::Hook(args) => Ok(hook::run(&args, None, None)),
        Command::Mcp(args) => mcp::run(&args, None, None),
        Command::Gateway(args) => gateway::run(&args, None, None, ui),
        Command::Serve(args) => serve::run(&args, ui),
        Command::Mind(args) => mind::run(&args, ui),
        Command::Completions(args) => completions::run(&args, ui),
    }
}

/// Off means off: nothing is read or written, and the answer is the empty one.
fn answer_nothing(command: &Command, ui: &mut Ui) -> Result<Outcome, Failure> {
    if ui.is_json() {
        match command {
            Command::List(_)
            | Command::Log(_)
            | Command::Projects(_)
            | Command::Review(_)
            | Command::Journal(_) => ui.json(&serde_json::json!([])),
            Command::Grep(_) => ui.json(&serde_json::json!({ "hits": [], "truncated": false })),
            Command::Search(_) => ui.json(&serde_json::json!({ "hits": [], "abstained": true })),
            Command::Extract(_) => ui.json(&serde_json::json!({ "candidates": [], "left_out": [] })),
            Command::Verify(_) => ui.json(&serde_json::json!({ "memories": [] })),
            _ => ui.json(&serde_json::json!({})),
        }
    }
    Ok(Outcome::Done)
}
