//! The memories of a vault as an index: what recall and search look into.
//!
//! The index is derived and may be deleted at any time. Whoever asks first looks whether it still shows the vault: a file
//! that is new, changed or gone is taken up before anything is answered, also when another program wrote it. Damage, another
//! version or no index at all means building it anew; one process does that while others wait for it. Where nothing can be
//! written the memories are held in memory instead. Look at [`ask`] first.

mod fresh;
mod look;
mod payload;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use memdir_core::embed::{self, Row};
use memdir_core::memory::{Document, Memory, MemoryPath};
use memdir_core::recall::{DocId, Library, Near, Note, Posting, Shelf};
use memdir_core::terms::Term;

use crate::disk::Dir;
use crate::index::{self, Index, IndexError, Options, Stamp, Writer};
use crate::lock::Lock;
use crate::vault::{MAX_MEMORY, Vault};
use look::{Changes, Glance, Look, changes};

/// So many vectors are compared at least; a smaller index is compared whole.
const MIN_ROWS: usize = 32_768;

/// The vectors of so many notes take longer to compare than a thread to start.
const WORTH_A_THREAD: usize = 4_000;

/// The notes of one vault, ready to be looked into.
#[derive(Debug)]
pub enum Notes {
    /// In files.
    Indexed(Index),
    /// In files, of which there are too many to look at each before an answer: those that a question meets are.
    Watched(Watched),
    /// In memory, because no index can be kept.
    Held(Shelf),
}

/// An index whose files may have been written in place since they were looked at.
#[derive(Debug)]
pub struct Watched {
    index: Index,
    /// The documents that a question came upon, each with how its file looked when it was indexed.
    met: Mutex<Vec<(String, Stamp)>>,
}

impl Watched {
    fn meet(&self, key: String, stamp: Stamp) {
        self.met.lock().unwrap_or_else(PoisonError::into_inner).push((key, stamp));
    }
}

impl Notes {
    /// Answers from an index that shows the vault as far as anybody knows.
    fn over(index: Index) -> Self {
        match index.len() > fresh::SMALL {
            true => Self::Watched(Watched { index, met: Mutex::default() }),
            false => Self::Indexed(index),
        }
    }

    /// Takes up what was written in place into files that a question came upon. Returns the notes as they are now, if
    /// there was something.
    fn take_up_met(self, vault: &Vault) -> Option<Self> {
        let Self::Watched(Watched { index, met }) = self else { return None };
        drop(index);
        let mut met = met.into_inner().unwrap_or_else(PoisonError::into_inner);
        met.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        met.dedup_by(|a, b| a.0 == b.0);
        let changes = look::changed(vault, &met);
        if changes.is_none() {
            return None;
        }
        // Who cannot take them up answers with what there was.
        let mut writer = writer(vault).ok()?;
        take_up(vault, &mut writer, changes).ok()?;
        drop(writer);
        Index::open(&directory(vault), embed::centroids()).ok().map(Self::Indexed)
    }
}

/// Why the notes of a vault cannot be looked into.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    /// The vault cannot be listed.
    #[error("could not list the vault")]
    Vault(#[source] io::Error),
    /// The index cannot be used, and could not be built anew.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// What had to be done before an answer could be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Upkeep {
    /// Nothing, or files were taken up.
    #[default]
    None,
    /// There was no index.
    Built,
    /// The index was damaged or of another version, and this process built it anew.
    Rebuilt,
}

/// Asks the notes of a vault, after the index was brought up to date. `question` may be asked again when the index
/// turns out to be damaged.
pub fn ask<T>(
    vault: &Vault,
    question: impl Fn(&Notes) -> Result<T, IndexError>,
) -> Result<(T, Upkeep), NotesError> {
    ask_until(vault, None, question)
}

