//! Writing memories, and forgetting what is old, in PostgreSQL. Whoever calls holds the locks of the teams.
//!
//! Writes are carried out in [`runs`]: what is there is read for a whole run, every write of it is decided, and what they all
//! change is written by a handful of statements, however many writes there are.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use jiff::Timestamp;
use memdir_core::team::wire::MemberName;
use tokio_postgres::Row;

use super::meaning;
use super::people::{NOBODY, note};
use super::pool::{Transaction, values};
use super::rows::{self, millis, plain, signed};
use super::search::{Indexed, indexed};
use crate::rules::{self, Act, Decision, Effect, Kind, Quotas, State, Totals};
use crate::storage::{
    Actor, Content, Key, Purged, StorageError, TeamId, Write, WriteChange, WriteError, Written,
};

type Answer<T> = Result<T, StorageError>;
pub(super) type Answers = Vec<Result<Written, WriteError>>;

/// A write, and who asks for it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    key: &'a Key,
    write: &'a Write,
    by: &'a Actor,
    author: &'a MemberName,
    quotas: &'a Quotas,
    at: Timestamp,
}

impl<'a> Asked<'a> {
    /// The writes that somebody asks for. Whatever is written has an author.
    pub(super) fn all(
        writes: &'a [(Key, Write)],
        by: &'a Actor,
        quotas: &'a Quotas,
        at: Timestamp,
    ) -> Answer<Vec<Self>> {
        let nobody = || StorageError::Failed("a write has an author".to_owned());
        let author = by.member.as_ref().ok_or_else(nobody)?;
        Ok(writes.iter().map(|(key, write)| Self { key, write, by, author, quotas, at }).collect())
    }
}

/// Writes several memories, each whatever becomes of the others.
pub(super) async fn write_all(
    db: &Transaction<'_>,
    writes: &[Asked<'_>],
    has_meaning: bool,
) -> Answer<Answers> {
    lock_teams(db, writes).await?;
    let mut answers = Vec::with_capacity(writes.len());
    for run in runs(writes) {
        let writes = &writes[run];
        let Some(first) = writes.first() else { continue };
        let run = Run { team: first.key.team, has_meaning };
        answers.extend(run.write(db, writes).await?);
    }
    Ok(answers)
}

/// Takes the locks of the teams in the order of their numbers, so that no two wait for each other.
async fn lock_teams(db: &Transaction<'_>, writes: &[Asked<'_>]) -> Answer<()> {
    let teams: Vec<i64> =
        writes.iter().map(|asked| asked.key.team.0).collect::<BTreeSet<_>>().into_iter().collect();
    db.rows("SELECT 1 FROM teams WHERE id = ANY ($1) ORDER BY id FOR UPDATE", values![teams]).await?;
    Ok(())
}

