//! What the gateway knows of conversations between two of their requests.
//!
//! A client sends its history without what was put into it, so the same bytes are put into it again, from here: one small
//! file a conversation, `$MEMDIR_HOME/gateway/conversations/<conversation>.json`. Losing it costs a prompt cache and a
//! repetition, never a memory; writing does not wait for the disk.
//!
//! What a user says through the gateway stands in no file of a host. So what was said is noted in `said/`, without secrets,
//! in lines that the readers of session files know, for whoever learns from it; it is gone two days after the last word,
//! whatever the user's settings for transcripts: who wants to keep what is said has it kept where all of it is.
//!
//! Look at [`Conversations::update`] first.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use memdir_core::echo::Echoes;
use memdir_core::gateway::{Kept, Shortened, Summary};
use memdir_core::hash::ContentHash;
use memdir_core::secrets::Scanner;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::disk::{Dir, EntryKind};
use crate::lock::Lock;
use crate::working::file_stem;

/// The folders below the state root.
const FOLDER: &str = "gateway";
const CONVERSATIONS: &str = "conversations";
const SAID: &str = "said";
const LOCKS_FOLDER: &str = "locks";
/// Two requests of a conversation may come at once; one waits for the other no longer than this.
const PATIENCE: Duration = Duration::from_millis(60);
/// As many conversations change at a time, in this process and in others.
const LOCKS: u8 = 64;
/// As many turns of a conversation are known; the oldest are forgotten first.
const MAX_TURNS: usize = 512;
/// As much is put into a turn, and all turns of a conversation together, in bytes.
const MAX_TEXT: usize = 32 * 1024;
const MAX_TEXTS: usize = 2 * 1024 * 1024;
/// As much of one answer is kept from a client and put back later, in bytes.
const MAX_KEPT: usize = 512 * 1024;
/// No file that an erasure goes through is larger.
const MAX_ERASED: u64 = 1 << 30;
/// No file is larger.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// As much of what was said is noted, and of one message.
const MAX_SAID: u64 = 16 * 1024 * 1024;
const MAX_MESSAGE: usize = 64 * 1024;
/// A conversation that was silent for so long is over.
const SILENCE: SignedDuration = SignedDuration::from_hours(24 * 30);
/// What was said is learned from long before this.
const LEARNED: SignedDuration = SignedDuration::from_hours(48);

/// The conversations that go through the gateway.
#[derive(Debug, Clone)]
pub struct Conversations {
    folder: PathBuf,
}

/// What is known of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// When it was last heard of.
    pub seen: Option<Timestamp>,
    /// The project whose memories are put into it, as [`Conversations::claim`] was told.
    pub project: Option<String>,
    /// How many conversations before it began alike and had no other name.
    pub before: u32,
    /// The turn that was told what a session begins with.
    pub begun: Option<String>,
    /// What was put into each turn, the oldest first; an empty text says that there was nothing to put in.
    turns: Vec<Told>,
    /// The turns that were noted as said.
    noted: Vec<String>,
    /// The first messages, summed up.
    pub shortened: Option<Shortened>,
    /// Whether the user wants it in full length.
    pub is_left_whole: bool,
    /// What its model says of its first messages, for when they are summed up.
    pub summary: Option<Summary>,
    /// How many tokens the service read at the last request.
    pub read: u64,
    /// How often in a row it could not be shortened,
    pub failures: u32,
    /// and how often its model was asked for a summary in vain.
    pub unsummed: u32,
    /// What its client was not shown of answers, the oldest first.
    pub kept: Vec<Kept>,
}

/// What was put into a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    key: String,
    text: String,
}

impl Known {
    /// Returns what was put into a turn; `None` if nobody looked at it yet.
    pub fn told(&self, key: &str) -> Option<&str> {
        self.turns.iter().find(|told| told.key == key).map(|told| told.text.as_str())
    }

    /// Returns how many turns were looked at.
    pub fn n_turns(&self) -> usize {
        self.turns.len()
    }

    /// Notes what is put into a turn, unless that was done already; returns what it is. A text that is too long is none.
    pub fn tell(&mut self, key: &str, text: &str) -> String {
        if let Some(told) = self.told(key) {
            return told.to_owned();
        }
        let text = if text.len() > MAX_TEXT { "" } else { text };
        self.turns.push(Told { key: key.to_owned(), text: text.to_owned() });
        let mut total: usize = self.turns.iter().map(|told| told.text.len()).sum();
        while self.turns.len() > MAX_TURNS || total > MAX_TEXTS {
            total -= self.turns.remove(0).text.len();
        }
        text.to_owned()
    }

    /// Notes that a turn is noted as said; `false` if it was already.
    pub fn notes(&mut self, key: &str) -> bool {
        let is_new = !self.noted.iter().any(|noted| noted == key);
        if is_new {
            self.noted.push(key.to_owned());
            let extra = self.noted.len().saturating_sub(MAX_TURNS);
            self.noted.drain(..extra);
        }
        is_new
    }

