//! A home of its own for each test, with real git repositories.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memdir_store::place::{Environment, Place, Registry, locate, register};

/// A directory with a home, and what a person does there.
pub(crate) struct World {
    _temp: tempfile::TempDir,
    pub(crate) base: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("home")).unwrap();
        Self { _temp: temp, base }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    pub(crate) fn dir(&self, path: &str) -> PathBuf {
        fs::create_dir_all(self.path(path)).unwrap();
        self.path(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home/.local/share/memdir")
    }

    pub(crate) fn registry_file(&self) -> PathBuf {
        self.home().join("projects.json")
    }

    /// The default vault of the directory at `path`.
    pub(crate) fn default_vault(&self, path: &str) -> PathBuf {
        let slug = self.path(path).to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.path("home/.claude/projects").join(slug).join("memory")
    }

    pub(crate) fn env(&self, cwd: &str) -> Environment {
        Environment {
            cwd: self.path(cwd),
            home: Some(self.path("home")),
            search_path: std::env::var_os("PATH"),
            ..Environment::default()
        }
    }

    pub(crate) fn locate(&self, cwd: &str) -> Place {
        locate(&self.env(cwd)).unwrap()
    }

    pub(crate) fn register(&self, cwd: &str) -> Place {
        register(&self.locate(cwd)).unwrap()
    }

    pub(crate) fn id(&self, cwd: &str) -> String {
        self.register(cwd).project.id.to_string()
    }

    pub(crate) fn git(&self, cwd: &str, args: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.path(cwd))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b.c")])
            .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@b.c")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "git {args:?}");
    }

    /// A repository with one commit, whose text makes its history its own.
    pub(crate) fn repo(&self, path: &str) -> PathBuf {
        let dir = self.dir(path);
        self.git(path, &["init"]);
        self.git(path, &["commit", "--allow-empty", "-m", path]);
        dir
    }

    pub(crate) fn repo_with_remote(&self, path: &str, url: &str) -> PathBuf {
        let dir = self.repo(path);
        self.git(path, &["remote", "add", "origin", url]);
        dir
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }
}

/// Returns the ids in the registry, which is whole.
pub(crate) fn registered_ids(world: &World) -> Vec<String> {
    let (registry, warnings) = Registry::load(&world.home()).unwrap();
    assert_eq!(warnings, []);
    registry.projects().map(|project| project.id.to_string()).collect()
}

/// Returns every path below `dir`.
pub(crate) fn everything_below(dir: &Path) -> BTreeSet<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return BTreeSet::new() };
    entries
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            let below = if path.is_symlink() { BTreeSet::new() } else { everything_below(&path) };
            below.into_iter().chain([path])
        })
        .collect()
}
