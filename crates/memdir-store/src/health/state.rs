//! What lies around a vault: left-overs, waiting copies, open permissions, and what the file system cannot promise.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::text::count;

use super::{Finding, Remedy};
use crate::disk::{Dir, EntryKind, Stat};
use crate::vault::{Inspection, Vault};

/// How many folders deep permissions are looked at.
const MAX_FOLDERS: usize = 4;

/// Looks around a vault that holds the versions `live`.
pub(super) fn findings(vault: &Vault, live: &BTreeMap<MemoryPath, ContentHash>) -> io::Result<Vec<Finding>> {
    let mut findings = left_overs(vault, vault.inspect(live)?);
    findings.extend(waiting(vault)?);
    findings.extend(permissions(vault.dir()));
    findings.extend(promises(vault.dir()));
    if let Ok(state) = Dir::open(&vault.state_path()) {
        findings.extend(permissions(&state));
        if on_other_device(vault.dir(), &state) {
            findings.extend(promises(&state));
        }
    }
    Ok(findings)
}

fn left_overs(vault: &Vault, found: Inspection) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in found.open {
        let message = "a change was interrupted: the next command finishes it";
        findings.push(Finding::warning("open-change", file, message).remedy(Remedy::Settle));
    }
    for file in found.broken {
        let message =
            "the record of a change that cannot be read; it is kept to be looked at, and may be removed";
        findings.push(Finding::warning("broken-record", file, message));
    }
    for file in found.temps {
        let message = "a temporary file that a writer left, or is at work on";
        findings.push(Finding::note("left-over", file, message).remedy(Remedy::Settle));
    }
    for file in found.conflicts {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.rsplit_once('@').map_or(name.as_str(), |(name, _)| name).to_owned();
        let message = format!(
            "a version of `{name}` that could not be merged: take what is good with `memdir edit {name}`, then remove this file"
        );
        findings.push(Finding::problem("conflict", file, message));
    }
    for file in found.scratch {
        let message = "the text of an edit that was not saved: take what is good, then remove this file";
        findings.push(Finding::warning("unsaved-edit", file, message));
    }
    let file = |path: &MemoryPath| vault.path().join(path.as_str());
    for path in found.changed {
        let message = "changed by another program since memdir last wrote";
        findings.push(Finding::note("changed-outside", file(&path), message));
    }
    for path in found.removed {
        let message = "removed by another program: the next change records it, and `memdir log` then names what to undo";
        findings.push(Finding::warning("vanished", file(&path), message).remedy(Remedy::Settle));
    }
    for (path, change) in found.vanished {
        let message = format!("removed by another program: `memdir undo {change}` brings it back");
        findings.push(Finding::note("vanished", file(&path), message));
    }
    findings
}

/// Says how many proposals wait for the user's word.
fn waiting(vault: &Vault) -> io::Result<Option<Finding>> {
    let n_waiting = vault.inbox()?.len();
    let message =
        || format!("{} for your word: `memdir review`", count(n_waiting, "change waits", "changes wait"));
    let inbox = vault.state_path().join("inbox");
    Ok((n_waiting > 0).then(|| Finding::note("waiting", inbox, message())))
}

/// Finds what other users of the machine may read or write, one finding for each directory.
fn permissions(dir: &Dir) -> Vec<Finding> {
    let mut findings = Vec::new();
    look_at_permissions(dir, 0, &mut findings);
    findings
}

fn look_at_permissions(dir: &Dir, depth: usize, findings: &mut Vec<Finding>) {
    let is_open = |stat: Stat| stat.mode & 0o077 != 0;
    let mut open: Vec<PathBuf> = Vec::new();
    let mut folders = Vec::new();
    if dir.stat_self().is_ok_and(is_open) {
        open.push(dir.path().to_owned());
    }
    let _ = dir.for_each(|name, kind| match kind {
        EntryKind::Dir if depth < MAX_FOLDERS && !name.starts_with('.') => folders.push(name.to_owned()),
        EntryKind::File => {
            let file = dir.path().join(name);
            let Ok(Some(stat)) = dir.stat(name) else { return };
            if stat.links > 1 {
                let message = "the file has another name elsewhere, which a change here does not reach";
                findings.push(Finding::note("hard-link", &file, message));
            }
            if is_open(stat) {
                open.push(file);
            }
        }
        _ => {}
    });
    if !open.is_empty() {
        findings.push(open_to_others(dir.path(), open));
    }
    for folder in folders.iter().filter_map(|name| dir.sub(name).ok()) {
        look_at_permissions(&folder, depth + 1, findings);
    }
}

fn open_to_others(dir: &Path, open: Vec<PathBuf>) -> Finding {
    let n_files = open.iter().filter(|path| *path != dir).count();
    let what = match (open.len() > n_files, n_files) {
        (true, 0) => "others may look into the directory".to_owned(),
        (true, n) => format!("others may look into the directory and {n} files in it"),
        (false, n) => format!("others may read or write {n} files in it"),
    };
    Finding::warning("open-to-others", dir, what).remedy(Remedy::Restrict(open))
}

/// Names the promises that the file system in use does not allow us to make.
fn promises(dir: &Dir) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut weaker = |rule, message: String| findings.push(Finding::warning(rule, dir.path(), message));
    if let Some(system) = dir.network() {
        let message = format!(
            "{system} is a network file system: what is saved survives memdir, perhaps not the server"
        );
        weaker("network-file-system", message);
    }
    if !dir.can_sync() {
        let message = "this file system cannot make names durable: what is saved survives memdir, perhaps not a power cut";
        weaker("no-directory-sync", message.to_owned());
    }
    if !dir.can_exchange() {
        let message = "this file system cannot swap two names: an edit of another program in the same moment may be overwritten";
        weaker("no-exchange", message.to_owned());
    }
    if !dir.can_lock() {
        let message =
            "this file system has no locks: if the state is here too, no command can change anything";
        weaker("no-locks", message.to_owned());
    }
    findings
}

fn on_other_device(a: &Dir, b: &Dir) -> bool {
    let device = |dir: &Dir| dir.device().ok();
    device(a) != device(b)
}
