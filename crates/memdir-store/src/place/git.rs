//! Which git repository a directory is in, read from its files.
//!
//! Everything but the root commit is read without running git: a hook has no time for a process, and a repository
//! is not to be trusted with one. Where git has to run ([`Repository::root_commit`], and what is asked about the past
//! of a claim), it runs with an empty environment, no network, no hooks and a time limit, and its absence is an answer,
//! not an error.
//!
//! A `.git` that leads elsewhere is believed only if the other side leads back: a downloaded directory must not
//! pass for a work tree of somebody else's repository and so get at its memories. Look at [`Ground`] first.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::git_config::{self, Setting};
use super::path::resolve;
use super::remote::Remote;
use crate::disk::Dir;

/// Largest `config` we read; git's own are a few kilobytes.
const MAX_CONFIG: u64 = 1024 * 1024;
/// Largest file that holds nothing but a path.
const MAX_POINTER: u64 = 8 * 1024;
/// How long git may take to find the root commit.
const GIT_PATIENCE: Duration = Duration::from_secs(2);
/// Most root commits that are looked at.
const MAX_ROOTS: u64 = 1000;

/// The directory a project is made of: the work tree around a place, or the place itself.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The work tree's root; outside git the directory itself.
    pub dir: PathBuf,
    /// The repository, if there is one.
    pub repository: Option<Repository>,
}

/// A git repository as seen from one of its work trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The main work tree, which all others share their memory with; of a bare repository its directory.
    pub root: PathBuf,
    /// The work tree we are in.
    pub work_tree: PathBuf,
    /// The directory that all work trees share.
    pub common_dir: PathBuf,
    /// Addresses of the remotes in one spelling, the one that identifies the project first.
    pub remotes: Vec<String>,
}

impl Ground {
    /// Looks around the directory `start`, which exists and has no links in its path.
    ///
    /// As for git, the search ends where another file system begins. A bare repository counts only if no work tree
    /// is around it: anybody can commit files that look like one. A repository counts only if it is ours, the
    /// administrator's, or of whoever owns `start`: anybody can put one into `/tmp`.
    pub fn around(start: &Path) -> Self {
        let (device, owner) = device_and_owner(start);
        let mut bare = None;
        for dir in start.ancestors().take_while(|dir| device_and_owner(dir).0 == device) {
            match look(dir) {
                Look::Repository(repository) if !is_trusted(&repository, owner) => {}
                Look::Repository(repository) => {
                    return Self { dir: repository.work_tree.clone(), repository: Some(repository) };
                }
                Look::Stranger => return Self { dir: start.to_owned(), repository: None },
                Look::Nothing if bare.is_none() && is_git_dir(dir) => bare = Some(dir),
                Look::Nothing => {}
            }
        }
        let bare = bare.map(|dir| Repository::new(dir, dir, dir));
        match bare.filter(|repository| is_trusted(repository, owner)) {
            Some(repository) => Self { dir: repository.root.clone(), repository: Some(repository) },
            None => Self { dir: start.to_owned(), repository: None },
        }
    }
}

impl Repository {
    fn new(root: &Path, work_tree: &Path, common_dir: &Path) -> Self {
        let remotes = read_remotes(common_dir, root);
        let [root, work_tree, common_dir] = [root, work_tree, common_dir].map(Path::to_owned);
        Self { root, work_tree, common_dir, remotes }
    }

    /// Returns the address that identifies the project: `origin`, else `upstream`, else the first.
    ///
    /// Only one counts: a fork that names the original as a second remote is still a fork.
    pub fn remote(&self) -> Option<&str> {
        self.remotes.first().map(String::as_str)
    }

    /// Returns the directory of this work tree's own files: its index and the log of its HEAD.
    pub fn git_dir(&self) -> PathBuf {
        // The way was checked when the repository was found; it must still end inside it.
        let linked = read_gitfile(&self.work_tree).filter(|git_dir| git_dir.starts_with(&self.common_dir));
        linked.unwrap_or_else(|| self.common_dir.clone())
    }

    /// Returns the branch that is checked out; `None` if a commit is, or nothing can be read.
    pub fn branch(&self) -> Option<String> {
        let head = fs::read(self.git_dir().join("HEAD")).ok().filter(|head| head.len() < 4096)?;
        let name = str::from_utf8(&head).ok()?.trim_end().strip_prefix("ref: refs/heads/")?;
        Some(name.to_owned())
    }

