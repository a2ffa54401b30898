//! The two commands that agents call, read without the others.
//!
//! To describe every command and option costs more than a hook does with a prompt, and what it touches stays in the memory
//! of a server for as long as it runs. So a command line that begins like one of an agent is read against these two alone.
//! Whatever does not fit, help and mistakes among it, is left to the whole description, which is the only one that people
//! see.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use super::{Cli, Command, Global, mcp};
use crate::hook;

#[derive(Debug, Parser)]
#[command(name = "memdir")]
struct Called {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: ByAgents,
}

#[derive(Debug, Subcommand)]
enum ByAgents {
    Hook(hook::Args),
    Mcp(mcp::Args),
}

/// Reads a command line if it is one of an agent.
pub(super) fn read(line: &[OsString]) -> Option<Cli> {
    let first = line.get(1)?;
    if first != "hook" && first != "mcp" {
        return None;
    }
    let Called { global, command } = Called::try_parse_from(line).ok()?;
    let command = match command {
        ByAgents::Hook(args) => Command::Hook(args),
        ByAgents::Mcp(args) => Command::Mcp(args),
    };
    Some(Cli { global, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn what_agents_call_is_read_as_the_whole_description_reads_it() {
        for text in [
            "memdir mcp",
            "memdir mcp --call --vault v",
            "memdir mcp --http 127.0.0.1:0 --new-tokens --project p",
            "memdir hook codex UserPromptSubmit",
            "memdir hook --vault=v claude-code SessionStart --json -q",
        ] {
            let short = read(&line(text)).unwrap();
            assert_eq!(format!("{short:?}"), format!("{:?}", Cli::try_parse_from(line(text)).unwrap()));
        }
    }

    #[test]
    fn everything_else_is_left_to_the_whole_description() {
        for text in [
            "memdir",
            "memdir list",
            "memdir --json mcp",
            "memdir hook --help",
            "memdir hook x",
            "memdir mcp x",
        ] {
            assert!(read(&line(text)).is_none(), "{text}");
        }
    }
}
