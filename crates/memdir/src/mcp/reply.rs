//! What a tool answers: text for a model, and whether it tells of a fault.

use memdir_core::memory_tool::Answer;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// No answer is longer, in bytes: hosts warn at 10,000 tokens.
pub(super) const MAX_REPLY: usize = 32 * 1024;

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Reply {
    /// An answer.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// News that nothing was done.
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// Makes it an answer to a call. Hosts that get structured content show the model nothing else, so there is none.
    pub(super) fn into_result(self) -> CallToolResult {
        let mut text = self.text;
        if text.len() > MAX_REPLY {
            text.truncate(text.floor_char_boundary(MAX_REPLY));
            text.push_str("\n… cut: ask for less");
        }
        let content = vec![ContentBlock::text(text)];
        if self.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        // What a person at a terminal would do about it is of no use to a model; what a gate advises is.
        let advice = failure.hints.iter().filter(|hint| !hint.contains('`'));
        let text = advice.fold(failure.message, |text, hint| format!("{text}\n{hint}"));
        Self::error(format!("Error: {text}"))
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { text: answer.text, is_error: answer.is_error }
    }
}
