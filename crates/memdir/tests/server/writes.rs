//! Writing: races, kills, replays, limits, full disks. What was acknowledged is there, once, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use memdir_testkit::{Ask, Connection, Member, Random, TeamServer, put_op, team_memory};
use serde_json::{Value, json};

use crate::world::{PROJECT, gzipped, prepare, server, state};

fn memory(path: &str) -> String {
    format!("/projects/{PROJECT}/memories/{path}")
}

fn note(n: usize, round: usize) -> (String, String) {
    let name = format!("project-note-{n}");
    (format!("{name}.md"), team_memory(&name, &format!("Crane {n} unloads barge {round}.")))
}

/// S22: what no client could keep, or could read as another's own, is not taken.
#[test]
fn s22_names_that_some_machine_cannot_have_and_types_that_read_as_user_are_refused() {
    let server = server();
    let admin = server.admin();
    let put = |path: &str, text: String| {
        let ask = admin.ask("PUT", &memory(path)).header("If-None-Match", "*");
        server.ask(&ask.body("text/markdown", text)).status
    };
    let long = format!("{}.md", "n".repeat(300));
    for path in
        ["CON.md", "aux.md", "a%E2%80%AEb.md", "a%E2%80%8Bb.md", "trailing%20.md", "-option.md", &long]
    {
        assert_eq!(put(path, team_memory("project-odd", "The crane is green.")), 400, "{path}");
    }
    for kind in ["user", "USER", "User", "[user]", "\"user\"", "[ 'user' ]", "ｕｓｅｒ"] {
        for head in [format!("type: {kind}"), format!("metadata:\n  type: {kind}"), format!("type : {kind}")]
        {
            let text = team_memory("project-odd", "The crane is green.").replacen("type: project", &head, 1);
            assert!(text.contains(kind), "{text}");
            assert_eq!(put("project-odd.md", text), 403, "{head}");
        }
    }
    assert_eq!(put("project-odd.md", team_memory("project-odd", "The crane is green.")), 201);
}

/// T1: of two who write over one version at once, one is told that it is stale; nothing is overwritten unseen.
#[test]
fn t1_of_two_writers_over_one_version_one_wins() {
    const ROUNDS: usize = 500;
    let server = server();
    let admin = server.admin();
    let ben = server.add(&admin, "ben", "write");
    let first = admin.ask("PUT", &memory("project-race.md")).header("If-None-Match", "*");
    let first = server.ask(&first.body("text/markdown", team_memory("project-race", "Ready."))).want(201);
    let mut tag = first.header("etag").unwrap().to_owned();
    let mut both = [(server.connect(), &admin), (server.connect(), &ben)];
    for round in 0..ROUNDS {
        let start = Barrier::new(2);
        let race = |(connection, member): &mut (Connection, &Member)| {
            let text = team_memory("project-race", &format!("Round {round} goes to {}.", member.name));
            let ask = member.ask("PUT", &memory("project-race.md")).header("If-Match", &tag);
            start.wait();
            let answer = connection.ask(&ask.body("text/markdown", text.clone())).unwrap();
            (answer.status, answer.header("etag").unwrap().to_owned(), text)
        };
        let [one, two] = &mut both;
        let (one, two) = thread::scope(|scope| {
            let other = scope.spawn(|| race(two));
            (race(one), other.join().unwrap())
        });
        let (won, lost) = if one.0 == 200 { (one, two) } else { (two, one) };
        assert_eq!((won.0, lost.0), (200, 412), "round {round}");
        assert_eq!(won.1, lost.1, "who lost is told what is there now");
        let there = server.ask(&admin.ask("GET", &memory("project-race.md"))).want(200);
        assert_eq!(there.text(), won.2, "round {round}");
        tag = won.1;
    }
    let versions = server.ask(&admin.ask("GET", &format!("/projects/{PROJECT}/versions/project-race.md")));
    assert_eq!(
        versions.json().as_array().unwrap().len(),
        1 + ROUNDS,
        "every acknowledged text is in the history"
    );
}

/// A server that is killed while it takes a batch, again and again.
struct Killed {
    server: TeamServer,
    admin: Member,
    /// What is there: the version and the text of each key.
    known: BTreeMap<String, (Value, String)>,
    round: usize,
}

impl Killed {
    const KEYS: usize = 20;

    fn new() -> Self {
        let server = server();
        let admin = server.admin();
        Self { server, admin, known: BTreeMap::new(), round: 0 }
    }

