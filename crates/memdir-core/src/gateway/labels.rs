//! What the headers of a request, and its path, say about the conversation that it belongs to.

/// What a request is labelled with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The conversation, by the client's id.
    pub session: Option<String>,
    /// Whether a known agent has named it: those shorten their history by themselves.
    pub is_agents: bool,
    /// Whether a sub-agent asks.
    pub is_subagent: bool,
    /// The project's directory, where the user names it for a client.
    pub project: Option<String>,
    /// The model, where the path names it.
    pub model: Option<String>,
}

/// Headers that name a conversation. One that is a part of a session names it better than the session does.
const SESSION: [&str; 6] =
    ["x-claude-code-session-id", "thread-id", "session-id", "conversation_id", "session_id", "x-session-id"];
/// The header for clients that have none.
const OURS: &str = "x-memdir-session";
/// Headers that only requests of sub-agents have.
const SUBAGENT: [&str; 4] = [
    "x-claude-code-agent-id",
    "x-claude-code-parent-agent-id",
    "x-openai-subagent",
    "x-codex-parent-thread-id",
];
/// The header that names the project's directory.
const PROJECT: &str = "x-memdir-project";

impl Labels {
    /// Reads headers; `get` returns the value of one by its name in small letters.
    pub fn of<'h>(get: impl Fn(&str) -> Option<&'h str>) -> Self {
        let said = |name: &&str| get(name).map(str::trim).filter(|value| !value.is_empty());
        let is_set = |name: &&str| said(name).is_some_and(|value| !matches!(value, "false" | "0"));
        Self {
            session: said(&OURS).or_else(|| SESSION.iter().find_map(said)).map(str::to_owned),
            is_agents: said(&OURS).is_none() && SESSION.iter().any(|name| said(name).is_some()),
            is_subagent: SUBAGENT.iter().any(is_set),
            project: said(&PROJECT).map(str::to_owned),
            model: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(headers: &[(&str, &'static str)]) -> Labels {
        Labels::of(|name| headers.iter().find(|(header, _)| *header == name).map(|(_, value)| *value))
    }

    #[test]
    fn headers_name_the_conversation_and_who_asks() {
        let claude = labels(&[("x-claude-code-session-id", "s1"), ("user-agent", "x")]);
        assert_eq!((claude.session.as_deref(), claude.is_subagent), (Some("s1"), false));
        let part = labels(&[("x-claude-code-session-id", "s1"), ("x-claude-code-agent-id", "a1")]);
        assert!(part.is_subagent);
        let codex =
            labels(&[("session-id", "root"), ("thread-id", "child"), ("x-openai-subagent", "review")]);
        assert_eq!((codex.session.as_deref(), codex.is_subagent), (Some("child"), true));
        assert!(!labels(&[("x-openai-subagent", "false")]).is_subagent);
        assert_eq!(labels(&[("x-session-id", " ")]), Labels::default());
        assert!(claude.is_agents && !labels(&[("x-memdir-session", "mine")]).is_agents);
    }
}
