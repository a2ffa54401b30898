//! An answer in which the calls of a tool are answered here: the model is asked again with what they came to, and the client
//! gets it all as one answer.
//!
//! A stream begins for the client at once and goes on with the next answer; one in one piece waits until all of it is known.
//! Every question of the model's counts as a request of its own.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use memdir_core::gateway::{self, Dialect, Ear, End as Ended, Sieve, Then, go_on};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use super::again::Again;
use super::body::Source;
use super::memory::{End, Note, Served, Usage};
use super::packed::Unpacking;
use super::relay::Refusal;
use super::status::Record;

/// As many pieces wait for a client that reads slowly.
const PIECES: usize = 8;
/// No refusal is longer, nor waited for any longer.
const MAX_REFUSAL: usize = 64 << 10;
const REFUSAL_PATIENCE: Duration = Duration::from_secs(10);
/// No answer in one piece is longer.
const MAX_WHOLE: usize = 64 << 20;

/// A tool that is answered here, in the answer to one request.
#[derive(Debug)]
pub(super) struct Serving {
    tool: Served,
    /// What the model was asked last.
    sent: Bytes,
    again: Again,
    note: Note,
    sieve: Sieve,
    /// Room for what was asked, among all that is held at a time.
    _room: OwnedSemaphorePermit,
}

/// What the model was asked at first, and the room that it takes.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) sent: Bytes,
    pub(super) room: OwnedSemaphorePermit,
}

/// The client has left.
struct Left;

/// How it went on after an answer.
enum Course {
    /// The client has all of it.
    Done,
    /// The model answers again.
    Next(Response<Incoming>, Record),
    /// It would not.
    Refused(Response<Incoming>),
    /// It could not be asked.
    Failed(Refusal),
}

/// How it ended.
enum Ending {
    Done,
    Refused(Response<Incoming>),
    Failed(Refusal),
    /// An answer broke off.
    Broken(hyper::Error),
}

/// What the client gets.
enum Outlet {
    Stream(mpsc::Sender<Result<Bytes, hyper::Error>>),
    Whole(Vec<u8>),
}

impl Outlet {
    async fn say(&mut self, bytes: Vec<u8>) -> Result<(), Left> {
        match self {
            Self::Stream(pieces) if !bytes.is_empty() => {
                pieces.send(Ok(bytes.into())).await.map_err(|_| Left)
            }
            Self::Stream(_) => Ok(()),
            // Who sends more than anybody could mean is not listened to.
            Self::Whole(whole) if whole.len() + bytes.len() > MAX_WHOLE => Err(Left),
            Self::Whole(whole) => {
                whole.extend(bytes);
                Ok(())
            }
        }
    }
}

impl Serving {
    pub(super) fn new(tool: Served, asked: Asked, again: Again, note: Note) -> Self {
        let sieve = Sieve::new(&tool.name, tool.n_messages);
        // What was put in is counted with the first request.
        let note = Note { conversation: note.conversation, kind: "tool", ..Note::default() };
        let Asked { sent, room } = asked;
        Self { tool, sent, again, note, sieve, _room: room }
    }

    /// Begins with an answer.
    pub(super) async fn begin(mut self, answer: Response<Incoming>) -> Result<Response<Source>, Refusal> {
        let (mut head, body) = answer.into_parts();
        let unpacking = Unpacking::of(&head.headers);
        if matches!(unpacking, Unpacking::Deaf) {
            return Ok(Response::from_parts(head, Source::Upstream(body)));
        }
        head.headers.remove(CONTENT_ENCODING);
        head.headers.remove(CONTENT_LENGTH);
        let (pieces, served) = mpsc::channel(PIECES);
        if is_stream(&head.headers) {
            tokio::spawn(self.stream(body, unpacking, pieces));
            return Ok(Response::from_parts(head, Source::Served(served)));
        }
        let mut outlet = Outlet::Whole(Vec::new());
        match self.pass(body, unpacking, &mut outlet).await {
            Ok(Ending::Refused(refusal)) => return Ok(refusal.map(Source::Upstream)),
            Ok(Ending::Failed(refusal)) => return Err(refusal),
            Ok(Ending::Broken(err)) => drop(pieces.try_send(Err(err))),
            Err(Left) => return Err(self.failure("its answer is too long")),
            Ok(Ending::Done) => {
                if let Outlet::Whole(whole) = outlet {
                    return Ok(Response::from_parts(head, Source::Whole(Full::new(whole.into()))));
                }
            }
        }
        Ok(Response::from_parts(head, Source::Served(served)))
    }

