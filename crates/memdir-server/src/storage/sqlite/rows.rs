//! Rows as values, and the other way round. What cannot be read was not written by us: the database is damaged.

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{LedgerName, MemberName, ProjectName, Scope, TeamKind, TeamName};
use rusqlite::Row;
use rusqlite::types::Type;

use crate::rules::State;
use crate::storage::{AppendError, FeedError, JoinError, StorageError, Stored, Team, TeamId, WriteError};

impl From<rusqlite::Error> for StorageError {
    fn from(err: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match err.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy(err.to_string()),
            Some(Code::DiskFull) => Self::Full,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Damaged(err.to_string()),
            _ if matches!(err, rusqlite::Error::FromSqlConversionFailure(..)) => {
                Self::Damaged(err.to_string())
            }
            _ => Self::Failed(err.to_string()),
        }
    }
}

/// A number of ours, as SQLite has it. None of ours comes near the end of its range.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of SQLite's, as we have it.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Milliseconds since 1970.
pub(super) fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

/// Reads a column by what makes its value of it.
fn column<T, E>(row: &Row<'_>, at: &str, read: impl FnOnce(&str) -> Result<T, E>) -> rusqlite::Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let text: String = row.get(at)?;
    read(&text).map_err(|err| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(err)))
}

fn odd(what: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, what.into())
}

pub(super) fn number(row: &Row<'_>, at: &str) -> rusqlite::Result<u64> {
    row.get(at).map(unsigned)
}

pub(super) fn time(row: &Row<'_>, at: &str) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(row.get(at)?).map_err(|_| odd("no time"))
}

pub(super) fn maybe_time(row: &Row<'_>, at: &str) -> rusqlite::Result<Option<Timestamp>> {
    let millis: Option<i64> = row.get(at)?;
    millis.map(|millis| Timestamp::from_millisecond(millis).map_err(|_| odd("no time"))).transpose()
}

pub(super) fn hash(row: &Row<'_>, at: &str) -> rusqlite::Result<ContentHash> {
    row.get(at).map(ContentHash::from_bytes)
}

pub(super) fn member(row: &Row<'_>, at: &str) -> rusqlite::Result<MemberName> {
    column(row, at, MemberName::new)
}

pub(super) fn maybe_member(row: &Row<'_>, at: &str) -> rusqlite::Result<Option<MemberName>> {
    let text: Option<String> = row.get(at)?;
    text.map(|text| MemberName::new(&text).map_err(|_| odd("no member"))).transpose()
}

pub(super) fn project(row: &Row<'_>, at: &str) -> rusqlite::Result<ProjectName> {
    column(row, at, ProjectName::new)
}

pub(super) fn ledger(row: &Row<'_>, at: &str) -> rusqlite::Result<LedgerName> {
    column(row, at, LedgerName::new)
}

pub(super) fn path(row: &Row<'_>, at: &str) -> rusqlite::Result<MemoryPath> {
    column(row, at, MemoryPath::new)
}

pub(super) fn scope(row: &Row<'_>, at: &str) -> rusqlite::Result<Scope> {
    let word: String = row.get(at)?;
    Scope::from_word(&word).ok_or_else(|| odd("no scope"))
}

/// The columns of [`team`].
pub(super) const TEAM: &str = "teams.id AS team_id, teams.name AS team_name, teams.kind, teams.seq AS team_seq, \
     teams.purged, teams.memories AS team_memories, teams.bytes AS team_bytes";

/// Reads a team out of the columns of [`TEAM`].
pub(super) fn team(row: &Row<'_>) -> rusqlite::Result<Team> {
    let kind: String = row.get("kind")?;
    Ok(Team {
        id: TeamId(row.get("team_id")?),
        name: column(row, "team_name", TeamName::new)?,
        kind: TeamKind::from_word(&kind).ok_or_else(|| odd("no kind of team"))?,
        seq: number(row, "team_seq")?,
        purged: number(row, "purged")?,
        memories: number(row, "team_memories")?,
        bytes: number(row, "team_bytes")?,
    })
}

/// The columns of [`state`].
pub(super) const STATE: &str = "seq, hash, size, author, at, deleted, erased";

/// Reads a version out of the columns of [`STATE`].
pub(super) fn state(row: &Row<'_>) -> rusqlite::Result<State> {
    Ok(State {
        seq: number(row, "seq")?,
        hash: hash(row, "hash")?,
        size: number(row, "size")?,
        author: member(row, "author")?,
        at: time(row, "at")?,
        deleted: row.get("deleted")?,
        erased: row.get("erased")?,
    })
}

/// Reads a version with its text.
pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored { state: state(row)?, text: row.get("text")? })
}

/// Lets `?` turn what SQLite says into an error of each call.
macro_rules! from_sqlite {
    ($($error:ty),*) => {
        $(impl From<rusqlite::Error> for $error {
            fn from(err: rusqlite::Error) -> Self {
                Self::Storage(err.into())
            }
        })*
    };
}

from_sqlite!(AppendError, FeedError, JoinError, WriteError);
