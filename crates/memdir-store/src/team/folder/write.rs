//! Writes into the folder: one change of it, each key by itself.

use std::collections::BTreeMap;
use std::io;

use memdir_core::change::{Author, ChangeSet, Edit, Exit, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MAX_BODY, MemoryPath, Provenance, folded};

use super::super::fit;
use super::super::here::stat;
use super::super::remote::{Current, Outcome, RemoteError, Stamp, Version, Write};
use super::{DELETED, Folder, io_error, unusable, version_of};
use crate::disk::ReadError;
use crate::vault::Vault;

impl Folder<'_> {
    /// Carries out writes as one change of the folder.
    pub(super) fn write(&mut self, writes: &[Write]) -> Result<Vec<Outcome>, RemoteError> {
        if self.vault.is_none() && writes.iter().all(|write| write.text.is_none()) {
            let done = Outcome::Done { version: Version(DELETED.to_owned()), stamp: None };
            return Ok(vec![done; writes.len()]);
        }
        let (gate, now) = (self.gate, self.now);
        let vault = self.create()?.clone();
        let failed = |err: &dyn std::error::Error| unusable(vault.path(), err);
        let mut writer = vault.writer(now, gate).map_err(|err| failed(&err))?;
        let names = vault.names().map_err(|source| io_error(vault.path(), source))?;
        let mut names: BTreeMap<String, MemoryPath> =
            names.into_iter().map(|path| (folded(path.stem()), path)).collect();
        let mut edits = Vec::new();
        let mut outcomes = Vec::with_capacity(writes.len());
        for write in writes {
            let (outcome, edit) = self.plan_write(&vault, write, &mut names)?;
            outcomes.push(outcome);
            edits.extend(edit);
        }
        if !edits.is_empty() {
            self.tell_git(&vault).map_err(|source| io_error(vault.path(), source))?;
            let set = ChangeSet {
                author: Author::Team,
                by: Surface::Sync,
                provenance: Provenance::Team,
                reason: "sync".to_owned(),
                session: None,
                force: None,
                edits,
            };
            writer.commit(&set).map_err(|err| failed(&err))?;
        }
        drop(writer);
        for (write, outcome) in writes.iter().zip(&mut outcomes) {
            if let (Outcome::Done { stamp, .. }, Some(text)) = (outcome, &write.text) {
                self.traffic.sent += text.len() as u64;
                *stamp = stat(vault.dir(), &write.path).ok().flatten().and_then(Stamp::settled);
            }
        }
        Ok(outcomes)
    }

    /// Says what would become of one write, and with which edit.
    fn plan_write(
        &self,
        vault: &Vault,
        write: &Write,
        names: &mut BTreeMap<String, MemoryPath>,
    ) -> Result<(Outcome, Option<Edit>), RemoteError> {
        let refused =
            |code: &str, message: String| Ok((Outcome::Refused { code: code.to_owned(), message }, None));
        let there = match vault.dir().read(write.path.as_str(), MAX_BODY as u64) {
            Ok(there) => there,
            Err(ReadError::Io(err)) if err.kind() != io::ErrorKind::PermissionDenied => {
                return Err(io_error(&vault.path().join(write.path.as_str()), err));
            }
            Err(err) => return refused("bad-request", err.to_string()),
        };
        let hash = there.as_deref().map(ContentHash::of);
        let version = hash.map_or_else(|| Version(DELETED.to_owned()), version_of);
        let wanted = write.text.as_deref().map(ContentHash::of);
        let done = |hash: Option<ContentHash>| Outcome::Done {
            version: hash.map_or_else(|| Version(DELETED.to_owned()), version_of),
            stamp: None,
        };
        if hash == wanted {
            return Ok((done(wanted), None));
        }
        let expected = write.base.clone().unwrap_or_else(|| Version(DELETED.to_owned()));
        if expected != version {
            return Ok((Outcome::Stale { current: Some(Current { version, hash }) }, None));
        }
        let path = write.path.clone();
        let Some(text) = write.text.clone() else {
            names.remove(&folded(path.stem()));
            let edit = there.map(|base| Edit::Remove { path, base, into: Exit::Trash });
            return Ok((done(None), edit));
        };
        if let Some(refusal) = fit::against(&path, &text, there.as_deref(), self.about.audience, self.gate) {
            return refused(&refusal.rule, refusal.why);
        }
        let other = names.entry(folded(path.stem())).or_insert_with(|| path.clone());
        if *other != path {
            return refused("name", format!("`{other}` has the same name but for case or folder"));
        }
        let edit = match there {
            None => Edit::Create { path, text },
            Some(base) => Edit::Replace { path, base, text },
        };
        Ok((done(wanted), Some(edit)))
    }
}
