//! `memdir model`: who is asked, if anybody is.
//!
//! Everything works without a model. What is configured here makes extraction, selection and consolidation better, under
//! the caps of `memdir costs`. Keys come by a variable or by standard input, never as an argument.

mod check;
mod choose;
mod status;

use std::time::Duration;

use memdir_mind::guard::Guarded;
use memdir_mind::model::{self, Env, Message, Model, ModelError, Opened, Purpose, Request};
use memdir_store::breaker::Breakers;
use memdir_store::costs::{CostBook, Job, SessionTokens};
use memdir_store::keys;
use memdir_store::place::{self, settings::ServiceKind};
use serde_json::json;

use crate::context::{Context, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Show, choose or try the model that may be asked; everything works without one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Choose who is asked: anthropic, openai, chat, claude, codex, sampling or none
    Use(choose::Args),
    /// Ask one small question, and tell how it went
    Check,
    /// Show who could be asked here
    List {
        /// Also look for model servers on this machine
        #[arg(long)]
        probe: bool,
    },
    /// Ask what stands on standard input, under the caps of background work
    Ask(AskArgs),
    /// Let a service be asked again that is left alone because it failed
    Reset {
        /// Only this one, by the name that `memdir model` shows
        service: Option<String>,
    },
    /// Forget the key that was given for a service
    #[command(name = "forget-key")]
    ForgetKey {
        /// anthropic, openai or chat
        service: ServiceKind,
    },
}

#[derive(Debug, clap::Args)]
struct AskArgs {
    /// What the receipt says it was for: extract, select, dream, session or magic
    #[arg(long, default_value = "magic")]
    job: Job,
    /// Ask the model for small questions
    #[arg(long)]
    small: bool,
    /// On the account of this session
    #[arg(long, value_name = "ID", requires = "session_tokens")]
    session: Option<String>,
    /// How many tokens that session has read and written itself
    #[arg(long, value_name = "N", requires = "session")]
    session_tokens: Option<u64>,
    /// No answer is longer, in tokens
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max_tokens: u32,
    /// No answer takes longer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    within: u64,
}

pub(crate) fn run(args: &Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    match &args.action {
        None => Ok(status::show(context, ui)),
        Some(Action::Use(args)) => choose::run(args, context, ui),
        Some(Action::Check) => check::run(context, ui),
        Some(Action::List { probe }) => Ok(status::list(*probe, context, ui)),
        Some(Action::Ask(args)) => ask(args, context, ui),
        Some(Action::Reset { service }) => reset(service.as_deref(), context, ui),
        Some(Action::ForgetKey { service }) => forget_key(*service, context, ui),
    }
}

/// Returns what surrounds this process, without what the repository put there.
pub(crate) fn surroundings(context: &Context) -> Env {
    let shipped = place::shipped_variables(&context.env);
    Env::new(&context.place.home, std::env::vars_os(), shipped)
}

/// Opens the model that the user configured.
pub(crate) fn open(context: &Context, purpose: Purpose) -> Result<Opened, ModelError> {
    model::open(&context.place.settings.model, &surroundings(context), purpose)
}

fn ask(args: &AskArgs, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let prompt =
        text_or_stdin(None)?.ok_or_else(|| Failure::error("there is no question on standard input"))?;
    let purpose = if args.small { Purpose::Small } else { Purpose::Large };
    let model = open(context, purpose).map_err(|err| failure(&err))?;
    let book = CostBook::new(&context.place.home, &context.place.settings);
    let breakers = Breakers::new(&context.place.home);
    let session = args.session.clone().zip(args.session_tokens);
    let session = session.map(|(id, tokens)| SessionTokens { id, tokens });
    let guarded = Guarded::new(model, &book, &breakers, args.job, session, context.now);
    let mut guarded = guarded.map_err(|err| failure(&err))?;
    guarded.limit_time(Duration::from_secs(args.within));
    let request =
        Request { messages: vec![Message::user(prompt)], max_tokens: args.max_tokens, ..Request::default() };
    let answer = guarded.ask(&request);
    for news in guarded.news() {
        ui.warn(&news);
    }
    let receipt = guarded.finish();
    let answer = answer.map_err(|err| failure(&err))?;
    if ui.is_json() {
        ui.json(&json!({"answer": answer.text(), "receipt": receipt}));
    } else {
        ui.block(&answer.text());
    }
    Ok(Outcome::Done)
}

fn reset(service: Option<&str>, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let breakers = Breakers::new(&context.place.home);
    let n_rested = breakers.reset(service).map_err(|err| Failure::from_chain(&err))?;
    if ui.is_json() {
        ui.json(&json!({ "reset": n_rested }));
    } else {
        ui.say(if n_rested == 0 { "nobody was left alone" } else { "asked again from now on" });
    }
    Ok(if n_rested == 0 { Outcome::Nothing } else { Outcome::Done })
}

fn forget_key(service: ServiceKind, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let was_there =
        keys::forget(&context.place.home, service.as_str()).map_err(|err| Failure::from_chain(&err))?;
    if ui.is_json() {
        ui.json(&json!({ "forgotten": was_there }));
    } else if !was_there {
        ui.say(&format!("no key was kept for {service}"));
    }
    Ok(if was_there { Outcome::Done } else { Outcome::Nothing })
}

/// Says why a model did not answer, and what to do about it.
pub(crate) fn failure(err: &ModelError) -> Failure {
    match err {
        ModelError::None => Failure::refusal(err.to_string())
            .hint("`memdir model list` shows who could be asked, `memdir model use` chooses"),
        ModelError::Held(_) => Failure::refusal(err.to_string())
            .hint("`memdir costs` shows the caps, `memdir model reset` lets a service be asked at once"),
        ModelError::Refused(_) | ModelError::Unreachable(_) | ModelError::Malformed(_) => {
            Failure::error(err.to_string())
                .hint("`memdir model` shows what is configured, `memdir model check` tries it")
        }
    }
}
