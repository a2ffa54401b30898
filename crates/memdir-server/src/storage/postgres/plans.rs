//! How PostgreSQL goes about what is asked most, with a hundred thousand memories: by indexes, never through a whole table.

use memdir_testkit::Postgres as Database;

use super::pool::{Value, values};
use super::{Postgres, people, read, search};

/// Two teams, the first with 100,000 memories of twelve words each: one that all have, some that many have, one of its own.
const FILL: &str = "
    INSERT INTO teams (name, kind, made, memories, seq) VALUES ('t', 'team', 0, 100000, 100000), ('u', 'team', 0, 20000, 20000);
    INSERT INTO members (team, name, joined) SELECT id, 'ann', 0 FROM teams;
    INSERT INTO tokens (hash, id, team, member, scope, made)
      SELECT sha256(n::text::bytea), n::text, 1, 'ann', 'read', 0 FROM generate_series(1, 20000) n;
    INSERT INTO memories (team, project, path, seq, hash, size, author, at, deleted, erased)
      SELECT 1 + (n > 100000)::int, 'p' || n % 5, n || '.md', n, sha256('x'), 100, 'ann', n, n % 50 = 0, false
      FROM generate_series(1, 120000) n;
    INSERT INTO versions (memory, seq, hash, size, author, at, ended, deleted)
      SELECT id, seq - 1, hash, size, author, at, at, false FROM memories WHERE id % 3 = 0;
    INSERT INTO texts (memory, seq, text) SELECT id, seq, repeat('text ', 20) FROM memories WHERE NOT deleted;
    INSERT INTO found (memory, team, project, length, words, counts)
      SELECT id, team, project, 12, ARRAY[team, team * 1000 + id % 100, team * 100000 + id % 5000, -id, -id - 1000000, -id - 2000000],
             '{1,1,1,1,1,1}' FROM memories WHERE NOT deleted;
    INSERT INTO audit (team, at, member, action, target, seq) SELECT team, at, 'ann', 'create', path, seq FROM memories;
    ANALYZE";

/// Returns the plan of a statement.
async fn plan(storage: &Postgres, sql: &str, values: &[Value<'_>]) -> String {
    let rows = storage.pool.ask(&format!("EXPLAIN {sql}"), values).await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

/// Wants a plan to use an index, and to go through nothing but the small table of teams.
fn by(index: &str, plan: &str) {
    assert!(plan.contains(index), "{index} is not used:\n{plan}");
    let through: Vec<_> = plan.lines().filter(|line| line.contains("Seq Scan")).collect();
    let is_small = |line: &&str| line.contains("on teams") || line.contains("on members");
    assert!(through.iter().all(is_small), "{plan}");
}

#[test]
fn what_is_asked_most_is_found_by_indexes() {
    let database = Database::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let storage = Postgres::open(&database.address()).await.unwrap();
        database.sql(FILL);
        let of_text = "texts_0_pkey";
        for since in [0_i64, 50_000] {
            let which = values![1_i64, "p1", since, 501_i64, true, 1_000_000_i64];
            let feed = plan(&storage, read::FEED, which).await;
            by("Index Scan using memories_feed", &feed);
            by(of_text, &feed);
            // The index has the order: what is sorted is the page, not the project.
            let page =
                feed.split("CTE page").nth(1).and_then(|rest| rest.split("->  Index Scan").next()).unwrap();
            assert!(!page.contains("Sort"), "{feed}");
        }
        let memory = plan(&storage, read::MEMORY, values![1_i64, "p1", "1.md"]).await;
        by("memories_team_project_path_key", &memory);
        by(of_text, &memory);
        let version = plan(&storage, &read::version_sql(), values![1_i64, "p1", "1.md", 1_i64]).await;
        by("versions_pkey", &version);
        let token = [0_u8; 32];
        by("tokens_pkey", &plan(&storage, &people::bearer_sql(), values![token.as_slice()]).await);
        by("using audit_", &plan(&storage, people::AUDIT, values![1_i64, 50_000_i64, 100_i64]).await);
        let rare = vec![-7_i64, -8, 100_042];
        let found = plan(&storage, &search::by_words_sql(), values![1_i64, rare, None::<&str>, 10_i64]).await;
        by("Bitmap Index Scan on found_0_words_idx", &found);
        by("memories_pkey", &found);
        by(of_text, &found);
    });
}
