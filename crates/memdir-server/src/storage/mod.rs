//! What a database must be able to do for the team server, whichever it is.
//!
//! [`Storage`] is the trait, the rest are its values. A storage decides nothing: it reads rows, asks [`crate::rules`], and writes
//! what the answer names. What every storage must keep to:
//!
//! - **A call is in one transaction**, alone or with others. Either everything of a call is there afterwards, or nothing. When
//!   a call has returned `Ok`, it survives the loss of power.
//! - **Whatever changes a team takes the lock of its row first** (SQLite: `BEGIN IMMEDIATE`; PostgreSQL: `SELECT … FOR UPDATE`
//!   on the row of the team). So versions are committed in the order of their numbers, and a reader who sees version n sees
//!   every version below n.
//! - **A version is used once.** The counter is in the row of the team and never goes back, not even when everything is purged.
//! - **Reading a page of the feed is one view**: its cursor and its entries are of the same moment.
//! - **Times are given, never asked for**, and are kept in whole milliseconds.
//! - **Erased means gone**: after [`Act::Erase`](crate::rules::Act::Erase) no file of the database that the storage can reach
//!   holds a byte of the text or of what it was found by.
//! - **Nothing of one team shows in another.** Every question names its team.
//! - Every change leaves an audit entry in the same transaction: who ([`Actor`]), when, what, on what; hashes, never texts.
//!   Actions: `create` `replace` `delete` `erase` (target `project/path`, with seq and hash), `invite` `withdraw` (target id),
//!   `join` `revoke-member` (target member), `token` `revoke-token` (target id), `append` (target `project/file`), `team`
//!   (target its name), `purge` (target its name).
//!
//! Several processes may use one database at once.

mod postgres;
mod sqlite;

use std::future::Future;

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{
    AuditEntry, LedgerInfo, LedgerName, MemberInfo, MemberName, ProjectInfo, ProjectName, Scope, TeamKind,
    TeamName, VersionInfo,
};

use crate::rules::{Expect, Kind, NotJoined, Quotas, Refused, State};
pub use postgres::Postgres;
pub use sqlite::Sqlite;

/// Why a storage could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The database is locked or not reachable now; later it may be.
    #[error("the database is busy: {0}")]
    Busy(String),
    /// The disk is full.
    #[error("no room is left for the database")]
    Full,
    /// What is kept is not what was written, or was written by a newer version.
    #[error("the database is not as it should be: {0}")]
    Damaged(String),
    /// Anything else that the database says.
    #[error("the database failed: {0}")]
    Failed(String),
}

/// The number of a team in its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TeamId(pub i64);

/// A team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Its number.
    pub id: TeamId,
    /// Its name.
    pub name: TeamName,
    /// Its kind.
    pub kind: TeamKind,
    /// Its newest version.
    pub seq: u64,
    /// The newest version of a tombstone that was forgotten; 0 if none was.
    pub purged: u64,
    /// Memories that exist.
    pub memories: u64,
    /// Bytes kept: newest and older versions, and ledgers.
    pub bytes: u64,
}

/// Who acts, for the audit and as the author of what is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The member; nobody if the server itself acts.
    pub member: Option<MemberName>,
    /// The id of the token.
    pub token: Option<String>,
}

/// Whom a token speaks for. Whether it counts, [`crate::rules::token_counts`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// The id of the token.
    pub token: String,
    /// The team.
    pub team: Team,
    /// The member.
    pub member: MemberName,
    /// What it allows.
    pub scope: Scope,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// Whether it, or its member, was revoked.
    pub is_revoked: bool,
}

/// A token to keep: its hash, never itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// The id it is revoked by; random, and no two are the same.
    pub id: String,
    /// The hash of the token.
    pub hash: ContentHash,
    /// What it allows.
    pub scope: Scope,
    /// What it is for.
    pub label: Option<String>,
    /// When it expires.
    pub expires: Option<Timestamp>,
}

/// A token as it is listed: one that was not revoked, of a member who was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The id it is revoked by.
    pub id: String,
    /// Whom it speaks for.
    pub member: MemberName,
    /// What it allows.
    pub scope: Scope,
    /// What it is for.
    pub label: Option<String>,
    /// When it was made.
    pub made: Timestamp,
    /// When it expires.
    pub expires: Option<Timestamp>,
}