    /// Pushes every key once more while `strike` is at the server, which is started again and looked at: each key is old
    /// or new, and there once. Then everything is pushed over what was found. Returns whether the push was acknowledged.
    fn push(&mut self, told: &str, strike: impl FnOnce(&mut TeamServer)) -> bool {
        self.round += 1;
        let notes: Vec<_> = (0..Self::KEYS).map(|n| note(n, self.round)).collect();
        let ops: Vec<Value> = notes
            .iter()
            .map(|(path, text)| {
                put_op(path, self.known.get(path).map_or(Value::Null, |(seq, _)| seq.clone()), text)
            })
            .collect();
        let ask = self.admin.ask("POST", &format!("/projects/{PROJECT}/batch")).json(&json!({ "ops": ops }));
        let mut connection = self.server.connect();
        let acked = thread::scope(|scope| {
            let pushing = scope.spawn(|| connection.ask(&ask).ok());
            strike(&mut self.server);
            pushing.join().unwrap()
        });
        self.server.restart();
        let holdings = self.server.holdings(&self.admin, PROJECT, 0);
        let paths: BTreeSet<&str> = holdings.iter().map(|entry| entry["path"].as_str().unwrap()).collect();
        assert_eq!(paths.len(), holdings.len(), "{told}: no memory is there twice");
        for (path, text) in &notes {
            let there = holdings.iter().find(|entry| entry["path"] == path.as_str());
            let old = self.known.get(path).map(|(_, text)| text.as_str());
            let now = there.map(|entry| entry["text"].as_str().unwrap());
            assert!(now == Some(text) || now == old, "{told}: {path}: {now:?}");
            assert!(acked.is_none() || now == Some(text), "{told}: {path} was acknowledged");
        }
        // The next run says what it found to be there, and everything goes through.
        let bases: BTreeMap<&str, &Value> =
            holdings.iter().map(|entry| (entry["path"].as_str().unwrap(), &entry["seq"])).collect();
        let ops: Vec<Value> = notes
            .iter()
            .map(|(path, text)| {
                put_op(path, bases.get(path.as_str()).map_or(Value::Null, |seq| (*seq).clone()), text)
            })
            .collect();
        let reply = self.server.batch(&self.admin, PROJECT, &ops);
        for (result, (path, text)) in reply["results"].as_array().unwrap().iter().zip(&notes) {
            assert!(matches!(result["status"].as_u64(), Some(200 | 201)), "{told}: {result}");
            self.known.insert(path.clone(), (result["seq"].clone(), text.clone()));
        }
        acked.is_some()
    }

    fn end(&self) {
        assert_eq!(self.server.holdings(&self.admin, PROJECT, 0).len(), Self::KEYS);
    }
}

/// T2: a server that is killed at any moment of a batch has each memory old or new, and goes on.
#[test]
fn t2_a_server_that_is_killed_in_a_batch_keeps_each_memory_whole() {
    let rounds: usize = std::env::var("MEMDIR_REPEAT").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let seed = u64::from(std::process::id());
    let mut random = Random::new(seed);
    let mut killed = Killed::new();
    let mut n_torn = 0;
    for round in 0..rounds {
        let pause = Duration::from_micros(random.below(30_000) as u64);
        let acked = killed.push(&format!("seed {seed}, round {round}"), |server| {
            thread::sleep(pause);
            server.kill();
        });
        n_torn += usize::from(!acked);
    }
    assert!(n_torn > 0, "seed {seed}: no batch was cut off");
    killed.end();
}

/// T2: the same at each call that changes a file, in turn.
#[test]
fn t2_a_server_that_is_killed_at_a_write_keeps_each_memory_whole() {
    let mut killed = Killed::new();
    if !killed.server.database().is_sqlite() {
        // Then no file of this process is written.
        return;
    }
    let log = tempfile::NamedTempFile::new().unwrap();
    // How often each call is made by whichever thread makes it most: strace counts for each by itself.
    killed.push("first", |_| ());
    let mut tracer = Tracer::attach(&killed.server, &["-o", log.path().to_str().unwrap()]);
    assert!(killed.push("counting", |_| ()));
    tracer.wait();
    let mut calls: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        if let Some((call, _)) = rest.trim_start().split_once('(') {
            *calls.entry((call.to_owned(), thread.to_owned())).or_default() += 1;
        }
    }
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for ((call, _), n) in calls {
        most.entry(call).and_modify(|most| *most = n.max(*most)).or_insert(n);
    }
    let (mut n_points, mut n_torn) = (0, 0);
    for (call, n) in most {
        for point in 1..=n {
            let inject = format!("inject={call}:signal=KILL:when={point}");
            let mut tracer = Tracer::attach(&killed.server, &["-e", &inject, "-o", "/dev/null"]);
            let acked = killed.push(&format!("{call} {point} of {n}"), |_| ());
            tracer.wait();
            n_points += 1;
            n_torn += usize::from(!acked);
        }
    }
    assert!(n_points >= 20 && n_torn > 0, "{n_torn} of {n_points} batches were cut off");
    killed.end();
}

