//! Keeps copies of sessions: the text of their turns, without secrets, within a size.
//!
//! Each session is copied once, by its id, and only what is new of it. The newest come first, so that a run that is
//! stopped, or has no room for all, keeps what matters most. A run that is killed goes on where its cursor stands;
//! what lies behind it in the copy already is recognised by its ids.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

use jiff::Timestamp;
use memdir_core::secrets::Scanner;
use memdir_core::transcript::Turn;

use super::cursor::{Cursor, Cursors};
use super::kept::{self, Copy};
use super::{LeftOut, SessionFile, TranscriptError, Transcripts, clean, find};
use crate::disk::Dir;
use crate::lock::Lock;

/// After how many bytes of a host's file the cursor is saved.
const STRIDE: u64 = 16 * 1024 * 1024;

/// What a backfill would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outlook {
    /// Sessions that there are.
    pub sessions: usize,
    /// Sessions of which something is not kept yet.
    pub new_sessions: usize,
    /// How many bytes of their files are to be read.
    pub new_bytes: u64,
    /// How many bytes the copies have now.
    pub kept_bytes: u64,
}

/// How far a backfill has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Bytes read.
    pub done: u64,
    /// Bytes to read.
    pub total: u64,
}

/// What a backfill did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Sessions that there are.
    pub sessions: usize,
    /// Sessions of which something new was kept.
    pub new_sessions: usize,
    /// Turns that were kept.
    pub turns: usize,
    /// Secrets that were redacted in them.
    pub redacted: usize,
    /// Lines that could not be read.
    pub left_out: LeftOut,
    /// Sessions whose copy had to go, the oldest first, for want of room.
    pub dropped: Vec<String>,
    /// Files that could not be read.
    pub unreadable: usize,
    /// How many bytes the copies have now.
    pub kept_bytes: u64,
}

/// A file of which something is new.
struct Task {
    file: SessionFile,
    cursor: Cursor,
}

impl Task {
    fn bytes(&self) -> u64 {
        self.file.size.saturating_sub(self.cursor.offset)
    }
}

impl Transcripts {
    /// Says what a backfill would do, and writes nothing. `dir` replaces the places where hosts keep their files.
    pub fn outlook(&self, dir: Option<&Path>) -> Result<Outlook, TranscriptError> {
        let cursors = Cursors::load(&self.home, &self.id, &self.state);
        let (tasks, sessions) = self.tasks(dir, &cursors)?;
        Ok(Outlook {
            sessions,
            new_sessions: tasks.len(),
            new_bytes: tasks.iter().map(Task::bytes).sum(),
            kept_bytes: kept::files(&self.state).iter().map(|kept| kept.size).sum(),
        })
    }

