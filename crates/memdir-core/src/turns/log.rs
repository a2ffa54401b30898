//! A log that is open: what every question about it needs of its turns.

use std::collections::HashMap;

use crate::embed::Row;
use crate::terms::Term;

use super::turn::Stored;

/// A turn with what an index knows of it.
#[derive(Debug, Clone)]
pub struct Member {
    /// The turn.
    pub stored: Stored,
    /// Its length in terms.
    pub length: u32,
    /// Where it points.
    pub row: Option<Row>,
}

/// The turns of one log in their order. A turn is named by its place in it.
#[derive(Debug)]
pub struct Log {
    pub(super) members: Vec<Member>,
    pub(super) date_terms: Vec<Vec<Term>>,
    /// The turn before each in its session, and the one after it.
    pub(super) before: Vec<Option<usize>>,
    pub(super) after: Vec<Option<usize>>,
    /// The number of each turn's session.
    pub(super) session: Vec<usize>,
    pub(super) n_sessions: usize,
}

impl Log {
    /// Takes turns in the order of their positions.
    pub fn new(members: Vec<Member>) -> Self {
        let n = members.len();
        let (mut before, mut after) = (vec![None; n], vec![None; n]);
        let mut session = Vec::with_capacity(n);
        let mut sessions: HashMap<&str, (usize, usize)> = HashMap::new();
        for (at, member) in members.iter().enumerate() {
            let number = sessions.len();
            let name = member.stored.turn.session.as_str();
            let (number, last) = *sessions
                .entry(name)
                .and_modify(|(_, last)| {
                    before[at] = Some(*last);
                    *last = at;
                })
                .or_insert((number, at));
            debug_assert_eq!(last, at);
            if let Some(before) = before[at] {
                after[before] = Some(at);
            }
            session.push(number);
        }
        let n_sessions = sessions.len();
        let date_terms = members.iter().map(|member| member.stored.turn.date_terms()).collect();
        Self { members, date_terms, before, after, session, n_sessions }
    }

    /// Returns its turns.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the turns beside a turn in its session.
    pub(super) fn beside(&self, at: usize) -> impl Iterator<Item = usize> {
        self.before[at].into_iter().chain(self.after[at])
    }

    /// Returns the length of what was said, without the date.
    pub(super) fn said_length(&self, at: usize) -> u32 {
        self.members[at].length.saturating_sub(self.date_terms[at].len() as u32)
    }

    /// Returns how often a term was said in a turn, of all the times it is counted there.
    pub(super) fn said(&self, at: usize, term: Term, count: u32) -> u32 {
        let in_date = self.date_terms[at].iter().filter(|&&dated| dated == term).count();
        count.saturating_sub(in_date as u32)
    }
}
