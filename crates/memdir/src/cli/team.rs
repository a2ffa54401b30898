//! `memdir team`: joins a team, leaves it, and says how both sides stand.
//!
//! Also what `sync` and `trust` begin with: [`Team`] is the project's place in a team, opened. What only servers have is in
//! [`server`], and what people do there in [`people`].

mod people;
mod server;

use std::path::{Path, PathBuf};

use memdir_core::breaker::State as BreakerState;
use memdir_core::change::{Author, ChangeSet, Edit, Exit, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::Provenance;
use memdir_core::team::reconcile::Policy;
use memdir_core::team::share::Audience;
use memdir_core::team::trust::{EVERYBODY, Whence};
use memdir_core::text::count;
use memdir_net::team::{Address, Server};
use memdir_store::team::{
    Folder, Home, Joined, Opening, Progress, Remote, RemoteError, Report, Store, SyncError, Syncing,
    TrustError, change_trust, erase, preview, run as sync, share_usage, trusted,
};
use memdir_store::vault::Vault;
use serde_json::json;

use super::sync::print;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Share memories with a team: through the repository, a directory or a server
///
/// Only memories of scope team travel, and none about you. What a teammate wrote is held until you trust its author
/// (`memdir trust`); what both sides changed is merged, and where that would lose words both versions stay.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Begin to share this project's memories
    ///
    /// Without a place they are shared through `.memdir/team` of the repository, which you commit and review like code.
    Join(JoinArgs),
    /// Stop sharing
    ///
    /// What teammates wrote goes to the trash, from where `memdir undo` brings it back; your own memories stay.
    Leave {
        /// Keep what teammates wrote
        #[arg(long)]
        keep: bool,
        /// Leave the team on its server too: no token of yours counts there any more, on any machine
        #[arg(long)]
        everywhere: bool,
    },
    /// Show what a sync would do, what is held and what is in conflict; sends nothing
    Status,
    #[command(flatten)]
    People(people::Action),
}

#[derive(Debug, clap::Args)]
struct JoinArgs {
    /// A directory that others see too, or a server: https://host#INVITATION; `.memdir/team` of the repository if left out
    #[arg(value_name = "WHERE")]
    place: Option<String>,
    /// The name to be known by at a server, unless the invitation has one
    #[arg(long = "as", value_name = "NAME")]
    member: Option<String>,
    /// Which team of a server, where several were joined before
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// What the project is called at a server; by its id if left out, which all clones have in common
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Send the token over plain http to another machine, for everybody on the way to read
    #[arg(long)]
    insecure: bool,
    /// What happens where both sides changed: merge (keep both) or mirror (theirs wins, yours stays in history)
    #[arg(long, value_name = "POLICY", default_value = "merge")]
    policy: String,
    /// The place is for your own machines: every memory travels, private ones and those about you too
    #[arg(long)]
    own: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Join(args) => join(args, context, ui),
        Action::Leave { keep, everywhere } => leave(*keep, *everywhere, context, ui),
        Action::Status => status(context, ui),
        Action::People(action) => people::run(action, &Team::of(context, ui)?, context, ui),
    }
}

fn join(args: &JoinArgs, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let policy: Policy = args.policy.parse()?;
    if let Some(address) = args.place.as_deref().filter(|place| Address::is_meant(place)) {
        let joined = server::join(address, args, policy, context, ui)?;
        return welcome(&Team::new(joined, context, ui)?, context, ui);
    }
    let audience = if args.own { Audience::Own } else { Audience::Team };
    let home = match &args.place {
        None if args.own => {
            return Err(Failure::error("a repository is read by others")
                .hint("name a directory of your own: `memdir team join DIR --own`"));
        }
        None => Home::Repository,
        Some(place) => Home::Directory { path: directory(Path::new(place))? },
    };
    let store = Store::below(&context.place.state_dir());
    has_no_other(&store, |joined| joined.home == home)?;
    let joined = Joined { home, audience, policy, member: None, project: None, since: context.now };
    let team = Team::new(joined, context, ui)?;
    make(&team, context)?;
    store.join(&team.joined)?;
    welcome(&team, context, ui)
}

/// A project has one team: another one than what `is_it` says is left first.
fn has_no_other(store: &Store, is_it: impl Fn(&Joined) -> bool) -> Result<(), Failure> {
    match store.joined()?.filter(|joined| !is_it(joined)) {
        None => Ok(()),
        Some(joined) => {
            Err(Failure::refusal(format!("this project shares its memories with {}", label(&joined.home)))
                .hint("`memdir team leave` first: a project has one team"))
        }
    }
}

