//! From an answer to what a host understands.

use serde_json::{Map, Value, json};

use crate::text::whole_lines;

use super::{Agent, Moment, Occasion, ToolKind};

/// No host is given more text at once, in bytes: Claude Code shows 10,000 characters, Codex about as many bytes.
pub const MAX_CONTEXT: usize = 9_000;

/// What we answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// What the model is told; empty for nothing.
    pub context: String,
    /// What becomes of the tool call.
    pub ruling: Option<Ruling>,
}

/// What becomes of a tool call that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It is not run; the text says why.
    Deny(String),
    /// The user is asked; the text says why.
    Ask(String),
}

impl Ruling {
    fn word(&self) -> &'static str {
        match self {
            Self::Deny(_) => "deny",
            Self::Ask(_) => "ask",
        }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Deny(reason) | Self::Ask(reason) => reason,
        }
    }
}

impl Reply {
    /// Returns an answer that only tells something.
    pub fn telling(context: String) -> Self {
        Self { context, ruling: None }
    }

    /// Returns the bytes for the host; `None` if there is nothing to say, or nothing that may be said here.
    ///
    /// Before Claude Code shortens a history it hands plain text to whoever writes the summary; all else is JSON.
    pub fn to_text(&self, occasion: &Occasion) -> Option<String> {
        if matches!(occasion.moment, Moment::BeforeCompaction { .. }) {
            let is_heard = occasion.agent == Agent::ClaudeCode && !self.context.is_empty();
            return is_heard.then(|| within_limit(&self.context).to_owned());
        }
        self.to_json(occasion).map(|json| format!("{json}\n"))
    }

    /// Returns the answer as the host wants it; `None` if there is nothing to say, or nothing that may be said here.
    pub fn to_json(&self, occasion: &Occasion) -> Option<Value> {
        let context = within_limit(&self.context);
        let context = (!context.is_empty() && is_heard(occasion.agent, &occasion.moment)).then_some(context);
        let is_before = matches!(occasion.moment, Moment::BeforeTool(_));
        let ruling = self.ruling.as_ref().filter(|_| is_before);
        if context.is_none() && ruling.is_none() {
            return None;
        }
        Some(Value::Object(match occasion.agent {
            Agent::Copilot => copilot(context, ruling),
            Agent::Cursor => cursor(context, ruling),
            Agent::Gemini => gemini(&occasion.event, context, ruling),
            Agent::Opencode => opencode(context, ruling),
            Agent::Goose => goose(ruling),
            Agent::ClaudeCode | Agent::Codex | Agent::VsCode => claude(&occasion.event, context, ruling),
        }))
    }
}

/// Cuts at the end of a line, so that no entry is half there.
fn within_limit(text: &str) -> &str {
    match whole_lines(text, MAX_CONTEXT) {
        "" => &text[..text.floor_char_boundary(MAX_CONTEXT)],
        lines => lines,
    }
}

/// Says whether what is said at a moment reaches the model. At the end of a turn it would make the agent go on, and where a
/// history is shortened it would become a part of the summary.
pub fn is_heard(agent: Agent, moment: &Moment) -> bool {
    match (agent, moment) {
        // It reads a refusal out of what a hook prints, and nothing else.
        (Agent::Goose, _) => false,
        // It adds to the beginning of a conversation and to the result of a tool.
        (Agent::Cursor, moment) => matches!(moment, Moment::Start(_) | Moment::AfterTool { .. }),
        (_, Moment::Start(_) | Moment::Prompt(_) | Moment::BeforeTool(_) | Moment::AfterTool { .. }) => true,
        (agent, Moment::SubagentStart) => {
            matches!(agent, Agent::ClaudeCode | Agent::Codex | Agent::VsCode)
        }
        _ => false,
    }
}

/// Says whether a host that takes nothing at a prompt takes it with the next result of a tool.
pub fn is_heard_later(agent: Agent) -> bool {
    agent == Agent::Cursor
}

/// Says whether another event tells of the same tool call, and whether a rule holds is decided there: Cursor asks its user
/// only at the event that it has for commands.
pub fn is_judged_elsewhere(occasion: &Occasion) -> bool {
    let is_shell = matches!(&occasion.moment, Moment::BeforeTool(tool) if tool.kind == ToolKind::Shell);
    occasion.agent == Agent::Cursor && occasion.event == "preToolUse" && is_shell
}

fn claude(event: &str, context: Option<&str>, ruling: Option<&Ruling>) -> Map<String, Value> {
    let mut inner = Map::from_iter([("hookEventName".to_owned(), json!(event))]);
    if let Some(ruling) = ruling {
        inner.insert("permissionDecision".to_owned(), json!(ruling.word()));
        inner.insert("permissionDecisionReason".to_owned(), json!(ruling.reason()));
    }
    if let Some(context) = context {
        inner.insert("additionalContext".to_owned(), json!(context));
    }
    Map::from_iter([("hookSpecificOutput".to_owned(), Value::Object(inner))])
}

/// Gemini knows no question to the user: what would be asked is told instead.
fn gemini(event: &str, context: Option<&str>, ruling: Option<&Ruling>) -> Map<String, Value> {
    let mut answer = Map::new();
    let mut told = context.unwrap_or_default().to_owned();
    match ruling {
        Some(Ruling::Deny(reason)) => {
            answer.insert("decision".to_owned(), json!("deny"));
            answer.insert("reason".to_owned(), json!(reason));
        }
        Some(Ruling::Ask(reason)) => {
            answer.insert("systemMessage".to_owned(), json!(reason));
            told = format!("{reason}\n{told}");
        }
        None => {}
    }
    if !told.is_empty() {
        let inner = json!({ "hookEventName": event, "additionalContext": told });
        answer.insert("hookSpecificOutput".to_owned(), inner);
    }
    answer
}

fn copilot(context: Option<&str>, ruling: Option<&Ruling>) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(ruling) = ruling {
        answer.insert("permissionDecision".to_owned(), json!(ruling.word()));
        answer.insert("permissionDecisionReason".to_owned(), json!(ruling.reason()));
    }
    if let Some(context) = context {
        answer.insert("additionalContext".to_owned(), json!(context));
    }
    answer
}

fn cursor(context: Option<&str>, ruling: Option<&Ruling>) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(ruling) = ruling {
        answer.insert("permission".to_owned(), json!(ruling.word()));
        answer.insert("user_message".to_owned(), json!(ruling.reason()));
        answer.insert("agent_message".to_owned(), json!(ruling.reason()));
    }
    if let Some(context) = context {
        answer.insert("additional_context".to_owned(), json!(context));
    }
    answer
}

/// goose can refuse and nothing else: what it would have to ask about is not done without the user.
fn goose(ruling: Option<&Ruling>) -> Map<String, Value> {
    let Some(ruling) = ruling else { return Map::new() };
    let answer = [("decision".to_owned(), json!("block")), ("reason".to_owned(), json!(ruling.reason()))];
    Map::from_iter(answer)
}

/// Our own plugin reads this.
fn opencode(context: Option<&str>, ruling: Option<&Ruling>) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(ruling) = ruling {
        answer.insert(ruling.word().to_owned(), json!(ruling.reason()));
    }
    if let Some(context) = context {
        answer.insert("context".to_owned(), json!(context));
    }
    answer
}
