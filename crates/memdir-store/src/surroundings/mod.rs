//! What the project around a vault shows: the evidence that the gate weighs a text against.
//!
//! Opened once for a command and asked for one text after another. Nothing is read before it is needed, everything
//! read is kept for the next text, and the tree is never walked: names come from git's index, single paths from a
//! look at just them. A repository is not trusted: no link out of it is followed, every read has a bound, no program
//! of it runs, and what cannot be read is simply not shown. Look at [`Surroundings::evidence`] first.

pub(crate) mod commits;
mod instructions;
pub(crate) mod manifests;
mod names;
mod recurrence;
pub(crate) mod symbols;
pub(crate) mod tree;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use memdir_core::worth::{
    Commit, Evidence, FoundPath, FoundSymbol, InstructionLine, Mentions, instruction_lines,
};

use crate::disk::{Dir, EntryKind};
use crate::place::git::{Ground, Repository};
use crate::place::{Environment, Place};
use crate::team;
use instructions::Chain;
use tree::Tree;

/// Where the administrator tells every agent on the machine something.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/CLAUDE.md"
} else {
    "/etc/claude-code/CLAUDE.md"
};
/// Largest index of git that is read: a million files.
const MAX_INDEX: u64 = 128 * 1024 * 1024;
/// Where a project describes itself.
const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "docs/architecture.md", "docs/README.md"];
/// A longer description is a book; nobody repeats it by accident.
const MAX_DOCUMENT: u64 = 128 * 1024;
/// Outside git as many folders are listed, the upper ones first.
const MAX_FOLDERS: usize = 64;
/// Outside git as many files are known.
const MAX_LISTED: usize = 2048;

/// The project around a vault.
#[derive(Debug)]
pub struct Surroundings {
    root: Option<Dir>,
    git: Option<Git>,
    chain: Chain,
    state: PathBuf,
    can_list: bool,
    tree: OnceCell<Tree>,
    recent: OnceCell<Arc<[Commit]>>,
    instructions: OnceCell<Arc<[InstructionLine]>>,
    documents: OnceCell<Arc<[InstructionLine]>>,
    names: OnceCell<Arc<BTreeSet<String>>>,
}

/// The two directories of a repository.
#[derive(Debug)]
pub(crate) struct Git {
    /// What is this work tree's own.
    pub(crate) own: Dir,
    /// What all work trees share.
    pub(crate) common: Dir,
}

/// Returns the directory that the project at `place` is made of.
pub(crate) fn ground(place: &Place, env: &Environment) -> Option<Ground> {
    match &place.dir {
        Some(dir) => Some(Ground { dir: dir.clone(), repository: place.repository.clone() }),
        None => env.project_dir().ok().map(|dir| Ground::around(&dir)),
    }
}

impl Surroundings {
    /// Looks at where `place` is; reads nothing yet.
    pub fn around(place: &Place, env: &Environment) -> Self {
        let ground = ground(place, env);
        let root = ground.as_ref().map(|ground| ground.dir.clone()).unwrap_or_default();
        let home = env.user_home().ok().and_then(|home| home.canonicalize().ok());
        let cwd = env.project_dir().ok().filter(|cwd| cwd.starts_with(&root));
        // Somebody's whole home directory, or what is above it, is no project.
        let is_project = |root: &Path| home.as_ref().is_none_or(|home| !home.starts_with(root));
        Self {
            can_list: is_project(&root),
            root: ground.as_ref().and_then(|ground| Dir::open(&ground.dir).ok()),
            git: ground.and_then(|ground| ground.repository).and_then(|repository| Git::open(&repository)),
            chain: Chain {
                managed: Some(MANAGED.into()),
                claude_dir: env.claude_dir().ok(),
                cwd: cwd.unwrap_or_else(|| root.clone()),
                home,
                root,
            },
            state: place.state_dir(),
            tree: OnceCell::new(),
            recent: OnceCell::new(),
            instructions: OnceCell::new(),
            documents: OnceCell::new(),
            names: OnceCell::new(),
        }
    }

    /// Returns what the project shows of what a text mentions; `story` is the key of a debugging story.
    pub fn evidence(&self, mentions: &Mentions, story: Option<&str>) -> Evidence {
        let paths = self.paths(mentions);
        let symbols = self.symbols(mentions, &paths);
        let recent = self.recent();
        let find = |hash: &str| commits::find(&self.git.as_ref()?.common, &recent, hash);
        let found =
            mentions.commits.iter().filter_map(|mention| Some((mention.text.clone(), find(&mention.text)?)));
        Evidence {
            has_tree: self.tree().len() > 0,
            commits: found.collect(),
            refs: self.git.as_ref().map(|git| commits::refs(&git.common, &mentions.refs)).unwrap_or_default(),
            instructions: self.instructions(),
            documents: self.documents(),
            names: self.names(),
            seen_before: story.map_or(0, |story| self.seen_before(story)),
            has_decisions: self.is_there("docs/decisions"),
            has_team_vault: team::has_team(&self.state),
            recent,
            paths,
            symbols,
        }
    }

    /// Returns the project's directory; none where somebody's whole home would be one.
    pub(crate) fn project(&self) -> Option<&Dir> {
        self.root.as_ref().filter(|_| self.git.is_some() || self.can_list)
    }

    /// Returns the repository's directories.
    pub(crate) fn git(&self) -> Option<&Git> {
        self.git.as_ref()
    }

