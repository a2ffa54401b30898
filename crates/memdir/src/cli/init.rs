//! `memdir init`: makes the vault of this project.

use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Tone, Ui};

/// Set up memory for this project
///
/// Makes the vault and the user vault and registers the project. Doing it again changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let place = &context.place;
    let mut made = Vec::new();
    let mut wanted = vec![place.vault.clone()];
    if !place.explicit {
        wanted.push(place.user_vault());
    }
    for path in &wanted {
        if !path.exists() {
            made.push(format!("{} {}", if args.dry_run { "would make" } else { "made" }, path.display()));
        }
    }
    if !place.is_registered() {
        let verb = if args.dry_run { "would register" } else { "registered" };
        made.push(format!("{verb} the project {}", place.project.id));
    }
    if !args.dry_run {
        context.create_project(ui)?;
        if !place.explicit {
            context.create_user()?;
        }
    }
    let n_memories = if args.dry_run {
        0
    } else {
        context.shelves()?.iter().map(|shelf| shelf.snapshot.memories.len()).sum()
    };
    if ui.is_json() {
        ui.json(&json!({ "project": place.project.id, "vault": place.vault.display().to_string(), "changed": made, "memories": n_memories }));
        return Ok(Outcome::Done);
    }
    for change in &made {
        ui.toned(Tone::Good, change);
    }
    if made.is_empty() {
        ui.line("everything is set up already");
    }
    ui.line(&format!("project  {}", place.project.id));
    ui.line(&format!("vault    {}", place.vault.display()));
    ui.say("next: `memdir save NAME --type T --description D`, then `memdir search WORDS`");
    Ok(Outcome::Done)
}
