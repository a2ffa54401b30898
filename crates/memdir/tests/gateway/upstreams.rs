//! Where requests go: to what the user's settings name, whatever a request says, and their keys with them.

use std::fs;
use std::process::Command;

use crate::house::{House, all_to};
use crate::wire::{Upstream, plain};

/// S17: twenty ways to ask for another upstream.
#[test]
fn s17_no_request_chooses_where_it_goes() {
    let evil = Upstream::saying(plain("200 OK", "evil"));
    let upstream = Upstream::saying(
        plain("302 Found", "").replace("\r\n\r\n", &format!("\r\nLocation: {}/stolen\r\n\r\n", evil.url())),
    );
    let house = House::before(&upstream);
    let (ours, theirs) = (house.address, evil.address);
    let key = "x-api-key: sk-ant-canary\r\n";
    let post = |target: &str, headers: &str| {
        format!("POST {target} HTTP/1.1\r\nHost: {ours}\r\n{key}{headers}Content-Length: 2\r\n\r\n{{}}")
    };
    let requests = [
        format!("POST /v1/messages HTTP/1.1\r\nHost: {theirs}\r\n{key}Content-Length: 2\r\n\r\n{{}}"),
        post(&format!("http://{theirs}/v1/messages"), ""),
        post(&format!("//{theirs}/v1/messages"), ""),
        post(&format!("/anthropic//{theirs}/v1/messages"), ""),
        post(&format!("/@{theirs}/v1/messages"), ""),
        post(&format!("/anthropic/@{theirs}/v1/messages"), ""),
        post(&format!("/v1/messages@{theirs}"), ""),
        post(&format!("/{theirs}/v1/messages"), ""),
        post(&format!("/http://{theirs}/v1/messages"), ""),
        post(&format!("/anthropic/http://{theirs}/v1/messages"), ""),
        post(&format!("/v1/messages?base_url=http://{theirs}&url=http://{theirs}"), ""),
        post("/v1/messages", &format!("X-Forwarded-Host: {theirs}\r\n")),
        post("/v1/messages", &format!("Forwarded: host={theirs}\r\n")),
        post(
            "/v1/messages",
            &format!("X-Original-URL: http://{theirs}/\r\nX-Rewrite-URL: http://{theirs}/\r\n"),
        ),
        post(
            "/v1/messages",
            &format!("X-Base-Url: http://{theirs}\r\nx-memdir-upstream: http://{theirs}\r\n"),
        ),
        post(&format!("/anthropic/../../{theirs}/"), ""),
        post(&format!("/anthropic/%2e%2e/{theirs}/"), ""),
        post(&format!("/anthropic\\@{theirs}/v1/messages"), ""),
        post(&format!("/v1/messages#@{theirs}/"), ""),
        format!("CONNECT {theirs} HTTP/1.1\r\nHost: {ours}\r\n{key}\r\n"),
        format!("POST {theirs} HTTP/1.1\r\nHost: {ours}\r\n{key}Content-Length: 2\r\n\r\n{{}}"),
        post("/v1/messages", "").replace("{}", &format!("{{\"api_base\":\"http://{theirs}\"}}")).replace(
            "Length: 2",
            &format!("Length: {}", format!("{{\"api_base\":\"http://{theirs}\"}}").len()),
        ),
    ];
    for request in &requests {
        let answer = house.raw(request).unwrap_or_else(|| panic!("no answer to {request}"));
        // A redirect comes back as it is; it is the client's to follow.
        assert!(matches!(answer.status, 302 | 400 | 403 | 404), "{request}\n{}", answer.head);
        assert_ne!(answer.text(), "evil");
    }
    assert_eq!(evil.n_connections(), 0);
    assert!(!upstream.seen().is_empty());
    for seen in upstream.seen() {
        assert_eq!(seen.header("host"), Some(upstream.address.to_string().as_str()), "{}", seen.head);
    }
}

