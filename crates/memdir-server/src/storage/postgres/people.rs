//! Teams, members, tokens, invitations and the audit in PostgreSQL.

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{AuditEntry, MemberInfo, MemberName, TeamKind, TeamName};
use tokio_postgres::Row;

use super::pool::{Pool, Transaction, values};
use super::rows::{self, millis, plain, signed, unsigned};
use crate::rules::{self, Invitation, NotJoined, Standing};
use crate::storage::{
    Actor, Bearer, Invite, JoinError, Joining, NewInvite, NewToken, StorageError, Team, TeamId, Token,
};

type Answer<T> = Result<T, StorageError>;

/// The server itself.
pub(super) const NOBODY: Actor = Actor { member: None, token: None };

/// Takes the lock of a team; whoever changes something of it waits here for its turn.
pub(super) async fn lock(db: &Transaction<'_>, team: TeamId) -> Answer<()> {
    db.rows("SELECT 1 FROM teams WHERE id = $1 FOR UPDATE", values![team.0]).await?;
    Ok(())
}

/// Notes a deed that is no write to a memory.
pub(super) async fn note(
    db: &Transaction<'_>,
    team: TeamId,
    by: &Actor,
    at: Timestamp,
    action: &str,
    target: &str,
) -> Answer<()> {
    let sql = "INSERT INTO audit (team, at, member, token, action, target) VALUES ($1, $2, $3, $4, $5, $6)";
    let member = by.member.as_ref().map(MemberName::as_str);
    db.run(sql, values![team.0, millis(at), member, by.token.as_deref(), action, target]).await?;
    Ok(())
}

pub(super) async fn add_team(
    db: &Transaction<'_>,
    name: &TeamName,
    kind: TeamKind,
    at: Timestamp,
) -> Answer<Option<Team>> {
    let sql = format!(
        "INSERT INTO teams (name, kind, made) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING {}",
        rows::TEAM
    );
    let Some(row) = db.row(&sql, values![name.as_str(), kind.as_str(), millis(at)]).await? else {
        return Ok(None);
    };
    let team = rows::team(&row)?;
    note(db, team.id, &NOBODY, at, "team", name.as_str()).await?;
    Ok(Some(team))
}

pub(super) async fn teams(pool: &Pool) -> Answer<Vec<Team>> {
    let sql = format!("SELECT {} FROM teams ORDER BY name", rows::TEAM);
    pool.ask(&sql, &[]).await?.iter().map(rows::team).collect()
}

pub(super) async fn team(pool: &Pool, team: TeamId) -> Answer<Option<Team>> {
    let sql = format!("SELECT {} FROM teams WHERE id = $1", rows::TEAM);
    pool.ask(&sql, values![team.0]).await?.first().map(rows::team).transpose()
}

pub(super) async fn newest(pool: &Pool, teams: &[TeamId]) -> Answer<Vec<u64>> {
    let ids: Vec<i64> = teams.iter().map(|team| team.0).collect();
    let sql = "SELECT coalesce(teams.seq, 0) AS seq
               FROM unnest($1::bigint[]) WITH ORDINALITY asked (id, place)
               LEFT JOIN teams ON teams.id = asked.id ORDER BY place";
    pool.ask(sql, values![ids]).await?.iter().map(|row| rows::number(row, "seq")).collect()
}

/// Finds whom a token speaks for; the hash follows.
pub(super) fn bearer_sql() -> String {
    format!(
        "SELECT tokens.id AS token_id, tokens.member, tokens.scope, tokens.expires,
                tokens.revoked IS NOT NULL OR members.revoked IS NOT NULL AS is_revoked, {}
         FROM tokens
         JOIN members ON members.team = tokens.team AND members.name = tokens.member
         JOIN teams ON teams.id = tokens.team
         WHERE tokens.hash = $1",
        rows::TEAM
    )
}

fn read_bearer(row: &Row) -> Answer<Bearer> {
    Ok(Bearer {
        token: plain(row, "token_id")?,
        team: rows::team(row)?,
        member: rows::member(row, "member")?,
        scope: rows::scope(row, "scope")?,
        expires: rows::maybe_time(row, "expires")?,
        is_revoked: plain(row, "is_revoked")?,
    })
}

