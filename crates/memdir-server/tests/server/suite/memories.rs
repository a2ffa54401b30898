//! Memories: versions, history, the feed, search, quotas, isolation.

use memdir_core::hash::ContentHash;
use memdir_core::team::wire::{ETag, LedgerName, TeamKind, TeamName};
use memdir_server::rules::{Expect, Kind, Quotas, Refused};
use memdir_server::storage::{AppendError, Feed, FeedError, Page, Storage, WriteError};
use memdir_server::words;

use super::{NEW, Team, at, by, day, delete, erase, member, project, put};

fn page(since: u64) -> Page {
    Page { since, is_first_walk: since == 0, limit: 1_000, with_text: true, max_bytes: 4 << 20 }
}

async fn feed(storage: &impl Storage, team: &Team, since: u64) -> Feed {
    storage.changes(team.id, &project("p"), &page(since)).await.unwrap()
}

/// What of the feed matters, a line an entry.
fn shown(feed: &Feed) -> Vec<String> {
    let line = |(path, stored): &(_, memdir_server::storage::Stored)| {
        let mark = match (stored.state.deleted, stored.state.erased) {
            (false, _) => "",
            (true, false) => " deleted",
            (true, true) => " erased",
        };
        format!("{} {path} {}{mark}", stored.state.seq, stored.text.as_deref().unwrap_or("-"))
    };
    feed.entries.iter().map(line).collect()
}