/// strace on a running server.
struct Tracer(std::process::Child);

impl Tracer {
    fn attach(server: &TeamServer, options: &[&str]) -> Self {
        let calls =
            "trace=?write,?pwrite64,?writev,?pwritev,?fsync,?fdatasync,?ftruncate,?unlink,?unlinkat,?rename";
        let id = server.id().to_string();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-p", &id, "-e", calls]).args(options);
        let strace = strace.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + memdir_testkit::PATIENCE;
        let is_traced = |task: std::io::Result<std::fs::DirEntry>| {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap_or_default();
            !status.contains("TracerPid:\t0\n")
        };
        while !std::fs::read_dir(format!("/proc/{id}/task")).unwrap().all(is_traced) {
            assert!(Instant::now() < until, "strace was not let in");
            thread::sleep(Duration::from_millis(5));
        }
        Self(strace)
    }

    /// Waits until it has ended, which it does with the server.
    fn wait(&mut self) {
        self.0.wait().unwrap();
    }
}

/// T8: every request that wrote something, sent again in either order, changes nothing.
#[test]
fn t8_a_replayed_write_changes_nothing() {
    let server = server();
    let admin = server.add_team("own", true);
    let mut recorded: Vec<(Ask, u16)> = Vec::new();
    let mut send = |ask: Ask, refused: u16| {
        let answer = server.ask(&ask);
        assert!(answer.status < 300, "{}", answer.text());
        recorded.push((ask, refused));
        answer
    };
    let batch =
        |ops: Value| admin.ask("POST", &format!("/projects/{PROJECT}/batch")).json(&json!({ "ops": ops }));
    let put = |path: &str| admin.ask("PUT", &memory(path));
    let tag = |answer: &memdir_testkit::Answer| answer.header("etag").unwrap().to_owned();
    let kind = "text/markdown";
    let a1 = send(put("a.md").header("If-None-Match", "*").body(kind, "one"), 412);
    let a2 = send(put("a.md").header("If-Match", &tag(&a1)).body(kind, "two"), 412);
    // The first text again: a replay of the second must not be taken for it.
    let a3 = send(put("a.md").header("If-Match", &tag(&a2)).body(kind, "one"), 412);
    let a4 = send(admin.ask("DELETE", &memory("a.md")).header("If-Match", &tag(&a3)), 412);
    send(put("a.md").header("If-Match", &tag(&a4)).body(kind, "three"), 412);
    let b1 =
        send(batch(json!([put_op("b.md", Value::Null, "one")])), 200).json()["results"][0]["seq"].clone();
    let b2 = send(batch(json!([put_op("b.md", b1, "two")])), 200).json()["results"][0]["seq"].clone();
    let b3 =
        send(batch(json!([{ "op": "delete", "path": "b.md", "base": b2 }])), 200).json()["results"][0]["seq"]
            .clone();
    let b4 = send(batch(json!([put_op("b.md", b3, "three")])), 200).json()["results"][0]["seq"].clone();
    let b5 =
        send(batch(json!([{ "op": "erase", "path": "b.md", "base": b4 }])), 200).json()["results"][0]["seq"]
            .clone();
    send(batch(json!([put_op("b.md", b5, "four")])), 200);
    let ledger = format!("/projects/{PROJECT}/usage/usage-here.jsonl");
    let line = "{\"used\":1}\n";
    let lines = |offset: usize| {
        admin.ask("POST", &format!("{ledger}?offset={offset}")).body("application/x-ndjson", line)
    };
    send(lines(0), 409);
    send(lines(line.len()), 409);
    let invited =
        server.ask(&admin.ask("POST", "/invites").json(&json!({ "scope": "read" }))).want(201).json();
    let join = Ask::new("POST", "/v1/join").json(&json!({ "invite": invited["invite"], "member": "cleo" }));
    send(join, 401);
    let withdrawn =
        server.ask(&admin.ask("POST", "/invites").json(&json!({ "scope": "read" }))).want(201).json();
    send(admin.ask("DELETE", &format!("/invites/{}", withdrawn["id"].as_str().unwrap())), 404);
    let made = server.ask(&admin.ask("POST", "/tokens").json(&json!({ "scope": "read" }))).want(201).json();
    send(admin.ask("DELETE", &format!("/tokens/{}", made["id"].as_str().unwrap())), 404);
    let before = (state(&server, &admin), server.ask(&admin.ask("GET", &ledger)).text());
    for (ask, refused) in recorded.iter().chain(recorded.iter().rev()) {
        let answer = server.ask(ask);
        assert_eq!(answer.status, *refused, "{ask:?}: {}", answer.text());
        if *refused == 200 {
            assert_eq!(answer.json()["results"][0]["status"], 412, "{ask:?}: {}", answer.text());
        }
    }
    assert_eq!((state(&server, &admin), server.ask(&admin.ask("GET", &ledger)).text()), before);
}

