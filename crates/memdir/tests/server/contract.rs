//! The document at `/openapi.json` against the table of routes and against what the server really answers.

use std::collections::BTreeSet;

use memdir_server::routes::{Endpoint, Needs, ROUTES, Route};
use memdir_testkit::{Answer, Ask, TeamServer};
use regex::Regex;
use serde_json::{Value, json};

use crate::world::{furnished, gzipped, honest, prepare, server};

fn described(server: &TeamServer) -> Value {
    server.ask(&Ask::new("GET", "/openapi.json")).want(200).json()
}

fn operation<'d>(document: &'d Value, route: &Route) -> &'d Value {
    &document["paths"][route.path.replace("{*", "{")][route.method.to_ascii_lowercase()]
}

/// Says what of a value is not as a schema says; nothing if it fits. As much of JSON Schema as the document uses.
fn misfit(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let wrong = |what: &str| Some(format!("{what}: {value} against {schema}"));
    for (word, rule) in schema.as_object().unwrap() {
        let found = match word.as_str() {
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/components/schemas/").unwrap();
                misfit(document, &document["components"]["schemas"][name], value)
            }
            "type" => {
                let is = |name: &Value| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    other => panic!("the test does not know the type {other}"),
                };
                let fits = rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is));
                if fits { None } else { wrong("type") }
            }
            "enum" => {
                if rule.as_array().unwrap().contains(value) {
                    None
                } else {
                    wrong("enum")
                }
            }
            "const" => {
                if rule == value {
                    None
                } else {
                    wrong("const")
                }
            }
            "required" => {
                let absent =
                    rule.as_array().unwrap().iter().find(|name| value.get(name.as_str().unwrap()).is_none());
                absent.and_then(|name| wrong(&format!("{name} is missing")))
            }
            "properties" => {
                // What is not described is not sent.
                let unknown = value
                    .as_object()
                    .and_then(|object| object.keys().find(|key| rule.get(key.as_str()).is_none()));
                let inner = rule
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter_map(|(name, rule)| Some((rule, value.get(name)?)));
                unknown
                    .and_then(|name| wrong(&format!("{name} is not described")))
                    .or_else(|| inner.into_iter().find_map(|(rule, value)| misfit(document, rule, value)))
            }
            "items" => {
                value.as_array().and_then(|all| all.iter().find_map(|one| misfit(document, rule, one)))
            }
            "anyOf" | "oneOf" => {
                let n_fits = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|rule| misfit(document, rule, value).is_none())
                    .count();
                if n_fits == 1 || word == "anyOf" && n_fits > 0 { None } else { wrong("one of") }
            }
            "pattern" => {
                let fits = value
                    .as_str()
                    .is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text));
                if fits { None } else { wrong("pattern") }
            }
            "minimum" => {
                if value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()) {
                    None
                } else {
                    wrong("minimum")
                }
            }
            "maximum" => {
                if value.as_f64().is_none_or(|n| n <= rule.as_f64().unwrap()) {
                    None
                } else {
                    wrong("maximum")
                }
            }
            "maxLength" => {
                let limit = rule.as_u64().unwrap();
                if value.as_str().is_none_or(|text| text.chars().count() as u64 <= limit) {
                    None
                } else {
                    wrong("length")
                }
            }
            "maxItems" => {
                let limit = rule.as_u64().unwrap();
                if value.as_array().is_none_or(|all| all.len() as u64 <= limit) {
                    None
                } else {
                    wrong("items")
                }
            }
            "format" => {
                assert_eq!(rule, "date-time", "the test knows no other format");
                let is_time = |text: &str| text.parse::<jiff::Timestamp>().is_ok();
                if value.as_str().is_some_and(is_time) { None } else { wrong("time") }
            }
            "description" => None,
            other => panic!("the test does not know `{other}`: {schema}"),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Panics unless an answer has a status, a kind and a form that its operation declares.