fn stale_seq(refused: Result<impl std::fmt::Debug, WriteError>) -> Option<u64> {
    match refused {
        Err(WriteError::Refused(Refused::Stale(current))) => current.map(|state| state.seq),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_team_is_made_once(storage: &impl Storage) {
    let name = TeamName::new("t").unwrap();
    let team = storage.add_team(&name, TeamKind::Own, day(0)).await.unwrap().unwrap();
    assert_eq!((team.name.as_str(), team.kind, team.seq, team.purged), ("t", TeamKind::Own, 0, 0));
    assert_eq!(storage.add_team(&name, TeamKind::Team, day(0)).await.unwrap(), None);
    assert_eq!(storage.teams().await.unwrap(), std::slice::from_ref(&team));
    assert_eq!(storage.team(team.id).await.unwrap(), Some(team));
    storage.ready().await.unwrap();
}

pub(crate) async fn versions_grow_by_one_and_none_is_used_twice(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    assert_eq!(team.create(storage, "a.md", "one").await, 1);
    assert_eq!(team.create(storage, "b.md", "two").await, 2);
    let gone = team.write(storage, "b.md", delete(at(2))).await.unwrap();
    assert_eq!((gone.kind, gone.state.seq, gone.state.deleted), (Some(Kind::Delete), 3, true));
    stale_seq(team.write(storage, "a.md", put(at(9), "x")).await);
    assert_eq!(storage.newest(&[team.id]).await.unwrap(), [3], "what is refused takes no version");
    storage.purge(day(2)).await.unwrap();
    assert_eq!(storage.memory(&team.key("b.md")).await.unwrap(), None);
    assert_eq!(team.create(storage, "b.md", "again").await, 4, "not even after a purge");
}

/// T1.
pub(crate) async fn a_write_says_what_it_replaces(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let first = team.write(storage, "a.md", put(NEW, "one")).await.unwrap();
    assert_eq!(first.kind, Some(Kind::Create));
    assert_eq!(first.state.hash, ContentHash::of(b"one"));
    assert_eq!((first.state.size, first.state.author.as_str(), first.state.at), (3, "ann", day(1)));
    let second = team.write_as(storage, "bob", "a.md", put(at(1), "two")).await.unwrap();
    assert_eq!((second.kind, second.state.seq), (Some(Kind::Replace), 2));
    for wrong in [NEW, at(1), at(3), Expect::Tag(ETag::new(2, &ContentHash::of(b"one")))] {
        assert_eq!(stale_seq(team.write(storage, "a.md", put(wrong, "three")).await), Some(2), "{wrong:?}");
        assert_eq!(stale_seq(team.write(storage, "a.md", delete(wrong)).await), Some(2), "{wrong:?}");
    }
    assert_eq!(stale_seq(team.write(storage, "none.md", put(at(1), "x")).await), None);
    let missing = team.write(storage, "none.md", delete(at(1))).await;
    assert!(matches!(missing, Err(WriteError::Refused(Refused::NotFound))), "{missing:?}");
    let stored = storage.memory(&team.key("a.md")).await.unwrap().unwrap();
    assert_eq!((stored.text.as_deref(), stored.state), (Some("two"), second.state.clone()));
    let tag = Expect::Tag(ETag::new(2, &second.state.hash));
    assert_eq!(team.write(storage, "a.md", put(tag, "three")).await.unwrap().state.seq, 3);
}

/// T8.
pub(crate) async fn a_creation_sent_again_is_refused(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    team.create(storage, "a.md", "one").await;
    team.write(storage, "a.md", delete(at(1))).await.unwrap();
    assert_eq!(stale_seq(team.write(storage, "a.md", put(NEW, "one")).await), Some(2));
    assert_eq!(team.text(storage, "a.md").await, None);
    let tombstone = storage.memory(&team.key("a.md")).await.unwrap().unwrap().state;
    assert_eq!((tombstone.deleted, tombstone.hash), (true, ContentHash::of(b"one")));
    let again = team.write(storage, "a.md", delete(at(2))).await;
    assert!(matches!(again, Err(WriteError::Refused(Refused::NotFound))), "{again:?}");
    let back = team.write(storage, "a.md", put(at(2), "one")).await.unwrap();
    assert_eq!((back.kind, back.state.seq, back.state.deleted), (Some(Kind::Create), 3, false));
}

pub(crate) async fn the_same_text_is_no_new_version(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    team.create(storage, "a.md", "one").await;
    let same = team.write_as(storage, "bob", "a.md", put(at(1), "one")).await.unwrap();
    assert_eq!((same.kind, same.state.seq, same.state.author.as_str()), (None, 1, "ann"));
    assert_eq!(storage.versions(&team.key("a.md")).await.unwrap().len(), 1);
}

/// F1.
pub(crate) async fn every_version_can_be_read_until_it_is_erased(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let key = team.key("a.md");
    team.create(storage, "a.md", "one").await;
    team.write(storage, "a.md", put(at(1), "two!")).await.unwrap();
    team.write_as(storage, "bob", "a.md", delete(at(2))).await.unwrap();
    team.write(storage, "a.md", put(at(3), "four")).await.unwrap();
    let versions = storage.versions(&key).await.unwrap();
    let lines: Vec<_> = versions.iter().map(|v| (v.seq, v.size, v.author.as_str(), v.deleted)).collect();
    assert_eq!(
        lines,
        [(4, 4, "ann", false), (3, 4, "bob", true), (2, 4, "ann", false), (1, 3, "ann", false)]
    );
    for (seq, text) in [(1, Some("one")), (2, Some("two!")), (3, None), (4, Some("four"))] {
        let version = storage.version(&key, seq).await.unwrap().unwrap();
        assert_eq!((version.text.as_deref(), version.state.seq), (text, seq));
    }
    assert_eq!(storage.version(&key, 5).await.unwrap(), None);
    assert_eq!(storage.team(team.id).await.unwrap().unwrap().bytes, 11);
    let erased = team.write(storage, "a.md", erase(at(4))).await.unwrap();
    assert_eq!((erased.kind, erased.state.seq, erased.state.erased), (Some(Kind::Erase), 5, true));
    for seq in 1..=5 {
        assert_eq!(storage.version(&key, seq).await.unwrap().unwrap().text, None, "{seq}");
    }
    assert_eq!(storage.team(team.id).await.unwrap().unwrap().bytes, 0);
    let again = team.write(storage, "a.md", erase(at(4))).await.unwrap();
    assert_eq!((again.kind, again.state.seq), (None, 5));
    assert_eq!(shown(&feed(storage, &team, 4).await), ["5 a.md - erased"]);
}

pub(crate) async fn counts_follow_the_newest_version(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let counts = async || {
        let now = storage.team(team.id).await.unwrap().unwrap();
        let members = storage.members(team.id, day(1)).await.unwrap();
        let of = |name: &str| members.iter().find(|m| m.member == member(name)).unwrap().memories;
        (now.memories, now.bytes, of("ann"), of("bob"))
    };
    team.create(storage, "a.md", "1234").await;
    team.create(storage, "b.md", "12").await;
    assert_eq!(counts().await, (2, 6, 2, 0));
    team.write_as(storage, "bob", "a.md", put(at(1), "123")).await.unwrap();
    assert_eq!(counts().await, (2, 9, 1, 1), "older versions count as bytes");
    team.write(storage, "a.md", delete(at(3))).await.unwrap();
    assert_eq!(counts().await, (1, 9, 1, 0));
    team.write_as(storage, "bob", "a.md", put(at(4), "1")).await.unwrap();
    assert_eq!(counts().await, (2, 10, 1, 1));
    team.write(storage, "a.md", erase(at(5))).await.unwrap();
    assert_eq!(counts().await, (1, 2, 1, 0));
    let projects = storage.projects(team.id).await.unwrap();
    let lines: Vec<_> = projects.iter().map(|p| (p.project.as_str(), p.memories, p.bytes)).collect();
    assert_eq!(lines, [("p", 1, 2)]);
}

/// T9.
pub(crate) async fn quotas_are_kept(storage: &impl Storage) {
    let mut team = Team::new(storage, "t").await;
    team.quotas = Quotas { memories: 3, bytes: 10, of_author: 2 };
    team.create(storage, "a.md", "12").await;
    team.create(storage, "b.md", "12").await;
    let refused = team.write(storage, "c.md", put(NEW, "1")).await;
    assert!(matches!(refused, Err(WriteError::Refused(Refused::AuthorMemories(2)))), "{refused:?}");
    team.write_as(storage, "bob", "c.md", put(NEW, "1")).await.unwrap();
    let refused = team.write_as(storage, "bob", "d.md", put(NEW, "1")).await;
    assert!(matches!(refused, Err(WriteError::Refused(Refused::TeamMemories(3)))), "{refused:?}");
    let refused = team.write(storage, "a.md", put(at(1), "123456")).await;
    assert!(matches!(refused, Err(WriteError::Refused(Refused::TeamBytes(10)))), "{refused:?}");
    team.write(storage, "a.md", put(at(1), "12345")).await.unwrap();
    team.write(storage, "a.md", delete(at(4))).await.unwrap();
    assert_eq!(storage.newest(&[team.id]).await.unwrap(), [5], "what was refused left nothing");
}

pub(crate) async fn the_feed_has_one_entry_a_memory_in_order(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    team.create(storage, "a.md", "one").await;
    team.create(storage, "b.md", "two").await;
    team.write(storage, "a.md", put(at(1), "three")).await.unwrap();
    team.write(storage, "b.md", delete(at(2))).await.unwrap();
    team.create(storage, "sub/c.md", "five").await;
    let mut elsewhere = team.key("x.md");
    elsewhere.project = project("q");
    let write = put(NEW, "other project");
    storage.write(&elsewhere, &write, &by("ann"), &team.quotas, day(1)).await.unwrap();
    let all = feed(storage, &team, 0).await;
    assert_eq!(shown(&all), ["3 a.md three", "5 sub/c.md five"], "no tombstones from the beginning");
    assert_eq!((all.cursor, all.more), (6, false), "the cursor is the team's");
    assert_eq!(
        shown(&feed(storage, &team, 2).await),
        ["3 a.md three", "4 b.md - deleted", "5 sub/c.md five"]
    );
    assert_eq!(shown(&feed(storage, &team, 6).await), [""; 0]);
    let bare = Page { with_text: false, ..page(4) };
    let bare = storage.changes(team.id, &project("p"), &bare).await.unwrap();
    assert_eq!(shown(&bare), ["5 sub/c.md -"]);
    assert_eq!(bare.entries[0].1.state.size, 4);
    let nowhere = storage.changes(team.id, &project("none"), &page(0)).await.unwrap();
    assert_eq!((nowhere.entries.len(), nowhere.cursor), (0, 6));
}

pub(crate) async fn the_feed_comes_in_pages(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    for n in 0..10 {
        team.create(storage, &format!("{n}.md"), &"x".repeat(10)).await;
    }
    let by_count = Page { limit: 4, ..page(0) };
    let by_bytes = Page { max_bytes: 35, ..page(0) };
    for (first, sizes) in [(by_count, vec![4, 4, 2]), (by_bytes, vec![3, 3, 3, 1])] {
        let (mut since, mut seen, mut got) = (0, Vec::new(), Vec::new());
        loop {
            let page = Page { since, ..first.clone() };
            let feed = storage.changes(team.id, &project("p"), &page).await.unwrap();
            got.push(feed.entries.len());
            seen.extend(feed.entries.iter().map(|(_, stored)| stored.state.seq));
            since = feed.cursor;
            if !feed.more {
                break;
            }
        }
        assert_eq!((got, since), (sizes, 10));
        assert_eq!(seen, (1..=10).collect::<Vec<_>>());
    }
    let tiny = Page { max_bytes: 1, ..page(0) };
    let tiny = storage.changes(team.id, &project("p"), &tiny).await.unwrap();
    assert_eq!((tiny.entries.len(), tiny.more), (1, true), "one entry is always in");
}

/// T5.
pub(crate) async fn a_cursor_that_would_miss_a_removal_is_refused(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    team.create(storage, "a.md", "one").await;
    team.create(storage, "b.md", "two").await;
    team.write(storage, "a.md", delete(at(1))).await.unwrap();
    team.create(storage, "c.md", "four").await;
    assert_eq!(shown(&feed(storage, &team, 1).await).len(), 3);
    storage.purge(day(2)).await.unwrap();
    for since in [1, 2, 5, 900] {
        let answer = storage.changes(team.id, &project("p"), &page(since)).await;
        assert!(matches!(answer, Err(FeedError::Gone)), "{since}: {answer:?}");
    }
    assert_eq!(shown(&feed(storage, &team, 3).await), ["4 c.md four"]);
    assert_eq!(shown(&feed(storage, &team, 0).await), ["2 b.md two", "4 c.md four"]);
    let walking = Page { is_first_walk: true, ..page(2) };
    let walking = storage.changes(team.id, &project("p"), &walking).await.unwrap();
    assert_eq!(shown(&walking), ["4 c.md four"], "who began at 0 goes on");
}

async fn found(storage: &impl Storage, team: &Team, within: Option<&str>, question: &str) -> Vec<String> {
    let within = within.map(project);
    let hits = storage.search(team.id, within.as_ref(), &words::of_question(question), 10).await.unwrap();
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
    hits.iter().map(|hit| format!("{}/{}", hit.project, hit.path)).collect()
}

pub(crate) async fn search_finds_what_exists_in_its_team(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let other = Team::new(storage, "u").await;
    team.create(storage, "db.md", "integration tests use a real database, never mocks").await;
    team.create(storage, "deploy.md", "deployments happen on tuesdays; the database is migrated first").await;
    team.create(storage, "한국어.md", "배포는 화요일에 한다").await;
    let mut elsewhere = team.key("x.md");
    elsewhere.project = project("q");
    let write = put(NEW, "the database of another project");
    storage.write(&elsewhere, &write, &by("ann"), &team.quotas, day(1)).await.unwrap();
    other.create(storage, "secret.md", "the database of another team").await;
    assert_eq!(found(storage, &team, Some("p"), "tests mocks").await, ["p/db.md"]);
    let mut all = found(storage, &team, None, "which databases").await;
    all.sort();
    assert_eq!(all, ["p/db.md", "p/deploy.md", "q/x.md"]);
    assert_eq!(found(storage, &team, Some("q"), "database").await, ["q/x.md"]);
    let mut tuesday = found(storage, &team, None, "화요일").await;
    tuesday.sort();
    assert_eq!(tuesday, ["p/deploy.md", "p/한국어.md"], "in both languages");
    assert_eq!(found(storage, &other, None, "database").await, ["p/secret.md"]);
    assert_eq!(found(storage, &team, None, "kubernetes").await, [""; 0]);
    assert_eq!(found(storage, &team, None, "").await, [""; 0]);
    let hits = storage.search(team.id, None, &words::of_question("tests mocks"), 10).await.unwrap();
    assert!(hits[0].text.starts_with("integration"));
    assert_eq!(hits[0].state.author, member("ann"));
    let limited = storage.search(team.id, None, &words::of_question("database"), 2).await.unwrap();
    assert_eq!(limited.len(), 2);
}

pub(crate) async fn what_is_replaced_or_removed_is_found_no_more(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    team.create(storage, "a.md", "we deploy with kubernetes").await;
    team.create(storage, "b.md", "kubernetes again").await;
    team.write(storage, "a.md", put(at(1), "we deploy with nomad")).await.unwrap();
    assert_eq!(found(storage, &team, None, "kubernetes").await, ["p/b.md"]);
    assert_eq!(found(storage, &team, None, "nomad").await, ["p/a.md"]);
    team.write(storage, "b.md", delete(at(2))).await.unwrap();
    assert_eq!(found(storage, &team, None, "kubernetes").await, [""; 0]);
    team.write(storage, "b.md", put(at(4), "kubernetes is back")).await.unwrap();
    assert_eq!(found(storage, &team, None, "kubernetes").await, ["p/b.md"]);
    team.write(storage, "b.md", erase(at(5))).await.unwrap();
    assert_eq!(found(storage, &team, None, "kubernetes").await, [""; 0]);
}

pub(crate) async fn each_write_of_many_stands_alone(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let writes = [
        (team.key("a.md"), put(NEW, "one")),
        (team.key("a.md"), put(NEW, "refused")),
        (team.key("b.md"), put(NEW, "two")),
        (team.key("none.md"), delete(at(1))),
        (team.key("a.md"), put(at(1), "three")),
        (team.key("b.md"), erase(at(2))),
    ];
    let answers = storage.write_all(writes.to_vec(), &by("ann"), &team.quotas, day(1)).await;
    let seqs: Vec<_> = answers.iter().map(|a| a.as_ref().ok().map(|written| written.state.seq)).collect();
    assert_eq!(seqs, [Some(1), None, Some(2), None, Some(3), Some(4)]);
    assert_eq!(stale_seq(answers.into_iter().nth(1).unwrap()), Some(1));
    assert_eq!(team.text(storage, "a.md").await.as_deref(), Some("three"));
    assert_eq!(shown(&feed(storage, &team, 0).await), ["3 a.md three"]);
}

/// T1, K1.
pub(crate) async fn of_writers_at_once_one_wins_each_version(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let mut seq = team.create(storage, "a.md", "start").await;
    for round in 0..5 {
        let texts: Vec<_> = (0..8).map(|n| format!("round {round} writer {n}")).collect();
        let writes = texts.iter().map(|text| team.write(storage, "a.md", put(at(seq), text)));
        let mut won = Vec::new();
        for (written, text) in join_all(writes).await.into_iter().zip(&texts) {
            match written {
                Ok(written) => won.push((written.state.seq, text)),
                refused => {
                    stale_seq(refused);
                }
            }
        }
        assert_eq!(won.len(), 1, "one wins");
        assert_eq!(won[0].0, seq + 1);
        assert_eq!(team.text(storage, "a.md").await.as_ref(), Some(won[0].1));
        seq = won[0].0;
    }
    let paths: Vec<_> = (0..20).map(|n| format!("{n}.md")).collect();
    let mut seqs = join_all(paths.iter().map(|path| team.create(storage, path, path))).await;
    seqs.sort_unstable();
    assert_eq!(seqs, (seq + 1..=seq + 20).collect::<Vec<_>>(), "no version is left out or used twice");
}

pub(crate) async fn what_writers_at_once_write_counts_for_each_of_them(storage: &impl Storage) {
    let mut team = Team::new(storage, "t").await;
    team.quotas.of_author = 12;
    let names = ["ann", "bob"];
    let paths: Vec<_> = (0..40).map(|n| (names[n % 2], format!("{n}.md"))).collect();
    let writes = paths.iter().map(|(name, path)| team.write_as(storage, name, path, put(NEW, path)));
    let written = join_all(writes).await;
    for name in names {
        let theirs = paths.iter().zip(&written).filter(|((author, _), _)| *author == name);
        let (kept, refused): (Vec<_>, Vec<_>) =
            theirs.map(|(_, answer)| answer).partition(|answer| answer.is_ok());
        assert_eq!((kept.len(), refused.len()), (12, 8), "{name}");
        assert!(kept.iter().all(|answer| answer.as_ref().unwrap().state.author.as_str() == name));
        assert!(
            refused
                .iter()
                .all(|answer| matches!(answer, Err(WriteError::Refused(Refused::AuthorMemories(12)))))
        );
    }
    let members = storage.members(team.id, day(1)).await.unwrap();
    assert_eq!(members.iter().map(|member| member.memories).collect::<Vec<_>>(), [12, 12]);
    let audit = storage.audit(team.id, 0, 100).await.unwrap();
    let made: Vec<_> = audit.iter().filter(|entry| entry.action == "create").collect();
    assert_eq!(made.len(), 24);
    for entry in made {
        let key = team.key(entry.target.strip_prefix("p/").unwrap());
        let author = storage.memory(&key).await.unwrap().unwrap().state.author;
        assert_eq!(entry.member.as_ref(), Some(&author));
        assert_eq!(entry.token.as_deref(), Some(format!("token-of-{author}").as_str()));
    }
}

/// Waits for all of these at once.
pub(crate) async fn join_all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, done) in &mut waiting {
            if done.is_none()
                && let std::task::Poll::Ready(answer) = future.as_mut().poll(context)
            {
                *done = Some(answer);
            }
        }
        if waiting.iter().all(|(_, done)| done.is_some()) {
            return std::task::Poll::Ready(());
        }
        std::task::Poll::Pending
    })
    .await;
    waiting.into_iter().filter_map(|(_, done)| done).collect()
}

