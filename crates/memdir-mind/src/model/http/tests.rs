//! A real socket, and everything that goes wrong on one.

use std::collections::BTreeMap;
use std::path::Path;

use memdir_testkit::{Api, ModelServer, Rule};
use serde_json::json;

use super::super::sample::{everything, strict};
use super::super::{Message, Schema, Stop};
use super::*;

const KEY: &str = "sk-canary-8731";
const ALL: [(Dialect, Api); 3] =
    [(Dialect::Anthropic, Api::Anthropic), (Dialect::Responses, Api::Responses), (Dialect::Chat, Api::Chat)];

fn service(server: &ModelServer, dialect: Dialect) -> Service {
    let env = Env::new(Path::new("/nowhere"), [], BTreeMap::new());
    Service::new(dialect, Base::parse(&server.url()).unwrap(), Secret::new(KEY), "m", &env).unwrap()
}

fn ask(server: &ModelServer, dialect: Dialect) -> (Result<Answer, ModelError>, u32) {
    let mut service = service(server, dialect);
    let request = Request { messages: vec![Message::user("hello")], max_tokens: 50, ..Request::default() };
    let answer = service.ask(&request);
    (answer, service.attempts())
}

#[test]
fn every_dialect_asks_with_its_key_and_reads_words_calls_and_counts() {
    for (dialect, api) in ALL {
        let rule = Rule::always().says("I look.").calls("read", json!({"name": "ä"})).taking(11, 70, 7);
        let server = ModelServer::start(vec![rule]);
        let answer = service(&server, dialect).ask(&everything()).unwrap();
        assert_eq!((answer.text().as_str(), answer.stop), ("I look.", Stop::Tools));
        assert!(
            matches!(&answer.parts[1], Part::Call { name, input, .. } if name == "read" && input["name"] == "ä")
        );
        assert_eq!(answer.usage, Usage { input: 11, cached: 70, stored: 0, output: 7 });
        let requests = server.requests();
        assert_eq!((requests.len(), requests[0].api()), (1, Some(api)));
        let sent = requests[0].header("x-api-key").or_else(|| requests[0].header("authorization")).unwrap();
        assert_eq!(sent.trim_start_matches("Bearer "), KEY);
        assert_eq!(requests[0].tools(), ["read", "list"]);
        assert!(requests[0].text().contains("no"), "what the tools said is there");
        assert!(!requests[0].raw().contains(KEY));
    }
}

#[test]
fn r2_06_the_schema_is_in_the_request_of_every_dialect() {
    for (dialect, _) in ALL {
        let server = ModelServer::start(vec![Rule::always().says("{\"n\":1}")]);
        let schema = Schema { name: "s".into(), schema: strict() };
        let request = Request {
            messages: vec![Message::user("a")],
            schema: Some(schema),
            max_tokens: 9,
            ..Request::default()
        };
        assert_eq!(service(&server, dialect).ask(&request).unwrap().text(), "{\"n\":1}");
        assert!(server.requests()[0].raw().contains(&strict().to_string()));
    }
}

#[test]
fn overload_is_met_by_asking_again_and_at_most_twice() {
    for status in [429, 500, 503, 529] {
        let server =
            ModelServer::start(vec![Rule::always().once().refuses(status), Rule::always().says("ok")]);
        let (answer, attempts) = ask(&server, Dialect::Anthropic);
        assert_eq!((answer.unwrap().text().as_str(), attempts, server.requests().len()), ("ok", 2, 2));
    }
    let server = ModelServer::start(vec![Rule::always().refuses(500)]);
    let (answer, attempts) = ask(&server, Dialect::Chat);
    assert!(matches!(answer, Err(ModelError::Unreachable(_))), "{answer:?}");
    assert_eq!((attempts, server.requests().len()), (3, 3));
}

#[test]
fn what_will_not_pass_is_not_asked_again() {
    for status in [400, 401, 403, 404, 422] {
        let server = ModelServer::start(vec![Rule::always().refuses(status)]);
        let (answer, attempts) = ask(&server, Dialect::Responses);
        assert!(matches!(answer, Err(ModelError::Refused(_))), "{status}: {answer:?}");
        assert_eq!((attempts, server.requests().len()), (1, 1));
    }
}

#[test]
fn a_service_says_how_long_to_wait_and_is_not_waited_for_too_long() {
    let server =
        ModelServer::start(vec![Rule::always().once().refuses_for(429, 1), Rule::always().says("ok")]);
    let began = Instant::now();
    assert!(ask(&server, Dialect::Anthropic).0.is_ok());
    assert!(began.elapsed() >= Duration::from_secs(1));
    let server = ModelServer::start(vec![Rule::always().refuses_for(429, 3_600)]);
    let (answer, attempts) = ask(&server, Dialect::Anthropic);
    assert!(matches!(answer, Err(ModelError::Unreachable(_))));
    assert_eq!((attempts, server.requests().len()), (1, 1));
}

