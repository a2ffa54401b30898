//! A service that is asked over HTTP.
//!
//! Callers are ordinary blocking code: the runtime lives in here, on a thread of its own for as long as a question takes,
//! so that it does no harm to be called from within another runtime. Every wait is bounded, every answer too. Overload
//! (429, 5xx) and connections that could not be made are met by asking again, after a pause that the service or chance
//! decides; nothing else is, and least of all an answer that broke off, for it was paid for. Nobody is followed to another address: a key is sent where the user said, and nowhere else.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use memdir_core::budget::likely_tokens;
use memdir_core::sse::Events;
use memdir_net::{NoWay, Patience, cause};
use memdir_store::disk;
use memdir_store::keys::Secret;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};

use super::open::Env;
use super::wire::{Dialect, cut_off, short};
use super::{Answer, Base, Model, ModelError, Part, Request, Usage};

/// To connect.
const CONNECT: Duration = Duration::from_secs(10);
/// Between two pieces of an answer; a model that thinks says nothing for long.
const SILENCE: Duration = Duration::from_secs(60);
/// For a whole answer, with everything that is tried for it.
const WHOLE: Duration = Duration::from_secs(180);
/// How often a question is put.
const ATTEMPTS: u32 = 3;
/// The first pause before it is put again; the next is twice as long.
const PAUSE: Duration = Duration::from_millis(600);
/// A service that wants a longer pause is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// No answer is larger.
const MAX_ANSWER: usize = 32 << 20;
/// Of a refusal, no more is read.
const MAX_REFUSAL: usize = 64 << 10;

/// A service at an address.
pub struct Service {
    dialect: Dialect,
    base: Base,
    key: Option<Secret>,
    name: String,
    service: String,
    client: Client,
    limit: Duration,
    allowed: u32,
    attempts: u32,
    /// How many attempts of the last question got the beginning of an answer, and no end.
    begun: AtomicU32,
}

/// Why one attempt came to nothing, and whether another may do better.
struct Fault {
    error: ModelError,
    retry: Retry,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Retry {
    Never,
    Soon,
    After(Duration),
}

impl Service {
    /// Makes ready to ask the model `name` at `base`. Connects to nothing.
    pub fn new(
        dialect: Dialect,
        base: Base,
        key: Option<Secret>,
        name: &str,
        env: &Env,
    ) -> Result<Self, ModelError> {
        let service = format!("{} {}", dialect.path(), base.as_str());
        let client = client(&base, env)?;
        let (limit, allowed, name) = (WHOLE, ATTEMPTS, name.to_owned());
        Ok(Self {
            dialect,
            base,
            key,
            name,
            service,
            client,
            limit,
            allowed,
            attempts: 0,
            begun: AtomicU32::new(0),
        })
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.dialect == Dialect::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        let Some(key) = &self.key else { return Ok(headers) };
        let (name, text) = match self.dialect {
            Dialect::Anthropic => ("x-api-key", key.expose().to_owned()),
            Dialect::Responses | Dialect::Chat => ("authorization", format!("Bearer {}", key.expose())),
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| ModelError::Refused("the key cannot stand in a header".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }

    /// Asks on this thread.
    fn converse_here(&self, request: &Request) -> (u32, Result<Answer, ModelError>) {
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(self.converse(request)),
            Err(err) => (0, Err(unreachable(&format!("no runtime: {err}")))),
        }
    }

    /// Asks until there is an answer, or no more attempt is worth it; returns how many there were.
    async fn converse(&self, request: &Request) -> (u32, Result<Answer, ModelError>) {
        let headers = match self.headers() {
            Ok(headers) => headers,
            Err(error) => return (0, Err(error)),
        };
        let body = self.dialect.body(&self.name, request).to_string();
        let url = self.base.join("v1", self.dialect.path());
        let deadline = Instant::now() + self.limit;
        for attempt in 1.. {
            let left = deadline.saturating_duration_since(Instant::now());
            let asked = self.once(url.clone(), headers.clone(), body.clone());
            let fault = match tokio::time::timeout(left, asked).await {
                Ok(Ok(answer)) => return (attempt, Ok(answer)),
                Ok(Err(fault)) => fault,
                Err(_) => {
                    self.begun.store(1, Ordering::Relaxed);
                    return (attempt, Err(unreachable("no answer in time")));
                }
            };
            let pause = match fault.retry {
                Retry::Never => return (attempt, Err(fault.error)),
                Retry::Soon => jittered(PAUSE * 2_u32.pow(attempt.min(4) - 1)),
                Retry::After(pause) => pause,
            };
            let is_worth_it = pause <= LONGEST_PAUSE && Instant::now() + pause < deadline;
            if attempt >= self.allowed || !is_worth_it {
                return (attempt, Err(fault.error));
            }
            tokio::time::sleep(pause).await;
        }
        unreachable!("attempts end by returning")
    }

    async fn once(&self, url: Url, headers: HeaderMap, body: String) -> Result<Answer, Fault> {
        let n_bytes = body.len();
        let sent = self.client.post(url).headers(headers).body(body).send().await;
        let response = sent.map_err(|err| self.lost(&err))?;
        if response.status() != StatusCode::OK {
            return Err(self.refused(response).await);
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        let answer = self.listen(response, n_bytes).await.map_err(|error| self.fault(error))?;
        self.begun.fetch_sub(1, Ordering::Relaxed);
        Ok(answer)
    }

    /// Reads the stream until the answer is over.
    async fn listen(&self, mut response: Response, n_bytes: usize) -> Result<Answer, ModelError> {
        let malformed = |why: &str| ModelError::Malformed(why.to_owned());
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| !kind.starts_with("text/event-stream")) {
            return Err(malformed("it is not a stream of events"));
        }
        let (mut events, mut listener, mut n_read) = (Events::default(), self.dialect.listen(), 0);
        while !listener.is_over()
            && let Some(piece) = response.chunk().await.map_err(|_| cut_off())?
        {
            n_read += piece.len();
            if n_read > MAX_ANSWER {
                return Err(malformed("it is too long"));
            }
            for event in events.take(&piece)? {
                listener.take(&event)?;
            }
        }
        Ok(listener.finish()?.answer(|parts| guess(n_bytes, parts)))
    }

    /// What reading an answer came to nothing by. It was paid for, so it is not asked for again.
    fn fault(&self, error: ModelError) -> Fault {
        let error = match error {
            ModelError::Unreachable(why) => ModelError::Unreachable(self.hide(&why)),
            ModelError::Refused(why) => ModelError::Refused(self.hide(&why)),
            ModelError::Malformed(why) => ModelError::Malformed(self.hide(&why)),
            error => error,
        };
        Fault { error, retry: Retry::Never }
    }

    /// What became of a connection before an answer began. One that took too long may be answering somebody who left.
    fn lost(&self, err: &reqwest::Error) -> Fault {
        let is_late = err.is_timeout() && !err.is_connect();
        if is_late {
            self.begun.fetch_add(1, Ordering::Relaxed);
        }
        let retry = if is_late { Retry::Never } else { Retry::Soon };
        Fault { error: unreachable(&self.hide(&cause(err))), retry }
    }

    /// What a service said in place of an answer.
    async fn refused(&self, mut response: Response) -> Fault {
        let status = response.status();
        let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let mut body = Vec::new();
        while body.len() < MAX_REFUSAL
            && let Ok(Some(piece)) = response.chunk().await
        {
            body.extend_from_slice(&piece);
        }
        let said = self.hide(&reason(&body));
        let why = if said.is_empty() { status.to_string() } else { format!("{}: {said}", status.as_u16()) };
        let passes = status.is_server_error() || matches!(status.as_u16(), 408 | 409 | 429);
        if status.is_redirection() {
            let why = format!("{}: it sends us to another address", status.as_u16());
            return Fault { error: ModelError::Refused(why), retry: Retry::Never };
        }
        match (passes, after) {
            (false, _) => Fault { error: ModelError::Refused(why), retry: Retry::Never },
            (true, Some(secs)) => {
                Fault { error: ModelError::Unreachable(why), retry: Retry::After(Duration::from_secs(secs)) }
            }
            (true, None) => Fault { error: ModelError::Unreachable(why), retry: Retry::Soon },
        }
    }

    fn hide(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide_in(text))
    }
}

impl Model for Service {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ModelError> {
        self.begun.store(0, Ordering::Relaxed);
        // The runtime also ends on that thread: within another one it could not.
        let asked = std::thread::scope(|scope| scope.spawn(|| self.converse_here(request)).join());
        let (attempts, answer) = asked.map_err(|_| unreachable("asking broke down"))?;
        self.attempts = attempts;
        answer
    }