    /// Lets a stream through, until it is over or the client has left.
    async fn stream(
        mut self,
        body: Incoming,
        unpacking: Unpacking,
        pieces: mpsc::Sender<Result<Bytes, hyper::Error>>,
    ) {
        let mut outlet = Outlet::Stream(pieces.clone());
        let ending = tokio::select! {
            () = pieces.closed() => Err(Left),
            ending = self.pass(body, unpacking, &mut outlet) => ending,
        };
        let said = match ending {
            Ok(Ending::Done) | Err(Left) => return,
            Ok(Ending::Refused(refusal)) => {
                timeout(REFUSAL_PATIENCE, refusal_of(refusal)).await.unwrap_or_default()
            }
            Ok(Ending::Failed(_)) => Bytes::new(),
            Ok(Ending::Broken(err)) => {
                // Whoever has left needs no error.
                let _ = pieces.send(Err(err)).await;
                return;
            }
        };
        let _ = outlet.say(self.sieve.refused(&said)).await;
    }

    /// Lets answers through, one after the other.
    async fn pass(
        &mut self,
        mut body: Incoming,
        mut unpacking: Unpacking,
        outlet: &mut Outlet,
    ) -> Result<Ending, Left> {
        let mut next: Option<(Record, Ear)> = None;
        loop {
            while let Some(frame) = body.frame().await {
                let frame = match frame {
                    Ok(frame) => frame,
                    Err(err) => return Ok(Ending::Broken(err)),
                };
                let Ok(bytes) = frame.into_data() else { continue };
                let mut passed = Vec::new();
                unpacking.take(&bytes, |plain| {
                    passed = self.sieve.take(plain);
                    next.iter_mut().for_each(|(_, ear)| ear.hear(plain));
                });
                next.iter_mut().for_each(|(record, _)| record.down += bytes.len() as u64);
                outlet.say(passed).await?;
            }
            if let Some((mut record, ear)) = next.take() {
                record.usage = ear.finish().usage.map(read);
                record.end(End::Whole);
            }
            match self.go_on(outlet).await? {
                Course::Done => return Ok(Ending::Done),
                Course::Refused(refusal) => return Ok(Ending::Refused(refusal)),
                Course::Failed(refusal) => return Ok(Ending::Failed(refusal)),
                Course::Next(answer, record) => {
                    unpacking = Unpacking::of(answer.headers());
                    if matches!(unpacking, Unpacking::Deaf) {
                        return Ok(Ending::Failed(
                            self.failure("its answer is packed in a way that nobody knows"),
                        ));
                    }
                    (body, next) = (answer.into_body(), Some((record, Ear::new(Dialect::Messages))));
                }
            }
        }
    }

    /// Does what is to be done when an answer is over.
    async fn go_on(&mut self, outlet: &mut Outlet) -> Result<Course, Left> {
        let then = match self.sieve.end() {
            Ended::Done(rest) => Then::Show(rest),
            Ended::Calls(calls) => self.sieve.answered(self.tool.tool.run(calls).await),
        };
        // What was done is known from now on, however the rest goes.
        if let Some(kept) = self.sieve.kept() {
            self.tool.tool.keep(kept).await;
        }
        let messages = match then {
            Then::Ask(messages) => messages,
            Then::Show(rest) => {
                self.tool.tool.over();
                return outlet.say(rest).await.map(|()| Course::Done);
            }
        };
        let Some(body) = go_on(Dialect::Messages, &self.sent, messages) else {
            return Ok(Course::Failed(self.failure("it was asked nothing that could be gone on from")));
        };
        self.sent = body.into();
        let (record, answer) = self.again.send(self.sent.clone(), self.note.clone()).await;
        Ok(match answer {
            Ok(answer) if answer.status().is_success() => Course::Next(answer, record),
            Ok(answer) => {
                record.end(End::Status(answer.status().as_u16()));
                Course::Refused(answer)
            }
            Err(refusal) => {
                record.end(End::Status(refusal.status()));
                Course::Failed(refusal)
            }
        })
    }
}

impl Serving {
    fn failure(&self, why: &str) -> Refusal {
        Refusal::Unreachable { name: self.again.upstream().to_owned(), why: why.to_owned() }
    }
}

/// What an answer took to read; what was written is counted with the answer that the client gets.
fn read(usage: gateway::Usage) -> Usage {
    Usage { input: usage.read(), cached: usage.cached, output: 0 }
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

/// Returns what a refusal says, if that is not too long.
async fn refusal_of(refusal: Response<Incoming>) -> Bytes {
    let unpacked = Limited::new(refusal.into_body(), MAX_REFUSAL).collect().await;
    unpacked.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}
