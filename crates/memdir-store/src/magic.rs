//! Magic docs of a project: which there are, what changed behind them, and the one way in which they are written.
//!
//! ```text
//!   hook: a doc was read ─▶ note_read ─▶ magic/<doc>.json ─▶ look: related files against their prints ─▶ stale, with a brief
//!   memdir magic         ─▶ scan ──────▶        ▲                                                          │
//!                                               └───── write: gates, compare and swap, former bytes ◀── a new text
//! ```
//!
//! A doc is registered where it is found ([`Magic::scan`]) or read by an agent ([`Magic::note_read`]). Its entry holds
//! prints of the files that it is about; [`Magic::look`] compares them. Whoever changes the doc by hand has brought it up
//! to date. [`Magic::write`] can change that one file and nothing else: it must be a regular file of the work tree that git
//! does not ignore, no component of its path a link, and the same bytes that the new text was made from.

mod files;
mod state;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::magic::{self, Doc, MAX_DOC, Rewrite};
use memdir_core::secrets::Scanner;

use crate::disk::{Dir, ReadError};
use crate::lock::Lock;
use crate::place::git::Ground;
use crate::place::{Environment, Place};
use crate::standing::{Replaced, Standing};
use crate::surroundings::ground;
use files::Files;
pub use files::is_markdown;
use state::Store;
pub use state::{Entry, Stale, Undo};

/// As much of a file is looked at for its first heading.
const HEAD: u64 = 8 * 1024;
/// A hook tries as often to note that a doc was read, with a pause in between; the next reading tries again.
const ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(5);
/// As many markdown files are looked at.
const MAX_SCANNED: usize = 5_000;

/// The magic docs of one project.
#[derive(Debug)]
pub struct Magic {
    files: Files,
    standing: Standing,
    store: Store,
    locks: PathBuf,
    lock: String,
}

/// Why a magic doc is not written, or not read as one.
#[derive(Debug, thiserror::Error)]
pub enum MagicError {
    /// The path leads somewhere else.
    #[error("{0} is not a file of this project")]
    Outside(String),
    /// There is no repository.
    #[error("{0} is in no git repository: only files that git can show the changes of are written")]
    NoRepository(String),
    /// Nobody would see the change.
    #[error("git ignores {0}")]
    Ignored(String),
    /// There is no such file.
    #[error("there is no file {0}")]
    Missing(String),
    /// It is a link, or something else that is no file.
    #[error("{0} is a link or no regular file")]
    NotAFile(String),
    /// It is not text, or too much of it.
    #[error("{0} is not a text of at most {MAX_DOC} bytes")]
    NotText(String),
    /// It is no magic doc, or the new text cannot be one.
    #[error("{path}: {source}")]
    Rewrite {
        /// The file.
        path: String,
        /// What is wrong.
        source: Rewrite,
    },
    /// The new text holds a secret.
    #[error("the new text of {path} holds a secret: {rule} on line {line}")]
    Secret {
        /// The file.
        path: String,
        /// What kind.
        rule: String,
        /// Where.
        line: usize,
    },
    /// Somebody else changed it.
    #[error("{0} was changed meanwhile")]
    Raced(String),
    /// There is nothing to be undone.
    #[error("memdir has not changed {0}, or somebody has since")]
    NothingToUndo(String),
    /// The file system said no.
    #[error("could not use {path}")]
    Io {
        /// The file.
        path: String,
        /// What happened.
        source: io::Error,
    },
}

/// A magic doc as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its text.
    pub text: String,
    /// What its head says.
    pub doc: Doc,
}

impl Magic {
    /// Finds the magic docs of the project at `place`.
    pub fn of(place: &Place, env: &Environment) -> Self {
        let ground = ground(place, env).map(|ground| match &ground.repository {
            Some(repository) => Ground { dir: repository.work_tree.clone(), ..ground },
            None => ground,
        });
        let id = place.project.id.as_str();
        Self {
            files: Files::of(ground.as_ref(), env.search_path.clone()),
            standing: Standing::on(ground),
            store: Store::below(&place.home.join("projects").join(id)),
            locks: place.home.join("locks"),
            lock: format!("magic-{id}.lock"),
        }
    }

