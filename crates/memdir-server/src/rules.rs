//! What becomes of a write, a cursor and an invitation: decided from values, the same for every database.
//!
//! A storage reads rows, asks here, and writes the rows that the answer names, all in one transaction that holds the row of the
//! team. So two databases cannot differ in what they accept. Look at [`decide`] first: its rules are those of the protocol.
//!
//! - A write says what it replaces ([`Expect`]). If that is not what is there, nothing happens ([`Refused::Stale`]).
//! - A removed memory leaves a tombstone with a version of its own. To write over it one must name that version, so a
//!   creation that is sent twice cannot bring back what was removed in between.
//! - The same text over the same version is no new version.
//! - An erasure takes the text of every version. Sent twice it does nothing the second time.
//! - Quotas are asked before anything grows; removing is always possible.

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{ETag, MemberName, Scope};

/// What is known of a memory: its newest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The version.
    pub seq: u64,
    /// The hash of the text; of the last text if it was removed.
    pub hash: ContentHash,
    /// The bytes of that text.
    pub size: u64,
    /// Who wrote or removed it.
    pub author: MemberName,
    /// When.
    pub at: Timestamp,
    /// Whether it was removed: a tombstone.
    pub deleted: bool,
    /// Whether the texts of all its versions were removed.
    pub erased: bool,
}

/// What a write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing, not even a tombstone.
    Nothing,
    /// This version.
    Version(u64),
    /// The version with this tag.
    Tag(ETag),
}

impl Expect {
    fn holds(&self, current: Option<&State>) -> bool {
        match (self, current) {
            (Self::Nothing, current) => current.is_none(),
            (_, None) => false,
            (Self::Version(seq), Some(current)) => *seq == current.seq,
            (Self::Tag(tag), Some(current)) => tag.is_of(current.seq, &current.hash),
        }
    }
}

/// What is to be done to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A text with this hash and this many bytes takes its name.
    Put {
        /// The hash of the text.
        hash: ContentHash,
        /// The bytes of the text.
        size: u64,
    },
    /// It is removed; its versions stay readable.
    Delete,
    /// It is removed, with the texts of all its versions.
    Erase,
}

/// What a team and an author have, before the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Memories of the team that exist.
    pub memories: u64,
    /// Bytes of the texts that are kept: newest and older versions, and ledgers.
    pub bytes: u64,
    /// Memories whose newest version is the author's.
    pub of_author: u64,
}

/// What a team and an author may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// Memories of a team.
    pub memories: u64,
    /// Bytes of a team.
    pub bytes: u64,
    /// Memories of an author.
    pub of_author: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self { memories: 50_000, bytes: 512 << 20, of_author: 20_000 }
    }
}

/// What a storage has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: what was asked for is there already.
    Nothing,
    /// Give the team its next version and write it, as [`Effect`] says.
    Write(Effect),
}

/// The rows that a write changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What to call it, in the audit and in the answer.
    pub kind: Kind,
    /// Whether the version that was newest goes among the older ones. Its text goes with it unless everything is erased.
    pub keeps_older: bool,
    /// What the newest version says of its text: that of the write, or of what was removed.
    pub hash: ContentHash,
    /// The bytes of that text.
    pub size: u64,
    /// By how much the count of memories changes: −1, 0 or 1.
    pub memories: i64,
    /// Whether the one who wrote the version before has one memory less.
    pub takes_from_author: bool,
    /// Whether the one who writes has one memory more.
    pub gives_to_author: bool,
    /// The bytes that come to those of the team. What an erasure frees is not in it: the storage takes off what the texts it
    /// removes have.
    pub bytes: u64,
}

/// What a write was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There was none, or a tombstone.
    Create,
    /// There was one.
    Replace,
    /// It is gone; older texts stay.
    Delete,
    /// It is gone, with all its texts.
    Erase,
}

impl Kind {
    /// Returns the word for the audit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Erase => "erase",
        }
    }
}

/// Why nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The memory is not in the version that the write expects; here is the one that it is in, if any.
    #[error("the memory is not in the version that this write replaces")]
    Stale(Option<State>),
    /// There is no such memory to remove, or it is removed already.
    #[error("there is no such memory")]
    NotFound,
    /// The team may have no more memories.
    #[error("the team has as many memories as it may have: {0}")]
    TeamMemories(u64),
    /// The team may have no more bytes.
    #[error("the team has as many bytes as it may have: {0}")]
    TeamBytes(u64),
    /// The author may have no more memories.
    #[error("the author has as many memories as one may have: {0}")]
    AuthorMemories(u64),
}

/// Decides what becomes of a write by `author` to a memory that is now `current`.
pub fn decide(
    act: Act,
    expect: Expect,
    author: &MemberName,
    current: Option<&State>,
    totals: &Totals,
    quotas: &Quotas,
) -> Result<Decision, Refused> {
    match act {
        Act::Put { hash, size } => put(hash, size, expect, author, current, totals, quotas),
        Act::Delete | Act::Erase => remove(act, expect, current),
    }
}

