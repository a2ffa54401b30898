//! Ledgers of one person's machines in SQLite: files that only grow, kept in the pieces they came in.

use jiff::Timestamp;
use memdir_core::team::wire::{LedgerInfo, LedgerName, ProjectName};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::people::{Deed, note};
use super::rows::{self, signed, unsigned};
use crate::rules::Quotas;
use crate::storage::{Actor, AppendError, TeamId};

type Rows<T> = rusqlite::Result<T>;

pub(super) fn list(db: &Connection, team: TeamId, project: &ProjectName) -> Rows<Vec<LedgerInfo>> {
    let sql = "SELECT file, size FROM ledgers WHERE team = ? AND project = ? ORDER BY file";
    let read =
        |row: &Row<'_>| Ok(LedgerInfo { file: rows::ledger(row, "file")?, size: rows::number(row, "size")? });
    db.prepare_cached(sql)?.query_map(params![team.0, project.as_str()], read)?.collect()
}

fn find(db: &Connection, team: TeamId, project: &ProjectName, file: &LedgerName) -> Rows<Option<(i64, u64)>> {
    let sql = "SELECT id, size FROM ledgers WHERE team = ? AND project = ? AND file = ?";
    let read = |row: &Row<'_>| Ok((row.get("id")?, rows::number(row, "size")?));
    db.prepare_cached(sql)?.query_row(params![team.0, project.as_str(), file.as_str()], read).optional()
}

pub(super) fn read(
    db: &Connection,
    team: TeamId,
    project: &ProjectName,
    file: &LedgerName,
    offset: u64,
    max: usize,
) -> Rows<Option<Vec<u8>>> {
    let Some((id, _)) = find(db, team, project, file)? else { return Ok(None) };
    let sql = "SELECT start, bytes FROM ledger_pieces WHERE ledger = ?1 AND start + length(bytes) > ?2 ORDER BY start";
    let mut statement = db.prepare_cached(sql)?;
    let mut pieces = statement.query(params![id, signed(offset)])?;
    let mut bytes = Vec::new();
    while let Some(row) = pieces.next()? {
        let start = rows::number(row, "start")?;
        let piece: Vec<u8> = row.get("bytes")?;
        let skip = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX).min(piece.len());
        bytes.extend_from_slice(&piece[skip..]);
        if bytes.len() >= max {
            break;
        }
    }
    bytes.truncate(max);
    Ok(Some(bytes))
}

/// What is appended, where, and by whom.
pub(super) struct Append<'a> {
    pub(super) team: TeamId,
    pub(super) project: &'a ProjectName,
    pub(super) file: &'a LedgerName,
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
    pub(super) by: &'a Actor,
    pub(super) at: Timestamp,
}

pub(super) fn append(db: &Connection, quotas: &Quotas, append: &Append<'_>) -> Result<u64, AppendError> {
    let Append { team, project, file, offset, bytes, by, at } = *append;
    let known = find(db, team, project, file)?;
    let end = known.map_or(0, |(_, size)| size);
    if end != offset {
        return Err(AppendError::OtherEnd(end));
    }
    let sql = "SELECT bytes FROM teams WHERE id = ?";
    let used: i64 = db.query_row(sql, [team.0], |row| row.get(0))?;
    if unsigned(used).saturating_add(bytes.len() as u64) > quotas.bytes {
        return Err(AppendError::Quota(quotas.bytes));
    }
    if bytes.is_empty() {
        return Ok(end);
    }
    let size = end + bytes.len() as u64;
    let id = match known {
        Some((id, _)) => id,
        None => insert(db, team, project, file)?,
    };
    db.execute("UPDATE ledgers SET size = ? WHERE id = ?", params![signed(size), id])?;
    let sql = "INSERT INTO ledger_pieces (ledger, start, bytes) VALUES (?, ?, ?)";
    db.execute(sql, params![id, signed(end), bytes])?;
    let sql = "UPDATE teams SET bytes = bytes + ? WHERE id = ?";
    db.execute(sql, params![signed(bytes.len() as u64), team.0])?;
    note(db, team, by, at, &Deed::new("append", &format!("{project}/{file}")))?;
    Ok(size)
}

fn insert(db: &Connection, team: TeamId, project: &ProjectName, file: &LedgerName) -> Rows<i64> {
    let sql = "INSERT INTO ledgers (team, project, file, size) VALUES (?, ?, ?, 0)";
    db.execute(sql, params![team.0, project.as_str(), file.as_str()])?;
    Ok(db.last_insert_rowid())
}
