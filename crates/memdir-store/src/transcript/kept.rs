//! Our copies of sessions: `projects/<id>/transcripts/<session>.jsonl`.
//!
//! The first line names the session and the host, each other line is a turn. Files only grow; a line that a crash
//! tore is passed over by readers and cut off by the next writer.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::transcript::{Host, Role, Turn};
use serde::{Deserialize, Serialize};

use super::lines::{Lines, Piece, Shape};
use super::moment;
use crate::disk::{Dir, EntryKind, ReadError};

/// The directory below a project's state.
const DIR: &str = "transcripts";
/// The longest text that is kept of a turn. Longer ones are outputs of tools.
const MAX_TEXT: usize = 64 * 1024;
/// The same with the dots that stand for the rest.
const MAX_KEPT: usize = MAX_TEXT + '…'.len_utf8();
/// The version of the format.
const VERSION: u32 = 1;

/// A copy of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// The session.
    pub session: String,
    /// The agent it was held with.
    pub host: Host,
    /// Where the copy is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Timestamp,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeadLine {
    memdir: u32,
    session: String,
    host: Host,
}

#[derive(Debug, Serialize, Deserialize)]
struct TurnLine {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    text: String,
}

impl KeptFile {
    /// Returns what is said in it.
    pub fn turns(&self) -> io::Result<KeptTurns> {
        turns_at(&self.path, &self.session)
    }
}

/// Returns what is said in the copy at `path`.
pub(super) fn turns_at(path: &Path, session: &str) -> io::Result<KeptTurns> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let lines = Lines::new(open(&Dir::open(folder)?, name)?, Shape::Lines, 0)?;
    Ok(KeptTurns { session: session.to_owned(), lines, buffer: Vec::new() })
}

/// Returns what is kept of a text.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    match text.len() {
        // A text that was cut has the dots behind it.
        ..=MAX_KEPT => Cow::Borrowed(text),
        _ => Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])),
    }
}

/// The turns of a copy.
#[derive(Debug)]
pub struct KeptTurns {
    session: String,
    lines: Lines,
    buffer: Vec<u8>,
}

impl Iterator for KeptTurns {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        loop {
            self.lines.next(&mut self.buffer).ok()??;
            let Ok(line) = serde_json::from_slice::<TurnLine>(&self.buffer) else { continue };
            let TurnLine { id, at, role, cwd, branch, text } = line;
            return Some(Turn { session: self.session.clone(), at, role, text, cwd, branch, uuid: id });
        }
    }
}

fn open(dir: &Dir, name: &str) -> io::Result<File> {
    match dir.open_file(name) {
        Ok(found) => found.map(|(file, _)| file).ok_or_else(|| io::ErrorKind::NotFound.into()),
        Err(ReadError::Io(err)) => Err(err),
        Err(err) => Err(io::Error::other(err)),
    }
}

/// Opens the directory of a project's copies; `None` if there is none.
pub(super) fn dir(state: &Path) -> io::Result<Option<Dir>> {
    match Dir::open(&state.join(DIR)) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Opens the directory of a project's copies, making it where it is missing.
pub(super) fn ensure_dir(state: &Path) -> io::Result<Dir> {
    Dir::ensure(state)?.ensure_sub(DIR)
}

/// Lists the copies. A file whose first line does not name a session is none.
pub(super) fn files(state: &Path) -> Vec<KeptFile> {
    let Ok(Some(dir)) = dir(state) else { return Vec::new() };
    let mut names = Vec::new();
    let _ = dir.for_each(|name, kind| {
        if kind == EntryKind::File && name.ends_with(".jsonl") {
            names.push(name.to_owned());
        }
    });
    names.sort();
    names.iter().filter_map(|name| about(&dir, name)).collect()
}

fn about(dir: &Dir, name: &str) -> Option<KeptFile> {
    let (file, stat) = dir.open_file(name).ok()??;
    let mut lines = Lines::new(file, Shape::Lines, 0).ok()?;
    let mut buffer = Vec::new();
    lines.next(&mut buffer).ok()?.filter(|piece| *piece == Piece::Line)?;
    let head: HeadLine = serde_json::from_slice(&buffer).ok()?;
    Some(KeptFile {
        session: head.session,
        host: head.host,
        path: dir.path().join(name),
        size: stat.size,
        modified: moment(stat.mtime_ns),
    })
}

/// Returns the file name of a session's copy: its id where that is plain, else a hash of it.
pub(super) fn file_name(session: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if (1..=100).contains(&session.len()) && session.bytes().all(is_plain) {
        return format!("{session}.jsonl");
    }
    format!("x{}.jsonl", &ContentHash::of(session.as_bytes()).to_string()[..32])
}

/// Writes the copy of one session.
#[derive(Debug)]
pub(super) struct Copy {
    file: File,
    pub(super) size: u64,
    waiting: Vec<u8>,
}

/// How much is collected before it is written.
const BATCH: usize = 256 * 1024;

impl Copy {
    /// Opens the copy of a session at its end, making it where it is missing; a torn last line is cut off.
    pub(super) fn open(dir: &Dir, session: &str, host: Host) -> io::Result<Self> {
        let mut file = dir.open_or_create(&file_name(session), false)?;
        let size = whole_lines(&mut file)?;
        file.set_len(size)?;
        file.seek(SeekFrom::Start(size))?;
        let mut copy = Self { file, size, waiting: Vec::new() };
        if size == 0 {
            let head = HeadLine { memdir: VERSION, session: session.to_owned(), host };
            copy.push_line(&head)?;
        }
        Ok(copy)
    }

    /// Adds a turn, cut to what is kept of one.
    pub(super) fn push(&mut self, turn: Turn) -> io::Result<()> {
        let Turn { at, role, text, cwd, branch, uuid, .. } = turn;
        let text = cut(&text).into_owned();
        self.push_line(&TurnLine { id: uuid, at, role, cwd, branch, text })
    }

    fn push_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let before = self.waiting.len();
        serde_json::to_writer(&mut self.waiting, line)?;
        self.waiting.push(b'\n');
        self.size += (self.waiting.len() - before) as u64;
        if self.waiting.len() >= BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    /// Makes what was added durable, so that a cursor may say so.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.write()?;
        self.file.sync_data()
    }
}

/// Returns the offset behind the last line break.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut block = vec![0; 64 * 1024];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..usize::try_from(end - start).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(at) = memchr::memrchr(b'\n', part) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
