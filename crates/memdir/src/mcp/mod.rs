//! The memory hub: memdir as a server of the Model Context Protocol, over standard streams or loopback HTTP.
//!
//! ```text
//!    host ─▶ stdio · http (door: Host, Origin, token) ─▶ Server ─▶ tools · resources · prompts
//!                                                                    │  one Call, one Desk; over stdio
//!                                                                    ▼  in a process of its own (apart)
//!                                              the functions behind the commands ─▶ recall · commit
//! ```
//!
//! Nothing is opened before it is asked for: a session that never calls a tool costs a process and no file. Each call opens
//! the place anew at its [`desk::Desk`], so that a vault that moves, breaks or comes back needs no restart. Whatever goes
//! wrong in a call is an answer to that call; the process ends when its host does, and for no other reason. The SDK and the
//! runtime are known only below this module. Look at [`server::Server`] first.

pub(crate) mod apart;
mod arguments;
mod call;
mod checks;
mod desk;
mod facts;
pub(crate) mod http;
mod memory;
mod parent;
mod prompts;
mod reply;
mod resources;
mod sampling;
mod search;
mod server;
mod sessions;
mod tools;

use std::path::PathBuf;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;

use crate::failure::{Failure, Outcome};
use parent::Parent;
use server::{Server, Where};

/// How many calls are worked on at a time.
const MAX_AT_WORK: usize = 4;
/// An idle thread is given back after this time.
const THREAD_REST: Duration = Duration::from_secs(2);
/// A call that is at work when the host leaves has this long to end.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Where the server looks for memories, if not where it was started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    /// This vault and nothing else.
    pub(crate) vault: Option<PathBuf>,
    /// The project of this directory.
    pub(crate) project: Option<PathBuf>,
}

/// Returns the names and descriptions of the tools, as they are listed.
pub(crate) fn tools() -> Vec<(String, String)> {
    let described = |tool: &rmcp::model::Tool| {
        (tool.name.to_string(), tool.description.as_deref().unwrap_or_default().to_owned())
    };
    tools::listed().iter().map(described).collect()
}

/// Serves one host over standard input and output, until it closes them or ends.
pub(crate) fn serve_stdio(options: Options) -> Result<Outcome, Failure> {
    let parent = Parent::now();
    let runtime = runtime()?;
    runtime.block_on(async {
        let server = Server::new(options, Where::Apart);
        tokio::select! {
            () = serve_host(server) => {}
            () = parent::ended(parent) => {}
        }
    });
    runtime.shutdown_timeout(LAST_MOMENT);
    Ok(Outcome::Done)
}

async fn serve_host(server: Server) {
    // A host that leaves before it has said anything is none that must be told of an error.
    if let Ok(running) = server.serve(stdio_pipes()).await {
        let _ = running.waiting().await;
    }
}

/// Starts what tasks run on: one thread for talking, a few for work that waits for disks.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(MAX_AT_WORK)
        .thread_keep_alive(THREAD_REST)
        .build()
        .map_err(|err| Failure::error(format!("could not start the server: {err}")))
}
