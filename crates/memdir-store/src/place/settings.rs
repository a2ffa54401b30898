//! Settings: what the user decides, and the little that a repository may.
//!
//! Three hands write settings. The user's own files ([`UserSettings`], [`ClaudeSettings`]) are believed. Files that
//! come with a repository ([`RepositorySettings`]) can only narrow: switch memory off, name the project, choose a
//! directory inside the work tree. Whatever else they say has no effect and is named in one warning, also when it
//! comes by a link, in an over-long file, or as a variable that an agent took over from them.

mod edit;
mod gateway;
mod model;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use memdir_core::budget::Caps;
use memdir_core::dream::Mode;
use memdir_core::memory::Layout;
use memdir_core::policy::Review;
use memdir_core::secrets::Allow;

use super::LocateError;
use super::env::Environment;
use super::git::Ground;
use super::path::{is_missing, resolve};
use super::vault_dir;
use super::warning::Ignored;
use crate::disk::{Dir, ReadError};

pub use edit::{EditError, set_in_table};
pub use gateway::{GatewaySettings, UpstreamSettings};
pub use model::{ModelSettings, ServiceKind, is_variable};

/// Largest settings file we read.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// Largest settings file of ours that a repository may ship: three keys, read in every command.
const MAX_SHIPPED: u64 = 64 * 1024;
/// Longest name a repository may give its project, in characters.
const MAX_PROJECT_NAME: usize = 64;
/// Settings of Claude Code in a work tree, the stronger first.
const CLAUDE_FILES: [&str; 2] = [".claude/settings.local.json", ".claude/settings.json"];
/// Our settings in a work tree.
const OUR_FILE: &str = ".memdir/config.toml";

/// The user's settings, `$MEMDIR_HOME/config.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserSettings {
    /// `frontmatter.layout`.
    pub layout: Layout,
    /// `off`: no read, no write, empty answers.
    pub off: bool,
    /// `[secrets]`: what the scanner is told. No file of a repository can say any of it.
    pub secrets: SecretSettings,
    /// `review`: whether what agents write is applied, told or asked about.
    pub review: Review,
    /// `[transcripts]`: whether copies of sessions are kept. No file of a repository can say so.
    pub transcripts: TranscriptSettings,
    /// `subagents`: what an agent is told that another agent started.
    pub subagents: Subagents,
    /// `[model]`: who is asked. No file of a repository can say so.
    pub model: ModelSettings,
    /// `[budget]`: what background work may cost. No file of a repository can say so.
    pub budget: Caps,
    /// `dream.review`: which operations of a dream wait for a person.
    pub dream: Mode,
    /// `[extract]`: how often what was said is looked through.
    pub extract: ExtractSettings,
    /// `[team]`: whether teams are synced without being asked.
    pub team: TeamSettings,
    /// `[gateway]`: where requests of clients go. No file of a repository can say so.
    pub gateway: GatewaySettings,
}

/// Whether teams are synced without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamSettings {
    /// `team.auto`: at the start and the end of sessions, and by the daemon.
    pub auto: bool,
}

impl Default for TeamSettings {
    fn default() -> Self {
        Self { auto: true }
    }
}

/// How often what was said is looked through for what it teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtractSettings {
    /// `extract.every`: after as many turns of the user.
    pub every: usize,
}

impl Default for ExtractSettings {
    fn default() -> Self {
        Self { every: 1 }
    }
}

/// What an agent is told that another agent started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subagents {
    /// Nothing, at no time; rules hold all the same.
    None,
    /// The index pages, and what comes to mind.
    #[default]
    Index,
    /// What a session is told.
    Full,
}

impl Subagents {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "none" => Some(Self::None),
            "index" => Some(Self::Index),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// Whether copies of sessions are kept, and how much of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptSettings {
    /// `transcripts.keep`: the user agreed.
    pub keep: bool,
    /// `transcripts.max_mb`: how many megabytes are kept a project.
    pub max_mb: u64,
}

impl Default for TranscriptSettings {
    fn default() -> Self {
        Self { keep: false, max_mb: 200 }
    }
}

