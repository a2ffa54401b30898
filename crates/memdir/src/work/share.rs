//! Brings a project's memories and its team's together without being asked.
//!
//! It is wished for when a session begins, when one has left something, and by the daemon; never is a hook's own time spent on
//! it. A place that does not answer is left alone for longer and longer, and the user is told once. Whoever does not want it
//! says `team.auto = false`, and `memdir sync` works as before.

use memdir_core::breaker::{self, Admission, Outcome};
use memdir_core::text::visible_line;
use memdir_store::news;
use memdir_store::queue::{Job, Kind, Queue};
use memdir_store::team::Store;

use crate::cli::team::{Team, label};
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::hook::log;
use crate::ui::Ui;

/// Syncs, unless the place is left alone for now.
pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let ui = Ui::new(false, true);
    if !is_wanted(context) {
        return Ok(());
    }
    let Some(team) = Team::joined(context, &ui)? else { return Ok(()) };
    let now = context::now();
    let (admission, trying) = breaker::admit(&team.store.breaker(), now);
    if matches!(admission, Admission::Rest { .. }) {
        return Ok(());
    }
    team.store.note_breaker(&trying)?;
    let why = match team.sync(None, context, &ui) {
        Ok(report) => match report.cut {
            None => return Ok(()),
            Some(cut) => cut.to_string(),
        },
        Err(failure) => failure.message,
    };
    team.store.note_breaker(&breaker::settle(&trying, Outcome::Failed { attempts: 1 }, now))?;
    log::tell("work", "sync", &why);
    if admission == (Admission::Ask { attempts: 1 }) {
        tell(&team, &why, context);
    }
    Ok(())
}

/// Leaves word for the user that a place is left alone.
fn tell(team: &Team, why: &str, context: &Context) {
    let place = label(&team.joined.home);
    let line = format!(
        "memories are not shared with {} for now: {}; `memdir sync` tries at once",
        visible_line(&place),
        visible_line(why)
    );
    // A line that is lost costs a notice.
    let _ = news::leave(&context.place.home, &[line]);
}

/// Says whether the user lets teams be synced unasked.
fn is_wanted(context: &Context) -> bool {
    context.place.settings.team.auto && !context.place.off
}

/// Wishes for a sync of a project that shares its memories.
pub(crate) fn wish(context: &Context) -> Result<(), Failure> {
    let store = Store::below(&context.place.state_dir());
    if !is_wanted(context) || store.joined()?.is_none() {
        return Ok(());
    }
    let job = Job::new(Kind::Sync, &context.place, context.now);
    Queue::of(&context.place).push(&job).map(drop).map_err(|err| Failure::from_chain(&err))
}

/// Wishes for one if something was written since the last.
pub(super) fn wish_if_behind(context: &Context) -> Result<(), Failure> {
    let store = Store::below(&context.place.state_dir());
    if store.is_behind(&context.place.vault) { wish(context) } else { Ok(()) }
}
