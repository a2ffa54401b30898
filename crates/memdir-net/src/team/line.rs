//! One line to a team server: questions out, answers in, each within its bounds.
//!
//! The runtime lives in here and works only while somebody waits for an answer, on a thread of its own, so that it does no
//! harm to be called from within another one. A question that may be put twice is put again when the connection broke or the
//! server has too much to do, after a pause that the server or chance decides; a silence is not, for it took long enough.

use std::thread;
use std::time::{Duration, Instant};

use memdir_core::team::wire::{self, Code, ErrorBody, Trouble};
use memdir_store::disk;
use memdir_store::keys::Secret;
use memdir_store::team::{RemoteError, Traffic};
use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
};
use reqwest::{Client, Method, Response, Url};
use tokio::runtime::Runtime;

use super::pack;
use crate::{Base, Patience, Variables, cause};

/// To connect.
const CONNECT: Duration = Duration::from_secs(9);
/// Until an answer begins, and between two pieces of it. With the connection less than half a minute.
const SILENCE: Duration = Duration::from_secs(20);
/// For one whole answer of any length.
const WHOLE: Duration = Duration::from_secs(120);
/// For a question that has hardly moved. Each [`SLOWEST`] bytes that pass buy a second more, so a slow line has its time
/// and who sends a byte at a time is not waited for.
const DRIP: Duration = Duration::from_secs(25);
/// Bytes a second that the slowest line brings.
const SLOWEST: u64 = 2 << 10;
/// How long a connection waits for the next question.
const IDLE: Duration = Duration::from_secs(20);
/// How often a question is put whose connection broke.
const MAX_BROKEN: u32 = 2;
/// A connection that broke later than this took as long as may be waited for.
const SOON: Duration = Duration::from_secs(5);
/// How often a question is put to a server that has too much to do.
const MAX_BUSY: u32 = 8;
/// The first pause before that; the next is twice as long.
const PAUSE: Duration = Duration::from_millis(400);
/// A server that wants a longer pause is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// All pauses of a question together.
const ALL_PAUSES: Duration = Duration::from_secs(30);
/// Of a refusal, no more is read.
const MAX_REFUSAL: usize = 64 << 10;
/// Of what a server says, no more is shown.
const MAX_SAID: usize = 200;

/// What it takes to ask a server: where it is, who we are, how to get there.
pub struct Access<'a> {
    /// Where it is.
    pub base: &'a Base,
    /// The token; none before one joins.
    pub token: Option<Secret>,
    /// The user's variables.
    pub variables: &'a Variables,
}

/// A line to a server.
pub(super) struct Line {
    base: Base,
    label: String,
    token: Option<Secret>,
    client: Client,
    runtime: Option<Runtime>,
    traffic: Traffic,
}

/// A question.
pub(super) struct Question {
    method: Method,
    url: Url,
    body: Option<(&'static str, Vec<u8>)>,
    /// The bytes that the answer may have, unpacked.
    limit: usize,
    /// Whether it does no harm to put it twice.
    may_repeat: bool,
}

/// Why there is no answer.
pub(super) enum Fault {
    /// The server said no.
    Refused(Refusal),
    /// Nobody answered, or not what can be used.
    Failed(RemoteError),
}

/// A no.
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) message: String,
    supported: Vec<u32>,
    retry_after: Option<Duration>,
}

/// What became of one attempt.
enum Attempt {
    Answered(Vec<u8>),
    Refused(Refusal),
    /// The connection broke.
    Broken(String),
    /// Nothing came, or too slowly.
    Silent(String),
    /// What came cannot be used.
    Useless(RemoteError),
}

/// What was received, as it came over the wire.
struct Heard {
    attempt: Attempt,
    n_bytes: u64,
}

