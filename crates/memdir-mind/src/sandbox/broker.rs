//! The side that starts a sub-agent's process, asks the model for it, and checks what it hands back.
//!
//! The process gets no environment, no descriptor but its two pipes, and nothing of the model but its answers. Whatever it
//! says is checked: how often it asks, how long its lines are, when it ends, and each proposal by the rules that it should
//! have kept itself. If it dies, hangs or misbehaves, it is killed, and there is an error and nothing else.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::pipe::Pipe;
use super::walls::Walls;
use super::wire::{Order, Word};
use crate::agent::{Job, Outcome, Proposal, Report, Spent, Tray, tools};
use crate::model::{Message, Model, ModelError, Part, Request, Role};

/// No line of the sub-agent is longer.
const MAX_LINE: usize = 4 << 20;
/// As much it may say to the model beyond what tools return: refusals, and what became of proposals.
const MAX_TALK: usize = 256 << 10;
/// A model that is asked at all has this long to answer.
const SHORTEST: Duration = Duration::from_secs(5);
/// As long it may take for what needs no model, beyond its budget.
const GRACE: Duration = Duration::from_secs(10);

/// How a sub-agent's process is started.
#[derive(Debug, Clone)]
pub struct Sandbox {
    program: PathBuf,
    grace: Duration,
}

/// What the model is told at the beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// What holds for the whole run; the same bytes in every run of its kind.
    pub system: String,
    /// What this run is about.
    pub task: String,
}

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What was proposed, checked on this side.
    pub proposals: Vec<Proposal>,
    /// What was done.
    pub report: Report,
    /// Why the model did not answer, if that ended it.
    pub failure: Option<ModelError>,
}

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The sub-agent's process did not do its part.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// Why a run came to no end. Nothing of it counts.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The process could not be started.
    #[error("the sub-agent's process could not be started")]
    Start(#[source] io::Error),
    /// It ended before its work was done.
    #[error("the sub-agent's process ended early: {0}")]
    Died(String),
    /// It did not end in time, and was killed.
    #[error("the sub-agent's process did not answer in time")]
    Late,
    /// It said what it may not say, and was killed.
    #[error("the sub-agent's process misbehaved: {0}")]
    Unsound(String),
}

impl Sandbox {
    /// Takes the program that calls [`super::serve`] when it is run with the one word `mind`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), grace: GRACE }
    }

    /// Waits for this long beyond the budget, and after each answer, before it takes the process for hung.
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Runs a job to its end.
    pub fn run(&self, job: &Job, brief: &Brief, model: &mut dyn Model) -> Result<Finished, SandboxError> {
        let mut run = Run::start(self, job, brief)?;
        let walls = run.hand_over(job)?;
        loop {
            match run.hear()? {
                Word::Ask(parts) => run.ask(parts, model)?,
                Word::Done(outcome) => return Ok(run.finish(job, *outcome, walls)),
                Word::Ready(_) => return Err(SandboxError::Unsound("it began twice".to_owned())),
            }
        }
    }
}

/// A process at work. It does not outlive this value.
struct Run<'j> {
    child: Kept,
    pipe: Pipe,
    job: &'j Job,
    request: Request,
    spent: Spent,
    /// What it has added to the conversation.
    n_bytes: usize,
    deadline: Instant,
    grace: Duration,
    failure: Option<ModelError>,
}

impl<'j> Run<'j> {
    fn start(sandbox: &Sandbox, job: &'j Job, brief: &Brief) -> Result<Self, SandboxError> {
        let mut command = Command::new(&sandbox.program);
        command.arg("mind").env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Kept(command.spawn().map_err(SandboxError::Start)?);
        let pipes = child.0.stdin.take().zip(child.0.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| SandboxError::Start(io::ErrorKind::BrokenPipe.into()))?;
        let pipe = Pipe::new(stdin, stdout, MAX_LINE).map_err(SandboxError::Start)?;
        let request = Request {
            system: brief.system.clone(),
            messages: vec![Message::user(brief.task.clone())],
            tools: tools(job.purpose),
            schema: None,
            max_tokens: job.budget.answer,
        };
        let deadline = Instant::now() + Duration::from_secs(job.budget.seconds) + sandbox.grace;
        let grace = sandbox.grace;
        Ok(Self {
            child,
            pipe,
            job,
            request,
            spent: Spent::default(),
            n_bytes: 0,
            deadline,
            grace,
            failure: None,
        })
    }

