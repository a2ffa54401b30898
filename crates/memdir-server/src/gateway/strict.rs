//! A connection from which nothing comes that two readers could read in two ways.
//!
//! The bytes pass as they are, up to the first that breaks a rule of [`Framing`]. In its place comes a NUL, which stands in no
//! head and in no size of a chunk, so that the reader behind answers with a refusal and closes; after it nothing comes any more.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::framing::Framing;

/// A connection whose bytes are followed.
#[derive(Debug)]
pub(crate) struct Strict {
    stream: TcpStream,
    framing: Framing,
    is_broken: bool,
}

impl Strict {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, framing: Framing::default(), is_broken: false }
    }
}

impl AsyncRead for Strict {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_broken {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if let Err(at) = self.framing.take(&buf.filled()[before..]) {
            buf.set_filled(before + at);
            // There is room for it: the byte that it stands for is gone.
            buf.put_slice(&[0]);
            self.is_broken = true;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Strict {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
