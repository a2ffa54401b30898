//! `memdir daemon`: the same work by a process that stays. Nobody needs it.
//!
//! It holds a post, of which there is one a state root, looks into the queues every second and at all projects every five
//! minutes, and listens for news of team servers. A signal ends it at once and at any point: whatever it was doing is done again by the next one.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use memdir_core::text::{age, count};
use memdir_store::place::Environment;
use memdir_store::queue::{Failed, Holder, Job, Post, Queue};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::ui::{Column, Tone, Ui};
use crate::work::{self, DAEMON, Ears};

/// Between two looks into the queues.
const PAUSE: Duration = Duration::from_secs(1);
/// How long an ended daemon may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// Do background work in one process that stays; without it hooks start a short-lived one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Work until somebody ends it, in the foreground
    Run {
        /// Seconds between two looks at all projects
        #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
        every: u64,
    },
    /// Show whether it runs, what waits and what was set aside; exit code 1 says that it does not run
    Status,
    /// End it
    Stop,
}

pub(crate) fn run(args: &Args, env: &Environment, ui: &mut Ui) -> Result<Outcome, Failure> {
    let home = env.state_root()?;
    match args.action {
        Action::Run { every } => stay(&home, env, Duration::from_secs(every), ui),
        Action::Status => status(&home, ui),
        Action::Stop => stop(&home, ui),
    }
}

fn stay(home: &Path, env: &Environment, every: Duration, ui: &mut Ui) -> Result<Outcome, Failure> {
    let taken = Post::attempt(home, DAEMON).map_err(|err| Failure::from_chain(&err))?;
    let Some(mut post) = taken else {
        let who = Post::holder(home, DAEMON).map(|holder| format!(": process {}", holder.process.pid));
        return Err(Failure::refusal(format!("a daemon is there already{}", who.unwrap_or_default())));
    };
    let mut looked: Option<Instant> = None;
    let mut ears = Ears::default();
    loop {
        post.beat("waiting");
        ears.prick_up(home, env);
        // What fails now may work the next time; nobody is there to be told.
        if let Err(failure) = work::drain(home, env, ui, &mut |job| post.beat(job)) {
            ui.warn(&failure.message);
        }
        if looked.is_none_or(|looked| looked.elapsed() >= every) {
            looked = Some(Instant::now());
            look(env, &mut post, ui);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Looks at every project, each for itself.
fn look(env: &Environment, post: &mut Post, ui: &mut Ui) {
    let contexts = match work::places(env) {
        Ok(contexts) => contexts,
        Err(failure) => return ui.warn(&failure.message),
    };
    for context in contexts {
        let doing = format!("looking at {}", context.place.project.id);
        if let Err(failure) = work::share::wish(&context) {
            ui.warn(&failure.message);
        }
        match work::tick(&context, &mut || post.beat(&doing)) {
            Ok(tick) if tick.is_well() => {}
            Ok(tick) => ui.say(&tick.line()),
            Err(failure) => ui.warn(&format!("{}: {}", context.place.project.name, failure.message)),
        }
    }
}

fn stop(home: &Path, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Some(holder) = Post::holder(home, DAEMON) else {
        ui.say("no daemon is running");
        return Ok(Outcome::Nothing);
    };
    holder.process.end()?;
    let until = Instant::now() + PATIENCE;
    while holder.process.is_running() {
        if Instant::now() >= until {
            let pid = holder.process.pid;
            return Err(Failure::error(format!("process {pid} does not end"))
                .hint(format!("`kill -9 {pid}` ends it")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    ui.say("the daemon has ended");
    Ok(Outcome::Done)
}

/// What one queue has to tell.
struct State {
    project: String,
    worker: Option<Holder>,
    waiting: Vec<Job>,
    set_aside: Vec<Failed>,
}

impl State {
    fn of(queue: &Queue) -> Result<Self, Failure> {
        let told = |err: memdir_store::queue::QueueError| Failure::from_chain(&err);
        Ok(Self {
            project: queue.id().to_owned(),
            worker: queue.worker(),
            waiting: queue.waiting().map_err(told)?,
            set_aside: queue.set_aside().map_err(told)?,
        })
    }
}

fn status(home: &Path, ui: &mut Ui) -> Result<Outcome, Failure> {
    let now = Timestamp::now();
    let daemon = Post::holder(home, DAEMON);
    let states = Queue::all(home)?.iter().map(State::of).collect::<Result<Vec<_>, _>>()?;
    if ui.is_json() {
        ui.json(&json!({
            "daemon": daemon.as_ref().map(|holder| holder_json(holder, now)),
            "queues": states.iter().map(|state| state_json(state, now)).collect::<Vec<_>>(),
        }));
    } else {
        print(daemon.as_ref(), &states, now, ui);
    }
    Ok(if daemon.is_some() { Outcome::Done } else { Outcome::Nothing })
}

fn holder_json(holder: &Holder, now: Timestamp) -> Value {
    json!({
        "pid": holder.process.pid,
        "since": holder.since,
        "beat": holder.beat,
        "doing": holder.doing,
        "hung": holder.is_hung(now),
    })
}

fn state_json(state: &State, now: Timestamp) -> Value {
    json!({
        "project": state.project,
        "worker": state.worker.as_ref().map(|holder| holder_json(holder, now)),
        "waiting": state.waiting,
        "set_aside": state.set_aside,
    })
}

fn print(daemon: Option<&Holder>, states: &[State], now: Timestamp, ui: &mut Ui) {
    match daemon {
        Some(holder) => ui.line(&format!("daemon: {}", told(holder, now))),
        None => ui.line("daemon: none; hooks start a process when there is work"),
    }
    let workers = states.iter().filter_map(|state| Some((state, state.worker.as_ref()?)));
    workers.for_each(|(state, holder)| ui.line(&format!("{}: {}", state.project, told(holder, now))));
    let columns = [
        Column::new("project"),
        Column::new("job").tone(Tone::Strong),
        Column::new("state"),
        Column::new("why").giving_way(),
    ];
    let row = |project: &str, job: &Job, state: &str, why: &str| {
        vec![project.to_owned(), job.key(), state.to_owned(), why.to_owned()]
    };
    let mut rows = Vec::new();
    for state in states {
        let waits = |job: &Job| format!("waits, pushed {}", age(job.pushed, now));
        rows.extend(state.waiting.iter().map(|job| row(&state.project, job, &waits(job), "")));
        let given_up = |failed: &Failed| row(&state.project, &failed.job, "set aside", &failed.reason);
        rows.extend(state.set_aside.iter().map(given_up));
    }
    if rows.is_empty() { ui.line("nothing waits") } else { ui.table(&columns, &rows) }
}

fn told(holder: &Holder, now: Timestamp) -> String {
    let seconds = now.duration_since(holder.beat).as_secs().max(0);
    let seconds = count(usize::try_from(seconds).unwrap_or(usize::MAX), "second", "seconds");
    let hung =
        if holder.is_hung(now) { format!("; hangs: no sign of life for {seconds}") } else { String::new() };
    format!("process {}, since {}, {}{hung}", holder.process.pid, age(holder.since, now), holder.doing)
}
