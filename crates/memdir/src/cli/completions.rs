//! `memdir completions`: what a shell needs to complete our commands.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Print shell completions
///
/// For instance: memdir completions bash > ~/.local/share/bash-completion/completions/memdir
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "memdir", &mut script);
    ui.raw(&script);
    Ok(Outcome::Done)
}
