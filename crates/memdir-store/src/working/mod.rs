//! Working memory on disk: one file a session, beside every vault, gone when the session is.
//!
//! A hook calls [`note`] as often as it likes: it reads only what the host's file has grown by, and usually not even that,
//! because a few bytes cannot make working memory due. What was read is kept as a digest, without secrets, so that nothing
//! is read twice. At the end of a session the digest becomes a journal entry and [`retire`] removes both files; what stays
//! is how far the host's file was read, in case the session goes on.
//!
//! ```text
//!   host's file ─▶ new turns ─▶ without secrets, machine text, frames ─▶ digest ─▶ session/<session>.md
//!                    ▲                                                     │            (the five headings)
//!                    └──────────── session/<session>.json: how far, what so far ◀┘
//! ```
//!
//! Where a model may be asked, [`wanting`] says that rules wrote notes which nobody has asked a model for, and
//! [`Wanting::answered`] puts its notes in their place.
//!
//! Everything here is made from the host's file again if it is lost, so no write waits for the disk. Look at [`Session`].

mod state;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use memdir_core::hash::ContentHash;
use memdir_core::host::{Agent, said_by_user};
use memdir_core::journal::Digest;
use memdir_core::obedience::Bound;
use memdir_core::secrets::Scanner;
use memdir_core::transcript::{Host, Role, Turn};
use memdir_core::working::{self, Mark, Progress, due};

use crate::disk::Dir;
use crate::journal::Journal;
use crate::ledger::{self, EventKind};
use crate::lock::Lock;
use crate::place::{Environment, Place};
use crate::queue::{Job, Kind};
use crate::secrets;
use crate::transcript::{SessionFile, clean};
use crate::vault::Vault;
use state::{State, Store};

/// As much of a host's file is read at once; more waits for the next time.
const MAX_READ: u64 = 4 * 1024 * 1024;
/// As many of the last turns are handed to a model at most.
const MAX_LATELY: usize = 600;
/// No working memory is larger, whoever wrote it.
const MAX_FILE: u64 = 64 * 1024;
/// A session that said nothing for so long is over, whatever its host says.
const SILENCE: SignedDuration = SignedDuration::from_hours(24);
/// Sessions share so many locks; a lock is never removed.
const LOCKS: u8 = 16;
/// Before a compaction somebody else's reading is waited for, but no longer than a hook may take.
const PATIENCE: Duration = Duration::from_millis(300);
/// Longest session id that is a file name as it is.
const MAX_STEM: usize = 64;

/// A session and the file that its host keeps of it.
#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    /// The project.
    pub place: &'a Place,
    /// What the process was started with.
    pub env: &'a Environment,
    /// The host's id of it.
    pub id: &'a str,
    /// The host.
    pub agent: Agent,
    /// The host's file.
    pub transcript: &'a Path,
}

/// What came of looking at a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// There is nothing new, or not enough of it to be read.
    Nothing,
    /// What is new was read.
    Read,
    /// What is new was read, and working memory was written.
    Written,
    /// A part of what is new was read; the rest waits for the next time.
    Behind,
    /// Somebody else is reading it.
    Busy,
}

/// Returns the name that a session's files have: its id where that is a plain name, else a hash of it.
pub fn file_stem(session: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if (1..=MAX_STEM).contains(&session.len()) && session.bytes().all(is_plain) && !session.starts_with('-') {
        return session.to_owned();
    }
    format!("x-{}", &ContentHash::of(session.as_bytes()).to_string()[..32])
}

/// Returns the file of a session's working memory, which may not exist.
pub fn path(place: &Place, session: &str) -> PathBuf {
    Store::of(place).path().join(format!("{}.md", file_stem(session)))
}