    /// Returns the mail address that the user commits with here: the repository's setting, else the user's own.
    pub fn user_email(&self, home: Option<&Path>) -> Option<String> {
        let is_it = |s: &Setting| s.section == "user" && s.subsection.is_none() && s.key == "email";
        let last = |settings: Vec<Setting>| settings.into_iter().rfind(is_it).map(|setting| setting.value);
        let global = || {
            let home = home?;
            let text = read_text(home, ".gitconfig", MAX_CONFIG)
                .or_else(|| read_text(&home.join(".config/git"), "config", MAX_CONFIG))?;
            last(git_config::parse(&text))
        };
        last(read_config(&self.common_dir)).or_else(global).filter(|email| !email.is_empty())
    }

    /// Returns where the linked work trees are, gone ones too.
    pub fn linked_work_trees(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.common_dir.join("worktrees")) else { return Vec::new() };
        let mut trees: Vec<PathBuf> = entries
            .filter_map(|entry| read_pointer(&entry.ok()?.path(), "gitdir"))
            .filter_map(|dot_git| resolve(dot_git.parent()?).ok())
            .collect();
        trees.sort();
        trees
    }

    /// Asks git for the commit that the history begins with; the lowest hash if there are several.
    ///
    /// `None` without git, without a commit, in a shallow clone (its oldest commit is an accident), in somebody
    /// else's repository, or when git takes too long.
    pub fn root_commit(&self, search_path: Option<&OsStr>) -> Option<String> {
        if self.common_dir.join("shallow").exists() || !is_ours(&self.common_dir) {
            return None;
        }
        let git = find_program("git", search_path?)?;
        let output = run(root_commit_command(&git, &self.common_dir), GIT_PATIENCE, MAX_ROOTS * 65)?;
        let output = String::from_utf8(output).ok()?;
        let is_hash =
            |line: &&str| matches!(line.len(), 40 | 64) && line.bytes().all(|b| b.is_ascii_hexdigit());
        output.lines().filter(is_hash).min().map(str::to_owned)
    }

    /// Asks git about this work tree's past: `args` are a command that only reads history or the index.
    ///
    /// `None` without git, in somebody else's repository, or when git fails, takes too long or says more than `limit`
    /// bytes.
    pub(crate) fn ask(
        &self,
        search_path: Option<&OsStr>,
        args: &[String],
        patience: Duration,
        limit: u64,
    ) -> Option<Vec<u8>> {
        if !is_ours(&self.common_dir) {
            return None;
        }
        let git = find_program("git", search_path?)?;
        let mut command = guarded_command(&git, &self.git_dir());
        command.args(args);
        run(command, patience, limit)
    }
}

/// What a `.git` in a directory is.
enum Look {
    /// There is none, or it is no repository.
    Nothing,
    /// A repository that agrees that this is its work tree.
    Repository(Repository),
    /// It leads to a repository that does not know this directory.
    Stranger,
}

fn look(dir: &Path) -> Look {
    let dot_git = dir.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&dot_git) else { return Look::Nothing };
    if metadata.is_dir() {
        return if is_git_dir(&dot_git) {
            Look::Repository(Repository::new(dir, dir, &dot_git))
        } else {
            Look::Nothing
        };
    }
    let target = if metadata.is_symlink() {
        dot_git.canonicalize().ok().filter(|target| target.starts_with(dir) && is_git_dir(target))
    } else {
        read_gitfile(dir)
    };
    match target.and_then(|git_dir| follow(dir, &git_dir)) {
        Some(repository) => Look::Repository(repository),
        None => Look::Stranger,
    }
}

