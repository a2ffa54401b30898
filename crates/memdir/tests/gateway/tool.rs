//! The memory tool through the gateway: called by the model, answered by the vault, unseen by the client and known to the model
//! in every later request.

use std::fs;
use std::time::Duration;

use memdir_testkit::{Request, Rule};
use serde_json::{Value, json};

use crate::memory::{PATIENT, World};
use crate::wire::{Answered, until};

const BY_VAULT: &str = "[gateway]\nmemory_tool = \"vault\"\n";
const NOTED: &str =
    "---\nname: project-harbour\ndescription: Which harbour\ntype: project\n---\nThe harbour is Rotterdam.\n";
const CREATED: &str = "File created successfully at: /memories/project-harbour.md";

fn create() -> Value {
    json!({"command": "create", "path": "/memories/project-harbour.md", "file_text": NOTED})
}

fn view() -> Value {
    json!({"command": "view", "path": "/memories/project-harbour.md"})
}

/// A model that notes something, looks at it, and tells.
fn rules() -> Vec<Rule> {
    vec![
        Rule::on_prompt("which harbour").says("Let me note it.").calls("memory", create()).reading(100),
        Rule::on_result(CREATED).calls("memory", view()).reading(200),
        Rule::on_result("The harbour is Rotterdam.").says("It is Rotterdam.").reading(300),
        Rule::always().says("As you wish.").reading(400),
    ]
}

fn body(messages: &Value, is_stream: bool) -> Value {
    json!({
        "model": "claude-opus-5-5", "max_tokens": 900, "stream": is_stream, "messages": messages,
        "tools": [{"type": "memory_20250818", "name": "memory"}, {"name": "bash", "input_schema": {"type": "object"}}],
    })
}

fn ask(world: &World, messages: &Value, is_stream: bool) -> Answered {
    let headers = [("x-api-key", "sk-client"), ("x-memdir-session", "s1"), ("accept-encoding", "gzip, br")];
    world.house.ask("POST", "/v1/messages", &headers, body(messages, is_stream).to_string().as_bytes())
}

/// What a client makes of an answer: its blocks and why it ended.
fn heard(answer: &Answered) -> (Vec<Value>, String) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    if answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        let value: Value = serde_json::from_slice(&answer.body).unwrap();
        let stop = value["stop_reason"].as_str().unwrap().to_owned();
        return (value["content"].as_array().unwrap().clone(), stop);
    }
    let (mut blocks, mut stop) = (Vec::<Value>::new(), String::new());
    for line in answer.text().lines().filter_map(|line| line.strip_prefix("data: ")) {
        let value: Value = serde_json::from_str(line).unwrap();
        let nth = value["index"].as_u64().map(|nth| usize::try_from(nth).unwrap());
        match value["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(nth, Some(blocks.len()));
                blocks.push(value["content_block"].clone());
            }
            "content_block_delta" => {
                let (block, delta) = (&mut blocks[nth.unwrap()], &value["delta"]);
                match delta["partial_json"].as_str() {
                    Some(input) => block["input"] = serde_json::from_str(input).unwrap(),
                    None => block["text"] = delta["text"].clone(),
                }
            }
            "message_delta" => value["delta"]["stop_reason"].as_str().unwrap().clone_into(&mut stop),
            _ => {}
        }
    }
    (blocks, stop)
}

fn texts(blocks: &[Value]) -> Vec<&str> {
    blocks.iter().map(|block| block["text"].as_str().unwrap_or("?")).collect()
}

fn roles(request: &Request) -> Vec<String> {
    let messages = request.body()["messages"].as_array().unwrap();
    messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
}

/// A.5, UX-20: the vault has what the model noted, the client sees one answer, and every later request goes on from what the
/// model had.
#[test]
fn the_vault_answers_and_the_client_sees_one_answer() {
    for is_stream in [true, false] {
        let world = World::set(rules(), PATIENT, BY_VAULT);
        let mut said = json!([{"role": "user", "content": "which harbour do we use?"}]);
        let (blocks, stop) = heard(&ask(&world, &said, is_stream));
        assert_eq!(texts(&blocks), ["Let me note it.", "It is Rotterdam."]);
        assert_eq!(stop, "end_turn");
        let file = world.house.sandbox.vault().join("project-harbour.md");
        assert!(fs::read_to_string(file).unwrap().contains("The harbour is Rotterdam."));

        let requests = world.model.requests();
        assert_eq!(requests.len(), 3);
        requests[1].continues(&requests[0]).unwrap();
        requests[2].continues(&requests[1]).unwrap();
        for request in &requests {
            assert_eq!(request.header("x-api-key"), Some("sk-client"));
            assert_eq!(request.header("accept-encoding"), Some("identity"));
        }
        said.as_array_mut().unwrap().push(json!({"role": "assistant", "content": blocks}));
        said.as_array_mut().unwrap().push(json!({"role": "user", "content": "thanks"}));
        assert_eq!(texts(&heard(&ask(&world, &said, is_stream)).0), ["As you wish."]);
        let next = world.model.requests().pop().unwrap();
        next.continues(&requests[2]).unwrap();
        assert_eq!(roles(&next), ["user", "assistant", "user", "assistant", "user", "assistant", "user"]);
        assert!(next.raw().contains(CREATED), "{}", next.raw());

        let status = world.house.status();
        let counts = &status["routes"]["anthropic POST /v1/messages"];
        assert_eq!((&counts["requests"], &counts["input_tokens"]), (&json!(4), &json!(1_000)), "{status}");
        assert_eq!(counts["output_tokens"], 80, "{status}");
    }
}