    /// Keeps what the client was not shown of an answer, in place of what was kept of it before. What is too much is
    /// forgotten, and the model goes on without it.
    pub fn keep(&mut self, kept: Kept) {
        self.kept.retain(|known| !kept.replaces(known));
        if kept.size() > MAX_KEPT {
            return;
        }
        self.kept.push(kept);
        let mut total: usize = self.kept.iter().map(Kept::size).sum();
        while self.kept.len() > MAX_TURNS || total > MAX_TEXTS {
            total -= self.kept.remove(0).size();
        }
    }

    /// Begins another conversation under the same name.
    pub fn begin_anew(&mut self) {
        let project = self.project.take();
        *self = Self { before: self.before.saturating_add(1), project, ..Self::default() };
    }
}

/// Something that was said.
#[derive(Debug, Clone, Copy)]
pub struct Said<'s> {
    /// Whether the user said it, or else the model.
    pub is_users: bool,
    /// What.
    pub text: &'s str,
    /// The tools that the model calls.
    pub tools: &'s [String],
}

impl Conversations {
    /// Returns those below a state root.
    pub fn below(home: &Path) -> Self {
        Self { folder: home.join(FOLDER) }
    }

    /// Returns what is known of one.
    pub fn known(&self, id: &str) -> Known {
        let Ok(folder) = Dir::open(&self.folder.join(CONVERSATIONS)) else { return Known::default() };
        let bytes = folder.read(&file(id), MAX_FILE).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Returns the name under which a conversation of a project is known. The first project that uses a name has it; every
    /// other one gets a name of its own, so that nothing of one project is put into requests of another. What was
    /// kept before conversations had projects belongs to no one.
    pub fn claim(&self, id: &str, project: &str, now: Timestamp) -> String {
        let apart = || format!("{id}.{}", ContentHash::of(project.as_bytes()).short());
        let is_ours = |known: &Known| known.project.as_deref() == Some(project);
        let known = self.known(id);
        if is_ours(&known) {
            return id.to_owned();
        }
        if known != Known::default() {
            return apart();
        }
        self.update(id, now, |known| {
            if *known == Known::default() {
                known.project = Some(project.to_owned());
            }
        });
        // Another project may have been first, or nothing can be written: then nobody has the name.
        if is_ours(&self.known(id)) { id.to_owned() } else { apart() }
    }

    /// Takes what conversations repeat of erased memories out of what is kept of them; returns how many files changed. A
    /// gateway that runs reads them anew at its next request. The service's prompt cache is lost for those.
    pub fn erase(&self, echoes: &Echoes) -> io::Result<usize> {
        let mut locks = Vec::new();
        for lock in 0..LOCKS {
            locks.push(
                Lock::acquire(&self.folder.join(LOCKS_FOLDER), &lock.to_string())
                    .map_err(io::Error::other)?,
            );
        }
        let mut n_changed = 0;
        for folder in [CONVERSATIONS, SAID] {
            let folder = match Dir::open(&self.folder.join(folder)) {
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                folder => folder?,
            };
            let mut names = Vec::new();
            folder.for_each(|name, kind| names.extend((kind == EntryKind::File).then(|| name.to_owned())))?;
            for name in names {
                let Some(bytes) = folder.read(&name, MAX_ERASED).map_err(io::Error::other)? else { continue };
                if let Some(text) = without(&String::from_utf8_lossy(&bytes), echoes) {
                    folder.replace(&name, text.as_bytes())?;
                    n_changed += 1;
                }
            }
        }
        Ok(n_changed)
    }

    /// Changes what is known of one, one process at a time. If another one holds on to it, or nothing can be written, the
    /// change is made to what can be read and lost with the process.
    pub fn update<T>(&self, id: &str, now: Timestamp, change: impl FnOnce(&mut Known) -> T) -> T {
        let lock = self.lock(id);
        let before = self.known(id);
        let mut known = before.clone();
        let answer = change(&mut known);
        if lock.is_some() && known != before {
            known.seen = Some(now);
            // Not being able to costs a prompt cache.
            let _ = self.write(id, &serde_json::to_vec(&known).unwrap_or_default());
        }
        answer
    }

    /// Returns the names of those that go on shortened, sorted, each with when it was last heard of.
    pub fn shortened(&self) -> io::Result<Vec<(String, Option<Timestamp>)>> {
        let folder = match Dir::open(&self.folder.join(CONVERSATIONS)) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let mut names = Vec::new();
        folder.for_each(|name, _| names.extend(name.strip_suffix(".json").map(str::to_owned)))?;
        names.sort_unstable();
        let short = |name: String| {
            let known = self.known(&name);
            known.shortened.is_some().then_some((name, known.seen))
        };
        Ok(names.into_iter().filter_map(short).collect())
    }

    /// Has a conversation go on in full length, whatever becomes of it; says whether it was shortened.
    pub fn leave_whole(&self, id: &str, now: Timestamp) -> bool {
        self.update(id, now, |known| {
            let shortened = known.shortened.take();
            known.is_left_whole |= shortened.is_some();
            shortened.is_some()
        })
    }

    /// Returns the file of what was said, which may not exist.
    pub fn said(&self, id: &str) -> PathBuf {
        self.folder.join(SAID).join(format!("{}.jsonl", file_stem(id)))
    }

    /// Notes what was said, without secrets.
    pub fn note(
        &self,
        id: &str,
        cwd: Option<&str>,
        said: &[Said<'_>],
        scanner: &Scanner,
        now: Timestamp,
    ) -> io::Result<()> {
        let folder = Dir::ensure(&self.folder.join(SAID))?;
        let name = format!("{}.jsonl", file_stem(id));
        let is_full = folder.stat(&name)?.is_some_and(|stat| stat.size > MAX_SAID);
        for (nth, said) in said.iter().enumerate().filter(|_| !is_full) {
            folder.append_line(&name, &line(id, cwd, said, scanner, now, nth))?;
        }
        Ok(())
    }

    /// Forgets conversations that are over, and what was said where it was learned from; returns how many files are gone.
    pub fn sweep(&self, now: Timestamp) -> io::Result<usize> {
        Ok(sweep(&self.folder.join(CONVERSATIONS), now, SILENCE)?
            + sweep(&self.folder.join(SAID), now, LEARNED)?)
    }

    fn write(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = Dir::ensure(&self.folder.join(CONVERSATIONS))?;
        folder.replace_derived(&folder, &file(id), bytes)
    }

    fn lock(&self, id: &str) -> Option<Lock> {
        let until = Instant::now() + PATIENCE;
        let [first, ..] = *ContentHash::of(id.as_bytes()).as_bytes();
        let (folder, name) = (self.folder.join(LOCKS_FOLDER), (first % LOCKS).to_string());
        loop {
            match Lock::attempt(&folder, &name) {
                Ok(Some(lock)) => return Some(lock),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                _ => return None,
            }
        }
    }
}

/// Returns a file of JSON, whole or in lines, without what it repeats; `None` if it repeats nothing. Each string is
/// looked at by itself, so that what is left can be read.
fn without(text: &str, echoes: &Echoes) -> Option<String> {
    let mut is_changed = false;
    let lines = text.split_inclusive('\n').map(|line| match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            let is_line_changed = redact(&mut value, echoes);
            is_changed |= is_line_changed;
            let end = if line.ends_with('\n') { "\n" } else { "" };
            if is_line_changed { format!("{value}{end}") } else { line.to_owned() }
        }
        // What is torn is read by nobody.
        Err(_) => {
            let redacted = echoes.redact(line);
            is_changed |= redacted.is_some();
            redacted.unwrap_or_else(|| line.to_owned())
        }
    });
    let text: String = lines.collect();
    is_changed.then_some(text)
}

