//! The suite over a real PostgreSQL, and what only it can show.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memdir_server::storage::{Page, Postgres, Storage, StorageError, WriteError};
use memdir_server::words;
use memdir_testkit::{Postgres as Database, Random};

use crate::suite::memories::join_all;
use crate::suite::{self, Team, block_on, by, day, project, put, storage_suite};

async fn open() -> (Postgres, Database) {
    let database = Database::start();
    if can_mean(&database) {
        database.sql("CREATE EXTENSION vector");
    }
    (connect(&database).await, database)
}

/// Makes an authority, and a key and a certificate of `localhost` that it signed, in a directory that everybody may enter.
fn certificates() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let script = "set -e
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem
        openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key -out request
        printf 'subjectAltName=DNS:localhost' > names
        openssl x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out certificate
        chmod 711 . && chmod 600 key
        [ $(id -u) != 0 ] || chown postgres key";
    let made =
        std::process::Command::new("sh").args(["-c", script]).current_dir(dir.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    dir
}

/// A certificate that nobody vouches for is no database of ours, and a closed way is really closed.
#[test]
fn another_machine_is_asked_over_tls_and_has_to_prove_who_it_is() {
    let certificates = certificates();
    let file = |name: &str| certificates.path().join(name).display().to_string();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = [
        "listen_addresses=localhost".to_owned(),
        format!("port={free}"),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", file("certificate")),
        format!("ssl_key_file={}", file("key")),
    ];
    let database = Database::start_with(&settings.each_ref().map(String::as_str));
    let address = |rest: &str| format!("postgres://memdir@localhost:{free}/memdir?{rest}");
    block_on(async {
        let known = address(&format!("sslmode=require&sslrootcert={}", file("ca.pem").replace('/', "%2F")));
        let storage = Postgres::open(&known).await.unwrap();
        storage.ready().await.unwrap();
        let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'memdir'";
        assert_eq!(database.sql(sql), "t");
        let unknown = Postgres::open(&address("sslmode=require")).await.err().unwrap();
        assert!(
            matches!(&unknown, StorageError::Failed(said) if said.contains("certificate")),
            "{unknown:?}"
        );
        let other_name = known.replace("localhost", "127.0.0.1");
        let other_name = Postgres::open(&other_name).await.err().unwrap();
        assert!(
            matches!(&other_name, StorageError::Failed(said) if said.contains("certificate")),
            "{other_name:?}"
        );
    });
}

/// Says whether this PostgreSQL has pgvector at all. Debian's has not; `tests/server/postgres` brings one that has.
fn can_mean(database: &Database) -> bool {
    database.sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == "1"
}

async fn connect(database: &Database) -> Postgres {
    Postgres::open(&database.address()).await.unwrap()
}

storage_suite!(open);

