//! The ledgers of the user's own machines, each with all of them.
//!
//! A ledger file is written by one machine alone and only grows, so machines need no merge: each sends what its own file
//! gained and takes what the others' files gained. Only places for the user's own machines have ledgers; a team never
//! sees one. Look at [`share_usage`] first.

use std::io;

use super::remote::{Appended, Remote, RemoteError};
use crate::disk::Dir;
use crate::ledger::{self, Event};
use crate::vault::Vault;

/// No ledger of a month is larger.
const MAX_LEDGER: u64 = 64 * 1024 * 1024;
/// As much is sent at once.
const PORTION: usize = 1024 * 1024;

/// Brings the ledgers of a vault and those of the user's other machines together. Returns how many bytes moved.
pub fn share_usage(vault: &Vault, remote: &mut dyn Remote) -> Result<u64, RemoteError> {
    let path = vault.state_path().join("ledger");
    let failed = |source| RemoteError::Io { path: path.clone(), source };
    // Makes the folder and the machine's name where they are missing.
    vault.ensure_ledger().map_err(failed)?;
    let dir = Dir::open(&path).map_err(failed)?;
    let home = Dir::open(vault.home()).map_err(failed)?;
    let own = ledger::known_machine(&home).unwrap_or_default();
    let there = remote.usage()?;
    let mut moved = 0;
    let mut names = Vec::new();
    dir.for_each(|name, _| names.push(name.to_owned())).map_err(failed)?;
    for name in names.iter().filter(|name| machine_of(name) == Some(&own)) {
        let size = there.iter().find(|file| file.name == *name).map_or(0, |file| file.size);
        moved += send(&dir, name, size, remote, &failed)?;
    }
    for file in there.iter().filter(|file| file.size <= MAX_LEDGER) {
        // A name that is none of a ledger's, or our own, is nobody's to fill.
        if machine_of(&file.name).is_some_and(|machine| machine != own) {
            moved += receive(&dir, &file.name, file.size, remote, &failed)?;
        }
    }
    Ok(moved)
}

/// Sends what our own ledger gained, whole lines only.
fn send(
    dir: &Dir,
    name: &str,
    size: u64,
    remote: &mut dyn Remote,
    failed: &dyn Fn(io::Error) -> RemoteError,
) -> Result<u64, RemoteError> {
    let bytes = dir.read(name, MAX_LEDGER).map_err(|err| failed(io::Error::other(err)))?.unwrap_or_default();
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut at = usize::try_from(size).unwrap_or(usize::MAX).min(end);
    // After an erasure the file is another one: what follows the next line's end is new.
    if at > 0 && bytes[at - 1] != b'\n' {
        at = bytes[at..end].iter().position(|byte| *byte == b'\n').map_or(end, |found| at + found + 1);
    }
    let (mut offset, mut moved) = (size, 0);
    while at < end {
        let stop = bytes[at..end.min(at + PORTION)].iter().rposition(|byte| *byte == b'\n');
        let stop = stop.map_or(end, |found| at + found + 1);
        match remote.append_usage(name, offset, &bytes[at..stop])? {
            Appended::Done(now) => offset = now,
            // Another process of this machine was faster.
            Appended::Elsewhere(_) => break,
        }
        moved += (stop - at) as u64;
        at = stop;
    }
    Ok(moved)
}

/// Takes what another machine's ledger gained, as far as it is lines of a ledger.
fn receive(
    dir: &Dir,
    name: &str,
    size: u64,
    remote: &mut dyn Remote,
    failed: &dyn Fn(io::Error) -> RemoteError,
) -> Result<u64, RemoteError> {
    let here = dir.stat(name).map_err(failed)?.map_or(0, |stat| stat.size);
    let mut offset = here;
    while offset < size {
        let bytes = remote.read_usage(name, offset)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = &bytes[..end];
        let is_ledger = |line: &[u8]| line.is_empty() || serde_json::from_slice::<Event>(line).is_ok();
        if lines.is_empty() || !lines.split(|byte| *byte == b'\n').all(is_ledger) {
            break;
        }
        let text = String::from_utf8_lossy(&lines[..end - 1]);
        dir.append_line(name, &text).map_err(failed)?;
        offset += lines.len() as u64;
    }
    Ok(offset - here)
}

/// Returns whose ledger a file is: `usage-<machine>-<year>-<month>.jsonl`.
pub(super) fn machine_of(name: &str) -> Option<&str> {
    let stem = name.strip_prefix("usage-")?.strip_suffix(".jsonl")?;
    let (machine, month) = stem.split_at_checked(stem.len().checked_sub("-2026-04".len())?)?;
    let is_hex = machine.len() == 8 && machine.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_month = month.bytes().enumerate().all(|(at, byte)| match at {
        0 | 5 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    (is_hex && is_month).then_some(machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_ledgers_name_is_a_ledger() {
        assert_eq!(machine_of("usage-0123abcd-2026-04.jsonl"), Some("0123abcd"));
        for name in [
            "usage-0123abcd-2026-04.json",
            "usage-../../x-2026-04.jsonl",
            "usage-0123abc-2026-04.jsonl",
            "usage--2026-04.jsonl",
            "usage-0123abcd-202604.jsonl",
            "usage-0123abcd-2026_04.jsonl",
            "0123abcd-2026-04.jsonl",
            "",
        ] {
            assert_eq!(machine_of(name), None, "{name}");
        }
    }
}
