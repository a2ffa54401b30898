//! The protocol of a team server, as types: what a client sends, what a server answers.
//!
//! Client and server use the same types, so neither can drift from the other. Names are checked when they are made and
//! when they are read. What one bad entry of a batch says must not spoil the others, so an [`Op`] keeps its path and hash as
//! plain text and whoever carries it out checks them. Look at [`Batch`] and [`Changes`] first; [`Code`] lists what may go wrong.

mod names;
mod tag;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use crate::hash::ContentHash;
use crate::memory::MemoryPath;
pub use names::{LedgerName, MemberName, ProjectName, TeamName, WireNameError};
pub use tag::ETag;

/// The version of the protocol spoken here.
pub const PROTOCOL: u32 = 1;
/// The header that names it, on every request and answer.
pub const PROTOCOL_HEADER: &str = "memdir-protocol";
/// How many operations a batch may have.
pub const MAX_OPS: usize = 500;
/// How many bytes a batch, or the texts of one page of the feed, may have when they are unpacked.
pub const MAX_BATCH: usize = 4 << 20;
/// How many entries a page of the feed may have.
pub const MAX_CHANGES: usize = 1_000;
/// How long a request may wait for news, in seconds.
pub const MAX_WAIT: u64 = 30;
/// The largest memory, in bytes.
pub const MAX_MEMORY: usize = 102_400;

/// What a token allows. Each allows what the one before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// To see everything of the team but its audit.
    Read,
    /// To write memories too.
    Write,
    /// To invite, revoke and see the audit too.
    Admin,
}

impl Scope {
    /// Every scope, from the least.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// Reads the word of a scope.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }

    /// Lists what it allows, itself last.
    pub fn implied(self) -> Vec<Self> {
        Self::ALL.into_iter().filter(|scope| *scope <= self).collect()
    }
}

/// Whom a team consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TeamKind {
    /// Several people: only memories of scope `team`, never of type `user`, no ledgers.
    Team,
    /// One person's machines: every memory, and the ledgers of use.
    Own,
}

impl TeamKind {
    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Own => "own",
        }
    }

    /// Reads the word of a kind.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Team, Self::Own].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// What went wrong, in a word that programs decide by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The request does not say what it should, or not in the right form.
    BadRequest,
    /// No token, or one that does not count.
    Unauthorized,
    /// The token allows less, or the team takes no such memory.
    Forbidden,
    /// There is no such thing, or none that this token may know of.
    NotFound,
    /// The path exists, but not for this method.
    Method,
    /// The request took too long to arrive.
    Timeout,
    /// It contradicts what is there: a name in use, another end of a ledger.
    Conflict,
    /// The cursor is older than what the server still knows; begin at 0.
    Gone,
    /// A body says how long it is.
    LengthRequired,
    /// The memory is not in the version that the request is based on.
    Stale,
    /// Larger than the limit.
    TooLarge,
    /// Not JSON, not markdown, or an encoding that is not spoken here.
    MediaType,
    /// The text holds a secret; `kinds` names the rules.
    Secret,
    /// A write must say what it replaces.
    PreconditionRequired,
    /// Another version of the protocol; `supported` lists ours.
    Protocol,
    /// Too many requests; `Retry-After` says how long to wait.
    Rate,
    /// The server cannot now; `Retry-After` says how long to wait.
    Busy,
    /// The team or the author has as much as it may have.
    Quota,
    /// A fault of the server.
    Internal,
    /// A word that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Code {
    /// Returns the HTTP status it goes with.
    pub fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Method => 405,
            Self::Timeout => 408,
            Self::Conflict => 409,
            Self::Gone => 410,
            Self::LengthRequired => 411,
            Self::Stale => 412,
            Self::TooLarge => 413,
            Self::MediaType => 415,
            Self::Secret => 422,
            Self::Protocol => 426,
            Self::PreconditionRequired => 428,
            Self::Rate => 429,
            Self::Internal | Self::Unknown => 500,
            Self::Busy => 503,
            Self::Quota => 507,
        }
    }
}

/// The body of every answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: Trouble,
}

/// What went wrong, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// For programs.
    pub code: Code,
    /// For people: one line, without anything of a memory.
    pub message: String,
    /// The kinds of secrets that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// The versions of the protocol that the server speaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported: Vec<u32>,
    /// What the memory is now, where it was expected to be something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Current>,
}

