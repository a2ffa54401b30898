//! `memdir model use`: writes the user's choice into their settings, and a key into our care.

use std::io::Read;

use memdir_mind::model::{Base, Host, find_program};
use memdir_store::keys::{self, Secret};
use memdir_store::place::settings::{ServiceKind, is_variable, set_in_table};
use serde_json::json;

use super::surroundings;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// No key is longer, with what a shell puts around it.
const MAX_KEY: u64 = 8 << 10;

/// Whom to ask.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// anthropic, openai, chat (Ollama, llama.cpp, vLLM, OpenRouter …), claude, codex, sampling (the model of an MCP host, while it calls) or none
    service: ServiceKind,
    /// The model for work that wants judgement
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The model for small questions
    #[arg(long, value_name = "NAME")]
    small: Option<String>,
    /// Where the service is: https, or http on this machine or in a private network
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The variable that holds the key
    #[arg(long, value_name = "NAME", conflicts_with = "key_stdin")]
    key_env: Option<String>,
    /// Read the key from standard input and keep it, for you only
    #[arg(long)]
    key_stdin: bool,
}

pub(super) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    check(args, context, ui)?;
    let service = args.service;
    if args.key_stdin {
        let key = read_key()?;
        keys::keep(&context.place.home, service.as_str(), &key).map_err(|err| Failure::from_chain(&err))?;
    }
    let keys = [
        ("service", Some(service.as_str())),
        ("name", args.model.as_deref()),
        ("small", args.small.as_deref()),
        ("base_url", args.base_url.as_deref()),
        ("key_env", args.key_env.as_deref()),
    ];
    set_in_table(&context.place.home, "model", &keys).map_err(|err| {
        Failure::from_chain(&err).hint("write the table `[model]` there yourself: docs/models.md shows it")
    })?;
    if ui.is_json() {
        ui.json(&json!({"service": service.as_str(), "model": args.model, "small": args.small}));
    } else if service == ServiceKind::None {
        ui.say("no model is asked; everything works without");
    } else if service == ServiceKind::Sampling {
        ui.say("a host that lends its model is asked while it calls `memdir mcp`; rules do everything else");
    } else {
        ui.say(&format!("{service} is asked from now on; `memdir model check` tries it"));
    }
    Ok(Outcome::Done)
}

/// Refuses what cannot work, before anything is written.
fn check(args: &Args, context: &Context, ui: &Ui) -> Result<(), Failure> {
    let service = args.service;
    let is_given = args.base_url.is_some() || args.key_env.is_some() || args.key_stdin;
    if is_given && !service.is_http() {
        return Err(Failure::error(format!("{service} has no address and no key of ours")));
    }
    if let Some(url) = &args.base_url {
        let base =
            Base::parse(url).map_err(|why| Failure::error(format!("`{url}` cannot be used: {why}")))?;
        if let Some(warning) = base.warning() {
            ui.warn(&warning);
        }
    }
    // The name is not repeated: it may be a key that was put there by mistake.
    if args.key_env.as_ref().is_some_and(|name| !is_variable(name)) {
        return Err(Failure::error("`--key-env` takes the name of a variable, in capitals, not a key")
            .hint("a key comes by `--key-stdin`"));
    }
    if service == ServiceKind::Chat && args.model.is_none() {
        return Err(
            Failure::error("`chat` needs `--model NAME`").hint("for Ollama, `ollama list` shows names")
        );
    }
    let host = match service {
        ServiceKind::Claude => Host::Claude,
        ServiceKind::Codex => Host::Codex,
        _ => return Ok(()),
    };
    if find_program(host.program(), &surroundings(context)).is_none() {
        ui.warn(&format!("`{}` is not on your PATH", host.program()));
    }
    Ok(())
}

fn read_key() -> Result<Secret, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_KEY).read_to_string(&mut text);
    let key = read.ok().and_then(|_| Secret::new(&text));
    key.ok_or_else(|| Failure::error("there is no key on standard input").hint("`… --key-stdin < FILE`"))
}
