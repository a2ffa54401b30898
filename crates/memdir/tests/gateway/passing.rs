//! What passes: every request and every answer as it came, whatever is in it.

use std::io::Write;

use crate::house::House;
use crate::wire::{Answered, EVENTS, Upstream, chunk, header, plain};

/// What Claude Code sends, with headers that nobody knows and a body that is not nicely written.
const HEADERS: [(&str, &str); 9] = [
    ("User-Agent", "claude-cli/2.1.325 (external, cli)"),
    ("X-Claude-Code-Session-Id", "6f1c"),
    ("anthropic-version", "2023-06-01"),
    ("anthropic-beta", "claude-code-20250219,interleaved-thinking-2025-05-14"),
    ("x-api-key", "sk-ant-client"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ("X-Stainless-Lang", "js"),
    ("x-UNKNOWN-Header", "  two  blanks"),
    ("Content-Type", "application/json"),
];

/// The head that an upstream is to see: ours, with its own name, and nothing of the connection.
fn expected_head(line: &str, upstream: &Upstream, length: usize) -> String {
    let headers: String =
        HEADERS.iter().map(|(name, value)| format!("{name}: {}\r\n", value.trim())).collect();
    format!("{line}\r\nHost: {}\r\n{headers}Content-Length: {length}\r\n\r\n", upstream.address)
}

#[test]
fn with_memory_off_an_upstream_sees_the_very_bytes() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    for off in [true, false] {
        let house = House::open(&crate::house::all_to(&upstream.url()), |command| {
            command.env("MEMDIR_OFF", if off { "1" } else { "0" });
        });
        // Blanks, escapes, doubled keys and bytes that are no UTF-8: nobody looks.
        let body = b"{ \"model\" :\"m\",\n\t\"a\":1, \"a\":1.0e0, \"t\":\"\\u00e4\\/\xff\xfe\" }  ".to_vec();
        for target in ["/v1/messages?beta=true", "/anthropic/v1/messages?beta=true&x=%20%2F"] {
            house.ask("POST", target, &HEADERS, &body);
            let seen = upstream.seen().pop().unwrap();
            let line = format!("POST {} HTTP/1.1", target.trim_start_matches("/anthropic"));
            assert_eq!(seen.head, expected_head(&line, &upstream, body.len()));
            assert_eq!(seen.body, body);
        }
    }
}

#[test]
fn every_vendor_is_reached_by_path_or_by_name() {
    let anthropic = Upstream::saying(plain("200 OK", "anthropic"));
    let openai = Upstream::saying(plain("200 OK", "openai"));
    let gemini = Upstream::saying(plain("200 OK", "gemini"));
    let own = Upstream::saying(plain("200 OK", "own"));
    let table = |name: &str, url: String| format!("[gateway.upstreams.{name}]\nurl = \"{url}\"\n");
    let house = House::with(
        &[
            table("anthropic", anthropic.url()),
            table("openai", openai.url()),
            table("gemini", gemini.url()),
            table("own", format!("{}/base/", own.url())),
        ]
        .concat(),
    );
    for (target, wanted) in [
        ("/v1/messages", "anthropic"),
        ("/v1/messages/count_tokens", "anthropic"),
        ("/v1/messages/batches", "anthropic"),
        ("/v1/responses", "openai"),
        ("/v1/chat/completions", "openai"),
        ("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini"),
        ("/v1beta/models/gemini-2.5-pro:generateContent", "gemini"),
        ("/gemini/v1beta/models", "gemini"),
        ("/openai/v1/messages", "openai"),
        ("/own/v1/chat/completions", "own"),
    ] {
        assert_eq!(house.ask("POST", target, &[], b"{}").text(), wanted, "{target}");
    }
    assert_eq!(own.seen()[0].line(), "POST /base/v1/chat/completions HTTP/1.1");
    assert_eq!(
        house.ask("GET", "/v1/models", &[("anthropic-version", "2023-06-01")], b"").text(),
        "anthropic"
    );
    assert_eq!(house.ask("GET", "/v1/models", &[("Authorization", "Bearer k")], b"").text(), "openai");
    assert_eq!(house.ask("HEAD", "/api/hello", &[], b"").status, 200);
    assert_eq!(house.ask("OPTIONS", "/v1/messages", &[], b"").text(), "anthropic");
    assert_eq!(house.ask("GET", "/unknown", &[], b"").status, 404);
}

#[test]
fn errors_and_odd_answers_pass_as_they_are() {
    let answers = [
        plain(
            "400 Bad Request",
            "{\"type\":\"error\",\"error\":{\"message\":\"messages.1: the exact words\"}}",
        ),
        plain("429 Too Many Requests", "{}")
            .replace("\r\n\r\n", "\r\nRetry-After: 1\r\nX-Ratelimit-Reset: 7\r\n\r\n"),
        plain("529 Overloaded", "{}"),
        plain("302 Found", "").replace("\r\n\r\n", "\r\nLocation: http://127.0.0.1:1/\r\n\r\n"),
        "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n".to_owned(),
        "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n".to_owned(),
        "HTTP/1.1 200 Odd Reason\r\nx-lower: 1\r\nX-Upper: 2\r\nContent-Length: 2\r\n\r\nok".to_owned(),
    ];
    for answer in answers {
        let upstream = Upstream::saying(answer.clone());
        let house = House::before(&upstream);
        let got = house.post("{}");
        let (head, _) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(sorted(&got.head), sorted(head), "{answer}");
        assert_eq!(got.body, answer.split_once("\r\n\r\n").unwrap().1.as_bytes());
        assert!(got.is_whole);
    }
}