/// Asks the notes of a vault until a time, if there is one: a look at all files of a vault that is too large for it is left
/// to who has the time, and the index answers as it is. What the question comes upon is looked at all the same.
pub fn ask_until<T>(
    vault: &Vault,
    until: Option<Instant>,
    question: impl Fn(&Notes) -> Result<T, IndexError>,
) -> Result<(T, Upkeep), NotesError> {
    let (notes, upkeep) = open(vault, until)?;
    match question(&notes) {
        Err(err) if err.asks_for_rebuild() => {}
        Ok(answer) => {
            let again = notes.take_up_met(vault).and_then(|notes| question(&notes).ok());
            return Ok((again.unwrap_or(answer), upkeep));
        }
        Err(err) => return Err(err.into()),
    }
    // Somebody else may have met the same damage and be done with it.
    let mut writer = writer(vault)?;
    if let Ok(index) = Index::open(&directory(vault), embed::centroids())
        && let Ok(answer) = question(&Notes::Indexed(index))
    {
        return Ok((answer, upkeep));
    }
    rebuild(vault, &mut writer)?;
    drop(writer);
    let index = Index::open(&directory(vault), embed::centroids())?;
    Ok((question(&Notes::Indexed(index))?, Upkeep::Rebuilt))
}

/// Builds the index of a vault anew.
pub fn build(vault: &Vault) -> Result<usize, NotesError> {
    let mut writer = writer(vault)?;
    rebuild(vault, &mut writer)
}

/// What bringing an index up to date did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refreshed {
    /// How many memories the index shows now.
    pub n_notes: usize,
    /// How many of them it did not show, or showed with other bytes.
    pub n_taken_up: usize,
    /// How many it showed that are gone.
    pub n_gone: usize,
}

/// Brings the index of a vault up to date, and says what had to be done. Bytes decide, not the times of files: one that
/// was only touched counts for nothing.
pub fn refresh(vault: &Vault) -> Result<Refreshed, NotesError> {
    let mut writer = writer(vault)?;
    let known: Result<HashMap<String, [u8; 32]>, IndexError> = writer.index().and_then(|index| {
        index.stamps()?.map(|found| found.map(|(key, stamp)| (key, stamp.sha256))).collect()
    });
    let known = match known {
        Err(err) if err.asks_for_rebuild() => {
            let n_notes = rebuild(vault, &mut writer)?;
            return Ok(Refreshed { n_notes, n_taken_up: n_notes, n_gone: 0 });
        }
        known => known?,
    };
    let (look, changes) = changes(vault, writer.index()?, Glance::Whole).map_err(NotesError::Vault)?;
    let changes = changes?;
    let entries: Vec<index::Entry> =
        changes.new.iter().filter_map(|(path, stamp)| entry(vault, path, *stamp)).collect();
    let is_new = |entry: &&index::Entry| known.get(&entry.key) != Some(&entry.stamp.sha256);
    let (n_taken_up, n_gone) = (entries.iter().filter(is_new).count(), changes.gone.len());
    if !entries.is_empty() || n_gone > 0 {
        writer.apply(entries, changes.gone)?;
    }
    fresh::remember(&look, vault);
    Ok(Refreshed { n_notes: look.files().len(), n_taken_up, n_gone })
}

/// Returns where the index of a vault is.
pub fn directory(vault: &Vault) -> PathBuf {
    vault.home().join("index").join(format!("{}.notes", vault.id()))
}

/// Removes the index of a vault, so that nothing of what it held is left; the next question builds it anew.
pub(crate) fn erase(vault: &Vault) -> io::Result<()> {
    let Ok(dir) = Dir::open(&directory(vault)) else { return Ok(()) };
    let _lock = Lock::acquire(dir.path(), index::LOCK).map_err(io::Error::other)?;
    let mut names = Vec::new();
    dir.for_each(|name, _| names.push(name.to_owned()))?;
    // Whoever waits for the lock waits for this very file.
    names.iter().filter(|name| *name != index::LOCK).try_for_each(|name| dir.remove(name))
}

fn writer(vault: &Vault) -> Result<Writer, NotesError> {
    Ok(Writer::open(&directory(vault), Options::new(embed::centroids()))?)
}

/// Opens the index of a vault as the vault is now.
fn open(vault: &Vault, until: Option<Instant>) -> Result<(Notes, Upkeep), NotesError> {
    let path = directory(vault);
    let found = Index::open(&path, embed::centroids());
    if let Ok(index) = &found
        && (matches!(fresh::is_fresh(vault, index), Ok(true)) || fresh::is_too_large(index, until))
    {
        return Ok((Notes::over(found?), Upkeep::None));
    }
    let was_there = !matches!(found, Err(IndexError::Missing));
    drop(found);
    match bring_up(vault, was_there) {
        Ok(upkeep) => Ok((Notes::over(Index::open(&path, embed::centroids())?), upkeep)),
        // A directory that cannot be written, a lock that cannot be had: answers are slower, not missing.
        Err(NotesError::Index(IndexError::Io(_) | IndexError::Lock(_))) => {
            Ok((Notes::Held(hold(vault)?), Upkeep::None))
        }
        Err(err) => Err(err),
    }
}

