//! What the part of a conversation tells that is left out: read once, in order, from any of the shapes.
//!
//! [`Story::take`] is given the items one by one. A call waits until its result comes, so that both are told together. What
//! hosts and tools put into the user's messages is not the user's; what an earlier compaction put there is taken up, so
//! that a list can be compacted again and again.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::files::{Files, Known};
use super::skills::Skills;
use super::{contents, marks};
use crate::host::{Tool, said_by_user};
use crate::journal::Digest;
use crate::secrets::Scanner;
use crate::transcript::json::{call, inner, is_true, text, texts};
use crate::transcript::{Role, Turn, without_injected};

/// Of the model's words, as many of the last messages are read, and as much of each.
const MAX_ANSWERS: usize = 60;
const MAX_ANSWER: usize = 4_000;
/// As much of a user's message is read.
const MAX_MESSAGE: usize = 8_000;
/// As much of what a call gave back is read, at its beginning and at its end.
const MAX_END: usize = 2_000;
/// As many calls that failed are kept, the last ones.
const MAX_FAILED: usize = 20;
/// As many calls that may have no id wait for their results, the last ones.
const MAX_WAITING: usize = 256;

/// What was told so far.
pub(super) struct Story<'s> {
    scanner: &'s Scanner,
    pub(super) digest: Digest,
    pub(super) files: Files,
    pub(super) skills: Skills,
    /// The last answers of the model, oldest first.
    pub(super) answers: VecDeque<String>,
    /// The first lines of what calls said that failed, oldest first.
    pub(super) failed: VecDeque<String>,
    /// What the conversation was told by its system on the way.
    pub(super) notes: VecDeque<String>,
    /// The lines of an earlier summary, with the heading of each.
    pub(super) carried: Vec<(String, String)>,
    open: HashMap<String, (String, Value)>,
    /// The last calls to Gemini's tools, oldest first.
    waiting: VecDeque<Waiting>,
    /// Whether the model spoke last in Gemini's shape.
    was_model: bool,
}

/// A call that is known by its name, and by its id if it has one.
struct Waiting {
    id: Option<String>,
    name: String,
    input: Value,
}

impl<'s> Story<'s> {
    pub(super) fn new(scanner: &'s Scanner) -> Self {
        Self {
            scanner,
            digest: Digest::default(),
            files: Files::default(),
            skills: Skills::default(),
            answers: VecDeque::new(),
            failed: VecDeque::new(),
            notes: VecDeque::new(),
            carried: Vec::new(),
            open: HashMap::new(),
            waiting: VecDeque::new(),
            was_model: false,
        }
    }

    /// Takes the next item.
    pub(super) fn take(&mut self, item: &Value) {
        self.files.references.step();
        let role = text(item, "role").unwrap_or_default();
        if contents::is_content(item) {
            self.content(role, item);
            return;
        }
        match (role, text(item, "type").unwrap_or_default()) {
            ("tool" | "function", _) => {
                let id = text(item, "tool_call_id").or(text(item, "name")).unwrap_or_default();
                let said = item.get("content").map(texts).unwrap_or_default();
                self.answer(id, &said, false);
            }
            ("", kind) if kind.ends_with("_call") => self.call_item(item),
            ("", kind) if kind.ends_with("_output") => {
                let said = item.get("output").map(output).unwrap_or_default();
                self.answer(text(item, "call_id").unwrap_or_default(), &said, false);
            }
            ("", _) => {}
            (role, _) => self.message(role, item),
        }
    }

