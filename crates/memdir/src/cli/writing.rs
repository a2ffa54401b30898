//! What commands that change a vault have in common: who, why, the change set, and how the result is told.

use memdir_core::change::{Author, ChangeSet, Edit, Surface};
use memdir_core::classify::Proposed;
use memdir_core::memory::{Document, Draft, EditError, MemoryType, Provenance, Value};
use memdir_store::evidence::{self, Sign, Witness};
use memdir_store::ledger::How;
use memdir_store::vault::{Committed, Loaded, Vault};
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Who makes a change and why; kept in the log.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Why {
    /// Why, in a few words, for the log
    #[arg(long, value_name = "TEXT", help_heading = "For the log", allow_hyphen_values = true)]
    reason: Option<String>,
    /// The session this comes from
    #[arg(long, value_name = "ID", env = "MEMDIR_SESSION", help_heading = "For the log")]
    pub(crate) session: Option<String>,
    /// Who said it: user, agent, tool, team, import or outside
    #[arg(long, value_name = "WHO", default_value = "user", help_heading = "For the log")]
    provenance: String,
}

impl Why {
    /// Returns who said it.
    pub(crate) fn provenance(&self) -> Result<Provenance, Failure> {
        if self.provenance.is_empty() { Ok(Provenance::User) } else { Ok(self.provenance.parse()?) }
    }

    /// Builds the change set; `default` is the reason if none was given.
    pub(crate) fn change_set(&self, default: &str, edits: Vec<Edit>) -> Result<ChangeSet, Failure> {
        let provenance = self.provenance()?;
        Ok(ChangeSet {
            author: if provenance == Provenance::User { Author::Person } else { Author::Agent },
            by: Surface::Cli,
            provenance,
            reason: self.reason.clone().unwrap_or_else(|| default.to_owned()),
            session: self.session.clone(),
            force: None,
            edits,
        })
    }
}

/// Commits a change set and tells what the author should know.
pub(crate) fn commit(
    vault: &Vault,
    set: &ChangeSet,
    context: &Context,
    ui: &Ui,
) -> Result<Committed, Failure> {
    context.gate()?.look_ahead(set);
    let mut writer = context.writer(vault)?;
    let committed = writer.commit(set)?;
    // Old history is dropped in passing; if that fails there is another day.
    let _ = writer.prune();
    announce(&committed, ui);
    Ok(committed)
}

/// Notes that a session made use of a memory; without a session there is nobody to learn from.
pub(crate) fn note_use(vault: &Vault, loaded: &Loaded, how: How, session: Option<&str>, context: &Context) {
    let Some(session) = session else { return };
    let path = vault.path().join(loaded.path.as_str());
    let Some(path) = path.to_str() else { return };
    let sign = if how == How::Edited { Sign::Edited(path) } else { Sign::Read(path) };
    let witness = Witness { session, now: context.now, by: Surface::Cli };
    evidence::note(std::slice::from_ref(vault), &[sign], &witness);
}

/// Tells what the author should know about a commit.
pub(crate) fn announce(committed: &Committed, ui: &Ui) {
    for remark in &committed.remarks {
        ui.warn(remark);
    }
    if committed.written.iter().any(|written| written.merged) {
        ui.say("merged with what was written meanwhile");
    }
    if !committed.left_page.is_empty() {
        let names: Vec<&str> = committed.left_page.iter().map(|path| path.stem()).collect();
        ui.warn(&format!(
            "left MEMORY.md to keep it within its limits, still found by search: {}",
            names.join(", ")
        ));
    }
}

/// Prints the one memory that a commit wrote: its path, or all about it as JSON.
pub(crate) fn print_written(name: &str, committed: &Committed, ui: &mut Ui) {
    let written = committed.written.first();
    if ui.is_json() {
        ui.json(&written_json(name, committed));
    } else if let Some(written) = written {
        ui.line(&written.path.display().to_string());
    }
}

fn written_json(name: &str, committed: &Committed) -> Json {
    let written = committed.written.first();
    let left = committed.left_page.iter().map(|path| format!("left MEMORY.md: {}", path.stem()));
    json!({
        "name": name,
        "path": written.map(|written| written.path.display().to_string()),
        "hash": written.map(|written| written.hash),
        "change": committed.change,
        "merged": written.is_some_and(|written| written.merged),
        "quarantined": written.is_some_and(|written| written.quarantined),
        "warnings": committed.remarks.iter().cloned().chain(left).collect::<Vec<_>>(),
    })
}

/// Sets a field, or removes it when there is nothing to hold.
pub(crate) fn set(document: Document, field: &str, value: &Value) -> Result<Document, Failure> {
    let is_empty = matches!(value, Value::List(items) if items.is_empty());
    let edited = if is_empty { document.remove(field) } else { document.set(field, value) };
    edited.map_err(|err| cannot_edit(&err))
}

/// Marks a document as changed now.
pub(crate) fn touch(
    document: Document,
    context: &Context,
    session: Option<&str>,
) -> Result<Document, Failure> {
    let mut document = set(document, "modified", &Value::Text(format!("{:.0}", context.now)))?;
    if let Some(session) = session {
        document = set(document, "originSessionId", &Value::Text(session.to_owned()))?;
    }
    Ok(document)
}

/// Explains why a file was not edited.
pub(crate) fn cannot_edit(err: &EditError) -> Failure {
    let failure = Failure::error(err.to_string());
    match err {
        EditError::Raw(_) => {
            failure.hint("mend the frontmatter by hand: `memdir edit NAME` opens the whole file")
        }
        EditError::Absent => {
            failure.hint("`memdir save NAME --type T --description D` gives the file its frontmatter")
        }
        _ => failure,
    }
}

/// Makes one line of a description; tells when it had to.
pub(crate) fn one_line(text: &str, ui: &Ui) -> Result<String, Failure> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return Err(
            Failure::error("the description is empty").hint("one line that says when this memory matters")
        );
    }
    if text.contains(['\n', '\r']) {
        ui.warn("the description is one line: line breaks became spaces");
    }
    Ok(line)
}

/// Makes a body end in exactly one line break.
pub(crate) fn as_body(text: &str) -> String {
    format!("{}\n", text.trim_matches(['\n', '\r']))
}

/// Makes the draft of a memory that rules proposed.
pub(crate) fn drafted(
    proposed: &Proposed,
    session: Option<&str>,
    provenance: Provenance,
    context: &Context,
) -> Draft {
    let is_users = proposed.memory_type == MemoryType::User && !context.place.explicit;
    Draft {
        scope: proposed.scope,
        kind: proposed.kind.map(str::to_owned),
        tags: proposed.tags.clone(),
        created: Some(context.now),
        modified: Some(context.now),
        session: session.map(str::to_owned),
        provenance: Some(provenance),
        origin_project: is_users.then(|| context.place.project.id.to_string()),
        body: proposed.body.clone(),
        layout: context.place.settings.layout,
        ..Draft::new(proposed.name.clone(), proposed.memory_type, proposed.description.clone())
    }
}
