//! What a statement can do.

use std::fmt;

/// What a statement does: the reason why somebody said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// Instructs whoever works in the project.
    Rule,
    /// Corrects or confirms how the agent works.
    Feedback,
    /// Tells what the user likes, wants or is used to.
    Preference,
    /// Tells who the user is, what they know or answer for.
    Role,
    /// Tells a choice that was made between ways.
    Decision,
    /// Tells a goal, deadline, incident, obligation or motive that no file shows.
    Context,
    /// Warns of something surprising whose cause lies outside the code.
    Gotcha,
    /// Tells where the project stands.
    State,
    /// Tells what is being done in this session.
    Task,
    /// Tells what git shows: commits, merges, authors.
    Event,
    /// Tells the layout and the names that the tree shows.
    Structure,
    /// Describes how the parts work together.
    Architecture,
    /// Tells a fix, a trace, a debugging story.
    Recipe,
    /// Tells what the project is, how to install, run and use it.
    Overview,
    /// Tells where something outside is found.
    Pointer,
}

impl Act {
    /// Every act; of equally likely ones the earlier wins.
    pub const ALL: [Self; 15] = [
        Self::Rule,
        Self::Feedback,
        Self::Preference,
        Self::Role,
        Self::Decision,
        Self::Context,
        Self::Gotcha,
        Self::State,
        Self::Task,
        Self::Event,
        Self::Structure,
        Self::Architecture,
        Self::Recipe,
        Self::Overview,
        Self::Pointer,
    ];

    /// Returns its name, in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Feedback => "feedback",
            Self::Preference => "preference",
            Self::Role => "role",
            Self::Decision => "decision",
            Self::Context => "context",
            Self::Gotcha => "gotcha",
            Self::State => "state",
            Self::Task => "task",
            Self::Event => "event",
            Self::Structure => "structure",
            Self::Architecture => "architecture",
            Self::Recipe => "recipe",
            Self::Overview => "overview",
            Self::Pointer => "pointer",
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
