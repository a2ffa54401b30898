//! Memory in what passes: what stands behind a prompt, what stays of it in later requests, what is left alone, and what an
//! answer teaches.

use std::fs;

use memdir_testkit::{ModelServer, Request, Rule, Sandbox};

use serde_json::{Value, json};

use crate::house::{House, all_to};
use crate::wire::until;

const SAVED: &str = "Integration tests use a real PostgreSQL database, never mocks.";
const PROMPT: &str = "which database do the integration tests use?";
/// A machine under load is slow, and what is late is left out.
pub(crate) const PATIENT: &str = "20000";
/// The first words that a session is told.
const START: &str = "This machine keeps memory for you between sessions";

/// A user with one memory, a gateway and a model behind it.
pub(crate) struct World {
    pub(crate) house: House,
    pub(crate) model: ModelServer,
}

impl World {
    fn new() -> Self {
        Self::answered_by(vec![Rule::always().says("As you wish.")])
    }

    fn answered_by(rules: Vec<Rule>) -> Self {
        Self::with(rules, PATIENT)
    }

    fn with(rules: Vec<Rule>, deadline: &str) -> Self {
        Self::set(rules, deadline, "")
    }

    /// With settings beside those of the upstreams.
    pub(crate) fn set(rules: Vec<Rule>, deadline: &str, settings: &str) -> Self {
        let model = ModelServer::start(rules);
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        sandbox.save("test-database", SAVED);
        fs::write(sandbox.state().join("config.toml"), format!("{settings}{}", all_to(&model.url())))
            .unwrap();
        Self { house: open(sandbox, deadline), model }
    }

    /// Stops the gateway and starts another one.
    fn restarted(self) -> Self {
        let Self { mut house, model } = self;
        let _ = house.child.kill();
        let _ = house.child.wait();
        let empty = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let sandbox = std::mem::replace(&mut house.sandbox, empty);
        drop(house);
        Self { house: open(sandbox, PATIENT), model }
    }