impl Line {
    /// Makes ready to ask. Connects to nothing.
    pub(super) fn new(access: Access<'_>, label: &str) -> Result<Self, RemoteError> {
        let failed = |why: String| RemoteError::Unreachable { label: label.to_owned(), why };
        let patience = Patience { connect: CONNECT, silence: SILENCE, idle: IDLE };
        let client =
            crate::client(access.base, access.variables, patience).map_err(|err| failed(err.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Self {
            base: access.base.clone(),
            label: label.to_owned(),
            token: access.token,
            client,
            runtime: Some(runtime.map_err(|err| failed(format!("no runtime: {err}")))?),
            traffic: Traffic::default(),
        })
    }

    /// Returns how the server is called in messages.
    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// Returns what was asked and moved so far.
    pub(super) fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Begins a question for what is at these segments below the protocol's root.
    pub(super) fn question(&self, method: Method, segments: &[&str], query: &[(&str, &str)]) -> Question {
        let path: Vec<String> = segments.iter().map(|segment| encoded(segment)).collect();
        let mut url = self.base.join("v1", &path.join("/"));
        if !query.is_empty() {
            let pairs: Vec<String> =
                query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
            url.set_query(Some(&pairs.join("&")));
        }
        let may_repeat = method == Method::GET;
        Question { method, url, body: None, limit: MAX_REFUSAL, may_repeat }
    }

    /// Puts a question until it is answered, or once more makes no sense.
    pub(super) fn ask(&mut self, question: &Question) -> Result<Vec<u8>, Fault> {
        let (mut n_broken, mut n_busy, mut paused) = (0, 0, Duration::ZERO);
        loop {
            let began = Instant::now();
            let pause = match self.attempt(question) {
                Attempt::Answered(body) => return Ok(body),
                Attempt::Useless(err) => return Err(Fault::Failed(err)),
                Attempt::Silent(why) => return Err(Fault::Failed(self.unreachable(&why))),
                Attempt::Broken(why) => {
                    n_broken += 1;
                    if n_broken >= MAX_BROKEN || !question.may_repeat || began.elapsed() > SOON {
                        return Err(Fault::Failed(self.unreachable(&why)));
                    }
                    jittered(PAUSE)
                }
                Attempt::Refused(refusal) if matches!(refusal.status, 429 | 503) => {
                    n_busy += 1;
                    let pause = refusal.retry_after.unwrap_or(PAUSE * 2_u32.pow(n_busy.min(4) - 1));
                    let is_worth_it = pause <= LONGEST_PAUSE && paused + pause <= ALL_PAUSES;
                    if n_busy >= MAX_BUSY || !is_worth_it {
                        return Err(Fault::Refused(refusal));
                    }
                    // Never less than was asked for, and never all at once.
                    pause + jittered(pause.min(Duration::from_secs(1)))
                }
                Attempt::Refused(refusal) => return Err(Fault::Refused(refusal)),
            };
            paused += pause;
            thread::sleep(pause);
        }
    }

    /// Puts a question whose answer is JSON.
    pub(super) fn ask_json<T: serde::de::DeserializeOwned>(
        &mut self,
        question: &Question,
    ) -> Result<T, RemoteError> {
        let body = self.ask(question).map_err(|fault| self.error(fault))?;
        serde_json::from_slice(&body).map_err(|_| self.nonsense("it is not what was asked for"))
    }

    /// Turns a fault into what callers understand.
    pub(super) fn error(&self, fault: Fault) -> RemoteError {
        match fault {
            Fault::Failed(err) => err,
            Fault::Refused(refusal) => self.refused(refusal),
        }
    }

    pub(super) fn nonsense(&self, why: &str) -> RemoteError {
        RemoteError::Nonsense { label: self.label.clone(), why: why.to_owned() }
    }

    fn unreachable(&self, why: &str) -> RemoteError {
        RemoteError::Unreachable { label: self.label.clone(), why: self.shown(why) }
    }

    fn refused(&self, refusal: Refusal) -> RemoteError {
        let Refusal { status, message: why, supported, retry_after, .. } = refusal;
        let label = self.label.clone();
        match status {
            401 => RemoteError::Unauthorized { label, why },
            404 => RemoteError::NotFound { label, why },
            410 => RemoteError::CursorGone { label },
            426 => {
                RemoteError::Protocol { label, ours: wire::PROTOCOL.to_string(), theirs: listed(&supported) }
            }
            429 | 503 => RemoteError::Busy { label, retry_after },
            400..500 | 507 => RemoteError::Forbidden { label, why },
            _ => RemoteError::Unreachable { label, why: format!("{status}: {why}") },
        }
    }

    /// Makes a text that somebody else wrote fit for a line, without our token.
    fn shown(&self, text: &str) -> String {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line: String = line.chars().filter(|c| !c.is_control()).take(MAX_SAID).collect();
        self.token.as_ref().map_or_else(|| line.clone(), |token| token.hide_in(&line))
    }

    fn attempt(&mut self, question: &Question) -> Attempt {
        let body = question.body.as_ref().map(|(kind, bytes)| (*kind, bytes, pack::pack(bytes)));
        let sent =
            body.as_ref().map_or(0, |(_, bytes, packed)| packed.as_ref().map_or(bytes.len(), Vec::len));
        let headers = match self.headers(body.as_ref().map(|(kind, _, packed)| (*kind, packed.is_some()))) {
            Some(headers) => headers,
            None => return Attempt::Useless(self.nonsense("the token cannot stand in a header")),
        };
        let mut request = self.client.request(question.method.clone(), question.url.clone()).headers(headers);
        if let Some((_, bytes, packed)) = body {
            request = request.body(packed.unwrap_or_else(|| bytes.clone()));
        }
        let heard = self.wait_for(|| async {
            let began = Instant::now();
            match tokio::time::timeout(WHOLE, self.hear(request, sent, question.limit)).await {
                Ok(heard) => heard,
                Err(_) => {
                    let why = format!("no whole answer in {} seconds", began.elapsed().as_secs());
                    Heard { attempt: Attempt::Silent(why), n_bytes: 0 }
                }
            }
        });
        self.traffic.requests += 1;
        self.traffic.sent += sent as u64;
        self.traffic.received += heard.n_bytes;
        heard.attempt
    }

    /// Works on a thread of its own until there is an answer: within another runtime it could not.
    fn wait_for<F: Future<Output = Heard>>(&self, ask: impl FnOnce() -> F + Send) -> Heard {
        let broken = || Heard { attempt: Attempt::Broken("asking broke down".to_owned()), n_bytes: 0 };
        let Some(runtime) = &self.runtime else { return broken() };
        thread::scope(|scope| scope.spawn(|| runtime.block_on(ask())).join()).unwrap_or_else(|_| broken())
    }

    fn headers(&self, body: Option<(&'static str, bool)>) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(wire::PROTOCOL_HEADER, HeaderValue::from(wire::PROTOCOL));
        if let Some((kind, is_packed)) = body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            if is_packed {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        }
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).ok()?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Some(headers)
    }

    async fn hear(&self, request: reqwest::RequestBuilder, sent: usize, limit: usize) -> Heard {
        let began = Instant::now();
        let response = match tokio::time::timeout(patience_for(sent), request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(err)) => return Heard { attempt: self.lost(&err), n_bytes: 0 },
            Err(_) => {
                let why = format!("no answer began in {} seconds", began.elapsed().as_secs());
                return Heard { attempt: Attempt::Silent(why), n_bytes: 0 };
            }
        };
        let status = response.status();
        if status.is_redirection() && status.as_u16() != 304 {
            let attempt = Attempt::Useless(self.nonsense("it sends us to another address"));
            return Heard { attempt, n_bytes: 0 };
        }
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let strange = self.stranger(response.headers());
        let limit = if status.is_success() { limit } else { MAX_REFUSAL };
        let (body, n_bytes) = self.read(response, Passed { began, sent }, limit).await;
        let attempt = match (body, strange) {
            (Err(attempt), _) => attempt,
            (Ok(body), strange) if !status.is_success() => {
                let refusal = self.refusal(status.as_u16(), &body, retry_after.map(Duration::from_secs));
                match strange {
                    // A proxy may say that there is too much to do, or nobody behind it.
                    Some(_) if matches!(refusal.status, 502..=504) => Attempt::Broken(refusal.message),
                    Some(err) if refusal.status != 429 => Attempt::Useless(err),
                    _ => Attempt::Refused(refusal),
                }
            }
            (Ok(_), Some(err)) => Attempt::Useless(err),
            (Ok(body), None) => Attempt::Answered(body),
        };
        Heard { attempt, n_bytes }
    }

