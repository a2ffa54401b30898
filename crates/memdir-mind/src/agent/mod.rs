//! The sub-agent: a model with four tools, a copy of a vault, and a budget.
//!
//! It reads what is known and proposes what should be; it writes nothing. [`Agent`] is a machine without a clock or a
//! network: it is handed the model's answers one after the other and says what is to be asked next, so that the same code
//! runs in the process that is walled in (see [`crate::sandbox`]) and in tests.
//!
//! ```text
//!   job: window · copy · budget ─▶ Agent ── results of tools ─▶ model
//!                                    ▲                            │
//!                                    └────────── answer ◀─────────┘   until it is done or a limit is met
//!                                    │
//!                                    └─▶ proposals, checked against what was said · report in counts
//! ```

mod budget;
mod proposal;
mod quote;
mod report;
#[cfg(test)]
mod tests;
mod tools;
pub(crate) mod view;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Answer, Part, Stop};

pub use budget::{Budget, End, Spent};
pub use proposal::{Content, Proposal, Target, Tray};
pub use quote::{Said, find_quote, is_pasted, own_words};
pub use report::{Kind, Refused, Report};
pub use tools::{lines, tools};
pub use view::{Known, View};

/// What a sub-agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To note what a conversation teaches.
    Extract,
    /// To put a vault in order.
    Dream,
}

impl Purpose {
    /// Returns what it may propose.
    pub fn actions(self) -> &'static [&'static str] {
        match self {
            Self::Extract => &["new", "update"],
            Self::Dream => &["update", "merge", "supersede", "archive"],
        }
    }
}

/// What a sub-agent is handed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What for.
    pub purpose: Purpose,
    /// What was said; a proposal rests on it. Empty where nothing was.
    pub window: Vec<Said>,
    /// The vault.
    pub view: View,
    /// What it may spend.
    pub budget: Budget,
    /// What frames are marked with; no secret of the machine.
    pub key: Vec<u8>,
}

/// What is to happen next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The model is to be told this and asked again.
    Ask(Vec<Part>),
    /// That was it.
    Done(End),
}

/// What a run leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The proposals that were taken, as the model made them.
    pub proposals: Vec<Value>,
    /// What was done and what was refused.
    pub report: Report,
}

/// One run.
#[derive(Debug)]
pub struct Agent<'j> {
    job: &'j Job,
    tray: Tray<'j>,
    spent: Spent,
    report: Report,
    was_nudged: bool,
}

impl<'j> Agent<'j> {
    /// Begins.
    pub fn new(job: &'j Job) -> Self {
        Self {
            job,
            tray: Tray::new(&job.view, &job.window, &job.budget),
            spent: Spent::default(),
            report: Report { left_out: job.view.n_left_out(), ..Report::default() },
            was_nudged: false,
        }
    }

    /// Takes an answer, does what it calls for, and says what comes next.
    pub fn hear(&mut self, answer: &Answer, elapsed: Duration) -> Next {
        self.spent.answered(&answer.usage);
        let mut results = Vec::new();
        for part in &answer.parts {
            if let Part::Call { id, name, input } = part {
                let is_too_many = results.len() >= self.job.budget.calls;
                results.push(self.call(id, name, input, is_too_many));
            }
        }
        if answer.stop == Stop::Refused {
            return Next::Done(End::Declined);
        }
        if results.is_empty() {
            match self.hear_text(answer) {
                Some(nudge) => results.push(nudge),
                None => return Next::Done(End::Finished),
            }
        }
        match self.spent.exhausted(&self.job.budget, elapsed) {
            Some(end) => Next::Done(end),
            None => Next::Ask(results),
        }
    }

    /// Ends the run.
    pub fn finish(mut self, end: End) -> Outcome {
        self.spent.files = self.tray.n_taken();
        self.spent.removals = self.tray.n_removals();
        self.report.end = end;
        self.report.spent = self.spent;
        Outcome { proposals: self.tray.into_raw(), report: self.report }
    }

