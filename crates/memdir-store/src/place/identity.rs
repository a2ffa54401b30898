//! Which known project a directory belongs to.
//!
//! A project survives being moved, cloned and checked out twice, so a path does not identify it. The rules, the
//! stronger first: the same git directory; the same remote; the same first commit where neither side has a
//! remote; the same path where there is no git to ask. Forks and templates share a first commit but not a remote,
//! and stay apart. [`Sighting`] is what can be seen now, [`recognise`] compares it with what is known.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::git::{Ground, Repository};
use super::registry::Project;
use super::slug::Slug;

/// How many directories of a project are remembered after they are gone.
const MAX_ROOTS: usize = 64;

/// What can be seen of a directory that its project may be recognised by.
#[derive(Debug, Clone)]
pub(super) struct Sighting {
    /// The project's main directory.
    pub(super) root: PathBuf,
    /// The directory we are in: another work tree, or the same.
    pub(super) work_tree: PathBuf,
    /// The directory that all work trees share.
    pub(super) common_dir: Option<PathBuf>,
    /// The address that identifies the repository.
    pub(super) remote: Option<String>,
    /// What to call the project if it is new.
    pub(super) name: String,
    /// Whether the repository says what it is called.
    pub(super) is_named: bool,
    repository: Option<Repository>,
    search_path: Option<OsString>,
    /// Asked for only where it decides something, because git has to run for it.
    root_commit: OnceLock<Option<String>>,
}

impl Sighting {
    /// Notes what can be seen on `ground`; git is looked for on `search_path`.
    pub(super) fn of(ground: &Ground, search_path: Option<OsString>) -> Self {
        let repository = ground.repository.clone();
        let root = repository.as_ref().map_or(&ground.dir, |repository| &repository.root).clone();
        let remote = repository.as_ref().and_then(Repository::remote).map(str::to_owned);
        Self {
            name: name_of(remote.as_deref(), &root),
            is_named: false,
            work_tree: ground.dir.clone(),
            common_dir: repository.as_ref().map(|repository| repository.common_dir.clone()),
            root,
            remote,
            repository,
            search_path,
            root_commit: OnceLock::new(),
        }
    }

    /// Returns the commit that the history begins with.
    pub(super) fn root_commit(&self) -> Option<&str> {
        let ask = || self.repository.as_ref()?.root_commit(self.search_path.as_deref());
        self.root_commit.get_or_init(ask).as_deref()
    }

    /// Returns what an id is made from: the remote, else the first commit, else the path.
    pub(super) fn evidence(&self) -> &str {
        let path = || self.root.to_str().unwrap_or_default();
        self.remote.as_deref().or_else(|| self.root_commit()).unwrap_or_else(path)
    }

    /// Adds what was seen to what is known of `project`. What it was recognised by before is kept.
    pub(super) fn add_to(&self, project: &mut Project) {
        for dir in [&self.root, &self.work_tree] {
            add(&mut project.roots, dir);
            add(&mut project.claude_slugs, &Slug::of(&dir.to_string_lossy()).own());
        }
        forget_vanished(project);
        if let Some(remote) = &self.remote {
            add(&mut project.remotes, remote);
        }
        let is_gone = |dir: &PathBuf| !dir.exists();
        if project.git_common_dir.as_ref().is_none_or(is_gone) && self.common_dir.is_some() {
            project.git_common_dir.clone_from(&self.common_dir);
        }
        // If it was asked for: a reader does not start git to know more than it needs.
        if project.root_commit.is_none() {
            project.root_commit = self.root_commit.get().cloned().flatten();
        }
    }

    /// Says whether the first commit is worth a call of git before `project` is recorded: always for a new one,
    /// later only while a repository has nothing else to be recognised by.
    pub(super) fn should_ask_for_commit(&self, project: &Project, is_new: bool) -> bool {
        self.repository.is_some() && project.root_commit.is_none() && (is_new || project.remotes.is_empty())
    }
}

/// Finds the project that was seen among those known.
pub(super) fn recognise<'p>(projects: &[&'p Project], seen: &Sighting) -> Option<&'p Project> {
    let rules: [fn(&Project, &Sighting) -> bool; 4] =
        [has_same_common_dir, has_same_remote, has_same_beginning, has_same_path];
    rules.iter().find_map(|rule| projects.iter().find(|project| rule(project, seen)).copied())
}

/// The same git directory, unless another repository was put in its place.
fn has_same_common_dir(project: &Project, seen: &Sighting) -> bool {
    if seen.common_dir.is_none() || project.git_common_dir != seen.common_dir {
        return false;
    }
    let has_remote = seen.remote.as_ref().is_some_and(|remote| project.remotes.contains(remote));
    // A remote may be renamed or removed; a history does not get another beginning.
    project.remotes.is_empty() || has_remote || !differ(project.root_commit.as_deref(), seen.root_commit())
}

/// The same remote; a clone of a directory on this machine has that directory as its remote.
fn has_same_remote(project: &Project, seen: &Sighting) -> bool {
    let is_remote = |dir: &Option<PathBuf>, remote: &String| dir.as_deref() == Some(Path::new(remote));
    match &seen.remote {
        Some(remote) => project.remotes.contains(remote) || is_remote(&project.git_common_dir, remote),
        None => project.remotes.iter().any(|remote| is_remote(&seen.common_dir, remote)),
    }
}

/// The same first commit, if no remote says otherwise.
fn has_same_beginning(project: &Project, seen: &Sighting) -> bool {
    seen.remote.is_none()
        && project.remotes.is_empty()
        && project.root_commit.is_some()
        && project.root_commit.as_deref() == seen.root_commit()
}

