//! Lines of Gemini CLI: a head, messages, and patches.
//!
//! A message is written again, whole, whenever a part of it changes; the parser drops what it has seen. A patch of the
//! whole list (`$set` with `messages`) comes at the start, and when the history was compressed. Early versions wrote
//! one JSON document a session, whose messages have the same shape. Going back (`$rewindTo`) unsays nothing.

use serde_json::Value;

use super::json::{call, text, texts};
use super::{About, Head, Parts, Role, Skip, Turn, turns};

pub(super) fn read(head: &mut Head, line: &Value, bytes: &[u8]) -> Result<Vec<Turn>, Skip> {
    if let Some(session) = text(line, "sessionId") {
        head.name(Some(session));
        head.is_subagent = text(line, "kind") == Some("subagent");
    }
    if head.is_subagent {
        return Err(Skip::Sidechain);
    }
    let list = line.get("$set").unwrap_or(line).get("messages").and_then(Value::as_array);
    let Some(list) = list else { return message(head, line, bytes) };
    let turns: Vec<Turn> = list
        .iter()
        .filter_map(|entry| message(head, entry, entry.to_string().as_bytes()).ok())
        .flatten()
        .collect();
    if turns.is_empty() { Err(Skip::Other) } else { Ok(turns) }
}

fn message(head: &Head, line: &Value, bytes: &[u8]) -> Result<Vec<Turn>, Skip> {
    let role = match text(line, "type") {
        Some("user") => Role::User,
        Some("gemini") => Role::Assistant,
        Some("info" | "warning" | "error") => return Err(Skip::Meta),
        _ => return Err(Skip::Other),
    };
    let content = line.get("content").map(texts).unwrap_or_default();
    let mut parts: Parts = vec![(role, content)];
    let calls = line.get("toolCalls").and_then(Value::as_array);
    for tool in calls.into_iter().flatten() {
        let name = text(tool, "name").unwrap_or("tool");
        parts.push((Role::Tool, call(name, tool.get("args").unwrap_or(&Value::Null))));
        parts.push((Role::Tool, tool.get("result").map(answers).unwrap_or_default()));
    }
    let about = About::new(line.get("timestamp"), text(line, "id"), bytes);
    turns(head, &about, parts)
}

/// Returns the texts of what a tool gave back: responses to a function call, or plain parts.
fn answers(result: &Value) -> String {
    let Value::Array(parts) = result else { return answer(result) };
    let texts: Vec<String> = parts.iter().map(answer).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

fn answer(part: &Value) -> String {
    let Some(response) = part.get("functionResponse").and_then(|response| response.get("response")) else {
        return texts(part);
    };
    let said = text(response, "output").or_else(|| text(response, "error"));
    said.map_or_else(|| response.to_string(), str::to_owned)
}
