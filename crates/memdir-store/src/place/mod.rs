//! Where a vault is, and which project it belongs to.
//!
//! [`locate`] answers from an [`Environment`] and from files, and writes nothing: whoever only reads a vault needs
//! no more. Who writes calls [`register`] with the [`Place`] first, which records what is new about the project.
//!
//! The vault is the first of: the one named explicitly, the one of a cowork session, a setting, the directory of
//! Claude Code by its variables, and by default the directory that Claude Code uses for the repository's main work
//! tree or, outside git, for the directory itself. State follows the vault: a project recognised by its directory
//! owns the default vault it had first, wherever the directory moves; a vault from any other step has an entry of
//! its own in the registry, so two vaults never share history, and two projects never share a vault unseen.
//!
//! A default vault that another project already owns (`/a/b-c` and `/a/b/c` have one slug) is not shared either:
//! the second project's vault is `$MEMDIR_HOME/vaults/<id>`.

pub mod env;
pub mod git;
pub mod registry;
pub mod settings;
pub mod slug;

mod documents;
mod error;
mod git_config;
mod identity;
mod orphans;
mod path;
mod remote;
mod settle;
mod transcripts;
mod vault_dir;
mod warning;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use env::{Environment, SessionDirs};
pub use error::LocateError;
pub use orphans::{Certainty, Orphan, OrphanKind, orphans};
pub use registry::{Project, ProjectId, Registry, RegistryError};
pub use vault_dir::create as create_vault;
pub use warning::{Ignored, Warning};

use env::set;
use git::{Ground, Repository};
use identity::Sighting;
use settings::{ClaudeSettings, RepositorySettings, UserSettings};
use settle::{Claim, Standing, settle};

/// A vault and the project it belongs to.
#[derive(Debug, Clone)]
pub struct Place {
    /// The state root.
    pub home: PathBuf,
    /// The project, as it is or will be registered.
    pub project: Project,
    /// The vault's directory, which may not exist yet.
    pub vault: PathBuf,
    /// How the vault was found.
    pub found_by: FoundBy,
    /// Whether the user named this vault: then everything happens inside it.
    pub explicit: bool,
    /// Whether memory is switched off here: then nothing is read or written.
    pub off: bool,
    /// Whether Claude Code uses this very directory and loads its index page by itself.
    pub host_loads: bool,
    /// The work tree or directory the command acts for; not looked at if a flag names the vault.
    pub dir: Option<PathBuf>,
    /// The repository around it.
    pub repository: Option<Repository>,
    /// The user's settings.
    pub settings: UserSettings,
    /// Where agents keep the files of their sessions; nowhere if a flag names the vault.
    pub session_dirs: SessionDirs,
    /// What the user should hear about.
    pub warnings: Vec<Warning>,
    claim: Claim,
    claude_projects: Option<PathBuf>,
    standing: Standing,
}

/// The step that decided where the vault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBy {
    /// `--vault` or `MEMDIR_VAULT`.
    Explicit,
    /// `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE`.
    Cowork,
    /// A setting of the repository that names a directory inside it.
    RepositorySetting,
    /// `autoMemoryDirectory` in the user's settings of Claude Code.
    UserSetting,
    /// `CLAUDE_CONFIG_DIR` with `CLAUDE_CODE_PROJECT_DIR_NAME`.
    ProjectDirName,
    /// The registry: the vault that the project had first.
    Registry,
    /// The slug of the repository's main work tree.
    GitRoot,
    /// The slug of the directory.
    Directory,
    /// A directory below the state root, because another project has the slug.
    OwnDirectory,
}

impl FoundBy {
    /// Says whether Claude Code comes to the same directory by this step.
    fn is_hosts(self) -> bool {
        !matches!(self, Self::Explicit | Self::Registry | Self::OwnDirectory)
    }
}

impl Place {
    /// Returns the directory of the vault's state.
    pub fn state_dir(&self) -> PathBuf {
        self.home.join("projects").join(self.project.id.as_str())
    }

    /// Returns the user vault, which belongs to no project.
    pub fn user_vault(&self) -> PathBuf {
        self.home.join(vault_dir::USER)
    }

    /// Says whether the registry holds all that is known about the project.
    pub fn is_registered(&self) -> bool {
        self.standing == Standing::Registered
    }
}

/// Finds the vault and its project. Creates and changes nothing.
pub fn locate(env: &Environment) -> Result<Place, LocateError> {
    if env.vault_flag.is_some() {
        return locate_by_flag(env);
    }
    let ground = match env.project_dir() {
        Ok(dir) => Some(Ground::around(&dir)),
        // A vault that is named needs no directory to act for.
        Err(_) if set(&env.vault).is_some() => None,
        Err(err) => return Err(err),
    };
    let shipped = match &ground {
        Some(ground) => RepositorySettings::load(ground, set(&env.home)),
        None => RepositorySettings::default(),
    };
    let (env, removed) = env.without_shipped(&shipped.env);
    let place = locate_around(&env, ground, shipped, &removed);
    place.map_err(|err| match err {
        LocateError::NoHome if removed.contains(&"HOME") => LocateError::ShippedHome,
        err => err,
    })
}

