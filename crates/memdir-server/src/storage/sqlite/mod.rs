//! Teams in one SQLite file, for a server that needs no other service.
//!
//! [`Sqlite`] is the storage. Readers never wait for the writer (WAL); a write waits for the one before it and, for a while, for
//! one of another process. `synchronous=FULL` makes an answer survive the loss of power; `secure_delete`, the same option of the
//! full-text index and an emptied log make an erasure leave no byte. The file is its owner's alone.

mod ledgers;
mod people;
mod pool;
mod read;
mod rows;
mod write;

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{
    AuditEntry, LedgerInfo, LedgerName, MemberInfo, MemberName, ProjectInfo, ProjectName, TeamKind, TeamName,
    VersionInfo,
};
use rusqlite::backup::Backup;
use rusqlite::{Connection, TransactionBehavior};

use super::{
    Actor, AppendError, Bearer, Feed, FeedError, Found, Invite, JoinError, Joining, Key, NewInvite, NewToken,
    Page, Purged, Storage, StorageError, Stored, Team, TeamId, Token, Write, WriteChange, WriteError,
    Written,
};
use crate::rules::Quotas;
use ledgers::Append;
use pool::{Pool, connect};

/// The steps from an empty file to what this version writes; a file says how many it has taken.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_teams.sql")];
/// How many connections read at a time.
const READERS: usize = 4;
/// How often the log is asked to be emptied after an erasure, while others read from it, and how long between.
const TRUNCATIONS: usize = 100;
const TRUNCATION_PAUSE: Duration = Duration::from_millis(100);

/// Teams in one file.
pub struct Sqlite {
    writer: Pool,
    readers: Pool,
    path: PathBuf,
}

