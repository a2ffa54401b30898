//! Answers of chat completions.

use serde_json::Value;

use super::{Answer, Usage, tokens};

pub(super) fn event(answer: &mut Answer, value: &Value) {
    answer.named(&value["id"]);
    count(answer, &value["usage"]);
    let choice = &value["choices"][0];
    said(answer, &choice["delta"]);
    answer.end(&choice["finish_reason"]);
}

pub(super) fn whole(answer: &mut Answer, value: &Value) {
    answer.named(&value["id"]);
    count(answer, &value["usage"]);
    let choice = &value["choices"][0];
    said(answer, &choice["message"]);
    answer.end(&choice["finish_reason"]);
    answer.is_over = answer.stop.is_some();
}

fn said(answer: &mut Answer, message: &Value) {
    answer.say(message["content"].as_str().unwrap_or_default());
    // Only the first piece of a call has its name.
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        answer.call(&call["function"]["name"]);
    }
}

fn count(answer: &mut Answer, usage: &Value) {
    if let Some(read) = tokens(usage, "prompt_tokens") {
        let cached = tokens(&usage["prompt_tokens_details"], "cached_tokens").unwrap_or_default().min(read);
        let output = tokens(usage, "completion_tokens").unwrap_or_default();
        answer.usage = Some(Usage { input: read - cached, cached, stored: 0, output });
    }
}
