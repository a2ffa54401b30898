//! Summaries by a conversation's own model: asked behind its own bytes, once, and used when it has become too long.

use std::time::Duration;

use memdir_testkit::{Request, Rule};
use serde_json::{Value, json};

use crate::memory::{PATIENT, World};
use crate::wire::until;

const BY_MODEL: &str = "[gateway]\nsummaries = \"model\"\n";
const ASKED: &str = "TEXT ONLY: call no tool";
const WORDS: &str = "## What the user wanted\n- green tests, as the model says\n";
/// Of 128,000 tokens: there is room, it becomes tight, it is too much.
const MUCH: u64 = 80_000;
const NEAR: u64 = 110_000;
const FULL: u64 = 125_000;
/// Gemini reads as many times more.
const GEMINI: u64 = 8;
const PATHS: [&str; 5] = [
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/v1beta/models/gemini-2.5-pro:generateContent",
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
];

/// A conversation that goes on and on.
struct Talk {
    world: World,
    path: &'static str,
    messages: Vec<Value>,
}

fn is_gemini(path: &str) -> bool {
    path.contains("/models/")
}

fn message(path: &str, is_users: bool, text: &str) -> Value {
    match (is_gemini(path), is_users) {
        (true, true) => json!({"role": "user", "parts": [{"text": text}]}),
        (true, false) => json!({"role": "model", "parts": [{"text": text}]}),
        (false, true) => json!({"role": "user", "content": text}),
        (false, false) => json!({"role": "assistant", "content": text}),
    }
}

impl Talk {
    fn new(rules: Vec<Rule>, settings: &str, path: &'static str) -> Self {
        let mut messages = vec![message(path, true, "make the tests pass")];
        for n in 0..20 {
            messages.push(message(path, false, &format!("step {n}: {}", "words ".repeat(300))));
            messages.push(message(path, true, &format!("go on with step {n}")));
        }
        Self { world: World::set(rules, PATIENT, settings), path, messages }
    }

    /// As much of the window as these are of 128,000 tokens.
    fn part(&self, tokens: u64) -> u64 {
        if is_gemini(self.path) { tokens * GEMINI } else { tokens }
    }

    fn body(&self) -> Value {
        if is_gemini(self.path) {
            let tools = json!([{"functionDeclarations": [{"name": "bash"}]}]);
            return json!({"tools": tools, "generationConfig": {"maxOutputTokens": 900}, "contents": self.messages});
        }
        let list = if self.path.ends_with("responses") { "input" } else { "messages" };
        json!({"model": "m", "max_tokens": 900, "tools": [{"name": "bash", "type": "function"}], list: self.messages})
    }

    /// The user says something; returns what the model got. The answer says how much it has read.
    fn say(&mut self, text: &str, reads: u64) -> Request {
        self.messages.push(message(self.path, false, "next"));
        self.messages.push(message(self.path, true, text));
        let reads = self.part(reads);
        self.world.model.follow(vec![
            Rule::always().having(ASKED).says(WORDS).taking(500, reads, 60),
            Rule::always().says("next").reading(reads),
        ]);
        let headers = [("authorization", "Bearer sk-client"), ("x-custom", "talk")];
        let answer = self.world.house.ask("POST", self.path, &headers, self.body().to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = self.world.model.requests();
        sent.into_iter().rfind(|request| !request.raw().contains(ASKED)).unwrap()
    }

    fn asked(&self) -> Vec<Request> {
        let requests = self.world.model.requests();
        requests.into_iter().filter(|request| request.raw().contains(ASKED)).collect()
    }

    /// Waits until what is known of the conversation holds a text.
    fn known(&self, text: &str) {
        let folder = self.world.house.sandbox.state().join("gateway/conversations");
        until(text, || {
            let files = std::fs::read_dir(&folder).unwrap().flatten();
            files.into_iter().any(|file| std::fs::read_to_string(file.path()).unwrap().contains(text))
        });
    }

    /// The receipts of summaries.
    fn receipts(&self) -> Vec<Value> {
        let folder = self.world.house.sandbox.state().join("costs");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let files = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "jsonl"));
        let lines: Vec<String> = files.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect();
        let receipts = lines.concat();
        let receipts = receipts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        receipts.filter(|receipt| receipt["job"] == "session").collect()
    }
}

