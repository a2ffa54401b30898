//! The blocks of an answer, put together from what is said of them piece by piece.

use serde_json::{Map, Value, json};

use crate::hash::ContentHash;

/// Fields that are written piece by piece, each by the delta that brings it.
const GROWING: [(&str, &str); 3] =
    [("text_delta", "text"), ("thinking_delta", "thinking"), ("signature_delta", "signature")];

/// As many digits of a hash tell a block from the others of a conversation.
const DIGITS: usize = 16;

/// A block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    value: Value,
    /// What was said of its growing fields, in their order.
    grown: [String; GROWING.len()],
    /// What a tool is given, as far as it was written.
    input: String,
    /// Its number in the answer that it came in.
    pub(super) number: u64,
    /// Whether the client is not shown it.
    pub(super) is_hidden: bool,
    /// Whether all that was said of it was understood.
    is_known: bool,
}

impl Block {
    pub(super) fn new(value: Value, number: u64, is_hidden: bool) -> Self {
        let is_known = value.is_object();
        Self { value, grown: Default::default(), input: String::new(), number, is_hidden, is_known }
    }

    /// Adds a piece.
    pub(super) fn grow(&mut self, delta: &Value) {
        let said = |field: &str| delta[field].as_str().unwrap_or_default();
        let kind = said("type");
        let grows = GROWING.iter().zip(&mut self.grown).find(|((name, _), _)| *name == kind);
        match (grows, kind) {
            (Some(((_, field), grown)), _) => grown.push_str(said(field)),
            (None, "input_json_delta") => self.input.push_str(said("partial_json")),
            (None, "citations_delta") if self.is_known => match &mut self.value["citations"] {
                Value::Array(citations) => citations.push(delta["citation"].clone()),
                citations => *citations = json!([delta["citation"]]),
            },
            (None, _) => self.is_known = false,
        }
    }

    /// Returns the block as a request has it; `None` if it is not known what it holds.
    pub(super) fn whole(&self) -> Option<Value> {
        if !self.is_known {
            return None;
        }
        let mut whole = self.value.clone();
        for ((_, field), grown) in GROWING.iter().zip(&self.grown).filter(|(_, grown)| !grown.is_empty()) {
            whole[field] = format!("{}{grown}", whole[field].as_str().unwrap_or_default()).into();
        }
        if !self.input.is_empty() {
            whole["input"] = serde_json::from_str::<Map<String, Value>>(&self.input).ok()?.into();
        }
        Some(whole)
    }

    /// Returns it as [`Block::whole`] does, unless it says nothing: services take no such text back.
    pub(super) fn said(&self) -> Option<Value> {
        let is_blank = |whole: &Value| {
            whole["type"] == "text" && whole["text"].as_str().is_none_or(|text| text.trim().is_empty())
        };
        self.whole().filter(|whole| !is_blank(whole))
    }

    /// Returns the number, and what is given, of a call.
    pub(super) fn call(&self) -> Option<(String, Map<String, Value>)> {
        let whole = self.whole()?;
        Some((whole["id"].as_str()?.to_owned(), whole["input"].as_object()?.clone()))
    }

    /// Says whether it calls a tool that the client has.
    pub(super) fn is_clients_call(&self) -> bool {
        !self.is_hidden && self.value["type"] == "tool_use"
    }

    /// Returns the print of what the client was shown.
    pub(super) fn print(&self) -> Option<Print> {
        Print::of(&self.whole().unwrap_or_else(|| self.value.clone()))
    }

    /// Tells a client of the whole block at once, under another number; it stays open if the answer was cut off in it.
    pub(super) fn events(&self, number: usize, is_ended: bool) -> Vec<u8> {
        let mut begun = self.value.clone();
        begun["input"] = json!({});
        let input = if self.input.is_empty() { self.value["input"].to_string() } else { self.input.clone() };
        let told = [
            json!({"type": "content_block_start", "index": number, "content_block": begun}),
            json!({"type": "content_block_delta", "index": number,
                "delta": {"type": "input_json_delta", "partial_json": input}}),
            json!({"type": "content_block_stop", "index": number}),
        ];
        told[..if is_ended { 3 } else { 2 }].iter().flat_map(event).collect()
    }
}

/// Writes an event.
pub(super) fn event(data: &Value) -> Vec<u8> {
    let name = data["type"].as_str().unwrap_or("message");
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

/// Says which block it is, wherever a client puts its marks for the cache.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Print {
    pub(super) hash: String,
    /// Whether it is a thought: clients leave those out of what is long past.
    pub(super) is_thought: bool,
    /// Whether no other block of a conversation has the same.
    pub(super) is_unique: bool,
}

impl Print {
    /// Returns the print of a block; `None` for one that says nothing, which clients may leave out.
    pub(super) fn of(block: &Value) -> Option<Self> {
        let kind = block["type"].as_str().unwrap_or_default();
        let is_thought = matches!(kind, "thinking" | "redacted_thinking");
        let says = match kind {
            "text" => block["text"].as_str().unwrap_or_default().trim().to_owned(),
            "tool_use" => block["id"].as_str().unwrap_or_default().to_owned(),
            "thinking" => {
                ["thinking", "signature"].map(|key| block[key].as_str().unwrap_or_default()).concat()
            }
            _ => {
                let mut bare = block.clone();
                bare.as_object_mut().map(|block| block.shift_remove("cache_control"));
                bare.to_string()
            }
        };
        let hash = ContentHash::of(format!("{kind}\0{says}").as_bytes()).to_string()[..DIGITS].to_owned();
        let is_unique = is_thought || kind == "tool_use";
        (!says.is_empty()).then_some(Self { hash, is_thought, is_unique })
    }
}
