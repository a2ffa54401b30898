//! What memories are about, where the database has pgvector: found by meaning beside words.
//!
//! The vector of a text comes from the table in the binary, its first [`PARTS`] components as whole numbers. They are kept in an
//! ordinary column, so whoever has no extension reads and writes the same rows; an index over them is made when a server
//! starts and finds the extension. Then a question is answered twice, by words and by meaning, and the two lists become one
//! by the places things have on them.

use std::collections::HashMap;

use memdir_core::embed;
use memdir_core::team::wire::ProjectName;

use super::migrate;
use super::pool::{Mode, Pool, Transaction, values};
use super::rows::{plain, signed};
use crate::storage::{StorageError, TeamId};

/// How many numbers are kept of a vector: half of them, a coarser vector of its own.
const PARTS: usize = 128;
/// What 1.0 becomes.
const SCALE: f32 = 10_000.0;
/// How alike a question and a text must be, at least. In trials texts that answer a question in other words came to 0.30 to 0.50,
/// texts that do not to 0.25 at most.
const LIKE: f64 = 0.3;
/// How many are taken from each list before they become one.
pub(super) const EACH: usize = 60;
/// By how much the first places of a list are more than the next: the usual number of reciprocal rank fusion.
const EVEN: f64 = 60.0;
/// How many texts are looked at in one transaction when a server starts.
const AT_ONCE: i64 = 500;

/// The nearest of a team or of a project; the index knows their order.
pub(super) const BY_MEANING: &str =
    "SELECT f.memory, (f.meaning::integer[]::vector(128) <=> $1::integer[]::vector(128))::float8 AS far
     FROM found f WHERE f.team = $2 AND ($3 IS NULL OR f.project = $3) AND f.meaning IS NOT NULL
     ORDER BY f.meaning::integer[]::vector(128) <=> $1::integer[]::vector(128) LIMIT $4";

/// Returns what a text is about. One that the table knows nothing of points nowhere, and nothing is near it.
pub(super) fn of_text(text: &str) -> Vec<i16> {
    let Some(vector) = embed::vector(text) else { return vec![0; PARTS] };
    #[expect(clippy::cast_possible_truncation, reason = "a component is at most 1")]
    let whole = |part: &f32| (part * SCALE).round() as i16;
    vector.components()[..PARTS].iter().map(whole).collect()
}

/// Makes the index and fills what is missing, if the database has the extension; says whether it has.
pub(super) async fn prepare(pool: &Pool) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM pg_extension
               WHERE extname = 'vector' AND string_to_array(extversion, '.')::integer[] >= '{0,8}'";
    if pool.ask(sql, &[]).await?.is_empty() {
        return Ok(false);
    }
    let mut after = 0;
    while let Some(last) = fill(pool, after).await? {
        after = last;
    }
    let db = pool.begin(Mode::Rewrite).await?;
    let made = make_index(&db).await;
    db.end(made).await?;
    Ok(true)
}

/// Looks at some texts whose meaning nobody has noted, and returns the last of them.
async fn fill(pool: &Pool, after: i64) -> Result<Option<i64>, StorageError> {
    let db = pool.begin(Mode::Write).await?;
    let done = fill_some(&db, after).await;
    db.end(done).await
}

async fn fill_some(db: &Transaction<'_>, after: i64) -> Result<Option<i64>, StorageError> {
    let sql = "SELECT f.memory, t.text FROM found f
               JOIN memories m ON m.id = f.memory JOIN texts t ON t.memory = m.id AND t.seq = m.seq
               WHERE f.meaning IS NULL AND f.memory > $1 ORDER BY f.memory LIMIT $2 FOR UPDATE OF f";
    let rows = db.rows(sql, values![after, AT_ONCE]).await?;
    let (mut memories, mut meanings) = (Vec::new(), Vec::new());
    for row in &rows {
        memories.push(plain::<i64>(row, "memory")?);
        meanings.push(list(&of_text(&plain::<String>(row, "text")?)));
    }
    let Some(last) = memories.last().copied() else { return Ok(None) };
    let sql = "UPDATE found SET meaning = new.meaning::smallint[]
               FROM unnest($1::bigint[], $2::text[]) AS new (memory, meaning) WHERE found.memory = new.memory";
    db.run(sql, values![memories, meanings]).await?;
    Ok(Some(last))
}

async fn make_index(db: &Transaction<'_>) -> Result<(), StorageError> {
    db.batch("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '10min'").await?;
    migrate::lock(db).await?;
    let sql = "CREATE INDEX IF NOT EXISTS found_meaning ON found
                 USING hnsw ((meaning::integer[]::vector(128)) vector_cosine_ops);
               CREATE INDEX IF NOT EXISTS found_of ON found (team)";
    db.batch(sql).await
}

/// A list as PostgreSQL writes it.
pub(super) fn list(numbers: &[i16]) -> String {
    format!("{{{}}}", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

/// Finds the memories whose meaning is nearest to that of a question, and near enough, nearest first.
pub(super) async fn nearest(
    db: &Transaction<'_>,
    team: TeamId,
    project: Option<&ProjectName>,
    question: &str,
) -> Result<Vec<i64>, StorageError> {
    let Some(_) = embed::vector(question) else { return Ok(Vec::new()) };
    // Neighbours of other teams are passed over until there are enough.
    db.batch("SET LOCAL hnsw.iterative_scan = relaxed_order").await?;
    let values = values![of_text(question), team.0, project.map(ProjectName::as_str), signed(EACH as u64)];
    let rows = db.rows(BY_MEANING, values).await?;
    let mut near = Vec::new();
    for row in &rows {
        if plain::<f64>(row, "far")? <= 1.0 - LIKE {
            near.push(plain(row, "memory")?);
        }
    }
    Ok(near)
}

/// Makes one list out of two by the places that things have on them, best first with what they weigh.
pub(super) fn together(by_words: &[i64], by_meaning: &[i64], limit: usize) -> Vec<(i64, f64)> {
    let mut weights: HashMap<i64, f64> = HashMap::new();
    for list in [by_words, by_meaning] {
        for (place, memory) in list.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a place is small")]
            let weight = 1.0 / (EVEN + 1.0 + place as f64);
            *weights.entry(*memory).or_default() += weight;
        }
    }
    let mut best: Vec<_> = weights.into_iter().collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    best.truncate(limit);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_lists_know_is_best() {
        let best = together(&[1, 2, 3], &[4, 2], 3);
        assert_eq!(best.iter().map(|(memory, _)| *memory).collect::<Vec<_>>(), [2, 1, 4]);
        assert!(best.windows(2).all(|pair| pair[0].1 >= pair[1].1));
        assert_eq!(together(&[], &[], 3), []);
    }

    #[test]
    fn a_text_without_a_known_word_points_nowhere() {
        assert_eq!(of_text(""), vec![0; PARTS]);
        assert!(of_text("deployments happen on tuesdays").iter().any(|part| *part != 0));
    }
}
