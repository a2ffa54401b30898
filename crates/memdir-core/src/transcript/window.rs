//! What stands around the hits of a search, and no more.
//!
//! Turns come in one by one and are forgotten, except for the last few, which may turn out to stand before a hit, and
//! the windows already found. Of a long turn only the neighbourhood of the hit is kept, so memory is bounded by the
//! [`Limits`] and not by the transcript. Before anything is shown, secrets in it are redacted.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use jiff::Timestamp;

use super::{Pattern, Role, Turn};
use crate::secrets::Scanner;

/// How much of a turn is kept around a hit for the secret scanner, to each side.
const MARGIN: usize = 8 * 1024;
/// How much of a turn with a hit is shown.
const HIT_BYTES: usize = 800;
/// How much of a turn around it is shown.
const CONTEXT_BYTES: usize = 300;
/// The longest window: a pattern that hits every turn makes many of these, not one without end.
const MAX_TURNS: usize = 12;

/// How much a search may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Turns before and after a hit.
    pub context: usize,
    /// Windows.
    pub windows: usize,
    /// Bytes of text in all windows together.
    pub bytes: usize,
}

/// A part of a session: a hit, and what was said around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The turns, in the order in which they were said.
    pub turns: Vec<ShownTurn>,
}

/// A turn, cut to what is shown of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownTurn {
    /// Identifies it within its session.
    pub uuid: String,
    /// When.
    pub at: Option<Timestamp>,
    /// Who.
    pub role: Role,
    /// The text, or the part of it around the hit.
    pub text: String,
    /// Whether the pattern was found in it.
    pub is_hit: bool,
}

impl Window {
    /// Returns when the last hit in it was said.
    pub fn at(&self) -> Option<Timestamp> {
        self.turns.iter().rev().filter(|turn| turn.is_hit).find_map(|turn| turn.at)
    }

    /// Returns how many bytes of text it has.
    pub fn bytes(&self) -> usize {
        self.turns.iter().map(|turn| turn.text.len()).sum()
    }

    /// Cuts it to at most `bytes` of text, and says whether that was needed. What stands around the hits goes first.
    pub fn shrink_to(&mut self, bytes: usize) -> bool {
        if self.bytes() <= bytes {
            return false;
        }
        self.turns.retain(|turn| turn.is_hit);
        let mut left = bytes;
        for turn in &mut self.turns {
            turn.text.truncate(turn.text.floor_char_boundary(left));
            left -= turn.text.len();
        }
        self.turns.retain(|turn| !turn.text.is_empty());
        true
    }
}

/// Collects the windows of one session.
#[derive(Debug)]
pub struct Windows<'p> {
    pattern: &'p Pattern,
    role: Option<Role>,
    limits: Limits,
    before: VecDeque<ShownTurn>,
    open: Option<Open>,
    done: VecDeque<Window>,
    n_windows: usize,
}

/// A window that still takes turns.
#[derive(Debug)]
struct Open {
    turns: Vec<ShownTurn>,
    left: usize,
}

impl<'p> Windows<'p> {
    /// Begins to look for `pattern`, in turns of `role` only if one is given.
    pub fn new(pattern: &'p Pattern, role: Option<Role>, limits: Limits) -> Self {
        let (before, done) = (VecDeque::new(), VecDeque::new());
        Self { pattern, role, limits, before, open: None, done, n_windows: 0 }
    }

    /// Takes the next turn.
    pub fn push(&mut self, turn: &Turn) {
        let is_wanted = self.role.is_none_or(|role| role == turn.role);
        let hit = if is_wanted { self.pattern.find(&turn.text) } else { None };
        let shown = shown(turn, hit);
        if self.open.as_ref().is_some_and(|open| open.turns.len() >= MAX_TURNS) {
            self.close();
        }
        match (&mut self.open, shown.is_hit) {
            (Some(open), true) => {
                // A message that is written again takes the place of its earlier form.
                open.turns.retain(|known| known.uuid != shown.uuid);
                open.turns.push(shown);
                open.left = self.limits.context;
            }
            (Some(open), false) => {
                open.turns.push(shown);
                open.left -= 1;
            }
            (None, true) => {
                let mut turns: Vec<ShownTurn> = self.before.drain(..).collect();
                turns.push(shown);
                self.open = Some(Open { turns, left: self.limits.context });
            }
            (None, false) => self.remember(shown),
        }
        if self.open.as_ref().is_some_and(|open| open.left == 0) {
            self.close();
        }
    }

    fn remember(&mut self, turn: ShownTurn) {
        self.before.push_back(turn);
        if self.before.len() > self.limits.context {
            self.before.pop_front();
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.n_windows += 1;
        self.done.push_back(Window { turns: open.turns });
        // The newest are wanted, and they come last.
        if self.done.len() > self.limits.windows {
            self.done.pop_front();
        }
    }

    /// Returns the windows, the newest first, without secrets; and how many there were in all.
    pub fn finish(mut self, scanner: &Scanner) -> (Vec<Window>, usize) {
        self.close();
        let pattern = self.pattern;
        let clean = |window: Window| Window {
            turns: window.turns.into_iter().map(|turn| cleaned(turn, pattern, scanner)).collect(),
        };
        (self.done.into_iter().rev().map(clean).collect(), self.n_windows)
    }
}

/// Keeps of a turn what the scanner should see of it.
fn shown(turn: &Turn, hit: Option<Range<usize>>) -> ShownTurn {
    let around = hit.clone().unwrap_or(0..0);
    let start = turn.text.floor_char_boundary(around.start.saturating_sub(MARGIN));
    // A hit may be the whole of a turn that has megabytes.
    let end = around.end.min(around.start + MARGIN) + MARGIN;
    let end = turn.text.floor_char_boundary(end.min(turn.text.len()));
    let text = turn.text[start..end].to_owned();
    ShownTurn { uuid: turn.uuid.clone(), at: turn.at, role: turn.role, text, is_hit: hit.is_some() }
}

/// Redacts a turn and cuts it to the bytes that are shown.
fn cleaned(mut turn: ShownTurn, pattern: &Pattern, scanner: &Scanner) -> ShownTurn {
    if let Cow::Owned(clean) = scanner.redacted(&turn.text) {
        turn.text = clean;
    }
    let limit = if turn.is_hit { HIT_BYTES } else { CONTEXT_BYTES };
    let hit = if turn.is_hit { pattern.find(&turn.text) } else { None };
    turn.text = excerpt(&turn.text, hit.unwrap_or(0..0), limit);
    turn
}

/// Cuts a text to about `limit` bytes, around a place in it; dots stand for what is left out.
pub(super) fn excerpt(text: &str, around: Range<usize>, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(around.len());
    let start = around.start.saturating_sub(room / 2).min(text.len() - limit);
    let start = text.ceil_char_boundary(start);
    let end = text.floor_char_boundary((start + limit).min(text.len()));
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", &text[start..end])
}
