//! One message of a list, in the words of each dialect: who says it, which texts are in it, where one more would stand.

use std::ops::Range;

use super::dialect::Dialect;
use super::fields::{Fields, string};
use super::place::{Form, INPUT_TEXT, PART, Place, TEXT};
use crate::compact::spans;

/// Who a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    System,
    User,
    Model,
    Tool,
}

/// A message.
#[derive(Debug)]
pub(super) struct Message<'t> {
    pub(super) role: Role,
    /// What it says in words; not looked into where the model speaks.
    pub(super) texts: Vec<String>,
    /// The tools that it calls, with what they are given, as it is written.
    pub(super) calls: Vec<(String, &'t str)>,
    /// Where one more text would stand.
    pub(super) place: Option<Place>,
}

impl<'t> Message<'t> {
    fn new(role: Role) -> Self {
        Self { role, texts: Vec::new(), calls: Vec::new(), place: None }
    }

    /// Reads one; `None` if it is not plain.
    pub(super) fn read(dialect: Dialect, text: &'t str, at: Range<usize>) -> Option<Self> {
        let fields = Fields::read(text, at)?;
        match dialect {
            Dialect::Messages => messages(text, &fields),
            Dialect::Chat => chat(text, &fields),
            Dialect::Responses => item(text, &fields),
            Dialect::Gemini => content(text, &fields),
        }
    }

    /// Reads a content that is a string or a list of blocks.
    fn contains(
        &mut self,
        text: &'t str,
        at: Range<usize>,
        (bare, block): (Form, Form),
        mut take: impl FnMut(&mut Self, &Fields<'t>),
    ) -> Option<()> {
        if let Some(said) = string(&text[at.clone()]) {
            self.say(said);
            self.place = Some(Place::new(at, bare));
            return Some(());
        }
        let Some(blocks) = spans::array(text, at.clone()) else {
            return (&text[at] == "null").then_some(());
        };
        for block in &blocks {
            take(self, &Fields::read(text, block.clone())?);
        }
        self.place = blocks.last().map(|last| Place::new(last.clone(), block));
        Some(())
    }

    fn say(&mut self, said: String) {
        if matches!(self.role, Role::User | Role::System) {
            self.texts.push(said);
        }
    }

    fn call(&mut self, name: Option<String>, input: Option<&'t str>) {
        self.calls.extend(name.map(|name| (name, input.unwrap_or("null"))));
    }
}

fn messages<'t>(text: &'t str, fields: &Fields<'t>) -> Option<Message<'t>> {
    let mut message = Message::new(match fields.text("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Model,
        "system" => Role::System,
        _ => return None,
    });
    message.contains(text, fields.at("content")?, (Form::Wrapped, TEXT), |message, block| {
        match block.text("type").as_deref() {
            Some("text") => block.text("text").into_iter().for_each(|said| message.say(said)),
            Some("tool_use") => message.call(block.text("name"), block.raw("input")),
            // Results, images, thinking, and whatever comes next.
            _ => {}
        }
    })?;
    Some(message)
}

fn chat<'t>(text: &'t str, fields: &Fields<'t>) -> Option<Message<'t>> {
    let mut message = Message::new(match fields.text("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Model,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => return None,
    });
    if let Some(at) = fields.at("content") {
        message.contains(text, at, (Form::Tail, TEXT), |message, part| {
            part.text("text").into_iter().for_each(|said| message.say(said));
        })?;
    }
    for call in fields.list("tool_calls").unwrap_or_default() {
        let call = Fields::read(text, call)?;
        if let Some(function) = call.object("function") {
            message.call(function.text("name"), function.raw("arguments"));
        }
    }
    Some(message)
}

fn item<'t>(text: &'t str, fields: &Fields<'t>) -> Option<Message<'t>> {
    let kind = fields.text("type").unwrap_or_else(|| "message".to_owned());
    let role = match (kind.as_str(), fields.text("role").as_deref()) {
        ("message", Some("user")) => Role::User,
        ("message", Some("system" | "developer")) => Role::System,
        (kind, _) if kind.ends_with("_output") => Role::Tool,
        // The model's words, calls and thoughts, and what a service made of them.
        _ => Role::Model,
    };
    let mut message = Message::new(role);
    match (kind.as_str(), fields.at("content")) {
        ("message", Some(at)) => {
            message.contains(text, at, (Form::Tail, INPUT_TEXT), |message, part| {
                part.text("text").into_iter().for_each(|said| message.say(said));
            })?;
        }
        (kind, _) if kind.ends_with("_call") => {
            let input = ["arguments", "input", "action"].iter().find_map(|key| fields.raw(key));
            message.call(fields.text("name").or(Some(kind.to_owned())), input);
        }
        _ => {}
    }
    Some(message)
}

fn content<'t>(text: &'t str, fields: &Fields<'t>) -> Option<Message<'t>> {
    let mut message = Message::new(match fields.text("role").as_deref() {
        Some("user") | None => Role::User,
        Some("model") => Role::Model,
        Some("function") => Role::Tool,
        Some(_) => return None,
    });
    message.contains(text, fields.at("parts")?, (Form::Tail, PART), |message, part| {
        if let Some(call) = part.object("functionCall").or_else(|| part.object("function_call")) {
            message.call(call.text("name"), call.raw("args"));
        }
        part.text("text").into_iter().for_each(|said| message.say(said));
    })?;
    Some(message)
}
