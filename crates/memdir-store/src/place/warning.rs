//! What went not as asked while a place was looked for, without stopping the command.

use std::fmt;
use std::path::PathBuf;

use super::registry::ProjectId;

/// One thing the user should hear about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The repository ships settings that it may not decide. All of them are in this one warning.
    Repository(Vec<Ignored>),
    /// A settings file of the user has something we do not understand.
    Settings(Vec<Ignored>),
    /// The registry could not be read and what could be saved of it is used.
    RegistryBroken { path: PathBuf, n_saved: usize },
    /// The registry could not be read; it was put aside and written anew.
    RegistryReplaced { aside: PathBuf, n_saved: usize },
    /// A project in the registry is not as we write it; it is kept, and passed over.
    ProjectUnread { path: PathBuf, why: String },
    /// Another project has the directory that Claude Code uses for this one.
    SlugTaken { slug: String, by: ProjectId, vault: PathBuf },
}

/// A setting that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The file it is in, or the variable it came by.
    pub file: String,
    /// The setting; empty for the whole file.
    pub key: String,
    /// Why it has no effect.
    pub why: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository(ignored) => {
                write!(f, "ignored settings that the repository ships: {}", list(ignored))
            }
            Self::Settings(ignored) => write!(f, "ignored settings: {}", list(ignored)),
            Self::RegistryBroken { path, n_saved } => {
                write!(f, "{} is damaged: {n_saved} projects could be read", path.display())
            }
            Self::RegistryReplaced { aside, n_saved } => {
                write!(f, "the damaged list of projects is kept as {}: {n_saved} projects", aside.display())?;
                f.write_str(" were carried over")
            }
            Self::ProjectUnread { path, why } => {
                write!(f, "{} has a project that cannot be read: {}", path.display(), why.escape_debug())
            }
            Self::SlugTaken { slug, by, vault } => {
                write!(f, "project `{by}` already uses the directory `{slug}`")?;
                write!(f, ": this project's vault is {}", vault.display())
            }
        }
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "{} {}", self.file, self.why),
            key => {
                let shown: String = key.chars().take(MAX_KEY).collect();
                write!(f, "`{}` in {} {}", shown.escape_debug(), self.file, self.why)
            }
        }
    }
}

/// How much of a setting's name is shown: a hostile file has long ones.
const MAX_KEY: usize = 40;
/// How many settings a warning names.
const MAX_NAMED: usize = 5;

fn list(ignored: &[Ignored]) -> String {
    let mut parts: Vec<String> = ignored.iter().take(MAX_NAMED).map(Ignored::to_string).collect();
    if let Some(n_more) = ignored.len().checked_sub(MAX_NAMED).filter(|n| *n > 0) {
        parts.push(format!("and {n_more} more"));
    }
    parts.join("; ")
}
