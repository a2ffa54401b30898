//! Requests in, answers out, without a socket.
//!
//! [`App::answer`] is the way of every request: the door, the token, how often its owner may ask, the body within its limits, then
//! the endpoint. Each group of endpoints has a file of its own.

mod changes;
mod check;
mod ledgers;
mod memories;
mod people;
mod search;

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use hyper::header::{CONNECTION, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use jiff::Timestamp;
use memdir_core::memory::MemoryPath;
use memdir_core::secrets::Scanner;
use memdir_core::team::wire::{self, Code, ProjectName, Scope, WireLimits};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::answer::{Answer, Handled, Problem};
use crate::door::{self, Admitted, Hosts};
use crate::feed::Waiting;
use crate::metrics::Metrics;
use crate::openapi;
use crate::rate::{Rate, Rates};
use crate::routes::{Endpoint, Needs, Params, Route, Takes};
use crate::rules::{self, Quotas};
use crate::storage::{Actor, Bearer, Key, Storage};
use crate::uri::Query;
use crate::{credentials, gzip};

/// What `/v1/join` may be asked from one address: guessing an invitation is hopeless, and this keeps it from being noisy.
const JOIN_RATE: Rate = Rate { per_second: 0.5, burst: 20.0 };
/// The largest body that is JSON but no batch.
const MAX_SMALL: usize = 16 << 10;
/// The largest piece of a ledger.
const MAX_LINES: usize = 1 << 20;

/// Bodies that are larger than this take turns; what people write one at a time does not wait for them.
const LARGE: usize = 64 << 10;
/// What large bodies may have in memory together, in KiB. Each is held until it is answered.
const ROOM: usize = 64 << 10;
/// So many large bodies are worked on at a time. Taking one apart takes several times its size.
const BENCHES: usize = 2;

/// What the server takes, and from whom.
#[derive(Debug, Clone)]
pub struct Config {
    /// The names it answers to.
    pub hosts: Hosts,
    /// What teams and authors may have.
    pub quotas: Quotas,
    /// How often a token may ask.
    pub rate: Rate,
    /// The largest request for one memory, in bytes.
    pub max_memory_request: usize,
    /// How long a body may take to arrive.
    pub body_patience: Duration,
    /// For how many days a removal is remembered.
    pub tombstone_days: u64,
    /// Whether a proxy stands before it, whose `X-Forwarded-For` says who asks.
    pub behind_proxy: bool,
}

impl Config {
    /// The usual limits for a server with these names.
    pub fn new(hosts: Hosts) -> Self {
        Self {
            hosts,
            quotas: Quotas::default(),
            rate: Rate { per_second: 60.0, burst: 300.0 },
            max_memory_request: 128 << 10,
            body_patience: Duration::from_secs(30),
            tombstone_days: 90,
            behind_proxy: false,
        }
    }
}

/// One line of the log: nothing of a memory, no token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The method and the pattern of the route.
    pub route: String,
    /// The status.
    pub status: u16,
    /// How long it took.
    pub took: Duration,
    /// Who asked.
    pub member: Option<String>,
}

type Log = Box<dyn Fn(&Logged) + Send + Sync>;

/// The server without its sockets.
pub struct App<S> {
    pub(crate) storage: S,
    config: Config,
    scanner: std::sync::Arc<Scanner>,
    waiting: Waiting,
    pub(crate) metrics: Metrics,
    rates: Rates<String>,
    joins: Rates<IpAddr>,
    room: Semaphore,
    benches: Semaphore,
    now: fn() -> Timestamp,
    log: Option<Log>,
}

/// A request that came through the door, with its body.
struct Call {
    params: Params,
    query: Query,
    headers: HeaderMap,
    body: Bytes,
    bearer: Option<Bearer>,
}

impl Call {
    /// Returns whom the token speaks for. Only routes that need a token ask.
    fn bearer(&self) -> Result<&Bearer, Problem> {
        self.bearer.as_ref().ok_or_else(Problem::unauthorized)
    }

    fn actor(&self) -> Result<Actor, Problem> {
        let bearer = self.bearer()?;
        Ok(Actor { member: Some(bearer.member.clone()), token: Some(bearer.token.clone()) })
    }

    fn project(&self) -> Result<ProjectName, Problem> {
        ProjectName::new(self.params.get("project")).map_err(|err| Problem::bad(err.to_string()))
    }

