//! Going the way of a request once more: the same address, the same headers, another body.
//!
//! Memory may have a question about a conversation that only its model can answer at a price that is worth it: the service
//! still has the beginning in its cache. [`Again`] asks it. What proves who asks stays in here, and is gone with it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::{Request, Response, Uri};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::body::{Ear, Sent};
use super::config::Token;
use super::headers::{self, Changes, Hearing};
use super::memory::{End, Hearer, Note};
use super::packed::Unpacking;
use super::relay::{self, Refusal, Way};
use super::status::{Record, Status};

/// An answer that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(300);

/// The way of a request, to be gone again.
#[derive(Clone)]
pub struct Again {
    gone: Arc<Gone>,
}

/// What is known of the request that went it.
pub(super) struct Gone {
    pub(super) way: Arc<Way>,
    /// As it came from the client.
    pub(super) head: Parts,
    /// Where it went.
    pub(super) uri: Uri,
    pub(super) token: Token,
    pub(super) route: String,
    pub(super) status: Arc<Status>,
    pub(super) streams: Arc<Semaphore>,
}

impl fmt::Debug for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Again").field("route", &self.gone.route).finish_non_exhaustive()
    }
}

impl Again {
    pub(super) fn new(gone: Gone) -> Self {
        Self { gone: Arc::new(gone) }
    }

    /// Asks, and lets `hearer` hear the answer. It counts among the requests that are answered at a time; where there is no
    /// place, nothing is asked.
    pub async fn ask(&self, body: Bytes, note: Note, hearer: Box<dyn Hearer>) -> End {
        let gone = &self.gone;
        let Ok(_place) = gone.streams.clone().try_acquire_owned() else { return End::Status(503) };
        let mut record = gone.status.begin(gone.route.clone());
        record.note = note;
        let (end, ear) = match timeout(PATIENCE, self.hear(body, hearer, &mut record)).await {
            Ok((end, ear)) => (end, ear),
            Err(_) => (End::Cut, None),
        };
        record.usage = ear.and_then(|ear| ear.end(end));
        record.end(end);
        end
    }

    async fn hear(&self, body: Bytes, hearer: Box<dyn Hearer>, record: &mut Record) -> (End, Option<Ear>) {
        let answer = match self.gone.way.send(self.request(body, Hearing::Heard)).await {
            Ok(answer) => answer,
            Err(refusal) => {
                record.answered(refusal.status());
                return (End::Status(refusal.status()), None);
            }
        };
        let status = answer.status().as_u16();
        record.answered(status);
        let mut ear = Ear::new(hearer, Unpacking::of(answer.headers()));
        let is_whole = passes(answer, &mut ear, record).await;
        let end = match status {
            _ if !is_whole => End::Cut,
            200..300 => End::Whole,
            status => End::Status(status),
        };
        (end, Some(ear))
    }

    /// Asks for a client that waits for it, in the place that it has. The answer comes plain.
    pub(super) async fn send(
        &self,
        body: Bytes,
        note: Note,
    ) -> (Record, Result<Response<Incoming>, Refusal>) {
        let mut record = self.gone.status.begin(self.gone.route.clone());
        record.note = note;
        let answer = self.gone.way.send(self.request(body, Hearing::Changed)).await;
        record.answered(match &answer {
            Ok(answer) => answer.status().as_u16(),
            Err(refusal) => refusal.status(),
        });
        (record, answer)
    }

    /// Returns the name of the upstream.
    pub(super) fn upstream(&self) -> &str {
        &self.gone.way.upstream.name
    }

    fn request(&self, body: Bytes, hearing: Hearing) -> Request<Sent> {
        let Gone { way, head, uri, token, .. } = self.gone.as_ref();
        let changes = Changes {
            host: &way.host,
            key: way.upstream.key.as_ref(),
            token,
            new_length: Some(body.len()),
            hearing,
        };
        let headers = headers::upward(&head.headers, changes);
        relay::request(head, uri.clone(), headers, Sent::Whole(Full::new(body)))
    }
}

/// Lets an answer be heard; says whether it came whole.
async fn passes(answer: Response<Incoming>, ear: &mut Ear, record: &mut Record) -> bool {
    let mut body = answer.into_body();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        if let Some(bytes) = frame.data_ref() {
            record.down += bytes.len() as u64;
            ear.piece(bytes);
        }
    }
    true
}