/// Nobody else answers in the client's place unless the user says so; nor where the client wants the call itself.
#[test]
fn a_client_keeps_its_memory_tool_unless_the_user_gives_it_away() {
    let world = World::set(rules(), PATIENT, "");
    let said = json!([{"role": "user", "content": "which harbour do we use?"}]);
    let (blocks, stop) = heard(&ask(&world, &said, true));
    assert_eq!(
        (blocks[1]["name"].as_str(), blocks[1]["input"].clone(), stop.as_str()),
        (Some("memory"), create(), "tool_use")
    );
    assert_eq!(world.model.requests().len(), 1);

    let world = World::set(rules(), PATIENT, BY_VAULT);
    for (field, value) in [
        ("tool_choice", json!({"type": "tool", "name": "memory"})),
        ("tool_choice", json!({"type": "any"})),
        ("tools", json!([{"name": "memory", "input_schema": {"type": "object"}}])),
    ] {
        let mut body = body(&said, true);
        body[field] = value;
        let answer = world.house.post(&body.to_string());
        assert_eq!(heard(&answer).1, "tool_use", "{field}");
    }
    assert_eq!(world.model.requests().len(), 3);
    assert!(!world.house.sandbox.vault().join("project-harbour.md").exists());
}

/// The client has a call of its own: it gets that one, and the model gets both results.
#[test]
fn a_call_beside_one_of_the_clients_is_answered_too() {
    for is_stream in [true, false] {
        let first = Rule::on_prompt("which harbour")
            .calls("memory", create())
            .calls("bash", json!({"command": "ls"}));
        let rules = vec![first, Rule::on_result("a.txt").says("Both done.")];
        let world = World::set(rules, PATIENT, BY_VAULT);
        let mut said = json!([{"role": "user", "content": "which harbour do we use?"}]);
        let (blocks, stop) = heard(&ask(&world, &said, is_stream));
        assert_eq!((blocks.len(), blocks[0]["name"].as_str(), stop.as_str()), (1, Some("bash"), "tool_use"));
        let result = json!({"type": "tool_result", "tool_use_id": blocks[0]["id"], "content": "a.txt"});
        said.as_array_mut().unwrap().push(json!({"role": "assistant", "content": blocks}));
        said.as_array_mut().unwrap().push(json!({"role": "user", "content": [result]}));
        assert_eq!(texts(&heard(&ask(&world, &said, is_stream)).0), ["Both done."]);
        let last = world.model.requests().pop().unwrap();
        let messages = &last.body()["messages"];
        assert_eq!(messages[1]["content"].as_array().unwrap().len(), 2);
        assert_eq!(messages[1]["content"][1]["name"], "memory");
        let results = messages[2]["content"].as_array().unwrap();
        assert_eq!(results[0]["tool_use_id"], messages[1]["content"][1]["id"]);
        assert_eq!(results[0]["content"], CREATED);
        assert_eq!(results[1], result);
    }
}

/// S7, S19: what is refused is told to the model, and a secret stands nowhere.
#[test]
fn a_secret_is_refused_and_stands_in_no_file() {
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let mut input = create();
    input["file_text"] = NOTED.replace("Rotterdam", &key).into();
    let rules = vec![
        Rule::on_prompt("which harbour").calls("memory", input),
        Rule::on_result("Error:").says("I may not note that."),
        Rule::always().says("As you wish."),
    ];
    let world = World::set(rules, PATIENT, BY_VAULT);
    let said = json!([{"role": "user", "content": "which harbour do we use?"}]);
    let (blocks, _) = heard(&ask(&world, &said, true));
    assert_eq!(texts(&blocks), ["I may not note that."]);
    let result = world.model.requests()[1].body()["messages"][2]["content"][0].clone();
    assert_eq!(result["is_error"], true, "{result}");
    let state = world.house.sandbox.state();
    let known = fs::read_to_string(state.join("gateway/conversations/s1.json")).unwrap();
    assert!(known.contains("\"kept\":[{") && known.contains("REDACTED"), "{known}");
    assert!(!known.contains(&key), "{known}");
    let said = json!([said[0], {"role": "assistant", "content": "I may not note that."}, {"role": "user", "content": "ok"}]);
    ask(&world, &said, true);
    assert_eq!(roles(&world.model.requests()[2]), ["user", "assistant", "user", "assistant", "user"]);
}

