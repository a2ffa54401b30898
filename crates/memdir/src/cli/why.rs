//! `memdir why`: what speaks for a memory at a prompt.

use memdir_core::recall::{Hit, Moment, Part, Recalled, Skipped, Trigger, Weights, choose, rank, triggers};
use memdir_store::usage::{Usage, Used};
use serde_json::{Map, Value, json};

use super::recall::{ask, in_project, trigger_json};
use crate::context::{Context, dash_is_stdin};
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
        prompt: dash_is_stdin(args.query.clone())?,
        files: args.files.iter().map(|file| in_project(file, context)).collect(),
        error: dash_is_stdin(args.error.clone())?,
        branch: args.branch.clone(),
        tools: args.tools.clone(),
        ..Moment::default()
    };
    let usage = Usage::of(&found.vault, None, context.now);
    let hits =
        ask(&found.vault, context, ui, |notes, now, weights| rank(notes, &moment, now, weights, &usage))?;
    let name = found.loaded.path.stem();
    let weights = Weights::fitted();
    let Some(place) = hits.iter().position(|hit| hit.note.name == name) else {
        if ui.is_json() {
            ui.json(
                &json!({ "name": name, "score": 0.0, "floor": weights.floor, "parts": {}, "shown": false }),
            );
        } else {
            ui.say(&format!("nothing in `{name}` matches"));
        }
        return Ok(Outcome::Nothing);
    };
    let account = Account {
        place,
        n_hits: hits.len(),
        triggers: triggers(&hits[place].note, &moment, &context.now.to_zoned(context.zone.clone())),
        used: usage.get(name),
        hit: hits[place].clone(),
        recalled: choose(hits, &moment, &weights),
    };
    if ui.is_json() {
        ui.json(&account.to_json(&weights));
    } else {
        account.print(&weights, ui);
    }
    Ok(Outcome::Done)
}

/// What is known of a memory at a moment.
struct Account {
    hit: Hit,
    /// Its place among all that were ranked.
    place: usize,
    n_hits: usize,
    triggers: Vec<Trigger>,
    used: Used,
    recalled: Recalled,
}

impl Account {
    fn is_shown(&self) -> bool {
        self.recalled.hits.iter().any(|shown| shown.note.name == self.hit.note.name)
    }

    fn skipped(&self) -> Option<Skipped> {
        let mut skipped = self.recalled.skipped.iter();
        skipped.find(|(skipped, _)| skipped.note.name == self.hit.note.name).map(|(_, why)| *why)
    }

    /// Returns the parts that are not nothing with their weights, what counts most first.
    fn parts(&self, weights: &Weights) -> Vec<(Part, f32, f32)> {
        let counts = |part: &Part| (*part, self.hit.parts.get(*part), weights.parts[*part as usize]);
        let mut parts: Vec<_> = Part::ALL.iter().map(counts).filter(|(_, value, _)| *value != 0.0).collect();
        parts.sort_by(|a, b| (b.1 * b.2).abs().total_cmp(&(a.1 * a.2).abs()));
        parts
    }

    fn to_json(&self, weights: &Weights) -> Value {
        let part = |(part, value, weight): (Part, f32, f32)| {
            let counts = json!({ "value": value, "weight": weight, "counts": value * weight });
            (part.as_str().to_owned(), counts)
        };
        let parts: Map<String, Value> = self.parts(weights).into_iter().map(part).collect();
        json!({
            "name": self.hit.note.name,
            "score": self.hit.score,
            "anything": self.recalled.anything,
            "floor": self.recalled.floor,
            "place": self.place + 1,
            "shown": self.is_shown(),
            "skipped": self.skipped().map(Skipped::as_str),
            "via": self.hit.via,
            "triggers": self.triggers.iter().map(trigger_json).collect::<Vec<_>>(),
            "usage": {
                "surfaced": self.used.surfaced,
                "used": self.used.used,
                "ignored": self.used.ignored,
                "last_used": self.used.last_used,
            },
            "parts": parts,
        })
    }

    fn print(&self, weights: &Weights, ui: &mut Ui) {
        let columns = [
            Column::new("part").tone(Tone::Strong),
            Column::new("value"),
            Column::new("weight"),
            Column::new("counts"),
        ];
        let row = |(part, value, weight): (Part, f32, f32)| {
            vec![
                part.as_str().to_owned(),
                format!("{value:.2}"),
                format!("{weight:.2}"),
                format!("{:+.2}", value * weight),
            ]
        };
        ui.table(&columns, &self.parts(weights).into_iter().map(row).collect::<Vec<_>>());
        for trigger in &self.triggers {
            ui.line(&format!("{}: {}", trigger.kind.as_str(), trigger.text));
        }
        let Used { surfaced, used, ignored, .. } = &self.used;
        ui.line(&format!("shown {surfaced}×, used {used}×, shown in vain {ignored}×"));
        let verdict = match self.skipped() {
            Some(why) => format!("not shown, {}", why.as_str()),
            None if self.is_shown() => "shown".to_owned(),
            None => "not shown".to_owned(),
        };
        ui.line(&format!(
            "probability {:.2}; of any memory {:.2}, floor {:.2}: {verdict}; place {} of {}",
            self.hit.score,
            self.recalled.anything,
            self.recalled.floor,
            self.place + 1,
            self.n_hits
        ));
    }
}
