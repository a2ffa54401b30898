//! Which files of a vault are memories, and which are passed over and why.

use std::fmt;
use std::io;

use memdir_core::memory::{INDEX_PAGE, MemoryPath};

use crate::disk::{Dir, EntryKind, Stat, TEMP_PREFIX};

/// How many folders deep a vault is read below its root.
const MAX_FOLDERS: usize = 3;

/// A name in a vault that is not read as a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path below the vault, as far as it can be shown.
    pub path: String,
    /// Why.
    pub why: Why,
}

/// Why a name is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A link, device, socket or FIFO.
    NotAFile,
    /// A name we do not accept: hidden characters, not NFC, not UTF-8, or the index page in other letters.
    BadName,
    /// Too many folders deep.
    TooDeep,
    /// Larger than a memory may be.
    TooLarge(u64),
    /// It could not be read.
    Unreadable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFile => f.write_str("a link or special file, which is never opened"),
            Self::BadName => f.write_str("its name cannot be a memory's"),
            Self::TooDeep => f.write_str("too many folders deep"),
            Self::TooLarge(size) => write!(f, "{size} bytes: too large for a memory"),
            Self::Unreadable => f.write_str("it cannot be read"),
        }
    }
}

/// The names in a vault.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Files that may be memories, sorted.
    pub(super) paths: Vec<MemoryPath>,
    /// Folders that were listed; the root is empty.
    pub(super) folders: Vec<String>,
    /// What each of them looked like before it was listed.
    pub(super) stats: Vec<Stat>,
    /// What was passed over.
    pub(super) skipped: Vec<Skipped>,
    /// Temporary files of a writer, in the root.
    pub(super) temps: Vec<String>,
}

impl Listing {
    /// Lists the vault at `root` without opening a file.
    pub(super) fn read(root: &Dir) -> io::Result<Self> {
        let mut listing = Self::default();
        let folders = walk(root, |passed| listing.take(passed))?;
        (listing.folders, listing.stats) = folders.into_iter().unzip();
        listing.paths.sort_unstable();
        Ok(listing)
    }

    fn take(&mut self, passed: &Passed<'_>) {
        let Passed { prefix, name, kind, .. } = *passed;
        if prefix.is_empty() && name.starts_with(TEMP_PREFIX) {
            self.temps.push(name.to_owned());
        }
        if passed.is_hidden() {
            return;
        }
        let path = format!("{prefix}{name}");
        match kind {
            EntryKind::Dir => self.skip(path, Why::TooDeep),
            EntryKind::Other => self.skip(path, Why::NotAFile),
            _ if !name.ends_with(".md") => {}
            // Not text: its bytes were replaced, so the name would lead nowhere.
            EntryKind::File if name.contains(char::REPLACEMENT_CHARACTER) => self.skip(path, Why::BadName),
            EntryKind::File => match MemoryPath::new(&path) {
                Ok(path) => self.paths.push(path),
                Err(_) => self.skip(path, Why::BadName),
            },
        }
    }

    fn skip(&mut self, path: String, why: Why) {
        self.skipped.push(Skipped { path, why });
    }
}

/// A name that a walk came by.
#[derive(Debug)]
pub(crate) struct Passed<'w> {
    /// The folder it is in.
    pub(crate) folder: &'w Dir,
    /// The folder's path below the vault with a slash behind it; empty for the root.
    pub(crate) prefix: &'w str,
    /// The name.
    pub(crate) name: &'w str,
    /// What it is. A folder comes by only where it is too deep to be walked.
    pub(crate) kind: EntryKind,
    /// Its inode, as the folder records it.
    pub(crate) inode: u64,
}

impl Passed<'_> {
    /// Says whether it is none of a vault's memories by its name alone.
    fn is_hidden(&self) -> bool {
        self.name.starts_with('.') || (self.prefix.is_empty() && self.name == INDEX_PAGE)
    }

    /// Says whether it may be a memory, which a name that is no memory's may still turn out not to be.
    pub(crate) fn may_be_memory(&self) -> bool {
        !self.is_hidden()
            && self.kind == EntryKind::File
            && self.name.ends_with(".md")
            && !self.name.contains(char::REPLACEMENT_CHARACTER)
    }
}

/// Walks the vault at `root` and calls `visit` with each name. Returns the folders, the root being empty, each as it was
/// before it was listed: who compares later will see what came while it was.
pub(crate) fn walk(root: &Dir, mut visit: impl FnMut(&Passed<'_>)) -> io::Result<Vec<(String, Stat)>> {
    let mut walked = Vec::new();
    walk_folder(root, "", 0, &mut walked, &mut visit)?;
    Ok(walked)
}

fn walk_folder(
    folder: &Dir,
    prefix: &str,
    depth: usize,
    walked: &mut Vec<(String, Stat)>,
    visit: &mut impl FnMut(&Passed<'_>),
) -> io::Result<()> {
    walked.push((prefix.trim_end_matches('/').to_owned(), folder.stat_self()?));
    let mut folders = Vec::new();
    folder.for_each_inode(|name, kind, inode| {
        let passed = Passed { folder, prefix, name, kind, inode };
        if kind == EntryKind::Dir && !passed.is_hidden() {
            folders.push(name.to_owned());
        } else {
            visit(&passed);
        }
    })?;
    for name in folders {
        if depth == MAX_FOLDERS {
            visit(&Passed { folder, prefix, name: &name, kind: EntryKind::Dir, inode: 0 });
            continue;
        }
        // A folder that vanished or became a link since it was listed holds nothing for us.
        if let Ok(sub) = folder.sub(&name) {
            walk_folder(&sub, &format!("{prefix}{name}/"), depth + 1, walked, visit)?;
        }
    }
    Ok(())
}
