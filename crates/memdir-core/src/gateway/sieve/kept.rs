//! What a client was not shown of an answer, and how it is put back into the requests that go on from there.
//!
//! ```text
//!   the client has      assistant[ a,            b ]
//!   the model had       assistant[ a, call ] user[ result ] assistant[ b ]
//! ```
//!
//! Every byte of the client stays, in its order: what was between two of its blocks is put between them, with the ends of the
//! messages around it, in the client's own words for those. Calls stand behind everything else that was said with them, for what
//! ends a message must not come behind a comma.

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
    /// Whether the model was still to say more, of which the client may have got a part.
    is_open: bool,
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
    pub(super) fn new(behind: usize, is_open: bool, shown: Vec<Print>, rounds: Vec<Round>) -> Option<Self> {
        (!rounds.is_empty() && !shown.is_empty()).then_some(Self { behind, is_open, shown, rounds })
    }

    /// Changes every text in what was called and answered.
    pub fn change_texts(&mut self, change: impl Fn(&str) -> String) {
        for round in &mut self.rounds {
            round.calls.iter_mut().for_each(|call| change_texts(&mut call["input"], &change));
            round.results.iter_mut().for_each(|result| change_texts(&mut result["content"], &change));
        }
    }

    /// Says whether it is more of the same answer.
    pub fn replaces(&self, before: &Self) -> bool {
        let first = |kept: &Self| kept.rounds.first().map(|round| round.calls.clone());
        before.is_open && before.behind == self.behind && first(before) == first(self)
    }

    /// Returns how much there is to keep, in bytes.
    pub fn size(&self) -> usize {
        let size = |values: &[Value]| values.iter().map(|value| value.to_string().len()).sum::<usize>();
        self.rounds.iter().map(|round| size(&round.calls) + size(&round.results)).sum()
    }

    /// Returns the rounds, each with how many of the client's blocks stand before it; `None` if these are not what the
    /// client was shown.
    fn places(&self, prints: &[Print]) -> Option<Vec<(usize, &Round)>> {
        let is_all = |shown: usize| shown == prints.len() || self.is_open;
        if prints.starts_with(&self.shown) && is_all(self.shown.len()) {
            return Some(self.rounds.iter().map(|round| (round.after, round)).collect());
        }
        let is_word = |print: &&Print| !print.is_thought;
        let words = |n: usize| self.shown[..n.min(self.shown.len())].iter().filter(is_word).count();
        let n_words = words(self.shown.len());
        let is_same = self.shown.iter().filter(is_word).eq(prints.iter().take(n_words));
        (n_words > 0 && is_same && is_all(n_words))
            .then(|| self.rounds.iter().map(|round| (words(round.after), round)).collect())
    }

    /// Says whether nothing else can have been shown like this.
    fn is_unique(&self, prints: &[Print]) -> bool {
        self.shown.iter().any(|shown| shown.is_unique && prints.contains(shown))
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
    let said: Vec<Option<Said>> = messages.iter().map(|at| Said::read(text, at.clone())).collect();
    // An answer was given once, so it is put back once: where it was given, or where nothing else can be meant. Of two that
    // were given at the same place the client has the later.
    let mut left: Vec<&Kept> = kept.iter().rev().collect();
    let mut insertions = Vec::new();
    for is_moved in [false, true] {
        for (nth, said) in said.iter().enumerate() {
            let Some(said) = said else { continue };
            let is_meant = |kept: &&Kept| match is_moved {
                false => kept.behind == nth,
                true => kept.behind != nth && kept.is_unique(&said.prints),
            };
            let found = left.iter().position(|kept| is_meant(kept) && kept.places(&said.prints).is_some());
            let Some(kept) = found.map(|at| left.remove(at)) else { continue };
            let places = kept.places(&said.prints).unwrap_or_default();
            insertions
                .extend(said.put_back(text, &places, messages.get(nth + 1).cloned()).unwrap_or_default());
        }
    }
    Some(insertions)
}

/// An answer, as the client sends it back.
struct Said {
    /// Where it stands, and what it says.
    at: Range<usize>,
    content: Range<usize>,
    prints: Vec<Print>,
    /// Where each block stands that has a print.
    blocks: Vec<Range<usize>>,
    /// Whether it is one string, and no list.
    is_bare: bool,
}

impl Said {
    fn read(text: &str, at: Range<usize>) -> Option<Self> {
        let fields = Fields::read(text, at.clone())?;
        fields.text("role").filter(|role| role == "assistant")?;
        let content = fields.at("content")?;
        if let Some(words) = string(&text[content.clone()]) {
            let print = Print::of(&serde_json::json!({"type": "text", "text": words}))?;
            let blocks = vec![content.clone()];
            return Some(Self { at, content, prints: vec![print], blocks, is_bare: true });
        }
        let (mut prints, mut blocks) = (Vec::new(), Vec::new());
        for block in spans::array(text, content.clone())? {
            if let Some(print) = Print::of(&parse(&text.as_bytes()[block.clone()])?) {
                prints.push(print);
                blocks.push(block);
            }
        }
        Some(Self { at, content, prints, blocks, is_bare: false })
    }

    /// Puts rounds back; `None` if there is no way to.
    fn put_back(
        &self,
        text: &str,
        places: &[(usize, &Round)],
        next: Option<Range<usize>>,
    ) -> Option<Vec<Insertion>> {
        let mut insertions = Vec::new();
        let mut insert = |at: usize, bytes: String| insertions.push(Insertion { at, bytes });
        let mut is_behind = false;
        for (after, round) in places {
            let (calls, results) = (list(&round.calls), list(&round.results));
            let told = format!("{{\"role\":\"user\",\"content\":[{results}]}}");
            let last = self.blocks.last()?.end;
            match self.blocks.get(*after) {
                Some(block) => insert(block.start, self.between(text, &calls, &told)),
                None if self.is_bare => return None,
                None if round.is_shared => {
                    let Insertion { at, bytes } = beside(text, next.clone()?, &results)?;
                    insert(at, bytes);
                    insert(last, format!(",{calls}"));
                }
                // The model said no more, so the answer ends in what it was told.
                None if is_behind => {
                    insert(self.at.end, format!(",{{\"role\":\"assistant\",\"content\":[{calls}]}},{told}"));
                }
                None => {
                    is_behind = true;
                    insert(last, format!(",{calls}"));
                    insert(self.at.end, format!(",{told}"));
                }
            }
        }
        Some(insertions)
    }

    /// Ends the client's message behind calls, and begins it again behind their results.
    fn between(&self, text: &str, calls: &str, told: &str) -> String {
        let (begins, ends) = (&text[self.at.start..self.content.start], &text[self.content.end..self.at.end]);
        let (opens, goes_on) = if self.is_bare { ("[", "") } else { ("", "[") };
        format!("{opens}{calls}]{ends},{told},{begins}{goes_on}")
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
