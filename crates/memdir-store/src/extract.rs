//! How far each session was looked through for what it teaches, and what was made of it.
//!
//! The cursor of a session stands in the project's `cursors.json`, beside those of others: the file by its first bytes,
//! the byte offset, and the turn that was looked at last. It moves after what was found is safe, so a worker that is killed
//! looks again; what it finds a second time is known by a hash of the words it rests on, and made once. Look at
//! [`Progress`] first: it reads a [`Window`] of what is new, and is told when that is done with.

use std::collections::{BTreeMap, HashMap};
use std::io;

use jiff::Timestamp;
use memdir_core::extract::Said;
use memdir_core::hash::ContentHash;
use memdir_core::secrets::Scanner;
use memdir_core::transcript::{Role, Turn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::place::Place;
use crate::transcript::cursor::{amend, lock_of, read};
use crate::transcript::{SessionFile, TranscriptError, clean};

/// Our part of the file of cursors.
const KEY: &str = "extract";
/// As many messages, and as much text, are looked through at once; more waits for the next window.
const MAX_MESSAGES: usize = 600;
const MAX_TEXT: usize = 4 * 1024 * 1024;
/// As much of one message is kept.
const MAX_MESSAGE: usize = 64 * 1024;
/// As many messages before the window are kept, for what is pointed at.
const MAX_EARLIER: usize = 12;
/// As many hashes of what was made are kept a session, and as many sessions.
const MAX_MADE: usize = 400;
const MAX_SESSIONS: usize = 500;

/// How far one session was looked through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Cursor {
    /// A hash of the file's first bytes, and how many they are.
    head: String,
    head_bytes: u64,
    /// The offset up to which it was looked through.
    offset: u64,
    /// Where the window before the offset began.
    before: u64,
    /// The last turn that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// What was made, by its evidence.
    made: Vec<String>,
}

/// The cursor of one session, to read from and to move.
#[derive(Debug)]
pub struct Progress<'a> {
    place: &'a Place,
    session: String,
    cursor: Cursor,
}

/// What is new in a session.
#[derive(Debug, Default)]
pub struct Window {
    /// What was said just before, which was looked at already.
    pub earlier: Vec<Said>,
    /// What is new, oldest first, without secrets and without what was injected.
    pub messages: Vec<Said>,
    /// Whether more is left after it.
    pub is_behind: bool,
    from: u64,
    to: u64,
    uuid: Option<String>,
}

impl Window {
    /// Says whether nothing is new, not even a line without a message.
    pub fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Returns how many turns of the user are new.
    pub fn n_turns(&self) -> usize {
        self.messages.iter().filter(|said| said.role == Role::User).count()
    }
}

impl<'a> Progress<'a> {
    /// Looks up how far a session was looked through. What cannot be read is looked through again.
    pub fn of(place: &'a Place, session: &str) -> Self {
        let cursor = all(read(&place.state_dir()).remove(KEY)).remove(session).unwrap_or_default();
        Self { place, session: session.to_owned(), cursor }
    }

    /// Reads what is new in the session's file.
    pub fn read(&self, file: &SessionFile, scanner: &Scanner) -> io::Result<Window> {
        let is_same = self.is_of(file);
        let (offset, before) = if is_same { (self.cursor.offset, self.cursor.before) } else { (0, 0) };
        let mut window = Window { from: offset, to: offset, ..Window::default() };
        if file.size <= offset {
            return Ok(window);
        }
        self.look_back(file, before, scanner, &mut window)?;
        let mut kept = Kept::default();
        let mut turns = file.turns_from(offset)?;
        while let Some(line) = turns.read_line()? {
            for turn in line {
                window.uuid = Some(turn.uuid.clone());
                kept.take(turn, scanner);
            }
            window.to = turns.offset();
            if kept.is_full() {
                window.is_behind = window.to < file.size;
                break;
            }
        }
        window.messages = kept.messages;
        Ok(window)
    }