/// Returns the variables that the repository around the working directory has agents set for the programs they start.
///
/// Whoever takes a key, an address or a program from the environment asks whether the value is one of these: then it is
/// the repository that says it, and it may not.
pub fn shipped_variables(env: &Environment) -> BTreeMap<String, String> {
    let ground = env.project_dir().ok().map(|dir| Ground::around(&dir));
    ground.map(|ground| RepositorySettings::load(&ground, set(&env.home)).env).unwrap_or_default()
}

/// Records what is new about the project of `place`, and returns the place as it is then.
///
/// Nothing is written if nothing is new, or if memory is off. Two processes that register one new project at a
/// time get the same answer.
pub fn register(place: &Place) -> Result<Place, LocateError> {
    if place.off {
        return Ok(place.clone());
    }
    // Before the lock is taken: git may take seconds.
    let has_learned = learn_commit(place);
    if place.is_registered() && !has_learned {
        return Ok(place.clone());
    }
    let (settled, warnings) = Registry::update(&place.home, |registry| -> Result<_, LocateError> {
        let settled = settle(registry, &place.claim, &place.home, place.claude_projects.as_deref());
        vault_dir::check(&settled.vault, &place.home)?;
        if settled.standing != Standing::Registered {
            registry.put(settled.project.clone());
        }
        Ok(settled)
    })?;
    let mut registered = place.clone();
    registered.warnings.retain(|warning| !matches!(warning, Warning::RegistryBroken { .. }));
    registered.warnings.extend(warnings);
    for warning in settled.warnings {
        if !registered.warnings.contains(&warning) {
            registered.warnings.push(warning);
        }
    }
    registered.vault = settled.vault;
    registered.found_by = settled.found_by;
    registered.project = settled.project;
    registered.standing = Standing::Registered;
    Ok(registered)
}

/// Records that the memories at `path` were taken over, so that they are not offered again.
pub fn record_adopted(place: &Place, path: &Path) -> Result<(), LocateError> {
    Registry::update(&place.home, |registry| {
        let id = &place.project.id;
        let mut project = registry.get(id).cloned().ok_or_else(|| RegistryError::Unknown(id.clone()))?;
        if !project.vaults_adopted.iter().any(|known| known == path) {
            project.vaults_adopted.push(path.to_owned());
        }
        registry.put(project);
        Ok::<(), LocateError>(())
    })?;
    Ok(())
}

/// Asks git for the first commit where it is worth it, and says whether there was one.
fn learn_commit(place: &Place) -> bool {
    let Claim::Directory(seen) = &place.claim else { return false };
    seen.should_ask_for_commit(&place.project, place.standing == Standing::New)
        && seen.root_commit().is_some()
}

fn locate_by_flag(env: &Environment) -> Result<Place, LocateError> {
    let Some(flag) = set(&env.vault_flag) else { return Err(LocateError::EmptyFlag("--vault")) };
    let home = private_home(env)?;
    let (settings, ignored) = UserSettings::load(&home);
    let vault = check(env, flag, &home, settings.off)?;
    let claim = Claim::Vault { name: vault_name(&vault), path: vault, found_by: FoundBy::Explicit };
    let mut draft = Draft { home, settings, ..Draft::default() };
    draft.warn(Warning::Settings, ignored);
    draft.finish(claim)
}

fn locate_around(
    env: &Environment,
    ground: Option<Ground>,
    mut shipped: RepositorySettings,
    removed: &[&str],
) -> Result<Place, LocateError> {
    let home = private_home(env)?;
    let (mut settings, mut ignored) = UserSettings::load(&home);
    settings.review = settings.review.max(shipped.review);
    let claude_dir = env.claude_dir().ok();
    let (claude, more) = claude_dir.as_deref().map(ClaudeSettings::load).unwrap_or_default();
    ignored.extend(more);
    ignored.extend(env.ignored());
    shipped.ignored.extend(removed.iter().map(|name| Ignored {
        file: "its `env` for agents".to_owned(),
        key: (*name).to_owned(),
        why: "is not for a repository to decide",
    }));
    let off = settings.off || shipped.off;
    if !off {
        shipped.drop_unusable_vault(&home);
    }
    let seen = ground.as_ref().map(|ground| sighting(env, ground, &shipped));
    let claim = match named_vault(env, &shipped, &claude)? {
        Some((path, found_by)) => {
            let path = check(env, &path, &home, off)?;
            let name = match (seen, found_by) {
                (Some(seen), FoundBy::RepositorySetting | FoundBy::ProjectDirName) => seen.name,
                _ => vault_name(&path),
            };
            Claim::Vault { path, name, found_by }
        }
        None => directory_claim(env, seen)?,
    };
    let host_memory = shipped.memory_enabled.or(claude.memory_enabled).unwrap_or(true)
        && shipped.vault.as_ref().is_none_or(|vault| vault.is_hosts);
    let claude_projects = claude_dir.map(|dir| dir.join("projects"));
    let session_dirs = env.session_dirs();
    let mut draft =
        Draft { home, settings, off, host_memory, ground, claude_projects, session_dirs, ..Draft::default() };
    draft.warn(Warning::Repository, shipped.ignored);
    draft.warn(Warning::Settings, ignored);
    draft.finish(claim)
}

