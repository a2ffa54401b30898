//! What is sent, to the byte, and what is made of a stream.

use expect_test::expect;

use super::super::sample::{assert_no_half_answer, everything};
use super::super::wire::{Dialect, hear};
use super::*;

const STREAM: &str = r#": keep-alive

data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"content":"I lo"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"content":"ok."},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":"{\"na"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"me\":\"ä\"}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":80,"completion_tokens":33,"prompt_tokens_details":{"cached_tokens":70}}}

data: [DONE]

"#;

fn heard(pieces: &[Value]) -> Result<Heard, ModelError> {
    let events = pieces.iter().map(|piece| format!("data: {piece}\n\n")).collect::<String>();
    hear(Dialect::Chat, format!("{events}data: [DONE]\n\n").as_bytes())
}

#[test]
fn a_request_with_everything() {
    let sent = serde_json::to_string_pretty(&body("local", &everything())).unwrap();
    expect![[r#"
        {
          "model": "local",
          "max_tokens": 500,
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "tools": [
            {
              "type": "function",
              "function": {
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
                }
              }
            },
            {
              "type": "function",
              "function": {
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
                }
              }
            }
          ],
          "response_format": {
            "type": "json_schema",
            "json_schema": {
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
          "messages": [
            {
              "role": "system",
              "content": "You keep notes."
            },
            {
              "role": "user",
              "content": "What changed?"
            },
            {
              "role": "assistant",
              "content": "I look.",
              "tool_calls": [
                {
                  "id": "c1",
                  "type": "function",
                  "function": {
                    "name": "read",
                    "arguments": "{\"name\":\"a\"}"
                  }
                },
                {
                  "id": "c2",
                  "type": "function",
                  "function": {
                    "name": "list",
                    "arguments": "{\"name\":\"a\"}"
                  }
                }
              ]
            },
            {
              "role": "tool",
              "tool_call_id": "c1",
              "content": "a text"
            },
            {
              "role": "tool",
              "tool_call_id": "c2",
              "content": "error: no"
            }
          ]
        }"#]]
    .assert_eq(&sent);
}

#[test]
fn a_stream_becomes_words_calls_and_counts() {
    let heard = hear(Dialect::Chat, STREAM.as_bytes()).unwrap();
    let call = Part::Call { id: "c1".into(), name: "read".into(), input: json!({"name": "ä"}) };
    assert_eq!(heard.parts, [Part::Text("I look.".into()), call]);
    assert_eq!(heard.stop, Stop::Tools);
    assert_eq!(heard.usage, Some(Usage { input: 10, cached: 70, stored: 0, output: 33 }));
}

#[test]
fn a_stream_that_is_cut_at_any_byte_is_an_error() {
    assert_no_half_answer(Dialect::Chat, STREAM);
}

#[test]
fn servers_that_send_calls_whole_without_id_and_end_with_stop_are_understood() {
    let call = json!({"function": {"name": "read", "arguments": {"name": "a"}}});
    let delta = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "stop"}]});
    let heard = heard(&[delta]).unwrap();
    assert_eq!(
        heard.parts,
        [Part::Call { id: "call_0".into(), name: "read".into(), input: json!({"name": "a"}) }]
    );
    assert_eq!((heard.stop, heard.usage), (Stop::Tools, None));
}

#[test]
fn a_call_that_the_limit_cut_off_is_none_and_one_that_is_no_json_is_an_error() {
    let piece = |reason: &str| {
        let call = json!({"index": 0, "function": {"name": "read", "arguments": "{\"na"}});
        json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": reason}]})
    };
    let cut = heard(&[piece("length")]).unwrap();
    assert_eq!((cut.parts, cut.stop), (Vec::new(), Stop::Length));
    assert!(matches!(heard(&[piece("tool_calls")]), Err(ModelError::Malformed(_))));
}

#[test]
fn an_error_within_a_stream_is_one() {
    let error = heard(&[json!({"error": {"message": "out of memory", "type": "server_error"}})]).unwrap_err();
    assert_eq!(error, ModelError::Unreachable("out of memory".into()));
}
