//! Reading memories, their versions and the feed, in PostgreSQL.

use std::collections::HashMap;

use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{ProjectInfo, ProjectName, VersionInfo};
use tokio_postgres::Row;

use super::pool::{Pool, Transaction, values};
use super::rows::{self, plain, signed};
use crate::rules::{self, State};
use crate::storage::{Feed, FeedError, Key, Page, StorageError, Stored, TeamId};

type Answer<T> = Result<T, StorageError>;

/// A memory with its text.
pub(super) const MEMORY: &str = "SELECT m.seq, m.hash, m.size, m.author, m.at, m.deleted, m.erased,
       (SELECT text FROM texts t WHERE t.memory = m.id AND t.seq = m.seq) AS text
     FROM memories m WHERE m.team = $1 AND m.project = $2 AND m.path = $3";

pub(super) async fn memory(pool: &Pool, key: &Key) -> Answer<Option<Stored>> {
    let rows = pool.ask(MEMORY, values![key.team.0, key.project.as_str(), key.path.as_str()]).await?;
    rows.first().map(rows::stored).transpose()
}

/// Every version of a memory, the newest too, as rows of one form.
const EVERY_VERSION: &str =
    "WITH it AS (SELECT * FROM memories WHERE team = $1 AND project = $2 AND path = $3),
     every AS (
       SELECT id, seq, hash, size, author, at, deleted, erased FROM it
       UNION ALL
       SELECT v.memory, v.seq, v.hash, v.size, v.author, v.at, v.deleted, false
       FROM versions v JOIN it ON it.id = v.memory)";

pub(super) async fn versions(pool: &Pool, key: &Key) -> Answer<Vec<VersionInfo>> {
    let sql = format!("{EVERY_VERSION} SELECT * FROM every ORDER BY seq DESC");
    let read = |row: &Row| {
        let state = rows::state(row)?;
        Ok(VersionInfo {
            seq: state.seq,
            hash: state.hash,
            size: state.size,
            author: state.author,
            at: state.at,
            deleted: state.deleted,
        })
    };
    let which = values![key.team.0, key.project.as_str(), key.path.as_str()];
    pool.ask(&sql, which).await?.iter().map(read).collect()
}

pub(super) fn version_sql() -> String {
    format!(
        "{EVERY_VERSION} SELECT every.*,
           (SELECT text FROM texts t WHERE t.memory = every.id AND t.seq = every.seq) AS text
         FROM every WHERE seq = $4"
    )
}

pub(super) async fn version(pool: &Pool, key: &Key, seq: u64) -> Answer<Option<Stored>> {
    let sql = version_sql();
    let which = values![key.team.0, key.project.as_str(), key.path.as_str(), signed(seq)];
    pool.ask(&sql, which).await?.first().map(rows::stored).transpose()
}

pub(super) async fn projects(pool: &Pool, team: TeamId) -> Answer<Vec<ProjectInfo>> {
    let sql = "SELECT project, count(*) AS memories, sum(size)::bigint AS bytes FROM memories
               WHERE team = $1 AND NOT deleted GROUP BY project ORDER BY project";
    let read = |row: &Row| {
        Ok(ProjectInfo {
            project: rows::project(row, "project")?,
            memories: rows::number(row, "memories")?,
            bytes: rows::number(row, "bytes")?,
        })
    };
    pool.ask(sql, values![team.0]).await?.iter().map(read).collect()
}

/// The newest versions of a project in their order: after a version, with or without tombstones, at most so many.
pub(super) const FEED: &str =
    "SELECT m.id, m.path, m.seq, m.hash, m.size, m.author, m.at, m.deleted, m.erased
     FROM memories m WHERE m.team = $1 AND m.project = $2 AND m.seq > $3 AND ($3 > 0 OR NOT m.deleted)
     ORDER BY m.seq LIMIT $4";

/// An entry of the feed before its text is fetched.
struct Entry {
    id: i64,
    path: MemoryPath,
    state: State,
}

/// Reads a page of the feed. The caller has begun a transaction that sees one moment.
pub(super) async fn changes(
    db: &Transaction<'_>,
    team: TeamId,
    project: &ProjectName,
    page: &Page,
) -> Result<Feed, FeedError> {
    let limit = signed((page.limit as u64).saturating_add(1));
    let sql = "SELECT seq, purged FROM teams WHERE id = $1";
    let (team_values, page_values) =
        (values![team.0], values![team.0, project.as_str(), signed(page.since), limit]);
    let (team, found) = tokio::join!(db.row(sql, team_values), db.rows(FEED, page_values));
    let (newest, purged) = match team? {
        Some(row) => (rows::number(&row, "seq")?, rows::number(&row, "purged")?),
        None => (0, 0),
    };
    if !page.is_first_walk && !rules::is_cursor_known(page.since, newest, purged) {
        return Err(FeedError::Gone);
    }
    let read = |row: &Row| {
        Ok(Entry { id: plain(row, "id")?, path: rows::path(row, "path")?, state: rows::state(row)? })
    };
    let mut entries = found?.iter().map(read).collect::<Answer<Vec<_>>>()?;
    let n_fit = n_fit(&entries, page);
    let more = n_fit < entries.len();
    entries.truncate(n_fit);
    let last = entries.last().map_or(page.since, |entry| entry.state.seq);
    let cursor = if more { last } else { newest };
    let mut texts = if page.with_text { texts(db, &entries).await? } else { HashMap::new() };
    let with_text = |entry: Entry| (entry.path, Stored { text: texts.remove(&entry.id), state: entry.state });
    Ok(Feed { entries: entries.into_iter().map(with_text).collect(), cursor, more })
}

/// Says how many of these entries are on the page; the first one always is.
fn n_fit(entries: &[Entry], page: &Page) -> usize {
    let mut room = page.max_bytes as u64;
    let fits = |entry: &&Entry| {
        let n_bytes = if page.with_text && !entry.state.deleted { entry.state.size } else { 0 };
        let fits = n_bytes <= room;
        room = room.saturating_sub(n_bytes);
        fits
    };
    let n_by_bytes = entries.iter().take_while(fits).count().max(1);
    n_by_bytes.min(page.limit).min(entries.len())
}

/// The texts of versions.
/// `OFFSET 0` keeps it one look into the index for each: two lists would be every memory with every version, and a join
/// a walk through all texts as long as they are few.
pub(super) const TEXTS: &str = "SELECT wanted.memory, found.text FROM unnest($1::bigint[], $2::bigint[]) AS wanted (memory, seq)
    CROSS JOIN LATERAL (SELECT text FROM texts WHERE texts.memory = wanted.memory AND texts.seq = wanted.seq OFFSET 0) AS found";

/// Fetches the texts of these entries.
async fn texts(db: &Transaction<'_>, entries: &[Entry]) -> Answer<HashMap<i64, String>> {
    let there = || entries.iter().filter(|entry| !entry.state.deleted);
    let memories: Vec<i64> = there().map(|entry| entry.id).collect();
    let seqs: Vec<i64> = there().map(|entry| signed(entry.state.seq)).collect();
    if memories.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = db.rows(TEXTS, values![memories, seqs]).await?;
    rows.iter().map(|row| Ok((plain(row, "memory")?, plain(row, "text")?))).collect()
}
