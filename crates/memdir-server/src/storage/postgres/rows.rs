//! Rows as values, and the other way round. What cannot be read was not written by us: the database is damaged.

use std::error::Error as _;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{LedgerName, MemberName, ProjectName, Scope, TeamKind, TeamName};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::FromSqlOwned;

use crate::rules::State;
use crate::storage::{StorageError, Stored, Team, TeamId};

type Read<T> = Result<T, StorageError>;

/// What the database says, as what a caller can do about it.
pub(super) fn fault(err: tokio_postgres::Error) -> StorageError {
    let Some(told) = err.as_db_error() else { return unreachable(&err) };
    let said = format!("{} ({})", told.message(), told.code().code());
    match told.code() {
        &SqlState::DISK_FULL => StorageError::Full,
        &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => StorageError::Damaged(said),
        // It waited for a lock or ran too long, or goes over to another machine.
        &SqlState::LOCK_NOT_AVAILABLE | &SqlState::QUERY_CANCELED | &SqlState::READ_ONLY_SQL_TRANSACTION => {
            StorageError::Busy(said)
        }
        code => match &code.code()[..2] {
            // Connections, what was taken back, what it has too little of, its keeper.
            "08" | "40" | "53" | "57" => StorageError::Busy(said),
            _ => StorageError::Failed(said),
        },
    }
}

/// What went wrong on the way. A certificate that is not trusted will not be trusted later.
fn unreachable(err: &tokio_postgres::Error) -> StorageError {
    let mut said = err.to_string();
    let mut is_distrust = false;
    let mut cause = err.source();
    while let Some(inner) = cause {
        is_distrust |= inner.is::<rustls::Error>();
        let words = inner.to_string();
        if !said.ends_with(&words) {
            said = format!("{said}: {words}");
        }
        cause = match inner.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(wrapped) => {
                is_distrust |= wrapped.is::<rustls::Error>();
                wrapped.source()
            }
            None => inner.source(),
        };
    }
    if is_distrust { StorageError::Failed(said) } else { StorageError::Busy(said) }
}

/// Says whether the connection is gone, rather than what was asked refused.
pub(super) fn is_loss(err: &tokio_postgres::Error) -> bool {
    match err.code() {
        None => true,
        Some(code) => code.code().starts_with("08") || code.code().starts_with("57P"),
    }
}

/// A number of ours, as PostgreSQL has it. None of ours comes near the end of its range.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of PostgreSQL's, as we have it.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Milliseconds since 1970.
pub(super) fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

fn odd(at: &str, why: impl std::fmt::Display) -> StorageError {
    StorageError::Damaged(format!("`{at}`: {why}"))
}

/// Reads a column as it is.
pub(super) fn plain<T: FromSqlOwned>(row: &Row, at: &str) -> Read<T> {
    row.try_get(at).map_err(|err| odd(at, err))
}

/// Reads a column by what makes its value of it.
fn column<T, E: std::fmt::Display>(row: &Row, at: &str, read: impl FnOnce(&str) -> Result<T, E>) -> Read<T> {
    let text: String = plain(row, at)?;
    read(&text).map_err(|err| odd(at, err))
}

pub(super) fn number(row: &Row, at: &str) -> Read<u64> {
    plain(row, at).map(unsigned)
}

pub(super) fn time(row: &Row, at: &str) -> Read<Timestamp> {
    Timestamp::from_millisecond(plain(row, at)?).map_err(|err| odd(at, err))
}

pub(super) fn maybe_time(row: &Row, at: &str) -> Read<Option<Timestamp>> {
    let millis: Option<i64> = plain(row, at)?;
    millis.map(|millis| Timestamp::from_millisecond(millis).map_err(|err| odd(at, err))).transpose()
}

pub(super) fn maybe_hash(row: &Row, at: &str) -> Read<Option<ContentHash>> {
    let bytes: Option<Vec<u8>> = plain(row, at)?;
    let read = |bytes: Vec<u8>| bytes.try_into().map_err(|_| odd(at, "no hash"));
    Ok(bytes.map(read).transpose()?.map(ContentHash::from_bytes))
}

pub(super) fn hash(row: &Row, at: &str) -> Read<ContentHash> {
    maybe_hash(row, at)?.ok_or_else(|| odd(at, "no hash"))
}

pub(super) fn member(row: &Row, at: &str) -> Read<MemberName> {
    column(row, at, MemberName::new)
}

pub(super) fn maybe_member(row: &Row, at: &str) -> Read<Option<MemberName>> {
    let text: Option<String> = plain(row, at)?;
    text.map(|text| MemberName::new(&text).map_err(|err| odd(at, err))).transpose()
}

pub(super) fn project(row: &Row, at: &str) -> Read<ProjectName> {
    column(row, at, ProjectName::new)
}

pub(super) fn ledger(row: &Row, at: &str) -> Read<LedgerName> {
    column(row, at, LedgerName::new)
}

pub(super) fn path(row: &Row, at: &str) -> Read<MemoryPath> {
    column(row, at, MemoryPath::new)
}

pub(super) fn scope(row: &Row, at: &str) -> Read<Scope> {
    column(row, at, |word| Scope::from_word(word).ok_or("no scope"))
}

/// The columns of [`team`].
pub(super) const TEAM: &str = "teams.id AS team_id, teams.name AS team_name, teams.kind, teams.seq AS team_seq, \
     teams.purged, teams.memories AS team_memories, teams.bytes AS team_bytes";

/// Reads a team out of the columns of [`TEAM`].
pub(super) fn team(row: &Row) -> Read<Team> {
    Ok(Team {
        id: TeamId(plain(row, "team_id")?),
        name: column(row, "team_name", TeamName::new)?,
        kind: column(row, "kind", |word| TeamKind::from_word(word).ok_or("no kind of team"))?,
        seq: number(row, "team_seq")?,
        purged: number(row, "purged")?,
        memories: number(row, "team_memories")?,
        bytes: number(row, "team_bytes")?,
    })
}

/// The columns of [`state`], of `memories` called `m`.
pub(super) const STATE: &str = "m.seq, m.hash, m.size, m.author, m.at, m.deleted, m.erased";

/// Reads a version out of the columns of [`STATE`].
pub(super) fn state(row: &Row) -> Read<State> {
    Ok(State {
        seq: number(row, "seq")?,
        hash: hash(row, "hash")?,
        size: number(row, "size")?,
        author: member(row, "author")?,
        at: time(row, "at")?,
        deleted: plain(row, "deleted")?,
        erased: plain(row, "erased")?,
    })
}

/// Reads a version with its text.
pub(super) fn stored(row: &Row) -> Read<Stored> {
    Ok(Stored { state: state(row)?, text: plain(row, "text")? })
}
