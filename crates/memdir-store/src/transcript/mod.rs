//! The sessions of a project: where their files are, what is said in them, and the copies that we keep.
//!
//! Agents write a file a session and sweep it after some weeks. [`Transcripts`] finds the files of a project, reads
//! them as turns ([`memdir_core::transcript`]) and searches them. They are the host's: opened for reading, streamed
//! a line at a time, never loaded whole, never written. If the user agreed, [`Transcripts::backfill`] keeps the text of
//! the turns under the state root, without secrets and within a size, so that it can still be found later.
//!
//! ```text
//!   ~/.claude/projects/<slug>/*.jsonl ┐
//!   ~/.codex/sessions/…/rollout-*     ├─▶ find ─▶ lines ─▶ Parser ─▶ turns ─▶ grep · search index
//!   ~/.gemini/tmp/<project>/chats/*   ┘                                │          ▲
//!                                                              backfill│          │ once the host swept its file
//!                                                                      ▼          │
//!                                       projects/<id>/transcripts/<session>.jsonl ┘
//! ```

mod backfill;
pub(crate) mod cursor;
mod find;
mod grep;
mod heard;
mod kept;
mod lines;
mod reading;
mod search;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memdir_core::secrets::{Scanner, redact};
use memdir_core::transcript::{Host, Turn};

use self::cursor::Cursors;
use crate::lock::LockError;
use crate::place::{Place, Project, SessionDirs};

pub use backfill::{Outlook, Report, Step};
pub use find::SessionFile;
pub use grep::{Found, Hit, Query};
pub use kept::{KeptFile, KeptTurns};
pub use reading::{HostTurns, LeftOut};
pub use search::Said;

/// Why copies could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// A directory that was named, or one of ours, cannot be used.
    #[error("could not use {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// Another backfill is at work.
    #[error("another backfill of this project is at work")]
    Busy,
    /// There is no lock to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// The sessions of one project.
#[derive(Debug, Clone)]
pub struct Transcripts {
    /// The state root, for locks.
    home: PathBuf,
    /// Names the project's lock.
    id: String,
    /// The project's state.
    state: PathBuf,
    dirs: SessionDirs,
    /// Directories of the project.
    roots: Vec<PathBuf>,
    /// Names that Claude Code gave to them.
    slugs: Vec<String>,
    /// Whether the user agreed that something of them is kept.
    keep: bool,
}

/// A session, with the host's file, our copy, or both.
#[derive(Debug, Clone)]
pub struct Session {
    /// The host's id of it.
    pub id: String,
    /// The agent.
    pub host: Host,
    /// The host's file, unless it was swept.
    pub file: Option<SessionFile>,
    /// Our copy, if there is one.
    pub kept: Option<KeptFile>,
    /// When the newer of the two was last written.
    pub modified: Timestamp,
    /// Whether the host wrote its file anew since it was copied: then the copy may have what the file has not.
    pub is_rewritten: bool,
}

impl Session {
    /// Returns the file that is read: the host's while there is one.
    pub fn path(&self) -> &Path {
        match (&self.file, &self.kept) {
            (Some(file), _) => &file.path,
            (None, Some(kept)) => &kept.path,
            (None, None) => Path::new(""),
        }
    }

    /// Returns what was said, as it stands in the file. A turn that comes again under its id replaces the earlier one.
    pub fn turns(&self) -> io::Result<Turns> {
        let kept = || self.kept.as_ref().map(KeptFile::turns);
        let Some(file) = &self.file else {
            return kept().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?.map(Turns::Kept);
        };
        match (file.turns(), kept()) {
            // Swept a moment ago.
            (Err(_), Some(kept)) => kept.map(Turns::Kept),
            (Ok(host), Some(Ok(kept))) if self.is_rewritten => Ok(Turns::Both(kept, host, HashSet::new())),
            (host, _) => host.map(Turns::Host),
        }
    }
}

impl Transcripts {
    /// Looks for the sessions of another registered project on this machine.
    pub fn of_project(place: &Place, project: &Project) -> Self {
        let mut slugs = project.claude_slugs.clone();
        let vault = project.vault.as_deref();
        slugs.extend(vault.and_then(|vault| find::slug_around(vault, place.session_dirs.claude.as_deref())));
        Self {
            home: place.home.clone(),
            id: project.id.to_string(),
            state: place.home.join("projects").join(project.id.as_str()),
            dirs: place.session_dirs.clone(),
            roots: project.roots.clone(),
            slugs,
            keep: place.settings.transcripts.keep,
        }
    }

