//! Teams in PostgreSQL, for several servers over one database and for what outgrows a file.
//!
//! [`Postgres`] is the storage. Whatever changes a team waits for the lock of its row, and what waits in one server is written
//! together; whoever reads waits for nobody. Calls hold
//! no state of a session and no statement has a name, so a pooler may stand in between. A database that cannot be reached, or
//! keeps one waiting, is busy: calls say so after a while, and go on by themselves when it is back.

mod address;
mod erase;
mod ledgers;
mod meaning;
mod migrate;
mod people;
#[cfg(test)]
mod plans;
mod pool;
mod queue;
mod read;
mod rows;
mod search;
mod tls;
mod write;

use std::sync::Arc;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{
    AuditEntry, LedgerInfo, LedgerName, MemberInfo, MemberName, ProjectInfo, ProjectName, TeamKind, TeamName,
    VersionInfo,
};

use super::{
    Actor, AppendError, Bearer, Feed, FeedError, Found, Invite, JoinError, Joining, Key, NewInvite, NewToken,
    Page, Purged, Storage, StorageError, Stored, Team, TeamId, Token, Write, WriteChange,
};
use crate::rules::Quotas;
use address::Address;
use ledgers::Append;
use pool::{CALL, Mode, Pool};
use queue::Queues;
use tls::Tls;
use write::{Answers, Asked};

/// Does something in a transaction that writes, and keeps it if it succeeds.
macro_rules! change {
    ($storage:ident, $db:ident, $job:expr) => {
        $crate::storage::postgres::within(async {
            let transaction = $storage.pool.begin(Mode::Write).await?;
            let $db = &transaction;
            let done = $job.await;
            transaction.end(done).await
        })
        .await
    };
}

/// Teams in one database.
pub struct Postgres {
    pool: Arc<Pool>,
    /// Whether it knows what texts are about.
    has_meaning: bool,
    queues: Arc<Queues>,
}

impl Postgres {
    /// Opens the database at a URL or `key=value` words, and brings it to the form of this version. No error repeats the
    /// address: it may hold a password.
    pub async fn open(address: &str) -> Result<Self, StorageError> {
        let address = Address::read(address)?;
        let tls = Tls::new(&address)?;
        let pool = Pool::new(address.config, tls);
        migrate::migrate(&pool).await?;
        let has_meaning = meaning::prepare(&pool).await?;
        let pool = Arc::new(pool);
        let queues = Arc::new(Queues::new(pool.clone(), has_meaning));
        Ok(Self { pool, has_meaning, queues })
    }

    /// Writes something of which some is erased: it is gone from the files when this returns.
    async fn erase(
        &self,
        writes: &[(Key, Write)],
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> Result<Answers, StorageError> {
        let (answers, parts) = change!(self, db, async {
            let answers =
                write::write_all(db, &Asked::all(writes, by, quotas, at)?, self.has_meaning).await?;
            let done = writes.iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
            let erased = done.filter(|((_, write), _)| write.change == WriteChange::Erase);
            let erased: Vec<&Key> = erased.map(|((key, _), _)| key).collect();
            let parts = if erased.is_empty() { Vec::new() } else { erase::parts(db, &erased).await? };
            Ok::<_, StorageError>((answers, parts))
        })?;
        erase::rewrite(&self.pool, &parts).await?;
        Ok(answers)
    }
}

/// Gives up on a call that takes too long.
async fn within<T, E: From<StorageError>>(call: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let late = |_| Err(StorageError::Busy("the database does not answer".to_owned()).into());
    tokio::time::timeout(CALL, call).await.unwrap_or_else(late)
}

impl Storage for Postgres {
    async fn ready(&self) -> Result<(), StorageError> {
        within(self.pool.ask("SELECT count(*) FROM teams", &[])).await.map(|_| ())
    }

    async fn add_team(
        &self,
        name: &TeamName,
        kind: TeamKind,
        at: Timestamp,
    ) -> Result<Option<Team>, StorageError> {
        change!(self, db, people::add_team(db, name, kind, at))
    }

    async fn teams(&self) -> Result<Vec<Team>, StorageError> {
        within(people::teams(&self.pool)).await
    }

    async fn team(&self, team: TeamId) -> Result<Option<Team>, StorageError> {
        within(people::team(&self.pool, team)).await
    }

    async fn newest(&self, teams: &[TeamId]) -> Result<Vec<u64>, StorageError> {
        within(people::newest(&self.pool, teams)).await
    }

    async fn bearer(&self, token: &ContentHash) -> Result<Option<Bearer>, StorageError> {
        within(people::bearer(&self.pool, token)).await
    }

    async fn add_server_token(&self, token: &NewToken, at: Timestamp) -> Result<(), StorageError> {
        change!(self, db, people::add_server_token(db, token, at))
    }

