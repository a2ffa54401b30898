//! Where a project stands: its documents, its commits, and when something last happened in it.
//!
//! A [`Standing`] looks at one working tree. It reads documents by name below an open directory, follows no link, and
//! replaces one only if it is still what it was when it was read. Git is asked with the guards of
//! [`Repository`]; without git there is simply less to tell. What the signs mean is decided in `memdir_core::tiers`.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use memdir_core::tiers::{self, Signals};

use crate::disk::{Dir, EntryKind, Exchanged, ReadError};
use crate::journal::Journal;
use crate::place::git::{Ground, Repository};
use crate::place::{Environment, Place, Project, SessionDirs};
use crate::surroundings::ground;

/// Largest document that is read.
const MAX_DOCUMENT: u64 = 1 << 20;
/// How long git may take for one answer, and how much it may say.
const PATIENCE: Duration = Duration::from_secs(2);
const MAX_ANSWER: u64 = 1 << 20;
/// As many commits are counted; what has more is old enough for everything.
const MAX_COMMITS: usize = 20_000;
/// As many tags are looked at.
const MAX_TAGS: usize = 200;
/// As much of the end of the log of HEAD is read for its last line.
const LOG_TAIL: u64 = 4 * 1024;
/// What a document is called that somebody else may read.
const DOCUMENT_MODE: u32 = 0o644;
/// Names that do for a document which tiers ask for.
const ALSO: [(&str, &[&str]); 4] = [
    ("README.md", &["README.md", "README", "README.rst", "README.txt", "readme.md"]),
    ("CLAUDE.md", &["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"]),
    ("STATUS.md", &["STATUS.md"]),
    ("docs/architecture.md", &["docs/architecture.md", "docs/ARCHITECTURE.md", "ARCHITECTURE.md"]),
];

/// One working tree.
#[derive(Debug, Clone)]
pub struct Standing {
    dir: Option<Dir>,
    repository: Option<Repository>,
}

/// One commit, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitLine {
    /// The beginning of its hash.
    pub hash: String,
    /// When it was made.
    pub at: Option<Timestamp>,
    /// Its first line.
    pub subject: String,
}

/// What became of a document that was to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// It has the new text.
    Done,
    /// Somebody else changed it meanwhile; nothing was done.
    Raced,
}

impl Standing {
    /// Looks at the working tree around `place`.
    pub fn of(place: &Place, env: &Environment) -> Self {
        Self::on(ground(place, env))
    }

    /// Looks at the first directory of a project that is still there.
    pub fn at(project: &Project) -> Self {
        let root = project.roots.iter().find(|root| root.is_dir());
        Self::on(root.map(|root| Ground::around(root)))
    }

    pub(crate) fn on(ground: Option<Ground>) -> Self {
        let dir = ground.as_ref().and_then(|ground| Dir::open(&ground.dir).ok());
        Self { dir, repository: ground.and_then(|ground| ground.repository) }
    }

    /// Returns the directory; `None` if there is none any more.
    pub fn root(&self) -> Option<&Path> {
        self.dir.as_ref().map(Dir::path)
    }

    /// Reads a document; `None` if there is none.
    pub fn read(&self, document: &str) -> Result<Option<Vec<u8>>, ReadError> {
        self.dir.as_ref().map_or(Ok(None), |dir| dir.read(document, MAX_DOCUMENT))
    }

    /// Replaces a document that was read as `base`, or makes it where there was none. Its permissions stay.
    pub fn replace(&self, document: &str, base: Option<&[u8]>, bytes: &[u8]) -> io::Result<Replaced> {
        let root = self.dir.as_ref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let (dir, name) = root.folder(document)?;
        let mut staged = dir.stage(bytes)?;
        let Some(base) = base else {
            return match staged.rename_new(&dir, name) {
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(Replaced::Raced),
                done => {
                    done?;
                    publish(&dir, name, DOCUMENT_MODE)
                }
            };
        };
        let mode = dir.stat(name)?.map_or(DOCUMENT_MODE, |stat| stat.mode);
        match staged.exchange_with(&dir, name)? {
            Exchanged::Swapped if staged.read(MAX_DOCUMENT).is_ok_and(|found| found == base) => {}
            Exchanged::Swapped => {
                staged.exchange_with(&dir, name)?;
                return Ok(Replaced::Raced);
            }
            Exchanged::Unsupported => {
                if dir.read(name, MAX_DOCUMENT).ok().flatten().as_deref() != Some(base) {
                    return Ok(Replaced::Raced);
                }
                staged.rename_over(&dir, name)?;
            }
        }
        publish(&dir, name, mode)
    }

    /// Returns the last commits, the newest first.
    pub fn commits(&self, n: usize, search_path: Option<&OsStr>) -> Vec<CommitLine> {
        let count = format!("--max-count={n}");
        let answer = self.ask(search_path, &["log", &count, "--format=%h%x00%ct%x00%s"]).unwrap_or_default();
        let line = |line: &str| {
            let mut parts = line.splitn(3, '\0');
            let (hash, at, subject) = (parts.next()?, parts.next()?, parts.next()?);
            Some(CommitLine { hash: hash.to_owned(), at: seconds(at), subject: subject.to_owned() })
        };
        answer.lines().filter_map(line).collect()
    }