    fn service(&self) -> &str {
        &self.service
    }

    fn limit_attempts(&mut self, attempts: u32) {
        self.allowed = attempts.clamp(1, ATTEMPTS);
    }

    fn attempts(&self) -> u32 {
        self.attempts
    }

    fn begun(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }

    fn limit_time(&mut self, limit: Duration) {
        self.limit = limit.min(WHOLE);
    }

    fn is_metered(&self) -> bool {
        // Chat completions nearby are somebody's own machine; the others may be a way to the vendor.
        self.dialect != Dialect::Chat || !self.base.is_near()
    }
}

/// Makes the client; a question is rare, so no connection is kept.
fn client(base: &Base, env: &Env) -> Result<Client, ModelError> {
    let patience = Patience { connect: CONNECT, silence: SILENCE, idle: Duration::ZERO };
    memdir_net::client(base, env.variables(), patience).map_err(|err| match err {
        NoWay::Shipped(_) => ModelError::Refused(err.to_string()),
        NoWay::Proxy(_) | NoWay::System(_) => unreachable(&err.to_string()),
    })
}

fn unreachable(why: &str) -> ModelError {
    ModelError::Unreachable(short(why))
}

/// Reads why a service refused, in whichever of the usual ways it says so.
fn reason(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let said = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
    short(said.into_iter().find_map(|value| value.as_str()).unwrap_or_default())
}

/// Guesses what an answer took whose service does not say.
fn guess(n_bytes: usize, parts: &[Part]) -> Usage {
    let written = parts.iter().map(|part| match part {
        Part::Text(text) => text.len(),
        Part::Call { input, .. } => input.to_string().len(),
        Part::Result { .. } => 0,
    });
    Usage { input: likely_tokens(n_bytes), output: likely_tokens(written.sum()), ..Usage::default() }
}

/// Between half of a pause and all of it, so that those who failed together do not come back together.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [0; 1];
    // Without chance it is the whole pause.
    let share = disk::random(&mut byte).map_or(1.0, |()| 0.5 + f64::from(byte[0]) / 510.0);
    pause.mul_f64(share)
}

#[cfg(test)]
mod tests;
