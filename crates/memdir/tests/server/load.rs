//! Many at once: slow ones, greedy ones, a small machine, and an end in the middle of it all.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::{Ask, Connection, Member, PATIENCE, TeamServer, put_op, team_memory};
use serde_json::{Value, json};

use crate::world::{PROJECT, prepare, server};

/// One that sends a byte a second, or nothing, and is never done.
struct Attacker {
    stream: TcpStream,
    drips: bool,
    is_closed: bool,
}

impl Attacker {
    fn new(server: &TeamServer, start: &[u8], drips: bool) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.write_all(start).unwrap();
        stream.set_nonblocking(true).unwrap();
        Self { stream, drips, is_closed: false }
    }

    /// Sends its byte and looks whether the server is tired of it.
    fn go_on(&mut self) {
        if self.drips && !self.is_closed {
            self.is_closed = self.stream.write(b"x").is_err_and(|err| err.kind() != ErrorKind::WouldBlock);
        }
        let mut rest = [0; 4_096];
        while !self.is_closed {
            match self.stream.read(&mut rest) {
                Ok(0) => self.is_closed = true,
                Ok(_) => {}
                Err(err) if err.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.is_closed = true,
            }
        }
    }
}

/// One that asks for a lot and takes nothing of it.
fn deaf(server: &TeamServer) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let ask = Ask::new("GET", "/openapi.json").bytes(&server.host());
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    for _ in 0..2_000 {
        // When the server waits for us to read, it does not read either.
        if stream.write_all(&ask).is_err() {
            break;
        }
    }
    stream
}

/// L4: hundreds of slow connections hold up nobody, are closed, and leave no descriptor behind.
#[test]
fn l4_slow_connections_are_closed_and_hold_up_nobody() {
    let server = server();
    let admin = server.admin();
    let metrics = server.metrics_token();
    let n_open = || server.figure(&metrics, "memdir_connections", "");
    let before = settled(&server);
    let head = format!("POST /v1/teams/team/projects/shop/batch HTTP/1.1\r\nHost: {}\r\nX: ", server.host());
    let body = admin.ask("POST", "/projects/shop/batch").header("Content-Length", "100000");
    let body = body.header("Content-Type", "application/json").bytes(&server.host());
    let unread = Ask::new("GET", "/health").header("Content-Length", "100000").bytes(&server.host());
    let mut attackers: Vec<Attacker> = Vec::new();
    attackers.extend((0..200).map(|_| Attacker::new(&server, head.as_bytes(), true)));
    attackers.extend((0..50).map(|_| Attacker::new(&server, b"", false)));
    attackers.extend((0..50).map(|_| Attacker::new(&server, &body, true)));
    attackers.extend((0..20).map(|_| Attacker::new(&server, &unread, true)));
    let deaf: Vec<TcpStream> = (0..3).map(|_| deaf(&server)).collect();
    let until = Instant::now() + 2 * PATIENCE;
    let mut connection = server.connect();
    let mut n_answered = 0;
    while attackers.iter().any(|attacker| !attacker.is_closed) {
        assert!(
            Instant::now() < until,
            "{} are still there",
            attackers.iter().filter(|one| !one.is_closed).count()
        );
        attackers.iter_mut().for_each(Attacker::go_on);
        // Honest ones go on all the while, and none of them fails.
        for n in 0..10 {
            let text = team_memory("project-note", &format!("Answer {n_answered}."));
            let ask = admin.ask("POST", "/projects/shop/batch");
            let path = format!("project-note-{n_answered}.md");
            let answer =
                connection.ask(&ask.json(&json!({ "ops": [put_op(&path, Value::Null, &text)] }))).unwrap();
            assert_eq!((answer.status, &answer.json()["results"][0]["status"]), (200, &json!(201)), "{n}");
            n_answered += 1;
        }
        thread::sleep(Duration::from_secs(1));
    }
    assert!(n_answered >= 100, "{n_answered}");
    // Those who take nothing are given up too, though their sockets are open on this side.
    while n_open() > 2.0 {
        assert!(Instant::now() < until, "{} connections are still there", n_open());
        thread::sleep(Duration::from_millis(200));
    }
    drop((deaf, connection));
    while settled(&server) > before + n_kept(&server) {
        assert!(Instant::now() < until, "{} descriptors, {before} at first", server.n_files());
        thread::sleep(Duration::from_millis(100));
    }
}

/// The descriptors of a server that just answered.
fn settled(server: &TeamServer) -> usize {
    server.ask(&Ask::new("GET", "/ready")).want(200);
    thread::sleep(Duration::from_millis(50));
    server.n_files()
}

/// How many descriptors more a server may keep once it was busy: its connections to PostgreSQL, which are as many as its
/// pool has room for.
fn n_kept(server: &TeamServer) -> usize {
    if server.database().is_sqlite() { 0 } else { 16 }
}

