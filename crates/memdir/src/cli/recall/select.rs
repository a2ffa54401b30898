//! `memdir recall --select`: a small model chooses among what recall found.
//!
//! Only on demand: a hook asks no model. Without a model or an answer recall's own choice stands, and that is said.

use std::time::Duration;

use memdir_core::recall::{Moment, Note};
use memdir_mind::model::{Model, Opened, Purpose};
use memdir_mind::select::{Line, Question, Selection, select};
use memdir_store::costs::Job;
use memdir_store::remind::{self, Asker, Reminded};
use memdir_store::vault::Vault;

use crate::asking::Asking;
use crate::cli::model;
use crate::context::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Whoever types a command does not wait for longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reminds of what the model chooses.
pub(super) fn remind(
    vaults: &[Vault],
    moment: &Moment,
    asker: &Asker<'_>,
    context: &Context,
    ui: &Ui,
) -> Result<Reminded, Failure> {
    let query = without_secrets(&moment.prompt, context)?;
    let mut choose = |notes: &[&Note]| {
        let lines = notes.iter().map(|note| line(note)).collect();
        let question = Question { query: query.clone(), lines, tools: moment.tools.clone() };
        let selection = asked(&question, context);
        if let Selection::Unasked(err) = &selection {
            ui.warn(&format!("{err}; what recall found is shown"));
        }
        selection.places(notes.len())
    };
    remind::remind_choosing(vaults, moment, asker, &mut choose).map_err(|err| Failure::from_chain(&err))
}

fn asked(question: &Question, context: &Context) -> Selection {
    match model::open(context, Purpose::Small) {
        Ok(model) => choose(model, question, context),
        Err(err) => Selection::Unasked(err),
    }
}

/// Has this model choose, on nobody's account but the day's.
pub(crate) fn choose(model: Opened, question: &Question, context: &Context) -> Selection {
    let asking = Asking { context, job: Job::Select, session: None, beat: &mut || {} };
    let asked = asking.run(model, |run| {
        run.limit_time(PATIENCE);
        select(run, question)
    });
    asked.map_or_else(Selection::Unasked, |asked| asked.answer)
}

fn line(note: &Note) -> Line {
    Line {
        file: note.path.clone(),
        memory_type: Some(note.memory_type),
        modified: note.modified.map(|time| format!("{time:.0}")).unwrap_or_default(),
        description: note.description.clone(),
    }
}

/// What is typed here goes to a service; what is secret in it does not.
fn without_secrets(prompt: &str, context: &Context) -> Result<String, Failure> {
    Ok(context.gate()?.scanner.redacted(prompt).into_owned())
}
