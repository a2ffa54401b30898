//! T14, S22, T15: servers that are not what they should be.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use memdir_core::hash::ContentHash;
use serde_json::{Value, json};

use crate::world::Machine;

const OK: &str = "200 OK";
const V1: &str = "memdir-protocol: 1\r\n";

/// What a server says to a request.
type Says = Box<dyn Fn(&str) -> Vec<u8> + Send + Sync>;

/// A server that says what a test tells it to.
struct Stub {
    address: SocketAddr,
    says: Arc<Mutex<Says>>,
}

impl Stub {
    /// A server that lets everybody in.
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let says: Arc<Mutex<Says>> = Arc::new(Mutex::new(Box::new(|_: &str| empty())));
        let shared = Arc::clone(&says);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let says = Arc::clone(&shared);
                thread::spawn(move || {
                    while let Some(request) = read_request(&mut stream) {
                        let answer = match request.split(' ').nth(1) {
                            Some("/v1/join") => joined(),
                            _ => says.lock().unwrap()(&request),
                        };
                        if stream.write_all(&answer).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, says }
    }

    fn say(&self, says: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) {
        *self.says.lock().unwrap() = Box::new(says);
    }

    /// A member of its team who believes `ben`, with one memory of their own.
    fn victim(&self) -> Machine {
        let ann = Machine::new("ann");
        let invitation = format!("http://{}#mdi_{}", self.address, "0".repeat(48));
        ann.memdir(&["team", "join", &invitation, "--as", "ann"]).ok();
        ann.memdir(&["save", "feedback-mine", "--type", "feedback", "--description", "mine", "--force", "t"])
            .stdin("my own words that nobody else gets to see or change")
            .ok();
        ann.trust("ben");
        ann
    }
}

fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0; 1];
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    let mut body = vec![0; length.and_then(|length| length.trim().parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(head)
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn json_answer(body: &Value) -> Vec<u8> {
    answer(OK, V1, body.to_string().as_bytes())
}

fn joined() -> Vec<u8> {
    let body = json!({
        "token": format!("mdt_{}", "0".repeat(64)), "team": "crew", "kind": "team", "member": "ann",
        "scopes": ["read", "write"],
    });
    answer("201 Created", V1, body.to_string().as_bytes())
}

fn empty() -> Vec<u8> {
    json_answer(&json!({ "changes": [], "cursor": 1, "more": false }))
}

fn memory(name: &str, kind: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: what {name} is\ntype: {kind}\nscope: team\n---\n\nwords of the server about it\n"
    )
}

fn change(path: &str, text: &str) -> Value {
    json!({
        "path": path, "seq": 7, "hash": ContentHash::of(text.as_bytes()), "size": text.len(), "author": "ben",
        "at": "2026-04-02T09:00:00Z", "deleted": false, "text": text,
    })
}

/// S22.
#[test]
fn s22_a_server_cannot_speak_in_the_users_own_name() {
    let stub = Stub::start();
    let ann = stub.victim();
    ann.save("project-lamp", "the lamp is lit from dusk to dawn");
    let shared = ann.text("project-lamp");
    let sent = shared.clone();
    stub.say(move |request| {
        if request.contains("/batch") {
            let hash = ContentHash::of(sent.as_bytes());
            let result = json!({ "path": "project-lamp.md", "status": 201, "seq": 3, "hash": hash });
            return json_answer(&json!({ "before": 0, "results": [result], "cursor": 3 }));
        }
        empty()
    });
    ann.sync();
    // A new memory, another text of hers, and an erasure, all in her name.
    let named = |mut change: Value| {
        change["author"] = json!("ann");
        change
    };
    let install = memory("project-install", "project");
    let forged = shared.replace("dusk to dawn", "dawn to dusk");
    let says = move |changes: Value| {
        move |request: &str| {
            if !request.contains("/changes") {
                return answer("404 Not Found", V1, b"{}");
            }
            json_answer(&json!({ "changes": changes, "cursor": 9, "more": false }))
        }
    };
    stub.say(says(json!([
        named(change("project-install.md", &install)),
        named(change("project-lamp.md", &forged)),
    ])));
    let report = ann.sync();
    assert_eq!(report["held"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(ann.text("project-lamp"), shared);
    assert!(!ann.names().contains(&"project-install".to_owned()));
    let mut erased = named(change("project-lamp.md", &shared));
    (erased["deleted"], erased["erased"], erased["seq"]) = (json!(true), json!(true), json!(10));
    erased.as_object_mut().unwrap().remove("text");
    stub.say(says(json!([erased])));
    let report = ann.sync();
    assert_eq!(report["erased"], json!([]), "{report}");
    assert_eq!(ann.text("project-lamp"), shared, "what waits changes nothing");
}

/// T8: of a teammate whom the user trusts, too.
#[test]
fn what_somebody_erased_elsewhere_is_in_the_trash_and_one_undo_away() {
    let server = crate::world::Server::start(&[]);
    let ann = Machine::member("ann", &server.invite("ann", "write"));
    let ben = Machine::member("ben", &server.invite("ben", "admin"));
    ann.trust("ben");
    ann.save("project-lamp", "the lamp is lit from dusk to dawn");
    let before = ann.text("project-lamp");
    ann.synced();
    ben.trust("ann");
    ben.memdir(&["forget", "project-lamp", "--erase", "--yes"]).ok();
    let report = ann.sync();
    assert_eq!(
        (&report["erased"], &report["erased_there"]),
        (&json!([]), &json!(["project-lamp"])),
        "{report}"
    );
    assert!(ann.names().is_empty());
    ann.memdir(&["undo"]).ok();
    assert_eq!(ann.text("project-lamp"), before);
}

/// T14, S22.
#[test]
fn s22_each_bad_entry_is_refused_and_the_good_one_comes() {
    let stub = Stub::start();
    let ann = stub.victim();
    let before = ann.text("feedback-mine");
    let outside = ann.sandbox.root().join("outside.md");
    stub.say(|request| {
        if !request.contains("/changes") {
            return answer("404 Not Found", V1, b"{}");
        }
        let mut lying = change("project-lying.md", &memory("project-lying", "project"));
        lying["hash"] = json!(ContentHash::of(b"other"));
        let mut huge = change("project-huge.md", "x");
        huge["size"] = json!(1_u64 << 30);
        let private = memory("project-private", "project").replace("scope: team", "scope: private");
        // Put together here: our own scanner looks through this file too.
        let token = ["ghp", "R4nd0mK3yMaterialForTestUse1234xQ90007"].join("_");
        let secret = format!("{}\n{token}\n", memory("project-secret", "project"));
        let changes = json!([
            change("../../outside.md", &memory("outside", "project")),
            change("/outside.md", &memory("outside", "project")),
            change("MEMORY.md", "- [x](x.md)"),
            change("a/../../outside.md", &memory("outside", "project")),
            change("user-role.md", &memory("user-role", "user")),
            change("project-private.md", &private),
            change("project-secret.md", &secret),
            lying,
            huge,
            json!({ "path": "project-form.md", "seq": "seven" }),
            json!(null),
            change("project-good.md", &memory("project-good", "project")),
        ]);
        json_answer(&json!({ "changes": changes, "cursor": 9, "more": false }))
    });
    let report = ann.sync();
    assert_eq!(report["pulled"], json!(["project-good"]), "{report}");
    assert!(report["refused"].as_array().unwrap().len() >= 10, "{report}");
    assert_eq!(ann.text("feedback-mine"), before);
    assert!(!outside.exists() && !ann.sandbox.root().join("home/outside.md").exists());
    let mut names = ann.names();
    names.retain(|name| name != "feedback-mine");
    assert_eq!(names, ["project-good"]);
    assert!(!report.to_string().contains("R4nd0mK3y"), "a secret is named, not quoted");
}

/// T14, T15: what cannot be a memdir server is told, and changes nothing.
#[test]
fn t14_answers_that_cannot_be_right_are_told_and_change_nothing() {
    let stub = Stub::start();
    let ann = stub.victim();
    ann.save("project-here", "what is here already and was never sent to anybody");
    let tree = || {
        let mut files = Vec::new();
        crate::world::files_below(&ann.vault(), &mut |path, bytes| {
            files.push((path.to_owned(), bytes.to_vec()))
        });
        files.sort();
        files
    };
    let before = tree();
    let bomb = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        for _ in 0..1_000 {
            encoder.write_all(&[b' '; 100_000]).unwrap();
        }
        encoder.finish().unwrap()
    };
    let page = |n: u64| json!({ "changes": [change("project-x.md", "x")], "cursor": n, "more": true });
    let (stuck, none) = (page(0), json!({ "changes": [], "cursor": 9, "more": true }));
    let cases: Vec<(&str, Says)> = vec![
        (
            "another address",
            Box::new(|_| answer("302 Found", &format!("{V1}location: http://127.0.0.1:1/\r\n"), b"")),
        ),
        ("no memdir server", Box::new(|_| answer(OK, "", b"<html>welcome to the hotel</html>"))),
        ("not what was asked", Box::new(|_| answer(OK, V1, b"[1, 2"))),
        ("not what was asked", Box::new(|_| json_answer(&json!({ "changes": "many" })))),
        ("larger than", Box::new(move |_| answer(OK, &format!("{V1}content-encoding: gzip\r\n"), &bomb))),
        ("larger than", Box::new(|_| answer(OK, V1, &[b' '; 64 << 20]))),
        (
            "cannot be unpacked",
            Box::new(|_| answer(OK, &format!("{V1}content-encoding: gzip\r\n"), b"plain")),
        ),
        ("not asked for", Box::new(|_| answer(OK, &format!("{V1}content-encoding: br\r\n"), b"plain"))),
        ("do not go on", Box::new(move |_| json_answer(&stuck))),
        ("do not go on", Box::new(move |_| json_answer(&none))),
        ("protocol 2", Box::new(|_| answer(OK, "memdir-protocol: 2\r\n", b"{}"))),
        (
            "protocol 7, 8",
            Box::new(|_| {
                let body = json!({ "error": { "code": "protocol", "message": "no", "supported": [7, 8] } });
                answer("426 Upgrade Required", V1, body.to_string().as_bytes())
            }),
        ),
        ("does not let us in", Box::new(|_| answer("401 Unauthorized", V1, b"{}"))),
        ("no such place", Box::new(|_| answer("404 Not Found", V1, b"{}"))),
        (
            "is busy",
            Box::new(|_| answer("429 Too Many Requests", &format!("{V1}retry-after: 86400\r\n"), b"{}")),
        ),
        ("cannot be reached", Box::new(|_| answer("500 Internal Server Error", V1, b"{}"))),
    ];
    for (word, says) in cases {
        stub.say(says);
        let output = ann.memdir(&["sync"]).code(2);
        assert!(output.stderr.contains(word), "{word}: {output}");
        assert!(output.stderr.contains("hint"), "{output}");
        assert!(!output.stderr.contains("mdt_"), "{output}");
        assert_eq!(tree(), before, "{word}");
    }
    stub.say(|_| empty());
}

/// T14: one page more, for ever.
#[test]
fn t14_a_feed_without_an_end_is_given_up() {
    let stub = Stub::start();
    let ann = stub.victim();
    let at = Arc::new(Mutex::new(0_u64));
    stub.say(move |_| {
        let mut at = at.lock().unwrap();
        *at += 1;
        let path = format!("project-{at}.md");
        json_answer(&json!({ "changes": [change(&path, "x")], "cursor": *at, "more": true }))
    });
    let output = ann.memdir(&["sync"]).code(2);
    assert!(output.stderr.contains("pages"), "{output}");
    assert_eq!(ann.names(), ["feedback-mine"]);
}

/// T14: whoever answers about a batch answers about each write, or nothing of it counts.
#[test]
fn t14_an_answer_that_does_not_fit_the_batch_is_not_believed() {
    let stub = Stub::start();
    let ann = stub.victim();
    ann.save("project-here", "what is here and shall be sent to the team at once");
    for results in [
        json!([]),
        json!([{ "path": "project-other.md", "status": 201, "seq": 3 }]),
        json!([{ "path": "project-here.md", "status": 201 }]),
        json!([{ "path": "project-here.md", "status": 201, "seq": 3, "hash": ContentHash::of(b"other") }]),
    ] {
        stub.say(move |request| match request.starts_with("POST") {
            true => json_answer(&json!({ "before": 1, "results": results, "cursor": 2 })),
            false => empty(),
        });
        let report = ann.memdir(&["sync", "--json"]).code(1).json();
        assert_eq!(report["pushed"], json!([]), "{report}");
        assert!(report["cut"].as_str().is_some_and(|cut| cut.contains("cannot be right")), "{report}");
    }
    assert!(fs::read_dir(ann.vault()).unwrap().count() > 0);
}

/// T9.
#[test]
fn t9_a_busy_server_is_asked_again_and_is_done_with() {
    let stub = Stub::start();
    let ann = stub.victim();
    let n = Arc::new(Mutex::new(0));
    let asked = Arc::clone(&n);
    stub.say(move |_| {
        let mut n = asked.lock().unwrap();
        *n += 1;
        match *n {
            1 => answer("429 Too Many Requests", &format!("{V1}retry-after: 1\r\n"), b"{}"),
            2 => answer("503 Service Unavailable", V1, b"{}"),
            _ => empty(),
        }
    });
    let report = ann.synced();
    assert_eq!(report["requests"], 3);
    assert_eq!(*n.lock().unwrap(), 3);
}
