//! Finding memories in PostgreSQL: by their words, weighed as BM25 does.
//!
//! A word is kept as a number that no other team has ([`of_team`]), so the index itself leads to rows of one team alone. What
//! is found is weighed where it lies: only the best come over the wire with their texts. Where the database knows what a text is
//! about ([`meaning`]), that has a say too.

use std::collections::BTreeMap;

use memdir_core::team::wire::ProjectName;
use tokio_postgres::Row;

use super::meaning;
use super::pool::{Pool, Transaction, values};
use super::rows::{self, plain, signed};
use crate::storage::{Found, StorageError, TeamId};

/// Weighs what has any of the words `$2` in a project `$3` or in all of the team `$1`, and calls the best `$4` of it `best`. The
/// rarer a word is, the more it weighs; the longer a text is, the less each of its words does.
///
/// A word that more than 2,000 memories have says little, and weighing all of them takes long: such words only order what the
/// others found. If there are no others, 20,000 of those that have one are weighed.
const RANKING: &str = "WITH probes AS MATERIALIZED (
       SELECT asked.word, (SELECT count(*) FROM (SELECT 1 FROM found f WHERE f.words @> ARRAY[asked.word] LIMIT 2001) AS few) AS known
       FROM unnest($2::bigint[]) AS asked (word)),
     candidates AS MATERIALIZED (
       SELECT f.memory, f.length, f.words, f.counts FROM found f
       WHERE f.words && (SELECT coalesce(array_agg(word) FILTER (WHERE known <= 2000 AND known > 0), $2) FROM probes)
         AND ($3 IS NULL OR f.project = $3) LIMIT 20000),
     hits AS MATERIALIZED (
       SELECT f.memory, f.length, probes.word, probes.known, f.counts[array_position(f.words, probes.word)]::float8 AS n
       FROM candidates f CROSS JOIN probes),
     everything AS (SELECT (SELECT memories FROM teams WHERE id = $1)::float8 AS memories, count(*)::float8 AS found FROM candidates),
     owners AS (
       SELECT word, CASE WHEN known <= 2000 THEN known ELSE greatest(known, memories * count(n) / found) END AS n
       FROM hits CROSS JOIN everything GROUP BY word, known, memories, found),
     weights AS (
       SELECT word, ln(1 + greatest(0.5, memories - n + 0.5) / (n + 0.5)) AS weight FROM owners CROSS JOIN everything),
     usual AS (SELECT greatest(1, avg(length)) AS length FROM hits),
     best AS (
       SELECT hits.memory,
              sum(weight * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * hits.length / usual.length)))::float8 AS score
       FROM hits JOIN weights USING (word) CROSS JOIN usual
       WHERE n IS NOT NULL GROUP BY hits.memory ORDER BY score DESC, hits.memory LIMIT $4)";

/// What a row of `best` is.
const WITH_TEXTS: &str =
    "SELECT best.score, m.project, m.path, m.seq, m.hash, m.size, m.author, m.at, m.deleted, m.erased,
       (SELECT text FROM texts t WHERE t.memory = m.id AND t.seq = m.seq) AS text
     FROM best JOIN memories m ON m.id = best.memory ORDER BY best.score DESC, best.memory";

/// The best by words, with their texts.
pub(super) fn by_words_sql() -> String {
    format!("{RANKING} {WITH_TEXTS}")
}

/// Numbers of the words that are asked for.
fn asked(team: TeamId, words: &[String]) -> Vec<i64> {
    words.iter().filter_map(|word| of_team(team, word)).collect()
}

pub(super) async fn search(
    pool: &Pool,
    team: TeamId,
    project: Option<&ProjectName>,
    words: &[String],
    limit: usize,
) -> Result<Vec<Found>, StorageError> {
    let asked = asked(team, words);
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let values = values![team.0, asked, project.map(ProjectName::as_str), signed(limit as u64)];
    pool.ask(&by_words_sql(), values).await?.iter().map(read).collect()
}

/// Finds by words and by what a question means. The caller has begun a transaction that sees one moment.
pub(super) async fn search_with_meaning(
    db: &Transaction<'_>,
    team: TeamId,
    project: Option<&ProjectName>,
    question: &str,
    words: &[String],
    limit: usize,
) -> Result<Vec<Found>, StorageError> {
    let each = signed(limit.max(meaning::EACH) as u64);
    let sql = format!("{RANKING} SELECT memory FROM best ORDER BY score DESC, memory");
    let values = values![team.0, asked(team, words), project.map(ProjectName::as_str), each];
    let rows = db.rows(&sql, values).await?;
    let by_words = rows.iter().map(|row| plain(row, "memory")).collect::<Result<Vec<i64>, _>>()?;
    let by_meaning = meaning::nearest(db, team, project, question).await?;
    let best = meaning::together(&by_words, &by_meaning, limit);
    let (memories, scores): (Vec<i64>, Vec<f64>) = best.into_iter().unzip();
    let sql = format!(
        "WITH best AS (SELECT * FROM unnest($1::bigint[], $2::float8[]) AS best (memory, score)) {WITH_TEXTS}"
    );
    db.rows(&sql, values![memories, scores]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Found, StorageError> {
    let text: Option<String> = plain(row, "text")?;
    Ok(Found {
        project: rows::project(row, "project")?,
        path: rows::path(row, "path")?,
        state: rows::state(row)?,
        text: text.unwrap_or_default(),
        score: plain(row, "score")?,
    })
}

/// Makes the number of a team's word out of its 16 hex digits; `None` if it is none of ours.
fn of_team(team: TeamId, word: &str) -> Option<i64> {
    let word = u64::from_str_radix(word, 16).ok()?;
    let of_team = mixed(team.0.cast_unsigned());
    Some(mixed(word ^ of_team).cast_signed())
}

/// Spreads a number over all of its bits: a bijection, so that no two words of a team become one.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// What a text is found by, as its row has it.
pub(super) struct Indexed {
    /// Its words, each as often as it occurs.
    pub(super) length: i64,
    /// Each word once, as PostgreSQL writes a list.
    pub(super) words: String,
    /// How often each of them occurs, in the same way.
    pub(super) counts: String,
}

/// Counts the words of a text ([`crate::storage::Content::words`]) for a team.
pub(super) fn indexed(team: TeamId, words: &str) -> Indexed {
    let mut counts: BTreeMap<i64, i16> = BTreeMap::new();
    let mut length = 0;
    for word in words.split(' ').filter_map(|word| of_team(team, word)) {
        let count = counts.entry(word).or_default();
        *count = count.saturating_add(1);
        length += 1;
    }
    Indexed { length, words: list(counts.keys()), counts: list(counts.values()) }
}

fn list(numbers: impl Iterator<Item = impl ToString>) -> String {
    format!("{{{}}}", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_and_no_two_teams_share_one() {
        let words = "00000000000000ff 0000000000000001 00000000000000ff";
        let one = indexed(TeamId(1), words);
        assert_eq!(one.length, 3);
        assert_eq!(one.words.split(',').count(), 2);
        let mut counts: Vec<_> = one.counts.trim_matches(['{', '}']).split(',').collect();
        counts.sort_unstable();
        assert_eq!(counts, ["1", "2"]);
        let two = indexed(TeamId(2), words);
        assert!(!one.words.trim_matches(['{', '}']).split(',').any(|word| two.words.contains(word)));
        assert_eq!(indexed(TeamId(1), "").words, "{}");
    }
}