/// What the user tells the scanner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecretSettings {
    /// `[[secrets.allow]]`: values the user vouches for.
    pub allow: Vec<Allow>,
    /// `secrets.rules`: rule files beyond those in the directory `secrets`, as written.
    pub rules: Vec<PathBuf>,
}

/// What we need of one settings file of Claude Code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClaudeSettings {
    /// `autoMemoryDirectory`, as written.
    pub memory_dir: Option<String>,
    /// `autoMemoryEnabled`: whether the host keeps a memory of its own.
    pub memory_enabled: Option<bool>,
    /// `env`: variables the host sets for the programs it starts.
    pub env: BTreeMap<String, String>,
}

/// What a repository says about its memory, as far as it may.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepositorySettings {
    /// Memory is off in this repository.
    pub off: bool,
    /// The least that is wanted for what agents write here.
    pub review: Review,
    /// What the project is called.
    pub project: Option<String>,
    /// A vault inside the work tree.
    pub vault: Option<ShippedVault>,
    /// Whether the host keeps a memory of its own here.
    pub memory_enabled: Option<bool>,
    /// Variables that the host sets at the repository's request.
    pub env: BTreeMap<String, String>,
    /// What has no effect.
    pub ignored: Vec<Ignored>,
}

/// A vault that a repository chose inside its work tree, and where it says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedVault {
    /// The directory.
    pub path: PathBuf,
    /// The file that names it.
    pub file: &'static str,
    /// The setting in that file.
    pub key: &'static str,
    /// Whether Claude Code takes it too; it knows only absolute paths.
    pub is_hosts: bool,
}

impl UserSettings {
    /// Reads the user's settings; what is not understood is returned beside them.
    pub fn load(home: &Path) -> (Self, Vec<Ignored>) {
        let name = "config.toml";
        let file = home.join(name).display().to_string();
        match read_own(home, name) {
            Ok(None) => (Self::default(), Vec::new()),
            Ok(Some(bytes)) => Self::parse(&bytes, &file),
            Err(why) => (Self::default(), vec![whole(&file, why)]),
        }
    }

    fn parse(bytes: &[u8], file: &str) -> (Self, Vec<Ignored>) {
        let Some(table) = parse_toml(bytes) else { return (Self::default(), vec![whole(file, NOT_TOML)]) };
        let mut settings = Self::default();
        let mut ignored = Vec::new();
        for (key, value) in flatten(&table) {
            let taken = model::take(&mut settings.model, &mut settings.budget, &key, value)
                .or_else(|| gateway::take(&mut settings.gateway, &key, value));
            if let Some(refused) = taken {
                ignored.extend(refused.map(|why| Ignored { file: file.to_owned(), key, why }));
                continue;
            }
            let refused = match (key.as_str(), value) {
                ("off", toml::Value::Boolean(off)) => {
                    settings.off = *off;
                    None
                }
                ("frontmatter.layout", toml::Value::String(layout)) => match layout.as_str() {
                    "flat" => None,
                    "nested" => {
                        settings.layout = Layout::Nested;
                        None
                    }
                    _ => Some("is neither `flat` nor `nested`"),
                },
                ("secrets.allow", toml::Value::Array(entries)) => {
                    settings.secrets.allow = entries.iter().filter_map(allow_entry).collect();
                    (settings.secrets.allow.len() < entries.len())
                        .then_some("has an entry without a sha256 `hash` and a `reason`")
                }
                ("secrets.rules", toml::Value::Array(paths)) => {
                    settings.secrets.rules =
                        paths.iter().filter_map(toml::Value::as_str).map(PathBuf::from).collect();
                    (settings.secrets.rules.len() < paths.len()).then_some("has a path that is not a text")
                }
                ("review", toml::Value::String(word)) => match word.parse() {
                    Ok(review) => {
                        settings.review = review;
                        None
                    }
                    Err(_) => Some(NOT_A_REVIEW),
                },
                ("subagents", toml::Value::String(word)) => match Subagents::parse(word) {
                    Some(subagents) => {
                        settings.subagents = subagents;
                        None
                    }
                    None => Some(NOT_SUBAGENTS),
                },
                ("team.auto", toml::Value::Boolean(auto)) => {
                    settings.team.auto = *auto;
                    None
                }
                ("transcripts.keep", toml::Value::Boolean(keep)) => {
                    settings.transcripts.keep = *keep;
                    None
                }
                ("transcripts.max_mb", toml::Value::Integer(n)) => match u64::try_from(*n) {
                    Ok(max_mb) if max_mb > 0 => {
                        settings.transcripts.max_mb = max_mb;
                        None
                    }
                    _ => Some("is not above zero"),
                },
                ("dream.review", toml::Value::String(word)) => match Mode::parse(word) {
                    Some(mode) => {
                        settings.dream = mode;
                        None
                    }
                    None => Some(NOT_A_MODE),
                },
                ("dream.review", _) => Some(NOT_A_MODE),
                ("extract.every", toml::Value::Integer(n)) => match usize::try_from(*n) {
                    Ok(every) if every > 0 => {
                        settings.extract.every = every;
                        None
                    }
                    _ => Some("is not above zero"),
                },
                ("off" | "transcripts.keep" | "team.auto", _) => Some("is neither true nor false"),
                ("transcripts.max_mb" | "extract.every", _) => Some("is not a whole number"),
                ("review", _) => Some(NOT_A_REVIEW),
                ("subagents", _) => Some(NOT_SUBAGENTS),
                ("frontmatter.layout", _) => Some("is not a text"),
                ("secrets.allow" | "secrets.rules", _) => Some("is not a list"),
                _ => Some("is unknown"),
            };
            ignored.extend(refused.map(|why| Ignored { file: file.to_owned(), key, why }));
        }
        (settings, ignored)
    }
}

