//! Writing memories, and forgetting what is old, in PostgreSQL. Whoever calls holds the locks of the teams.
//!
//! Writes are carried out in [`runs`]: what is there is read for a whole run, every write of it is decided, and what they all
//! change is written by a handful of statements, however many writes there are.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use jiff::Timestamp;
use memdir_core::team::wire::MemberName;
use tokio_postgres::Row;

use super::meaning;
use super::people::{NOBODY, note};
use super::pool::{Transaction, values};
use super::rows::{self, millis, plain, signed, unsigned};
use super::search::{Indexed, indexed};
use crate::rules::{self, Act, Decision, Effect, Kind, Quotas, State, Totals};
use crate::storage::{
    Actor, Content, Key, Purged, StorageError, TeamId, Write, WriteChange, WriteError, Written,
};

type Answer<T> = Result<T, StorageError>;
pub(super) type Answers = Vec<Result<Written, WriteError>>;

/// Writes several memories, each whatever becomes of the others.
pub(super) async fn write_all(
    db: &Transaction<'_>,
    writes: &[(Key, Write)],
    by: &Actor,
    quotas: &Quotas,
    at: Timestamp,
    has_meaning: bool,
) -> Answer<Answers> {
    let nobody = || StorageError::Failed("a write has an author".to_owned());
    let author = by.member.as_ref().ok_or_else(nobody)?;
    lock_teams(db, writes).await?;
    let mut answers = Vec::with_capacity(writes.len());
    for run in runs(writes) {
        let writes = &writes[run];
        let Some((key, _)) = writes.first() else { continue };
        let run = Run { team: key.team, by, author, quotas, at, has_meaning };
        answers.extend(run.write(db, writes).await?);
    }
    Ok(answers)
}

/// Takes the locks of the teams in the order of their numbers, so that no two wait for each other.
async fn lock_teams(db: &Transaction<'_>, writes: &[(Key, Write)]) -> Answer<()> {
    let teams: Vec<i64> = writes.iter().map(|(key, _)| key.team.0).collect();
    db.rows("SELECT 1 FROM teams WHERE id = ANY ($1) ORDER BY id FOR UPDATE", values![teams]).await?;
    Ok(())
}

/// Cuts writes into runs that can be decided together: of one team, no memory twice, and nothing after an erasure, because
/// how many bytes that frees is only known when it is done.
fn runs(writes: &[(Key, Write)]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut seen) = (0, HashSet::new());
    for (n, (key, write)) in writes.iter().enumerate() {
        let is_new = seen.insert((key.project.as_str(), key.path.as_str()));
        let is_same_team = writes[start].0.team == key.team;
        if !is_new || !is_same_team {
            runs.push(start..n);
            start = n;
            seen = HashSet::from([(key.project.as_str(), key.path.as_str())]);
        }
        if write.change == WriteChange::Erase {
            runs.push(start..n + 1);
            start = n + 1;
            seen.clear();
            if start == writes.len() {
                return runs;
            }
        }
    }
    runs.push(start..writes.len());
    runs.retain(|run| !run.is_empty());
    runs
}

/// Writes that are decided together.
struct Run<'a> {
    team: TeamId,
    by: &'a Actor,
    author: &'a MemberName,
    quotas: &'a Quotas,
    at: Timestamp,
    /// Whether it is noted what texts are about.
    has_meaning: bool,
}

/// What is there before a run, and what it has come to so far.
struct Standing {
    seq: u64,
    totals: Totals,
}

/// A memory as it is before a run.
type Current = (i64, State);

/// A write that was decided.
struct Change<'a> {
    key: &'a Key,
    content: Option<&'a Content>,
    effect: Effect,
    before: Option<Current>,
    state: State,
}

