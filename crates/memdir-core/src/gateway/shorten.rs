//! A conversation that became too long, shortened, and shortened in the same way from then on.
//!
//! The client does not know: it goes on to send all of its history. So what was made of the first messages is kept as
//! [`Shortened`] and put in their place in every later request, byte for byte, until that is too long again. The list
//! itself is shortened by [`crate::compact`]; only its summary is taken from there, and the messages behind it stay as
//! they came.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::dialect::Dialect;
use super::fields::Fields;
use super::fork::Summary;
use super::place::{Insertion, splice};
use crate::compact::{CompactError, Options, Plan, spans};
use crate::hash::to_hex;
use crate::secrets::Scanner;
use crate::transcript::json::parse;

/// The first messages of a conversation, and what stands in their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortened {
    /// Which messages.
    from: usize,
    to: usize,
    /// What they said, so that they are known again.
    print: String,
    /// What is said instead, as it is written.
    message: String,
}

/// Shortens a conversation to a budget, in tokens as [`tokens`](crate::compact::tokens) estimates them, in the words of a
/// summary that covers what is taken out, else in its own. `None` if there is nothing to sum up.
pub fn shorten(
    dialect: Dialect,
    body: &[u8],
    budget: usize,
    summary: Option<&Summary>,
    scanner: &Scanner,
) -> Result<Option<Shortened>, CompactError> {
    let plan = Plan::new(body, &Options { budget, keep: None })?;
    let covers =
        |summary: &&Summary| plan.replaced().is_some_and(|replaced| summary.covers(dialect, body, replaced));
    let words = summary.filter(covers).map(|summary| summary.words.as_str());
    let compacted = plan.finish(words, scanner);
    let Some((range, message)) = compacted.replaced else { return Ok(None) };
    let shortened = str::from_utf8(body).ok().and_then(|text| {
        let items = items(dialect, text)?;
        let print = print(text, items.get(range.clone())?)?;
        Some(Shortened { from: range.start, to: range.end, print, message })
    });
    Ok(shortened)
}

impl Shortened {
    /// Returns where in a body the messages stand; `None` if they are not the ones that were summed up.
    pub fn find(&self, dialect: Dialect, body: &[u8]) -> Option<Range<usize>> {
        let text = str::from_utf8(body).ok()?;
        let items = items(dialect, text)?;
        let replaced = items.get(self.from..self.to)?;
        let is_same = print(text, replaced)? == self.print;
        is_same.then_some(replaced.first()?.start..replaced.last()?.end)
    }

    /// Puts the summary into the place that [`Shortened::find`] found, and insertions outside of it.
    pub fn apply(&self, body: &[u8], at: &Range<usize>, insertions: &[Insertion]) -> Vec<u8> {
        let behind = |insertion: &&Insertion| insertion.at >= at.end;
        let moved = |insertion: &Insertion| Insertion { at: insertion.at - at.end, ..insertion.clone() };
        let before: Vec<Insertion> =
            insertions.iter().filter(|insertion| insertion.at <= at.start).cloned().collect();
        let after: Vec<Insertion> = insertions.iter().filter(behind).map(moved).collect();
        let mut shorter = splice(&body[..at.start], &before);
        shorter.extend_from_slice(self.message.as_bytes());
        shorter.extend(splice(&body[at.end..], &after));
        shorter
    }
}

/// Returns where the messages of a body stand.
pub(super) fn items(dialect: Dialect, text: &str) -> Option<Vec<Range<usize>>> {
    spans::check(text).ok()?;
    let fields = Fields::read(text, 0..text.len())?;
    fields.list(match dialect {
        Dialect::Messages | Dialect::Chat => "messages",
        Dialect::Responses => "input",
        Dialect::Gemini => "contents",
    })
}

/// Returns a print of messages that is the same wherever the client puts its marks for the cache, whether it writes a text
/// as a string or as a block, and however much it sends back of what Gemini thought.
pub(super) fn print(text: &str, items: &[Range<usize>]) -> Option<String> {
    let mut hash = Sha256::new();
    for item in items {
        let mut value = parse(&text.as_bytes()[item.clone()])?;
        if let Some(content) = value.get_mut("content") {
            if let Value::String(said) = content {
                *content = json!([{"type": "text", "text": said}]);
            }
            for block in content.as_array_mut().into_iter().flatten() {
                block.as_object_mut().map(|block| block.shift_remove("cache_control"));
            }
        }
        if let Some(parts) = value.get_mut("parts").and_then(Value::as_array_mut) {
            without_thoughts(parts);
        }
        hash.update(value.to_string());
        hash.update([0]);
    }
    Some(to_hex(&hash.finalize()))
}

