//! Teams, members, tokens, invitations and the audit in SQLite.

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{AuditEntry, MemberInfo, MemberName, TeamKind, TeamName};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::rows::{self, millis, signed, unsigned};
use crate::rules::{self, Invitation, NotJoined, Standing};
use crate::storage::{Actor, Bearer, Invite, JoinError, Joining, NewInvite, NewToken, Team, TeamId, Token};

type Rows<T> = rusqlite::Result<T>;

/// What an audit entry says beside who and when.
pub(super) struct Deed<'a> {
    pub(super) action: &'a str,
    pub(super) target: &'a str,
    pub(super) seq: Option<u64>,
    pub(super) hash: Option<&'a ContentHash>,
}

impl<'a> Deed<'a> {
    pub(super) fn new(action: &'a str, target: &'a str) -> Self {
        Self { action, target, seq: None, hash: None }
    }
}

pub(super) fn note(db: &Connection, team: TeamId, by: &Actor, at: Timestamp, deed: &Deed<'_>) -> Rows<()> {
    let sql = "INSERT INTO audit (team, at, member, token, action, target, seq, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let member = by.member.as_ref().map(MemberName::as_str);
    let hash = deed.hash.map(|hash| hash.as_bytes().as_slice());
    let seq = deed.seq.map(signed);
    let values = params![team.0, millis(at), member, by.token, deed.action, deed.target, seq, hash];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

pub(super) fn add_team(
    db: &Connection,
    name: &TeamName,
    kind: TeamKind,
    at: Timestamp,
) -> Rows<Option<Team>> {
    let sql = "INSERT INTO teams (name, kind, made) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    if db.execute(sql, params![name.as_str(), kind.as_str(), millis(at)])? == 0 {
        return Ok(None);
    }
    let id = TeamId(db.last_insert_rowid());
    note(db, id, &Actor { member: None, token: None }, at, &Deed::new("team", name.as_str()))?;
    team(db, id)
}

pub(super) fn teams(db: &Connection) -> Rows<Vec<Team>> {
    let sql = format!("SELECT {} FROM teams ORDER BY name", rows::TEAM);
    db.prepare_cached(&sql)?.query_map([], rows::team)?.collect()
}

pub(super) fn team(db: &Connection, id: TeamId) -> Rows<Option<Team>> {
    let sql = format!("SELECT {} FROM teams WHERE id = ?", rows::TEAM);
    db.prepare_cached(&sql)?.query_row([id.0], rows::team).optional()
}

pub(super) fn newest(db: &Connection, teams: &[TeamId]) -> Rows<Vec<u64>> {
    let mut statement = db.prepare_cached("SELECT seq FROM teams WHERE id = ?")?;
    let mut seqs = Vec::with_capacity(teams.len());
    for team in teams {
        let seq: Option<i64> = statement.query_row([team.0], |row| row.get(0)).optional()?;
        seqs.push(unsigned(seq.unwrap_or(0)));
    }
    Ok(seqs)
}

pub(super) fn bearer(db: &Connection, token: &ContentHash) -> Rows<Option<Bearer>> {
    let sql = format!(
        "SELECT tokens.id AS token_id, tokens.member, tokens.scope, tokens.expires,
                tokens.revoked IS NOT NULL OR members.revoked IS NOT NULL AS is_revoked, {}
         FROM tokens
         JOIN members ON members.team = tokens.team AND members.name = tokens.member
         JOIN teams ON teams.id = tokens.team
         WHERE tokens.hash = ?",
        rows::TEAM
    );
    let read = |row: &Row<'_>| {
        Ok(Bearer {
            token: row.get("token_id")?,
            team: rows::team(row)?,
            member: rows::member(row, "member")?,
            scope: rows::scope(row, "scope")?,
            expires: rows::maybe_time(row, "expires")?,
            is_revoked: row.get("is_revoked")?,
        })
    };
    db.prepare_cached(&sql)?.query_row([token.as_bytes().as_slice()], read).optional()
}

pub(super) fn add_server_token(db: &Connection, token: &NewToken, at: Timestamp) -> Rows<()> {
    let sql = "INSERT INTO server_tokens (hash, id, label, made, expires) VALUES (?, ?, ?, ?, ?)";
    let hash = token.hash.as_bytes().as_slice();
    db.execute(sql, params![hash, token.id, token.label, millis(at), token.expires.map(millis)])?;
    Ok(())
}

pub(super) fn server_token(db: &Connection, token: &ContentHash) -> Rows<Option<Option<Timestamp>>> {
    let sql = "SELECT expires FROM server_tokens WHERE hash = ?";
    let read = |row: &Row<'_>| rows::maybe_time(row, "expires");
    db.prepare_cached(sql)?.query_row([token.as_bytes().as_slice()], read).optional()
}

fn standing(db: &Connection, team: TeamId, member: &MemberName) -> Rows<Standing> {
    let sql = "SELECT revoked IS NOT NULL FROM members WHERE team = ? AND name = ?";
    let is_revoked: Option<bool> =
        db.prepare_cached(sql)?.query_row(params![team.0, member.as_str()], |row| row.get(0)).optional()?;
    Ok(match is_revoked {
        None => Standing::Unknown,
        Some(false) => Standing::Member,
        Some(true) => Standing::Revoked,
    })
}

