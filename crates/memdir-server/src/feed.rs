//! Waking those who wait for news of a team.
//!
//! A write of this process wakes them at once. What other processes write into the same database is noticed by one task, which
//! asks for the newest versions twice a second, and only while somebody waits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::storage::{Storage, TeamId};

/// How often other processes are asked about.
const PAUSE: Duration = Duration::from_millis(400);

/// Who waits for which team.
pub(crate) struct Waiting {
    teams: Mutex<HashMap<TeamId, watch::Sender<u64>>>,
    closing: watch::Sender<bool>,
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Self { teams: Mutex::default(), closing: watch::Sender::new(false) }
    }

    /// Begins to listen for news of a team. Whoever does so before reading misses nothing.
    pub(crate) fn listen(&self, team: TeamId) -> Listener {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        teams.retain(|_, news| news.receiver_count() > 0);
        let news = teams.entry(team).or_insert_with(|| watch::Sender::new(0)).subscribe();
        Listener { news, closing: self.closing.subscribe() }
    }

    /// Says that a team has come to this version.
    pub(crate) fn announce(&self, team: TeamId, seq: u64) {
        let teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(news) = teams.get(&team) {
            news.send_if_modified(|newest| {
                let is_news = *newest < seq;
                *newest = (*newest).max(seq);
                is_news
            });
        }
    }

    /// Lets everybody go, for good.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Returns how many wait.
    pub(crate) fn count(&self) -> usize {
        let teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        teams.values().map(watch::Sender::receiver_count).sum()
    }

    fn awaited(&self) -> Vec<TeamId> {
        let teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        teams.iter().filter(|(_, news)| news.receiver_count() > 0).map(|(team, _)| *team).collect()
    }

    /// Looks for what other processes wrote, until the future is dropped.
    pub(crate) async fn watch_others(&self, storage: &impl Storage) {
        loop {
            tokio::time::sleep(PAUSE).await;
            let teams = self.awaited();
            if teams.is_empty() {
                continue;
            }
            // A database that cannot answer now is asked again in a moment.
            let Ok(newest) = storage.newest(&teams).await else { continue };
            for (team, seq) in teams.into_iter().zip(newest) {
                self.announce(team, seq);
            }
        }
    }
}

/// One who waits.
pub(crate) struct Listener {
    news: watch::Receiver<u64>,
    closing: watch::Receiver<bool>,
}

impl Listener {
    /// Waits until the team has a version above `seq`; `false` if the server closes first.
    pub(crate) async fn above(&mut self, seq: u64) -> bool {
        tokio::select! {
            news = self.news.wait_for(|newest| *newest > seq) => news.is_ok(),
            _ = self.closing.wait_for(|is_closing| *is_closing) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(test: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test)
    }

    #[test]
    fn news_of_ones_team_wakes_and_other_news_does_not() {
        block_on(async {
            let waiting = Waiting::new();
            let mut listener = waiting.listen(TeamId(1));
            let _other = waiting.listen(TeamId(2));
            assert_eq!(waiting.count(), 2);
            waiting.announce(TeamId(2), 9);
            waiting.announce(TeamId(1), 3);
            let early = tokio::time::timeout(Duration::from_millis(20), listener.above(3)).await;
            assert!(early.is_err(), "version 3 is not above 3");
            waiting.announce(TeamId(1), 4);
            assert!(listener.above(3).await);
        });
    }

    #[test]
    fn everybody_goes_when_the_server_closes() {
        block_on(async {
            let waiting = Waiting::new();
            let mut listener = waiting.listen(TeamId(1));
            waiting.close();
            assert!(!listener.above(0).await);
            assert!(!waiting.listen(TeamId(1)).above(0).await, "also who comes later");
            drop(listener);
            assert_eq!(waiting.count(), 0);
        });
    }
}
