//! Lines of Codex: a type and a payload.
//!
//! The conversation is in the `response_item` lines, which are what the model saw; `event_msg` lines say the same
//! again for the screen. The first line names the session. Early versions wrote the items bare.

use serde_json::Value;

use super::json::{call, inner, text, texts};
use super::{About, Head, Parts, Role, Skip, Turn, turns};

pub(super) fn read(head: &mut Head, line: &Value, bytes: &[u8]) -> Result<Vec<Turn>, Skip> {
    let payload = line.get("payload").unwrap_or(line);
    match text(line, "type") {
        Some("session_meta") => return begin(head, payload),
        Some("turn_context") => return follow(head, payload),
        Some("compacted") => return Err(Skip::Summary),
        Some("response_item") => {}
        // The head of an early version has no type.
        None if line.get("instructions").is_some() => return begin(head, line),
        _ if line.get("payload").is_some() => return Err(Skip::Other),
        _ => {}
    }
    if head.is_subagent {
        return Err(Skip::Sidechain);
    }
    let about = About::new(line.get("timestamp"), text(payload, "id"), bytes);
    turns(head, &about, parts(payload)?)
}

/// Reads the first line. A forked session repeats the lines of its parent, whose head comes later and is not ours.
fn begin(head: &mut Head, payload: &Value) -> Result<Vec<Turn>, Skip> {
    if !head.named {
        head.name(text(payload, "id"));
        head.cwd = text(payload, "cwd").map(str::to_owned);
        head.branch = payload.get("git").and_then(|git| text(git, "branch")).map(str::to_owned);
        head.is_subagent = payload.get("source").is_some_and(|source| source.get("subagent").is_some())
            || text(payload, "thread_source") == Some("subagent");
    }
    Err(Skip::Other)
}

fn follow(head: &mut Head, payload: &Value) -> Result<Vec<Turn>, Skip> {
    if let Some(cwd) = text(payload, "cwd") {
        head.cwd = Some(cwd.to_owned());
    }
    Err(Skip::Other)
}

fn parts(payload: &Value) -> Result<Parts, Skip> {
    let field = |key: &str| payload.get(key).unwrap_or(&Value::Null);
    let name = || text(payload, "name").unwrap_or("tool");
    let part = match text(payload, "type").unwrap_or_default() {
        "message" => return message(payload),
        "function_call" => call(name(), &inner(text(payload, "arguments").unwrap_or_default())),
        "custom_tool_call" => call(name(), field("input")),
        "local_shell_call" | "web_search_call" => call("shell", field("action")),
        "function_call_output" | "custom_tool_call_output" => output(field("output")),
        "reasoning" => return Err(Skip::Meta),
        _ => return Err(Skip::Other),
    };
    Ok(vec![(Role::Tool, part)])
}

/// Returns what a tool answered: a text, a list of parts, or either of them in an object.
fn output(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let content = object.get("content").or_else(|| object.get("output")).unwrap_or(&Value::Null);
            texts(content)
        }
        value => texts(value),
    }
}

fn message(payload: &Value) -> Result<Parts, Skip> {
    let role = match text(payload, "role") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Skip::Meta),
    };
    let content = payload.get("content").ok_or(Skip::Other)?;
    let Value::Array(items) = content else { return Ok(vec![(role, texts(content))]) };
    let kinds = payload
        .get("internal_chat_message_metadata_passthrough")
        .and_then(|about| about.get("content_item_kinds"))
        .and_then(Value::as_array);
    let kind = |n: usize| kinds.and_then(|kinds| kinds.get(n)).and_then(Value::as_str).unwrap_or("unknown");
    let is_said = |n: usize, text: &str| {
        role == Role::Assistant
            || ((kind(n) == "unknown" || kind(n).starts_with("user.")) && !is_harness_text(text))
    };
    let said: Vec<String> = items
        .iter()
        .map(texts)
        .enumerate()
        .filter(|(n, text)| !text.is_empty() && is_said(*n, text))
        .map(|(_, text)| text)
        .collect();
    Ok(vec![(role, said.join("\n"))])
}

/// What Codex writes in the user's place, for versions that do not say so beside it.
fn is_harness_text(text: &str) -> bool {
    let begins = [
        "<environment_context>",
        "<user_instructions>",
        "<INSTRUCTIONS>",
        "# AGENTS.md instructions",
        "<turn_aborted>",
        "<user_shell_command>",
        "<skill>",
        "<subagent_notification>",
    ];
    begins.iter().any(|begin| text.trim_start().starts_with(begin))
}
