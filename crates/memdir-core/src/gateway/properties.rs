//! What holds for every request: whatever is put in, the rest stays, it is JSON, and a conversation only ever grows at its
//! end.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::samples::unlabelled;
use super::*;

/// Texts with everything in them that JSON, prompts and we treat in a special way.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{1,20}",
        ".{0,30}",
        Just("\"\\\n\r\t\u{1}\u{2028}é한😀".to_owned()),
        Just("]}],{[\"content\":\"".to_owned()),
        Just("[memdir 7c1e90ab]".to_owned()),
        Just(String::new()),
    ]
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(|text| json!({"type": "text", "text": text})),
        text().prop_map(|text| json!({"type": "tool_result", "tool_use_id": "t", "content": text})),
        Just(json!({"type": "image", "source": {"data": "AA=="}})),
        (text(), text()).prop_map(
            |(name, input)| json!({"type": "tool_use", "id": "t", "name": name, "input": {"content": input}})
        ),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let role = prop_oneof![Just("user"), Just("user"), Just("assistant"), Just("system")];
    let content =
        prop_oneof![text().prop_map(Value::from), prop::collection::vec(block(), 0..4).prop_map(Value::from)];
    (role, content).prop_map(|(role, content)| json!({"role": role, "content": content}))
}

/// A body in one of the dialects, and printed in one of two ways.
fn body() -> impl Strategy<Value = (Dialect, String)> {
    let dialect = prop::sample::select(Dialect::ALL.to_vec());
    (dialect, prop::collection::vec(message(), 0..8), text(), any::<bool>()).prop_map(
        |(dialect, messages, system, is_wide)| {
            let value = match dialect {
                Dialect::Messages => json!({"system": system, "messages": messages, "tools": [1]}),
                Dialect::Chat => json!({"messages": messages, "n": 1e300}),
                Dialect::Responses => json!({"instructions": system, "input": messages, "tools": [1]}),
                Dialect::Gemini => {
                    let contents: Vec<Value> = messages
                        .iter()
                        .filter(|message| message["role"] != "system")
                        .map(|message| {
                            let role = if message["role"] == "user" { "user" } else { "model" };
                            let parts = match &message["content"] {
                                Value::String(text) => json!([{"text": text}]),
                                blocks => blocks.clone(),
                            };
                            json!({"role": role, "parts": parts})
                        })
                        .collect();
                    json!({"contents": contents, "tools": [1]})
                }
            };
            let printed =
                if is_wide { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            (dialect, printed)
        },
    )
}

fn everywhere(reading: &Reading, text: &str) -> Vec<Insertion> {
    reading.turns.iter().flat_map(|turn| turn.place.insertions(text)).collect()
}

/// Takes insertions out again.
fn without(spliced: &[u8], insertions: &[Insertion]) -> Vec<u8> {
    let mut ordered: Vec<&Insertion> = insertions.iter().collect();
    ordered.sort_by_key(|insertion| insertion.at);
    let (mut rest, mut shift, mut done) = (Vec::new(), 0, 0);
    for insertion in ordered {
        let at = insertion.at + shift;
        rest.extend_from_slice(&spliced[done..at]);
        done = at + insertion.bytes.len();
        assert_eq!(&spliced[at..done], insertion.bytes.as_bytes());
        shift += insertion.bytes.len();
    }
    rest.extend_from_slice(&spliced[done..]);
    rest
}

/// Returns a body without its marks for the cache, and with every text as a block.
fn plain(body: &str) -> Value {
    let mut value: Value = serde_json::from_str(body).unwrap();
    for message in value["messages"].as_array_mut().unwrap() {
        if let Value::String(text) = &message["content"] {
            message["content"] = json!([{"type": "text", "text": text}]);
        }
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    value["messages"].take()
}

/// A client of ten turns: the mark moves to the last block, and what was marked becomes a string again.
fn conversation(prompts: &[String], turns: usize) -> String {
    let mut messages = Vec::new();
    for (nth, prompt) in prompts.iter().take(turns).enumerate() {
        let is_last = nth + 1 == turns;
        let content = if is_last {
            json!([{"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}}])
        } else {
            Value::from(prompt.as_str())
        };
        messages.push(json!({"role": "user", "content": content}));
        if !is_last {
            messages.push(
                json!({"role": "assistant", "content": [{"type": "text", "text": format!("answer {nth}")}]}),
            );
        }
    }
    json!({"model": "m", "system": "S", "messages": messages, "tools": [1]}).to_string()
}

proptest! {
    #[test]
    fn what_is_put_in_leaves_every_other_byte((dialect, body) in body(), inserted in text()) {
        let reading = read(dialect, &unlabelled(), body.as_bytes());
        prop_assert_ne!(reading.kind, Kind::Unknown);
        let insertions = everywhere(&reading, &inserted);
        let spliced = splice(body.as_bytes(), &insertions);
        serde_json::from_slice::<Value>(&spliced).unwrap();
        prop_assert_eq!(without(&spliced, &insertions), body.into_bytes());
    }

    #[test]
    fn what_is_put_in_is_read_back_as_it_was((dialect, body) in body(), inserted in text()) {
        let reading = read(dialect, &unlabelled(), body.as_bytes());
        let spliced = splice(body.as_bytes(), &everywhere(&reading, &inserted));
        let value: Value = serde_json::from_slice(&spliced).unwrap();
        let printed = value.to_string();
        let quoted = Value::from(inserted.as_str()).to_string();
        if !reading.turns.is_empty() {
            prop_assert!(printed.contains(quoted.trim_matches('"')));
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// UX-20, CI-07: over ten turns, what went to the service before is what goes to it again.
    #[test]
    fn a_conversation_only_grows_at_its_end(
        prompts in prop::collection::vec("[a-z]{1,8}( [a-z\"\\\\]{1,8}){0,3}", 10),
        texts in prop::collection::vec(text(), 10),
    ) {
        let mut before: Option<Vec<Value>> = None;
        for turns in 1..=10 {
            let body = conversation(&prompts, turns);
            let reading = read(Dialect::Messages, &unlabelled(), body.as_bytes());
            prop_assert_eq!(reading.turns.len(), turns);
            let insertions: Vec<Insertion> = reading.turns.iter().zip(&texts)
                .flat_map(|(turn, text)| turn.place.insertions(text)).collect();
            let sent = plain(&String::from_utf8(splice(body.as_bytes(), &insertions)).unwrap());
            let sent = sent.as_array().unwrap().clone();
            if let Some(before) = before {
                prop_assert_eq!(&sent[..before.len()], &before[..]);
            }
            before = Some(sent);
        }
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for dialect in Dialect::ALL {
            prop_assert_eq!(read(dialect, &unlabelled(), &bytes).kind, Kind::Unknown);
            let mut ear = Ear::new(dialect);
            ear.hear(&bytes);
            ear.finish();
        }
    }
}