/// A model that is too busy to go on: a stream ends in the service's own error, and an answer in one piece is that refusal.
#[test]
fn a_model_that_cannot_be_asked_again_refuses_in_its_own_words() {
    let rules = || {
        vec![
            Rule::on_prompt("which harbour").says("Let me see.").calls("memory", view()),
            Rule::always().refuses_saying(529, "come back later"),
        ]
    };
    let said = json!([{"role": "user", "content": "which harbour do we use?"}]);
    let world = World::set(rules(), PATIENT, BY_VAULT);
    let answer = ask(&world, &said, true);
    assert!(
        answer.text().contains("Let me see.") && answer.text().contains("event: error\n"),
        "{}",
        answer.text()
    );
    assert!(
        answer.text().contains("come back later") && !answer.text().contains("message_stop"),
        "{}",
        answer.text()
    );
    let answer = ask(&world, &said, false);
    assert_eq!(answer.status, 529);
    assert!(answer.text().contains("come back later"), "{}", answer.text());
}

/// A stream that breaks off in the second answer breaks off for the client, and a client that leaves ends it.
#[test]
fn a_second_answer_breaks_and_ends_like_the_first() {
    let rules = vec![
        Rule::on_prompt("which harbour").says("Let me see.").calls("memory", view()),
        Rule::on_result("").says("Well, well.").breaks_off(300),
    ];
    let world = World::set(rules, PATIENT, BY_VAULT);
    let said = json!([{"role": "user", "content": "which harbour do we use?"}]);
    let answer = ask(&world, &said, true);
    assert!(answer.text().contains("Let me see.") && !answer.is_whole, "{}", answer.text());

    world.model.follow(vec![
        Rule::on_prompt("which harbour").says("Let me see.").calls("memory", view()),
        Rule::on_result("").says("Well, well.").waits(Duration::from_secs(50)),
    ]);
    let mut client = world.house.client();
    client.send(world.house.request("POST", "/v1/messages", &[], body(&said, true).to_string().as_bytes()));
    until("the model is asked again", || world.model.requests().len() == 4);
    assert_eq!(world.house.status()["open"], 2);
    drop(client);
    until("nothing is open any more", || world.house.status()["open"] == 0);
}

/// A client that is refused in the middle asks again, and the model calls again what was done: it is done once.
#[test]
fn what_was_done_before_an_answer_failed_is_not_done_again() {
    let insert = json!({"command": "insert", "path": "/memories/project-harbour.md", "insert_line": 6, "insert_text": "It has two cranes.\n"});
    let calls = || Rule::on_prompt("how many cranes").calls("memory", insert.clone());
    let told = || Rule::on_result("has been edited").once();
    let world = World::set(rules(), PATIENT, BY_VAULT);
    let said = json!([{"role": "user", "content": "which harbour do we use?"}]);
    assert_eq!(heard(&ask(&world, &said, false)).1, "end_turn");
    world.model.follow(vec![calls(), told().refuses(529), Rule::always().says("Two.")]);
    let said = json!([{"role": "user", "content": "how many cranes has it?"}]);
    assert_eq!(ask(&world, &said, false).status, 529);
    world.model.follow(vec![calls(), Rule::always().says("Two.")]);
    assert_eq!(texts(&heard(&ask(&world, &said, false)).0), ["Two."]);
    let text = fs::read_to_string(world.house.sandbox.vault().join("project-harbour.md")).unwrap();
    assert_eq!(text.matches("two cranes").count(), 1, "{text}");
    // Asked for in another turn it is done.
    let said = json!([said[0], {"role": "assistant", "content": "Two."}, {"role": "user", "content": "how many cranes? once more"}]);
    assert_eq!(heard(&ask(&world, &said, false)).1, "end_turn");
    let text = fs::read_to_string(world.house.sandbox.vault().join("project-harbour.md")).unwrap();
    assert_eq!(text.matches("two cranes").count(), 2, "{text}");
}

/// Who asks for memory to be left alone has a client with a tool of its own.
#[test]
fn who_wants_no_memory_keeps_the_tool() {
    let world = World::set(rules(), PATIENT, BY_VAULT);
    let mut said = json!([{"role": "user", "content": "ignore memory for this session"}]);
    assert_eq!(heard(&ask(&world, &said, true)).1, "end_turn");
    said.as_array_mut().unwrap().push(json!({"role": "assistant", "content": "As you wish."}));
    said.as_array_mut().unwrap().push(json!({"role": "user", "content": "which harbour do we use?"}));
    assert_eq!(heard(&ask(&world, &said, true)).1, "tool_use");
    assert!(!world.house.sandbox.vault().join("project-harbour.md").exists());
}
