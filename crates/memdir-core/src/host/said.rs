//! What of a prompt the user said.
//!
//! Hosts send machine text through the same door as the user's words (a background task has ended, a slash command was
//! expanded), and some put what we said before into the prompt. Neither may be taken for something the user said.

use crate::frame;

/// Elements that only machines write. A prompt that begins with one is not the user's.
const MACHINE: [&str; 12] = [
    "task-notification",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "command-name",
    "command-message",
    "bash-stdout",
    "bash-stderr",
    "bash-input",
    "user-memory-input",
    "environment_context",
    "teammate-message",
];
/// Elements that hosts wrap around what hooks and themselves add to a prompt.
const WRAPPERS: [&str; 7] = [
    "system-reminder",
    "system_reminder",
    "hook_context",
    "mcp_instructions",
    "loaded_context",
    "session_context",
    "current_datetime",
];

/// Says whether a machine wrote the prompt.
pub fn is_machine_text(prompt: &str) -> bool {
    let Some(rest) = prompt.trim_start().strip_prefix('<') else { return false };
    MACHINE.iter().any(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['>', ' ', '\n'])))
}

/// Returns the prompt without what hosts and we have added; empty if a machine wrote all of it.
pub fn said_by_user(prompt: &str) -> String {
    if is_machine_text(prompt) {
        return String::new();
    }
    let mut said = prompt.to_owned();
    for name in WRAPPERS {
        said = without_element(&said, name);
    }
    frame::without_frames(&said).trim().to_owned()
}

/// Takes out every `<name>…</name>`; one that is not closed reaches to the end.
fn without_element(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&open) {
        kept.push_str(&rest[..at]);
        rest = match rest[at..].find(&close) {
            Some(end) => &rest[at + end + close.len()..],
            None => "",
        };
    }
    kept.push_str(rest);
    kept
}
