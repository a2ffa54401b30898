//! Asking a model: what is asked, what is answered, and who can be asked.
//!
//! A [`Request`] and an [`Answer`] are the same for every service; each service has its own way to say them over a wire.
//! Whoever needs an answer takes a [`Model`] and knows nothing of services, keys or money. [`open`] gives the one that the
//! user configured; [`Guarded`](crate::guard::Guarded) puts it under the caps and the breaker, and that is how background
//! work asks.
//!
//! ```text
//!   Request ─▶ Guarded ─▶ Service (HTTP)  ─▶ anthropic · responses · chat ─▶ sse ─▶ Answer
//!                     ├─▶ Agent (process) ─▶ claude -p · codex exec       ─▶ spoken ─▶ Answer
//!                     └─▶ Sampling (a host's own model)                   ─▶ spoken ─▶ Answer
//! ```

mod agent;
mod anthropic;
mod beating;
mod chat;
mod http;
mod nearby;
mod open;
mod responses;
#[cfg(test)]
mod sample;
mod sampling;
mod spoken;
mod wire;

use std::time::Duration;

use memdir_core::sse::EventError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use agent::{Agent, Host};
pub use beating::Beating;
pub use http::Service;
pub use memdir_net::{BadBase, Base};
pub use nearby::nearby;
pub use open::{Env, Opened, Purpose, Running, find_program, open, open_fork};
pub use sampling::Sampling;
pub use wire::Dialect;

/// Somebody who answers.
pub trait Model {
    /// Returns the name that receipts carry.
    fn name(&self) -> &str;

    /// Asks once; waits for the whole answer.
    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError>;

    /// Returns the service behind it, which has one breaker whatever the model.
    fn service(&self) -> &str {
        self.name()
    }

    /// Says how often the next question may be put, should the service not answer. Who never repeats need not care.
    fn limit_attempts(&mut self, _attempts: u32) {}

    /// Returns how often the last question was put.
    fn attempts(&self) -> u32 {
        1
    }

    /// Returns how often the last question was begun to be answered though nothing came of it: that may have cost all
    /// the same.
    fn begun(&self) -> u32 {
        0
    }

    /// Says how long the next answers may take, in all.
    fn limit_time(&mut self, _limit: Duration) {}

    /// Returns how many tokens it reads beyond what it is asked, at most: an agent has instructions of its own.
    fn overhead(&self) -> u64 {
        0
    }

    /// Says whether its answers cost money by the token.
    fn is_metered(&self) -> bool {
        true
    }
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        (**self).ask(request)
    }

    fn service(&self) -> &str {
        (**self).service()
    }

    fn limit_attempts(&mut self, attempts: u32) {
        (**self).limit_attempts(attempts);
    }

    fn attempts(&self) -> u32 {
        (**self).attempts()
    }

    fn begun(&self) -> u32 {
        (**self).begun()
    }

    fn limit_time(&mut self, limit: Duration) {
        (**self).limit_time(limit);
    }

    fn overhead(&self) -> u64 {
        (**self).overhead()
    }

    fn is_metered(&self) -> bool {
        (**self).is_metered()
    }
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Request {
    /// What holds for the whole conversation. Same bytes, same prompt cache.
    pub system: String,
    /// What was said so far, the user first.
    pub messages: Vec<Message>,
    /// What it may call, in an order that never changes.
    pub tools: Vec<Tool>,
    /// What the answer must look like, if it is to be JSON.
    pub schema: Option<Schema>,
    /// No answer is longer, in tokens.
    pub max_tokens: u32,
}

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// We do.
    User,
    /// The model does.
    Assistant,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Words.
    Text(String),
    /// The model wants a tool called.
    Call {
        /// Names this call.
        id: String,
        /// Which tool.
        name: String,
        /// With what.
        input: Value,
    },
    /// What a tool said.
    Result {
        /// The call it answers.
        id: String,
        /// What came of it.
        text: String,
        /// Whether the call was refused or failed.
        is_error: bool,
    },
}

/// Something a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// A JSON schema of what it takes.
    pub input: Value,
}

/// What a JSON answer must look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// A name, for services that want one.
    pub name: String,
    /// The JSON schema.
    pub schema: Value,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Words and calls, in order.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub stop: Stop,
    /// What it took.
    pub usage: Usage,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// All was said.
    End,
    /// Tools are to be called.
    Tools,
    /// It was cut at its limit.
    Length,
    /// The model would not.
    Refused,
}

/// What an answer took, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Read anew.
    pub input: u64,
    /// Read from the prompt cache.
    pub cached: u64,
    /// Read anew and kept in the prompt cache.
    pub stored: u64,
    /// Written.
    pub output: u64,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ModelError {
    /// Nobody can be asked.
    #[error("no model is configured")]
    None,
    /// It was not asked: what may be spent is spent, or the service is left alone for a while.
    #[error("the model was not asked: {0}")]
    Held(String),
    /// The service does not answer, or not in time.
    #[error("the model did not answer: {0}")]
    Unreachable(String),
    /// The service says that it will not, and will not if asked again.
    #[error("the model's service refused: {0}")]
    Refused(String),
    /// What came is no answer.
    #[error("the model's answer cannot be read: {0}")]
    Malformed(String),
}

impl From<EventError> for ModelError {
    fn from(error: EventError) -> Self {
        Self::Malformed(error.to_string())
    }
}

impl Answer {
    /// Returns its words.
    pub fn text(&self) -> String {
        let words = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Call { .. } | Part::Result { .. } => None,
        });
        words.collect()
    }
}

impl Usage {
    /// Returns all that was read.
    pub fn read(&self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.stored)
    }

    /// Returns all that was read and written.
    pub fn total(&self) -> u64 {
        self.read().saturating_add(self.output)
    }
}

impl Request {
    /// Returns how many bytes a model reads of it, about.
    pub fn bytes(&self) -> usize {
        let part = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Call { name, input, .. } => name.len() + input.to_string().len(),
            Part::Result { text, .. } => text.len(),
        };
        let messages: usize = self.messages.iter().flat_map(|message| &message.parts).map(part).sum();
        let tool = |tool: &Tool| tool.name.len() + tool.description.len() + tool.input.to_string().len();
        let tools: usize = self.tools.iter().map(tool).sum();
        let schema = self.schema.as_ref().map_or(0, |schema| schema.schema.to_string().len());
        self.system.len() + messages + tools + schema
    }
}

impl Message {
    /// Something that we say.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::Text(text.into())] }
    }
}
