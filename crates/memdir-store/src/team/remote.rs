//! The other side of a sync, whatever it is: a folder or a server.
//!
//! [`Remote`] is small and blocking. It says what changed there, hands over texts, takes writes that name the version
//! they replace, and answers each by itself. It decides nothing: what is pulled, pushed, merged or kept apart is
//! `memdir_core::team::reconcile`. Whatever it returns is checked before it is used, for a server may be anybody's.
//!
//! Nothing is asked once a key: ten thousand memories are one call here, and a few requests for whoever answers it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::share::Audience;
use serde::{Deserialize, Serialize};

/// A place that memories are shared through.
pub trait Remote {
    /// Says what this place is and who we are there. Costs no request: what has to be asked was asked when it was opened.
    fn about(&self) -> &About;

    /// Says what changed since `ask.since`, or all there is. `tell` hears how far it is.
    fn changes(&mut self, ask: &Ask<'_>, tell: &mut dyn FnMut(Progress)) -> Result<Changes, RemoteError>;

    /// Fetches texts that [`Remote::changes`] left out. One answer for each wanted key, in order; `None` where the
    /// version is there no more, which the next sync will hear of.
    fn texts(
        &mut self,
        wanted: &[Wanted],
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Option<Vec<u8>>>, RemoteError>;

    /// Carries out writes, each by itself. Whatever happens there is one outcome for each write, in order; what could
    /// not be asked, or was not answered, is [`Outcome::Unknown`], and `cut` says why.
    fn push(&mut self, writes: &[Write], tell: &mut dyn FnMut(Progress)) -> Pushed;

    /// Takes every version's text of these memories away, as far as this place can.
    fn erase(&mut self, paths: &[MemoryPath]) -> Pushed;

    /// Lists the ledgers of the user's machines. Only places for [`Audience::Own`] have any.
    fn usage(&mut self) -> Result<Vec<UsageFile>, RemoteError> {
        Ok(Vec::new())
    }

    /// Reads a ledger from `offset` on, to its end or less; nothing at its end.
    fn read_usage(&mut self, _name: &str, _offset: u64) -> Result<Vec<u8>, RemoteError> {
        Ok(Vec::new())
    }

    /// Appends whole lines to a ledger whose size is `offset`. Returns its size after that, or as it is if that is
    /// another one: then nothing was appended.
    fn append_usage(&mut self, _name: &str, _offset: u64, _lines: &[u8]) -> Result<Appended, RemoteError> {
        Ok(Appended::Elsewhere(0))
    }

    /// Returns what was asked and moved so far.
    fn traffic(&self) -> Traffic;
}

/// What a place is, and who we are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Which place it is, the same at every sync: a canonical path, or `<base URL>#<team>`. Another value means that
    /// nothing known about the last sync holds here.
    pub id: String,
    /// How it is called in messages, without anything secret.
    pub label: String,
    /// Who reads what is there.
    pub audience: Audience,
    /// Our own name there; what it wrote needs no trust.
    pub member: Option<String>,
    /// Whether each version says who wrote it. If not, the place is trusted as a whole.
    pub names_authors: bool,
}

/// How far a place was read; opaque to everybody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

/// Which version of a key it is there; opaque to everybody else, and never the same for two versions of one key unless
/// they are the same text. A server's is its counter, a folder's the hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub String);

/// What a file looked like when it was read: who keeps files recognises by it those that did not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime: i64,
    /// Inode number.
    pub inode: u64,
}

/// A question for what changed.
#[derive(Debug)]
pub struct Ask<'a> {
    /// How far it was read; `None` asks for everything.
    pub since: Option<Cursor>,
    /// What was there at the last sync. Texts of versions that are known need not come.
    pub known: &'a BTreeMap<MemoryPath, Known>,
}

/// What was known of a key after the last sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Which version it was.
    pub version: Version,
    /// Its hash; `None` if it was deleted.
    pub hash: Option<ContentHash>,
    /// What its file looked like, where there is one.
    pub stamp: Option<Stamp>,
}

/// An answer to [`Ask`].
#[derive(Debug, Default)]
pub struct Changes {
    /// What changed, one item a key.
    pub items: Vec<Item>,
    /// Whether `items` is all there is: a known key that it does not name is deleted.
    pub complete: bool,
    /// From where to go on next time, once all of this was taken over.
    pub cursor: Option<Cursor>,
    /// What was there and cannot be taken: not a memory's path, a link, too large, a hash that lies. None of them is
    /// among `items`, and none counts as deleted.
    pub refused: Vec<RefusedKey>,
    /// Known keys whose version the place has lost, because it was put back to an older copy of itself. What was agreed on
    /// about them holds no longer: what is here is news there, and nothing of it counts as deleted.
    pub lost: Vec<MemoryPath>,
}

/// One key as it is there.
#[derive(Debug, Clone)]
pub struct Item {
    /// Which memory.
    pub path: MemoryPath,
    /// Which version.
    pub version: Version,
    /// What it is.
    pub state: State,
    /// Who wrote this version, if the place knows.
    pub author: Option<String>,
    /// When, by the clock over there: to be shown, never to be compared.
    pub at: Option<Timestamp>,
    /// What its file looks like, where there is one.
    pub stamp: Option<Stamp>,
}

