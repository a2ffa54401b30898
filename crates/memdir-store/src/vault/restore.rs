//! Commits that bring more than memories: an index page to begin with, copies beside the vault, a repaired page.
//!
//! An import of our own archive and a repair go through the same door as a save. They only say in addition what
//! the index page is rendered from, and which copies (archive, trash, conflicts, inbox) come back with the
//! memories, in the same change.

use std::collections::BTreeSet;

use memdir_core::change::{Author, ChangeSet, Surface};
use memdir_core::hash::ContentHash;
use memdir_core::memory::{MemoryPath, Provenance};
use memdir_core::page::{self, Page, PageEntry, PageProblem};

use super::commit::{Beside, Committed, Writer};
use super::plan::Plan;
use super::{CommitError, MAX_MEMORY};
use crate::history::Area;

/// A file that is kept beside the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Where it is kept; one of the folders of the vault's state.
    pub area: Area,
    /// Its file name there.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What an index page is rendered from.
#[derive(Debug, Clone, Default)]
pub(super) enum PageBase {
    /// The page that is there.
    #[default]
    Current,
    /// The page that is there, without the pointers that lead nowhere.
    Pruned,
    /// This one, if there is none.
    Given(Vec<u8>),
    /// The page that is there, without the foreign lines that have these hashes.
    Without(BTreeSet<ContentHash>),
    /// This one, whatever is there.
    Instead(Vec<u8>),
}

impl PageBase {
    /// Renders the page of a vault that has the page `current`.
    pub(super) fn render(
        &self,
        current: Option<&[u8]>,
        entries: &[PageEntry],
        touched: &BTreeSet<MemoryPath>,
    ) -> Page {
        let existing =
            || -> BTreeSet<MemoryPath> { entries.iter().map(|entry| entry.path.clone()).collect() };
        match (self, current) {
            (Self::Without(hashes), Some(current)) => {
                let existing = existing();
                let left = page::without_lines(current, hashes, |path| existing.contains(path));
                page::render(Some(&left), entries, touched)
            }
            (Self::Instead(page), _) => page::render(Some(page), entries, touched),
            (Self::Given(page), None) if names_all(page, &existing()) => as_it_is(page),
            (Self::Given(page), None) => page::render(Some(page), entries, &BTreeSet::new()),
            (Self::Pruned, Some(current)) => {
                page::render(Some(&page::prune(current, &existing())), entries, touched)
            }
            (_, current) => page::render(current, entries, touched),
        }
    }
}

/// Says whether a page names every memory and no other.
fn names_all(page: &[u8], existing: &BTreeSet<MemoryPath>) -> bool {
    let is_off = |problem: &PageProblem| {
        matches!(problem, PageProblem::Dangling { .. } | PageProblem::Unindexed { .. })
    };
    !page::lint(page, existing).iter().any(is_off)
}

fn as_it_is(page: &[u8]) -> Page {
    let (left, shortened, foreign) = Default::default();
    Page { bytes: page.to_owned(), left, shortened, absorbed: 0, foreign }
}

/// Makes a change set that touches no memory.
fn about_the_page(author: Author, by: Surface, reason: &str) -> ChangeSet {
    ChangeSet {
        author,
        by,
        provenance: Provenance::User,
        reason: reason.to_owned(),
        session: None,
        force: None,
        edits: Vec::new(),
    }
}

impl Writer<'_> {
    /// Renders the index page anew, without the pointers that lead nowhere. Nothing else changes.
    pub fn refresh_page(&mut self) -> Result<Committed, CommitError> {
        let set = about_the_page(Author::Person, Surface::Cli, "repaired the index page");
        self.commit_with(&set, &Beside { page: PageBase::Pruned, ..Beside::default() })
    }

    /// Gives a line on the index page to what other programs wrote and left without one, or described anew.
    pub fn point_to_what_is_new(&mut self) -> Result<Committed, CommitError> {
        let set = about_the_page(Author::Outside, Surface::Hook, "pointed to what another program wrote");
        self.commit_with(&set, &Beside::default())
    }

    /// Carries out a change set together with `copies`; a vault without an index page begins with `page`.
    pub fn restore(
        &mut self,
        set: &ChangeSet,
        copies: &[Copy],
        page: Option<&[u8]>,
    ) -> Result<Committed, CommitError> {
        let page = page.map_or(PageBase::Current, |page| PageBase::Given(page.to_owned()));
        self.commit_with(set, &Beside { copies, page, ..Beside::default() })
    }

    /// Adds copies beside the vault, as far as they are not there already.
    pub(super) fn plan_copies(&self, copies: &[Copy], plan: &mut Plan) -> Result<(), CommitError> {
        for Copy { area, name, bytes } in copies.iter().filter(|copy| copy.area.folder().is_some()) {
            let shown = || self.areas.display(*area, name);
            let dir =
                self.areas.root(*area).map_err(|source| CommitError::Write { path: shown(), source })?;
            let found = dir.read(name, MAX_MEMORY);
            let found = found.map_err(|source| CommitError::Read { path: shown(), source })?;
            match found.map(|found| ContentHash::of(&found) == ContentHash::of(bytes)) {
                Some(true) => {}
                Some(false) => return Err(CommitError::Exists(name.clone())),
                None => drop(plan.write(*area, name, None, bytes)),
            }
        }
        Ok(())
    }
}
