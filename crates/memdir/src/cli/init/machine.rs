//! What is on this machine: which agents, where their settings are, and which program they should call.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use memdir_core::host::Agent;
use memdir_core::wiring::{Directories, is_memdir, signs};
use serde_json::Value;

use super::file::SettingsFile;
use crate::context::Context;
use crate::failure::Failure;

/// The machine, as far as it matters to wiring.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) at: Directories,
    /// The program that hosts are to call.
    pub(crate) program: String,
    search_path: Option<OsString>,
}

impl Machine {
    /// Looks around.
    pub(crate) fn new(context: &Context) -> Result<Self, Failure> {
        let project = context.place.dir.clone().or_else(|| context.env.project_dir().ok());
        let search_path = context.env.search_path.clone();
        Ok(Self {
            at: context.env.agent_directories(project)?,
            program: program(search_path.as_ref())?,
            search_path,
        })
    }

    /// Returns the agents that are installed here, by their directories and programs.
    pub(crate) fn agents(&self) -> Vec<Agent> {
        Agent::ALL.into_iter().filter(|agent| self.has(*agent)).collect()
    }

    /// Says whether an agent has left its directory here, or is on the path.
    fn has(&self, agent: Agent) -> bool {
        let is_program = |name: &&str| on_path(self.search_path.as_ref(), name).next().is_some();
        self.is_in_use(agent) || signs(agent, &self.at).programs.iter().any(is_program)
    }

    /// Says whether an agent has left its directory here.
    pub(crate) fn is_in_use(&self, agent: Agent) -> bool {
        signs(agent, &self.at).paths.iter().any(|path| path.exists() && !self.is_our_doing(path))
    }

    /// Says whether the memdir plugin is switched on in Claude Code.
    pub(crate) fn has_claude_plugin(&self) -> bool {
        self.claude_plugin() == Some(true)
    }

    /// Says whether the memdir plugin of Claude Code is on or off; `None` if nothing is said about it.
    pub(crate) fn claude_plugin(&self) -> Option<bool> {
        let file = SettingsFile::read(&self.at.claude.join("settings.json")).ok()?;
        let settings: Value = serde_json::from_str(&file.text?).ok()?;
        let plugins = settings.get("enabledPlugins")?.as_object()?;
        let is_ours = |name: &str| name.split('@').next().is_some_and(is_memdir);
        let ours = plugins.iter().filter(|(name, _)| is_ours(name));
        ours.map(|(_, on)| on.as_bool() != Some(false)).max()
    }

    /// A vault makes a `projects` in Claude Code's directory, also where nobody uses Claude Code.
    fn is_our_doing(&self, path: &Path) -> bool {
        if path != self.at.claude {
            return false;
        }
        let names = |dir: &Path| {
            fs::read_dir(dir)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.file_name())
                .collect::<Vec<_>>()
        };
        let projects = path.join("projects");
        let is_transcript = |name: &OsString| name.to_string_lossy().ends_with(".jsonl");
        names(path) == ["projects"]
            && !names(&projects).iter().any(|name| names(&projects.join(name)).iter().any(is_transcript))
    }
}

/// Returns the path that hosts should call us by: the one on the path if it is this very program, for that one stays
/// when a new version takes its place.
fn program(search_path: Option<&OsString>) -> Result<String, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::error(format!("could not find this program: {why}"));
    let this = std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|err| failed(&err))?;
    let known =
        on_path(search_path, "memdir").find(|path| path.canonicalize().is_ok_and(|path| path == this));
    let path = known.unwrap_or(this);
    let text = path.to_str().ok_or_else(|| failed(&"its path is not UTF-8"))?;
    if !is_memdir(text) {
        return Err(failed(&format!("{text} is not called memdir"))
            .hint("give the program its own name: entries of ours are recognised by it"));
    }
    Ok(text.to_owned())
}

/// Finds programs of a name on the path.
fn on_path<'p>(search_path: Option<&'p OsString>, name: &'p str) -> impl Iterator<Item = PathBuf> + 'p {
    let dirs = search_path.into_iter().flat_map(std::env::split_paths);
    dirs.filter(|dir| dir.is_absolute()).map(move |dir| dir.join(name)).filter(|path| path.is_file())
}
