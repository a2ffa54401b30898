//! Who comes in: names, pages, tokens, on every route that the server has.

use memdir_core::team::wire::Scope;
use memdir_server::routes::{Endpoint, Needs, ROUTES, Takes};
use memdir_testkit::Ask;
use serde_json::json;

use crate::world::{furnished, honest, prepare, server, state};

/// S12: a name that is not ours is refused on every route, before anything else is looked at.
#[test]
fn s12_a_name_that_is_not_ours_is_refused_on_every_route() {
    let server = server();
    let admin = server.admin();
    let things = furnished(&server, &admin, "crane");
    let before = state(&server, &admin);
    let port = server.port();
    let others = [
        "evil.test".to_owned(),
        format!("evil.test:{port}"),
        format!("localhost.evil.test:{port}"),
        format!("127.0.0.1.evil.test:{port}"),
        format!("127.0.0.1:{port}@evil.test"),
        "127.0.0.1@evil".to_owned(),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("0.0.0.0:{port}"),
        format!("127.1:{port}"),
        format!("2130706433:{port}"),
        format!("127.0.0.1.:{port}"),
        String::new(),
    ];
    for route in &ROUTES {
        let ask = honest(route, &admin.team, &things).token(&admin.token);
        let named = |ask: Ask| server.ask(&ask).status;
        for other in &others {
            let status = named(ask.clone().header("Host", other));
            assert!(matches!(status, 400 | 403), "{} {}: {other}: {status}", route.method, route.path);
        }
        let doubled = ask.clone().header("Host", &server.host()).also("Host", "evil.test");
        assert_eq!(named(doubled), 400, "{} {}: two names", route.method, route.path);
        let nameless = ask.header("Connection", "close").bytes(&server.host());
        let nameless =
            String::from_utf8(nameless).unwrap().replace(&format!("Host: {}\r\n", server.host()), "");
        let [answer] = &server.raw(nameless.as_bytes())[..] else { panic!("one answer") };
        assert_eq!(answer.status, 400, "{} {}: no name", route.method, route.path);
        let absolute =
            format!("{} http://evil.test/health HTTP/1.1\r\nHost: {}\r\n", route.method, server.host());
        let absolute = format!("{absolute}Connection: close\r\n\r\n");
        let [answer] = &server.raw(absolute.as_bytes())[..] else { panic!("one answer") };
        assert_eq!(answer.status, 400, "{} {}: an address", route.method, route.path);
    }
    assert_eq!(state(&server, &admin), before, "nothing happened");
}

/// S13: what a browser sends for a page is refused on every route, also from a page of the same address.
#[test]
fn s13_what_a_page_sends_is_refused_on_every_route() {
    let server = server();
    let admin = server.admin();
    let things = furnished(&server, &admin, "crane");
    let before = state(&server, &admin);
    let (own, page) = (server.url(), "http://evil.test");
    for route in &ROUTES {
        let ask = honest(route, &admin.team, &things).token(&admin.token);
        for (name, value) in [
            ("Origin", page),
            ("Origin", own.as_str()),
            ("Origin", "null"),
            ("Origin", ""),
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"),
            ("Sec-Fetch-Site", "same-origin"),
        ] {
            let answer = server.ask(&ask.clone().header(name, value));
            assert_eq!(answer.status, 403, "{} {}: {name}: {value}", route.method, route.path);
            let opens = answer.headers.iter().any(|(name, _)| name.starts_with("access-control-"));
            assert!(!opens, "no page is told that it may read");
        }
        let preflight = Ask::new("OPTIONS", route.path).header("Origin", page);
        assert_eq!(server.ask(&preflight.header("Access-Control-Request-Method", route.method)).status, 403);
    }
    assert_eq!(state(&server, &admin), before, "nothing happened");
}