impl Sqlite {
    /// Opens a file, making it if there is none, and brings it to the form of this version. Blocks.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        make_private(path).map_err(|err| StorageError::Failed(format!("{}: {err}", path.display())))?;
        let mut writer = connect(path)?;
        migrate(&mut writer)?;
        let readers = (0..READERS).map(|_| connect(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            writer: Pool::start("team-writer", vec![writer])?,
            readers: Pool::start("team-reader", readers)?,
            path: path.to_owned(),
        })
    }

    /// Copies everything into a new file while the server goes on, and returns its bytes. The copy is as it was at one moment.
    pub async fn backup(&self, to: &Path) -> Result<u64, StorageError> {
        if to.exists() {
            return Err(StorageError::Failed(format!("{} exists already", to.display())));
        }
        let to = to.to_owned();
        self.readers.ask(move |db| copy(db, &to)).await
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks a connection that only reads, all of it at one moment.
    async fn read<T, E>(&self, job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + From<rusqlite::Error> + Send + 'static,
    {
        self.readers.ask(move |db| job(&*db.transaction_with_behavior(TransactionBehavior::Deferred)?)).await
    }

    /// Asks the connection that writes; what it does is kept if it succeeds.
    async fn change<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + From<rusqlite::Error> + Send + 'static,
    {
        self.writer.ask(move |db| in_transaction(db, job)).await
    }
}

fn in_transaction<T, E>(db: &mut Connection, job: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E>
where
    E: From<rusqlite::Error>,
{
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = job(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Makes the file and its directory, if they are not there, for their owner alone.
fn make_private(path: &Path) -> io::Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let mode = file.metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

fn migrate(db: &mut Connection) -> Result<(), StorageError> {
    // Two processes may start at once: the second one finds the work done.
    in_transaction(db, |db| {
        let taken: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let taken = usize::try_from(taken).unwrap_or(usize::MAX);
        if taken > MIGRATIONS.len() {
            return Err(StorageError::Damaged("it was written by a newer version".to_owned()));
        }
        for (n, step) in MIGRATIONS.iter().enumerate().skip(taken) {
            db.execute_batch(step)?;
            db.pragma_update(None, "user_version", i64::try_from(n + 1).unwrap_or(i64::MAX))?;
        }
        Ok(())
    })
}

fn copy(db: &Connection, to: &Path) -> Result<u64, StorageError> {
    let unwritable = |err: io::Error| StorageError::Failed(format!("{}: {err}", to.display()));
    make_private(to).map_err(unwritable)?;
    let mut target = Connection::open(to)?;
    Backup::new(db, &mut target)?.run_to_completion(256, Duration::from_millis(1), None)?;
    // One file is the whole copy: no log beside it.
    target.pragma_update(None, "journal_mode", "DELETE")?;
    target.close().map_err(|(_, err)| err)?;
    let file = fs::File::open(to).map_err(unwritable)?;
    file.sync_all().map_err(unwritable)?;
    Ok(file.metadata().map_err(unwritable)?.len())
}

/// Empties the log, so that nothing that was removed is left in it. Readers of other processes may hold it for a moment.
fn truncate_log(db: &Connection) -> Result<(), StorageError> {
    for _ in 0..TRUNCATIONS {
        let is_busy: bool = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if !is_busy {
            return Ok(());
        }
        std::thread::sleep(TRUNCATION_PAUSE);
    }
    Err(StorageError::Busy("the log of the database is in use".to_owned()))
}

/// Writes one memory; whatever of it is refused is taken back without touching what was written before.
fn write_one(
    db: &Connection,
    (key, write): &(Key, Write),
    by: &Actor,
    quotas: &Quotas,
    at: Timestamp,
) -> Result<Written, WriteError> {
    // A full disk ends the whole transaction; a savepoint would then begin one of its own.
    if db.is_autocommit() {
        return Err(StorageError::Full.into());
    }
    db.execute_batch("SAVEPOINT one")?;
    let written = write::write(db, key, write, by, quotas, at);
    let end = if written.is_ok() { "RELEASE one" } else { "ROLLBACK TO one; RELEASE one" };
    db.execute_batch(end)?;
    written
}

type Answers = Vec<Result<Written, WriteError>>;

/// Writes several memories in one transaction. If that fails as a whole, so does each of them.
fn write_each(
    db: &mut Connection,
    writes: &[(Key, Write)],
    by: &Actor,
    quotas: &Quotas,
    at: Timestamp,
) -> Result<Answers, StorageError> {
    let answers = in_transaction(db, |db| {
        let each = writes.iter().map(|write| write_one(db, write, by, quotas, at));
        Ok::<Answers, StorageError>(each.collect())
    })?;
    let erases = |(_, write): &(Key, Write)| write.change == WriteChange::Erase;
    if writes.iter().any(erases) {
        truncate_log(db)?;
    }
    Ok(answers)
}

impl Storage for Sqlite {
    async fn ready(&self) -> Result<(), StorageError> {
        self.read(|db| Ok::<_, StorageError>(db.query_row("SELECT count(*) FROM teams", [], |_| Ok(()))?))
            .await
    }

    async fn add_team(
        &self,
        name: &TeamName,
        kind: TeamKind,
        at: Timestamp,
    ) -> Result<Option<Team>, StorageError> {
        let name = name.clone();
        self.change(move |db| Ok(people::add_team(db, &name, kind, at)?)).await
    }

    async fn teams(&self) -> Result<Vec<Team>, StorageError> {
        self.read(|db| Ok(people::teams(db)?)).await
    }

    async fn team(&self, team: TeamId) -> Result<Option<Team>, StorageError> {
        self.read(move |db| Ok(people::team(db, team)?)).await
    }

    async fn newest(&self, teams: &[TeamId]) -> Result<Vec<u64>, StorageError> {
        let teams = teams.to_vec();
        self.read(move |db| Ok(people::newest(db, &teams)?)).await
    }

    async fn bearer(&self, token: &ContentHash) -> Result<Option<Bearer>, StorageError> {
        let token = *token;
        self.read(move |db| Ok(people::bearer(db, &token)?)).await
    }

    async fn add_server_token(&self, token: &NewToken, at: Timestamp) -> Result<(), StorageError> {
        let token = token.clone();
        self.change(move |db| Ok(people::add_server_token(db, &token, at)?)).await
    }

    async fn server_token(&self, token: &ContentHash) -> Result<Option<Option<Timestamp>>, StorageError> {
        let token = *token;
        self.read(move |db| Ok(people::server_token(db, &token)?)).await
    }

    async fn add_token(
        &self,
        team: TeamId,
        member: &MemberName,
        token: &NewToken,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let (member, token, by) = (member.clone(), token.clone(), by.clone());
        self.change(move |db| Ok(people::add_token(db, team, &member, &token, &by, at)?)).await
    }

    async fn tokens(&self, team: TeamId, member: Option<&MemberName>) -> Result<Vec<Token>, StorageError> {
        let member = member.cloned();
        self.read(move |db| Ok(people::tokens(db, team, member.as_ref())?)).await
    }

    async fn revoke_token(
        &self,
        team: TeamId,
        id: &str,
        only_of: Option<&MemberName>,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let (id, only_of, by) = (id.to_owned(), only_of.cloned(), by.clone());
        self.change(move |db| Ok(people::revoke_token(db, team, &id, only_of.as_ref(), &by, at)?)).await
    }

    async fn add_invite(
        &self,
        team: TeamId,
        invite: &NewInvite,
        by: &Actor,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let (invite, by) = (invite.clone(), by.clone());
        self.change(move |db| Ok(people::add_invite(db, team, &invite, &by, at)?)).await
    }

    async fn invites(&self, team: TeamId) -> Result<Vec<Invite>, StorageError> {
        self.read(move |db| Ok(people::invites(db, team)?)).await
    }

    async fn withdraw_invite(
        &self,
        team: TeamId,
        id: &str,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let (id, by) = (id.to_owned(), by.clone());
        self.change(move |db| Ok(people::withdraw_invite(db, team, &id, &by, at)?)).await
    }

    async fn join(&self, joining: &Joining, at: Timestamp) -> Result<Bearer, JoinError> {
        let joining = joining.clone();
        self.change(move |db| people::join(db, &joining, at)).await
    }

    async fn members(&self, team: TeamId, now: Timestamp) -> Result<Vec<MemberInfo>, StorageError> {
        self.read(move |db| Ok(people::members(db, team, now)?)).await
    }

    async fn revoke_member(
        &self,
        team: TeamId,
        member: &MemberName,
        by: &Actor,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let (member, by) = (member.clone(), by.clone());
        self.change(move |db| Ok(people::revoke_member(db, team, &member, &by, at)?)).await
    }

    async fn projects(&self, team: TeamId) -> Result<Vec<ProjectInfo>, StorageError> {
        self.read(move |db| Ok(read::projects(db, team)?)).await
    }

    async fn write_all(
        &self,
        writes: Vec<(Key, Write)>,
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> Answers {
        let n_writes = writes.len();
        let (by, quotas) = (by.clone(), *quotas);
        match self.writer.ask(move |db| write_each(db, &writes, &by, &quotas, at)).await {
            Ok(answers) => answers,
            Err(err) => (0..n_writes).map(|_| Err(err.clone().into())).collect(),
        }
    }

    async fn memory(&self, key: &Key) -> Result<Option<Stored>, StorageError> {
        let key = key.clone();
        self.read(move |db| Ok(read::memory(db, &key)?)).await
    }

    async fn versions(&self, key: &Key) -> Result<Vec<VersionInfo>, StorageError> {
        let key = key.clone();
        self.read(move |db| Ok(read::versions(db, &key)?)).await
    }

    async fn version(&self, key: &Key, seq: u64) -> Result<Option<Stored>, StorageError> {
        let key = key.clone();
        self.read(move |db| Ok(read::version(db, &key, seq)?)).await
    }

    async fn changes(&self, team: TeamId, project: &ProjectName, page: &Page) -> Result<Feed, FeedError> {
        let (project, page) = (project.clone(), page.clone());
        self.read(move |db| read::changes(db, team, &project, &page)).await
    }

    async fn search(
        &self,
        team: TeamId,
        project: Option<&ProjectName>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<Found>, StorageError> {
        let (project, words) = (project.cloned(), words.to_vec());
        self.read(move |db| Ok(read::search(db, team, project.as_ref(), &words, limit)?)).await
    }

    async fn audit(&self, team: TeamId, since: u64, limit: usize) -> Result<Vec<AuditEntry>, StorageError> {
        self.read(move |db| Ok(people::audit(db, team, since, limit)?)).await
    }

    async fn ledgers(&self, team: TeamId, project: &ProjectName) -> Result<Vec<LedgerInfo>, StorageError> {
        let project = project.clone();
        self.read(move |db| Ok(ledgers::list(db, team, &project)?)).await
    }

    async fn read_ledger(
        &self,
        team: TeamId,
        project: &ProjectName,
        file: &LedgerName,
        offset: u64,
        max: usize,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        let (project, file) = (project.clone(), file.clone());
        self.read(move |db| Ok(ledgers::read(db, team, &project, &file, offset, max)?)).await
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
        let (project, file, bytes, by) = (project.clone(), file.clone(), bytes.to_vec(), by.clone());
        let quotas = *quotas;
        self.change(move |db| {
            let append = Append { team, project: &project, file: &file, offset, bytes: &bytes, by: &by, at };
            ledgers::append(db, &quotas, &append)
        })
        .await
    }

    async fn purge(&self, before: Timestamp) -> Result<Purged, StorageError> {
        self.writer
            .ask(move |db| {
                let purged = in_transaction(db, |db| Ok::<_, StorageError>(write::purge(db, before)?))?;
                truncate_log(db)?;
                Ok(purged)
            })
            .await
    }
}
