//! An immutable view of a vault: the frontmatter of every memory, bodies on demand.
//!
//! Taking one reads at most the header of each file and never waits for a writer: files are replaced whole, so
//! each is seen before or after a change.

use std::io::{self, Read};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{Document, Header, INDEX_PAGE, Memory, MemoryPath, Problem, Resolver};
use memdir_core::recall::Note;

use super::listing::{Listing, Skipped, Why};
use super::{MAX_MEMORY, Vault};
use crate::disk::{Dir, ReadError};

/// What nearly every header fits into.
const FIRST_READ: usize = 4096;

/// An immutable view of a vault.
#[derive(Debug)]
pub struct Snapshot {
    root: Dir,
    /// The memories, sorted by path.
    pub memories: Vec<Entry>,
    /// What is in the directory, but is no memory.
    pub skipped: Vec<Skipped>,
}

/// One memory without its body.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where it is below the vault.
    pub path: MemoryPath,
    /// What its frontmatter says.
    pub memory: Memory,
    /// What is wrong with its frontmatter.
    pub problems: Vec<Problem>,
    /// The size of the file in bytes.
    pub size: u64,
    /// When the file was last written.
    pub written: Timestamp,
}

impl Entry {
    /// Returns when the memory's content last changed, as far as anybody recorded it.
    pub fn modified(&self) -> Timestamp {
        self.memory.modified.unwrap_or(self.written)
    }
}

/// One memory with all its bytes.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Where it is below the vault.
    pub path: MemoryPath,
    /// The file.
    pub document: Document,
    /// What it says.
    pub memory: Memory,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// Which version it is.
    pub hash: ContentHash,
    /// When the file was last written.
    pub written: Timestamp,
}

impl Loaded {
    /// Returns when the memory's content last changed, as far as anybody recorded it.
    pub fn modified(&self) -> Timestamp {
        self.memory.modified.unwrap_or(self.written)
    }

    /// Returns what of it is compared and ranked, under the name of its file.
    pub fn note(&self) -> Note {
        let mut note = Note::of(&self.memory, &self.document);
        self.path.stem().clone_into(&mut note.name);
        note
    }
}

impl Vault {
    /// Takes a view of the vault as it is now.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        let listing = Listing::read(&self.root)?;
        let mut snapshot =
            Snapshot { root: self.root.clone(), memories: Vec::new(), skipped: listing.skipped };
        snapshot.memories.reserve(listing.paths.len());
        let mut buffer = vec![0; Header::MAX_BYTES];
        for path in listing.paths {
            match read_entry(&self.root, &path, &mut buffer) {
                Ok(Some(entry)) => snapshot.memories.push(entry),
                Ok(None) => {}
                Err(why) => snapshot.skipped.push(Skipped { path: path.to_string(), why }),
            }
        }
        Ok(snapshot)
    }
}

impl Vault {
    /// Reads one memory without its body; `None` if there is none that can be read.
    pub fn entry(&self, path: &MemoryPath) -> Option<Entry> {
        read_entry(&self.root, path, &mut vec![0; Header::MAX_BYTES]).ok().flatten()
    }
}

impl Vault {
    /// Reads one memory whole, without a look at the others; `None` if there is none.
    pub fn load(&self, path: &MemoryPath) -> Result<Option<Loaded>, ReadError> {
        load(&self.root, path)
    }
}

impl Vault {
    /// Reads what left the vault for the archive; what cannot be read is passed over.
    pub fn archived(&self) -> Vec<Loaded> {
        let Ok(archive) = Dir::open(&self.state_path().join("archive")) else { return Vec::new() };
        let Ok(listing) = Listing::read(&archive) else { return Vec::new() };
        listing.paths.iter().filter_map(|path| load(&archive, path).ok().flatten()).collect()
    }
}

impl Snapshot {
    /// Finds a memory by name, file stem, path or alias, in any case; an exact match wins.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let exact = |entry: &&Entry| entry.path.as_str() == name || entry.path.stem() == name;
        if let Some(entry) = self.memories.iter().find(exact) {
            return Some(entry);
        }
        let name = name.strip_suffix(".md").unwrap_or(name);
        let resolver = Resolver::new(self.memories.iter().map(|entry| &entry.memory));
        resolver.resolve(name).and_then(|index| self.memories.get(index))
    }

    /// Reads a memory whole; `None` if it is gone by now.
    pub fn load(&self, path: &MemoryPath) -> Result<Option<Loaded>, ReadError> {
        load(&self.root, path)
    }

    /// Reads the index page; `None` if there is none.
    pub fn index_page(&self) -> Result<Option<Vec<u8>>, ReadError> {
        self.root.read(INDEX_PAGE, MAX_MEMORY)
    }
}

fn load(root: &Dir, path: &MemoryPath) -> Result<Option<Loaded>, ReadError> {
    let Some(bytes) = root.read(path.as_str(), MAX_MEMORY)? else { return Ok(None) };
    let (folder, name) = root.folder(path.as_str())?;
    let written = folder.stat(name)?.map_or(Timestamp::UNIX_EPOCH, |stat| timestamp(stat.mtime_ns));
    let document = Document::parse(&bytes);
    let (memory, problems) = Memory::read(path, &document);
    Ok(Some(Loaded {
        path: path.clone(),
        hash: ContentHash::of(&bytes),
        document,
        memory,
        problems,
        written,
    }))
}

fn read_entry(root: &Dir, path: &MemoryPath, buffer: &mut [u8]) -> Result<Option<Entry>, Why> {
    let (mut file, stat) = match root.open_file(path.as_str()) {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(None),
        Err(ReadError::NotAFile) => return Err(Why::NotAFile),
        Err(_) => return Err(Why::Unreadable),
    };
    if stat.size > MAX_MEMORY {
        return Err(Why::TooLarge(stat.size));
    }
    let header = read_header(&mut file, stat.size, buffer).map_err(|_| Why::Unreadable)?;
    let (memory, problems) = Memory::read_header(path, &Document::parse(header));
    let written = timestamp(stat.mtime_ns);
    Ok(Some(Entry { path: path.clone(), memory, problems, size: stat.size, written }))
}

/// Reads as much of a file as its frontmatter needs, and no more than a frontmatter may have.
fn read_header<'b>(file: &mut impl Read, size: u64, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let first = size.min(FIRST_READ);
    let mut filled = fill(file, &mut buffer[..first])?;
    match Header::scan(&buffer[..filled]) {
        Header::Complete { len } => return Ok(&buffer[..len]),
        Header::NeedMore if size > first => {
            let end = size.min(buffer.len());
            filled += fill(file, &mut buffer[first..end])?;
        }
        _ => {}
    }
    Ok(&buffer[..filled])
}

fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}

pub(super) fn timestamp(mtime_ns: i64) -> Timestamp {
    Timestamp::from_nanosecond(mtime_ns.into()).unwrap_or(Timestamp::UNIX_EPOCH)
}
