//! What git knows of the team folder: who wrote each version, and whether the checked-out branch knows it at all.
//!
//! The working tree shows one branch. A file that is not there was deleted, or never was on this branch, and a file that
//! differs was changed, or is older there. Only git can tell, so it is asked, once for all files. The rule is written down
//! in `docs/decisions/0023-team.md`; [`Past::stands_on`] is where it is applied.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::blob;
use crate::place::git::Repository;

/// How long git may take for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// A hundred thousand versions take less.
const MAX_ANSWER: u64 = 64 * 1024 * 1024;
/// What stands in a git directory while something is under way that may yet be taken back.
const UNDER_WAY: [&str; 5] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// A repository that is asked about a folder.
#[derive(Debug)]
pub(super) struct Past<'a> {
    repository: &'a Repository,
    search_path: Option<OsString>,
    /// The folder below the work tree, `/` between names.
    folder: &'static str,
    versions: Option<Versions>,
}

/// Every version of every file that the checked-out branch has had, newest first.
#[derive(Debug, Default)]
struct Versions {
    by_path: BTreeMap<String, Vec<Committed>>,
    /// What HEAD has.
    head: BTreeMap<String, String>,
    n_digits: usize,
}

/// A version as it was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Committed {
    /// Its name; zeros where the file was deleted.
    blob: String,
    /// Who wrote it.
    pub(super) author: String,
    /// When.
    pub(super) at: Option<Timestamp>,
}

impl Committed {
    fn is_deletion(&self) -> bool {
        self.blob.bytes().all(|digit| digit == b'0')
    }
}

/// How the checked-out branch stands to the one that was synced last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It goes on from there: whatever differs was changed, whatever is missing was deleted.
    Onwards,
    /// It is another one: a version counts only if this branch has had the one that we know.
    Elsewhere,
}

impl<'a> Past<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        search_path: Option<OsString>,
        folder: &'static str,
    ) -> Self {
        Self { repository, search_path, folder, versions: None }
    }

    /// Returns the commit that is checked out; `None` without one, or without git.
    pub(super) fn head(&self) -> Option<String> {
        let answer = self.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        Some(answer.trim().to_owned()).filter(|head| is_name(head))
    }

    /// Says whether a merge or the like is under way.
    pub(super) fn is_under_way(&self) -> bool {
        let git_dir = self.repository.git_dir();
        UNDER_WAY.iter().any(|name| git_dir.join(name).exists())
    }

    /// Says whether files may be left out of the work tree on purpose.
    pub(super) fn is_sparse(&self) -> bool {
        self.repository.git_dir().join("info/sparse-checkout").exists()
    }

    /// Compares with the commit and the work tree of the last sync.
    pub(super) fn stands_on(&self, last: &str, last_tree: &Path, head: &str) -> Standing {
        let is_same_tree = last_tree == self.repository.work_tree || !last_tree.exists();
        if !is_same_tree {
            return Standing::Elsewhere;
        }
        if last == head || !is_name(last) {
            return Standing::Onwards;
        }
        let ahead = self.ask(&["rev-list", "--max-count=1", last, "--not", head, "--"]);
        let is_contained = ahead.as_ref().is_none_or(|ahead| ahead.trim().is_empty());
        if is_contained || !self.is_on_a_branch(last) {
            return Standing::Onwards;
        }
        Standing::Elsewhere
    }

    /// Says whether any branch has a commit; one that none has was rewritten, and nobody will come back to it.
    fn is_on_a_branch(&self, commit: &str) -> bool {
        let args = [
            "for-each-ref",
            "--count=1",
            "--format=%(refname)",
            "--contains",
            commit,
            "refs/heads",
            "refs/remotes",
        ];
        self.ask(&args).is_some_and(|refs| !refs.trim().is_empty())
    }

    /// Returns who wrote the text that a file has; `None` if it was never committed like that.
    pub(super) fn writer_of(&mut self, file: &str, text: &[u8]) -> Option<Committed> {
        let versions = self.versions();
        let name = blob::name_of(text, versions.n_digits);
        if versions.head.get(file) != Some(&name) {
            return None;
        }
        let known = versions.by_path.get(file)?.iter().find(|version| version.blob == name);
        known.cloned()
    }

    /// Returns who deleted a file on this branch; `None` if nobody did.
    pub(super) fn deleter_of(&mut self, file: &str) -> Option<Committed> {
        let newest = self.versions().by_path.get(file)?.first()?;
        newest.is_deletion().then(|| newest.clone())
    }

    /// Says whether HEAD has a file.
    pub(super) fn has(&mut self, file: &str) -> bool {
        self.versions().head.contains_key(file)
    }

    /// Says whether the checked-out branch has ever had this text under this name.
    pub(super) fn knows(&mut self, file: &str, text: &[u8]) -> bool {
        let versions = self.versions();
        let name = blob::name_of(text, versions.n_digits);
        versions.by_path.get(file).is_some_and(|known| known.iter().any(|version| version.blob == name))
            || versions.head.get(file) == Some(&name)
    }

    fn versions(&mut self) -> &Versions {
        if self.versions.is_none() {
            self.versions = Some(self.read());
        }
        self.versions.get_or_insert_default()
    }

    fn read(&self) -> Versions {
        let spec = format!(":(top,literal){}", self.folder);
        let format = "--format=%x01%ae%x00%aI";
        let log = |more: &[&str]| {
            let args = ["log", "-z", "--no-renames", "--raw", "--no-abbrev", format];
            let args: Vec<&str> =
                args.into_iter().chain(more.iter().copied()).chain(["HEAD", "--", &spec]).collect();
            self.ask(&args).unwrap_or_default()
        };
        let mut versions = Versions { n_digits: 40, ..Versions::default() };
        let tree = self.ask(&["ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", self.folder]);
        for entry in tree.unwrap_or_default().split('\0') {
            // `<mode> blob <name>\t<path>`
            let Some((head, path)) = entry.split_once('\t') else { continue };
            let Some(name) = head.split(' ').nth(2).filter(|name| is_name(name)) else { continue };
            versions.n_digits = name.len();
            versions.head.insert(path.to_owned(), name.to_owned());
        }
        read_log(&log(&[]), &mut versions.by_path);
        // What only a merge made is in no other commit: its author is whoever merged.
        let is_explained = |(path, name): (&String, &String)| {
            versions.by_path.get(path).is_some_and(|known| known.iter().any(|version| version.blob == *name))
        };
        if !versions.head.iter().all(is_explained) {
            let mut merged = BTreeMap::new();
            read_log(&log(&["-m", "--merges"]), &mut merged);
            for (path, found) in merged {
                versions.by_path.entry(path).or_default().extend(found);
            }
        }
        versions
    }

    fn ask(&self, args: &[&str]) -> Option<String> {
        let settings = ["-c", "core.quotePath=false", "-c", "log.showSignature=false"];
        let args: Vec<String> = settings.iter().chain(args).map(|arg| (*arg).to_owned()).collect();
        let answer = self.repository.ask(self.search_path.as_deref(), &args, PATIENCE, MAX_ANSWER)?;
        Some(String::from_utf8_lossy(&answer).into_owned())
    }
}

