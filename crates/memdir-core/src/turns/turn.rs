//! One turn of a log: what an index keeps of it, and how it is read back.

use crate::dates::english::MONTHS;
use crate::embed::{self, DIMENSIONS, Row};
use crate::terms::{Term, each_term, terms};

/// As many sentences are compared one by one; what follows is found by the whole turn.
const MAX_SENTENCES: usize = 40;

/// What somebody said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    /// Names it within its log.
    pub id: String,
    /// The session it belongs to.
    pub session: String,
    /// Where it stands; turns of a session are neighbours in this order.
    pub position: u32,
    /// Who said it.
    pub speaker: String,
    /// When, as `2026-05-08` or longer; empty if nobody knows.
    pub date: String,
    /// What was said.
    pub text: String,
}

/// What an index keeps to find a turn.
#[derive(Debug, Clone)]
pub struct Indexed {
    /// Its terms with how often they occur, those of its date too.
    pub terms: Vec<(Term, u16)>,
    /// Its length in terms.
    pub length: u32,
    /// Where it points.
    pub row: Option<Row>,
    /// The turn itself with where its sentences point; see [`Stored::read`].
    pub payload: Vec<u8>,
}

/// A turn as it is read back from an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The turn.
    pub turn: Turn,
    /// Where each of its sentences points; none if it is one sentence.
    pub sentences: Vec<Row>,
}

impl Turn {
    /// Works out what an index keeps of it.
    pub fn indexed(&self) -> Indexed {
        let whole = self.spoken(&self.text);
        let mut said = self.date_terms();
        each_term(&whole, |term, _| said.push(term));
        let length = said.len() as u32;
        said.sort_unstable();
        let counts =
            said.chunk_by(|a, b| a == b).map(|same| (same[0], same.len().min(u16::MAX.into()) as u16));
        let row = embed::vector(&whole).map(|vector| vector.to_bytes());
        Indexed { terms: counts.collect(), length, row, payload: self.payload() }
    }

    /// Returns the terms of its date: month, day and year, as people write them in a question.
    pub fn date_terms(&self) -> Vec<Term> {
        let mut parts = self.date.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().ok());
        let mut part = || parts.next().flatten();
        let (Some(year), Some(month), Some(day)) = (part(), part(), part()) else { return Vec::new() };
        let month = (month as usize).checked_sub(1).and_then(|at| MONTHS.get(at));
        let Some(month) = month else { return Vec::new() };
        vec![month_term(month), Term::of(&day.to_string()), Term::of(&year.to_string())]
    }

    fn spoken(&self, text: &str) -> String {
        format!("{}: {text}", self.speaker)
    }

    fn payload(&self) -> Vec<u8> {
        let sentences: Vec<&str> = sentences(&self.text).take(MAX_SENTENCES).collect();
        let row = |sentence: &&str| {
            let vector = embed::vector(&self.spoken(sentence));
            vector.map_or([0; DIMENSIONS], |vector| vector.to_bytes())
        };
        let rows: Vec<Row> =
            if sentences.len() > 1 { sentences.iter().map(row).collect() } else { Vec::new() };
        payload(self, &rows)
    }
}

fn payload(turn: &Turn, sentences: &[Row]) -> Vec<u8> {
    let mut payload = turn.position.to_le_bytes().to_vec();
    for field in [&turn.id, &turn.session, &turn.speaker, &turn.date, &turn.text] {
        payload.extend((field.len() as u32).to_le_bytes());
        payload.extend(field.as_bytes());
    }
    payload.extend(sentences.iter().flatten().map(|value| value.cast_unsigned()));
    payload
}

impl Stored {
    /// Returns it as bytes, for whoever changed something of it.
    pub fn to_payload(&self) -> Vec<u8> {
        payload(&self.turn, &self.sentences)
    }

    /// Reads what [`Turn::indexed`] made; `None` if it is something else.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let (position, mut rest) = payload.split_first_chunk()?;
        let mut field = || {
            let (length, after) = rest.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            String::from_utf8(text.to_vec()).ok()
        };
        let turn = Turn {
            position: u32::from_le_bytes(*position),
            id: field()?,
            session: field()?,
            speaker: field()?,
            date: field()?,
            text: field()?,
        };
        let (rows, []) = rest.as_chunks::<DIMENSIONS>() else { return None };
        Some(Self { turn, sentences: rows.iter().map(|row| row.map(u8::cast_signed)).collect() })
    }
}

/// Returns the term of a month. `may` is a small word, which [`terms`] leaves out.
pub(super) fn month_term(month: &str) -> Term {
    terms(month).first().map_or_else(|| Term::of(month), |found| found.term)
}

/// Cuts a text at white space that follows the end of a sentence or a line break.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (sentence, after) = rest.split_at(sentence_end(rest));
            rest = after.trim_start();
            if !sentence.trim().is_empty() {
                return Some(sentence);
            }
        }
        None
    })
}

/// Returns where the first sentence ends: before white space that follows `.`, `!`, `?` or a line break.
fn sentence_end(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && matches!(before, '.' | '!' | '?' | '\n') {
            return at;
        }
        before = c;
    }
    text.len()
}
