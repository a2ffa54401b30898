//! What coding agents say to a hook and understand as its answer.
//!
//! Every host has its own names and shapes for the same few moments. [`read`] brings what a host said into one
//! [`Occasion`]; [`Reply::to_json`] brings an answer into the host's shape, within the host's limits. Both are pure and
//! neither can fail: what is not understood is an occasion at which nothing happens.
//!
//! ```text
//!   stdin ─▶ read(agent, event, json) ─▶ Occasion ─▶ (somebody acts) ─▶ Reply ─▶ to_json ─▶ stdout
//! ```
//!
//! Look at [`Moment`] first, then at the tables in `names.rs`.

pub mod hearsay;
mod ignoring;
pub(crate) mod names;
mod reading;
mod reply;
mod said;
mod tools;

#[cfg(test)]
mod tests;

pub use ignoring::asks_to_ignore;
pub use reading::read;
pub use reply::{MAX_CONTEXT, Reply, Ruling, is_heard, is_heard_later, is_judged_elsewhere};
pub use said::{is_machine_text, said_by_user};
pub use tools::{Tool, ToolKind};

/// A program that calls our hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    ClaudeCode,
    Codex,
    Gemini,
    Opencode,
    Copilot,
    Cursor,
    VsCode,
    Goose,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Copilot,
        Self::Cursor,
        Self::VsCode,
        Self::Goose,
    ];

    /// Returns the name that commands know it by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Goose => "goose",
        }
    }

    /// Returns the name that people know it by.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex CLI",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Goose => "goose",
        }
    }

    /// Finds an agent by its name; `claude` will do for Claude Code.
    pub fn parse(name: &str) -> Option<Self> {
        let name = if name == "claude" { "claude-code" } else { name };
        Self::ALL.into_iter().find(|agent| agent.as_str() == name)
    }
}

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    /// The program that says so.
    pub agent: Agent,
    /// The event in the host's own spelling, which the answer repeats.
    pub event: String,
    /// The session; empty if the host does not say.
    pub session: String,
    /// What tells this occasion from the others of its session, where the host says: a prompt's, turn's or call's id.
    pub id: Option<String>,
    /// The directory that the agent works in.
    pub cwd: Option<String>,
    /// Where the host keeps what is said.
    pub transcript: Option<String>,
    /// The sub-agent in which it happened.
    pub subagent: Option<Subagent>,
    /// What happened.
    pub moment: Moment,
}

/// An agent that another agent has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    pub id: String,
    pub kind: String,
}

/// The moments of a session that memory has a part in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A session begins, or goes on.
    Start(Source),
    /// The user, or a machine in the user's place, says something.
    Prompt(String),
    /// A tool is about to be used.
    BeforeTool(Tool),
    /// A tool was used; `failed` if that did not work.
    AfterTool { tool: Tool, result: String, failed: bool },
    /// The history is about to be shortened; `asked` if the user wanted it.
    BeforeCompaction { asked: bool },
    /// The history was shortened to this summary, where the host shows it.
    AfterCompaction { summary: String },
    /// The agent has answered.
    Stop { answer: String, prolonged: bool },
    /// A sub-agent begins.
    SubagentStart,
    /// A sub-agent has answered.
    SubagentStop { answer: String, transcript: Option<String> },
    /// The session is over.
    End { reason: String },
    /// Nothing that memory has a part in.
    Other,
}

/// Why a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A new one.
    New,
    /// An old one goes on, with all it knew.
    Resumed,
    /// The user threw the history away.
    Cleared,
    /// The history was shortened.
    Compacted,
}