    fn message(&mut self, role: &str, item: &Value) {
        match item.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().for_each(|block| self.block(role, block)),
            Some(content) => self.say(role, &texts(content)),
            None => {}
        }
        for listed in item.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = listed.get("function").or(listed.get("custom")).unwrap_or(listed);
            let input = function.get("arguments").or(function.get("input")).cloned().unwrap_or_default();
            self.call(text(listed, "id"), text(function, "name"), input);
        }
        if let Some(function) = item.get("function_call") {
            let name = text(function, "name");
            self.call(name, name, function.get("arguments").cloned().unwrap_or_default());
        }
    }

    fn block(&mut self, role: &str, block: &Value) {
        let kind = text(block, "type").unwrap_or_default();
        match kind {
            "text" | "input_text" | "output_text" => self.say(role, &texts(block)),
            _ if kind.ends_with("tool_use") => {
                let input = block.get("input").cloned().unwrap_or_default();
                self.call(text(block, "id"), text(block, "name"), input);
            }
            _ if kind.ends_with("tool_result") => {
                let said = block.get("content").map(texts).unwrap_or_default();
                let id = text(block, "tool_use_id").unwrap_or_default();
                self.answer(id, &said, is_true(block, "is_error"));
            }
            // Thoughts, pictures, and whatever comes next.
            _ => {}
        }
    }

    fn content(&mut self, role: &str, item: &Value) {
        let is_model = role == "model";
        if is_model && !self.was_model {
            // Calls are answered before the model speaks again, or never.
            self.waiting.clear();
        }
        self.was_model = is_model;
        contents::parts(item).for_each(|part| self.part(role, part));
    }

    fn part(&mut self, role: &str, part: &Value) {
        if let Some(called) = contents::call(part) {
            let Some(name) = text(called, "name").map(str::to_owned) else { return };
            let id = text(called, "id").map(str::to_owned);
            self.waiting.push_back(Waiting {
                id,
                name,
                input: called.get("args").cloned().unwrap_or_default(),
            });
            if self.waiting.len() > MAX_WAITING {
                self.waiting.pop_front();
            }
        } else if let Some(result) = contents::result(part) {
            let (said, failed) = contents::said(result);
            if let Some(Waiting { name, input, .. }) = self.awaited(result) {
                self.told(&name, &input, &said, failed);
            }
        } else if let Some(said) = text(part, "text").filter(|_| !contents::is_thought(part)) {
            match role {
                "function" => {}
                // Who speaks without a role is the user.
                "" => self.say("user", said),
                role => self.say(role, said),
            }
        }
    }

    /// Finds the call that a result belongs to: the one of its id, and without one the oldest of its name.
    fn awaited(&mut self, result: &Value) -> Option<Waiting> {
        let (id, name) = (text(result, "id"), text(result, "name"));
        let is_its = |call: &Waiting| match (id, call.id.as_deref()) {
            (Some(id), Some(known)) => id == known,
            _ => name == Some(call.name.as_str()),
        };
        self.waiting.iter().position(is_its).and_then(|nth| self.waiting.remove(nth))
    }

    fn call_item(&mut self, item: &Value) {
        let input = item.get("arguments").or(item.get("input")).or(item.get("action")).cloned();
        let name = text(item, "name").or(text(item, "type").map(|kind| kind.trim_end_matches("_call")));
        self.call(text(item, "call_id"), name, input.unwrap_or_default());
    }

    fn call(&mut self, id: Option<&str>, name: Option<&str>, input: Value) {
        let input = input.as_str().map_or_else(|| input.clone(), inner);
        let (Some(id), Some(name)) = (id, name) else { return };
        self.open.insert(id.to_owned(), (name.to_owned(), input));
    }

    fn answer(&mut self, id: &str, said: &str, failed: bool) {
        if let Some((name, input)) = self.open.remove(id) {
            self.told(&name, &input, said, failed);
        }
    }

    /// Takes a call with what came of it.
    fn told(&mut self, name: &str, input: &Value, said: &str, failed: bool) {
        let tool = Tool::new(name, input);
        self.files.take(&tool, input, said, failed);
        self.skills.take(&tool, said);
        let called = self.clean(&call(name, input), MAX_MESSAGE);
        self.digest.take(&turn(Role::Tool, called));
        let said = self.clean(&ends(said), MAX_MESSAGE);
        if failed {
            push(&mut self.failed, said.clone(), MAX_FAILED);
        }
        self.digest.take(&turn(Role::Tool, said));
    }

    fn say(&mut self, role: &str, said: &str) {
        match role {
            "user" => self.hear(said),
            "assistant" | "model" => {
                let said = self.clean(&without_injected(Role::Assistant, said), MAX_ANSWER);
                push(&mut self.answers, said, MAX_ANSWERS);
            }
            _ => {
                let said = self.clean(said, MAX_END);
                push(&mut self.notes, said, MAX_FAILED);
            }
        }
    }

    fn hear(&mut self, said: &str) {
        if let Some(lines) = marks::summary_lines(said) {
            self.carried = lines;
        } else if let Some((path, count, known, is_part)) = marks::file(said) {
            self.files.take_up(path, Known { text: known.to_owned(), is_part }, count);
        } else if !self.skills.take_text(said) {
            let said = self.clean(&said_by_user(said), MAX_MESSAGE);
            if !said.is_empty() {
                self.digest.take(&turn(Role::User, said));
            }
        }
    }

    /// Cuts a text to what is read of it, and takes secrets out.
    fn clean(&self, text: &str, limit: usize) -> String {
        cleaned(&text[..text.floor_char_boundary(limit)], self.scanner)
    }
}

/// Takes secrets out of a text.
pub(super) fn cleaned(text: &str, scanner: &Scanner) -> String {
    scanner.redacted(text).trim().to_owned()
}

/// Returns what a call gave back: a text, parts, or JSON inside of a text that has it as `output`.
fn output(value: &Value) -> String {
    let wrapped = value.as_str().filter(|said| said.starts_with('{')).map(inner);
    match wrapped.as_ref().and_then(|inner| text(inner, "output")) {
        Some(said) => said.to_owned(),
        None => texts(value),
    }
}

/// Returns the beginning and the end of a long text: errors stand at either.
fn ends(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * MAX_END {
        return Cow::Borrowed(text);
    }
    let start = &text[..text.floor_char_boundary(MAX_END)];
    let end = &text[text.ceil_char_boundary(text.len() - MAX_END)..];
    Cow::Owned(format!("{start}\n{end}"))
}

fn turn(role: Role, text: String) -> Turn {
    Turn { session: String::new(), at: None, role, text, cwd: None, branch: None, uuid: String::new() }
}

fn push(kept: &mut VecDeque<String>, text: String, limit: usize) {
    if text.is_empty() {
        return;
    }
    kept.push_back(text);
    if kept.len() > limit {
        kept.pop_front();
    }
}