#[test]
fn s19_a_service_that_sends_us_elsewhere_is_not_followed() {
    let thief = ModelServer::start(vec![Rule::always().says("thanks")]);
    let server = ModelServer::start(vec![Rule::always().redirects(&format!("{}/v1/messages", thief.url()))]);
    let (answer, _) = ask(&server, Dialect::Anthropic);
    assert!(matches!(answer, Err(ModelError::Refused(_))), "{answer:?}");
    assert!(thief.all_requests().is_empty());
}

#[test]
fn s19_a_key_that_a_service_repeats_is_not_repeated() {
    for (dialect, _) in ALL {
        let server = ModelServer::start(vec![Rule::always().refuses_saying(401, "bad key {key}, sorry")]);
        let error = ask(&server, dialect).0.unwrap_err().to_string();
        assert!(error.contains("bad key") && error.contains("[key]") && !error.contains(KEY), "{error}");
    }
}

#[test]
fn a_stream_that_breaks_off_anywhere_is_no_answer_and_is_not_paid_for_twice() {
    for (dialect, _) in ALL {
        for cut in [1, 7, 100, 180, 260] {
            let server = ModelServer::start(vec![Rule::always().says("half an answer").breaks_off(cut)]);
            let mut service = service(&server, dialect);
            let answer = service.ask(&everything());
            assert!(matches!(answer, Err(ModelError::Unreachable(_))), "{dialect:?} {cut}: {answer:?}");
            assert_eq!((server.requests().len(), service.begun()), (1, 1));
        }
    }
}

#[test]
fn what_is_no_stream_of_events_is_no_answer() {
    for garbled in ["data: {not json\n\n", "<html></html>", "data: \"\"\n\n", ""] {
        for (dialect, _) in ALL {
            let server = ModelServer::start(vec![Rule::always().garbles(garbled)]);
            let (answer, _) = ask(&server, dialect);
            assert!(answer.is_err(), "{dialect:?} {garbled:?}: {answer:?}");
        }
    }
}

#[test]
fn a_slow_service_is_left_when_the_time_is_up_and_a_slow_stream_too() {
    for rule in [
        Rule::always().says("late").waits(Duration::from_secs(20)),
        Rule::always().says("drip").trickles(Duration::from_secs(20)),
    ] {
        let server = ModelServer::start(vec![rule]);
        let mut service = service(&server, Dialect::Chat);
        service.limit_time(Duration::from_millis(400));
        let began = Instant::now();
        let answer = service.ask(&everything());
        assert_eq!(answer, Err(ModelError::Unreachable("no answer in time".into())));
        assert!(began.elapsed() < Duration::from_secs(15), "the time that was given counts");
        assert_eq!(service.begun(), 1, "somebody may have answered us all the same");
    }
}

#[test]
fn nobody_there_is_found_out_and_said_without_the_key() {
    let gone = ModelServer::start(Vec::new()).url();
    let env = Env::new(Path::new("/nowhere"), [], BTreeMap::new());
    let base = Base::parse(&gone.replace("127.0.0.1:", "127.0.0.1:1"))
        .or_else(|_| Base::parse("http://127.0.0.1:9"));
    let mut service = Service::new(Dialect::Chat, base.unwrap(), Secret::new(KEY), "m", &env).unwrap();
    service.limit_attempts(1);
    let error = service.ask(&everything()).unwrap_err().to_string();
    assert!(!error.contains(KEY) && !error.contains("http://"), "{error}");
    assert_eq!((service.attempts(), service.begun()), (1, 0));
}

#[test]
fn it_can_be_asked_from_within_another_runtime() {
    let server = ModelServer::start(vec![Rule::always().says("ok")]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(async { ask(&server, Dialect::Chat).0 });
    assert_eq!(answer.unwrap().text(), "ok");
}

#[test]
fn only_chat_nearby_is_free_of_charge() {
    let env = Env::new(Path::new("/nowhere"), [], BTreeMap::new());
    let metered = |dialect, base: &str| {
        Service::new(dialect, Base::parse(base).unwrap(), None, "m", &env).unwrap().is_metered()
    };
    assert!(!metered(Dialect::Chat, "http://127.0.0.1:11434"));
    assert!(metered(Dialect::Anthropic, "http://127.0.0.1:8080"), "a way to the vendor");
}
