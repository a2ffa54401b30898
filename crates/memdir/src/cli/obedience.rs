//! `memdir obedience`: how well the rules of feedback memories were kept.

use memdir_store::obedience::{Kept, kept};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Show how often rules were recalled, obeyed and violated
///
/// A rule is a line `rule: deny bash ^git push --force` in the frontmatter of a feedback memory. Before an agent uses a
/// tool, the hook refuses what a `deny` forbids, has the user asked for an `ask`, and says a `remind`. A rule that you did
/// not say yourself only reminds.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

const COLUMNS: [Column; 6] = [
    Column::new("memory").tone(Tone::Strong),
    Column::new("recalled"),
    Column::new("obeyed"),
    Column::new("violated"),
    Column::new("rules").giving_way(),
    Column::new("about").giving_way(),
];

pub(crate) fn run(context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let rows = kept(&context.vaults()?).map_err(|err| Failure::from_chain(&err))?;
    if ui.is_json() {
        ui.json(&rows.iter().map(row_json).collect::<Vec<Value>>());
        return Ok(Outcome::Done);
    }
    if rows.is_empty() {
        ui.say(
            "no feedback memory has a rule; `memdir edit NAME` adds one: `rule: deny bash ^git push --force`",
        );
        return Ok(Outcome::Nothing);
    }
    let cells = |kept: &Kept| {
        let counts = [kept.recalled, kept.obeyed, kept.violated].map(|n| n.to_string());
        let [recalled, obeyed, violated] = counts;
        vec![kept.name.clone(), recalled, obeyed, violated, kept.rules.join("; "), kept.description.clone()]
    };
    ui.table(&COLUMNS, &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(Outcome::Done)
}

fn row_json(kept: &Kept) -> Value {
    json!({
        "name": kept.name,
        "description": kept.description,
        "rules": kept.rules,
        "recalled": kept.recalled,
        "obeyed": kept.obeyed,
        "violated": kept.violated,
    })
}
