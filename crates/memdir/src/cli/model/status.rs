//! `memdir model` and `memdir model list`: what is configured, and what could be.

use memdir_mind::model::{Base, Host, Purpose, find_program, nearby};
use memdir_store::breaker::{Breakers, rests_until};
use memdir_store::costs::CostBook;
use memdir_store::keys;
use memdir_store::place::settings::ServiceKind;
use serde_json::{Value, json};

use super::{open, surroundings};
use crate::context::Context;
use crate::failure::Outcome;
use crate::ui::{Column, Tone, Ui};

/// What is done where no model is asked.
const WITHOUT: &[(&str, &str)] = &[
    ("extract", "rules find what a conversation teaches"),
    ("select", "the local ranking decides, and abstains when unsure"),
    ("session", "notes of a session are put together from its prompts, files, commands and errors"),
    ("dream", "duplicates, dates and links are worked on by rules"),
];

/// Shows what is configured.
pub(super) fn show(context: &Context, ui: &mut Ui) -> Outcome {
    let settings = &context.place.settings.model;
    let names = [Purpose::Large, Purpose::Small].map(|purpose| match open(context, purpose) {
        Ok(model) => Ok(model.name().to_owned()),
        Err(err) => Err(err.to_string()),
    });
    let resting = resting(context);
    let book = CostBook::new(&context.place.home, &context.place.settings);
    let today = book.today(context.now).unwrap_or_default();
    let key = key_from(settings.service, context);
    if ui.is_json() {
        let [large, small] = &names;
        ui.json(&json!({
            "service": settings.service.as_str(), "model": large.as_ref().ok(), "small": small.as_ref().ok(),
            "problem": if settings.service == ServiceKind::None { None } else { large.as_ref().err() },
            "base_url": settings.base_url, "key": key, "resting": resting.iter().map(|(service, until)| {
                json!({"service": service, "until": until})
            }).collect::<Vec<Value>>(),
            "today": {"tokens": today.tokens, "usd": today.usd.dollars()},
            "without": WITHOUT.iter().map(|(job, what)| json!({"job": job, "does": what})).collect::<Vec<Value>>(),
        }));
        return Outcome::Done;
    }
    if settings.service == ServiceKind::None {
        ui.line("no model is asked; everything works without:");
        for (job, what) in WITHOUT {
            ui.line(&format!("  {job}: {what}"));
        }
        ui.say("`memdir model list` shows who could be asked");
        return Outcome::Done;
    }
    match names {
        [Ok(large), Ok(small)] if large == small => ui.line(&format!("{}: {large}", settings.service)),
        [Ok(large), Ok(small)] => {
            ui.line(&format!("{}: {large}, for small questions {small}", settings.service));
        }
        [Err(why), _] | [_, Err(why)] => ui.toned(Tone::Warning, &format!("{}: {why}", settings.service)),
    }
    if let Some(url) = &settings.base_url {
        ui.line(&format!("at: {url}"));
        if let Some(warning) = Base::parse(url).ok().and_then(|base| base.warning()) {
            ui.warn(&warning);
        }
    }
    if let Some(key) = key {
        ui.line(&format!("key: {key}"));
    }
    for (service, until) in resting {
        ui.toned(Tone::Warning, &format!("{service} failed and is left alone until {until}"));
    }
    ui.line(&format!("today: {} and {} tokens in the background", today.usd, today.tokens));
    Outcome::Done
}

/// Says where the key comes from, never what it is.
fn key_from(service: ServiceKind, context: &Context) -> Option<String> {
    if !service.is_http() {
        return None;
    }
    let env = surroundings(context);
    let settings = &context.place.settings.model;
    let of = |name: &str| match env.var(name) {
        Some(_) => format!("from the variable {name}"),
        None => format!("the variable {name} is not set"),
    };
    if let Some(name) = &settings.key_env {
        return Some(of(name));
    }
    Some(match keys::load(&context.place.home, service.as_str()) {
        Ok(Some(_)) => "kept by memdir".to_owned(),
        Ok(None) => service.usual_key_env().map_or_else(|| "none".to_owned(), of),
        Err(err) => err.to_string(),
    })
}

fn resting(context: &Context) -> Vec<(String, String)> {
    let states = Breakers::new(&context.place.home).states();
    let rest = states.into_iter().filter_map(|(service, state)| Some((service, rests_until(&state)?)));
    let rest = rest.filter(|(_, until)| *until > context.now);
    rest.map(|(service, until)| (service, until.strftime("%Y-%m-%d %H:%M UTC").to_string())).collect()
}

const COLUMNS: [Column; 3] =
    [Column::new("service").tone(Tone::Strong), Column::new("found"), Column::new("to use it").giving_way()];

/// Shows who could be asked here.
pub(super) fn list(probe: bool, context: &Context, ui: &mut Ui) -> Outcome {
    let env = surroundings(context);
    let mut rows: Vec<[String; 3]> = Vec::new();
    for service in [ServiceKind::Anthropic, ServiceKind::OpenAi] {
        let usual = service.usual_key_env().filter(|name| env.var(name).is_some());
        let kept = matches!(keys::load(&context.place.home, service.as_str()), Ok(Some(_)));
        let found = if kept { Some("a key kept by memdir".to_owned()) } else { usual.map(str::to_owned) };
        rows.extend(found.map(|found| [service.to_string(), found, format!("memdir model use {service}")]));
    }
    for (service, host) in [(ServiceKind::Claude, Host::Claude), (ServiceKind::Codex, Host::Codex)] {
        let found = find_program(host.program(), &env).map(|path| path.display().to_string());
        rows.extend(found.map(|found| [service.to_string(), found, format!("memdir model use {service}")]));
    }
    if probe {
        rows.extend(nearby().into_iter().map(|(server, url)| {
            let how = format!("memdir model use chat --base-url {url} --model NAME");
            ["chat".to_owned(), format!("{url}, where {server} listens by custom"), how]
        }));
    }
    if ui.is_json() {
        let row =
            |[service, found, how]: &[String; 3]| json!({"service": service, "found": found, "use": how});
        ui.json(&rows.iter().map(row).collect::<Vec<Value>>());
        return Outcome::Done;
    }
    if rows.is_empty() {
        ui.say("nobody was found: no key in the environment, no agent on the PATH; everything works without");
        return Outcome::Nothing;
    }
    ui.table(&COLUMNS, &rows.into_iter().map(Vec::from).collect::<Vec<_>>());
    Outcome::Done
}
