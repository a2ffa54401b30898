//! A request on its way through: who asks, whom it is for, what goes up, what comes down.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, UPGRADE};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use memdir_core::gateway::Dialect;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::again::{Again, Gone};
use super::body::{BodyError, Ear, Held, Passed, Passing, Relayed, Sent, Source};
use super::config::{Config, Token, Upstream};
use super::connect::{ConnectError, Connector};
use super::headers::{self, Changes, Hearing};
use super::memory::{End, Head, Hearer, Memory, Note, Prepared, Served};
use super::packed::{self, Unpacking};
use super::peer::{self, Peer};
use super::route::{self, OURS, split_token};
use super::serving::{Asked, Serving};
use super::status::{Record, Status, page, route_name};
use crate::door::{self, Hosts};

/// No body larger than this is read: no vendor takes one.
const MAX_HELD: usize = 32 << 20;
/// Nor unpacked.
const MAX_UNPACKED: usize = 64 << 20;
/// All bodies that are held at a time, in KiB. Beyond it requests pass unread.
const HELD_KIB: usize = 256 << 10;
/// Memory that takes longer than this is not waited for, whatever it promised.
const MEMORY_PATIENCE: Duration = Duration::from_secs(3);
/// An upstream that has not begun to answer after so long never will.
const ANSWER_PATIENCE: Duration = Duration::from_secs(1_800);
/// Connections to an upstream that nobody uses are kept for so long.
const IDLE: Duration = Duration::from_secs(60);
/// How much of an answer waits in the gateway for a client that reads slowly, in each direction of a connection.
pub(crate) const BUFFER: usize = 128 << 10;

/// The gateway: what every connection needs.
#[derive(Debug)]
pub struct Gateway<M> {
    memory: Arc<M>,
    hosts: Hosts,
    settled: RwLock<Arc<Settled>>,
    status: Arc<Status>,
    streams: Arc<Semaphore>,
    held: Arc<Semaphore>,
}

/// Settings, and the ways to the upstreams that follow from them.
#[derive(Debug)]
struct Settled {
    config: Config,
    names: Vec<String>,
    ways: Vec<Arc<Way>>,
}

/// The way to an upstream, with connections that wait for the next request.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) upstream: Upstream,
    pub(super) host: HeaderValue,
    client: Client<Connector, Sent>,
}

/// Who asks, as the connection tells.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) client: SocketAddr,
    pub(crate) server: Option<SocketAddr>,
    whose: OnceLock<Peer>,
}

impl Caller {
    pub(crate) fn new(client: SocketAddr, server: Option<SocketAddr>) -> Self {
        Self { client, server, whose: OnceLock::new() }
    }

    /// Says whose program it is; the kernel is asked once a connection.
    fn whose(&self) -> Peer {
        *self.whose.get_or_init(|| self.server.map_or(Peer::Unknown, |server| peer::of(self.client, server)))
    }
}

/// Why a request was not passed on, or not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("{message}")]
    Door { status: u16, message: String },
    #[error("programs of other users need the token of this gateway")]
    Stranger,
    #[error(
        "the token of this gateway is needed: as the client's key, or in the base URL as /~TOKEN before the rest"
    )]
    Token,
    #[error(transparent)]
    NoRoute(#[from] route::NoRoute),
    #[error("no web sockets here: the client is to speak plain HTTP")]
    WebSocket,
    #[error("as many requests as there are places are being answered")]
    Busy,
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error("the upstream `{name}` cannot be reached: {why}")]
    Unreachable { name: String, why: String },
    #[error("the upstream `{name}` wants another protocol, which was not asked for")]
    Switching { name: String },
    #[error("the upstream `{name}` did not begin to answer")]
    Silent { name: String },
    #[error("there is nothing here; /__memdir/status tells what was done")]
    Nothing,
}

