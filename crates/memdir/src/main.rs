//! The `memdir` command: parses, runs, prints, exits.
//!
//! Rules of the domain live in `memdir-core`, files in `memdir-store`; here is only what a person or a program at
//! the command line sees. Exit codes: 0 done or found, 1 nothing found or refused, 2 error.

mod asking;
mod cli;
mod context;
mod failure;
mod gateway;
mod hook;
mod mcp;
mod memory_tool;
mod outlet;
mod ui;
mod work;
mod zone;

use std::process::ExitCode;

fn main() -> ExitCode {
    outlet::report_crashes();
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let mut ui = ui::Ui::new(cli.global.json, cli.global.quiet);
    let outcome = cli::run(cli, &mut ui);
    ui.finish(outcome)
}