    /// Sends a body and returns what the model got.
    pub(crate) fn send(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Request {
        let answer = self.house.ask("POST", path, headers, body.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        self.model.requests().pop().unwrap()
    }

    fn claude(&self, messages: &Value) -> Request {
        self.send("/v1/messages", &[("x-claude-code-session-id", "s1")], &claude(messages))
    }
}

fn open(sandbox: Sandbox, deadline: &str) -> House {
    House::open_in(sandbox, |command| {
        command.env("MEMDIR_HOOK_DEADLINE_MS", deadline);
    })
}

fn claude(messages: &Value) -> Value {
    json!({
        "model": "claude-opus-5-5", "max_tokens": 1000, "stream": true,
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cch=1;"}, {"type": "text", "text": "You are an agent."}],
        "messages": messages, "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
    })
}

/// A message as the client sends it when it is the last: with the mark for the cache.
fn marked(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn agent(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

/// R2-14, UX-20, CI-07: behind the prompt, never in the instructions, and from then on always there; also after a restart.
#[test]
fn what_is_put_in_once_is_put_in_again() {
    let world = World::new();
    let first = world.claude(&json!([marked(PROMPT)]));
    let blocks = first.body()["messages"][0]["content"].as_array().unwrap().clone();
    assert_eq!(blocks.len(), 2, "{blocks:#?}");
    let told = blocks[1]["text"].as_str().unwrap();
    assert!(told.starts_with("<system-reminder>\n") && told.ends_with("\n</system-reminder>"), "{told}");
    assert!(told.contains(SAVED) && told.contains(START), "{told}");
    assert_eq!(blocks[0]["cache_control"]["type"], "ephemeral");
    assert!(!first.body()["system"].to_string().contains("memdir"));

    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]});
    let result =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a b"}]});
    let second = world.claude(&json!([user(PROMPT), call, result]));
    second.continues(&first).unwrap();
    assert_eq!(
        second.body()["messages"][2]["content"].as_array().map(Vec::len),
        Some(1),
        "nothing beside a result"
    );

    let messages = json!([
        user(PROMPT),
        call,
        result,
        agent("PostgreSQL."),
        marked("and which database do the unit tests use?")
    ]);
    let third = world.claude(&messages);
    third.continues(&second).unwrap();
    let again = third.body()["messages"][4].to_string();
    assert!(!again.contains(SAVED) && !again.contains(START), "what was shown is not shown again: {again}");

    world.house.sandbox.save("another-thing", "The integration tests of the database take eight minutes.");
    let world = world.restarted();
    let mut messages = messages;
    messages[4] = user("and which database do the unit tests use?");
    messages.as_array_mut().unwrap().extend([agent("None."), marked("thanks")]);
    world.claude(&messages).continues(&third).unwrap();
}

/// A prompt that is sent again is the same prompt.
#[test]
fn a_prompt_that_is_tried_again_counts_once() {
    let world = World::answered_by(vec![Rule::always().once().refuses(529), Rule::always().says("ok")]);
    let body = claude(&json!([marked(PROMPT)])).to_string();
    let headers = [("x-claude-code-session-id", "s1")];
    assert_eq!(world.house.ask("POST", "/v1/messages", &headers, body.as_bytes()).status, 529);
    assert_eq!(world.house.ask("POST", "/v1/messages", &headers, body.as_bytes()).status, 200);
    let seen = world.model.requests();
    assert_eq!(seen[0].raw(), seen[1].raw());
    assert!(seen[0].raw().contains(SAVED));
}

#[test]
fn every_dialect_has_its_memories() {
    let world = World::new();
    let chat = json!({"model": "m", "stream": true, "tools": [{"type": "function", "function": {"name": "bash"}}], "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": PROMPT}]});
    let chat = world.send("/v1/chat/completions", &[], &chat);
    let said = chat.body()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(said.starts_with(PROMPT) && said.contains(SAVED), "{said}");

    let responses = json!({"model": "m", "stream": true, "tools": [{"type": "function", "name": "shell"}], "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}]});
    let responses = world.send("/v1/responses", &[("thread-id", "codex-1")], &responses);
    let part = &responses.body()["input"][0]["content"][1];
    assert_eq!(part["type"], "input_text");
    assert!(part["text"].as_str().unwrap().contains(SAVED));

    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": PROMPT}]}], "tools": [{"functionDeclarations": [{"name": "shell"}]}]});
    let gemini = world.send("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", &[], &gemini);
    assert!(gemini.body()["contents"][0]["parts"][1]["text"].as_str().unwrap().contains(SAVED));
}

/// What is no step of the conversation passes byte for byte, and what hooks have told is not told twice.
#[test]
fn side_requests_pass_as_they_came() {
    let world = World::new();
    let mut title = claude(&json!([user(PROMPT)]));
    title.as_object_mut().unwrap().remove("tools");
    let summary = claude(&json!([user("Respond with TEXT ONLY: a <summary> block.")]));
    let hooked = claude(
        &json!([user(PROMPT), {"role": "system", "content": format!("{START}: x\nRelevant saved memories [memdir 0123abcd]\nx\n[/memdir 0123abcd]")}]),
    );
    let mut doubled = claude(&json!([user(PROMPT)])).to_string();
    doubled.insert_str(1, "\"model\":\"m\",");
    let session = ("x-claude-code-session-id", "s1");
    let bodies = [
        (vec![session], title.to_string()),
        (vec![session], summary.to_string()),
        (vec![session], hooked.to_string()),
        (vec![session, ("x-claude-code-agent-id", "a1")], claude(&json!([user(PROMPT)])).to_string()),
        (vec![session], doubled),
    ];
    for (headers, body) in bodies {
        world.house.ask("POST", "/v1/messages", &headers, body.as_bytes());
        assert_eq!(world.model.requests().pop().unwrap().raw(), body);
    }
}

/// R2-02: no time is no memory, and no harm.
#[test]
fn without_time_everything_passes_as_it_came() {
    let world = World::with(vec![Rule::always().says("ok")], "0");
    let body = claude(&json!([marked(PROMPT)])).to_string();
    let answer =
        world.house.ask("POST", "/v1/messages", &[("x-claude-code-session-id", "s1")], body.as_bytes());
    assert_eq!(answer.status, 200);
    assert_eq!(world.model.requests().pop().unwrap().raw(), body);
}

/// The directory that the agent tells the model of decides whose memories come to mind.
#[test]
fn a_conversation_has_the_memories_of_its_project() {
    let TwoProjects { house, model, shop, bank } = TwoProjects::new();
    let ask = |headers: &[(&str, &str)], system: &str| {
        let body = json!({"model": "m", "tools": [{"type": "function", "function": {"name": "bash"}}], "messages": [{"role": "system", "content": system}, {"role": "user", "content": PROMPT}]});
        house.ask("POST", "/v1/chat/completions", headers, body.to_string().as_bytes());
        model.requests().pop().unwrap().raw().to_owned()
    };
    let told = ask(&[], &format!("You help.\nWorking directory: {shop}\n"));
    assert!(told.contains("PostgreSQL") && !told.contains("Oracle"), "{told}");
    let told = ask(&[("x-memdir-project", &bank)], "You help.");
    assert!(told.contains("Oracle") && !told.contains("PostgreSQL"), "{told}");
    let told = ask(&[("x-memdir-project", "/nowhere/at/all")], "You help more.");
    assert!(!told.contains("Oracle") && !told.contains("PostgreSQL"), "{told}");
}

/// Two projects with a memory each, and a gateway between a client and a model.
struct TwoProjects {
    house: House,
    model: ModelServer,
    shop: String,
    bank: String,
}

impl TwoProjects {
    fn new() -> Self {
        let model = ModelServer::start(vec![Rule::always().says("ok")]);
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let project = |name: &str, text: &str| {
            let dir = sandbox.root().join(name);
            fs::create_dir_all(&dir).unwrap();
            let args = ["save", "test-database", "--type", "project", "--description", text];
            sandbox.memdir(&args).without_env("MEMDIR_VAULT").cwd(&dir).stdin(text).ok();
            dir.display().to_string()
        };
        let shop = project("shop", "The integration tests of the shop use PostgreSQL.");
        let bank = project("bank", "The integration tests of the bank use Oracle.");
        fs::write(sandbox.state().join("config.toml"), all_to(&model.url())).unwrap();
        let house = House::open_in(sandbox, |command| {
            command.env_remove("MEMDIR_VAULT").env("MEMDIR_HOOK_DEADLINE_MS", PATIENT);
        });
        Self { house, model, shop, bank }
    }

    /// Sends a request in the name of a project and returns what the model was sent.
    fn ask(&self, target: &str, project: &str, headers: &[(&str, &str)], body: &Value) -> String {
        let headers = [headers, &[("x-memdir-project", project)]].concat();
        self.house.ask("POST", target, &headers, body.to_string().as_bytes());
        self.model.requests().pop().unwrap().raw().to_owned()
    }
}

/// Whatever else two requests have in common, a request of one project gets nothing of another's.
#[test]
fn no_request_of_a_project_gets_the_memories_of_another() {
    let messages = |extra: Value| {
        let mut body = claude(&json!([user(PROMPT)]));
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    let responses = |key: &str| {
        json!({"model": "gpt-5.4", "input": [{"role": "user", "content": PROMPT}], "prompt_cache_key": key,
            "tools": [{"type": "function", "name": "bash"}]})
    };
    let cases = [
        ("/v1/messages", vec![], messages(json!({}))),
        ("/v1/messages", vec![("x-memdir-session", "s1")], messages(json!({}))),
        ("/v1/messages", vec![("x-claude-code-session-id", "s2")], messages(json!({}))),
        ("/v1/messages", vec![], messages(json!({"metadata": {"user_id": "u1"}}))),
        ("/v1/messages", vec![], messages(json!({"metadata": {"user_id": "user_a_account__session_s3"}}))),
        ("/v1/responses", vec![], responses("k1")),
    ];
    for (target, headers, body) in cases {
        let world = TwoProjects::new();
        for round in 0..2 {
            let told = world.ask(target, &world.shop, &headers, &body);
            let case = format!("{target} {headers:?}, round {round}: {told}");
            assert!(told.contains("of the shop use") && !told.contains("of the bank use"), "{case}");
            let told = world.ask(target, &world.bank, &headers, &body);
            assert!(told.contains("of the bank use") && !told.contains("of the shop use"), "{case}: {told}");
        }
    }
}

/// A key of a cache is one for a whole program: conversations under one key are told apart by how they begin.
#[test]
fn a_shared_cache_key_joins_no_conversations() {
    let world = TwoProjects::new();
    let asked = |said: &str| {
        json!({"model": "gpt-5.4", "input": [{"role": "user", "content": said}], "prompt_cache_key": "app",
            "tools": [{"type": "function", "name": "bash"}]})
    };
    let first = world.ask("/v1/responses", &world.shop, &[], &asked(PROMPT));
    assert!(first.contains(START) && first.contains("of the shop use"), "{first}");
    world.ask("/v1/responses", &world.shop, &[], &asked("is the harbour open on Sundays?"));
    let folder = fs::read_dir(world.house.sandbox.state().join("gateway/conversations")).unwrap();
    assert_eq!(folder.count(), 2, "each is known by itself");
}

/// What a conversation was kept as before it had a project is put into no request: nobody knows whose it was.
#[test]
fn a_conversation_that_was_kept_without_its_project_is_begun_anew() {
    let world = TwoProjects::new();
    let body = claude(&json!([user(PROMPT)]));
    let session = [("x-memdir-session", "old")];
    world.ask("/v1/messages", &world.shop, &session, &body);
    let file = world.house.sandbox.state().join("gateway/conversations/old.json");
    let mut kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    kept.as_object_mut().unwrap().remove("project");
    fs::write(&file, kept.to_string()).unwrap();
    let told = world.ask("/v1/messages", &world.bank, &session, &body);
    assert!(told.contains("of the bank use") && !told.contains("of the shop use"), "{told}");
}

/// F1: an erased memory is in nothing that the gateway keeps, and in no later request of a conversation that had it.
#[test]
fn f1_what_is_erased_goes_upstream_no_more() {
    let mut world = World::new();
    let first = json!([user(PROMPT)]);
    let told = |world: &World, messages: &Value| {
        let body = claude(messages).to_string();
        world.house.ask("POST", "/v1/messages", &[("x-memdir-session", "s1")], body.as_bytes());
        world.model.requests().pop().unwrap().raw().to_owned()
    };
    assert!(told(&world, &first).contains("PostgreSQL"), "it was put in");
    // What the model answered is noted behind the answer.
    let gateway = world.house.sandbox.state().join("gateway");
    until("what was said is noted", || gateway.join("said/s1.jsonl").exists());
    world.house.sandbox.memdir(&["forget", "--erase", "--yes", "test-database"]).ok();
    let state = world.house.sandbox.state_tree();
    assert!(state.containing(b"PostgreSQL").is_empty(), "{:?}", state.containing(b"PostgreSQL"));
    let later = json!([user(PROMPT), {"role": "assistant", "content": "As you wish."}, user("go on then")]);
    for _ in 0..2 {
        let sent = told(&world, &later);
        assert!(!sent.contains("PostgreSQL") && !sent.contains("never mocks"), "{sent}");
        serde_json::from_str::<Value>(&sent).unwrap();
        world = world.restarted();
    }
}

/// What a user asks to be remembered is remembered, by the same work that hooks leave.
#[test]
fn what_was_said_is_learned_from() {
    let world = World::answered_by(vec![Rule::always().says("I will keep that in mind.")]);
    let asked = "remember that staging deploys only work from the office VPN because of the firewall";
    world.claude(&json!([marked(asked)]));
    let list = || world.house.sandbox.memdir(&["list"]).run().stdout;
    until("it is learned", || list().contains("vpn") || list().contains("VPN"));
    let said = fs::read_to_string(world.house.sandbox.state().join("gateway/said/s1.jsonl")).unwrap();
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(!said.contains("system-reminder"), "what we put in is nothing that anybody said");
}

/// AC-01, AC-05: what nears the window is shortened with the next request, once, and stays so.
#[test]
fn a_conversation_that_is_too_long_is_shortened_and_stays_shortened() {
    let world = World::answered_by(vec![Rule::always().says("next").reading(125_000)]);
    let tools = json!([{"type": "function", "function": {"name": "bash"}}]);
    let mut messages =
        vec![json!({"role": "system", "content": "S"}), json!({"role": "user", "content": PROMPT})];
    for n in 0..20 {
        messages.push(json!({"role": "assistant", "content": format!("step {n}: {}", "words ".repeat(300))}));
        messages.push(json!({"role": "user", "content": format!("go on with step {n}")}));
    }
    let ask = |messages: &[Value]| {
        world.send("/v1/chat/completions", &[], &json!({"model": "m", "tools": tools, "messages": messages}))
    };
    let first = ask(&messages);
    assert!(first.raw().len() > 30_000);
    let shortened = || {
        let folder = fs::read_dir(world.house.sandbox.state().join("gateway/conversations")).unwrap();
        folder.flatten().any(|file| fs::read_to_string(file.path()).unwrap().contains("\"shortened\":{"))
    };
    until("it was shortened", shortened);
    messages.push(json!({"role": "assistant", "content": "next"}));
    messages.push(json!({"role": "user", "content": "and now?"}));
    world.model.follow(vec![Rule::always().says("next").reading(60_000)]);
    let second = ask(&messages);
    assert!(
        second.raw().len() < first.raw().len() * 2 / 3,
        "{} of {}",
        second.raw().len(),
        first.raw().len()
    );
    assert!(second.raw().contains("What happened before this point"));
    assert!(second.raw().contains(START), "UX-13: what a session begins with outlasts it");
    messages.push(json!({"role": "assistant", "content": "next"}));
    messages.push(json!({"role": "user", "content": "and then?"}));
    ask(&messages).continues(&second).unwrap();
}

/// A step of a conversation with Gemini: a call that is signed, and its long result.
fn gemini_step(n: usize, is_signed: bool) -> [Value; 2] {
    let mut call =
        json!({"functionCall": {"name": "read_file", "args": {"file_path": format!("/p/{n}.rs")}}});
    if is_signed {
        call["thoughtSignature"] = json!("c2ln");
    }
    let response = json!({"output": format!("file {n}: {}", "words ".repeat(300))});
    let result = json!({"functionResponse": {"name": "read_file", "response": response}});
    [json!({"role": "model", "parts": [call]}), json!({"role": "user", "parts": [result]})]
}

/// AC-01: a person may have the original back; the client has it all along.
#[test]
fn a_shortened_conversation_can_have_its_full_length_again() {
    let full = vec![Rule::always().says("next").reading(125_000)];
    let world = World::answered_by(full);
    let mut messages = vec![json!({"role": "user", "content": PROMPT})];
    for n in 0..20 {
        messages.push(json!({"role": "assistant", "content": format!("step {n}: {}", "words ".repeat(300))}));
        messages.push(json!({"role": "user", "content": format!("go on with step {n}")}));
    }
    let mut ask = |said: &str| {
        messages.push(json!({"role": "assistant", "content": "next"}));
        messages.push(json!({"role": "user", "content": said}));
        let body = json!({"model": "m", "tools": [1], "messages": messages});
        world.send("/v1/chat/completions", &[("x-memdir-session", "talk")], &body)
    };
    let undo = |names: &[&str]| world.house.sandbox.memdir(&[&["gateway", "undo"], names].concat()).run();
    let file = world.house.sandbox.state().join("gateway/conversations/talk.json");
    let is_short = || fs::read_to_string(&file).is_ok_and(|known| known.contains("\"shortened\":{"));
    let whole = ask("one");
    until("it was shortened", is_short);
    let short = ask("two");
    assert!(short.raw().len() < whole.raw().len() * 2 / 3);
    until("it is shortened again", is_short);
    assert!(undo(&[]).stdout.contains("talk"));
    assert_eq!(undo(&["other"]).code, 1);
    assert_eq!(undo(&["talk"]).code, 0);
    let again = ask("three");
    again.continues(&whole).unwrap();
    assert_eq!(undo(&[]).code, 1, "and it stays so, however full it is");
    ask("four").continues(&again).unwrap();
    assert!(!is_short());
}

/// AC-01, AC-05: the same for Gemini, whose window is that of the model in the path. Calls keep their results and their
/// signatures, and a client that no longer sends old signatures has its conversation known again.
#[test]
fn a_conversation_with_gemini_is_shortened_and_stays_shortened() {
    for path in ["generateContent", "streamGenerateContent?alt=sse"] {
        let path = format!("/v1beta/models/gemini-2.5-pro:{path}");
        let world = World::answered_by(vec![Rule::always().says("next").reading(1_000_000)]);
        let say = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
        let ask = |contents: &[Value]| {
            let tools = json!([{"functionDeclarations": [{"name": "read_file"}]}]);
            world.send(&path, &[], &json!({"contents": contents, "tools": tools}))
        };
        let talk = |is_signed: bool, later: &[Value]| {
            let mut contents = vec![say("user", PROMPT)];
            contents.extend((0..20).flat_map(|n| gemini_step(n, is_signed || n >= 10)));
            contents.extend_from_slice(later);
            contents
        };
        let first = ask(&talk(true, &[]));
        let shortened = || {
            let folder = fs::read_dir(world.house.sandbox.state().join("gateway/conversations"));
            let mut files = folder.into_iter().flatten().flatten();
            files.any(|file| {
                fs::read_to_string(file.path()).is_ok_and(|known| known.contains("\"shortened\":{"))
            })
        };
        until("it was shortened", shortened);
        world.model.follow(vec![Rule::always().says("next").reading(600_000)]);
        let mut later = vec![say("model", "next"), say("user", "and now?")];
        let second = ask(&talk(true, &later));
        let (before, after) = (first.raw().len(), second.raw().len());
        assert!(after < before * 2 / 3, "{path}: {after} of {before}");
        let contents = second.body()["contents"].as_array().unwrap().clone();
        let summary = contents[0]["parts"][0]["text"].as_str().unwrap();
        assert!(
            contents[0]["role"] == "user" && summary.contains("What happened before this point"),
            "{summary}"
        );
        assert!(second.raw().contains(START), "UX-13: what a session begins with outlasts it");
        let kept = &contents[1..contents.len() - 2];
        let whole = talk(true, &[]);
        assert!(kept.len() >= 2 && kept[0]["role"] == "model", "{kept:?}");
        assert_eq!(kept, &whole[whole.len() - kept.len()..], "calls, results and signatures as they were");
        later.extend([say("model", "next"), say("user", "and then?")]);
        ask(&talk(false, &later)).continues(&second).unwrap();
    }
}

/// A client that leaves its history to the service sends what is new alone; it is still one conversation.
#[test]
fn a_conversation_that_the_service_holds_is_told_its_beginning_once() {
    let world = World::new();
    let ask = |follows: Option<&str>, text: &str| {
        let mut body = json!({"model": "m", "tools": [{"type": "function", "name": "shell"}], "input": text});
        if let Some(id) = follows {
            body["previous_response_id"] = id.into();
        }
        let answer = world.house.ask("POST", "/v1/responses", &[], body.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let sent = world.model.requests().pop().unwrap().raw().to_owned();
        (answer["id"].as_str().unwrap().to_owned(), sent)
    };
    let (id, first) = ask(None, PROMPT);
    assert!(first.contains(START) && first.contains(SAVED), "{first}");
    let (_, second) = ask(Some(&id), "and which database do the unit tests use?");
    assert!(!second.contains(START) && !second.contains(SAVED), "{second}");
}
