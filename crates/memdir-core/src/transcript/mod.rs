//! What was said in a session, out of the files that coding agents write.
//!
//! Claude Code, Codex and Gemini CLI keep a file a session, in formats that are their own and change. A [`Parser`]
//! takes such a file line by line and gives [`Turn`]s: who said what, when, in which directory. It never fails. A
//! line that is broken, unknown or not part of the conversation is a [`Skip`] with its reason, and what memdir or
//! the host put into a text itself is cut out, so that nobody learns from his own words.
//!
//! ```text
//!   bytes of a line ──▶ Parser (claude · codex · gemini) ──▶ injected text cut out ──▶ Turn ──▶ Windows ◀── Pattern
//! ```
//!
//! Files are found and read elsewhere. A transcript is searched, never loaded whole: [`Windows`] keeps only what
//! stands around the hits.

mod claude;
mod codex;
mod gemini;
mod injected;
pub(crate) mod json;
mod pattern;
#[cfg(test)]
mod tests;
mod window;

use std::collections::HashMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hash::ContentHash;

pub use injected::without_injected;
pub use pattern::{Case, Pattern, PatternError};
pub use window::{Limits, ShownTurn, Window, Windows};

/// How many messages of a file are remembered to recognise one that is written again.
const MAX_REMEMBERED: usize = 65_536;

/// One thing that was said or done in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The session, by the host's id.
    pub session: String,
    /// When, if the line says so.
    pub at: Option<Timestamp>,
    /// Who.
    pub role: Role,
    /// What, without what was injected.
    pub text: String,
    /// The directory the session was in.
    pub cwd: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// Identifies the turn within its session. One that comes again with another text replaces the earlier one.
    pub uuid: String,
}

/// Who a turn comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A person wrote it.
    User,
    /// The model answered it.
    Assistant,
    /// A tool was called, or answered; or a program wrote it in the user's place.
    Tool,
}

impl Role {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// The agent that wrote a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl Host {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Says whose file a line comes from, as far as the line shows it.
    pub fn of_line(line: &[u8]) -> Option<Self> {
        let value = json::parse(line)?;
        let has = |key: &str| value.get(key).is_some();
        if has("projectHash") || has("$set") || has("$rewindTo") {
            return Some(Self::Gemini);
        }
        if has("payload") || has("record_type") || (has("id") && has("instructions")) {
            return Some(Self::Codex);
        }
        (has("sessionId") || has("leafUuid")).then_some(Self::ClaudeCode)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a line gives no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// It is not a JSON object.
    Corrupt,
    /// It is none of the kinds that hold a part of the conversation.
    Other,
    /// The host wrote it for the model: instructions, reasoning, a notice, our own text.
    Meta,
    /// It belongs to a sub-agent.
    Sidechain,
    /// It sums up what other lines say.
    Summary,
    /// It was there already.
    Repeated,
}

/// Reads the lines of one session file, in order.
#[derive(Debug, Clone)]
pub struct Parser {
    host: Host,
    head: Head,
    /// Gemini writes a message anew whenever a part of it changes: its id, and a hash of the text.
    remembered: HashMap<String, ContentHash>,
}

/// What holds for all lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The session.
    pub session: String,
    /// The directory that it was last said to be in.
    pub cwd: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// Whether the whole file is the conversation of a sub-agent.
    pub is_subagent: bool,
    /// Whether the session was named by the file itself.
    named: bool,
}

impl Head {
    /// Takes the name that the file gives its session; only the first counts, others come from copied sessions.
    fn name(&mut self, session: Option<&str>) {
        if let Some(session) = session.filter(|session| !session.is_empty() && !self.named) {
            self.session = session.to_owned();
            self.named = true;
        }
    }

    fn turn(&self, role: Role, text: String, about: &About) -> Turn {
        Turn {
            session: self.session.clone(),
            at: about.at,
            role,
            text,
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            uuid: about.uuid.clone(),
        }
    }
}

/// What a line says about itself.
struct About {
    at: Option<Timestamp>,
    uuid: String,
}

impl About {
    /// Reads the time and the id of a line; one without an id is known by its bytes.
    fn new(at: Option<&Value>, id: Option<&str>, line: &[u8]) -> Self {
        let at = at.and_then(Value::as_str).and_then(|text| text.parse().ok());
        let uuid = id.filter(|id| !id.is_empty()).map(str::to_owned);
        Self { at, uuid: uuid.unwrap_or_else(|| ContentHash::of(line).to_string()[..16].to_owned()) }
    }
}

/// What a line holds: parts of the conversation, in order.
type Parts = Vec<(Role, String)>;

impl Parser {
    /// Begins a file of `host`; `session` is what its name says, in case the lines do not.
    pub fn new(host: Host, session: &str) -> Self {
        let head = Head { session: session.to_owned(), ..Head::default() };
        Self { host, head, remembered: HashMap::new() }
    }

    /// Returns what the lines read so far say about the session.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Reads the next line.
    pub fn read(&mut self, line: &[u8]) -> Result<Vec<Turn>, Skip> {
        let value = json::parse(line).ok_or(Skip::Corrupt)?;
        match self.host {
            Host::ClaudeCode => claude::read(&mut self.head, &value, line),
            Host::Codex => codex::read(&mut self.head, &value, line),
            Host::Gemini => {
                let turns = gemini::read(&mut self.head, &value, line)?;
                self.without_repeated(turns)
            }
        }
    }

    fn without_repeated(&mut self, mut turns: Vec<Turn>) -> Result<Vec<Turn>, Skip> {
        turns.retain(|turn| {
            let hash = ContentHash::of(turn.text.as_bytes());
            if self.remembered.len() >= MAX_REMEMBERED {
                return self.remembered.get(&turn.uuid) != Some(&hash);
            }
            self.remembered.insert(turn.uuid.clone(), hash) != Some(hash)
        });
        if turns.is_empty() { Err(Skip::Repeated) } else { Ok(turns) }
    }
}

/// Makes turns of the parts of one line. The first has the line's id, the others a number behind it.
fn turns(head: &Head, about: &About, parts: Parts) -> Result<Vec<Turn>, Skip> {
    let clean = |(role, text): (Role, String)| {
        let text = without_injected(role, &text).trim().to_owned();
        (!text.is_empty()).then_some((role, text))
    };
    let mut turns: Vec<Turn> =
        parts.into_iter().filter_map(clean).map(|(role, text)| head.turn(role, text, about)).collect();
    for (n, turn) in turns.iter_mut().enumerate().skip(1) {
        turn.uuid = format!("{}.{n}", about.uuid);
    }
    if turns.is_empty() { Err(Skip::Meta) } else { Ok(turns) }
}
