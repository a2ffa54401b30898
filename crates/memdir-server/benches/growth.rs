//! How PostgreSQL bears growth: fills a database of its own with memories, and says at each size how long what people wait for
//! takes, how much room it needs, and how PostgreSQL went about the search and the feed (`auto_explain`).
//!
//! `tests/server/growth [SIZE…]` runs it; sizes are 1,000, 10,000, 100,000 and 1,000,000 memories if none is named. The words of a
//! text are drawn as words are in prose: few are everywhere, most are rare.
#![expect(clippy::unwrap_used, reason = "a bench reports by panicking")]
#![expect(clippy::print_stdout, reason = "figures are what it is for")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use memdir_core::hash::ContentHash;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::{MemberName, ProjectName, Scope, TeamKind, TeamName};
use memdir_server::rules::{Expect, Quotas};
use memdir_server::storage::{
    Actor, Content, Joining, Key, NewInvite, NewToken, Page, Postgres, Storage, TeamId, Write, WriteChange,
};
use memdir_server::words;
use memdir_testkit::{Postgres as Database, Random};

const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// How many different words there are.
const VOCABULARY: f64 = 30_000.0;
/// How many words a text and a question have.
const LONG: u64 = 90;
const SHORT: u64 = 4;
/// How often each thing is measured.
const TIMES: u64 = 200;
const QUOTAS: Quotas = Quotas { memories: u64::MAX >> 1, bytes: u64::MAX >> 1, of_author: u64::MAX >> 1 };

/// So many more are filled in without the index of their words, which is made afterwards: a million by the hundred take hours.
const MANY: u64 = 200_000;

/// The index of words, while it is not there.
struct Index(String);

impl Index {
    fn drop(database: &Database) -> Self {
        let sql =
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                   WHERE indrelid = 'found'::regclass AND relname LIKE '%words%'";
        let made_by = database.sql(sql).replace(" ON ONLY ", " ON ");
        let name = made_by.split(' ').nth(2).unwrap().to_owned();
        database.sql(&format!("DROP INDEX {name}"));
        Self(made_by)
    }

    fn make(&self, database: &Database) {
        database.sql(&format!("SET maintenance_work_mem = '1GB'; {}", self.0));
    }
}

/// A team that grows.
struct Grown {
    storage: Postgres,
    random: Random,
    team: TeamId,
    by: Actor,
    n_memories: u64,
}

fn main() {
    let named: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let sizes = if named.is_empty() { SIZES.to_vec() } else { named };
    let settings =
        ["shared_buffers=512MB", "fsync=on", "max_wal_size=8GB", "session_preload_libraries=auto_explain"];
    let database = Database::start_with(&settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut grown = Grown::new(&database).await;
        for size in sizes {
            let since = Instant::now();
            let before = grown.n_memories;
            let index = (size > before + MANY).then(|| Index::drop(&database));
            grown.fill(size).await;
            index.inspect(|index| index.make(&database));
            let rate = (grown.n_memories - before) as f64 / since.elapsed().as_secs_f64();
            database.sql("ANALYZE");
            println!("{size} memories ({rate:.0} a second)");
            grown.measure().await;
            grown.show_plans(&database).await;
            println!("  on disk {}", database.sql("SELECT pg_size_pretty(pg_database_size('memdir'))"));
        }
    });
}

impl Grown {
    async fn new(database: &Database) -> Self {
        let storage = Postgres::open(&database.address()).await.unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let team =
            storage.add_team(&TeamName::new("t").unwrap(), TeamKind::Team, now).await.unwrap().unwrap().id;
        let by = Actor { member: Some(MemberName::new("ann").unwrap()), token: None };
        let hash = ContentHash::of(b"ann");
        let expires = Timestamp::from_second(1).unwrap();
        let invite = NewInvite { id: "i".to_owned(), hash, scope: Scope::Write, member: None, expires };
        storage.add_invite(team, &invite, &by, now).await.unwrap();
        let token = NewToken { id: "t".to_owned(), hash, scope: Scope::Write, label: None, expires: None };
        storage.join(&Joining { invite: hash, member: by.member.clone(), token }, now).await.unwrap();
        Self { storage, random: Random::new(1), team, by, n_memories: 0 }
    }

    /// Draws words: the n-th most frequent one as often as prose has it.
    fn words(&mut self, n_words: u64) -> String {
        let draw = |random: &mut Random| {
            let chance = random.next_u64() as f64 / u64::MAX as f64;
            format!("word{} ", VOCABULARY.powf(chance) as u64)
        };
        (0..n_words).map(|_| draw(&mut self.random)).collect()
    }

