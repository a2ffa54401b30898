//! A conversation given as a text: lines of a session file, messages as JSON, or a dialogue with names before what is said.

use serde_json::Value;

use super::Said;
use crate::transcript::{Host, Parser, Role};

/// Reads a conversation out of a text. Without any sign of who speaks, all of it is the user's.
pub fn conversation(text: &str) -> Vec<Said> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim_start();
    if first.starts_with(['{', '[']) {
        let read = [of_host(text), messages(text)];
        if let Some(said) = read.into_iter().find(|said| !said.is_empty()) {
            return said;
        }
    }
    dialogue(text)
}

/// Reads the lines as those of the host that most of them make sense for.
fn of_host(text: &str) -> Vec<Said> {
    let named = text.lines().take(64).find_map(|line| Host::of_line(line.as_bytes()));
    let hosts = named.map_or_else(|| vec![Host::ClaudeCode, Host::Codex, Host::Gemini], |host| vec![host]);
    let read = |host: Host| {
        let mut parser = Parser::new(host, "");
        let turns = text.lines().filter_map(|line| parser.read(line.as_bytes()).ok()).flatten();
        turns.map(|turn| Said::from(&turn)).collect::<Vec<_>>()
    };
    hosts.into_iter().map(read).max_by_key(Vec::len).unwrap_or_default()
}

/// Reads messages with a role and a content: one document, or one a line.
fn messages(text: &str) -> Vec<Said> {
    let values: Vec<Value> = match serde_json::from_str(text) {
        Ok(Value::Array(values)) => values,
        Ok(mut value) => match value.get_mut("messages").or(None).map(Value::take) {
            Some(Value::Array(values)) => values,
            _ => vec![value],
        },
        Err(_) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    };
    values.iter().filter_map(message).collect()
}

fn message(value: &Value) -> Option<Said> {
    let role = match value.get("role")?.as_str()? {
        "user" | "human" => Role::User,
        "assistant" | "model" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => return None,
    };
    let content = value.get("content").or_else(|| value.get("text"))?;
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let at = value.get("timestamp").and_then(Value::as_str).and_then(|at| at.parse().ok());
    Some(Said::new(role, at, &text)).filter(|said| !said.text.is_empty())
}

/// Takes a dialogue apart at the names of who speaks.
fn dialogue(text: &str) -> Vec<Said> {
    let mut parts: Vec<(Role, String)> = Vec::new();
    for line in text.lines() {
        match (speaker(line), parts.last_mut()) {
            (Some((role, rest)), _) => parts.push((role, rest.to_owned())),
            (None, Some((_, said))) => {
                said.push('\n');
                said.push_str(line);
            }
            (None, None) => parts.push((Role::User, line.to_owned())),
        }
    }
    let said = parts.iter().map(|(role, text)| Said::new(*role, None, text.trim()));
    said.filter(|said| !said.text.is_empty()).collect()
}

/// Returns who begins to speak in a line, and the words behind the name.
fn speaker(line: &str) -> Option<(Role, &str)> {
    const USERS: [&str; 4] = ["user", "human", "me", "developer"];
    const AGENTS: [&str; 7] = ["assistant", "ai", "agent", "claude", "codex", "gemini", "model"];
    const TOOLS: [&str; 3] = ["system", "tool", "tool result"];
    let (name, rest) = line.split_once(':')?;
    let name = name.trim().trim_matches(['*', '#', '[', ']', ' ']).to_ascii_lowercase();
    let is = |names: &[&str]| names.contains(&name.as_str());
    let role = match () {
        () if is(&USERS) => Role::User,
        () if is(&AGENTS) => Role::Assistant,
        () if is(&TOOLS) => Role::Tool,
        () => return None,
    };
    Some((role, rest.trim_start_matches(['*', ' '])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(Role, String)> {
        conversation(text).into_iter().map(|said| (said.role, said.text)).collect()
    }

    #[test]
    fn who_speaks_is_told_apart() {
        let text =
            "User: use pnpm, never npm\nand say why\n**Assistant:** always use npm\nmore of it\nHuman: fine";
        let said = told(text);
        assert_eq!(said[0], (Role::User, "use pnpm, never npm\nand say why".to_owned()));
        assert_eq!(said[1], (Role::Assistant, "always use npm\nmore of it".to_owned()));
        assert_eq!(said[2], (Role::User, "fine".to_owned()));
        assert_eq!(told("we decided: use tabs"), [(Role::User, "we decided: use tabs".to_owned())]);
    }

    #[test]
    fn lines_of_session_files_and_plain_messages_are_read() {
        for line in [
            r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"we use tabs"}}"#,
            r#"{"type":"user","message":{"role":"user","content":"we use tabs"}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"we use tabs"}]}}"#,
            r#"{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"user","content":"we use tabs"}]}"#,
            r#"{"role":"user","content":"we use tabs"}"#,
            r#"[{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"we use tabs"}]}]"#,
        ] {
            assert_eq!(told(line), [(Role::User, "we use tabs".to_owned())], "{line}");
        }
    }
}
