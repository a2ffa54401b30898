//! How much a model can read, and when a conversation must be shortened to fit into that.
//!
//! What a request takes is known after it was answered: the service counts it. So the decision is made after each answer
//! (AC-05) and carried out with the next request. An agent that shortens its history by itself is left to do so; it
//! comes first by a wide margin, and two that shorten one list would undo each other's cache.

use crate::breaker::MAX_FAILURES;

/// Of a window, this part may be filled, in percent.
const FULL: u64 = 92;
/// From this part on, whoever wants a model's summary asks for it, in percent: there must be room for the question.
const NEAR: u64 = 80;
/// A shortened conversation takes this part of a window, in percent.
const SHORTENED: u64 = 50;
/// What a model is taken to read of which nothing is known, in tokens.
const UNKNOWN: u64 = 128_000;

/// Windows by what a model's name begins with, or has behind a slash. The first that fits counts.
const WINDOWS: [(&str, u64); 14] = [
    ("claude-3", 200_000),
    ("claude", 200_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4", 128_000),
    ("gpt-5", 272_000),
    ("codex", 200_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini", 1_048_576),
    ("grok", 131_072),
    ("deepseek", 128_000),
    ("qwen", 131_072),
];

/// Returns how many tokens a model reads.
pub fn window(model: &str) -> u64 {
    let model = model.to_lowercase();
    if model.contains("[1m]") || model.ends_with("-1m") {
        return 1_000_000;
    }
    let name = model.rsplit('/').next().unwrap_or(&model);
    WINDOWS.iter().find(|(start, _)| name.starts_with(start)).map_or(UNKNOWN, |(_, tokens)| *tokens)
}

/// What is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many tokens the model reads.
    pub window: u64,
}

/// What the last answer says about a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Tokens that were read.
    pub read: u64,
    /// Tokens that were written, and will be read the next time.
    pub written: u64,
    /// Whether the client shortens its history by itself.
    pub is_agents: bool,
    /// How often in a row shortening did not work.
    pub failures: u32,
}

/// Whether a conversation is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// There is room.
    Fits {
        /// What is taken,
        tokens: u64,
        /// of so much.
        limit: u64,
    },
    /// The model has read more than it was known to: there is no telling when it is full.
    Beyond {
        /// What it has read.
        tokens: u64,
    },
    /// The client does it by itself.
    Clients,
    /// It did not work too often (AC-02).
    GaveUp {
        /// In a row.
        failures: u32,
    },
    /// It must become this short.
    Shorten {
        /// In tokens as the service counts them.
        budget: u64,
    },
}

/// Says whether a conversation will have to be shortened before long, so that its summary can be asked for.
pub fn is_near(load: &Load, limits: &Limits) -> bool {
    let tokens = load.read.saturating_add(load.written);
    let is_open = !load.is_agents && load.failures < MAX_FAILURES;
    is_open && tokens >= limits.window / 100 * NEAR && load.read <= limits.window
}

/// Decides after an answer.
pub fn decide(load: &Load, limits: &Limits) -> Decision {
    let limit = limits.window / 100 * FULL;
    let tokens = load.read.saturating_add(load.written);
    if tokens < limit {
        return Decision::Fits { tokens, limit };
    }
    if load.read > limits.window {
        return Decision::Beyond { tokens: load.read };
    }
    if load.is_agents {
        return Decision::Clients;
    }
    if load.failures >= MAX_FAILURES {
        return Decision::GaveUp { failures: load.failures };
    }
    Decision::Shorten { budget: limits.window / 100 * SHORTENED }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_how_its_name_begins() {
        for (model, tokens) in [
            ("claude-opus-5-5", 200_000),
            ("claude-sonnet-4-5-20250929[1m]", 1_000_000),
            ("anthropic/claude-sonnet-4-5", 200_000),
            ("gpt-5.4", 272_000),
            ("models/gemini-2.5-pro", 1_048_576),
            ("something-new", 128_000),
            ("", 128_000),
        ] {
            assert_eq!(window(model), tokens, "{model}");
        }
    }

    /// AC-02, AC-05.
    #[test]
    fn what_nears_its_window_is_shortened_but_not_by_two_and_not_in_vain() {
        let limits = Limits { window: 200_000 };
        let load = Load { read: 150_000, written: 2_000, ..Load::default() };
        assert_eq!(decide(&load, &limits), Decision::Fits { tokens: 152_000, limit: 184_000 });
        let full = Load { read: 183_000, written: 2_000, ..load };
        assert_eq!(decide(&full, &limits), Decision::Shorten { budget: 100_000 });
        assert_eq!(decide(&Load { is_agents: true, ..full }, &limits), Decision::Clients);
        assert_eq!(decide(&Load { failures: 2, ..full }, &limits), Decision::Shorten { budget: 100_000 });
        assert_eq!(decide(&Load { failures: 3, ..full }, &limits), Decision::GaveUp { failures: 3 });
    }

    #[test]
    fn a_summary_is_asked_for_before_it_is_needed() {
        let limits = Limits { window: 200_000 };
        let load = Load { read: 158_000, written: 2_000, ..Load::default() };
        assert!(is_near(&load, &limits));
        assert!(!is_near(&Load { written: 1_000, ..load }, &limits));
        assert!(!is_near(&Load { is_agents: true, ..load }, &limits));
        assert!(!is_near(&Load { failures: 3, ..load }, &limits));
        assert!(!is_near(&Load { read: 200_001, ..load }, &limits));
    }

    #[test]
    fn a_window_that_was_exceeded_is_larger_than_we_knew() {
        let load = Load { read: 700_000, ..Load::default() };
        assert_eq!(decide(&load, &Limits { window: 200_000 }), Decision::Beyond { tokens: 700_000 });
    }
}
