//! Answers of Anthropic's Messages.

use serde_json::Value;

use super::{Answer, Usage, tokens};

pub(super) fn event(answer: &mut Answer, value: &Value) {
    match value["type"].as_str().unwrap_or_default() {
        "message_start" => {
            answer.named(&value["message"]["id"]);
            count(answer, &value["message"]["usage"]);
        }
        "content_block_start" => block(answer, &value["content_block"]),
        "content_block_delta" if value["delta"]["type"] == "text_delta" => {
            answer.say(value["delta"]["text"].as_str().unwrap_or_default());
        }
        "message_delta" => {
            answer.end(&value["delta"]["stop_reason"]);
            count(answer, &value["usage"]);
        }
        "message_stop" => answer.is_over = true,
        _ => {}
    }
}

pub(super) fn whole(answer: &mut Answer, value: &Value) {
    answer.named(&value["id"]);
    value["content"].as_array().into_iter().flatten().for_each(|part| block(answer, part));
    answer.end(&value["stop_reason"]);
    count(answer, &value["usage"]);
    answer.is_over = answer.stop.is_some();
}

fn block(answer: &mut Answer, block: &Value) {
    match block["type"].as_str() {
        Some("text") => {
            answer.part();
            answer.say(block["text"].as_str().unwrap_or_default());
        }
        Some("tool_use") => answer.call(&block["name"]),
        _ => {}
    }
}

/// Takes what was counted. Later counts are of the whole, and may leave out what was said before.
fn count(answer: &mut Answer, usage: &Value) {
    if !usage.is_object() {
        return;
    }
    let before = answer.usage.unwrap_or_default();
    answer.usage = Some(Usage {
        input: tokens(usage, "input_tokens").unwrap_or(before.input),
        cached: tokens(usage, "cache_read_input_tokens").unwrap_or(before.cached),
        stored: tokens(usage, "cache_creation_input_tokens").unwrap_or(before.stored),
        output: tokens(usage, "output_tokens").unwrap_or(before.output),
    });
}
