//! The memory tool in an answer of Anthropic's Messages: calls of it are kept from the client and answered in its place.
//!
//! ```text
//!   answer ─▶ Sieve::take ─▶ what the client gets, piece by piece
//!            Sieve::end ─▶ End::Calls ─▶ (somebody runs them) ─▶ Sieve::answered ─▶ Then::Ask ─▶ the next answer
//!                      └─▶ End::Done                                            └─▶ Then::Show, with calls of the client
//!   Sieve::kept ─▶ Kept ─▶ (the client's next request) ─▶ put_back
//! ```
//!
//! For the client several answers are one: blocks are numbered through, and only the last answer ends it. As long as nothing
//! was kept from it, every byte passes as it came. What cannot be followed is left to the client, as if nobody had listened.
//!
//! Look at [`Sieve`] first.

mod blocks;
mod frames;
mod kept;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use blocks::{Block, event};
use frames::Frames;
use kept::{Round, list};

pub use kept::{Kept, put_back};

/// As often in a row calls are answered; after that they are the client's.
const MAX_ROUNDS: usize = 24;
/// An answer that is longer is not followed.
const MAX_ANSWER: usize = 32 << 20;

/// A call of the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    id: String,
    /// What it is given.
    pub input: Map<String, Value>,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the model is told.
    pub text: String,
    /// Whether that is why nothing was done.
    pub is_error: bool,
}

/// What is to be done when an answer is over.
#[derive(Debug, PartialEq)]
pub enum End {
    /// This is the last that the client gets.
    Done(Vec<u8>),
    /// These are to be run.
    Calls(Vec<Call>),
}

/// What is to be done with results.
#[derive(Debug, PartialEq, Eq)]
pub enum Then {
    /// The model is to be asked again, with these messages behind the last one.
    Ask(String),
    /// The client has calls of its own to answer, and this is the last that it gets.
    Show(Vec<u8>),
}

/// Lets an answer through to the client, less the calls of one tool.
#[derive(Debug)]
pub struct Sieve {
    tool: String,
    /// How many messages the request has.
    behind: usize,
    form: Form,
    /// Rounds that were answered, in which nothing is said any more.
    past: Vec<Answered>,
    now: Answered,
    /// The end of the answer, for when it is known that it is the end.
    held: Vec<u8>,
    /// How much was said.
    size: usize,
}

/// How an answer comes.
#[derive(Debug)]
enum Form {
    Unknown,
    Events(Frames),
    Whole(Vec<u8>),
    /// It could not be followed, and passes.
    Lost,
    /// It could not be followed, and is over for the client.
    Mute,
}

/// What is known of one answer of the model.
#[derive(Debug, Default)]
struct Answered {
    blocks: Vec<Block>,
    results: Vec<Value>,
    stop: Option<String>,
    /// Tokens that were written.
    output: u64,
    /// All of it, where it came in one piece.
    whole: Value,
}

impl Answered {
    fn hidden(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.is_hidden)
    }

    fn shown(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| !block.is_hidden)
    }

    fn is_shared(&self) -> bool {
        self.blocks.iter().any(Block::is_clients_call)
    }

    /// Returns the calls, if there is nothing else in the way of answering them.
    fn calls(&self) -> Option<Vec<Call>> {
        let is_over = self.stop.as_deref() == Some("tool_use");
        let is_known = self.blocks.iter().all(|block| block.whole().is_some());
        let call = |block: &Block| block.call().map(|(id, input)| Call { id, input });
        self.hidden().map(call).collect::<Option<Vec<_>>>().filter(|_| is_over && is_known)
    }
}

impl Sieve {
    /// Begins with the answer to a request of so many messages, in which calls of `tool` are ours.
    pub fn new(tool: &str, behind: usize) -> Self {
        Self {
            tool: tool.to_owned(),
            behind,
            form: Form::Unknown,
            past: Vec::new(),
            now: Answered::default(),
            held: Vec::new(),
            size: 0,
        }
    }