impl Run<'_> {
    async fn write(&self, db: &Transaction<'_>, writes: &[(Key, Write)]) -> Answer<Answers> {
        let (standing, current) =
            tokio::join!(standing(db, self.team, self.author), newest(db, self.team, writes));
        let (mut standing, mut current) = (standing?, current?);
        let (mut answers, mut changes) = (Vec::with_capacity(writes.len()), Vec::new());
        for (key, write) in writes {
            let before = current.remove(&(key.project.to_string(), key.path.to_string()));
            match self.decide(&mut standing, key, write, before) {
                Ok(Decided::Nothing(state)) => answers.push(Ok(Written { kind: None, state })),
                Ok(Decided::Change(change)) => {
                    answers.push(Ok(Written { kind: Some(change.effect.kind), state: change.state.clone() }));
                    changes.push(*change);
                }
                Err(refused) => answers.push(Err(refused)),
            }
        }
        if !changes.is_empty() {
            self.apply(db, &changes, &standing).await?;
        }
        Ok(answers)
    }

    fn decide<'w>(
        &self,
        standing: &mut Standing,
        key: &'w Key,
        write: &'w Write,
        before: Option<Current>,
    ) -> Result<Decided<'w>, WriteError> {
        let (act, content) = match &write.change {
            WriteChange::Put(content) => {
                (Act::Put { hash: content.hash, size: content.text.len() as u64 }, Some(content))
            }
            WriteChange::Delete => (Act::Delete, None),
            WriteChange::Erase => (Act::Erase, None),
        };
        let state = before.as_ref().map(|(_, state)| state);
        let decision = rules::decide(act, write.expect, self.author, state, &standing.totals, self.quotas)?;
        let effect = match (decision, &before) {
            (Decision::Nothing, Some((_, state))) => return Ok(Decided::Nothing(state.clone())),
            (Decision::Nothing, None) => {
                return Err(StorageError::Failed("nothing is there".to_owned()).into());
            }
            (Decision::Write(effect), _) => effect,
        };
        standing.count(&effect, state.is_some_and(|state| state.author == *self.author));
        let state = State {
            seq: standing.seq,
            hash: effect.hash,
            size: effect.size,
            author: self.author.clone(),
            at: self.at,
            deleted: content.is_none(),
            erased: effect.kind == Kind::Erase,
        };
        Ok(Decided::Change(Box::new(Change { key, content, effect, before, state })))
    }

    async fn apply(&self, db: &Transaction<'_>, changes: &[Change<'_>], standing: &Standing) -> Answer<()> {
        let before = |filter: fn(&Effect) -> bool| -> Vec<i64> {
            let those = changes.iter().filter(|change| filter(&change.effect));
            those.filter_map(|change| change.before.as_ref().map(|(id, _)| *id)).collect()
        };
        put_aside(db, &before(|effect| effect.keeps_older), self.at).await?;
        let freed = erase(db, &before(|effect| effect.kind == Kind::Erase)).await?;
        let found = before(|_| true);
        if !found.is_empty() {
            db.run("DELETE FROM found WHERE memory = ANY ($1)", values![found]).await?;
        }
        let ids = self.store(db, changes).await?;
        // Sent one after the other without waiting for answers: the team's lock is held meanwhile.
        let kept = self.keep_texts(db, changes, &ids);
        tokio::try_join!(kept, self.note(db, changes), self.count(db, changes, standing, freed)).map(drop)
    }

    /// Writes the newest versions, and returns which memory each version is of.
    async fn store(&self, db: &Transaction<'_>, changes: &[Change<'_>]) -> Answer<HashMap<u64, i64>> {
        let sql = "INSERT INTO memories AS m (team, project, path, seq, hash, size, author, at, deleted, erased)
                   SELECT $1, project, path, seq, hash, size, $2, $3, deleted, erased
                   FROM unnest($4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::bigint[], $9::boolean[], $10::boolean[])
                        AS new (project, path, seq, hash, size, deleted, erased)
                   ON CONFLICT (team, project, path) DO UPDATE SET
                     seq = excluded.seq, hash = excluded.hash, size = excluded.size, author = excluded.author,
                     at = excluded.at, deleted = excluded.deleted, erased = excluded.erased
                   RETURNING m.id, m.seq";
        let states = || changes.iter().map(|change| &change.state);
        let projects: Vec<&str> = changes.iter().map(|change| change.key.project.as_str()).collect();
        let paths: Vec<&str> = changes.iter().map(|change| change.key.path.as_str()).collect();
        let seqs: Vec<i64> = states().map(|state| signed(state.seq)).collect();
        let hashes: Vec<&[u8]> = states().map(|state| state.hash.as_bytes().as_slice()).collect();
        let sizes: Vec<i64> = states().map(|state| signed(state.size)).collect();
        let deleted: Vec<bool> = states().map(|state| state.deleted).collect();
        let erased: Vec<bool> = states().map(|state| state.erased).collect();
        let (team, author, at) = (self.team.0, self.author.as_str(), millis(self.at));
        let values = values![team, author, at, projects, paths, seqs, hashes, sizes, deleted, erased];
        let rows = db.rows(sql, values).await?;
        rows.iter().map(|row| Ok((rows::number(row, "seq")?, plain(row, "id")?))).collect()
    }

    /// Keeps the texts of new versions, and what they are found by.
    async fn keep_texts(
        &self,
        db: &Transaction<'_>,
        changes: &[Change<'_>],
        ids: &HashMap<u64, i64>,
    ) -> Answer<()> {
        let (mut memories, mut seqs, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut projects, mut lengths, mut words, mut counts) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut meanings: Vec<Option<String>> = Vec::new();
        for change in changes {
            let (Some(content), Some(id)) = (change.content, ids.get(&change.state.seq)) else { continue };
            memories.push(*id);
            seqs.push(signed(change.state.seq));
            texts.push(content.text.as_str());
            projects.push(change.key.project.as_str());
            let Indexed { length, words: each, counts: of_each } = indexed(self.team, &content.words);
            lengths.push(length);
            words.push(each);
            counts.push(of_each);
            meanings.push(self.has_meaning.then(|| meaning::list(&meaning::of_text(&content.text))));
        }
        if memories.is_empty() {
            return Ok(());
        }
        let sql = "INSERT INTO texts (memory, seq, text)
                   SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])";
        let values = values![memories, seqs, texts];
        let texts = db.run(sql, values);
        let sql = "INSERT INTO found (memory, team, project, length, words, counts, meaning)
                   SELECT memory, $1, project, length, words::bigint[], counts::smallint[], meaning::smallint[]
                   FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[])
                        AS new (memory, project, length, words, counts, meaning)";
        let values = values![self.team.0, memories, projects, lengths, words, counts, meanings];
        tokio::try_join!(texts, db.run(sql, values)).map(drop)
    }

    async fn note(&self, db: &Transaction<'_>, changes: &[Change<'_>]) -> Answer<()> {
        let sql = "INSERT INTO audit (team, at, member, token, action, target, seq, hash)
                   SELECT $1, $2, $3, $4, action, target, seq, hash
                   FROM unnest($5::text[], $6::text[], $7::bigint[], $8::bytea[]) AS new (action, target, seq, hash)
                   ORDER BY seq";
        let actions: Vec<&str> = changes.iter().map(|change| change.effect.kind.as_str()).collect();
        let target = |change: &Change<'_>| format!("{}/{}", change.key.project, change.key.path);
        let targets: Vec<String> = changes.iter().map(target).collect();
        let seqs: Vec<i64> = changes.iter().map(|change| signed(change.state.seq)).collect();
        let hashes: Vec<&[u8]> =
            changes.iter().map(|change| change.state.hash.as_bytes().as_slice()).collect();
        let (team, at, member, token) =
            (self.team.0, millis(self.at), self.author.as_str(), self.by.token.as_deref());
        db.run(sql, values![team, at, member, token, actions, targets, seqs, hashes]).await?;
        Ok(())
    }

    /// Brings the counts of the team and of the authors up to date.
    async fn count(
        &self,
        db: &Transaction<'_>,
        changes: &[Change<'_>],
        standing: &Standing,
        freed: u64,
    ) -> Answer<()> {
        let sql = "UPDATE teams SET seq = $2, memories = $3, bytes = $4 WHERE id = $1";
        let bytes = standing.totals.bytes.saturating_sub(freed);
        let (seq, memories) = (signed(standing.seq), signed(standing.totals.memories));
        let counted = async move { db.run(sql, values![self.team.0, seq, memories, signed(bytes)]).await };
        let mut authors: HashMap<&str, i64> = HashMap::new();
        for change in changes {
            if let (true, Some((_, before))) = (change.effect.takes_from_author, &change.before) {
                *authors.entry(before.author.as_str()).or_default() -= 1;
            }
            *authors.entry(self.author.as_str()).or_default() += i64::from(change.effect.gives_to_author);
        }
        let (names, more): (Vec<&str>, Vec<i64>) = authors.into_iter().filter(|(_, more)| *more != 0).unzip();
        if names.is_empty() {
            return counted.await.map(drop);
        }
        let sql = "UPDATE members SET memories = greatest(0, memories + changed.more)
                   FROM unnest($2::text[], $3::bigint[]) AS changed (name, more)
                   WHERE members.team = $1 AND members.name = changed.name";
        let values = values![self.team.0, names, more];
        tokio::try_join!(counted, db.run(sql, values)).map(drop)
    }
}

