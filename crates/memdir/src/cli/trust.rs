//! `memdir trust`: whose memories of a team are believed.

use std::collections::BTreeMap;

use memdir_core::team::share::Audience;
use memdir_core::team::trust::EVERYBODY;
use memdir_core::text::{count, visible_line};
use memdir_store::team::{Held, Home, Joined, change_trust, ships_team, trusted};
use serde_json::{Value, json};

use super::sync::print;
use super::team::{Team, label};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

/// Decide whose memories are believed
///
/// What others wrote is in no search, no page and no prompt before you trust its author, in this clone of the project and
/// nowhere else. Without an author it shows what waits, by author, and asks. Trusting takes the memories over.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Whom to trust
    #[arg(value_name = "AUTHOR")]
    authors: Vec<String>,
    /// Everybody who writes there, now and later
    #[arg(long, conflicts_with = "authors")]
    all: bool,
    /// Only say who is trusted and what waits
    #[arg(long, conflicts_with_all = ["authors", "all", "revoke", "yes"])]
    list: bool,
    /// Trust them no longer; what they wrote stays until you forget it
    #[arg(long)]
    revoke: bool,
    /// Trust everybody of whom something waits, without asking
    #[arg(long, short, conflicts_with_all = ["authors", "all", "revoke"])]
    yes: bool,
}

/// What waits, by author.
type Waiting = BTreeMap<Option<String>, Vec<Held>>;

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let team = open(context, ui)?;
    if args.revoke {
        return revoke(args, &team, context, ui);
    }
    if args.all || !args.authors.is_empty() {
        let authors = if args.all { vec![EVERYBODY.to_owned()] } else { args.authors.clone() };
        return believe(&authors, &team, context, ui);
    }
    let waiting = waiting(&team, context, ui)?;
    let authors: Vec<String> =
        waiting.keys().map(|author| team.believed_as(author.as_deref()).to_owned()).collect();
    if args.yes && !authors.is_empty() {
        return believe(&authors, &team, context, ui);
    }
    show(&waiting, &team, context, ui)?;
    if authors.is_empty() || args.list {
        return Ok(if authors.is_empty() && !args.list { Outcome::Nothing } else { Outcome::Done });
    }
    if ui.is_json() || !ui.is_interactive() {
        return Ok(Outcome::Done);
    }
    ui.flush();
    let chosen: Vec<String> = waiting
        .iter()
        .filter(|(author, _)| {
            ui.confirm(&format!("trust what {} writes here?", shown(author.as_deref(), &team)))
        })
        .map(|(author, _)| team.believed_as(author.as_deref()).to_owned())
        .collect();
    if chosen.is_empty() {
        return Ok(Outcome::Nothing);
    }
    believe(&chosen, &team, context, ui)
}

/// Opens the team; a repository that ships one can be looked at before it is joined.
fn open(context: &Context, ui: &Ui) -> Result<Team, Failure> {
    match Team::joined(context, ui)? {
        Some(team) => Ok(team),
        None if ships_team(&context.place) => {
            let policy = memdir_core::team::reconcile::Policy::default();
            let audience = Audience::Team;
            let joined = Joined {
                home: Home::Repository,
                audience,
                policy,
                member: None,
                project: None,
                since: context.now,
            };
            Team::new(joined, context, ui)
        }
        None => Team::of(context, ui),
    }
}

fn waiting(team: &Team, context: &Context, ui: &Ui) -> Result<Waiting, Failure> {
    let mut waiting = Waiting::new();
    for held in team.preview(None, context, ui)?.held {
        waiting.entry(held.author.clone()).or_default().push(held);
    }
    Ok(waiting)
}

fn believe(authors: &[String], team: &Team, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    if team.store.joined()?.is_none() {
        // The user's word for what the repository ships is the user's word for sharing through it.
        team.store.join(&team.joined)?;
    }
    change_trust(&context.place.home, |trust| {
        for author in authors {
            trust.believe(&team.whence, author, context.now);
        }
    })?;
    let report = team.sync(None, context, ui)?;
    if !ui.is_json() {
        let names: Vec<String> = authors.iter().map(|author| shown(named(author), team)).collect();
        ui.line(&format!("trusted: {}", names.join(", ")));
    }
    print::report(&report, false, ui);
    Ok(if report.is_in_sync() { Outcome::Done } else { Outcome::Nothing })
}

fn revoke(args: &Args, team: &Team, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let home = &context.place.home;
    if args.authors.is_empty() && !args.all {
        return Err(
            Failure::error("whom to trust no longer is missing").hint("`memdir trust --list` names them")
        );
    }
    let known: Vec<String> =
        trusted(home)?.authors(&team.whence).into_iter().flatten().map(|(a, _)| a.clone()).collect();
    let revoked: Vec<String> = if args.all {
        known
    } else {
        args.authors.iter().filter(|author| known.contains(author)).cloned().collect()
    };
    change_trust(home, |trust| {
        for author in &revoked {
            trust.doubt(&team.whence, author);
        }
    })?;
    if ui.is_json() {
        ui.json(&json!({ "revoked": revoked }));
    } else {
        for author in &revoked {
            ui.line(&format!("no longer trusted: {}", shown(named(author), team)));
        }
    }
    Ok(if revoked.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn named(author: &str) -> Option<&str> {
    Some(author).filter(|author| *author != EVERYBODY)
}

fn shown(author: Option<&str>, team: &Team) -> String {
    match author {
        Some(author) => visible_line(author).into_owned(),
        None => format!("everybody at {}", label(&team.joined.home)),
    }
}

fn show(waiting: &Waiting, team: &Team, context: &Context, ui: &mut Ui) -> Result<(), Failure> {
    let trust = trusted(&context.place.home)?;
    let believed: Vec<&String> =
        trust.authors(&team.whence).into_iter().flatten().map(|(author, _)| author).collect();
    if ui.is_json() {
        let held = |held: &Held| json!({ "name": held.name, "description": held.description, "at": held.at });
        let authors: Vec<Value> = waiting
            .iter()
            .map(|(author, list)| json!({ "author": author, "memories": list.iter().map(held).collect::<Vec<_>>() }))
            .collect();
        ui.json(&json!({ "trusted": believed, "waiting": authors }));
        return Ok(());
    }
    for author in believed {
        ui.line(&format!("trusted: {}", shown(named(author), team)));
    }
    for (author, list) in waiting {
        let heading = format!(
            "{}: {} waiting",
            shown(author.as_deref(), team),
            count(list.len(), "memory", "memories")
        );
        ui.toned(Tone::Strong, &heading);
        for held in list {
            let what = if held.description.is_empty() { "(deleted there)" } else { &held.description };
            ui.line(&format!("  {}  {}", visible_line(&held.name), visible_line(what)));
        }
    }
    if waiting.is_empty() {
        ui.say("nothing waits");
    } else {
        ui.say("`memdir trust AUTHOR` takes over what an author wrote, `--yes` what all of them wrote");
    }
    Ok(())
}
