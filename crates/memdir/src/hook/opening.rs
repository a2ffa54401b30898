//! What a session is told when it begins: the block of [`memdir_core::context`], from what the vaults hold.

use memdir_core::context::{Page, Start};
use memdir_core::host::{Agent, MAX_CONTEXT};
use memdir_core::journal::briefing;
use memdir_core::text::count;
use memdir_store::dream::{self, State};
use memdir_store::journal::Journal;
use memdir_store::vault::Vault;

use crate::context::{Context, USER};

/// As much is told of the last session and of what is open.
const MAX_BRIEFING: usize = 1_200;

/// Gathers what a session is told. What cannot be read is left out. With `blank`, it is as if nothing had ever been saved.
pub(crate) fn gather(context: &Context, agent: Option<Agent>, blank: bool) -> Start {
    let vault = context.place.vault.display().to_string();
    if blank {
        return Start { vault, ..Start::default() };
    }
    let mut start = Start { vault, ..Start::default() };
    let vaults = context.vaults().unwrap_or_default();
    for vault in vaults.iter().rev() {
        start.pages.extend(page(vault, context, agent));
    }
    start.briefing = lines(&journal(context));
    start.briefing.extend(waiting(&vaults));
    start.briefing.extend(vaults.iter().filter_map(dreamt));
    start
}

/// Returns the block, with this machine's mark.
pub(crate) fn block(start: &Start, context: &Context, limit: usize) -> String {
    start.block(limit.min(MAX_CONTEXT), &context.key())
}

/// Returns the pages alone.
pub(crate) fn pages(context: &Context) -> String {
    let start = Start { vault: String::new(), ..gather(context, None, false) };
    start.pages_within(MAX_CONTEXT / 2, &context.key())
}

/// An index page, unless the agent loads it by itself.
fn page(vault: &Vault, context: &Context, agent: Option<Agent>) -> Option<Page> {
    let is_user = vault.id() == USER;
    if !is_user && agent == Some(Agent::ClaudeCode) && context.place.host_loads {
        return None;
    }
    let text = vault.injectable_page().ok().filter(|text| !text.trim().is_empty())?;
    let title = if is_user { "Index of the user's memories" } else { "Index of this project's memories" };
    Some(Page { title: title.to_owned(), text })
}

fn journal(context: &Context) -> String {
    let journal = Journal::of(&context.place);
    let open = journal.open_items().unwrap_or_default();
    let last = journal
        .files()
        .ok()
        .and_then(|files| files.first().and_then(|file| journal.read(file).ok().flatten()));
    briefing(last.as_ref(), &open, &context.zone, MAX_BRIEFING)
}

fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.trim_start_matches("- ").to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// What waits for the user's word.
fn waiting(vaults: &[Vault]) -> Vec<String> {
    let n_proposals: usize = vaults.iter().map(|vault| vault.inbox().map_or(0, |inbox| inbox.len())).sum();
    let n_lines: usize =
        vaults.iter().map(|vault| vault.foreign_lines().map_or(0, |lines| lines.len())).sum();
    let mut waiting = Vec::new();
    if n_proposals > 0 {
        let n = count(n_proposals, "memory waits", "memories wait");
        waiting.push(format!("{n} for the user's word: memdir review"));
    }
    if n_lines > 0 {
        let n = count(n_lines, "line", "lines");
        waiting.push(format!("{n} in MEMORY.md came from somebody unknown and are left out: memdir review"));
    }
    waiting
}

/// What the last dream did, what waits, and how to take it back, in one line.
fn dreamt(vault: &Vault) -> Option<String> {
    let runs = dream::lately(vault);
    let done = runs.iter().find(|run| run.state == State::Applied && !run.told);
    let waiting = runs.iter().take_while(|run| run.state != State::Applied || !run.told);
    let waiting = waiting.into_iter().find(|run| run.state == State::Proposed);
    let mut parts = Vec::new();
    if let Some(run) = done {
        let n =
            count(run.operations.len() - run.left.len().min(run.operations.len()), "operation", "operations");
        parts.push(format!("carried out {n} (undo: memdir dream undo {})", run.id));
    }
    if let Some(run) = waiting {
        let n = count(run.operations.len(), "operation waits", "operations wait");
        parts.push(format!("{n} for the user's word (memdir dream show {})", run.id));
    }
    (!parts.is_empty()).then(|| format!("The last dream over the memories: {}", parts.join("; ")))
}
