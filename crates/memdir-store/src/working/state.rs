//! What was read of a session so far: a line with how far, and a line with what.
//!
//! The first line is short and is all that most calls of a hook look at. A file that does not parse is as good as none:
//! the host's file is read again.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;

use jiff::Timestamp;
use memdir_core::journal::Digest;
use memdir_core::transcript::Turn;
use memdir_core::working::Progress;
use serde::{Deserialize, Serialize};

use super::{Session, file_stem, found};
use crate::disk::{Dir, EntryKind};
use crate::place::Place;
use crate::transcript::SessionFile;

/// The folder below a project's state.
const FOLDER: &str = "session";
/// Another version begins anew.
const VERSION: u32 = 1;
/// The first line is no longer.
const MAX_HEAD: u64 = 16 * 1024;
/// No digest is larger: it keeps a bounded part of what was said.
const MAX_STATE: u64 = 8 * 1024 * 1024;
/// As many turns are remembered to recognise one that a host writes again.
const MAX_RECENT: usize = 64;
/// Of as many sessions that ended it is remembered how far they were read.
const MAX_ENDED: usize = 200;

/// How far a session was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    version: u32,
    /// The host's id of it.
    pub(super) session: String,
    /// The host, by its name.
    pub(super) agent: String,
    /// The host's file.
    pub(super) transcript: PathBuf,
    /// Where in the file we are.
    #[serde(flatten)]
    mark: Mark,
    /// How much was said and done.
    pub(super) progress: Progress,
    /// When it was last read.
    pub(super) updated: Timestamp,
    /// Whether rules wrote the notes that are there and no model was asked for better ones.
    #[serde(default)]
    pub(super) unasked: bool,
    /// How many messages of the user a model knew of that wrote the notes that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by_model: Option<usize>,
}

impl std::ops::Deref for Head {
    type Target = Mark;

    fn deref(&self) -> &Mark {
        &self.mark
    }
}

impl std::ops::DerefMut for Head {
    fn deref_mut(&mut self) -> &mut Mark {
        &mut self.mark
    }
}

/// A place in a host's file, which is known by its first bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    head: String,
    head_bytes: u64,
    pub(super) offset: u64,
}

impl Mark {
    fn is_of(&self, file: &SessionFile) -> bool {
        let same = |(head, n): (String, u64)| head == self.head && n == self.head_bytes;
        file.size >= self.offset && file.head_hash(Some(self.head_bytes)).is_ok_and(same)
    }
}

/// What was read of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) head: Head,
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Body {
    digest: Digest,
    recent: VecDeque<String>,
}

impl State {
    /// Begins with a file: at its start, or where a session ended that now goes on.
    pub(super) fn begin(session: &Session<'_>, file: &SessionFile, ended: Option<Mark>) -> io::Result<Self> {
        let mark = match ended.filter(|ended| ended.is_of(file)) {
            Some(ended) => ended,
            None => {
                let (head, head_bytes) = file.head_hash(None)?;
                Mark { head, head_bytes, offset: 0 }
            }
        };
        let head = Head {
            version: VERSION,
            session: session.id.to_owned(),
            agent: session.agent.as_str().to_owned(),
            transcript: session.transcript.to_owned(),
            mark,
            progress: Progress::default(),
            updated: Timestamp::UNIX_EPOCH,
            unasked: false,
            by_model: None,
        };
        Ok(Self { head, body: Body::default() })
    }

    /// Says whether it was read out of this file.
    pub(super) fn is_of(&self, file: &SessionFile) -> bool {
        self.head.transcript == file.path && self.head.mark.is_of(file)
    }

    pub(super) fn digest(&self) -> &Digest {
        &self.body.digest
    }

    pub(super) fn into_digest(self) -> Digest {
        self.body.digest
    }

    /// Takes a turn, unless the host wrote it before.
    pub(super) fn take(&mut self, turn: &Turn) {
        let Body { digest, recent } = &mut self.body;
        if recent.contains(&turn.uuid) {
            return;
        }
        recent.push_back(turn.uuid.clone());
        if recent.len() > MAX_RECENT {
            recent.pop_front();
        }
        self.head.progress.take(turn);
        digest.take(turn);
    }
}

/// The folder with the working memories of a project.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
}

