//! A request, read: what it is for, which conversation it belongs to, what was said in it and where more can be said.

use std::collections::HashMap;

use super::conversation::Conversation;
use super::dialect::Dialect;
use super::fields::{Fields, string};
use super::kind::{Kind, Signs, is_probe, is_structured, kind};
use super::labels::Labels;
use super::message::{Message, Role};
use super::place::{Form, Place};
use crate::compact::spans;
use crate::context::INSTRUCTIONS;
use crate::hash::ContentHash;
use crate::host::{Tool, said_by_user};
use crate::transcript::json::inner;
use crate::transcript::without_injected;

/// A larger body is not read: no window of a model is that large.
const MAX_BODY: usize = 64 << 20;
/// As many calls of tools are told of, the last ones.
const MAX_CALLS: usize = 16;
/// As many bytes identify what was said.
const DIGITS: usize = 16;
/// Begins texts that agents and programs write in the user's place.
const MACHINE: [&str; 10] = [
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "<session_context>",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
];
/// What stands before the directory that an agent works in.
const DIRECTORY: [&str; 7] = [
    "Primary working directory:",
    "Current working directory:",
    "Working directory:",
    "I'm currently working in the directory:",
    "Current directory:",
    "Workspace Directories:",
    "<cwd>",
];
/// What a service calls the memory tool.
const MEMORY_TOOL: &str = "memory_20250818";
/// No path is longer.
const MAX_PATH: usize = 4_096;

/// A request, as far as memory is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// What it is for.
    pub kind: Kind,
    /// The conversation that it belongs to.
    pub conversation: Conversation,
    /// What the user said, in order. Texts of machines are not among them.
    pub turns: Vec<Turn>,
    /// Whether the last of the turns has not been answered at all.
    pub is_asked: bool,
    /// Whether somebody of ours spoke already, by a hook or an instruction file.
    pub has_frame: bool,
    /// The directory that the agent works in, where it says so.
    pub cwd: Option<String>,
    /// The model that is asked.
    pub model: String,
    /// The last tools that were called.
    pub tools: Vec<Tool>,
    /// The answer that the service is to go on from; it holds the conversation then, and not the request.
    pub follows: Option<String>,
    /// Whether the client shortens its history by itself.
    pub is_agents: bool,
    /// The name of the memory tool, where the model is offered it and free to call it or not.
    pub memory_tool: Option<String>,
    /// How many messages there are.
    pub n_messages: usize,
}

/// Something that the user said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Tells it from the others of its conversation, and is the same in every request.
    pub key: String,
    /// What was said, without what hosts and we have added.
    pub said: String,
    /// Where a text can be put behind it.
    pub place: Place,
}

/// Reads a request. What cannot be read is [`Kind::Unknown`].
pub fn read(dialect: Dialect, labels: &Labels, body: &[u8]) -> Reading {
    understood(dialect, labels, body).unwrap_or_default()
}

fn understood(dialect: Dialect, labels: &Labels, body: &[u8]) -> Option<Reading> {
    let text = str::from_utf8(body).ok().filter(|text| text.len() <= MAX_BODY)?;
    spans::check(text).ok()?;
    let fields = Fields::read(text, 0..text.len())?;
    let mut heard = Heard { system: instructions(dialect, &fields)?, ..Heard::default() };
    heard.listen(dialect, text, &fields)?;
    let Heard { system, turns, calls, cwd, last, is_asked, has_frame, n_messages, .. } = heard;
    let signs = Signs {
        is_subagent: labels.is_subagent,
        is_agents: labels.is_agents,
        has_tools: fields.has("tools") || fields.has("functions"),
        is_structured: is_structured(dialect, &fields),
        is_probe: is_probe(dialect, &fields),
        system: &system,
        last: &last,
    };
    let first = turns.first().map_or("", |turn| turn.said.as_str());
    let from = calls.len().saturating_sub(MAX_CALLS);
    Some(Reading {
        kind: kind(&signs),
        conversation: Conversation::of(dialect, labels, &fields, &system, first),
        is_asked,
        has_frame: has_frame || system.iter().any(|text| is_ours(text)),
        cwd: cwd.or_else(|| system.iter().find_map(|text| directory(text))),
        model: labels.model.clone().or_else(|| fields.text("model")).unwrap_or_default(),
        tools: calls[from..].iter().map(|(name, input)| Tool::new(name, &inner(input))).collect(),
        follows: fields.text("previous_response_id"),
        is_agents: labels.is_agents,
        memory_tool: (dialect == Dialect::Messages).then(|| memory_tool(text, &fields)).flatten(),
        n_messages,
        turns,
    })
}

/// What is gathered on the way through the messages.
#[derive(Default)]
struct Heard<'t> {
    system: Vec<String>,
    turns: Vec<Turn>,
    /// How often each thing was said.
    repeats: HashMap<String, usize>,
    calls: Vec<(String, &'t str)>,
    cwd: Option<String>,
    last: Vec<String>,
    is_asked: bool,
    is_answered: bool,
    has_frame: bool,
    n_messages: usize,
}

