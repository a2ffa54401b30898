//! A team on a server: joining it, the token, leaving it.
//!
//! An invitation works once, so everything that can fail without it is tried before it is used, and the token that it becomes
//! is kept before anything else is done with it. The token is a file for its owner only, one for all projects of a team; it is
//! in no message, no log and no other file.

use memdir_core::team::reconcile::Policy;
use memdir_core::team::share::Audience;
use memdir_core::team::wire::{MemberName, ProjectName};
use memdir_net::team::{Account, Address, BadAddress, Server, project_name};
use memdir_net::{Base, Variables};
use memdir_store::keys::{self, KeyError, Secret};
use memdir_store::team::{About, Home, Joined, RemoteError, Store, all_joined};

use super::{JoinArgs, Team, has_no_other, unusable};
use crate::cli::model::surroundings;
use crate::context::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Joins the team at an address, or joins it again.
pub(super) fn join(
    address: &str,
    args: &JoinArgs,
    policy: Policy,
    context: &Context,
    ui: &Ui,
) -> Result<Joined, Failure> {
    let Address { base, invite } =
        Address::parse(address, args.insecure).map_err(|err| bad_address(address, &err))?;
    let member = args.member.as_deref().map(MemberName::new).transpose().map_err(bad_name)?;
    let name = args.name.as_deref().map(ProjectName::new).transpose().map_err(bad_name)?;
    let store = Store::below(&context.place.state_dir());
    has_no_other(&store, |joined| is_at(&joined.home, &base))?;
    keys::prepare(&context.place.home)?;
    context.create_project(ui)?.settle()?;
    let variables = variables(context);
    let about = match &invite {
        Some(invite) => redeem(&base, invite, member, &variables, context, ui)?,
        None => recognise(&base, args.team.as_deref(), &variables, context)?,
    };
    has_no_other(
        &store,
        |joined| matches!(&joined.home, Home::Server { about: other } if other.id == about.id),
    )?;
    is_agreed(&about, args.own)?;
    let (audience, member) = (about.audience, about.member.clone());
    let project = name.map(|name| name.to_string());
    let home = Home::Server { about };
    let joined = Joined { home, audience, policy, member, project, since: context.now };
    store.join(&joined)?;
    Ok(joined)
}

/// Turns an invitation into a token and keeps it.
fn redeem(
    base: &Base,
    invite: &Secret,
    member: Option<MemberName>,
    variables: &Variables,
    context: &Context,
    ui: &Ui,
) -> Result<About, Failure> {
    let machine = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
    let token = match Account::join(base, invite, member, machine, variables) {
        Ok(token) => token,
        Err(err) => return again(base, err, variables, context, ui),
    };
    keys::keep(&context.place.home, &keys::of_team(base.as_str(), token.team.as_str()), &token.secret)?;
    Ok(token.about)
}

/// An invitation that was used on this machine already is no news: its token is here.
fn again(
    base: &Base,
    err: RemoteError,
    variables: &Variables,
    context: &Context,
    ui: &Ui,
) -> Result<About, Failure> {
    let is_used = matches!(err, RemoteError::Unauthorized { .. } | RemoteError::Forbidden { .. });
    if is_used && let Ok(about) = recognise(base, None, variables, context) {
        ui.say("the invitation does not count (any more); the token that is kept here does");
        return Ok(about);
    }
    let hint = match &err {
        RemoteError::Unreachable { .. } => {
            "if it answered and that got lost, the invitation is used: ask for another"
        }
        RemoteError::Unauthorized { .. } => "an invitation works once and for some days: ask for another",
        RemoteError::Forbidden { .. } => "`--as NAME` says the name to be known by",
        err => super::hint(err),
    };
    Err(Failure::from_chain(&err).hint(hint))
}

/// Finds the token that is kept for a server, and asks whom it speaks for.
fn recognise(
    base: &Base,
    team: Option<&str>,
    variables: &Variables,
    context: &Context,
) -> Result<About, Failure> {
    let home = &context.place.home;
    let mut kept = keys::teams_at(home, base.as_str())?;
    kept.retain(|known| team.is_none_or(|team| team == known));
    let team = match kept.as_slice() {
        [team] => team,
        [] => {
            return Err(Failure::refusal(format!("no token of {} is kept here", base.as_str()))
                .hint("ask for an invitation: `memdir team join URL#INVITATION`"));
        }
        several => {
            return Err(Failure::refusal("several teams of that server were joined")
                .hint(format!("say which: `--team {}`", several.join("`, `--team "))));
        }
    };
    let token = keys::load(home, &keys::of_team(base.as_str(), team))?;
    let token = token.ok_or_else(|| Failure::error("the token is gone"))?;
    Account::recognise(base, token, variables).map_err(unusable)
}

