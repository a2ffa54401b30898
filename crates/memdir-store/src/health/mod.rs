//! What is wrong with a vault and what belongs to it. Looks without a lock and writes nothing.
//!
//! [`examine`] looks at one vault, [`examine_place`] at everything around it. Both return [`Finding`]s; a finding
//! may carry a [`Remedy`], which is what a repair would do about it. Repairing is the caller's part, through the
//! one door.

mod memories;
mod page;
mod state;
mod surroundings;
mod team;

use std::io;
use std::path::PathBuf;

use memdir_core::host::Agent;
use memdir_core::secrets::Scanner;
use serde::Serialize;

use crate::vault::Vault;

pub use surroundings::examine_place;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something does not work as it should.
    Problem,
    /// It works, but less well than it could.
    Warning,
    /// Worth knowing.
    Note,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The rule's stable word.
    pub rule: &'static str,
    /// The file or directory it is about.
    pub file: Option<PathBuf>,
    /// What is the matter, in one line.
    pub message: String,
    /// What a repair would do.
    pub remedy: Option<Remedy>,
}

/// What a repair does. None of them touches the text of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Writes the index page anew.
    RefreshPage,
    /// Finishes what was interrupted and removes left-over files: whatever a writer does when it begins.
    Settle,
    /// Closes files and directories to others.
    Restrict(Vec<PathBuf>),
    /// Copies the memories of a directory into the vault; the directory stays.
    Adopt(PathBuf),
    /// Makes the vault's directory.
    MakeVault,
    /// Writes the list of projects anew.
    RewriteRegistry,
    /// Tells an agent of us anew.
    Rewire(Agent),
}

impl Remedy {
    /// Says what it does, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::RefreshPage => "writes MEMORY.md anew".to_owned(),
            Self::Settle => "finishes or removes it".to_owned(),
            Self::Restrict(_) => "closes them to others".to_owned(),
            Self::Adopt(dir) => format!("copies its memories from {}, which stays as it is", dir.display()),
            Self::MakeVault => "makes the directory; `memdir undo` then brings the memories back".to_owned(),
            Self::Rewire(_) => "writes our entries in its settings anew".to_owned(),
            Self::RewriteRegistry => "keeps the damaged file aside and writes a new one".to_owned(),
        }
    }
}

impl Finding {
    fn new(
        severity: Severity,
        rule: &'static str,
        file: impl Into<PathBuf>,
        message: impl Into<String>,
    ) -> Self {
        Self { severity, rule, file: Some(file.into()), message: message.into(), remedy: None }
    }

    fn problem(rule: &'static str, file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::new(Severity::Problem, rule, file, message)
    }

    fn warning(rule: &'static str, file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, rule, file, message)
    }

    fn note(rule: &'static str, file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, rule, file, message)
    }

    fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

/// Looks at one vault and its state. `progress` hears how many memories of how many were read.
pub fn examine(
    vault: &Vault,
    scanner: &Scanner,
    progress: impl FnMut(usize, usize),
) -> io::Result<Vec<Finding>> {
    let snapshot = vault.snapshot()?;
    let shelf = memories::Shelf::read(vault, &snapshot, scanner, progress);
    let mut findings = shelf.findings();
    findings.extend(page::findings(vault, &snapshot, &shelf.paths()));
    findings.extend(state::findings(vault, &shelf.hashes())?);
    findings.extend(team::findings(vault, &snapshot));
    Ok(findings)
}