impl ClaudeSettings {
    /// Reads the user's settings of Claude Code from its directory.
    pub fn load(claude_dir: &Path) -> (Self, Vec<Ignored>) {
        let name = "settings.json";
        let file = claude_dir.join(name).display().to_string();
        let parsed = read_own(claude_dir, name).and_then(|bytes| match bytes {
            None => Ok(Self::default()),
            Some(bytes) => Self::parse(&bytes).ok_or(NOT_JSON),
        });
        let mut settings = match parsed {
            Ok(settings) => settings,
            Err(why) => return (Self::default(), vec![whole(&file, why)]),
        };
        let is_usable = |path: &mut String| path.starts_with("~/") || path.starts_with('/');
        let refused = settings.memory_dir.take_if(|path| !is_usable(path));
        let why = "is neither absolute nor below `~/`";
        let ignored = refused.map(|_| Ignored { file, key: MEMORY_DIR.to_owned(), why });
        (settings, ignored.into_iter().collect())
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let Value::Object(map) = serde_json::from_slice(bytes).ok()? else { return None };
        let env = map.get("env").and_then(Value::as_object).map(|env| {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            env.iter().map(|(name, value)| (name.clone(), text(value))).collect()
        });
        Some(Self {
            memory_dir: map.get(MEMORY_DIR).map(|value| value.as_str().unwrap_or_default().to_owned()),
            memory_enabled: map.get("autoMemoryEnabled").and_then(Value::as_bool),
            env: env.unwrap_or_default(),
        })
    }

    /// Returns the directory that a user's `autoMemoryDirectory` names: absolute, or below the home by `~/`.
    pub fn user_memory_dir(&self, env: &Environment) -> Result<Option<PathBuf>, LocateError> {
        let Some(text) = &self.memory_dir else { return Ok(None) };
        match text.strip_prefix("~/") {
            Some(below) => Ok(Some(env.user_home()?.join(below))),
            None => Ok(Some(PathBuf::from(text))),
        }
    }
}

impl RepositorySettings {
    /// Reads what the work tree of `ground` ships. `user_home` is the user's home directory: if that is the work
    /// tree, its `.claude` is the user's own.
    pub fn load(ground: &Ground, user_home: Option<&Path>) -> Self {
        let mut settings = Self::default();
        let bases = bases(ground);
        settings.read_ours(&ground.dir, &bases);
        for file in CLAUDE_FILES {
            settings.read_claude(&ground.dir, file, &bases, user_home);
        }
        settings
    }

