//! Compares what was seen with what is registered: which project owns a vault, and which vault a project has.
//!
//! It decides and records nothing: the answer is [`Settled`], with the project as it should be registered. Two
//! things hold whatever the registry says: a vault has one owner, and an id once issued stays.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::identity::{Sighting, recognise};
use super::registry::{Project, ProjectId, Registry};
use super::slug::Slug;
use super::warning::Warning;
use super::{FoundBy, orphans, path, vault_dir};

/// By what a vault belongs to a project.
#[derive(Debug, Clone)]
pub(super) enum Claim {
    /// By its path alone.
    Vault { path: PathBuf, name: String, found_by: FoundBy },
    /// As the default vault of a directory.
    Directory(Box<Sighting>),
}

/// How what is known of a project compares with the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has no entry yet.
    New,
    /// Its entry lacks something.
    Changed,
    /// Its entry says it all.
    Registered,
}

/// A claim compared with what is registered.
pub(super) struct Settled {
    /// The project as it should be registered.
    pub(super) project: Project,
    /// The vault.
    pub(super) vault: PathBuf,
    /// How the vault was found.
    pub(super) found_by: FoundBy,
    /// Whether the project is registered like that already.
    pub(super) standing: Standing,
    /// What the user should hear about.
    pub(super) warnings: Vec<Warning>,
}

/// Finds the project of a claim and its vault.
pub(super) fn settle(
    registry: &Registry,
    claim: &Claim,
    home: &Path,
    claude_projects: Option<&Path>,
) -> Settled {
    match claim {
        Claim::Vault { path, name, found_by } => settle_vault(registry, path, name, *found_by, home),
        Claim::Directory(seen) => settle_directory(registry, seen, home, claude_projects.unwrap_or(home)),
    }
}

/// Finds the project of a vault that was named by its path: whoever owns it, else an entry of its own.
fn settle_vault(registry: &Registry, vault: &Path, name: &str, found_by: FoundBy, home: &Path) -> Settled {
    let settled = |project, standing| {
        let vault = vault.to_owned();
        Settled { project, vault, found_by, standing, warnings: Vec::new() }
    };
    if vault == home.join(vault_dir::USER) {
        return settled(Project::new(ProjectId::user(), "user"), Standing::Registered);
    }
    if let Some(owner) = registry.owner_of(vault) {
        return settled(owner.clone(), Standing::Registered);
    }
    let mut project = new_project(registry, name, &vault.to_string_lossy());
    project.vault = Some(vault.to_owned());
    settled(project, Standing::New)
}

/// Finds the project of a directory, and its default vault.
fn settle_directory(registry: &Registry, seen: &Sighting, home: &Path, claude_projects: &Path) -> Settled {
    let default = default_vault(registry, seen, claude_projects);
    let mut project = project_of(registry, seen, &default, claude_projects);
    let mut warnings = Vec::new();
    let vault = match kept_vault(registry, &project, claude_projects) {
        Some(vault) => vault,
        None => match registry.owner_of(&default).filter(|owner| owner.id != project.id) {
            None => default.clone(),
            Some(owner) => {
                let vault = home.join(vault_dir::VAULTS).join(project.id.as_str());
                let (slug, by) = (Slug::of(&seen.root.to_string_lossy()).own(), owner.id.clone());
                warnings.push(Warning::SlugTaken { slug, by, vault: vault.clone() });
                vault
            }
        },
    };
    project.vault = Some(vault.clone());
    let found_by = match () {
        () if vault == default && seen.common_dir.is_some() => FoundBy::GitRoot,
        () if vault == default => FoundBy::Directory,
        () if vault.starts_with(home) => FoundBy::OwnDirectory,
        () => FoundBy::Registry,
    };
    let standing = match registry.get(&project.id) {
        None => Standing::New,
        Some(known) if *known == project => Standing::Registered,
        Some(_) => Standing::Changed,
    };
    Settled { project, vault, found_by, standing, warnings }
}

/// Returns the project of a directory with what was seen added, or a new one.
fn project_of(registry: &Registry, seen: &Sighting, default: &Path, claude_projects: &Path) -> Project {
    let known: Vec<&Project> =
        registry.projects().filter(|project| !is_of_another_config(project, claude_projects)).collect();
    // A vault that was named by its path before its directory was seen.
    let anonymous = || registry.owner_of(default).filter(|owner| owner.is_anonymous());
    let mut project = match recognise(&known, seen).or_else(anonymous) {
        // Its own entry knows the directory; the one it was joined to need not.
        Some(project) if project.linked_to.is_some() => return registry.joined(project).clone(),
        Some(project) => project.clone(),
        None => new_project(registry, &seen.name, seen.evidence()),
    };
    if project.is_anonymous() || seen.is_named {
        project.name.clone_from(&seen.name);
    }
    seen.add_to(&mut project);
    project
}

/// Returns the vault that a project had before, if it is still its own and of this configuration of Claude Code.
fn kept_vault(registry: &Registry, project: &Project, claude_projects: &Path) -> Option<PathBuf> {
    let vault = project.vault.as_ref()?;
    let is_its_own = registry.owner_of(vault).is_some_and(|owner| owner.id == project.id);
    let is_gone = is_elsewhere(vault, claude_projects) && !vault.exists();
    (is_its_own && !is_gone).then(|| vault.clone())
}

/// Issues an id; one that belongs to a state directory nobody claimed since the registry was rebuilt is taken up.
fn new_project(registry: &Registry, name: &str, evidence: &str) -> Project {
    let is_free = |project: &Project| project.is_anonymous() && project.vault.is_none();
    let id = ProjectId::issue(name, evidence, |id| registry.get(id).is_some_and(|project| !is_free(project)));
    let mut project = registry.get(&id).cloned().unwrap_or_else(|| Project::new(id, name));
    project.name = name.to_owned();
    project
}

/// Says whether a project's vault is in use below another configuration directory of Claude Code: the same
/// repository has another memory there.
fn is_of_another_config(project: &Project, claude_projects: &Path) -> bool {
    project.vault.as_ref().is_some_and(|vault| is_elsewhere(vault, claude_projects) && vault.exists())
}

fn is_elsewhere(vault: &Path, claude_projects: &Path) -> bool {
    let folder = |n: usize| vault.ancestors().nth(n);
    let is_claudes = vault.file_name() == Some(OsStr::new("memory"))
        && folder(2).and_then(Path::file_name) == Some(OsStr::new("projects"));
    is_claudes && folder(2) != Some(claude_projects)
}

/// Returns the directory that Claude Code uses for the main work tree.
fn default_vault(registry: &Registry, seen: &Sighting, claude_projects: &Path) -> PathBuf {
    let slug = Slug::of(&seen.root.to_string_lossy());
    let folder = if slug.is_cut() { orphans::find_cut(registry, seen, &slug, claude_projects) } else { None };
    let folder = claude_projects.join(folder.unwrap_or_else(|| slug.own()));
    // Only the folder: a link in the vault's own place is refused, not followed.
    path::resolve(&folder).unwrap_or(folder).join("memory")
}
