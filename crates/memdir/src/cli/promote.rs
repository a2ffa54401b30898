//! `memdir promote`: a memory of one project becomes a memory for all.

use memdir_core::change::{Edit, Exit};
use memdir_core::memory::Value;

use super::writing::{self, Why};
use crate::context::{Context, Found};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Make a memory of this project one for all projects
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory
    name: String,
    /// Where to: the user vault
    #[arg(long, value_name = "VAULT", default_value = "user", value_parser = ["user"])]
    to: String,
    /// Although a gate refuses; the reason is kept in the log
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    force: Option<String>,
    #[command(flatten)]
    why: Why,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let found = context.find(&args.name)?;
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
