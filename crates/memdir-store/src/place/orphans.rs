//! Memory directories that a project left behind.
//!
//! Claude Code names a directory's memory after its path, so a moved repository, an old version that gave every
//! work tree and sub-directory a memory of its own, or a setting that was changed leave memories where nobody
//! looks. [`orphans`] finds them and says how sure it is. It takes nothing over: that is a change like any other.

use std::fs;
use std::path::{Path, PathBuf};

use memdir_core::memory::INDEX_PAGE;

use super::identity::Sighting;
use super::registry::{Project, Registry};
use super::slug::Slug;
use super::transcripts::{self, Testimony};
use super::{Claim, LocateError, Place};

/// A memory directory, or an index page, that probably belongs to a project but is not its vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The directory; for [`OrphanKind::IndexPage`] the file.
    pub path: PathBuf,
    /// What left it behind.
    pub kind: OrphanKind,
    /// How sure it is that it belongs to the project.
    pub certainty: Certainty,
}

/// What left an orphan behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrphanKind {
    /// A directory that the project is or was in: another work tree, a clone, a place it was moved from.
    FormerRoot,
    /// A directory below one of them.
    SubDirectory,
    /// The vault of a project that was joined to this one.
    JoinedProject,
    /// A `MEMORY.md` beside a memory directory, as very old versions had it: to be imported only.
    IndexPage,
}

/// How sure it is that an orphan belongs to the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The registry or a transcript says so.
    Certain,
    /// Its name fits, but the name fits other directories too.
    Possible,
}

/// Finds what the project of `place` left behind, sorted by path. A vault that was named explicitly has nothing to
/// do with other directories.
pub fn orphans(place: &Place) -> Result<Vec<Orphan>, LocateError> {
    let Some(claude_projects) = place.claude_projects.as_deref().filter(|_| !place.explicit) else {
        return Ok(Vec::new());
    };
    let (registry, _) = Registry::load(&place.home)?;
    let search = Search::new(place, &registry);
    let mut found = Vec::new();
    for folder in folders(claude_projects) {
        search.look_into(&folder, &mut found);
    }
    for joined in search.joined.iter().filter_map(|project| project.vault.as_ref()) {
        let is_new = !found.iter().any(|orphan| orphan.path == *joined) && search.is_free(joined);
        if is_new && holds_memories(joined) {
            let (kind, certainty) = (OrphanKind::JoinedProject, Certainty::Certain);
            found.push(Orphan { path: joined.clone(), kind, certainty });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Finds the folder of a directory whose slug is cut. Its name begins like that of any neighbour, so it counts
/// only if no other project has it and no transcript speaks against it.
pub(super) fn find_cut(
    registry: &Registry,
    seen: &Sighting,
    slug: &Slug,
    claude_projects: &Path,
) -> Option<String> {
    let roots = [seen.root.clone(), seen.work_tree.clone()];
    let mut silent = Vec::new();
    for folder in folders(claude_projects) {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let owner = registry.owner_of(&folder.join("memory"));
        let is_others = owner.is_some_and(|owner| !owner.roots.contains(&seen.root) && !owner.is_anonymous());
        if !slug.is(name) || is_others {
            continue;
        }
        match transcripts::ask(&folder, &roots) {
            Testimony::For => return Some(name.to_owned()),
            Testimony::Silent => silent.push(name.to_owned()),
            Testimony::Against => {}
        }
    }
    silent.pop().filter(|_| silent.is_empty())
}

/// What is looked for in each folder of Claude Code.
struct Search<'p> {
    registry: &'p Registry,
    place: &'p Place,
    joined: Vec<&'p Project>,
    roots: Vec<PathBuf>,
    slugs: Vec<Slug>,
    names: Vec<&'p str>,
}

impl<'p> Search<'p> {
    fn new(place: &'p Place, registry: &'p Registry) -> Self {
        let is_joined = |project: &&Project| {
            project.linked_to.is_some() && registry.joined(project).id == place.project.id
        };
        let joined: Vec<&Project> = registry.projects().filter(is_joined).collect();
        let mut roots = place.project.roots.clone();
        roots.extend(joined.iter().flat_map(|project| project.roots.clone()));
        roots.extend(place.repository.iter().flat_map(|repository| repository.linked_work_trees()));
        roots.extend(place.repository.iter().map(|repository| repository.root.clone()));
        roots.extend(place.dir.clone());
        if let Claim::Directory(seen) = &place.claim {
            roots.push(seen.root.clone());
        }
        roots.sort();
        roots.dedup();
        let slugs = roots.iter().map(|root| Slug::of(&root.to_string_lossy())).collect();
        let projects = std::iter::once(&place.project).chain(joined.iter().copied());
        let names = projects.flat_map(|project| &project.claude_slugs).map(String::as_str).collect();
        Self { registry, place, joined, roots, slugs, names }
    }

    fn look_into(&self, folder: &Path, found: &mut Vec<Orphan>) {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return };
        let is_known = self.names.contains(&name) || self.slugs.iter().any(|slug| slug.is(name));
        let is_below = self.slugs.iter().any(|slug| slug.begins(name));
        if !is_known && !is_below {
            return;
        }
        let kind = if is_known { OrphanKind::FormerRoot } else { OrphanKind::SubDirectory };
        let certainty = match (kind, transcripts::ask(folder, &self.roots)) {
            (_, Testimony::For) | (OrphanKind::FormerRoot, Testimony::Silent) => Certainty::Certain,
            (OrphanKind::SubDirectory, Testimony::Against) => return,
            _ => Certainty::Possible,
        };
        let memory = folder.join("memory");
        if self.is_free(&memory) && holds_memories(&memory) {
            found.push(Orphan { path: memory, kind, certainty });
        }
        let page = folder.join(INDEX_PAGE);
        if is_regular(&page) && !self.place.project.vaults_adopted.contains(&page) {
            found.push(Orphan { path: page, kind: OrphanKind::IndexPage, certainty });
        }
    }

    /// Says whether a directory is nobody's vault, or that of a joined project, and was not taken over already.
    fn is_free(&self, vault: &Path) -> bool {
        let owner = self.registry.owner_of(vault);
        let is_others = owner.is_some_and(|owner| !self.joined.iter().any(|joined| joined.id == owner.id));
        vault != self.place.vault
            && !is_others
            && !self.place.project.vaults_adopted.iter().any(|v| v == vault)
    }
}

/// Returns the folders of Claude Code, sorted; links are passed over.
fn folders(claude_projects: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(claude_projects) else { return Vec::new() };
    let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> =
        entries.filter_map(Result::ok).filter(is_dir).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Says whether a real directory has at least one markdown file in it.
fn holds_memories(dir: &Path) -> bool {
    let is_dir = fs::symlink_metadata(dir).is_ok_and(|metadata| metadata.is_dir());
    let Some(entries) = is_dir.then(|| fs::read_dir(dir).ok()).flatten() else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        entry.file_name().as_encoded_bytes().ends_with(b".md")
            && entry.file_type().is_ok_and(|kind| kind.is_file())
    })
}