    /// Reads what the agent said last before the window.
    fn look_back(
        &self,
        file: &SessionFile,
        before: u64,
        scanner: &Scanner,
        window: &mut Window,
    ) -> io::Result<()> {
        if before >= window.from {
            return Ok(());
        }
        let mut turns = file.turns_from(before)?;
        while turns.offset() < window.from {
            let Some(line) = turns.read_line()? else { break };
            for turn in line {
                if turn.role == Role::User {
                    window.earlier.clear();
                }
                window.earlier.push(Said::from(&clean(cut(turn), scanner).0));
                let extra = window.earlier.len().saturating_sub(MAX_EARLIER);
                window.earlier.drain(..extra);
            }
        }
        Ok(())
    }

    /// Says whether something that rests on these words was made already.
    pub fn has_made(&self, evidence: ContentHash) -> bool {
        self.cursor.made.contains(&short(evidence))
    }

    /// Notes that something was made that rests on these words.
    pub fn made(&mut self, evidence: ContentHash) {
        self.cursor.made.push(short(evidence));
        let extra = self.cursor.made.len().saturating_sub(MAX_MADE);
        self.cursor.made.drain(..extra);
    }

    /// Moves the cursor behind a window, for good.
    pub fn move_behind(
        &mut self,
        window: &Window,
        file: &SessionFile,
        now: Timestamp,
    ) -> Result<(), TranscriptError> {
        let (head, head_bytes) = match self.is_of(file) {
            true => (self.cursor.head.clone(), self.cursor.head_bytes),
            false => {
                let path = file.path.clone();
                file.head_hash(None).map_err(|source| TranscriptError::Io { path, source })?
            }
        };
        let uuid = window.uuid.clone().or_else(|| self.cursor.uuid.take());
        let made = std::mem::take(&mut self.cursor.made);
        // What a message points at is looked for behind the window that had messages.
        let before = if window.messages.is_empty() { self.cursor.before } else { window.from };
        let offset = window.to;
        self.cursor = Cursor { head, head_bytes, offset, before, uuid, at: Some(now), made };
        self.save()
    }

    /// Keeps what was made, without moving the cursor.
    pub fn save(&self) -> Result<(), TranscriptError> {
        let lock = lock_of(&self.place.home, self.place.project.id.as_str());
        amend(&lock, &self.place.state_dir(), KEY, |part| {
            let mut cursors = all(part);
            cursors.insert(self.session.clone(), self.cursor.clone());
            forget_oldest(&mut cursors);
            serde_json::to_value(cursors).unwrap_or_default()
        })
    }

    fn is_of(&self, file: &SessionFile) -> bool {
        let cursor = &self.cursor;
        let same = |(head, n): (String, u64)| head == cursor.head && n == cursor.head_bytes;
        cursor.head_bytes > 0
            && file.size >= cursor.offset
            && file.head_hash(Some(cursor.head_bytes)).is_ok_and(same)
    }
}

/// The messages of a window, each once.
#[derive(Default)]
struct Kept {
    messages: Vec<Said>,
    by_uuid: HashMap<String, usize>,
    n_bytes: usize,
}

impl Kept {
    /// Takes a turn. A host that writes a message again has changed it.
    fn take(&mut self, turn: Turn, scanner: &Scanner) {
        let uuid = turn.uuid.clone();
        let said = Said::from(&clean(cut(turn), scanner).0);
        if said.text.is_empty() {
            return;
        }
        self.n_bytes += said.text.len();
        match self.by_uuid.get(&uuid).and_then(|&at| self.messages.get_mut(at)) {
            Some(known) => *known = said,
            None => {
                self.by_uuid.insert(uuid, self.messages.len());
                self.messages.push(said);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.messages.len() >= MAX_MESSAGES || self.n_bytes >= MAX_TEXT
    }
}

fn cut(mut turn: Turn) -> Turn {
    turn.text.truncate(turn.text.floor_char_boundary(MAX_MESSAGE));
    turn
}

fn short(hash: ContentHash) -> String {
    hash.to_string()[..16].to_owned()
}

fn all(part: Option<Value>) -> BTreeMap<String, Cursor> {
    part.and_then(|part| serde_json::from_value(part).ok()).unwrap_or_default()
}

/// Keeps the sessions that were looked at last.
fn forget_oldest(cursors: &mut BTreeMap<String, Cursor>) {
    while cursors.len() > MAX_SESSIONS {
        let oldest = cursors.iter().min_by_key(|(_, cursor)| cursor.at).map(|(session, _)| session.clone());
        oldest.map(|session| cursors.remove(&session));
    }
}
