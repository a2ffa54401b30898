//! Anthropic's Messages.

use serde_json::{Value, json};

use super::http::Event;
use super::request::{Conversation, Request, Spoken, text_of};
use super::rule::{Answer, Part};
use super::server::fresh_id;

pub(super) fn read(body: &Value) -> Conversation {
    let mut spoken = Vec::new();
    let mut say =
        |role: &str, text: String, message| spoken.push(Spoken { role: role.to_owned(), text, message });
    match &body["system"] {
        Value::Array(blocks) => blocks.iter().for_each(|block| say("system", text_of(block), 0)),
        other => say("system", text_of(other), 0),
    }
    for (at, message) in body["messages"].as_array().into_iter().flatten().enumerate() {
        let role = message["role"].as_str().unwrap_or("user");
        if let Value::String(text) = &message["content"] {
            say(role, text.clone(), at + 1);
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_result") => say("tool", text_of(&block["content"]), at + 1),
                Some("tool_use") => say(role, block["input"].to_string(), at + 1),
                _ => say(role, text_of(block), at + 1),
            }
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    let tools = tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
    Conversation { spoken, tools }
}

pub(super) fn whole(request: &Request, answer: &Answer) -> Value {
    let usage = answer.usage(request.raw().len());
    let content: Vec<Value> = answer.parts.iter().map(block).collect();
    json!({
        "id": fresh_id("msg"), "type": "message", "role": "assistant", "model": request.body()["model"],
        "content": content, "stop_reason": stop_reason(answer), "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input, "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": 0,
        },
    })
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let message = whole(request, answer);
    let mut opening = message.clone();
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": opening})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let mut start = block.clone();
        let delta = if block["type"] == "text" {
            start["text"] = json!("");
            json!({"type": "text_delta", "text": block["text"]})
        } else {
            start["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let stop = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": stop, "usage": message["usage"]}));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(Event::named).collect()
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Call { tool, input } => {
            json!({"type": "tool_use", "id": fresh_id("toolu"), "name": tool, "input": input})
        }
    }
}

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.has_calls() { "tool_use" } else { "end_turn" }
}