    /// Says whether an answer is of another protocol, or of none.
    fn stranger(&self, headers: &HeaderMap) -> Option<RemoteError> {
        let said = headers.get(wire::PROTOCOL_HEADER).and_then(|value| value.to_str().ok());
        match said.map(|version| version.trim().parse::<u32>()) {
            Some(Ok(wire::PROTOCOL)) => None,
            Some(Ok(other)) => Some(RemoteError::Protocol {
                label: self.label.clone(),
                ours: wire::PROTOCOL.to_string(),
                theirs: other.to_string(),
            }),
            Some(Err(_)) | None => Some(self.nonsense("no memdir server answers there")),
        }
    }

    /// Reads an answer within its limit; returns what came over the wire too.
    async fn read(
        &self,
        mut response: Response,
        passed: Passed,
        limit: usize,
    ) -> (Result<Vec<u8>, Attempt>, u64) {
        let too_large = || Attempt::Useless(self.nonsense(&format!("it is larger than {limit} bytes")));
        let encoding = response.headers().get(CONTENT_ENCODING).cloned();
        let mut body = Vec::new();
        loop {
            let left = patience_for(passed.sent + body.len()).saturating_sub(passed.began.elapsed());
            match tokio::time::timeout(left, response.chunk()).await {
                Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
                Ok(Ok(None)) => break,
                Ok(Err(err)) => return (Err(self.lost(&err)), body.len() as u64),
                Err(_) => {
                    let seconds = passed.began.elapsed().as_secs();
                    let why = format!("only {} bytes in {seconds} seconds", body.len());
                    return (Err(Attempt::Silent(why)), body.len() as u64);
                }
            }
            if body.len() > limit {
                return (Err(too_large()), body.len() as u64);
            }
        }
        let n_bytes = body.len() as u64;
        let body = match encoding.as_ref().map(HeaderValue::as_bytes) {
            None | Some(b"identity") => Ok(body),
            Some(b"gzip") => match pack::unpack(&body, limit) {
                Ok(unpacked) => unpacked.ok_or_else(too_large),
                Err(_) => Err(Attempt::Useless(self.nonsense("it cannot be unpacked"))),
            },
            Some(_) => Err(Attempt::Useless(self.nonsense("it is packed in a way that was not asked for"))),
        };
        (body, n_bytes)
    }

