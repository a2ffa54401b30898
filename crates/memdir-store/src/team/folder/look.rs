//! What is in the folder, what changed there, and by whom; what is missing, and whether that means anything.

use std::io;
use std::path::Path;

use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MAX_BODY, MemoryPath};

use super::super::here::stat;
use super::super::past::Standing;
use super::super::remote::{
    Ask, Changes, Cursor, Item, Known, RefusedKey, RemoteError, Stamp, State, Version,
};
use super::{DELETED, Folder, IN_REPOSITORY, version_of};
use crate::disk::ReadError;
use crate::vault::Vault;

/// What git leaves in a file that two sides changed.
const MARKERS: [&[u8]; 2] = [b"<<<<<<< ", b">>>>>>> "];

/// What became of a look at one file.
pub(super) enum Read {
    Nothing,
    /// It is as it was.
    Known(Item),
    Item(Item),
    Refused(String),
}

impl Folder<'_> {
    pub(super) fn file(path: &MemoryPath) -> String {
        format!("{IN_REPOSITORY}/{path}")
    }

    /// Reads one file as it is there, or says why it is not taken.
    pub(super) fn item(
        &mut self,
        vault: &Vault,
        path: &MemoryPath,
        known: Option<&Known>,
    ) -> io::Result<Read> {
        let Some(stat) = stat(vault.dir(), path)? else { return Ok(Read::Nothing) };
        let item = |hash, size, text| Item {
            path: path.clone(),
            version: version_of(hash),
            state: State::Live { hash, size, text },
            author: None,
            at: None,
            stamp: Stamp::settled(stat),
        };
        if let Some(known) = known.filter(|known| known.stamp == Some(Stamp::of(stat)))
            && let Some(hash) = known.hash
        {
            return Ok(Read::Known(item(hash, stat.size, None)));
        }
        let text = match vault.dir().read(path.as_str(), MAX_BODY as u64) {
            Ok(None) => return Ok(Read::Nothing),
            Ok(Some(text)) => text,
            Err(ReadError::Io(err)) if err.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Read::Refused("it cannot be read".to_owned()));
            }
            Err(ReadError::Io(err)) => return Err(err),
            Err(err) => return Ok(Read::Refused(err.to_string())),
        };
        self.traffic.received += text.len() as u64;
        if self.past.is_some() && has_markers(&text) {
            return Ok(Read::Refused("it has conflict markers of git: resolve them first".to_owned()));
        }
        let hash = ContentHash::of(&text);
        Ok(Read::Item(item(hash, text.len() as u64, Some(text))))
    }

    /// Adds who wrote a version that is new to us, and when.
    pub(super) fn sign(&mut self, item: &mut Item) {
        let State::Live { text: Some(text), .. } = &item.state else { return };
        let Some(past) = &mut self.past else { return };
        match past.writer_of(&Self::file(&item.path), text) {
            Some(committed) => (item.author, item.at) = (Some(committed.author), committed.at),
            None => item.author = self.own_name.clone(),
        }
    }

    /// Says what it means that a key which we know is not there.
    pub(super) fn missing(&mut self, path: &MemoryPath, known: &Known, is_onwards: bool) -> Item {
        let gone = |author, at| Item {
            path: path.clone(),
            version: Version(DELETED.to_owned()),
            state: State::Gone { erased: false },
            author,
            at,
            stamp: None,
        };
        let away = Item { state: State::Away, version: known.version.clone(), ..gone(None, None) };
        let file = Self::file(path);
        let base = known.hash.and_then(|hash| self.store.base(path, hash).ok().flatten());
        let own_name = self.own_name.clone();
        let Some(past) = &mut self.past else { return gone(None, None) };
        if past.has(&file) {
            // It is only missing in the work tree: somebody here took it away, unless that may yet be taken back.
            let is_certain = is_onwards && !past.is_under_way() && !past.is_sparse();
            return if is_certain { gone(own_name, None) } else { away };
        }
        match past.deleter_of(&file) {
            Some(by) if is_onwards || base.is_some_and(|text| past.knows(&file, &text)) => {
                gone(Some(by.author), by.at)
            }
            // Never committed here, and thrown away again.
            None if is_onwards && !past.is_under_way() => gone(own_name, None),
            _ => away,
        }
    }

    /// Says whether a version that differs from the one we know was made from it.
    pub(super) fn is_successor(&mut self, path: &MemoryPath, known: &Known, is_onwards: bool) -> bool {
        if is_onwards {
            return true;
        }
        let base = known.hash.and_then(|hash| self.store.base(path, hash).ok().flatten());
        let file = Self::file(path);
        match (&mut self.past, base) {
            (Some(past), Some(base)) => past.knows(&file, &base),
            _ => false,
        }
    }

    /// Compares the checked-out branch with the last sync; returns the cursor that this sync leaves.
    pub(super) fn standing(&self, since: Option<&Cursor>) -> (bool, Option<Cursor>) {
        let Some(past) = &self.past else { return (true, None) };
        let Some(head) = past.head() else { return (true, since.cloned()) };
        let here = Cursor(format!("{head} {}", self.work_tree.display()));
        let Some((last, tree)) = since.and_then(|since| since.0.split_once(' ')) else {
            return (true, Some(here));
        };
        match past.stands_on(last, Path::new(tree), &head) {
            Standing::Onwards => (true, Some(here)),
            Standing::Elsewhere => (false, since.cloned()),
        }
    }

    /// A folder that was there and is not, or is empty, says nothing: a disk that is not mounted looks the same.
    pub(super) fn vanished(&self, ask: &Ask<'_>) -> Result<Option<Changes>, RemoteError> {
        let n_known = ask.known.values().filter(|known| known.hash.is_some()).count();
        if n_known == 0 {
            return Ok(None);
        }
        let is_gone = match &self.vault {
            None => true,
            Some(vault) => {
                let has_page = matches!(vault.dir().stat(INDEX_PAGE), Ok(Some(_)));
                !has_page && vault.names().is_ok_and(|names| names.is_empty())
            }
        };
        if !is_gone {
            return Ok(None);
        }
        if self.past.is_none() {
            let why = format!("it had {n_known} memories and is gone or empty");
            return Err(RemoteError::Unreachable { label: self.about.label.clone(), why });
        }
        let away = |(path, known): (&MemoryPath, &Known)| Item {
            path: path.clone(),
            version: known.version.clone(),
            state: State::Away,
            author: None,
            at: None,
            stamp: None,
        };
        let items = ask.known.iter().map(away).collect();
        Ok(Some(Changes { items, complete: true, cursor: ask.since.clone(), ..Changes::default() }))
    }

    /// Takes what was read of one file into the answer.
    pub(super) fn take(
        &mut self,
        path: &MemoryPath,
        known: Option<&Known>,
        read: Read,
        is_onwards: bool,
        changes: &mut Changes,
    ) {
        match read {
            Read::Nothing => {}
            // Nothing new: what was known of who wrote it holds.
            Read::Known(item) => changes.items.push(item),
            Read::Refused(why) => {
                changes.refused.push(RefusedKey { name: path.to_string(), path: Some(path.clone()), why })
            }
            Read::Item(mut item) => {
                let is_known = known.is_some_and(|known| known.version == item.version);
                if let Some(known) = known.filter(|known| !is_known && known.hash.is_some())
                    && !self.is_successor(path, known, is_onwards)
                {
                    (item.state, item.version) = (State::Away, known.version.clone());
                }
                if !is_known {
                    self.sign(&mut item);
                }
                changes.items.push(item);
            }
        }
    }
}

/// Says whether git left a conflict in a text.
fn has_markers(text: &[u8]) -> bool {
    MARKERS.iter().all(|marker| text.split(|byte| *byte == b'\n').any(|line| line.starts_with(marker)))
}
