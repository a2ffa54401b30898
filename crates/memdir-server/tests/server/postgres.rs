//! The suite over a real PostgreSQL, and what only it can show.

use memdir_server::storage::Postgres;
use memdir_testkit::Postgres as Database;

use crate::suite::storage_suite;

async fn open() -> (Postgres, Database) {
    let database = Database::start();
    (Postgres::open(&database.address()).await.unwrap(), database)
}

storage_suite!(open);
