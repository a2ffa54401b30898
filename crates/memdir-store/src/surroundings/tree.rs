//! Which files a project has, without walking it: the names in git's own index.
//!
//! The index is one file, sorted, with every tracked path in it; fifty thousand names are read in a few milliseconds,
//! where a walk would open thousands of directories. Versions 2, 3 and 4 are read. A split index keeps most names in
//! another file and a sparse one stands a directory for its files; what such an index leaves out is looked for on disk,
//! path by path. The bytes come from a repository and are not trusted: whatever does not parse is no index.

use std::cmp::Ordering;
use std::ops::Range;

use memchr::memmem;
use memdir_core::worth::is_file_ending;

/// The tracked paths of a project, sorted, one a line.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Each path with a line feed before it, and one at the end.
    names: Vec<u8>,
    /// Where each path begins.
    starts: Vec<u32>,
}

/// What a tree has under a mentioned path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) path: String,
    /// How many files are below a directory; `None` for a file.
    pub(crate) n_files: Option<usize>,
}

/// Bytes of an entry before the object's name: times, device, inode, mode, owner, size.
const STAT_LEN: usize = 40;
/// Where the mode stands among them.
const MODE_AT: usize = 24;
/// Says in the flags that two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;
/// The bits of the flags that hold a name's length; all set for a longer one.
const NAME_LEN: u16 = 0x0fff;
/// Directories whose files are somebody else's, or made by a build.
const NOT_OURS: [&str; 9] =
    ["node_modules", "vendor", "third_party", "dist", "build", "target", ".git", ".venv", "__pycache__"];

impl Tree {
    /// Reads git's index; `None` if these bytes are none that we understand.
    pub(crate) fn parse(index: &[u8]) -> Option<Self> {
        // SHA-1 names have 20 bytes, SHA-256 names 32, and the index does not say which.
        [20, 32].into_iter().find_map(|hash_len| Reader { bytes: index, at: 0, hash_len }.read())
    }

    /// Takes paths in any order.
    pub(crate) fn of(mut paths: Vec<String>) -> Self {
        paths.sort_unstable();
        let mut tree = Self::default();
        for path in &paths {
            tree.push(path.as_bytes());
        }
        tree.close();
        tree
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns every path.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.name(i))
    }

    /// Returns every path that is text.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.names().filter_map(|name| std::str::from_utf8(name).ok())
    }

    /// Returns the paths below the directory `dir`.
    pub(crate) fn below(&self, dir: &str) -> impl Iterator<Item = &str> {
        self.range_below(dir).filter_map(|i| std::str::from_utf8(self.name(i)).ok())
    }

    fn range_below(&self, dir: &str) -> Range<usize> {
        // "0" is the character behind "/".
        self.first_at(format!("{dir}/").as_bytes())..self.first_at(format!("{dir}0").as_bytes())
    }

    /// Finds what a text calls `mention`: that very path, else the end of one, else a directory or a module inside.
    pub(crate) fn find(&self, mention: &str) -> Option<Hit> {
        let i = self.first_at(mention.as_bytes());
        if i < self.len() && self.name(i) == mention.as_bytes() {
            return Some(Hit { path: mention.to_owned(), n_files: None });
        }
        self.dir(mention)
            .or_else(|| self.ending(&format!("/{mention}\n")))
            .or_else(|| self.inner_dir(mention))
            .or_else(|| self.module(mention))
    }

    fn dir(&self, path: &str) -> Option<Hit> {
        let n_files = self.range_below(path).len();
        (n_files > 0).then(|| Hit { path: path.to_owned(), n_files: Some(n_files) })
    }

    fn ending(&self, needle: &str) -> Option<Hit> {
        let at = memmem::find(&self.names, needle.as_bytes())?;
        Some(Hit { path: self.line_around(at)?.to_owned(), n_files: None })
    }

    fn inner_dir(&self, mention: &str) -> Option<Hit> {
        let needle = format!("/{mention}/");
        let at = memmem::find(&self.names, needle.as_bytes())?;
        let line = self.line_around(at)?;
        let end = line.find(&needle)? + needle.len() - 1;
        self.dir(&line[..end])
    }

    /// Finds `doors` as `src/doors.rs`. A file of no language is no module.
    fn module(&self, mention: &str) -> Option<Hit> {
        if mention.contains(['/', '.']) {
            return None;
        }
        let hit = self.ending(&format!("/{mention}.")).or_else(|| self.ending(&format!("\n{mention}.")))?;
        is_source(&hit.path).then_some(hit)
    }

    fn line_around(&self, at: usize) -> Option<&str> {
        let start = memchr::memrchr(b'\n', &self.names[..=at]).map_or(0, |feed| feed + 1);
        let start = if self.names.get(at) == Some(&b'\n') { at + 1 } else { start };
        let len = memchr::memchr(b'\n', &self.names[start..])?;
        std::str::from_utf8(&self.names[start..start + len]).ok()
    }

    fn first_at(&self, name: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.name(middle) < name { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn name(&self, i: usize) -> &[u8] {
        let start = self.starts[i] as usize;
        let end = self.starts.get(i + 1).map_or(self.names.len(), |next| *next as usize) - 1;
        &self.names[start..end]
    }

    fn push(&mut self, name: &[u8]) {
        self.names.push(b'\n');
        self.starts.push(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.extend_from_slice(name);
    }

    fn close(&mut self) {
        self.names.push(b'\n');
    }
}

/// Says whether a path is code or configuration of this project.
pub(crate) fn is_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_code = match ending {
        Some("md" | "mdx" | "rst" | "txt" | "lock") => false,
        Some(ending) => is_file_ending(ending),
        None => matches!(name, "Makefile" | "Dockerfile" | "justfile" | "Justfile" | "Rakefile"),
    };
    is_code && !path.rsplit('/').skip(1).any(|folder| NOT_OURS.contains(&folder))
}

/// Reads one index from its first byte to its last entry.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    hash_len: usize,
}