/// The same directory, where git cannot tell: it was not used, or its directory is gone.
fn has_same_path(project: &Project, seen: &Sighting) -> bool {
    if !project.roots.contains(&seen.root) {
        return false;
    }
    let Some(common_dir) = &project.git_common_dir else { return true };
    let is_known = |remote: &String| project.remotes.is_empty() || project.remotes.contains(remote);
    !common_dir.exists()
        && seen.remote.as_ref().is_none_or(is_known)
        && !differ(project.root_commit.as_deref(), seen.root_commit())
}

/// Keeps the lists short where an agent makes a work tree for every task and removes it again.
fn forget_vanished(project: &mut Project) {
    while project.roots.len() > MAX_ROOTS {
        let Some(vanished) = project.roots[1..].iter().position(|root| !root.exists()) else { return };
        let root = project.roots.remove(1 + vanished);
        let slug = Slug::of(&root.to_string_lossy()).own();
        project.claude_slugs.retain(|known| *known != slug);
    }
}

fn differ(a: Option<&str>, b: Option<&str>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

fn add<T: PartialEq + Clone>(list: &mut Vec<T>, item: &T) {
    if !list.contains(item) {
        list.push(item.clone());
    }
}

/// Names a project by its remote, which is the same on every machine, else by its directory.
fn name_of(remote: Option<&str>, root: &Path) -> String {
    let hosted =
        remote.filter(|remote| !remote.starts_with('/')).and_then(|remote| remote.rsplit('/').next());
    let directory = || root.file_name().map(|name| name.to_string_lossy().into_owned());
    hosted.map(str::to_owned).or_else(directory).unwrap_or_else(|| "root".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known or seen of a repository: its directory, remote and first commit; `-` for none.
    type Facts<'t> = (&'t str, &'t str, &'t str);

    fn sighting((root, remote, commit): Facts<'_>) -> Sighting {
        let some = |text: &str| (text != "-").then(|| text.to_owned());
        Sighting {
            root: root.into(),
            work_tree: root.into(),
            common_dir: Some(Path::new(root).join(".git")),
            remote: some(remote),
            name: "web".to_owned(),
            is_named: false,
            repository: None,
            search_path: None,
            root_commit: OnceLock::from(some(commit)),
        }
    }

    fn project(facts: Facts<'_>) -> Project {
        let id = "web-123456".parse().expect("it is an id");
        let mut project = Project::new(id, "web");
        sighting(facts).add_to(&mut project);
        project
    }

    #[test]
    fn a_repository_is_recognised_by_what_cannot_be_by_chance() {
        let known = ("/gone/web", "h/acme/web", "c1");
        let local = ("/gone/web", "-", "c1");
        for (case, known, seen, same) in [
            ("the same in all", known, known, true),
            ("moved", known, ("/new", "h/acme/web", "c1"), true),
            ("cloned without its history", known, ("/new", "h/acme/web", "-"), true),
            ("a fork", known, ("/new", "h/me/web", "c1"), false),
            ("a copy that lost its remote", known, ("/new", "-", "c1"), false),
            ("a repository that got a remote elsewhere", local, ("/new", "h/acme/web", "c1"), false),
            ("moved, no remote", local, ("/new", "-", "c1"), true),
            ("another history, no remote", local, ("/new", "-", "c2"), false),
            ("neither history nor remote", ("/gone/web", "-", "-"), ("/new", "-", "-"), false),
            ("its remote was renamed", known, ("/gone/web", "h/acme/new", "c1"), true),
            ("its remote was removed", known, ("/gone/web", "-", "c1"), true),
            ("it got a remote", local, ("/gone/web", "h/acme/web", "c1"), true),
            ("replaced by another", known, ("/gone/web", "h/acme/other", "c2"), false),
            ("replaced by one without a remote", known, ("/gone/web", "-", "c2"), false),
            ("a clone of the directory", known, ("/new", "/gone/web/.git", "c1"), true),
            ("the directory it is a clone of", ("/new", "/gone/web/.git", "c1"), local, true),
        ] {
            let known = project(known);
            assert_eq!(recognise(&[&known], &sighting(seen)).is_some(), same, "{case}");
        }
    }

    #[test]
    fn the_stronger_evidence_wins_over_the_earlier_entry() {
        let by_remote = project(("/a", "h/acme/web", "c1"));
        let by_directory = project(("/b", "h/acme/web", "c1"));
        let seen = sighting(("/b", "h/acme/web", "c1"));
        assert_eq!(recognise(&[&by_remote, &by_directory], &seen), Some(&by_directory));
    }

    #[test]
    fn work_trees_that_come_and_go_do_not_fill_the_registry() {
        let mut project = project(("/gone/main", "-", "c1"));
        for n in 0..100 {
            let tree = format!("/gone/tree{n}");
            Sighting { root: "/gone/main".into(), ..sighting((&tree, "-", "c1")) }.add_to(&mut project);
        }
        assert_eq!(project.roots.len(), MAX_ROOTS);
        assert_eq!(project.claude_slugs.len(), MAX_ROOTS);
        assert_eq!(project.roots[0], Path::new("/gone/main"));
        assert_eq!(project.roots[MAX_ROOTS - 1], Path::new("/gone/tree99"));
    }

    #[test]
    fn a_project_is_named_by_its_host_else_by_its_directory() {
        assert_eq!(name_of(Some("h/acme/web-app"), Path::new("/x/checkout")), "web-app");
        assert_eq!(name_of(Some("/srv/web.git"), Path::new("/x/checkout")), "checkout");
        assert_eq!(name_of(None, Path::new("/x/checkout")), "checkout");
        assert_eq!(name_of(None, Path::new("/")), "root");
    }
}
