//! What can be seen in a sentence, before anything is concluded from it.

macro_rules! signs {
    ($($(#[$doc:meta])* $sign:ident = $name:literal,)+) => {
        /// Something seen in a sentence. A sign says nothing yet about what the sentence does; learned weights do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Sign { $($(#[$doc])* $sign,)+ }

        impl Sign {
            pub(super) const COUNT: usize = [$($name,)+].len();

            /// Finds a sign by what people call it.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$sign),)+ _ => None }
            }

            /// Returns what people call it.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$sign => $name,)+ }
            }
        }
    };
}

signs! {
    // Mood and modality.
    /// "must", "have to", "should", "muss", "해야 한다".
    Duty = "duty",
    /// "must not", "never", "don't", "nicht … verwenden", "하지 마".
    Ban = "ban",
    /// "always", "every time", "immer", "항상".
    Always = "always",
    /// A verb that tells somebody to do something.
    Imperative = "imperative",
    /// "all endpoints are …", "by convention", "we name …".
    Custom = "custom",
    /// "branch names follow …", "dates are …": said of all things of a kind.
    General = "general statement",
    /// "whenever", "only when".
    Condition = "condition",
    /// "please".
    Please = "please",
    /// "before pushing", "when adding a migration", "for each release".
    Occasion = "occasion of work",
    /// "in this repo", "across the code base".
    Everywhere = "whole project",
    /// "the API never talks to it": a description, not an order.
    Never = "never happens",
    Question = "question",
    Negation = "negation",
    /// "maybe", "might", "vielleicht".
    Doubt = "doubt",

    // Who.
    /// I, my, ich, 저는.
    I = "first person",
    /// We, our, wir, 우리.
    We = "we",
    /// You, your, du, dein: the agent is spoken to.
    You = "you",
    /// "you skipped the tests", "your last commits".
    YouDid = "you did",

    // The user.
    Like = "liking",
    /// "I use vim", "my shell".
    OwnTool = "own tool",
    /// "I am a data scientist", "new to Rust", "years of experience".
    Profession = "profession",
    /// "prefers dark themes", "has a mac": the user is meant and not named.
    Unnamed = "unnamed person",
    /// "about me", "Sofia is an engineer", "my sister".
    Person = "person",
    Knowledge = "knowledge",
    Responsibility = "responsibility",

    // The agent's work.
    /// "your replies", "summary", "explanations", "emojis".
    Conduct = "agent's conduct",
    /// "stop …ing", "that was wrong", "I told you".
    Correction = "correction",
    /// "exactly", "keep doing that", "good call".
    Praise = "praise",
    /// "from now on", "next time", "in future".
    Henceforth = "from now on",

    // Choices.
    Decided = "decided",
    /// "the publisher has decided", "the client wants": others decide for us.
    ByOthers = "decided by others",
    Undecided = "undecided",
    /// "instead of", "rather than", "statt", "대신".
    Alternative = "alternative",
    /// "because", "so that", "weil", "때문에".
    Reason = "reason",

    // What no file shows.
    Goal = "goal",
    Deadline = "deadline",
    /// A day or month, which may mean anything.
    Date = "date",
    Incident = "incident",
    Law = "law or contract",
    Stakeholder = "stakeholder",
    Motive = "motive",
    Plan = "plan",
    Surprise = "surprise",
    Limit = "outside limit",
    Outside = "outside party",

    // Where things stand.
    Progress = "progress",
    Standing = "standing",
    Blocked = "blocked",
    Now = "now",
    Next = "next step",
    /// "I'm editing", "let me", "about to".
    Doing = "doing right now",
    Session = "this session",

    // Git.
    Commit = "commit or merge",
    /// "renamed", "moved", "refactored" in the past tense.
    Changed = "changed code",
    Past = "past time",
    Author = "author of a change",

    // Code and systems.
    Path = "path",
    Paths = "several paths",
    Name = "name from code",
    Holds = "holds or lives in",
    Item = "function, type or folder",
    Interaction = "parts working together",
    Component = "component",
    Components = "several components",
    Shape = "shape of the system",
    /// "the loader checks …", "requests pass …": a thing does something, in the present.
    Describes = "description",
    /// "Tidepool simulates …": something with a name of its own does something.
    Named = "named thing",

    // Debugging.
    Fix = "fix",
    Error = "error",
    Trace = "stack trace",

    // About the project.
    Install = "install",
    Usage = "usage",
    IsA = "what it is",
    Feature = "feature or licence",

    // Elsewhere.
    System = "outside system",
    Url = "address",
    Channel = "channel",
    Find = "where to find",
    Board = "board, page or runbook",
    /// "project 'Kundenportal'", "space SRE", "folder Tier 2".
    Locator = "place inside a system",
}