    /// Gives up a vault that cannot be one: the repository chose it, so it must not stop the user.
    pub(super) fn drop_unusable_vault(&mut self, home: &Path) {
        let is_unusable = |vault: &mut ShippedVault| vault_dir::check(&vault.path, home).is_err();
        if let Some(vault) = self.vault.take_if(is_unusable) {
            self.ignore(vault.file, vault.key, "cannot be a vault");
        }
    }

    fn read_ours(&mut self, work_tree: &Path, bases: &[&Path]) {
        let Some(bytes) = self.read(work_tree, OUR_FILE, MAX_SHIPPED) else { return };
        let Some(table) = parse_toml(&bytes) else { return self.ignore(OUR_FILE, "", NOT_TOML) };
        for (key, value) in flatten(&table) {
            match (key.as_str(), value) {
                // Memory that the user switched off cannot be switched on from here.
                ("off", toml::Value::Boolean(off)) => self.off = *off,
                ("project", toml::Value::String(name)) => match project_name(name) {
                    Some(name) => self.project = Some(name),
                    None => self.ignore(OUR_FILE, &key, "is not a plain name"),
                },
                ("vault", toml::Value::String(path)) => self.take_vault(OUR_FILE, "vault", path, bases),
                // Only ever raised: what the user wants to be asked about stays asked about.
                ("review", toml::Value::String(word)) => match word.parse() {
                    Ok(review) => self.review = review,
                    Err(_) => self.ignore(OUR_FILE, &key, NOT_A_REVIEW),
                },
                ("off" | "project" | "vault" | "review", _) => {
                    self.ignore(OUR_FILE, &key, "has a value of the wrong kind")
                }
                _ => self.ignore(OUR_FILE, &key, "is not for a repository to decide"),
            }
        }
    }

    fn read_claude(
        &mut self,
        work_tree: &Path,
        file: &'static str,
        bases: &[&Path],
        user_home: Option<&Path>,
    ) {
        let Some(bytes) = self.read(work_tree, file, MAX_SETTINGS) else { return };
        let Some(found) = ClaudeSettings::parse(&bytes) else { return self.ignore(file, "", NOT_JSON) };
        // Unless the file itself moved the home directory here.
        if is_dir(user_home, work_tree) && !found.env.contains_key("HOME") {
            return;
        }
        if let Some(path) = found.memory_dir {
            self.take_vault(file, MEMORY_DIR, &path, bases);
        }
        self.memory_enabled = self.memory_enabled.or(found.memory_enabled);
        for (name, value) in found.env {
            self.env.entry(name).or_insert(value);
        }
    }

    /// Takes a vault if it is inside and none was taken yet: files are read in the order of their strength.
    fn take_vault(&mut self, file: &'static str, key: &'static str, path: &str, bases: &[&Path]) {
        let is_hosts = key == MEMORY_DIR && path.starts_with('/');
        match inside(path, bases) {
            Ok(path) => {
                self.vault.get_or_insert(ShippedVault { path, file, key, is_hosts });
            }
            Err(why) => self.ignore(file, key, why),
        }
    }

    fn read(&mut self, work_tree: &Path, file: &str, limit: u64) -> Option<Vec<u8>> {
        match read_inside(work_tree, file, limit) {
            Ok(bytes) => bytes,
            Err(why) => {
                self.ignore(file, "", why);
                None
            }
        }
    }

    fn ignore(&mut self, file: &str, key: &str, why: &'static str) {
        self.ignored.push(Ignored { file: file.to_owned(), key: key.to_owned(), why });
    }
}

const MEMORY_DIR: &str = "autoMemoryDirectory";
const NOT_A_REVIEW: &str = "is none of `off`, `notify`, `ask`";
const NOT_A_MODE: &str = "is none of `risky`, `always`, `auto`";
const NOT_SUBAGENTS: &str = "is neither `none`, `index` nor `full`";
const NOT_TOML: &str = "is not valid TOML";
const NOT_JSON: &str = "is not valid JSON";

fn whole(file: &str, why: &'static str) -> Ignored {
    Ignored { file: file.to_owned(), key: String::new(), why }
}

