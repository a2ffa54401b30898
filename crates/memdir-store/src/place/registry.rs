//! The list of known projects, `$MEMDIR_HOME/projects.json`.
//!
//! A project's id is issued once and never changes: state, links between projects and history hang on it. So the
//! file is handled with care. What we do not understand in it is kept; a damaged file is never emptied, but put
//! aside and rebuilt from what is left in it and from the state directories. Reading never writes. Writing holds a
//! lock, reads again, and writes only if something changed. Look at [`Project`] first.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use memdir_core::hash::ContentHash;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use super::path::is_missing;
use super::warning::Warning;
use crate::disk::{Dir, EntryKind, ReadError};
use crate::lock::{Lock, LockError};

/// The registry's file name below the state root.
pub const REGISTRY: &str = "projects.json";
/// The version of the file that we write.
const VERSION: u64 = 1;
/// Largest registry we read: tens of thousands of projects.
const MAX_REGISTRY: u64 = 16 * 1024 * 1024;
/// How many digits of the hash an id has, more only where two would be equal.
const ID_DIGITS: usize = 6;
/// Longest id, so that it is a file name everywhere.
const MAX_ID: usize = 120;
/// Longest part of an id that comes from a name.
const MAX_ID_NAME: usize = 40;
/// How many beginnings of a project are tried in a damaged file.
const MAX_SALVAGE: usize = 100_000;

/// Identifies a project for good: `web-app-3f9a1c`. Safe as a file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ProjectId(String);

/// Says that a text cannot be a project's id.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is not a project id", .0.escape_debug())]
pub struct NotAProjectId(String);

impl ProjectId {
    /// Returns the id of the user vault, which belongs to no project.
    pub fn user() -> Self {
        Self("user".to_owned())
    }

    /// Issues an id from a name and from what identifies the project; `is_taken` makes it longer.
    pub fn issue(name: &str, evidence: &str, is_taken: impl Fn(&Self) -> bool) -> Self {
        let hash = ContentHash::of(evidence.as_bytes()).to_string();
        let name = id_name(name);
        let ids = (ID_DIGITS..=hash.len()).step_by(2).map(|n| Self(format!("{name}-{}", &hash[..n])));
        let last = Self(format!("{name}-{hash}"));
        ids.into_iter().find(|id| !is_taken(id)).unwrap_or(last)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ProjectId {
    type Err = NotAProjectId;

    fn from_str(text: &str) -> Result<Self, NotAProjectId> {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
        let is_id =
            !text.is_empty() && text.len() <= MAX_ID && text.bytes().all(is_plain) && !text.starts_with('-');
        if is_id { Ok(Self(text.to_owned())) } else { Err(NotAProjectId(text.to_owned())) }
    }
}

impl<'de> Deserialize<'de> for ProjectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Makes the readable part of an id: lower-case words joined by `-`.
fn id_name(name: &str) -> String {
    let mut slug = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug.truncate(MAX_ID_NAME);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

/// One project, with what it is recognised by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// Identifies it for good.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// Whether it is worked on.
    #[serde(default = "active")]
    pub state: String,
    /// Directories it was seen in: work trees, clones, places it was moved from.
    #[serde(default)]
    pub roots: Vec<PathBuf>,
    /// The directory that its work trees share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_common_dir: Option<PathBuf>,
    /// Addresses that identify it, in one spelling.
    #[serde(default)]
    pub remotes: Vec<String>,
    /// The commit that its history begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_commit: Option<String>,
    /// Names that Claude Code gave to its directories.
    #[serde(default)]
    pub claude_slugs: Vec<String>,
    /// Its vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<PathBuf>,
    /// Other directories whose memories were taken over.
    #[serde(default)]
    pub vaults_adopted: Vec<PathBuf>,
    /// The project that this one was joined to on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked_to: Option<ProjectId>,
    /// What other versions of memdir wrote.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

fn active() -> String {
    "active".to_owned()
}

impl Project {
    /// Makes a project of which nothing but its id and name is known.
    pub fn new(id: ProjectId, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            state: active(),
            roots: Vec::new(),
            git_common_dir: None,
            remotes: Vec::new(),
            root_commit: None,
            claude_slugs: Vec::new(),
            vault: None,
            vaults_adopted: Vec::new(),
            linked_to: None,
            other: Map::new(),
        }
    }

    /// Says whether nothing is known that a directory could be recognised by.
    pub fn is_anonymous(&self) -> bool {
        self.roots.is_empty()
            && self.git_common_dir.is_none()
            && self.remotes.is_empty()
            && self.root_commit.is_none()
    }
}

/// A project, or what somebody else wrote in the place of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Entry {
    Project(Box<Project>),
    Unread(Value),
}

/// All known projects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Registry {
    version: u64,
    projects: Vec<Entry>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Why the registry could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The file cannot be read.
    #[error("could not read {}", path.display())]
    Read { path: PathBuf, source: ReadError },
    /// The file or its directory cannot be written.
    #[error("could not write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// A newer memdir wrote the file.
    #[error("{} has version {version}, which this memdir cannot change", path.display())]
    Newer { path: PathBuf, version: u64 },
    /// No project has this id.
    #[error("no project is called `{0}`")]
    Unknown(ProjectId),
    /// A project cannot be joined to itself.
    #[error("`{0}` cannot be joined to itself")]
    Circle(ProjectId),
    /// Another process holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl Registry {
    /// Reads the registry below `home`; without a file it is empty. Never writes.
    pub fn load(home: &Path) -> Result<(Self, Vec<Warning>), RegistryError> {
        let path = home.join(REGISTRY);
        let Some(bytes) = read(home)? else { return Ok((Self::empty(), Vec::new())) };
        Ok(match Self::parse(&bytes, &path) {
            Some(parsed) => parsed,
            None => {
                let registry = Self::rebuild(&bytes, home);
                let n_saved = registry.projects.len();
                (registry, vec![Warning::RegistryBroken { path, n_saved }])
            }
        })
    }