/// S18: another protocol that nobody asked for is not begun with the client.
#[test]
fn s18_an_upstream_cannot_switch_to_another_protocol() {
    let switching =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nraw bytes";
    let upstream = Upstream::saying(switching);
    let house = House::before(&upstream);
    let request = house.request("POST", "/v1/messages", &[], b"{}");
    let answer = house.raw(request).unwrap();
    assert_eq!(answer.status, 502, "{}", answer.head);
    assert!(answer.text().contains("another protocol") && !answer.text().contains("raw bytes"));
}

/// S17, S5: what a repository ships changes nothing.
#[test]
fn s17_a_repository_does_not_choose_either() {
    let (evil, upstream) =
        (Upstream::saying(plain("200 OK", "evil")), Upstream::saying(plain("200 OK", "good")));
    let house = House::before(&upstream);
    let shipped = house.sandbox.project().join(".memdir");
    fs::create_dir_all(&shipped).unwrap();
    fs::write(shipped.join("config.toml"), all_to(&evil.url())).unwrap();
    house.signal("HUP");
    let sandbox = &house.sandbox;
    fs::write(sandbox.project().join("config.toml"), all_to(&evil.url())).unwrap();
    for _ in 0..5 {
        assert_eq!(house.post("{}").text(), "good");
    }
    assert_eq!(evil.n_connections(), 0);
}

/// S5: a repository that has agents set where settings or trust come from starts nothing.
#[test]
fn s5_a_gateway_does_not_start_by_a_repositorys_variables() {
    let house = House::with("");
    let shipped = house.sandbox.project().join(".claude");
    fs::create_dir_all(&shipped).unwrap();
    for (name, value) in [("MEMDIR_HOME", "/evil"), ("SSL_CERT_FILE", "/evil/ca.pem")] {
        fs::write(shipped.join("settings.json"), format!("{{\"env\": {{\"{name}\": \"{value}\"}}}}"))
            .unwrap();
        let output = house.sandbox.memdir(&["gateway", "--listen", "127.0.0.1:0"]).env(name, value).code(1);
        assert!(output.stderr.contains(name), "{output}");
    }
}

