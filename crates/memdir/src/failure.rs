//! What went wrong, for people: one line, hints below it, and an exit code.

use std::error::Error;
use std::fmt::Write as _;

use memdir_core::memory::{NameError, UnknownWord};
use memdir_store::place::LocateError;
use memdir_store::vault::{CommitError, OpenError};
use serde_json::{Value, json};

const NAME_HINT: &str = "a name is a-z, 0-9, `-` and `_`, for instance `feedback-testing`";

/// How a command ended when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done, or found.
    Done,
    /// Nothing was found, or there was nothing to do.
    Nothing,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code: 1 for a refusal, 2 for an error.
    pub(crate) code: u8,
    /// One line, lower case, no full stop.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
    /// What `--json` prints; by default the message.
    pub(crate) json: Option<Box<Value>>,
}

impl Failure {
    /// Makes an error (exit code 2).
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self { code: 2, message: message.into(), hints: Vec::new(), json: None }
    }

    /// Makes a refusal, or the news that nothing was found (exit code 1).
    pub(crate) fn refusal(message: impl Into<String>) -> Self {
        Self { code: 1, ..Self::error(message) }
    }

    /// Makes an error out of `err` and what caused it, in one line.
    pub(crate) fn from_chain(err: &dyn Error) -> Self {
        let mut message = err.to_string();
        let mut source = err.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !message.ends_with(&text) {
                let _ = write!(message, ": {text}");
            }
            source = cause.source();
        }
        Self::error(message)
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says that a text cannot name a memory.
    pub(crate) fn bad_name(name: &str) -> Self {
        Self::error(format!("`{}` is not a memory name", name.escape_debug())).hint(NAME_HINT)
    }

    /// Says that there is no memory `name`.
    pub(crate) fn no_memory(name: &str) -> Self {
        Self::refusal(format!("no memory `{name}`"))
            .hint("`memdir list` shows what there is, `memdir search WORDS` looks for it")
    }
}

impl From<CommitError> for Failure {
    fn from(err: CommitError) -> Self {
        let failure = Self::from_chain(&err);
        match err {
            CommitError::Refused(refusals) => {
                let hints = refusals.iter().map(|refusal| refusal.destination.clone());
                let force = refusals.iter().all(|refusal| refusal.can_force);
                let force =
                    force.then(|| "`--force REASON` saves it all the same and keeps the reason".to_owned());
                let is_secret = refusals.iter().any(|refusal| refusal.rule.starts_with("secret:"));
                let redact = is_secret.then(|| "`--redact` saves the rest of it".to_owned());
                let questions = refusals.iter().filter_map(|refusal| refusal.question.clone());
                let hints = hints.chain(questions).chain(force).chain(redact).collect();
                Self { code: 1, hints, json: Some(Box::new(json!({ "refused": refusals }))), ..failure }
            }
            CommitError::Exists(name) => failure.hint(format!("`memdir edit {name}` changes it")),
            CommitError::Missing(name) => Self::no_memory(&name),
            CommitError::Renamed { now, .. } => {
                Self { code: 1, ..failure }.hint(format!("use the name it has: `{now}`"))
            }
            CommitError::Stale(name) => Self { code: 1, ..failure }
                .hint(format!("read it again: `memdir show {name}`, then repeat the change")),
            CommitError::Conflict { name, .. } => {
                Self { code: 1, ..failure }.hint(format!("compare the two, then `memdir edit {name}`"))
            }
            CommitError::NoChange(_) => {
                Self { code: 1, ..failure }.hint("`memdir log` lists the changes of the last 30 days")
            }
            CommitError::CannotUndo { .. } => {
                Self { code: 1, ..failure }.hint("`memdir log NAME` shows what happened since")
            }
            CommitError::Lock(_) => failure.hint(
                "another memdir is at work, or stopped in the middle of it: try again, or end that process",
            ),
            CommitError::Read { .. } | CommitError::Write { .. } => {
                failure.hint("nothing was changed; `memdir doctor` says what is wrong with the vault")
            }
        }
    }
}

impl From<OpenError> for Failure {
    fn from(err: OpenError) -> Self {
        let failure = Self::from_chain(&err);
        match err {
            OpenError::WorldWritable(path) => {
                failure.hint(format!("`chmod 700 {}` closes it", path.display()))
            }
            OpenError::ForeignOwner(_) => failure.hint("use a vault of your own: `--vault DIR`"),
            OpenError::Io { .. } => {
                failure.hint("`memdir init` makes the vault; `--vault DIR` names another")
            }
        }
    }
}

impl From<LocateError> for Failure {
    fn from(err: LocateError) -> Self {
        let failure = Self::from_chain(&err);
        match err.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<NameError> for Failure {
    fn from(err: NameError) -> Self {
        Self::error(err.to_string()).hint(NAME_HINT)
    }
}

impl From<UnknownWord> for Failure {
    fn from(err: UnknownWord) -> Self {
        let tags = err.what == "type";
        let failure = Self::error(err.to_string());
        if tags { failure.hint("for anything finer use `--tag` or `--kind`") } else { failure }
    }
}

impl From<std::io::Error> for Failure {
    fn from(err: std::io::Error) -> Self {
        Self::from_chain(&err)
    }
}
