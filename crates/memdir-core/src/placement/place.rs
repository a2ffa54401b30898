//! The places, and which file is which of them.

use std::fmt;
use std::str::FromStr;

use crate::memory::MemoryType;

/// A place where something can be written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// `CLAUDE.md`, `AGENTS.md` and the other files of instructions.
    Instructions,
    /// `STATUS.md`.
    Status,
    /// `docs/architecture.md` or `ARCHITECTURE.md`.
    Architecture,
    /// `docs/decisions/`, `docs/adr/`.
    Decisions,
    /// `README.md`.
    Readme,
    /// A memory of a type.
    Memory(MemoryType),
    /// What a session keeps for itself.
    WorkingMemory,
    /// The vault that a team shares; only ever a second place.
    TeamVault,
    /// The vault of the user, for every project; only ever a second place.
    UserVault,
}

/// Says that a target is no place we know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no place is known by the name `{}`", target.escape_debug())]
pub struct UnknownPlace {
    /// What was asked for.
    pub target: String,
}

impl UnknownPlace {
    /// The places there are, for people.
    pub const HINT: &'static str = "a place is CLAUDE.md, STATUS.md, docs/architecture.md, docs/decisions/, README.md, \
        memory:user, memory:feedback, memory:project or memory:reference";
}

impl Place {
    /// Returns its name as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "CLAUDE.md",
            Self::Status => "STATUS.md",
            Self::Architecture => "docs/architecture.md",
            Self::Decisions => "docs/decisions/",
            Self::Readme => "README.md",
            Self::Memory(MemoryType::User) => "memory:user",
            Self::Memory(MemoryType::Feedback) => "memory:feedback",
            Self::Memory(MemoryType::Project) => "memory:project",
            Self::Memory(MemoryType::Reference) => "memory:reference",
            Self::WorkingMemory => "working memory",
            Self::TeamVault => "team vault",
            Self::UserVault => "user vault",
        }
    }

    /// Says in a few words what belongs there.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Instructions => "rules for whoever works in the project",
            Self::Status => "where the project stands now",
            Self::Architecture => "how the parts work together",
            Self::Decisions => "choices and their reasons",
            Self::Readme => "what the project is and how it is used",
            Self::Memory(MemoryType::User) => "who the user is and what they prefer",
            Self::Memory(MemoryType::Feedback) => "how the agent should work",
            Self::Memory(MemoryType::Project) => "goals, deadlines, incidents and motives that no file shows",
            Self::Memory(MemoryType::Reference) => "where things outside the project are found",
            Self::WorkingMemory => "what this session is doing",
            Self::TeamVault => "what the team shares",
            Self::UserVault => "what holds in every project of the user",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Place {
    type Err = UnknownPlace;

    fn from_str(target: &str) -> Result<Self, UnknownPlace> {
        let unknown = || UnknownPlace { target: target.to_owned() };
        let path = target.trim().replace('\\', "/").to_lowercase();
        if let Some(memory_type) = path.strip_prefix("memory:") {
            return memory_type.trim().parse().map(Self::Memory).map_err(|_| unknown());
        }
        match path.as_str() {
            "working memory" => return Ok(Self::WorkingMemory),
            "team vault" => return Ok(Self::TeamVault),
            "user vault" => return Ok(Self::UserVault),
            _ => {}
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        of_path(&parts).ok_or_else(unknown)
    }
}

/// Tells a file's place by its folders and its name, both in lower case.
fn of_path(parts: &[&str]) -> Option<Place> {
    let name = *parts.last()?;
    let stem = name.split('.').find(|part| !part.is_empty())?;
    let inside = |folders: &[&str]| parts.iter().any(|part| folders.contains(part));
    if inside(&["decisions", "decision", "adr", "adrs"]) {
        return Some(Place::Decisions);
    }
    if inside(&["rules"]) && inside(&[".claude", ".cursor"]) {
        return Some(Place::Instructions);
    }
    if inside(&["architecture"]) {
        return Some(Place::Architecture);
    }
    match stem {
        "claude"
        | "agents"
        | "agent"
        | "gemini"
        | "cursorrules"
        | "copilot-instructions"
        | "windsurfrules"
        | "contributing" => Some(Place::Instructions),
        "status" | "progress" | "state" => Some(Place::Status),
        "architecture" | "design" => Some(Place::Architecture),
        "decisions" | "decision" | "adr" | "adrs" => Some(Place::Decisions),
        "readme" => Some(Place::Readme),
        _ => None,
    }
}
