//! `memdir model check`: one question with a schema, one with a tool, and how it went.

use std::time::Instant;

use memdir_mind::guard::Guarded;
use memdir_mind::model::{Answer, Message, Model, Part, Purpose, Request, Schema, Tool, Usage};
use memdir_store::breaker::Breakers;
use memdir_store::costs::{CostBook, Job};
use serde_json::{Value, json};

use super::{failure, open};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Enough for a model that thinks before it says a word.
const MAX_TOKENS: u32 = 1_000;

pub(super) fn run(context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let model = open(context, Purpose::Large).map_err(|err| failure(&err))?;
    let book = CostBook::new(&context.place.home, &context.place.settings);
    let breakers = Breakers::new(&context.place.home);
    // Who tries by hand wants to know now.
    breakers.reset(Some(model.service())).map_err(|err| Failure::from_chain(&err))?;
    let guarded = Guarded::new(model, &book, &breakers, Job::Magic, None, context.now);
    let mut guarded = guarded.map_err(|err| failure(&err))?;
    let began = Instant::now();
    let first = guarded.ask(&with_schema()).map_err(|err| failure(&err))?;
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let has_schema = fits(&first);
    // A service may refuse tools; that is an answer too.
    let second = guarded.ask(&with_tool());
    let has_tools = second.as_ref().is_ok_and(calls);
    let (name, service) = (guarded.name().to_owned(), guarded.service().to_owned());
    let Usage { input, cached, stored, output } = first.usage;
    let receipt = guarded.finish();
    if ui.is_json() {
        ui.json(&json!({
            "model": name, "service": service, "ms": ms, "schema": has_schema, "tools": has_tools,
            "tokens": {"input": input, "cached": cached, "stored": stored, "output": output}, "receipt": receipt,
        }));
        return Ok(Outcome::Done);
    }
    let yes = |is: bool| if is { "yes" } else { "no: work that needs it is done without a model" };
    ui.line(&format!("{name} answered after {ms} ms, {} tokens read, {output} written", first.usage.read()));
    ui.line(&format!("JSON by a schema: {}", yes(has_schema)));
    ui.line(&format!("tools: {}", yes(has_tools)));
    if let Some(receipt) = receipt {
        ui.line(&format!("cost: {:.4} USD", receipt.usd));
    }
    Ok(Outcome::Done)
}

fn with_schema() -> Request {
    let schema = json!({
        "type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"],
        "additionalProperties": false,
    });
    Request {
        system: "You answer small questions exactly.".to_owned(),
        messages: vec![Message::user("What is 2 + 3?")],
        schema: Some(Schema { name: "sum".to_owned(), schema }),
        max_tokens: MAX_TOKENS,
        ..Request::default()
    }
}

fn with_tool() -> Request {
    let input = json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
        "additionalProperties": false,
    });
    let tool =
        Tool { name: "read_note".to_owned(), description: "Reads a note by its name.".to_owned(), input };
    Request {
        system: "You look up notes with the tool before you answer.".to_owned(),
        messages: vec![Message::user("What does the note `testing` say?")],
        tools: vec![tool],
        max_tokens: MAX_TOKENS,
        ..Request::default()
    }
}

fn fits(answer: &Answer) -> bool {
    serde_json::from_str::<Value>(&answer.text()).is_ok_and(|value| value["sum"].is_i64())
}

fn calls(answer: &Answer) -> bool {
    answer.parts.iter().any(|part| matches!(part, Part::Call { name, .. } if name == "read_note"))
}
