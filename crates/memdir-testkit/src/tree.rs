//! Every file below a directory, for comparing before with after.
//!
//! Symbolic links are recorded, never followed: a test that plants a link must see the link.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// Relative path to bytes; a directory ends in `/`, a link's bytes are where it points.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// Reads everything below `directory`; a missing directory is an empty tree.
    pub fn of(directory: &Path) -> Self {
        let mut tree = Self::default();
        if directory.exists() {
            tree.add(directory, "");
        }
        tree
    }

    /// The paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The bytes of one file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Leaves out every path for which `unwanted` holds.
    pub fn without(mut self, unwanted: impl Fn(&str) -> bool) -> Self {
        self.files.retain(|path, _| !unwanted(path));
        self
    }

    /// Lists the paths that were added, removed or changed in `later`, as `+path`, `-path`, `~path`.
    pub fn changes(&self, later: &Self) -> Vec<String> {
        let gone = self.paths().filter(|path| later.get(path).is_none()).map(|path| format!("-{path}"));
        let rest = later.files.iter().filter_map(|(path, bytes)| match self.get(path) {
            None => Some(format!("+{path}")),
            Some(before) if before != bytes => Some(format!("~{path}")),
            Some(_) => None,
        });
        gone.chain(rest).collect()
    }

    /// Lists the files in which these bytes occur, for tests that nothing of a text is left.
    pub fn containing(&self, needle: &[u8]) -> Vec<&str> {
        let holds = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        self.files.iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path.as_str()).collect()
    }

    fn add(&mut self, directory: &Path, prefix: &str) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.files.insert(format!("{path}/"), Vec::new());
                self.add(&entry.path(), &format!("{path}/"));
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).unwrap();
                self.files.insert(path, target.into_os_string().into_encoded_bytes());
            } else if kind.is_file() {
                self.files.insert(path, fs::read(entry.path()).unwrap());
            } else {
                self.files.insert(path, b"special file".to_vec());
            }
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, bytes) in &self.files {
            writeln!(f, "=== {path}\n{}", String::from_utf8_lossy(bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_name_what_was_added_removed_and_changed() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        write("same", "1");
        write("other", "1");
        write("gone", "1");
        let before = Tree::of(directory.path());
        write("other", "2");
        write("new", "1");
        fs::remove_file(directory.path().join("gone")).unwrap();
        let after = Tree::of(directory.path());
        assert_eq!(before.changes(&after), ["-gone", "+new", "~other"]);
        assert_eq!(after.containing(b"2"), ["other"]);
    }
}
