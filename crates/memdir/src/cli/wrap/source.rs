//! Which session is wrapped, and what its file tells.

use jiff::{SignedDuration, Timestamp};
use memdir_core::journal::Digest;
use memdir_store::journal::{About, Journal};
use memdir_store::transcript::{Session, Transcripts};

use crate::context::Context;
use crate::failure::Failure;

/// A session that nobody named is the current one only if its file was written this recently.
const CURRENT: SignedDuration = SignedDuration::from_hours(24);

/// Something the user said, and when.
pub(super) type Message = (Option<Timestamp>, String);

/// A session and what its file tells.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) about: About,
    pub(super) digest: Option<Digest>,
    /// What the user said since the session was last wrapped.
    pub(super) messages: Vec<Message>,
}

impl Source {
    /// Finds the session that is meant: the one that was named, or the newest. `needs_file` says that nobody told in
    /// words what was done, so that also an older session will do.
    pub(super) fn find(
        named: Option<&str>,
        needs_file: bool,
        journal: &Journal,
        context: &Context,
    ) -> Result<Self, Failure> {
        let sessions = Transcripts::of(&context.place).sessions();
        let is_meant = |session: &Session| match named {
            Some(id) => session.id.starts_with(id),
            None => needs_file || context.now.duration_since(session.modified) <= CURRENT,
        };
        let about = About { session: named.map(str::to_owned), ..About::default() };
        let Some(session) = sessions.into_iter().find(is_meant) else {
            return Ok(Self { about, ..Self::default() });
        };
        let unreadable = |err| Failure::error(format!("could not read {}: {err}", session.path().display()));
        let mut digest = Digest::default();
        session.turns().map_err(unreadable)?.for_each(|turn| digest.take(&turn));
        let wrapped = last_wrap(&session.id, journal)?;
        let is_new = |at: Option<Timestamp>| wrapped.is_none_or(|wrapped| at.is_none_or(|at| at > wrapped));
        let messages =
            digest.messages().filter(|(at, _)| is_new(*at)).map(|(at, text)| (at, text.to_owned())).collect();
        let about = About {
            session: Some(session.id.clone()),
            started: digest.started,
            ended: digest.ended,
            branch: digest.branch.clone(),
            agent: Some(session.host.word().to_owned()),
        };
        Ok(Self { about, digest: Some(digest), messages })
    }
}

/// Returns up to when a session was wrapped.
fn last_wrap(session: &str, journal: &Journal) -> Result<Option<Timestamp>, Failure> {
    let entries = journal.entries()?.map(|(_, entry)| entry);
    Ok(entries.filter(|entry| entry.session.as_deref() == Some(session)).filter_map(|entry| entry.at()).max())
}
