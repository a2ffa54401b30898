//! What git's history tells about a thing that is no longer where a memory says: when it went, and what it is now.
//!
//! Git runs for this, and only here, with the guards of [`Repository::ask`]: an empty environment, no hooks, no network,
//! no program that the repository's settings name, a bound on what it says and on how long it takes. All questions of a
//! run together have one time limit; what is not answered by then is unknown, which is an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memdir_core::claims::Gone;

use super::cache::Past;
use super::patch::{Patch, has_any, renamed};
use super::search::PROSE;
use crate::disk::Dir;
use crate::place::git::Repository;

/// How long all questions of a run may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long one of them may take.
const PATIENCE_EACH: Duration = Duration::from_secs(4);
/// Most bytes of one answer.
const MAX_ANSWER: u64 = 4 << 20;
/// Most paths that are asked about at once.
const MAX_PATHS: usize = 200;
/// Most names that are asked about; each needs a walk of its own.
const MAX_NAMES: usize = 32;
/// Most removing commits that are looked into for renames.
const MAX_COMMITS: usize = 64;
/// How often a thing is followed from one place to the next.
const MAX_MOVES: usize = 4;
/// Largest file that is compared with its committed version.
const MAX_FILE: u64 = 1 << 20;

/// The history of the work tree, for as long as patience lasts.
pub(super) struct History<'a> {
    repository: &'a Repository,
    search_path: Option<OsString>,
    deadline: Instant,
    n_names: std::cell::Cell<usize>,
    is_shallow: bool,
}

/// A commit that removed something.
type Removal = (String, i64);

impl<'a> History<'a> {
    pub(super) fn new(repository: &'a Repository, search_path: Option<OsString>, deadline: Instant) -> Self {
        Self {
            repository,
            search_path,
            deadline,
            n_names: MAX_NAMES.into(),
            is_shallow: repository.common_dir.join("shallow").exists(),
        }
    }