    fn key(&self) -> Result<Key, Problem> {
        let path = MemoryPath::new(self.params.get("path")).map_err(|err| Problem::bad(err.to_string()))?;
        Ok(Key { team: self.bearer()?.team.id, project: self.project()?, path })
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, Problem> {
        self.query.number(name, default).map_err(Problem::bad)
    }

    fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_slice(&self.body).map_err(|err| {
            // Where it went wrong, not what stands there: the message may not repeat a text.
            Problem::bad(format!(
                "the body is not what it should be, at line {} column {}",
                err.line(),
                err.column()
            ))
        })
    }
}

impl<S: Storage> App<S> {
    /// Makes the server of a database.
    pub fn new(storage: S, config: Config) -> Self {
        Self {
            storage,
            scanner: std::sync::Arc::new(Scanner::builtin()),
            waiting: Waiting::new(),
            metrics: Metrics::default(),
            rates: Rates::new(config.rate),
            joins: Rates::new(JOIN_RATE),
            room: Semaphore::new(ROOM),
            benches: Semaphore::new(BENCHES),
            now: Timestamp::now,
            log: None,
            config,
        }
    }

    /// Has the time told by another clock.
    pub fn with_clock(mut self, now: fn() -> Timestamp) -> Self {
        self.now = now;
        self
    }

    /// Has every request told.
    pub fn with_log(mut self, log: impl Fn(&Logged) + Send + Sync + 'static) -> Self {
        self.log = Some(Box::new(log));
        self
    }

    /// Returns the database.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Returns how many requests were answered.
    pub fn n_requests(&self) -> u64 {
        self.metrics.n_requests()
    }

    /// Lets those go who wait for news: the server closes.
    pub fn close(&self) {
        self.waiting.close();
    }

    /// Does what a server does beside answering: looks for what other processes wrote, and forgets once a day what is old. Runs
    /// until it is dropped.
    pub async fn keep_house(&self) {
        let purges = async {
            let mut each_day = tokio::time::interval(Duration::from_secs(24 * 60 * 60));
            loop {
                each_day.tick().await;
                // A purge that fails is tried again tomorrow; nothing depends on it.
                let _ = self.storage.purge(self.forget_before()).await;
            }
        };
        tokio::join!(self.waiting.watch_others(&self.storage), purges);
    }

