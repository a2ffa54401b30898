//! What git's own files tell about a project's past, without running git.
//!
//! The log of HEAD gives the latest subjects and who made them; refs and packed refs give branches and tags; loose
//! objects and the indexes of packs say whether a commit exists. Objects themselves stay closed: they are compressed,
//! and a subject that only they hold is not worth the time of a save. Every read is bounded, every miss is an answer.

use std::fs::File;
use std::os::unix::fs::FileExt;

use memdir_core::worth::{Commit, MAX_MENTIONS, Mention};

use crate::disk::Dir;

/// As much of the end of the log is read: some hundreds of entries.
const MAX_LOG: u64 = 64 * 1024;
/// Largest file of packed refs that is read.
const MAX_PACKED_REFS: u64 = 1024 * 1024;
/// Most packs that are asked for a commit; git packs them together long before.
const MAX_PACKS: usize = 64;
/// Commits that the evidence keeps, the newest first.
const MAX_RECENT: usize = 200;
/// A pack's index begins with these bytes, version 2.
const PACK_INDEX: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Where its fan-out table ends and its object names begin.
const NAMES_AT: u64 = 8 + 256 * 4;

/// Returns what the log of HEAD in `git_dir` tells, the newest first.
pub(crate) fn recent(git_dir: &Dir) -> Vec<Commit> {
    let Ok(Some((file, stat))) = git_dir.open_file("logs/HEAD") else { return Vec::new() };
    let start = stat.size.saturating_sub(MAX_LOG);
    let mut tail = vec![0; usize::try_from(stat.size - start).unwrap_or(0)];
    if file.read_exact_at(&mut tail, start).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&tail);
    let mut commits: Vec<Commit> = Vec::new();
    for commit in text.lines().rev().filter_map(log_line).take(MAX_RECENT) {
        if !commits.iter().any(|known| known.hash == commit.hash) {
            commits.push(commit);
        }
    }
    commits
}

/// Reads `old new Name <mail> seconds zone\tkind: subject`; only what made a commit counts.
fn log_line(line: &str) -> Option<Commit> {
    let (head, message) = line.split_once('\t')?;
    let (kind, subject) = message.split_once(": ")?;
    let makes = ["commit", "merge", "pull", "rebase", "cherry-pick", "revert", "am"];
    let kind = kind.split([' ', '(']).next()?;
    let mut words = head.splitn(3, ' ');
    let (_, hash, rest) = (words.next()?, words.next()?, words.next()?);
    let author = rest.split(" <").next()?;
    makes.contains(&kind).then(|| Commit::new(hash, subject.trim(), author.trim()))
}

/// Returns which of the mentioned branches and tags exist.
pub(crate) fn refs(common_dir: &Dir, mentioned: &[Mention]) -> Vec<String> {
    let mut packed = None;
    let mut found: Vec<String> = Vec::new();
    for name in mentioned.iter().map(|mention| mention.text.as_str()).take(MAX_MENTIONS) {
        if found.iter().any(|known| known == name) || !is_ref_name(name) {
            continue;
        }
        let packed = packed.get_or_insert_with(|| packed_refs(common_dir));
        let is_packed =
            packed.lines().any(|line| line.ends_with(name) && line[..line.len() - name.len()].ends_with('/'));
        let folders = ["refs/heads/", "refs/tags/", "refs/remotes/origin/"];
        let is_loose =
            |folder: &&str| matches!(common_dir.open_file(&format!("{folder}{name}")), Ok(Some(_)));
        if is_packed || folders.iter().any(is_loose) {
            found.push(name.to_owned());
        }
    }
    found
}

