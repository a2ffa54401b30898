//! Writes of one team that come at once, carried out together.
//!
//! Every write of a team needs the lock of its row. If each waited for it in the database, each would hold a connection that
//! others need to read, and pay for the disk alone. So they wait here: the first that comes is written at once, and what came
//! meanwhile is written after it in one transaction. Other servers on the same database are kept apart by the lock as before.
//!
//! What is written belongs to a task of its own, not to who asked first: they may go away while others wait.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::pool::{Mode, Pool};
use super::within;
use super::write::{self, Answers, Asked};
use crate::rules::Quotas;
use crate::storage::{Actor, Key, StorageError, TeamId, Write};

/// How many writes are carried out together at most, if they are not of one call: all wait for the last of them.
const TOGETHER: usize = 256;
/// How many calls may wait for one team. More than that is not made up for in the time that a call has.
const WAITING: usize = 4_096;

type Answer = Result<Answers, StorageError>;

/// What waits to be written, by team. A team that is not here is not written to now.
pub(super) struct Queues {
    pool: Arc<Pool>,
    has_meaning: bool,
    waiting: Mutex<HashMap<TeamId, VecDeque<Call>>>,
}

/// What one call wants written.
struct Call {
    writes: Vec<(Key, Write)>,
    by: Actor,
    quotas: Quotas,
    at: Timestamp,
    answer: oneshot::Sender<Answer>,
}

impl Queues {
    pub(super) fn new(pool: Arc<Pool>, has_meaning: bool) -> Self {
        Self { pool, has_meaning, waiting: Mutex::default() }
    }

    /// Writes, with what else comes for the same team.
    pub(super) async fn write(
        self: &Arc<Self>,
        writes: Vec<(Key, Write)>,
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> Answer {
        let Some(team) = writes.first().map(|(key, _)| key.team) else { return Ok(Vec::new()) };
        let (answer, wait) = oneshot::channel();
        self.enter(team, Call { writes, by: by.clone(), quotas: *quotas, at, answer })?;
        wait.await.unwrap_or_else(|_| Err(StorageError::Failed("nobody wrote it".to_owned())))
    }

    /// Puts a call at the end of its queue, and begins to work on the queue if nobody does.
    fn enter(self: &Arc<Self>, team: TeamId, call: Call) -> Result<(), StorageError> {
        match self.waiting().entry(team) {
            Entry::Occupied(queue) if queue.get().len() >= WAITING => {
                return Err(StorageError::Busy("too many wait to write to this team".to_owned()));
            }
            Entry::Occupied(mut queue) => queue.get_mut().push_back(call),
            Entry::Vacant(place) => {
                place.insert(VecDeque::from([call]));
                let turn = Turn { queues: self.clone(), team, is_over: false };
                tokio::spawn(async move { turn.work().await });
            }
        }
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<TeamId, VecDeque<Call>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what these calls want in one transaction, and answers them.
    async fn carry_out(&self, calls: Vec<Call>) {
        match within(self.write_together(&calls)).await {
            Ok(answers) => {
                for (call, answers) in calls.into_iter().zip(answers) {
                    // Who asked may be gone by now.
                    let _ = call.answer.send(Ok(answers));
                }
            }
            // What one of them wants cannot be written; the others need not suffer for it.
            Err(StorageError::Failed(_) | StorageError::Damaged(_)) if calls.len() > 1 => {
                for call in calls {
                    Box::pin(self.carry_out(vec![call])).await;
                }
            }
            Err(err) => {
                for call in calls {
                    let _ = call.answer.send(Err(err.clone()));
                }
            }
        }
    }

    async fn write_together(&self, calls: &[Call]) -> Result<Vec<Answers>, StorageError> {
        let mut asked = Vec::new();
        for call in calls {
            asked.extend(Asked::all(&call.writes, &call.by, &call.quotas, call.at)?);
        }
        let db = self.pool.begin(Mode::Write).await?;
        let written = write::write_all(&db, &asked, self.has_meaning).await;
        let mut answers = db.end(written).await?.into_iter();
        Ok(calls.iter().map(|call| answers.by_ref().take(call.writes.len()).collect()).collect())
    }
}

/// The work on the queue of one team. However it ends, whoever comes next begins anew.
struct Turn {
    queues: Arc<Queues>,
    team: TeamId,
    /// Whether the queue was empty, and given up: what is there now is somebody else's.
    is_over: bool,
}

impl Turn {
    async fn work(mut self) {
        while let Some(calls) = self.next() {
            self.queues.carry_out(calls).await;
        }
    }

    /// Takes what is written together next; at the end of the queue, the queue itself.
    fn next(&mut self) -> Option<Vec<Call>> {
        let mut waiting = self.queues.waiting();
        let queue = waiting.get_mut(&self.team)?;
        // Who gave up was told that nothing is certain; nothing is written for them any more.
        queue.retain(|call| !call.answer.is_closed());
        let mut n_writes = 0;
        let fits = |call: &&Call| {
            n_writes += call.writes.len();
            n_writes <= TOGETHER
        };
        let n_calls = queue.iter().take_while(fits).count();
        if queue.is_empty() {
            waiting.remove(&self.team);
            self.is_over = true;
            return None;
        }
        Some(queue.drain(..n_calls.max(1)).collect())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_over {
            self.queues.waiting().remove(&self.team);
        }
    }
}
