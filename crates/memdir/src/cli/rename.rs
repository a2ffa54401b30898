//! `memdir rename`: gives a memory another name and mends the links to it.

use memdir_core::change::Edit;
use memdir_core::memory::{Frontmatter, MemoryName, MemoryPath, Value, rename_links};
use memdir_store::vault::{self, Loaded};

use super::writing::{self, Why, set};
use crate::context::{Context, Shelf};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Rename a memory and every link to it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name now
    old: String,
    /// Its name from now on
    new: String,
    #[command(flatten)]
    why: Why,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let new = MemoryName::new(&args.new)?;
    let found = context.find(&args.old)?;
    let (shelf, loaded) = (Shelf::new(found.vault)?, found.loaded);
    if loaded.path.stem() == new.as_str() {
        ui.say("it has that name already");
        return Ok(Outcome::Nothing);
    }
    let edits = edits(&shelf, &loaded, &new.path())?;
    let n_links = edits.len() - 1;
    let change_set = args.why.change_set("rename", edits)?;
    let committed = writing::commit(&shelf.vault, &change_set, context, ui)?;
    if n_links > 0 && !committed.waits() {
        ui.say(&format!("links mended in {n_links} other memories"));
    }
    writing::print_written(new.as_str(), &committed, ui);
    Ok(Outcome::Done)
}

/// Returns what gives a memory another path: its own name and links, and the links of the others to it.
pub(crate) fn edits(shelf: &Shelf, loaded: &Loaded, to: &MemoryPath) -> Result<Vec<Edit>, Failure> {
    let (old, new) = (loaded.path.stem(), to.stem());
    let mut document = loaded.document.clone();
    if matches!(document.frontmatter(), Frontmatter::Mapping(_)) && old != new {
        document = set(document, "name", &Value::Text(new.to_owned()))?;
    }
    if let Some(body) = rename_links(document.body(), old, new).filter(|_| old != new) {
        document = document.with_body(&body).map_err(|err| writing::cannot_edit(&err))?;
    }
    let (from, base) = (loaded.path.clone(), loaded.document.bytes().to_vec());
    let mut edits = vec![Edit::Rename { from, base, to: to.clone(), text: document.bytes().to_vec() }];
    if old != new {
        edits.extend(inbound(shelf, &loaded.path, old, new)?);
    }
    Ok(edits)
}

/// Mends the links in the other memories of the vault.
fn inbound(shelf: &Shelf, renamed: &MemoryPath, old: &str, new: &str) -> Result<Vec<Edit>, Failure> {
    let unread = shelf.snapshot.skipped.iter().find(|skipped| skipped.why == vault::Why::Unreadable);
    if let Some(skipped) = unread {
        let path = shelf.vault.path().join(&skipped.path);
        return Err(Failure::error(format!("could not read {}, which may link to `{old}`", path.display())));
    }
    let mut edits = Vec::new();
    for entry in shelf.snapshot.memories.iter().filter(|entry| entry.path != *renamed) {
        let loaded = shelf.load(&entry.path)?;
        let Some(body) = rename_links(loaded.document.body(), old, new) else { continue };
        // A file whose frontmatter cannot be read is never rewritten: its link becomes a forward reference.
        let Ok(document) = loaded.document.with_body(&body) else { continue };
        let base = loaded.document.bytes().to_vec();
        edits.push(Edit::Replace { path: entry.path.clone(), base, text: document.bytes().to_vec() });
    }
    Ok(edits)
}