#[track_caller]
fn check(document: &Value, route: &Route, answer: &Answer) {
    let about = format!("{} {} {}: {}", route.method, route.path, answer.status, answer.text());
    let declared = &operation(document, route)["responses"][answer.status.to_string()];
    assert!(declared.is_object(), "not declared: {about}");
    let kind = answer.header("content-type").map(|kind| kind.split(';').next().unwrap().to_owned());
    let Some(content) = declared["content"].as_object() else {
        assert!(answer.body.is_empty(), "nothing is declared: {about}");
        return;
    };
    let schema = &content[&kind.unwrap_or_else(|| panic!("no kind: {about}"))]["schema"];
    let value = answer.header("content-type").filter(|kind| kind.starts_with("application/json"));
    let value = value.map_or_else(|| json!(answer.text()), |_| answer.json());
    if let Some(wrong) = misfit(document, schema, &value) {
        panic!("{wrong}\n{about}");
    }
}

/// The document has every route, with what it needs and takes, and nothing else.
#[test]
fn the_document_is_the_table_of_routes() {
    let server = server();
    let document = described(&server);
    let paths = document["paths"].as_object().unwrap();
    let listed: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(move |method| (method.to_ascii_uppercase(), path.clone()))
        })
        .collect();
    let routes: BTreeSet<(String, String)> =
        ROUTES.iter().map(|route| (route.method.to_owned(), route.path.replace("{*", "{"))).collect();
    assert_eq!(listed, routes);
    for route in &ROUTES {
        let operation = operation(&document, route);
        assert_eq!(operation["security"].is_array(), route.needs != Needs::Nothing, "{}", route.path);
        let named: BTreeSet<&str> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let wanted: BTreeSet<&str> = route
            .path
            .split('/')
            .filter_map(|part| Some(part.strip_prefix('{')?.strip_suffix('}')?.trim_start_matches('*')))
            .collect();
        assert_eq!(named, wanted, "{}", route.path);
        for status in route.succeeds.iter().chain(route.fails) {
            assert!(operation["responses"][status.to_string()].is_object(), "{} {status}", route.path);
        }
    }
}

/// Every route answers, with success and with each kind of refusal, as the document says.
#[test]
fn every_answer_is_as_the_document_says() {
    let server = prepare().options(&["--rate", "100000", "--burst", "100000", "--behind-proxy"]).start();
    let document = described(&server);
    let admin = server.add_team("own", true);
    let metrics = server.metrics_token();
    for (n, route) in ROUTES.iter().enumerate() {
        let things = furnished(&server, &admin, &format!("thing-{n}"));
        let token = if route.needs == Needs::Metrics { &metrics } else { &admin.token };
        let ask = honest(route, &admin.team, &things);
        let good = server.ask(&ask.clone().token(token));
        assert!(route.succeeds.contains(&good.status), "{} {}: {}", route.method, route.path, good.text());
        check(&document, route, &good);
        if route.endpoint == Endpoint::GetMemory {
            check(
                &document,
                route,
                &server.ask(&ask.clone().token(token).header("If-None-Match", &things.tag)),
            );
        }
        let bad = [
            ask.clone(),
            ask.clone().token(token).header("Host", "evil.test"),
            ask.clone().token(token).header("Origin", "http://evil.test"),
            ask.clone().token(token).header("Memdir-Protocol", "2"),
            ask.clone().token(token).header("Transfer-Encoding", "chunked"),
            ask.clone().token(token).header("Content-Type", "text/plain"),
            ask.clone().token(token).header("Content-Encoding", "br"),
            ask.clone().token(token).header("If-Match", "x"),
            // What was done once cannot be done again.
            ask.clone().token(token),
            honest(route, "nobodys", &things).token(token),
        ];
        for ask in bad {
            check(&document, route, &server.ask(&ask));
        }
        let broken = ask.header("Content-Encoding", "gzip").token(token);
        for body in [b"no gzip".to_vec(), gzipped(b"{\"ops\": 7}"), gzipped(&vec![b' '; 8 << 20])] {
            let kind = ["application/json", "text/markdown", "application/x-ndjson"];
            for kind in kind {
                check(&document, route, &server.ask(&broken.clone().body(kind, body.clone())));
            }
        }
    }
}