/// S13: a body of a kind that a form can send is refused, and so is one of no kind.
#[test]
fn s13_bodies_that_a_form_could_send_are_refused() {
    let server = server();
    let admin = server.add_team("own", true);
    let things = furnished(&server, &admin, "crane");
    let before = state(&server, &admin);
    for route in ROUTES.iter().filter(|route| route.takes != Takes::Nothing) {
        let ask = honest(route, &admin.team, &things).token(&admin.token);
        for kind in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json"]
        {
            let status = server.ask(&ask.clone().header("Content-Type", kind)).status;
            assert_eq!(status, 415, "{} {}: {kind}", route.method, route.path);
        }
        assert_eq!(server.ask(&ask.clone().without("Content-Type")).status, 415, "{}", route.path);
        assert_eq!(server.ask(&ask.header("Content-Encoding", "br")).status, 415, "{}", route.path);
    }
    assert_eq!(state(&server, &admin), before, "nothing happened");
}

/// S13: reading changes nothing, whatever else the request says.
#[test]
fn s13_no_get_has_an_effect() {
    let server = server();
    let admin = server.add_team("own", true);
    let things = furnished(&server, &admin, "crane");
    let before = (state(&server, &admin), server.files().paths().map(str::to_owned).collect::<Vec<_>>());
    for route in ROUTES.iter().filter(|route| route.method == "GET") {
        let ask = honest(route, &admin.team, &things).token(&admin.token);
        for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"] {
            let answer = server.ask(&ask.clone().header(name, "DELETE").header("If-Match", &things.tag));
            assert!(answer.status < 500, "{}: {}", route.path, answer.text());
        }
        let with_body =
            ask.json(&json!({ "scope": "admin", "ops": [{ "op": "erase", "path": "project-crane.md" }] }));
        assert!(server.ask(&with_body).status < 500);
    }
    let after = (state(&server, &admin), server.files().paths().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(after, before);
}

/// Somebody who asks, and what they may do; nothing if they are nobody.
struct Asker {
    who: &'static str,
    token: Option<String>,
    scope: Option<Scope>,
}

/// S14: each route answers each kind of token as its line in the table says.
#[test]
fn s14_every_route_takes_the_tokens_that_it_declares_and_no_other() {
    let mut server = prepare()
        .options(&["--rate", "100000", "--burst", "100000", "--behind-proxy"])
        .env("MEMDIR_NOW", "2026-04-02T10:00:00Z")
        .start();
    let admin = server.add_team("own", true);
    let member = |name: &str, scope: &str| server.add(&admin, name, scope).token;
    let (reader, writer, second) = (member("rea", "read"), member("wil", "write"), member("sam", "admin"));
    let gone = member("joe", "admin");
    let made = |days: u32| {
        let ask = admin.ask("POST", "/tokens").json(&json!({ "scope": "admin", "days": days }));
        server.ask(&ask).want(201).json()
    };
    let (short, revoked) = (made(1), made(90));
    let revoked_id = revoked["id"].as_str().unwrap();
    server.ask(&admin.ask("DELETE", &format!("/tokens/{revoked_id}"))).want(204);
    server.ask(&admin.ask("DELETE", "/members/joe")).want(204);
    let (metrics, invite) = (server.metrics_token(), server.invite().to_owned());
    // Two days later the token of one day has expired.
    server.restart_with("MEMDIR_NOW", "2026-04-04T10:00:00Z");
    let one = |who, token: &str, scope| Asker { who, token: Some(token.to_owned()), scope };
    let wrong = format!("mdt_{}", "0".repeat(64));
    let cut = &admin.token[..admin.token.len() - 1];
    let askers = [
        Asker { who: "nobody", token: None, scope: None },
        one("a guess", &wrong, None),
        one("an empty token", "", None),
        one("a token that was cut", cut, None),
        one("a token and more", &format!("{}0", admin.token), None),
        one("an invitation", &invite, None),
        one("an expired token", short["token"].as_str().unwrap(), None),
        one("a revoked token", revoked["token"].as_str().unwrap(), None),
        one("a member who was revoked", &gone, None),
        one("the reader of metrics", &metrics, None),
        one("a reader", &reader, Some(Scope::Read)),
        one("a writer", &writer, Some(Scope::Write)),
        one("an admin", &second, Some(Scope::Admin)),
    ];
    let untouched = furnished(&server, &admin, "untouched");
    for (n, route) in ROUTES.iter().enumerate() {
        for (m, asker) in askers.iter().enumerate() {
            let expected = expected(route.endpoint, route.needs, asker);
            // Who succeeds gets things of their own to change; what others ask for stays as it is.
            let own =
                (expected == Expected::Success).then(|| furnished(&server, &admin, &format!("{n}-{m}")));
            let mut ask = honest(route, &admin.team, own.as_ref().unwrap_or(&untouched));
            if let Some(token) = &asker.token {
                ask = ask.token(token);
            }
            let answer = server.ask(&ask);
            let about = format!("{} {}: {}: {}", route.method, route.path, asker.who, answer.text());
            match expected {
                Expected::Success => assert!(route.succeeds.contains(&answer.status), "{about}"),
                Expected::Refusal(status) => assert_eq!(answer.status, status, "{about}"),
            }
        }
    }
    let memory = format!("/projects/shop/memories/{}", untouched.path);
    let tag = server.ask(&admin.ask("GET", &memory)).want(200).header("etag").map(str::to_owned);
    assert_eq!(tag, Some(untouched.tag), "who was refused changed nothing");
}

