//! Bytes that two readers could take for different requests: only what was plainly asked is done.

use memdir_testkit::{Ask, Member, TeamServer, team_memory};

use crate::world::{PROJECT, server};

/// What the smuggled request would write.
const HIDDEN: &str = "project-hidden.md";

/// Raw bytes by name, and the statuses that they are answered with. `@H` stands for a good `Host` and a token, `@S` for a whole
/// request that writes a memory, `@N` for its length, `@T` for the path of the team.
const CASES: [(&str, &str, &[u16]); 40] = [
    // What is plainly two requests is two, so that the others prove something.
    ("two requests", "GET /v1/me HTTP/1.1\r\n@H\r\n@S", &[200, 201]),
    (
        "a body, then a request",
        "POST @T/invites HTTP/1.1\r\n@HContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"scope\":\"read\"}@S",
        &[201, 201],
    ),
    ("an empty line before", "\r\n@S", &[201]),
    // Lengths and chunks.
    (
        "length, then chunks",
        "POST @T/invites HTTP/1.1\r\n@HContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    (
        "chunks, then length",
        "POST @T/invites HTTP/1.1\r\n@HContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    (
        "chunks",
        "POST @T/invites HTTP/1.1\r\n@HContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n@S",
        &[411],
    ),
    ("chunks on a GET", "GET /health HTTP/1.1\r\n@HTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n@S", &[411]),
    (
        "a chunk with an extension",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding: chunked\r\n\r\n1;a=b\r\nx\r\n0\r\n\r\n@S",
        &[411],
    ),
    (
        "a chunk with a quoted extension",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding: chunked\r\n\r\n1;a=\"\n\r\nx\r\n0\r\n\r\n@S",
        &[411],
    ),
    (
        "a chunk with a bare line feed",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding: chunked\r\n\r\n0\n\n@S",
        &[411],
    ),
    (
        "chunks twice",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n@S",
        &[411],
    ),
    (
        "chunks, then identity",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    (
        "chunks inside of identity",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    (
        "chunks by another name",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    (
        "chunks behind a vertical tab",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding:\x0bchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    (
        "chunks with a space before the colon",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    (
        "chunks in HTTP/1.0",
        "POST @T/invites HTTP/1.0\r\n@HTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    // Lengths.
    (
        "two lengths that differ",
        "GET /health HTTP/1.1\r\n@HContent-Length: 0\r\nContent-Length: @N\r\n\r\n@S",
        &[400],
    ),
    (
        "two lengths that agree",
        "GET /health HTTP/1.1\r\n@HContent-Length: @N\r\nContent-Length: @N\r\n\r\n@S",
        &[400],
    ),
    ("two lengths in one line", "GET /health HTTP/1.1\r\n@HContent-Length: 0, @N\r\n\r\n@S", &[400]),
    ("a length with a sign", "GET /health HTTP/1.1\r\n@HContent-Length: +0\r\n\r\n@S", &[400]),
    ("a length below zero", "GET /health HTTP/1.1\r\n@HContent-Length: -1\r\n\r\n@S", &[400]),
    ("a length in hexadecimal", "GET /health HTTP/1.1\r\n@HContent-Length: 0x0\r\n\r\n@S", &[400]),
    ("a length with a space in it", "GET /health HTTP/1.1\r\n@HContent-Length: 0 0\r\n\r\n@S", &[400]),
    ("an empty length", "GET /health HTTP/1.1\r\n@HContent-Length:\r\n\r\n@S", &[400]),
    (
        "a length beyond numbers",
        "GET /health HTTP/1.1\r\n@HContent-Length: 18446744073709551616\r\n\r\n@S",
        &[400],
    ),
    (
        "a request as the body of one that takes none",
        "GET /health HTTP/1.1\r\n@HConnection: close\r\nContent-Length: @N\r\n\r\n@S",
        &[200],
    ),
    // Lines.
    ("a line that goes on the one before", "GET /health HTTP/1.1\r\n@HX: a\r\n b\r\n\r\n@S", &[400]),
    (
        "chunks in a line that goes on",
        "POST @T/invites HTTP/1.1\r\n@HTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n@S",
        &[400],
    ),
    ("bare line feeds", "GET /health HTTP/1.1\n@H\n\n@S", &[400]),
    (
        "a header behind a bare line feed",
        "GET /health HTTP/1.1\r\n@HX: a\nContent-Length: @N\r\n\r\n@S",
        &[400],
    ),
    ("a header behind a bare return", "GET /health HTTP/1.1\r\n@HX: a\rContent-Length: @N\r\n\r\n@S", &[400]),
    ("an end by bare line feeds", "GET /health HTTP/1.1\r\n@H\n@S", &[400]),
    ("a zero in a header", "GET /health HTTP/1.1\r\n@HX: a\0b\r\n\r\n@S", &[400]),
    ("a header without a name", "GET /health HTTP/1.1\r\n@H: a\r\n\r\n@S", &[400]),
    // First lines.
    ("another version of HTTP", "GET /health HTTP/9.9\r\n@H\r\n@S", &[400]),
    ("the greeting of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n@S", &[]),
    ("a tunnel", "CONNECT evil.test:80 HTTP/1.1\r\n@H\r\n@S", &[400]),
    ("a space in the target", "GET /health /x HTTP/1.1\r\n@H\r\n@S", &[400]),
    ("no version", "GET /health\r\n@H\r\n@S", &[400]),
];

fn bytes(server: &TeamServer, admin: &Member, case: &str) -> Vec<u8> {
    let good = format!("Host: {}\r\nAuthorization: Bearer {}\r\n", server.host(), admin.token);
    let target = format!("/projects/{PROJECT}/memories/{HIDDEN}");
    let hidden = admin.ask("PUT", &target).header("If-None-Match", "*").header("Connection", "close");
    let hidden = hidden.body("text/markdown", team_memory("project-hidden", "Nobody asked for this."));
    let hidden = String::from_utf8(hidden.bytes(&server.host())).unwrap();
    let team = format!("/v1/teams/{}", admin.team);
    let case = case.replace("@N", &hidden.len().to_string()).replace("@T", &team).replace("@H", &good);
    case.replace("@S", &hidden).into_bytes()
}

/// Removes what was written, for the next case.
fn tidy(server: &TeamServer, admin: &Member) -> bool {
    let target = format!("/projects/{PROJECT}/memories/{HIDDEN}");
    let found = server.ask(&admin.ask("GET", &target));
    if found.status != 200 {
        return false;
    }
    let ask = admin.ask("DELETE", &target).header("If-Match", found.header("etag").unwrap());
    server.ask(&ask).want(200);
    server.keeper(&["purge", "--days", "0"]).ok();
    true
}

/// S18: each stream of bytes is as many requests as it plainly is.
#[test]
fn s18_only_what_was_plainly_asked_is_done() {
    let server = server();
    let admin = server.admin();
    let mut wrong = Vec::new();
    for (name, case, expected) in CASES {
        let answers = server.raw(&bytes(&server, &admin, case));
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        let is_written = tidy(&server, &admin);
        if statuses != expected || is_written != expected.contains(&201) {
            wrong.push(format!("{name}: {statuses:?} and not {expected:?}; written: {is_written}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// S18: heads have limits, and what is beyond them is not asked.
#[test]
fn s18_heads_without_end_are_refused() {
    let server = server();
    let admin = server.admin();
    let filler = |n: usize| (0..n).map(|n| format!("X-{n}: {}\r\n", "y".repeat(20))).collect::<String>();
    for (name, case, expected) in [
        (
            "a hundred thousand bytes in one header",
            format!("GET /health HTTP/1.1\r\n@HX: {}\r\n\r\n@S", "y".repeat(100_000)),
            431,
        ),
        ("two hundred headers", format!("GET /health HTTP/1.1\r\n@H{}\r\n@S", filler(200)), 431),
        ("ten thousand headers", format!("GET /health HTTP/1.1\r\n@H{}\r\n@S", filler(10_000)), 431),
        ("a long target", format!("GET /health?{} HTTP/1.1\r\n@H\r\n", "y".repeat(10_000)), 413),
        ("a target without end", format!("GET /health?{} HTTP/1.1\r\n@H\r\n@S", "y".repeat(100_000)), 431),
    ] {
        let case = if expected == 413 { case.replace("@H", "@HConnection: close\r\n") } else { case };
        let answers = server.raw(&bytes(&server, &admin, &case));
        // A socket that is closed over unread bytes may lose the answer on its way; what counts is that nothing was done.
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert!(
            statuses.iter().all(|status| matches!(status, 400 | 413 | 414 | 431)),
            "{name}: {statuses:?}"
        );
        assert!(!tidy(&server, &admin), "{name}");
    }
    assert_eq!(server.ask(&Ask::new("GET", "/health")).status, 200);
}

/// S18: nothing of a request comes back as a header of its answer.
#[test]
fn s18_no_header_of_an_answer_can_be_injected() {
    let server = server();
    let admin = server.admin();
    for target in [
        "/search?q=a%0d%0aInjected:%20yes",
        "/projects/a%0d%0aInjected:%20yes/changes",
        "/members/%0d%0aInjected:%20yes",
    ] {
        for method in ["GET", "DELETE", "PUT"] {
            let answer = server.ask(&admin.ask(method, target));
            assert!(answer.status < 500, "{target}: {}", answer.text());
            assert!(answer.header("injected").is_none(), "{target}");
        }
    }
}
