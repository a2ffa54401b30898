//! What the gateway asks of memory, and what it is told in return.
//!
//! The gateway carries bytes. Whoever knows what they mean implements [`Memory`]: it says which requests it wants to read, gives
//! the body that goes on in place of the one that came, and names a [`Hearer`] for the answer. Nothing of it can hold a request
//! up or break it: what is late, panics or gives nothing leaves the request as it came.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::HeaderMap;
use memdir_core::gateway::{Call, Dialect, Kept, Outcome};

use super::again::Again;

/// Puts memories into requests, and learns from answers.
pub trait Memory: Send + Sync + 'static {
    /// Says whether a request is one to be read; only then is its body held.
    fn reads(&self, head: &Head) -> bool;

    /// Says what goes upstream in place of the body, and who hears the answer. The body is plain, whatever it was packed in.
    /// With `again` the same model can be asked something later.
    fn prepare(&self, head: Head, body: Bytes, again: Again) -> impl Future<Output = Prepared> + Send;
}

/// The head of a request that asks a model for an answer, without anything that proves who asks.
#[derive(Debug, Clone)]
pub struct Head {
    /// How the model is asked.
    pub dialect: Dialect,
    /// The name of the upstream.
    pub upstream: String,
    /// The method.
    pub method: Method,
    /// The path, without the prefix that names the upstream.
    pub path: String,
    /// The query, without a key.
    pub query: Option<String>,
    /// The headers, without credentials.
    pub headers: HeaderMap,
}

/// What becomes of a request.
#[derive(Debug)]
pub struct Prepared {
    /// What goes upstream.
    pub body: Bytes,
    /// Who hears the answer.
    pub hearer: Option<Box<dyn Hearer>>,
    /// What was done, for the status page.
    pub note: Note,
    /// Who answers the calls of a tool in the client's place.
    pub tool: Option<Served>,
}

impl Prepared {
    /// Leaves a request as it came.
    pub fn untouched(body: Bytes) -> Self {
        Self { body, hearer: None, note: Note::default(), tool: None }
    }
}

/// A tool whose calls the client does not see.
#[derive(Debug, Clone)]
pub struct Served {
    /// What the model calls it.
    pub name: String,
    /// How many messages the client sent.
    pub n_messages: usize,
    /// Who answers.
    pub tool: Arc<dyn Tool>,
}

/// Answers calls of a tool in the client's place.
pub trait Tool: Send + Sync + fmt::Debug {
    /// Runs calls, one after the other; returns what each came to.
    fn run(&self, calls: Vec<Call>) -> Pin<Box<dyn Future<Output = Vec<Outcome>> + Send>>;

    /// Keeps what the client was not shown up to now, for its next requests. It is done before the model is asked again, and
    /// before the client gets the end of the answer.
    fn keep(&self, kept: Kept) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Takes note that the client gets the whole answer, and need not ask the same again.
    fn over(&self);
}

/// What memory did to a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    /// Which conversation it belongs to.
    pub conversation: Option<String>,
    /// How many bytes were put in that were not there before in this conversation.
    pub injected: usize,
    /// How many bytes of earlier turns were put back where they had been.
    pub replayed: usize,
    /// What kind of request it was, in a word: `main`, `subagent`, `title`, …
    pub kind: &'static str,
}

/// Hears an answer while it passes.
pub trait Hearer: Send + fmt::Debug {
    /// Takes the next bytes, unpacked. It must not take long: the client's bytes wait for nobody, but this thread does.
    fn piece(&mut self, bytes: &[u8]);

    /// Takes the end, and says what the answer took if it did say so. What is to be done with the turn is done elsewhere.
    fn end(self: Box<Self>, end: End) -> Option<Usage>;
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It came whole.
    Whole,
    /// It broke off, or the client left.
    Cut,
    /// It was no answer: the upstream refused with this status.
    Status(u16),
}

/// What an answer took, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read, also from the cache.
    pub input: u64,
    /// Of those, read from the cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

/// No memory: every request goes on as it came.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn reads(&self, _head: &Head) -> bool {
        false
    }

    async fn prepare(&self, _head: Head, body: Bytes, _again: Again) -> Prepared {
        Prepared::untouched(body)
    }
}