    /// Notes that a debugging story was refused, so that its return is noticed.
    pub fn record_refused(&self, story: &str, now: Timestamp) -> io::Result<()> {
        recurrence::record(&Dir::ensure(&self.state)?, story, now)
    }

    fn seen_before(&self, story: &str) -> u32 {
        Dir::open(&self.state).map_or(0, |state| recurrence::count(&state, story))
    }

    fn paths(&self, mentions: &Mentions) -> BTreeMap<String, FoundPath> {
        let texts: BTreeSet<&str> = mentions.paths.iter().map(|mention| mention.text.as_str()).collect();
        texts.into_iter().filter_map(|text| Some((text.to_owned(), self.path(text)?))).collect()
    }

    /// Finds a mentioned path; an absolute one counts only if it leads into the project.
    fn path(&self, mention: &str) -> Option<FoundPath> {
        let path = match mention.strip_prefix('/') {
            Some(_) => Path::new(mention).strip_prefix(&self.chain.root).ok()?.to_str()?,
            None => mention,
        };
        if let Some(hit) = self.tree().find(path) {
            return Some(FoundPath { path: hit.path, n_files: hit.n_files });
        }
        // A word alone must be known to git: nearly any word is the name of some file.
        let is_path = path.contains(['/', '.']);
        (is_path && self.is_there(path)).then(|| FoundPath { path: path.to_owned(), n_files: None })
    }

    /// Says whether the project has a file or a directory at `path`, without following a link.
    pub(crate) fn is_there(&self, path: &str) -> bool {
        let Some(root) = &self.root else { return false };
        let is_plain = |part: &str| !matches!(part, "" | "." | "..");
        if !path.split('/').all(is_plain) {
            return false;
        }
        let mut dir = root.clone();
        let (folders, name) = path.rsplit_once('/').map_or(("", path), |(folders, name)| (folders, name));
        for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
            match dir.sub(folder) {
                Ok(sub) => dir = sub,
                Err(_) => return false,
            }
        }
        matches!(dir.stat(name), Ok(Some(_)))
    }

    fn symbols(
        &self,
        mentions: &Mentions,
        paths: &BTreeMap<String, FoundPath>,
    ) -> BTreeMap<String, FoundSymbol> {
        let names: BTreeSet<&str> = mentions.symbols.iter().map(|mention| mention.text.as_str()).collect();
        let (Some(root), false) = (&self.root, names.is_empty()) else { return BTreeMap::new() };
        let named: Vec<String> = paths.values().map(|found| found.path.clone()).collect();
        symbols::find(root, self.tree(), &named, &names)
    }

    pub(crate) fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| {
            let index = self.git.as_ref().and_then(|git| git.own.read("index", MAX_INDEX).ok().flatten());
            let tree = index.and_then(|index| Tree::parse(&index));
            tree.unwrap_or_else(|| match &self.root {
                Some(root) if self.can_list => Tree::of(listed(root)),
                _ => Tree::default(),
            })
        })
    }

    pub(crate) fn recent(&self) -> Arc<[Commit]> {
        let load = || self.git.as_ref().map(|git| commits::recent(&git.own)).unwrap_or_default().into();
        self.recent.get_or_init(load).clone()
    }

    fn instructions(&self) -> Arc<[InstructionLine]> {
        self.instructions.get_or_init(|| instructions::load(&self.chain).into()).clone()
    }

    fn documents(&self) -> Arc<[InstructionLine]> {
        let load = || {
            let root = self.root.as_ref()?;
            let read = |path: &&'static str| Some((*path, root.read(path, MAX_DOCUMENT).ok()??));
            let lines = DOCUMENTS
                .iter()
                .filter_map(read)
                .flat_map(|(path, bytes)| instruction_lines(path, &String::from_utf8_lossy(&bytes)));
            Some(lines.collect())
        };
        self.documents.get_or_init(|| load().unwrap_or_default()).clone()
    }

    pub(crate) fn names(&self) -> Arc<BTreeSet<String>> {
        self.names.get_or_init(|| names::collect(self.root.as_ref(), self.tree()).into()).clone()
    }
}

impl Git {
    fn open(repository: &Repository) -> Option<Self> {
        let own = Dir::open(&repository.git_dir()).ok()?;
        Some(Self { own, common: Dir::open(&repository.common_dir).ok()? })
    }
}

/// Lists the files of a project that git does not know, as far as the bounds allow, the upper folders first.
fn listed(root: &Dir) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![(root.clone(), String::new())];
    let mut at = 0;
    while at < folders.len() && files.len() < MAX_LISTED {
        let (dir, prefix) = folders[at].clone();
        at += 1;
        let mut subs = Vec::new();
        // What cannot be listed shows nothing.
        let _ = dir.for_each(|name, kind| match kind {
            EntryKind::File if files.len() < MAX_LISTED => files.push(format!("{prefix}{name}")),
            EntryKind::Dir if !is_skipped(name) => subs.push(name.to_owned()),
            _ => {}
        });
        subs.sort_unstable();
        for name in subs {
            if folders.len() < MAX_FOLDERS
                && let Ok(sub) = dir.sub(&name)
            {
                folders.push((sub, format!("{prefix}{name}/")));
            }
        }
    }
    files
}

fn is_skipped(folder: &str) -> bool {
    matches!(
        folder,
        ".git" | "node_modules" | "target" | "dist" | "build" | "vendor" | ".venv" | "__pycache__"
    )
}