enum Decided<'w> {
    Nothing(State),
    Change(Box<Change<'w>>),
}

impl Standing {
    /// Counts what a write changes, for those after it. `is_theirs`: whether the version before is of the same author.
    fn count(&mut self, effect: &Effect, is_theirs: bool) {
        self.seq += 1;
        let totals = &mut self.totals;
        totals.memories = totals.memories.saturating_add_signed(effect.memories);
        totals.bytes = totals.bytes.saturating_add(effect.bytes);
        totals.of_author += u64::from(effect.gives_to_author);
        totals.of_author = totals.of_author.saturating_sub(u64::from(effect.takes_from_author && is_theirs));
    }
}

async fn standing(db: &Transaction<'_>, team: TeamId, author: &MemberName) -> Answer<Standing> {
    let sql = "SELECT seq, memories, bytes,
                 (SELECT memories FROM members WHERE team = teams.id AND name = $2) AS of_author
               FROM teams WHERE id = $1";
    let row = db.row(sql, values![team.0, author.as_str()]).await?;
    let row = row.ok_or_else(|| StorageError::Failed("there is no such team".to_owned()))?;
    let of_author: Option<i64> = plain(&row, "of_author")?;
    let totals = Totals {
        memories: rows::number(&row, "memories")?,
        bytes: rows::number(&row, "bytes")?,
        of_author: unsigned(of_author.unwrap_or(0)),
    };
    Ok(Standing { seq: rows::number(&row, "seq")?, totals })
}

