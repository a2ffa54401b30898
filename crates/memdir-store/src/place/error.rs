//! Why no place was found, and what helps.

use std::io;
use std::path::PathBuf;

use super::registry::RegistryError;

/// Says why a vault cannot be located or used.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// There is no home directory to put anything into.
    #[error("HOME is not set")]
    NoHome,
    /// The home directory would depend on the working directory.
    #[error("HOME is not an absolute path: `{}`", path.display())]
    RelativeHome { path: PathBuf },
    /// The repository's settings for agents set `HOME`, so the real one is unknown.
    #[error("HOME has a value that the repository's settings set")]
    ShippedHome,
    /// A flag was given an empty path.
    #[error("{0} is empty")]
    EmptyFlag(&'static str),
    /// A path cannot be recorded.
    #[error("the path is not valid UTF-8: {}", path.display())]
    NotUtf8 { path: PathBuf },
    /// The directory to act for is missing or not a directory.
    #[error("there is no directory {}", path.display())]
    NoDirectory { path: PathBuf },
    /// The vault is a link, which somebody may turn elsewhere.
    #[error("{} is a symbolic link, not a vault", path.display())]
    VaultIsLink { path: PathBuf, target: PathBuf },
    /// The vault is a file.
    #[error("{} is not a directory", path.display())]
    VaultIsFile { path: PathBuf },
    /// The vault would be our own state, or be around it.
    #[error("{} holds memdir's own state: it cannot be a vault", path.display())]
    VaultInState { path: PathBuf },
    /// The directory belongs to another user.
    #[error("{} belongs to user {owner}, not to you", path.display())]
    NotOurs { path: PathBuf, owner: u32 },
    /// Everybody on this machine may write into the directory.
    #[error("{} can be written by every user of this machine", path.display())]
    WritableByAll { path: PathBuf },
    /// The file system said no.
    #[error("could not look at {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The list of projects could not be read or changed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl LocateError {
    /// Says what to do about it.
    pub fn hint(&self) -> Option<String> {
        let quoted = |path: &PathBuf| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        Some(match self {
            Self::NoHome | Self::RelativeHome { .. } => {
                "set HOME, or set MEMDIR_HOME and name a vault with `--vault DIR`".to_owned()
            }
            Self::ShippedHome => {
                "remove HOME from `env` in the repository's `.claude/settings.json`".to_owned()
            }
            Self::EmptyFlag(flag) => format!("give {flag} a directory, or leave it out"),
            Self::NotUtf8 { .. } => "rename the directory, or name another with `--vault DIR`".to_owned(),
            Self::NoDirectory { .. } => "name an existing one with `--project DIR`".to_owned(),
            Self::VaultIsLink { target, .. } => format!("name the directory itself: {}", target.display()),
            Self::VaultIsFile { .. } => {
                "name a directory with `--vault DIR`; a missing one is created".to_owned()
            }
            Self::VaultInState { .. } => "name a directory outside of it with `--vault DIR`".to_owned(),
            Self::NotOurs { path, .. } => {
                format!("`sudo chown -R \"$USER\" {}` makes it yours", quoted(path))
            }
            Self::WritableByAll { path } => format!("`chmod o-w {}` closes it", quoted(path)),
            Self::Registry(RegistryError::Newer { .. }) => "update memdir".to_owned(),
            Self::Registry(RegistryError::Unknown(_)) => "`memdir projects` lists them".to_owned(),
            Self::Io { .. } | Self::Registry(_) => return None,
        })
    }
}
