//! Memory in the requests that pass through the gateway: what a session is told when it begins, what a prompt calls to mind,
//! and afterwards what the answer teaches.
//!
//! ```text
//!   request ─▶ Passing::read ─▶ put back what was put in before ─▶ remember, if the user has said something new ─▶ body
//!              (blocking pool)   (conversations/<id>.json)          (the desk of the hooks, within its deadline)
//!   answer  ─▶ Listening ─▶ after: how full it is · what was said (said/<id>.jsonl) · the queue of the hooks
//!                                  └▶ nearly full: summing asks the same model for a summary, if the user wants that
//!          └▶ serving: calls of the memory tool are answered by the vault, if the user wants that
//! ```
//!
//! The agent does not know of any of it and waits for it, so it fails open: a request that cannot be read, a vault that is
//! slow, a disk that is full leave the request as it would be without memory, or without what is new. What was put into a
//! conversation once is put into it again, whatever happens to the vault in between: the service's cache depends on it.
//!
//! Which project a conversation belongs to is said by the header `x-memdir-project`, else by the directory that the agent
//! tells the model it works in, else it is the one that the gateway was started for. The first two count only if they
//! are directories of this machine.
//!
//! Look at [`Remembering`] first.

mod after;
mod hearing;
mod passing;
mod places;
mod serving;
mod summing;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Bytes;
use memdir_core::gateway::{Ear, Labels};
use memdir_server::gateway::{Again, Head, Hearer, Memory, Note, Prepared};
use memdir_store::gateway::Conversations;
use memdir_store::place::{Environment, LocateError, Place};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::{context, hook};
use hearing::Listening;
use passing::{Passing, Request};
use places::Places;
use serving::Runs;
use summing::{Summing, Way};

/// Old conversations are looked for once in so many requests.
const SWEEP: usize = 1_000;
/// As many answers are known; whoever goes on with an older one begins anew.
const MAX_ANSWERS: usize = 4_096;

/// Remembers, for whatever passes.
#[derive(Debug, Clone)]
pub(crate) struct Remembering {
    desk: Arc<Desk>,
}

/// What every request needs.
#[derive(Debug)]
pub(super) struct Desk {
    /// The vault and the project that the gateway was started for.
    vault: Option<PathBuf>,
    project: Option<PathBuf>,
    places: Places,
    pub(super) conversations: Conversations,
    /// The last answers, each with its conversation: a client may leave its history to the service and name only those.
    answers: Mutex<VecDeque<(String, String)>>,
    n_requests: AtomicUsize,
    summing: Summing,
    runs: Runs,
    /// Whether the gateway is about to end.
    pub(super) is_over: watch::Sender<bool>,
}

impl Desk {
    /// Returns what the environment says for a project, and where its vault is.
    pub(super) fn place(&self, project: Option<&Path>) -> Result<(Environment, Place), LocateError> {
        self.places.of(context::environment(self.vault.clone(), project.map(Path::to_owned)))
    }

    /// Does the same, and looks now: whoever writes must not go by what was so a moment ago.
    pub(super) fn place_now(&self, project: Option<&Path>) -> Result<(Environment, Place), LocateError> {
        self.places.forget();
        self.place(project)
    }

    /// Notes which conversation an answer belongs to.
    pub(super) fn answered(&self, answer: &str, conversation: &str) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back((answer.to_owned(), conversation.to_owned()));
        if answers.len() > MAX_ANSWERS {
            answers.pop_front();
        }
    }

    /// Returns the conversation that an answer belongs to.
    pub(super) fn conversation_of(&self, answer: &str) -> Option<String> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().rev().find(|(id, _)| id == answer).map(|(_, conversation)| conversation.clone())
    }
}

impl Remembering {
    /// Begins to remember below a state root; a vault and a project are those that flags name.
    pub(crate) fn new(home: &Path, vault: Option<PathBuf>, project: Option<PathBuf>) -> Self {
        let desk = Desk {
            vault,
            project,
            places: Places::default(),
            conversations: Conversations::below(home),
            answers: Mutex::default(),
            n_requests: AtomicUsize::new(0),
            summing: Summing::default(),
            runs: Runs::default(),
            is_over: watch::Sender::new(false),
        };
        Self { desk: Arc::new(desk) }
    }

    /// Looks anew where vaults are, and what their settings say.
    pub(crate) fn settle(&self) {
        self.desk.places.forget();
    }

    /// Gives up what waits for a model; what is being written is written to its end.
    pub(crate) fn stop(&self) {
        self.desk.is_over.send_replace(true);
    }
}

impl Memory for Remembering {
    fn reads(&self, _head: &Head) -> bool {
        true
    }

    async fn prepare(&self, head: Head, body: Bytes, again: Again) -> Prepared {
        let labels = Labels::of(|name| head.headers.get(name).and_then(|value| value.to_str().ok()));
        let labels = Labels { model: head.dialect.model(&head.path).map(str::to_owned), ..labels };
        let request = Request { dialect: head.dialect, labels, body: body.clone() };
        let desk = self.desk.clone();
        let Some(passing) = within(hook::time_for_start(), move || Passing::read(&desk, request)).await
        else {
            return Prepared::untouched(body);
        };
        let passing = Arc::new(passing);
        self.sweep();
        let new = if passing.is_new_prompt() { self.remember(&passing).await } else { String::new() };
        let note = Note {
            conversation: passing.conversation().map(str::to_owned),
            injected: new.len(),
            replayed: passing.replayed(),
            kind: passing.kind().as_str(),
        };
        let put_in = {
            let passing = passing.clone();
            within(hook::time_for_start(), move || passing.body(&new)).await.flatten()
        };
        let (body, note) = match put_in {
            Some(body) => (Bytes::from(body), note),
            None => (body, Note { injected: 0, replayed: 0, ..note }),
        };
        let hearer = passing.is_heard().then(|| {
            let way = passing.may_be_summed_up(body.len()).then(|| Way {
                again,
                sent: body.clone(),
                upstream: head.upstream,
                handle: Handle::current(),
            });
            let listening = Listening::new(Ear::new(head.dialect), &self.desk, &passing, way);
            Box::new(listening) as Box<dyn Hearer>
        });
        Prepared { body, hearer, note, tool: serving::tool(&self.desk, &passing) }
    }
}

impl Remembering {
    /// Returns what is put into the turn that the user has just said; nothing if that takes too long. What comes too late is
    /// not noted as shown.
    async fn remember(&self, passing: &Arc<Passing>) -> String {
        let is_taken = Arc::new(AtomicBool::new(false));
        let work = {
            let (desk, passing, is_taken) = (self.desk.clone(), passing.clone(), is_taken.clone());
            move || passing.remember(&desk, &is_taken)
        };
        let told = within(passing.time(), work).await;
        match told {
            Some(text) => text,
            None if !is_taken.swap(true, Ordering::SeqCst) => String::new(),
            // It was taken a moment before the time was over, and stands in the conversation.
            None => passing.told_now(&self.desk),
        }
    }

    fn sweep(&self) {
        if self.desk.n_requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(SWEEP) {
            let desk = self.desk.clone();
            // Nobody waits for it, and the next one finds what this one leaves.
            drop(Handle::current().spawn_blocking(move || desk.conversations.sweep(context::now())));
        }
    }
}

/// Lets a thread that may wait for disks do something; `None` if it takes too long or breaks.
async fn within<T: Send + 'static>(time: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    timeout(time, spawn_blocking(work)).await.ok()?.ok()
}