/// Returns the directories that count as inside the repository: this work tree and the main one.
fn bases(ground: &Ground) -> Vec<&Path> {
    let main = ground.repository.as_ref().filter(|repository| repository.root != repository.common_dir);
    std::iter::once(ground.dir.as_path()).chain(main.map(|repository| repository.root.as_path())).collect()
}

fn is_dir(path: Option<&Path>, dir: &Path) -> bool {
    path.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == dir)
}

/// Checks a path that a repository names: plain, strictly inside, and no part of `.git`. Its last part may be a
/// link still; what is asked of every vault is asked later.
fn inside(text: &str, bases: &[&Path]) -> Result<PathBuf, &'static str> {
    let is_odd = |c: char| c.is_control() || matches!(c, '$' | '`' | '|' | ';' | '&' | '<' | '>');
    if text.is_empty() || text.starts_with('~') || text.contains("://") || text.contains(is_odd) {
        return Err("is not a plain path");
    }
    let path = Path::new(text);
    if path.components().any(|part| part == Component::ParentDir) {
        return Err("points outside the repository");
    }
    let written: PathBuf = bases[0].join(path).components().collect();
    let resolved = resolve(&written).map_err(|_| "cannot be resolved")?;
    let below = bases.iter().find_map(|base| resolved.strip_prefix(base).ok());
    let below =
        below.filter(|below| below.components().next().is_some()).ok_or("points outside the repository")?;
    if below.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err("points into `.git`");
    }
    Ok(written)
}

/// Reads a file that a repository ships; a link may not lead out of the work tree.
fn read_inside(work_tree: &Path, file: &str, limit: u64) -> Result<Option<Vec<u8>>, &'static str> {
    let path = work_tree.join(file);
    let found = match path.canonicalize() {
        Ok(found) => found,
        Err(err) if is_missing(&err) => {
            let is_dangling = fs::symlink_metadata(&path).is_ok();
            return if is_dangling { Err("is a link that leads nowhere") } else { Ok(None) };
        }
        Err(_) => return Err("cannot be read"),
    };
    if !found.starts_with(work_tree) {
        return Err("leads outside the repository");
    }
    read_regular(&found, limit)
}

/// Reads a settings file of the user, which is often a link into a repository of dotfiles.
fn read_own(dir: &Path, name: &str) -> Result<Option<Vec<u8>>, &'static str> {
    match dir.join(name).canonicalize() {
        Ok(path) => read_regular(&path, MAX_SETTINGS),
        Err(err) if is_missing(&err) => Ok(None),
        Err(_) => Err("cannot be read"),
    }
}

/// Reads a regular file of limited size at a path without links.
fn read_regular(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, &'static str> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err("cannot be read");
    };
    let bytes = Dir::open(folder).map_err(ReadError::Io).and_then(|folder| folder.read(name, limit));
    bytes.map_err(|err| match err {
        ReadError::NotAFile => "is not a regular file",
        ReadError::TooLarge { .. } => "is too large",
        ReadError::Io(_) => "cannot be read",
    })
}

/// Reads a value that the user vouches for; without a reason it is none.
fn allow_entry(entry: &toml::Value) -> Option<Allow> {
    let text = |key| entry.get(key).and_then(toml::Value::as_str);
    let reason = text("reason").filter(|reason| !reason.trim().is_empty())?.to_owned();
    Some(Allow { hash: text("hash")?.parse().ok()?, reason })
}

fn project_name(text: &str) -> Option<String> {
    let name = text.trim();
    let n_chars = name.chars().count();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    (1..=MAX_PROJECT_NAME).contains(&n_chars).then_some(())?;
    name.chars().all(is_plain).then(|| name.to_owned())
}

fn parse_toml(bytes: &[u8]) -> Option<toml::Table> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Returns the settings of a table with dotted keys.
fn flatten(table: &toml::Table) -> Vec<(String, &toml::Value)> {
    let mut settings = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) if !inner.is_empty() => {
                let inner = flatten(inner).into_iter();
                settings.extend(inner.map(|(rest, value)| (format!("{key}.{rest}"), value)));
            }
            _ => settings.push((key.clone(), value)),
        }
    }
    settings
}
