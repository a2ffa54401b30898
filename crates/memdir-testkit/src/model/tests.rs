//! The scripted model over a raw socket, in every dialect.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Api, ModelServer, Rule, Tee};

/// Sends one request on a connection of its own and returns status line, headers and body as they come.
fn send(model: &ModelServer, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(model.url().trim_start_matches("http://")).unwrap();
    write!(stream, "{head}\r\nHost: model\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn post(model: &ModelServer, path: &str, body: &Value) -> String {
    send(model, &format!("POST {path} HTTP/1.1"), &body.to_string())
}

/// The data of each event in a streamed answer, as JSON where it is JSON.
fn events(answer: &str) -> Vec<Value> {
    assert!(answer.contains("Transfer-Encoding: chunked"), "{answer}");
    let data = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text))).collect()
}

fn whole(answer: &str) -> Value {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Content-Length: "), "{head}");
    serde_json::from_str(body).unwrap()
}

fn anthropic(messages: &Value, stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "system": [{"type": "text", "text": "be brief"}],
           "tools": [{"name": "Bash"}], "messages": messages})
}

#[test]
fn the_first_rule_that_matches_answers_and_one_that_is_used_up_does_not() {
    let model = ModelServer::start(vec![
        Rule::on_prompt("hello").once().says("first"),
        Rule::on_prompt("hello").says("then"),
    ]);
    let ask = |text: &str| {
        let answer =
            post(&model, "/v1/messages", &anthropic(&json!([{"role": "user", "content": text}]), false));
        whole(&answer)["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!([ask("say hello"), ask("say hello"), ask("be silent")], ["first", "then", "OK"]);
}

#[test]
fn a_rule_may_want_a_certain_request_a_dialect_or_a_tool() {
    let model = ModelServer::start(vec![
        Rule::always().as_request(2).says("second"),
        Rule::always().over(Api::Chat).says("chat"),
        Rule::always().offering("Edit").says("edits"),
        Rule::always().having("be brief").says("brief"),
    ]);
    let hi = json!([{"role": "user", "content": "hi"}]);
    let first = whole(&post(&model, "/v1/messages", &anthropic(&hi, false)));
    let second = whole(&post(&model, "/v1/messages", &anthropic(&hi, false)));
    let third = whole(&post(&model, "/x/chat/completions", &json!({"messages": hi})));
    let fourth = whole(&post(&model, "/v1/messages", &json!({"messages": hi, "tools": [{"name": "Edit"}]})));
    assert_eq!(first["content"][0]["text"], "brief");
    assert_eq!(second["content"][0]["text"], "second");
    assert_eq!(third["choices"][0]["message"]["content"], "chat");
    assert_eq!(fourth["content"][0]["text"], "edits");
}

#[test]
fn anthropic_streams_text_and_a_call_and_claims_a_usage() {
    let rule = Rule::on_prompt("go").says("going").calls("Bash", json!({"command": "ls"})).reading(180_000);
    let model = ModelServer::start(vec![rule]);
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": "go"}]}]);
    let events = events(&post(&model, "/v1/messages?beta=true", &anthropic(&messages, true)));
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    assert_eq!(kinds, [&["message_start"], &block[..], &block, &["message_delta", "message_stop"]].concat());
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 180_000);
    assert_eq!(events[2]["delta"]["text"], "going");
    assert_eq!(events[5]["delta"]["partial_json"], r#"{"command":"ls"}"#);
    assert_eq!(events[7]["delta"]["stop_reason"], "tool_use");
}

#[test]
fn responses_stream_items_that_appear_grow_and_are_done() {
    let rule = Rule::always()
        .says("hm")
        .calls("mcp__memdir/search_memory", json!({"query": "x"}))
        .calls("patch", json!("bare"));
    let model = ModelServer::start(vec![rule]);
    let events =
        events(&post(&model, "/v1/responses", &json!({"model": "m", "stream": true, "input": "hi"})));
    let numbers: Vec<_> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let done: Vec<_> = events.iter().filter(|event| event["type"] == "response.output_item.done").collect();
    assert_eq!(done[0]["item"]["content"][0]["text"], "hm");
    assert_eq!(
        (&done[1]["item"]["namespace"], &done[1]["item"]["name"]),
        (&json!("mcp__memdir"), &json!("search_memory"))
    );
    assert_eq!(
        (&done[2]["item"]["type"], &done[2]["item"]["input"]),
        (&json!("custom_tool_call"), &json!("bare"))
    );
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], last["response"]["output"].as_array().unwrap().len()),
        (&json!("response.completed"), 3)
    );
}