    /// Reads an answer without a call. A model that cannot call tools writes its proposals as JSON; words alone mean that
    /// there is nothing to propose. What looks like JSON and is none gets a second chance, once.
    fn hear_text(&mut self, answer: &Answer) -> Option<Part> {
        let text = answer.text();
        let json = json_in(&text)?;
        match serde_json::from_str::<Value>(json) {
            Ok(value) => {
                self.propose(&value);
                None
            }
            Err(err) => {
                self.refuse(Refused::new(Kind::Input, format!("that is no JSON: {err}")));
                if std::mem::replace(&mut self.was_nudged, true) {
                    return None;
                }
                Some(Part::Text(format!(
                    "That is no JSON ({err}). Answer with the JSON object and nothing else."
                )))
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &Value, is_too_many: bool) -> Part {
        let done = if is_too_many {
            Err(Refused::new(Kind::Calls, format!("no more than {} calls at once", self.job.budget.calls)))
        } else {
            self.run(name, input)
        };
        let (text, is_error) = match done {
            Ok(text) => (text, false),
            Err(refused) => (self.refuse(refused), true),
        };
        Part::Result { id: id.to_owned(), text, is_error }
    }

    fn run(&mut self, name: &str, input: &Value) -> Result<String, Refused> {
        let Job { view, key, .. } = self.job;
        match name {
            "list" => tools::list(view, input, key).and_then(|text| self.returned(text)),
            "read" => self.read(input),
            "search" => tools::search(view, input, key).and_then(|text| self.returned(text)),
            "propose" => Ok(self.propose(input)),
            _ => Err(Refused::new(Kind::Tool, format!("there is no tool `{name}`"))),
        }
    }

    fn read(&mut self, input: &Value) -> Result<String, Refused> {
        let mut text = String::new();
        for found in tools::read(&self.job.view, input)? {
            match found {
                Ok(known) => {
                    text.push_str(&self.returned(tools::shown(known, &self.job.key))?);
                    self.tray.saw(&known.path);
                }
                Err(refused) => {
                    text.push_str(&self.refuse(refused));
                    text.push('\n');
                }
            }
        }
        Ok(text)
    }

    /// Lets a result through as long as there is room for it.
    fn returned(&mut self, text: String) -> Result<String, Refused> {
        let bytes = self.spent.bytes.saturating_add(text.len());
        if bytes > self.job.budget.bytes {
            let line = format!("tools return no more than {} bytes in all", self.job.budget.bytes);
            return Err(Refused::new(Kind::Bytes, line));
        }
        self.spent.bytes = bytes;
        Ok(text)
    }

    /// Takes what was proposed, one by one, and tells what became of each.
    fn propose(&mut self, input: &Value) -> String {
        let one = std::slice::from_ref(input);
        let proposals = match input.get("proposals").or_else(|| input.get("memories")) {
            Some(Value::Array(proposals)) => proposals.as_slice(),
            Some(_) => &[],
            None if input.get("name").is_some() => one,
            None => &[],
        };
        let mut text = String::new();
        let mut n_silent = 0;
        for (n, raw) in proposals.iter().enumerate() {
            let line = match self.put(raw) {
                Ok(()) => "taken".to_owned(),
                Err(refused) => self.refuse(refused),
            };
            // A thousand refusals need no thousand lines.
            if n < self.job.budget.files.saturating_mul(2) {
                text.push_str(&format!("{}: {line}\n", n + 1));
            } else {
                n_silent += 1;
            }
        }
        if n_silent > 0 {
            text.push_str(&format!("and {n_silent} more, refused\n"));
        }
        if text.is_empty() { "nothing was proposed\n".to_owned() } else { text }
    }

    fn put(&mut self, raw: &Value) -> Result<(), Refused> {
        let action = raw.get("action").and_then(Value::as_str).unwrap_or("new");
        let is_removal =
            matches!(action, "delete" | "remove" | "forget" | "erase" | "merge" | "supersede" | "archive");
        if !is_removal && !self.job.purpose.actions().contains(&action) {
            return Err(Refused::new(Kind::Input, format!("`{action}` is no action here")));
        }
        self.tray.put(raw).map(|_| ())
    }

    /// Counts a refusal and returns what the model is told.
    fn refuse(&mut self, refused: Refused) -> String {
        self.report.refuse(&refused);
        format!("refused: {}", refused.line)
    }
}

/// Returns the JSON object in a text, with or without a fence around it.
fn json_in(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let before = text[..start].trim();
    let is_alone = before.is_empty() || before.ends_with("```") || before.ends_with("```json");
    let end = text.rfind('}').map_or(text.len(), |at| at + 1);
    is_alone.then(|| text.get(start..end)).flatten()
}