/// What a key is over there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A memory.
    Live {
        /// Its hash; checked against the text when that comes.
        hash: ContentHash,
        /// Its size in bytes.
        size: u64,
        /// Its text, if it came along.
        text: Option<Vec<u8>>,
    },
    /// Deleted.
    Gone {
        /// Whether its text is to be taken away everywhere.
        erased: bool,
    },
    /// Not to be seen from here for now, which says nothing: another branch is checked out.
    Away,
}

/// A version whose text is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Which memory.
    pub path: MemoryPath,
    /// Which version.
    pub version: Version,
    /// Its hash: a text with another one is not handed over.
    pub hash: ContentHash,
}

/// One key to be changed over there.
#[derive(Debug, Clone)]
pub struct Write {
    /// Which memory.
    pub path: MemoryPath,
    /// Which version it replaces, a deleted one included; `None` if there must never have been one.
    pub base: Option<Version>,
    /// The new text; `None` deletes.
    pub text: Option<Vec<u8>>,
}

/// What became of a list of writes.
#[derive(Debug, Default)]
pub struct Pushed {
    /// One for each write, in order.
    pub outcomes: Vec<Outcome>,
    /// From where to go on next time, if nothing happened over there but these writes since `Ask::since` was answered.
    pub cursor: Option<Cursor>,
    /// Why some outcomes are unknown.
    pub cut: Option<RemoteError>,
}

/// What became of one write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It stands over there.
    Done {
        /// As which version.
        version: Version,
        /// What its file looks like, where there is one.
        stamp: Option<Stamp>,
    },
    /// Something else is there than what was to be replaced. Nothing changed.
    Stale {
        /// What is there, if the place says so.
        current: Option<Current>,
    },
    /// It is not taken, and would not be the next time.
    Refused {
        /// Why, as a word of the protocol: `secret`, `too-large`, `forbidden`, `quota`, `bad-request`.
        code: String,
        /// Why, for people.
        message: String,
    },
    /// Nobody knows: not asked, or not answered. The next sync finds out.
    Unknown,
}

/// What is there under a key that somebody else changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current {
    /// Which version.
    pub version: Version,
    /// Its hash; `None` if it is deleted.
    pub hash: Option<ContentHash>,
}

/// Something over there that is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedKey {
    /// Its name as it was sent; may hold anything, so it is escaped when shown.
    pub name: String,
    /// The key it stands in the way of, if it is one.
    pub path: Option<MemoryPath>,
    /// Why not.
    pub why: String,
}

/// A ledger of one of the user's machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageFile {
    /// Its name: `usage-<machine>-<month>.jsonl`.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

/// What became of lines for a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// They are there; its size now.
    Done(u64),
    /// The ledger ends elsewhere; nothing was appended.
    Elsewhere(u64),
}

/// What was asked and moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Requests, those included that failed; none for a folder.
    pub requests: u64,
    /// Bytes sent, headers not counted.
    pub sent: u64,
    /// Bytes received, headers not counted.
    pub received: u64,
}

/// How far long work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is done at the moment.
    pub phase: Phase,
    /// How many are done.
    pub done: usize,
    /// Of how many, where that is known.
    pub of: Option<usize>,
}

/// A part of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reading what is here.
    Reading,
    /// Asking what changed there.
    Asking,
    /// Fetching texts.
    Fetching,
    /// Sending.
    Sending,
    /// Writing into the vault.
    Writing,
}

/// Why a place could not be asked. Nothing here was changed by it.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// Nobody answers, or not in time.
    #[error("{label} cannot be reached: {why}")]
    Unreachable { label: String, why: String },
    /// The token is missing, wrong, expired or revoked.
    #[error("{label} does not let us in: {why}")]
    Unauthorized { label: String, why: String },
    /// We are let in, but not for this.
    #[error("{label} does not allow it: {why}")]
    Forbidden { label: String, why: String },
    /// There is no such team or project, or none that we may know of.
    #[error("{label} has no such place: {why}")]
    NotFound { label: String, why: String },
    /// The cursor is too old: everything has to be asked for.
    #[error("{label} no longer knows what changed since the last sync")]
    CursorGone { label: String },
    /// It speaks another version of the protocol.
    #[error("{label} speaks protocol {theirs}, and this memdir speaks {ours}")]
    Protocol { label: String, ours: String, theirs: String },
    /// It has too much to do, also after waiting.
    #[error("{label} is busy")]
    Busy { label: String, retry_after: Option<Duration> },
    /// What it answered is no answer.
    #[error("{label} answered what cannot be right: {why}")]
    Nonsense { label: String, why: String },
    /// A file or folder could not be read or written.
    #[error("could not use {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A folder is not one that we use.
    #[error("{} is not used: {why}", path.display())]
    Unusable { path: PathBuf, why: String },
}
