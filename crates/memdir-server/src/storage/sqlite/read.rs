//! Reading memories, their versions, the feed and what is found, in SQLite.

use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{ProjectInfo, ProjectName, VersionInfo};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::people;
use super::rows::{self, signed};
use crate::rules;
use crate::storage::{Feed, FeedError, Found, Key, Page, Stored, TeamId};

type Rows<T> = rusqlite::Result<T>;

pub(super) fn memory(db: &Connection, key: &Key) -> Rows<Option<Stored>> {
    let sql =
        format!("SELECT {}, text FROM memories WHERE team = ? AND project = ? AND path = ?", rows::STATE);
    let which = params![key.team.0, key.project.as_str(), key.path.as_str()];
    db.prepare_cached(&sql)?.query_row(which, rows::stored).optional()
}

/// Every version of a memory, the newest too, as rows of one form.
const EVERY_VERSION: &str = "WITH every AS (
       SELECT seq, hash, size, author, at, deleted, erased, text
       FROM memories WHERE team = ?1 AND project = ?2 AND path = ?3
       UNION ALL
       SELECT v.seq, v.hash, v.size, v.author, v.at, v.deleted, 0, v.text
       FROM versions v JOIN memories m ON m.id = v.memory
       WHERE m.team = ?1 AND m.project = ?2 AND m.path = ?3)";

pub(super) fn versions(db: &Connection, key: &Key) -> Rows<Vec<VersionInfo>> {
    let sql = format!("{EVERY_VERSION} SELECT * FROM every ORDER BY seq DESC");
    let read = |row: &Row<'_>| {
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
    let which = params![key.team.0, key.project.as_str(), key.path.as_str()];
    db.prepare_cached(&sql)?.query_map(which, read)?.collect()
}

pub(super) fn version(db: &Connection, key: &Key, seq: u64) -> Rows<Option<Stored>> {
    let sql = format!("{EVERY_VERSION} SELECT * FROM every WHERE seq = ?4");
    let which = params![key.team.0, key.project.as_str(), key.path.as_str(), signed(seq)];
    db.prepare_cached(&sql)?.query_row(which, rows::stored).optional()
}

pub(super) fn projects(db: &Connection, team: TeamId) -> Rows<Vec<ProjectInfo>> {
    let sql = "SELECT project, count(*) AS memories, sum(size) AS bytes FROM memories
               WHERE team = ? AND deleted = 0 GROUP BY project ORDER BY project";
    let read = |row: &Row<'_>| {
        Ok(ProjectInfo {
            project: rows::project(row, "project")?,
            memories: rows::number(row, "memories")?,
            bytes: rows::number(row, "bytes")?,
        })
    };
    db.prepare_cached(sql)?.query_map([team.0], read)?.collect()
}

/// Reads a page of the feed. The caller has begun a transaction, so that all of it is of one moment.
pub(super) fn changes(
    db: &Connection,
    team: TeamId,
    project: &ProjectName,
    page: &Page,
) -> Result<Feed, FeedError> {
    let (newest, purged) = people::team(db, team)?.map_or((0, 0), |team| (team.seq, team.purged));
    if !page.is_first_walk && !rules::is_cursor_known(page.since, newest, purged) {
        return Err(FeedError::Gone);
    }
    let mut feed = Feed { entries: Vec::new(), cursor: newest, more: false };
    let mut room = page.max_bytes;
    let sql = format!(
        "SELECT path, {}, CASE WHEN ?4 THEN text END AS text FROM memories
         WHERE team = ?1 AND project = ?2 AND seq > ?3 AND (?3 > 0 OR deleted = 0) ORDER BY seq",
        rows::STATE
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut found = statement.query(params![team.0, project.as_str(), signed(page.since), page.with_text])?;
    while let Some(row) = found.next()? {
        let entry: (MemoryPath, Stored) = (rows::path(row, "path")?, rows::stored(row)?);
        let n_bytes = entry.1.text.as_ref().map_or(0, String::len);
        let is_full = feed.entries.len() >= page.limit || (n_bytes > room && !feed.entries.is_empty());
        if is_full {
            feed.more = true;
            feed.cursor = feed.entries.last().map_or(page.since, |(_, stored)| stored.state.seq);
            break;
        }
        room = room.saturating_sub(n_bytes);
        feed.entries.push(entry);
    }
    Ok(feed)
}

pub(super) fn search(
    db: &Connection,
    team: TeamId,
    project: Option<&ProjectName>,
    words: &[String],
    limit: usize,
) -> Rows<Vec<Found>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // What narrows is a word of the index too, so that only rows of the team are weighed.
    let place = match project {
        Some(project) => format!("t{}p{}", team.0, memdir_core::hash::to_hex(project.as_str().as_bytes())),
        None => format!("t{}", team.0),
    };
    let any =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', ""))).collect::<Vec<_>>().join(" OR ");
    let question = format!("place : \"{place}\" AND words : ({any})");
    let sql = format!(
        "SELECT project, path, text, {}, -f.rank AS score
         FROM (SELECT rowid, rank FROM found WHERE found MATCH ? AND rank MATCH 'bm25(0.0, 1.0)'
               ORDER BY rank LIMIT ?) f
         CROSS JOIN memories m ON m.id = f.rowid ORDER BY f.rank",
        rows::STATE
    );
    let read = |row: &Row<'_>| {
        Ok(Found {
            project: rows::project(row, "project")?,
            path: rows::path(row, "path")?,
            state: rows::state(row)?,
            text: row.get::<_, Option<String>>("text")?.unwrap_or_default(),
            score: row.get("score")?,
        })
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    db.prepare_cached(&sql)?.query_map(params![question, limit], read)?.collect()
}
