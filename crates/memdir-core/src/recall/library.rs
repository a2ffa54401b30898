//! What recall asks of an index, and the smallest index there is.
//!
//! The store's index lies in files; a [`Shelf`] lies in memory and answers the same, for tests and for fitting weights.

use std::collections::HashMap;

use super::note::Note;
use crate::embed::{self, Row};
use crate::terms::Term;

/// A document of an index, as long as the index is open.
pub type DocId = u32;

/// Notes with the dot products of their vectors, the nearest first.
pub type Near = Vec<(DocId, i32)>;

/// A document that has a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The document.
    pub doc: DocId,
    /// How often the term stands in it, each part of the text weighed, in quarters.
    pub weight: u16,
    /// How long the document is, in terms.
    pub length: u32,
}

/// An index of notes.
pub trait Library {
    /// Why an answer could not be had.
    type Error;

    /// Returns how many notes there are.
    fn n_notes(&self) -> usize;
    /// Returns a number above the id of every note.
    fn id_limit(&self) -> usize;
    /// Returns the sum of their lengths.
    fn total_length(&self) -> u64;
    /// Returns the notes that have a term.
    fn postings(&self, term: Term) -> Result<Vec<Posting>, Self::Error>;
    /// Returns how many notes have a term, and unless they are more than `most` calls `visit` with that number and each.
    fn each_posting(
        &self,
        term: Term,
        most: usize,
        mut visit: impl FnMut(usize, Posting),
    ) -> Result<usize, Self::Error> {
        let postings = self.postings(term)?;
        let n = postings.len();
        if n <= most {
            postings.into_iter().for_each(|posting| visit(n, posting));
        }
        Ok(n)
    }
    /// Returns the notes that have a facet.
    fn facet(&self, facet: Term) -> Result<Vec<DocId>, Self::Error>;
    /// Returns the notes whose vectors are nearest, with the dot product of the rows, the nearest first.
    fn nearest(&self, row: &Row, limit: usize) -> Result<Vec<(DocId, i32)>, Self::Error>;
    /// Returns the nearest and what `meanwhile` returns. Comparing vectors is the most that an answer takes in a large
    /// index, and nothing else waits for it: an index may do both at once.
    fn nearest_while<T>(
        &self,
        row: &Row,
        limit: usize,
        meanwhile: impl FnOnce() -> T,
    ) -> (Result<Near, Self::Error>, T) {
        (self.nearest(row, limit), meanwhile())
    }
    /// Returns a note.
    fn note(&self, doc: DocId) -> Result<Note, Self::Error>;
    /// Returns the vector of a note.
    fn row(&self, doc: DocId) -> Result<Option<Row>, Self::Error>;
    /// Returns a note with its vector, where that is cheaper than one after the other.
    fn note_and_row(&self, doc: DocId) -> Result<(Note, Option<Row>), Self::Error> {
        Ok((self.note(doc)?, self.row(doc)?))
    }
    /// Finds a note by its name.
    fn named(&self, name: &str) -> Result<Option<DocId>, Self::Error>;
}

/// An index in memory.
#[derive(Debug, Default)]
pub struct Shelf {
    notes: Vec<Note>,
    rows: Vec<Option<Row>>,
    postings: HashMap<Term, Vec<Posting>>,
    facets: HashMap<Term, Vec<DocId>>,
    total_length: u64,
}

impl Shelf {
    /// Puts notes on a shelf.
    pub fn new(notes: Vec<Note>) -> Self {
        let mut shelf = Self::default();
        for note in notes {
            let doc = DocId::try_from(shelf.notes.len()).expect("a shelf is small");
            let entry = note.entry();
            shelf.total_length += u64::from(entry.length);
            for (term, weight) in entry.terms {
                let posting = Posting { doc, weight, length: entry.length };
                shelf.postings.entry(term).or_default().push(posting);
            }
            for facet in entry.facets {
                shelf.facets.entry(facet).or_default().push(doc);
            }
            shelf.rows.push(entry.row);
            shelf.notes.push(note);
        }
        shelf
    }
}

impl Library for Shelf {
    type Error = std::convert::Infallible;

    fn n_notes(&self) -> usize {
        self.notes.len()
    }

    fn id_limit(&self) -> usize {
        self.notes.len()
    }

    fn total_length(&self) -> u64 {
        self.total_length
    }

    fn postings(&self, term: Term) -> Result<Vec<Posting>, Self::Error> {
        Ok(self.postings.get(&term).cloned().unwrap_or_default())
    }

    fn facet(&self, facet: Term) -> Result<Vec<DocId>, Self::Error> {
        Ok(self.facets.get(&facet).cloned().unwrap_or_default())
    }

    fn nearest(&self, row: &Row, limit: usize) -> Result<Vec<(DocId, i32)>, Self::Error> {
        let rows =
            self.rows.iter().zip(0..).filter_map(|(own, doc)| Some((doc, embed::dot(own.as_ref()?, row))));
        let mut near: Vec<(DocId, i32)> = rows.collect();
        near.sort_by_key(|(doc, dot)| (-dot, *doc));
        near.truncate(limit);
        Ok(near)
    }

    fn note(&self, doc: DocId) -> Result<Note, Self::Error> {
        Ok(self.notes[doc as usize].clone())
    }

    fn row(&self, doc: DocId) -> Result<Option<Row>, Self::Error> {
        Ok(self.rows[doc as usize])
    }

    fn named(&self, name: &str) -> Result<Option<DocId>, Self::Error> {
        Ok(self.notes.iter().position(|note| note.name == name).map(|at| at as DocId))
    }
}
