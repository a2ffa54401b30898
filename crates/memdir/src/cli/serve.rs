//! `memdir serve`: the team server, and what its keeper does to it.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use memdir_core::team::wire::{MemberName, Scope, TeamKind, TeamName};
use memdir_server::listen::{self, Sockets};
use memdir_server::storage::{Actor, NewInvite, NewToken, Postgres, Sqlite, Storage, StorageError, Team};
use memdir_server::{App, Config, Hosts, Logged, Rate, credentials};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Where it listens if nothing is said: this machine only.
const LISTEN: &str = "127.0.0.1:7420";
/// Where the database is if nothing is said, below the state root.
const DATABASE: &str = "server/team.db";
/// How long an invitation counts.
const INVITE_DAYS: u32 = 7;
/// Descriptors that are no connections: the database, the standard streams. Where there are few at all, half of them.
const OTHER_FILES: u64 = 64;
/// Threads that compute. More would only take memory: requests wait in turn.
const THREADS: usize = 8;

/// Serve team memory over HTTP
///
/// Keeps what a team remembers in one SQLite file, or in PostgreSQL, for members that join with an invitation. The first start
/// makes a team and prints the invitation of its first admin. It listens on this machine only, unless a proxy that speaks TLS
/// stands before it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir serve --listen 127.0.0.1:7420
  memdir serve --listen 0.0.0.0:7420 --behind-proxy --host memory.example.com
  memdir serve invite --scope write --member ann
  memdir serve backup /var/backups/team.db")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    house: House,
}

/// Where the teams are.
#[derive(Debug, clap::Args)]
struct Database {
    /// The database: a file, or postgres://… or `host=… dbname=…` without a password
    #[arg(long, value_name = "PATH|URL", global = true)]
    db: Option<String>,
    /// A file whose first line is the database, for a URL with a password; `MEMDIR_DB` may say it too
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "db")]
    db_file: Option<PathBuf>,
}

/// How it serves.
#[derive(Debug, clap::Args)]
struct House {
    /// Listen at this address [default: 127.0.0.1:7420]; port 0 takes any free one, told on stderr
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The team that the first start makes
    #[arg(long, value_name = "NAME", default_value = "team")]
    team: String,
    /// Answer to this name too, as the proxy passes it on
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// A proxy that speaks TLS stands before it: allows addresses that others reach, and believes its X-Forwarded-For
    #[arg(long)]
    behind_proxy: bool,
    /// Print a line for each request on stderr: route, status, time, member; never a token or a text
    #[arg(long)]
    log: bool,
    #[command(flatten)]
    limits: Limits,
}

/// What it takes.
#[derive(Debug, clap::Args)]
struct Limits {
    /// Memories of a team
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    max_memories: u64,
    /// Bytes of a team, older versions included
    #[arg(long, value_name = "N", default_value_t = 512 << 20)]
    max_bytes: u64,
    /// Memories of one author
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    max_author_memories: u64,
    /// Requests a second of one token
    #[arg(long, value_name = "N", default_value_t = 60)]
    rate: u32,
    /// Requests of one token at once
    #[arg(long, value_name = "N", default_value_t = 300)]
    burst: u32,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 4_096)]
    max_connections: u32,
    /// Days that a removal and an older version are remembered
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=36_500))]
    tombstone_days: u64,
}

/// What its keeper does.
#[derive(Debug, clap::Subcommand)]
enum What {
    /// Teams of this server
    #[command(subcommand)]
    Team(TeamWhat),
    /// Invite somebody, without a token of your own
    Invite(InviteArgs),
    /// Make a token of the server itself
    Token(TokenArgs),
    /// Copy the database into a new file while the server runs
    Backup {
        /// The new file
        file: PathBuf,
    },
    /// Forget removals and older versions now that are older than their days; the server does so daily
    Purge {
        /// Older than this
        #[arg(long, value_name = "N", default_value_t = 90, value_parser = clap::value_parser!(u64).range(0..=36_500))]
        days: u64,
    },
}

#[derive(Debug, clap::Subcommand)]
enum TeamWhat {
    /// Make a team, and invite its first admin
    Add {
        /// Its name
        name: String,
        /// For one person's machines: private memories and ledgers too
        #[arg(long)]
        own: bool,
    },
    /// List the teams
    List,
}