    /// Takes the next bytes of an answer, and returns what the client gets now.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        if matches!(self.form, Form::Unknown) {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return bytes.to_vec(),
                Some(b'{') => self.form = Form::Whole(Vec::new()),
                Some(_) => self.form = Form::Events(Frames::default()),
            }
        }
        self.size += bytes.len();
        match &mut self.form {
            Form::Events(frames) => match frames.take(bytes) {
                Some(events) => {
                    let mut passed: Vec<u8> = events.into_iter().flat_map(|raw| self.event(raw)).collect();
                    if self.size > MAX_ANSWER {
                        passed.extend(self.lose());
                    }
                    passed
                }
                None => self.lose(),
            },
            Form::Whole(whole) if whole.len() + bytes.len() <= MAX_ANSWER => {
                whole.extend_from_slice(bytes);
                Vec::new()
            }
            Form::Whole(whole) => {
                let passed = [std::mem::take(whole).as_slice(), bytes].concat();
                self.form = Form::Lost;
                passed
            }
            Form::Unknown | Form::Lost => bytes.to_vec(),
            Form::Mute => Vec::new(),
        }
    }

    /// Says what is to be done now that an answer is over.
    pub fn end(&mut self) -> End {
        let mut rest = match &mut self.form {
            Form::Unknown | Form::Lost | Form::Mute => Vec::new(),
            Form::Events(frames) => frames.rest(),
            Form::Whole(whole) => {
                let whole = std::mem::take(whole);
                let Some(value) = serde_json::from_slice(&whole).ok().filter(is_message) else {
                    return End::Done(whole);
                };
                self.read(value);
                whole
            }
        };
        if self.now.hidden().next().is_some() {
            if let Some(calls) = self.now.calls() {
                return End::Calls(calls);
            }
            self.leave();
        }
        if matches!(self.form, Form::Whole(_)) {
            let is_as_it_came = self.past.is_empty();
            return End::Done(if is_as_it_came { rest } else { self.merged().to_string().into_bytes() });
        }
        let mut last = std::mem::take(&mut self.held);
        last.append(&mut rest);
        End::Done(last)
    }

    /// Takes what the calls came to, in their order.
    pub fn answered(&mut self, outcomes: Vec<Outcome>) -> Then {
        let ids = self.now.hidden().filter_map(|block| Some(block.call()?.0));
        self.now.results = ids.zip(outcomes).map(|(id, outcome)| result(id, outcome)).collect();
        if self.now.is_shared() {
            if matches!(self.form, Form::Whole(_)) {
                return Then::Show(self.merged().to_string().into_bytes());
            }
            return Then::Show(std::mem::take(&mut self.held));
        }
        // What is called stands behind what is said, as it will in later requests.
        let mut said: Vec<Value> = self.now.shown().filter_map(Block::said).collect();
        said.extend(self.now.hidden().filter_map(Block::whole));
        let messages = format!(
            ",{{\"role\":\"assistant\",\"content\":[{}]}},{{\"role\":\"user\",\"content\":[{}]}}",
            list(&said),
            list(&self.now.results)
        );
        self.past.push(std::mem::take(&mut self.now));
        self.held.clear();
        self.form = match self.form {
            Form::Whole(_) => Form::Whole(Vec::new()),
            _ => Form::Events(Frames::default()),
        };
        Then::Ask(messages)
    }

    /// Tells a client in the middle of a stream that the model could not be asked again, in the service's words if it has any.
    pub fn refused(&self, error: &[u8]) -> Vec<u8> {
        let said = serde_json::from_slice::<Value>(error).ok().filter(|said| said["type"] == "error");
        let message = "memdir gateway: the model could not be asked again after a call of the memory tool";
        let ours = || json!({"type": "error", "error": {"type": "overloaded_error", "message": message}});
        event(&said.unwrap_or_else(ours))
    }

    /// Returns what later requests of the conversation must get back, if the client was not shown something.
    pub fn kept(&self) -> Option<Kept> {
        let (mut shown, mut rounds) = (Vec::new(), Vec::new());
        for answered in self.past.iter().chain([&self.now]) {
            shown.extend(answered.shown().filter_map(Block::print));
            if !answered.results.is_empty() {
                rounds.push(Round {
                    after: shown.len(),
                    calls: answered.hidden().filter_map(Block::whole).collect(),
                    results: answered.results.clone(),
                    is_shared: answered.is_shared(),
                });
            }
        }
        Kept::new(self.behind, self.is_open(), shown, rounds)
    }

    /// Says whether the model is to be asked again, or was cut off.
    fn is_open(&self) -> bool {
        !self.past.is_empty() && self.now.stop.is_none()
    }

    fn event(&mut self, raw: Vec<u8>) -> Vec<u8> {
        let data = crate::sse::Events::default().take(&raw).ok().and_then(|events| events.into_iter().next());
        let Some(mut value) = data.and_then(|event| serde_json::from_str::<Value>(&event.data).ok()) else {
            return raw;
        };
        match value["type"].as_str().unwrap_or_default() {
            "message_start" if !self.past.is_empty() => Vec::new(),
            "content_block_start" => {
                let (number, block) = (value["index"].as_u64().unwrap_or_default(), &value["content_block"]);
                let block = Block::new(block.clone(), number, self.is_ours(block));
                self.now.blocks.push(block);
                self.renumbered(raw, value)
            }
            "content_block_delta" => {
                if let Some(block) = self.block(&value) {
                    block.grow(&value["delta"]);
                }
                self.renumbered(raw, value)
            }
            "content_block_stop" => self.renumbered(raw, value),
            "message_delta" => {
                self.now.stop = value["delta"]["stop_reason"].as_str().map(str::to_owned);
                let raw = if self.count(&mut value["usage"]) { event(&value) } else { raw };
                self.last(raw)
            }
            "message_stop" => self.last(raw),
            _ => raw,
        }
    }

    /// Says whether a block is a call that the client is not shown.
    fn is_ours(&self, block: &Value) -> bool {
        block["type"] == "tool_use" && block["name"] == self.tool.as_str() && self.past.len() < MAX_ROUNDS
    }

    fn block(&mut self, value: &Value) -> Option<&mut Block> {
        let number = value["index"].as_u64()?;
        self.now.blocks.iter_mut().rev().find(|block| block.number == number)
    }

    /// Returns what the client gets of an event that is about a block.
    fn renumbered(&mut self, raw: Vec<u8>, mut value: Value) -> Vec<u8> {
        let Some(block) = self.block(&value) else { return raw };
        if block.is_hidden {
            return Vec::new();
        }
        let number = block.number;
        let before = self.now.shown().take_while(|block| block.number != number).count();
        let shown = (self.n_past() + before) as u64;
        if shown == number {
            return raw;
        }
        value["index"] = shown.into();
        event(&value)
    }

    /// Returns how many blocks of earlier answers the client was shown.
    fn n_past(&self) -> usize {
        self.past.iter().map(|answered| answered.shown().count()).sum()
    }

    /// Counts for the client what it asked for: what its own request took to read, and all that was written. Says whether
    /// that changes anything.
    fn count(&mut self, usage: &mut Value) -> bool {
        self.now.output = usage["output_tokens"].as_u64().unwrap_or_default();
        let before: u64 = self.past.iter().map(|answered| answered.output).sum();
        let Some(counts) = usage.as_object_mut().filter(|_| !self.past.is_empty()) else { return false };
        counts.retain(|name, _| !name.ends_with("input_tokens"));
        counts.insert("output_tokens".to_owned(), (before + self.now.output).into());
        true
    }

    /// Holds the end of an answer back if it may not be the end, or if something is to be kept before the client goes on.
    fn last(&mut self, raw: Vec<u8>) -> Vec<u8> {
        if self.past.is_empty() && self.now.hidden().next().is_none() {
            return raw;
        }
        self.held.extend(raw);
        Vec::new()
    }

    /// Reads an answer that came in one piece.
    fn read(&mut self, mut whole: Value) {
        self.now.stop = whole["stop_reason"].as_str().map(str::to_owned);
        let blocks = whole["content"].as_array().cloned().unwrap_or_default();
        let block = |(number, block): (u64, Value)| {
            let is_ours = self.is_ours(&block);
            Block::new(block, number, is_ours)
        };
        self.now.blocks = (0..).zip(blocks).map(block).collect();
        self.count(&mut whole["usage"]);
        self.now.whole = whole;
    }

    /// Returns all answers as one.
    fn merged(&self) -> Value {
        let mut merged = self.now.whole.clone();
        let all = || self.past.iter().chain([&self.now]);
        if let Some(first) = self.past.first() {
            merged["id"] = first.whole["id"].clone();
            let read = first.whole["usage"].as_object().into_iter().flatten();
            let read = read.filter(|(name, _)| name.ends_with("input_tokens"));
            if let Some(usage) = merged["usage"].as_object_mut() {
                usage.extend(read.map(|(name, count)| (name.clone(), count.clone())));
            }
        }
        merged["content"] = all().flat_map(Answered::shown).filter_map(Block::whole).collect();
        merged
    }

    /// Leaves the calls of this answer to the client.
    fn leave(&mut self) {
        let (next, is_ended) = (self.n_past() + self.now.shown().count(), self.now.stop.is_some());
        let mut told = Vec::new();
        for (number, block) in (next..).zip(self.now.blocks.iter_mut().filter(|block| block.is_hidden)) {
            block.is_hidden = false;
            told.extend(block.events(number, is_ended));
        }
        if matches!(self.form, Form::Events(_)) {
            told.append(&mut self.held);
            self.held = told;
        }
    }

    /// Goes on without following; where the client has had one answer already, the next one cannot go on by itself.
    fn lose(&mut self) -> Vec<u8> {
        if !self.past.is_empty() {
            self.form = Form::Mute;
            return self.refused(b"");
        }
        let rest = match &mut self.form {
            Form::Events(frames) => frames.rest(),
            _ => Vec::new(),
        };
        self.leave();
        self.form = Form::Lost;
        [std::mem::take(&mut self.held), rest].concat()
    }
}

fn is_message(value: &Value) -> bool {
    value["type"] == "message"
}

fn result(id: String, outcome: Outcome) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": outcome.text});
    if outcome.is_error {
        result["is_error"] = true.into();
    }
    result
}