    /// Returns the time before which a purge forgets.
    pub fn forget_before(&self) -> Timestamp {
        let hours = i64::try_from(self.config.tombstone_days.saturating_mul(24)).unwrap_or(i64::MAX / 7_200);
        let age = jiff::SignedDuration::from_hours(hours.min(24 * 36_500));
        self.now().checked_sub(age).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn now(&self) -> Timestamp {
        // Databases keep whole milliseconds; what is answered is what is kept.
        let now = (self.now)();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    fn limits(&self) -> WireLimits {
        WireLimits {
            memory_bytes: wire::MAX_MEMORY as u64,
            batch_ops: wire::MAX_OPS as u64,
            batch_bytes: wire::MAX_BATCH as u64,
            team_memories: self.config.quotas.memories,
            team_bytes: self.config.quotas.bytes,
            author_memories: self.config.quotas.of_author,
            tombstone_days: self.config.tombstone_days,
        }
    }

    /// Answers a request that came from this address.
    pub async fn answer<B>(&self, request: Request<B>, peer: IpAddr) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        let mut seen = Seen::default();
        let answer = match self.handle(&head, body, peer, &mut seen).await {
            Ok(answer) => answer,
            Err(problem) => problem.answer(),
        };
        self.note(&seen, answer.status, began.elapsed());
        let mut response = answer.send(door::takes_gzip(&head.headers));
        if head.headers.contains_key(TRANSFER_ENCODING) {
            // Such a body was not read, and two readers may disagree about where it ends: nothing follows it.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Refuses a request whose bytes could be read in two ways, and whatever may follow it.
    pub(crate) fn refuse_odd(&self) -> Response<Full<Bytes>> {
        self.note(&Seen::default(), 400, Duration::ZERO);
        let mut response = Problem::bad("the head of the request is not clear").answer().send(false);
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }

    fn note(&self, seen: &Seen, status: u16, took: Duration) {
        self.metrics.request(seen.route, status, (!seen.has_waited).then_some(took));
        if let Some(log) = &self.log {
            let route = seen.route.map_or_else(|| "-".to_owned(), |r| format!("{} {}", r.method, r.path));
            log(&Logged { route, status, took, member: seen.member.clone() });
        }
    }

    async fn handle<B>(&self, head: &Parts, body: B, peer: IpAddr, seen: &mut Seen) -> Handled
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Admitted { route, params, query } = door::admit(&self.config.hosts, head)?;
        seen.route = Some(route);
        let bearer = self.identify(route, &params, head).await?;
        seen.member = bearer.as_ref().map(|bearer| bearer.member.to_string());
        if route.endpoint == Endpoint::Join {
            self.joins.take(self.asker(head, peer), Instant::now()).map_err(too_often)?;
        }
        door::is_taken(route.takes, &head.headers)?;
        let limit = self.most(route);
        let is_packed = limit > 0 && door::is_packed(&head.headers)?;
        let expected = if is_packed { limit } else { expected(&body, limit) };
        let _room = self.make_room(expected).await?;
        let body = self.read(limit, is_packed, body).await?;
        let _bench = if body.len() > LARGE { self.benches.acquire().await.ok() } else { None };
        let call = Call { params, query, headers: head.headers.clone(), body, bearer };
        seen.has_waited = route.endpoint == Endpoint::Changes && call.query.number("wait", 0) != Ok(0);
        self.perform(route.endpoint, &call).await
    }

    /// Finds out who asks, and says whether they may.
    async fn identify(
        &self,
        route: &Route,
        params: &Params,
        head: &Parts,
    ) -> Result<Option<Bearer>, Problem> {
        let token = || door::bearer(&head.headers).and_then(credentials::token_hash);
        let needed = match route.needs {
            Needs::Nothing => return Ok(None),
            Needs::Metrics => {
                let token = token().ok_or_else(Problem::unauthorized)?;
                let expires = self.storage.server_token(&token).await?.ok_or_else(Problem::unauthorized)?;
                let counts = rules::token_counts(expires, false, self.now());
                return if counts { Ok(None) } else { Err(Problem::unauthorized()) };
            }
            Needs::Token(scope) => scope,
        };
        let token = token().ok_or_else(Problem::unauthorized)?;
        let bearer = self.storage.bearer(&token).await?.ok_or_else(Problem::unauthorized)?;
        if !rules::token_counts(bearer.expires, bearer.is_revoked, self.now()) {
            return Err(Problem::unauthorized());
        }
        self.rates.take(bearer.token.clone(), Instant::now()).map_err(too_often)?;
        // Another team's paths are those of a team that does not exist.
        if route.path.contains("{team}") && params.get("team") != bearer.team.name.as_str() {
            return Err(Problem::not_found());
        }
        if bearer.scope < needed {
            let message =
                format!("the token allows `{}`, and `{}` is needed", bearer.scope.as_str(), needed.as_str());
            return Err(Problem::new(Code::Forbidden, message));
        }
        Ok(Some(bearer))
    }

    fn asker(&self, head: &Parts, peer: IpAddr) -> IpAddr {
        if !self.config.behind_proxy {
            return peer;
        }
        // The last entry is the one that our own proxy added; what stands before it anybody may have written.
        let said = head.headers.get_all("x-forwarded-for").iter().next_back();
        let last = said.and_then(|value| value.to_str().ok()).and_then(|value| value.rsplit(',').next());
        last.and_then(|last| last.trim().parse().ok()).unwrap_or(peer)
    }

    /// Returns the bytes that a body may have, unpacked.
    fn most(&self, route: &Route) -> usize {
        match (route.takes, route.endpoint) {
            (Takes::Nothing, _) => 0,
            (_, Endpoint::Batch) => wire::MAX_BATCH,
            (Takes::Markdown, _) => self.config.max_memory_request,
            (Takes::Lines, _) => MAX_LINES,
            (Takes::Json, _) => MAX_SMALL,
        }
    }

    /// Waits until there is room for a body of this many bytes.
    async fn make_room(&self, bytes: usize) -> Result<Option<SemaphorePermit<'_>>, Problem> {
        if bytes <= LARGE {
            return Ok(None);
        }
        let full = || Problem::wait(Code::Busy, "too many large requests", self.config.body_patience);
        let kibs = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let room = tokio::time::timeout(self.config.body_patience, self.room.acquire_many(kibs)).await;
        room.map_err(|_| full())?.map(Some).map_err(|_| full())
    }

    /// Reads a body within its limits of size and time, and unpacks it.
    async fn read<B>(&self, limit: usize, is_packed: bool, body: B) -> Result<Bytes, Problem>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if limit == 0 {
            return Ok(Bytes::new());
        }
        let too_large = || Problem::new(Code::TooLarge, format!("a request here has at most {limit} bytes"));
        let whole = Limited::new(body, limit).collect();
        let body = match tokio::time::timeout(self.config.body_patience, whole).await {
            Err(_) => return Err(Problem::new(Code::Timeout, "the body took too long to arrive")),
            Ok(Err(err)) if err.is::<LengthLimitError>() => return Err(too_large()),
            Ok(Err(_)) => return Err(Problem::bad("the body broke off")),
            Ok(Ok(body)) => body.to_bytes(),
        };
        if !is_packed {
            return Ok(body);
        }
        gzip::unpack(&body, limit).map(Bytes::from).map_err(|err| match err {
            gzip::NotUnpacked::TooLarge => too_large(),
            gzip::NotUnpacked::Broken => Problem::bad("the body is no gzip"),
        })
    }