/// Returns the first vault that a variable or a setting names, in the order of the module's paragraph.
fn named_vault(
    env: &Environment,
    shipped: &RepositorySettings,
    claude: &ClaudeSettings,
) -> Result<Option<(PathBuf, FoundBy)>, LocateError> {
    if let Some(path) = set(&env.vault) {
        return Ok(Some((path.to_owned(), FoundBy::Explicit)));
    }
    if let Some(path) = set(&env.cowork_override) {
        return Ok(Some((path.to_owned(), FoundBy::Cowork)));
    }
    if let Some(vault) = &shipped.vault {
        return Ok(Some((vault.path.clone(), FoundBy::RepositorySetting)));
    }
    if let Some(path) = claude.user_memory_dir(env)? {
        return Ok(Some((path, FoundBy::UserSetting)));
    }
    Ok(env.claude_project_dir().map(|dir| (dir.join("memory"), FoundBy::ProjectDirName)))
}

/// Claims the default vault of a directory, which can be recorded only if its paths are text.
fn directory_claim(env: &Environment, seen: Option<Sighting>) -> Result<Claim, LocateError> {
    // Without it there is no directory of Claude Code to look for.
    env.claude_dir()?;
    let seen = seen.ok_or_else(|| LocateError::NoDirectory { path: env.cwd.clone() })?;
    let paths = [Some(&seen.root), Some(&seen.work_tree), seen.common_dir.as_ref()];
    if let Some(path) = paths.into_iter().flatten().find(|path| path.to_str().is_none()) {
        return Err(LocateError::NotUtf8 { path: path.clone() });
    }
    Ok(Claim::Directory(Box::new(seen)))
}

fn private_home(env: &Environment) -> Result<PathBuf, LocateError> {
    let home = env.state_root()?;
    vault_dir::check_private(&home)?;
    Ok(home)
}

/// Checks a vault that somebody named; one that is off is not even looked at.
fn check(env: &Environment, path: &Path, home: &Path, off: bool) -> Result<PathBuf, LocateError> {
    let path = env.cwd.join(path);
    if off { Ok(path) } else { vault_dir::check(&path, home) }
}

fn sighting(env: &Environment, ground: &Ground, shipped: &RepositorySettings) -> Sighting {
    let mut seen = Sighting::of(ground, env.search_path.clone());
    if let Some(name) = &shipped.project {
        seen.name.clone_from(name);
        seen.is_named = true;
    }
    seen
}

/// Names a vault by its directory; Claude Code's are all called `memory`, their folders are not.
fn vault_name(vault: &Path) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let parent = || vault.parent().and_then(name);
    let own = name(vault).filter(|name| name != "memory");
    own.or_else(parent).unwrap_or_else(|| "memory".to_owned())
}

/// A place on the way to being found.
#[derive(Default)]
struct Draft {
    home: PathBuf,
    settings: UserSettings,
    off: bool,
    host_memory: bool,
    ground: Option<Ground>,
    claude_projects: Option<PathBuf>,
    session_dirs: SessionDirs,
    warnings: Vec<Warning>,
}

impl Draft {
    fn warn(&mut self, warning: fn(Vec<Ignored>) -> Warning, ignored: Vec<Ignored>) {
        if !ignored.is_empty() {
            self.warnings.push(warning(ignored));
        }
    }

    fn finish(self, claim: Claim) -> Result<Place, LocateError> {
        let (registry, registry_warnings) = Registry::load(&self.home)?;
        let settled = settle(&registry, &claim, &self.home, self.claude_projects.as_deref());
        let off = self.off || self.settings.off;
        let vault = if off { settled.vault } else { vault_dir::check(&settled.vault, &self.home)? };
        let mut warnings = self.warnings;
        warnings.extend(registry_warnings);
        warnings.extend(settled.warnings);
        let (dir, repository) =
            self.ground.map_or((None, None), |ground| (Some(ground.dir), ground.repository));
        Ok(Place {
            project: settled.project,
            vault,
            found_by: settled.found_by,
            explicit: settled.found_by == FoundBy::Explicit,
            off,
            host_loads: self.host_memory && settled.found_by.is_hosts(),
            dir,
            repository,
            settings: self.settings,
            session_dirs: self.session_dirs,
            warnings,
            claim,
            claude_projects: self.claude_projects,
            standing: settled.standing,
            home: self.home,
        })
    }
}