/// L5: with few descriptors the server takes as many connections as it has room for, and the others wait.
#[test]
fn l5_few_descriptors_make_others_wait_and_nothing_fail() {
    let server = prepare()
        .options(&["--rate", "100000", "--burst", "100000"])
        .under(&["prlimit", "--nofile=64"])
        .start();
    let admin = server.admin();
    let before = settled(&server);
    // Two hundred come at once and each is served in turn.
    let n_done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for n in 0..200 {
            let (server, admin, n_done) = (&server, &admin, &n_done);
            scope.spawn(move || {
                let text = team_memory("project-note", &format!("Written by {n}."));
                let result =
                    server.write(admin, PROJECT, put_op(&format!("project-note-{n}.md"), Value::Null, &text));
                n_done.fetch_add(usize::from(result["status"] == 201), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(n_done.into_inner(), 200);
    // Silent ones take every place; when their time is over the next one is served.
    let silent: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(("127.0.0.1", server.port())).unwrap()).collect();
    let mut honest = server.connect();
    drop(silent);
    assert_eq!(honest.ask(&Ask::new("GET", "/health")).unwrap().status, 200);
    drop(honest);
    assert_eq!(server.holdings(&admin, PROJECT, 0).len(), 200);
    let until = Instant::now() + PATIENCE;
    while settled(&server) > before + n_kept(&server) {
        assert!(Instant::now() < until, "{} descriptors, {before} at first", server.n_files());
    }
}

/// L5: a server with little memory takes large batches in turn, and does not die of them.
#[test]
fn l5_large_batches_take_turns_where_memory_is_small() {
    let mut server = prepare()
        .options(&["--rate", "100000", "--burst", "100000"])
        .under(&["prlimit", "--as=314572800"])
        // Addresses that are set aside for each thread are no memory.
        .env("MALLOC_ARENA_MAX", "1")
        .start();
    let admin = server.admin();
    let text = team_memory("project-note", &"crane ".repeat(16_000));
    // Texts that are not what their hashes say cost nothing but their bytes.
    let ops: Vec<Value> = (0..42)
        .map(|n| json!({ "op": "put", "path": format!("project-note-{n}.md"), "base": null, "hash": "00", "text": text }))
        .collect();
    let ask = admin.ask("POST", &format!("/projects/{PROJECT}/batch")).json(&json!({ "ops": ops }));
    let bytes = ask.bytes(&server.host());
    // All are there but for a byte, so that a server that takes what comes has every one of them in memory.
    let push = || {
        let mut connection = server.connect();
        connection.send(&bytes[..bytes.len() - 1]).unwrap();
        thread::sleep(Duration::from_secs(3));
        connection.send(&bytes[bytes.len() - 1..]).unwrap();
        connection.answer().unwrap().unwrap().status
    };
    thread::scope(|scope| {
        let pushing: Vec<_> = (0..60).map(|_| scope.spawn(push)).collect();
        // What is small is answered beside them.
        for n in 0..20 {
            let op = put_op(
                &format!("project-small-{n}.md"),
                Value::Null,
                &team_memory("project-small", "Small."),
            );
            assert_eq!(server.write(&admin, PROJECT, op)["status"], 201);
        }
        for pushing in pushing {
            assert!(matches!(pushing.join().unwrap(), 200 | 503));
        }
    });
    assert_eq!(server.holdings(&admin, PROJECT, 0).len(), 20);
    server.restart();
    assert_eq!(server.holdings(&admin, PROJECT, 0).len(), 20);
}

/// T11: a hundred clients write and read what the others wrote; nobody meets a fault, and all end with the same.
#[test]
fn t11_a_hundred_clients_end_with_the_same_memories() {
    const CHANGES: usize = 3;
    let server = prepare().options(&["--rate", "100000", "--burst", "100000", "--behind-proxy"]).start();
    let admin = server.admin();
    let members: Vec<Member> = (0..100).map(|n| server.add(&admin, &format!("m{n}"), "write")).collect();
    let views: Vec<Vec<Value>> = thread::scope(|scope| {
        let working: Vec<_> = members
            .iter()
            .enumerate()
            .map(|(n, member)| {
                let server = &server;
                scope.spawn(move || {
                    let mut connection = server.connect();
                    for change in 0..CHANGES {
                        // One of their own, and one that twenty of them write.
                        write_until_done(&mut connection, member, &format!("project-own-{n}-{change}.md"), n);
                        if n % 5 == 0 {
                            write_until_done(
                                &mut connection,
                                member,
                                &format!("project-shared-{change}.md"),
                                n,
                            );
                        }
                    }
                })
            })
            .collect();
        working.into_iter().for_each(|working| working.join().unwrap());
        members.iter().step_by(10).map(|member| server.holdings(member, PROJECT, 0)).collect()
    });
    assert_eq!(views[0].len(), 100 * CHANGES + CHANGES);
    assert!(views.iter().all(|view| *view == views[0]));
    for change in 0..CHANGES {
        let shared =
            views[0].iter().find(|entry| entry["path"] == format!("project-shared-{change}.md")).unwrap();
        let lines = shared["text"].as_str().unwrap().lines().filter(|line| line.starts_with("- m")).count();
        assert_eq!(lines, 20, "nobody's line was overwritten");
    }
}

/// Adds a line to a memory as a good client does: over what is there, again if somebody was faster.
fn write_until_done(connection: &mut Connection, member: &Member, path: &str, n: usize) {
    loop {
        let there =
            connection.ask(&member.ask("GET", &format!("/projects/{PROJECT}/memories/{path}"))).unwrap();
        let (base, before) = match there.status {
            200 => {
                let tag =
                    there.header("etag").unwrap().trim_matches('"').split('-').next().unwrap().to_owned();
                (json!(tag.parse::<u64>().unwrap()), there.text())
            }
            404 => (Value::Null, team_memory(path.trim_end_matches(".md"), "Who was here:")),
            status => panic!("{status}: {}", there.text()),
        };
        let op = put_op(path, base, &format!("{before}- m{n}\n"));
        let ask = member.ask("POST", &format!("/projects/{PROJECT}/batch")).json(&json!({ "ops": [op] }));
        let result = connection.ask(&ask).unwrap().want(200).json()["results"][0].clone();
        match result["status"].as_u64().unwrap() {
            200 | 201 => return,
            412 => {}
            status => panic!("{status}: {result}"),
        }
    }
}

/// C2: asked to go in the middle of work, the server finishes what runs, lets those go who wait, and leaves with 0.
#[test]
fn a_server_that_is_asked_to_go_finishes_and_loses_nothing() {
    let mut server = server();
    let admin = server.admin();
    let is_over = AtomicBool::new(false);
    let waiters: Vec<Connection> = (0..10)
        .map(|_| {
            let mut connection = server.connect();
            let ask = admin.ask("GET", "/projects/quiet/changes?since=0&wait=30");
            connection.send(&ask.bytes(&server.host())).unwrap();
            connection
        })
        .collect();
    let idle: Vec<Connection> = (0..5).map(|_| server.connect()).collect();
    let port = server.port();
    let acked: Vec<String> = thread::scope(|scope| {
        let writing: Vec<_> = (0..4)
            .map(|n| {
                let (admin, is_over) = (&admin, &is_over);
                scope.spawn(move || {
                    let mut acked = Vec::new();
                    let mut connection = Connection::open(port).unwrap();
                    for m in 0.. {
                        let path = format!("project-note-{n}-{m}.md");
                        let op =
                            put_op(&path, Value::Null, &team_memory("project-note", &format!("{n} {m}")));
                        let ask = admin
                            .ask("POST", &format!("/projects/{PROJECT}/batch"))
                            .json(&json!({ "ops": [op] }));
                        match connection.ask(&ask) {
                            Ok(answer) => {
                                assert_eq!(answer.json()["results"][0]["status"], 201, "{}", answer.text());
                                acked.push(path);
                            }
                            // Only because the server goes.
                            Err(err) => {
                                assert!(is_over.load(Ordering::Relaxed), "{err}");
                                return acked;
                            }
                        }
                    }
                    acked
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(500));
        is_over.store(true, Ordering::Relaxed);
        server.terminate();
        writing.into_iter().flat_map(|writing| writing.join().unwrap()).collect()
    });
    for mut waiter in waiters {
        let answer = waiter.answer().unwrap().expect("who waits is answered");
        assert_eq!((answer.status, &answer.json()["changes"]), (200, &json!([])));
        assert!(waiter.is_closed());
    }
    for mut idle in idle {
        assert!(idle.is_closed());
    }
    assert_eq!(server.wait().code, 0);
    assert!(acked.len() > 4, "{}", acked.len());
    server.restart();
    let there: Vec<Value> =
        server.holdings(&admin, PROJECT, 0).iter().map(|entry| entry["path"].clone()).collect();
    for path in &acked {
        assert!(there.contains(&json!(path)), "{path} was acknowledged");
    }
}

/// Who waits for news gets it when it happens, also if another process writes into the same database.
#[test]
fn who_waits_is_told_what_happens() {
    let server = server();
    let admin = server.admin();
    let mut waiter = server.connect();
    let ask = admin.ask("GET", &format!("/projects/{PROJECT}/changes?since=0&wait=30&text=1"));
    waiter.send(&ask.bytes(&server.host())).unwrap();
    thread::sleep(Duration::from_millis(100));
    let text = team_memory("project-note", "News.");
    let seq = server.write(&admin, PROJECT, put_op("project-note.md", Value::Null, &text))["seq"].clone();
    let news = waiter.answer().unwrap().unwrap().want(200).json();
    assert_eq!((&news["changes"][0]["text"], &news["cursor"]), (&json!(text), &seq));
}
