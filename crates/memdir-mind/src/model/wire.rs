//! What the three ways to talk to a service have in common.
//!
//! A [`Dialect`] turns a [`Request`] into JSON and a stream of events into what was [`Heard`]. Nothing here knows of
//! sockets: the same code reads a stream from a test's string. An answer counts only when its service has said that it
//! is over; whatever ends before that is an error, never half an answer.

use memdir_core::sse::Event;
#[cfg(test)]
use memdir_core::sse::Events;
use serde_json::Value;

use super::{Answer, ModelError, Part, Request, Stop, Usage, anthropic, chat, responses};

/// In which words a service is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's chat completions, which Ollama, vLLM, llama.cpp, OpenRouter and many others speak.
    Chat,
}

/// What a stream said until its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Stop,
    /// What it took, if the service says so.
    pub(super) usage: Option<Usage>,
}

/// Reads the events of one dialect.
pub(super) trait Listener {
    /// Takes the next event.
    fn take(&mut self, event: &Event) -> Result<(), ModelError>;

    /// Says whether the service said that it is over.
    fn is_over(&self) -> bool;

    /// Returns what was said, if the service said that it is over.
    fn finish(self: Box<Self>) -> Result<Heard, ModelError>;
}

impl Dialect {
    /// Returns the path below a base URL.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "messages",
            Self::Responses => "responses",
            Self::Chat => "chat/completions",
        }
    }

    /// Says a request in this dialect.
    pub(super) fn body(self, model: &str, request: &Request) -> Value {
        match self {
            Self::Anthropic => anthropic::body(model, request),
            Self::Responses => responses::body(model, request),
            Self::Chat => chat::body(model, request),
        }
    }

    /// Begins to listen.
    pub(super) fn listen(self) -> Box<dyn Listener + Send> {
        match self {
            Self::Anthropic => Box::<anthropic::Stream>::default(),
            Self::Responses => Box::<responses::Stream>::default(),
            Self::Chat => Box::<chat::Stream>::default(),
        }
    }
}

/// Reads a whole stream that is there already.
#[cfg(test)]
pub(super) fn hear(dialect: Dialect, stream: &[u8]) -> Result<Heard, ModelError> {
    let mut listener = dialect.listen();
    for event in Events::default().take(stream)? {
        listener.take(&event)?;
    }
    listener.finish()
}

impl Heard {
    /// Makes an answer of it; where the service does not say what it took, `guess` does.
    pub(super) fn answer(self, guess: impl FnOnce(&[Part]) -> Usage) -> Answer {
        let usage = self.usage.unwrap_or_else(|| guess(&self.parts));
        Answer { parts: self.parts, stop: self.stop, usage }
    }
}

/// Reads the data of an event.
pub(super) fn json(event: &Event) -> Result<Value, ModelError> {
    serde_json::from_str(&event.data).map_err(|_| ModelError::Malformed("an event is not JSON".to_owned()))
}

/// Reads what a tool is called with. No text at all means nothing is said.
pub(super) fn input(text: &str) -> Result<Value, ModelError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(text)
        .map_err(|_| ModelError::Malformed("what a tool is called with is not JSON".to_owned()))
}

/// Reads an error that came as part of a stream: overload passes, other things do not.
pub(super) fn said_error(error: &Value) -> ModelError {
    let kind = error["type"].as_str().or_else(|| error["code"].as_str()).unwrap_or_default();
    let said = error["message"].as_str().unwrap_or("no reason given");
    let passes = ["overloaded", "rate_limit", "api_error", "server_error", "timeout"];
    if kind.is_empty() || passes.iter().any(|word| kind.contains(word)) {
        ModelError::Unreachable(short(said))
    } else {
        ModelError::Refused(short(said))
    }
}

/// The stream ended before the answer did.
pub(super) fn cut_off() -> ModelError {
    ModelError::Unreachable("the answer was cut off".to_owned())
}

/// Cuts what a service said to what fits a line.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 300;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    line
}