fn is_name(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Reads commits that begin with `\x01<author>\0<date>\0`, followed by `:<modes> <old> <new> <letter>\0<path>\0` each.
fn read_log(log: &str, by_path: &mut BTreeMap<String, Vec<Committed>>) {
    for commit in log.split('\x01').skip(1) {
        let mut fields = commit.split('\0');
        let (Some(author), Some(at)) = (fields.next(), fields.next()) else { continue };
        let at: Option<Timestamp> = at.trim().parse().ok();
        while let (Some(change), Some(path)) = (fields.next(), fields.next()) {
            let Some(blob) = change.trim().split(' ').nth(3).filter(|name| is_name(name)) else { continue };
            let version = Committed { blob: blob.to_owned(), author: author.to_owned(), at };
            by_path.entry(path.to_owned()).or_default().push(version);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_who_wrote_which_version() {
        let (one, two, none) = ("1".repeat(40), "2".repeat(40), "0".repeat(40));
        let log = format!(
            "\x01b@x\x002026-04-02T10:30:00Z\0\n:100644 000000 {two} {none} D\0t/b.md\0\
             \x01a@x\x002026-04-01T10:30:00+02:00\0\n:100644 100644 {one} {two} M\0t/a.md\0\
             :000000 100644 {none} {two} A\0t/b.md\0"
        );
        let mut by_path = BTreeMap::new();
        read_log(&log, &mut by_path);
        assert_eq!(by_path["t/a.md"].len(), 1);
        assert_eq!((by_path["t/a.md"][0].author.as_str(), &by_path["t/a.md"][0].blob), ("a@x", &two));
        assert_eq!(by_path["t/a.md"][0].at, Some("2026-04-01T08:30:00Z".parse().unwrap()));
        assert!(by_path["t/b.md"][0].is_deletion() && by_path["t/b.md"][0].author == "b@x");
        assert!(!by_path["t/b.md"][1].is_deletion());
        read_log("\x01half", &mut by_path);
        read_log("\x01a\0b\0:x", &mut by_path);
        assert_eq!(by_path.len(), 2, "what is cut off teaches nothing");
    }
}
