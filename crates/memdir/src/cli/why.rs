//! `memdir why`: what speaks for a memory at a prompt.

use memdir_core::recall::{Moment, Part, Weights, choose, rank, triggers};
use memdir_store::usage::Usage;
use serde_json::json;

use super::recall::{ask, in_project, trigger_json};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};

/// Show what speaks for a memory at a prompt
///
/// Prints each part of the score with what it counts, the probability they add up to, how probable it is that any memory
/// helps, and the floor below which nothing is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The memory
    #[arg(value_name = "NAME")]
    name: String,
    /// The prompt
    #[arg(long, value_name = "TEXT", default_value = "")]
    query: String,
    /// A file that is read or edited
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// What a command printed when it failed
    #[arg(long, value_name = "TEXT", default_value = "")]
    error: String,
    /// The branch
    #[arg(long, value_name = "NAME", default_value = "")]
    branch: String,
    /// A tool that was used lately
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let found = context.find(&args.name)?;
    let moment = Moment {
        prompt: args.query.clone(),
        files: args.files.iter().map(|file| in_project(file, context)).collect(),
        error: args.error.clone(),
        branch: args.branch.clone(),
        tools: args.tools.clone(),
        ..Moment::default()
    };
    let usage = Usage::of(&found.vault, None, context.now);
    let hits =
        ask(&found.vault, context, ui, |notes, now, weights| rank(notes, &moment, now, weights, &usage))?;
    let name = found.loaded.path.stem();
    let weights = Weights::fitted();
    let Some((place, hit)) = hits.iter().enumerate().find(|(_, hit)| hit.note.name == name) else {
        if ui.is_json() {
            ui.json(
                &json!({ "name": name, "score": 0.0, "floor": weights.floor, "parts": {}, "shown": false }),
            );
        } else {
            ui.say(&format!("nothing in `{name}` matches"));
        }
        return Ok(Outcome::Nothing);
    };
    let triggers = triggers(&hit.note, &moment, &context.now.to_zoned(context.zone.clone()));
    let used = usage.get(name);
    let recalled = choose(hits.clone(), &moment, &weights);
    let is_shown = recalled.hits.iter().any(|shown| shown.note.name == name);
    let skipped = recalled.skipped.iter().find(|(skipped, _)| skipped.note.name == name);
    let counts = |part: &Part| (*part, hit.parts.get(*part), weights.parts[*part as usize]);
    let mut parts: Vec<_> = Part::ALL.iter().map(counts).filter(|(_, value, _)| *value != 0.0).collect();
    parts.sort_by(|a, b| (b.1 * b.2).abs().total_cmp(&(a.1 * a.2).abs()));
    if ui.is_json() {
        let parts: serde_json::Map<String, serde_json::Value> = parts
            .iter()
            .map(|(part, value, weight)| {
                (
                    part.as_str().to_owned(),
                    json!({ "value": value, "weight": weight, "counts": value * weight }),
                )
            })
            .collect();
        ui.json(&json!({
            "name": name,
            "score": hit.score,
            "anything": recalled.anything,
            "floor": recalled.floor,
            "place": place + 1,
            "shown": is_shown,
            "skipped": skipped.map(|(_, why)| why.as_str()),
            "via": hit.via,
            "triggers": triggers.iter().map(trigger_json).collect::<Vec<_>>(),
            "usage": {
                "surfaced": used.surfaced,
                "used": used.used,
                "ignored": used.ignored,
                "last_used": used.last_used,
            },
            "parts": parts,
        }));
        return Ok(Outcome::Done);
    }
    let columns = [
        Column::new("part").tone(Tone::Strong),
        Column::new("value"),
        Column::new("weight"),
        Column::new("counts"),
    ];
    let row = |(part, value, weight): &(Part, f32, f32)| {
        vec![
            part.as_str().to_owned(),
            format!("{value:.2}"),
            format!("{weight:.2}"),
            format!("{:+.2}", value * weight),
        ]
    };
    ui.table(&columns, &parts.iter().map(row).collect::<Vec<_>>());
    for trigger in &triggers {
        ui.line(&format!("{}: {}", trigger.kind.as_str(), trigger.text));
    }
    ui.line(&format!("shown {}×, used {}×, shown in vain {}×", used.surfaced, used.used, used.ignored));
    let verdict = match skipped {
        Some((_, why)) => format!("not shown, {}", why.as_str()),
        None if is_shown => "shown".to_owned(),
        None => "not shown".to_owned(),
    };
    ui.line(&format!(
        "probability {:.2}; of any memory {:.2}, floor {:.2}: {verdict}; place {} of {}",
        hit.score,
        recalled.anything,
        recalled.floor,
        place + 1,
        hits.len()
    ));
    Ok(Outcome::Done)
}
