//! Which files are sessions of a project.
//!
//! Claude Code files them by the directory's slug, Gemini CLI by a name of its own, Codex by date. A slug or a date
//! says little, so the first lines of a file are asked which directory the session was in. Nothing is followed
//! through links below the hosts' directories, and what cannot be read is passed over.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::transcript::Host;

use super::lines::{Lines, Shape};
use super::moment;
use super::reading::HostTurns;
use crate::disk::{Dir, EntryKind, ReadError, Stat};
use crate::place::SessionDirs;
use crate::place::git::Ground;
use crate::place::slug::Slug;

/// How many lines of a file are asked about the session.
const HEAD_LINES: usize = 64;
/// How many of its first bytes tell a file from another.
const HEAD_BYTES: u64 = 1_024;
/// How deep a directory that the user names is searched.
const MAX_DEPTH: usize = 8;

/// A session file of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// The agent that wrote it.
    pub host: Host,
    /// The session.
    pub session: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    pub(super) inode: u64,
}

impl SessionFile {
    /// Looks at the file at `path`, which `host` wrote, or whoever its first lines say; `None` if it is no session, or
    /// that of a sub-agent.
    pub fn at(path: &Path, host: Option<Host>) -> Option<Self> {
        read_head(path, host.or_else(|| host_of(path))?, |_| true)
    }

    /// Returns when it was last written.
    pub fn modified(&self) -> Timestamp {
        moment(self.modified_ns)
    }

    /// Returns what is said in it.
    pub fn turns(&self) -> io::Result<HostTurns> {
        self.turns_from(0)
    }

    /// Returns what is said in it from an offset on, which is one that [`HostTurns::offset`] gave.
    pub fn turns_from(&self, offset: u64) -> io::Result<HostTurns> {
        HostTurns::new(open(&self.path)?.0, self.host, &self.session, shape(&self.path), offset)
    }

    /// Returns a hash of the first bytes, and how many they are: at most `limit`.
    pub(crate) fn head_hash(&self, limit: Option<u64>) -> io::Result<(String, u64)> {
        let mut bytes = Vec::new();
        open(&self.path)?.0.take(limit.unwrap_or(HEAD_BYTES)).read_to_end(&mut bytes)?;
        Ok((ContentHash::of(&bytes).to_string()[..16].to_owned(), bytes.len() as u64))
    }
}

/// Opens a file for reading, never through a link.
pub(super) fn open(path: &Path) -> io::Result<(File, Stat)> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(missing());
    };
    match Dir::open(folder)?.open_file(name) {
        Ok(found) => found.ok_or_else(missing),
        Err(ReadError::Io(err)) => Err(err),
        Err(err) => Err(io::Error::other(err)),
    }
}

fn shape(path: &Path) -> Shape {
    if path.extension().is_some_and(|ending| ending == "json") { Shape::Document } else { Shape::Lines }
}

/// Returns the folder of Claude Code that a vault lies in, whatever it is called.
pub(super) fn slug_around(vault: &Path, claude: Option<&Path>) -> Option<String> {
    let folder = vault.parent()?;
    (folder.parent() == claude && claude.is_some())
        .then(|| folder.file_name()?.to_str().map(str::to_owned))?
}

/// Finds the session files of the project with these directories.
pub(super) fn files(dirs: &SessionDirs, roots: &[PathBuf], slugs: &[String]) -> Vec<SessionFile> {
    let mut files = Vec::new();
    let grounds = &Grounds::new(roots);
    if let Some(claude) = &dirs.claude {
        claude_files(claude, grounds, slugs, &mut files);
    }
    if let Some(codex) = &dirs.codex {
        for folder in ["sessions", "archived_sessions"] {
            codex_files(&codex.join(folder), grounds, &mut files);
        }
    }
    if let Some(gemini) = &dirs.gemini {
        gemini_files(gemini, grounds, &mut files);
    }
    files
}

/// Keeps one file a session: a session that was copied has several, and the longest has it all.
pub(super) fn one_a_session(files: Vec<SessionFile>) -> Vec<SessionFile> {
    let mut by_session: BTreeMap<String, SessionFile> = BTreeMap::new();
    for file in files {
        let rank = |file: &SessionFile| (file.size, file.modified_ns, file.path.clone());
        let is_better = by_session.get(&file.session).is_none_or(|known| rank(&file) > rank(known));
        if is_better {
            by_session.insert(file.session.clone(), file);
        }
    }
    by_session.into_values().collect()
}

