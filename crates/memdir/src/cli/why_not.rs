//! `memdir why-not`: says whether a text would be saved, and if not, why.

use memdir_core::memory::{MAX_BODY, MemoryType, UnknownWord};
use memdir_core::policy::{self, Refusal};
use memdir_core::statement::gist;
use memdir_core::worth::{self, Part};
use memdir_store::gate::Gate;
use serde_json::{Value, json};

use super::rows;
use crate::context::{Context, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Say whether a text would be saved, and why not
///
/// Weighs the text against the project: its tree and code, its git history, its instruction files. Nothing is
/// saved. With --jsonl, rows {"id", "text", "type"} on stdin are answered one by one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The text, instead of stdin
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// What it would be saved as: user, feedback, project or reference
    #[arg(long = "type", short = 't', value_name = "TYPE", default_value = "project")]
    memory_type: String,
    /// Answer rows of JSON on stdin
    #[arg(long, conflicts_with = "text")]
    jsonl: bool,
}

/// What the gates say about one text.
struct Answer {
    refusals: Vec<Refusal>,
    parts: Vec<Part>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let memory_type: MemoryType = args.memory_type.parse()?;
    let gate = context.gate()?;
    if args.jsonl {
        return rows::answer(ui, |row| {
            let said = row.get("type").map(|_| rows::text(row, "type")).transpose()?;
            let memory_type = said
                .map_or(Ok(memory_type), |word| word.parse().map_err(|err: UnknownWord| err.to_string()))?;
            Ok(answer(rows::text(row, "text")?, memory_type, gate).to_json())
        });
    }
    let text = text_or_stdin(args.text.clone())?
        .ok_or_else(|| Failure::error("there is no text").hint("`memdir why-not TEXT`, or pipe it in"))?;
    let answer = answer(&text, memory_type, gate);
    if ui.is_json() {
        ui.json(&answer.to_json());
    } else {
        print(&answer, ui);
    }
    Ok(if answer.refusals.is_empty() { Outcome::Done } else { Outcome::Nothing })
}

/// Asks the gates as a save would. What the vault holds is not looked at: a near-duplicate is told by `save`.
fn answer(text: &str, memory_type: MemoryType, gate: &Gate) -> Answer {
    let evidence = gate.evidence(text);
    let refusals = policy::against(text, memory_type, &gate.scanner, &evidence);
    // A text that is no memory by its size is not told apart either.
    let parts = if text.len() > MAX_BODY {
        Vec::new()
    } else {
        worth::weigh(&gist(text), memory_type, &evidence).parts
    };
    Answer { refusals, parts }
}

impl Answer {
    fn to_json(&self) -> Value {
        let first = self.refusals.first();
        let mut answer = json!({
            "saved": first.is_none(),
            "rule": first.map(|refusal| &refusal.rule),
            "evidence": first.map(|refusal| &refusal.evidence),
            "destination": first.map(|refusal| &refusal.destination),
        });
        if let Some(question) = first.and_then(|refusal| refusal.question.as_ref()) {
            answer["question"] = json!(question);
        }
        if !self.parts.is_empty() {
            answer["parts"] = json!(self.parts);
        }
        answer
    }
}

fn print(answer: &Answer, ui: &mut Ui) {
    if answer.refusals.is_empty() {
        ui.line("would be saved");
    }
    for Refusal { rule, evidence, destination, question, .. } in &answer.refusals {
        ui.line(&format!("would not be saved: {rule}"));
        ui.line(&format!("  found:  {evidence}"));
        ui.line(&format!("  better: {destination}"));
        if let Some(question) = question {
            ui.line(&format!("  ask:    {question}"));
        }
    }
    for part in &answer.parts {
        match &part.rule {
            Some(rule) => ui.line(&format!("  leave out ({rule}): {}", part.text)),
            None => ui.line(&format!("  worth saving: {}", part.text)),
        }
    }
}
