//! `memdir dream`: puts the vault in order, shows what that would be, and takes it back.

mod print;

use memdir_core::dream::{Decision, Mode, Source};
use memdir_core::policy::Review;
use memdir_store::dream::{self, DreamError, Dreamer, Dreamt, Run, State, Wish};
use memdir_store::vault::Vault;
use memdir_store::verify::Verifier;
use serde_json::json;

use crate::context::{Context, USER, unreadable_state};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;
use crate::work::mind;

/// Put the memories in order: merge what says the same, archive what no longer holds
///
/// Nothing is ever lost: what leaves goes to the archive, every run is one change, and `memdir dream undo` takes it back
/// byte for byte. The first dream of a vault only shows what it would do. By itself a vault dreams once a day, after five
/// sessions; `--now` does not wait for that.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Do not wait until a day and five sessions have passed
    #[arg(long)]
    now: bool,
    /// Only show what would be done, and keep it for `dream apply`
    #[arg(long)]
    dry_run: bool,
    /// Dream over the memories about you instead of the project's
    #[arg(long)]
    user: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Carry out a run that waits
    Apply {
        /// Which run: its id, or a beginning or end of it; the newest that waits if left out
        id: Option<String>,
        /// Also what the review is against, and however many memories leave
        #[arg(long, short)]
        yes: bool,
    },
    /// Take a run back, byte for byte; what was edited since stays
    Undo {
        /// Which run; the newest that was carried out if left out
        id: Option<String>,
    },
    /// List the runs
    List,
    /// Show a run with its diff
    Show {
        /// Which run; the newest if left out
        id: Option<String>,
    },
    /// Put a run aside that waits
    Discard {
        /// Which run
        id: String,
    },
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    match &args.action {
        None => dream_now(args, context, ui),
        Some(Action::Apply { id, yes }) => apply(id.as_deref(), *yes, context, ui),
        Some(Action::Undo { id }) => undo(id.as_deref(), context, ui),
        Some(Action::List) => list(context, ui),
        Some(Action::Show { id }) => show(id.as_deref(), context, ui),
        Some(Action::Discard { id }) => discard(id, context, ui),
    }
}

fn dream_now(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let vault = if args.user { context.open_user()? } else { context.open_project()? };
    let Some(vault) = vault else {
        return Err(Failure::refusal("there is no vault yet").hint("`memdir init` makes one"));
    };
    vault.settle()?;
    let wish = match (args.dry_run, args.now) {
        (true, _) => Wish::DryRun,
        (false, true) => Wish::Now,
        (false, false) => Wish::WhenDue,
    };
    match dream_over(&vault, context, wish, &mut || {})? {
        Dreamt::NotNow(decision) => Err(shut(decision)),
        Dreamt::Busy => Err(Failure::refusal("somebody else is dreaming over this vault")),
        Dreamt::Nothing(plan) => {
            print::nothing(&plan, ui);
            Ok(Outcome::Done)
        }
        Dreamt::Done { applied, waiting } => {
            print::done(applied.as_deref(), waiting.as_deref(), ui);
            Ok(Outcome::Done)
        }
    }
}

/// Dreams over one vault, under the user's settings.
pub(crate) fn dream_over(
    vault: &Vault,
    context: &Context,
    wish: Wish,
    beat: &mut dyn FnMut(),
) -> Result<Dreamt, Failure> {
    let mut advise = |sources: &[Source], beat: &mut dyn FnMut()| mind::consolidate(sources, context, beat);
    with_dreamer(vault, context, |dreamer| dream::dream(dreamer, mode(context), wish, &mut advise, beat))
}

/// Returns which operations wait. Who wants to be asked about what agents write wants to be asked here too.
fn mode(context: &Context) -> Mode {
    let settings = &context.place.settings;
    if settings.review == Review::Ask { Mode::Always } else { settings.dream }
}

