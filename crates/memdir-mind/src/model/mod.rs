//! Asking a model: what is asked, what is answered, and who can be asked.
//!
//! A [`Request`] and an [`Answer`] are the same for every service; each service has its own way to say them over a wire.
//! Whoever needs an answer takes a [`Model`] and knows nothing of services, keys or money.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Somebody who answers.
pub trait Model {
    /// Returns the name that receipts carry.
    fn name(&self) -> &str;

    /// Asks once; waits for the whole answer.
    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError>;
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

impl Message {
    /// Something that we say.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::Text(text.into())] }
    }
}
