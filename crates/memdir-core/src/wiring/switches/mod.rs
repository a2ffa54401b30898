//! Settings by which a host does nothing with what we put into its files.
//!
//! Every host has switches of its own: all hooks off, only those of an administrator, this server denied, this folder not
//! trusted. Whoever flipped one is rarely told that memory went silent with it. [`switch_files`] says where a host keeps
//! them, [`switches`] what they say about us. Nothing is ever changed here: such a setting is somebody's wish.

mod agents;
mod read;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use agents::switch_files;
use read::Layers;

use super::{Part, Scope};
use crate::host::Agent;

/// Who writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    /// Whoever runs this machine: the user cannot overrule it.
    Administrator,
    /// The project, for all who work on it.
    Project,
    /// The user.
    User,
}

/// A file in which a host keeps switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchFile {
    /// Where it is.
    pub path: PathBuf,
    /// Who writes it.
    pub keeper: Keeper,
    /// What it is to the host.
    role: Role,
}

/// What a file is to its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Settings.
    Settings,
    /// What settings must not contradict.
    Requirements,
    /// What the host notes for itself.
    State,
    /// Our own hooks.
    Hooks,
    /// The only servers that there may be.
    Servers,
    /// Which servers the user switched off.
    Enablement,
    /// Which folders the user trusts.
    Folders,
}

/// What is wired, as far as a switch can be about it.
#[derive(Debug, Clone, Copy)]
pub struct Wired<'w> {
    /// The program that is called.
    pub program: &'w str,
    /// For whom.
    pub scope: Scope,
    /// The project that is worked on.
    pub project: Option<&'w Path>,
}

/// A setting by which a host does nothing with our entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// What stays silent: the hooks or the server.
    pub part: Part,
    /// What the host's file says, in the host's words.
    pub says: String,
    /// The file.
    pub path: PathBuf,
    /// Who wrote it.
    pub keeper: Keeper,
}

impl Switch {
    /// Says what can be done about it.
    pub fn hint(&self) -> &'static str {
        match self.keeper {
            Keeper::Administrator => "whoever manages this machine decided that",
            Keeper::Project => "the project says so, for all who work on it",
            Keeper::User => "take it back there if that is not what you want",
        }
    }
}

/// Finds what keeps a host from calling us. `files` are those of [`switch_files`] that exist, in that order, with their
/// texts; what cannot be read says nothing.
pub fn switches(agent: Agent, files: &[(SwitchFile, String)], wired: &Wired<'_>) -> Vec<Switch> {
    let layers = Layers::of(files);
    match agent {
        Agent::ClaudeCode => agents::claude(&layers, wired),
        Agent::Codex => agents::codex(&layers, wired),
        Agent::Gemini => agents::gemini(&layers, wired),
        Agent::Opencode => agents::opencode(&layers),
        Agent::Copilot => agents::copilot(&layers),
        Agent::VsCode => agents::vscode(&layers),
        Agent::Goose => agents::goose(&layers),
        // Its switches are in its window, or with whoever manages the team.
        Agent::Cursor => Vec::new(),
    }
}