/// T13.
pub(crate) async fn nothing_of_one_team_shows_in_another(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let other = Team::new(storage, "u").await;
    team.create(storage, "a.md", "one").await;
    team.write(storage, "a.md", put(at(1), "two")).await.unwrap();
    assert_eq!(storage.memory(&other.key("a.md")).await.unwrap(), None);
    assert_eq!(storage.versions(&other.key("a.md")).await.unwrap(), []);
    assert_eq!(storage.version(&other.key("a.md"), 1).await.unwrap(), None);
    assert_eq!(feed(storage, &other, 0).await.entries, []);
    assert_eq!(storage.projects(other.id).await.unwrap(), []);
    assert_eq!(storage.newest(&[other.id, team.id]).await.unwrap(), [0, 2]);
    assert_eq!(other.create(storage, "a.md", "mine").await, 1, "versions are the team's own");
    assert!(other.write(storage, "a.md", delete(at(2))).await.is_err());
    assert_eq!(team.text(storage, "a.md").await.as_deref(), Some("two"));
    let audit = storage.audit(other.id, 0, 100).await.unwrap();
    assert_eq!(audit.iter().filter(|entry| entry.target == "p/a.md").count(), 1);
}

/// F8.
pub(crate) async fn a_purge_forgets_what_is_old(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let key = team.key("a.md");
    let texts = [(day(1), "one"), (day(2), "two!!"), (day(9), "three")];
    for (n, (when, text)) in texts.iter().enumerate() {
        let expect = if n == 0 { NEW } else { at(n as u64) };
        storage.write(&key, &put(expect, text), &by("ann"), &team.quotas, *when).await.unwrap();
    }
    team.create(storage, "old.md", "gone long ago").await;
    team.write(storage, "old.md", delete(at(4))).await.unwrap();
    team.create(storage, "new.md", "gone").await;
    storage.write(&team.key("new.md"), &delete(at(6)), &by("ann"), &team.quotas, day(9)).await.unwrap();
    let purged = storage.purge(day(8)).await.unwrap();
    assert_eq!((purged.tombstones, purged.versions), (1, 1), "what was replaced on day 9 stays");
    assert_eq!(storage.version(&key, 1).await.unwrap(), None);
    assert_eq!(storage.version(&key, 2).await.unwrap().unwrap().text.as_deref(), Some("two!!"));
    assert_eq!(storage.memory(&team.key("old.md")).await.unwrap(), None);
    assert!(storage.memory(&team.key("new.md")).await.unwrap().unwrap().state.deleted);
    let now = storage.team(team.id).await.unwrap().unwrap();
    assert_eq!((now.purged, now.memories, now.bytes, now.seq), (5, 1, 14, 7));
    assert_eq!(storage.purge(day(8)).await.unwrap().tombstones, 0);
}

