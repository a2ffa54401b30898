//! Reading memories, their versions and the feed, in PostgreSQL.

use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{ProjectInfo, ProjectName, VersionInfo};
use tokio_postgres::Row;

use super::pool::{Pool, values};
use super::rows::{self, plain, signed};
use crate::rules;
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

/// The counter of a team, and the newest versions of a project in their order: after a version, with or without tombstones, at
/// most so many, with the texts of as many as have room, if they are wanted. A team without a change has one row, of nulls.
///
/// One statement sees one moment. A text is looked up by itself: a join would be a walk through all texts while they are few.
pub(super) const FEED: &str = "
    WITH page AS MATERIALIZED (
      SELECT m.id, m.path, m.seq, m.hash, m.size, m.author, m.at, m.deleted, m.erased
      FROM memories m WHERE m.team = $1 AND m.project = $2 AND m.seq > $3 AND ($3 > 0 OR NOT m.deleted)
      ORDER BY m.seq LIMIT $4),
    summed AS (
      SELECT page.*, sum(size) FILTER (WHERE NOT deleted) OVER up_to AS bytes, row_number() OVER up_to AS n
      FROM page WINDOW up_to AS (ORDER BY seq))
    SELECT teams.seq AS newest, teams.purged, m.path, m.seq, m.hash, m.size, m.author, m.at, m.deleted, m.erased,
      CASE WHEN $5 AND NOT m.deleted AND (m.n = 1 OR m.bytes <= $6)
        THEN (SELECT text FROM texts t WHERE t.memory = m.id AND t.seq = m.seq) END AS text
    FROM teams LEFT JOIN summed m ON true WHERE teams.id = $1 ORDER BY m.seq";

/// Reads a page of the feed.
pub(super) async fn changes(
    pool: &Pool,
    team: TeamId,
    project: &ProjectName,
    page: &Page,
) -> Result<Feed, FeedError> {
    let (limit, room) = (signed((page.limit as u64).saturating_add(1)), signed(page.max_bytes as u64));
    let which = values![team.0, project.as_str(), signed(page.since), limit, page.with_text, room];
    let rows = pool.ask(FEED, which).await?;
    let (newest, purged) = match rows.first() {
        Some(row) => (rows::number(row, "newest")?, rows::number(row, "purged")?),
        None => (0, 0),
    };
    if !page.is_first_walk && !rules::is_cursor_known(page.since, newest, purged) {
        return Err(FeedError::Gone);
    }
    let mut entries = Vec::with_capacity(rows.len());
    for row in &rows {
        if plain::<Option<i64>>(row, "seq")?.is_some() {
            entries.push((rows::path(row, "path")?, rows::stored(row)?));
        }
    }
    let n_fit = n_fit(&entries, page);
    let more = n_fit < entries.len();
    entries.truncate(n_fit);
    let last = entries.last().map_or(page.since, |(_, stored)| stored.state.seq);
    Ok(Feed { entries, cursor: if more { last } else { newest }, more })
}

/// Says how many of these entries are on the page; the first one always is.
fn n_fit(entries: &[(MemoryPath, Stored)], page: &Page) -> usize {
    let mut room = page.max_bytes as u64;
    let fits = |(_, entry): &&(MemoryPath, Stored)| {
        let n_bytes = if page.with_text && !entry.state.deleted { entry.state.size } else { 0 };
        let fits = n_bytes <= room;
        room = room.saturating_sub(n_bytes);
        fits
    };
    let n_by_bytes = entries.iter().take_while(fits).count().max(1);
    n_by_bytes.min(page.limit).min(entries.len())
}
