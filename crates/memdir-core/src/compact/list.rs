//! A list of messages as it came: whose shape it has, its items, and what is wrapped around them.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::{CompactError, contents, spans};
use crate::transcript::json::{parse, text};

/// Whose list it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Messages of Anthropic's API: blocks, calls and results inside of messages.
    Anthropic,
    /// Chat completions: `tool_calls`, and results as messages of their own.
    Chat,
    /// Items of the Responses API.
    Responses,
    /// Contents of Gemini's API: parts, calls and results inside of contents.
    Gemini,
}

impl Shape {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
        }
    }
}

/// Who an item comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// What holds for the whole conversation.
    System,
    /// The model.
    Model,
    /// The user, or a tool that answers.
    Other,
}

/// One item, as text, with what matters for what becomes of it.
#[derive(Debug)]
pub(super) struct Item<'i> {
    /// Its bytes.
    pub(super) raw: &'i str,
    /// Who it comes from.
    pub(super) who: Who,
    /// The calls that it makes,
    pub(super) calls: Vec<String>,
    /// and those that it answers.
    pub(super) results: Vec<String>,
    /// Whether it could be read at all; else it is kept or dropped as it is.
    pub(super) is_readable: bool,
}

/// The list.
#[derive(Debug)]
pub(super) struct List<'i> {
    pub(super) shape: Shape,
    /// What stands before the first item, and after the last.
    pub(super) before: &'i str,
    pub(super) after: &'i str,
    pub(super) items: Vec<Item<'i>>,
}

impl<'i> List<'i> {
    /// Reads a list: an array, or an object that has one as `messages`, `input` or `contents`.
    pub(super) fn read(input: &'i str) -> Result<Self, CompactError> {
        spans::check(input).map_err(|err| CompactError::NotJson(err.to_string()))?;
        let (at, wrapped_as) = find(input).ok_or(CompactError::NoList)?;
        let parts = spans::array(input, at.clone()).ok_or(CompactError::NoList)?;
        let values: Vec<Option<Value>> =
            parts.iter().map(|part| parse(&input.as_bytes()[part.clone()])).collect();
        if let Some(nth) = values.iter().position(Option::is_none)
            && !input[parts[nth].clone()].starts_with('{')
        {
            return Err(CompactError::NoMessage { nth: nth + 1 });
        }
        let shape = shape(wrapped_as, &values);
        let has_ids = shape == Shape::Gemini && contents::have_ids(values.iter().flatten());
        let items = parts
            .iter()
            .zip(&values)
            .map(|(part, value)| Item::new(&input[part.clone()], value.as_ref(), shape, has_ids));
        Ok(Self {
            shape,
            before: &input[..at.start + 1],
            after: &input[at.end - 1..],
            items: items.collect(),
        })
    }
}

impl<'i> Item<'i> {
    fn new(raw: &'i str, value: Option<&Value>, shape: Shape, has_ids: bool) -> Self {
        let unread =
            Self { raw, who: Who::Other, calls: Vec::new(), results: Vec::new(), is_readable: false };
        let Some(value) = value else { return unread };
        let (calls, results) = pairs(value, shape, has_ids);
        Self { who: who(value), calls, results, is_readable: true, ..unread }
    }
}

/// Finds the array of messages, and the name it has.
fn find(input: &str) -> Option<(Range<usize>, Option<&str>)> {
    let whole = 0..input.len();
    if spans::array(input, whole.clone()).is_some() {
        let start = input.find('[')?;
        return Some((start..input.rfind(']')? + 1, None));
    }
    let fields = spans::object(input, whole)?;
    ["messages", "input", "contents"].into_iter().find_map(|wanted| {
        let (name, at) = fields.iter().find(|(name, _)| *name == wanted)?;
        input[at.clone()].starts_with('[').then(|| (at.clone(), Some(*name)))
    })
}

/// Says whose shape a list has, by what only that one has.
fn shape(wrapped_as: Option<&str>, values: &[Option<Value>]) -> Shape {
    let any = |has: fn(&Value) -> bool| values.iter().flatten().any(has);
    if wrapped_as == Some("contents") || (wrapped_as.is_none() && any(contents::is_content)) {
        return Shape::Gemini;
    }
    if wrapped_as == Some("input") || any(is_responses_item) {
        return Shape::Responses;
    }
    if any(is_chat_message) { Shape::Chat } else { Shape::Anthropic }
}