/// Looks at what is new in a session, and writes its working memory if that is due: after enough tokens, and then again
/// after enough more and three calls of tools, or when `turn_ended`.
pub fn note(session: &Session<'_>, turn_ended: bool, now: Timestamp) -> io::Result<Noted> {
    let store = Store::of(session.place);
    let (offset, missing) = match store.head(session.id).filter(|head| head.transcript == session.transcript)
    {
        Some(head) => (head.offset, head.progress.chars_missing()),
        None => (0, Progress::default().chars_missing()),
    };
    // A character takes a byte at least. A file that is gone or has shrunk is looked at.
    if grown(session.transcript, offset).is_some_and(|grown| grown < missing) {
        return Ok(Noted::Nothing);
    }
    let Some(_lock) = session.lock()? else { return Ok(Noted::Busy) };
    session.advance(&store, Wish::Due { turn_ended }, now).map(|(noted, _)| noted)
}

/// Does the same without a limit on what is read, for whoever has the time; `beat` is called now and then.
pub fn catch_up(
    session: &Session<'_>,
    turn_ended: bool,
    now: Timestamp,
    beat: &mut dyn FnMut(),
) -> io::Result<Noted> {
    let store = Store::of(session.place);
    loop {
        beat();
        let locks = session.place.home.join("locks");
        let _lock = Lock::acquire(&locks, &lock_name(session.id)).map_err(io::Error::other)?;
        match session.advance(&store, Wish::Due { turn_ended }, now)?.0 {
            Noted::Behind => {}
            noted => return Ok(noted),
        }
    }
}

