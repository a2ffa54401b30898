//! What the environment says, as values.
//!
//! The binary fills an [`Environment`] once, tests fill one by hand, and nothing below reads a variable. Rules for
//! all of them: an empty variable counts as unset; a relative path is taken from the working directory. Two
//! exceptions: a relative `XDG_DATA_HOME` is ignored, as its standard demands, and a relative `HOME` is an error,
//! because it would give every directory a home of its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use memdir_core::wiring::Directories;

use super::LocateError;
use super::path::resolve;
use super::warning::Ignored;

/// Everything outside the arguments of one call that decides where a vault is.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The working directory.
    pub cwd: PathBuf,
    /// `--project`: the directory to act for instead of the working directory.
    pub project_flag: Option<PathBuf>,
    /// `--vault`: the vault, whatever else is said.
    pub vault_flag: Option<PathBuf>,
    /// `MEMDIR_VAULT`: as the flag, for a whole session.
    pub vault: Option<PathBuf>,
    /// `MEMDIR_HOME`: the state root.
    pub memdir_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data_home: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`: replaces `~/.claude`.
    pub claude_config_dir: Option<PathBuf>,
    /// `CLAUDE_CODE_PROJECT_DIR_NAME`: replaces the slug, only together with `CLAUDE_CONFIG_DIR`.
    pub claude_project_dir_name: Option<OsString>,
    /// `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE`: the memory directory of a cowork session.
    pub cowork_override: Option<PathBuf>,
    /// `PATH`: where git is looked for.
    pub search_path: Option<OsString>,
    /// `CODEX_HOME`: replaces `~/.codex`.
    pub codex_home: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`: the directory whose `.gemini` Gemini CLI uses instead of the home's.
    pub gemini_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: where programs keep settings instead of `~/.config`.
    pub xdg_config_home: Option<PathBuf>,
    /// `COPILOT_HOME`: replaces `~/.copilot`.
    pub copilot_home: Option<PathBuf>,
}

/// Where agents keep the files of their sessions; none where that is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionDirs {
    /// Claude Code's `projects`.
    pub claude: Option<PathBuf>,
    /// Codex's own directory.
    pub codex: Option<PathBuf>,
    /// Gemini CLI's own directory.
    pub gemini: Option<PathBuf>,
}

impl Environment {
    /// Fills an environment from the variables that `lookup` knows.
    pub fn from_vars(cwd: PathBuf, lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let path = |name: &str| set(name).map(PathBuf::from);
        Self {
            cwd,
            project_flag: None,
            vault_flag: None,
            vault: path(VAULT),
            memdir_home: path(MEMDIR_HOME),
            xdg_data_home: path(XDG_DATA_HOME),
            home: path("HOME"),
            claude_config_dir: path(CLAUDE_CONFIG_DIR),
            claude_project_dir_name: set(CLAUDE_PROJECT_DIR_NAME),
            cowork_override: path(COWORK_OVERRIDE),
            search_path: set("PATH"),
            codex_home: path(CODEX_HOME),
            gemini_home: path(GEMINI_HOME),
            xdg_config_home: path(XDG_CONFIG_HOME),
            copilot_home: path(COPILOT_HOME),
        }
    }

    /// Returns the state root: `MEMDIR_HOME`, else `memdir` in the XDG data directory.
    pub fn state_root(&self) -> Result<PathBuf, LocateError> {
        if let Some(home) = set(&self.memdir_home) {
            return self.absolute(home);
        }
        if let Some(data) = set(&self.xdg_data_home).filter(|data| data.is_absolute()) {
            return self.absolute(&data.join("memdir"));
        }
        self.absolute(&self.user_home()?.join(".local/share/memdir"))
    }

    /// Returns the directory that Claude Code keeps its settings and projects in.
    pub fn claude_dir(&self) -> Result<PathBuf, LocateError> {
        match set(&self.claude_config_dir) {
            Some(dir) => self.absolute(dir),
            None => self.absolute(&self.user_home()?.join(".claude")),
        }
    }

