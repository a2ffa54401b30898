//! A directory of markdown files that another program filled.

use std::io;
use std::path::{Path, PathBuf};

use memdir_core::memory::INDEX_PAGE;

use super::MAX_FILES;
use crate::disk::{Dir, EntryKind, ReadError};
use crate::vault::MAX_MEMORY;

/// How many folders deep a directory is read.
const MAX_FOLDERS: usize = 8;

/// The markdown files of a directory.
#[derive(Debug, Default)]
pub struct Folder {
    /// Path below the directory and bytes of each, sorted.
    pub files: Vec<(String, Vec<u8>)>,
    /// The index page at its root.
    pub index_page: Option<Vec<u8>>,
    /// What is not read, and why.
    pub left_out: Vec<LeftOut>,
}

/// A file that an import passes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path, as far as it can be shown.
    pub path: String,
    /// Why.
    pub why: String,
}

/// Why a directory cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It is missing, no directory, a link, or closed to us.
    #[error("could not read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// It holds more than anybody's notes.
    #[error("{} holds more than {MAX_FILES} markdown files", path.display())]
    TooMany { path: PathBuf },
}

impl Folder {
    /// Reads every markdown file below `path`. Hidden names, links and special files are passed over.
    pub fn read(path: &Path, progress: impl FnMut(usize, usize)) -> Result<Self, FolderError> {
        Self::read_ending(path, ".md", progress)
    }

    /// Like [`Folder::read`], for files whose names end in `ending`.
    pub fn read_ending(
        path: &Path,
        ending: &str,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self, FolderError> {
        let io = |source| FolderError::Io { path: path.to_owned(), source };
        let root = Dir::open(path).map_err(io)?;
        let mut folder = Self::default();
        let mut names = Vec::new();
        folder.list(&root, ending, "", 0, &mut names).map_err(io)?;
        if names.len() > MAX_FILES {
            return Err(FolderError::TooMany { path: path.to_owned() });
        }
        names.sort();
        let total = names.len();
        for (n, name) in names.into_iter().enumerate() {
            progress(n, total);
            folder.take(&root, name)?;
        }
        Ok(folder)
    }

    fn list(
        &mut self,
        dir: &Dir,
        ending: &str,
        prefix: &str,
        depth: usize,
        names: &mut Vec<String>,
    ) -> io::Result<()> {
        let mut folders = Vec::new();
        dir.for_each(|name, kind| {
            let path = format!("{prefix}{name}");
            match kind {
                _ if name.starts_with('.') || names.len() > MAX_FILES => {}
                EntryKind::Dir => folders.push((name.to_owned(), path)),
                _ if !name.ends_with(ending) => {}
                EntryKind::Other => self.leave_out(path, "not a regular file"),
                EntryKind::File if path.contains(char::REPLACEMENT_CHARACTER) => {
                    self.leave_out(path, "its name is not UTF-8");
                }
                EntryKind::File => names.push(path),
            }
        })?;
        for (name, path) in folders {
            match dir.sub(&name) {
                _ if depth == MAX_FOLDERS => self.leave_out(path, "too many folders deep"),
                Ok(folder) => self.list(&folder, ending, &format!("{path}/"), depth + 1, names)?,
                Err(err) if err.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                    self.leave_out(path, "a link");
                }
                Err(err) => return Err(err),
            }
        }
        Ok(())
    }

    /// Takes a file. One that cannot be read stops the import: half of somebody's notes is worse than none.
    fn take(&mut self, root: &Dir, name: String) -> Result<(), FolderError> {
        match root.read(&name, MAX_MEMORY) {
            Ok(None) => {}
            Ok(Some(bytes)) if name == INDEX_PAGE => self.index_page = Some(bytes),
            Ok(Some(bytes)) => self.files.push((name, bytes)),
            Err(ReadError::Io(source)) => {
                return Err(FolderError::Io { path: root.path().join(name), source });
            }
            Err(err) => self.leave_out(name, err),
        }
        Ok(())
    }

    fn leave_out(&mut self, path: String, why: impl ToString) {
        self.left_out.push(LeftOut { path, why: why.to_string() });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_large_files_are_passed_over_and_named() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        fs::create_dir_all(at("sub/.hidden")).unwrap();
        fs::write(at("MEMORY.md"), "page").unwrap();
        fs::write(at("sub/a.md"), "a").unwrap();
        fs::write(at("sub/.hidden/b.md"), "b").unwrap();
        fs::write(at("text.txt"), "t").unwrap();
        fs::write(at("large.md"), vec![b'x'; 1 + MAX_MEMORY as usize]).unwrap();
        symlink("/etc/hostname", at("link.md")).unwrap();
        symlink("/etc", at("etc")).unwrap();
        let folder = Folder::read(temp.path(), |_, _| {}).unwrap();
        assert_eq!(folder.files, [("sub/a.md".to_owned(), b"a".to_vec())]);
        assert_eq!(folder.index_page.as_deref(), Some(&b"page"[..]));
        let left: Vec<&str> = folder.left_out.iter().map(|left| left.path.as_str()).collect();
        assert_eq!(left, ["link.md", "large.md"]);
        symlink(temp.path(), at("self")).unwrap();
        assert!(Folder::read(&at("self"), |_, _| {}).is_err(), "a link is no directory to import");
    }
}
