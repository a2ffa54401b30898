//! Both ends of the gateway, byte by byte: an upstream that keeps what it was sent, and a client that keeps what it was answered.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Only a gateway that hangs takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A request as an upstream got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Its head as it came, with the empty line.
    pub(crate) head: String,
    /// Its body, without the marks of chunks.
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// Its first line.
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }
}

type Answer = dyn Fn(&Seen, &mut TcpStream) -> io::Result<()> + Send + Sync;

/// A service that says what a test tells it to, and goes away when it is dropped.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    n_connections: Arc<Mutex<usize>>,
}

impl Upstream {
    /// Answers every request by `answer`; an error of it closes the connection.
    pub(crate) fn start(
        answer: impl Fn(&Seen, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, n_connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let upstream = Self { address, seen: seen.clone(), n_connections: n_connections.clone() };
        let answer: Arc<Answer> = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                *n_connections.lock().unwrap() += 1;
                let (seen, answer) = (seen.clone(), answer.clone());
                thread::spawn(move || drop(serve(stream, &seen, &*answer)));
            }
        });
        upstream
    }

    /// Answers every request with the same bytes.
    pub(crate) fn saying(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::start(move |_, stream| stream.write_all(&bytes))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request up to now.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn n_connections(&self) -> usize {
        *self.n_connections.lock().unwrap()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Seen>>, answer: &Answer) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut rest = Vec::new();
    while let Some(head) = read_head(&mut stream, &mut rest)? {
        let body = read_body(&mut stream, &mut rest, &head)?;
        let request = Seen { head, body };
        seen.lock().unwrap().push(request.clone());
        answer(&request, &mut stream)?;
    }
    Ok(())
}

/// Reads up to an empty line; nothing if the other side is gone.
fn read_head(stream: &mut TcpStream, rest: &mut Vec<u8>) -> io::Result<Option<String>> {
    loop {
        if let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = rest.drain(..end + 4).collect();
            return Ok(Some(String::from_utf8(head).unwrap()));
        }
        if more(stream, rest)? == 0 {
            return Ok(None);
        }
    }
}

fn read_body(stream: &mut TcpStream, rest: &mut Vec<u8>, head: &str) -> io::Result<Vec<u8>> {
    if header(head, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return read_chunks(stream, rest);
    }
    let length = header(head, "content-length").map_or(0, |value| value.parse().unwrap());
    take(stream, rest, length)
}

fn read_chunks(stream: &mut TcpStream, rest: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(stream, rest)?;
        let size =
            usize::from_str_radix(&line, 16).map_err(|_| io::Error::other(format!("chunk {line:?}")))?;
        if size == 0 {
            while !read_line(stream, rest)?.is_empty() {}
            return Ok(body);
        }
        body.extend(take(stream, rest, size)?);
        assert_eq!(read_line(stream, rest)?, "");
    }
}

fn read_line(stream: &mut TcpStream, rest: &mut Vec<u8>) -> io::Result<String> {
    loop {
        if let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let line: Vec<u8> = rest.drain(..end + 2).collect();
            return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
        }
        if more(stream, rest)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn take(stream: &mut TcpStream, rest: &mut Vec<u8>, n: usize) -> io::Result<Vec<u8>> {
    while rest.len() < n {
        if more(stream, rest)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(rest.drain(..n).collect())
}

fn more(stream: &mut TcpStream, rest: &mut Vec<u8>) -> io::Result<usize> {
    let mut piece = [0; 16 << 10];
    let n = stream.read(&mut piece)?;
    rest.extend_from_slice(&piece[..n]);
    Ok(n)
}

/// Returns the value of a header in a head.
pub(crate) fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let lines = head.lines().skip(1);
    lines
        .filter_map(|line| line.split_once(':'))
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

/// An answer as a client got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The body ended as its head said it would.
    pub(crate) is_whole: bool,
}

impl Answered {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A client with one connection.
pub(crate) struct Client {
    stream: TcpStream,
    rest: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, rest: Vec::new() }
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // Who is turned away early may find the door closed.
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Reads an answer to a request with this method.
    pub(crate) fn answer_to(&mut self, method: &str) -> Option<Answered> {
        let head = read_head(&mut self.stream, &mut self.rest).ok()??;
        let status: u16 = head.split_whitespace().nth(1)?.parse().unwrap();
        let has_no_body = method == "HEAD" || status == 204 || status == 304 || status < 200;
        let (body, is_whole) = if has_no_body { (Vec::new(), true) } else { self.body(&head) };
        Some(Answered { status, head, body, is_whole })
    }

    pub(crate) fn answer(&mut self) -> Option<Answered> {
        self.answer_to("POST")
    }

    fn body(&mut self, head: &str) -> (Vec<u8>, bool) {
        let mut body = Vec::new();
        if header(head, "transfer-encoding").is_none() {
            let length: usize = header(head, "content-length").map_or(0, |value| value.parse().unwrap());
            while self.rest.len() < length && more(&mut self.stream, &mut self.rest).is_ok_and(|n| n > 0) {}
            let there = self.rest.len().min(length);
            return (self.rest.drain(..there).collect(), there == length);
        }
        loop {
            let Ok(line) = read_line(&mut self.stream, &mut self.rest) else { return (body, false) };
            let size = usize::from_str_radix(&line, 16).unwrap();
            if size == 0 {
                let ended = read_line(&mut self.stream, &mut self.rest);
                return (body, ended.is_ok_and(|line| line.is_empty()));
            }
            while self.rest.len() < size + 2 && more(&mut self.stream, &mut self.rest).is_ok_and(|n| n > 0) {}
            let there = self.rest.len().min(size);
            body.extend(self.rest.drain(..there));
            if there < size || self.rest.len() < 2 {
                return (body, false);
            }
            self.rest.drain(..2);
        }
    }

    /// Reads the next bytes, whatever they are.
    pub(crate) fn some(&mut self) -> Vec<u8> {
        if self.rest.is_empty() {
            let _ = more(&mut self.stream, &mut self.rest);
        }
        std::mem::take(&mut self.rest)
    }

    /// Reads all that comes until the other side closes.
    pub(crate) fn all(&mut self) -> Vec<u8> {
        let _ = self.stream.read_to_end(&mut self.rest);
        std::mem::take(&mut self.rest)
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A whole answer with a length.
pub(crate) fn plain(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The head of a stream of events.
pub(crate) const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A piece of a stream.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}