#[derive(Debug, clap::Args)]
struct InviteArgs {
    /// The team; may be left out if there is one
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// What the token will allow: read, write or admin
    #[arg(long, value_name = "SCOPE", default_value = "write")]
    scope: String,
    /// Whom it is for; needed for a name that was used before
    #[arg(long, value_name = "NAME")]
    member: Option<String>,
    /// Days until it expires
    #[arg(long, value_name = "N", default_value_t = INVITE_DAYS, value_parser = clap::value_parser!(u32).range(1..=90))]
    days: u32,
}

#[derive(Debug, clap::Args)]
struct TokenArgs {
    /// One that reads /metrics and nothing else
    #[arg(long, required = true)]
    metrics: bool,
    /// Days until it expires; without it, it does not
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3_650))]
    days: Option<u32>,
}

pub(crate) fn run(args: &Args, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_io().enable_time().max_blocking_threads(THREADS).build();
    let runtime = runtime.map_err(|err| Failure::error(format!("could not start the server: {err}")))?;
    let database = args.database.resolve()?;
    runtime.block_on(async {
        match database {
            Resolved::File(path) => {
                let unusable =
                    |err| Failure::error(format!("could not open the database {}: {err}", path.display()));
                let storage = Sqlite::open(&path).map_err(unusable)?;
                match &args.what {
                    Some(What::Backup { file }) => back_up(&storage, file, ui).await,
                    _ => act(storage, args, ui).await,
                }
            }
            Resolved::Postgres(address) => {
                let unusable = |err| Failure::error(format!("could not open the database: {err}"));
                act(Postgres::open(&address).await.map_err(unusable)?, args, ui).await
            }
        }
    })
}

/// Does what was asked, whatever the database is.
async fn act<S: Storage>(storage: S, args: &Args, ui: &mut Ui) -> Result<Outcome, Failure> {
    match &args.what {
        Some(what) => keep(&storage, what, ui).await,
        None => serve(storage, &args.house).await,
    }
}

/// What was said to be the database.
enum Resolved {
    File(PathBuf),
    Postgres(String),
}

impl Database {
    fn resolve(&self) -> Result<Resolved, Failure> {
        if let Some(said) = &self.db {
            if has_password(said) {
                return Err(Failure::error(
                    "a password on the command line can be seen by every user of this machine",
                )
                .hint("write the URL into a file that is yours alone, and name it with `--db-file FILE`"));
            }
            return Ok(read_database(said));
        }
        if let Some(file) = &self.db_file {
            let unreadable = |err| Failure::error(format!("could not read {}: {err}", file.display()));
            let text = fs::read_to_string(file).map_err(unreadable)?;
            let first = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
            let empty = || Failure::error(format!("{} names no database", file.display()));
            return first.map(read_database).ok_or_else(empty);
        }
        if let Some(said) = context::team_database() {
            return Ok(read_database(&said));
        }
        Ok(Resolved::File(context::environment(None, None).state_root()?.join(DATABASE)))
    }
}

/// Words that an address of PostgreSQL may begin with, if it is no URL.
const POSTGRES_WORDS: [&str; 6] = ["host=", "port=", "user=", "password=", "dbname=", "sslmode="];

fn is_postgres(text: &str) -> bool {
    let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
    is_url || POSTGRES_WORDS.iter().any(|word| text.starts_with(word))
}

fn read_database(text: &str) -> Resolved {
    if is_postgres(text) { Resolved::Postgres(text.to_owned()) } else { Resolved::File(PathBuf::from(text)) }
}

/// Says whether an address has a password: before the host of a URL, among its parameters, or as a word of its own.
fn has_password(text: &str) -> bool {
    if !is_postgres(text) {
        return false;
    }
    let Some((_, rest)) = text.split_once("://") else { return text.contains("password=") };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let before_host = place.split('/').next().and_then(|authority| authority.rsplit_once('@'));
    before_host.is_some_and(|(user, _)| user.contains(':')) || query.contains("password=")
}

fn failed(err: StorageError) -> Failure {
    Failure::error(err.to_string())
}