    fn put(&mut self, n: u64, expect: Expect) -> (Key, Write) {
        let project = ProjectName::new(&format!("p{}", n % 10)).unwrap();
        let path = MemoryPath::new(&format!("{n}.md")).unwrap();
        let text = self.words(LONG);
        let content = Content { hash: ContentHash::of(text.as_bytes()), words: words::of_text(&text), text };
        (Key { team: self.team, project, path }, Write { expect, change: WriteChange::Put(content) })
    }

    async fn fill(&mut self, size: u64) {
        while self.n_memories < size {
            let end = size.min(self.n_memories + 500);
            let batch: Vec<_> = (self.n_memories..end).map(|n| self.put(n, Expect::Nothing)).collect();
            let answers = self.storage.write_all(batch, &self.by, &QUOTAS, Timestamp::UNIX_EPOCH).await;
            assert!(answers.iter().all(Result::is_ok), "{:?}", answers.iter().find(|answer| answer.is_err()));
            self.n_memories = end;
        }
    }

    /// Prints which indexes a search and a page of the feed go by.
    async fn show_plans(&mut self, database: &Database) {
        let set = |value: &str| {
            database.sql(&format!("ALTER SYSTEM SET auto_explain.log_min_duration = {value}"));
            database.sql("SELECT pg_reload_conf()");
            std::thread::sleep(Duration::from_millis(300));
        };
        set("0");
        let n_before = database.log().len();
        let asked = words::of_question(&self.words(SHORT));
        self.storage.search(self.team, None, &asked, 10).await.unwrap();
        let page = Page { since: 1, is_first_walk: true, limit: 100, with_text: true, max_bytes: 4 << 20 };
        self.storage.changes(self.team, &ProjectName::new("p1").unwrap(), &page).await.unwrap();
        set("-1");
        let log = database.log();
        let ways: BTreeSet<String> = log[n_before..].lines().filter_map(way).collect();
        println!("  by {}", ways.into_iter().collect::<Vec<_>>().join(", "));
    }

    async fn measure(&mut self) {
        let mut took = Vec::new();
        for _ in 0..TIMES {
            let question = self.words(SHORT);
            let asked = words::of_question(&question);
            let since = Instant::now();
            self.storage.search(self.team, None, &asked, 10).await.unwrap();
            took.push(since.elapsed());
        }
        tell("search", took);
        let newest = self.storage.newest(&[self.team]).await.unwrap()[0];
        let mut took = Vec::new();
        for _ in 0..TIMES {
            let since = 1 + self.random.next_u64() % newest;
            let page = Page { since, is_first_walk: true, limit: 100, with_text: true, max_bytes: 4 << 20 };
            let begun = Instant::now();
            self.storage.changes(self.team, &ProjectName::new("p1").unwrap(), &page).await.unwrap();
            took.push(begun.elapsed());
        }
        tell("feed, a page of 100 with texts", took);
        let mut took = Vec::new();
        for _ in 0..TIMES {
            let n = self.random.next_u64() % self.n_memories;
            let (key, _) = self.put(n, Expect::Nothing);
            let seq = self.storage.memory(&key).await.unwrap().unwrap().state.seq;
            let (key, write) = self.put(n, Expect::Version(seq));
            let since = Instant::now();
            self.storage.write(&key, &write, &self.by, &QUOTAS, Timestamp::UNIX_EPOCH).await.unwrap();
            took.push(since.elapsed());
        }
        tell("one write", took);
        let mut took = Vec::new();
        for _ in 0..TIMES {
            let since = Instant::now();
            self.storage.newest(&[self.team]).await.unwrap();
            took.push(since.elapsed());
        }
        tell("newest version", took);
        let (key, _) = self.put(self.n_memories - 1, Expect::Nothing);
        let seq = self.storage.memory(&key).await.unwrap().unwrap().state.seq;
        let erase = Write { expect: Expect::Version(seq), change: WriteChange::Erase };
        let since = Instant::now();
        self.storage.write(&key, &erase, &self.by, &QUOTAS, Timestamp::UNIX_EPOCH).await.unwrap();
        tell("one erasure", vec![since.elapsed()]);
    }
}

/// Names the index, or the table without one, that a line of a plan goes by; parts of a table are one.
fn way(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("-> ").trim_start();
    let name =
        |rest: &str| rest.split(' ').next().unwrap_or_default().replace(|c: char| c.is_ascii_digit(), "*");
    let by_index = ["Index Scan using ", "Index Only Scan using ", "Bitmap Index Scan on "];
    let index = by_index.iter().find_map(|words| line.strip_prefix(words));
    index.map(name).or_else(|| Some(format!("all of {}", name(line.strip_prefix("Seq Scan on ")?))))
}

/// Prints the median and what all but one of a hundred stay below.
fn tell(what: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |part: usize| took[(took.len() * part / 100).min(took.len() - 1)].as_secs_f64() * 1e3;
    println!("  {what}: p50 {:.1} ms, p99 {:.1} ms", at(50), at(99));
}
