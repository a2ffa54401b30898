//! T1, T6, T7: whatever the order of edits, syncs and accidents, all end with the same and nothing is lost.
//!
//! `MEMDIR_TEAM_SEEDS=n` sets how many seeds are played, `MEMDIR_TEAM_SEED=s` repeats one.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use jiff::Timestamp;
use memdir_core::change::Edit as Change;
use memdir_core::memory::MemoryPath;
use memdir_core::team::wire::ProjectName;
use memdir_testkit::{Database, NOW, Postgres};

use crate::inside::{Inside, Meeting, Seats};
use crate::model::{Client, Game, play};
use crate::outside::{self, Directory, Outside, Repository, Server};
use crate::world::Common;

/// Clocks that are right, behind, ahead, and not set at all.
const SKEWED: [&str; 5] =
    [NOW, "2026-04-02T07:30:00Z", "2026-04-04T10:30:00Z", "1970-01-01T00:00:07Z", "2026-04-02T10:30:05Z"];

/// The seeds of a game that is dear, or the one that is to be repeated.
fn seeds(few: u64) -> Range<u64> {
    number("MEMDIR_TEAM_SEED").map_or(0..few, |seed| seed..seed + 1)
}

/// The seeds of a game that is cheap: as many as one likes.
fn many_seeds(few: u64) -> Range<u64> {
    seeds(number("MEMDIR_TEAM_SEEDS").unwrap_or(few))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

/// Plays seeds, half of them in another thread.
#[expect(clippy::print_stdout, reason = "a failed run's log must say which seeds it played")]
fn play_all(seeds: Range<u64>, play: impl Fn(u64) -> Result<(), String> + Sync) {
    println!("seeds {} to {}, MEMDIR_TEAM_SEED repeats one", seeds.start, seeds.end - 1);
    let share = |first: u64| {
        (seeds.start + first..seeds.end).step_by(2).filter_map(|seed| play(seed).err()).collect::<Vec<_>>()
    };
    let failures = thread::scope(|scope| {
        let other = scope.spawn(|| share(1));
        [share(0), other.join().unwrap()].concat()
    });
    assert!(failures.is_empty(), "{} seeds failed; the first:\n{}", failures.len(), failures[0]);
}

fn clients(root: &Path, meeting: &Meeting, clocks: &[&str]) -> Vec<Inside> {
    let now = |text: &str| text.parse::<Timestamp>().unwrap();
    clocks.iter().enumerate().map(|(n, clock)| Inside::new(root, n, meeting.clone(), now(clock))).collect()
}

fn play_inside(seed: u64, n_steps: usize, meeting: &Meeting, clocks: &[&str]) -> Result<(), String> {
    let common = Common::new();
    let clients = clients(common.path(), meeting, clocks);
    let mut boxed: Vec<Box<dyn Client>> =
        clients.into_iter().map(|client| Box::new(client) as Box<dyn Client>).collect();
    play(Game { seed, n_steps }, &mut boxed)
}

#[test]
fn t6_five_clients_of_a_directory_converge() {
    play_all(many_seeds(6), |seed| play_inside(seed, 200, &Meeting::Directory, &[NOW; 5]));
}

#[test]
fn t7_five_clients_with_five_clocks_converge() {
    play_all(seeds(4), |seed| play_inside(seed + 10_000, 200, &Meeting::Directory, &SKEWED));
}

#[test]
fn t6_clients_of_a_repository_converge() {
    play_all(seeds(2), |seed| play_inside(seed + 20_000, 80, &Meeting::Repository, &SKEWED[..3]));
}

fn play_outside(
    seed: u64,
    n_steps: usize,
    clocks: &[&str],
    meeting: impl FnOnce(&Common) -> Box<dyn outside::Meeting>,
) -> Result<(), String> {
    let common = Common::new();
    let meeting = meeting(&common);
    let client = |(n, now): (usize, &&str)| Outside::new(&common, n, now, meeting.as_ref());
    let mut clients: Vec<Box<dyn Client + '_>> =
        clocks.iter().enumerate().map(|one| Box::new(client(one)) as Box<dyn Client + '_>).collect();
    play(Game { seed, n_steps }, &mut clients)
}

#[test]
fn t6_c1_real_commands_that_are_killed_converge() {
    play_all(seeds(3), |seed| {
        play_outside(seed + 30_000, 60, &SKEWED[..3], |common| Box::new(Directory(common.share())))
    });
}

#[test]
fn t6_c1_real_commands_in_a_repository_that_are_killed_converge() {
    play_all(seeds(1), |seed| play_outside(seed + 40_000, 50, &SKEWED[..3], |_| Box::new(Repository)));
}

#[test]
fn t6_c1_real_commands_with_a_server_that_are_killed_converge() {
    play_all(seeds(2), |seed| play_outside(seed + 60_000, 60, &SKEWED[..3], |_| Box::new(Server::start())));
}

/// Plays games on a server, each in a project of its own.
fn play_on_a_server(seeds: Range<u64>, database: Database) {
    let seats = Arc::new(Seats::new(SKEWED.len(), database));
    play_all(seeds, |seed| {
        let project = ProjectName::new(&format!("game-{seed}")).unwrap();
        let clocks = if seed % 2 == 0 { [NOW; 5] } else { SKEWED };
        play_inside(seed + 50_000, 200, &Meeting::Server(seats.clone(), project), &clocks)
    });
}

/// T6, T7.
#[test]
fn t6_five_clients_of_a_server_converge() {
    play_on_a_server(many_seeds(6), Database::Sqlite);
}

/// T6, T7.
#[test]
fn t6_five_clients_of_a_server_on_postgresql_converge() {
    let postgres = Postgres::start();
    play_on_a_server(seeds(4), Database::Postgres(postgres.address_of("postgres", "memdir")));
}

/// T1: two write the same memory at the same moment, again and again.
fn race(meeting: &Meeting, n_rounds: u64) {
    let common = Common::new();
    let mut clients = clients(common.path(), meeting, &[NOW; 2]);
    let path = MemoryPath::new("memory-race.md").unwrap();
    let mut words = Vec::new();
    for round in 0..n_rounds {
        for (n, client) in clients.iter().enumerate() {
            let word = format!("w-{round}-{n}x");
            let text = format!(
                "---\nname: memory-race\ndescription: d\ntype: project\nmetadata:\n  scope: team\n---\n\n{word}\n"
            );
            let edit = match client.texts().remove("memory-race.md") {
                None => Change::Create { path: path.clone(), text: text.into_bytes() },
                Some(base) => {
                    let text = format!("{base}{word}\n");
                    Change::Replace { path: path.clone(), base: base.into_bytes(), text: text.into_bytes() }
                }
            };
            assert!(client.commit(edit));
            words.push(word);
        }
        thread::scope(|scope| {
            for client in &mut clients {
                scope.spawn(move || client.sync_through(None).unwrap());
            }
        });
    }
    for _ in 0..3 {
        for client in &clients {
            client.sync_through(None).unwrap();
        }
    }
    let texts = clients[0].texts();
    assert_eq!(texts, clients[1].texts());
    let all: String = texts.into_values().collect();
    let lost: Vec<&String> = words.iter().filter(|word| !all.contains(*word)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn t1_two_who_sync_at_once_through_a_directory_lose_nothing() {
    race(&Meeting::Directory, 40);
}

#[test]
fn t1_two_who_sync_at_once_with_a_server_lose_nothing() {
    let seats = Arc::new(Seats::new(2, Database::Sqlite));
    race(&Meeting::Server(seats, ProjectName::new("race").unwrap()), 40);
}
