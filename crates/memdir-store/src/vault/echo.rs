//! Takes what sessions repeat of an erased memory out of what we keep about them.
//!
//! Journals, working memories, kept copies of conversations, what the gateway put into requests and the blocks that
//! sessions began with are no copies of a memory, but they hold its words. Each file is replaced whole or not at all. What agents keep themselves is theirs: it
//! is only looked through, for whoever erases must know where the words still are.

use std::io;
use std::path::Path;

use memdir_core::echo::Echoes;

use crate::disk::{Dir, EntryKind, ReadError};
use crate::gateway::Conversations;
use crate::lock::Lock;

/// Folders of a project's state that hold what was said in sessions.
const FOLDERS: [&str; 3] = ["journal", "session", "transcripts"];
/// The folder of running sessions, beside those of projects.
const SESSIONS: &str = "sessions";
/// A larger file is not one that we write; it is told, not changed.
const MAX_FILE: u64 = 1 << 30;
/// A journal has a folder a year and one a month.
const MAX_DEPTH: usize = 3;

/// Takes what files of sessions repeat out of them, in every project, for memories travel. Returns how many files changed.
pub(super) fn redact(home: &Path, echoes: &Echoes) -> io::Result<usize> {
    if echoes.is_empty() {
        return Ok(0);
    }
    let mut n_changed = 0;
    if home.join("gateway").is_dir() {
        n_changed += Conversations::below(home).erase(echoes)?;
    }
    if let Some(sessions) = opened(Dir::open(&home.join(SESSIONS)))? {
        n_changed += redact_folder(&sessions, echoes, 0)?;
    }
    let Some(projects) = opened(Dir::open(&home.join("projects")))? else { return Ok(n_changed) };
    for id in names(&projects, EntryKind::Dir)? {
        // Copies of conversations grow while they are kept; nobody may write one that is being replaced.
        let lock =
            Lock::acquire(&home.join("locks"), &format!("backfill-{id}.lock")).map_err(io::Error::other)?;
        let project = projects.sub(&id)?;
        for folder in FOLDERS {
            if let Some(folder) = opened(project.sub(folder))? {
                n_changed += redact_folder(&folder, echoes, 0)?;
            }
        }
        drop(lock);
    }
    Ok(n_changed)
}

fn redact_folder(folder: &Dir, echoes: &Echoes, depth: usize) -> io::Result<usize> {
    let mut n_changed = 0;
    for name in names(folder, EntryKind::File)? {
        let bytes = match folder.read(&name, MAX_FILE) {
            Ok(Some(bytes)) => bytes,
            // Hooks come and go while we look; what is no file of ours holds nothing.
            Ok(None) | Err(ReadError::NotAFile) => continue,
            Err(ReadError::Io(err)) => return Err(err),
            Err(err @ ReadError::TooLarge { .. }) => return Err(io::Error::other(err)),
        };
        if let Some(redacted) = echoes.redact(&String::from_utf8_lossy(&bytes)) {
            folder.replace(&name, redacted.as_bytes())?;
            n_changed += 1;
        }
    }
    if depth < MAX_DEPTH {
        for name in names(folder, EntryKind::Dir)? {
            n_changed += redact_folder(&folder.sub(&name)?, echoes, depth + 1)?;
        }
    }
    Ok(n_changed)
}

fn names(folder: &Dir, wanted: EntryKind) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    folder.for_each(|name, kind| {
        if kind == wanted {
            names.push(name.to_owned());
        }
    })?;
    names.sort();
    Ok(names)
}

fn opened(dir: io::Result<Dir>) -> io::Result<Option<Dir>> {
    match dir {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        dir => dir.map(Some),
    }
}
