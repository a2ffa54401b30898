//! Which events of a host are hooked, and how long a host may wait for each.
//!
//! Hooked is what memory has a part in and what the host really sends. A host that does not know an event may refuse
//! the file, so nothing is hooked for the future.

use crate::host::Agent;

/// An event that we hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Its name in the host's spelling.
    pub name: &'static str,
    /// After how many milliseconds the host goes on without us.
    pub timeout_ms: u32,
}

/// A start may have to read an index page and make a briefing.
const START: u32 = 10_000;
/// A person waits: long before this our own deadline has passed.
const PROMPT: u32 = 5_000;
/// Hosts end everything at the end of a session after 1.5 seconds; what takes whole seconds gets one.
const END: u32 = 1_500;

const fn event(name: &'static str, timeout_ms: u32) -> Event {
    Event { name, timeout_ms }
}

const CLAUDE_CODE: [Event; 11] = [
    event("SessionStart", START),
    event("UserPromptSubmit", PROMPT),
    event("PreToolUse", PROMPT),
    event("PostToolUse", PROMPT),
    event("PostToolUseFailure", PROMPT),
    event("SubagentStart", PROMPT),
    event("SubagentStop", PROMPT),
    event("PreCompact", START),
    event("PostCompact", PROMPT),
    event("Stop", PROMPT),
    event("SessionEnd", END),
];
const CODEX: [Event; 10] = [
    event("SessionStart", START),
    event("UserPromptSubmit", PROMPT),
    event("PreToolUse", PROMPT),
    event("PostToolUse", PROMPT),
    event("SubagentStart", PROMPT),
    event("SubagentStop", PROMPT),
    event("PreCompact", START),
    event("PostCompact", PROMPT),
    event("Stop", PROMPT),
    event("SessionEnd", END),
];
const GEMINI: [Event; 6] = [
    event("SessionStart", START),
    event("BeforeAgent", PROMPT),
    event("BeforeTool", PROMPT),
    event("AfterTool", PROMPT),
    event("AfterAgent", PROMPT),
    event("SessionEnd", END),
];
/// Our own script calls the hook under these names.
const OPENCODE: [Event; 8] = [
    event("SessionStart", START),
    event("UserPromptSubmit", PROMPT),
    event("PreToolUse", PROMPT),
    event("PostToolUse", PROMPT),
    event("PreCompact", START),
    event("PostCompact", PROMPT),
    event("Stop", PROMPT),
    event("SessionEnd", END),
];
const COPILOT: [Event; 6] = [
    event("sessionStart", START),
    event("userPromptSubmitted", PROMPT),
    event("preToolUse", PROMPT),
    event("postToolUse", PROMPT),
    event("agentStop", PROMPT),
    event("sessionEnd", END),
];
/// For commands it has an event of its own, the only one at which it asks its user.
const CURSOR: [Event; 10] = [
    event("sessionStart", START),
    event("beforeSubmitPrompt", PROMPT),
    event("preToolUse", PROMPT),
    event("beforeShellExecution", PROMPT),
    event("postToolUse", PROMPT),
    event("subagentStart", PROMPT),
    event("subagentStop", PROMPT),
    event("preCompact", START),
    event("stop", PROMPT),
    event("sessionEnd", END),
];
const VS_CODE: [Event; 8] = [
    event("SessionStart", START),
    event("UserPromptSubmit", PROMPT),
    event("PreToolUse", PROMPT),
    event("PostToolUse", PROMPT),
    event("SubagentStart", PROMPT),
    event("SubagentStop", PROMPT),
    event("PreCompact", START),
    event("Stop", PROMPT),
];
const GOOSE: [Event; 6] = [
    event("SessionStart", START),
    event("UserPromptSubmit", PROMPT),
    event("PreToolUse", PROMPT),
    event("PostToolUse", PROMPT),
    event("Stop", PROMPT),
    event("SessionEnd", END),
];

/// Returns the events of an agent that we hook.
pub fn events(agent: Agent) -> &'static [Event] {
    match agent {
        Agent::ClaudeCode => &CLAUDE_CODE,
        Agent::Codex => &CODEX,
        Agent::Gemini => &GEMINI,
        Agent::Opencode => &OPENCODE,
        Agent::Copilot => &COPILOT,
        Agent::Cursor => &CURSOR,
        Agent::VsCode => &VS_CODE,
        Agent::Goose => &GOOSE,
    }
}

impl Event {
    /// Returns the time in whole seconds, never more than it is.
    pub fn timeout_s(self) -> u32 {
        (self.timeout_ms / 1000).max(1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::host::{Moment, read};

    #[test]
    fn every_event_is_a_moment_that_memory_has_a_part_in() {
        for agent in Agent::ALL {
            for event in events(agent) {
                let moment = read(agent, event.name, &json!({})).moment;
                assert_ne!(moment, Moment::Other, "{} {}", agent.as_str(), event.name);
                let is_end = matches!(moment, Moment::End { .. });
                assert_eq!(event.timeout_ms <= 1_500, is_end, "{} {}", agent.as_str(), event.name);
                assert!(event.timeout_s() * 1000 <= event.timeout_ms);
            }
        }
    }
}
