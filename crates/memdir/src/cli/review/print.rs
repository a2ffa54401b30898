//! How what waits is shown.

use memdir_core::change::Author;
use memdir_core::memory::{INDEX_PAGE, MemoryType, Provenance};
use memdir_core::text::{age, fit};
use memdir_store::vault::Proposal;
use serde_json::{Value, json};

use super::super::diff;
use super::{Row, What};
use crate::context::{Context, USER};
use crate::ui::{Column, Tone, Ui};

/// How much of a text that nobody agreed to a list shows.
const SHOWN: usize = 80;
/// What is the matter with a line.
const FOREIGN: &str = "somebody wrote this into MEMORY.md";

pub(super) fn list(rows: &[Row], context: &Context, ui: &mut Ui) {
    if ui.is_json() {
        ui.json(&rows.iter().map(as_json).collect::<Vec<_>>());
        return;
    }
    let (told, waiting): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| matches!(row.what, What::Notice(_)));
    if rows.is_empty() {
        ui.say("nothing waits");
        return;
    }
    let columns = [
        Column::new("id").tone(Tone::Faint),
        Column::new("what"),
        Column::new("name").tone(Tone::Strong),
        Column::new("description").giving_way(),
        Column::new("said by"),
        Column::new("when").tone(Tone::Faint),
        Column::new("why it waits").giving_way(),
    ];
    ui.table(&columns, &waiting.iter().map(|row| cells(row, context)).collect::<Vec<_>>());
    if !told.is_empty() {
        ui.line("written since you last looked:");
        ui.table(&columns, &told.iter().map(|row| cells(row, context)).collect::<Vec<_>>());
    }
    if !waiting.is_empty() {
        ui.say("`memdir review show ID`, then `accept`, `edit` or `drop`");
    }
}

fn cells(row: &Row, context: &Context) -> Vec<String> {
    let (what, description, said_by, when, why) = match &row.what {
        What::Proposal(proposal) => (
            proposal.kind(&row.vault),
            proposal.memory().map_or_else(String::new, |memory| memory.description),
            proposal.set.provenance.to_string(),
            age(proposal.id.at(), context.now),
            proposal.why.clone(),
        ),
        What::Line(line) => {
            let said_by = Provenance::Outside.to_string();
            ("line", line.text.clone(), said_by, String::new(), FOREIGN.to_owned())
        }
        What::Notice(change) => {
            let undo = format!("`memdir undo {}` takes it back", row.id);
            ("written", change.reason.clone(), change.author.to_string(), age(change.at, context.now), undo)
        }
    };
    let description = fit(&description, SHOWN).into_owned();
    vec![row.id.clone(), what.to_owned(), row.name(), description, said_by, when, why]
}

/// Prints all about one of them.
pub(super) fn show(row: &Row, context: &Context, ui: &mut Ui) {
    if ui.is_json() {
        let mut value = as_json(row);
        if let (What::Proposal(proposal), Value::Object(map)) = (&row.what, &mut value) {
            map.insert("diff".to_owned(), json!(proposal.diff(&row.vault)));
        }
        ui.json(&value);
        return;
    }
    match &row.what {
        What::Proposal(proposal) => {
            ui.toned(Tone::Faint, &headline(proposal, row, context));
            ui.toned(Tone::Warning, &format!("it waits: {}", proposal.why));
            for quote in proposal.said() {
                ui.toned(Tone::Faint, &format!("said: “{quote}”"));
            }
            diff::print(&proposal.diff(&row.vault), ui);
        }
        What::Line(line) => {
            ui.toned(Tone::Warning, &format!("{FOREIGN}, line {}", line.number));
            ui.line(&line.text);
        }
        What::Notice(change) => ui.line(&change.reason),
    }
}

fn headline(proposal: &Proposal, row: &Row, context: &Context) -> String {
    let kind = proposal.memory().and_then(|memory| memory.memory_type).map_or("?", MemoryType::as_str);
    let set = &proposal.set;
    let session = set.session.as_ref().map(|session| format!(", session {session}")).unwrap_or_default();
    let when = age(proposal.id.at(), context.now);
    format!(
        "[{kind}] {} — {}, proposed {when} by {}, said by {}{session} ({})",
        row.name(),
        proposal.kind(&row.vault),
        set.author,
        set.provenance,
        set.reason
    )
}

fn as_json(row: &Row) -> Value {
    let vault = if row.vault.id() == USER { "user" } else { "project" };
    let mut value = json!({
        "id": row.id,
        "kind": null,
        "name": row.name(),
        "type": null,
        "description": null,
        "provenance": null,
        "author": null,
        "at": null,
        "session": null,
        "reason": null,
        "why": null,
        "tier": null,
        "evidence": [],
        "vault": vault,
        "path": null,
    });
    match &row.what {
        What::Proposal(proposal) => {
            let memory = proposal.memory();
            value["kind"] = json!(proposal.kind(&row.vault));
            value["type"] = json!(memory.as_ref().and_then(|memory| memory.memory_type));
            value["tier"] = json!(memory.as_ref().map(|memory| memory.tier.as_str()));
            value["evidence"] = json!(proposal.said());
            value["description"] = json!(memory.map(|memory| memory.description));
            value["provenance"] = json!(proposal.set.provenance);
            value["author"] = json!(proposal.set.author);
            value["at"] = json!(proposal.id.at());
            value["session"] = json!(proposal.set.session);
            value["reason"] = json!(proposal.set.reason);
            value["why"] = json!(proposal.why);
            value["path"] = json!(proposal.file.display().to_string());
        }
        What::Line(line) => {
            value["kind"] = json!("line");
            value["description"] = json!(line.text);
            value["provenance"] = json!(Provenance::Outside);
            value["author"] = json!(Author::Outside);
            value["why"] = json!(FOREIGN);
            value["path"] = json!(row.vault.path().join(INDEX_PAGE).display().to_string());
        }
        What::Notice(change) => {
            value["kind"] = json!("written");
            value["author"] = json!(change.author);
            value["at"] = json!(change.at);
            value["session"] = json!(change.session);
            value["reason"] = json!(change.reason);
            value["why"] = json!("written since you last looked");
        }
    }
    value
}