    /// Returns where agents keep their settings, with the project that those of a project are for.
    pub fn agent_directories(&self, project: Option<PathBuf>) -> Result<Directories, LocateError> {
        let home = self.absolute(self.user_home()?)?;
        let or_home = |dir: &Option<PathBuf>, name: &str| match set(dir) {
            Some(dir) => self.absolute(dir),
            None => Ok(home.join(name)),
        };
        let config = set(&self.xdg_config_home).filter(|dir| dir.is_absolute());
        let claude_state = match set(&self.claude_config_dir) {
            Some(dir) => self.absolute(dir)?.join(".claude.json"),
            None => home.join(".claude.json"),
        };
        let gemini = set(&self.gemini_home).map_or_else(|| Ok(home.clone()), |dir| self.absolute(dir))?;
        Ok(Directories {
            config: config.map_or_else(|| home.join(".config"), Path::to_owned),
            claude: self.claude_dir()?,
            claude_state,
            codex: or_home(&self.codex_home, ".codex")?,
            gemini: gemini.join(".gemini"),
            copilot: or_home(&self.copilot_home, ".copilot")?,
            project,
            home,
            system: PathBuf::from("/"),
        })
    }

    /// Returns where agents keep the files of their sessions.
    pub(super) fn session_dirs(&self) -> SessionDirs {
        let below_home = |name: &str| self.user_home().ok().map(|home| home.join(name));
        let codex = set(&self.codex_home).map(Path::to_owned).or_else(|| below_home(".codex"));
        let gemini =
            set(&self.gemini_home).map(|home| home.join(".gemini")).or_else(|| below_home(".gemini"));
        let usable = |path: PathBuf| self.absolute(&path).ok();
        SessionDirs {
            claude: self.claude_dir().ok().map(|dir| dir.join("projects")),
            codex: codex.and_then(usable),
            gemini: gemini.and_then(usable),
        }
    }

    /// Returns the folder that `CLAUDE_CODE_PROJECT_DIR_NAME` names, if it counts and can be a name.
    pub(super) fn claude_project_dir(&self) -> Option<PathBuf> {
        let name = self.claude_project_dir_name.as_ref()?.to_str().filter(|name| is_folder_name(name))?;
        Some(set(&self.claude_config_dir)?.join("projects").join(name))
    }

    /// Returns what is set but has no effect.
    pub(super) fn ignored(&self) -> Option<Ignored> {
        let is_set = set(&self.claude_config_dir).is_some() && self.claude_project_dir_name.is_some();
        (is_set && self.claude_project_dir().is_none()).then(|| Ignored {
            file: CLAUDE_PROJECT_DIR_NAME.to_owned(),
            key: String::new(),
            why: "is not 1 to 64 letters, digits, `-` and `_`",
        })
    }

    /// Returns the user's home directory.
    pub fn user_home(&self) -> Result<&Path, LocateError> {
        let home = set(&self.home).ok_or(LocateError::NoHome)?;
        if home.is_relative() {
            return Err(LocateError::RelativeHome { path: home.to_owned() });
        }
        Ok(home)
    }

    /// Returns the directory to act for, which exists.
    pub fn project_dir(&self) -> Result<PathBuf, LocateError> {
        let dir = match &self.project_flag {
            Some(flag) if flag.as_os_str().is_empty() => return Err(LocateError::EmptyFlag("--project")),
            Some(flag) => self.cwd.join(flag),
            None => self.cwd.clone(),
        };
        match dir.canonicalize() {
            Ok(path) if path.is_dir() => Ok(path),
            _ => Err(LocateError::NoDirectory { path: dir }),
        }
    }

    /// Returns `path` as an absolute one without links in the part that exists.
    pub(super) fn absolute(&self, path: &Path) -> Result<PathBuf, LocateError> {
        let path = self.cwd.join(path);
        let resolved = resolve(&path).map_err(|source| LocateError::Io { path: path.clone(), source })?;
        if resolved.to_str().is_none() {
            return Err(LocateError::NotUtf8 { path: resolved });
        }
        Ok(resolved)
    }