    /// Looks for the sessions of the project at `place`.
    pub fn of(place: &Place) -> Self {
        let mut roots = place.project.roots.clone();
        roots.extend(place.dir.clone());
        if let Some(repository) = &place.repository {
            roots.extend([repository.root.clone(), repository.work_tree.clone()]);
        }
        roots.sort();
        roots.dedup();
        let mut slugs = place.project.claude_slugs.clone();
        slugs.extend(find::slug_around(&place.vault, place.session_dirs.claude.as_deref()));
        Self {
            home: place.home.clone(),
            id: place.project.id.to_string(),
            state: place.state_dir(),
            dirs: place.session_dirs.clone(),
            roots,
            slugs,
            keep: place.settings.transcripts.keep,
        }
    }

    /// Lists the sessions, the newest first, each once.
    pub fn sessions(&self) -> Vec<Session> {
        let cursors = Cursors::load(&self.home, &self.id, &self.state);
        let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
        for file in find::one_a_session(find::files(&self.dirs, &self.roots, &self.slugs)) {
            let (id, host, modified) = (file.session.clone(), file.host, file.modified());
            let cursor = cursors.by_session.get(&id);
            let is_rewritten = cursor.is_some_and(|cursor| cursor.rewritten || !cursor.is_of(&file));
            let session = Session { id, host, modified, file: Some(file), kept: None, is_rewritten };
            sessions.insert(session.id.clone(), session);
        }
        for kept in kept::files(&self.state) {
            let session = sessions.entry(kept.session.clone()).or_insert_with(|| Session {
                id: kept.session.clone(),
                host: kept.host,
                file: None,
                kept: None,
                modified: kept.modified,
                is_rewritten: false,
            });
            session.modified = session.modified.max(kept.modified);
            session.kept = Some(kept);
        }
        let mut sessions: Vec<Session> = sessions.into_values().collect();
        sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
        sessions
    }

    /// Returns what was said in all sessions, the newest session first, without secrets: for an index at rest.
    ///
    /// Reading the host's files needs nobody's word, keeping what they say does: ask the setting `transcripts.keep`
    /// first, or take only [`Transcripts::kept_turns`].
    pub fn turns(&self, scanner: &Scanner) -> impl Iterator<Item = Turn> + use<> {
        let scanner = scanner.clone();
        self.sessions().into_iter().filter_map(|session| session.turns().ok()).flat_map(move |turns| {
            let scanner = scanner.clone();
            // Our copies were cleaned when they were made.
            let is_clean = matches!(turns, Turns::Kept(_));
            turns.map(move |turn| if is_clean { turn } else { clean(turn, &scanner).0 })
        })
    }

    /// Returns what was said in the sessions that copies are kept of; secrets were redacted when they were made.
    pub fn kept_turns(&self) -> impl Iterator<Item = Turn> + use<> {
        kept::files(&self.state).into_iter().filter_map(|kept| kept.turns().ok()).flatten()
    }
}

/// What was said in one session, read as it is asked for. What cannot be read ends it.
#[derive(Debug)]
pub enum Turns {
    /// Out of the host's file.
    Host(HostTurns),
    /// Out of our copy.
    Kept(KeptTurns),
    /// Out of our copy, then out of the file that the host wrote anew, with the ids that were given.
    Both(KeptTurns, HostTurns, HashSet<String>),
}

impl Iterator for Turns {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        match self {
            Self::Host(turns) => turns.next(),
            Self::Kept(turns) => turns.next(),
            Self::Both(kept, host, given) => {
                let turn = kept.next().or_else(|| host.find(|turn| !given.contains(&turn.uuid)))?;
                given.insert(turn.uuid.clone());
                Some(turn)
            }
        }
    }
}

/// Redacts a turn, and says how many secrets it had.
pub(crate) fn clean(mut turn: Turn, scanner: &Scanner) -> (Turn, usize) {
    let findings = scanner.scan(turn.text.as_bytes());
    if !findings.is_empty() {
        turn.text = String::from_utf8_lossy(&redact(turn.text.as_bytes(), &findings)).into_owned();
    }
    (turn, findings.len())
}

/// Makes a moment of what a file system says.
fn moment(ns: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::UNIX_EPOCH)
}