#[test]
fn chat_streams_chunks_with_a_finish_and_an_end() {
    let model = ModelServer::start(vec![Rule::always().says("hm").calls("read", json!({"path": "a"}))]);
    let events = events(&post(&model, "/v1/chat/completions", &json!({"stream": true, "messages": []})));
    assert_eq!(events.last().unwrap(), "[DONE]");
    assert_eq!(events[1]["choices"][0]["delta"]["content"], "hm");
    assert_eq!(events[2]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"], r#"{"path":"a"}"#);
    assert_eq!(events[3]["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn gemini_streams_by_its_path() {
    let model =
        ModelServer::start(vec![Rule::on_prompt("hi").says("hm").calls("read_file", json!({"path": "a"}))]);
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    let events = events(&post(&model, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", &body));
    assert_eq!(events[0]["candidates"][0]["content"]["parts"][0]["text"], "hm");
    assert_eq!(events[0]["candidates"][0]["finishReason"], Value::Null);
    assert_eq!(events[1]["candidates"][0]["content"]["parts"][0]["functionCall"]["name"], "read_file");
    assert_eq!(events[1]["candidates"][0]["finishReason"], "STOP");
    let answer = whole(&post(&model, "/v1beta/models/gemini-2.5-pro:generateContent", &body));
    assert_eq!(answer["candidates"][0]["content"]["parts"].as_array().unwrap().len(), 2);
}

#[test]
fn whoever_asks_for_a_web_socket_is_told_to_speak_http() {
    let model = ModelServer::start(Vec::new());
    let answer = send(&model, "GET /v1/responses HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade", "");
    assert!(answer.starts_with("HTTP/1.1 426 "), "{answer}");
    assert!(model.requests().is_empty(), "that was no question to the model");
    assert_eq!(model.all_requests()[0].header("upgrade"), Some("websocket"));
}

#[test]
fn a_body_in_chunks_is_read_and_a_connection_is_used_again() {
    let model = ModelServer::start(vec![Rule::on_prompt("hello").says("heard")]);
    let mut stream = TcpStream::connect(model.url().trim_start_matches("http://")).unwrap();
    let body = anthropic(&json!([{"role": "user", "content": "hello"}]), false).to_string();
    let (left, right) = body.split_at(17);
    for _ in 0..2 {
        write!(
            stream,
            "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{left}\r\n{:x};x=y\r\n{right}\r\n0\r\n\r\n",
            left.len(),
            right.len()
        )
        .unwrap();
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.matches("heard").count(), 2, "{answer}");
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_tools_answer_is_told_from_a_prompt_also_with_a_hosts_note_behind_it() {
    let model = ModelServer::start(vec![
        Rule::on_prompt("go").calls("Bash", json!({})),
        Rule::on_result("output").says("done"),
    ]);
    let messages = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "the output"}]},
            {"type": "text", "text": "a note: go"},
        ]},
        {"role": "system", "content": "another note: go"},
    ]);
    let answer = whole(&post(&model, "/v1/messages", &anthropic(&messages, false)));
    assert_eq!(answer["content"][0]["text"], "done");
    let request = &model.requests()[0];
    assert_eq!(request.result().as_deref(), Some("the output"));
    let roles: Vec<_> = request.spoken().iter().map(|spoken| spoken.role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user", "system"]);
}

#[test]
fn a_request_continues_another_when_only_marks_for_the_cache_differ() {
    let model = ModelServer::start(Vec::new());
    let marked = json!([{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}]);
    let longer = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]);
    let changed = json!([{"role": "user", "content": "A"}, {"role": "assistant", "content": "b"}]);
    for messages in [&marked, &longer, &changed] {
        post(&model, "/v1/messages", &anthropic(messages, false));
    }
    let requests = model.requests();
    assert_eq!(requests[1].continues(&requests[0]), Ok(()));
    let error = requests[2].continues(&requests[1]).unwrap_err();
    assert!(error.starts_with("message 0 differs"), "{error}");
    let error = requests[0].continues(&requests[1]).unwrap_err();
    assert_eq!(error, "2 messages became 1");
}

#[test]
fn a_refusal_is_an_error_of_the_vendor() {
    let model = ModelServer::start(vec![Rule::always().refuses(529)]);
    let answer = post(&model, "/v1/messages", &anthropic(&json!([]), true));
    assert!(answer.starts_with("HTTP/1.1 529 "), "{answer}");
}

#[test]
fn a_tee_hands_everything_on_and_keeps_it() {
    let model = ModelServer::start(vec![Rule::always().says("Grüße")]);
    let tee = Tee::before(model.address());
    let ask = |address: &str, stream: bool| {
        let body = anthropic(&json!([{"role": "user", "content": "ä"}]), stream).to_string();
        let mut to = TcpStream::connect(address).unwrap();
        write!(
            to,
            "POST /v1/messages?a=b HTTP/1.1\r\nHost: x\r\nX-Key: k\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        to.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
        answer
    };
    let address = tee.address().to_string();
    let (whole, streamed) = (ask(&address, false), ask(&address, true));
    let seen = tee.exchanges();
    assert_eq!(seen.len(), 2);
    assert_eq!((seen[0].status(), seen[0].request.path()), (200, "/v1/messages?a=b"));
    assert!(whole.as_bytes().ends_with(&seen[0].answer()));
    let events = String::from_utf8(seen[1].answer()).unwrap();
    assert!(events.starts_with("event: message_start\n") && events.ends_with("\n\n"), "{events}");
    assert!(streamed.contains("Grüße") && events.contains("Grüße"));
    let asked = model.requests();
    assert_eq!(asked[0].bytes(), seen[0].request.bytes());
    assert_eq!(asked[0].header("x-key"), Some("k"));
}