    /// Removes every variable that has the value a repository's settings give it, and names those it removed.
    ///
    /// An agent puts the `env` of a repository's settings into the environment of the programs it starts. What a
    /// repository may not say in a file of ours it may not say that way either.
    pub(super) fn without_shipped(&self, shipped: &BTreeMap<String, String>) -> (Self, Vec<&'static str>) {
        let mut env = self.clone();
        let mut removed = Vec::new();
        let is_shipped =
            |name: &str, value: &OsStr| shipped.get(name).is_some_and(|text| OsStr::new(text) == value);
        for (name, field) in [
            ("HOME", &mut env.home),
            (VAULT, &mut env.vault),
            (MEMDIR_HOME, &mut env.memdir_home),
            (XDG_DATA_HOME, &mut env.xdg_data_home),
            (CLAUDE_CONFIG_DIR, &mut env.claude_config_dir),
            (COWORK_OVERRIDE, &mut env.cowork_override),
            (CODEX_HOME, &mut env.codex_home),
            (GEMINI_HOME, &mut env.gemini_home),
        ] {
            if field.take_if(|value| is_shipped(name, value.as_os_str())).is_some() {
                removed.push(name);
            }
        }
        let name = &mut env.claude_project_dir_name;
        if name.take_if(|value| is_shipped(CLAUDE_PROJECT_DIR_NAME, value)).is_some() {
            removed.push(CLAUDE_PROJECT_DIR_NAME);
        }
        (env, removed)
    }
}

const VAULT: &str = "MEMDIR_VAULT";
const MEMDIR_HOME: &str = "MEMDIR_HOME";
const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
const CLAUDE_PROJECT_DIR_NAME: &str = "CLAUDE_CODE_PROJECT_DIR_NAME";
const COWORK_OVERRIDE: &str = "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE";
const CODEX_HOME: &str = "CODEX_HOME";
const GEMINI_HOME: &str = "GEMINI_CLI_HOME";
const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
const COPILOT_HOME: &str = "COPILOT_HOME";

fn is_folder_name(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Returns a variable that is set to something.
pub(super) fn set(value: &Option<PathBuf>) -> Option<&Path> {
    value.as_deref().filter(|path| !path.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(vars: &[(&str, &str)]) -> Environment {
        let vars: BTreeMap<&str, &str> = vars.iter().copied().collect();
        Environment::from_vars("/nowhere/cwd".into(), |name| vars.get(name).map(OsString::from))
    }

    #[test]
    fn the_state_root_falls_from_one_variable_to_the_next() {
        let all = [("MEMDIR_HOME", "/m"), ("XDG_DATA_HOME", "/d"), ("HOME", "/h")];
        let root = |vars: &[(&str, &str)]| environment(vars).state_root().map_err(|err| err.to_string());
        assert_eq!(root(&all), Ok("/m".into()));
        assert_eq!(root(&all[1..]), Ok("/d/memdir".into()));
        assert_eq!(root(&all[2..]), Ok("/h/.local/share/memdir".into()));
        assert_eq!(root(&[]), Err("HOME is not set".into()));
    }

    #[test]
    fn an_empty_variable_counts_as_unset_and_a_relative_one_starts_at_the_working_directory() {
        let root = |vars: &[(&str, &str)]| environment(vars).state_root().map_err(|err| err.to_string());
        assert_eq!(root(&[("MEMDIR_HOME", ""), ("XDG_DATA_HOME", ""), ("HOME", "/h")]), {
            Ok("/h/.local/share/memdir".into())
        });
        assert_eq!(root(&[("MEMDIR_HOME", "m")]), Ok("/nowhere/cwd/m".into()));
        assert_eq!(
            root(&[("XDG_DATA_HOME", "d"), ("HOME", "/h")]),
            Ok("/h/.local/share/memdir".into()),
            "the XDG standard says to ignore it"
        );
        assert_eq!(root(&[("HOME", "h")]), Err("HOME is not an absolute path: `h`".into()));
    }

    #[test]
    fn a_variable_with_the_value_a_repository_ships_is_removed_and_any_other_stays() {
        let env = environment(&[("MEMDIR_VAULT", "/evil"), ("MEMDIR_HOME", "/mine"), ("HOME", "/h")]);
        let shipped = [("MEMDIR_VAULT", "/evil"), ("MEMDIR_HOME", "/other"), ("HOME", "/else")];
        let shipped = shipped.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let (env, removed) = env.without_shipped(&shipped);
        assert_eq!(removed, ["MEMDIR_VAULT"]);
        assert_eq!(env.vault, None);
        assert_eq!(env.memdir_home, Some("/mine".into()));
    }
}