/// An invitation to keep: its hash, never itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInvite {
    /// The id it is withdrawn by.
    pub id: String,
    /// The hash of the invitation.
    pub hash: ContentHash,
    /// What the new token will allow.
    pub scope: Scope,
    /// Whom it is for.
    pub member: Option<MemberName>,
    /// When it expires.
    pub expires: Timestamp,
}

/// An invitation as it is listed: not used, not withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    /// The id it is withdrawn by.
    pub id: String,
    /// What the new token will allow.
    pub scope: Scope,
    /// Whom it is for.
    pub member: Option<MemberName>,
    /// Who made it.
    pub by: Option<MemberName>,
    /// When it expires.
    pub expires: Timestamp,
}

/// Somebody who comes with an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joining {
    /// The hash of the invitation.
    pub invite: ContentHash,
    /// The name they ask for.
    pub member: Option<MemberName>,
    /// The token they will get. Its scope is replaced by that of the invitation.
    pub token: NewToken,
}

/// Which memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The team.
    pub team: TeamId,
    /// The project.
    pub project: ProjectName,
    /// The memory.
    pub path: MemoryPath,
}

/// A write to one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// What it expects to find.
    pub expect: Expect,
    /// What is to be done.
    pub change: WriteChange,
}

/// What is to be done to a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteChange {
    /// A text takes its name.
    Put(Content),
    /// It is removed; its versions stay readable.
    Delete,
    /// It is removed, with the texts of all its versions.
    Erase,
}

/// A text with what is kept beside it, worked out before a storage sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The text.
    pub text: String,
    /// Its hash.
    pub hash: ContentHash,
    /// What it is found by: words of 16 hex digits with single spaces between, as [`crate::words`] makes them, one for each
    /// occurrence.
    pub words: String,
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What it was; `None` if what was asked for was there already.
    pub kind: Option<Kind>,
    /// The newest version of the memory now.
    pub state: State,
}

/// A memory with its text, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its newest version.
    pub state: State,
    /// Its text; `None` if it was removed.
    pub text: Option<String>,
}

/// What of the feed is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// After which version.
    pub since: u64,
    /// Whether the reader began at 0 and has not come to the end yet. Nothing that was forgotten can concern them, so the
    /// cursor is not checked.
    pub is_first_walk: bool,
    /// At most so many entries.
    pub limit: usize,
    /// Whether texts are wanted.
    pub with_text: bool,
    /// At most so many bytes of text. The entry that would exceed it begins the next page; the first one is always in.
    pub max_bytes: usize,
}

/// A page of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// The newest versions, ascending.
    pub entries: Vec<(MemoryPath, Stored)>,
    /// Where to go on: the version of the last entry if there is more, else the newest version of the team.
    pub cursor: u64,
    /// Whether there is more now.
    pub more: bool,
}

/// Why a page of the feed could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// [`crate::rules::is_cursor_known`] says no, and it is no [first walk](Page::is_first_walk).
    #[error("the cursor is older than what is still known: begin at 0")]
    Gone,
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a write was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The rules say no; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The storage failed; nothing was written.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why somebody did not join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The rules say no; the invitation is as it was.
    #[error(transparent)]
    Refused(#[from] NotJoined),
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The project.
    pub project: ProjectName,
    /// The memory.
    pub path: MemoryPath,
    /// Its newest version.
    pub state: State,
    /// Its text.
    pub text: String,
    /// Greater is better.
    pub score: f64,
}

/// Why a ledger did not grow.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The ledger ends elsewhere: here.
    #[error("the ledger has {0} bytes")]
    OtherEnd(u64),
    /// The team may have no more bytes.
    #[error("the team has as many bytes as it may have: {0}")]
    Quota(u64),
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What a purge removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// Tombstones, with all their older versions.
    pub tombstones: u64,
    /// Older versions of memories that exist.
    pub versions: u64,
    /// Invitations that were used, withdrawn or expired.
    pub invites: u64,
}

type Answer<T> = Result<T, StorageError>;

