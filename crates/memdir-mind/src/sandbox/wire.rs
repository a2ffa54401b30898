//! What the two processes say to each other: one line of JSON a message.

use serde::{Deserialize, Serialize};

use super::walls::Walls;
use crate::agent::{Job, Outcome};
use crate::model::{Answer, Part};

/// What the sub-agent's process is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// What to do; the first line.
    Job(Box<Job>),
    /// What the model said.
    Answer(Answer),
    /// Why the model said nothing.
    Failed(String),
}

/// What it says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// The walls stand, as far as they do; the first line.
    Ready(Walls),
    /// The model is to hear this and answer. The first time there is nothing to hear.
    Ask(Vec<Part>),
    /// All is done.
    Done(Box<Outcome>),
}
