//! The memory hub over HTTP, for hosts that cannot start a program: on this machine only, behind a door with a token.
//!
//! The sockets are accepted here, with limits that hold (a connection that does not finish its head or its body is closed);
//! [`door`] decides from the head who comes in, [`routes`] says what there is, and the SDK does the rest.

mod door;
mod routes;
pub(crate) mod tokens;

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::server::{MayWrite, Server, Where};
use super::{Options, desk, runtime};
use crate::context;
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;
use door::Door;
use routes::{Needs, ROUTES};
use tokens::{Scope, Tokens};

/// So many connections are served at a time; the next ones wait.
const MAX_CONNECTIONS: usize = 128;
/// A head that takes longer is not waited for.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// Nor is a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// The largest request: a memory, escaped, and what is around it.
const MAX_REQUEST: usize = 1 << 20;

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What every connection needs.
struct House {
    door: Door,
    service: StreamableHttpService<Server, LocalSessionManager>,
}

/// Serves hosts of this machine at an address, until the process is ended.
pub(crate) fn serve(options: Options, address: &str, new_tokens: bool) -> Result<Outcome, Failure> {
    let address = loopback(address)?;
    if desk::is_off() {
        return Err(Failure::refusal("memory is switched off by the environment"));
    }
    let home = context::environment(None, None).state_root()?;
    let unwritable = |err| Failure::error(format!("could not keep the tokens in {}: {err}", home.display()));
    let tokens = Tokens::load(&home, new_tokens).map_err(unwritable)?;
    runtime()?.block_on(async {
        let in_use = |err| Failure::error(format!("could not listen at {address}: {err}"));
        let listener = TcpListener::bind(address).await.map_err(in_use)?;
        let bound = listener.local_addr().map_err(in_use)?;
        Ui::complain(&format!(
            "memdir serves http://{bound}/mcp\ntoken: {}\ntoken that may only read: {}\n",
            tokens.write_file.display(),
            tokens.read_file.display()
        ));
        accept(listener, House::new(options, bound.port(), tokens)).await;
        Ok(Outcome::Done)
    })
}

/// Reads an address of this machine, which others cannot reach.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, Failure> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let address = local.or_else(|| text.parse().ok()).ok_or_else(|| {
        Failure::error(format!("`{text}` is no address"))
            .hint("write it like 127.0.0.1:0; 0 takes any free port")
    })?;
    if !address.ip().is_loopback() {
        return Err(Failure::error(format!("`{text}` can be reached from other machines"))
            .hint("memories are served to this machine only: use 127.0.0.1 or [::1]"));
    }
    Ok(address)
}

impl House {
    fn new(options: Options, port: u16, tokens: Tokens) -> Self {
        let make = move || Ok(Server::new(options.clone(), Where::Here));
        let config = StreamableHttpServerConfig::default().with_max_request_body_bytes(MAX_REQUEST);
        let service = StreamableHttpService::new(make, Arc::new(LocalSessionManager::default()), config);
        Self { door: Door::new(port, tokens), service }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (mut head, body) = request.into_parts();
        let admitted = match self.door.admit(&head) {
            Ok(admitted) => admitted,
            Err(status) => return turned_away(status, &head),
        };
        if admitted.route.needs == Needs::Nothing {
            return plain(StatusCode::OK, "ok");
        }
        let body = match read(&head, body).await {
            Ok(body) => body,
            Err(status) => return turned_away(status, &head),
        };
        head.extensions.insert(MayWrite(admitted.scope == Scope::Write));
        self.service.handle(Request::from_parts(head, Full::new(body))).await
    }
}

/// Reads a body, within its limits; only what is posted has one.
async fn read(head: &Parts, body: Incoming) -> Result<Bytes, StatusCode> {
    if head.method != Method::POST {
        return Ok(Bytes::new());
    }
    match tokio::time::timeout(BODY_PATIENCE, Limited::new(body, MAX_REQUEST).collect()).await {
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
        Ok(Err(err)) if err.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
}

async fn accept(listener: TcpListener, house: House) {
    let house = Arc::new(house);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let house = house.clone();
                tokio::spawn(async move {
                    talk(stream, house).await;
                    drop(place);
                });
            }
            // No descriptor left, most likely: others have to go first.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn talk(stream: TcpStream, house: Arc<House>) {
    let answer = service_fn(move |request| {
        let house = house.clone();
        async move { Ok::<_, Infallible>(house.answer(request).await) }
    });
    // Who breaks off or breaks the rules of HTTP has nobody else to blame.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// Turns a request away, in words that tell nothing about what is kept.
fn turned_away(status: StatusCode, head: &Parts) -> Answer {
    let mut answer = plain(status, status.canonical_reason().unwrap_or("refused"));
    if status == StatusCode::UNAUTHORIZED {
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let methods = ROUTES.iter().filter(|route| route.path == head.uri.path()).map(|route| route.method);
        let methods = methods.collect::<Vec<_>>().join(", ");
        answer.headers_mut().extend(HeaderValue::from_str(&methods).ok().map(|methods| (ALLOW, methods)));
    }
    answer
}