/// S17: what is encrypted is read by whom the system trusts only.
#[test]
fn s17_an_upstream_proves_who_it_is() {
    let sandbox = memdir_testkit::Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    let (key, cert) = (sandbox.root().join("key.pem"), sandbox.root().join("cert.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=CA:FALSE",
        ])
        .args(["-keyout", key.to_str().unwrap(), "-out", cert.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(made.status.success());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = "import http.server,ssl,sys\n\
        class H(http.server.BaseHTTPRequestHandler):\n protocol_version='HTTP/1.1'\n \
        def do_POST(s):\n  b=s.rfile.read(int(s.headers['content-length']))\n  s.send_response(200)\n  \
        s.send_header('content-length',str(len(b)))\n  s.end_headers()\n  s.wfile.write(b)\n\
        h=http.server.ThreadingHTTPServer(('127.0.0.1',int(sys.argv[1])),H)\n\
        c=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\nc.load_cert_chain(sys.argv[2],sys.argv[3])\n\
        h.socket=c.wrap_socket(h.socket,server_side=True)\nh.serve_forever()\n";
    let mut server = Command::new("python3")
        .args(["-c", script, &port.to_string(), cert.to_str().unwrap(), key.to_str().unwrap()])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    crate::wire::until("the upstream listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    let settings = format!("[gateway.upstreams.anthropic]\nurl = \"https://localhost:{port}\"\n");
    let trusting = House::open(&settings, |command| {
        command.env("SSL_CERT_FILE", &cert);
    });
    assert_eq!(trusting.post("words").text(), "words");
    let doubting = House::with(&settings).post("words");
    assert_eq!(doubting.status, 502);
    assert!(doubting.text().contains("certificate"), "{}", doubting.text());
    server.kill().unwrap();
    server.wait().unwrap();
}

/// S17: a name that leads into a private network is not followed there, unless the user said so.
#[test]
fn s17_private_ranges_are_refused_unless_the_user_named_them() {
    let upstream = Upstream::saying(plain("200 OK", "inside"));
    let port = upstream.address.port();
    // No address by the rules of URLs, but resolvers know what is meant.
    let name = "127.1";
    let settings =
        |more: &str| format!("[gateway.upstreams.anthropic]\nurl = \"http://{name}:{port}\"\n{more}");
    let house = House::with(&settings(""));
    // Not encrypted, and by a name: not even tried.
    assert_eq!(house.post("{}").status, 404);
    let house = House::with(&settings("").replace("http:", "https:"));
    let answer = house.post("{}");
    assert_eq!(answer.status, 502);
    assert!(answer.text().contains("private network"), "{}", answer.text());
    assert_eq!(upstream.n_connections(), 0);
    assert_eq!(House::with(&settings("private = true\n")).post("{}").text(), "inside");
    assert_eq!(House::before(&upstream).post("{}").text(), "inside", "an address that the user wrote down");
}

/// S19: a key is sent where it belongs and is found nowhere else.
#[test]
fn s19_keys_are_nowhere_but_in_their_header() {
    let theirs = ["sk-ant-canary-", "9f2c7d1e"].concat();
    let ours = ["sk-proj-canary-", "4b8e6a3d"].concat();
    // An upstream that quotes the key, as some do in errors.
    let upstream = Upstream::start(|seen, stream| {
        let key = seen.header("x-api-key").or(seen.header("authorization")).unwrap_or_default();
        std::io::Write::write_all(stream, plain("401 Unauthorized", &format!("bad key {key}")).as_bytes())
    });
    let dead = "[gateway.upstreams.dead]\nurl = \"http://127.0.0.1:9\"\nkey = \"mine\"\n".to_owned();
    let own = format!("[gateway.upstreams.own]\nurl = \"{}\"\nkey = \"mine\"\n", upstream.url());
    let sandbox = memdir_testkit::Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
    fs::create_dir_all(sandbox.state()).unwrap();
    fs::write(sandbox.state().join("config.toml"), [all_to(&upstream.url()), own, dead].concat()).unwrap();
    sandbox.memdir(&["gateway", "key", "mine"]).stdin(&ours).ok();
    let house = House::open_in(sandbox, |_| {});
    let token = house.token();
    assert!(house.post("{}").text().contains("sk-client"), "the upstream's words reach the client");
    house.ask("POST", "/v1/messages", &[("x-api-key", &theirs)], b"{}");
    house.ask("POST", &format!("/v1beta/models/m:generateContent?key={theirs}"), &[], b"{}");
    house.ask("POST", &format!("/unknown/{theirs}"), &[("x-api-key", &theirs)], b"{}");
    house.raw(format!(
        "POST /v1/messages HTTP/1.1\r\nHost: {}\r\nx-api-key: {theirs}\r\nbroken\r\n\r\n",
        house.address
    ));
    assert!(
        house.ask("POST", "/own/v1/chat/completions", &[("x-api-key", &token)], b"{}").text().contains(&ours)
    );
    assert_eq!(house.ask("POST", "/dead/v1/chat/completions", &[("x-api-key", &token)], b"{}").status, 502);
    let status = house.status().to_string();
    let page = house.ask("GET", "/__memdir/status", &[], b"").text();
    let environment = fs::read(format!("/proc/{}/environ", house.child.id())).unwrap();
    let arguments = fs::read(format!("/proc/{}/cmdline", house.child.id())).unwrap();
    let shown = house.sandbox.memdir(&["gateway", "status"]).ok().to_string();
    crate::wire::until("the log is written", || house.sandbox.state().join("gateway/log/other.log").exists());
    let mut everywhere = vec![status, page, house.said(), shown];
    everywhere.push(String::from_utf8_lossy(&[environment, arguments].concat()).into_owned());
    for text in everywhere {
        for canary in [&theirs, &ours, &token] {
            assert!(!text.contains(canary.as_str()), "{text}");
        }
    }
    for (path, bytes) in files(&house.sandbox.state()) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&theirs), "{}", path.display());
        assert_eq!(text.contains(&ours), path.ends_with("keys/mine"), "{}", path.display());
        assert_eq!(text.contains(&token), path.ends_with("gateway.token"), "{}", path.display());
    }
}

fn files(dir: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(files(&entry.path())),
            kind if kind.is_file() => found.push((entry.path(), fs::read(entry.path()).unwrap())),
            _ => {}
        }
    }
    found
}
