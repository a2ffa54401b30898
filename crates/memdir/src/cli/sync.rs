//! `memdir sync`: brings the project's memories and the team's together.

pub(super) mod print;

use memdir_core::team::reconcile::Policy;

use super::team::Team;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Bring this project's memories and the team's together
///
/// What changed on one side goes to the other; what changed on both is merged, and where that would lose words both
/// versions stay. Everything that comes in is one change, and `memdir undo` takes it back byte for byte. A memory with a
/// secret is not sent. Exit code 1: something was left out, and it says what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What happens where both sides changed, this once: merge (keep both) or mirror (theirs wins, yours stays in history)
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let policy: Option<Policy> = args.policy.as_deref().map(str::parse).transpose()?;
    let team = Team::of(context, ui)?;
    let report =
        if args.dry_run { team.preview(policy, context, ui)? } else { team.sync(policy, context, ui)? };
    print::report(&report, args.dry_run, ui);
    Ok(if report.is_in_sync() { Outcome::Done } else { Outcome::Nothing })
}