/// CI-07, AC-01: the summary is asked for behind every byte of the conversation, its receipt says what the cache gave, and
/// what is shortened later is said in its words. Never twice for one state.
#[test]
fn a_summary_is_asked_behind_the_conversation_and_used_when_it_is_too_long() {
    for path in PATHS {
        let mut talk = Talk::new(Vec::new(), BY_MODEL, path);
        talk.say("one", MUCH);
        talk.known(&format!("\"read\":{}", talk.part(MUCH)));
        assert_eq!(talk.asked().len(), 0, "there is room");
        let before = talk.say("two", NEAR);
        talk.known("as the model says");
        let asked = talk.asked().pop().unwrap();
        asked.continues(&before).unwrap();
        let n_same = before.raw().bytes().zip(asked.raw().bytes()).take_while(|(a, b)| a == b).count();
        assert_eq!(before.raw().len() - n_same, 2, "all but the end of the list and of the request");
        assert_eq!(asked.header("authorization"), Some("Bearer sk-client"));
        assert_eq!(asked.header("x-custom"), Some("talk"));

        until("the receipt is there", || !talk.receipts().is_empty());
        let receipt = talk.receipts().pop().unwrap();
        let fields = ["job", "model", "cached", "tokens_out", "outcome"].map(|key| receipt[key].clone());
        let (model, cached) = (if is_gemini(path) { "gemini-2.5-pro" } else { "m" }, talk.part(NEAR));
        assert_eq!(json!(fields), json!(["session", model, cached, 60, "ok"]), "{receipt}");
        assert_eq!(receipt["tokens_in"], cached + 500);

        talk.say("three", FULL);
        talk.known("\"shortened\":{");
        let short = talk.say("four", MUCH);
        assert!(short.raw().len() < before.raw().len() * 2 / 3, "{path}");
        assert!(short.raw().contains("green tests, as the model says"), "{path}: {}", short.raw());
        assert_eq!(talk.asked().len(), 1, "once for one state");
        talk.say("five", MUCH).continues(&short).unwrap();
        let log = talk.world.house.said();
        assert!(log.contains("summary") && !log.contains("sk-client"), "{log}");
    }
}

/// It costs money, so nobody is asked unless the user says so.
#[test]
fn nobody_is_asked_for_a_summary_unless_the_user_wants_it() {
    let mut talk = Talk::new(Vec::new(), "", "/v1/chat/completions");
    talk.say("one", NEAR);
    talk.known(&format!("\"read\":{NEAR}"));
    talk.say("two", FULL);
    talk.known("\"shortened\":{");
    let short = talk.say("three", MUCH);
    assert!(short.raw().contains("What happened before this point"));
    assert_eq!((talk.asked().len(), talk.receipts().len()), (0, 0));
}

/// AC-02, AC-03: three in a row that are of no use, and nobody is asked again; the conversation is shortened by rules.
#[test]
fn a_model_that_sums_nothing_up_is_left_alone() {
    let mut talk = Talk::new(Vec::new(), BY_MODEL, "/v1/chat/completions");
    talk.say("begin", MUCH);
    talk.known(&format!("\"read\":{MUCH}"));
    for n in 1..=5 {
        let refusing =
            vec![Rule::always().having(ASKED).refuses(500), Rule::always().says("next").reading(NEAR)];
        talk.world.model.follow(refusing);
        talk.messages.push(json!({"role": "user", "content": format!("try {n}")}));
        let body = json!({"model": "m", "tools": [1], "messages": talk.messages}).to_string();
        let headers = [("x-custom", "talk")];
        assert_eq!(talk.world.house.ask("POST", talk.path, &headers, body.as_bytes()).status, 200);
        talk.known(&format!("\"unsummed\":{}", n.min(3)));
    }
    assert_eq!(talk.asked().len(), 3);
    talk.say("now", FULL);
    talk.known("\"shortened\":{");
    assert!(talk.say("and?", MUCH).raw().contains("What happened before this point"));
}

/// While a summary is being asked for, answers go on coming: it is not asked for again. Who is told to stop does not wait for it.
#[test]
fn a_summary_that_takes_long_is_asked_for_once_and_holds_up_no_end() {
    let mut talk = Talk::new(Vec::new(), BY_MODEL, "/v1/chat/completions");
    talk.say("begin", MUCH);
    talk.known(&format!("\"read\":{MUCH}"));
    let slow = Rule::always().having(ASKED).waits(Duration::from_secs(120)).says(WORDS);
    for (n, reads) in [NEAR, NEAR + 1, NEAR + 2].into_iter().enumerate() {
        talk.world.model.follow(vec![slow.clone(), Rule::always().says("next").reading(reads)]);
        talk.messages.push(json!({"role": "user", "content": format!("go on {n}")}));
        let body = json!({"model": "m", "tools": [1], "messages": talk.messages}).to_string();
        assert_eq!(talk.world.house.ask("POST", talk.path, &[], body.as_bytes()).status, 200);
        talk.known(&format!("\"read\":{reads}"));
        until("it is asked", || !talk.asked().is_empty());
    }
    assert_eq!(talk.asked().len(), 1);
    talk.world.house.signal("TERM");
    until("it has ended", || talk.world.house.child.try_wait().unwrap().is_some());
    assert!(talk.world.house.child.wait().unwrap().success());
    assert_eq!(talk.asked().len(), 1);
    assert!(!talk.world.house.said().contains("panicked"), "{}", talk.world.house.said());
}
