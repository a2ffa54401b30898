//! The journal of a project: one immutable file an entry, outside every vault.
//!
//! `projects/<id>/journal/2026/04/2026-04-02T103100Z-5da15695.md`: the name tells when and in which session, so that
//! listing needs no file to be opened. An entry is never changed; what it left open is closed by a later one. What comes
//! in is looked through for secrets first. Look at [`Journal::add`] and [`Journal::files`].

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memdir_core::hash::ContentHash;
use memdir_core::journal::{self, Entry, OpenItem, Sections};
use memdir_core::memory::{Document, Header, Memory, MemoryPath};
use memdir_core::policy::{self, Refusal};
use memdir_core::recall::Note;
use memdir_core::secrets::Scanner;

use crate::disk::{Dir, EntryKind, ReadError};
use crate::history::ChangeId;
use crate::lock::{Lock, LockError};
use crate::place::Place;

/// The folder below a project's state.
const FOLDER: &str = "journal";
/// Largest entry: a session's words, not its transcript.
pub const MAX_ENTRY: usize = 64 * 1024;
/// How many entries may be written in one second of one session.
const MAX_TWINS: usize = 100;

/// The journal of one project.
#[derive(Debug, Clone)]
pub struct Journal {
    home: PathBuf,
    id: String,
    state: PathBuf,
}

/// One file of it, known by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFile {
    /// When it was written.
    pub at: Timestamp,
    /// Its name without the ending.
    pub stem: String,
    /// Where it is.
    pub path: PathBuf,
    /// The same, from the journal's folder.
    below: String,
}

/// An entry as a search ranks it.
#[derive(Debug, Clone)]
pub struct Noted {
    /// Its file.
    pub path: PathBuf,
    /// What it says, ready to be ranked like a memory; its path is the one below the journal.
    pub note: Note,
    /// The session, as the host calls it.
    pub session: Option<String>,
    /// When the session ended.
    pub at: Timestamp,
}

/// What is known of a session when an entry is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The host's id of it.
    pub session: Option<String>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it ended; now if nobody knows.
    pub ended: Option<Timestamp>,
    /// The branch.
    pub branch: Option<String>,
    /// The agent.
    pub agent: Option<String>,
}

/// An entry that is ready to be written.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The entry, with an id for each item.
    pub entry: Entry,
    /// The file that says the same already.
    pub known: Option<JournalFile>,
    /// What will be open once it is written.
    pub open: Vec<OpenItem>,
}

/// What became of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its file.
    pub file: JournalFile,
    /// Whether it was there already: the same session said the same before.
    pub was_there: bool,
}

/// Why an entry was not written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It has nothing in it.
    #[error("the entry is empty")]
    Empty,
    /// It is longer than a journal entry may be.
    #[error("{0} bytes: an entry has at most {MAX_ENTRY}")]
    TooLarge(usize),
    /// It holds a secret.
    #[error("refused: {}", .0.iter().map(|refusal| refusal.evidence.as_str()).collect::<Vec<_>>().join("; "))]
    Secret(Vec<Refusal>),
    /// Another process holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system said no.
    #[error("could not use the journal {}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

impl Journal {
    /// Finds the journal of the project at `place`.
    pub fn of(place: &Place) -> Self {
        Self::below(&place.home, place.project.id.as_str())
    }

    /// Finds the journal of the project with this id.
    pub fn below(home: &Path, id: &str) -> Self {
        Self { home: home.to_owned(), id: id.to_owned(), state: home.join("projects").join(id) }
    }

    /// Returns the folder, which may not exist yet.
    pub fn path(&self) -> PathBuf {
        self.state.join(FOLDER)
    }

    /// Lists the entries by their names, the newest first. Opens no entry.
    pub fn files(&self) -> io::Result<Vec<JournalFile>> {
        let mut files = Vec::new();
        let Some(root) = found(Dir::open(&self.path()))? else { return Ok(files) };
        for year in folders(&root, 4)? {
            let dir = root.sub(&year)?;
            for month in folders(&dir, 2)? {
                let below = format!("{year}/{month}");
                let dir = dir.sub(&month)?;
                dir.for_each(|name, kind| {
                    if kind == EntryKind::File {
                        files.extend(JournalFile::named(name, &below, &dir));
                    }
                })?;
            }
        }
        files.sort_unstable_by(|a, b| (b.at, &b.stem).cmp(&(a.at, &a.stem)));
        Ok(files)
    }

    /// Returns when the last entry was written.
    pub fn last(&self) -> Option<Timestamp> {
        self.files().ok()?.first().map(|file| file.at)
    }

    /// Reads one entry; `None` if it is gone or no file.
    pub fn read(&self, file: &JournalFile) -> io::Result<Option<Entry>> {
        Ok(self.bytes(file)?.map(|bytes| file.entry(&bytes)))
    }