fn is_responses_item(value: &Value) -> bool {
    let is_part = |part: &Value| {
        text(part, "type").is_some_and(|kind| kind.starts_with("input_") || kind.starts_with("output_"))
    };
    match text(value, "type") {
        // An answer of Anthropic's API calls itself a message, too.
        Some("message" | "user" | "assistant") | None => {
            value.get("content").and_then(Value::as_array).is_some_and(|parts| parts.iter().any(is_part))
                && !is_chat_message(value)
        }
        Some(_) => value.get("role").is_none(),
    }
}

fn is_chat_message(value: &Value) -> bool {
    let is_part = |part: &Value| matches!(text(part, "type"), Some("image_url" | "input_audio" | "refusal"));
    matches!(text(value, "role"), Some("tool" | "function" | "developer"))
        || value.get("tool_calls").is_some()
        || value.get("function_call").is_some()
        || value.get("content").and_then(Value::as_array).is_some_and(|parts| parts.iter().any(is_part))
}

fn who(value: &Value) -> Who {
    match (text(value, "role"), text(value, "type")) {
        (Some("system" | "developer"), _) => Who::System,
        (Some("assistant" | "model"), _) => Who::Model,
        (Some(_), _) => Who::Other,
        // What a service made of the messages before: nobody else can read it.
        (None, Some("compaction" | "compaction_summary")) => Who::System,
        (None, Some(kind)) if kind.ends_with("_call") || is_of_model(kind) => Who::Model,
        (None, _) => Who::Other,
    }
}

/// Items that the model makes and that are neither messages nor calls.
fn is_of_model(kind: &str) -> bool {
    matches!(kind, "reasoning" | "mcp_list_tools" | "mcp_approval_request" | "item_reference")
}

/// Returns the ids of the calls that an item makes and of those that it answers. A pair within one item is left out: it
/// comes and goes as one.
fn pairs(value: &Value, shape: Shape, has_ids: bool) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    match shape {
        Shape::Anthropic => in_blocks(value, &mut calls, &mut results),
        Shape::Chat => in_chat(value, &mut calls, &mut results),
        Shape::Responses => in_item(value, &mut calls, &mut results),
        Shape::Gemini => contents::pairs(value, has_ids, &mut calls, &mut results),
    }
    let mut answered: HashMap<String, usize> = HashMap::new();
    for id in &results {
        *answered.entry(id.clone()).or_default() += 1;
    }
    let mut within: HashMap<String, usize> = HashMap::new();
    calls.retain(|id| {
        let is_within = take(&mut answered, id);
        *within.entry(id.clone()).or_default() += usize::from(is_within);
        !is_within
    });
    results.retain(|id| !take(&mut within, id));
    (calls, results)
}

/// Takes one of as many as there are.
pub(super) fn take(counted: &mut HashMap<String, usize>, id: &str) -> bool {
    match counted.get_mut(id) {
        Some(n) if *n > 0 => {
            *n -= 1;
            true
        }
        _ => false,
    }
}

fn in_blocks(value: &Value, calls: &mut Vec<String>, results: &mut Vec<String>) {
    for block in value.get("content").and_then(Value::as_array).into_iter().flatten() {
        let is_call = text(block, "type").is_some_and(|kind| kind.ends_with("tool_use"));
        calls.extend(text(block, "id").filter(|_| is_call).map(str::to_owned));
        results.extend(text(block, "tool_use_id").map(str::to_owned));
    }
}

fn in_chat(value: &Value, calls: &mut Vec<String>, results: &mut Vec<String>) {
    let listed = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.extend(listed.filter_map(|call| text(call, "id")).map(str::to_owned));
    let old = value.get("function_call").and_then(|call| text(call, "name"));
    calls.extend(old.map(|name| format!("function {name}")));
    match text(value, "role") {
        Some("tool") => results.extend(text(value, "tool_call_id").map(str::to_owned)),
        Some("function") => results.extend(text(value, "name").map(|name| format!("function {name}"))),
        _ => {}
    }
}

fn in_item(value: &Value, calls: &mut Vec<String>, results: &mut Vec<String>) {
    let kind = text(value, "type").unwrap_or_default();
    let id = text(value, "call_id").map(str::to_owned);
    match kind {
        "mcp_approval_request" => calls.extend(text(value, "id").map(str::to_owned)),
        "mcp_approval_response" => results.extend(text(value, "approval_request_id").map(str::to_owned)),
        _ if kind.ends_with("_call") => calls.extend(id),
        _ if kind.ends_with("_output") => results.extend(id),
        _ => {}
    }
}