pub(super) async fn bearer(pool: &Pool, token: &ContentHash) -> Answer<Option<Bearer>> {
    let rows = pool.ask(&bearer_sql(), values![token.as_bytes().as_slice()]).await?;
    rows.first().map(read_bearer).transpose()
}

pub(super) async fn add_server_token(db: &Transaction<'_>, token: &NewToken, at: Timestamp) -> Answer<()> {
    let sql = "INSERT INTO server_tokens (hash, id, label, made, expires) VALUES ($1, $2, $3, $4, $5)";
    let hash = token.hash.as_bytes().as_slice();
    let (id, label, expires) = (token.id.as_str(), token.label.as_deref(), token.expires.map(millis));
    db.run(sql, values![hash, id, label, millis(at), expires]).await?;
    Ok(())
}

pub(super) async fn server_token(pool: &Pool, token: &ContentHash) -> Answer<Option<Option<Timestamp>>> {
    let sql = "SELECT expires FROM server_tokens WHERE hash = $1";
    let rows = pool.ask(sql, values![token.as_bytes().as_slice()]).await?;
    rows.first().map(|row| rows::maybe_time(row, "expires")).transpose()
}

async fn standing(db: &Transaction<'_>, team: TeamId, member: &MemberName) -> Answer<Standing> {
    let sql = "SELECT revoked IS NOT NULL AS is_revoked FROM members WHERE team = $1 AND name = $2";
    let row = db.row(sql, values![team.0, member.as_str()]).await?;
    Ok(match row.map(|row| plain(&row, "is_revoked")).transpose()? {
        None => Standing::Unknown,
        Some(false) => Standing::Member,
        Some(true) => Standing::Revoked,
    })
}

async fn insert_token(
    db: &Transaction<'_>,
    team: TeamId,
    member: &MemberName,
    token: &NewToken,
    at: Timestamp,
) -> Answer<()> {
    let sql = "INSERT INTO tokens (hash, id, team, member, scope, label, made, expires)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let (hash, id, scope) = (token.hash.as_bytes().as_slice(), token.id.as_str(), token.scope.as_str());
    let (label, expires) = (token.label.as_deref(), token.expires.map(millis));
    db.run(sql, values![hash, id, team.0, member.as_str(), scope, label, millis(at), expires]).await?;
    Ok(())
}

pub(super) async fn add_token(
    db: &Transaction<'_>,
    team: TeamId,
    member: &MemberName,
    token: &NewToken,
    by: &Actor,
    at: Timestamp,
) -> Answer<bool> {
    lock(db, team).await?;
    if standing(db, team, member).await? != Standing::Member {
        return Ok(false);
    }
    insert_token(db, team, member, token, at).await?;
    note(db, team, by, at, "token", &token.id).await?;
    Ok(true)
}

pub(super) async fn tokens(pool: &Pool, team: TeamId, member: Option<&MemberName>) -> Answer<Vec<Token>> {
    let sql = "SELECT tokens.id, tokens.member, tokens.scope, tokens.label, tokens.made, tokens.expires
               FROM tokens JOIN members ON members.team = tokens.team AND members.name = tokens.member
               WHERE tokens.team = $1 AND ($2 IS NULL OR tokens.member = $2)
                 AND tokens.revoked IS NULL AND members.revoked IS NULL
               ORDER BY tokens.made, tokens.id";
    let read = |row: &Row| {
        Ok(Token {
            id: plain(row, "id")?,
            member: rows::member(row, "member")?,
            scope: rows::scope(row, "scope")?,
            label: plain(row, "label")?,
            made: rows::time(row, "made")?,
            expires: rows::maybe_time(row, "expires")?,
        })
    };
    pool.ask(sql, values![team.0, member.map(MemberName::as_str)]).await?.iter().map(read).collect()
}