/// Makes the folder that is joined, and fails before anything is noted if it cannot be used.
fn make(team: &Team, context: &Context) -> Result<(), Failure> {
    let opening = opening(team.vault.id(), context)?;
    let folder = match &team.joined.home {
        Home::Repository => Folder::of_repository(opening),
        Home::Directory { path } => Folder::of_directory(opening, path),
        Home::Server { .. } => return Ok(()),
    };
    folder.and_then(|mut folder| folder.create().map(drop)).map_err(unusable)
}

fn welcome(team: &Team, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let label = label(&team.joined.home);
    let report = match team.preview(None, context, ui) {
        Ok(report) => report,
        Err(failure) => {
            return Err(
                failure.hint(format!("{label} is joined all the same; `memdir team leave` takes that back"))
            );
        }
    };
    if ui.is_json() {
        let kind = if team.joined.audience == Audience::Own { "own" } else { "team" };
        ui.json(&json!({
            "remote": report.label,
            "kind": kind,
            "policy": team.joined.policy,
            "to_send": report.pushed.len(),
            "to_receive": report.pulled.len(),
            "held": report.held.len(),
        }));
        return Ok(Outcome::Done);
    }
    ui.line(&format!("joined {label}"));
    let n_waiting = report.held.len();
    if n_waiting > 0 {
        ui.say(&format!(
            "{} there: `memdir trust` shows who wrote what",
            count(n_waiting, "memory of others waits", "memories of others wait")
        ));
    }
    ui.say(&format!(
        "`memdir sync` sends {} and takes over {}",
        count(report.pushed.len(), "memory", "memories"),
        report.pulled.len()
    ));
    if team.joined.home == Home::Repository {
        ui.say("commit `.memdir` like code: what is in it is what teammates get");
    }
    Ok(Outcome::Done)
}

fn directory(path: &Path) -> Result<PathBuf, Failure> {
    let found = path.canonicalize().map_err(|err| {
        Failure::error(format!("{} cannot be used: {err}", path.display())).hint("make the directory first")
    })?;
    if !found.is_dir() {
        return Err(Failure::error(format!("{} is not a directory", path.display())));
    }
    Ok(found)
}

fn leave(keep: bool, everywhere: bool, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let team = Team::of(context, ui)?;
    if everywhere {
        server::leave_there(&team, context)?;
    }
    let removed = if keep { Vec::new() } else { take_leave(&team, context)? };
    team.store.leave()?;
    server::forget_token(&team.joined.home, everywhere, context)?;
    change_trust(&context.place.home, |trust| trust.forget(&team.whence))?;
    if ui.is_json() {
        ui.json(&json!({ "left": label(&team.joined.home), "removed": removed }));
    } else {
        ui.line(&format!("left {}", label(&team.joined.home)));
        if !removed.is_empty() {
            ui.say(&format!(
                "{} of teammates went to the trash; `memdir undo` brings them back",
                count(removed.len(), "memory", "memories")
            ));
        }
    }
    Ok(Outcome::Done)
}

/// Puts what teammates wrote, and nobody here changed since, into the trash.
fn take_leave(team: &Team, context: &Context) -> Result<Vec<String>, Failure> {
    let mut edits = Vec::new();
    let mut names = Vec::new();
    for path in team.vault.names()? {
        let Ok(Some(loaded)) = team.vault.load(&path) else { continue };
        let bytes = loaded.document.bytes().to_vec();
        let is_shared = memdir_core::team::share::may_leave(&path, &bytes, Audience::Team).is_ok();
        if is_shared && team.vault.said_by(ContentHash::of(&bytes)) == Provenance::Team {
            names.push(path.stem().to_owned());
            edits.push(Edit::Remove { path, base: bytes, into: Exit::Trash });
        }
    }
    if !edits.is_empty() {
        let set = ChangeSet {
            author: Author::Person,
            by: Surface::Cli,
            provenance: Provenance::User,
            reason: "left the team".to_owned(),
            session: None,
            force: None,
            edits,
        };
        context.writer(&team.vault)?.commit(&set)?;
    }
    Ok(names)
}

fn status(context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let team = Team::of(context, ui)?;
    let report = team.preview(None, context, ui)?;
    let conflicts = team.conflicts()?;
    print::status(&report, &conflicts, &team, ui);
    let is_calm = report.is_in_sync() && report.is_idle() && conflicts.is_empty();
    Ok(if is_calm { Outcome::Done } else { Outcome::Nothing })
}

