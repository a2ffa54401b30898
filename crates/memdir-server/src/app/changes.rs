//! The feed: what is new since a cursor, now or when it happens.

use std::time::Duration;

use memdir_core::team::wire::{Change, Changes, MAX_BATCH, MAX_CHANGES, MAX_WAIT};
use tokio::time::Instant;

use super::{App, Call};
use crate::answer::{Answer, Handled, Problem};
use crate::rules;
use crate::storage::{Feed, Page, Storage};

/// How many entries a page has if nothing is said.
const USUAL: u64 = 500;

impl<S: Storage> App<S> {
    pub(super) async fn changes(&self, call: &Call) -> Handled {
        let (since, is_first_walk) = rules::read_cursor(call.number("since", 0)?);
        let limit = call.number("limit", USUAL)?.clamp(1, MAX_CHANGES as u64);
        let wait = Duration::from_secs(call.number("wait", 0)?.min(MAX_WAIT));
        let page = Page {
            since,
            is_first_walk,
            limit: usize::try_from(limit).unwrap_or(MAX_CHANGES),
            with_text: call.query.flag("text"),
            max_bytes: MAX_BATCH,
        };
        let feed = self.await_news(call, page, wait).await?;
        let cursor = rules::next_cursor(feed.cursor, is_first_walk, feed.more);
        let changes = feed.entries.into_iter().map(|(path, stored)| Change {
            path,
            seq: stored.state.seq,
            hash: stored.state.hash,
            size: stored.state.size,
            author: stored.state.author,
            at: stored.state.at,
            deleted: stored.state.deleted,
            erased: stored.state.erased,
            text: stored.text,
        });
        Answer::json(200, &Changes { changes: changes.collect(), cursor, more: feed.more })
    }

    /// Reads a page; if there is nothing in it, waits until there is, or the time is over, or the server closes.
    async fn await_news(&self, call: &Call, mut page: Page, wait: Duration) -> Result<Feed, Problem> {
        let (team, project) = (call.bearer()?.team.id, call.project()?);
        if wait.is_zero() {
            return Ok(self.storage.changes(team, &project, &page).await?);
        }
        let until = Instant::now() + wait;
        let mut listener = self.waiting.listen(team);
        loop {
            let feed = self.storage.changes(team, &project, &page).await?;
            if !feed.entries.is_empty() {
                return Ok(feed);
            }
            let has_news = tokio::time::timeout_at(until, listener.above(feed.cursor)).await;
            if has_news != Ok(true) {
                return Ok(feed);
            }
            // What happened was elsewhere in the team up to here.
            (page.since, page.is_first_walk) = (feed.cursor, feed.cursor == 0);
        }
    }
}