fn is_ref_name(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-/".contains(&b);
    name.bytes().all(is_plain) && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

fn packed_refs(common_dir: &Dir) -> String {
    let bytes = common_dir.read("packed-refs", MAX_PACKED_REFS).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Finds the commit that `hash`, at least seven hexadecimal digits, is the beginning of.
pub(crate) fn find(common_dir: &Dir, recent: &[Commit], hash: &str) -> Option<Commit> {
    if let Some(commit) = recent.iter().find(|commit| commit.hash.starts_with(hash)) {
        return Some(commit.clone());
    }
    let full = loose(common_dir, hash).or_else(|| packed(common_dir, hash))?;
    Some(Commit::new(&full, "", ""))
}

fn loose(common_dir: &Dir, hash: &str) -> Option<String> {
    let (folder, rest) = hash.split_at_checked(2)?;
    let mut found = None;
    let folder_dir = common_dir.sub("objects").and_then(|objects| objects.sub(folder)).ok()?;
    let look = folder_dir.for_each(|name, _| {
        if name.starts_with(rest) {
            found = Some(format!("{folder}{name}"));
        }
    });
    look.ok().and(found)
}

fn packed(common_dir: &Dir, hash: &str) -> Option<String> {
    let packs = common_dir.sub("objects").and_then(|objects| objects.sub("pack")).ok()?;
    let mut names = Vec::new();
    packs
        .for_each(|name, _| {
            if name.ends_with(".idx") && names.len() < MAX_PACKS {
                names.push(name.to_owned());
            }
        })
        .ok()?;
    let wanted = Prefix::parse(hash)?;
    names.iter().find_map(|name| {
        let (file, stat) = packs.open_file(name).ok()??;
        in_pack(&file, stat.size, &wanted)
    })
}

/// The first bytes of an object's name, and perhaps half a byte more.
struct Prefix {
    bytes: Vec<u8>,
    half: Option<u8>,
}

impl Prefix {
    fn parse(hash: &str) -> Option<Self> {
        let digits: Option<Vec<u8>> =
            hash.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
        let digits = digits?;
        let bytes = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        Some(Self { bytes, half: (digits.len() % 2 == 1).then(|| digits[digits.len() - 1] << 4) })
    }

    /// Returns the lowest name with this prefix.
    fn lowest(&self) -> Vec<u8> {
        self.bytes.iter().copied().chain(self.half).collect()
    }

    fn begins(&self, name: &[u8]) -> bool {
        let half =
            || self.half.is_none_or(|half| name.get(self.bytes.len()).is_some_and(|b| b & 0xf0 == half));
        name.starts_with(&self.bytes) && half()
    }
}

/// Looks a name up in a pack's index: the fan-out table, then halves of the sorted names.
fn in_pack(file: &File, size: u64, wanted: &Prefix) -> Option<String> {
    let mut head = vec![0; usize::try_from(NAMES_AT).ok()?];
    file.read_exact_at(&mut head, 0).ok()?;
    if head[..8] != PACK_INDEX {
        return None;
    }
    let first = usize::from(*wanted.bytes.first()?);
    let fan_out = |i: usize| u32::from_be_bytes(head[8 + i * 4..12 + i * 4].try_into().unwrap_or_default());
    let (mut low, mut high) = (if first == 0 { 0 } else { fan_out(first - 1) }, fan_out(first));
    let n_objects = u64::from(fan_out(255));
    // Names, checks and offsets of each object, and two names at the end: that tells how long a name is.
    let hash_len = [20_u64, 32].into_iter().find(|len| {
        size >= NAMES_AT + n_objects * (len + 8) + 2 * len
            && size < NAMES_AT + n_objects * (len + 16) + 2 * len + 8
    })?;
    let name_at = |i: u32| {
        let mut name = vec![0; usize::try_from(hash_len).ok()?];
        file.read_exact_at(&mut name, NAMES_AT + u64::from(i) * hash_len).ok()?;
        Some(name)
    };
    let lowest = wanted.lowest();
    while low < high {
        let middle = low + (high - low) / 2;
        if name_at(middle)? < lowest { low = middle + 1 } else { high = middle }
    }
    let name = name_at(low).filter(|_| u64::from(low) < n_objects)?;
    wanted.begins(&name).then(|| memdir_core::hash::to_hex(&name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Mirja Okafor", "-c", "user.email=m@example.org"])
            .args(args)
            .current_dir(dir)
            .output()
            .expect("install git: this test cannot do without");
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn mention(text: &str) -> Mention {
        Mention { text: text.to_owned(), span: 0..0 }
    }

    #[test]
    fn commits_branches_and_tags_are_found_loose_and_packed() {
        let temp = tempfile::tempdir().unwrap();
        git(temp.path(), &["init", "-q", "-b", "main"]);
        git(temp.path(), &["commit", "-q", "--allow-empty", "-m", "feat: open doors"]);
        let first = git(temp.path(), &["rev-parse", "HEAD"]);
        git(temp.path(), &["tag", "v1.0.0"]);
        git(temp.path(), &["checkout", "-q", "-b", "fix/retry"]);
        for packed in [false, true] {
            if packed {
                git(temp.path(), &["gc", "-q"]);
            }
            let common = Dir::open(&temp.path().join(".git")).unwrap();
            let found = find(&common, &[], &first[..7]).unwrap();
            assert_eq!(found.hash, first, "packed: {packed}");
            assert_eq!(find(&common, &[], "0123abc"), None);
            let names = ["main", "v1.0.0", "fix/retry", "other", "../x"].map(mention);
            assert_eq!(refs(&common, &names), ["main", "v1.0.0", "fix/retry"], "packed: {packed}");
        }
        let common = Dir::open(&temp.path().join(".git")).unwrap();
        let recent = recent(&common);
        assert_eq!(recent.len(), 1, "a checkout is no commit");
        assert_eq!(
            (recent[0].author.as_str(), recent[0].subject.as_str()),
            ("Mirja Okafor", "feat: open doors")
        );
    }
}