    fn bytes(&self, file: &JournalFile) -> io::Result<Option<Vec<u8>>> {
        let Some(root) = found(Dir::open(&self.path()))? else { return Ok(None) };
        match root.read(&file.below, MAX_ENTRY as u64 * 2) {
            Ok(bytes) => Ok(bytes),
            Err(ReadError::Io(err)) => Err(err),
            Err(ReadError::NotAFile | ReadError::TooLarge { .. }) => Ok(None),
        }
    }

    /// Reads all entries as a search ranks them, the newest first. One that cannot be read is passed over.
    pub fn notes(&self) -> io::Result<Vec<Noted>> {
        let noted = |file: JournalFile| {
            let bytes = self.bytes(&file).ok().flatten()?;
            let document = Document::parse(&bytes);
            let (memory, _) = Memory::read(&MemoryPath::new(&file.below).ok()?, &document);
            let entry = file.entry(&bytes);
            let at = entry.ended.unwrap_or(file.at);
            let mut note = Note::of(&memory, &document);
            note.modified = Some(at);
            Some(Noted { path: file.path, note, session: entry.session, at })
        };
        Ok(self.files()?.into_iter().filter_map(noted).collect())
    }

    /// Reads what an entry says about itself, without its sections.
    pub fn read_head(&self, file: &JournalFile) -> io::Result<Option<Entry>> {
        use std::io::Read;
        let Some(root) = found(Dir::open(&self.path()))? else { return Ok(None) };
        let opened = match root.open_file(&file.below) {
            Ok(opened) => opened,
            Err(ReadError::Io(err)) => return Err(err),
            Err(_) => None,
        };
        let Some((opened, _)) = opened else { return Ok(None) };
        let mut bytes = Vec::with_capacity(1_024);
        opened.take(Header::MAX_BYTES as u64).read_to_end(&mut bytes)?;
        let mut entry = file.entry(&bytes);
        entry.sections = Sections::default();
        Ok(Some(entry))
    }

