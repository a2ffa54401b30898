//! Connections to PostgreSQL: a few, lent to one call at a time.
//!
//! Every statement is sent without a name and every setting holds for one transaction, so whatever stands between us and the
//! database may give each transaction another session (PgBouncer's transaction mode). A connection goes back only from a call
//! that came to its end; one that broke, or whose caller went away, is closed, and the database takes back what it had begun.
//!
//! [`Pool::ask`] is one question in one round trip, [`Pool::begin`] a transaction of several.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row};

use super::rows::{fault, is_loss};
use super::tls::Tls;
use crate::storage::StorageError;

/// How many connections there are at most. A call holds one for milliseconds.
const CONNECTIONS: usize = 16;
/// How long a call waits for a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a call may take altogether, if nothing else is heard: the network may be gone without a word.
pub(super) const CALL: Duration = Duration::from_secs(30);
/// How a transaction begins that only reads, all of it at one moment.
const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = '20s'";
/// How one begins that writes.
const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; \
     SET LOCAL statement_timeout = '20s'; SET LOCAL lock_timeout = '10s'";
/// How one begins that writes tables anew: it may take long, but nobody waits long behind it for what it waits for itself.
const REWRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; \
     SET LOCAL statement_timeout = '15min'; SET LOCAL lock_timeout = '1s'";

/// What a transaction is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    Read,
    Write,
    Rewrite,
}

impl Mode {
    fn beginning(self) -> &'static str {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
            Self::Rewrite => REWRITE,
        }
    }
}

/// A value of a statement, with its type: without it the database would have to be asked first.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// The connections that nobody uses now, and how many more there may be.
pub(super) struct Pool {
    config: Config,
    tls: Tls,
    places: Semaphore,
    idle: Mutex<Vec<Client>>,
}

impl Pool {
    pub(super) fn new(config: Config, tls: Tls) -> Self {
        Self { config, tls, places: Semaphore::new(CONNECTIONS), idle: Mutex::default() }
    }

    /// Asks one question that only reads. Beginning, question and end travel together.
    pub(super) async fn ask(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        loop {
            let lent = self.lend().await?;
            let client = &lent.client;
            let (begun, rows, ended) = tokio::join!(
                client.batch_execute(READ),
                client.query_typed(sql, values),
                client.batch_execute("COMMIT"),
            );
            match begun.and(rows).and_then(|rows| ended.map(|()| rows)) {
                // Reading twice does no harm.
                Err(err) if lent.is_stale(&err) => self.forget_idle(),
                done => {
                    lent.give_back();
                    return done.map_err(fault);
                }
            }
        }
    }

    /// Begins a transaction.
    pub(super) async fn begin(&self, mode: Mode) -> Result<Transaction<'_>, StorageError> {
        loop {
            let lent = self.lend().await?;
            match lent.client.batch_execute(mode.beginning()).await {
                Ok(()) => return Ok(Transaction { lent }),
                // Nothing was done yet.
                Err(err) if lent.is_stale(&err) => self.forget_idle(),
                Err(err) => return Err(fault(err)),
            }
        }
    }

    /// Lends a connection, making one if none is idle.
    async fn lend(&self) -> Result<Lent<'_>, StorageError> {
        let none = |_| StorageError::Busy("every connection is in use".to_owned());
        let place = tokio::time::timeout(PATIENCE, self.places.acquire()).await.map_err(none)?;
        let place = place.map_err(|_| StorageError::Failed("the database is closed".to_owned()))?;
        let idle = self.idle().pop();
        let (client, is_fresh) = match idle.filter(|client| !client.is_closed()) {
            Some(client) => (client, false),
            None => (self.connect().await?, true),
        };
        Ok(Lent { client, is_fresh, pool: self, _place: place })
    }

    async fn connect(&self) -> Result<Client, StorageError> {
        let slow = |_| StorageError::Busy("the database does not answer".to_owned());
        let connecting = self.config.connect(self.tls.clone());
        let (client, connection) =
            tokio::time::timeout(PATIENCE, connecting).await.map_err(slow)?.map_err(fault)?;
        // It ends with its client; what broke it is told to whoever asks next.
        tokio::spawn(connection);
        Ok(client)
    }

    /// Closes what nobody uses: where one connection is broken, the others are.
    fn forget_idle(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection while it is in use.
struct Lent<'a> {
    client: Client,
    /// Whether it was made for this use.
    is_fresh: bool,
    pool: &'a Pool,
    _place: SemaphorePermit<'a>,
}

impl Lent<'_> {
    /// Says whether this failed because the connection had lain idle for too long, so that another one may do.
    fn is_stale(&self, err: &tokio_postgres::Error) -> bool {
        !self.is_fresh && is_loss(err)
    }

    fn give_back(self) {
        if !self.client.is_closed() {
            self.pool.idle().push(self.client);
        }
    }
}

/// A transaction. Dropped before its end, it is taken back with its connection.
pub(super) struct Transaction<'a> {
    lent: Lent<'a>,
}

impl Transaction<'_> {
    /// Asks for rows.
    pub(super) async fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        self.lent.client.query_typed(sql, values).await.map_err(fault)
    }

    /// Asks for the first row.
    pub(super) async fn row(&self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>, StorageError> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Changes rows, and says how many.
    pub(super) async fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError> {
        self.lent.client.execute_typed(sql, values).await.map_err(fault)
    }

    /// Runs statements without values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), StorageError> {
        self.lent.client.batch_execute(sql).await.map_err(fault)
    }

    /// Keeps what was done if it succeeded, else takes it back.
    pub(super) async fn end<T, E: From<StorageError>>(self, done: Result<T, E>) -> Result<T, E> {
        let word = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.lent.client.batch_execute(word).await.map_err(fault);
        self.lent.give_back();
        done.and_then(|done| ended.map(|()| done).map_err(E::from))
    }
}

/// A value whose type in the database is known.
pub(super) trait Typed {
    const TYPE: Type;
    const ARRAY: Type;
}

macro_rules! typed {
    ($($value:ty: $one:ident $many:ident),*) => {
        $(impl Typed for $value {
            const TYPE: Type = Type::$one;
            const ARRAY: Type = Type::$many;
        })*
    };
}

typed!(i64: INT8 INT8_ARRAY, i16: INT2 INT2_ARRAY, f64: FLOAT8 FLOAT8_ARRAY, bool: BOOL BOOL_ARRAY, &str: TEXT TEXT_ARRAY,
    String: TEXT TEXT_ARRAY, &[u8]: BYTEA BYTEA_ARRAY);

impl<T: Typed> Typed for Option<T> {
    const TYPE: Type = T::TYPE;
    const ARRAY: Type = T::ARRAY;
}

impl<T: Typed> Typed for Vec<T> {
    const TYPE: Type = T::ARRAY;
    const ARRAY: Type = T::ARRAY;
}

pub(super) fn type_of<T: Typed>(_: &T) -> Type {
    T::TYPE
}

/// The values of a statement, with their types.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$((&$value as &(dyn tokio_postgres::types::ToSql + Sync), $crate::storage::postgres::pool::type_of(&$value))),*]
    };
}
pub(super) use values;