fn with_dreamer<T>(
    vault: &Vault,
    context: &Context,
    act: impl FnOnce(&Dreamer<'_>) -> Result<T, DreamError>,
) -> Result<T, Failure> {
    let now = context.now.to_zoned(context.zone.clone());
    let verifier = Verifier::around(&context.place, &context.env, context.now, context.zone.clone());
    let dreamer =
        Dreamer { vault, gate: context.gate()?, verifier: Some(&verifier), now: &now, limit: dream::LIMIT };
    act(&dreamer).map_err(failure)
}

fn failure(err: DreamError) -> Failure {
    match err {
        DreamError::Commit(err) => err.into(),
        DreamError::TooMany { .. } => {
            Failure::refusal(err.to_string()).hint("a fifth may leave by itself; `--yes` confirms more")
        }
        DreamError::Settled { .. } => {
            Failure::refusal(err.to_string()).hint("`memdir dream list` shows the runs")
        }
        err => Failure::from_chain(&err),
    }
}

fn shut(decision: Decision) -> Failure {
    let why = match decision {
        Decision::Dream => "nothing stands against it".to_owned(),
        Decision::TooSoon { until } => {
            format!("too soon: the last dream was less than a day ago, the next may be at {until}")
        }
        Decision::TooQuiet { n_sessions, needed } => {
            format!("too quiet: {n_sessions} of {needed} sessions since the last dream")
        }
        Decision::Resting { until } => format!("the last dream failed; the next attempt is at {until}"),
    };
    Failure::refusal(why)
        .hint("`memdir dream --now` does not wait, `--dry-run` only shows what would be done")
}

/// Finds a run in the vaults of this place: by its id, or the newest in one of some states.
fn find(id: Option<&str>, states: &[State], context: &Context) -> Result<(Vault, Run), Failure> {
    let mut found: Option<(Vault, Run)> = None;
    for vault in context.vaults()? {
        let run = match id {
            Some(id) => dream::find(&vault, id),
            None => newest(&vault, states),
        };
        let run = run.map_err(|err| unreadable_state(&vault, &err))?;
        if let Some(run) = run
            && found.as_ref().is_none_or(|(_, other)| other.id < run.id)
        {
            found = Some((vault, run));
        }
    }
    found.ok_or_else(|| {
        let which = id.map_or_else(|| "no such dream".to_owned(), |id| format!("no dream `{id}`"));
        Failure::refusal(which).hint("`memdir dream list` shows the runs")
    })
}

/// Returns the newest run in one of some states.
fn newest(vault: &Vault, states: &[State]) -> std::io::Result<Option<Run>> {
    let mut runs = Vec::new();
    for state in states {
        runs.extend(dream::newest(vault, *state)?);
    }
    Ok(runs.into_iter().max_by(|a, b| a.id.cmp(&b.id)))
}

fn apply(id: Option<&str>, yes: bool, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let (vault, mut run) = find(id, &[State::Proposed], context)?;
    let applied = with_dreamer(&vault, context, |dreamer| dream::apply(dreamer, &mut run, yes))?;
    print::applied(&run, &applied, ui);
    Ok(if applied.n_done > 0 { Outcome::Done } else { Outcome::Nothing })
}

fn undo(id: Option<&str>, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let (vault, mut run) = find(id, &[State::Applied], context)?;
    let undone = with_dreamer(&vault, context, |dreamer| dream::undo(dreamer, &mut run))?;
    print::undone(&run, &undone, ui);
    Ok(Outcome::Done)
}

fn discard(id: &str, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let (vault, mut run) = find(Some(id), &[], context)?;
    with_dreamer(&vault, context, |dreamer| dream::discard(dreamer, &mut run))?;
    match ui.is_json() {
        true => ui.json(&json!({ "id": run.id, "state": run.state })),
        false => ui.line(&format!("put aside: dream {}", run.id)),
    }
    Ok(Outcome::Done)
}

fn list(context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut runs: Vec<(&str, Run)> = Vec::new();
    for vault in context.vaults()? {
        let whose = if vault.id() == USER { "user" } else { "project" };
        let found = dream::runs(&vault).map_err(|err| unreadable_state(&vault, &err))?;
        runs.extend(found.into_iter().map(|run| (whose, run)));
    }
    runs.sort_by(|a, b| b.1.id.cmp(&a.1.id));
    let is_empty = runs.is_empty();
    print::list(&runs, ui);
    Ok(if is_empty { Outcome::Nothing } else { Outcome::Done })
}

fn show(id: Option<&str>, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let any = [State::Proposed, State::Applied, State::Undone, State::Discarded];
    let (_, run) = find(id, &any, context)?;
    print::show(&run, ui);
    Ok(Outcome::Done)
}