async fn serve<S: Storage>(storage: S, house: &House) -> Result<Outcome, Failure> {
    let address = address(house.listen.as_deref().unwrap_or(LISTEN), house.behind_proxy)?;
    let in_use = |err| {
        Failure::error(format!("could not listen at {address}: {err}"))
            .hint("`--listen 127.0.0.1:0` takes any free port")
    };
    let listener = TcpListener::bind(address).await.map_err(in_use)?;
    let bound = listener.local_addr().map_err(in_use)?;
    let welcome = welcome(&storage, house, bound).await?;
    let app = App::new(storage, house.config(bound.port())).with_clock(context::now);
    let app = Arc::new(if house.log { app.with_log(tell) } else { app });
    let sockets = Sockets {
        max_connections: places(house.limits.max_connections, 1, OTHER_FILES),
        ..Sockets::default()
    };
    let stop = stop(1)?;
    Ui::complain(&format!("memdir serves http://{bound}\n{welcome}"));
    listen::serve(listener, app, sockets, stop).await;
    Ok(Outcome::Done)
}

fn tell(logged: &Logged) {
    let member = logged.member.as_deref().unwrap_or("-");
    let millis = logged.took.as_millis();
    Ui::complain(&format!("{} {} {} {millis}ms {member}\n", Timestamp::now(), logged.route, logged.status));
}

/// Returns what ends when the signals that ask a server to go have come so many times.
pub(super) fn stop(times: usize) -> Result<impl Future<Output = ()>, Failure> {
    let listen =
        |kind| signal(kind).map_err(|err| Failure::error(format!("could not listen for signals: {err}")));
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        for _ in 0..times {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
    })
}

/// Reads an address; one that other machines reach only with a proxy before it, because tokens would travel in the open.
fn address(text: &str, is_behind_proxy: bool) -> Result<SocketAddr, Failure> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let address = local.or_else(|| text.parse().ok()).ok_or_else(|| {
        Failure::error(format!("`{text}` is no address"))
            .hint("write it like 127.0.0.1:7420; port 0 takes any free one")
    })?;
    if !address.ip().is_loopback() && !is_behind_proxy {
        return Err(Failure::error(format!(
            "`{text}` can be reached from other machines, and tokens would travel unencrypted"
        ))
        .hint("put a proxy that speaks TLS before it and say so with `--behind-proxy --host NAME`"));
    }
    Ok(address)
}

impl House {
    fn config(&self, port: u16) -> Config {
        let mut config = Config::new(Hosts::new(port, &self.host));
        config.quotas.memories = self.limits.max_memories;
        config.quotas.bytes = self.limits.max_bytes;
        config.quotas.of_author = self.limits.max_author_memories;
        config.rate = Rate {
            per_second: f64::from(self.limits.rate.max(1)),
            burst: f64::from(self.limits.burst.max(1)),
        };
        config.tombstone_days = self.limits.tombstone_days;
        config.behind_proxy = self.behind_proxy;
        config
    }

    /// Where members find it, as far as it knows.
    fn url(&self, bound: SocketAddr) -> String {
        match self.host.first() {
            Some(host) => format!("https://{host}"),
            None => format!("http://{bound}"),
        }
    }
}

/// Returns how many connections there are descriptors for, having asked for as many as are allowed.
pub(super) fn places(most: u32, files_each: u64, other_files: u64) -> u32 {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = u64::from(most) * files_each + other_files;
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = limit.maximum.map_or(wanted, |most| most.min(wanted));
        limit.current = Some(raised);
        // Refused, it stays as it was, which is asked below.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(wanted);
    let free = (current.saturating_sub(other_files.min(current / 2)) / files_each).max(1);
    u32::try_from(free).unwrap_or(u32::MAX).min(most.max(1))
}

/// Makes the first team of an empty database, and says how its first admin joins.
async fn welcome<S: Storage>(storage: &S, house: &House, bound: SocketAddr) -> Result<String, Failure> {
    if !storage.teams().await.map_err(failed)?.is_empty() {
        return Ok(String::new());
    }
    let Some((team, invite)) = found(storage, &house.team, TeamKind::Team).await? else {
        return Ok(String::new());
    };
    Ok(format!(
        "team `{}` is new; its first admin joins with\n\n  memdir team join {}#{invite}\n\n\
         this is shown once and counts for {INVITE_DAYS} days\n",
        team.name,
        house.url(bound)
    ))
}

