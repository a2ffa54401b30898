//! When working memory is written: at a size, and then each time enough has happened.

use serde::{Deserialize, Serialize};

use crate::transcript::{Role, Turn};

/// A session gets a working memory at this size, in tokens.
pub const FIRST_TOKENS: u64 = 10_000;
/// It is written anew after as many more tokens,
pub const MORE_TOKENS: u64 = 5_000;
/// once as many tools were called since, or the turn is over.
pub const MORE_CALLS: u64 = 3;
/// Without a tokenizer, a token is as many characters.
const CHARS_A_TOKEN: u64 = 4;

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Characters of all that was said and done.
    pub chars: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Where it was when working memory was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Mark>,
}

/// A point of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mark {
    /// Characters up to there.
    pub chars: u64,
    /// Calls up to there.
    pub calls: u64,
}

impl Progress {
    /// Takes the next turn.
    pub fn take(&mut self, turn: &Turn) {
        self.chars += turn.text.chars().count() as u64;
        self.calls += u64::from(turn.role == Role::Tool && is_call(&turn.text));
    }

    /// Returns the size of the session in tokens.
    pub fn tokens(&self) -> u64 {
        self.chars / CHARS_A_TOKEN
    }

    /// Notes that working memory was written.
    pub fn mark(&mut self) {
        self.written = Some(Mark { chars: self.chars, calls: self.calls });
    }

    /// Returns how many characters must come at least before working memory can be due. A file that grew by fewer bytes
    /// need not be read.
    pub fn chars_missing(&self) -> u64 {
        let from = self.written.map_or(0, |mark| mark.chars);
        (from + tokens_wanted(self) * CHARS_A_TOKEN).saturating_sub(self.chars)
    }
}

/// Says whether working memory is to be written now; `turn_ended` if the agent has answered.
pub fn due(progress: &Progress, turn_ended: bool) -> bool {
    let is_enough = progress.chars_missing() == 0;
    match progress.written {
        None => is_enough,
        Some(mark) => is_enough && (turn_ended || progress.calls - mark.calls >= MORE_CALLS),
    }
}

fn tokens_wanted(progress: &Progress) -> u64 {
    if progress.written.is_some() { MORE_TOKENS } else { FIRST_TOKENS }
}

/// Says whether a tool was called, or answered: a call is a name and its arguments, a line each.
fn is_call(text: &str) -> bool {
    let Some((name, arguments)) = text.split_once('\n') else { return false };
    let is_word = |word: &str| {
        !word.is_empty()
            && word.len() <= 64
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
    };
    let first = arguments.lines().next().unwrap_or_default();
    is_word(name) && first.split_once(": ").is_some_and(|(key, _)| is_word(key))
}