fn redact(value: &mut Value, echoes: &Echoes) -> bool {
    match value {
        Value::String(text) => match echoes.redact(text) {
            Some(redacted) => {
                *text = redacted;
                true
            }
            None => false,
        },
        Value::Array(values) => {
            values.iter_mut().fold(false, |is_changed, value| redact(value, echoes) | is_changed)
        }
        Value::Object(fields) => {
            fields.values_mut().fold(false, |is_changed, value| redact(value, echoes) | is_changed)
        }
        _ => false,
    }
}

fn file(id: &str) -> String {
    format!("{}.json", file_stem(id))
}

/// Writes something that was said as a line that readers of session files know.
fn line(
    id: &str,
    cwd: Option<&str>,
    said: &Said<'_>,
    scanner: &Scanner,
    now: Timestamp,
    nth: usize,
) -> String {
    let text = &said.text[..said.text.floor_char_boundary(MAX_MESSAGE.min(said.text.len()))];
    let text = scanner.redacted(text);
    let role = if said.is_users { "user" } else { "assistant" };
    let mut content = vec![json!({"type": "text", "text": text})];
    content.extend(said.tools.iter().map(|name| json!({"type": "tool_use", "name": name})));
    json!({
        "type": role, "sessionId": id, "cwd": cwd, "timestamp": now.to_string(),
        "uuid": format!("{}-{nth}", now.as_nanosecond()), "message": {"role": role, "content": content},
    })
    .to_string()
}