/// A database of teams.
pub trait Storage: Send + Sync + 'static {
    /// Says whether it answers.
    fn ready(&self) -> impl Future<Output = Answer<()>> + Send;

    /// Makes a team; `None` if there is one of that name.
    fn add_team(
        &self,
        name: &TeamName,
        kind: TeamKind,
        at: Timestamp,
    ) -> impl Future<Output = Answer<Option<Team>>> + Send;

    /// Lists the teams, by name.
    fn teams(&self) -> impl Future<Output = Answer<Vec<Team>>> + Send;

    /// Returns a team as it is now.
    fn team(&self, team: TeamId) -> impl Future<Output = Answer<Option<Team>>> + Send;

    /// Returns the newest version of each of these teams, in their order; 0 for one that does not exist. Cheap: it is asked
    /// twice a second while somebody waits.
    fn newest(&self, teams: &[TeamId]) -> impl Future<Output = Answer<Vec<u64>>> + Send;

    /// Finds whom a token speaks for, by its hash. Revoked and expired ones are found too.
    fn bearer(&self, token: &ContentHash) -> impl Future<Output = Answer<Option<Bearer>>> + Send;

    /// Keeps a token of the server itself, for its metrics.
    fn add_server_token(&self, token: &NewToken, at: Timestamp) -> impl Future<Output = Answer<()>> + Send;

    /// Returns when a token of the server expires, if there is one with this hash: `Some(None)` if never.
    fn server_token(
        &self,
        token: &ContentHash,
    ) -> impl Future<Output = Answer<Option<Option<Timestamp>>>> + Send;

    /// Keeps a token for the member that acts, or for `member`, who must exist and not be revoked; `false` if they do not.
    fn add_token(
        &self,
        team: TeamId,
        member: &MemberName,
        token: &NewToken,
        by: &Actor,
        at: Timestamp,
    ) -> impl Future<Output = Answer<bool>> + Send;

    /// Lists the tokens that were not revoked, of one member or of all, oldest first.
    fn tokens(
        &self,
        team: TeamId,
        member: Option<&MemberName>,
    ) -> impl Future<Output = Answer<Vec<Token>>> + Send;

    /// Revokes a token; `false` if the team has none with this id that was not revoked. With `only_of`, only one of that member.
    fn revoke_token(
        &self,
        team: TeamId,
        id: &str,
        only_of: Option<&MemberName>,
        by: &Actor,
        at: Timestamp,
    ) -> impl Future<Output = Answer<bool>> + Send;

    /// Keeps an invitation.
    fn add_invite(
        &self,
        team: TeamId,
        invite: &NewInvite,
        by: &Actor,
        at: Timestamp,
    ) -> impl Future<Output = Answer<()>> + Send;

    /// Lists the invitations that were neither used nor withdrawn, oldest first; expired ones too.
    fn invites(&self, team: TeamId) -> impl Future<Output = Answer<Vec<Invite>>> + Send;

    /// Withdraws an invitation; `false` if there is none with this id that [`Storage::invites`] would list.
    fn withdraw_invite(
        &self,
        team: TeamId,
        id: &str,
        by: &Actor,
        at: Timestamp,
    ) -> impl Future<Output = Answer<bool>> + Send;

    /// Lets somebody in: the invitation is used up, the member is made (or counts again), the token is kept. The rules are
    /// [`crate::rules::name_to_join_by`] and [`crate::rules::may_join`]. Of two who come with one invitation at once, one gets in.
    fn join(
        &self,
        joining: &Joining,
        at: Timestamp,
    ) -> impl Future<Output = Result<Bearer, JoinError>> + Send;

    /// Lists the members that were not revoked, by name. A scope is the most that a token allows that counts at `now`.
    fn members(&self, team: TeamId, now: Timestamp) -> impl Future<Output = Answer<Vec<MemberInfo>>> + Send;

    /// Revokes a member with all tokens, and withdraws the invitations for them and by them; `false` if there is none.
    fn revoke_member(
        &self,
        team: TeamId,
        member: &MemberName,
        by: &Actor,
        at: Timestamp,
    ) -> impl Future<Output = Answer<bool>> + Send;

    /// Lists the projects that have a memory, by name.
    fn projects(&self, team: TeamId) -> impl Future<Output = Answer<Vec<ProjectInfo>>> + Send;

    /// Writes one memory as [`crate::rules::decide`] says. `by.member` is the author. After an erasure the call returns only
    /// when the text is gone from every file.
    fn write(
        &self,
        key: &Key,
        write: &Write,
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> impl Future<Output = Result<Written, WriteError>> + Send {
        async move {
            let writes = vec![(key.clone(), write.clone())];
            let nothing = || Err(StorageError::Failed("no answer".to_owned()).into());
            self.write_all(writes, by, quotas, at).await.pop().unwrap_or_else(nothing)
        }
    }

    /// Writes several memories, each as [`Storage::write`] does and whatever becomes of the others; answers are in order. One
    /// transaction may hold them all, and those of other calls, as long as one that is refused takes nothing of the others
    /// with it.
    fn write_all(
        &self,
        writes: Vec<(Key, Write)>,
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> impl Future<Output = Vec<Result<Written, WriteError>>> + Send;

    /// Returns a memory, also one that was removed.
    fn memory(&self, key: &Key) -> impl Future<Output = Answer<Option<Stored>>> + Send;

    /// Lists the versions of a memory that are kept, newest first, the newest included, tombstones too.
    fn versions(&self, key: &Key) -> impl Future<Output = Answer<Vec<VersionInfo>>> + Send;

    /// Returns one version of a memory; its text is `None` if it is a removal or was erased.
    fn version(&self, key: &Key, seq: u64) -> impl Future<Output = Answer<Option<Stored>>> + Send;

    /// Reads a page of the feed of a project. With `since` 0 tombstones are left out; on every other page they are in, also
    /// on a first walk, because a memory of an earlier page may have been removed since.
    fn changes(
        &self,
        team: TeamId,
        project: &ProjectName,
        page: &Page,
    ) -> impl Future<Output = Result<Feed, FeedError>> + Send;

    /// Finds memories that exist by any of these words ([`Content::words`]), best first by what their words weigh.
    fn search(
        &self,
        team: TeamId,
        project: Option<&ProjectName>,
        words: &[String],
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<Found>>> + Send;

    /// Finds as [`Storage::search`] does and, where the storage knows what texts are about, by what the question means too.
    fn search_text(
        &self,
        team: TeamId,
        project: Option<&ProjectName>,
        _question: &str,
        words: &[String],
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<Found>>> + Send {
        self.search(team, project, words, limit)
    }

    /// Lists audit entries with an id above `since`, ascending, at most `limit`.
    fn audit(
        &self,
        team: TeamId,
        since: u64,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<AuditEntry>>> + Send;

    /// Lists the ledgers of a project, by name.
    fn ledgers(
        &self,
        team: TeamId,
        project: &ProjectName,
    ) -> impl Future<Output = Answer<Vec<LedgerInfo>>> + Send;

    /// Reads at most `max` bytes of a ledger from an offset; `None` if there is no such ledger. Empty at and after its end.
    fn read_ledger(
        &self,
        team: TeamId,
        project: &ProjectName,
        file: &LedgerName,
        offset: u64,
        max: usize,
    ) -> impl Future<Output = Answer<Option<Vec<u8>>>> + Send;

    /// Appends to a ledger whose end is at `offset` (0 makes a new one), and returns its bytes then. They count into
    /// [`Team::bytes`].
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a different thing, and a struct would only rename them"
    )]
    fn append_ledger(
        &self,
        team: TeamId,
        project: &ProjectName,
        file: &LedgerName,
        offset: u64,
        bytes: &[u8],
        by: &Actor,
        quotas: &Quotas,
        at: Timestamp,
    ) -> impl Future<Output = Result<u64, AppendError>> + Send;

    /// Forgets what is older than `before`: tombstones with all their versions (raising [`Team::purged`] of their team to the
    /// newest of them), older versions that ceased to be the newest before then, and invitations that were done or expired before then. What a purge frees is
    /// taken off [`Team::bytes`].
    fn purge(&self, before: Timestamp) -> impl Future<Output = Answer<Purged>> + Send;
}