impl Store {
    pub(super) fn of(place: &Place) -> Self {
        Self { folder: place.state_dir().join(FOLDER) }
    }

    pub(super) fn path(&self) -> &PathBuf {
        &self.folder
    }

    pub(super) fn open(&self) -> io::Result<Option<Dir>> {
        found(Dir::open(&self.folder))
    }

    pub(super) fn ensure(&self) -> io::Result<Dir> {
        Dir::ensure(&self.folder)
    }

    /// Reads how far a session was read, and nothing else.
    pub(super) fn head(&self, session: &str) -> Option<Head> {
        let dir = self.open().ok()??;
        head_of(&dir, &state_name(session))
    }

    /// Reads how far each session was read that has not ended.
    pub(super) fn heads(&self) -> io::Result<Vec<Head>> {
        let Some(dir) = self.open()? else { return Ok(Vec::new()) };
        let names = names(&dir, ".json")?;
        Ok(names.iter().filter_map(|name| head_of(&dir, name)).collect())
    }

    pub(super) fn load(&self, session: &str) -> io::Result<Option<State>> {
        let Some(dir) = self.open()? else { return Ok(None) };
        let Some(bytes) = dir.read(&state_name(session), MAX_STATE).ok().flatten() else { return Ok(None) };
        let mut lines = bytes.splitn(2, |b| *b == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let (head, body) = (serde_json::from_slice::<Head>(line()), serde_json::from_slice::<Body>(line()));
        Ok(match (head, body) {
            (Ok(head), Ok(body)) if head.version == VERSION => Some(State { head, body }),
            _ => None,
        })
    }

    pub(super) fn save(&self, dir: &Dir, state: &State) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&state.head)?;
        bytes.push(b'\n');
        serde_json::to_writer(&mut bytes, &state.body)?;
        bytes.push(b'\n');
        dir.replace_derived(dir, &state_name(&state.head.session), &bytes)
    }

    /// Returns where a session was when it ended.
    pub(super) fn ended(&self, session: &str) -> Option<Mark> {
        let bytes = self.open().ok()??.read(&ended_name(session), MAX_HEAD).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Removes what there is of a session, and remembers where it was.
    pub(super) fn retire(&self, session: &str) -> io::Result<bool> {
        let Some(dir) = self.open()? else { return Ok(false) };
        if let Some(head) = self.head(session) {
            dir.replace_derived(&dir, &ended_name(session), &serde_json::to_vec(&head.mark)?)?;
            forget_oldest(&dir)?;
        }
        let notes = format!("{}.md", file_stem(session));
        let was_there = dir.stat(&notes)?.is_some();
        dir.remove(&notes)?;
        dir.remove(&state_name(session))?;
        Ok(was_there)
    }
}

fn head_of(dir: &Dir, name: &str) -> Option<Head> {
    let (file, _) = dir.open_file(name).ok()??;
    let mut bytes = Vec::with_capacity(1_024);
    file.take(MAX_HEAD).read_to_end(&mut bytes).ok()?;
    let line = bytes.split(|b| *b == b'\n').next()?;
    serde_json::from_slice(line).ok().filter(|head: &Head| head.version == VERSION)
}

/// Keeps the newest of what is remembered about sessions that ended.
fn forget_oldest(dir: &Dir) -> io::Result<()> {
    let names = names(dir, ".ended")?;
    if names.len() <= MAX_ENDED {
        return Ok(());
    }
    let age = |name: &String| dir.stat(name).ok().flatten().map_or(0, |stat| stat.mtime_ns);
    let mut by_age: Vec<(i64, String)> = names.into_iter().map(|name| (age(&name), name)).collect();
    by_age.sort();
    by_age.iter().take(by_age.len() - MAX_ENDED).try_for_each(|(_, name)| dir.remove(name))
}

fn names(dir: &Dir, ending: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    dir.for_each(|name, kind| {
        if kind == EntryKind::File && name.ends_with(ending) && !name.starts_with('.') {
            names.push(name.to_owned());
        }
    })?;
    names.sort();
    Ok(names)
}

fn state_name(session: &str) -> String {
    format!("{}.json", file_stem(session))
}

fn ended_name(session: &str) -> String {
    format!("{}.ended", file_stem(session))
}