/// F9.
pub(crate) async fn an_audit_says_who_did_what(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let before = storage.audit(team.id, 0, 100).await.unwrap();
    let last = before.last().unwrap().id;
    let actions: Vec<_> = before.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["team", "invite", "join", "invite", "join"]);
    team.create(storage, "a.md", "a canary").await;
    team.write_as(storage, "bob", "a.md", put(at(1), "another canary")).await.unwrap();
    team.write(storage, "a.md", delete(at(2))).await.unwrap();
    team.write(storage, "a.md", erase(at(3))).await.unwrap();
    let after = storage.audit(team.id, last, 100).await.unwrap();
    let lines: Vec<_> = after
        .iter()
        .map(|e| (e.member.as_ref().unwrap().as_str(), e.action.as_str(), e.target.as_str(), e.seq))
        .collect();
    let expected = [
        ("ann", "create", "p/a.md", Some(1)),
        ("bob", "replace", "p/a.md", Some(2)),
        ("ann", "delete", "p/a.md", Some(3)),
        ("ann", "erase", "p/a.md", Some(4)),
    ];
    assert_eq!(lines, expected);
    assert_eq!(after[0].hash, Some(ContentHash::of(b"a canary")));
    assert_eq!((after[0].at, after[0].token.as_deref()), (day(1), Some("token-of-ann")));
    assert!(!format!("{after:?}").contains("canary"), "hashes, never texts");
    assert_eq!(storage.audit(team.id, last, 2).await.unwrap(), after[..2]);
    assert!(after.windows(2).all(|pair| pair[0].id < pair[1].id));
}

