//! What is sent, to the byte, and what is made of a stream.

use expect_test::expect;

use super::super::sample::{assert_no_half_answer, everything, strict};
use super::super::wire::{Dialect, hear};
use super::*;

const STREAM: &str = r#"event: response.created
data: {"type":"response.created","response":{"output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"type":"message","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"delta":"I lo"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[]}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"I look."}]}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"name\":\"ä\"}","status":"completed"}}

event: response.completed
data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":80,"input_tokens_details":{"cached_tokens":70},"output_tokens":33}}}

"#;

fn end(kind: &str, response: &Value) -> Result<Heard, ModelError> {
    let event = json!({"type": kind, "response": response});
    hear(Dialect::Responses, format!("event: {kind}\ndata: {event}\n\n").as_bytes())
}

#[test]
fn a_request_with_everything() {
    let sent = serde_json::to_string_pretty(&body("gpt-x", &everything())).unwrap();
    expect![[r#"
        {
          "model": "gpt-x",
          "max_output_tokens": 500,
          "stream": true,
          "store": false,
          "prompt_cache_key": "memdir-6272a961",
          "instructions": "You keep notes.",
          "tools": [
            {
              "type": "function",
              "name": "read",
              "description": "Reads one.",
              "parameters": {
                "type": "object",
                "properties": {
                  "name": {
                    "type": "string"
                  }
                },
                "required": [
                  "name"
                ]
              },
              "strict": false
            },
            {
              "type": "function",
              "name": "list",
              "description": "Lists all.",
              "parameters": {
                "type": "object",
                "properties": {
                  "name": {
                    "type": "string"
                  }
                },
                "required": [
                  "name"
                ]
              },
              "strict": false
            }
          ],
          "text": {
            "format": {
              "type": "json_schema",
              "name": "changes",
              "schema": {
                "type": "object",
                "properties": {
                  "n": {
                    "type": "integer"
                  }
                },
                "required": [
                  "n"
                ],
                "additionalProperties": false
              },
              "strict": true
            }
          },
          "input": [
            {
              "role": "user",
              "content": [
                {
                  "type": "input_text",
                  "text": "What changed?"
                }
              ]
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "output_text",
                  "text": "I look."
                }
              ]
            },
            {
              "type": "function_call",
              "call_id": "c1",
              "name": "read",
              "arguments": "{\"name\":\"a\"}"
            },
            {
              "type": "function_call",
              "call_id": "c2",
              "name": "list",
              "arguments": "{\"name\":\"a\"}"
            },
            {
              "type": "function_call_output",
              "call_id": "c1",
              "output": "a text"
            },
            {
              "type": "function_call_output",
              "call_id": "c2",
              "output": "error: no"
            }
          ]
        }"#]]
    .assert_eq(&sent);
}

#[test]
fn a_schema_is_strict_only_if_it_leaves_nothing_open() {
    assert!(is_strict(&strict()));
    assert!(is_strict(&json!({"type": "array", "items": strict()})));
    for open in [
        json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
        json!({"type": "array", "items": {"type": "object"}}),
    ] {
        assert!(!is_strict(&open), "{open}");
    }
}

#[test]
fn a_stream_becomes_words_calls_and_counts() {
    let heard = hear(Dialect::Responses, STREAM.as_bytes()).unwrap();
    let call = Part::Call { id: "c1".into(), name: "read".into(), input: json!({"name": "ä"}) };
    assert_eq!(heard.parts, [Part::Text("I look.".into()), call]);
    assert_eq!(heard.stop, Stop::Tools);
    assert_eq!(heard.usage, Some(Usage { input: 10, cached: 70, stored: 0, output: 33 }));
}

#[test]
fn a_stream_that_is_cut_at_any_byte_is_an_error() {
    assert_no_half_answer(Dialect::Responses, STREAM);
}

#[test]
fn an_answer_may_be_incomplete_refused_or_failed() {
    let reason = |reason: &str| json!({"incomplete_details": {"reason": reason}});
    assert_eq!(end("response.incomplete", &reason("max_output_tokens")).unwrap().stop, Stop::Length);
    assert_eq!(end("response.incomplete", &reason("content_filter")).unwrap().stop, Stop::Refused);
    let failed =
        |code: &str| end("response.failed", &json!({"error": {"code": code, "message": "m"}})).unwrap_err();
    assert_eq!(failed("server_error"), ModelError::Unreachable("m".into()));
    assert_eq!(failed("invalid_prompt"), ModelError::Refused("m".into()));
}