/// T9: what is too large is refused as that, wherever it stands, and what stands beside it is taken.
#[test]
fn t9_what_is_too_large_is_413_and_stops_nothing_else() {
    let server = server();
    let admin = server.admin();
    let fits = |body: usize| {
        let frame = team_memory("project-big", "").len();
        team_memory("project-big", &"x ".repeat(body)[..body - frame])
    };
    let put = |path: &str, text: String| {
        let ask = admin.ask("PUT", &memory(path)).header("If-None-Match", "*");
        server.ask(&ask.body("text/markdown", text))
    };
    assert_eq!(put("project-big.md", fits(102_401)).want(413).code(), "too-large");
    put("project-big.md", fits(102_400)).want(201);
    assert_eq!(put("project-huge.md", "x".repeat(5 << 20)).status, 413);
    let (path, text) = note(1, 1);
    let ops = [
        put_op("project-large.md", Value::Null, &fits(102_401)),
        put_op("../project-climbs.md", Value::Null, &text),
        put_op("project-user.md", Value::Null, &text.replace("type: project", "type: user")),
        json!({ "op": "put", "path": "project-hash.md", "base": null, "hash": "00", "text": text }),
        json!({ "op": "put", "path": "project-base.md", "hash": memdir_testkit::sha256(&text), "text": text }),
        json!({ "op": "delete", "path": "project-none.md", "base": 1 }),
        put_op(&path, Value::Null, &text),
    ];
    let reply = server.batch(&admin, PROJECT, &ops);
    let statuses: Vec<u64> = reply["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["status"].as_u64().unwrap())
        .collect();
    assert_eq!(statuses, [413, 400, 403, 400, 428, 404, 201]);
    let many: Vec<Value> = (0..501).map(|n| json!({ "op": "erase", "path": format!("x-{n}.md") })).collect();
    let batch = admin.ask("POST", &format!("/projects/{PROJECT}/batch"));
    assert_eq!(server.ask(&batch.clone().json(&json!({ "ops": many }))).status, 413);
    let bomb = gzipped(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 100_000, "small on the wire");
    let packed = batch.header("Content-Encoding", "gzip").body("application/json", bomb);
    assert_eq!(server.ask(&packed).status, 413);
}

/// T9: who has as much as they may have is told so; what they have they may still change and remove.
#[test]
fn t9_what_is_beyond_a_quota_is_507() {
    let server = prepare()
        .options(&["--max-memories", "5", "--max-author-memories", "3", "--max-bytes", "20000"])
        .start();
    let admin = server.admin();
    let ben = server.add(&admin, "ben", "write");
    let write = |member: &Member, n: usize, base: Value| {
        let (path, text) = note(n, n);
        server.write(member, PROJECT, put_op(&path, base, &text))
    };
    let ops: Vec<Value> = (0..4).map(|n| put_op(&note(n, n).0, Value::Null, &note(n, n).1)).collect();
    let reply = server.batch(&admin, PROJECT, &ops);
    let statuses: Vec<&Value> =
        reply["results"].as_array().unwrap().iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, [201, 201, 201, 507], "an author has at most three");
    assert_eq!(write(&ben, 3, Value::Null)["status"], 201);
    assert_eq!(write(&ben, 4, Value::Null)["status"], 201);
    assert_eq!(write(&ben, 5, Value::Null)["status"], 507, "a team has at most five");
    let seq = reply["results"][0]["seq"].clone();
    let large = team_memory("project-note-0", &"x ".repeat(15_000));
    assert_eq!(
        server.write(&admin, PROJECT, put_op("project-note-0.md", seq.clone(), &large))["status"],
        507
    );
    let delete = json!({ "op": "delete", "path": "project-note-0.md", "base": seq });
    assert_eq!(server.write(&admin, PROJECT, delete)["status"], 200);
    assert_eq!(write(&ben, 5, Value::Null)["status"], 201, "there is room again");
}