    /// Says whether any doc is registered; costs one look into a directory.
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// Lists what is registered, by path.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        self.store.entries()
    }

    /// Returns the path of a file from the project's root, in one spelling.
    pub fn path_of(&self, cwd: &Path, file: &Path) -> Result<String, MagicError> {
        let shown = || file.display().to_string();
        let root = self.standing.root().ok_or_else(|| MagicError::Outside(shown()))?;
        let absolute = std::path::absolute(cwd.join(file)).map_err(|_| MagicError::Outside(shown()))?;
        let found = absolute.strip_prefix(root).ok().map(Path::to_owned);
        let found = found.filter(|path| path.to_str().is_some_and(is_plain));
        // There may be `..` in it, or a link may lead to the directory; the file itself may be none.
        let found = found.or_else(|| {
            let parent = absolute.parent()?.canonicalize().ok()?;
            Some(parent.join(absolute.file_name()?).strip_prefix(root).ok()?.to_owned())
        });
        let path = found.and_then(|path| path.to_str().map(str::to_owned));
        path.filter(|path| is_plain(path)).ok_or_else(|| MagicError::Outside(shown()))
    }

    /// Looks through the project's markdown files and registers what is new; entries whose file is no magic doc any more
    /// go.
    pub fn scan(&self, now: Timestamp) -> io::Result<Vec<Entry>> {
        let found: Vec<(String, Doc)> = self
            .files
            .markdown(MAX_SCANNED)
            .into_iter()
            .filter_map(|path| Some((path.clone(), self.head(&path)?)))
            .collect();
        let known = self.store.entries()?;
        let is_new = |path: &str| !known.iter().any(|entry| entry.path == path);
        // Listing files takes its time, and a hook may be waiting for the lock.
        let found: Vec<Entry> =
            found
                .into_iter()
                .map(|(path, doc)| {
                    if is_new(&path) { self.registered(&path, doc, now) } else { Entry::new(&path, doc, now) }
                })
                .collect();
        let _lock = self.locked()?;
        for entry in self.store.entries()? {
            if !found.iter().any(|found| found.path == entry.path) {
                self.store.remove(&entry.path)?;
            }
        }
        for found in found {
            let entry = match self.store.load(&found.path)? {
                Some(entry) => Entry { title: found.title, rule: found.rule, ..entry },
                None => found,
            };
            self.store.save(&entry)?;
        }
        self.store.entries()
    }

    /// Notes that an agent has read a file; `true` if it is a magic doc. Other files cost a look at their beginning.
    pub fn note_read(&self, path: &str, now: Timestamp) -> io::Result<bool> {
        if !is_plain(path) || !is_markdown(path) {
            return Ok(false);
        }
        let Some(doc) = self.head(path) else { return Ok(false) };
        let Some(_lock) = self.locked_soon()? else { return Ok(true) };
        let entry = match self.store.load(path)? {
            Some(entry) => entry,
            // The prints are taken by whoever has the time: a listing is nothing for a hook.
            None => Entry::new(path, doc, now),
        };
        self.store.save(&Entry { read: Some(now), ..entry })?;
        Ok(true)
    }

    /// Compares every doc that was read with the files that it is about, and marks what is out of date.
    pub fn look(&self, now: Timestamp) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in self.store.entries()? {
            let path = entry.path.clone();
            let Ok(read) = self.read(&path) else {
                self.store.remove(&path)?;
                continue;
            };
            let before = entry.clone();
            let mut looked = self.looked_at(entry, &read, now);
            let _lock = self.locked()?;
            // Meanwhile it may have been read again; whoever wrote it knows better than this look.
            let current = self.store.load(&path)?.unwrap_or_else(|| before.clone());
            if current.text != before.text || current.undo != before.undo {
                entries.push(current);
                continue;
            }
            looked.read = looked.read.max(current.read);
            self.store.save(&looked)?;
            entries.push(looked);
        }
        Ok(entries)
    }

    /// Reads a magic doc that may be written.
    pub fn open(&self, path: &str) -> Result<Read, MagicError> {
        if !is_plain(path) {
            return Err(MagicError::Outside(path.to_owned()));
        }
        let read = self.read(path)?;
        if !self.files.has_repository() {
            return Err(MagicError::NoRepository(path.to_owned()));
        }
        if !self.files.is_shown(path) {
            return Err(MagicError::Ignored(path.to_owned()));
        }
        Ok(read)
    }

    /// Checks a new text for a doc that was read as `base`, and returns it as it would be written.
    pub fn checked(
        &self,
        path: &str,
        base: &str,
        new: &str,
        scanner: &Scanner,
    ) -> Result<String, MagicError> {
        let text = magic::rewritten(base, new)
            .map_err(|source| MagicError::Rewrite { path: path.to_owned(), source })?;
        // What was there before is the user's affair.
        let known: Vec<ContentHash> =
            scanner.scan(base.as_bytes()).iter().map(|finding| finding.value_hash(base.as_bytes())).collect();
        let findings = scanner.scan(text.as_bytes());
        match findings.iter().find(|finding| !known.contains(&finding.value_hash(text.as_bytes()))) {
            Some(finding) => Err(MagicError::Secret {
                path: path.to_owned(),
                rule: finding.rule.to_string(),
                line: finding.line,
            }),
            None => Ok(text),
        }
    }

    /// Writes a new text in the place of `base`. The former bytes are kept for [`Magic::undo`].
    pub fn write(
        &self,
        path: &str,
        base: &str,
        new: &str,
        scanner: &Scanner,
        now: Timestamp,
    ) -> Result<Entry, MagicError> {
        let read = self.open(path)?;
        if read.text != base {
            return Err(MagicError::Raced(path.to_owned()));
        }
        let text = self.checked(path, base, new, scanner)?;
        let failed = |source| MagicError::Io { path: path.to_owned(), source };
        let _lock = self.locked().map_err(failed)?;
        self.store.keep_former(path, base.as_bytes()).map_err(failed)?;
        match self.standing.replace(path, Some(base.as_bytes()), text.as_bytes()).map_err(failed)? {
            Replaced::Done => {}
            Replaced::Raced => return Err(MagicError::Raced(path.to_owned())),
        }
        let known = self.store.load(path).map_err(failed)?;
        let undo = Undo { after: ContentHash::of(text.as_bytes()), at: now };
        let current =
            Entry { read: known.and_then(|entry| entry.read), ..self.registered(path, read.doc, now) };
        let entry = Entry { undo: Some(undo), ..current };
        self.store.save(&entry).map_err(failed)?;
        Ok(entry)
    }

    /// Puts the bytes back that stood there before [`Magic::write`], if nobody has changed the file since.
    pub fn undo(&self, path: &str, now: Timestamp) -> Result<(), MagicError> {
        let failed = |source| MagicError::Io { path: path.to_owned(), source };
        let nothing = || MagicError::NothingToUndo(path.to_owned());
        let read = self.open(path)?;
        let _lock = self.locked().map_err(failed)?;
        let entry = self.store.load(path).map_err(failed)?.ok_or_else(nothing)?;
        let undo = entry.undo.as_ref().ok_or_else(nothing)?;
        if ContentHash::of(read.text.as_bytes()) != undo.after {
            return Err(nothing());
        }
        let former = self.store.former(path).map_err(failed)?.ok_or_else(nothing)?;
        match self.standing.replace(path, Some(read.text.as_bytes()), &former).map_err(failed)? {
            Replaced::Done => {}
            Replaced::Raced => return Err(MagicError::Raced(path.to_owned())),
        }
        self.store.drop_former(path).map_err(failed)?;
        let entry = Entry { undo: None, text: Some(ContentHash::of(&former)), updated: now, ..entry };
        self.store.save(&entry).map_err(failed)
    }

    /// Returns the text that stood there before memdir last wrote the doc, while that can be undone.
    pub fn former_text(&self, entry: &Entry) -> Option<String> {
        entry.undo.as_ref()?;
        String::from_utf8(self.store.former(&entry.path).ok()??).ok()
    }

    /// Reads a file of the project as text, for whoever is told what changed; `None` if it is gone, binary or too large.
    pub fn related_text(&self, path: &str) -> Option<String> {
        let bytes = self.standing.read(path).ok()??;
        String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_DOC && !text.contains('\0'))
    }

    fn locked(&self) -> io::Result<Lock> {
        Lock::acquire(&self.locks, &self.lock).map_err(io::Error::other)
    }

    /// Takes the lock if it is free, or gets free in the time that a hook has.
    fn locked_soon(&self) -> io::Result<Option<Lock>> {
        for _ in 0..ATTEMPTS {
            if let Some(lock) = Lock::attempt(&self.locks, &self.lock).map_err(io::Error::other)? {
                return Ok(Some(lock));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// Looks at the beginning of a file; `None` if it is no magic doc.
    fn head(&self, path: &str) -> Option<Doc> {
        let bytes = self.files.beginning(path, HEAD)?;
        let end = str::from_utf8(&bytes).map_or_else(|err| err.valid_up_to(), str::len);
        magic::read(str::from_utf8(&bytes[..end]).ok()?)
    }

    fn read(&self, path: &str) -> Result<Read, MagicError> {
        let bytes = self.standing.read(path).map_err(|err| match err {
            ReadError::NotAFile => MagicError::NotAFile(path.to_owned()),
            ReadError::TooLarge { .. } => MagicError::NotText(path.to_owned()),
            // A folder on the way is a link: it is not opened.
            ReadError::Io(err) if is_link(&err) => MagicError::NotAFile(path.to_owned()),
            ReadError::Io(source) => MagicError::Io { path: path.to_owned(), source },
        })?;
        let bytes = bytes.ok_or_else(|| MagicError::Missing(path.to_owned()))?;
        let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_DOC && !text.contains('\0'));
        let text = text.ok_or_else(|| MagicError::NotText(path.to_owned()))?;
        let doc = magic::read(&text);
        let doc = doc.ok_or(MagicError::Rewrite { path: path.to_owned(), source: Rewrite::NotMagic })?;
        Ok(Read { text, doc })
    }

    /// Makes an entry of a doc that is up to date now.
    fn registered(&self, path: &str, doc: Doc, now: Timestamp) -> Entry {
        let mut entry = Entry::new(path, doc, now);
        if let Ok(read) = self.read(path) {
            entry.text = Some(ContentHash::of(read.text.as_bytes()));
            entry.prints = Some(self.files.prints(path, &read.text));
        }
        entry
    }

    fn looked_at(&self, entry: Entry, read: &Read, now: Timestamp) -> Entry {
        let doc = read.doc.clone();
        let hash = ContentHash::of(read.text.as_bytes());
        let was_changed = entry.text.is_some_and(|text| text != hash);
        let Some(prints) = entry.prints.as_ref().filter(|_| !was_changed) else {
            // Somebody brought it up to date, or this is the first look: from here on changes count.
            let undo = entry.undo.filter(|undo| undo.after == hash);
            return Entry { read: entry.read, undo, ..self.registered(&entry.path, doc, now) };
        };
        let changes = self.files.changes(&entry.path, &read.text, prints);
        let since = entry.stale.as_ref().map_or(now, |stale| stale.since);
        let is_stale = entry.read.is_some() && !changes.is_empty();
        let stale = is_stale.then(|| Stale { since, brief: changes.brief(), changes });
        Entry { title: doc.title, rule: doc.rule, text: Some(hash), stale, ..entry }
    }
}

/// Says whether a path is one below the root that names nothing twice.
fn is_plain(path: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    !path.is_empty() && path.split('/').all(is_part) && !path.split('/').any(|part| part == ".git")
}

fn is_link(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotADirectory)
        || err.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}
