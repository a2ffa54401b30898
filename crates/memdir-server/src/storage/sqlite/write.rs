//! Writing a memory, and forgetting what is old, in SQLite. Whoever calls holds the database for writing.

use jiff::Timestamp;
use memdir_core::team::wire::MemberName;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::people::{Deed, note};
use super::rows::{self, millis, signed, unsigned};
use crate::rules::{self, Act, Decision, Effect, Kind, Quotas, State, Totals};
use crate::storage::{
    Actor, Content, Key, Purged, StorageError, TeamId, Write, WriteChange, WriteError, Written,
};

type Rows<T> = rusqlite::Result<T>;

pub(super) fn write(
    db: &Connection,
    key: &Key,
    write: &Write,
    by: &Actor,
    quotas: &Quotas,
    at: Timestamp,
) -> Result<Written, WriteError> {
    let nobody = || StorageError::Failed("a write has an author".to_owned());
    let author = by.member.as_ref().ok_or_else(nobody)?;
    let (act, content) = match &write.change {
        WriteChange::Put(content) => {
            (Act::Put { hash: content.hash, size: content.text.len() as u64 }, Some(content))
        }
        WriteChange::Delete => (Act::Delete, None),
        WriteChange::Erase => (Act::Erase, None),
    };
    let current = newest(db, key)?;
    let state = current.as_ref().map(|(_, state)| state);
    let totals = totals(db, key.team, author)?;
    let effect = match (rules::decide(act, write.expect, author, state, &totals, quotas)?, current.clone()) {
        (Decision::Nothing, Some((_, state))) => return Ok(Written { kind: None, state }),
        (Decision::Nothing, None) => return Err(StorageError::Failed("nothing is there".to_owned()).into()),
        (Decision::Write(effect), _) => effect,
    };
    let change = Change { key, effect: &effect, content, author, at };
    let state = change.apply(db, current)?;
    let target = format!("{}/{}", key.project, key.path);
    let deed =
        Deed { action: effect.kind.as_str(), target: &target, seq: Some(state.seq), hash: Some(&state.hash) };
    note(db, key.team, by, at, &deed)?;
    Ok(Written { kind: Some(effect.kind), state })
}

fn newest(db: &Connection, key: &Key) -> Rows<Option<(i64, State)>> {
    let sql = format!("SELECT id, {} FROM memories WHERE team = ? AND project = ? AND path = ?", rows::STATE);
    let read = |row: &Row<'_>| Ok((row.get("id")?, rows::state(row)?));
    let which = params![key.team.0, key.project.as_str(), key.path.as_str()];
    db.prepare_cached(&sql)?.query_row(which, read).optional()
}

fn totals(db: &Connection, team: TeamId, author: &MemberName) -> Rows<Totals> {
    let sql = "SELECT memories, bytes,
                 (SELECT memories FROM members WHERE team = teams.id AND name = ?2) AS of_author
               FROM teams WHERE id = ?1";
    db.prepare_cached(sql)?.query_row(params![team.0, author.as_str()], |row| {
        let of_author: Option<i64> = row.get("of_author")?;
        Ok(Totals {
            memories: rows::number(row, "memories")?,
            bytes: rows::number(row, "bytes")?,
            of_author: unsigned(of_author.unwrap_or(0)),
        })
    })
}

/// A write that was decided.
struct Change<'a> {
    key: &'a Key,
    effect: &'a Effect,
    content: Option<&'a Content>,
    author: &'a MemberName,
    at: Timestamp,
}