/// Takes thoughts and their signatures out of parts. Clients leave them out of old turns, or sign anew what had no signature.
fn without_thoughts(parts: &mut Vec<Value>) {
    parts.retain(|part| part.get("thought") != Some(&Value::Bool(true)));
    for part in parts.iter_mut().filter_map(Value::as_object_mut) {
        part.shift_remove("thoughtSignature");
        part.shift_remove("thought_signature");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Labels, read};
    use super::*;
    use crate::compact;

    /// A conversation of some rounds, each with a long result.
    fn long(rounds: usize) -> Value {
        let mut messages = vec![json!({"role": "user", "content": "make the tests pass"})];
        for n in 0..rounds {
            let call = json!([{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": {"command": "cargo test"}}]);
            let result = json!([{"type": "tool_result", "tool_use_id": format!("t{n}"), "content": "line\n".repeat(400)}]);
            messages.push(json!({"role": "assistant", "content": call}));
            messages.push(json!({"role": "user", "content": result}));
        }
        json!({"model": "m", "system": "S", "messages": messages, "tools": [1]})
    }

    /// AC-01, and never twice for one state: what was made of the first messages stands in their place from then on.
    #[test]
    fn a_shortened_conversation_stays_as_it_was_shortened() {
        let scanner = Scanner::builtin();
        let before = long(20).to_string();
        let budget = compact::tokens(&before) / 2;
        let shortened =
            shorten(Dialect::Messages, before.as_bytes(), budget, None, &scanner).unwrap().unwrap();
        let sent = |body: &str| {
            let at = shortened.find(Dialect::Messages, body.as_bytes())?;
            String::from_utf8(shortened.apply(body.as_bytes(), &at, &[])).ok()
        };
        let first = sent(&before).unwrap();
        assert!(compact::tokens(&first) <= budget);
        // The client goes on, and its mark for the cache has moved.
        let mut after = long(21);
        after["messages"][0]["content"] = json!([{"type": "text", "text": "make the tests pass"}]);
        let second: Value = serde_json::from_str(&sent(&after.to_string()).unwrap()).unwrap();
        let first: Value = serde_json::from_str(&first).unwrap();
        let messages = |value: &Value| value["messages"].as_array().unwrap().clone();
        let (first, second) = (messages(&first), messages(&second));
        assert_eq!(second[..first.len()], first[..]);
        assert_eq!(second.len(), first.len() + 2);
        // Another history, and it is none of ours.
        after["messages"][1]["content"][0]["input"]["command"] = "make".into();
        assert_eq!(sent(&after.to_string()), None);
    }

    /// The same in Gemini's words, where signatures and thoughts come and go.
    fn contents(rounds: usize, is_signed: bool) -> Value {
        let mut contents = vec![json!({"role": "user", "parts": [{"text": "make the tests pass"}]})];
        for n in 0..rounds {
            let mut call = json!({"functionCall": {"name": "run_shell_command", "args": {"command": format!("cargo test {n}")}}});
            let mut parts = Vec::new();
            if is_signed {
                parts.push(json!({"text": "hm", "thought": true}));
                call["thoughtSignature"] = "c2ln".into();
            }
            parts.push(call);
            let result = json!({"functionResponse": {"name": "run_shell_command", "response": {"output": "line\n".repeat(400)}}});
            contents.push(json!({"role": "model", "parts": parts}));
            contents.push(json!({"role": "user", "parts": [result]}));
        }
        json!({"systemInstruction": {"parts": [{"text": "S"}]}, "contents": contents, "tools": [{"functionDeclarations": []}]})
    }

    /// AC-01.
    #[test]
    fn a_conversation_with_gemini_is_shortened_and_known_again() {
        let scanner = Scanner::builtin();
        let before = contents(20, true).to_string();
        let budget = compact::tokens(&before) / 2;
        let shortened = shorten(Dialect::Gemini, before.as_bytes(), budget, None, &scanner).unwrap().unwrap();
        let sent = |body: &Value| -> Option<Value> {
            let body = body.to_string();
            let at = shortened.find(Dialect::Gemini, body.as_bytes())?;
            let short = shortened.apply(body.as_bytes(), &at, &[]);
            assert!(short.len() < body.len());
            serde_json::from_slice(&short).ok()
        };
        let first = sent(&contents(20, true)).unwrap();
        assert_eq!(first["contents"][0]["role"], "user");
        assert!(first["contents"][0]["parts"][0]["text"].as_str().unwrap().contains("make the tests pass"));
        assert_eq!(first["contents"][1]["role"], "model");
        assert_eq!(first["systemInstruction"], contents(1, true)["systemInstruction"]);
        let second = sent(&contents(21, false)).unwrap();
        assert_eq!(second["contents"][0], first["contents"][0]);
        let mut other = contents(21, true);
        other["contents"][1]["parts"][1]["functionCall"]["args"]["command"] = "make".into();
        assert_eq!(sent(&other), None, "another history");
    }

    /// A model's words are taken if they are of what is taken out, and never for another history.
    #[test]
    fn a_summary_that_covers_what_is_taken_out_says_it() {
        let scanner = Scanner::builtin();
        let body = long(20).to_string();
        let budget = compact::tokens(&body) / 2;
        let words = "## What the user wanted\n- green tests, says the model".to_owned();
        let said = |made_of: &Value| {
            let summary = Summary::of(Dialect::Messages, made_of.to_string().as_bytes(), words.clone());
            let shortened =
                shorten(Dialect::Messages, body.as_bytes(), budget, summary.as_ref(), &scanner).unwrap();
            shortened.unwrap().message
        };
        assert!(said(&long(18)).contains("green tests, says the model"));
        assert!(!said(&long(2)).contains("says the model"), "too old");
        let mut other = long(18);
        other["messages"][0]["content"] = "something else".into();
        assert!(!said(&other).contains("says the model"));
    }

    #[test]
    fn what_is_put_in_behind_a_summary_stays_where_it_was() {
        let scanner = Scanner::builtin();
        let mut body = long(20);
        body["messages"].as_array_mut().unwrap().push(json!({"role": "assistant", "content": "done"}));
        body["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "and now?"}));
        let body = body.to_string();
        let shortened = shorten(Dialect::Messages, body.as_bytes(), 4_000, None, &scanner).unwrap().unwrap();
        let reading = read(Dialect::Messages, &Labels::default(), body.as_bytes());
        let insertions: Vec<Insertion> =
            reading.turns.iter().flat_map(|turn| turn.place.insertions("remember")).collect();
        let at = shortened.find(Dialect::Messages, body.as_bytes()).unwrap();
        let sent: Value =
            serde_json::from_slice(&shortened.apply(body.as_bytes(), &at, &insertions)).unwrap();
        let last = sent["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["content"][1]["text"], "remember");
        assert_eq!(sent.to_string().matches("remember").count(), 1, "the first turn is summed up");
    }
}
