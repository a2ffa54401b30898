//! OpenAI's Responses.
//!
//! Nothing is stored at the service (`store: false`), so each request carries the whole conversation; a key made of the
//! instructions brings requests that begin alike to the same cache.

use std::collections::BTreeMap;

use memdir_core::hash::ContentHash;
use memdir_core::sse::Event;
use serde_json::{Value, json};

use super::wire::{Heard, Listener, cut_off, input, json as event_json, said_error};
use super::{ModelError, Part, Request, Role, Schema, Stop, Tool, Usage};

pub(super) fn body(model: &str, request: &Request) -> Value {
    let mut body = json!({
        "model": model, "max_output_tokens": request.max_tokens, "stream": true, "store": false,
        "prompt_cache_key": format!("memdir-{}", ContentHash::of(request.system.as_bytes()).short()),
    });
    if !request.system.is_empty() {
        body["instructions"] = json!(request.system);
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(Schema { name, schema }) = &request.schema {
        let format =
            json!({"type": "json_schema", "name": name, "schema": schema, "strict": is_strict(schema)});
        body["text"] = json!({"format": format});
    }
    let items = request.messages.iter().flat_map(|message| {
        message.parts.iter().filter_map(|part| item(message.role, part)).collect::<Vec<_>>()
    });
    body["input"] = items.collect();
    body
}

fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input,
        "strict": is_strict(&tool.input),
    })
}

fn item(role: Role, part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text(text) if text.is_empty() => return None,
        Part::Text(text) => match role {
            Role::User => json!({"role": "user", "content": [{"type": "input_text", "text": text}]}),
            Role::Assistant => {
                json!({"role": "assistant", "content": [{"type": "output_text", "text": text}]})
            }
        },
        Part::Call { id, name, input } => {
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": input.to_string()})
        }
        Part::Result { id, text, is_error } => {
            json!({"type": "function_call_output", "call_id": id, "output": result_text(text, *is_error)})
        }
    })
}

/// What a tool said, where there is no other way to say that it failed.
pub(super) fn result_text(text: &str, is_error: bool) -> String {
    if is_error { format!("error: {text}") } else { text.to_owned() }
}

/// Says whether the service can hold an answer to this schema to the letter: every field is required, and no others are
/// allowed. It refuses the request otherwise.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_closed = fields.get("properties").and_then(Value::as_object).is_none_or(|properties| {
                let required: Vec<&str> = fields
                    .get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                fields.get("additionalProperties") == Some(&Value::Bool(false))
                    && properties.keys().all(|key| required.contains(&key.as_str()))
            });
            let is_known = fields.get("type") != Some(&json!("object")) || fields.contains_key("properties");
            is_closed && is_known && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

/// What was said up to now.
#[derive(Debug, Default)]
pub(super) struct Stream {
    items: BTreeMap<u64, Value>,
    end: Option<(Stop, Option<Usage>)>,
}

impl Listener for Stream {
    fn take(&mut self, event: &Event) -> Result<(), ModelError> {
        if event.data == "[DONE]" {
            return Ok(());
        }
        let value = event_json(event)?;
        let response = &value["response"];
        match value["type"].as_str().unwrap_or_default() {
            "response.output_item.done" => {
                self.items.insert(value["output_index"].as_u64().unwrap_or_default(), value["item"].clone());
            }
            "response.completed" => self.end = Some((Stop::End, usage(&response["usage"]))),
            "response.incomplete" => {
                let is_filter = response["incomplete_details"]["reason"] == "content_filter";
                let stop = if is_filter { Stop::Refused } else { Stop::Length };
                self.end = Some((stop, usage(&response["usage"])));
            }
            "response.failed" => return Err(said_error(&response["error"])),
            "error" if value["error"].is_object() => return Err(said_error(&value["error"])),
            "error" => return Err(said_error(&value)),
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }

    fn finish(self: Box<Self>) -> Result<Heard, ModelError> {
        let Some((mut stop, usage)) = self.end else { return Err(cut_off()) };
        let mut parts = Vec::new();
        for item in self.items.values() {
            match item["type"].as_str() {
                Some("message") => {
                    let content = item["content"].as_array();
                    for piece in content.into_iter().flatten() {
                        if let Some(text) = piece["text"].as_str().filter(|text| !text.is_empty()) {
                            parts.push(Part::Text(text.to_owned()));
                        }
                        if piece["type"] == "refusal" {
                            stop = Stop::Refused;
                        }
                    }
                }
                Some("function_call") if item["status"] != "incomplete" => parts.push(call(item)?),
                _ => {}
            }
        }
        if stop == Stop::End && parts.iter().any(|part| matches!(part, Part::Call { .. })) {
            stop = Stop::Tools;
        }
        Ok(Heard { parts, stop, usage })
    }
}

fn call(item: &Value) -> Result<Part, ModelError> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    Ok(Part::Call {
        id: text("call_id").to_owned(),
        name: text("name").to_owned(),
        input: input(text("arguments"))?,
    })
}

fn usage(usage: &Value) -> Option<Usage> {
    let read = usage["input_tokens"].as_u64()?;
    let cached = usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or_default().min(read);
    let output = usage["output_tokens"].as_u64().unwrap_or_default();
    Some(Usage { input: read - cached, cached, stored: 0, output })
}

#[cfg(test)]
mod tests;