    /// Reads all entries, the newest first: as documents for a search, and for whoever walks the journal. One that
    /// cannot be read is passed over.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = (JournalFile, Entry)> + use<>> {
        let journal = self.clone();
        let files = self.files()?.into_iter();
        Ok(files.filter_map(move |file| {
            let entry = journal.read(&file).ok().flatten()?;
            Some((file, entry))
        }))
    }

    /// Returns what no entry has closed yet; what was named last comes first.
    pub fn open_items(&self) -> io::Result<Vec<OpenItem>> {
        Ok(journal::open_items(&self.oldest_first()?))
    }

    fn oldest_first(&self) -> io::Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = self.entries()?.map(|(_, entry)| entry).collect();
        entries.reverse();
        Ok(entries)
    }

    /// Says what writing these sections would do. Writes nothing.
    ///
    /// Items that are open already keep their ids. If the same session left the same before, that entry is the answer:
    /// writing it again would do nothing.
    pub fn plan(
        &self,
        sections: Sections,
        about: &About,
        now: Timestamp,
        zone: &TimeZone,
    ) -> io::Result<Planned> {
        let mut known: Vec<(JournalFile, Entry)> = self.entries()?.collect();
        known.reverse();
        let same = known.iter().rfind(|(file, entry)| {
            entry.session == about.session
                && entry.sections.says_the_same(&sections)
                && (about.session.is_some() || day(file.at, zone) == day(now, zone))
        });
        if let Some((file, entry)) = same {
            let (file, entry) = (file.clone(), entry.clone());
            let open = journal::open_items(known.iter().map(|(_, entry)| entry));
            return Ok(Planned { entry, known: Some(file), open });
        }
        let mut sections = sections;
        let open = journal::open_items(known.iter().map(|(_, entry)| entry));
        let mut last = None;
        journal::identify(&mut sections, &open, || {
            let id = ChangeId::next(now, last.as_ref())?;
            last = Some(id.clone());
            Ok::<String, io::Error>(id.to_string())
        })?;
        let entry = Entry {
            name: journal::name(day(now, zone), &sections),
            description: journal::describe(&sections),
            project: self.id.clone(),
            session: about.session.clone(),
            started: about.started,
            ended: about.ended.or(Some(now)),
            branch: about.branch.clone(),
            agent: about.agent.clone(),
            sections,
        };
        let open = journal::open_items(known.iter().map(|(_, entry)| entry).chain([&entry]));
        Ok(Planned { entry, known: None, open })
    }

    /// Says whether a planned entry may be written at all.
    pub fn check(&self, planned: &Planned, scanner: &Scanner) -> Result<(), JournalError> {
        checked(&planned.entry, scanner).map(drop)
    }

    /// Writes a planned entry, durably and under a name of its own.
    pub fn write(&self, planned: &Planned, now: Timestamp, scanner: &Scanner) -> Result<Added, JournalError> {
        if let Some(file) = &planned.known {
            return Ok(Added { file: file.clone(), was_there: true });
        }
        let bytes = checked(&planned.entry, scanner)?;
        let _lock = self.lock()?;
        let file = self.publish(&planned.entry, now, &bytes).map_err(|source| self.failed(source))?;
        Ok(Added { file, was_there: false })
    }

    /// Adds an entry with these sections, unless the same session left the same before.
    pub fn add(
        &self,
        sections: Sections,
        about: &About,
        now: Timestamp,
        zone: &TimeZone,
        scanner: &Scanner,
    ) -> Result<(Planned, Added), JournalError> {
        let lock = self.lock()?;
        let planned = self.plan(sections, about, now, zone).map_err(|source| self.failed(source))?;
        drop(lock);
        let added = self.write(&planned, now, scanner)?;
        Ok((planned, added))
    }

    fn publish(&self, entry: &Entry, now: Timestamp, bytes: &[u8]) -> io::Result<JournalFile> {
        let utc = now.to_zoned(TimeZone::UTC);
        let below = utc.strftime("%Y/%m").to_string();
        let (year, month) = below.split_once('/').unwrap_or((&below, ""));
        let root = Dir::ensure(&self.state)?.ensure_sub(FOLDER)?;
        let dir = root.ensure_sub(year)?.ensure_sub(month)?;
        let stem = format!("{}-{}", utc.strftime("%Y-%m-%dT%H%M%SZ"), tail(entry, bytes));
        let mut staged = dir.stage(bytes)?;
        for twin in 1..=MAX_TWINS {
            let name = if twin == 1 { format!("{stem}.md") } else { format!("{stem}-{twin}.md") };
            match staged.rename_new(&dir, &name) {
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                done => {
                    done?;
                    dir.sync()?;
                    return JournalFile::named(&name, &below, &dir)
                        .ok_or_else(|| io::ErrorKind::InvalidData.into());
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn lock(&self) -> Result<Lock, JournalError> {
        Ok(Lock::acquire(&self.home.join("locks"), &format!("journal-{}.lock", self.id))?)
    }

    fn failed(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path(), source }
    }
}

impl JournalFile {
    /// Reads `2026-04-02T103100Z-5da15695.md`.
    fn named(name: &str, below: &str, dir: &Dir) -> Option<Self> {
        let stem = name.strip_suffix(".md")?;
        let (time, _) = stem.split_once("Z-")?;
        let at = DateTime::strptime("%Y-%m-%dT%H%M%S", time).ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp();
        let (stem, path, below) = (stem.to_owned(), dir.path().join(name), format!("{below}/{name}"));
        Some(Self { at, stem, path, below })
    }

    /// Reads its bytes; a time that they do not tell is told by the name.
    fn entry(&self, bytes: &[u8]) -> Entry {
        let mut entry = Entry::read(&self.stem, bytes);
        if entry.at().is_none() {
            entry.ended = Some(self.at);
        }
        entry
    }
}

/// Returns the bytes of an entry that may be written.
fn checked(entry: &Entry, scanner: &Scanner) -> Result<Vec<u8>, JournalError> {
    if entry.sections.is_empty() {
        return Err(JournalError::Empty);
    }
    let bytes = entry.render().into_bytes();
    if bytes.len() > MAX_ENTRY {
        return Err(JournalError::TooLarge(bytes.len()));
    }
    // The ids of items are ours; behind a word such as "key" one would look like a secret.
    let mut said = entry.clone();
    said.sections.unfinished.iter_mut().for_each(|item| item.id.clear());
    let secrets = policy::secrets(scanner, said.render().as_bytes(), None);
    if secrets.is_empty() { Ok(bytes) } else { Err(JournalError::Secret(secrets)) }
}

/// Ends a file's name: the beginning of the session's id, else of a hash of the entry.
fn tail(entry: &Entry, bytes: &[u8]) -> String {
    let session = entry.session.as_deref().unwrap_or_default();
    let plain: String = session.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    if plain.is_empty() { ContentHash::of(bytes).short() } else { plain.to_ascii_lowercase() }
}

fn day(at: Timestamp, zone: &TimeZone) -> jiff::civil::Date {
    at.to_zoned(zone.clone()).date()
}

/// Lists the folders whose names are this many digits, in order.
fn folders(dir: &Dir, n_digits: usize) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    dir.for_each(|name, kind| {
        let is_number = name.len() == n_digits && name.bytes().all(|b| b.is_ascii_digit());
        if kind == EntryKind::Dir && is_number {
            names.push(name.to_owned());
        }
    })?;
    names.sort_unstable();
    Ok(names)
}

fn found(dir: io::Result<Dir>) -> io::Result<Option<Dir>> {
    match dir {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        dir => dir.map(Some),
    }
}

#[cfg(test)]
mod tests;
