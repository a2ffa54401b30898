//! `memdir new`: a memory from the template of its type.

use memdir_core::change::Edit;
use memdir_core::memory::{Draft, MemoryName, MemoryType, template};
use memdir_store::vault::CommitError;

use super::writing::{self, Why};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Begin a memory from the template of its type
///
/// Prints the file's path; fill it in with `memdir edit NAME` or any editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name; by default the type and a number
    name: Option<String>,
    /// What it is about: user, feedback, project or reference
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    memory_type: String,
    /// One line that says when this memory matters
    #[arg(
        long,
        short,
        value_name = "TEXT",
        default_value = "one line that says when this memory matters",
        allow_hyphen_values = true
    )]
    description: String,
    #[command(flatten)]
    why: Why,
}

pub(crate) fn run(args: Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let memory_type: MemoryType = args.memory_type.parse()?;
    let vault = context.vault_for(memory_type, ui)?;
    let snapshot = vault.snapshot()?;
    let name = match &args.name {
        Some(name) => MemoryName::new(name)?,
        None => free_name(memory_type, |name| snapshot.find(name).is_some())?,
    };
    if snapshot.find(name.as_str()).is_some() {
        return Err(CommitError::Exists(name.to_string()).into());
    }
    let draft = Draft {
        created: Some(context.now),
        modified: Some(context.now),
        session: args.why.session.clone(),
        provenance: Some(args.why.provenance()?),
        body: template(memory_type).to_owned(),
        layout: context.place.settings.layout,
        ..Draft::new(name.clone(), memory_type, writing::one_line(&args.description, ui)?)
    };
    let edit = Edit::Create { path: name.path(), text: draft.render() };
    let mut set = args.why.change_set("new", vec![edit])?;
    // Two fresh templates say the same by design.
    set.force = Some("template".to_owned());
    let committed = writing::commit(&vault, &set, context, ui)?;
    writing::print_written(name.as_str(), &committed, ui);
    Ok(Outcome::Done)
}

fn free_name(memory_type: MemoryType, taken: impl Fn(&str) -> bool) -> Result<MemoryName, Failure> {
    let mut n = 1;
    loop {
        let name = format!("{memory_type}-{n}");
        if !taken(&name) {
            return Ok(MemoryName::new(&name)?);
        }
        n += 1;
    }
}
