//! Answers of OpenAI's Responses.

use serde_json::Value;

use super::{Answer, Usage, tokens};

pub(super) fn event(answer: &mut Answer, value: &Value) {
    match value["type"].as_str().unwrap_or_default() {
        "response.created" => answer.named(&value["response"]["id"]),
        "response.content_part.added" => answer.part(),
        "response.output_text.delta" => answer.say(value["delta"].as_str().unwrap_or_default()),
        "response.output_item.done" => call(answer, &value["item"]),
        "response.completed" | "response.incomplete" | "response.failed" => end(answer, &value["response"]),
        _ => {}
    }
}

pub(super) fn whole(answer: &mut Answer, value: &Value) {
    for item in value["output"].as_array().into_iter().flatten() {
        call(answer, item);
        for part in item["content"].as_array().into_iter().flatten() {
            if let Some(text) = part["text"].as_str().filter(|_| item["type"] == "message") {
                answer.part();
                answer.say(text);
            }
        }
    }
    end(answer, value);
}

fn call(answer: &mut Answer, item: &Value) {
    if item["type"].as_str().is_some_and(|kind| kind.ends_with("_call")) {
        let name = if item["name"].is_string() { &item["name"] } else { &item["type"] };
        answer.call(name);
    }
}

fn end(answer: &mut Answer, response: &Value) {
    answer.named(&response["id"]);
    answer.end(&response["status"]);
    answer.end(&response["incomplete_details"]["reason"]);
    answer.is_over = response["status"] == "completed" || response["status"] == "incomplete";
    let usage = &response["usage"];
    if let Some(read) = tokens(usage, "input_tokens") {
        let cached = tokens(&usage["input_tokens_details"], "cached_tokens").unwrap_or_default().min(read);
        let output = tokens(usage, "output_tokens").unwrap_or_default();
        answer.usage = Some(Usage { input: read - cached, cached, stored: 0, output });
    }
}
