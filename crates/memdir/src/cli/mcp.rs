//! `memdir mcp`: the memory hub, for every agent that speaks the Model Context Protocol.

use std::path::PathBuf;

use crate::failure::{Failure, Outcome};
use crate::mcp::{self, Options};

/// Serve memory to an agent over the Model Context Protocol
///
/// Over standard input and output, as agents start such servers; it ends when the agent does. Seven tools: search_memory,
/// memory, log_session, extract_facts, check_stale, validate_placement and index_markdown; memories are resources too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  claude mcp add -s user memdir -- memdir mcp
  codex mcp add memdir -- memdir mcp
  memdir mcp --http 127.0.0.1:4737")]
pub(crate) struct Args {
    /// Listen on this address of this machine instead; says on stderr where, and which file holds the token
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Make new tokens; the old ones count no more
    #[arg(long, requires = "http")]
    new_tokens: bool,
    /// Answer the one call on standard input: what a server starts for each
    #[arg(long, hide = true, conflicts_with = "http")]
    call: bool,
}

pub(crate) fn run(args: &Args, vault: Option<PathBuf>, project: Option<PathBuf>) -> Result<Outcome, Failure> {
    let options = Options { vault, project };
    match &args.http {
        Some(address) => mcp::http::serve(options, address, args.new_tokens),
        None if args.call => mcp::apart::answer_one(&options),
        None => mcp::serve_stdio(options),
    }
}
