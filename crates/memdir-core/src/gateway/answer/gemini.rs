//! Answers of Gemini: every piece has the shape of the whole.

use serde_json::Value;

use super::{Answer, Usage, tokens};

pub(super) fn piece(answer: &mut Answer, value: &Value) {
    answer.named(&value["responseId"]);
    let candidate = &value["candidates"][0];
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        if part["thought"] != true {
            answer.say(part["text"].as_str().unwrap_or_default());
        }
        answer.call(&part["functionCall"]["name"]);
    }
    answer.end(&candidate["finishReason"]);
    answer.is_over |= candidate["finishReason"].is_string();
    let usage = &value["usageMetadata"];
    if let Some(read) = tokens(usage, "promptTokenCount") {
        let cached = tokens(usage, "cachedContentTokenCount").unwrap_or_default().min(read);
        let thought = tokens(usage, "thoughtsTokenCount").unwrap_or_default();
        let output = tokens(usage, "candidatesTokenCount").unwrap_or_default() + thought;
        answer.usage = Some(Usage { input: read - cached, cached, stored: 0, output });
    }
}