    fn ask(&self, args: &[&str], more: impl IntoIterator<Item = String>) -> Option<String> {
        let patience = self.deadline.saturating_duration_since(Instant::now()).min(PATIENCE_EACH);
        if patience.is_zero() {
            return None;
        }
        let settings =
            ["-c", "core.quotePath=false", "-c", "log.showSignature=false", "-c", "diff.renameLimit=1000"];
        let args: Vec<String> =
            settings.iter().chain(args).map(|arg| (*arg).to_owned()).chain(more).collect();
        let answer = self.repository.ask(self.search_path.as_deref(), &args, patience, MAX_ANSWER)?;
        Some(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Says what became of paths that are not there. `is_there` tells whether a place still exists.
    pub(super) fn paths(
        &self,
        paths: &BTreeSet<String>,
        is_there: impl Fn(&str) -> bool,
    ) -> BTreeMap<String, Past> {
        let staged = self.staged();
        let asked: Vec<&String> = paths.iter().take(MAX_PATHS).collect();
        let mut pasts: BTreeMap<String, Past> =
            paths.iter().map(|path| (path.clone(), Past::Unknown)).collect();
        // Where each path was last seen, and by which commit it went from there.
        let mut open: BTreeMap<String, (String, Option<Gone>)> = BTreeMap::new();
        for path in asked {
            match staged.get(path) {
                Some(Some(to)) if is_there(to) => {
                    pasts.insert(path.clone(), Past::Renamed { to: to.clone(), gone: None });
                }
                Some(Some(to)) => drop(open.insert(path.clone(), (to.clone(), None))),
                Some(None) => drop(pasts.insert(path.clone(), Past::Present)),
                None => drop(open.insert(path.clone(), (path.clone(), None))),
            }
        }
        for _ in 0..MAX_MOVES {
            if open.is_empty() {
                break;
            }
            let wanted: BTreeSet<&str> = open.values().map(|(at, _)| at.as_str()).collect();
            let Some(steps) = self.steps(&wanted) else { break };
            let mut further = BTreeMap::new();
            for (path, (at, gone)) in open {
                let past = match steps.get(&at) {
                    Some((gone, Some(to))) if is_there(to) => {
                        Past::Renamed { to: to.clone(), gone: Some(gone.clone()) }
                    }
                    Some((gone, Some(to))) => {
                        further.insert(path.clone(), (to.clone(), Some(gone.clone())));
                        Past::Removed(Some(gone.clone()))
                    }
                    Some((gone, None)) => Past::Removed(Some(gone.clone())),
                    None if gone.is_some() || at != path => Past::Removed(gone),
                    None if self.is_shallow => Past::Unknown,
                    None => Past::Never,
                };
                pasts.insert(path, past);
            }
            open = further;
        }
        pasts
    }

    /// Returns what was renamed (to what) or removed in the index but not yet committed.
    fn staged(&self) -> BTreeMap<String, Option<String>> {
        let args = [
            "diff-index",
            "--cached",
            "-M",
            "--diff-filter=RD",
            "--name-status",
            "--no-ext-diff",
            "HEAD",
            "--",
        ];
        let answer = self.ask(&args, []).unwrap_or_default();
        answer
            .lines()
            .filter_map(status_line)
            .map(|(from, to)| (from.to_owned(), to.map(str::to_owned)))
            .collect()
    }

    /// Returns for each path the commit that took it away, and where it put it; `None` if git could not tell.
    fn steps(&self, paths: &BTreeSet<&str>) -> Option<BTreeMap<String, (Gone, Option<String>)>> {
        let removals = self.removals(paths)?;
        let commits: BTreeSet<&str> = removals.values().map(|((commit, _), _)| commit.as_str()).collect();
        let renames = self.renames(&commits);
        let steps = removals.iter().map(|(path, (removal, files))| {
            let renamed = renames.get(&removal.0);
            let to = renamed.and_then(|renames| renamed_to(path, files, renames));
            (path.clone(), (gone(removal), to))
        });
        Some(steps.collect())
    }

    /// Returns for each path the newest commit that removed it, and the files that went: one, or those of a directory.
    fn removals(&self, paths: &BTreeSet<&str>) -> Option<BTreeMap<String, (Removal, Vec<String>)>> {
        let args = [
            "log",
            "--full-history",
            "--no-renames",
            "--diff-filter=D",
            "--name-only",
            "--no-ext-diff",
            "--no-color",
            "--max-count=1000",
            "--format=%x01%H %ct",
            "HEAD",
            "--",
        ];
        // A name alone may have been anywhere; it has no special characters, or it would be no mention.
        let spec = |path: &&str| {
            if path.contains('/') { format!(":(top,literal){path}") } else { format!(":(top,glob)**/{path}") }
        };
        let answer = self.ask(&args, paths.iter().map(spec))?;
        let mut found: BTreeMap<String, (Removal, Vec<String>)> = BTreeMap::new();
        let mut commit: Option<Removal> = None;
        for line in answer.lines().filter(|line| !line.is_empty()) {
            if let Some(head) = line.strip_prefix('\x01') {
                commit = commit_line(head);
                continue;
            }
            let Some(removal) = &commit else { continue };
            for path in paths.iter().filter(|path| is_at(line, path)) {
                let entry = found.entry((*path).to_owned()).or_insert_with(|| (removal.clone(), Vec::new()));
                if entry.0 == *removal {
                    entry.1.push(line.to_owned());
                }
            }
        }
        Some(found)
    }

    /// Returns what each commit renamed.
    fn renames(&self, commits: &BTreeSet<&str>) -> BTreeMap<String, BTreeMap<String, String>> {
        if commits.is_empty() {
            return BTreeMap::new();
        }
        let args = [
            "log",
            "--no-walk=unsorted",
            "-M",
            "--diff-filter=R",
            "--name-status",
            "--no-ext-diff",
            "--no-color",
            "--format=%x01%H %ct",
        ];
        let commits = commits.iter().take(MAX_COMMITS).map(|commit| (*commit).to_owned());
        let answer = self.ask(&args, commits.chain(["--".to_owned()])).unwrap_or_default();
        let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let mut commit = String::new();
        for line in answer.lines() {
            if let Some(head) = line.strip_prefix('\x01') {
                commit = commit_line(head).map(|(hash, _)| hash).unwrap_or_default();
            } else if let Some((from, Some(to))) = status_line(line) {
                found.entry(commit.clone()).or_default().insert(from.to_owned(), to.to_owned());
            }
        }
        found
    }

    /// Says what became of a name that the code no longer has, in any of its spellings.
    pub(super) fn name(&self, spellings: &[String], root: &Dir) -> Past {
        let n_left = self.n_names.get();
        self.n_names.set(n_left.saturating_sub(1));
        let is_plain =
            |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let (Some(first), true) = (spellings.first(), spellings.iter().all(is_plain)) else {
            return Past::Unknown;
        };
        if n_left == 0 {
            return Past::Unknown;
        }
        let pattern = spellings.iter().map(String::as_str).collect::<Vec<_>>().join("|");
        let by_word = format!("-S{first}");
        let by_pattern = format!("-S({pattern})");
        let search: &[&str] =
            if spellings.len() == 1 { &[&by_word] } else { &["--pickaxe-regex", &by_pattern] };
        let mut args = vec!["log", "--max-count=10", "--full-history", "--no-renames", "-p", "-U0"];
        args.extend([
            "--no-textconv",
            "--no-ext-diff",
            "--no-color",
            "--submodule=short",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--format=%x01%H %ct",
        ]);
        args.extend(search);
        args.extend(["HEAD", "--", ":(top)"]);
        let prose = PROSE.iter().map(|ending| format!(":(top,exclude,glob)**/*.{ending}"));
        let Some(answer) = self.ask(&args, prose) else { return Past::Unknown };
        for commit in answer.split('\x01').filter(|commit| !commit.is_empty()) {
            let (head, patch) = commit.split_once('\n').unwrap_or((commit, ""));
            let Some(removal) = commit_line(head) else { continue };
            let patch = Patch::parse(patch);
            let count =
                |lines: &[(&str, &str)]| lines.iter().filter(|(_, line)| has_any(line, spellings)).count();
            let (n_removed, n_added) = (count(&patch.removed), count(&patch.added));
            if n_removed > n_added {
                let gone = Some(gone(&removal));
                return match patch.renamed(first) {
                    Some(to) => Past::Renamed { to, gone },
                    None => Past::Removed(gone),
                };
            }
            if n_added > n_removed {
                let files =
                    patch.added.iter().filter(|(_, line)| has_any(line, spellings)).map(|(file, _)| *file);
                return self.since_commit(first, &files.collect(), root);
            }
        }
        if self.is_shallow { Past::Unknown } else { Past::Never }
    }

    /// Compares files with their committed version, in which the name still is.
    fn since_commit(&self, name: &str, files: &BTreeSet<&str>, root: &Dir) -> Past {
        for file in files.iter().take(4) {
            let Some(before) = self.ask(&["cat-file", "blob"], [format!("HEAD:{file}")]) else { continue };
            let Ok(Some(now)) = root.read(file, MAX_FILE) else { continue };
            let now = String::from_utf8_lossy(&now);
            let (before, now): (BTreeSet<&str>, BTreeSet<&str>) =
                (before.lines().collect(), now.lines().collect());
            let removed: Vec<(&str, &str)> = before.difference(&now).map(|line| (*file, *line)).collect();
            let added: Vec<(&str, &str)> = now.difference(&before).map(|line| (*file, *line)).collect();
            if let Some(to) = renamed(&removed, &added, name) {
                return Past::Renamed { to, gone: None };
            }
        }
        Past::Present
    }
}

/// Reads `R100\told\tnew` or `D\told`.
fn status_line(line: &str) -> Option<(&str, Option<&str>)> {
    let mut fields = line.split('\t');
    let kind = fields.next()?;
    let from = fields.next()?;
    match kind.as_bytes().first()? {
        b'R' => Some((from, Some(fields.next()?))),
        b'D' => Some((from, None)),
        _ => None,
    }
}

/// Reads a hash and the seconds of a commit.
fn commit_line(line: &str) -> Option<Removal> {
    let (hash, seconds) = line.trim().split_once(' ')?;
    let is_hash = matches!(hash.len(), 40 | 64) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some((hash.to_owned(), seconds.parse().ok()?))
}

fn gone((commit, seconds): &Removal) -> Gone {
    let at = Timestamp::from_second(*seconds).unwrap_or_default();
    Gone { commit: commit[..12].to_owned(), on: TimeZone::UTC.to_datetime(at).date() }
}

/// Says whether a removed file is what a path names: that file, one below that directory, one of that name.
fn is_at(file: &str, path: &str) -> bool {
    file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        || !path.contains('/') && file.strip_suffix(path).is_some_and(|folder| folder.ends_with('/'))
}

/// Returns where the files of a path went: the new name of a file, the new directory of most files of a directory.
fn renamed_to(path: &str, files: &[String], renames: &BTreeMap<String, String>) -> Option<String> {
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let Some(to) = renames.get(file) else { continue };
        let below = file.strip_prefix(path).filter(|below| below.starts_with('/'));
        match below {
            Some(below) => {
                to.strip_suffix(below).into_iter().for_each(|dir| *votes.entry(dir).or_default() += 1)
            }
            None => return Some(to.clone()),
        }
    }
    votes.into_iter().max_by_key(|(_, n_votes)| *n_votes).map(|(dir, _)| dir.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_went_where_most_of_its_files_went() {
        let renames = [
            ("src/api/a.rs", "src/http/a.rs"),
            ("src/api/b.rs", "src/http/b.rs"),
            ("src/api/c.rs", "old/c.rs"),
        ];
        let renames = renames.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
        let files = ["src/api/a.rs", "src/api/b.rs", "src/api/c.rs"].map(str::to_owned);
        assert_eq!(renamed_to("src/api", &files, &renames).as_deref(), Some("src/http"));
        assert_eq!(renamed_to("src/api/c.rs", &files[2..], &renames).as_deref(), Some("old/c.rs"));
        assert_eq!(renamed_to("c.rs", &files[2..], &renames).as_deref(), Some("old/c.rs"));
    }
}
