//! `memdir gateway`: memory for clients that know neither hooks nor MCP, by one base URL.

mod key;
mod log;
mod settled;
mod status;
mod undo;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memdir_server::gateway::{self, Gateway};
use memdir_server::listen::Sockets;
use memdir_store::disk::Dir;
use memdir_store::place;
use rustix::process::{Resource, getrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::serve;
use crate::context::{self, Context};
use crate::failure::{Failure, Outcome};
use crate::gateway::Remembering;
use crate::mcp::http::loopback;
use crate::ui::Ui;
use log::Log;
use settled::Settings;

pub(crate) use status::answers;

/// Where it listens if nothing is said.
const LISTEN: &str = "127.0.0.1:4738";
/// The directory of the gateway below the state root.
const DIR: &str = "gateway";
/// Where a gateway that runs says that it does, in that directory.
const RUNNING: &str = "running.json";
/// Each request takes the descriptor of a client and that of an upstream, and somebody else is between two requests.
const FILES_EACH: u64 = 3;
/// Descriptors that are no connections.
const OTHER_FILES: u64 = 32;
/// How long what is being answered may go on after the gateway was asked to stop.
const GRACE: Duration = Duration::from_secs(60);
/// Variables that decide which settings are read, or who may pose as an upstream.
const DECISIVE: [&str; 5] = ["MEMDIR_HOME", "XDG_DATA_HOME", "HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"];
/// With fewer addresses than this the allocator is told to spare them, by this variable.
const MANY_ADDRESSES: u64 = 4 << 30;
const POOLS: &str = "MALLOC_ARENA_MAX";
/// Between two looks at the settings.
const LOOK: Duration = Duration::from_secs(2);

/// Stand between clients and models, with memory
///
/// Listens on this machine only and speaks the interfaces of Anthropic, OpenAI and Gemini. A client that is given its address as
/// base URL gets what memory has for each prompt; every other byte passes as it came, both ways. Requests go where your settings
/// say and nowhere else, with the key that the client sends.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  memdir gateway --listen 127.0.0.1:4738
  ANTHROPIC_BASE_URL=http://127.0.0.1:4738 claude
  memdir gateway status")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Listen at this address of this machine; port 0 takes any free one, told on stderr
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Print a line for each request on stderr: route, status, times; never a key or a text
    #[arg(long)]
    log: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show what the gateway did; exit code 1 says that it does not run
    Status,
    /// Have a conversation that was shortened go on in full length; without a name, list those that were
    Undo(undo::Args),
    /// Keep a key for an upstream, read from standard input
    Key(key::Args),
}

pub(crate) fn run(
    args: &Args,
    vault: Option<PathBuf>,
    project: Option<PathBuf>,
    ui: &mut Ui,
) -> Result<Outcome, Failure> {
    let env = context::environment(None, None);
    is_of_the_user(&place::shipped_variables(&env))?;
    let home = env.state_root()?;
    match &args.what {
        Some(What::Status) => status::run(&home, ui),
        Some(What::Undo(args)) => undo::run(args, &home, ui),
        Some(What::Key(args)) => key::run(args, &home, ui),
        None => {
            spare_addresses()?;
            stand(args, Remembering::new(&home, vault, project), home)
        }
    }
}

/// Starts the program again with few pools of memory, where the system limits its addresses: of those the allocator of glibc takes
/// 64 MiB for each thread until there are none left, and a program that gets none ends. It reads this variable only at its start.
fn spare_addresses() -> Result<(), Failure> {
    let is_limited = getrlimit(Resource::As).current.is_some_and(|most| most < MANY_ADDRESSES);
    if !is_limited || std::env::var_os(POOLS).is_some() {
        return Ok(());
    }
    let failed = |err: std::io::Error| Failure::error(format!("could not start the gateway: {err}"));
    let program = std::env::current_exe().map_err(failed)?;
    let err = std::process::Command::new(program).args(std::env::args_os().skip(1)).env(POOLS, "2").exec();
    Err(failed(err))
}

/// Keys go where the settings say, encrypted for whom the system trusts: neither is for a repository to decide.
fn is_of_the_user(shipped: &BTreeMap<String, String>) -> Result<(), Failure> {
    let is_set = |name: &&&str| {
        shipped
            .get(**name)
            .is_some_and(|value| std::env::var_os(name).is_some_and(|set| set == value.as_str()))
    };
    match DECISIVE.iter().find(is_set) {
        None => Ok(()),
        Some(name) => {
            Err(Failure::refusal(format!("the repository sets {name}, and with it where requests go"))
                .hint("start the gateway outside of it"))
        }
    }
}

