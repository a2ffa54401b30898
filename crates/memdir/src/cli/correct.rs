//! `memdir correct`: says what is true instead.

use memdir_core::change::Edit;
use memdir_core::memory::Value;
use memdir_store::ledger::How;

use super::save::replace_body;
use super::writing::{self, Why, one_line, set};
use crate::context::{Context, Found, STDIN, dash_is_stdin, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Correct a memory that turned out wrong
///
/// The new body comes from --body or stdin. The old text stays in the history: `memdir undo` brings it back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory
    name: String,
    /// What is true, instead of stdin; `-` is stdin
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// A new description, where the old one is wrong too
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    #[command(flatten)]
    why: Why,
}

pub(crate) fn run(args: Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Found { vault, loaded } = context.find(&args.name)?;
    let description = args.description.clone();
    let is_description_piped = description.as_deref() == Some(STDIN);
    let body =
        if args.body.is_none() && is_description_piped { None } else { text_or_stdin(args.body.clone())? };
    let description = description.map(dash_is_stdin).transpose()?;
    if body.is_none() && description.is_none() {
        return Err(Failure::error("nothing to correct").hint("give what is true by --body or on stdin"));
    }
    let mut document = loaded.document.clone();
    if let Some(body) = &body {
        document = replace_body(&document, body)?;
    }
    if let Some(description) = &description {
        document = set(document, "description", &Value::Text(one_line(description, ui)?))?;
    }
    if document.bytes() != loaded.document.bytes() {
        // What was checked is not what it says now.
        if document.get("verified").is_some() {
            document = document.remove("verified").map_err(|err| writing::cannot_edit(&err))?;
        }
        document = writing::touch(document, context, args.why.session.as_deref())?;
    }
    let base = loaded.document.bytes().to_vec();
    let edit = Edit::Replace { path: loaded.path.clone(), base, text: document.bytes().to_vec() };
    let set = args.why.change_set("correct", vec![edit])?;
    let committed = writing::commit(&vault, &set, context, ui)?;
    writing::note_use(&vault, &loaded, How::Edited, args.why.session.as_deref(), context);
    writing::print_written(loaded.path.stem(), &committed, ui);
    Ok(Outcome::Done)
}