pub(crate) async fn ledgers_only_grow_at_their_end(storage: &impl Storage) {
    let team = Team::new(storage, "t").await;
    let (p, q) = (project("p"), project("q"));
    let file = LedgerName::new("usage-laptop-2026-04.jsonl").unwrap();
    let quotas = Quotas { bytes: 12, ..team.quotas };
    let append = async |offset: u64, bytes: &[u8]| {
        storage.append_ledger(team.id, &p, &file, offset, bytes, &by("ann"), &quotas, day(1)).await
    };
    assert_eq!(storage.read_ledger(team.id, &p, &file, 0, 100).await.unwrap(), None);
    assert!(matches!(append(3, b"x").await, Err(AppendError::OtherEnd(0))));
    assert_eq!(append(0, b"one\n").await.unwrap(), 4);
    assert!(matches!(append(0, b"one\n").await, Err(AppendError::OtherEnd(4))), "sent again");
    assert_eq!(append(4, b"two\n").await.unwrap(), 8);
    assert!(matches!(append(8, b"three").await, Err(AppendError::Quota(12))));
    for (offset, max, expected) in
        [(0, 100, "one\ntwo\n"), (4, 100, "two\n"), (2, 3, "e\nt"), (8, 9, ""), (99, 9, "")]
    {
        let bytes = storage.read_ledger(team.id, &p, &file, offset, max).await.unwrap().unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{offset} {max}");
    }
    let list = storage.ledgers(team.id, &p).await.unwrap();
    assert_eq!(list.iter().map(|l| (l.file.as_str(), l.size)).collect::<Vec<_>>(), [(file.as_str(), 8)]);
    assert_eq!(storage.ledgers(team.id, &q).await.unwrap(), []);
    assert_eq!(storage.team(team.id).await.unwrap().unwrap().bytes, 8);
}