    /// Changes the registry below `home` under its lock and returns what `change` returns. The file is written,
    /// durably, only if something changed.
    pub fn update<T, E: From<RegistryError>>(
        home: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<(T, Vec<Warning>), E> {
        let path = home.join(REGISTRY);
        let _lock = Lock::acquire(&home.join("locks"), "registry.lock").map_err(RegistryError::from)?;
        let write_error = |source| RegistryError::Write { path: path.clone(), source };
        let dir = Dir::open(home).map_err(write_error)?;
        // Whoever writes a file directly below the state root holds the lock.
        dir.sweep();
        let bytes = read(home)?;
        let (mut registry, mut warnings) = match &bytes {
            None => (Self::empty(), Vec::new()),
            Some(bytes) => match Self::parse(bytes, &path) {
                Some(parsed) => parsed,
                None => set_aside(&dir, bytes).map_err(write_error)?,
            },
        };
        if registry.version > VERSION {
            return Err(RegistryError::Newer { path, version: registry.version }.into());
        }
        let before = registry.clone();
        let answer = change(&mut registry)?;
        let was_damaged = warnings.iter().any(|warning| matches!(warning, Warning::RegistryReplaced { .. }));
        if registry != before || was_damaged {
            dir.replace(REGISTRY, registry.print().as_bytes()).map_err(write_error)?;
        }
        // Said already when it was read.
        warnings.retain(|warning| !matches!(warning, Warning::ProjectUnread { .. }));
        Ok((answer, warnings))
    }

    /// Returns the projects in the order of the file.
    pub fn projects(&self) -> impl Iterator<Item = &Project> {
        self.projects.iter().filter_map(|entry| match entry {
            Entry::Project(project) => Some(&**project),
            Entry::Unread(_) => None,
        })
    }

    /// Finds a project by its id.
    pub fn get(&self, id: &ProjectId) -> Option<&Project> {
        self.projects().find(|project| project.id == *id)
    }

    /// Finds the project whose vault is at `vault`.
    pub fn owner_of(&self, vault: &Path) -> Option<&Project> {
        self.projects().find(|project| project.vault.as_deref() == Some(vault))
    }

    /// Returns the project that `project` was joined to, or itself.
    pub fn joined<'r>(&'r self, project: &'r Project) -> &'r Project {
        let mut found = project;
        // No more steps than projects: a circle that somebody wrote by hand ends.
        for _ in 0..self.projects.len() {
            match found.linked_to.as_ref().and_then(|id| self.get(id)) {
                Some(next) => found = next,
                None => return found,
            }
        }
        project
    }

    /// Records a project under its id, in its old place if it has one.
    pub fn put(&mut self, project: Project) {
        let is_it = |entry: &&mut Entry| matches!(entry, Entry::Project(known) if known.id == project.id);
        match self.projects.iter_mut().find(is_it) {
            Some(entry) => *entry = Entry::Project(Box::new(project)),
            None => self.projects.push(Entry::Project(Box::new(project))),
        }
    }

    /// Joins the project `joined` to `main`: its directories use the memory of `main` from now on. Its own vault
    /// and state stay as they are.
    pub fn link(&mut self, main: &ProjectId, joined: &ProjectId) -> Result<(), RegistryError> {
        let find = |id: &ProjectId| self.get(id).ok_or_else(|| RegistryError::Unknown(id.clone()));
        let main = self.joined(find(main)?).id.clone();
        let mut project = find(joined)?.clone();
        if main == project.id {
            return Err(RegistryError::Circle(main));
        }
        project.linked_to = Some(main);
        self.put(project);
        Ok(())
    }

    fn empty() -> Self {
        Self { version: VERSION, projects: Vec::new(), other: Map::new() }
    }

    /// Reads the file's text; `None` if it is no registry at all.
    fn parse(bytes: &[u8], path: &Path) -> Option<(Self, Vec<Warning>)> {
        let Value::Object(mut map) = serde_json::from_slice(bytes).ok()? else { return None };
        let Some(Value::Array(entries)) = map.shift_remove("projects") else { return None };
        let version = map.shift_remove("version").map_or(Some(VERSION), |version| version.as_u64())?;
        let mut registry = Self { version, projects: Vec::with_capacity(entries.len()), other: map };
        let mut warnings = Vec::new();
        for entry in entries {
            match registry.read_project(&entry) {
                Ok(project) => registry.projects.push(Entry::Project(Box::new(project))),
                Err(why) => {
                    warnings.push(Warning::ProjectUnread { path: path.to_owned(), why });
                    registry.projects.push(Entry::Unread(entry));
                }
            }
        }
        Some((registry, warnings))
    }

    /// Reads one project, which must not share its state with another.
    fn read_project(&self, entry: &Value) -> Result<Project, String> {
        let project = Project::deserialize(entry).map_err(|err| err.to_string())?;
        if project.id == ProjectId::user() || self.get(&project.id).is_some() {
            return Err(format!("the id `{}` is taken", project.id));
        }
        Ok(project)
    }

    /// Saves what can be saved: whole projects in the damaged text, then state directories nobody names.
    fn rebuild(bytes: &[u8], home: &Path) -> Self {
        let mut registry = Self::empty();
        for project in salvage(&String::from_utf8_lossy(bytes)) {
            if registry.get(&project.id).is_none() {
                registry.put(project);
            }
        }
        for id in state_dirs(home) {
            if registry.get(&id).is_none() {
                let name = id.as_str().rsplit_once('-').map_or(id.as_str(), |(name, _)| name).to_owned();
                registry.put(Project::new(id, &name));
            }
        }
        registry
    }

    fn print(&self) -> String {
        let text = serde_json::to_string_pretty(self)
            .expect("paths are checked to be UTF-8 before they are recorded");
        text + "\n"
    }
}

fn read(home: &Path) -> Result<Option<Vec<u8>>, RegistryError> {
    let error = |source| RegistryError::Read { path: home.join(REGISTRY), source };
    match Dir::open(home) {
        Ok(dir) => dir.read(REGISTRY, MAX_REGISTRY).map_err(error),
        Err(err) if is_missing(&err) => Ok(None),
        Err(err) => Err(error(err.into())),
    }
}

/// Keeps a copy of a damaged registry, durably, before a new one takes its place.
fn set_aside(dir: &Dir, bytes: &[u8]) -> io::Result<(Registry, Vec<Warning>)> {
    let name = format!("{REGISTRY}.broken-{}", ContentHash::of(bytes).short());
    dir.replace(&name, bytes)?;
    let registry = Registry::rebuild(bytes, dir.path());
    let n_saved = registry.projects.len();
    Ok((registry, vec![Warning::RegistryReplaced { aside: dir.path().join(name), n_saved }]))
}

/// Finds the projects that are still whole in a damaged text.
fn salvage(text: &str) -> Vec<Project> {
    let mut projects = Vec::new();
    let mut at = 0;
    for _ in 0..MAX_SALVAGE {
        let Some(brace) = text[at..].find('{') else { break };
        at += brace;
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Project>();
        match stream.next() {
            Some(Ok(project)) => {
                projects.push(project);
                at += stream.byte_offset();
            }
            _ => at += 1,
        }
    }
    projects
}

fn state_dirs(home: &Path) -> Vec<ProjectId> {
    let mut ids = Vec::new();
    let listed = Dir::open(home).and_then(|home| home.sub("projects")).and_then(|dir| {
        dir.for_each(|name, kind| {
            if kind == EntryKind::Dir
                && let Ok(id) = name.parse()
                && id != ProjectId::user()
            {
                ids.push(id);
            }
        })
    });
    if listed.is_err() {
        ids.clear();
    }
    ids.sort();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_readable_name_and_six_digits_of_a_hash() {
        let issue = |name: &str| ProjectId::issue(name, "github.com/acme/web-app", |_| false).to_string();
        assert_eq!(issue("Web_App 2.0"), "web-app-2-0-de5c45");
        assert_eq!(issue("한국어"), "project-de5c45");
        assert_eq!(issue("../../etc"), "etc-de5c45");
        assert_eq!(issue(&"long ".repeat(20)).len(), 39 + 7);
    }

    #[test]
    fn an_id_that_is_taken_gets_more_digits_to_the_end() {
        let short = ProjectId::issue("web", "x", |_| false);
        let next = ProjectId::issue("web", "x", |id| *id == short);
        assert!(next.as_str().starts_with(short.as_str()) && next != short);
        assert_eq!(ProjectId::issue("web", "x", |_| true).as_str().len(), "web-".len() + 64);
    }

    #[test]
    fn only_what_is_safe_as_a_file_name_is_an_id() {
        let long = "x".repeat(121);
        for bad in ["", ".", "..", "a/b", "../x", "-x", "A", "a b", "a\0", "ä", "a.b", &long] {
            assert!(bad.parse::<ProjectId>().is_err(), "{bad:?}");
        }
        for good in ["user", "web-app-3f9a1c", "a_b", "0"] {
            assert_eq!(good.parse::<ProjectId>().unwrap().as_str(), good);
        }
    }

    #[test]
    fn whole_projects_are_found_in_a_damaged_text() {
        let project = |id: &str| format!(r#"{{"id": "{id}", "name": "n", "doc_sync": {{"id": "inner"}}}}"#);
        let (a, b) = (project("a-1"), project("b-2"));
        let ids = |text: &str| salvage(text).iter().map(|project| project.id.to_string()).collect::<Vec<_>>();
        assert_eq!(ids(&format!(r#"{{"version": 1, "projects": [{a}, {b}"#)), ["a-1", "b-2"]);
        assert_eq!(ids(&format!("<<<<<<< ours\n{a}\n=======\n{b}\n>>>>>>>")), ["a-1", "b-2"]);
        assert_eq!(ids(&format!(r#"{{"projects": [{}, {b}]}}"#, &a[..20])), ["b-2"]);
        assert_eq!(ids(&"{".repeat(200_000)), [""; 0]);
    }

    #[test]
    fn a_circle_of_joined_projects_ends() {
        let mut registry = Registry::empty();
        for (id, to) in [("a", "b"), ("b", "a"), ("c", "nobody")] {
            let mut project = Project::new(id.parse().unwrap(), id);
            project.linked_to = Some(to.parse().unwrap());
            registry.put(project);
        }
        for project in registry.projects() {
            registry.joined(project);
        }
    }
}
