//! What a whole text does, and what each of its sentences does.
//!
//! The text is read once as a whole: a reason or an example in it explains the point and is not said for its own
//! sake. The sentences are read one by one beside that, so that a mixed text can be told apart. Reading is the dear part
//! of every judgement, so whoever asks several questions about a text reads it once and hands the gist on.

use super::act::Act;
use super::reading::{Reading, read};
use super::split::{Part, Statement, statements};

/// What a text does as a whole, and what each of its sentences does.
#[derive(Debug, Clone)]
pub struct Gist<'a> {
    /// The text.
    pub text: &'a str,
    /// The text as a whole.
    pub whole: Reading,
    /// The sentences with what was read in them.
    pub parts: Vec<(Statement<'a>, Reading)>,
}

/// Reads a text as a whole.
pub fn gist(text: &str) -> Gist<'_> {
    let whole = read(text);
    let read_part = |part: Statement<'_>| if part.text == text { whole.clone() } else { read(part.text) };
    let parts = statements(text).into_iter().map(|part| (part.clone(), read_part(part))).collect();
    Gist { text, whole, parts }
}

impl Gist<'_> {
    /// Returns what the text does, if anything can be told.
    pub fn act(&self) -> Option<Act> {
        self.whole.act()
    }

    /// Returns how probable it is that the text does this.
    pub fn likely(&self, act: Act) -> f32 {
        self.whole.likely(act)
    }

    /// Says whether a reason is stated anywhere.
    pub fn has_reason(&self) -> bool {
        self.parts
            .iter()
            .any(|(statement, reading)| statement.part == Part::Why || reading.reason().is_some())
    }
}