/// The lines of a head; where a length of nothing stands among them is not for us to say.
fn sorted(head: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = head.trim_end().split("\r\n").collect();
    lines[1..].sort_unstable();
    lines
}

#[test]
fn an_answer_to_head_has_the_length_and_no_body() {
    let upstream = Upstream::saying("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-A: b\r\n\r\n");
    let house = House::before(&upstream);
    let mut client = house.client();
    for _ in 0..2 {
        client.send(house.request("HEAD", "/v1/messages", &[], b""));
        let answer = client.answer_to("HEAD").unwrap();
        assert_eq!(answer.head, "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-A: b\r\n\r\n");
    }
    assert_eq!(upstream.seen()[0].line(), "HEAD /v1/messages HTTP/1.1");
}

#[test]
fn what_is_of_a_connection_ends_with_it() {
    let upstream = Upstream::saying(
        "HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Theirs\r\nKeep-Alive: timeout=1\r\nX-Theirs: 1\r\nX-Kept: 1\r\nContent-Length: 0\r\n\r\n",
    );
    let house = House::before(&upstream);
    let headers = [
        ("Connection", "keep-alive, X-Mine"),
        ("Keep-Alive", "timeout=9"),
        ("X-Mine", "1"),
        ("Proxy-Connection", "x"),
        ("Upgrade", "h2c"),
    ];
    let answer = house.ask("POST", "/v1/messages", &headers, b"{}");
    assert_eq!(answer.head, "HTTP/1.1 200 OK\r\nX-Kept: 1\r\nContent-Length: 0\r\n\r\n");
    let seen = upstream.seen().remove(0);
    for name in ["connection", "keep-alive", "x-mine", "proxy-connection", "upgrade"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
    // Nor does a proxy say that it was one.
    for name in ["via", "x-forwarded-for", "forwarded"] {
        assert_eq!(seen.header(name), None, "{name}");
        assert_eq!(answer.header(name), None, "{name}");
    }
}

#[test]
fn bodies_in_chunks_and_with_hundred_continue_arrive() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::before(&upstream);
    let mut client = house.client();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        house.address
    );
    client.send(head);
    for piece in [&b"{\"a\":"[..], b"\"\xc3", b"\xa4\"}"] {
        client.send(chunk(piece));
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.answer().unwrap().status, 200);
    assert_eq!(upstream.seen()[0].body, "{\"a\":\"ä\"}".as_bytes());
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        house.address
    );
    client.send(head);
    assert_eq!(client.answer().unwrap().head, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    assert_eq!(client.answer().unwrap().status, 200);
    assert_eq!(upstream.seen()[1].body, b"body");
    assert_eq!(upstream.n_connections(), 1, "connections to upstreams are used again");
}

#[test]
fn packed_bodies_are_not_unpacked_on_the_way() {
    let packed: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    let answer =
        [b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5000\r\n\r\n".as_slice(), &packed]
            .concat();
    let upstream = Upstream::saying(answer);
    let house = House::before(&upstream);
    let got = house.ask("POST", "/v1/responses", &[("Content-Encoding", "zstd")], &packed);
    assert_eq!(upstream.seen()[0].header("content-encoding"), Some("zstd"));
    assert_eq!(upstream.seen()[0].body, packed);
    assert_eq!(got.header("content-encoding"), Some("br"));
    assert_eq!(got.body, packed);
}

#[test]
fn trailers_reach_those_who_take_them() {
    let upstream = Upstream::start(|_, stream| {
        stream.write_all(EVENTS.replace("\r\n\r\n", "\r\nTrailer: X-Sum\r\n\r\n").as_bytes())?;
        stream.write_all(&chunk(b"data: 1\n\n"))?;
        stream.write_all(b"0\r\nX-Sum: 7\r\n\r\n")
    });
    let house = House::before(&upstream);
    let mut client = house.client();
    client.send(house.request("POST", "/v1/messages", &[("TE", "trailers"), ("Connection", "close")], b"{}"));
    let all = String::from_utf8(client.all()).unwrap();
    assert!(all.to_lowercase().ends_with("0\r\nx-sum: 7\r\n\r\n"), "{all}");
    assert_eq!(header(&upstream.seen()[0].head, "te"), Some("trailers"));
}

/// Codex asks for a web socket first; any other refusal makes it wait for seconds.
#[test]
fn a_web_socket_is_refused_at_once() {
    let upstream = Upstream::saying(plain("200 OK", "{}"));
    let house = House::before(&upstream);
    let headers = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "eA=="),
        ("Sec-WebSocket-Version", "13"),
    ];
    for target in ["/v1/responses", "/openai/v1/responses"] {
        assert_eq!(house.ask("GET", target, &headers, b"").status, 426);
    }
    assert_eq!(upstream.seen(), []);
}

#[test]
fn an_upstream_that_is_not_there_is_told_in_the_words_of_every_vendor() {
    let gone = Upstream::saying("").url();
    let house = House::with(&format!(
        "[gateway.upstreams.anthropic]\nurl = \"{}\"\n",
        gone.replace("127.0.0.1:", "127.0.0.2:")
    ));
    let Answered { status, body, .. } = house.post("{}");
    assert_eq!(status, 502);
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["type"], "error");
    assert!(
        body["error"]["message"].as_str().unwrap().starts_with("memdir gateway: the upstream `anthropic`"),
        "{body}"
    );
}
