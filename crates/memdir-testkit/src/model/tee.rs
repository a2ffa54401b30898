//! Somebody who stands in between, hands everything on as it comes, and keeps it.
//!
//! Two [`Tee`]s, one on each side of a proxy, show what that proxy does to the bytes of both directions, whoever its clients
//! are. One connection carries one request here: whoever asks is told so, and asks again on another one.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::http;
use super::request::Request;
use super::server::Connection;

/// Hands requests and answers on and keeps both; it goes away when it is dropped.
#[derive(Debug)]
pub struct Tee {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    target: SocketAddr,
    exchanges: Mutex<Vec<Exchange>>,
    is_over: AtomicBool,
}

/// A request and its answer.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// What was asked.
    pub request: Request,
    answer: Vec<u8>,
}

impl Exchange {
    /// The status of the answer; 0 if there was none.
    pub fn status(&self) -> u16 {
        let head = String::from_utf8_lossy(&self.answer[..self.answer.len().min(64)]).into_owned();
        head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// The body of the answer, without the marks of chunks; as much of it as came, for clients leave when they know all.
    pub fn answer(&self) -> Vec<u8> {
        let mut rest = self.answer.as_slice();
        let head = http::read_head(&mut rest).unwrap_or_default();
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            return without_marks(rest);
        }
        rest.to_vec()
    }
}

/// The bytes in chunks, up to where they break off.
fn without_marks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0) else { break };
        rest = &rest[end + 2..];
        body.extend_from_slice(&rest[..size.min(rest.len())]);
        rest = rest.get(size + 2..).unwrap_or_default();
    }
    body
}

impl Tee {
    /// Stands before whoever listens at this address.
    pub fn before(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { target, exchanges: Mutex::default(), is_over: AtomicBool::new(false) });
        let tee = Self { address, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // Who leaves in the middle leaves what came until then.
                thread::spawn(move || drop(hand_on(client, &shared)));
            }
        });
        tee
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same, as clients want it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that passed, in the order in which it was asked.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.lock().clone()
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request, and returns which one it is.
    fn keep(&self, request: Request) -> usize {
        let mut exchanges = self.lock();
        exchanges.push(Exchange { request, answer: Vec::new() });
        exchanges.len() - 1
    }

    /// Keeps a piece of an answer.
    fn keep_answer(&self, at: usize, piece: &[u8]) {
        self.lock()[at].answer.extend_from_slice(piece);
    }
}

fn hand_on(client: TcpStream, shared: &Shared) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut client = Connection::new(client)?;
    let Some(request) = http::read_request(&mut client)? else { return Ok(()) };
    let mut target = TcpStream::connect(shared.target)?;
    target.set_nodelay(true)?;
    target.write_all(&onward(&request, shared.target))?;
    let at = shared.keep(request);
    let mut target = BufReader::new(target);
    let head = http::read_head(&mut target)?;
    shared.keep_answer(at, head.as_bytes());
    client.write_all(said_to_be_the_last(&head).as_bytes())?;
    let mut piece = [0; 16 << 10];
    loop {
        let n = target.read(&mut piece)?;
        if n == 0 {
            return Ok(());
        }
        shared.keep_answer(at, &piece[..n]);
        client.write_all(&piece[..n])?;
    }
}

/// A request as it goes on: to another host, alone on its connection, else as it came.
fn onward(request: &Request, target: SocketAddr) -> Vec<u8> {
    let mut head = format!(
        "{} {} HTTP/1.1\r\nhost: {target}\r\nconnection: close\r\n",
        request.method(),
        request.path()
    );
    let is_ours = |name: &str| {
        matches!(name, "host" | "connection" | "expect" | "transfer-encoding" | "content-length")
    };
    for (name, value) in request.headers().iter().filter(|(name, _)| !is_ours(name)) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if request.method() != "GET" && request.method() != "HEAD" {
        head.push_str(&format!("content-length: {}\r\n", request.bytes().len()));
    }
    [format!("{head}\r\n").as_bytes(), request.bytes()].concat()
}

/// The head of an answer, which says that no other follows it.
fn said_to_be_the_last(head: &str) -> String {
    let (first, rest) = head.split_once("\r\n").unwrap_or((head, "\r\n"));
    let lines = rest.lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let kept: String = lines.map(|line| format!("{line}\r\n")).collect();
    format!("{first}\r\nConnection: close\r\n{kept}")
}
