//! Making what was erased gone from the files too.
//!
//! A removed row leaves its bytes in its page, and its words in the index. So the parts that held it are written anew: a copy
//! of what is left takes their place, and the old files are removed. Readers wait for that moment, which is why the parts are
//! small, and why nobody waits long for a lock: if somebody else reads for minutes (`pg_dump` does), the call says so.
//!
//! What cannot be reached from here: the write-ahead log until it is recycled, replicas, and backups.

use std::time::Duration;

use super::pool::{Mode, Pool, Transaction, values};
use super::rows::plain;
use crate::storage::{Key, StorageError};

/// How often the lock of a part is tried for, and how long between.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// The parts in which something of these memories is or was.
pub(super) async fn parts(db: &Transaction<'_>, keys: &[&Key]) -> Result<Vec<i64>, StorageError> {
    let sql = "SELECT part::bigint FROM generate_series(0, 7) AS part
               WHERE EXISTS (SELECT 1 FROM unnest($1::bigint[], $2::text[], $3::text[]) AS asked (team, project, path)
                             JOIN memories m USING (team, project, path)
                             WHERE satisfies_hash_partition('texts'::regclass, 8, part, m.id)) ORDER BY part";
    let teams: Vec<i64> = keys.iter().map(|key| key.team.0).collect();
    let projects: Vec<&str> = keys.iter().map(|key| key.project.as_str()).collect();
    let paths: Vec<&str> = keys.iter().map(|key| key.path.as_str()).collect();
    let rows = db.rows(sql, values![teams, projects, paths]).await?;
    rows.iter().map(|row| plain(row, "part")).collect()
}

/// Writes these parts anew.
pub(super) async fn rewrite(pool: &Pool, parts: &[i64]) -> Result<(), StorageError> {
    for part in parts {
        for table in ["texts", "found"] {
            rewrite_one(pool, &format!("CLUSTER {table}_{part} USING {table}_{part}_pkey")).await?;
        }
    }
    Ok(())
}

async fn rewrite_one(pool: &Pool, sql: &str) -> Result<(), StorageError> {
    let mut n_tries = 1;
    loop {
        let db = pool.begin(Mode::Rewrite).await?;
        let done = db.batch(sql).await;
        match db.end(done).await {
            Err(StorageError::Busy(_)) if n_tries < TRIES => {}
            done => return done,
        }
        n_tries += 1;
        tokio::time::sleep(PAUSE).await;
    }
}
