//! What a team left undecided: second versions, and memories that wait for trust.

use memdir_core::team::conflict::{is_copy, original};
use memdir_core::text::count;

use super::Finding;
use crate::team::Store;
use crate::vault::{Snapshot, Vault};

/// Looks at what the last sync left.
pub(super) fn findings(vault: &Vault, snapshot: &Snapshot) -> Vec<Finding> {
    let store = Store::below(&vault.state_path());
    if !matches!(store.joined(), Ok(Some(_))) {
        return Vec::new();
    }
    let copies = snapshot.memories.iter().map(|entry| &entry.path).filter(|path| is_copy(path));
    let mut findings: Vec<Finding> = copies
        .map(|path| {
            let name = original(path.stem());
            let message = format!(
                "`{}` is a second version of `{name}`, which both sides changed: keep what is right of it, then `memdir forget` it",
                path.stem()
            );
            Finding::warning("team-conflict", vault.path().join(path.as_str()), message)
        })
        .collect();
    let n_held = store.waiting().n_held();
    if n_held > 0 {
        let held = count(n_held, "memory of a teammate waits", "memories of teammates wait");
        let message = format!("{held} for your trust: `memdir trust` shows whose");
        findings.push(Finding::note("team-held", vault.path(), message));
    }
    let n_erasing = store.pending_erase().len();
    if n_erasing > 0 {
        let what = count(n_erasing, "memory is erased", "memories are erased");
        let message = format!("{what} here but not yet there: `memdir sync` asks for it");
        findings.push(Finding::warning("team-erase", vault.path(), message));
    }
    findings
}