    /// Returns when something was last committed or checked out here, as the log of HEAD tells it.
    pub fn last_commit(&self) -> Option<Timestamp> {
        let git_dir = Dir::open(&self.repository.as_ref()?.git_dir()).ok()?;
        let (file, stat) = git_dir.open_file("logs/HEAD").ok()??;
        let start = stat.size.saturating_sub(LOG_TAIL);
        let mut tail = vec![0; usize::try_from(stat.size - start).ok()?];
        file.read_exact_at(&mut tail, start).ok()?;
        let text = String::from_utf8_lossy(&tail).into_owned();
        let (head, _) = text.lines().next_back()?.split_once('\t')?;
        seconds(head.rsplit(' ').nth(1)?)
    }

    /// Returns what can be seen of how far the project has grown.
    pub fn signals(&self, n_sessions: usize, search_path: Option<&OsStr>) -> Signals {
        let limit = format!("--max-count={MAX_COMMITS}");
        let times: Vec<i64> = self
            .ask(search_path, &["log", &limit, "--format=%ct"])
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.trim().parse().ok())
            .collect();
        let span = times.iter().max().zip(times.iter().min()).map_or(0, |(last, first)| last - first);
        let tags = format!("--count={MAX_TAGS}");
        let tags = self.ask(search_path, &["for-each-ref", &tags, "--format=%(refname:short)", "refs/tags"]);
        let is_ideas = |part: &OsStr| part == tiers::IDEAS;
        Signals {
            is_idea: self.root().is_some_and(|root| root.iter().any(is_ideas)),
            n_commits: times.len(),
            n_days: span / (24 * 60 * 60),
            n_releases: tags.unwrap_or_default().lines().filter(|tag| tiers::is_release(tag)).count(),
            deployed_by: self.deployed_by(),
            n_sessions,
            documents: self.documents(),
        }
    }

    /// Returns which of the documents that tiers ask for are there.
    pub fn documents(&self) -> Vec<&'static str> {
        let Some(dir) = &self.dir else { return Vec::new() };
        let is_there = |name: &&str| matches!(dir.open_file(name), Ok(Some(_)));
        ALSO.iter().filter(|(_, names)| names.iter().any(is_there)).map(|(name, _)| *name).collect()
    }

    fn deployed_by(&self) -> Option<String> {
        let dir = self.dir.as_ref()?;
        let root = names(dir);
        let flows = dir.sub(".github").and_then(|dir| dir.sub("workflows")).map(|dir| names(&dir));
        let flows = flows.unwrap_or_default();
        tiers::deployed_by(root.iter().map(String::as_str), flows.iter().map(String::as_str))
    }

    fn ask(&self, search_path: Option<&OsStr>, args: &[&str]) -> Option<String> {
        let args: Vec<String> =
            ["-c", "log.showSignature=false"].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
        let answer = self.repository.as_ref()?.ask(search_path, &args, PATIENCE, MAX_ANSWER)?;
        Some(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// Returns when somebody last worked on a project: its journal, its commits, its sessions. Memories are not looked at.
pub fn last_worked_on(project: &Project, home: &Path, dirs: &SessionDirs) -> Option<Timestamp> {
    let journal = Journal::below(home, project.id.as_str()).last();
    journal.max(Standing::at(project).last_commit()).max(last_session(project, dirs))
}

/// Returns when the newest session file of Claude Code was last written.
fn last_session(project: &Project, dirs: &SessionDirs) -> Option<Timestamp> {
    let claude = dirs.claude.as_ref()?;
    let written = |slug: &String| {
        let folder = Dir::open(&claude.join(slug)).ok()?;
        let mut newest = None;
        folder
            .for_each(|name, kind| {
                if kind == EntryKind::File && name.ends_with(".jsonl") {
                    newest = newest.max(folder.stat(name).ok().flatten().map(|stat| stat.mtime_ns));
                }
            })
            .ok()?;
        newest
    };
    let newest = project.claude_slugs.iter().filter_map(written).max()?;
    Timestamp::from_nanosecond(i128::from(newest)).ok()
}

fn publish(dir: &Dir, name: &str, mode: u32) -> io::Result<Replaced> {
    // A document is for everybody who may read the project, unlike what we keep.
    std::fs::set_permissions(dir.path().join(name), Permissions::from_mode(mode))?;
    dir.sync()?;
    Ok(Replaced::Done)
}

fn names(dir: &Dir) -> Vec<String> {
    let mut names = Vec::new();
    // What cannot be listed tells nothing.
    let _ = dir.for_each(|name, kind| {
        if kind == EntryKind::File {
            names.push(name.to_owned());
        }
    });
    names
}

fn seconds(text: &str) -> Option<Timestamp> {
    Timestamp::from_second(text.trim().parse().ok()?).ok()
}
