//! `memdir supersede`: one memory takes another's place.

use memdir_core::change::{Edit, Exit};
use memdir_core::memory::Value;

use super::writing::{self, Why, set};
use crate::context::{Context, Found};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Let one memory take another's place
///
/// OLD leaves the vault for the archive, marked as superseded; NEW, which must exist, says what it replaces.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The memory that no longer holds
    old: String,
    /// The memory that holds instead
    new: String,
    #[command(flatten)]
    why: Why,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Found { vault, loaded: old } = context.find(&args.old)?;
    let Found { vault: new_vault, loaded: new } = context.find(&args.new)?;
    if old.path == new.path && vault.path() == new_vault.path() {
        return Err(Failure::error("a memory cannot take its own place"));
    }
    if vault.path() != new_vault.path() {
        return Err(Failure::error("the two memories are in different vaults")
            .hint("`memdir promote` moves one to the user vault first"));
    }
    let text = |text: &str| Value::Text(text.to_owned());
    let mut archived = old.document.clone();
    // A file that cannot be edited is archived as it is.
    for (field, value) in [("status", text("superseded")), ("superseded_by", text(new.path.stem()))] {
        archived = archived.set(field, &value).unwrap_or(archived);
    }
    let mut supersedes = new.memory.supersedes.clone();
    if !supersedes.iter().any(|name| name == old.path.stem()) {
        supersedes.push(old.path.stem().to_owned());
    }
    let mut document = set(new.document.clone(), "supersedes", &Value::list(supersedes))?;
    document = writing::touch(document, context, args.why.session.as_deref())?;
    let replace = Edit::Replace {
        path: new.path.clone(),
        base: new.document.bytes().to_vec(),
        text: document.bytes().to_vec(),
    };
    let into = Exit::Archive(archived.bytes().to_vec());
    let remove = Edit::Remove { path: old.path.clone(), base: old.document.bytes().to_vec(), into };
    let change_set = args.why.change_set("supersede", vec![replace, remove])?;
    let committed = writing::commit(&vault, &change_set, context, ui)?;
    writing::print_written(new.path.stem(), &committed, ui);
    Ok(Outcome::Done)
}