    fn lost(&self, err: &reqwest::Error) -> Attempt {
        if err.is_timeout() { Attempt::Silent(cause(err)) } else { Attempt::Broken(cause(err)) }
    }

    fn refusal(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> Refusal {
        let trouble = serde_json::from_slice(body).ok().map(|body: ErrorBody| body.error);
        let unsaid = || Trouble {
            code: Code::Unknown,
            message: format!("status {status}"),
            kinds: Vec::new(),
            supported: Vec::new(),
            current: None,
        };
        let Trouble { message, supported, .. } = trouble.unwrap_or_else(unsaid);
        Refusal { status, message: self.shown(&message), supported, retry_after }
    }
}

/// What a question has taken so far.
struct Passed {
    began: Instant,
    /// Its own bytes.
    sent: usize,
}

/// How long a question may have taken that moved this many bytes, up and down.
fn patience_for(n_bytes: usize) -> Duration {
    DRIP + Duration::from_secs(n_bytes as u64 / SLOWEST)
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting for its end is not allowed within another runtime.
            runtime.shutdown_background();
        }
    }
}

impl Question {
    /// Sends JSON along.
    pub(super) fn json(mut self, body: &impl serde::Serialize) -> Self {
        // Nothing that is sent has a map with keys that are no text, which is all that could fail.
        self.body = Some(("application/json", serde_json::to_vec(body).unwrap_or_default()));
        self
    }

    /// Sends lines of a ledger along.
    pub(super) fn lines(mut self, lines: &[u8]) -> Self {
        self.body = Some(("application/x-ndjson", lines.to_vec()));
        self
    }

    /// Allows an answer of this many bytes.
    pub(super) fn up_to(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Says that it may be put twice.
    pub(super) fn repeatable(mut self) -> Self {
        self.may_repeat = true;
        self
    }
}

/// Between half of a pause and all of it, so that those who failed together do not come back together.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [0; 1];
    // Without chance it is the whole pause.
    let share = disk::random(&mut byte).map_or(1.0, |()| 0.5 + f64::from(byte[0]) / 510.0);
    pause.mul_f64(share)
}

fn listed(versions: &[u32]) -> String {
    match versions {
        [] => "another version".to_owned(),
        versions => versions.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Encodes everything that could mean something in an address; what a memory's path is made of stays as it is.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_mean_something_in_an_address_is_encoded() {
        assert_eq!(encoded("sub/a b%20?#ä.md"), "sub/a%20b%2520%3F%23%C3%A4.md");
    }

    #[test]
    fn a_pause_is_never_longer_than_said() {
        for _ in 0..100 {
            let pause = jittered(PAUSE);
            assert!(PAUSE / 2 <= pause && pause <= PAUSE);
        }
    }
}
