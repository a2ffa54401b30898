//! Several `memdir serve` over one PostgreSQL, asked over HTTP: they are one server, whoever of them or the database dies.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

mod server;

use std::collections::{BTreeMap, HashSet};
use std::thread;
use std::time::Duration;

use memdir_testkit::{Postgres, Random};
use serde_json::{Value, json};

use server::{Server, ask, put};

const BATCH: &str = "/v1/teams/team/projects/shop/batch";

fn feed(server: &Server, token: &str, since: u64, wait: u32) -> Value {
    let path = format!("/v1/teams/team/projects/shop/changes?since={since}&limit=1000&text=1&wait={wait}");
    let (status, answer) = ask(server, token, "GET", &path, None);
    assert_eq!(status, 200, "{answer}");
    answer
}

/// Every memory with its version and its text.
fn holdings(server: &Server, token: &str) -> BTreeMap<String, (u64, String)> {
    let answer = feed(server, token, 0, 0);
    let entries = answer["changes"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entry =
        |entry: &Value| (text(&entry["path"]), (entry["seq"].as_u64().unwrap(), text(&entry["text"])));
    let held: BTreeMap<_, _> = entries.iter().map(entry).collect();
    assert_eq!(held.len(), entries.len(), "no memory is there twice");
    let seqs: Vec<u64> = entries.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "the feed is in order: {seqs:?}");
    held
}

/// Writes to one server what is its own and what all want to change, and returns the versions it was given.
fn work(server: &Server, token: &str, worker: usize) -> Vec<u64> {
    let (mut versions, mut shared) = (Vec::new(), Value::Null);
    for round in 0..8 {
        let own = (0..4).map(|n| put(&format!("project-{worker}-{round}-{n}"), &Value::Null, "A text."));
        let all = put("project-shared", &shared, &format!("Worker {worker} was here in round {round}."));
        let ops: Vec<Value> = own.chain([all]).collect();
        let (status, answer) = ask(server, token, "POST", BATCH, Some(&json!({ "ops": ops })));
        assert_eq!(status, 200, "{answer}");
        for result in answer["results"].as_array().unwrap() {
            match result["status"].as_u64().unwrap() {
                200 | 201 => versions.push(result["seq"].as_u64().unwrap()),
                412 => {}
                _ => panic!("{result}"),
            }
        }
        let last = &answer["results"][4];
        shared = if last["status"] == 412 { last["current"]["seq"].clone() } else { last["seq"].clone() };
    }
    versions
}

/// K1, T1.
#[test]
fn two_servers_over_one_database_are_one() {
    let database = Postgres::start();
    let (mut one, mut two) = (Server::start(&database), Server::start(&database));
    let invite = one.invite().or_else(|| two.invite()).unwrap();
    let token = one.join(&invite, "ann");
    let versions: Vec<u64> = thread::scope(|scope| {
        let (one, two, token) = (&one, &two, token.as_str());
        let work = |worker: usize| {
            let server = if worker.is_multiple_of(2) { one } else { two };
            scope.spawn(move || work(server, token, worker))
        };
        let workers: Vec<_> = (0..4).map(work).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(versions.iter().collect::<HashSet<_>>().len(), versions.len(), "no version was given twice");
    let held = holdings(&one, &token);
    assert_eq!(held.len(), 4 * 8 * 4 + 1);
    assert_eq!(held, holdings(&two, &token));
    let newest = feed(&one, &token, 0, 0)["cursor"].as_u64().unwrap();
    assert_eq!(Some(newest), versions.into_iter().max());
    thread::scope(|scope| {
        // Had it not heard of it, it would be answered with nothing after this many seconds.
        let waiting = scope.spawn(|| feed(&two, &token, newest, 20));
        thread::sleep(Duration::from_millis(300));
        let news = json!({ "ops": [put("project-news", &Value::Null, "Told to the other one.")] });
        assert_eq!(ask(&one, &token, "POST", BATCH, Some(&news)).0, 200);
        assert_eq!(waiting.join().unwrap()["changes"][0]["path"], "project-news.md");
    });
    one.stop();
    two.stop();
}

/// K1: whoever dies in the middle of a batch, each memory is as before or as after it.
#[test]
fn a_server_and_a_database_that_die_leave_every_memory_whole() {
    let mut database = Postgres::start();
    let mut server = Server::start(&database);
    let invite = server.invite().unwrap();
    let token = server.join(&invite, "ann");
    let mut random = Random::new(5);
    for round in 0..4 {
        let held = holdings(&server, &token);
        let ops: Vec<Value> = (0..100)
            .map(|n| {
                let name = format!("project-{n}");
                let base = held.get(&format!("{name}.md")).map_or(Value::Null, |(seq, _)| json!(seq));
                put(&name, &base, &format!("Round {round}."))
            })
            .collect();
        let body = json!({ "ops": ops });
        thread::scope(|scope| {
            let writer = scope.spawn(|| server.try_ask(&token, "POST", BATCH, Some(&body)));
            thread::sleep(Duration::from_millis(random.next_u64() % 60));
            if round % 2 == 0 {
                server.kill()
            } else {
                database.kill()
            }
            // It was answered or it was not; both happen.
            let _ = writer.join().unwrap();
        });
        if round % 2 == 0 {
            server = Server::start(&database);
        } else {
            let (status, answer) = ask(&server, &token, "POST", BATCH, Some(&body));
            assert_eq!(status, 503, "{answer}");
            database.resume();
        }
        let after = holdings(&server, &token);
        for (path, (_, text)) in &after {
            let is_new = text.contains(&format!("Round {round}."));
            assert!(is_new || held.get(path).is_some_and(|(_, before)| before == text), "{path}: {text}");
        }
        assert!(held.keys().all(|path| after.contains_key(path)), "nothing is lost");
        // Who got no answer sends the same again, and then it is there, once.
        let (status, answer) = ask(&server, &token, "POST", BATCH, Some(&body));
        assert_eq!(status, 200, "{answer}");
        let done = holdings(&server, &token);
        assert!(
            done.len() == 100 && done.values().all(|(_, text)| text.contains(&format!("Round {round}.")))
        );
    }
    server.stop();
}
