//! What a request is for. Agents ask for more than the next step of a conversation: titles, routes, summaries. Those are
//! no places for memory, and what they say is nothing that a user said.

use super::dialect::Dialect;
use super::fields::Fields;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// The next step of a conversation.
    Main,
    /// A step of a conversation that an agent has with a part of itself.
    Subagent,
    /// The client sums up its history.
    Compaction,
    /// A program wants an answer in a form of its own: a router, a classifier.
    Structured,
    /// A title, a topic, a look whether the service is there.
    Aside,
    /// It is not understood.
    #[default]
    Unknown,
}

impl Kind {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
            Self::Compaction => "compaction",
            Self::Structured => "structured",
            Self::Aside => "aside",
            Self::Unknown => "unknown",
        }
    }
}

/// Texts that agents ask for a summary with: all words of one stand in the last message or in the instructions.
const SUMMARIES: [&[&str]; 6] = [
    &["TEXT ONLY", "summary"],
    &["Your task is to create a detailed summary of the conversation"],
    &["CONTEXT CHECKPOINT COMPACTION"],
    &["Provide a detailed prompt for continuing our conversation"],
    &["summarizes internal chat history"],
    &["<state_snapshot>", "snapshot"],
];
/// Words of instructions that ask for a title or the like.
const ASIDES: [&str; 5] =
    ["title generator", "generate a title", "conversation title", "new conversation topic", "short title"];

/// What is known of a request when its kind is asked for.
pub(super) struct Signs<'s> {
    pub(super) is_subagent: bool,
    /// Whether the client is an agent that names its conversations; each step of those has tools.
    pub(super) is_agents: bool,
    pub(super) has_tools: bool,
    pub(super) is_structured: bool,
    /// Whether the answer has room for no more than a word.
    pub(super) is_probe: bool,
    pub(super) system: &'s [String],
    /// The last message of the user, whoever wrote it.
    pub(super) last: &'s [String],
}

/// Says what a request is for.
pub(super) fn kind(signs: &Signs<'_>) -> Kind {
    let says = |texts: &[String], words: &[&str]| {
        texts.iter().any(|text| words.iter().all(|word| text.contains(word)))
    };
    if signs.is_subagent {
        return Kind::Subagent;
    }
    if SUMMARIES.iter().any(|words| says(signs.last, words) || says(signs.system, words)) {
        return Kind::Compaction;
    }
    if signs.has_tools {
        return Kind::Main;
    }
    if signs.is_structured {
        return Kind::Structured;
    }
    let small = |text: &String| text.to_lowercase();
    let system: Vec<String> = signs.system.iter().map(small).collect();
    let last: Vec<String> = signs.last.iter().map(small).collect();
    let is_aside = ASIDES.iter().any(|words| says(&system, &[words]) || says(&last, &[words]));
    if signs.is_agents || signs.is_probe || is_aside { Kind::Aside } else { Kind::Main }
}

/// Says whether the answer must have a form.
pub(super) fn is_structured(dialect: Dialect, fields: &Fields<'_>) -> bool {
    let inner = |name: &str| fields.object(name);
    let type_of = |fields: Option<Fields<'_>>| fields.and_then(|fields| fields.text("type"));
    match dialect {
        Dialect::Messages => {
            inner("output_config").is_some_and(|config| config.has("format")) || fields.has("output_format")
        }
        Dialect::Chat => type_of(inner("response_format")).is_some_and(|kind| kind != "text"),
        Dialect::Responses => {
            let format = inner("text").and_then(|text| text.object("format"));
            type_of(format).is_some_and(|kind| kind != "text")
        }
        Dialect::Gemini => inner("generationConfig").is_some_and(|config| {
            config.has("responseSchema")
                || config.has("responseJsonSchema")
                || config.text("responseMimeType").is_some_and(|mime| mime != "text/plain")
        }),
    }
}

/// Says whether the answer has room for no more than a word.
pub(super) fn is_probe(dialect: Dialect, fields: &Fields<'_>) -> bool {
    let number = |fields: &Fields<'_>, name: &str| fields.raw(name).and_then(|raw| raw.parse::<u64>().ok());
    let room = match dialect {
        Dialect::Messages => number(fields, "max_tokens"),
        Dialect::Chat => number(fields, "max_tokens").or_else(|| number(fields, "max_completion_tokens")),
        Dialect::Responses => number(fields, "max_output_tokens"),
        Dialect::Gemini => {
            fields.object("generationConfig").and_then(|config| number(&config, "maxOutputTokens"))
        }
    };
    room.is_some_and(|room| room <= 1)
}