pub(super) async fn revoke_token(
    db: &Transaction<'_>,
    team: TeamId,
    id: &str,
    only_of: Option<&MemberName>,
    by: &Actor,
    at: Timestamp,
) -> Answer<bool> {
    lock(db, team).await?;
    let sql = "UPDATE tokens SET revoked = $4
               WHERE team = $1 AND id = $2 AND ($3 IS NULL OR member = $3) AND revoked IS NULL
                 AND EXISTS (SELECT 1 FROM members
                             WHERE members.team = $1 AND members.name = tokens.member AND members.revoked IS NULL)";
    let n = db.run(sql, values![team.0, id, only_of.map(MemberName::as_str), millis(at)]).await?;
    if n > 0 {
        note(db, team, by, at, "revoke-token", id).await?;
    }
    Ok(n > 0)
}

pub(super) async fn add_invite(
    db: &Transaction<'_>,
    team: TeamId,
    invite: &NewInvite,
    by: &Actor,
    at: Timestamp,
) -> Answer<()> {
    lock(db, team).await?;
    let sql = "INSERT INTO invites (hash, id, team, scope, member, made_by, made, expires)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let (hash, id, scope) = (invite.hash.as_bytes().as_slice(), invite.id.as_str(), invite.scope.as_str());
    let member = invite.member.as_ref().map(MemberName::as_str);
    let made_by = by.member.as_ref().map(MemberName::as_str);
    let (made, expires) = (millis(at), millis(invite.expires));
    db.run(sql, values![hash, id, team.0, scope, member, made_by, made, expires]).await?;
    note(db, team, by, at, "invite", &invite.id).await
}

pub(super) async fn invites(pool: &Pool, team: TeamId) -> Answer<Vec<Invite>> {
    let sql = "SELECT id, scope, member, made_by, expires FROM invites
               WHERE team = $1 AND done IS NULL ORDER BY made, id";
    let read = |row: &Row| {
        Ok(Invite {
            id: plain(row, "id")?,
            scope: rows::scope(row, "scope")?,
            member: rows::maybe_member(row, "member")?,
            by: rows::maybe_member(row, "made_by")?,
            expires: rows::time(row, "expires")?,
        })
    };
    pool.ask(sql, values![team.0]).await?.iter().map(read).collect()
}

pub(super) async fn withdraw_invite(
    db: &Transaction<'_>,
    team: TeamId,
    id: &str,
    by: &Actor,
    at: Timestamp,
) -> Answer<bool> {
    lock(db, team).await?;
    let sql = "UPDATE invites SET done = $1 WHERE team = $2 AND id = $3 AND done IS NULL";
    let n = db.run(sql, values![millis(at), team.0, id]).await?;
    if n > 0 {
        note(db, team, by, at, "withdraw", id).await?;
    }
    Ok(n > 0)
}

async fn invitation(db: &Transaction<'_>, hash: &ContentHash) -> Answer<Option<(TeamId, Invitation)>> {
    let sql = "SELECT team, scope, member, expires, done IS NOT NULL AS is_used FROM invites WHERE hash = $1";
    let read = |row: &Row| {
        let invitation = Invitation {
            scope: rows::scope(row, "scope")?,
            member: rows::maybe_member(row, "member")?,
            expires: rows::time(row, "expires")?,
            is_used: plain(row, "is_used")?,
        };
        Ok((TeamId(plain(row, "team")?), invitation))
    };
    db.row(sql, values![hash.as_bytes().as_slice()]).await?.as_ref().map(read).transpose()
}

pub(super) async fn join(
    db: &Transaction<'_>,
    joining: &Joining,
    at: Timestamp,
) -> Result<Bearer, JoinError> {
    // Which team to lock is only known from the invitation, which may change until the lock is held.
    if let Some((team, _)) = invitation(db, &joining.invite).await? {
        lock(db, team).await?;
    }
    let known = invitation(db, &joining.invite).await?;
    let name = rules::name_to_join_by(known.as_ref().map(|known| &known.1), joining.member.as_ref(), at)?;
    let (team, invitation) = known.ok_or(NotJoined::NoInvite)?;
    rules::may_join(&invitation, standing(db, team, &name).await?)?;
    let token = NewToken { scope: invitation.scope, ..joining.token.clone() };
    let by = Actor { member: Some(name.clone()), token: Some(token.id.clone()) };
    let_in(db, team, &name, &token, &joining.invite, at).await?;
    note(db, team, &by, at, "join", name.as_str()).await?;
    let row = db.row(&bearer_sql(), values![token.hash.as_bytes().as_slice()]).await?;
    Ok(read_bearer(&row.ok_or(NotJoined::NoInvite)?)?)
}