/// Returns the base URL at which the gateway is found if the settings say nothing.
pub(super) fn usual_base() -> String {
    format!("http://{LISTEN}")
}

/// Returns the base URL at which the gateway is found, as the settings have it.
pub(super) fn base(context: &Context) -> Result<String, Failure> {
    let address = loopback(context.place.settings.gateway.listen.as_deref().unwrap_or(LISTEN))?;
    if address.port() == 0 {
        return Err(Failure::refusal("the gateway takes another port at each start")
            .hint("give it one: `listen = \"127.0.0.1:4738\"` below `[gateway]` of memdir's config.toml"));
    }
    Ok(format!("http://{address}"))
}

fn stand(args: &Args, memory: Remembering, home: PathBuf) -> Result<Outcome, Failure> {
    let settings = Settings::load(home, context::is_off())?;
    let address = args.listen.as_deref().or(settings.listen()).unwrap_or(LISTEN);
    let address = loopback(address)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(n_threads()).build();
    let runtime = runtime.map_err(|err| Failure::error(format!("could not start the gateway: {err}")))?;
    runtime.block_on(async {
        let in_use = |err| Failure::error(format!("could not listen at {address}: {err}"));
        let listener = TcpListener::bind(address).await.map_err(in_use)?;
        let bound = listener.local_addr().map_err(in_use)?;
        let streams = serve::places(settings.max_streams(), FILES_EACH, OTHER_FILES);
        let log = Log::start(&settings, args.log);
        let gateway = Gateway::new(memory.clone(), settings.config(), bound.port(), streams).with_log(log);
        let gateway = Arc::new(gateway);
        let (stop, at_once) = (serve::stop(1)?, serve::stop(2)?);
        let sockets =
            Sockets { max_connections: streams.saturating_mul(2), grace: GRACE, ..Sockets::default() };
        let _sign = Sign::put_up(&settings, bound);
        let welcome = settings.welcome(bound);
        // Whoever read that it stands may send signals: they must find somebody who listens for them.
        let following = tokio::spawn(follow(gateway.clone(), memory.clone(), settings)?);
        Ui::complain(&welcome);
        tokio::select! {
            () = gateway::serve(listener, gateway, sockets, stop) => {}
            () = at_once => {}
        }
        memory.stop();
        following.abort();
        // The last lines are on their way.
        tokio::time::sleep(2 * log::PAUSE).await;
        Ok(Outcome::Done)
    })
}

/// Returns how many threads look into vaults at a time. They work more than they wait, so more of them are no faster, and each
/// takes its part of the addresses that a process may have.
fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(2, 8) * 8
}

/// Goes on with new settings whenever the files change, or when told to by a signal.
fn follow(
    gateway: Arc<Gateway<Remembering>>,
    memory: Remembering,
    mut settings: Settings,
) -> Result<impl Future<Output = ()>, Failure> {
    let hung_up = signal(SignalKind::hangup());
    let mut hung_up =
        hung_up.map_err(|err| Failure::error(format!("could not listen for signals: {err}")))?;
    Ok(async move {
        loop {
            let is_told = tokio::select! {
                _ = hung_up.recv() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            if settings.changed(is_told) {
                gateway.settle(settings.config());
                memory.settle();
            }
        }
    })
}

/// What tells others that a gateway runs, taken down when it ends.
struct Sign(Option<(Dir, String)>);

impl Sign {
    fn put_up(settings: &Settings, bound: SocketAddr) -> Self {
        if settings.is_off() {
            return Self(None);
        }
        let text = json!({ "address": bound.to_string(), "process": std::process::id() }).to_string();
        let put_up = |home: &Path| {
            let dir = Dir::ensure(home)?.ensure_sub(DIR)?;
            dir.replace(RUNNING, text.as_bytes()).map(|()| dir)
        };
        // Without it `status` does not find the gateway; requests do.
        Self(put_up(settings.home()).ok().map(|dir| (dir, text)))
    }
}

impl Drop for Sign {
    fn drop(&mut self) {
        let Some((dir, text)) = &self.0 else { return };
        // Another one may have started since.
        if dir.read(RUNNING, 1_024).is_ok_and(|there| there.is_some_and(|there| there == text.as_bytes())) {
            let _ = dir.remove(RUNNING);
        }
    }
}
