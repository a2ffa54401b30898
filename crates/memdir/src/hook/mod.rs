//! `memdir hook AGENT EVENT`: what happens in a session, told by the agent that runs it.
//!
//! The agent waits for this process, so it fails open, quietly and fast: whatever goes wrong, it exits with 0 before its
//! deadline, says nothing, and leaves one line in `$MEMDIR_HOME/hooks.log`. No model, no network and no rebuild of
//! an index is waited for here.
//!
//! ```text
//!   stdin ─▶ host::read ─▶ Occasion ─▶ Desk::answer ─▶ Reply ─▶ stdout ─▶ Desk::record (ledger, session, queue)
//!                                          │
//!                       a thread of its own; this one only looks at the clock
//! ```
//!
//! Look at [`desk::Desk::answer`] first: one short function a moment.

pub(crate) mod desk;
pub(crate) mod log;
mod magic;
pub(crate) mod opening;
mod tools;
mod work;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use memdir_core::host::{self, Agent, Moment};
use serde_json::Value;

use crate::context;
use crate::failure::{Failure, Outcome};
use desk::Desk;

pub(crate) use tools::used_as;

/// Answer an agent's hook (JSON on stdin, JSON on stdout)
///
/// Agents call this; `memdir init` tells them to. Whatever happens it exits with 0, and within a second.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  echo '{\"session_id\":\"s1\",\"cwd\":\"'$PWD'\",\"source\":\"startup\"}' | memdir hook claude-code SessionStart
  echo '{\"session_id\":\"s1\",\"prompt\":\"which database do the tests use?\"}' | memdir hook codex UserPromptSubmit

Agents: claude-code, codex, gemini, opencode, copilot, cursor, vscode, goose.
Events: as the agent calls them. What went wrong is told in $MEMDIR_HOME/hooks.log.")]
pub(crate) struct Args {
    /// The agent that calls
    #[arg(value_name = "AGENT")]
    agent: String,
    /// What happens, in the agent's own words
    #[arg(value_name = "EVENT")]
    event: String,
}

/// A prompt or a tool waits for the answer.
const SHORT: Duration = Duration::from_millis(300);
/// Nothing waits but the beginning or the end of something long.
const LONG: Duration = Duration::from_millis(800);
/// As long is waited for what is written after the answer was given.
const GRACE: Duration = Duration::from_millis(150);
/// Whoever calls must have said all it has to say by then.
const PATIENCE: Duration = Duration::from_millis(700);
/// More than this is not read: a tool may print a lot, and a hook is about a few lines of it.
const MAX_INPUT: u64 = 16 * 1024 * 1024;
/// Moves the deadline, in milliseconds: for slow machines.
const DEADLINE: &str = "MEMDIR_HOOK_DEADLINE_MS";

/// Where and for whom the hook was called.
#[derive(Debug, Clone)]
struct Call {
    agent: Agent,
    event: String,
    vault: Option<PathBuf>,
    project: Option<PathBuf>,
}

/// Answers, or stays silent.
pub(crate) fn run(args: &Args, vault: Option<PathBuf>, project: Option<PathBuf>) -> Outcome {
    if context::is_off() {
        return Outcome::Done;
    }
    let Some(agent) = Agent::parse(&args.agent) else {
        log::tell(&args.agent, &args.event, "no agent is called that");
        return Outcome::Done;
    };
    let call = Call { agent, event: args.event.clone(), vault, project };
    if host::read(agent, &call.event, &Value::Null).moment == Moment::Other {
        return Outcome::Done;
    }
    watch(call);
    Outcome::Done
}

/// Lets a thread do the work and leaves without it when the time is over; a file system that hangs holds up nobody.
fn watch(call: Call) {
    let allowed = time_for(&call);
    let mouth = Mouth::default();
    let (heard, input) = mpsc::sync_channel(1);
    let (finished, end) = mpsc::sync_channel(1);
    let worker = {
        let (call, mouth) = (call.clone(), mouth.clone());
        move || {
            let bytes = read_input();
            let until = Instant::now() + allowed.mul_f64(0.8);
            // Nobody may be listening any more.
            let _ = heard.send(());
            let _ = finished.send(work(&call, &bytes, until, &mouth).map_err(|failure| failure.message));
        }
    };
    let tell = |what: &str| log::tell(call.agent.as_str(), &call.event, what);
    if thread::Builder::new().name("hook".to_owned()).spawn(worker).is_err() {
        return tell("no thread could be started");
    }
    if input.recv_timeout(PATIENCE.max(allowed)).is_err() {
        return tell("nothing was said on stdin in time");
    }
    let outcome = match end.recv_timeout(allowed) {
        // The answer is out and what follows from it is being written.
        Err(_) if mouth.is_taken() => end.recv_timeout(GRACE),
        outcome => outcome,
    };
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(message)) => tell(&message),
        Err(_) if mouth.has_spoken() => tell("what was said could not be noted in time"),
        Err(_) => tell("there was no answer in time"),
    }
}

fn time_for(call: &Call) -> Duration {
    match host::read(call.agent, &call.event, &Value::Null).moment {
        Moment::Prompt(_) | Moment::BeforeTool(_) | Moment::AfterTool { .. } => time_for_prompt(),
        _ => time_for_start(),
    }
}

/// Returns how long an agent waits for what a prompt calls to mind.
pub(crate) fn time_for_prompt() -> Duration {
    deadline().unwrap_or(SHORT)
}

/// Returns how long an agent waits for what a session is told when it begins.
pub(crate) fn time_for_start() -> Duration {
    deadline().unwrap_or(LONG)
}

fn deadline() -> Option<Duration> {
    std::env::var(DEADLINE).ok().and_then(|text| text.parse().ok()).map(Duration::from_millis)
}

fn read_input() -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was said until it broke off is not JSON, and so it is nothing.
    let _ = io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes);
    bytes
}

fn work(call: &Call, input: &[u8], until: Instant, mouth: &Mouth) -> Result<(), Failure> {
    let said: Value = serde_json::from_slice(input).unwrap_or_default();
    let occasion = host::read(call.agent, &call.event, &said);
    let Some(desk) = Desk::open(&occasion, call.vault.clone(), call.project.clone(), until)? else {
        return Ok(());
    };
    let answer = desk.answer(input)?;
    if mouth.say(answer.reply.to_text(&occasion).as_deref()) {
        desk.record(&answer);
    }
    Ok(())
}

/// Whoever takes it first speaks: the answer, or nobody when the time is over.
#[derive(Debug, Clone, Default)]
struct Mouth {
    taken: Arc<AtomicBool>,
    spoken: Arc<AtomicBool>,
}

impl Mouth {
    /// Says something, unless the time is over; `false` if it is.
    fn say(&self, text: Option<&str>) -> bool {
        if self.is_taken() {
            return false;
        }
        if let Some(text) = text {
            let mut out = io::stdout().lock();
            // Whoever does not listen any more loses nothing.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        self.spoken.store(true, Ordering::SeqCst);
        true
    }

    /// Takes it; says whether somebody had it already.
    fn is_taken(&self) -> bool {
        self.taken.swap(true, Ordering::SeqCst)
    }

    fn has_spoken(&self) -> bool {
        self.spoken.load(Ordering::SeqCst)
    }
}
