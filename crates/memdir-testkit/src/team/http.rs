//! A client of HTTP/1.1 over a plain socket, which can also say what no good client says.
//!
//! [`Ask`] is a request that is well formed but for what a test puts into it; [`Connection`] sends it and reads an [`Answer`], or sends
//! bytes as they are. Nothing is retried and no redirect is followed.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Only a server that hangs takes longer.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A request.
#[derive(Clone)]
pub struct Ask {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Ask {
    /// A request without a body. `target` is the path with its query.
    pub fn new(method: &str, target: &str) -> Self {
        Self { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body: None }
    }

    /// Sets a header, in place of an earlier value. `Host` and `Content-Length` are sent unless they are set here.
    pub fn header(self, name: &str, value: &str) -> Self {
        let mut ask = self.without(name);
        ask.headers.push((name.to_owned(), value.to_owned()));
        ask
    }

    /// Adds a header beside an earlier one of the same name.
    pub fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes a header away.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sends a token.
    pub fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// Sends a body of this kind.
    pub fn body(self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut ask = self.header("Content-Type", kind);
        ask.body = Some(body.into());
        ask
    }

    /// Sends a value as JSON.
    pub fn json(self, value: &Value) -> Self {
        self.body("application/json", value.to_string())
    }

    /// The request as it is sent to a host of this name.
    pub fn bytes(&self, host: &str) -> Vec<u8> {
        let is_set = |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        if !is_set("Host") {
            head.push_str(&format!("Host: {host}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = self.body.as_deref().unwrap_or_default();
        let has_length = is_set("Content-Length") || is_set("Transfer-Encoding");
        if self.body.is_some() && !has_length {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        [head.as_bytes(), body].concat()
    }
}

impl std::fmt::Debug for Ask {
    /// Leaves the body out, which may be large.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n_bytes = self.body.as_ref().map_or(0, Vec::len);
        write!(f, "{} {} {:?} {n_bytes} bytes", self.method, self.target, self.headers)
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as it came.
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|err| panic!("not JSON: {err}\n{}", self.text()))
    }

    /// Panics unless the status is this one.
    #[track_caller]
    pub fn want(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// The word that programs decide by, if it is an error.
    pub fn code(&self) -> String {
        serde_json::from_slice(&self.body)
            .ok()
            .and_then(|body: Value| body["error"]["code"].as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

/// A connection that stays open as long as the server wants.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    /// Connects to a port of this machine.
    pub fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), host: format!("127.0.0.1:{port}") })
    }

    /// Sends a request and reads its answer.
    pub fn ask(&mut self, ask: &Ask) -> io::Result<Answer> {
        let sent = self.send(&ask.bytes(&self.host));
        // A server that turns a body away may close before it has read all of it, and has answered nevertheless.
        self.answer()?.map_or_else(|| sent.and(Err(io::ErrorKind::UnexpectedEof.into())), Ok)
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Reads the next answer; nothing if the server has closed.
    pub fn answer(&mut self) -> io::Result<Option<Answer>> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let status = line.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status: {line:?}")))?;
        let headers = self.headers()?;
        let body = match status {
            100..200 | 204 | 304 => Vec::new(),
            _ => self.body(&headers)?,
        };
        // What only says to go on is no answer.
        if status == 100 { self.answer() } else { Ok(Some(Answer { status, headers, body })) }
    }

    /// Reads every answer until the server closes.
    pub fn answers(&mut self) -> Vec<Answer> {
        std::iter::from_fn(|| self.answer().ok().flatten()).collect()
    }

    /// Says whether the server has closed, waiting for it; whatever it says before is read away.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(err) => !matches!(err.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
        }
    }

    fn headers(&mut self) -> io::Result<Vec<(String, String)>> {
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(headers) };
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// Our server says how long its bodies are; where it does not, the body ends with the connection.
    fn body(&mut self, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
        let length =
            headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse());
        let mut body = Vec::new();
        match length {
            Some(length) => {
                body.resize(length.map_err(io::Error::other)?, 0);
                self.stream.read_exact(&mut body)?;
            }
            None => {
                self.stream.read_to_end(&mut body)?;
            }
        }
        Ok(body)
    }
}
