//! What a client was not shown of an answer, and how it is put back into the requests that go on from there.
//!
//! ```text
//!   the client has      assistant[ a,            b ]
//!   the model had       assistant[ a, call ] user[ result ] assistant[ b ]
//! ```
//!
//! Every byte of the client stays, in its order: what was between two of its blocks is put between them, with the ends of the
//! messages around it. Calls stand behind everything else that was said with them, for what ends a message must not come
//! behind a comma.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::fields::{Fields, string};
use super::super::place::Insertion;
use super::blocks::Print;
use crate::compact::spans;
use crate::transcript::json::parse;

/// What of one answer was not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// How many messages stood before the answer.
    behind: usize,
    /// What the client was shown.
    shown: Vec<Print>,
    /// What it was not, in order.
    pub(super) rounds: Vec<Round>,
}

/// What the model called at once, and what it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
    /// So much was shown up to then.
    pub(super) after: usize,
    pub(super) calls: Vec<Value>,
    pub(super) results: Vec<Value>,
    /// Whether the client called something at the same time, and brings the result of that in its next message.
    pub(super) is_shared: bool,
}

impl Kept {
    pub(super) fn new(behind: usize, shown: Vec<Print>, rounds: Vec<Round>) -> Option<Self> {
        (!rounds.is_empty() && !shown.is_empty()).then_some(Self { behind, shown, rounds })
    }

    /// Changes every text in what was called and answered.
    pub fn change_texts(&mut self, change: impl Fn(&str) -> String) {
        for round in &mut self.rounds {
            round.calls.iter_mut().for_each(|call| change_texts(&mut call["input"], &change));
            round.results.iter_mut().for_each(|result| change_texts(&mut result["content"], &change));
        }
    }

    /// Returns how much there is to keep, in bytes.
    pub fn size(&self) -> usize {
        let size = |values: &[Value]| values.iter().map(|value| value.to_string().len()).sum::<usize>();
        self.rounds.iter().map(|round| size(&round.calls) + size(&round.results)).sum()
    }

    /// Returns the rounds, each with how many of the client's blocks stand before it; `None` if these are not what the
    /// client was shown.
    fn places(&self, prints: &[Print]) -> Option<Vec<(usize, &Round)>> {
        if prints == self.shown {
            return Some(self.rounds.iter().map(|round| (round.after, round)).collect());
        }
        let is_word = |print: &&Print| !print.is_thought;
        let is_same = self.shown.iter().filter(is_word).eq(prints.iter());
        let words = |n: usize| self.shown[..n.min(self.shown.len())].iter().filter(is_word).count();
        (is_same && !prints.is_empty())
            .then(|| self.rounds.iter().map(|round| (words(round.after), round)).collect())
    }
}

fn change_texts(value: &mut Value, change: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| change_texts(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| change_texts(field, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns what it takes to put back what a client was not shown, in a body of Anthropic's Messages.
pub fn put_back(kept: &[Kept], body: &[u8]) -> Vec<Insertion> {
    if kept.is_empty() {
        return Vec::new();
    }
    found(kept, body).unwrap_or_default()
}

fn found(kept: &[Kept], body: &[u8]) -> Option<Vec<Insertion>> {
    let text = str::from_utf8(body).ok()?;
    spans::check(text).ok()?;
    let messages = Fields::read(text, 0..text.len())?.list("messages")?;
    let mut insertions = Vec::new();
    for (nth, at) in messages.iter().enumerate() {
        let Some(said) = Said::read(text, at.clone()) else { continue };
        let next = messages.get(nth + 1).cloned();
        let known = kept.iter().filter_map(|kept| Some((kept, kept.places(&said.prints)?)));
        // Several answers may have shown the same words; the nearest is meant.
        if let Some((_, places)) = known.min_by_key(|(kept, _)| kept.behind.abs_diff(nth)) {
            insertions.extend(said.put_back(text, &places, next).unwrap_or_default());
        }
    }
    Some(insertions)
}

/// An answer, as the client sends it back.
struct Said {
    prints: Vec<Print>,
    /// Where each block stands that has a print.
    blocks: Vec<Range<usize>>,
    /// Whether it is one string, and no list.
    is_bare: bool,
}

impl Said {
    fn read(text: &str, at: Range<usize>) -> Option<Self> {
        let fields = Fields::read(text, at)?;
        fields.text("role").filter(|role| role == "assistant")?;
        let content = fields.at("content")?;
        if let Some(words) = string(&text[content.clone()]) {
            let print = Print::of(&serde_json::json!({"type": "text", "text": words}))?;
            return Some(Self { prints: vec![print], blocks: vec![content], is_bare: true });
        }
        let (mut prints, mut blocks) = (Vec::new(), Vec::new());
        for block in spans::array(text, content)? {
            if let Some(print) = Print::of(&parse(&text.as_bytes()[block.clone()])?) {
                prints.push(print);
                blocks.push(block);
            }
        }
        Some(Self { prints, blocks, is_bare: false })
    }

    /// Puts rounds back; `None` if there is no way to.
    fn put_back(
        &self,
        text: &str,
        places: &[(usize, &Round)],
        next: Option<Range<usize>>,
    ) -> Option<Vec<Insertion>> {
        let mut insertions = Vec::new();
        let mut is_behind = false;
        for (after, round) in places {
            let (calls, results) = (list(&round.calls), list(&round.results));
            let opening = if self.is_bare { "[" } else { "" };
            let (at, bytes) = match self.blocks.get(*after) {
                Some(block) => {
                    let goes_on = if self.is_bare { "" } else { "[" };
                    let bytes = format!(
                        "{opening}{calls}]}},{{\"role\":\"user\",\"content\":[{results}]}},\
                         {{\"role\":\"assistant\",\"content\":{goes_on}"
                    );
                    (block.start, bytes)
                }
                None if self.is_bare => return None,
                None if round.is_shared => {
                    insertions.push(beside(text, next.clone()?, &results)?);
                    (self.blocks.last()?.end, format!(",{calls}"))
                }
                // The model said no more, so the answer ends in what it was told.
                None => {
                    let before = if is_behind { "]},{\"role\":\"assistant\",\"content\":[" } else { "," };
                    is_behind = true;
                    let bytes = format!("{before}{calls}]}},{{\"role\":\"user\",\"content\":[{results}");
                    (self.blocks.last()?.end, bytes)
                }
            };
            insertions.push(Insertion { at, bytes });
        }
        Some(insertions)
    }
}

/// Puts results before those that the client brings.
fn beside(text: &str, at: Range<usize>, results: &str) -> Option<Insertion> {
    let fields = Fields::read(text, at)?;
    fields.text("role").filter(|role| role == "user")?;
    let first = spans::array(text, fields.at("content")?)?.first()?.start;
    Some(Insertion { at: first, bytes: format!("{results},") })
}

pub(super) fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}