    async fn server_token(&self, token: &ContentHash) -> Result<Option<Option<Timestamp>>, StorageError> {
        within(people::server_token(&self.pool, token)).await
    }

    async fn add_token(
        &self,
        team: TeamId,
        member: &MemberName,
        token: &NewToken,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        change!(self, db, people::add_token(db, team, member, token, by, at))
    }

    async fn tokens(&self, team: TeamId, member: Option<&MemberName>) -> Result<Vec<Token>, StorageError> {
        within(people::tokens(&self.pool, team, member)).await
    }

    async fn revoke_token(
        &self,
        team: TeamId,
        id: &str,
        only_of: Option<&MemberName>,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        change!(self, db, people::revoke_token(db, team, id, only_of, by, at))
    }

    async fn add_invite(
        &self,
        team: TeamId,
        invite: &NewInvite,
        by: &Actor,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        change!(self, db, people::add_invite(db, team, invite, by, at))
    }

    async fn invites(&self, team: TeamId) -> Result<Vec<Invite>, StorageError> {
        within(people::invites(&self.pool, team)).await
    }

    async fn withdraw_invite(
        &self,
        team: TeamId,
        id: &str,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        change!(self, db, people::withdraw_invite(db, team, id, by, at))
    }

    async fn join(&self, joining: &Joining, at: Timestamp) -> Result<Bearer, JoinError> {
        change!(self, db, people::join(db, joining, at))
    }

    async fn members(&self, team: TeamId, now: Timestamp) -> Result<Vec<MemberInfo>, StorageError> {
        within(people::members(&self.pool, team, now)).await
    }

    async fn revoke_member(
        &self,
        team: TeamId,
        member: &MemberName,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        change!(self, db, people::revoke_member(db, team, member, by, at))
    }

    async fn projects(&self, team: TeamId) -> Result<Vec<ProjectInfo>, StorageError> {
        within(read::projects(&self.pool, team)).await
    }

    async fn write_all(
        &self,
        writes: Vec<(Key, Write)>,
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> Answers {
        let n_writes = writes.len();
        let written = if writes.iter().any(|(_, write)| write.change == WriteChange::Erase) {
            self.erase(&writes, by, quotas, at).await
        } else {
            within(self.queues.write(writes, by, quotas, at)).await
        };
        written.unwrap_or_else(|err| (0..n_writes).map(|_| Err(err.clone().into())).collect())
    }

    async fn memory(&self, key: &Key) -> Result<Option<Stored>, StorageError> {
        within(read::memory(&self.pool, key)).await
    }

    async fn versions(&self, key: &Key) -> Result<Vec<VersionInfo>, StorageError> {
        within(read::versions(&self.pool, key)).await
    }

    async fn version(&self, key: &Key, seq: u64) -> Result<Option<Stored>, StorageError> {
        within(read::version(&self.pool, key, seq)).await
    }

    async fn changes(&self, team: TeamId, project: &ProjectName, page: &Page) -> Result<Feed, FeedError> {
        within(read::changes(&self.pool, team, project, page)).await
    }

    async fn search(
        &self,
        team: TeamId,
        project: Option<&ProjectName>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<Found>, StorageError> {
        within(search::search(&self.pool, team, project, words, limit)).await
    }

    async fn search_text(
        &self,
        team: TeamId,
        project: Option<&ProjectName>,
        question: &str,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<Found>, StorageError> {
        if !self.has_meaning {
            return self.search(team, project, words, limit).await;
        }
        within(async {
            let db = self.pool.begin(Mode::Read).await?;
            let found = search::search_with_meaning(&db, team, project, question, words, limit).await;
            db.end(found).await
        })
        .await
    }

    async fn audit(&self, team: TeamId, since: u64, limit: usize) -> Result<Vec<AuditEntry>, StorageError> {
        within(people::audit(&self.pool, team, since, limit)).await
    }

    async fn ledgers(&self, team: TeamId, project: &ProjectName) -> Result<Vec<LedgerInfo>, StorageError> {
        within(ledgers::list(&self.pool, team, project)).await
    }

    async fn read_ledger(
        &self,
        team: TeamId,
        project: &ProjectName,
        file: &LedgerName,
        offset: u64,
        max: usize,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        within(ledgers::read(&self.pool, team, project, file, offset, max)).await
    }

    async fn append_ledger(
        &self,
        team: TeamId,
        project: &ProjectName,
        file: &LedgerName,
        offset: u64,
        bytes: &[u8],
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> Result<u64, AppendError> {
        let append = Append { team, project, file, offset, bytes, by, at };
        change!(self, db, ledgers::append(db, quotas, &append))
    }

    async fn purge(&self, before: Timestamp) -> Result<Purged, StorageError> {
        let db = self.pool.begin(Mode::Write).await?;
        let purged = write::purge(&db, before).await;
        db.end(purged).await
    }
}
