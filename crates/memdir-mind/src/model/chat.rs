//! OpenAI's chat completions, as Ollama, vLLM, llama.cpp, OpenRouter and many others speak them.

use std::collections::BTreeMap;

use memdir_core::sse::Event;
use serde_json::{Value, json};

use super::responses::{is_strict, result_text};
use super::wire::{Heard, Listener, cut_off, input, json as event_json, said_error};
use super::{Message, ModelError, Part, Request, Role, Schema, Stop, Tool, Usage};

pub(super) fn body(model: &str, request: &Request) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    messages.extend(request.messages.iter().flat_map(say));
    let mut body = json!({
        "model": model, "max_tokens": request.max_tokens, "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(Schema { name, schema }) = &request.schema {
        let inner = json!({"name": name, "schema": schema, "strict": is_strict(schema)});
        body["response_format"] = json!({"type": "json_schema", "json_schema": inner});
    }
    body["messages"] = Value::Array(messages);
    body
}

fn tool(tool: &Tool) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.input});
    json!({"type": "function", "function": function})
}

/// Says a message: what tools said first, each as a message of its own, then the words and calls.
fn say(message: &Message) -> Vec<Value> {
    let mut said = Vec::new();
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Call { id, name, input } => {
                let function = json!({"name": name, "arguments": input.to_string()});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
            Part::Result { id, text, is_error } => {
                let content = result_text(text, *is_error);
                said.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
        }
    }
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    if !calls.is_empty() {
        said.push(json!({"role": role, "content": text, "tool_calls": calls}));
    } else if !text.is_empty() {
        said.push(json!({"role": role, "content": text}));
    }
    said
}

/// What was said up to now.
#[derive(Debug, Default)]
pub(super) struct Stream {
    text: String,
    calls: BTreeMap<u64, Call>,
    stop: Option<Stop>,
    usage: Option<Usage>,
    is_over: bool,
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Listener for Stream {
    fn take(&mut self, event: &Event) -> Result<(), ModelError> {
        if event.data.trim() == "[DONE]" {
            self.is_over = true;
            return Ok(());
        }
        let value = event_json(event)?;
        if value["error"].is_object() {
            return Err(said_error(&value["error"]));
        }
        self.usage = usage(&value["usage"]).or(self.usage);
        let choice = &value["choices"][0];
        self.text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for (at, piece) in choice["delta"]["tool_calls"].as_array().into_iter().flatten().enumerate() {
            self.grow(piece["index"].as_u64().unwrap_or(at as u64), piece);
        }
        self.stop = choice["finish_reason"].as_str().map(stop).or(self.stop);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn finish(self: Box<Self>) -> Result<Heard, ModelError> {
        let (Some(mut stop), true) = (self.stop, self.is_over) else { return Err(cut_off()) };
        let mut parts = Vec::new();
        if !self.text.is_empty() {
            parts.push(Part::Text(self.text));
        }
        for (at, Call { id, name, arguments }) in self.calls {
            // A call that the limit cut off is no call.
            if stop == Stop::Length && input(&arguments).is_err() {
                continue;
            }
            let id = if id.is_empty() { format!("call_{at}") } else { id };
            parts.push(Part::Call { id, name, input: input(&arguments)? });
            stop = if stop == Stop::End { Stop::Tools } else { stop };
        }
        Ok(Heard { parts, stop, usage: self.usage })
    }
}

impl Stream {
    fn grow(&mut self, index: u64, piece: &Value) {
        let call = self.calls.entry(index).or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if call.id.is_empty() {
            call.id = text(&piece["id"]);
        }
        if call.name.is_empty() {
            call.name = text(&piece["function"]["name"]);
        }
        match &piece["function"]["arguments"] {
            // Not as text, from servers that know no better.
            whole @ Value::Object(_) => call.arguments = whole.to_string(),
            more => call.arguments.push_str(more.as_str().unwrap_or_default()),
        }
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_calls" | "function_call" => Stop::Tools,
        "length" => Stop::Length,
        "content_filter" => Stop::Refused,
        _ => Stop::End,
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let read = usage["prompt_tokens"].as_u64()?;
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or_default().min(read);
    let output = usage["completion_tokens"].as_u64().unwrap_or_default();
    Some(Usage { input: read - cached, cached, stored: 0, output })
}

#[cfg(test)]
mod tests;
