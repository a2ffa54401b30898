//! The door of the HTTP server: raw bytes in, status lines out.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use memdir_testkit::Sandbox;
use serde_json::{Value, json};

use crate::host::{meta, reader, said, sandbox, server};
use routes::{Needs, ROUTES, Route};

/// The very table that the server serves by.
#[path = "../../src/mcp/http/routes.rs"]
mod routes;

/// Only a server that hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

struct House {
    child: Child,
    port: u16,
    token: String,
    read_token: String,
    _errors: Receiver<String>,
}

impl House {
    fn open(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = server(sandbox, &[&["--http", "127.0.0.1:0"], args].concat());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = reader(child.stderr.take().unwrap());
        let line = || errors.recv_timeout(PATIENCE).unwrap();
        let url = line();
        let port = url.rsplit_once(':').unwrap().1.strip_suffix("/mcp").unwrap().parse().unwrap();
        let token = |line: String| {
            std::fs::read_to_string(line.rsplit_once(": ").unwrap().1).unwrap().trim().to_owned()
        };
        let (token, read_token) = (token(line()), token(line()));
        Self { child, port, token, read_token, _errors: errors }
    }

    /// Sends bytes as they are and returns all that comes back until the server closes.
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A server that turns somebody away may close before it has read all.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a request with these headers; a body is sent as what the headers say it is.
    fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut request =
            format!("{method} {target} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let answer = self.raw(&format!("{request}\r\n{body}"));
        (status(&answer), answer)
    }

