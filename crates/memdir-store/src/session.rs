//! What is known of a running session between two of its events.
//!
//! A hook is a process that lives for milliseconds; what the next one needs to know stands in one small file a session,
//! `$MEMDIR_HOME/sessions/<session>.json`, and the block that the session began with beside it. Both belong to the session and
//! not to a project, because an agent may change directories. Losing them costs a repetition, never a memory: writing
//! does not wait for the disk, and what cannot be read is as if it were not there. Look at [`Session::update`] first.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::host::hearsay::{Words, is_hearsay};
use serde::{Deserialize, Serialize};

use crate::disk::Dir;
use crate::lock::Lock;
use crate::working::file_stem;

/// The folder below the state root.
const FOLDER: &str = "sessions";
/// Two hooks of a session may run at once; one waits for the other no longer than this.
const PATIENCE: Duration = Duration::from_millis(60);
/// As many events, tools and files are remembered.
const MAX_EVENTS: usize = 128;
const MAX_TOOLS: usize = 12;
const MAX_FILES: usize = 64;
const MAX_PASSAGES: usize = 12;
const MAX_WRITTEN: usize = 20;
const MAX_WORDS: usize = 2_000;
/// No file of a session is larger.
const MAX_FILE: u64 = 256 * 1024;
/// A session that was silent for so long is over.
const MAX_SILENCE: jiff::SignedDuration = jiff::SignedDuration::from_hours(24 * 30);

/// A session of an agent.
#[derive(Debug, Clone)]
pub struct Session {
    folder: PathBuf,
    stem: String,
}

/// What is remembered of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// When it was last heard of.
    pub seen: Option<Timestamp>,
    /// Whether it was given what a session begins with.
    pub begun: bool,
    /// Whether the user asked to leave memory aside.
    pub ignores_memory: bool,
    /// Since when the user asked to remember something that nobody looked at yet.
    pub asked: Option<Timestamp>,
    /// Memories that were written from what was said, of which the session was not told yet.
    pub written: Vec<String>,
    /// The last prompt, where the host takes nothing at a prompt and was not told yet what came to mind.
    pub owed: String,
    /// Tools that were used lately, the last one at the end.
    pub tools: Vec<String>,
    /// Files that were looked up already.
    pub files: Vec<String>,
    /// Words of what tools brought in that asked to be remembered.
    hearsay: Vec<Words>,
    /// Words of what the user said.
    said: Words,
    /// What was handled already, so that an agent that is wired twice is answered once.
    events: Vec<u64>,
}

impl State {
    /// Notes that an event is handled; `false` if it was already.
    pub fn handles(&mut self, event: &str) -> bool {
        let hash = ContentHash::of(event.as_bytes());
        let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        let event = u64::from_le_bytes(*first);
        let is_new = !self.events.contains(&event);
        if is_new {
            self.events.push(event);
            keep_last(&mut self.events, MAX_EVENTS);
        }
        is_new
    }

    /// Notes what a tool brought in that asks to be remembered.
    pub fn heard(&mut self, passages: Vec<Words>) {
        self.hearsay.extend(passages);
        keep_last(&mut self.hearsay, MAX_PASSAGES);
    }

    /// Notes what the user said.
    pub fn said(&mut self, words: Words) {
        self.said.extend(words);
        while self.said.len() > MAX_WORDS {
            self.said.pop_first();
        }
    }

    /// Says whether a memory with these words was asked for by something a tool brought in, and not by the user.
    pub fn is_hearsay(&self, memory: &Words) -> bool {
        is_hearsay(memory, &self.hearsay, &self.said)
    }

    /// Notes memories that were written from what was said, by the names of their files.
    pub fn wrote(&mut self, files: &[String]) {
        self.written.retain(|known| !files.contains(known));
        self.written.extend_from_slice(files);
        keep_last(&mut self.written, MAX_WRITTEN);
    }

    /// Notes the use of a tool.
    pub fn used(&mut self, tool: &str) {
        self.tools.retain(|used| used != tool);
        self.tools.push(tool.to_owned());
        keep_last(&mut self.tools, MAX_TOOLS);
    }

    /// Notes that a file, command or the like is looked up; `false` if it was already.
    pub fn looks_up(&mut self, what: &str) -> bool {
        let is_new = !self.files.iter().any(|known| known == what);
        if is_new {
            self.files.push(what.to_owned());
            keep_last(&mut self.files, MAX_FILES);
        }
        is_new
    }

    /// Forgets what was shown and looked up: nothing of it is before the model any more.
    pub fn starts_over(&mut self) {
        self.files.clear();
        self.tools.clear();
    }
}

fn keep_last<T>(list: &mut Vec<T>, n: usize) {
    let extra = list.len().saturating_sub(n);
    list.drain(..extra);
}

impl Session {
    /// Returns the session of this id below a state root; `None` for one without an id.
    pub fn of(home: &Path, id: &str) -> Option<Self> {
        (!id.is_empty()).then(|| Self { folder: home.join(FOLDER), stem: file_stem(id) })
    }