fn sweep(folder: &Path, now: Timestamp, silence: SignedDuration) -> io::Result<usize> {
    let folder = match Dir::open(folder) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(0),
        folder => folder?,
    };
    let mut names = Vec::new();
    folder.for_each(|name, kind| names.extend((kind == EntryKind::File).then(|| name.to_owned())))?;
    let mut n_gone = 0;
    for name in names {
        let modified =
            folder.stat(&name)?.and_then(|stat| Timestamp::from_nanosecond(stat.mtime_ns.into()).ok());
        if modified.is_some_and(|modified| now.duration_since(modified) > silence) {
            folder.remove(&name)?;
            n_gone += 1;
        }
    }
    Ok(n_gone)
}

#[cfg(test)]
mod tests {
    use memdir_core::transcript::Role;

    use super::*;
    use crate::transcript::SessionFile;

    fn now() -> Timestamp {
        "2026-04-10T09:00:00Z".parse().unwrap()
    }

    /// UX-20.
    #[test]
    fn what_was_put_into_a_turn_is_known_to_the_next_process_and_never_changes() {
        let home = tempfile::tempdir().unwrap();
        let told =
            Conversations::below(home.path()).update("s1", now(), |known| known.tell("a.1", "first\n"));
        assert_eq!(told, "first\n");
        let again = Conversations::below(home.path());
        assert_eq!(again.known("s1").told("a.1"), Some("first\n"));
        assert_eq!(again.update("s1", now(), |known| known.tell("a.1", "other")), "first\n");
        assert_eq!(again.known("s2"), Known::default(), "another conversation");
        assert!(again.update("s1", now(), |known| known.notes("a.1")));
        assert!(
            !again.update("s1", now(), |known| known.notes("a.1")),
            "a prompt that is sent again is said once"
        );
    }

    #[test]
    fn of_a_long_conversation_the_last_turns_are_known() {
        let mut known = Known::default();
        for n in 0..MAX_TURNS + 5 {
            known.tell(&format!("k{n}"), "x");
        }
        assert_eq!((known.n_turns(), known.told("k4"), known.told("k5")), (MAX_TURNS, None, Some("x")));
        assert_eq!(known.tell("long", &"x".repeat(MAX_TEXT + 1)), "", "what is too long is not put in");
    }

    #[test]
    fn what_is_torn_is_as_if_it_were_not_there() {
        let home = tempfile::tempdir().unwrap();
        let conversations = Conversations::below(home.path());
        conversations.update("s1", now(), |known| known.tell("a.1", "x"));
        std::fs::write(home.path().join("gateway/conversations/s1.json"), "{\"turns\":[{").unwrap();
        assert_eq!(conversations.known("s1"), Known::default());
        assert_eq!(conversations.update("s1", now(), |known| known.tell("a.1", "y")), "y");
    }

    /// X5.
    #[test]
    fn what_was_said_is_read_as_a_session_and_has_no_secret_in_it() {
        let home = tempfile::tempdir().unwrap();
        let conversations = Conversations::below(home.path());
        let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let asked = format!("use {key} for the tests");
        let tools = ["Bash".to_owned()];
        let said = [
            Said { is_users: true, text: &asked, tools: &[] },
            Said { is_users: false, text: "I will.", tools: &tools },
        ];
        conversations.note("s1", Some("/home/ada/shop"), &said, &Scanner::builtin(), now()).unwrap();
        let text = std::fs::read_to_string(conversations.said("s1")).unwrap();
        assert!(!text.contains(&key) && text.contains("[REDACTED:"), "{text}");
        let file = SessionFile::at(&conversations.said("s1"), None).unwrap();
        let mut turns = file.turns().unwrap();
        let mut read = Vec::new();
        while let Some(line) = turns.read_line().unwrap() {
            read.extend(line);
        }
        assert_eq!(file.session, "s1");
        assert_eq!(
            read.iter().map(|turn| turn.role).collect::<Vec<_>>(),
            [Role::User, Role::Assistant, Role::Tool]
        );
        assert_eq!((read[1].text.as_str(), read[0].cwd.as_deref()), ("I will.", Some("/home/ada/shop")));
    }

    #[test]
    fn what_is_over_is_forgotten_and_what_was_said_sooner() {
        let home = tempfile::tempdir().unwrap();
        let conversations = Conversations::below(home.path());
        conversations.update("s1", now(), |known| known.tell("a.1", "x"));
        let said = [Said { is_users: true, text: "hi", tools: &[] }];
        conversations.note("s1", None, &said, &Scanner::builtin(), now()).unwrap();
        let today = Timestamp::now();
        assert_eq!(conversations.sweep(today).unwrap(), 0);
        assert_eq!(conversations.sweep(today + SignedDuration::from_hours(72)).unwrap(), 1);
        assert!(!conversations.said("s1").exists() && conversations.known("s1").n_turns() == 1);
        assert_eq!(conversations.sweep(today + SignedDuration::from_hours(24 * 31)).unwrap(), 1);
        assert_eq!(conversations.known("s1"), Known::default());
    }
}
