//! What the user asked to be remembered, in so many words, is remembered in the same turn: by the agent, or else by rules.
//!
//! The hook notes that somebody asked and nothing of what was said; the words are read from the session's file, without
//! secrets, once. If the vault has changed since, the agent did as it was asked. What a gate is against is not saved, and
//! `memdir why-not` says why.

use jiff::{SignedDuration, Timestamp};
use memdir_core::change::{Author, ChangeSet, Edit, Surface};
use memdir_core::classify::{Known, asks_to_remember, classify};
use memdir_core::dates;
use memdir_core::journal::Digest;
use memdir_core::memory::{MemoryType, Provenance};
use memdir_store::session::Session;
use memdir_store::team::has_team;
use memdir_store::vault::{CommitError, Vault};

use super::extract;
use crate::cli::writing::drafted;
use crate::context::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Hosts write down when something was said a little before or after they tell the hook.
const LEEWAY: SignedDuration = SignedDuration::from_secs(10);

/// Saves what the session was asked to remember and nobody did.
pub(super) fn run(id: &str, digest: &Digest, context: &Context) -> Result<(), Failure> {
    let Some(session) = Session::of(&context.place.home, id) else { return Ok(()) };
    let Some(since) = session.update(context.now, |state| state.asked.take()) else { return Ok(()) };
    for (_, message) in digest.messages().filter(|(at, _)| at.is_none_or(|at| at >= since - LEEWAY)) {
        if asks_to_remember(message) && !has_changed(since, context)? {
            keep(message, id, context)?;
        }
    }
    Ok(())
}

/// Says whether somebody wrote a memory since the user asked.
fn has_changed(since: Timestamp, context: &Context) -> Result<bool, Failure> {
    let is_later = |vault: &Vault| -> std::io::Result<bool> {
        let Some(history) = vault.history()? else { return Ok(false) };
        let last = history.ids()?.into_iter().next_back();
        let Some(change) = last.and_then(|id| history.change(&id).ok().flatten()) else { return Ok(false) };
        Ok(change.at >= since && change.ops.iter().any(|op| op.path != memdir_core::memory::INDEX_PAGE))
    };
    for vault in context.vaults()? {
        if is_later(&vault)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn keep(message: &str, session: &str, context: &Context) -> Result<(), Failure> {
    let (text, has_secret) = context.gate()?.redacted(message);
    if has_secret {
        return Ok(());
    }
    let text = dates::settle(&text, &context.now.to_zoned(context.zone.clone())).text;
    let mut names = Vec::new();
    for shelf in context.shelves()? {
        names.extend(shelf.snapshot.memories.iter().map(|entry| entry.path.stem().to_owned()));
    }
    let has_team_vault = has_team(&context.place.state_dir());
    let proposed = classify(&text, &Known { names: &names, aliases: &[], has_team_vault });
    let draft = drafted(&proposed, Some(session), Provenance::User, context);
    let set = ChangeSet {
        author: Author::Extraction,
        by: Surface::Hook,
        provenance: Provenance::User,
        reason: "the user asked to remember it".to_owned(),
        session: Some(session.to_owned()),
        force: None,
        edits: vec![Edit::Create { path: proposed.name.path(), text: draft.render() }],
    };
    let vault = vault_for(proposed.memory_type, context)?;
    match context.writer(&vault)?.commit(&set) {
        Ok(committed) => {
            extract::tell(session, &committed, context);
            Ok(())
        }
        // Said already, shown by the project, not worth it: the gate's word counts more than the wish (NS-06).
        Err(CommitError::Refused(_) | CommitError::Exists(_)) => Ok(()),
        Err(err) => Err(err.into()),
    }
}

fn vault_for(memory_type: MemoryType, context: &Context) -> Result<Vault, Failure> {
    context.vault_for(memory_type, &Ui::new(false, true))
}
