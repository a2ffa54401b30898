//! From what a host says to an [`Occasion`].
//!
//! Hosts differ in how they spell keys, and change it; so a value is looked for under every spelling that is known, in
//! whatever host said it. Anything missing or of another kind is as if it were not there.

use std::borrow::Cow;

use serde_json::Value;

use super::names::{Kind, kind_of};
use super::{Agent, Moment, Occasion, Source, Subagent, Tool};

/// No text of a host is kept longer, in bytes: a tool may have printed megabytes, and recall reads a few lines.
const MAX_TEXT: usize = 64 * 1024;
/// Which texts of a result people read first; every other one follows them.
const FIRST_KEYS: [&str; 9] = [
    "error",
    "stderr",
    "stdout",
    "llmContent",
    "textResultForLlm",
    "text_result_for_llm",
    "output",
    "content",
    "text",
];
/// No name or id is longer.
const MAX_NAME: usize = 256;

/// Reads what a host said at an event. `event` is the name that the hook was registered under.
pub fn read(agent: Agent, event: &str, said: &Value) -> Occasion {
    let kind = kind_of(agent, event);
    let tool = || Tool::new(&name(said, &["tool_name", "toolName", "tool"]), input(said));
    let moment = match kind {
        Kind::Start => Moment::Start(source(said)),
        Kind::Prompt => Moment::Prompt(text(said, &["prompt", "initialPrompt", "message", "user_message"])),
        Kind::BeforeTool => Moment::BeforeTool(tool_of_event(event, said).unwrap_or_else(tool)),
        Kind::AfterTool | Kind::ToolFailed => Moment::AfterTool {
            tool: tool_of_event(event, said).unwrap_or_else(tool),
            result: result(said),
            failed: kind == Kind::ToolFailed || has_failed(said),
        },
        Kind::BeforeCompaction => {
            Moment::BeforeCompaction { asked: name(said, &["trigger"]).eq_ignore_ascii_case("manual") }
        }
        Kind::AfterCompaction => {
            Moment::AfterCompaction { summary: text(said, &["compact_summary", "summary"]) }
        }
        Kind::Stop => Moment::Stop { answer: answer(said), prolonged: flag(said, &["stop_hook_active"]) },
        Kind::SubagentStart => Moment::SubagentStart,
        Kind::SubagentStop => Moment::SubagentStop {
            answer: text(said, &["last_assistant_message", "lastAssistantMessage", "response", "summary"]),
            transcript: optional(said, &["agent_transcript_path", "agentTranscriptPath"]),
        },
        Kind::End => Moment::End { reason: name(said, &["reason"]) },
        Kind::Other => Moment::Other,
    };
    Occasion {
        agent,
        event: event.chars().take(MAX_NAME).collect(),
        session: name(said, &["session_id", "sessionId", "sessionID", "conversation_id", "thread-id"]),
        id: id(kind, said),
        cwd: cwd(said),
        transcript: optional(said, &["transcript_path", "transcriptPath"]),
        subagent: subagent(said),
        moment,
    }
}

/// Cursor has events of their own for a command and for a file.
fn tool_of_event(event: &str, said: &Value) -> Option<Tool> {
    let tool = match event {
        "beforeShellExecution" | "afterShellExecution" => "Shell",
        "beforeReadFile" => "Read",
        "afterFileEdit" => "Edit",
        _ => return None,
    };
    Some(Tool::new(tool, said))
}

