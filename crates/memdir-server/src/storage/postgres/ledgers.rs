//! Ledgers of one person's machines in PostgreSQL: files that only grow, kept in the pieces they came in.

use jiff::Timestamp;
use memdir_core::team::wire::{LedgerInfo, LedgerName, ProjectName};
use tokio_postgres::Row;

use super::people;
use super::pool::{Pool, Transaction, values};
use super::rows::{self, plain, signed, unsigned};
use crate::rules::Quotas;
use crate::storage::{Actor, AppendError, StorageError, TeamId};

type Answer<T> = Result<T, StorageError>;

pub(super) async fn list(pool: &Pool, team: TeamId, project: &ProjectName) -> Answer<Vec<LedgerInfo>> {
    let sql = "SELECT file, size FROM ledgers WHERE team = $1 AND project = $2 ORDER BY file";
    let read =
        |row: &Row| Ok(LedgerInfo { file: rows::ledger(row, "file")?, size: rows::number(row, "size")? });
    pool.ask(sql, values![team.0, project.as_str()]).await?.iter().map(read).collect()
}

pub(super) async fn read(
    pool: &Pool,
    team: TeamId,
    project: &ProjectName,
    file: &LedgerName,
    offset: u64,
    max: usize,
) -> Answer<Option<Vec<u8>>> {
    // The piece that the offset is in, and those after it; a ledger without any of them is one row without a piece.
    let sql = "SELECT p.start, p.bytes FROM ledgers l
               LEFT JOIN ledger_pieces p ON p.ledger = l.id AND p.start < $5
                 AND p.start >= (SELECT max(q.start) FROM ledger_pieces q WHERE q.ledger = l.id AND q.start <= $4)
               WHERE l.team = $1 AND l.project = $2 AND l.file = $3 ORDER BY p.start";
    let end = offset.saturating_add(max as u64);
    let values = values![team.0, project.as_str(), file.as_str(), signed(offset), signed(end)];
    let pieces = pool.ask(sql, values).await?;
    if pieces.is_empty() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    for row in &pieces {
        let Some(piece) = plain::<Option<Vec<u8>>>(row, "bytes")? else { break };
        let start = rows::number(row, "start")?;
        let skip = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX).min(piece.len());
        bytes.extend_from_slice(&piece[skip..]);
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

pub(super) async fn append(
    db: &Transaction<'_>,
    quotas: &Quotas,
    append: &Append<'_>,
) -> Result<u64, AppendError> {
    let Append { team, project, file, offset, bytes, by, at } = *append;
    let sql = "SELECT bytes FROM teams WHERE id = $1 FOR UPDATE";
    let row = db.row(sql, values![team.0]).await?;
    let row = row.ok_or_else(|| StorageError::Failed("there is no such team".to_owned()))?;
    let used = unsigned(plain(&row, "bytes")?);
    let sql = "SELECT size FROM ledgers WHERE team = $1 AND project = $2 AND file = $3";
    let row = db.row(sql, values![team.0, project.as_str(), file.as_str()]).await?;
    let end = row.map(|row| rows::number(&row, "size")).transpose()?.unwrap_or(0);
    if end != offset {
        return Err(AppendError::OtherEnd(end));
    }
    if used.saturating_add(bytes.len() as u64) > quotas.bytes {
        return Err(AppendError::Quota(quotas.bytes));
    }
    if bytes.is_empty() {
        return Ok(end);
    }
    grow(db, append).await?;
    people::note(db, team, by, at, "append", &format!("{project}/{file}")).await?;
    Ok(end + bytes.len() as u64)
}

async fn grow(db: &Transaction<'_>, append: &Append<'_>) -> Answer<()> {
    let Append { team, project, file, offset, bytes, .. } = *append;
    let n_bytes = signed(bytes.len() as u64);
    let sql = "WITH grown AS (
                 INSERT INTO ledgers (team, project, file, size) VALUES ($1, $2, $3, $5)
                 ON CONFLICT (team, project, file) DO UPDATE SET size = ledgers.size + $5 RETURNING id)
               INSERT INTO ledger_pieces (ledger, start, bytes) SELECT id, $4, $6 FROM grown";
    let values = values![team.0, project.as_str(), file.as_str(), signed(offset), n_bytes, bytes];
    db.run(sql, values).await?;
    db.run("UPDATE teams SET bytes = bytes + $2 WHERE id = $1", values![team.0, n_bytes]).await?;
    Ok(())
}