    /// Returns what is remembered.
    pub fn state(&self) -> State {
        let Ok(folder) = Dir::open(&self.folder) else { return State::default() };
        let bytes = folder.read(&self.state_file(), MAX_FILE).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Changes what is remembered, one process at a time. If another one holds on to it, or nothing can be written, the
    /// change is made to what can be read and lost with the process.
    pub fn update<T>(&self, now: Timestamp, change: impl FnOnce(&mut State) -> T) -> T {
        let lock = self.lock();
        let before = self.state();
        let mut state = before.clone();
        let answer = change(&mut state);
        if lock.is_some() && state != before {
            state.seen = Some(now);
            // Not being able to costs a repetition.
            let _ = self.write(&self.state_file(), &serde_json::to_vec(&state).unwrap_or_default());
        }
        answer
    }

    /// Returns the block that the session began with.
    pub fn block(&self) -> Option<String> {
        let bytes = Dir::open(&self.folder).ok()?.read(&self.block_file(), MAX_FILE).ok().flatten()?;
        String::from_utf8(bytes).ok()
    }

    /// Keeps the block that the session begins with.
    pub fn keep_block(&self, block: &str) -> io::Result<()> {
        self.write(&self.block_file(), block.as_bytes())
    }

    /// Forgets the session.
    pub fn forget(&self) {
        let Ok(folder) = Dir::open(&self.folder) else { return };
        for file in [self.state_file(), self.block_file(), self.lock_file()] {
            // What is gone already is forgotten.
            let _ = folder.remove(&file);
        }
    }

    fn state_file(&self) -> String {
        format!("{}.json", self.stem)
    }

    fn block_file(&self) -> String {
        format!("{}.start", self.stem)
    }

    fn lock_file(&self) -> String {
        format!("{}.lock", self.stem)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = Dir::ensure(&self.folder)?;
        folder.replace_derived(&folder, name, bytes)
    }

    fn lock(&self) -> Option<Lock> {
        let until = Instant::now() + PATIENCE;
        loop {
            match Lock::attempt(&self.folder, &self.lock_file()) {
                Ok(Some(lock)) => return Some(lock),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                _ => return None,
            }
        }
    }
}

/// Forgets the sessions that have not been heard of for a month; returns how many.
pub fn sweep(home: &Path, now: Timestamp) -> io::Result<usize> {
    let folder = match Dir::open(&home.join(FOLDER)) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(0),
        folder => folder?,
    };
    let mut stems = Vec::new();
    folder.for_each(|name, _| stems.extend(name.strip_suffix(".json").map(str::to_owned)))?;
    let sessions = stems.into_iter().map(|stem| Session { folder: home.join(FOLDER), stem });
    let is_silent = |at: Timestamp| now.duration_since(at) > MAX_SILENCE;
    // Whoever wrote it a moment ago was heard of: hundreds of files need not be read for that.
    let is_quiet = |session: &Session| {
        let written = folder.stat(&session.state_file()).ok().flatten();
        let written = written.and_then(|stat| Timestamp::from_nanosecond(stat.mtime_ns.into()).ok());
        written.is_none_or(is_silent)
    };
    let is_over = |session: &Session| is_quiet(session) && session.state().seen.is_none_or(is_silent);
    Ok(sessions.filter(is_over).inspect(Session::forget).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-04-10T09:00:00Z".parse().unwrap()
    }

    #[test]
    fn what_one_process_notes_the_next_one_knows() {
        let home = tempfile::tempdir().unwrap();
        let session = Session::of(home.path(), "s1").unwrap();
        assert_eq!(session.state(), State::default());
        assert!(session.update(now(), |state| state.handles("prompt 1")));
        assert!(!session.update(now(), |state| state.handles("prompt 1")), "an agent that is wired twice");
        assert!(session.update(now(), |state| state.looks_up("db/a.rs")));
        assert!(!session.update(now(), |state| state.looks_up("db/a.rs")));
        session.update(now(), State::starts_over);
        assert!(session.update(now(), |state| state.looks_up("db/a.rs")));
        session.keep_block("# Memory\n").unwrap();
        assert_eq!(session.block().as_deref(), Some("# Memory\n"));
        assert!(Session::of(home.path(), "").is_none());
    }

    #[test]
    fn a_torn_file_is_as_if_it_were_not_there() {
        let home = tempfile::tempdir().unwrap();
        let session = Session::of(home.path(), "s1").unwrap();
        session.update(now(), |state| state.begun = true);
        std::fs::write(home.path().join("sessions/s1.json"), "{\"begun\":tr").unwrap();
        assert_eq!(session.state(), State::default());
        assert!(session.update(now(), |state| state.handles("x")));
        assert!(!session.update(now(), |state| state.handles("x")), "and it is mended");
    }

    #[test]
    fn a_silent_session_is_forgotten_after_a_month() {
        let home = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|id| Session::of(home.path(), id).unwrap());
        old.update(now(), |state| state.begun = true);
        old.keep_block("x").unwrap();
        let file = std::fs::File::options().write(true).open(home.path().join("sessions/old.json")).unwrap();
        file.set_modified(now().into()).unwrap();
        let later = now() + jiff::SignedDuration::from_hours(24 * 31);
        new.update(later, |state| state.begun = true);
        assert_eq!(sweep(home.path(), later).unwrap(), 1);
        assert_eq!((old.state().begun, old.block(), new.state().begun), (false, None, true));
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for n in 0..4 {
                let home = home.path();
                scope.spawn(move || {
                    let session = Session::of(home, "s").unwrap();
                    for k in 0..5 {
                        session.update(now(), |state| state.used(&format!("t{}", (n * 5 + k) % 8)));
                    }
                });
            }
        });
        let mut tools = Session::of(home.path(), "s").unwrap().state().tools;
        tools.sort();
        assert_eq!(tools, ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"]);
    }
}