async fn newest(
    db: &Transaction<'_>,
    team: TeamId,
    writes: &[(Key, Write)],
) -> Answer<HashMap<(String, String), Current>> {
    let sql = format!(
        "SELECT m.id, m.project, m.path, {} FROM unnest($2::text[], $3::text[]) AS asked (project, path)
         JOIN memories m ON m.team = $1 AND m.project = asked.project AND m.path = asked.path",
        rows::STATE
    );
    let projects: Vec<&str> = writes.iter().map(|(key, _)| key.project.as_str()).collect();
    let paths: Vec<&str> = writes.iter().map(|(key, _)| key.path.as_str()).collect();
    let read = |row: &Row| {
        Ok(((plain(row, "project")?, plain(row, "path")?), (plain(row, "id")?, rows::state(row)?)))
    };
    db.rows(&sql, values![team.0, projects, paths]).await?.iter().map(read).collect()
}

/// Puts the versions that were newest among the older ones.
async fn put_aside(db: &Transaction<'_>, memories: &[i64], at: Timestamp) -> Answer<()> {
    if memories.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO versions (memory, seq, hash, size, author, at, ended, deleted)
               SELECT id, seq, hash, size, author, at, $2, deleted FROM memories WHERE id = ANY ($1)";
    db.run(sql, values![memories.to_vec(), millis(at)]).await?;
    Ok(())
}

