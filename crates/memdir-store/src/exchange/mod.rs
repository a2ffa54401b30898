//! Reads what is to be imported and writes what is exported.
//!
//! [`Folder`] is a directory of markdown files that somebody else filled, [`Archive`] our own container: one file
//! with everything we hold of a vault, from which it can be restored. Both are untrusted when they are read: no
//! links are followed, sizes and counts are limited, and an archive with anything wrong in it is refused whole.
//! Nothing here changes a vault.

mod archive;
mod folder;

pub use archive::{Archive, ArchiveError, Item, Side};
pub use folder::{Folder, FolderError, LeftOut};

/// How many files an import takes at most.
pub const MAX_FILES: usize = 50_000;