    async fn perform(&self, endpoint: Endpoint, call: &Call) -> Handled {
        match endpoint {
            Endpoint::Health => Ok(Answer::new(200, "text/plain; charset=utf-8", "ok")),
            Endpoint::Ready => {
                self.storage.ready().await?;
                Ok(Answer::new(200, "text/plain; charset=utf-8", "ok"))
            }
            Endpoint::OpenApi => Ok(Answer::new(200, "application/json", openapi::document())),
            Endpoint::Metrics => {
                let text = self.metrics.print(self.waiting.count());
                Ok(Answer::new(200, "text/plain; version=0.0.4; charset=utf-8", text))
            }
            Endpoint::Join => self.join(call).await,
            Endpoint::Me => self.me(call),
            Endpoint::Team => self.team(call).await,
            Endpoint::Members => self.members(call).await,
            Endpoint::RevokeMember => self.revoke_member(call).await,
            Endpoint::Invites => self.invites(call).await,
            Endpoint::Invite => self.invite(call).await,
            Endpoint::WithdrawInvite => self.withdraw_invite(call).await,
            Endpoint::Tokens => self.tokens(call).await,
            Endpoint::MakeToken => self.make_token(call).await,
            Endpoint::RevokeToken => self.revoke_token(call).await,
            Endpoint::Projects => self.projects(call).await,
            Endpoint::Changes => self.changes(call).await,
            Endpoint::Batch => self.batch(call).await,
            Endpoint::GetMemory => self.get_memory(call).await,
            Endpoint::PutMemory => self.put_memory(call).await,
            Endpoint::DeleteMemory => self.delete_memory(call).await,
            Endpoint::Versions => self.versions(call).await,
            Endpoint::Version => self.version(call).await,
            Endpoint::Search => self.search(call).await,
            Endpoint::Audit => self.audit(call).await,
            Endpoint::Ledgers => self.ledgers(call).await,
            Endpoint::ReadLedger => self.read_ledger(call).await,
            Endpoint::AppendLedger => self.append_ledger(call).await,
        }
    }
}

/// What became known of a request while it was handled.
#[derive(Default)]
struct Seen {
    route: Option<&'static Route>,
    member: Option<String>,
    has_waited: bool,
}

/// Returns how many bytes a body will have, as far as it says.
fn expected(body: &impl Body, limit: usize) -> usize {
    let said = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
    said.map_or(limit, |bytes| bytes.min(limit))
}

fn too_often(wait: Duration) -> Problem {
    Problem::wait(Code::Rate, "too many requests", wait)
}

/// Runs work that computes for a while, off the threads that serve sockets. A panic in it is a failure, not the end.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let failed = || Problem::new(Code::Internal, "the work failed");
    let caught = move || std::panic::catch_unwind(AssertUnwindSafe(work));
    tokio::task::spawn_blocking(caught).await.map_err(|_| failed())?.map_err(|_| failed())
}

/// Says whether a token may hand out this scope.
fn may_give(own: Scope, asked: Scope) -> Result<(), Problem> {
    if asked <= own {
        return Ok(());
    }
    Err(Problem::new(Code::Forbidden, "a token gives no more than it allows itself"))
}
