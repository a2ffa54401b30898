//! The steps from an empty database to what this version writes. A database says how many it has taken.

use super::pool::{Mode, Pool, Transaction, values};
use super::rows;
use crate::storage::StorageError;

const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_teams.sql")];

/// Whoever migrates holds this lock of the database; the number means nothing.
const LOCK: i64 = 0x6d65_6d64_6972;

/// Takes the steps that are missing. Processes that start at once do so one after the other.
pub(super) async fn migrate(pool: &Pool) -> Result<(), StorageError> {
    let db = pool.begin(Mode::Write).await?;
    let done = take_steps(&db).await;
    db.end(done).await
}

/// Waits until nobody else changes the form of the database; the lock ends with the transaction.
pub(super) async fn lock(db: &Transaction<'_>) -> Result<(), StorageError> {
    db.rows("SELECT pg_advisory_xact_lock($1)", values![LOCK]).await?;
    Ok(())
}

async fn take_steps(db: &Transaction<'_>) -> Result<(), StorageError> {
    // A step may rewrite a large table, and whoever comes second waits for it.
    db.batch("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '10min'").await?;
    lock(db).await?;
    speaks_unicode(db).await?;
    let sql = "CREATE TABLE IF NOT EXISTS memdir_schema (one boolean PRIMARY KEY DEFAULT true CHECK (one), steps bigint NOT NULL);
               INSERT INTO memdir_schema (steps) VALUES (0) ON CONFLICT DO NOTHING";
    db.batch(sql).await?;
    let row = db.row("SELECT steps FROM memdir_schema", &[]).await?;
    let taken = row.map(|row| rows::number(&row, "steps")).transpose()?.unwrap_or(0);
    let taken = usize::try_from(taken).unwrap_or(usize::MAX);
    if taken > MIGRATIONS.len() {
        return Err(StorageError::Damaged("it was written by a newer version".to_owned()));
    }
    if taken == MIGRATIONS.len() {
        return Ok(());
    }
    for step in &MIGRATIONS[taken..] {
        db.batch(step).await?;
    }
    db.run("UPDATE memdir_schema SET steps = $1", values![rows::signed(MIGRATIONS.len() as u64)]).await?;
    Ok(())
}

async fn speaks_unicode(db: &Transaction<'_>) -> Result<(), StorageError> {
    let row = db.row("SELECT current_setting('server_encoding') AS encoding", &[]).await?;
    let encoding: Option<String> = row.map(|row| rows::plain(&row, "encoding")).transpose()?;
    match encoding.as_deref() {
        Some("UTF8") => Ok(()),
        other => {
            let other = other.unwrap_or("unknown");
            Err(StorageError::Failed(format!("its encoding is {other}, and UTF8 is needed")))
        }
    }
}
