//! Lines of the index page that somebody else wrote: kept, told once, and handed to no session unasked.
//!
//! The user vouches for a line by its hash, in the ledger; the page itself is not touched by that. What stands on a
//! page when its project is first registered counts as the user's own, see [`Writer::adopt_page`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use memdir_core::change::{Author, ChangeSet, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{INDEX_PAGE, MemoryPath, Provenance};
use memdir_core::page::{ForeignLine, foreign_lines, inject, pointer_line};
use memdir_core::policy;
use memdir_core::text::{count, fit};

use super::commit::{Beside, Committed, Writer};
use super::listing::Listing;
use super::plan::Plan;
use super::restore::PageBase;
use super::{CommitError, MAX_MEMORY, Vault};
use crate::ledger::{Event, EventKind};

/// How much of a foreign line a remark shows.
const SHOWN: usize = 60;

impl Vault {
    /// Returns the lines of the index page that nobody has vouched for.
    pub fn foreign_lines(&self) -> io::Result<Vec<ForeignLine>> {
        let Some(page) = self.index_page()? else { return Ok(Vec::new()) };
        let existing: BTreeSet<MemoryPath> = Listing::read(&self.root)?.paths.into_iter().collect();
        let mut lines = foreign_lines(&page, |path| existing.contains(path));
        if !lines.is_empty() {
            let accepted = self.accepted_lines()?;
            lines.retain(|line| !accepted.contains(&line.hash));
        }
        Ok(lines)
    }

    /// Returns what a session gets of the index page: our lines, and of the others only what the user vouched for.
    pub fn injectable_page(&self) -> io::Result<String> {
        let Some(page) = self.index_page()? else { return Ok(String::new()) };
        // However many memories there are, a page points at no more than its lines.
        let known: RefCell<BTreeMap<MemoryPath, Option<String>>> = RefCell::default();
        let line_of = |path: &MemoryPath| {
            let read = || {
                let memory = self.entry(path)?.memory;
                (!memory.quarantined).then(|| pointer_line(&memory.title(), path, &memory.description))
            };
            known.borrow_mut().entry(path.clone()).or_insert_with(read).clone()
        };
        Ok(inject(&page, &self.accepted_lines()?, line_of))
    }

    fn index_page(&self) -> io::Result<Option<Vec<u8>>> {
        self.root.read(INDEX_PAGE, MAX_MEMORY).map_err(io::Error::other)
    }

    fn accepted_lines(&self) -> io::Result<BTreeSet<ContentHash>> {
        self.ledger().map_or(Ok(BTreeSet::new()), |ledger| ledger.lines(&[EventKind::Accepted]))
    }
}

impl Writer<'_> {
    /// Takes what stands on the page for the user's own, and returns how many lines that are.
    pub fn adopt_page(&mut self) -> Result<usize, CommitError> {
        let page = self.areas.vault.path().join(INDEX_PAGE);
        let lines = self.vault.foreign_lines();
        let lines = lines.map_err(|err| CommitError::Read { path: page, source: err.into() })?;
        self.accept_lines(lines.iter().map(|line| line.hash))?;
        Ok(lines.len())
    }

    /// Notes that the user vouches for these lines of the page.
    pub fn accept_lines(&mut self, hashes: impl IntoIterator<Item = ContentHash>) -> Result<(), CommitError> {
        let ledger = self.areas.state.path().join("ledger");
        self.note_lines(EventKind::Accepted, hashes)
            .map_err(|source| CommitError::Write { path: ledger, source })
    }

    /// Writes the text that somebody wants to have on the page, made from the page `base`. Lines of memories are made anew;
    /// the others stay as they are written, and wait for the user's word like those of any other program.
    pub fn write_page(
        &mut self,
        base: &[u8],
        text: Vec<u8>,
        set: &ChangeSet,
    ) -> Result<Committed, CommitError> {
        let path = self.areas.vault.path().join(INDEX_PAGE);
        let current = self.areas.vault.read(INDEX_PAGE, MAX_MEMORY);
        let current = current.map_err(|source| CommitError::Read { path, source })?.unwrap_or_default();
        if current != base {
            return Err(CommitError::Stale(INDEX_PAGE.to_owned()));
        }
        let secrets = policy::secrets(&self.gate.scanner, &text, Some(base));
        if !secrets.is_empty() {
            return Err(CommitError::Refused(secrets));
        }
        self.commit_with(set, &Beside { page: PageBase::Instead(text), ..Beside::default() })
    }

    /// Takes lines off the page, as a change that can be undone.
    pub fn drop_lines(&mut self, hashes: BTreeSet<ContentHash>) -> Result<Committed, CommitError> {
        let set = ChangeSet {
            author: Author::Person,
            by: Surface::Cli,
            provenance: Provenance::User,
            reason: format!("dropped from {INDEX_PAGE}"),
            session: None,
            force: None,
            edits: Vec::new(),
        };
        self.replace_lines(hashes, &set)
    }

    /// Takes lines off the page in the same change that carries out `set`.
    pub fn replace_lines(
        &mut self,
        hashes: BTreeSet<ContentHash>,
        set: &ChangeSet,
    ) -> Result<Committed, CommitError> {
        self.commit_with(set, &Beside { page: PageBase::Without(hashes), ..Beside::default() })
    }

    /// Tells of foreign lines on the page that nobody was told of before.
    pub(super) fn notice_lines(&self, page: &[u8], exists: impl Fn(&MemoryPath) -> bool, plan: &mut Plan) {
        let mut lines = foreign_lines(page, exists);
        let Some(ledger) = self.ledger.as_ref().filter(|_| !lines.is_empty()) else { return };
        // Telling twice does less harm than not telling.
        let known = ledger.lines(&[EventKind::Accepted, EventKind::Noticed]).unwrap_or_default();
        lines.retain(|line| !known.contains(&line.hash));
        let Some(first) = lines.first() else { return };
        plan.noticed = lines.iter().map(|line| line.hash).collect();
        plan.committed.remarks.push(format!(
            "{INDEX_PAGE} holds {} that memdir did not write, from `{}` on: no session gets that from memdir before `memdir review` accepts it",
            count(lines.len(), "line", "lines"),
            fit(first.text.trim(), SHOWN),
        ));
    }

    /// Remembers that somebody was told of lines.
    pub(super) fn record_noticed_lines(&self, hashes: &[ContentHash]) {
        let _ = self.note_lines(EventKind::Noticed, hashes.iter().copied());
    }

    fn note_lines(&self, kind: EventKind, hashes: impl IntoIterator<Item = ContentHash>) -> io::Result<()> {
        let Some(ledger) = &self.ledger else { return Ok(()) };
        let event = |hash| Event {
            sha256: Some(hash),
            by: Some(Surface::Cli),
            ..Event::new(self.now, kind, INDEX_PAGE)
        };
        ledger.append(&hashes.into_iter().map(event).collect::<Vec<_>>())
    }
}
