//! OpenAI's chat completions, which many other vendors speak as well.

use serde_json::{Value, json};

use super::http::Event;
use super::request::{Conversation, Request, Spoken, text_of};
use super::rule::{Answer, Part};
use super::server::fresh_id;

pub(super) fn read(body: &Value) -> Conversation {
    let mut spoken = Vec::new();
    for (at, message) in body["messages"].as_array().into_iter().flatten().enumerate() {
        let role = message["role"].as_str().unwrap_or("user").to_owned();
        let parts = match &message["content"] {
            Value::Array(parts) => parts.iter().map(text_of).collect(),
            other => vec![text_of(other)],
        };
        spoken.extend(parts.into_iter().map(|text| Spoken { role: role.clone(), text, message: at + 1 }));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let text = text_of(&call["function"]["arguments"]);
            spoken.push(Spoken { role: role.clone(), text, message: at + 1 });
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    let tools = tools.filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned)).collect();
    Conversation { spoken, tools }
}

pub(super) fn whole(request: &Request, answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": text(answer)});
    let calls = calls(answer);
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": fresh_id("chatcmpl"), "object": "chat.completion", "created": 1_775_126_400,
        "model": request.body()["model"], "usage": usage(request, answer),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}],
    })
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let id = fresh_id("chatcmpl");
    let chunk = |choices: Value| {
        json!({
            "id": id, "object": "chat.completion.chunk", "created": 1_775_126_400,
            "model": request.body()["model"], "choices": choices,
        })
    };
    let piece = |delta: Value, finish: Option<&str>| {
        Event::plain(&chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}])))
    };
    let mut events = vec![piece(json!({"role": "assistant", "content": ""}), None)];
    let text = text(answer);
    if !text.is_empty() {
        events.push(piece(json!({"content": text}), None));
    }
    for (index, mut call) in calls(answer).into_iter().enumerate() {
        call["index"] = json!(index);
        events.push(piece(json!({"tool_calls": [call]}), None));
    }
    events.push(piece(json!({}), Some(finish_reason(answer))));
    let mut close = chunk(json!([]));
    close["usage"] = usage(request, answer);
    events.push(Event::plain(&close));
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}

fn text(answer: &Answer) -> String {
    let texts = answer.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Call { .. } => None,
    });
    texts.collect()
}

fn calls(answer: &Answer) -> Vec<Value> {
    let calls = answer.parts.iter().filter_map(|part| match part {
        Part::Text(_) => None,
        Part::Call { tool, input } => {
            let function = json!({"name": tool, "arguments": input.to_string()});
            Some(json!({"id": fresh_id("call"), "type": "function", "function": function}))
        }
    });
    calls.collect()
}

fn usage(request: &Request, answer: &Answer) -> Value {
    let usage = answer.usage(request.raw().len());
    json!({
        "prompt_tokens": usage.input + usage.cached, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.cached + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.has_calls() { "tool_calls" } else { "stop" }
}