    /// Sends a request of the newest era as a proper host does.
    fn ask(&self, token: &str, method: &str, mut params: Value) -> (u16, Value) {
        params["_meta"] = meta();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let bearer = format!("Bearer {token}");
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![
            ("Host", self.host()),
            ("Authorization", bearer),
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
            ("MCP-Protocol-Version", "2026-07-28".to_owned()),
            ("Mcp-Method", method.to_owned()),
        ];
        if !name.is_empty() {
            headers.push(("Mcp-Name", name));
        }
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (status, answer) = self.send("POST", "/mcp", &headers, &body);
        (status, payload(&answer))
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(answer: &str) -> u16 {
    answer.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

/// Finds the message in an answer: plain, in chunks or as an event.
fn payload(answer: &str) -> Value {
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let lines = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines.filter_map(|line| serde_json::from_str(line).ok()).find(Value::is_object).unwrap_or(Value::Null)
}

/// An honest request to a route.
fn honest(house: &House, route: &Route, token: &str, change: impl Fn(&mut Vec<(String, String)>)) -> u16 {
    let mut headers: Vec<(String, String)> = [
        ("Host", house.host()),
        ("Authorization", format!("Bearer {token}")),
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", "tools/list".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    change(&mut headers);
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta() } })
        .to_string();
    let body = if route.method == "POST" { body } else { String::new() };
    house.send(route.method, route.path, &headers, &body).0
}

fn set(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    headers.retain(|(known, _)| known != name);
    headers.push((name.to_owned(), value.to_owned()));
}

/// A status that a route answers with once a request has come in.
fn has_come_in(status: u16) -> bool {
    !matches!(status, 0 | 401 | 403 | 408 | 413 | 415)
}

/// S12: only the names of this server count, on every route.
#[test]
fn s12_a_name_that_is_not_ours_is_refused_on_every_route() {
    let sandbox = sandbox();
    let house = House::open(&sandbox, &[]);
    for route in &ROUTES {
        for ours in [house.host(), format!("localhost:{}", house.port), format!("LOCALHOST:{}", house.port)] {
            let status = honest(&house, route, &house.token, |headers| set(headers, "Host", &ours));
            assert!(has_come_in(status), "{route:?} {ours}: {status}");
        }
        let bad = [
            "evil.test".to_owned(),
            format!("evil.test:{}", house.port),
            format!("localhost.evil.test:{}", house.port),
            format!("127.0.0.1.evil.test:{}", house.port),
            format!("127.0.0.1@evil:{}", house.port),
            format!("127.0.0.1:{}@evil.test", house.port),
            format!("127.0.0.1:{}.evil.test", house.port),
            "127.0.0.1".to_owned(),
            "127.0.0.1:1".to_owned(),
            "localhost".to_owned(),
            format!("0.0.0.0:{}", house.port),
            format!("127.0.0.1:{}, evil.test", house.port),
            format!("http://127.0.0.1:{}", house.port),
            String::new(),
        ];
        for host in bad {
            let status = honest(&house, route, &house.token, |headers| set(headers, "Host", &host));
            assert!(matches!(status, 400 | 403), "{route:?} {host:?}: {status}");
        }
        let doubled =
            honest(&house, route, &house.token, |headers| headers.push(("Host".into(), "evil.test".into())));
        assert!(matches!(doubled, 400 | 403), "{route:?}: {doubled}");
        let none = honest(&house, route, &house.token, |headers| headers.retain(|(name, _)| name != "Host"));
        assert!(matches!(none, 400 | 403), "{route:?}: {none}");
        for uri in
            [format!("http://evil.test{}", route.path), format!("http://{}{}", house.host(), route.path)]
        {
            let absolute = Route { path: Box::leak(uri.into_boxed_str()), ..*route };
            let status = honest(&house, &absolute, &house.token, |_| {});
            assert!(matches!(status, 400 | 403), "{absolute:?}: {status}");
        }
    }
}

/// S12: others cannot even connect: an address that other machines reach is refused.
#[test]
fn s12_only_this_machine_is_served() {
    let sandbox = sandbox();
    for address in ["0.0.0.0:0", "[::]:0", "192.168.1.1:0", "8.8.8.8:80", "example.test:0", "nonsense", ""] {
        let output = sandbox.memdir(&["mcp", "--http", address]).code(2);
        assert!(output.stderr.contains("error:"), "{address}: {output}");
    }
    assert!(!sandbox.state().exists(), "nothing was made");
}

/// S13: what a page in a browser can send is refused, and changes nothing.
#[test]
fn s13_a_page_in_a_browser_gets_nothing_done() {
    let sandbox = sandbox();
    sandbox.save("project-zebra", "Zebras cross first.");
    let house = House::open(&sandbox, &[]);
    let before = sandbox.vault_tree();
    let delete = json!({ "command": "delete", "path": "/memories/project-zebra.md" });
    let params = json!({ "name": "memory", "arguments": delete, "_meta": meta() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let bearer = format!("Bearer {}", house.token);
    let host = house.host();
    let own: [(&str, &str); 5] = [
        ("Host", &host),
        ("Authorization", &bearer),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
    ];
    let post = |more: &[(&str, &str)]| house.send("POST", "/mcp", &[&own[..], more].concat(), &body).0;
    let json_kind = ("Content-Type", "application/json");
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "application/jsonx",
        "text/plain; application/json",
    ] {
        assert_eq!(post(&[("Content-Type", kind)]), 415, "{kind}");
    }
    assert_eq!(post(&[]), 415, "no kind at all");
    let near = format!("http://127.0.0.1:{}", house.port + 1);
    let secure = format!("https://127.0.0.1:{}", house.port);
    let longer = format!("http://127.0.0.1:{}.evil.test", house.port);
    for origin in ["http://evil.test", "null", "", "http://127.0.0.1", &near, &secure, &longer, "file://"] {
        assert_eq!(post(&[json_kind, ("Origin", origin)]), 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "weird"] {
        assert_eq!(post(&[json_kind, ("Sec-Fetch-Site", site)]), 403, "{site}");
    }
    // A WebSocket, a preflight, and an effect by GET.
    let upgrade = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("Sec-WebSocket-Version", "13"),
    ];
    assert_ne!(house.send("GET", "/mcp", &[&own[..], &upgrade].concat(), "").0, 101);
    let preflight = [("Origin", "http://evil.test"), ("Access-Control-Request-Method", "POST")];
    let (status, answer) = house.send("OPTIONS", "/mcp", &[&own[..1], &preflight].concat(), "");
    assert!(status >= 400 && !answer.to_lowercase().contains("access-control-allow"), "{answer}");
    for query in ["?method=tools/call", "?command=delete"] {
        house.send("GET", &format!("/mcp{query}"), &[&own[..], &[json_kind]].concat(), &body);
    }
    assert!(before.changes(&sandbox.vault_tree()).is_empty());
}

/// S14: each route asks for what the table declares, and there is no other.
#[test]
fn s14_every_route_asks_for_the_token_it_declares() {
    let sandbox = sandbox();
    let old = House::open(&sandbox, &[]);
    let expired = old.token.clone();
    drop(old);
    let house = House::open(&sandbox, &["--new-tokens"]);
    assert_ne!(expired, house.token);
    let longer = format!("{}0", house.token);
    let wrong = ["", "x", &expired, &house.token[..63], &longer, &"0".repeat(64)];
    for route in &ROUTES {
        let without =
            honest(&house, route, "", |headers| headers.retain(|(name, _)| name != "Authorization"));
        let basic = honest(&house, route, "", |headers| {
            set(headers, "Authorization", &format!("Basic {}", house.token))
        });
        let doubled = honest(&house, route, &house.token, |headers| {
            headers.push(("Authorization".into(), "Bearer x".into()))
        });
        let refused = wrong.iter().map(|token| honest(&house, route, token, |_| {}));
        let statuses: Vec<u16> = [without, basic, doubled].into_iter().chain(refused).collect();
        match route.needs {
            Needs::Nothing => {
                assert!(statuses.iter().all(|status| *status == 200), "{route:?}: {statuses:?}")
            }
            Needs::Token => assert!(statuses.iter().all(|status| *status == 401), "{route:?}: {statuses:?}"),
        }
        for token in [&house.token, &house.read_token] {
            let status = honest(&house, route, token, |_| {});
            assert!(has_come_in(status), "{route:?}: {status}");
        }
    }
    // What the table does not have is not there, token or not.
    let host = house.host();
    let bearer = format!("Bearer {}", house.token);
    let headers =
        [("Host", host.as_str()), ("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    for path in [
        "/",
        "/mcp/",
        "/MCP",
        "/mcp/x",
        "//mcp",
        "/health/",
        "/metrics",
        "/sse",
        "/.well-known/oauth-protected-resource",
        "/../mcp",
        "/%6dcp",
    ] {
        for method in ["GET", "POST", "DELETE", "PUT", "HEAD"] {
            assert_eq!(house.send(method, path, &headers, "").0, 404, "{method} {path}");
        }
    }
    for method in ["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "DELETE", "POST", "GET"] {
        for path in ["/mcp", "/health"] {
            if !ROUTES.iter().any(|route| (route.method, route.path) == (method, path)) {
                assert_eq!(house.send(method, path, &headers, "").0, 405, "{method} {path}");
            }
        }
    }
    // Health tells that somebody is there, and nothing else.
    let (_, answer) = house.send("GET", "/health", &headers[..1], "");
    assert!(answer.ends_with("\r\n\r\nok") && !answer.to_lowercase().contains("memdir"), "{answer}");
}

/// S14: a token that may only read reads, and every tool that writes refuses it.
#[test]
fn s14_a_token_that_may_only_read_changes_nothing() {
    let sandbox = sandbox();
    sandbox.save("project-zebra", "Zebras cross first.");
    let house = House::open(&sandbox, &[]);
    let before = sandbox.vault_tree();
    let call = |token: &str, name: &str, arguments: Value| {
        let (status, answer) =
            house.ask(token, "tools/call", json!({ "name": name, "arguments": arguments }));
        assert_eq!(status, 200, "{answer}");
        said(&answer["result"])
    };
    let read = house.read_token.as_str();
    assert!(call(read, "search_memory", json!({ "query": "zebras" })).text.contains("project-zebra"));
    assert!(!call(read, "memory", json!({ "command": "view", "path": "/memories" })).is_error);
    let zebra = "/memories/project-zebra.md";
    for (name, arguments) in [
        ("memory", json!({ "command": "create", "path": "/memories/a.md", "file_text": "x" })),
        ("memory", json!({ "command": "str_replace", "path": zebra, "old_str": "Zebras", "new_str": "x" })),
        ("memory", json!({ "command": "insert", "path": zebra, "insert_line": 0, "insert_text": "x" })),
        ("memory", json!({ "command": "delete", "path": zebra })),
        ("memory", json!({ "command": "rename", "old_path": zebra, "new_path": "/memories/x.md" })),
        ("log_session", json!({ "summary": "x y z" })),
    ] {
        let said = call(read, name, arguments);
        assert!(said.is_error && said.text.contains("may only read"), "{name}: {said:?}");
    }
    assert!(before.changes(&sandbox.vault_tree()).is_empty());
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "x\n" });
    assert!(!call(&house.token, "memory", create).is_error);
    assert_eq!(sandbox.read("a"), "x\n");
}

/// Both eras over HTTP: a session by handshake, and requests that need none.
#[test]
fn both_eras_are_served_over_http() {
    let sandbox = sandbox();
    sandbox.save("project-zebra", "Zebras cross first.");
    let house = House::open(&sandbox, &[]);
    let (status, answer) = house.ask(&house.token, "server/discover", json!({}));
    assert_eq!((status, answer["result"]["resultType"].as_str()), (200, Some("complete")), "{answer}");
    let (_, answer) =
        house.ask(&house.token, "resources/read", json!({ "uri": "memdir://memory/project-zebra" }));
    assert!(answer["result"]["contents"][0]["text"].as_str().unwrap().contains("Zebras"), "{answer}");
    let (host, bearer) = (house.host(), format!("Bearer {}", house.token));
    let own = [
        ("Host", host.as_str()),
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let about = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about }).to_string();
    let (status, answer) = house.send("POST", "/mcp", &own, &hello);
    assert_eq!(status, 200, "{answer}");
    let session = answer
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned))
        .unwrap();
    let session =
        [&own[..], &[("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")]].concat();
    house.send(
        "POST",
        "/mcp",
        &session,
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
    );
    let call = json!({ "name": "memory", "arguments": { "command": "create", "path": "/memories/b.md", "file_text": "y\n" } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }).to_string();
    let (_, answer) = house.send("POST", "/mcp", &session, &call);
    assert!(answer.contains("File created successfully at: /memories/b.md"), "{answer}");
    assert_eq!(sandbox.memdir(&["log"]).json()[0]["reason"], "memory tool, create by old");
    assert!(matches!(house.send("DELETE", "/mcp", &session, "").0, 200 | 202 | 204));
    assert_eq!(house.send("POST", "/mcp", &session, &call).0, 404, "a session that is over");
}

/// Requests that break the rules of HTTP, or never end, do not get in anybody's way.
#[test]
fn broken_and_large_requests_are_refused_and_others_go_on() {
    let sandbox = sandbox();
    let house = House::open(&sandbox, &[]);
    let mut slow: Vec<TcpStream> = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(("127.0.0.1", house.port)).unwrap();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
        slow.push(stream);
    }
    let host = house.host();
    let smuggled =
        format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\nabcd");
    assert_eq!(status(&house.raw(&smuggled)), 400);
    assert_eq!(status(&house.raw("NONSENSE\r\n\r\n")), 400);
    let bearer = format!("Bearer {}", house.token);
    let own =
        [("Host", host.as_str()), ("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    assert_eq!(house.send("POST", "/mcp", &own, &"x".repeat(2 << 20)).0, 413);
    assert_eq!(house.send("GET", "/health", &own[..1], "").0, 200);
}