    /// Copies what is new. The caller has the user's word for it.
    ///
    /// `max_bytes` is what all copies together may have; when it is exceeded the oldest sessions go.
    pub fn backfill(
        &self,
        dir: Option<&Path>,
        scanner: &Scanner,
        max_bytes: u64,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Report, TranscriptError> {
        let _lock = Lock::attempt(&self.home.join("locks"), &format!("backfill-{}.lock", self.id))?
            .ok_or(TranscriptError::Busy)?;
        let cursors = Cursors::load(&self.home, &self.id, &self.state);
        let (tasks, sessions) = self.tasks(dir, &cursors)?;
        let total = tasks.iter().map(Task::bytes).sum();
        let mut shelf = Shelf::open(self, cursors, max_bytes)?;
        let mut report = Report { sessions, ..Report::default() };
        let mut done = 0;
        for task in tasks {
            let bytes = task.bytes();
            shelf.copy(task, scanner, &mut report, &mut |n| progress(Step { done: done + n, total }))?;
            done += bytes;
        }
        shelf.cursors.save()?;
        report.kept_bytes = shelf.total();
        Ok(report)
    }

    /// Copies what is new of one session, as [`Transcripts::backfill`] does of all. The caller has the user's word for it.
    pub fn keep(
        &self,
        file: SessionFile,
        scanner: &Scanner,
        max_bytes: u64,
    ) -> Result<Report, TranscriptError> {
        let _lock = Lock::attempt(&self.home.join("locks"), &format!("backfill-{}.lock", self.id))?
            .ok_or(TranscriptError::Busy)?;
        let cursors = Cursors::load(&self.home, &self.id, &self.state);
        let mut report = Report { sessions: 1, ..Report::default() };
        let Some(task) = task(file, &cursors) else { return Ok(report) };
        let mut shelf = Shelf::open(self, cursors, max_bytes)?;
        shelf.copy(task, scanner, &mut report, &mut |_| {})?;
        shelf.cursors.save()?;
        report.kept_bytes = shelf.total();
        Ok(report)
    }

    /// Removes every copy and says how many there were: the user took the word back.
    pub fn remove_kept(&self) -> Result<usize, TranscriptError> {
        let failed = |source| TranscriptError::Io { path: self.state.clone(), source };
        let _lock = Lock::attempt(&self.home.join("locks"), &format!("backfill-{}.lock", self.id))?
            .ok_or(TranscriptError::Busy)?;
        let mut cursors = Cursors::load(&self.home, &self.id, &self.state);
        let files = kept::files(&self.state);
        if let Some(dir) = kept::dir(&self.state).map_err(failed)? {
            for file in &files {
                dir.remove(&kept::file_name(&file.session)).map_err(failed)?;
            }
            dir.sync().map_err(failed)?;
        }
        self.forget_heard().map_err(failed)?;
        cursors.by_session.clear();
        cursors.save()?;
        Ok(files.len())
    }

    /// Lists the files of which something is new, the newest first, and says how many sessions there are.
    fn tasks(&self, dir: Option<&Path>, cursors: &Cursors) -> Result<(Vec<Task>, usize), TranscriptError> {
        let files = match dir {
            None => find::files(&self.dirs, &self.roots, &self.slugs),
            Some(dir) => find::files_below(dir)
                .map_err(|source| TranscriptError::Io { path: dir.to_owned(), source })?,
        };
        let files = find::one_a_session(files);
        let n_sessions = files.len();
        let mut tasks: Vec<Task> = files.into_iter().filter_map(|file| task(file, cursors)).collect();
        tasks.sort_by_key(|task| std::cmp::Reverse(task.file.modified_ns));
        Ok((tasks, n_sessions))
    }
}

fn task(file: SessionFile, cursors: &Cursors) -> Option<Task> {
    let cursor = match cursors.by_session.get(&file.session) {
        Some(cursor) if cursor.is_of(&file) => cursor.clone(),
        // The host wrote it anew; what was said before stays in the copy.
        Some(cursor) => {
            let (last, kept) = (cursor.last, cursor.kept);
            Cursor { last, kept, rewritten: true, ..Cursor::new(&file).ok()? }
        }
        None => Cursor::new(&file).ok()?,
    };
    (file.size > cursor.offset).then_some(Task { file, cursor })
}

/// The copies of a project while they are written.
struct Shelf {
    dir: Dir,
    cursors: Cursors,
    max_bytes: u64,
    /// Size and age of each copy.
    copies: BTreeMap<String, (u64, Timestamp)>,
    /// There is no room for anything older than what is there.
    is_full: bool,
}

impl Shelf {
    fn open(transcripts: &Transcripts, cursors: Cursors, max_bytes: u64) -> Result<Self, TranscriptError> {
        let failed = |source| TranscriptError::Io { path: transcripts.state.clone(), source };
        let dir = kept::ensure_dir(&transcripts.state).map_err(failed)?;
        let last = |session: &str| cursors.by_session.get(session).and_then(|cursor| cursor.last);
        let copies = kept::files(&transcripts.state)
            .into_iter()
            .map(|kept| (kept.session.clone(), (kept.size, last(&kept.session).unwrap_or(kept.modified))))
            .collect();
        Ok(Self { dir, cursors, max_bytes, copies, is_full: false })
    }

    fn total(&self) -> u64 {
        self.copies.values().map(|(size, _)| size).sum()
    }