/// T9: who asks too often is told how long to wait, and is answered after that.
#[test]
fn t9_who_asks_too_often_gets_429_and_a_time() {
    let server = prepare().options(&["--rate", "2", "--burst", "5"]).start();
    let admin = server.admin();
    let me = Ask::new("GET", "/v1/me").token(&admin.token);
    let answers: Vec<_> = (0..20).map(|_| server.ask(&me)).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(answers[..5].iter().all(|answer| answer.status == 200), "a burst is fine");
    assert!(refused.len() > 5 && refused.len() <= 15, "{}", refused.len());
    let wait: u64 = refused.last().unwrap().header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
    assert_eq!(refused[0].code(), "rate");
    thread::sleep(Duration::from_secs(wait));
    assert_eq!(server.ask(&me).status, 200);
    // Guessing invitations has a limit of its own, and holds up nobody who has a token.
    let guess = json!({ "invite": format!("mdi_{}", "0".repeat(48)), "member": "eve" });
    let guesses: Vec<u16> =
        (0..40).map(|_| server.ask(&Ask::new("POST", "/v1/join").json(&guess)).status).collect();
    assert!(guesses.contains(&401) && guesses.last() == Some(&429), "{guesses:?}");
    assert_eq!(server.ask(&me).status, 200);
}

/// T12: on a full disk a write is refused as that; what was acknowledged is there, and with room everything goes on.
#[test]
fn t12_a_full_disk_loses_nothing_that_was_acknowledged() {
    let Some(disk) = SmallDisk::mount("8m") else {
        eprintln!("SKIPPED: no small disk can be mounted here");
        return;
    };
    let filler = disk.path().join("filler");
    let mut server = prepare()
        .options(&["--rate", "100000", "--burst", "100000"])
        .below(disk.path())
        .database(memdir_testkit::Database::Sqlite)
        .start();
    let admin = server.admin();
    std::fs::write(&filler, vec![b'x'; 4 << 20]).unwrap();
    let text = |n: usize| {
        team_memory(&format!("project-note-{n}"), &format!("Crane {n}. {}", "Barge. ".repeat(5_000)))
    };
    let (mut acked, mut n_refused) = (Vec::new(), 0);
    for n in 0..400 {
        let ask = admin.ask("PUT", &memory(&format!("project-note-{n}.md"))).header("If-None-Match", "*");
        let answer = server.ask(&ask.body("text/markdown", text(n)));
        match answer.status {
            201 => acked.push(n),
            503 => {
                assert!(answer.header("retry-after").is_some());
                n_refused += 1;
            }
            status => panic!("{status}: {}", answer.text()),
        }
        if n_refused == 10 {
            break;
        }
    }
    assert!(n_refused > 0 && !acked.is_empty(), "{} written, {n_refused} refused", acked.len());
    // A batch that does not fit says so for each of its writes.
    let ops: Vec<Value> =
        (500..520).map(|n| put_op(&format!("project-note-{n}.md"), Value::Null, &text(n))).collect();
    let batch = admin.ask("POST", &format!("/projects/{PROJECT}/batch")).json(&json!({ "ops": ops }));
    let answer = server.ask(&batch);
    let of_batch: Vec<usize> = match answer.status {
        200 => (500..520)
            .zip(answer.json()["results"].as_array().unwrap())
            .filter(|(_, result)| result["status"] == 201)
            .map(|(n, _)| n)
            .collect(),
        503 => Vec::new(),
        status => panic!("{status}: {}", answer.text()),
    };
    assert!(of_batch.len() < 20);
    let all_there = |server: &TeamServer| {
        for n in acked.iter().chain(&of_batch) {
            let there = server.ask(&admin.ask("GET", &memory(&format!("project-note-{n}.md")))).want(200);
            assert_eq!(there.text(), text(*n), "{n}");
        }
    };
    all_there(&server);
    std::fs::remove_file(&filler).unwrap();
    let late = admin.ask("PUT", &memory("project-late.md")).header("If-None-Match", "*");
    server.ask(&late.body("text/markdown", team_memory("project-late", "There is room again."))).want(201);
    server.restart();
    all_there(&server);
    assert_eq!(server.ask(&admin.ask("GET", &memory("project-late.md"))).status, 200);
}

/// A file system of a few megabytes in memory.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let place = tempfile::Builder::new().prefix("memdir-disk-").tempdir().unwrap();
        let options = format!("size={size},mode=0700");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(place.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(place))
    }

    fn path(&self) -> &std::path::Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: whoever still holds a file there lets go when they end.
        let _ = std::process::Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
