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
        listing.visit(root, "", 0)?;
        listing.paths.sort_unstable();
        Ok(listing)
    }

    fn visit(&mut self, dir: &Dir, prefix: &str, depth: usize) -> io::Result<()> {
        self.folders.push(prefix.trim_end_matches('/').to_owned());
        self.stats.push(dir.stat_self()?);
        let mut folders = Vec::new();
        dir.for_each(|name, kind| {
            if depth == 0 && name.starts_with(TEMP_PREFIX) {
                self.temps.push(name.to_owned());
            }
            if name.starts_with('.') || (depth == 0 && name == INDEX_PAGE) {
                return;
            }
            let path = format!("{prefix}{name}");
            match kind {
                EntryKind::Dir => folders.push((name.to_owned(), path)),
                EntryKind::Other => self.skip(path, Why::NotAFile),
                _ if !name.ends_with(".md") => {}
                // Not text: its bytes were replaced, so the name would lead nowhere.
                EntryKind::File if name.contains(char::REPLACEMENT_CHARACTER) => {
                    self.skip(path, Why::BadName)
                }
                EntryKind::File => match MemoryPath::new(&path) {
                    Ok(path) => self.paths.push(path),
                    Err(_) => self.skip(path, Why::BadName),
                },
            }
        })?;
        for (name, path) in folders {
            if depth == MAX_FOLDERS {
                self.skip(path, Why::TooDeep);
                continue;
            }
            // A folder that vanished or became a link since it was listed holds nothing for us.
            if let Ok(folder) = dir.sub(&name) {
                self.visit(&folder, &format!("{path}/"), depth + 1)?;
            }
        }
        Ok(())
    }

    fn skip(&mut self, path: String, why: Why) {
        self.skipped.push(Skipped { path, why });
    }
}
