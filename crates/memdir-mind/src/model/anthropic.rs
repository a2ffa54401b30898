//! Anthropic's Messages.
//!
//! JSON answers are asked for by `output_config.format`, not by a tool that the model is forced to call: the newest models
//! think before they answer, and a forced call is refused then; it would also stand in the way of the tools that a request
//! offers. Two or three marks for the prompt cache: the end of the instructions (tools come before them and are covered),
//! the last message, and the message of ours before it, where the request before this one had its mark. Four are allowed.

use std::collections::BTreeMap;

use memdir_core::sse::Event;
use serde_json::{Value, json};

use super::wire::{Heard, Listener, cut_off, input, json as event_json, said_error};
use super::{Message, ModelError, Part, Request, Role, Stop, Tool, Usage};

pub(super) fn body(model: &str, request: &Request) -> Value {
    let mut messages: Vec<Value> = request.messages.iter().filter_map(message).collect();
    let last = messages.len().saturating_sub(1);
    for (at, message) in messages.iter_mut().enumerate() {
        if at == last || at + 2 == last {
            mark_last(&mut message["content"]);
        }
    }
    let mut body = json!({"model": model, "max_tokens": request.max_tokens, "stream": true});
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if !request.system.is_empty() {
        body["system"] = json!([{"type": "text", "text": request.system}]);
        mark_last(&mut body["system"]);
    }
    if let Some(schema) = &request.schema {
        let schema = closed(&schema.schema);
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    body["messages"] = Value::Array(messages);
    body
}

/// Returns a schema whose objects have no fields but those it names: the service takes no other.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: serde_json::Map<String, Value> =
                fields.iter().map(|(key, value)| (key.clone(), closed(value))).collect();
            if fields.get("type") == Some(&json!("object")) {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        other => other.clone(),
    }
}

/// Marks the end of what the service is to keep in its cache.
fn mark_last(blocks: &mut Value) {
    if let Some(block) = blocks.as_array_mut().and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.input})
}

/// Says a message; one without content is refused by the service, so it is left out.
fn message(message: &Message) -> Option<Value> {
    let blocks: Vec<Value> = message.parts.iter().filter_map(block).collect();
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    (!blocks.is_empty()).then(|| json!({"role": role, "content": blocks}))
}

fn block(part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text(text) if text.is_empty() => return None,
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Call { id, name, input } => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        Part::Result { id, text, is_error } => {
            let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": text});
            if *is_error {
                result["is_error"] = json!(true);
            }
            result
        }
    })
}

/// What was said up to now.
#[derive(Debug, Default)]
pub(super) struct Stream {
    blocks: BTreeMap<u64, Block>,
    stop: Option<Stop>,
    usage: Option<Usage>,
    is_over: bool,
}

/// A block that grows. What a model thinks is passed over.
#[derive(Debug)]
enum Block {
    Text(String),
    Call { id: String, name: String, input: String },
    Other,
}

impl Listener for Stream {
    fn take(&mut self, event: &Event) -> Result<(), ModelError> {
        let value = event_json(event)?;
        let index = value["index"].as_u64().unwrap_or_default();
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&value["message"]["usage"]),
            "content_block_start" => {
                self.blocks.insert(index, started(&value["content_block"]));
            }
            "content_block_delta" => self.grow(index, &value["delta"]),
            "message_delta" => {
                self.stop = value["delta"]["stop_reason"].as_str().map(stop).or(self.stop);
                self.count(&value["usage"]);
            }
            "message_stop" => self.is_over = true,
            "error" => return Err(said_error(&value["error"])),
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn finish(self: Box<Self>) -> Result<Heard, ModelError> {
        let (Some(stop), true) = (self.stop, self.is_over) else { return Err(cut_off()) };
        let mut parts = Vec::new();
        for block in self.blocks.into_values() {
            match block {
                Block::Text(text) if text.is_empty() => {}
                Block::Text(text) => parts.push(Part::Text(text)),
                // A call that the limit cut off is no call.
                Block::Call { input: text, .. } if stop == Stop::Length && input(&text).is_err() => {}
                Block::Call { id, name, input: text } => {
                    parts.push(Part::Call { id, name, input: input(&text)? });
                }
                Block::Other => {}
            }
        }
        Ok(Heard { parts, stop, usage: self.usage })
    }
}

impl Stream {
    /// Takes what the service counted. Later counts are of the whole, and may leave out what was said before.
    fn count(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let before = self.usage.unwrap_or_default();
        let tokens = |key: &str, before: u64| usage[key].as_u64().unwrap_or(before);
        self.usage = Some(Usage {
            input: tokens("input_tokens", before.input),
            cached: tokens("cache_read_input_tokens", before.cached),
            stored: tokens("cache_creation_input_tokens", before.stored),
            output: tokens("output_tokens", before.output),
        });
    }

    fn grow(&mut self, index: u64, delta: &Value) {
        match (self.blocks.get_mut(&index), delta["text"].as_str(), delta["partial_json"].as_str()) {
            (Some(Block::Text(text)), Some(more), _) => text.push_str(more),
            (Some(Block::Call { input, .. }), _, Some(more)) => input.push_str(more),
            _ => {}
        }
    }
}

fn started(block: &Value) -> Block {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("text") => Block::Text(text("text")),
        Some("tool_use") => {
            // Some servers send the whole input at once, and no deltas.
            let whole = block["input"].as_object().filter(|input| !input.is_empty());
            let input = whole.map(|input| Value::Object(input.clone()).to_string()).unwrap_or_default();
            Block::Call { id: text("id"), name: text("name"), input }
        }
        _ => Block::Other,
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_use" => Stop::Tools,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refused,
        _ => Stop::End,
    }
}

#[cfg(test)]
mod tests;
