//! Hears an answer while it passes, and has it looked at when it is over.

use std::sync::Arc;

use memdir_core::gateway::{Answer, Ear};
use memdir_server::gateway::{End, Hearer, Usage};
use tokio::runtime::Handle;

use super::passing::Passing;
use super::summing::Way;
use super::{Desk, after};

/// Listens to one answer.
#[derive(Debug)]
pub(super) struct Listening {
    ear: Ear,
    desk: Arc<Desk>,
    passing: Arc<Passing>,
    handle: Handle,
    /// The way that the request went, if more may be asked on it.
    way: Option<Way>,
}

impl Listening {
    pub(super) fn new(ear: Ear, desk: &Arc<Desk>, passing: &Arc<Passing>, way: Option<Way>) -> Self {
        Self { ear, desk: desk.clone(), passing: passing.clone(), handle: Handle::current(), way }
    }
}

impl Hearer for Listening {
    fn piece(&mut self, bytes: &[u8]) {
        self.ear.hear(bytes);
    }

    fn end(self: Box<Self>, end: End) -> Option<Usage> {
        let Self { ear, desk, passing, handle, way } = *self;
        let answer = ear.finish();
        let usage = took(&answer);
        if let Some(id) = &answer.id {
            desk.answered(id, passing.id());
        }
        // Half an answer is none: the client asks again.
        if end == End::Whole && answer.is_over {
            drop(handle.spawn_blocking(move || after::heard(&desk, &passing, &answer, way.as_ref())));
        }
        usage
    }
}

/// Says what an answer took, for the status page.
pub(super) fn took(answer: &Answer) -> Option<Usage> {
    let usage = answer.usage?;
    Some(Usage { input: usage.read(), cached: usage.cached, output: usage.output })
}
