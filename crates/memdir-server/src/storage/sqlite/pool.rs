//! Threads that hold the connections: one that writes, a few that read.
//!
//! SQLite blocks, so it is asked off the threads that serve sockets. A question is a closure, sent to a thread, whose answer
//! comes back to whoever waits. The queues are bounded: a database that cannot keep up says so instead of piling up work.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use crate::storage::StorageError;

/// How many questions may wait for a thread.
const QUEUE: usize = 1_024;
/// How long a connection waits for one of another process.
const BUSY_PATIENCE: Duration = Duration::from_secs(10);
/// How many statements a connection keeps compiled.
const STATEMENTS: usize = 64;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// Threads with a connection each, that take jobs from one queue.
pub(super) struct Pool {
    /// `None` only while it is dropped.
    queue: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts a thread for each of these connections.
    pub(super) fn start(name: &str, connections: Vec<Connection>) -> Result<Self, StorageError> {
        let (queue, jobs) = sync_channel::<Job>(QUEUE);
        let jobs = Arc::new(Mutex::new(jobs));
        let mut threads = Vec::new();
        for connection in connections {
            let jobs = jobs.clone();
            let thread =
                std::thread::Builder::new().name(name.to_owned()).spawn(move || work(connection, &jobs));
            threads.push(thread.map_err(|err| StorageError::Failed(err.to_string()))?);
        }
        Ok(Self { queue: Some(queue), threads })
    }

    /// Asks a thread, and waits for its answer without holding up anybody.
    pub(super) async fn ask<T, E>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
    {
        let (answer, wait) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Who asked may be gone by now.
            let _ = answer.send(job(connection));
        });
        let stopped = || E::from(StorageError::Failed("the database is closed".to_owned()));
        match self.queue.as_ref().ok_or_else(stopped)?.try_send(job) {
            Ok(()) => wait.await.unwrap_or_else(|_| Err(stopped())),
            Err(TrySendError::Full(_)) => {
                Err(StorageError::Busy("too many questions are waiting".to_owned()).into())
            }
            Err(TrySendError::Disconnected(_)) => Err(stopped()),
        }
    }
}

impl Drop for Pool {
    /// Lets the threads finish what waits, so that every connection is closed when the storage is gone.
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing left to finish.
            let _ = thread.join();
        }
    }
}

fn work(mut connection: Connection, jobs: &Mutex<Receiver<Job>>) {
    loop {
        // The lock is held while waiting: one thread waits for a job, the others for the lock.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        job(&mut connection);
    }
}

/// Opens a connection with the settings that every one of ours has.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(PathBuf::from(path), flags)?;
    connection.busy_timeout(BUSY_PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}