fn put(
    hash: ContentHash,
    size: u64,
    expect: Expect,
    author: &MemberName,
    current: Option<&State>,
    totals: &Totals,
    quotas: &Quotas,
) -> Result<Decision, Refused> {
    if !expect.holds(current) {
        return Err(Refused::Stale(current.cloned()));
    }
    let alive = current.filter(|current| !current.deleted);
    if alive.is_some_and(|alive| alive.hash == hash) {
        return Ok(Decision::Nothing);
    }
    let is_theirs = alive.is_some_and(|alive| alive.author == *author);
    if alive.is_none() && totals.memories >= quotas.memories {
        return Err(Refused::TeamMemories(quotas.memories));
    }
    if !is_theirs && totals.of_author >= quotas.of_author {
        return Err(Refused::AuthorMemories(quotas.of_author));
    }
    if totals.bytes.saturating_add(size) > quotas.bytes {
        return Err(Refused::TeamBytes(quotas.bytes));
    }
    Ok(Decision::Write(Effect {
        kind: if alive.is_some() { Kind::Replace } else { Kind::Create },
        keeps_older: current.is_some(),
        hash,
        size,
        memories: i64::from(alive.is_none()),
        takes_from_author: alive.is_some() && !is_theirs,
        gives_to_author: !is_theirs,
        bytes: size,
    }))
}

fn remove(act: Act, expect: Expect, current: Option<&State>) -> Result<Decision, Refused> {
    let current = current.ok_or(Refused::NotFound)?;
    if act == Act::Erase && current.erased {
        return Ok(Decision::Nothing);
    }
    if !expect.holds(Some(current)) {
        return Err(Refused::Stale(Some(current.clone())));
    }
    if act == Act::Delete && current.deleted {
        return Err(Refused::NotFound);
    }
    Ok(Decision::Write(Effect {
        kind: if act == Act::Erase { Kind::Erase } else { Kind::Delete },
        keeps_older: true,
        hash: current.hash,
        size: current.size,
        memories: if current.deleted { 0 } else { -1 },
        takes_from_author: !current.deleted,
        gives_to_author: false,
        bytes: 0,
    }))
}

/// Says whether a cursor can still be answered. 0 always can: it asks for everything that exists. One that is older than the
/// newest tombstone that was forgotten (`purged`) would miss a removal, and one that is newer than the team (`newest`) comes
/// from a database that was lost.
pub fn is_cursor_known(since: u64, newest: u64, purged: u64) -> bool {
    since == 0 || (since >= purged && since <= newest)
}

/// Added to a cursor that is handed out in the middle of a first walk through the feed. Somebody who began at 0 has nothing
/// that a forgotten tombstone could concern, but the number alone would look like an old cursor.
const WALKING: u64 = 1 << 52;

/// Takes a cursor apart that a client sends: after which version, and whether it is on its first walk.
pub fn read_cursor(cursor: u64) -> (u64, bool) {
    let is_walking = cursor & WALKING != 0;
    (cursor & !WALKING, is_walking || cursor == 0)
}

/// Puts the cursor together that a client goes on from.
pub fn next_cursor(seq: u64, is_first_walk: bool, more: bool) -> u64 {
    if is_first_walk && more { seq | WALKING } else { seq }
}

/// An invitation as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// What the token will allow.
    pub scope: Scope,
    /// Whom it is for.
    pub member: Option<MemberName>,
    /// When it expires.
    pub expires: Timestamp,
    /// Whether it was used.
    pub is_used: bool,
}

/// What a team knows of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nobody of that name was ever there.
    Unknown,
    /// A member.
    Member,
    /// One who was a member and was revoked.
    Revoked,
}

/// Why somebody did not get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotJoined {
    /// There is no such invitation, or it was used, or it expired: which one is not told.
    #[error("this invitation does not count")]
    NoInvite,
    /// Neither the invitation nor the one who joins says a name.
    #[error("a name is needed to join")]
    NoName,
    /// The invitation is for somebody else.
    #[error("this invitation is for another name")]
    OtherName,
    /// The name belongs to somebody, and the invitation does not say that it is for them.
    #[error("that name is taken")]
    Taken,
}

/// Says under which name an invitation lets one in, if it counts and names agree.
pub fn name_to_join_by(
    invitation: Option<&Invitation>,
    asked: Option<&MemberName>,
    now: Timestamp,
) -> Result<MemberName, NotJoined> {
    let counts = |invitation: &&Invitation| !invitation.is_used && now < invitation.expires;
    let invitation = invitation.filter(counts).ok_or(NotJoined::NoInvite)?;
    match (&invitation.member, asked) {
        (Some(member), Some(asked)) if member != asked => Err(NotJoined::OtherName),
        (Some(member), _) => Ok(member.clone()),
        (None, Some(asked)) => Ok(asked.clone()),
        (None, None) => Err(NotJoined::NoName),
    }
}

/// Says whether one may join under a name that has this standing. A name that somebody has or had is given again only by an
/// invitation that names it, so that nobody writes under another's name.
pub fn may_join(invitation: &Invitation, standing: Standing) -> Result<(), NotJoined> {
    if standing != Standing::Unknown && invitation.member.is_none() {
        return Err(NotJoined::Taken);
    }
    Ok(())
}

/// Says whether a token counts at this time.
pub fn token_counts(expires: Option<Timestamp>, is_revoked: bool, now: Timestamp) -> bool {
    !is_revoked && expires.is_none_or(|expires| now < expires)
}

#[cfg(test)]
mod tests;