/// `POST /v1/join`: an invitation is turned into a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// The invitation, `mdi_…`.
    pub invite: String,
    /// The name to be known by; needed unless the invitation has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
    /// What the token is for, such as the name of a machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// The answer to [`JoinRequest`]. The token is told this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// The token, `mdt_…`.
    pub token: String,
    /// The team.
    pub team: TeamName,
    /// Its kind.
    pub kind: TeamKind,
    /// Who the token speaks for.
    pub member: MemberName,
    /// What it allows.
    pub scopes: Vec<Scope>,
}

/// `GET /v1/me`: what the server knows of the one who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Me {
    /// The team.
    pub team: TeamName,
    /// Its kind.
    pub kind: TeamKind,
    /// Who asks.
    pub member: MemberName,
    /// What the token allows.
    pub scopes: Vec<Scope>,
    /// What the server takes.
    pub limits: WireLimits,
    /// The version of the server.
    pub server: String,
}

/// What a server takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireLimits {
    /// Bytes of one memory.
    pub memory_bytes: u64,
    /// Operations of one batch.
    pub batch_ops: u64,
    /// Bytes of one batch, unpacked.
    pub batch_bytes: u64,
    /// Memories of a team.
    pub team_memories: u64,
    /// Bytes of a team, older versions included.
    pub team_bytes: u64,
    /// Memories of one author.
    pub author_memories: u64,
    /// Days that a removal is remembered.
    pub tombstone_days: u64,
}

/// `GET /v1/teams/{team}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamInfo {
    /// The team.
    pub team: TeamName,
    /// Its kind.
    pub kind: TeamKind,
    /// Memories that exist.
    pub memories: u64,
    /// Bytes kept, older versions included.
    pub bytes: u64,
    /// What it may have.
    pub limits: WireLimits,
    /// The newest version.
    pub cursor: u64,
}

/// One of `GET …/members`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberInfo {
    /// The name.
    pub member: MemberName,
    /// The most that a token of theirs allows; `None` if they have none that counts.
    pub scope: Option<Scope>,
    /// When they joined.
    pub joined: Timestamp,
    /// Memories whose newest version is theirs.
    pub memories: u64,
}

/// `POST …/invites`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteRequest {
    /// What the new token shall allow; at most what one's own does.
    pub scope: Scope,
    /// Whom it is for; without it whoever joins says a name that is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
    /// Days until it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
}

/// The answer to [`InviteRequest`]. The invitation is told this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// The invitation, `mdi_…`.
    pub invite: String,
    /// The id to withdraw it by.
    pub id: String,
    /// When it expires.
    pub expires: Timestamp,
}

/// One of `GET …/invites`: not yet used, not expired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteInfo {
    /// The id to withdraw it by.
    pub id: String,
    /// What the new token will allow.
    pub scope: Scope,
    /// Whom it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
    /// Who made it; nobody if the server did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<MemberName>,
    /// When it expires.
    pub expires: Timestamp,
}

/// `POST …/tokens`: another token for oneself, never with more scope than one's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRequest {
    /// What it shall allow.
    pub scope: Scope,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Days until it expires; without it, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
}

/// The answer to [`TokenRequest`]. The token is told this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenMade {
    /// The token, `mdt_…`.
    pub token: String,
    /// The id to revoke it by.
    pub id: String,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// One of `GET …/tokens`: one's own, or everybody's for an admin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    /// The id to revoke it by.
    pub id: String,
    /// Whom it speaks for.
    pub member: MemberName,
    /// What it allows.
    pub scope: Scope,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// When it was made.
    pub made: Timestamp,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// One of `GET …/projects`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectInfo {
    /// The project.
    pub project: ProjectName,
    /// Memories that exist.
    pub memories: u64,
    /// Bytes of their newest versions.
    pub bytes: u64,
}

/// A page of the feed: what is new since a cursor, one entry a memory, ascending by version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The newest version of each memory that changed.
    pub changes: Vec<Change>,
    /// Where to go on. While there is more it is no version, only what the next question takes; at the end it is the newest
    /// version of the team.
    pub cursor: u64,
    /// Whether there is more now.
    pub more: bool,
}

/// The newest version of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The memory.
    pub path: MemoryPath,
    /// Its version.
    pub seq: u64,
    /// The hash of its text; of the last text if it was removed.
    pub hash: ContentHash,
    /// The bytes of that text.
    pub size: u64,
    /// Who wrote, or removed, it.
    pub author: MemberName,
    /// When, by the clock of the server.
    pub at: Timestamp,
    /// Whether it was removed.
    pub deleted: bool,
    /// Whether the texts of all its versions were removed.
    #[serde(default)]
    pub erased: bool,
    /// The text, if it was asked for and fits into the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// `POST …/batch`: many writes, each on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The writes, in order.
    pub ops: Vec<Op>,
}