/// Follows a `.git` that leads to `git_dir`, and checks that it leads back to `dir`.
fn follow(dir: &Path, git_dir: &Path) -> Option<Repository> {
    if git_dir.join("commondir").exists() {
        let common_dir = read_pointer(git_dir, "commondir")?.canonicalize().ok()?;
        // The way back must be recorded in that repository, not in files beside the way there.
        let is_listed = git_dir.parent() == Some(&common_dir.join("worktrees"));
        let back = read_pointer(git_dir, "gitdir")?;
        if !is_git_dir(&common_dir) || !is_listed || !leads_to(&back, &dir.join(".git")) {
            return None;
        }
        return Some(Repository::new(&main_work_tree(&common_dir), dir, &common_dir));
    }
    // A submodule, or a work tree whose repository was put elsewhere. The former records where its work tree is;
    // the latter does not, but is never called `.git`, which is another directory's own repository.
    let recorded = core_work_tree(git_dir);
    let is_its_own = git_dir.starts_with(dir);
    let agrees = match &recorded {
        Some(work_tree) => leads_to(work_tree, dir),
        None => is_its_own || git_dir.file_name() != Some(OsStr::new(".git")),
    };
    (agrees && is_git_dir(git_dir)).then(|| Repository::new(dir, dir, git_dir))
}

/// Says whether `back` is `here`, or is gone: then the directory was moved by hand, which git bears too.
fn leads_to(back: &Path, here: &Path) -> bool {
    match back.canonicalize() {
        Ok(back) => here.canonicalize().is_ok_and(|here| back == here),
        Err(_) => true,
    }
}

/// Returns the main work tree of the repository at `common_dir`; without one, that directory itself.
fn main_work_tree(common_dir: &Path) -> PathBuf {
    if common_dir.file_name() == Some(OsStr::new(".git")) {
        return common_dir.parent().unwrap_or(common_dir).to_owned();
    }
    let leads_back = |work_tree: &PathBuf| read_gitfile(work_tree).as_deref() == Some(common_dir);
    core_work_tree(common_dir)
        .and_then(|work_tree| work_tree.canonicalize().ok())
        .filter(leads_back)
        .unwrap_or_else(|| common_dir.to_owned())
}

/// Says whether a directory has what git asks of a repository.
fn is_git_dir(dir: &Path) -> bool {
    let has_head = fs::symlink_metadata(dir.join("HEAD")).is_ok_and(|head| !head.is_dir());
    has_head && dir.join("objects").is_dir() && dir.join("refs").is_dir()
}

/// Returns where the `.git` file of `dir` points.
fn read_gitfile(dir: &Path) -> Option<PathBuf> {
    let text = read_text(dir, ".git", MAX_POINTER)?;
    let target = text.strip_prefix("gitdir:")?.trim();
    dir.join(target).canonicalize().ok()
}

/// Reads the path in the file `name` of a git directory.
fn read_pointer(git_dir: &Path, name: &str) -> Option<PathBuf> {
    let text = read_text(git_dir, name, MAX_POINTER)?;
    let path = text.trim_end_matches(['\n', '\r']);
    (!path.is_empty()).then(|| git_dir.join(path))
}

fn core_work_tree(git_dir: &Path) -> Option<PathBuf> {
    let is_work_tree = |s: &Setting| s.section == "core" && s.subsection.is_none() && s.key == "worktree";
    read_config(git_dir).into_iter().rfind(is_work_tree).map(|setting| git_dir.join(setting.value))
}

fn read_remotes(common_dir: &Path, root: &Path) -> Vec<String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for setting in read_config(common_dir) {
        let Some(name) = setting.subsection.filter(|_| setting.section == "remote" && setting.key == "url")
        else {
            continue;
        };
        // A remote can have several addresses to push to; the first is the one that is fetched from.
        if found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        if let Some(address) = Remote::parse(&setting.value).and_then(|remote| address(remote, root)) {
            found.push((name, address));
        }
    }
    let rank = |name: &str| match name {
        "origin" => 0,
        "upstream" => 1,
        _ => 2,
    };
    found.sort_by_key(|(name, _)| rank(name));
    found.into_iter().map(|(_, address)| address).collect()
}

/// Returns a remote as text: the directory of a local one is named as that repository names itself.
fn address(remote: Remote, root: &Path) -> Option<String> {
    let path = match remote {
        Remote::Hosted(address) => return Some(address),
        Remote::Local(path) => root.join(path),
    };
    let with_suffix = |suffix: &str| {
        let mut name = path.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name).canonicalize().ok().filter(|dir| is_git_dir(dir))
    };
    let found = ["/.git", "", ".git"].into_iter().find_map(with_suffix);
    found.or_else(|| resolve(&path).ok())?.into_os_string().into_string().ok()
}