/// A server may say of itself what it likes; whether everything travels decides the user.
fn is_agreed(about: &About, is_own: bool) -> Result<(), Failure> {
    match (about.audience, is_own) {
        (Audience::Own, false) => Err(Failure::refusal(format!(
            "{} is for one person's machines: private memories and those about you would travel too",
            about.label
        ))
        .hint("if it is yours, join it with `--own`; the token is kept, the invitation is no longer needed")),
        (Audience::Team, true) => Err(Failure::refusal(format!(
            "{} is for several people, not for your machines only",
            about.label
        ))
        .hint("leave out `--own`; the token is kept, the invitation is no longer needed")),
        _ => Ok(()),
    }
}

fn is_at(home: &Home, base: &Base) -> bool {
    matches!(home, Home::Server { about } if place(about).0 == base.as_str())
}

/// Takes the name of a place apart: the address, the team.
fn place(about: &About) -> (&str, &str) {
    about.id.rsplit_once('#').unwrap_or((&about.id, ""))
}

/// Returns the user's variables, for the way out.
pub(super) fn variables(context: &Context) -> Variables {
    surroundings(context).variables().clone()
}

/// Returns the token of a server that was joined.
pub(super) fn token(about: &About, context: &Context) -> Result<Secret, Failure> {
    let (address, team) = place(about);
    keys::load(&context.place.home, &keys::of_team(address, team))?.ok_or_else(|| {
        Failure::error(format!("the token of {} is not here any more", about.label))
            .hint("ask for an invitation, and `memdir team join URL#INVITATION` with it")
    })
}

/// Says what a vault is called on the server: the project's as the user said, others by their id.
pub(super) fn named(vault: &str, joined: &Joined, context: &Context) -> ProjectName {
    let said = joined.project.as_deref().filter(|_| vault == context.place.project.id.as_str());
    said.and_then(|name| ProjectName::new(name).ok()).unwrap_or_else(|| project_name(vault))
}

/// Opens a project on the server that was joined.
pub(super) fn open(about: &About, project: &ProjectName, context: &Context) -> Result<Server, Failure> {
    let token = token(about, context)?;
    Server::open(about, project.clone(), token, &variables(context)).map_err(unusable)
}

/// Leaves the team on its server.
pub(super) fn leave_there(team: &Team, context: &Context) -> Result<(), Failure> {
    let Home::Server { about } = &team.joined.home else {
        return Err(Failure::error("only a server can be left everywhere").hint("leave out `--everywhere`"));
    };
    let member = about.member.as_deref().and_then(|member| MemberName::new(member).ok());
    let member = member.ok_or_else(|| Failure::error("it is not known who you are there"))?;
    let mut account = Account::open(about, token(about, context)?, &variables(context)).map_err(unusable)?;
    account.revoke_member(&member).map_err(unusable)
}

/// Forgets the token of a team that no project shares with any more; `at_once` if it counts no longer.
pub(super) fn forget_token(home: &Home, at_once: bool, context: &Context) -> Result<(), Failure> {
    let Home::Server { about } = home else { return Ok(()) };
    let is_same =
        |joined: &Joined| matches!(&joined.home, Home::Server { about: other } if other.id == about.id);
    let is_used = all_joined(&context.place.home)?.iter().any(|(_, joined)| is_same(joined));
    if at_once || !is_used {
        let (address, team) = place(about);
        keys::forget(&context.place.home, &keys::of_team(address, team))?;
    }
    Ok(())
}

fn bad_address(address: &str, err: &BadAddress) -> Failure {
    // What follows the `#` is secret, even if it is not what it should be.
    let shown = address.split('#').next().unwrap_or_default();
    let failure = Failure::error(format!("`{}` cannot be joined: {err}", shown.escape_debug()));
    match err {
        BadAddress::Open => failure.hint("use https, or say `--insecure` if you know who listens"),
        _ => failure.hint("an address is like https://memory.example.com#mdi_…"),
    }
}

fn bad_name(err: memdir_core::team::wire::WireNameError) -> Failure {
    Failure::error(err.to_string())
}

impl From<KeyError> for Failure {
    fn from(err: KeyError) -> Self {
        Self::from_chain(&err)
    }
}