/// One write of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Op {
    /// Writes a text.
    Put {
        /// The memory.
        path: String,
        /// What it replaces.
        #[serde(default, skip_serializing_if = "Base::is_missing")]
        base: Base,
        /// The sha256 of the text, in hex.
        hash: String,
        /// The text.
        text: String,
    },
    /// Removes a memory and leaves a tombstone.
    Delete {
        /// The memory.
        path: String,
        /// The version that is removed.
        #[serde(default, skip_serializing_if = "Base::is_missing")]
        base: Base,
    },
    /// Removes a memory with the texts of all its versions, a tombstone too.
    Erase {
        /// The memory.
        path: String,
        /// The version that is the newest.
        #[serde(default, skip_serializing_if = "Base::is_missing")]
        base: Base,
    },
}

impl Op {
    /// Returns the path it says, which is not checked.
    pub fn path(&self) -> &str {
        match self {
            Self::Put { path, .. } | Self::Delete { path, .. } | Self::Erase { path, .. } => path,
        }
    }
}

/// What a write says it replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base {
    /// Nothing was said: refused with [`Code::PreconditionRequired`].
    #[default]
    Missing,
    /// `null`: there is no such memory, not even a removed one.
    New,
    /// This version.
    Version(u64),
}

impl Base {
    /// Says whether nothing was said.
    pub fn is_missing(&self) -> bool {
        *self == Self::Missing
    }
}

impl Serialize for Base {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing | Self::New => serializer.serialize_none(),
            Self::Version(seq) => serializer.serialize_u64(*seq),
        }
    }
}

impl<'de> Deserialize<'de> for Base {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seq = Option::<u64>::deserialize(deserializer)?;
        Ok(seq.map_or(Self::New, Self::Version))
    }
}

/// The answer to [`Batch`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchReply {
    /// The team's newest version before the first operation.
    pub before: u64,
    /// What became of each operation, in order.
    pub results: Vec<OpResult>,
    /// Where a client that stood at `before` and got all its operations through may go on without asking: the last version of
    /// this batch if nobody else wrote since `before`, else `before`.
    pub cursor: u64,
}

/// What became of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpResult {
    /// The path as it was said.
    pub path: String,
    /// The status that the operation would have got alone: 200 or 201, or that of `code`.
    pub status: u16,
    /// The version it made, or that was there already with the same text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The hash of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// What went wrong, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The kinds of secrets that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// What the memory is now, where it was expected to be something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Current>,
}

impl OpResult {
    /// Says whether the operation was carried out.
    pub fn is_done(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// What a memory is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    /// Its version.
    pub seq: u64,
    /// The hash of its text; of the last text if it was removed.
    pub hash: ContentHash,
    /// Whether it was removed.
    pub deleted: bool,
}

/// One of `GET …/versions/{path}`, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionInfo {
    /// The version.
    pub seq: u64,
    /// The hash of its text.
    pub hash: ContentHash,
    /// The bytes of its text.
    pub size: u64,
    /// Who wrote it.
    pub author: MemberName,
    /// When.
    pub at: Timestamp,
    /// Whether it is a removal.
    pub deleted: bool,
}

/// `GET …/search`, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hits {
    /// What was found.
    pub hits: Vec<Hit>,
}

/// One memory that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The project.
    pub project: ProjectName,
    /// The memory.
    pub path: MemoryPath,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its type, if it says one.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Greater is better; of no meaning but within one answer.
    pub score: f64,
    /// The lines that say most of what was asked.
    pub snippet: String,
    /// Who wrote it.
    pub author: MemberName,
    /// When.
    pub at: Timestamp,
}

/// `GET …/audit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// What was done, ascending by id.
    pub entries: Vec<AuditEntry>,
    /// Where to go on.
    pub cursor: u64,
    /// Whether there is more now.
    pub more: bool,
}

/// Who did what when; hashes, never text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its number.
    pub id: u64,
    /// When.
    pub at: Timestamp,
    /// Who; nobody if the server itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
    /// The id of the token that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What was done: `create`, `replace`, `delete`, `erase`, `join`, `invite`, `revoke-member` …
    pub action: String,
    /// To what: `project/path`, a member, the id of a token or an invitation.
    pub target: String,
    /// The version that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The hash of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
}

/// One of `GET …/usage`: a ledger of one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerInfo {
    /// The file.
    pub file: LedgerName,
    /// Its bytes.
    pub size: u64,
}

/// The answer to `POST …/usage/{file}?offset=N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appended {
    /// The bytes of the file now.
    pub size: u64,
}

#[cfg(test)]
mod tests;
