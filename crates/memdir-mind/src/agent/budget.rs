//! What a sub-agent may spend, and what it has spent.
//!
//! Every limit ends a run the same way: what was proposed until then counts, nothing more is asked, and the report says
//! which limit it was. A model that loops, writes a library or falls asleep costs this much and no more.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::Usage;

/// What one run may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Answers of the model.
    pub turns: u32,
    /// Tokens, read and written, of all answers together.
    pub tokens: u64,
    /// No single answer is longer, in tokens.
    pub answer: u32,
    /// Bytes that tools return, in all.
    pub bytes: usize,
    /// Calls of tools that one answer may hold.
    pub calls: usize,
    /// Proposals in all.
    pub files: usize,
    /// Bytes of one proposal.
    pub file_bytes: usize,
    /// Memories that proposals take out of the vault, in all.
    pub removals: usize,
    /// Seconds from beginning to end.
    pub seconds: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            turns: 5,
            tokens: 120_000,
            answer: 4_096,
            bytes: 128 * 1024,
            calls: 32,
            files: 12,
            file_bytes: 8 * 1024,
            removals: 0,
            seconds: 120,
        }
    }
}

impl Budget {
    /// What a consolidation may spend: it also takes memories away, within the same number of turns.
    pub fn for_dream() -> Self {
        Self {
            tokens: 400_000,
            bytes: 512 * 1024,
            calls: 64,
            files: 40,
            removals: 40,
            seconds: 600,
            ..Self::default()
        }
    }
}

/// What a run has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Answers.
    pub turns: u32,
    /// Tokens.
    pub usage: Usage,
    /// Bytes that tools returned.
    pub bytes: usize,
    /// Proposals that were taken.
    pub files: usize,
    /// Memories that they take out of the vault.
    pub removals: usize,
}

impl Spent {
    /// Notes one answer.
    pub fn answered(&mut self, usage: &Usage) {
        self.turns += 1;
        self.usage.input = self.usage.input.saturating_add(usage.input);
        self.usage.cached = self.usage.cached.saturating_add(usage.cached);
        self.usage.stored = self.usage.stored.saturating_add(usage.stored);
        self.usage.output = self.usage.output.saturating_add(usage.output);
    }

    /// Returns all tokens, however they were read.
    pub fn tokens(&self) -> u64 {
        let Usage { input, cached, stored, output } = self.usage;
        input.saturating_add(cached).saturating_add(stored).saturating_add(output)
    }

    /// Says which limit forbids another answer, if one does.
    pub fn exhausted(&self, budget: &Budget, elapsed: Duration) -> Option<End> {
        let time = || (elapsed >= Duration::from_secs(budget.seconds)).then_some(End::Time);
        self.used_up(budget).or_else(time)
    }

    /// Says which limit forbids another answer, whatever the time.
    pub fn used_up(&self, budget: &Budget) -> Option<End> {
        let tokens = || (self.tokens() >= budget.tokens).then_some(End::Tokens);
        (self.turns >= budget.turns).then_some(End::Turns).or_else(tokens)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The model had nothing more to do.
    Finished,
    /// As many answers as there may be were given.
    Turns,
    /// As many tokens as there may be were used.
    Tokens,
    /// The time was up.
    Time,
    /// The model would not.
    Declined,
    /// There was no answer.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(turns: u32, tokens: u64) -> Spent {
        Spent { turns, usage: Usage { output: tokens, ..Usage::default() }, ..Spent::default() }
    }

    #[test]
    fn each_limit_ends_a_run_by_its_name() {
        let budget = Budget { turns: 5, tokens: 100, seconds: 10, ..Budget::default() };
        let soon = Duration::from_secs(1);
        assert_eq!(spent(4, 99).exhausted(&budget, soon), None);
        assert_eq!(spent(5, 0).exhausted(&budget, soon), Some(End::Turns));
        assert_eq!(spent(1, 100).exhausted(&budget, soon), Some(End::Tokens));
        assert_eq!(spent(1, 1).exhausted(&budget, Duration::from_secs(10)), Some(End::Time));
    }

    #[test]
    fn tokens_count_however_they_were_read_and_never_overflow() {
        let mut spent = Spent::default();
        spent.answered(&Usage { input: 1, cached: 2, stored: 3, output: 4 });
        assert_eq!((spent.turns, spent.tokens()), (1, 10));
        spent.answered(&Usage { input: u64::MAX, cached: 9, stored: 9, output: u64::MAX });
        assert_eq!(spent.tokens(), u64::MAX);
    }
}