fn insert_token(
    db: &Connection,
    team: TeamId,
    member: &MemberName,
    token: &NewToken,
    at: Timestamp,
) -> Rows<()> {
    let sql = "INSERT INTO tokens (hash, id, team, member, scope, label, made, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let hash = token.hash.as_bytes().as_slice();
    let scope = token.scope.as_str();
    let expires = token.expires.map(millis);
    db.execute(
        sql,
        params![hash, token.id, team.0, member.as_str(), scope, token.label, millis(at), expires],
    )?;
    Ok(())
}

pub(super) fn add_token(
    db: &Connection,
    team: TeamId,
    member: &MemberName,
    token: &NewToken,
    by: &Actor,
    at: Timestamp,
) -> Rows<bool> {
    if standing(db, team, member)? != Standing::Member {
        return Ok(false);
    }
    insert_token(db, team, member, token, at)?;
    note(db, team, by, at, &Deed::new("token", &token.id))?;
    Ok(true)
}

pub(super) fn tokens(db: &Connection, team: TeamId, member: Option<&MemberName>) -> Rows<Vec<Token>> {
    let sql = "SELECT tokens.id, tokens.member, tokens.scope, tokens.label, tokens.made, tokens.expires
               FROM tokens JOIN members ON members.team = tokens.team AND members.name = tokens.member
               WHERE tokens.team = ?1 AND (?2 IS NULL OR tokens.member = ?2)
                 AND tokens.revoked IS NULL AND members.revoked IS NULL
               ORDER BY tokens.made, tokens.id";
    let read = |row: &Row<'_>| {
        Ok(Token {
            id: row.get("id")?,
            member: rows::member(row, "member")?,
            scope: rows::scope(row, "scope")?,
            label: row.get("label")?,
            made: rows::time(row, "made")?,
            expires: rows::maybe_time(row, "expires")?,
        })
    };
    db.prepare_cached(sql)?.query_map(params![team.0, member.map(MemberName::as_str)], read)?.collect()
}

pub(super) fn revoke_token(
    db: &Connection,
    team: TeamId,
    id: &str,
    only_of: Option<&MemberName>,
    by: &Actor,
    at: Timestamp,
) -> Rows<bool> {
    let sql = "UPDATE tokens SET revoked = ?4
               WHERE team = ?1 AND id = ?2 AND (?3 IS NULL OR member = ?3) AND revoked IS NULL
                 AND EXISTS (SELECT 1 FROM members
                             WHERE members.team = ?1 AND members.name = tokens.member AND members.revoked IS NULL)";
    let n = db.execute(sql, params![team.0, id, only_of.map(MemberName::as_str), millis(at)])?;
    if n > 0 {
        note(db, team, by, at, &Deed::new("revoke-token", id))?;
    }
    Ok(n > 0)
}

pub(super) fn add_invite(
    db: &Connection,
    team: TeamId,
    invite: &NewInvite,
    by: &Actor,
    at: Timestamp,
) -> Rows<()> {
    let sql = "INSERT INTO invites (hash, id, team, scope, member, made_by, made, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let hash = invite.hash.as_bytes().as_slice();
    let member = invite.member.as_ref().map(MemberName::as_str);
    let made_by = by.member.as_ref().map(MemberName::as_str);
    let (made, expires) = (millis(at), millis(invite.expires));
    db.execute(sql, params![hash, invite.id, team.0, invite.scope.as_str(), member, made_by, made, expires])?;
    note(db, team, by, at, &Deed::new("invite", &invite.id))
}

pub(super) fn invites(db: &Connection, team: TeamId) -> Rows<Vec<Invite>> {
    let sql = "SELECT id, scope, member, made_by, expires FROM invites
               WHERE team = ? AND done IS NULL ORDER BY made, id";
    let read = |row: &Row<'_>| {
        Ok(Invite {
            id: row.get("id")?,
            scope: rows::scope(row, "scope")?,
            member: rows::maybe_member(row, "member")?,
            by: rows::maybe_member(row, "made_by")?,
            expires: rows::time(row, "expires")?,
        })
    };
    db.prepare_cached(sql)?.query_map([team.0], read)?.collect()
}

pub(super) fn withdraw_invite(
    db: &Connection,
    team: TeamId,
    id: &str,
    by: &Actor,
    at: Timestamp,
) -> Rows<bool> {
    let sql = "UPDATE invites SET done = ? WHERE team = ? AND id = ? AND done IS NULL";
    let n = db.execute(sql, params![millis(at), team.0, id])?;
    if n > 0 {
        note(db, team, by, at, &Deed::new("withdraw", id))?;
    }
    Ok(n > 0)
}