/// Takes up what changed, or builds the index; one process at a time.
fn bring_up(vault: &Vault, was_there: bool) -> Result<Upkeep, NotesError> {
    let mut writer = writer(vault)?;
    let looked = match writer.index() {
        Ok(index) => {
            let glance = fresh::glance(vault, index);
            let (look, changes) = changes(vault, index, glance).map_err(NotesError::Vault)?;
            changes.map(|changes| (look, changes))
        }
        Err(err) => Err(err),
    };
    match looked {
        Ok((look, changes)) => {
            take_up(vault, &mut writer, changes)?;
            fresh::remember(&look, vault);
            Ok(Upkeep::None)
        }
        Err(err) if err.asks_for_rebuild() => {
            rebuild(vault, &mut writer)?;
            Ok(if was_there { Upkeep::Rebuilt } else { Upkeep::Built })
        }
        Err(err) => Err(err.into()),
    }
}

fn take_up(vault: &Vault, writer: &mut Writer, changes: Changes) -> Result<(), IndexError> {
    let entries: Vec<index::Entry> =
        changes.new.iter().filter_map(|(path, stamp)| entry(vault, path, *stamp)).collect();
    if entries.is_empty() && changes.gone.is_empty() {
        return Ok(());
    }
    writer.apply(entries, changes.gone)
}

fn rebuild(vault: &Vault, writer: &mut Writer) -> Result<usize, NotesError> {
    let look = Look::at(vault, Glance::Whole).map_err(NotesError::Vault)?;
    let mut n_notes = 0;
    let files = look.files();
    let entries = files.iter().filter_map(|(path, stamp)| entry(vault, path, *stamp));
    writer.rebuild(entries.inspect(|_| n_notes += 1))?;
    fresh::remember(&look, vault);
    Ok(n_notes)
}

fn hold(vault: &Vault) -> Result<Shelf, NotesError> {
    let look = Look::at(vault, Glance::Whole).map_err(NotesError::Vault)?;
    let files = look.files();
    let notes = files.iter().filter_map(|(path, _)| Some(read(vault, path)?.0));
    Ok(Shelf::new(notes.collect()))
}

/// Reads a memory; `None` if it cannot be read or vanished.
fn read(vault: &Vault, path: &MemoryPath) -> Option<(Note, [u8; 32])> {
    let bytes = vault.dir().read(path.as_str(), MAX_MEMORY).ok()??;
    let document = Document::parse(&bytes);
    let (memory, _) = Memory::read(path, &document);
    let mut note = Note::of(&memory, &document);
    path.stem().clone_into(&mut note.name);
    Some((note, *memdir_core::hash::ContentHash::of(&bytes).as_bytes()))
}

fn entry(vault: &Vault, path: &MemoryPath, stamp: Stamp) -> Option<index::Entry> {
    let (note, sha256) = read(vault, path)?;
    entry_of(&note, path.as_str(), Stamp { sha256, ..stamp })
}

/// Returns what an index keeps of a note; `None` if it cannot be written.
pub fn entry_of(note: &Note, key: &str, stamp: Stamp) -> Option<index::Entry> {
    let found = note.entry();
    let mut facets: Vec<u64> = found.facets.iter().map(|facet| facet.value()).collect();
    facets.push(name_facet(&note.name));
    Some(index::Entry {
        key: key.to_owned(),
        stamp,
        terms: found.terms.iter().map(|(term, weight)| (term.value(), *weight)).collect(),
        facets,
        length: found.length,
        vector: found.row,
        payload: payload::write(note, found.row.as_ref())?,
    })
}

fn name_facet(name: &str) -> u64 {
    Term::of(&format!("name:{}", name.to_lowercase())).value()
}

impl Library for Notes {
    type Error = IndexError;

