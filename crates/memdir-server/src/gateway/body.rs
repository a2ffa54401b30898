//! Bodies on their way: up from a client, which must not dawdle, and down from an upstream, which may be heard.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Sleep, sleep};

use super::memory::{End, Hearer, Usage};
use super::packed::Unpacking;
use super::status::Record;

/// A client that sends nothing of its body for so long is not waited for,
const PATIENCE: Duration = Duration::from_secs(30);
/// nor one that after this time has sent fewer bytes a second than any line carries.
const LEAST_RATE: u64 = 512;

/// Why a body did not come whole.
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the body did not come in time")]
    Late,
    #[error("the body broke off, or is not well-formed")]
    Broken,
}

/// A body on its way up.
#[derive(Debug)]
pub(crate) enum Sent {
    /// All of it at once.
    Whole(Full<Bytes>),
    /// As it comes.
    Passing(Passing),
}

/// A body that comes from a client, whatever was read of it already first.
#[derive(Debug)]
pub(crate) struct Passing {
    read: VecDeque<Bytes>,
    rest: Incoming,
    /// Runs while the client is waited for.
    patience: Option<Pin<Box<Sleep>>>,
    began: Instant,
    n_came: u64,
}

/// A body that was to be held.
#[derive(Debug)]
pub(crate) enum Held {
    Whole(Bytes),
    /// It is larger than what is held, and goes on as it comes.
    TooLarge(Passing),
}

impl Passing {
    pub(crate) fn new(rest: Incoming) -> Self {
        Self { read: VecDeque::new(), rest, patience: None, began: Instant::now(), n_came: 0 }
    }

    /// Reads all of it, up to `limit` bytes.
    pub(crate) async fn hold(mut self, limit: usize) -> Result<Held, BodyError> {
        let mut n_read = 0;
        while let Some(frame) = std::future::poll_fn(|cx| self.poll_rest(cx)).await {
            // Trailers of a body that is read say nothing that is needed.
            if let Ok(bytes) = frame?.into_data() {
                n_read += bytes.len();
                self.read.push_back(bytes);
            }
            if n_read > limit {
                return Ok(Held::TooLarge(self));
            }
        }
        if self.read.len() == 1 {
            return Ok(Held::Whole(self.read.pop_front().unwrap_or_default()));
        }
        let mut whole = Vec::with_capacity(n_read);
        self.read.iter().for_each(|bytes| whole.extend_from_slice(bytes));
        Ok(Held::Whole(whole.into()))
    }

    /// Returns its length, where the client said it.
    pub(crate) fn exact(&self) -> Option<u64> {
        self.rest.size_hint().exact()
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.rest).poll_frame(cx) {
            self.patience = None;
            if let Some(Ok(bytes)) = frame.as_ref().map(|frame| frame.as_ref().map(Frame::data_ref)) {
                self.n_came += bytes.map_or(0, |bytes| bytes.len() as u64);
                if is_trickle(self.began.elapsed(), self.n_came) {
                    return Poll::Ready(Some(Err(BodyError::Late)));
                }
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(|_| BodyError::Broken)));
        }
        let patience = self.patience.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
        ready!(patience.as_mut().poll(cx));
        Poll::Ready(Some(Err(BodyError::Late)))
    }
}

/// Says whether so few bytes in so long a time are meant to hold a place rather than to arrive.
fn is_trickle(took: Duration, n_came: u64) -> bool {
    took > PATIENCE && n_came < took.as_secs() * LEAST_RATE
}

impl Body for Sent {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self.get_mut() {
            Self::Whole(body) => poll_whole(body, cx),
            Self::Passing(body) => match body.read.pop_front() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => body.poll_rest(cx),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Passing(body) => body.read.is_empty() && body.rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Passing(body) => {
                let n_read: u64 = body.read.iter().map(|bytes| bytes.len() as u64).sum();
                match body.rest.size_hint().exact() {
                    Some(rest) => SizeHint::with_exact(n_read + rest),
                    None => SizeHint::default(),
                }
            }
        }
    }
}

/// A body on its way down.
#[derive(Debug)]
pub(crate) enum Relayed {
    /// What the gateway itself says.
    Ours(Full<Bytes>),
    /// What an upstream says.
    Theirs(Box<Passed>),
}