/// Which files of tables, indexes and what belongs to them hold these bytes, once everything was written out.
fn files_with(database: &Database, bytes: &[u8]) -> Vec<String> {
    database.sql("CHECKPOINT");
    let number = database.sql("SELECT oid FROM pg_database WHERE datname = 'memdir'");
    let folders = [database.data().join("base").join(number), database.data().join("global")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let looked = files.filter(|file| {
        std::fs::read(file.path()).is_ok_and(|content| memchr::memmem::find(&content, bytes).is_some())
    });
    looked.map(|file| file.path().display().to_string()).collect()
}

/// F1.
#[test]
fn an_erasure_leaves_no_byte_in_any_table() {
    block_on(async {
        let (storage, database) = open().await;
        let team = Team::new(&storage, "t").await;
        // What cannot be compressed is kept as it is, in pieces.
        let mut random = Random::new(7);
        let noise: String = (0..2_000).map(|_| format!("{:x}", random.next_u64())).collect();
        let first = team.write(&storage, "a.md", put(suite::NEW, &format!("canaryone {noise} tail"))).await;
        let first = first.unwrap().state.seq;
        for n in 0..40 {
            team.create(&storage, &format!("{n}.md"), &format!("what stays {n}")).await;
        }
        let second = put(suite::at(first), "canarytwo, a shorter text");
        let second = team.write(&storage, "a.md", second).await.unwrap().state.seq;
        database.sql("ANALYZE");
        let newest = database
            .sql("SELECT f.words[1] FROM found f JOIN memories m ON m.id = f.memory WHERE m.path = 'a.md'");
        let word = newest.parse::<i64>().unwrap().to_le_bytes();
        let canaries =
            [b"canaryone".as_slice(), b"canarytwo", b"shorter text", &noise.as_bytes()[..40], &word];
        for canary in canaries {
            assert!(!files_with(&database, canary).is_empty(), "the test can see what is there: {canary:?}");
        }
        team.write(&storage, "a.md", suite::erase(suite::at(second))).await.unwrap();
        for canary in canaries {
            assert_eq!(files_with(&database, canary), [""; 0], "{}", String::from_utf8_lossy(canary));
        }
        assert!(!files_with(&database, b"what stays 39").is_empty());
        assert_eq!(storage.search(team.id, None, &words::of_question("stays"), 100).await.unwrap().len(), 40);
    });
}

/// F1.
#[test]
fn an_erasure_that_somebody_holds_up_is_done_when_it_is_sent_again() {
    block_on(async {
        let (storage, database) = open().await;
        let team = Team::new(&storage, "t").await;
        team.create(&storage, "a.md", "canaryone").await;
        let address = database.address_of("postgres", "memdir");
        let (backup, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        // A backup reads every table for as long as it takes.
        backup.batch_execute("BEGIN; LOCK TABLE texts, found IN ACCESS SHARE MODE").await.unwrap();
        let held_up = team.write(&storage, "a.md", suite::erase(suite::at(1))).await;
        assert!(matches!(held_up, Err(WriteError::Storage(StorageError::Busy(_)))), "{held_up:?}");
        backup.batch_execute("COMMIT").await.unwrap();
        assert_eq!(team.text(&storage, "a.md").await, None);
        team.write(&storage, "a.md", suite::erase(suite::at(1))).await.unwrap();
        assert_eq!(files_with(&database, b"canaryone"), [""; 0]);
    });
}

#[test]
fn what_was_written_is_there_after_a_new_start() {
    block_on(async {
        let (storage, mut database) = open().await;
        let team = Team::new(&storage, "t").await;
        team.create(&storage, "a.md", "kept").await;
        drop(storage);
        database.kill();
        database.resume();
        let storage = connect(&database).await;
        assert_eq!(team.text(&storage, "a.md").await.as_deref(), Some("kept"));
    });
}

/// K1.
#[test]
fn two_servers_over_one_database_behave_as_one() {
    block_on(async {
        let (one, database) = open().await;
        let two = connect(&database).await;
        let team = Team::new(&one, "t").await;
        let mut seq = team.write(&one, "a.md", put(suite::NEW, "0")).await.unwrap().state.seq;
        for n in 1..20 {
            let (here, there) = if n % 2 == 0 { (&one, &two) } else { (&two, &one) };
            let text = n.to_string();
            let (won, lost) = tokio::join!(
                team.write(here, "a.md", put(suite::at(seq), &text)),
                team.write(there, "a.md", put(suite::at(seq), &format!("{text}!"))),
            );
            assert!(won.is_ok() != lost.is_ok(), "{won:?} {lost:?}");
            let after = won.or(lost).unwrap().state.seq;
            assert_eq!(after, seq + 1);
            assert_eq!(here.newest(&[team.id]).await.unwrap(), [after]);
            seq = after;
        }
    });
}

#[test]
fn servers_that_start_at_once_make_the_tables_once() {
    let database = Database::start();
    let start = || {
        let address = database.address();
        std::thread::spawn(move || block_on(async { Postgres::open(&address).await.map(|_| ()) }))
    };
    let started: Vec<_> = (0..6).map(|_| start()).collect();
    for one in started {
        one.join().unwrap().unwrap();
    }
    assert_eq!(database.sql("SELECT steps FROM memdir_schema"), "1");
}

#[test]
fn what_a_newer_version_wrote_and_what_is_not_unicode_is_not_touched() {
    block_on(async {
        let (_, database) = open().await;
        database.sql("UPDATE memdir_schema SET steps = 99");
        let said = Postgres::open(&database.address()).await.err().unwrap().to_string();
        assert!(said.contains("newer version"), "{said}");
        database.sql("CREATE DATABASE old ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 OWNER memdir");
        let said = Postgres::open(&database.address_of("memdir", "old")).await.err().unwrap().to_string();
        assert!(said.contains("LATIN1"), "{said}");
    });
}

#[test]
fn a_database_that_is_gone_is_busy_and_is_found_again() {
    block_on(async {
        let (storage, mut database) = open().await;
        let team = Team::new(&storage, "t").await;
        team.create(&storage, "a.md", "kept").await;
        database.kill();
        let busy = |answer: Result<(), StorageError>| matches!(answer, Err(StorageError::Busy(_)));
        assert!(busy(storage.ready().await));
        let written = team.write(&storage, "b.md", put(suite::NEW, "lost")).await;
        assert!(matches!(written, Err(WriteError::Storage(StorageError::Busy(_)))), "{written:?}");
        database.resume();
        storage.ready().await.unwrap();
        assert_eq!(team.text(&storage, "a.md").await.as_deref(), Some("kept"));
        assert_eq!(team.create(&storage, "b.md", "again").await, 2);
        // Connections that were cut while nobody used them are no trouble at all.
        database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memdir'");
        assert_eq!(team.create(&storage, "c.md", "on it goes").await, 3);
    });
}

/// Connects as another program would, and as one that can be cut off.
async fn somebody_else(database: &Database) -> (tokio_postgres::Client, tokio::task::JoinHandle<()>) {
    let connected = tokio_postgres::connect(&database.address(), tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    (client, tokio::spawn(async { drop(connection.await) }))
}

#[test]
fn who_waits_too_long_for_a_team_is_told_so() {
    block_on(async {
        let (storage, database) = open().await;
        let team = Team::new(&storage, "t").await;
        let (client, connection) = somebody_else(&database).await;
        client.batch_execute("BEGIN; SELECT 1 FROM teams FOR UPDATE").await.unwrap();
        let teams = [team.id];
        let (written, read) =
            tokio::join!(team.write(&storage, "a.md", put(suite::NEW, "x")), storage.newest(&teams));
        assert!(matches!(written, Err(WriteError::Storage(StorageError::Busy(_)))), "{written:?}");
        assert_eq!(read.unwrap(), [0], "who reads waits for nobody");
        connection.abort();
        drop(client);
        team.create(&storage, "a.md", "x").await;
    });
}

/// What waits for a team is written in one transaction; what cannot be written takes nothing of the others with it, and of
/// who went away nothing is written.
#[test]
fn what_waits_for_a_team_is_written_together() {
    block_on(async {
        let (storage, database) = open().await;
        let team = Team::new(&storage, "t").await;
        let (client, _connection) = somebody_else(&database).await;
        let names: Vec<String> = (0..40).map(|n| format!("{n}.md")).collect();

        client.batch_execute("BEGIN; SELECT 1 FROM teams FOR UPDATE").await.unwrap();
        let somebody_waits = async || {
            while database.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0" {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let release = async {
            somebody_waits().await;
            client.batch_execute("COMMIT").await.unwrap();
        };
        let writes = join_all(names.iter().map(|name| team.create(&storage, name, name)));
        tokio::join!(writes, release);
        let n_transactions = database.sql("SELECT count(DISTINCT xmin::text) FROM memories");
        assert!(
            ["1", "2"].contains(&n_transactions.as_str()),
            "at most the first one, and the others: {n_transactions}"
        );

        client.batch_execute("BEGIN; SELECT 1 FROM teams FOR UPDATE").await.unwrap();
        let gone_then_release = async {
            somebody_waits().await;
            let write = team.create(&storage, "gone.md", "gone");
            assert!(tokio::time::timeout(Duration::from_millis(200), write).await.is_err());
            client.batch_execute("COMMIT").await.unwrap();
        };
        // The database has no such character.
        let cannot = team.write(&storage, "cannot.md", put(suite::NEW, "a\0b"));
        let first = team.create(&storage, "first.md", "first");
        let second = team.create(&storage, "second.md", "second");
        let third = team.create(&storage, "third.md", "third");
        let (_, cannot, _, _, ()) = tokio::join!(first, cannot, second, third, gone_then_release);
        assert!(matches!(cannot, Err(WriteError::Storage(StorageError::Failed(_)))), "{cannot:?}");
        for (path, is_there) in [
            ("first.md", true),
            ("second.md", true),
            ("third.md", true),
            ("cannot.md", false),
            ("gone.md", false),
        ] {
            assert_eq!(team.text(&storage, path).await.is_some(), is_there, "{path}");
        }
        let newest = storage.newest(&[team.id]).await.unwrap();
        assert_eq!(newest, [names.len() as u64 + 3], "no version is lost");
    });
}

async fn found(storage: &Postgres, team: &Team, question: &str) -> Vec<String> {
    let words = words::of_question(question);
    let hits = storage.search_text(team.id, None, question, &words, 10).await.unwrap();
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
    hits.iter().map(|hit| hit.path.to_string()).collect()
}

/// With pgvector a text is found that means the same in other words, also one from before the extension came; without it, words
/// find what they find.
#[test]
fn what_means_the_same_is_found_where_the_database_can() {
    block_on(async {
        let database = Database::start();
        let storage = connect(&database).await;
        let team = Team::new(&storage, "t").await;
        let other = Team::new(&storage, "u").await;
        team.create(&storage, "ship.md", "We release the software to production every Tuesday morning.")
            .await;
        team.create(&storage, "tea.md", "The kitchen has green tea and coffee.").await;
        other.create(&storage, "theirs.md", "We release the software to production on Fridays.").await;
        let question = "when is the application deployed";
        let can_mean = can_mean(&database);
        if can_mean {
            database.sql("CREATE EXTENSION vector");
        }
        let storage = connect(&database).await;
        let by_meaning = found(&storage, &team, question).await;
        assert_eq!(by_meaning, if can_mean { vec!["ship.md"] } else { vec![] });
        assert_eq!(found(&storage, &team, "green tea").await.first().map(String::as_str), Some("tea.md"));
        team.create(&storage, "later.md", "Shipping a new version to production happens in the evening.")
            .await;
        assert_eq!(found(&storage, &team, question).await.contains(&"later.md".to_owned()), can_mean);
        team.write(&storage, "ship.md", suite::erase(suite::at(1))).await.unwrap();
        assert!(!found(&storage, &team, question).await.contains(&"ship.md".to_owned()));
    });
}

/// T1, K1: a batch is there or not, whenever the database dies.
#[test]
fn a_database_killed_in_mid_batch_has_all_of_it_or_nothing() {
    block_on(async {
        let (storage, mut database) = open().await;
        let team = Team::new(&storage, "t").await;
        let mut random = Random::new(11);
        for round in 0..6 {
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let writer = scope.spawn(|| block_on(write_batches(&database, &team, round, &is_over)));
                std::thread::sleep(Duration::from_millis(300 + random.next_u64() % 300));
                database
                    .sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memdir'");
                is_over.store(true, Ordering::Relaxed);
                writer.join().unwrap();
            });
            if round % 2 == 0 {
                database.kill();
                database.resume();
            }
            check_whole(&storage, &team).await;
        }
    });
}

/// Writes batches of twenty new memories until it is told to stop; some will not be answered.
async fn write_batches(database: &Database, team: &Team, round: u64, is_over: &AtomicBool) {
    let Ok(storage) = Postgres::open(&database.address()).await else { return };
    let mut n = 0;
    while !is_over.load(Ordering::Relaxed) {
        let key = |of: u64| team.key(&format!("{round}-{n}-{of}.md"));
        let batch: Vec<_> = (0..20).map(|of| (key(of), put(suite::NEW, "a text"))).collect();
        storage.write_all(batch, &by("ann"), &team.quotas, day(1)).await;
        n += 1;
    }
}

/// Checks that no batch is there in part, no version twice, and that the counts are right.
async fn check_whole(storage: &Postgres, team: &Team) {
    let page = Page { since: 0, is_first_walk: true, limit: 1_000_000, with_text: true, max_bytes: 1 << 30 };
    let feed = storage.changes(team.id, &project("p"), &page).await.unwrap();
    let seqs: Vec<u64> = feed.entries.iter().map(|(_, stored)| stored.state.seq).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "in order, none twice");
    assert!(feed.entries.iter().all(|(_, stored)| stored.text.as_deref() == Some("a text")));
    assert_eq!(seqs.len() % 20, 0, "whole batches");
    let now = storage.team(team.id).await.unwrap().unwrap();
    assert_eq!((now.memories, now.bytes), (seqs.len() as u64, 6 * seqs.len() as u64));
    assert_eq!(Some(&now.seq), seqs.last().or(Some(&0)));
}