fn invitation(db: &Connection, hash: &ContentHash) -> Rows<Option<(TeamId, Invitation)>> {
    let sql = "SELECT team, scope, member, expires, done IS NOT NULL AS is_used FROM invites WHERE hash = ?";
    let read = |row: &Row<'_>| {
        let invitation = Invitation {
            scope: rows::scope(row, "scope")?,
            member: rows::maybe_member(row, "member")?,
            expires: rows::time(row, "expires")?,
            is_used: row.get("is_used")?,
        };
        Ok((TeamId(row.get("team")?), invitation))
    };
    db.prepare_cached(sql)?.query_row([hash.as_bytes().as_slice()], read).optional()
}

pub(super) fn join(db: &Connection, joining: &Joining, at: Timestamp) -> Result<Bearer, JoinError> {
    let known = invitation(db, &joining.invite)?;
    let name = rules::name_to_join_by(known.as_ref().map(|known| &known.1), joining.member.as_ref(), at)?;
    let (team, invitation) = known.ok_or(NotJoined::NoInvite)?;
    rules::may_join(&invitation, standing(db, team, &name)?)?;
    let token = NewToken { scope: invitation.scope, ..joining.token.clone() };
    let by = Actor { member: Some(name.clone()), token: Some(token.id.clone()) };
    let_in(db, team, &name, &token, &joining.invite, at)?;
    note(db, team, &by, at, &Deed::new("join", name.as_str()))?;
    Ok(bearer(db, &token.hash)?.ok_or(NotJoined::NoInvite)?)
}

fn let_in(
    db: &Connection,
    team: TeamId,
    name: &MemberName,
    token: &NewToken,
    invite: &ContentHash,
    at: Timestamp,
) -> Rows<()> {
    let sql = "INSERT INTO members (team, name, joined) VALUES (?, ?, ?)
               ON CONFLICT DO UPDATE SET revoked = NULL";
    db.execute(sql, params![team.0, name.as_str(), millis(at)])?;
    insert_token(db, team, name, token, at)?;
    let sql = "UPDATE invites SET done = ? WHERE hash = ?";
    db.execute(sql, params![millis(at), invite.as_bytes().as_slice()])?;
    Ok(())
}

pub(super) fn members(db: &Connection, team: TeamId, now: Timestamp) -> Rows<Vec<MemberInfo>> {
    let sql = "SELECT name, joined, memories,
                 (SELECT scope FROM tokens
                  WHERE tokens.team = members.team AND member = name AND tokens.revoked IS NULL
    AND (expires IS NULL OR expires > ?2)
                  ORDER BY CASE scope WHEN 'admin' THEN 0 WHEN 'write' THEN 1 ELSE 2 END LIMIT 1) AS scope
               FROM members WHERE team = ?1 AND revoked IS NULL ORDER BY name";
    let read = |row: &Row<'_>| {
        let scope: Option<String> = row.get("scope")?;
        Ok(MemberInfo {
            member: rows::member(row, "name")?,
            scope: scope.map(|_| rows::scope(row, "scope")).transpose()?,
            joined: rows::time(row, "joined")?,
            memories: rows::number(row, "memories")?,
        })
    };
    db.prepare_cached(sql)?.query_map(params![team.0, millis(now)], read)?.collect()
}

pub(super) fn revoke_member(
    db: &Connection,
    team: TeamId,
    member: &MemberName,
    by: &Actor,
    at: Timestamp,
) -> Rows<bool> {
    let sql = "UPDATE members SET revoked = ?3 WHERE team = ?1 AND name = ?2 AND revoked IS NULL";
    let values = params![team.0, member.as_str(), millis(at)];
    if db.execute(sql, values)? == 0 {
        return Ok(false);
    }
    // The tokens too: a member who is invited again gets in with the new one alone.
    let sql = "UPDATE tokens SET revoked = ?3 WHERE team = ?1 AND member = ?2 AND revoked IS NULL";
    db.execute(sql, values)?;
    let sql =
        "UPDATE invites SET done = ?3 WHERE team = ?1 AND (member = ?2 OR made_by = ?2) AND done IS NULL";
    db.execute(sql, values)?;
    note(db, team, by, at, &Deed::new("revoke-member", member.as_str()))?;
    Ok(true)
}

pub(super) fn audit(db: &Connection, team: TeamId, since: u64, limit: usize) -> Rows<Vec<AuditEntry>> {
    let sql = "SELECT id, at, member, token, action, target, seq, hash FROM audit
               WHERE team = ? AND id > ? ORDER BY id LIMIT ?";
    let read = |row: &Row<'_>| {
        let seq: Option<i64> = row.get("seq")?;
        let hash: Option<[u8; 32]> = row.get("hash")?;
        Ok(AuditEntry {
            id: rows::number(row, "id")?,
            at: rows::time(row, "at")?,
            member: rows::maybe_member(row, "member")?,
            token: row.get("token")?,
            action: row.get("action")?,
            target: row.get("target")?,
            seq: seq.map(unsigned),
            hash: hash.map(ContentHash::from_bytes),
        })
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    db.prepare_cached(sql)?.query_map(params![team.0, signed(since), limit], read)?.collect()
}