impl Refusal {
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Door { status, .. } => *status,
            Self::Stranger => 403,
            Self::Token => 401,
            Self::NoRoute(route::NoRoute::Odd) => 400,
            Self::NoRoute(route::NoRoute::Unknown) | Self::Nothing => 404,
            Self::WebSocket => 426,
            Self::Busy => 503,
            Self::Body(BodyError::Late) => 408,
            Self::Body(BodyError::Broken) => 400,
            Self::Unreachable { .. } | Self::Switching { .. } => 502,
            Self::Silent { .. } => 504,
        }
    }

    /// Says it in the words that clients of every vendor understand.
    fn answer(&self) -> Response<Relayed> {
        let message = format!("memdir gateway: {self}");
        let body = json!({ "type": "error", "error": { "type": "gateway_error", "message": message } });
        let mut answer = ours(self.status(), "application/json", body.to_string());
        if matches!(self, Self::Busy) {
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }
}

/// An answer of the gateway itself.
fn ours(status: u16, kind: &'static str, body: String) -> Response<Relayed> {
    let mut answer = Response::new(Relayed::Ours(Full::new(body.into())));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    headers.insert(HeaderName::from_static("content-security-policy"), HeaderValue::from_static(policy));
    answer
}

impl<M: Memory> Gateway<M> {
    /// Makes a gateway that listens at a port of this machine, for so many requests at a time.
    pub fn new(memory: M, config: Config, port: u16, max_streams: u32) -> Self {
        Self {
            memory: Arc::new(memory),
            hosts: Hosts::new(port, &[]),
            settled: RwLock::new(Arc::new(Settled::new(config, None))),
            status: Arc::new(Status::new(None)),
            streams: Arc::new(Semaphore::new(max_streams as usize)),
            held: Arc::new(Semaphore::new(HELD_KIB)),
        }
    }

    /// Has every request told when its answer ended.
    pub fn with_log(mut self, log: impl Fn(&super::Entry) + Send + Sync + 'static) -> Self {
        self.status = Arc::new(Status::new(Some(Box::new(log))));
        self
    }

    /// Goes on with other settings. What is being answered is not disturbed, and ways that stay the same stay open.
    pub fn settle(&self, config: Config) {
        let new = Arc::new(Settled::new(config, Some(&self.settled())));
        *self.settled.write().unwrap_or_else(PoisonError::into_inner) = new;
    }

    fn settled(&self) -> Arc<Settled> {
        self.settled.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>, caller: &Caller) -> Response<Relayed> {
        let settled = self.settled();
        let (head, body) = request.into_parts();
        match self.admit(&settled, &head, caller) {
            Ok(admitted) if admitted.path.starts_with(OURS) => self.tell(&settled, &head, &admitted),
            Ok(admitted) => match self.pass(&settled, &head, body, &admitted).await {
                Ok(answer) => answer,
                Err(refusal) => refusal.answer(),
            },
            Err(refusal) => {
                self.status.turned_away();
                refusal.answer()
            }
        }
    }

