//! `memdir promote`: a candidate becomes a memory, or a memory of one project one for all.

use memdir_core::change::{Edit, Exit};
use memdir_core::memory::Value;
use memdir_store::vault::{Proposal, Vault};

use super::writing::{self, Why};
use crate::context::{Context, Found, unreadable_state};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Make a candidate a memory, or a memory of this project one for all projects
///
/// A candidate that waits (`memdir review`) enters its vault, if the gates agree; with `--to user` it goes on to the user
/// vault. What is confirmed counts more: a candidate that would change a memory is not promoted but accepted.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory or candidate
    name: String,
    /// Where to: the user vault, which is where a memory goes unless said otherwise
    #[arg(long, value_name = "VAULT", value_parser = ["user"])]
    to: Option<String>,
    /// Although a gate refuses; the reason is kept in the log
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    force: Option<String>,
    #[command(flatten)]
    why: Why,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let found = match context.find(&args.name) {
        Ok(found) => {
            // A change that waits under this name is what is meant, unless the user says where the memory is to go.
            if args.to.is_none()
                && let Some((_, proposal)) = candidate(&args.name, context)?
            {
                return Err(counts_more(&args.name, &proposal));
            }
            found
        }
        Err(failure) => {
            let Some((vault, proposal)) = candidate(&args.name, context)? else { return Err(failure) };
            confirm(&vault, &proposal, args, context, ui)?;
            if args.to.is_none() {
                return Ok(Outcome::Done);
            }
            context.find(&args.name)?
        }
    };
    if found.is_user() {
        ui.say("it is in the user vault already");
        return Ok(Outcome::Done);
    }
    let Found { vault, loaded } = found;
    let user = context.create_user()?;
    let origin = Value::Text(context.place.project.id.to_string());
    // A file that cannot be edited moves as it is.
    let document = loaded.document.set("origin_project", &origin).unwrap_or_else(|_| loaded.document.clone());
    let into = Exit::UserVault(loaded.path.clone(), document.bytes().to_vec());
    let edit = Edit::Remove { path: loaded.path.clone(), base: loaded.document.bytes().to_vec(), into };
    let mut set = args.why.change_set("promote", vec![edit])?;
    set.force.clone_from(&args.force);
    let committed = context.writer(&vault)?.with_user_vault(&user)?.commit(&set)?;
    writing::announce(&committed, ui);
    writing::print_written(loaded.path.stem(), &committed, ui);
    Ok(Outcome::Done)
}

/// Finds what waits under a name.
fn candidate(name: &str, context: &Context) -> Result<Option<(Vault, Proposal)>, Failure> {
    for vault in context.vaults()? {
        let waiting = vault.inbox().map_err(|err| unreadable_state(&vault, &err))?;
        let is_meant = |proposal: &Proposal| proposal.path().is_some_and(|path| path.stem() == name);
        if let Some(proposal) = waiting.into_iter().find(is_meant) {
            return Ok(Some((vault, proposal)));
        }
    }
    Ok(None)
}

/// Lets a candidate in on the word of the user; every gate is asked.
fn confirm(
    vault: &Vault,
    proposal: &Proposal,
    args: &Args,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), Failure> {
    if proposal.kind(vault) != "new" {
        return Err(counts_more(&args.name, proposal));
    }
    let committed = context.writer(vault)?.accept(proposal, None, args.force.clone())?;
    writing::announce(&committed, ui);
    if args.to.is_none() {
        writing::print_written(&args.name, &committed, ui);
    }
    Ok(())
}

/// A candidate that changes a memory is accepted, not promoted.
fn counts_more(name: &str, proposal: &Proposal) -> Failure {
    Failure::refusal(format!("`{name}` is confirmed and counts more than the candidate")).hint(format!(
        "`memdir review show {0}`, then `memdir review accept {0}`; `memdir promote {name} --to user` moves the memory",
        proposal.id
    ))
}
