//! The listener: a thread a connection, rules and requests behind a lock.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::request::{Api, Request};
use super::rule::{Answer, Rule, pick};
use super::{anthropic, chat, gemini, http, responses};

/// A model that listens on loopback and says what it was told to say; it goes away when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    requests: Vec<Request>,
    n_answered: usize,
    claimed: Claimed,
}

/// What the answers of a server claim to have taken, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Claimed {
    /// Read, also from the cache.
    pub input: u64,
    /// Of those, read from the cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

impl ModelServer {
    /// Starts to listen on a free port.
    pub fn start(rules: Vec<Rule>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let server = Self { address, shared: Arc::clone(&shared) };
        server.follow(rules);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A client that goes away in the middle is no affair of the test.
                thread::spawn(move || drop(serve(stream, &shared)));
            }
        });
        server
    }

    /// Follows these rules from now on, in place of the earlier ones, and counts requests from one again.
    pub fn follow(&self, rules: Vec<Rule>) {
        let mut state = self.shared.lock();
        state.rules = rules;
        state.n_answered = 0;
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same, as clients want it, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request that wanted a model's answer, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.all_requests().into_iter().filter(|request| request.api().is_some()).collect()
    }

    /// The requests that offered tools: what the agent asked for its user, without titles and summaries.
    pub fn turns(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| !request.tools().is_empty()).collect()
    }

    /// Every request, also those for lists of models and the like.
    pub fn all_requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// What its whole answers claim to have taken, up to now.
    pub fn claimed(&self) -> Claimed {
        self.shared.lock().claimed
    }

    /// Forgets the requests up to now.
    pub fn forget(&self) {
        self.shared.lock().requests.clear();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request and decides on its answer, both at once: requests count in the order in which they are answered.
    fn answer(&self, request: &Request) -> Answer {
        let mut state = self.lock();
        state.n_answered += 1;
        let number = state.n_answered;
        let answer = pick(&mut state.rules, request, number);
        state.requests.push(request.clone());
        let is_whole =
            answer.refusal.is_none() && answer.mishap.cut.is_none() && answer.mishap.garbled.is_none();
        if is_whole {
            let usage = answer.usage(request.raw().len());
            state.claimed.input += usage.input + usage.cached;
            state.claimed.cached += usage.cached;
            state.claimed.output += usage.output;
        }
        answer
    }
}

/// Makes an id that no other message, call or item of this process has.
pub(super) fn fresh_id(kind: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    format!("{kind}_{:06}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Both halves of a connection, so that one reader can also write.
#[derive(Debug)]
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        Ok(Self { reader: BufReader::new(stream.try_clone()?), writer: stream })
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl io::BufRead for Connection {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.reader.consume(amount);
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Answers requests until the other side closes the connection.
fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection::new(stream)?;
    while let Some(request) = http::read_request(&mut connection)? {
        let is_last = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        match request.api() {
            Some(api) => converse(&mut connection, api, &request, &shared.answer(&request))?,
            None => {
                let (status, body) = aside(&request);
                let with_body = request.method() != "HEAD";
                shared.lock().requests.push(request);
                http::send_json(&mut connection, status, &body, with_body)?;
            }
        }
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Sends an answer in the dialect of its request.
fn converse(stream: &mut impl Write, api: Api, request: &Request, answer: &Answer) -> io::Result<()> {
    if let Some(delay) = answer.mishap.delay {
        thread::sleep(delay);
    }
    if let Some(status) = answer.refusal {
        let key = request.header("x-api-key").or_else(|| request.header("authorization")).unwrap_or_default();
        let words = answer.mishap.words.as_deref().unwrap_or("scripted").replace("{key}", key);
        let error = json!({"type": "error", "error": {"type": "api_error", "message": words}});
        return http::send_json_with(stream, status, &answer.mishap.headers, &error, true);
    }
    let is_stream =
        request.body()["stream"] == Value::Bool(true) || request.path().contains(":streamGenerateContent");
    if is_stream {
        let events = match api {
            Api::Anthropic => anthropic::events(request, answer),
            Api::Responses => responses::events(request, answer),
            Api::Chat => chat::events(request, answer),
            Api::Gemini => gemini::events(request, answer),
        };
        return http::send_events(stream, &events, &answer.mishap);
    }
    let whole = match api {
        Api::Anthropic => anthropic::whole(request, answer),
        Api::Responses => responses::whole(request, answer),
        Api::Chat => chat::whole(request, answer),
        Api::Gemini => gemini::whole(request, answer),
    };
    http::send_json(stream, 200, &whole, true)
}

/// Answers what is not a question to the model: counts, lists, greetings, attempts at a web socket.
fn aside(request: &Request) -> (u16, Value) {
    let path = request.path().split('?').next().unwrap_or_default();
    let n_tokens = (request.raw().len() / 4).max(1);
    if path.ends_with("/messages/count_tokens") {
        return (200, json!({"input_tokens": n_tokens}));
    }
    if path.ends_with(":countTokens") {
        return (200, json!({"totalTokens": n_tokens}));
    }
    if request.header("upgrade").is_some() || request.method() == "GET" && path.ends_with("/responses") {
        // Any other refusal makes clients try again for seconds before they speak plain HTTP.
        return (426, json!({"error": {"message": "no web sockets here"}}));
    }
    if request.method() == "GET" && path.ends_with("/models") {
        return (200, json!({"object": "list", "data": [], "has_more": false, "models": []}));
    }
    if matches!(request.method(), "GET" | "HEAD") && matches!(path, "/" | "/api/hello") {
        return (200, json!({}));
    }
    (404, json!({"type": "error", "error": {"type": "not_found_error", "message": path}}))
}
