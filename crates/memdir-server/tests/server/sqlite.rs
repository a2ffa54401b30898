//! The suite over SQLite, and what only a file can show.

use memdir_server::storage::{Sqlite, Storage};
use tempfile::TempDir;

use crate::suite::{self, Team, block_on, put, storage_suite};

async fn open() -> (Sqlite, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Sqlite::open(&dir.path().join("team.db")).unwrap(), dir)
}

storage_suite!(open);

/// Every file below a directory, joined.
fn all_bytes(dir: &std::path::Path) -> Vec<u8> {
    let files = std::fs::read_dir(dir).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.collect::<Vec<_>>().concat()
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// F1.
#[test]
fn an_erasure_leaves_no_byte_in_any_file() {
    block_on(async {
        let (storage, dir) = open().await;
        let team = Team::new(&storage, "t").await;
        let long = format!("canaryone {}", "filler words of a long text ".repeat(2_000));
        let first = team.write(&storage, "a.md", put(suite::NEW, &long)).await.unwrap();
        let second = put(suite::at(first.state.seq), "canarytwo, a shorter text");
        let second = team.write(&storage, "a.md", second).await.unwrap();
        team.write(&storage, "b.md", put(suite::NEW, "what stays")).await.unwrap();
        assert!(holds(&all_bytes(dir.path()), "canarytwo"), "the test can see what is there");
        let word = memdir_server::words::of_question("canarytwo").remove(0);
        assert!(holds(&all_bytes(dir.path()), &word));
        team.write(&storage, "a.md", suite::erase(suite::at(second.state.seq))).await.unwrap();
        let left = all_bytes(dir.path());
        for gone in ["canaryone", "canarytwo", "shorter text", "filler words", &word] {
            assert!(!holds(&left, gone), "{gone} is still there");
        }
        assert!(holds(&left, "what stays"));
    });
}

/// F6.
#[test]
fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    block_on(async {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("server/team.db");
        let storage = Sqlite::open(&path).unwrap();
        Team::new(&storage, "t").await;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let file = file.unwrap().path();
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    });
}

#[test]
fn what_was_written_is_there_after_a_new_start() {
    block_on(async {
        let (storage, dir) = open().await;
        let team = Team::new(&storage, "t").await;
        team.write(&storage, "a.md", put(suite::NEW, "kept")).await.unwrap();
        drop(storage);
        let storage = Sqlite::open(&dir.path().join("team.db")).unwrap();
        assert_eq!(team.text(&storage, "a.md").await.as_deref(), Some("kept"));
    });
}

#[test]
fn two_connections_to_one_file_behave_as_one() {
    block_on(async {
        let (one, dir) = open().await;
        let two = Sqlite::open(&dir.path().join("team.db")).unwrap();
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
fn a_backup_is_a_whole_database() {
    block_on(async {
        let (storage, dir) = open().await;
        let team = Team::new(&storage, "t").await;
        team.write(&storage, "a.md", put(suite::NEW, "kept")).await.unwrap();
        let to = dir.path().join("copy/team.db");
        assert!(storage.backup(&to).await.unwrap() > 0);
        assert!(storage.backup(&to).await.is_err(), "nothing is overwritten");
        team.write(&storage, "b.md", put(suite::NEW, "later")).await.unwrap();
        let files: Vec<_> = std::fs::read_dir(to.parent().unwrap()).unwrap().collect();
        assert_eq!(files.len(), 1, "one file is all of it");
        let copy = Sqlite::open(&to).unwrap();
        assert_eq!(team.text(&copy, "a.md").await.as_deref(), Some("kept"));
        assert_eq!(team.text(&copy, "b.md").await, None);
    });
}

#[test]
fn what_a_newer_version_wrote_and_what_is_no_database_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("team.db");
    drop(Sqlite::open(&path).unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let said = Sqlite::open(&path).err().unwrap().to_string();
    assert!(said.contains("newer version"), "{said}");
    std::fs::write(&path, "not a database, but long enough to look like one ".repeat(100)).unwrap();
    assert!(Sqlite::open(&path).is_err());
}