async fn let_in(
    db: &Transaction<'_>,
    team: TeamId,
    name: &MemberName,
    token: &NewToken,
    invite: &ContentHash,
    at: Timestamp,
) -> Answer<()> {
    let sql = "INSERT INTO members (team, name, joined) VALUES ($1, $2, $3)
               ON CONFLICT (team, name) DO UPDATE SET revoked = NULL";
    db.run(sql, values![team.0, name.as_str(), millis(at)]).await?;
    insert_token(db, team, name, token, at).await?;
    let sql = "UPDATE invites SET done = $1 WHERE hash = $2";
    db.run(sql, values![millis(at), invite.as_bytes().as_slice()]).await?;
    Ok(())
}

pub(super) async fn members(pool: &Pool, team: TeamId, now: Timestamp) -> Answer<Vec<MemberInfo>> {
    let sql = "SELECT name, joined, memories,
                 (SELECT scope FROM tokens
                  WHERE tokens.team = members.team AND member = name AND tokens.revoked IS NULL
                    AND (expires IS NULL OR expires > $2)
                  ORDER BY CASE scope WHEN 'admin' THEN 0 WHEN 'write' THEN 1 ELSE 2 END LIMIT 1) AS scope
               FROM members WHERE team = $1 AND revoked IS NULL ORDER BY name";
    let read = |row: &Row| {
        let scope: Option<String> = plain(row, "scope")?;
        Ok(MemberInfo {
            member: rows::member(row, "name")?,
            scope: scope.map(|_| rows::scope(row, "scope")).transpose()?,
            joined: rows::time(row, "joined")?,
            memories: rows::number(row, "memories")?,
        })
    };
    pool.ask(sql, values![team.0, millis(now)]).await?.iter().map(read).collect()
}

pub(super) async fn revoke_member(
    db: &Transaction<'_>,
    team: TeamId,
    member: &MemberName,
    by: &Actor,
    at: Timestamp,
) -> Answer<bool> {
    lock(db, team).await?;
    let values = values![team.0, member.as_str(), millis(at)];
    let sql = "UPDATE members SET revoked = $3 WHERE team = $1 AND name = $2 AND revoked IS NULL";
    if db.run(sql, values).await? == 0 {
        return Ok(false);
    }
    // The tokens too: a member who is invited again gets in with the new one alone.
    let sql = "UPDATE tokens SET revoked = $3 WHERE team = $1 AND member = $2 AND revoked IS NULL";
    db.run(sql, values).await?;
    let sql =
        "UPDATE invites SET done = $3 WHERE team = $1 AND (member = $2 OR made_by = $2) AND done IS NULL";
    db.run(sql, values).await?;
    note(db, team, by, at, "revoke-member", member.as_str()).await?;
    Ok(true)
}

/// A page of the audit.
pub(super) const AUDIT: &str = "SELECT id, at, member, token, action, target, seq, hash FROM audit
     WHERE team = $1 AND id > $2 ORDER BY id LIMIT $3";

pub(super) async fn audit(pool: &Pool, team: TeamId, since: u64, limit: usize) -> Answer<Vec<AuditEntry>> {
    let read = |row: &Row| {
        let seq: Option<i64> = plain(row, "seq")?;
        Ok(AuditEntry {
            id: rows::number(row, "id")?,
            at: rows::time(row, "at")?,
            member: rows::maybe_member(row, "member")?,
            token: plain(row, "token")?,
            action: plain(row, "action")?,
            target: plain(row, "target")?,
            seq: seq.map(unsigned),
            hash: rows::maybe_hash(row, "hash")?,
        })
    };
    pool.ask(AUDIT, values![team.0, signed(since), signed(limit as u64)]).await?.iter().map(read).collect()
}