impl Reader<'_> {
    fn read(mut self) -> Option<Tree> {
        let header = self.take(12)?;
        let version = u32::from_be_bytes(header[4..8].try_into().ok()?);
        let n_entries = u32::from_be_bytes(header[8..12].try_into().ok()?);
        if &header[..4] != b"DIRC" || !(2..=4).contains(&version) {
            return None;
        }
        // No entry is shorter: a false count must not make us reserve memory.
        let most = self.bytes.len() / (STAT_LEN + self.hash_len);
        let n_entries = usize::try_from(n_entries).ok().filter(|n| *n <= most)?;
        let mut tree =
            Tree { names: Vec::with_capacity(self.bytes.len() / 2), starts: Vec::with_capacity(n_entries) };
        // Where the last path was put, and the name of the last entry, with which the next one may begin.
        let (mut last, mut before) = (0..0, Vec::new());
        for _ in 0..n_entries {
            let (n_shared, rest, len) = self.entry(version, before.len())?;
            let start = tree.names.len() + 1;
            tree.names.push(b'\n');
            tree.names.extend_from_slice(&before[..n_shared]);
            tree.names.extend_from_slice(rest);
            if version == 4 {
                before.truncate(n_shared);
                before.extend_from_slice(rest);
            }
            let name = &tree.names[start..];
            if name.len().min(usize::from(NAME_LEN)) != len {
                return None;
            }
            let is_plain = !name.is_empty() && memchr::memchr(b'\n', name).is_none();
            match tree.names[last.clone()].cmp(name) {
                _ if !is_plain => {}
                Ordering::Greater => return None,
                // The three sides of a conflict have one name; a split index has entries without a name.
                Ordering::Equal => {}
                Ordering::Less => {
                    last = start..tree.names.len();
                    tree.starts.push(u32::try_from(start).ok()?);
                    continue;
                }
            }
            tree.names.truncate(start - 1);
        }
        tree.close();
        Some(tree)
    }

    /// Reads an entry; returns how many bytes of the name before begin this one too, what follows them, and how long
    /// the name is said to be.
    fn entry(&mut self, version: u32, before_len: usize) -> Option<(usize, &[u8], usize)> {
        let start = self.at;
        let stat = self.take(STAT_LEN)?;
        let mode = u32::from_be_bytes(stat[MODE_AT..MODE_AT + 4].try_into().ok()?);
        // A file, a link, a submodule, or a directory of a sparse index.
        if !matches!(mode >> 12, 0o10 | 0o12 | 0o16 | 0o04) {
            return None;
        }
        self.take(self.hash_len)?;
        let flags = self.flags()?;
        if flags & EXTENDED != 0 {
            if version < 3 {
                return None;
            }
            self.flags()?;
        }
        let n_shared = if version == 4 { before_len.checked_sub(self.offset()?)? } else { 0 };
        let len = memchr::memchr(0, &self.bytes[self.at..])?;
        let rest = self.at..self.at + len;
        self.take(len + 1)?;
        if version < 4 {
            let padded = (self.at - start).next_multiple_of(8);
            self.take(padded - (self.at - start))?;
        }
        Some((n_shared, &self.bytes[rest], usize::from(flags & NAME_LEN)))
    }

    fn flags(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// Reads git's offset encoding: seven bits a byte, each but the last with its high bit set, and one added to each.
    fn offset(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
        }
        Some(value)
    }

    fn take(&mut self, len: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, args: &[&str]) {
        let status = Command::new("git").args(args).current_dir(dir).status();
        assert!(status.expect("install git: this test cannot do without").success(), "{args:?}");
    }

    fn tree_by_git(setup: &[&[&str]]) -> Option<Tree> {
        let temp = tempfile::tempdir().unwrap();
        for args in setup {
            git(temp.path(), args);
        }
        for path in [
            "README.md",
            "src/api/doors.rs",
            "src/api/store.rs",
            "src/apis.rs",
            "tests/한글.py",
            "web/useDoors.ts",
        ] {
            let path = temp.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        git(temp.path(), &["add", "."]);
        git(temp.path(), &["update-index", "--force-write-index"]);
        Tree::parse(&fs::read(temp.path().join(".git/index")).unwrap())
    }

    #[test]
    fn every_version_of_gits_index_gives_the_same_names() {
        let init: &[&str] = &["init", "-q"];
        let expected = tree_by_git(&[init]).unwrap();
        assert_eq!(expected.paths().count(), 6);
        for version in ["2", "3", "4"] {
            let tree = tree_by_git(&[init, &["config", "index.version", version]]).unwrap();
            assert!(tree.paths().eq(expected.paths()), "version {version}");
        }
        let sha256 = tree_by_git(&[&["init", "-q", "--object-format=sha256"]]).unwrap();
        assert!(sha256.paths().eq(expected.paths()));
    }

    #[test]
    fn a_path_is_found_whole_by_its_end_by_its_directory_and_as_a_module() {
        let tree = tree_by_git(&[&["init", "-q"]]).unwrap();
        let found = |mention: &str| tree.find(mention).map(|hit| (hit.path, hit.n_files));
        let file = |path: &str| Some((path.to_owned(), None));
        assert_eq!(found("src/api/doors.rs"), file("src/api/doors.rs"));
        assert_eq!(found("api/doors.rs"), file("src/api/doors.rs"));
        assert_eq!(found("doors.rs"), file("src/api/doors.rs"));
        assert_eq!(found("doors"), file("src/api/doors.rs"));
        assert_eq!(found("README.md"), file("README.md"));
        assert_eq!(found("src"), Some(("src".into(), Some(3))));
        assert_eq!(found("src/api"), Some(("src/api".into(), Some(2))));
        assert_eq!(found("api"), Some(("src/api".into(), Some(2))));
        assert_eq!(found("rs"), None);
        assert_eq!(found("and/or"), None);
    }

    #[test]
    fn bytes_that_are_no_index_are_no_index() {
        let temp = tempfile::tempdir().unwrap();
        git(temp.path(), &["init", "-q"]);
        fs::write(temp.path().join("a"), "x").unwrap();
        git(temp.path(), &["add", "."]);
        let index = fs::read(temp.path().join(".git/index")).unwrap();
        for len in 0..index.len().min(70) {
            assert!(Tree::parse(&index[..len]).is_none(), "cut to {len}");
        }
        let mut many = index;
        many[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(Tree::parse(&many).is_none());
    }
}