/// Takes the texts of all versions of these memories, and returns how many bytes they had.
async fn erase(db: &Transaction<'_>, memories: &[i64]) -> Answer<u64> {
    if memories.is_empty() {
        return Ok(0);
    }
    let sql = "WITH gone AS (DELETE FROM texts WHERE memory = ANY ($1) RETURNING octet_length(text) AS size)
               SELECT coalesce(sum(size), 0)::bigint AS freed FROM gone";
    let row = db.row(sql, values![memories.to_vec()]).await?;
    Ok(row.map(|row| rows::number(&row, "freed")).transpose()?.unwrap_or(0))
}

/// Forgets tombstones, older versions and invitations from before a time.
pub(super) async fn purge(db: &Transaction<'_>, before: Timestamp) -> Answer<Purged> {
    // A year of removals takes a while.
    db.batch("SET LOCAL statement_timeout = '15min'").await?;
    let mut purged = Purged::default();
    let teams = db.rows("SELECT id, name FROM teams ORDER BY id FOR UPDATE", &[]).await?;
    for row in &teams {
        let (team, name): (i64, String) = (plain(row, "id")?, plain(row, "name")?);
        let tombstones = purge_tombstones(db, team, before).await?;
        let versions = purge_versions(db, team, before).await?;
        purged.tombstones += tombstones;
        purged.versions += versions;
        if tombstones + versions > 0 {
            note(db, TeamId(team), &NOBODY, before, "purge", &name).await?;
        }
    }
    let sql = "DELETE FROM invites WHERE done < $1 OR expires < $1";
    purged.invites = db.run(sql, values![millis(before)]).await?;
    Ok(purged)
}

async fn purge_tombstones(db: &Transaction<'_>, team: i64, before: Timestamp) -> Answer<u64> {
    let sql = "SELECT id, seq FROM memories WHERE team = $1 AND deleted AND at < $2";
    let gone = db.rows(sql, values![team, millis(before)]).await?;
    if gone.is_empty() {
        return Ok(0);
    }
    let ids = gone.iter().map(|row| plain(row, "id")).collect::<Answer<Vec<i64>>>()?;
    let seqs = gone.iter().map(|row| plain(row, "seq")).collect::<Answer<Vec<i64>>>()?;
    let freed = erase(db, &ids).await?;
    db.run("DELETE FROM versions WHERE memory = ANY ($1)", values![ids]).await?;
    db.run("DELETE FROM memories WHERE id = ANY ($1)", values![ids]).await?;
    let newest = seqs.into_iter().max().unwrap_or(0);
    let sql = "UPDATE teams SET purged = greatest(purged, $2), bytes = greatest(0, bytes - $3) WHERE id = $1";
    db.run(sql, values![team, newest, signed(freed)]).await?;
    Ok(gone.len() as u64)
}

async fn purge_versions(db: &Transaction<'_>, team: i64, before: Timestamp) -> Answer<u64> {
    let sql = "WITH gone AS (
                 DELETE FROM versions v USING memories m
                 WHERE v.ended < $2 AND m.id = v.memory AND m.team = $1 RETURNING v.memory, v.seq),
               texts_gone AS (
                 DELETE FROM texts t USING gone WHERE t.memory = gone.memory AND t.seq = gone.seq
                 RETURNING octet_length(t.text) AS size)
               SELECT (SELECT count(*) FROM gone) AS n,
                      (SELECT coalesce(sum(size), 0)::bigint FROM texts_gone) AS freed";
    let Some(row) = db.row(sql, values![team, millis(before)]).await? else { return Ok(0) };
    let (n, freed) = (rows::number(&row, "n")?, rows::number(&row, "freed")?);
    if n > 0 {
        let sql = "UPDATE teams SET bytes = greatest(0, bytes - $2) WHERE id = $1";
        db.run(sql, values![team, signed(freed)]).await?;
    }
    Ok(n)
}