/// Where the bytes of an answer come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// The upstream.
    Upstream(Incoming),
    /// Somebody who lets through what the client is to see.
    Served(mpsc::Receiver<Result<Bytes, hyper::Error>>),
    /// They are all there.
    Whole(Full<Bytes>),
}

impl Source {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self {
            Self::Upstream(body) => Pin::new(body).poll_frame(cx),
            Self::Served(pieces) => {
                pieces.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
            Self::Whole(body) => poll_whole(body, cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Upstream(body) => body.is_end_stream(),
            Self::Served(pieces) => pieces.is_closed() && pieces.is_empty(),
            Self::Whole(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Upstream(body) => body.size_hint(),
            Self::Served(_) => SizeHint::default(),
            Self::Whole(body) => body.size_hint(),
        }
    }
}

fn poll_whole<E>(body: &mut Full<Bytes>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, E>>> {
    Pin::new(body).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
}

/// An answer that passes, its place among the others, and what is written down of it when it ends.
#[derive(Debug)]
pub(crate) struct Passed {
    body: Source,
    ear: Option<Ear>,
    status: u16,
    record: Option<Record>,
    /// Why it broke off, for the next who asks.
    broken: Option<hyper::Error>,
    _place: OwnedSemaphorePermit,
}

impl Passed {
    pub(crate) fn new(
        body: Source,
        ear: Option<Ear>,
        status: u16,
        record: Record,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self { body, ear, status, record: Some(record), broken: None, _place: place }
    }

    fn end(&mut self, is_whole: bool) {
        let Some(mut record) = self.record.take() else { return };
        let end = match self.status {
            _ if !is_whole => End::Cut,
            200..300 => End::Whole,
            status => End::Status(status),
        };
        record.usage = self.ear.take().and_then(|ear| ear.end(end));
        record.end(end);
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        // Who is dropped before the end has a client that left, unless there was nothing more to come.
        let is_whole = self.body.is_end_stream();
        self.end(is_whole);
    }
}

impl Body for Relayed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let passed = match self.get_mut() {
            Self::Ours(body) => return poll_whole(body, cx),
            Self::Theirs(passed) => passed,
        };
        if let Some(err) = passed.broken.take() {
            return Poll::Ready(Some(Err(err)));
        }
        let frame = ready!(passed.body.poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    passed.record.iter_mut().for_each(|record| record.down += bytes.len() as u64);
                    passed.ear.iter_mut().for_each(|ear| ear.piece(bytes));
                }
            }
            Some(Err(_)) => passed.end(false),
            None => passed.end(true),
        }
        // What came before the break is still on its way: a connection that hears of it now drops what it has not written.
        if let Some(Err(err)) = frame {
            passed.broken = Some(err);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ours(body) => body.is_end_stream(),
            Self::Theirs(passed) => passed.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ours(body) => body.size_hint(),
            Self::Theirs(passed) => passed.body.size_hint(),
        }
    }
}

/// Somebody who hears an answer, and cannot disturb it.
#[derive(Debug)]
pub(crate) struct Ear {
    hearer: Option<Box<dyn Hearer>>,
    unpacking: Unpacking,
}

impl Ear {
    pub(crate) fn new(hearer: Box<dyn Hearer>, unpacking: Unpacking) -> Self {
        Self { hearer: Some(hearer), unpacking }
    }

    pub(crate) fn piece(&mut self, bytes: &[u8]) {
        let Self { hearer: Some(hearer), unpacking } = self else { return };
        let heard = catch_unwind(AssertUnwindSafe(|| unpacking.take(bytes, |plain| hearer.piece(plain))));
        if heard.is_err() {
            self.hearer = None;
        }
    }

    pub(crate) fn end(self, end: End) -> Option<Usage> {
        let hearer = self.hearer?;
        catch_unwind(AssertUnwindSafe(|| hearer.end(end))).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_line_is_no_trickle() {
        let seconds = Duration::from_secs;
        for (took, n_came, wanted) in [
            (seconds(29), 1, false),
            (seconds(31), 31, true),
            (seconds(31), 31 * LEAST_RATE, false),
            (seconds(600), 60 << 10, true),
            (seconds(600), 600 << 10, false),
        ] {
            assert_eq!(is_trickle(took, n_came), wanted, "{took:?} {n_came}");
        }
    }
}