/// Makes a team with an invitation for its first admin; `None` if there is one of that name.
async fn found<S: Storage>(
    storage: &S,
    name: &str,
    kind: TeamKind,
) -> Result<Option<(Team, String)>, Failure> {
    let name = TeamName::new(name).map_err(|err| Failure::error(err.to_string()))?;
    let Some(team) = storage.add_team(&name, kind, now()).await.map_err(failed)? else { return Ok(None) };
    let (_, secret) = invite(storage, &team, Scope::Admin, None, INVITE_DAYS).await?;
    Ok(Some((team, secret)))
}

fn now() -> Timestamp {
    let now = context::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

fn in_days(days: u32) -> Timestamp {
    now() + SignedDuration::from_hours(24 * i64::from(days))
}

const SERVER: Actor = Actor { member: None, token: None };

async fn invite<S: Storage>(
    storage: &S,
    team: &Team,
    scope: Scope,
    member: Option<MemberName>,
    days: u32,
) -> Result<(NewInvite, String), Failure> {
    let minted = credentials::invite().map_err(|err| Failure::error(format!("no random bytes: {err}")))?;
    let invite = NewInvite { id: minted.id, hash: minted.hash, scope, member, expires: in_days(days) };
    storage.add_invite(team.id, &invite, &SERVER, now()).await.map_err(failed)?;
    Ok((invite, minted.secret))
}

async fn back_up(storage: &Sqlite, file: &Path, ui: &mut Ui) -> Result<Outcome, Failure> {
    let bytes = storage.backup(file).await.map_err(failed)?;
    if ui.is_json() {
        ui.json(&json!({ "file": file, "bytes": bytes }));
    } else {
        ui.line(&format!("{} {bytes} bytes", file.display()));
    }
    Ok(Outcome::Done)
}

async fn keep<S: Storage>(storage: &S, what: &What, ui: &mut Ui) -> Result<Outcome, Failure> {
    match what {
        What::Team(TeamWhat::Add { name, own }) => add_team(storage, name, *own, ui).await,
        What::Team(TeamWhat::List) => list_teams(storage, ui).await,
        What::Invite(args) => invite_one(storage, args, ui).await,
        What::Token(args) => make_token(storage, args, ui).await,
        What::Purge { days } => purge(storage, *days, ui).await,
        What::Backup { .. } => {
            Err(Failure::error("`serve backup` copies a file, and these teams are in PostgreSQL")
                .hint("`pg_dump --format=custom --file FILE` copies them while the server runs"))
        }
    }
}

async fn add_team<S: Storage>(
    storage: &S,
    name: &str,
    is_own: bool,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let kind = if is_own { TeamKind::Own } else { TeamKind::Team };
    let Some((team, secret)) = found(storage, name, kind).await? else {
        return Err(Failure::refusal(format!("there is a team `{name}` already")));
    };
    if ui.is_json() {
        ui.json(&json!({ "team": team.name, "kind": kind.as_str(), "invite": secret }));
    } else {
        ui.say(&format!("team `{}` is new; its first admin joins with `memdir team join URL#INVITE`, this being the invitation:", team.name));
        ui.line(&secret);
    }
    Ok(Outcome::Done)
}

async fn list_teams<S: Storage>(storage: &S, ui: &mut Ui) -> Result<Outcome, Failure> {
    let teams = storage.teams().await.map_err(failed)?;
    if ui.is_json() {
        let rows = teams.iter().map(|team| {
            json!({ "team": team.name, "kind": team.kind.as_str(), "memories": team.memories, "bytes": team.bytes, "cursor": team.seq })
        });
        ui.json(&rows.collect::<Vec<_>>());
        return Ok(Outcome::Done);
    }
    for team in &teams {
        ui.line(&format!(
            "{} {} {} memories {} bytes",
            team.name,
            team.kind.as_str(),
            team.memories,
            team.bytes
        ));
    }
    Ok(if teams.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// Finds the team that is meant: the one that is named, or the only one.
async fn team_of<S: Storage>(storage: &S, name: Option<&str>) -> Result<Team, Failure> {
    let teams = storage.teams().await.map_err(failed)?;
    match name {
        Some(name) => teams
            .into_iter()
            .find(|team| team.name.as_str() == name)
            .ok_or_else(|| Failure::refusal(format!("there is no team `{name}`"))),
        None => {
            let mut teams = teams.into_iter();
            let several = || Failure::error("which team is not clear").hint("name it with `--team NAME`");
            let only = teams.next().ok_or_else(|| Failure::refusal("there is no team yet"))?;
            if teams.next().is_some() { Err(several()) } else { Ok(only) }
        }
    }
}

async fn invite_one<S: Storage>(storage: &S, args: &InviteArgs, ui: &mut Ui) -> Result<Outcome, Failure> {
    let unknown = || Failure::error(format!("`{}` is no scope: read, write or admin", args.scope));
    let scope = Scope::from_word(&args.scope).ok_or_else(unknown)?;
    let member = args.member.as_deref().map(MemberName::new).transpose();
    let member = member.map_err(|err| Failure::error(err.to_string()))?;
    let team = team_of(storage, args.team.as_deref()).await?;
    let (invite, secret) = invite(storage, &team, scope, member, args.days).await?;
    if ui.is_json() {
        ui.json(&json!({ "team": team.name, "invite": secret, "id": invite.id, "expires": invite.expires }));
    } else {
        ui.say(&format!(
            "joins team `{}` with `memdir team join URL#INVITE`, this being the invitation:",
            team.name
        ));
        ui.line(&secret);
    }
    Ok(Outcome::Done)
}

async fn make_token<S: Storage>(storage: &S, args: &TokenArgs, ui: &mut Ui) -> Result<Outcome, Failure> {
    let minted = credentials::token().map_err(|err| Failure::error(format!("no random bytes: {err}")))?;
    let token = NewToken {
        id: minted.id,
        hash: minted.hash,
        scope: Scope::Read,
        label: Some("metrics".to_owned()),
        expires: args.days.map(in_days),
    };
    storage.add_server_token(&token, now()).await.map_err(failed)?;
    if ui.is_json() {
        ui.json(&json!({ "token": minted.secret, "id": token.id, "expires": token.expires }));
    } else {
        ui.say("this token reads /metrics and nothing else; it is shown once:");
        ui.line(&minted.secret);
    }
    Ok(Outcome::Done)
}

async fn purge<S: Storage>(storage: &S, days: u64, ui: &mut Ui) -> Result<Outcome, Failure> {
    let age = SignedDuration::from_hours(24 * i64::try_from(days).unwrap_or(36_500));
    let purged = storage.purge(now() - age).await.map_err(failed)?;
    if ui.is_json() {
        ui.json(&json!({ "tombstones": purged.tombstones, "versions": purged.versions, "invites": purged.invites }));
    } else {
        ui.line(&format!(
            "forgot {} removals, {} older versions, {} invitations",
            purged.tombstones, purged.versions, purged.invites
        ));
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S19.
    #[test]
    fn a_password_is_seen_wherever_a_url_may_have_it() {
        // Put together here: our own scanner looks through this file too.
        let password = |user: &str, rest: &str| format!("postgres://{user}:{rest}");
        for with in [
            password("u", "p@h/d"),
            password("u", "@h").replacen("postgres", "postgresql", 1),
            "postgres://h/d?password=x".to_owned(),
            password("u", "p%40@h:5432/d?sslmode=require"),
            "host=h dbname=d password=x".to_owned(),
        ] {
            assert!(has_password(&with), "{with}");
        }
        for without in [
            "postgres://u@h/d",
            "postgres://h:5432/d",
            "postgres:///d?host=/run",
            "host=/run/postgresql dbname=d",
            "/home/a:b@c/team.db",
            "team.db",
        ] {
            assert!(!has_password(without), "{without}");
        }
    }

    #[test]
    fn addresses_that_others_reach_need_a_proxy() {
        assert!(address("127.0.0.1:0", false).is_ok());
        assert!(address("localhost:7420", false).is_ok());
        assert!(address("[::1]:7420", false).is_ok());
        assert!(address("0.0.0.0:7420", false).is_err());
        assert!(address("0.0.0.0:7420", true).is_ok());
        assert!(address("7420", true).is_err());
    }
}