/// Writes working memory whether it is due or not, and returns it: the history is about to be shortened. `None` if the
/// user has said nothing yet.
pub fn before_compaction(session: &Session<'_>, now: Timestamp) -> io::Result<Option<String>> {
    let store = Store::of(session.place);
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(_lock) = session.lock()? {
            let (_, state) = session.advance(&store, Wish::Now, now)?;
            let is_something = state.is_some_and(|state| !state.digest().is_empty());
            return if is_something { read(session.place, session.id) } else { Ok(None) };
        }
        if Instant::now() >= until {
            return read(session.place, session.id);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Notes that rules wrote and no model was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanting {
    mark: Option<Mark>,
    n_prompts: usize,
}

/// Says whether a session has notes that rules wrote and no model was asked for.
pub fn wanting(session: &Session<'_>) -> io::Result<Option<Wanting>> {
    let Some(state) = Store::of(session.place).load(session.id)?.filter(|state| state.head.unasked) else {
        return Ok(None);
    };
    Ok(Some(Wanting { mark: state.head.progress.written, n_prompts: state.digest().n_prompts() }))
}

impl Wanting {
    /// Notes that a model was asked, and puts what it wrote in the place of what rules did. Notes that are older than
    /// those which rules wrote meanwhile are left out; says whether they were taken.
    pub fn answered(&self, session: &Session<'_>, notes: Option<&str>) -> io::Result<bool> {
        let locks = session.place.home.join("locks");
        let _lock = Lock::acquire(&locks, &lock_name(session.id)).map_err(io::Error::other)?;
        let store = Store::of(session.place);
        let Some(mut state) = store.load(session.id)? else { return Ok(false) };
        if state.head.progress.written != self.mark {
            return Ok(false);
        }
        state.head.unasked = false;
        let dir = store.ensure()?;
        if let Some(notes) = notes {
            state.head.by_model = Some(self.n_prompts);
            dir.replace_derived(&dir, &format!("{}.md", file_stem(session.id)), notes.as_bytes())?;
        }
        store.save(&dir, &state)?;
        Ok(notes.is_some())
    }
}

/// Returns the last turns of a session, without secrets, out of the last bytes of its file, and the directory that it
/// began in.
pub fn lately(session: &Session<'_>) -> io::Result<(Vec<Turn>, Option<PathBuf>)> {
    let Some(file) = SessionFile::at(session.transcript, host(session.agent)) else {
        return Ok((Vec::new(), None));
    };
    let began = file.turns()?.find_map(|turn| turn.cwd).map(PathBuf::from);
    let scanner = session.scanner()?;
    let mut last = VecDeque::new();
    // In the middle of a line, the rest of it is no line and is passed over.
    let mut turns = file.turns_from(file.size.saturating_sub(MAX_READ))?;
    while let Some(line) = turns.read_line()? {
        last.extend(line.into_iter().map(|turn| said(turn, &scanner)).filter(|turn| !turn.text.is_empty()));
        last.drain(..last.len().saturating_sub(MAX_LATELY));
    }
    Ok((last.into(), began))
}

/// Returns a session's working memory, if it has one.
pub fn read(place: &Place, session: &str) -> io::Result<Option<String>> {
    let Some(dir) = Store::of(place).open()? else { return Ok(None) };
    let bytes = dir.read(&format!("{}.md", file_stem(session)), MAX_FILE).map_err(io::Error::other)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns what was read of a session so far; `None` if nothing was.
pub fn digest(place: &Place, session: &str) -> io::Result<Option<Digest>> {
    Ok(Store::of(place).load(session)?.map(State::into_digest))
}

/// Removes a session's working memory and says whether there was one. How far the host's file was read is remembered: a
/// session that goes on begins there.
pub fn retire(place: &Place, session: &str) -> io::Result<bool> {
    let _lock = Lock::acquire(&place.home.join("locks"), &lock_name(session)).map_err(io::Error::other)?;
    Store::of(place).retire(session)
}

/// Returns what a session gets back after its history was shortened, framed, in at most `limit` bytes: the rules in
/// force, what is unfinished in the project, its working memory, and the names of the memories that it was shown. What
/// cannot be read is left out.
pub fn restore(place: &Place, session: &str, vaults: &[Vault], rules: &[Bound], limit: usize) -> String {
    let open = Journal::of(place).open_items().unwrap_or_default();
    let working = read(place, session).ok().flatten().unwrap_or_default();
    let surfaced: Vec<String> = vaults.iter().flat_map(|vault| surfaced(vault, session)).collect();
    if let Some(vault) = vaults.first() {
        // The mark of a frame must never change, so this machine's secret is made before the first one.
        let _ = vault.ensure_ledger();
    }
    let key = Dir::open(&place.home).ok().and_then(|home| ledger::key(&home)).unwrap_or_default();
    working::Restoration { rules, open: &open, working: &working, surfaced: &surfaced }.render(limit, &key)
}

/// Returns the names of the memories of a vault that a session was shown, the last one first.
fn surfaced(vault: &Vault, session: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Some(ledger) = vault.ledger() else { return names };
    // What cannot be read was not shown.
    let _ = ledger.for_each(|event| {
        if event.ev == EventKind::Surfaced && event.sid.as_deref() == Some(session) {
            names.retain(|name| *name != event.mem);
            names.push(event.mem);
        }
    });
    names.reverse();
    names
}

/// Finds sessions that nobody said the end of and that have been silent for a day, as jobs that end them.
pub fn abandoned(place: &Place, now: Timestamp) -> io::Result<Vec<Job>> {
    let heads = Store::of(place).heads()?;
    let is_over = |head: &state::Head| {
        let written = std::fs::metadata(&head.transcript).and_then(|about| about.modified()).ok();
        let written = written.and_then(|at| Timestamp::try_from(at).ok());
        now.duration_since(written.map_or(head.updated, |written| written.max(head.updated))) > SILENCE
    };
    let job = |head: state::Head| {
        let agent = Agent::parse(&head.agent);
        Job::new(Kind::End, place, now).about(&head.session, agent, Some(head.transcript))
    };
    Ok(heads.into_iter().filter(is_over).map(job).collect())
}

/// When working memory is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// If it is due.
    Due { turn_ended: bool },
    /// In any case.
    Now,
}

impl Session<'_> {
    fn lock(&self) -> io::Result<Option<Lock>> {
        let locks = self.place.home.join("locks");
        Lock::attempt(&locks, &lock_name(self.id)).map_err(io::Error::other)
    }

    /// Reads what is new, up to a limit, and writes what came of it. The caller holds the session's lock.
    fn advance(&self, store: &Store, wish: Wish, now: Timestamp) -> io::Result<(Noted, Option<State>)> {
        let Some(file) = SessionFile::at(self.transcript, host(self.agent)) else {
            return Ok((Noted::Nothing, None));
        };
        let mut state = match store.load(self.id)?.filter(|state| state.is_of(&file)) {
            Some(state) => state,
            None => State::begin(self, &file, store.ended(self.id))?,
        };
        let from = state.head.offset;
        let is_behind = self.read_new(&file, &mut state)?;
        let is_due = match wish {
            Wish::Due { turn_ended } => due(&state.head.progress, turn_ended && !is_behind),
            Wish::Now => !state.digest().is_empty(),
        };
        if state.head.offset == from && !is_due {
            return Ok((Noted::Nothing, Some(state)));
        }
        state.head.updated = now;
        let dir = store.ensure()?;
        if is_due {
            self.write(&dir, &mut state, wish)?;
        }
        // Last: what was not written down here is read again.
        store.save(&dir, &state)?;
        let noted = match (is_behind, is_due) {
            (true, _) => Noted::Behind,
            (false, true) => Noted::Written,
            (false, false) => Noted::Read,
        };
        Ok((noted, Some(state)))
    }

    /// Writes the notes: those of a model with what was asked since, while it knows nearly all; else those of rules.
    fn write(&self, dir: &Dir, state: &mut State, wish: Wish) -> io::Result<()> {
        let n_prompts = state.digest().n_prompts();
        let known = state.head.by_model.filter(|_| wish == Wish::Now && !due(&state.head.progress, true));
        let text = match known.and(read(self.place, self.id)?) {
            Some(notes) if known == Some(n_prompts) => notes,
            Some(notes) => working::with_last_wish(&notes, state.digest()),
            None => {
                state.head.progress.mark();
                // What is written before a compaction may be of a session that is too short to be worth a question.
                state.head.unasked |= wish != Wish::Now;
                state.head.by_model = None;
                self.text(state)
            }
        };
        dir.replace_derived(dir, &format!("{}.md", file_stem(self.id)), text.as_bytes())
    }

    /// Takes the new turns of the host's file, and says whether more are left.
    fn read_new(&self, file: &SessionFile, state: &mut State) -> io::Result<bool> {
        let from = state.head.offset;
        if file.size <= from {
            return Ok(false);
        }
        let scanner = self.scanner()?;
        let mut turns = file.turns_from(from)?;
        while let Some(line) = turns.read_line()? {
            for turn in line {
                let turn = said(turn, &scanner);
                if !turn.text.is_empty() {
                    state.take(&turn);
                }
            }
            state.head.offset = turns.offset();
            if state.head.offset - from >= MAX_READ {
                return Ok(state.head.offset < file.size);
            }
        }
        Ok(false)
    }

    /// Builds the scanner with the user's own rules; without it nothing is written down.
    fn scanner(&self) -> io::Result<Scanner> {
        let user_home = self.env.user_home().ok();
        secrets::scanner(&self.place.home, user_home, &self.place.settings).map_err(io::Error::other)
    }

    fn text(&self, state: &State) -> String {
        let repository = self.place.repository.as_ref().map(|repository| &repository.work_tree);
        let root = repository.or(self.place.dir.as_ref()).and_then(|root| root.to_str()).unwrap_or_default();
        working::text(state.digest(), root)
    }
}

/// Leaves of a turn what was said: no secrets, and of the user's only the user's words.
fn said(turn: Turn, scanner: &Scanner) -> Turn {
    let mut turn = clean(turn, scanner).0;
    if turn.role == Role::User {
        turn.text = said_by_user(&turn.text);
    }
    turn
}

/// Returns by how much a file has grown; `None` if it is gone or shorter than it was.
fn grown(file: &Path, offset: u64) -> Option<u64> {
    std::fs::metadata(file).ok()?.len().checked_sub(offset)
}

/// Returns whose format an agent's files have, where that is known beforehand.
fn host(agent: Agent) -> Option<Host> {
    match agent {
        Agent::ClaudeCode => Some(Host::ClaudeCode),
        Agent::Codex => Some(Host::Codex),
        Agent::Gemini => Some(Host::Gemini),
        _ => None,
    }
}

fn lock_name(session: &str) -> String {
    format!("session-{}.lock", ContentHash::of(session.as_bytes()).as_bytes()[0] % LOCKS)
}

/// Opens a directory that may be missing.
fn found(dir: io::Result<Dir>) -> io::Result<Option<Dir>> {
    match dir {
        Ok(dir) => Ok(Some(dir)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err),
    }
}
