//! Lines of Claude Code: an envelope around a message of its API.
//!
//! An assistant's message is spread over several lines, one a block. A line of the user that holds only results of
//! tools is no human message. Hook output, reminders and snapshots are lines of other types and are left out.

use serde_json::Value;

use super::json::{call, is_true, text, texts};
use super::{About, Head, Parts, Role, Skip, Turn, turns};

pub(super) fn read(head: &mut Head, line: &Value, bytes: &[u8]) -> Result<Vec<Turn>, Skip> {
    head.name(text(line, "sessionId"));
    if let Some(cwd) = text(line, "cwd") {
        head.cwd = Some(cwd.to_owned());
    }
    if let Some(branch) = text(line, "gitBranch") {
        head.branch = Some(branch.to_owned()).filter(|branch| !branch.is_empty());
    }
    let role = match text(line, "type") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Skip::Other),
    };
    if is_true(line, "isSidechain") {
        return Err(Skip::Sidechain);
    }
    if is_true(line, "isCompactSummary") || is_true(line, "isVisibleInTranscriptOnly") {
        return Err(Skip::Summary);
    }
    if is_true(line, "isMeta") || is_true(line, "isApiErrorMessage") {
        return Err(Skip::Meta);
    }
    let content = line.get("message").and_then(|message| message.get("content")).ok_or(Skip::Other)?;
    let about = About::new(line.get("timestamp"), text(line, "uuid"), bytes);
    turns(head, &about, parts(role, content))
}

fn parts(role: Role, content: &Value) -> Parts {
    let Value::Array(blocks) = content else { return vec![said(role, texts(content))] };
    let mut parts = Parts::new();
    for block in blocks {
        match text(block, "type") {
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let input = block.get("input").unwrap_or(&Value::Null);
                parts.push((Role::Tool, call(text(block, "name").unwrap_or("tool"), input)));
            }
            Some("tool_result" | "mcp_tool_result") => {
                parts.push((Role::Tool, block.get("content").map(texts).unwrap_or_default()));
            }
            Some("text") => parts.push(said(role, texts(block))),
            // Thinking, images, documents, and whatever comes next.
            _ => {}
        }
    }
    parts
}

/// Texts that a program writes in the user's place.
const MACHINE_TEXT: [&str; 8] = [
    "<task-notification>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<command-name>",
    "<command-message>",
    "<bash-stdout>",
    "<bash-stderr>",
];

fn said(role: Role, text: String) -> (Role, String) {
    let is_machine = MACHINE_TEXT.iter().any(|tag| text.trim_start().starts_with(tag));
    (if is_machine { Role::Tool } else { role }, text)
}