/// Says where a team is, for people.
pub(crate) fn label(home: &Home) -> String {
    match home {
        Home::Repository => ".memdir/team of this repository".to_owned(),
        Home::Directory { path } => path.display().to_string(),
        Home::Server { about } => about.label.clone(),
    }
}

/// The project's place in a team.
#[derive(Debug)]
pub(crate) struct Team {
    pub(crate) vault: Vault,
    pub(crate) store: Store,
    pub(crate) joined: Joined,
    /// Where authors are believed.
    pub(crate) whence: Whence,
}

impl Team {
    /// Opens the team that the project joined.
    pub(crate) fn of(context: &Context, ui: &Ui) -> Result<Self, Failure> {
        match Self::joined(context, ui)? {
            Some(team) => Ok(team),
            None => Err(Failure::refusal("this project shares no memories")
                .hint("`memdir team join` shares them through `.memdir/team` of the repository")),
        }
    }

    /// Opens the team that the project joined; `None` if it joined none.
    pub(crate) fn joined(context: &Context, ui: &Ui) -> Result<Option<Self>, Failure> {
        let joined = Store::below(&context.place.state_dir()).joined()?;
        joined.map(|joined| Self::new(joined, context, ui)).transpose()
    }

    /// Opens a team that may not be joined yet.
    pub(crate) fn new(joined: Joined, context: &Context, ui: &Ui) -> Result<Self, Failure> {
        let vault = context.create_project(ui)?;
        vault.settle()?;
        let store = Store::below(&vault.state_path());
        let whence = whence(&joined.home, context);
        Ok(Self { vault, store, joined, whence })
    }

    /// Opens the other side of a vault, the project's or the user's.
    fn remote<'c>(&self, project: &'c str, context: &'c Context) -> Result<Box<dyn Remote + 'c>, Failure> {
        let opening = opening(project, context)?;
        let folder = match &self.joined.home {
            Home::Repository => Folder::of_repository(opening),
            Home::Directory { path } => Folder::of_directory(opening, path),
            Home::Server { about } => {
                let server = server::open(about, &server::named(project, &self.joined, context), context)?;
                return Ok(Box::new(server));
            }
        };
        let folder = folder.map_err(unusable)?;
        let is_own = self.joined.audience == Audience::Own;
        Ok(Box::new(if is_own { folder.for_own_machines() } else { folder }))
    }

    /// Opens the project on its server, to wait for news there; `None` if it is shared through a folder.
    pub(crate) fn server(&self, context: &Context) -> Result<Option<Server>, Failure> {
        let Home::Server { about } = &self.joined.home else { return Ok(None) };
        let project = server::named(self.vault.id(), &self.joined, context);
        server::open(about, &project, context).map(Some)
    }

    /// Brings both sides together.
    pub(crate) fn sync(&self, policy: Option<Policy>, context: &Context, ui: &Ui) -> Result<Report, Failure> {
        let report = self.with_all(policy, context, ui, Act::Sync)?;
        if report.cut.is_none() && self.store.breaker() != BreakerState::default() {
            // It is there again, whoever found out.
            let _ = self.store.note_breaker(&BreakerState::default());
        }
        Ok(report)
    }

    /// Says what that would do.
    pub(crate) fn preview(
        &self,
        policy: Option<Policy>,
        context: &Context,
        ui: &Ui,
    ) -> Result<Report, Failure> {
        self.with_all(policy, context, ui, Act::Preview)
    }

    /// Acts for the project's vault, and between one's own machines for the user vault too.
    fn with_all(
        &self,
        policy: Option<Policy>,
        context: &Context,
        ui: &Ui,
        act: Act,
    ) -> Result<Report, Failure> {
        let policy = policy.unwrap_or(self.joined.policy);
        let mut report = self.with_remote(&self.vault, policy, context, ui, act)?;
        if self.joined.audience == Audience::Own && !context.place.explicit {
            let user = context.create_user()?;
            user.settle()?;
            report.add(self.with_remote(&user, policy, context, ui, act)?, "~/");
        }
        Ok(report)
    }

