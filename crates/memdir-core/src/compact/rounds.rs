//! Rounds: what one request to the model brought, and with how many of the last ones a list can go on.
//!
//! A round begins where the model speaks and ends before it speaks again, so it holds the model's calls and the results
//! that came back. What stands before the first one is a round as well. A list that goes on with whole rounds begins with
//! the model, so a message of the user can stand before it; only a call whose result is rounds away makes more care
//! necessary, which [`Rounds::starts`] takes.

use std::collections::HashMap;
use std::ops::Range;

use super::list::{Item, Who, take};

/// The rounds of a list.
#[derive(Debug)]
pub(super) struct Rounds {
    /// How many items come before all rounds: what holds for the whole conversation.
    pub(super) n_leading: usize,
    /// The items of each round.
    pub(super) rounds: Vec<Range<usize>>,
}

impl Rounds {
    /// Groups items.
    pub(super) fn of(items: &[Item<'_>]) -> Self {
        let n_leading = items.iter().take_while(|item| item.who == Who::System).count();
        let mut rounds: Vec<Range<usize>> = Vec::new();
        for at in n_leading..items.len() {
            let is_model = items[at].who == Who::Model;
            let begins = at == n_leading || (is_model && items[at - 1].who != Who::Model);
            match rounds.last_mut() {
                Some(last) if !begins => last.end = at + 1,
                _ => rounds.push(at..at + 1),
            }
        }
        Self { n_leading, rounds }
    }

    /// Says of each round whether a list can begin with it: the model speaks first, every result that follows has its
    /// call, and every call has its result, but for those that the list ends with.
    pub(super) fn starts(&self, items: &[Item<'_>]) -> Vec<bool> {
        let mut starts = vec![false; self.rounds.len()];
        let mut unasked: HashMap<String, usize> = HashMap::new();
        let mut n_unasked = 0;
        let mut is_last_word = true;
        for (nth, round) in self.rounds.iter().enumerate().rev() {
            for item in items[round.clone()].iter().rev() {
                is_last_word &= item.who == Who::Model;
                for id in &item.results {
                    *unasked.entry(id.clone()).or_default() += 1;
                    n_unasked += 1;
                }
                for id in &item.calls {
                    if take(&mut unasked, id) {
                        n_unasked -= 1;
                    } else if !is_last_word {
                        // Nobody answered: no list that holds this call can be sent.
                        return starts;
                    }
                }
                if !item.is_readable {
                    return starts;
                }
            }
            starts[nth] = n_unasked == 0 && items[round.start].who == Who::Model;
        }
        starts
    }
}