/// What tells one occasion from another: the id of a call, else that of the prompt or turn.
fn id(kind: Kind, said: &Value) -> Option<String> {
    let call = ["tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "call_id"];
    let turn = ["prompt_id", "promptId", "turn_id", "turnId", "turn-id", "generation_id"];
    match kind {
        Kind::BeforeTool | Kind::AfterTool | Kind::ToolFailed => {
            optional(said, &call).or_else(|| optional(said, &turn))
        }
        _ => optional(said, &turn),
    }
}

fn source(said: &Value) -> Source {
    match name(said, &["source", "trigger"]).as_str() {
        "resume" | "fork" => Source::Resumed,
        "clear" => Source::Cleared,
        "compact" => Source::Compacted,
        _ => Source::New,
    }
}

fn cwd(said: &Value) -> Option<String> {
    let root = || said.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
    optional(said, &["cwd", "working_directory", "working_dir"]).or_else(|| root().map(str::to_owned))
}

fn subagent(said: &Value) -> Option<Subagent> {
    let id = optional(said, &["agent_id", "agentId", "subagent_id"])?;
    Some(Subagent { id, kind: name(said, &["agent_type", "agentType", "subagent_type"]) })
}

fn input(said: &Value) -> &Value {
    ["tool_input", "toolArgs", "toolInput", "args", "input"]
        .iter()
        .find_map(|key| said.get(key))
        .unwrap_or(&Value::Null)
}

fn answer(said: &Value) -> String {
    text(
        said,
        &["last_assistant_message", "lastAssistantMessage", "last-assistant-message", "prompt_response"],
    )
}

/// What a tool gave back: a text, or a few texts in an object.
fn result(said: &Value) -> String {
    let error = text(said, &["error", "error_message"]);
    if !error.is_empty() {
        return error;
    }
    let mut shown = String::new();
    collect(&response(said), &mut shown);
    shown
}

/// Returns what a tool gave back as the host says it; an object may stand in a text.
fn response(said: &Value) -> Cow<'_, Value> {
    let keys = ["tool_response", "toolResult", "tool_result", "tool_output", "output", "result"];
    let found = keys.iter().find_map(|key| said.get(key)).unwrap_or(&Value::Null);
    let text = found.as_str().filter(|text| text.starts_with(['{', '[']) && text.len() <= MAX_TEXT);
    match text.and_then(|text| serde_json::from_str(text).ok()) {
        Some(parsed) => Cow::Owned(parsed),
        None => Cow::Borrowed(found),
    }
}

/// Adds every text of a value whatever its key, the parts that people read first at the front.
fn collect(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => push(into, text),
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, into)),
        Value::Object(parts) => {
            let first = FIRST_KEYS.iter().filter_map(|key| parts.get(*key));
            let rest = parts
                .iter()
                .filter(|(key, part)| !FIRST_KEYS.contains(&key.as_str()) && !is_label(key, part));
            first.chain(rest.map(|(_, part)| part)).for_each(|part| collect(part, into));
        }
        _ => {}
    }
}

/// Says whether a value only tells how it went, which [`has_failed`] reads.
fn is_label(key: &str, value: &Value) -> bool {
    ["resultType", "result_type"].contains(&key) && value.as_str().is_some_and(|text| text.len() <= 16)
}

fn push(into: &mut String, text: &str) {
    if !into.is_empty() && !text.is_empty() {
        into.push('\n');
    }
    into.push_str(cut(text, MAX_TEXT.saturating_sub(into.len())));
}

fn has_failed(said: &Value) -> bool {
    let response = response(said);
    let kind = ["resultType", "result_type"].iter().find_map(|key| response.get(key));
    let code = ["exit_code", "exitCode", "returncode"].iter().find_map(|key| response.get(key));
    flag(&response, &["is_error", "isError", "interrupted"])
        || code.and_then(Value::as_i64).is_some_and(|code| code != 0)
        || kind.and_then(Value::as_str).is_some_and(|kind| kind == "failure")
        || response.get("error").is_some_and(|error| !error.is_null())
}

fn flag(said: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| said.get(key).and_then(Value::as_bool) == Some(true))
}

fn text(said: &Value, keys: &[&str]) -> String {
    let found = keys.iter().find_map(|key| said.get(key)).and_then(Value::as_str);
    found.map_or_else(String::new, |text| cut(text, MAX_TEXT).to_owned())
}

fn name(said: &Value, keys: &[&str]) -> String {
    optional(said, keys).unwrap_or_default()
}

/// Returns a short text that is not empty.
fn optional(said: &Value, keys: &[&str]) -> Option<String> {
    let found = keys.iter().find_map(|key| said.get(key)).and_then(Value::as_str)?;
    let is_path = keys.iter().any(|key| key.contains("path") || key.contains("cwd"));
    let limit = if is_path { 4096 } else { MAX_NAME };
    (!found.is_empty() && found.len() <= limit && !found.contains('\0')).then(|| found.to_owned())
}

/// Returns the beginning of a text, at most so many bytes, whole characters.
fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
