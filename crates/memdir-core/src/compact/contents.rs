//! Gemini's contents: parts that are words, calls, results or media, with names in either spelling.
//!
//! A call may lack an id. Then results belong to calls by their names, in order.

use serde_json::Value;

use crate::transcript::json::{is_true, text};

/// The tool of Gemini CLI that runs commands. It writes its own lines around what they say.
const SHELL: &str = "run_shell_command";
const OUTPUT: &str = "Output: ";
const EXIT_CODE: &str = "Exit Code: ";
const TAIL: [&str; 4] = [EXIT_CODE, "Signal: ", "Background PIDs: ", "Process Group PGID: "];

/// Says whether a value is one of Gemini's contents.
pub(super) fn is_content(value: &Value) -> bool {
    let is_theirs = matches!(text(value, "role"), None | Some("user" | "model" | "function"));
    is_theirs && value.get("parts").is_some_and(Value::is_array) && value.get("content").is_none()
}

/// Returns the parts of a content.
pub(super) fn parts(content: &Value) -> impl Iterator<Item = &Value> {
    content.get("parts").and_then(Value::as_array).into_iter().flatten()
}

/// Returns the call that a part is.
pub(super) fn call(part: &Value) -> Option<&Value> {
    either(part, ["functionCall", "function_call"])
}

/// Returns the result that a part is.
pub(super) fn result(part: &Value) -> Option<&Value> {
    either(part, ["functionResponse", "function_response"])
}

/// Says whether a part is what the model thought, and not what it said.
pub(super) fn is_thought(part: &Value) -> bool {
    is_true(part, "thought")
}

/// Says whether the service checks that a part comes back as it was.
pub(super) fn is_signed(part: &Value) -> bool {
    either(part, ["thoughtSignature", "thought_signature"]).is_some()
}

/// Returns the type of the media that a part holds, and their name.
pub(super) fn media(part: &Value) -> Option<(&str, Option<&str>)> {
    let held = either(part, ["inlineData", "inline_data"]).or(either(part, ["fileData", "file_data"]))?;
    let any = |keys: [&str; 2]| keys.into_iter().find_map(|key| text(held, key));
    Some((any(["mimeType", "mime_type"]).unwrap_or_default(), any(["displayName", "display_name"])))
}

fn either<'v>(part: &'v Value, keys: [&str; 2]) -> Option<&'v Value> {
    keys.into_iter().find_map(|key| part.get(key))
}

/// Says whether all calls and results of a list have ids.
pub(super) fn have_ids<'v>(contents: impl Iterator<Item = &'v Value>) -> bool {
    let mut paired = contents.flat_map(parts).filter_map(|part| call(part).or_else(|| result(part)));
    paired.all(|paired| text(paired, "id").is_some_and(|id| !id.is_empty()))
}

/// Collects by what the calls and the results of a content find each other.
pub(super) fn pairs(content: &Value, has_ids: bool, calls: &mut Vec<String>, results: &mut Vec<String>) {
    let name = |paired: &Value| match has_ids {
        true => text(paired, "id").map(str::to_owned),
        false => text(paired, "name").map(|name| format!("function {name}")),
    };
    for part in parts(content) {
        calls.extend(call(part).and_then(name));
        results.extend(result(part).and_then(name));
    }
}

/// Returns what a call gave back, in words, and whether it failed.
pub(super) fn said(result: &Value) -> (String, bool) {
    let Some(response) = result.get("response") else { return (String::new(), false) };
    let words = words(response);
    if text(result, "name") == Some(SHELL) && words.starts_with(OUTPUT) {
        return of_shell(&words);
    }
    let has_error = response.get("error").is_some_and(|error| !error.is_null() && error != "");
    (words, has_error && response.get("output").is_none() && response.get("result").is_none())
}

fn words(value: &Value) -> String {
    let all = |values: Vec<String>| {
        let said: Vec<String> = values.into_iter().filter(|words| !words.is_empty()).collect();
        said.join("\n")
    };
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => all(values.iter().map(words).collect()),
        Value::Object(fields) => match fields.get("text") {
            Some(Value::String(text)) => text.clone(),
            _ => all(fields.values().map(words).collect()),
        },
        _ => String::new(),
    }
}

/// Takes off what the tool itself writes.
fn of_shell(said: &str) -> (String, bool) {
    let mut said = said.strip_prefix(OUTPUT).unwrap_or(said);
    let mut failed = false;
    while let Some((before, last)) = said.rsplit_once('\n')
        && TAIL.iter().any(|mark| last.starts_with(mark))
    {
        failed |= last.starts_with(EXIT_CODE);
        said = before;
    }
    (said.to_owned(), failed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_call_gave_back_is_read_from_any_answer() {
        let said = |name: &str, response: Value| said(&json!({ "name": name, "response": response }));
        for (response, words, failed) in [
            (json!({ "output": "fn main() {}" }), "fn main() {}", false),
            (json!({ "error": "no such file" }), "no such file", true),
            (json!({ "output": "done", "error": "" }), "done", false),
            (json!({ "result": 3, "error": null }), "", false),
            (
                json!({ "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }] }),
                "one\ntwo",
                false,
            ),
            (json!({ "stdout": "out", "stderr": "err", "code": 1 }), "out\nerr", false),
        ] {
            assert_eq!(said("mcp_tool", response.clone()), (words.to_owned(), failed), "{response}");
        }
    }

    #[test]
    fn the_lines_of_the_shell_are_not_those_of_the_command() {
        let said =
            |output: &str| said(&json!({ "name": "run_shell_command", "response": { "output": output } }));
        assert_eq!(
            said("Output: [package]\nname = 1\nProcess Group PGID: 7"),
            ("[package]\nname = 1".to_owned(), false)
        );
        assert_eq!(
            said("Output: error: no\nExit Code: 2\nProcess Group PGID: 7"),
            ("error: no".to_owned(), true)
        );
        assert_eq!(said("Command was cancelled"), ("Command was cancelled".to_owned(), false));
    }
}