    /// Waits for the walls, then hands the job over: before they stand, it gets nothing to lose.
    fn hand_over(&mut self, job: &Job) -> Result<Walls, SandboxError> {
        let Word::Ready(walls) = self.hear()? else {
            return Err(SandboxError::Unsound("it did not say which walls stand".to_owned()));
        };
        self.tell(&Order::Job(Box::new(job.clone())))?;
        Ok(walls)
    }

    /// Asks the model in the sub-agent's name. What it may add to the conversation are results of tools and words; what
    /// was said before, the instructions and the tools are ours.
    fn ask(&mut self, parts: Vec<Part>, model: &mut dyn Model) -> Result<(), SandboxError> {
        if let Some(limit) = self.spent.used_up(&self.job.budget) {
            return Err(SandboxError::Unsound(format!("it went on beyond its budget: {limit:?}")));
        }
        if parts.iter().any(|part| matches!(part, Part::Call { .. })) {
            return Err(SandboxError::Unsound("it spoke in the model's place".to_owned()));
        }
        self.n_bytes += parts.iter().map(length).sum::<usize>();
        if self.n_bytes > self.job.budget.bytes.saturating_add(MAX_TALK) {
            return Err(SandboxError::Unsound("it says more than it may".to_owned()));
        }
        if !parts.is_empty() {
            self.request.messages.push(Message { role: Role::User, parts });
        }
        model.limit_time(self.time_left());
        let order = match model.ask(&self.request) {
            Ok(answer) => {
                self.spent.answered(&answer.usage);
                // Services do not take an empty message back.
                if !answer.parts.is_empty() {
                    let parts = answer.parts.clone();
                    self.request.messages.push(Message { role: Role::Assistant, parts });
                }
                Order::Answer(answer)
            }
            Err(err) => {
                let order = Order::Failed(err.to_string());
                self.failure = Some(err);
                order
            }
        };
        // The model's time is not the sub-agent's: what is left to do after an answer is little, and may be done.
        self.deadline = self.deadline.max(Instant::now() + self.grace);
        self.tell(&order)
    }

    /// Returns how long the model may take: what is left of the run's time, and long enough to be of use.
    fn time_left(&self) -> Duration {
        let end = self.deadline.checked_sub(self.grace).unwrap_or(self.deadline);
        end.saturating_duration_since(Instant::now()).max(SHORTEST)
    }

    /// Checks everything again, by what is known on this side.
    fn finish(self, job: &Job, outcome: Outcome, walls: Walls) -> Finished {
        let mut report = outcome.report.sanitised();
        let mut tray = Tray::new(&job.view, &job.window, &job.budget);
        for raw in &outcome.proposals {
            if let Err(refused) = tray.put(raw) {
                report.refuse(&refused);
            }
        }
        report.walls = Some(walls);
        report.left_out = job.view.n_left_out();
        report.spent = Spent {
            bytes: report.spent.bytes,
            files: tray.n_taken(),
            removals: tray.n_removals(),
            ..self.spent
        };
        Finished { proposals: tray.into_proposals(), report, failure: self.failure }
    }

    fn tell(&mut self, order: &Order) -> Result<(), SandboxError> {
        let line = serde_json::to_vec(order).map_err(|err| SandboxError::Unsound(err.to_string()))?;
        let sent = self.pipe.send(&line, self.deadline);
        sent.map_err(|err| self.failed(&err))
    }

    fn hear(&mut self) -> Result<Word, SandboxError> {
        match self.pipe.receive(self.deadline) {
            Ok(Some(line)) => {
                serde_json::from_slice(&line).map_err(|err| SandboxError::Unsound(err.to_string()))
            }
            Ok(None) => Err(SandboxError::Died(self.child.end())),
            Err(err) => Err(self.failed(&err)),
        }
    }

    fn failed(&mut self, err: &io::Error) -> SandboxError {
        match err.kind() {
            io::ErrorKind::TimedOut => SandboxError::Late,
            io::ErrorKind::InvalidData => SandboxError::Unsound(err.to_string()),
            _ => SandboxError::Died(self.child.end()),
        }
    }
}

fn length(part: &Part) -> usize {
    match part {
        Part::Text(text) | Part::Result { text, .. } => text.len(),
        Part::Call { .. } => 0,
    }
}

/// A child that is killed and waited for when nobody needs it any more.
struct Kept(Child);

impl Kept {
    /// Ends it and says how it ended.
    fn end(&mut self) -> String {
        // One that has closed its pipes is about to end by itself; its own end says more than ours.
        for _ in 0..50 {
            match self.0.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(err) => return err.to_string(),
            }
        }
        "it closed its pipes".to_owned()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Both fail only for one that is gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