impl Change<'_> {
    fn apply(&self, db: &Connection, current: Option<(i64, State)>) -> Rows<State> {
        let seq = self.count(db)?;
        if let Some((id, before)) = &current {
            unindex(db, *id)?;
            self.put_aside(db, *id)?;
            if self.effect.takes_from_author {
                count_author(db, self.key.team, &before.author, -1)?;
            }
        }
        if self.effect.gives_to_author {
            count_author(db, self.key.team, self.author, 1)?;
        }
        let state = State {
            seq,
            hash: self.effect.hash,
            size: self.effect.size,
            author: self.author.clone(),
            at: self.at,
            deleted: self.content.is_none(),
            erased: self.effect.kind == Kind::Erase,
        };
        self.store(db, &state)?;
        Ok(state)
    }

    /// Takes the next version of the team, and counts what comes to it.
    fn count(&self, db: &Connection) -> Rows<u64> {
        let sql = "UPDATE teams SET seq = seq + 1, memories = memories + ?, bytes = bytes + ? WHERE id = ?
                   RETURNING seq";
        let values = params![self.effect.memories, signed(self.effect.bytes), self.key.team.0];
        db.prepare_cached(sql)?.query_row(values, |row| rows::number(row, "seq"))
    }

    /// Puts the version that was newest among the older ones, and takes their texts if everything is erased.
    fn put_aside(&self, db: &Connection, id: i64) -> Rows<()> {
        if self.effect.keeps_older {
            let sql = "INSERT INTO versions (memory, seq, hash, size, author, at, ended, deleted, text)
                       SELECT id, seq, hash, size, author, at, ?2, deleted, text FROM memories WHERE id = ?1";
            db.prepare_cached(sql)?.execute(params![id, millis(self.at)])?;
        }
        if self.effect.kind == Kind::Erase {
            free(db, self.key.team, "memory = ?1", id)?;
            db.execute("UPDATE versions SET text = NULL WHERE memory = ?", [id])?;
        }
        Ok(())
    }

    fn store(&self, db: &Connection, state: &State) -> Rows<()> {
        let sql = "INSERT INTO memories
                     (team, project, path, seq, hash, size, author, at, deleted, erased, text, words)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                   ON CONFLICT (team, project, path) DO UPDATE SET
                     seq = excluded.seq, hash = excluded.hash, size = excluded.size, author = excluded.author,
                     at = excluded.at, deleted = excluded.deleted, erased = excluded.erased,
                     text = excluded.text, words = excluded.words
                   RETURNING id";
        let values = params![
            self.key.team.0,
            self.key.project.as_str(),
            self.key.path.as_str(),
            signed(state.seq),
            state.hash.as_bytes().as_slice(),
            signed(state.size),
            state.author.as_str(),
            millis(state.at),
            state.deleted,
            state.erased,
            self.content.map(|content| content.text.as_str()),
            self.content.map(|content| content.words.as_str()),
        ];
        let id: i64 = db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        if self.content.is_some() {
            let sql =
                "INSERT INTO found (rowid, place, words) SELECT id, place, words FROM memories WHERE id = ?";
            db.prepare_cached(sql)?.execute([id])?;
        }
        Ok(())
    }
}

/// Takes a memory out of what can be found. The index wants the old words back to find its entries.
fn unindex(db: &Connection, id: i64) -> Rows<()> {
    let sql = "INSERT INTO found (found, rowid, place, words)
               SELECT 'delete', id, place, words FROM memories WHERE id = ? AND words IS NOT NULL";
    db.prepare_cached(sql)?.execute([id])?;
    Ok(())
}

fn count_author(db: &Connection, team: TeamId, author: &MemberName, by: i64) -> Rows<()> {
    let sql = "UPDATE members SET memories = max(0, memories + ?) WHERE team = ? AND name = ?";
    db.prepare_cached(sql)?.execute(params![by, team.0, author.as_str()])?;
    Ok(())
}

/// Takes the bytes of older texts off those of the team.
fn free(db: &Connection, team: TeamId, which: &str, value: i64) -> Rows<()> {
    let sql = format!(
        "UPDATE teams SET bytes = max(0, bytes -
           (SELECT coalesce(sum(size), 0) FROM versions WHERE text IS NOT NULL AND {which})) WHERE id = ?2"
    );
    db.execute(&sql, params![value, team.0])?;
    Ok(())
}

/// Forgets tombstones, older versions and invitations from before a time.
pub(super) fn purge(db: &Connection, before: Timestamp) -> Rows<Purged> {
    let mut purged = Purged::default();
    let teams: Vec<i64> =
        db.prepare("SELECT id FROM teams")?.query_map([], |row| row.get(0))?.collect::<Rows<_>>()?;
    for team in teams.into_iter().map(TeamId) {
        let tombstones = purge_tombstones(db, team, before)?;
        let versions = purge_versions(db, team, before)?;
        purged.tombstones += tombstones;
        purged.versions += versions;
        if tombstones + versions > 0 {
            let target: String =
                db.query_row("SELECT name FROM teams WHERE id = ?", [team.0], |row| row.get(0))?;
            note(db, team, &Actor { member: None, token: None }, before, &Deed::new("purge", &target))?;
        }
    }
    let sql = "DELETE FROM invites WHERE done < ?1 OR expires < ?1";
    purged.invites = db.execute(sql, [millis(before)])? as u64;
    Ok(purged)
}

fn purge_tombstones(db: &Connection, team: TeamId, before: Timestamp) -> Rows<u64> {
    let sql = "SELECT id, seq FROM memories WHERE team = ? AND deleted = 1 AND at < ?";
    let gone: Vec<(i64, i64)> = db
        .prepare(sql)?
        .query_map(params![team.0, millis(before)], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Rows<_>>()?;
    for (id, seq) in &gone {
        free(db, team, "memory = ?1", *id)?;
        db.execute("DELETE FROM versions WHERE memory = ?", [id])?;
        db.execute("DELETE FROM memories WHERE id = ?", [id])?;
        db.execute("UPDATE teams SET purged = max(purged, ?) WHERE id = ?", params![seq, team.0])?;
    }
    Ok(gone.len() as u64)
}

fn purge_versions(db: &Connection, team: TeamId, before: Timestamp) -> Rows<u64> {
    let which = "ended < ?1 AND memory IN (SELECT id FROM memories WHERE team = ?2)";
    free(db, team, which, millis(before))?;
    let sql = format!("DELETE FROM versions WHERE {which}");
    Ok(db.execute(&sql, params![millis(before), team.0])? as u64)
}