    /// Says whether a request may come in, from its head alone.
    fn admit<'h>(
        &self,
        settled: &Settled,
        head: &'h Parts,
        caller: &Caller,
    ) -> Result<Admitted<'h>, Refusal> {
        let door = |problem: crate::answer::Problem| Refusal::Door {
            status: problem.trouble.code.status(),
            message: problem.trouble.message,
        };
        door::is_for_us(&self.hosts, head).map_err(door)?;
        door::is_of_no_page(&head.headers).map_err(door)?;
        let (said, path) = split_token(head.uri.path());
        let access = &settled.config.access;
        let has_token = said.is_some_and(|said| access.token.is(said))
            || headers::has_token(&head.headers, &access.token)
            || head.uri.query().is_some_and(|query| key_of(query).is_some_and(|key| access.token.is(key)));
        if (said.is_some() || access.always) && !has_token {
            return Err(Refusal::Token);
        }
        let is_known = match caller.whose() {
            _ if has_token => true,
            Peer::Same => true,
            Peer::Other => return Err(Refusal::Stranger),
            Peer::Unknown => false,
        };
        Ok(Admitted { path, has_token, is_known })
    }

    /// Answers what is asked about the gateway itself.
    fn tell(&self, settled: &Settled, head: &Parts, admitted: &Admitted<'_>) -> Response<Relayed> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return Refusal::Nothing.answer();
        }
        if admitted.path == "/__memdir/health" {
            return ours(200, "text/plain; charset=utf-8", "ok".to_owned());
        }
        if !admitted.is_known {
            return Refusal::Token.answer();
        }
        let upstreams: Vec<_> = settled
            .ways
            .iter()
            .map(|way| (way.upstream.name.clone(), way.upstream.base.to_string()))
            .collect();
        let status = || self.status.json(&upstreams, settled.config.off);
        match admitted.path {
            "/__memdir/status" => ours(200, "text/html; charset=utf-8", page(&status())),
            "/__memdir/status.json" => ours(200, "application/json", status().to_string()),
            _ => Refusal::Nothing.answer(),
        }
    }

    async fn pass(
        &self,
        settled: &Settled,
        head: &Parts,
        body: Incoming,
        admitted: &Admitted<'_>,
    ) -> Result<Response<Relayed>, Refusal> {
        let method = head.method.as_str();
        let routed = route::route(&settled.names, method, admitted.path, &head.headers)?;
        let way = settled.way(&routed.upstream).ok_or(route::NoRoute::Unknown)?;
        let mut record = self.status.begin(route_name(&routed.upstream, method, routed.path));
        let passed = self.pass_on(settled, way, head, body, admitted, routed.path, &mut record).await;
        match passed {
            Ok(Answered { answer, hearer, place }) => Ok(down(answer, hearer, record, place)),
            Err(refusal) => {
                record.answered(refusal.status());
                record.end(End::Status(refusal.status()));
                Err(refusal)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what is known of one request, on its only way")]
    async fn pass_on(
        &self,
        settled: &Settled,
        way: &Arc<Way>,
        head: &Parts,
        body: Incoming,
        admitted: &Admitted<'_>,
        path: &str,
        record: &mut Record,
    ) -> Result<Answered, Refusal> {
        if head.headers.get(UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket")) {
            return Err(Refusal::WebSocket);
        }
        if way.upstream.key.is_some() && !admitted.has_token {
            return Err(Refusal::Token);
        }
        let place = self.streams.clone().try_acquire_owned().map_err(|_| Refusal::Busy)?;
        let is_read = !settled.config.off && admitted.is_known;
        let asked =
            if is_read { asked(way, head, path).filter(|head| self.memory.reads(head)) } else { None };
        let query = head.uri.query().map(|query| way.query(query, &settled.config.access.token));
        let uri = way.upstream.base.join(path, query.as_deref()).ok_or(route::NoRoute::Odd)?;
        let (up, again) = match asked {
            Some(asked) => {
                let again = Again::new(Gone {
                    way: way.clone(),
                    head: head.clone(),
                    uri: uri.clone(),
                    token: settled.config.access.token.clone(),
                    route: record.route().to_owned(),
                    status: self.status.clone(),
                    streams: self.streams.clone(),
                });
                (self.remember(asked, &head.headers, body, again.clone()).await?, Some(again))
            }
            None => (Up::passing(Passing::new(body)), None),
        };
        record.note = up.note;
        let hearing = match (&up.tool, &up.hearer) {
            (Some(_), _) => Hearing::Changed,
            (None, Some(_)) => Hearing::Heard,
            (None, None) => Hearing::None,
        };
        let changes = Changes {
            host: &way.host,
            key: way.upstream.key.as_ref(),
            token: &settled.config.access.token,
            new_length: up.new_length,
            hearing,
        };
        let request = request(head, uri, headers::upward(&head.headers, changes), up.body);
        let answer = way.send(request).await?;
        record.answered(answer.status().as_u16());
        let answer = match up.tool.filter(|_| answer.status() == StatusCode::OK).zip(again) {
            Some(((tool, asked), again)) => {
                let answer = Serving::new(tool, asked, again, record.note.clone()).begin(answer).await?;
                record.became(answer.status().as_u16());
                answer
            }
            None => answer.map(Source::Upstream),
        };
        Ok(Answered { answer, hearer: up.hearer, place })
    }

    /// Lets memory see a request. Whatever becomes of that, the request goes on.
    async fn remember(
        &self,
        head: Head,
        headers: &HeaderMap,
        body: Incoming,
        again: Again,
    ) -> Result<Up, Refusal> {
        let passing = Passing::new(body);
        let length = passing_length(&passing).unwrap_or(MAX_HELD);
        let kib = u32::try_from(length.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let room = self.held.clone().try_acquire_many_owned(kib).ok().filter(|_| length <= MAX_HELD);
        let Some(room) = room else { return Ok(Up::passing(passing)) };
        let came = match passing.hold(MAX_HELD).await? {
            Held::Whole(came) => came,
            Held::TooLarge(passing) => return Ok(Up::passing(passing)),
        };
        let Some(plain) = packed::unpack(headers, &came, MAX_UNPACKED) else { return Ok(Up::whole(came)) };
        let (memory, body) = (self.memory.clone(), plain.clone());
        // On its own, so that a fault of it is not a fault of the request.
        let prepared = tokio::spawn(async move { memory.prepare(head, body, again).await });
        let Ok(Ok(prepared)) = tokio::time::timeout(MEMORY_PATIENCE, prepared).await else {
            return Ok(Up::whole(came));
        };
        let Prepared { body, hearer, note, tool } = prepared;
        let tool = tool.map(|tool| (tool, Asked { sent: body.clone(), room }));
        let up = if body == plain { Up::whole(came) } else { Up::changed(body) };
        Ok(Up { hearer, note, tool, ..up })
    }
}

/// A request that may come in.
#[derive(Debug)]
struct Admitted<'h> {
    path: &'h str,
    /// It brought our token.
    has_token: bool,
    /// It is from a program of the user's.
    is_known: bool,
}

/// What goes up.
#[derive(Debug)]
struct Up {
    body: Sent,
    new_length: Option<usize>,
    hearer: Option<Box<dyn Hearer>>,
    note: Note,
    /// A tool that is answered here, and what the model was asked.
    tool: Option<(Served, Asked)>,
}

/// What came back.
#[derive(Debug)]
struct Answered {
    answer: Response<Source>,
    hearer: Option<Box<dyn Hearer>>,
    place: OwnedSemaphorePermit,
}

impl Up {
    fn new(body: Sent) -> Self {
        Self { body, new_length: None, hearer: None, note: Note::default(), tool: None }
    }

    fn passing(body: Passing) -> Self {
        Self::new(Sent::Passing(body))
    }

    fn whole(body: Bytes) -> Self {
        Self::new(Sent::Whole(Full::new(body)))
    }

    fn changed(body: Bytes) -> Self {
        Self { new_length: Some(body.len()), ..Self::whole(body) }
    }
}

fn passing_length(passing: &Passing) -> Option<usize> {
    passing.exact().and_then(|length| usize::try_from(length).ok())
}

/// Reads the head of a request that asks a model for an answer, as memory may see it.
fn asked(way: &Way, head: &Parts, path: &str) -> Option<Head> {
    Some(Head {
        dialect: Dialect::of(head.method.as_str(), path)?,
        upstream: way.upstream.name.clone(),
        method: head.method.clone(),
        path: path.to_owned(),
        query: head.uri.query().map(without_key),
        headers: headers::without_credentials(&head.headers),
    })
}

/// Makes the request that goes up.
pub(super) fn request(head: &Parts, uri: Uri, headers: HeaderMap, body: Sent) -> Request<Sent> {
    let mut request = Request::new(body);
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    // Holds how the names of headers were written.
    *request.extensions_mut() = head.extensions.clone();
    request
}

/// Sends an answer down.
fn down(
    answer: Response<Source>,
    hearer: Option<Box<dyn Hearer>>,
    record: Record,
    place: OwnedSemaphorePermit,
) -> Response<Relayed> {
    let (mut head, body) = answer.into_parts();
    let ear = hearer.map(|hearer| Ear::new(hearer, Unpacking::of(&head.headers)));
    head.headers = headers::downward(&head.headers);
    head.version = Version::HTTP_11;
    let passed = Passed::new(body, ear, head.status.as_u16(), record, place);
    Response::from_parts(head, Relayed::Theirs(Box::new(passed)))
}

impl Settled {
    fn new(config: Config, before: Option<&Self>) -> Self {
        let kept = |upstream: &Upstream| before?.ways.iter().find(|way| way.upstream == *upstream).cloned();
        let way = |upstream: &Upstream| kept(upstream).or_else(|| Way::new(upstream.clone()).map(Arc::new));
        let ways: Vec<_> = config.upstreams.iter().filter_map(way).collect();
        let names = ways.iter().map(|way| way.upstream.name.clone()).collect();
        Self { config, names, ways }
    }

    fn way(&self, name: &str) -> Option<&Arc<Way>> {
        self.ways.iter().find(|way| way.upstream.name == name)
    }
}

impl Way {
    fn new(upstream: Upstream) -> Option<Self> {
        let host = HeaderValue::from_str(upstream.base.authority()).ok()?;
        let connector = Connector::new(upstream.base.clone(), upstream.private);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http1_preserve_header_case(true)
            .http1_max_buf_size(BUFFER)
            .set_host(false)
            .build(connector);
        Some(Self { upstream, host, client })
    }

    pub(super) async fn send(&self, request: Request<Sent>) -> Result<Response<Incoming>, Refusal> {
        let name = || self.upstream.name.clone();
        let answered = tokio::time::timeout(ANSWER_PATIENCE, self.client.request(request)).await;
        let answered = answered.map_err(|_| Refusal::Silent { name: name() })?;
        let answer = answered.map_err(|err| match cause(&err) {
            Cause::Body(err) => Refusal::Body(err),
            Cause::Upstream(why) => Refusal::Unreachable { name: name(), why },
        })?;
        // No client asks for another protocol here: what follows would be bytes that nobody can frame.
        match answer.status() {
            StatusCode::SWITCHING_PROTOCOLS => Err(Refusal::Switching { name: name() }),
            _ => Ok(answer),
        }
    }

    /// Returns the query that goes up: without a key where we bring one, and never with our token.
    fn query(&self, query: &str, token: &Token) -> String {
        let is_ours = key_of(query).is_some_and(|key| token.is(key));
        if self.upstream.key.is_some() || is_ours { without_key(query) } else { query.to_owned() }
    }
}

enum Cause {
    Body(BodyError),
    Upstream(String),
}

/// Says what is behind an error, in words that hold nothing of the request.
fn cause(err: &(dyn Error + 'static)) -> Cause {
    let mut deepest = err;
    let mut next = Some(err);
    while let Some(err) = next {
        if let Some(err) = err.downcast_ref::<BodyError>() {
            return Cause::Body(*err);
        }
        if let Some(err) = err.downcast_ref::<ConnectError>() {
            return Cause::Upstream(err.to_string());
        }
        deepest = err;
        next = err.source();
    }
    Cause::Upstream(deepest.to_string())
}

/// Returns the key that stands in a query, as clients of Gemini may send it.
fn key_of(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("key="))
}

fn without_key(query: &str) -> String {
    query.split('&').filter(|pair| !pair.starts_with("key=")).collect::<Vec<_>>().join("&")
}
