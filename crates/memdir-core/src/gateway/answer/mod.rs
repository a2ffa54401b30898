//! What is heard of an answer while it passes: its words, the tools it calls, what it cost and why it ended.
//!
//! An [`Ear`] gets the bytes as they come, in pieces of any size, as events or as one document. It holds no more than a
//! bounded part of them and never fails: what it cannot follow it no longer listens to.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::Value;

use super::dialect::Dialect;
use crate::sse::Events;

/// As much of an answer's words is kept, in bytes.
const MAX_TEXT: usize = 256 << 10;
/// As many calls are kept.
const MAX_TOOLS: usize = 64;
/// No event is longer, and no answer in one piece.
const MAX_EVENT: usize = 4 << 20;
const MAX_WHOLE: usize = 8 << 20;

/// What was heard of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Its words, without what the model thought.
    pub text: String,
    /// Whether there were more words than are kept.
    pub is_cut: bool,
    /// The tools that it calls.
    pub tools: Vec<String>,
    /// What it took, if the service says so.
    pub usage: Option<Usage>,
    /// Why it ended, in the service's word.
    pub stop: Option<String>,
    /// The service's name for it.
    pub id: Option<String>,
    /// Whether the service said that this is all.
    pub is_over: bool,
}

/// Tokens, as a service counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read, and neither found in a cache nor put into one.
    pub input: u64,
    /// Found in a cache.
    pub cached: u64,
    /// Put into a cache.
    pub stored: u64,
    /// Written.
    pub output: u64,
}

impl Usage {
    /// Returns all that was read.
    pub fn read(&self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.stored)
    }
}

impl Answer {
    fn say(&mut self, text: &str) {
        let room = MAX_TEXT - self.text.len().min(MAX_TEXT);
        let kept = &text[..text.floor_char_boundary(room.min(text.len()))];
        self.is_cut |= kept.len() < text.len();
        self.text.push_str(kept);
    }

    /// Begins another part of the words.
    fn part(&mut self) {
        if !self.text.is_empty() {
            self.say("\n");
        }
    }

    fn call(&mut self, name: &Value) {
        if let Some(name) = name.as_str().filter(|name| !name.is_empty() && self.tools.len() < MAX_TOOLS) {
            self.tools.push(name.to_owned());
        }
    }

    fn end(&mut self, reason: &Value) {
        if let Some(reason) = reason.as_str() {
            self.stop = Some(reason.to_owned());
        }
    }

    fn named(&mut self, id: &Value) {
        if let (None, Some(id)) = (&self.id, id.as_str()) {
            self.id = Some(id.to_owned());
        }
    }
}

/// Listens to an answer.
#[derive(Debug)]
pub struct Ear {
    dialect: Dialect,
    hearing: Hearing,
    answer: Answer,
}

#[derive(Debug)]
enum Hearing {
    /// Nothing but blanks has come.
    Nothing,
    Events(Events),
    /// One document, once it is whole.
    Whole(Vec<u8>),
    /// It could not be followed.
    Lost,
}

impl Ear {
    /// Begins to listen.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, hearing: Hearing::Nothing, answer: Answer::default() }
    }

    /// Takes the next bytes.
    pub fn hear(&mut self, bytes: &[u8]) {
        if matches!(self.hearing, Hearing::Nothing) {
            let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else { return };
            self.hearing = match first {
                b'{' | b'[' => Hearing::Whole(Vec::new()),
                _ => Hearing::Events(Events::within(MAX_EVENT)),
            };
        }
        match &mut self.hearing {
            Hearing::Events(events) => match events.take(bytes) {
                Ok(events) => events.iter().for_each(|event| self.event(&event.data)),
                Err(_) => self.hearing = Hearing::Lost,
            },
            Hearing::Whole(whole) if whole.len() + bytes.len() <= MAX_WHOLE => whole.extend_from_slice(bytes),
            Hearing::Whole(_) => self.hearing = Hearing::Lost,
            Hearing::Nothing | Hearing::Lost => {}
        }
    }

    /// Returns what was heard.
    pub fn finish(mut self) -> Answer {
        match std::mem::replace(&mut self.hearing, Hearing::Lost) {
            Hearing::Events(events) => {
                if let Some(event) = events.rest() {
                    self.event(&event.data);
                }
            }
            Hearing::Whole(whole) => self.whole(&whole),
            Hearing::Nothing | Hearing::Lost => {}
        }
        self.answer
    }

    fn event(&mut self, data: &str) {
        if data.trim() == "[DONE]" {
            self.answer.is_over = true;
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(data) else { return };
        match self.dialect {
            Dialect::Messages => messages::event(&mut self.answer, &value),
            Dialect::Responses => responses::event(&mut self.answer, &value),
            Dialect::Chat => chat::event(&mut self.answer, &value),
            Dialect::Gemini => gemini::piece(&mut self.answer, &value),
        }
    }

    fn whole(&mut self, bytes: &[u8]) {
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
        match self.dialect {
            Dialect::Messages => messages::whole(&mut self.answer, &value),
            Dialect::Responses => responses::whole(&mut self.answer, &value),
            Dialect::Chat => chat::whole(&mut self.answer, &value),
            // Pieces come as a list where nobody asked for events.
            Dialect::Gemini => match value.as_array() {
                Some(pieces) => pieces.iter().for_each(|piece| gemini::piece(&mut self.answer, piece)),
                None => gemini::piece(&mut self.answer, &value),
            },
        }
    }
}

/// Returns a number of tokens.
fn tokens(usage: &Value, key: &str) -> Option<u64> {
    usage.get(key).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests;
