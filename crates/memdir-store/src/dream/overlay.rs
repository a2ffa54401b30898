//! An index as it would be after a plan, without building it: the one that there is, without the memories that leave or
//! change, and a small one of those that change.

use std::collections::BTreeSet;

use memdir_core::embed::Row;
use memdir_core::recall::{DocId, Library, Note, Posting, Shelf};
use memdir_core::terms::Term;

/// An index over another one.
pub(super) struct Overlay<'l, L: Library> {
    below: &'l L,
    /// Documents of the index below that are gone.
    hidden: BTreeSet<DocId>,
    /// The memories as they would be.
    above: Shelf,
    /// Where the numbers of these begin.
    first: DocId,
}

impl<'l, L: Library> Overlay<'l, L> {
    /// Hides the memories of some names and adds others.
    pub(super) fn new(below: &'l L, hidden: &[String], added: Vec<Note>) -> Result<Self, L::Error> {
        let mut docs = BTreeSet::new();
        for name in hidden {
            docs.extend(below.named(name)?);
        }
        let first = DocId::try_from(below.id_limit()).unwrap_or(DocId::MAX / 2);
        Ok(Self { below, hidden: docs, above: Shelf::new(added), first })
    }

    fn above<T>(&self, found: Result<T, std::convert::Infallible>) -> T {
        match found {
            Ok(found) => found,
        }
    }

    fn is_above(&self, doc: DocId) -> Option<DocId> {
        doc.checked_sub(self.first)
    }
}

impl<L: Library> Library for Overlay<'_, L> {
    type Error = L::Error;

    fn n_notes(&self) -> usize {
        self.below.n_notes() - self.hidden.len() + self.above.n_notes()
    }

    fn id_limit(&self) -> usize {
        self.below.id_limit() + self.above.id_limit()
    }

    fn total_length(&self) -> u64 {
        self.below.total_length() + self.above.total_length()
    }

    fn postings(&self, term: Term) -> Result<Vec<Posting>, Self::Error> {
        let mut postings = self.below.postings(term)?;
        postings.retain(|posting| !self.hidden.contains(&posting.doc));
        let above = self.above(self.above.postings(term)).into_iter();
        postings.extend(above.map(|posting| Posting { doc: posting.doc + self.first, ..posting }));
        Ok(postings)
    }

    fn facet(&self, facet: Term) -> Result<Vec<DocId>, Self::Error> {
        let mut docs = self.below.facet(facet)?;
        docs.retain(|doc| !self.hidden.contains(doc));
        docs.extend(self.above(self.above.facet(facet)).into_iter().map(|doc| doc + self.first));
        Ok(docs)
    }

    fn nearest(&self, row: &Row, limit: usize) -> Result<Vec<(DocId, i32)>, Self::Error> {
        let mut near = self.below.nearest(row, limit + self.hidden.len())?;
        near.retain(|(doc, _)| !self.hidden.contains(doc));
        near.extend(
            self.above(self.above.nearest(row, limit)).into_iter().map(|(doc, dot)| (doc + self.first, dot)),
        );
        near.sort_by_key(|(doc, dot)| (-dot, *doc));
        near.truncate(limit);
        Ok(near)
    }

    fn note(&self, doc: DocId) -> Result<Note, Self::Error> {
        match self.is_above(doc) {
            Some(doc) => Ok(self.above(self.above.note(doc))),
            None => self.below.note(doc),
        }
    }

    fn row(&self, doc: DocId) -> Result<Option<Row>, Self::Error> {
        match self.is_above(doc) {
            Some(doc) => Ok(self.above(self.above.row(doc))),
            None => self.below.row(doc),
        }
    }

    fn named(&self, name: &str) -> Result<Option<DocId>, Self::Error> {
        if let Some(doc) = self.above(self.above.named(name)) {
            return Ok(Some(doc + self.first));
        }
        Ok(self.below.named(name)?.filter(|doc| !self.hidden.contains(doc)))
    }
}