fn read_config(git_dir: &Path) -> Vec<Setting> {
    read_text(git_dir, "config", MAX_CONFIG).map(|text| git_config::parse(&text)).unwrap_or_default()
}

/// Reads a small regular file; anything else is as good as missing.
fn read_text(dir: &Path, name: &str, limit: u64) -> Option<String> {
    let bytes = Dir::open(dir).ok()?.read(name, limit).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn device_and_owner(dir: &Path) -> (Option<u64>, Option<u32>) {
    fs::metadata(dir).map_or((None, None), |metadata| (Some(metadata.dev()), Some(metadata.uid())))
}

fn is_trusted(repository: &Repository, owner_of_start: Option<u32>) -> bool {
    let owner = device_and_owner(&repository.common_dir).1;
    is_ours(&repository.common_dir) || owner == Some(0) || owner == owner_of_start
}

fn is_ours(dir: &Path) -> bool {
    device_and_owner(dir).1 == Some(rustix::process::geteuid().as_raw())
}

/// Finds a program by absolute directories only: a `.` in `PATH` would run what a repository ships.
fn find_program(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    std::env::split_paths(search_path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(is_program)
}

fn root_commit_command(git: &Path, common_dir: &Path) -> Command {
    let mut command = guarded_command(git, common_dir);
    command.args(["rev-list", "--max-parents=0", "HEAD", "--"]);
    command
}

/// Builds the call so that nothing in the repository's configuration can start a program or a connection.
fn guarded_command(git: &Path, git_dir: &Path) -> Command {
    let mut command = Command::new(git);
    command
        .env_clear()
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_GRAFT_FILE", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        // A repository may claim that missing commits are to be fetched, by a command of its choice.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none");
    for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never"] {
        command.args(["-c", setting]);
    }
    command
        .args(["--no-pager", "--no-replace-objects", "--git-dir"])
        .arg(git_dir)
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// Runs a command and returns what it printed, if it succeeds in time; it never outlives the call.
fn run(mut command: Command, patience: Duration, limit: u64) -> Option<Vec<u8>> {
    let deadline = Instant::now() + patience;
    let mut child = command.spawn().ok()?;
    let output = read_until(&mut child, deadline, limit);
    let succeeded = output.is_some() && wait_until(&mut child, deadline);
    if !succeeded {
        let _ = child.kill();
        let _ = child.wait();
    }
    output.filter(|_| succeeded)
}

/// Reads what a child prints; `None` if it has not finished by then. More than `limit` bytes end the child.
fn read_until(child: &mut Child, deadline: Instant, limit: u64) -> Option<Vec<u8>> {
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(limit).read_to_end(&mut bytes);
        // The receiver is gone when time ran out.
        let _ = sender.send(read.ok().map(|_| bytes));
    });
    receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok().flatten()
}

fn wait_until(child: &mut Child, deadline: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
        let path = dir.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended_in_time() {
        let temp = tempfile::tempdir().unwrap();
        for text in ["exec sleep 60", "exec >&-; exec sleep 60", "echo x; exec sleep 60"] {
            let began = Instant::now();
            let mut command = Command::new(script(temp.path(), "slow", text));
            command.stdout(Stdio::piped());
            assert_eq!(run(command, Duration::from_millis(100), 1000), None, "{text}");
            assert!(began.elapsed() < Duration::from_secs(5), "{text}");
        }
    }

    #[test]
    fn what_a_failing_program_prints_is_not_believed() {
        let temp = tempfile::tempdir().unwrap();
        let mut command = Command::new(script(temp.path(), "fails", "echo x; exit 1"));
        command.stdout(Stdio::piped());
        assert_eq!(run(command, Duration::from_secs(5), 1000), None);
    }

    #[test]
    fn a_program_is_found_only_by_absolute_directories_and_only_if_it_can_run() {
        let temp = tempfile::tempdir().unwrap();
        let tool = script(temp.path(), "tool", "");
        fs::write(temp.path().join("data"), "").unwrap();
        let path = std::env::join_paths([Path::new("."), Path::new(""), temp.path()]).unwrap();
        assert_eq!(find_program("tool", &path), Some(tool));
        assert_eq!(find_program("data", &path), None);
        assert_eq!(find_program("Cargo.toml", OsStr::new(".")), None);
    }
}