#[derive(PartialEq)]
enum Expected {
    Success,
    Refusal(u16),
}

/// What the table declares. What a member may do to themselves and only an admin to others is refused to others here.
fn expected(endpoint: Endpoint, needs: Needs, asker: &Asker) -> Expected {
    let is_of_metrics = asker.who == "the reader of metrics";
    match (needs, asker.scope) {
        (Needs::Nothing, _) => Expected::Success,
        (Needs::Metrics, _) if is_of_metrics => Expected::Success,
        (Needs::Metrics, _) | (Needs::Token(_), None) => Expected::Refusal(401),
        (Needs::Token(needed), Some(scope)) if scope < needed => Expected::Refusal(403),
        (Needs::Token(_), Some(scope)) if scope < Scope::Admin => match endpoint {
            Endpoint::RevokeMember => Expected::Refusal(403),
            Endpoint::RevokeToken => Expected::Refusal(404),
            _ => Expected::Success,
        },
        (Needs::Token(_), Some(_)) => Expected::Success,
    }
}

/// S14: who needs no token learns nothing but that the server is there.
#[test]
fn s14_what_needs_no_token_tells_nothing() {
    let server = server();
    let admin = server.admin();
    let things = furnished(&server, &admin, "crane");
    for target in ["/health", "/ready"] {
        assert_eq!(server.ask(&Ask::new("GET", target)).want(200).text(), "ok");
    }
    let described = server.ask(&Ask::new("GET", "/openapi.json")).want(200).text();
    for told in
        [&admin.token, &things.path, &things.member, &things.invite_id, &server.home().display().to_string()]
    {
        assert!(!described.contains(told.as_str()), "{told}");
    }
    for (method, target) in
        [("GET", "/"), ("GET", "/v1"), ("GET", "/v1/teams"), ("GET", "/admin"), ("GET", "/health/")]
    {
        let answer = server.ask(&Ask::new(method, target).token(&admin.token));
        assert_eq!(answer.status, 404, "{target}: what is not declared is not there");
    }
    assert_eq!(server.ask(&Ask::new("POST", "/health")).status, 405);
}

/// S14: no header of an answer names a program or a version, and nothing is kept by caches.
#[test]
fn s14_answers_say_what_they_must_and_no_more() {
    let server = server();
    let admin = server.admin();
    let me = server.ask(&Ask::new("GET", "/v1/me").token(&admin.token)).want(200);
    assert_eq!(me.header("memdir-protocol"), Some("1"));
    assert_eq!(me.header("cache-control"), Some("no-store"));
    assert_eq!(me.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(me.header("server"), None);
    let stranger = server.ask(&Ask::new("GET", "/v1/me")).want(401);
    assert_eq!(stranger.header("www-authenticate"), Some("Bearer"));
    assert!(stranger.header("set-cookie").is_none());
}
