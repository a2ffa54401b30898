//! One job, as a file.

use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::host::Agent;
use serde::{Deserialize, Serialize};

use crate::place::{Environment, Place};
use crate::working::file_stem;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An agent has answered: what was said since is to be looked at.
    Turn,
    /// A session is over: its working memory becomes a journal entry.
    End,
    /// What other programs wrote is to be taken up, and the index page and the index brought up to date.
    Settle,
    /// What memories claim is to be looked up.
    Verify,
    /// Whether the vault may dream is to be decided.
    DreamGate,
    /// Whether magic docs are out of date is to be looked up.
    Magic,
    /// The memories of the project and of its team are to be brought together.
    Sync,
}

impl Kind {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::End => "end",
            Self::Settle => "settle",
            Self::Verify => "verify",
            Self::DreamGate => "dream-gate",
            Self::Magic => "magic",
            Self::Sync => "sync",
        }
    }
}

/// Something that is to be done, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What.
    pub kind: Kind,
    /// The session it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The session's file, where the host says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
    /// The agent, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory that the project is found by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// The vault, where the user named one: then it is found by that alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<PathBuf>,
    /// When it was first wished for.
    pub pushed: Timestamp,
    /// Before this it is not taken.
    pub due: Timestamp,
    /// How often it was begun.
    #[serde(default)]
    pub attempts: u32,
    /// Whether the agent runs on a machine that the user is not at: then nothing is learned from what is said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remote: bool,
}

/// A job that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The job.
    pub job: Job,
    /// Why it was given up.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

impl Job {
    /// Wishes for something at a place.
    pub fn new(kind: Kind, place: &Place, now: Timestamp) -> Self {
        Self {
            kind,
            session: None,
            transcript: None,
            agent: None,
            dir: place.dir.clone(),
            vault: place.explicit.then(|| place.vault.clone()),
            pushed: now,
            due: now,
            attempts: 0,
            remote: false,
        }
    }

    /// Says which session it is about.
    pub fn about(mut self, session: &str, agent: Option<Agent>, transcript: Option<PathBuf>) -> Self {
        self.session = Some(session.to_owned());
        self.agent = agent.map(|agent| agent.as_str().to_owned());
        self.transcript = transcript;
        self
    }

    /// Returns what two jobs have in common that can be done as one.
    pub fn key(&self) -> String {
        match &self.session {
            Some(session) => format!("{}-{}", self.kind.as_str(), file_stem(session)),
            None => self.kind.as_str().to_owned(),
        }
    }

    /// Returns the environment in which its place is found, out of that of whoever does it.
    pub fn environment(&self, env: &Environment) -> Environment {
        Environment {
            cwd: self.dir.clone().unwrap_or_else(|| env.cwd.clone()),
            project_flag: None,
            vault_flag: None,
            vault: self.vault.clone(),
            ..env.clone()
        }
    }

    /// Returns the job that stands for this one and for one that waited before it. A pause after a fault holds.
    pub(super) fn merged_with(self, known: &Self) -> Self {
        Self {
            transcript: self.transcript.or_else(|| known.transcript.clone()),
            agent: self.agent.or_else(|| known.agent.clone()),
            dir: self.dir.or_else(|| known.dir.clone()),
            pushed: self.pushed.min(known.pushed),
            due: if known.attempts > 0 { self.due.max(known.due) } else { self.due.min(known.due) },
            attempts: self.attempts.max(known.attempts),
            ..self
        }
    }

    /// Orders jobs: who waits longest is first, and of a session the turn before the end.
    pub(super) fn order(&self) -> (Timestamp, Kind, String) {
        (self.due, self.kind, self.key())
    }
}