/// Cuts writes into runs that can be decided together: of one team, no memory twice, and nothing after an erasure, because
/// how many bytes that frees is only known when it is done.
fn runs(writes: &[Asked<'_>]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut seen) = (0, HashSet::new());
    for (n, Asked { key, write, .. }) in writes.iter().enumerate() {
        let is_new = seen.insert((key.project.as_str(), key.path.as_str()));
        let is_same_team = writes[start].key.team == key.team;
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
struct Run {
    team: TeamId,
    /// Whether it is noted what texts are about.
    has_meaning: bool,
}

/// What is there before a run, and what it has come to so far.
struct Standing {
    seq: u64,
    memories: u64,
    bytes: u64,
    /// Memories whose newest version is theirs, of those who write.
    of_authors: HashMap<String, u64>,
}

/// A memory as it is before a run.
type Current = (i64, State);

/// A write that was decided.
struct Change<'a> {
    asked: Asked<'a>,
    content: Option<&'a Content>,
    effect: Effect,
    before: Option<Current>,
    state: State,
}

impl Run {
    async fn write(&self, db: &Transaction<'_>, writes: &[Asked<'_>]) -> Answer<Answers> {
        let (standing, current) =
            tokio::join!(standing(db, self.team, writes), newest(db, self.team, writes));
        let (mut standing, mut current) = (standing?, current?);
        let (mut answers, mut changes) = (Vec::with_capacity(writes.len()), Vec::new());
        for asked in writes {
            let before = current.remove(&(asked.key.project.to_string(), asked.key.path.to_string()));
            match decide(&mut standing, *asked, before) {
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

    async fn apply(&self, db: &Transaction<'_>, changes: &[Change<'_>], standing: &Standing) -> Answer<()> {
        put_aside(db, changes).await?;
        let before = |filter: fn(&Effect) -> bool| -> Vec<i64> {
            let those = changes.iter().filter(|change| filter(&change.effect));
            those.filter_map(|change| change.before.as_ref().map(|(id, _)| *id)).collect()
        };
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
                   SELECT $1, project, path, seq, hash, size, author, at, deleted, erased
                   FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::bigint[],
                               $9::boolean[], $10::boolean[])
                        AS new (author, at, project, path, seq, hash, size, deleted, erased)
                   ON CONFLICT (team, project, path) DO UPDATE SET
                     seq = excluded.seq, hash = excluded.hash, size = excluded.size, author = excluded.author,
                     at = excluded.at, deleted = excluded.deleted, erased = excluded.erased
                   RETURNING m.id, m.seq";
        let states = || changes.iter().map(|change| &change.state);
        let authors: Vec<&str> = states().map(|state| state.author.as_str()).collect();
        let times: Vec<i64> = states().map(|state| millis(state.at)).collect();
        let projects: Vec<&str> = changes.iter().map(|change| change.asked.key.project.as_str()).collect();
        let paths: Vec<&str> = changes.iter().map(|change| change.asked.key.path.as_str()).collect();
        let seqs: Vec<i64> = states().map(|state| signed(state.seq)).collect();
        let hashes: Vec<&[u8]> = states().map(|state| state.hash.as_bytes().as_slice()).collect();
        let sizes: Vec<i64> = states().map(|state| signed(state.size)).collect();
        let deleted: Vec<bool> = states().map(|state| state.deleted).collect();
        let erased: Vec<bool> = states().map(|state| state.erased).collect();
        let values =
            values![self.team.0, authors, times, projects, paths, seqs, hashes, sizes, deleted, erased];
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
            projects.push(change.asked.key.project.as_str());
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
                   SELECT $1, at, member, token, action, target, seq, hash
                   FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bytea[])
                        AS new (at, member, token, action, target, seq, hash)
                   ORDER BY seq";
        let asked = || changes.iter().map(|change| &change.asked);
        let states = || changes.iter().map(|change| &change.state);
        let times: Vec<i64> = asked().map(|asked| millis(asked.at)).collect();
        let members: Vec<&str> = asked().map(|asked| asked.author.as_str()).collect();
        let tokens: Vec<Option<&str>> = asked().map(|asked| asked.by.token.as_deref()).collect();
        let actions: Vec<&str> = changes.iter().map(|change| change.effect.kind.as_str()).collect();
        let target = |asked: &Asked<'_>| format!("{}/{}", asked.key.project, asked.key.path);
        let targets: Vec<String> = asked().map(target).collect();
        let seqs: Vec<i64> = states().map(|state| signed(state.seq)).collect();
        let hashes: Vec<&[u8]> = states().map(|state| state.hash.as_bytes().as_slice()).collect();
        db.run(sql, values![self.team.0, times, members, tokens, actions, targets, seqs, hashes]).await?;
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
        let bytes = standing.bytes.saturating_sub(freed);
        let (seq, memories) = (signed(standing.seq), signed(standing.memories));
        let counted = async move { db.run(sql, values![self.team.0, seq, memories, signed(bytes)]).await };
        let mut authors: HashMap<&str, i64> = HashMap::new();
        for change in changes {
            if let (true, Some((_, before))) = (change.effect.takes_from_author, &change.before) {
                *authors.entry(before.author.as_str()).or_default() -= 1;
            }
            *authors.entry(change.asked.author.as_str()).or_default() +=
                i64::from(change.effect.gives_to_author);
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

fn decide<'w>(
    standing: &mut Standing,
    asked: Asked<'w>,
    before: Option<Current>,
) -> Result<Decided<'w>, WriteError> {
    let Asked { write, author, quotas, at, .. } = asked;
    let (act, content) = match &write.change {
        WriteChange::Put(content) => {
            (Act::Put { hash: content.hash, size: content.text.len() as u64 }, Some(content))
        }
        WriteChange::Delete => (Act::Delete, None),
        WriteChange::Erase => (Act::Erase, None),
    };
    let state = before.as_ref().map(|(_, state)| state);
    let decision = rules::decide(act, write.expect, author, state, &standing.totals(author), quotas)?;
    let effect = match (decision, &before) {
        (Decision::Nothing, Some((_, state))) => return Ok(Decided::Nothing(state.clone())),
        (Decision::Nothing, None) => {
            return Err(StorageError::Failed("nothing is there".to_owned()).into());
        }
        (Decision::Write(effect), _) => effect,
    };
    standing.count(&effect, author, state.map(|state| &state.author));
    let state = State {
        seq: standing.seq,
        hash: effect.hash,
        size: effect.size,
        author: author.clone(),
        at,
        deleted: content.is_none(),
        erased: effect.kind == Kind::Erase,
    };
    Ok(Decided::Change(Box::new(Change { asked, content, effect, before, state })))
}

impl Standing {
    /// What counts for a write of this author.
    fn totals(&self, author: &MemberName) -> Totals {
        let of_author = self.of_authors.get(author.as_str()).copied().unwrap_or(0);
        Totals { memories: self.memories, bytes: self.bytes, of_author }
    }

    /// Counts what a write changes, for those after it. `before`: whose version it takes the place of.
    fn count(&mut self, effect: &Effect, author: &MemberName, before: Option<&MemberName>) {
        self.seq += 1;
        self.memories = self.memories.saturating_add_signed(effect.memories);
        self.bytes = self.bytes.saturating_add(effect.bytes);
        if effect.gives_to_author {
            *self.of_authors.entry(author.to_string()).or_default() += 1;
        }
        let before = before.filter(|_| effect.takes_from_author);
        if let Some(count) = before.and_then(|author| self.of_authors.get_mut(author.as_str())) {
            *count = count.saturating_sub(1);
        }
    }
}

async fn standing(db: &Transaction<'_>, team: TeamId, writes: &[Asked<'_>]) -> Answer<Standing> {
    let authors: BTreeSet<&str> = writes.iter().map(|asked| asked.author.as_str()).collect();
    let authors: Vec<&str> = authors.into_iter().collect();
    let sql = "SELECT seq, memories, bytes FROM teams WHERE id = $1";
    let values = values![team.0];
    let row = db.row(sql, values);
    let sql = "SELECT name, memories FROM members WHERE team = $1 AND name = ANY ($2)";
    let values = values![team.0, authors];
    let (row, authors) = tokio::try_join!(row, db.rows(sql, values))?;
    let row = row.ok_or_else(|| StorageError::Failed("there is no such team".to_owned()))?;
    let of_author = |row: &Row| Ok((plain(row, "name")?, rows::number(row, "memories")?));
    Ok(Standing {
        seq: rows::number(&row, "seq")?,
        memories: rows::number(&row, "memories")?,
        bytes: rows::number(&row, "bytes")?,
        of_authors: authors.iter().map(of_author).collect::<Answer<_>>()?,
    })
}

async fn newest(
    db: &Transaction<'_>,
    team: TeamId,
    writes: &[Asked<'_>],
) -> Answer<HashMap<(String, String), Current>> {
    let sql = format!(
        "SELECT m.id, m.project, m.path, {} FROM unnest($2::text[], $3::text[]) AS asked (project, path)
         JOIN memories m ON m.team = $1 AND m.project = asked.project AND m.path = asked.path",
        rows::STATE
    );
    let projects: Vec<&str> = writes.iter().map(|asked| asked.key.project.as_str()).collect();
    let paths: Vec<&str> = writes.iter().map(|asked| asked.key.path.as_str()).collect();
    let read = |row: &Row| {
        Ok(((plain(row, "project")?, plain(row, "path")?), (plain(row, "id")?, rows::state(row)?)))
    };
    db.rows(&sql, values![team.0, projects, paths]).await?.iter().map(read).collect()
}

/// Puts the versions that were newest among the older ones.
async fn put_aside(db: &Transaction<'_>, changes: &[Change<'_>]) -> Answer<()> {
    let kept = changes.iter().filter(|change| change.effect.keeps_older);
    let ended = kept.filter_map(|change| Some((change.before.as_ref()?.0, millis(change.asked.at))));
    let (ids, times): (Vec<i64>, Vec<i64>) = ended.unzip();
    if ids.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO versions (memory, seq, hash, size, author, at, ended, deleted)
               SELECT id, seq, hash, size, author, at, old.ended, deleted
               FROM unnest($1::bigint[], $2::bigint[]) AS old (id, ended) JOIN memories USING (id)";
    db.run(sql, values![ids, times]).await?;
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
