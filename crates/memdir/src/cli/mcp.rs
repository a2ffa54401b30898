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
  codex mcp add memdir -- memdir mcp")]
pub(crate) struct Args {}

pub(crate) fn run(
    _args: &Args,
    vault: Option<PathBuf>,
    project: Option<PathBuf>,
) -> Result<Outcome, Failure> {
    mcp::serve_stdio(Options { vault, project })
}
