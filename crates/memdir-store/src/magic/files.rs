//! The files of a project as git lists them, and prints by which a change is seen.
//!
//! A print is size, time and hash; the hash is made again only where size or time differ. Outside of git a bounded walk
//! takes the place of the listing: docs there are found and marked, but never written.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Read;
use std::time::Duration;

use memdir_core::hash::ContentHash;
use memdir_core::magic::{Changes, is_related, named_paths};
use serde::{Deserialize, Serialize};

use super::Dir;
use crate::disk::EntryKind;
use crate::place::git::{Ground, Repository};

/// How long git may take, and how much it may say.
const PATIENCE: Duration = Duration::from_secs(10);
const MAX_ANSWER: u64 = 32 * 1024 * 1024;
/// A doc is about no more files.
const MAX_RELATED: usize = 5_000;
/// Larger files are compared by size and time alone.
const MAX_HASHED: u64 = 4 * 1024 * 1024;
/// A walk looks at as many entries, and as deep.
const MAX_WALKED: usize = 20_000;
const MAX_DEPTH: usize = 8;
/// Directories that a walk does not enter, beside hidden ones.
const PASSED_OVER: [&str; 4] = ["node_modules", "target", "vendor", "venv"];

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    size: u64,
    mtime: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha: Option<ContentHash>,
}

/// The files of a project.
#[derive(Debug)]
pub(super) struct Files {
    root: Option<Dir>,
    repository: Option<Repository>,
    search_path: Option<OsString>,
}

impl Files {
    pub(super) fn of(ground: Option<&Ground>, search_path: Option<OsString>) -> Self {
        let root = ground.and_then(|ground| Dir::open(&ground.dir).ok());
        Self { root, repository: ground.and_then(|ground| ground.repository.clone()), search_path }
    }

    pub(super) fn has_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// Lists markdown files that git knows or would take, at most `limit`.
    pub(super) fn markdown(&self, limit: usize) -> Vec<String> {
        let listed = self.list(&["*.md", "*.mdx", "*.markdown"]);
        listed.into_iter().filter(|path| is_markdown(path)).take(limit).collect()
    }

    /// Says whether git knows a file or would take it.
    pub(super) fn is_shown(&self, path: &str) -> bool {
        let literal = format!(":(top,literal){path}");
        self.asked(&[&literal]).is_some_and(|listed| listed.iter().any(|shown| shown == path))
    }

    /// Returns the beginning of a file.
    pub(super) fn beginning(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        let (file, _) = self.root.as_ref()?.open_file(path).ok()??;
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Takes prints of the files that a doc is about.
    pub(super) fn prints(&self, doc: &str, text: &str) -> BTreeMap<String, Print> {
        let related = self.related(doc, text);
        related.into_iter().filter_map(|path| Some((path.clone(), self.print(&path, None)?))).collect()
    }

    /// Compares the files that a doc is about with what they were.
    pub(super) fn changes(&self, doc: &str, text: &str, before: &BTreeMap<String, Print>) -> Changes {
        let mut changes = Changes::default();
        let now: BTreeSet<String> = self.related(doc, text).into_iter().collect();
        for path in &now {
            match (before.get(path), self.print(path, before.get(path))) {
                (Some(was), Some(is)) if !is_same(was, &is) => changes.changed.push(path.clone()),
                (Some(_), None) => changes.removed.push(path.clone()),
                (None, Some(_)) => changes.added.push(path.clone()),
                _ => {}
            }
        }
        changes.removed.extend(before.keys().filter(|path| !now.contains(*path)).cloned());
        changes.removed.sort();
        changes
    }

    fn related(&self, doc: &str, text: &str) -> Vec<String> {
        let named = named_paths(text);
        let all = self.list(&[]).into_iter();
        all.filter(|path| is_related(doc, &named, path)).take(MAX_RELATED).collect()
    }

    /// Takes the print of a file; the hash is taken from `known` where nothing else differs.
    fn print(&self, path: &str, known: Option<&Print>) -> Option<Print> {
        let root = self.root.as_ref()?;
        let (_, stat) = root.open_file(path).ok()??;
        let same = known.filter(|known| known.size == stat.size && known.mtime == stat.mtime_ns);
        let sha = match same {
            Some(known) => known.sha,
            None => root.read(path, MAX_HASHED).ok().flatten().map(|bytes| ContentHash::of(&bytes)),
        };
        Some(Print { size: stat.size, mtime: stat.mtime_ns, sha })
    }

    fn list(&self, patterns: &[&str]) -> Vec<String> {
        let mut listed = self.asked(patterns).unwrap_or_else(|| self.walked());
        listed.sort();
        listed.dedup();
        listed
    }

    /// Asks git for files that it knows or would take; `None` without a repository or an answer.
    fn asked(&self, patterns: &[&str]) -> Option<Vec<String>> {
        let repository = self.repository.as_ref()?;
        let work_tree = format!("--work-tree={}", repository.work_tree.to_str()?);
        let fixed = [&work_tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
        let args: Vec<String> = fixed.iter().chain(patterns).map(|arg| (*arg).to_owned()).collect();
        let answer = repository.ask(self.search_path.as_deref(), &args, PATIENCE, MAX_ANSWER)?;
        let names = answer.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok());
        Some(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    fn walked(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut n_left = MAX_WALKED;
        if let Some(root) = self.root.as_ref().filter(|_| self.repository.is_none()) {
            walk(root, "", MAX_DEPTH, &mut n_left, &mut found);
        }
        found
    }
}

/// Says whether a file is markdown by its name.
pub fn is_markdown(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    matches!(ending.as_deref(), Some("md" | "mdx" | "markdown"))
}

/// Two prints are of one text if the hashes say so, or, without hashes, size and time.
fn is_same(was: &Print, is: &Print) -> bool {
    match (was.sha, is.sha) {
        (Some(was), Some(is)) => was == is,
        _ => was.size == is.size && was.mtime == is.mtime,
    }
}

fn walk(dir: &Dir, below: &str, depth: usize, n_left: &mut usize, found: &mut Vec<String>) {
    let mut folders = Vec::new();
    // What cannot be listed is not there.
    let _ = dir.for_each(|name, kind| {
        if *n_left == 0 || name.starts_with('.') {
            return;
        }
        *n_left -= 1;
        match kind {
            EntryKind::File => found.push(format!("{below}{name}")),
            EntryKind::Dir if !PASSED_OVER.contains(&name) => folders.push(name.to_owned()),
            EntryKind::Dir | EntryKind::Other => {}
        }
    });
    for name in folders.into_iter().filter(|_| depth > 0) {
        if let Ok(sub) = dir.sub(&name) {
            walk(&sub, &format!("{below}{name}/"), depth - 1, n_left, found);
        }
    }
}
