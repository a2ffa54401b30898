//! Gemini's generateContent.

use serde_json::{Value, json};

use super::http::Event;
use super::request::{Conversation, Request, Spoken, text_of};
use super::rule::{Answer, Part};
use super::server::fresh_id;

pub(super) fn read(body: &Value) -> Conversation {
    let mut spoken =
        vec![Spoken { role: "system".to_owned(), text: text_of(&body["systemInstruction"]), message: 0 }];
    for (at, message) in body["contents"].as_array().into_iter().flatten().enumerate() {
        let role = if message["role"] == "model" { "assistant" } else { "user" };
        for part in message["parts"].as_array().into_iter().flatten() {
            let (role, text) = if let Some(answer) = part.get("functionResponse") {
                ("tool", answer["response"].to_string())
            } else if let Some(call) = part.get("functionCall") {
                (role, call["args"].to_string())
            } else {
                (role, text_of(part))
            };
            spoken.push(Spoken { role: role.to_owned(), text, message: at + 1 });
        }
    }
    let groups = body["tools"].as_array().into_iter().flatten();
    let tools = groups.flat_map(|group| group["functionDeclarations"].as_array().into_iter().flatten());
    let tools = tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
    Conversation { spoken, tools }
}

pub(super) fn whole(request: &Request, answer: &Answer) -> Value {
    candidate(request, answer, answer.parts.iter().map(part).collect(), true)
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let last = answer.parts.len().saturating_sub(1);
    let pieces = answer.parts.iter().enumerate();
    pieces
        .map(|(at, piece)| Event::plain(&candidate(request, answer, vec![part(piece)], at == last)))
        .collect()
}

fn candidate(request: &Request, answer: &Answer, parts: Vec<Value>, is_last: bool) -> Value {
    let usage = answer.usage(request.raw().len());
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    json!({
        "candidates": [candidate], "modelVersion": "scripted", "responseId": fresh_id("response"),
        "usageMetadata": {
            "promptTokenCount": usage.input + usage.cached, "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.cached + usage.output,
            "cachedContentTokenCount": usage.cached,
        },
    })
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Call { tool, input } => {
            json!({"functionCall": {"id": fresh_id("call"), "name": tool, "args": input}})
        }
    }
}
