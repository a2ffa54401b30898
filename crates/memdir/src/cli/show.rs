//! `memdir show`: one memory, with its age first.

use memdir_core::change::Surface;
use memdir_core::claims::{Verdict, Verification};
use memdir_core::memory::{MemoryType, Provenance, Severity};
use memdir_core::text::{age, age_days};
use memdir_store::ledger::How;
use memdir_store::remind::{self, Asker};
use memdir_store::vault::{Loaded, Vault};
use serde_json::json;

use super::writing;
use crate::context::{Context, Found};
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

/// Show a memory
///
/// The first line says how old it is and who said it; --raw prints the file's bytes and nothing else.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory; `~/NAME` means the user vault
    name: String,
    /// Print the file byte for byte
    #[arg(long)]
    raw: bool,
    /// The session that reads it; counts as use
    #[arg(long, value_name = "ID", env = "MEMDIR_SESSION")]
    session: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Found { vault, loaded } = context.find(&args.name)?;
    writing::note_use(&vault, &loaded, How::Read, args.session.as_deref(), context);
    if args.raw && !ui.is_json() {
        ui.raw(loaded.document.bytes());
        return Ok(Outcome::Done);
    }
    let said_by = vault.said_by(loaded.hash);
    let checked = remind::checked(&vault, &loaded, &asker(context));
    let (clause, advice) = remind::standing(&loaded, checked.as_ref(), context.now);
    let path = vault.path().join(loaded.path.as_str());
    if ui.is_json() {
        let memory = &loaded.memory;
        ui.json(&json!({
            "name": loaded.path.stem(),
            "path": path.display().to_string(),
            "hash": loaded.hash,
            "type": memory.memory_type,
            "scope": memory.scope,
            "tier": memory.tier,
            "kind": memory.kind,
            "description": memory.description,
            "tags": memory.tags,
            "created": memory.created,
            "modified": loaded.modified(),
            "age_days": age_days(loaded.modified(), context.now),
            "provenance": said_by,
            "state": checked.as_ref().map_or(Verdict::Unverified, Verification::verdict),
            "claims": clause,
            "verify": advice,
            "verified": memory.verified.as_ref().map(ToString::to_string),
            "expires": memory.expires,
            "status": memory.status,
            "supersedes": memory.supersedes,
            "rules": rules(&vault, &loaded, said_by),
            "body": String::from_utf8_lossy(loaded.document.body()),
            "problems": loaded.problems.iter().map(|problem| json!({
                "rule": problem.kind.as_str(), "line": problem.line, "message": problem.message,
            })).collect::<Vec<_>>(),
        }));
        return Ok(Outcome::Done);
    }
    ui.toned(Tone::Faint, &headline(&loaded, said_by, &clause, context));
    if let Some(advice) = &advice {
        ui.warn(advice);
    }
    ui.toned(Tone::Strong, &loaded.memory.description);
    ui.line("");
    ui.block(String::from_utf8_lossy(loaded.document.body()).trim_start_matches(['\n', '\r']));
    for problem in loaded.problems.iter().filter(|problem| problem.severity() != Severity::Note) {
        ui.warn(&problem.message);
    }
    Ok(Outcome::Done)
}

fn headline(loaded: &Loaded, said_by: Provenance, clause: &str, context: &Context) -> String {
    let memory = &loaded.memory;
    let kind = memory.memory_type.map_or("no type", MemoryType::as_str);
    // Who looked by hand is named, where nothing was looked up.
    let checked = match &memory.verified {
        Some(verified) if clause == format!("checked {}", verified.date) => format!("checked {verified}"),
        _ => clause.to_owned(),
    };
    let status = remind::replaced(memory.status).map(|what| format!(", {what}")).unwrap_or_default();
    let expired = memory.expires.map(|day| format!(", expires {day}")).unwrap_or_default();
    let saved = age(loaded.modified(), context.now);
    format!("[{kind}] {} — saved {saved}, said by {said_by}, {checked}{status}{expired}", loaded.path)
}

fn asker(context: &Context) -> Asker<'_> {
    Asker {
        place: &context.place,
        env: &context.env,
        now: context.now,
        zone: &context.zone,
        session: None,
        by: Surface::Cli,
        until: None,
    }
}

/// Returns the rules as far as they count for who said them.
fn rules(vault: &Vault, loaded: &Loaded, said_by: Provenance) -> Vec<String> {
    let accepted = vault.ledger().and_then(|ledger| ledger.is_accepted(loaded.hash).ok());
    let rules = loaded.memory.rules.iter().cloned();
    rules.map(|rule| rule.said_by(said_by, accepted == Some(true)).to_string()).collect()
}
