//! A conversation with everything in it, for tests of each dialect.

use serde_json::{Value, json};

use super::wire::{Dialect, hear};
use super::{Message, Part, Request, Role, Schema, Tool};

/// Tools were called, one of them failed, and JSON is wanted.
pub(super) fn everything() -> Request {
    let call =
        |id: &str, name: &str| Part::Call { id: id.into(), name: name.into(), input: json!({"name": "a"}) };
    let result = |id: &str, text: &str, is_error| Part::Result { id: id.into(), text: text.into(), is_error };
    let tool = |name: &str, description: &str| Tool {
        name: name.into(),
        description: description.into(),
        input: json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
    };
    Request {
        system: "You keep notes.".into(),
        messages: vec![
            Message::user("What changed?"),
            Message {
                role: Role::Assistant,
                parts: vec![Part::Text("I look.".into()), call("c1", "read"), call("c2", "list")],
            },
            Message {
                role: Role::User,
                parts: vec![result("c1", "a text", false), result("c2", "no", true)],
            },
        ],
        tools: vec![tool("read", "Reads one."), tool("list", "Lists all.")],
        schema: Some(Schema { name: "changes".into(), schema: strict() }),
        max_tokens: 500,
    }
}

/// A schema that leaves nothing open.
pub(super) fn strict() -> Value {
    json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": false,
    })
}

/// Panics unless a stream that ends before its end, wherever that is, gives an error.
pub(super) fn assert_no_half_answer(dialect: Dialect, stream: &str) {
    hear(dialect, stream.as_bytes()).unwrap();
    for length in 0..stream.len() {
        let heard = hear(dialect, &stream.as_bytes()[..length]);
        assert!(heard.is_err(), "cut after {length} bytes: {heard:?}");
    }
}
