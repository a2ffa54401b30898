//! As much of HTTP/1.1 as agents need: requests with a length or in chunks, answers whole or as server-sent events.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

use super::request::Request;
use super::rule::Mishap;

/// No agent sends more than this, so a length beyond it is a mistake of the reader.
const MAX_BODY: usize = 64 << 20;

/// An event of a stream: its name where the dialect has names, and its data.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) data: String,
}

impl Event {
    /// An event whose name also stands in its data as `type`.
    pub(super) fn named(data: Value) -> Self {
        let name = data["type"].as_str().map(str::to_owned);
        Self { name, data: data.to_string() }
    }

    /// The event as it is sent.
    fn text(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data)
    }

    /// An event without a name.
    pub(super) fn plain(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }
}

/// Reads the next request of a connection; nothing when the other side has closed it.
pub(super) fn read_request(stream: &mut (impl BufRead + Write)) -> io::Result<Option<Request>> {
    let first = read_line(stream)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header =
        |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    if header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        read_chunks(stream)?
    } else {
        let length = header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        read_exactly(stream, length)?
    };
    Ok(Some(Request::new(method, path, headers, body)))
}

/// Reads the head of an answer, with the empty line.
pub(super) fn read_head(stream: &mut impl BufRead) -> io::Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

/// Sends one JSON document with its length.
pub(super) fn send_json(
    stream: &mut impl Write,
    status: u16,
    body: &Value,
    with_body: bool,
) -> io::Result<()> {
    send_json_with(stream, status, &[], body, with_body)
}

/// Sends one JSON document with its length and further headers.
pub(super) fn send_json_with(
    stream: &mut impl Write,
    status: u16,
    headers: &[(String, String)],
    body: &Value,
    with_body: bool,
) -> io::Result<()> {
    let text = body.to_string();
    let length = text.len();
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(
        stream,
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n",
        reason(status)
    )?;
    if with_body {
        stream.write_all(text.as_bytes())?;
    }
    stream.flush()
}

/// Sends a stream of events, one chunk each, with whatever goes wrong on the way.
pub(super) fn send_events(stream: &mut impl Write, events: &[Event], mishap: &Mishap) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n\
          Transfer-Encoding: chunked\r\n\r\n",
    )?;
    let mut left = mishap.cut.unwrap_or(usize::MAX);
    let texts: Vec<String> = match &mishap.garbled {
        Some(text) => vec![text.clone()],
        None => events.iter().map(Event::text).collect(),
    };
    for text in texts {
        if let Some(pause) = mishap.trickle {
            std::thread::sleep(pause);
        }
        let piece = &text.as_bytes()[..text.len().min(left)];
        left -= piece.len();
        // A chunk without length would end the stream in good order.
        if !piece.is_empty() {
            write!(stream, "{:x}\r\n", piece.len())?;
            stream.write_all(piece)?;
            stream.write_all(b"\r\n")?;
            stream.flush()?;
        }
        if left == 0 {
            return Err(io::Error::other("broken off, as scripted"));
        }
    }
    stream.write_all(b"0\r\n\r\n")?;
    stream.flush()
}

fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn read_chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(stream)?;
        let length = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16)
            .map_err(|_| io::Error::other(format!("not the length of a chunk: {line}")))?;
        if length == 0 {
            while !read_line(stream)?.is_empty() {}
            return Ok(body);
        }
        body.extend(read_exactly(stream, length)?);
        read_line(stream)?;
    }
}

fn read_exactly(stream: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(io::Error::other(format!("a body of {length} bytes")));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        404 => "Not Found",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        _ => "Scripted",
    }
}
