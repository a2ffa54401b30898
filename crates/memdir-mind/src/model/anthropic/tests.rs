//! What is sent, to the byte, and what is made of a stream.

use expect_test::expect;

use super::super::sample::{assert_no_half_answer, everything};
use super::super::wire::{Dialect, hear};
use super::*;

const STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":70,"cache_creation_input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I lo"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok."}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"name\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"ä\"}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":33}}

event: message_stop
data: {"type":"message_stop"}

"#;

#[test]
fn a_request_with_everything() {
    let sent = serde_json::to_string_pretty(&body("claude-x", &everything())).unwrap();
    expect![[r#"
        {
          "model": "claude-x",
          "max_tokens": 500,
          "stream": true,
          "tools": [
            {
              "name": "read",
              "description": "Reads one.",
              "input_schema": {
                "type": "object",
                "properties": {
                  "name": {
                    "type": "string"
                  }
                },
                "required": [
                  "name"
                ]
              }
            },
            {
              "name": "list",
              "description": "Lists all.",
              "input_schema": {
                "type": "object",
                "properties": {
                  "name": {
                    "type": "string"
                  }
                },
                "required": [
                  "name"
                ]
              }
            }
          ],
          "system": [
            {
              "type": "text",
              "text": "You keep notes.",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ],
          "output_config": {
            "format": {
              "type": "json_schema",
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
              }
            }
          },
          "messages": [
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "What changed?",
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ]
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "text",
                  "text": "I look."
                },
                {
                  "type": "tool_use",
                  "id": "c1",
                  "name": "read",
                  "input": {
                    "name": "a"
                  }
                },
                {
                  "type": "tool_use",
                  "id": "c2",
                  "name": "list",
                  "input": {
                    "name": "a"
                  }
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "tool_result",
                  "tool_use_id": "c1",
                  "content": "a text"
                },
                {
                  "type": "tool_result",
                  "tool_use_id": "c2",
                  "content": "no",
                  "is_error": true,
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&sent);
}

#[test]
fn ci_07_marks_for_the_cache_stay_within_four_and_what_is_marked_stays_the_same() {
    let mut request = everything();
    let without_marks = |request: &Request| {
        let text = body("m", request)["messages"].to_string();
        let marked = text.matches("cache_control").count();
        (text.replace(r#","cache_control":{"type":"ephemeral"}"#, ""), marked)
    };
    let (mut before, _) = without_marks(&request);
    for turn in 0..6 {
        request
            .messages
            .push(Message { role: Role::Assistant, parts: vec![Part::Text(format!("turn {turn}"))] });
        request.messages.push(Message::user(format!("go on {turn}")));
        let (now, marked) = without_marks(&request);
        assert_eq!(marked, 2, "one more is on the instructions");
        assert!(now.starts_with(before.trim_end_matches(']')), "a request begins with the one before it");
        before = now;
    }
}

#[test]
fn objects_of_a_schema_are_closed_and_what_is_closed_stays_as_it_is() {
    let inner = json!({"type": "object", "properties": {"type": {"type": "string"}}});
    let schema = json!({"type": "array", "items": inner});
    let mut wanted = schema.clone();
    wanted["items"]["additionalProperties"] = json!(false);
    assert_eq!(closed(&schema), wanted);
    assert_eq!(closed(&wanted), wanted);
}

#[test]
fn a_message_without_content_is_left_out() {
    let empty = Message { role: Role::Assistant, parts: vec![Part::Text(String::new())] };
    let request = Request { messages: vec![Message::user("a"), empty], ..Request::default() };
    let body = body("m", &request);
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert!(body.get("system").is_none() && body.get("tools").is_none());
}

#[test]
fn a_stream_becomes_words_calls_and_counts() {
    let heard = hear(Dialect::Anthropic, STREAM.as_bytes()).unwrap();
    let call = Part::Call { id: "t1".into(), name: "read".into(), input: json!({"name": "ä"}) };
    assert_eq!(heard.parts, [Part::Text("I look.".into()), call]);
    assert_eq!(heard.stop, Stop::Tools);
    assert_eq!(heard.usage, Some(Usage { input: 10, cached: 70, stored: 5, output: 33 }));
}

#[test]
fn a_stream_that_is_cut_at_any_byte_is_an_error() {
    assert_no_half_answer(Dialect::Anthropic, STREAM);
}

#[test]
fn errors_within_a_stream_pass_or_do_not() {
    let error = |kind: &str| {
        let data = json!({"type": "error", "error": {"type": kind, "message": "m"}});
        hear(Dialect::Anthropic, format!("event: error\ndata: {data}\n\n").as_bytes()).unwrap_err()
    };
    assert_eq!(error("overloaded_error"), ModelError::Unreachable("m".into()));
    assert_eq!(error("invalid_request_error"), ModelError::Refused("m".into()));
}

#[test]
fn why_it_ended_is_told() {
    let reasons = ["end_turn", "tool_use", "max_tokens", "refusal", "something_new"].map(stop);
    assert_eq!(reasons, [Stop::End, Stop::Tools, Stop::Length, Stop::Refused, Stop::End]);
}