impl<'t> Heard<'t> {
    fn listen(&mut self, dialect: Dialect, text: &'t str, fields: &Fields<'t>) -> Option<()> {
        let name = match dialect {
            Dialect::Messages | Dialect::Chat => "messages",
            Dialect::Responses => "input",
            Dialect::Gemini => "contents",
        };
        let at = fields.at(name)?;
        if let Some(said) = string(&text[at.clone()]).filter(|_| dialect == Dialect::Responses) {
            self.user(vec![said], Some(Place::new(at, Form::Tail)));
            return Some(());
        }
        for at in spans::array(text, at)? {
            let Message { role, texts, calls, place } = Message::read(dialect, text, at)?;
            match role {
                Role::System => self.told(texts),
                Role::User => self.user(texts, place),
                Role::Model => (self.is_asked, self.is_answered) = (false, true),
                Role::Tool => self.is_asked = false,
            }
            self.calls.extend(calls);
            self.n_messages += 1;
        }
        Some(())
    }

    /// Takes what the host tells. What it tells later than the beginning is no part of what the conversation begins with.
    fn told(&mut self, texts: Vec<String>) {
        self.has_frame |= texts.iter().any(|text| is_ours(text));
        self.cwd = self.cwd.take().or_else(|| texts.iter().find_map(|text| directory(text)));
        if self.turns.is_empty() {
            self.system.extend(texts);
        }
    }

    fn user(&mut self, texts: Vec<String>, place: Option<Place>) {
        let said: Vec<String> = texts.iter().map(|text| said(text)).collect();
        for (text, said) in texts.iter().zip(&said) {
            self.has_frame |= is_ours(text);
            if said.is_empty() && !self.is_answered && self.cwd.is_none() {
                self.cwd = directory(text);
            }
        }
        let said = said.into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>().join("\n");
        // Results of tools, or the words of a machine.
        self.is_asked = self.is_asked && texts.iter().any(|text| !text.is_empty());
        if let (Some(place), false) = (place, said.is_empty()) {
            let hash = ContentHash::of(said.as_bytes()).to_string()[..DIGITS].to_owned();
            let nth = self.repeats.entry(hash.clone()).or_default();
            *nth += 1;
            self.turns.push(Turn { key: format!("{hash}.{nth}"), said, place });
            self.is_asked = true;
        }
        self.last = texts;
    }
}

/// Finds the memory tool among those that a model is offered. One that must be called is the client's: nobody else knows what
/// it wants to see.
fn memory_tool(text: &str, fields: &Fields<'_>) -> Option<String> {
    let choice = fields.object("tool_choice").and_then(|choice| choice.text("type"));
    let tools = fields.list("tools").filter(|_| choice.is_none_or(|choice| choice == "auto"))?;
    tools.into_iter().find_map(|at| {
        let tool = Fields::read(text, at)?;
        tool.text("type").filter(|kind| kind == MEMORY_TOOL)?;
        tool.text("name")
    })
}

/// Returns what holds for the whole conversation and stands beside the messages.
fn instructions(dialect: Dialect, fields: &Fields<'_>) -> Option<Vec<String>> {
    let name = match dialect {
        Dialect::Messages => "system",
        Dialect::Responses => "instructions",
        Dialect::Gemini if fields.at("system_instruction").is_some() => "system_instruction",
        Dialect::Gemini => "systemInstruction",
        Dialect::Chat => return Some(Vec::new()),
    };
    let Some(value) = fields.value(name) else { return Some(Vec::new()) };
    let blocks = match value.get("parts") {
        Some(parts) => parts.clone(),
        None => value,
    };
    let text_of =
        |block: &serde_json::Value| block.get("text").and_then(|text| text.as_str().map(str::to_owned));
    Some(match blocks {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Array(blocks) => blocks.iter().filter_map(text_of).collect(),
        _ => Vec::new(),
    })
}

/// Returns what of a text the user said.
fn said(text: &str) -> String {
    if MACHINE.iter().any(|beginning| text.trim_start().starts_with(beginning)) {
        return String::new();
    }
    said_by_user(&without_injected(crate::transcript::Role::User, text))
}

/// Says whether a text holds a frame, or what a session is told at its start.
fn is_ours(text: &str) -> bool {
    let start = INSTRUCTIONS.lines().find(|line| line.len() > 40).unwrap_or(INSTRUCTIONS);
    let is_mark = |at: usize| {
        let rest = &text.as_bytes()[at..];
        let id = rest.get(8..16).is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit));
        id && rest.get(16) == Some(&b']') && rest.get(17).is_none_or(|end| matches!(end, b'\n' | b'\r'))
    };
    memchr::memmem::find_iter(text.as_bytes(), b"[memdir ").any(is_mark) || text.contains(start)
}

/// Finds the directory that a text says the agent works in.
fn directory(text: &str) -> Option<String> {
    let mut lines = text.lines().map(|line| line.trim_start_matches([' ', '\t', '-', '*']));
    while let Some(line) = lines.next() {
        let Some(rest) = DIRECTORY.iter().find_map(|words| line.strip_prefix(words)) else { continue };
        // A list begins on the next line, with the directory that the agent was started in.
        let rest = if rest.trim_matches(['*', ' ']).is_empty() { lines.next()? } else { rest };
        let path = rest.split("</cwd>").next()?.trim().trim_matches('`');
        let is_path = path.starts_with('/') || path.get(1..3) == Some(":\\");
        if is_path && path.len() <= MAX_PATH && !path.contains('\0') {
            return Some(path.to_owned());
        }
    }
    None
}