/// What the first lines of a file tell.
struct Told {
    session: String,
    cwd: Option<PathBuf>,
}

/// Says which directories belong to the project, as a command that is run there would.
struct Grounds<'r> {
    roots: &'r [PathBuf],
    known: RefCell<BTreeMap<PathBuf, bool>>,
}

impl<'r> Grounds<'r> {
    fn new(roots: &'r [PathBuf]) -> Self {
        Self { roots, known: RefCell::default() }
    }

    fn has(&self, dir: &Path) -> bool {
        if let Some(&known) = self.known.borrow().get(dir) {
            return known;
        }
        let is_ours = self.look(dir);
        self.known.borrow_mut().insert(dir.to_owned(), is_ours);
        is_ours
    }

    fn look(&self, dir: &Path) -> bool {
        if self.roots.iter().any(|root| root == dir) {
            return true;
        }
        let is_below = self.roots.iter().any(|root| dir.starts_with(root));
        // Of a directory that is gone only the path can tell.
        let Ok(found) = dir.canonicalize() else { return is_below };
        let is_root = |path: &PathBuf| self.roots.contains(path);
        match Ground::around(&found).repository {
            // A repository inside the project is a project of its own; a work tree beside it is not.
            Some(repository) => is_root(&repository.root) || is_root(&repository.work_tree),
            None => is_root(&found),
        }
    }
}

fn claude_files(projects: &Path, grounds: &Grounds<'_>, slugs: &[String], files: &mut Vec<SessionFile>) {
    let of_roots: Vec<Slug> = grounds.roots.iter().filter_map(|root| root.to_str()).map(Slug::of).collect();
    for folder in names(projects, EntryKind::Dir) {
        let is_ours = slugs.contains(&folder) || of_roots.iter().any(|slug| slug.is(&folder));
        let may_be_ours = of_roots.iter().any(|slug| slug.begins(&folder));
        if !is_ours && !may_be_ours {
            continue;
        }
        let folder = projects.join(folder);
        for name in names(&folder, EntryKind::File).into_iter().filter(|name| name.ends_with(".jsonl")) {
            let path = folder.join(name);
            // A slug fits several directories. A session that names none is taken where the folder is ours.
            files.extend(read_head(&path, Host::ClaudeCode, |told| match &told.cwd {
                Some(cwd) => grounds.has(cwd),
                None => is_ours,
            }));
        }
    }
}

fn codex_files(sessions: &Path, grounds: &Grounds<'_>, files: &mut Vec<SessionFile>) {
    let is_rollout = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("rollout-") && name.ends_with(".jsonl")
    };
    for path in walk(sessions).into_iter().filter(|path| is_rollout(path)) {
        let is_ours = |told: &Told| told.cwd.as_ref().is_some_and(|cwd| grounds.has(cwd));
        files.extend(read_head(&path, Host::Codex, is_ours));
    }
}

fn gemini_files(gemini: &Path, grounds: &Grounds<'_>, files: &mut Vec<SessionFile>) {
    let tmp = gemini.join("tmp");
    let hashes: Vec<String> = grounds
        .roots
        .iter()
        .map(|root| ContentHash::of(root.as_os_str().as_encoded_bytes()).to_string())
        .collect();
    for folder in names(&tmp, EntryKind::Dir) {
        let project = tmp.join(&folder);
        // Early versions named the folder by a hash of the directory, later ones leave a note in it.
        let is_ours = hashes.contains(&folder)
            || noted_root(&project).is_some_and(|root| grounds.has(Path::new(&root)));
        if !is_ours {
            continue;
        }
        let chats = project.join("chats");
        let is_session = |name: &String| name.ends_with(".jsonl") || name.ends_with(".json");
        for name in names(&chats, EntryKind::File).into_iter().filter(is_session) {
            files.extend(read_head(&chats.join(name), Host::Gemini, |_| true));
        }
    }
}