    fn with_remote(
        &self,
        vault: &Vault,
        policy: Policy,
        context: &Context,
        ui: &Ui,
        act: Act,
    ) -> Result<Report, Failure> {
        let mut remote = self.remote(vault.id(), context)?;
        let trust = trusted(&context.place.home)?;
        let believes = |author: Option<&str>| trust.believes(&self.whence, author);
        let (gate, now) = (context.gate()?, context.now);
        let syncing = Syncing { vault, gate, now, policy, believes: &believes };
        let mut bar = ui.progress();
        let mut tell = |progress: Progress| bar.at(progress.done, progress.of.unwrap_or(0));
        if act == Act::Preview {
            return preview(&syncing, remote.as_mut(), &mut tell).map_err(Failure::from);
        }
        let mut report = sync(&syncing, remote.as_mut(), &mut tell)?;
        if self.joined.audience == Audience::Own && report.cut.is_none() {
            share_usage(vault, remote.as_mut()).map_err(unusable)?;
            report.traffic = remote.traffic();
        }
        Ok(report)
    }

    /// Asks the other side to erase what was erased here, for the project's vault and what else travels.
    pub(crate) fn erase_there(&self, context: &Context) -> Result<(), Failure> {
        let user = if self.joined.audience == Audience::Own { context.open_user()? } else { None };
        for vault in [Some(&self.vault), user.as_ref()].into_iter().flatten() {
            let vault_store = Store::below(&vault.state_path());
            if vault_store.pending_erase().is_empty() {
                continue;
            }
            let left = erase(vault, self.remote(vault.id(), context)?.as_mut())?;
            if let Some(path) = left.first() {
                return Err(Failure::error(format!("`{path}` was not erased there")));
            }
        }
        Ok(())
    }

    /// Returns the second versions that wait for somebody to decide.
    pub(crate) fn conflicts(&self) -> Result<Vec<String>, Failure> {
        let names = self.vault.names()?;
        let copies = names.iter().filter(|path| memdir_core::team::conflict::is_copy(path));
        Ok(copies.map(|path| path.stem().to_owned()).collect())
    }

    /// Returns whom to believe for what an author wrote: everybody, where nobody is named.
    pub(crate) fn believed_as<'n>(&self, author: Option<&'n str>) -> &'n str {
        author.unwrap_or(EVERYBODY)
    }
}

/// What is done with the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Sync,
    Preview,
}

fn opening<'c>(project: &'c str, context: &'c Context) -> Result<Opening<'c>, Failure> {
    let (place, env) = (&context.place, &context.env);
    Ok(Opening { place, project, env, gate: context.gate()?, now: context.now })
}

/// Says where authors of a team are believed.
fn whence(home: &Home, context: &Context) -> Whence {
    let project = context.place.project.id.as_str().to_owned();
    match home {
        Home::Repository => {
            let repository = context.place.repository.as_ref();
            let root = repository.map(|repository| repository.root.display().to_string()).unwrap_or_default();
            let address =
                repository.and_then(|repository| repository.remote()).unwrap_or_default().to_owned();
            Whence { project, root, address }
        }
        Home::Directory { path } => {
            Whence { project, root: String::new(), address: path.display().to_string() }
        }
        Home::Server { about } => Whence { project, root: String::new(), address: about.id.clone() },
    }
}

fn unusable(err: RemoteError) -> Failure {
    Failure::from(SyncError::from(err))
}

const GOES_ON: &str = "what was done stands, and `memdir sync` goes on from there";

/// Says what to do about a place that could not be asked.
fn hint(err: &RemoteError) -> &'static str {
    match err {
        RemoteError::Unreachable { .. } => "nothing was changed; `memdir sync` goes on once it is back",
        RemoteError::Unauthorized { .. } => {
            "ask for an invitation, and `memdir team join URL#INVITATION` with it; nothing is lost by that"
        }
        RemoteError::Protocol { .. } => {
            "nothing was changed; the older of the two has to be updated, this memdir or the server"
        }
        RemoteError::Busy { .. } => "nothing is lost; try again in a while",
        RemoteError::Nonsense { .. } => "nothing of it was taken over; look at the address",
        _ => GOES_ON,
    }
}

impl From<SyncError> for Failure {
    fn from(err: SyncError) -> Self {
        let failure = Self::from_chain(&err);
        match err {
            SyncError::Commit(err) => Self::from(err),
            SyncError::Remote(RemoteError::Unusable { .. }) => failure
                .hint("a team folder is a plain directory of your own: no link, not writable by everybody"),
            SyncError::Remote(err) => failure.hint(hint(&err)),
            SyncError::Io { .. } => failure.hint(GOES_ON),
            SyncError::Lock(_) => failure.hint("another sync is at work: try again"),
        }
    }
}

impl From<TrustError> for Failure {
    fn from(err: TrustError) -> Self {
        Self::from_chain(&err).hint("nobody is believed until it can be read")
    }
}
