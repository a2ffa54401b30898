//! What a hook hands over to others: working memory, the queue.

use super::desk::{Answer, Desk};

impl Desk<'_> {
    pub(super) fn restoration(&self) -> String {
        String::new()
    }

    pub(super) fn before_compaction(&self) -> Answer {
        Answer::default()
    }

    pub(super) fn hand_over(&self) {}
}