fn noted_root(project: &Path) -> Option<String> {
    let bytes = Dir::open(project).ok()?.read(".project_root", 64 * 1024).ok()??;
    Some(String::from_utf8(bytes).ok()?.trim_end_matches(['\n', '\r']).to_owned())
}

/// Reads the first lines of a file and keeps it if `is_wanted` says so. Conversations of sub-agents are not kept.
fn read_head(path: &Path, host: Host, is_wanted: impl Fn(&Told) -> bool) -> Option<SessionFile> {
    let (file, stat) = open(path).ok()?;
    let stem = path.file_stem()?.to_str()?.to_owned();
    let mut told = Told { session: stem.clone(), cwd: None };
    if shape(path) == Shape::Document {
        told.session = document_session(file).unwrap_or(stem);
    } else {
        let mut turns = HostTurns::new(file, host, &stem, Shape::Lines, 0).ok()?;
        for _ in 0..HEAD_LINES {
            let is_over = turns.read_line().ok()?.is_none();
            if is_over || turns.cwd().is_some() || host == Host::Gemini {
                break;
            }
        }
        if turns.is_subagent() {
            return None;
        }
        // Claude Code's files are named by the session; what else has another name tells it inside.
        if !(host == Host::ClaudeCode && is_uuid(&stem)) {
            told.session = turns.name().to_owned();
        }
        told.cwd = turns.cwd().map(PathBuf::from);
    }
    is_wanted(&told).then(|| SessionFile {
        host,
        session: told.session,
        path: path.to_owned(),
        size: stat.size,
        modified_ns: stat.mtime_ns,
        inode: stat.inode,
    })
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Reads the session's name at the beginning of a document.
fn document_session(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (_, behind) = text.split_once("\"sessionId\"")?;
    let value = behind.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    Some(value.split_once('"')?.0.to_owned()).filter(|session| !session.is_empty())
}

fn is_document(file: File) -> bool {
    let mut bytes = Vec::new();
    let is_read = file.take(HEAD_BYTES).read_to_end(&mut bytes).is_ok();
    let has = |key: &[u8]| bytes.windows(key.len()).any(|window| window == key);
    is_read && has(b"\"sessionId\"") && has(b"\"projectHash\"")
}

/// Finds every session file below a directory that the user names, whatever project it is of.
pub(super) fn files_below(dir: &Path) -> io::Result<Vec<SessionFile>> {
    let dir = dir.canonicalize()?;
    // An error must not look like an empty directory.
    fs::read_dir(&dir)?;
    let found = walk(&dir).into_iter().filter_map(|path| {
        let host = host_of(&path)?;
        read_head(&path, host, |_| true)
    });
    Ok(found.collect())
}

/// Asks the first lines of a file which agent wrote it.
fn host_of(path: &Path) -> Option<Host> {
    let ending = path.extension()?.to_str()?;
    let (file, _) = open(path).ok()?;
    match ending {
        "json" => is_document(file).then_some(Host::Gemini),
        "jsonl" => {
            let mut lines = Lines::new(file, Shape::Lines, 0).ok()?;
            let mut buffer = Vec::new();
            for _ in 0..HEAD_LINES {
                lines.next(&mut buffer).ok()??;
                if let Some(host) = Host::of_line(&buffer) {
                    return Some(host);
                }
            }
            None
        }
        _ => None,
    }
}

/// Lists the names of one kind in a directory, sorted; none where there is no directory.
fn names(dir: &Path, wanted: EntryKind) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(dir) = dir.canonicalize().and_then(|dir| Dir::open(&dir)) else { return names };
    // What was listed before an error counts.
    let _ = dir.for_each(|name, kind| {
        if kind == wanted {
            names.push(name.to_owned());
        }
    });
    names.sort();
    names
}

/// Lists the files below a directory, to a limited depth.
fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![(dir.to_owned(), 0)];
    while let Some((dir, depth)) = open.pop() {
        files.extend(names(&dir, EntryKind::File).into_iter().map(|name| dir.join(name)));
        if depth < MAX_DEPTH {
            open.extend(names(&dir, EntryKind::Dir).into_iter().map(|name| (dir.join(name), depth + 1)));
        }
    }
    files.sort();
    files
}
