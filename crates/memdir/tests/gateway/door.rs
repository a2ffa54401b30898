//! Who comes in: by the name that was asked for, by what a browser says, by whose program it is, by a token.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::house::{House, all_to};
use crate::wire::{Upstream, plain};

const TARGETS: [&str; 6] = [
    "/v1/messages",
    "/anthropic/v1/messages",
    "/__memdir/status",
    "/__memdir/status.json",
    "/__memdir/health",
    "/nothing",
];

/// S12.
#[test]
fn s12_only_our_own_names_are_answered() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::before(&upstream);
    let port = house.address.port();
    let hosts = [
        "Host: evil.test\r\n".to_owned(),
        format!("Host: evil.test:{port}\r\n"),
        format!("Host: localhost.evil.test:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.test:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}@evil\r\n"),
        "Host: 127.0.0.1@evil\r\n".to_owned(),
        "Host: api.anthropic.com\r\n".to_owned(),
        "Host:\r\n".to_owned(),
        String::new(),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.test\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}\r\n"),
    ];
    for target in TARGETS {
        for host in &hosts {
            let answer = house.raw(format!("GET {target} HTTP/1.1\r\n{host}\r\n")).unwrap();
            assert!(matches!(answer.status, 400 | 403), "{target} {host:?}: {}", answer.status);
        }
        let absolute =
            format!("GET http://127.0.0.1:{port}{target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        assert_eq!(house.raw(absolute).unwrap().status, 400, "{target}");
    }
    assert_eq!(upstream.seen(), []);
    let named = house.raw(format!("GET /v1/messages HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")).unwrap();
    assert_eq!(named.status, 200);
}

/// S13.
#[test]
fn s13_no_page_gets_in() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::before(&upstream);
    for header in [
        ("Origin", "http://evil.test"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        for target in TARGETS {
            let answer = house.ask("POST", target, &[header, ("Content-Type", "text/plain")], b"{}");
            assert_eq!(answer.status, 403, "{target} {header:?}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    assert_eq!(house.ask("OPTIONS", "/v1/messages", &[("Origin", "http://evil.test")], b"").status, 403);
    assert_eq!(upstream.seen(), []);
}

/// S12: other machines cannot reach it.
#[test]
fn s12_it_listens_on_this_machine_only() {
    let house = House::with("");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80", "example.com:80"] {
        let output = house.sandbox.memdir(&["gateway", "--listen", address]).code(2);
        assert!(output.stderr.contains("error:"), "{output}");
    }
}

/// S14: programs of other users need the token, and get nowhere without it.
#[test]
fn s14_other_users_need_the_token() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::before(&upstream);
    let ask = |uid: u32, target: &str| {
        let url = format!("http://{}{target}", house.address);
        let mut curl = Command::new("curl");
        curl.args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", &url])
            .current_dir("/")
            .uid(uid)
            .gid(uid);
        String::from_utf8(curl.output().unwrap().stdout).unwrap()
    };
    let me = rustix_uid();
    assert_eq!(ask(me, "/v1/messages"), "200");
    if me != 0 {
        return;
    }
    assert_eq!(ask(65_534, "/v1/messages"), "403");
    assert_eq!(ask(65_534, "/__memdir/status.json"), "403");
    assert_eq!(upstream.seen().len(), 1);
    assert_eq!(ask(65_534, &format!("/~{}/v1/messages", house.token())), "200");
    assert_eq!(ask(65_534, &format!("/~{}x/v1/messages", house.token())), "401");
    assert_eq!(upstream.seen()[1].line(), "POST /v1/messages HTTP/1.1");
}

fn rustix_uid() -> u32 {
    let output = Command::new("id").arg("-u").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// S14: where the user wants it, everybody needs the token, on every route.
#[test]
fn s14_the_token_can_be_asked_of_everybody() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::with(&format!("[gateway]\ntoken = \"always\"\n{}", all_to(&upstream.url())));
    let token = house.token();
    for target in TARGETS {
        assert_eq!(house.ask("POST", target, &[], b"{}").status, 401, "{target}");
        assert_eq!(house.ask("POST", target, &[("x-api-key", "wrong")], b"{}").status, 401, "{target}");
        assert_eq!(house.ask("GET", &format!("/~wrong{target}"), &[], b"").status, 401, "{target}");
    }
    assert_eq!(upstream.seen(), []);
    let bearer = format!("Bearer {token}");
    for header in [
        ("x-api-key", token.as_str()),
        ("Authorization", &bearer),
        ("x-goog-api-key", &token),
        ("X-Memdir-Token", &token),
    ] {
        assert_eq!(house.ask("POST", "/v1/messages", &[header], b"{}").status, 200, "{}", header.0);
    }
    assert_eq!(
        house.ask("POST", &format!("/~{token}/v1/messages"), &[("x-api-key", "sk-theirs")], b"{}").status,
        200
    );
    let answer = house.ask(
        "POST",
        &format!("/gemini/v1beta/models/m:generateContent?key={token}&alt=sse"),
        &[],
        b"{}",
    );
    assert_eq!(answer.status, 200);
    // The token is ours: no upstream ever sees it.
    for seen in upstream.seen() {
        assert!(!seen.head.contains(&token), "{}", seen.head);
    }
    assert!(upstream.seen()[4].head.contains("x-api-key: sk-theirs"));
    assert!(upstream.seen()[5].line().ends_with("generateContent?alt=sse HTTP/1.1"));
}

/// S14: a key in our care goes out only for those who bring the token.
#[test]
fn s14_a_key_of_ours_needs_the_token() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let settings = format!("[gateway.upstreams.local]\nurl = \"{}\"\nkey = \"mine\"\n", upstream.url());
    let house = House::with(&settings);
    house.sandbox.memdir(&["gateway", "key", "mine"]).stdin("sk-canary-of-ours\n").ok();
    house.signal("HUP");
    let token = house.token();
    crate::wire::until("the key is there", || {
        house
            .ask(
                "POST",
                "/local/v1/chat/completions",
                &[("Authorization", &format!("Bearer {token}"))],
                b"{}",
            )
            .status
            == 200
    });
    let sent = upstream.seen();
    assert_eq!(sent[0].header("authorization"), Some("Bearer sk-canary-of-ours"));
    for headers in [vec![], vec![("Authorization", "Bearer sk-theirs")], vec![("x-api-key", "")]] {
        assert_eq!(house.ask("POST", "/local/v1/chat/completions", &headers, b"{}").status, 401);
    }
    assert_eq!(upstream.seen().len(), sent.len());
}