    /// Copies one file; one that cannot be read is counted, what cannot be written ends the run.
    fn copy(
        &mut self,
        task: Task,
        scanner: &Scanner,
        report: &mut Report,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), TranscriptError> {
        let Task { file, mut cursor } = task;
        let session = file.session.clone();
        if self.is_full && !self.copies.contains_key(&session) {
            self.pass_over(&file, cursor, report);
            return Ok(());
        }
        let path = self.dir.path().to_owned();
        let failed = |source| TranscriptError::Io { path: path.clone(), source };
        let Ok(mut turns) = file.turns_from(cursor.offset) else {
            report.unreadable += 1;
            return Ok(());
        };
        let mut copy = Copy::open(&self.dir, &session, file.host).map_err(failed)?;
        let mut known = Known::new(&self.dir, &session, &copy, &cursor);
        let (from, before) = (cursor.offset, report.turns);
        let mut saved_at = from;
        cursor.dropped = false;
        loop {
            let new = match turns.read_line() {
                Ok(Some(new)) => new,
                Ok(None) => break,
                Err(_) => {
                    report.unreadable += 1;
                    break;
                }
            };
            for turn in new {
                let (turn, n_secrets) = clean(turn, scanner);
                if copy.size >= self.max_bytes || !known.is_new(&turn) {
                    continue;
                }
                cursor.last = cursor.last.max(turn.at);
                report.redacted += n_secrets;
                report.turns += 1;
                copy.push(turn).map_err(failed)?;
            }
            cursor.offset = turns.offset();
            if cursor.offset - saved_at >= STRIDE {
                saved_at = cursor.offset;
                copy.sync().map_err(failed)?;
                cursor.kept = copy.size;
                self.cursors.by_session.insert(session.clone(), cursor.clone());
                self.cursors.save()?;
            }
            progress(cursor.offset - from);
        }
        copy.sync().map_err(failed)?;
        cursor.kept = copy.size;
        report.left_out.add(turns.left_out());
        report.new_sessions += usize::from(report.turns > before);
        self.copies.insert(session.clone(), (copy.size, cursor.last.unwrap_or(file.modified())));
        self.cursors.by_session.insert(session.clone(), cursor);
        self.make_room(&session, report).map_err(failed)?;
        self.cursors.save()
    }

    /// Leaves out a session that is older than all there is room for.
    fn pass_over(&mut self, file: &SessionFile, cursor: Cursor, report: &mut Report) {
        let cursor = Cursor { offset: file.size, dropped: true, ..cursor };
        self.cursors.by_session.insert(file.session.clone(), cursor);
        report.dropped.push(file.session.clone());
    }

    /// Lets the oldest copies go until the rest fits.
    fn make_room(&mut self, newest: &str, report: &mut Report) -> io::Result<()> {
        while self.total() > self.max_bytes {
            let oldest = self.copies.iter().min_by_key(|(session, (_, last))| (*last, (*session).clone()));
            let Some(session) = oldest.map(|(session, _)| session.clone()) else { return Ok(()) };
            if session == newest && self.copies.len() == 1 {
                return Ok(());
            }
            self.dir.remove(&kept::file_name(&session))?;
            self.copies.remove(&session);
            if let Some(cursor) = self.cursors.by_session.get_mut(&session) {
                cursor.dropped = true;
            }
            self.is_full |= session == newest;
            report.dropped.push(session);
        }
        Ok(())
    }
}

/// The turns that a copy has already, by their ids and texts; empty where the cursor vouches for the whole copy.
struct Known {
    hashes: HashSet<u64>,
    is_needed: bool,
}

impl Known {
    fn new(dir: &Dir, session: &str, copy: &Copy, cursor: &Cursor) -> Self {
        let is_needed = cursor.offset == 0 || cursor.kept != copy.size;
        let mut hashes = HashSet::new();
        if is_needed {
            let path = dir.path().join(kept::file_name(session));
            hashes.extend(kept::turns_at(&path, session).into_iter().flatten().map(|turn| hash(&turn)));
        }
        Self { hashes, is_needed }
    }

    fn is_new(&mut self, turn: &Turn) -> bool {
        !self.is_needed || self.hashes.insert(hash(turn))
    }
}

fn hash(turn: &Turn) -> u64 {
    let mut hasher = DefaultHasher::new();
    // A text that was cut for its length is the same text.
    (&turn.uuid, kept::cut(&turn.text)).hash(&mut hasher);
    hasher.finish()
}
