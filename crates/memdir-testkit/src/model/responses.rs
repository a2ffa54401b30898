//! OpenAI's Responses.

use serde_json::{Value, json};

use super::http::Event;
use super::request::{Conversation, Request, Spoken, text_of};
use super::rule::{Answer, Part};
use super::server::fresh_id;

pub(super) fn read(body: &Value) -> Conversation {
    let mut spoken = Vec::new();
    let mut say =
        |role: &str, text: String, message| spoken.push(Spoken { role: role.to_owned(), text, message });
    if let Some(text) = body["instructions"].as_str() {
        say("system", text.to_owned(), 0);
    }
    if let Some(text) = body["input"].as_str() {
        say("user", text.to_owned(), 1);
    }
    for (at, item) in body["input"].as_array().into_iter().flatten().enumerate() {
        match item["type"].as_str().unwrap_or("message") {
            "message" => say(item["role"].as_str().unwrap_or("user"), text_of(&item["content"]), at + 1),
            kind if kind.ends_with("_output") => say("tool", text_of(&item["output"]), at + 1),
            "function_call" => say("assistant", text_of(&item["arguments"]), at + 1),
            "custom_tool_call" => say("assistant", text_of(&item["input"]), at + 1),
            _ => {}
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten().flat_map(tool_names).collect();
    Conversation { spoken, tools }
}

/// The names of a tool, or of all tools of a namespace as `space/tool`.
fn tool_names(tool: &Value) -> Vec<String> {
    let name = |tool: &Value| {
        let name = tool["name"].as_str().or_else(|| tool["type"].as_str());
        name.unwrap_or_default().to_owned()
    };
    if tool["type"] != "namespace" {
        return vec![name(tool)];
    }
    let inner = tool["tools"].as_array().into_iter().flatten();
    inner.map(|inner| format!("{}/{}", name(tool), name(inner))).collect()
}

pub(super) fn whole(request: &Request, answer: &Answer) -> Value {
    let usage = answer.usage(request.raw().len());
    let output: Vec<Value> = answer.parts.iter().map(item).collect();
    json!({
        "id": fresh_id("resp"), "object": "response", "created_at": 1_775_126_400, "status": "completed",
        "model": request.body()["model"], "output": output, "error": null, "incomplete_details": null,
        "usage": {
            "input_tokens": usage.input + usage.cached, "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input + usage.cached + usage.output,
        },
    })
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let response = whole(request, answer);
    let mut opening = response.clone();
    opening["status"] = json!("in_progress");
    opening["output"] = json!([]);
    opening["usage"] = Value::Null;
    let mut events = vec![
        json!({"type": "response.created", "response": opening}),
        json!({"type": "response.in_progress", "response": opening}),
    ];
    for (at, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        events.extend(item_events(at, item));
    }
    events.push(json!({"type": "response.completed", "response": response}));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = json!(number);
        Event::named(event)
    });
    numbered.collect()
}

/// An item appears empty, grows, and is done.
fn item_events(at: usize, item: &Value) -> Vec<Value> {
    let id = &item["id"];
    let mut start = item.clone();
    let mut growth = Vec::new();
    match item["type"].as_str() {
        Some("message") => {
            start["content"] = json!([]);
            start["status"] = json!("in_progress");
            let part = &item["content"][0];
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            let here = |kind: &str, key: &str, value: &Value| json!({"type": kind, "output_index": at, "item_id": id, "content_index": 0, key: value});
            growth.push(here("response.content_part.added", "part", &empty));
            growth.push(here("response.output_text.delta", "delta", &part["text"]));
            growth.push(here("response.output_text.done", "text", &part["text"]));
            growth.push(here("response.content_part.done", "part", part));
        }
        Some("function_call") => {
            start["arguments"] = json!("");
            start["status"] = json!("in_progress");
            let here = |kind: &str, key: &str| json!({"type": kind, "output_index": at, "item_id": id, key: item["arguments"]});
            growth.push(here("response.function_call_arguments.delta", "delta"));
            growth.push(here("response.function_call_arguments.done", "arguments"));
        }
        _ => {}
    }
    let mut events = vec![json!({"type": "response.output_item.added", "output_index": at, "item": start})];
    events.extend(growth);
    events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    events
}

fn item(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({
            "type": "message", "id": fresh_id("msg"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        // Tools without a schema, such as Codex's for patches, take bare text.
        Part::Call { tool, input: Value::String(text) } => json!({
            "type": "custom_tool_call", "id": fresh_id("ctc"), "call_id": fresh_id("call"), "status": "completed",
            "name": tool, "input": text,
        }),
        Part::Call { tool, input } => {
            let mut call = json!({
                "type": "function_call", "id": fresh_id("fc"), "call_id": fresh_id("call"), "status": "completed",
                "name": tool, "arguments": input.to_string(),
            });
            if let Some((space, name)) = tool.split_once('/') {
                call["namespace"] = json!(space);
                call["name"] = json!(name);
            }
            call
        }
    }
}