    fn n_notes(&self) -> usize {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => index.len(),
            Self::Held(shelf) => shelf.n_notes(),
        }
    }

    fn id_limit(&self) -> usize {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => index.id_limit() as usize,
            Self::Held(shelf) => shelf.id_limit(),
        }
    }

    fn total_length(&self) -> u64 {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => index.total_length(),
            Self::Held(shelf) => shelf.total_length(),
        }
    }

    fn postings(&self, term: Term) -> Result<Vec<Posting>, IndexError> {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => {
                let postings = index.postings(term.value())?.into_iter();
                Ok(postings
                    .map(|found| Posting { doc: found.doc.0, weight: found.weight, length: found.length })
                    .collect())
            }
            Self::Held(shelf) => Ok(sure(shelf.postings(term))),
        }
    }

    fn each_posting(
        &self,
        term: Term,
        most: usize,
        mut visit: impl FnMut(usize, Posting),
    ) -> Result<usize, IndexError> {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => {
                let listed = index.listed(term.value())?;
                let n = listed.len();
                if n <= most {
                    let posting = |doc: index::DocId, weight, length| Posting { doc: doc.0, weight, length };
                    listed.each(|found| visit(n, posting(found.doc, found.weight, found.length)))?;
                }
                Ok(n)
            }
            Self::Held(shelf) => Ok(sure(shelf.each_posting(term, most, visit))),
        }
    }

    fn facet(&self, facet: Term) -> Result<Vec<DocId>, IndexError> {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => {
                Ok(index.facet(facet.value())?.into_iter().map(|doc| doc.0).collect())
            }
            Self::Held(shelf) => Ok(sure(shelf.facet(facet))),
        }
    }

    fn nearest(&self, row: &Row, limit: usize) -> Result<Vec<(DocId, i32)>, IndexError> {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => {
                let near = index.nearest(row, limit, MIN_ROWS)?;
                Ok(near.into_iter().map(|(doc, dot)| (doc.0, dot)).collect())
            }
            Self::Held(shelf) => Ok(sure(shelf.nearest(row, limit))),
        }
    }

    fn nearest_while<T>(
        &self,
        row: &Row,
        limit: usize,
        meanwhile: impl FnOnce() -> T,
    ) -> (Result<Near, IndexError>, T) {
        if self.n_notes() < WORTH_A_THREAD {
            return (self.nearest(row, limit), meanwhile());
        }
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("nearest".to_owned());
            let nearest = thread.spawn_scoped(scope, || self.nearest(row, limit));
            let other = meanwhile();
            let nearest = match nearest.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(nearest)) => nearest,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // No thread to be had: one after the other.
                Err(_) => self.nearest(row, limit),
            };
            (nearest, other)
        })
    }

    fn note(&self, doc: DocId) -> Result<Note, IndexError> {
        match self {
            Self::Indexed(_) | Self::Watched(_) => Ok(self.note_and_row(doc)?.0),
            Self::Held(shelf) => Ok(sure(shelf.note(doc))),
        }
    }

    fn note_and_row(&self, doc: DocId) -> Result<(Note, Option<Row>), IndexError> {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => {
                let found = index.doc(index::DocId(doc))?;
                let note = payload::read(&found.payload).ok_or(IndexError::OtherVersion)?;
                if let Self::Watched(watched) = self {
                    watched.meet(found.key, found.stamp);
                }
                Ok(note)
            }
            Self::Held(shelf) => Ok(sure(shelf.note_and_row(doc))),
        }
    }

    fn row(&self, doc: DocId) -> Result<Option<Row>, IndexError> {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => index.vector(index::DocId(doc)),
            Self::Held(shelf) => Ok(sure(shelf.row(doc))),
        }
    }

    fn named(&self, name: &str) -> Result<Option<DocId>, IndexError> {
        match self {
            Self::Indexed(index) | Self::Watched(Watched { index, .. }) => {
                Ok(index.facet(name_facet(name))?.first().map(|doc| doc.0))
            }
            Self::Held(shelf) => Ok(sure(shelf.named(name))),
        }
    }
}

/// Takes an answer that cannot fail.
fn sure<T>(answer: Result<T, std::convert::Infallible>) -> T {
    let Ok(answer) = answer;
    answer
}
