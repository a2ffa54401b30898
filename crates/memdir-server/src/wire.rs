//! The bytes of a connection on their way in and out, watched.
//!
//! [`Watched`] lies between a socket and HTTP. Two programs that read one stream of bytes differently can be played against each other,
//! so heads must have one meaning only: [`Heads`] follows the bytes and notes what leaves room for another ([`Watched::oddity`] is asked
//! before a request is answered). And who does not take their answer is not waited for without end.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// A socket that is watched.
pub(crate) struct Watched<S> {
    socket: S,
    heads: Heads,
    is_odd: Arc<AtomicBool>,
    patience: Duration,
    /// Until when the other side must take something; `None` if it keeps up.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    /// Watches a socket; an answer of which nothing is taken for as long as this is given up.
    pub(crate) fn new(socket: S, patience: Duration) -> Self {
        Self { socket, heads: Heads::default(), is_odd: Arc::default(), patience, stalled: None }
    }

    /// Becomes true when something came in that could be read in two ways.
    pub(crate) fn oddity(&self) -> Arc<AtomicBool> {
        self.is_odd.clone()
    }

    /// Lets a write that waits go on waiting, but not for ever.
    fn within_patience<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let until = Instant::now() + self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep_until(until)));
        stalled.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let done = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if let Poll::Ready(Ok(())) = &done {
            self.heads.follow(&buffer.filled()[before..]);
            if self.heads.is_odd() {
                self.is_odd.store(true, Ordering::Relaxed);
            }
        }
        done
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.within_patience(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.socket).poll_write_vectored(cx, bytes);
        self.within_patience(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// The longest head that is followed, and that is taken. A longer one is odd.
pub(crate) const MAX_HEAD: usize = 64 << 10;

/// Where in a stream of requests one is.
#[derive(Debug)]
enum Place {
    /// In a head, of which this was read.
    Head(Vec<u8>),
    /// In a body, of which so many bytes are left.
    Body(u64),
    /// Where nothing can be told any more: after something odd, or in a body without a length, which ends the connection.
    Lost { is_odd: bool },
}

/// Follows the requests of a connection.
#[derive(Debug)]
pub(crate) struct Heads(Place);

impl Default for Heads {
    fn default() -> Self {
        Self(Place::Head(Vec::new()))
    }
}

impl Heads {
    /// Says whether something could be read in two ways.
    pub(crate) fn is_odd(&self) -> bool {
        matches!(self.0, Place::Lost { is_odd: true })
    }

    /// Goes on over the bytes that came next.
    pub(crate) fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match &mut self.0 {
                Place::Lost { .. } => return,
                Place::Body(left) => {
                    let skip = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= skip as u64;
                    bytes = &bytes[skip..];
                    if *left == 0 {
                        self.0 = Place::Head(Vec::new());
                    }
                }
                Place::Head(head) => {
                    let line =
                        bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
                    head.extend_from_slice(&bytes[..line]);
                    bytes = &bytes[line..];
                    let is_bare = head.ends_with(b"\n") && !head.ends_with(b"\r\n");
                    if is_bare || head.len() > MAX_HEAD {
                        self.0 = Place::Lost { is_odd: true };
                    } else if head.ends_with(b"\r\n\r\n") {
                        self.0 = after(head);
                    } else if head == b"\r\n" {
                        // An empty line before a request is allowed.
                        head.clear();
                    }
                }
            }
        }
    }
}

/// Says what follows a head.
fn after(head: &[u8]) -> Place {
    let odd = Place::Lost { is_odd: true };
    // What follows would be somebody else's.
    if head.starts_with(b"CONNECT ") {
        return odd;
    }
    let mut length = None;
    let mut is_chunked = false;
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // A return in the middle of a line, a line that goes on the one before.
        if line.contains(&b'\r') || line.starts_with(b" ") || line.starts_with(b"\t") {
            return odd;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (line[..colon].to_ascii_lowercase(), line[colon + 1..].trim_ascii());
        match name.trim_ascii() {
            b"content-length" if length.is_some() => return odd,
            b"content-length" => match read_length(value) {
                Some(read) => length = Some(read),
                None => return odd,
            },
            b"transfer-encoding" => is_chunked = true,
            _ => {}
        }
    }
    match (length, is_chunked) {
        (Some(_), true) => odd,
        (None, true) => Place::Lost { is_odd: false },
        (Some(0) | None, false) => Place::Head(Vec::new()),
        (Some(length), false) => Place::Body(length),
    }
}

fn read_length(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says whether a stream is odd, read at once and byte by byte.
    fn is_odd(stream: &str) -> bool {
        let (mut whole, mut bytes) = (Heads::default(), Heads::default());
        whole.follow(stream.as_bytes());
        stream.bytes().for_each(|byte| bytes.follow(&[byte]));
        assert_eq!(whole.is_odd(), bytes.is_odd(), "{stream:?}");
        whole.is_odd()
    }

    /// S18.
    #[test]
    fn what_could_be_read_in_two_ways_is_odd() {
        for odd in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length : 1\r\nContent-Length: 2\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n\n\nGET / HTTP/1.1\n",
            "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            assert!(is_odd(odd), "{odd:?}");
        }
        assert!(is_odd(&format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(MAX_HEAD))));
    }

    #[test]
    fn requests_with_one_meaning_are_followed_one_after_the_other() {
        for plain in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\n\n\n\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\n",
        ] {
            assert!(!is_odd(plain), "{plain:?}");
        }
    }
}
