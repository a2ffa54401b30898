//! Decides whether a vault may dream.
//!
//! A dream reads every memory and may change many, so it is gated: enough time must have passed, enough sessions must have
//! been held, and a fault is not tried again at once. This module only decides. It is handed the state and the time;
//! taking the lock and running the dream is the caller's part.

use jiff::{SignedDuration, Timestamp};

/// What a vault's dreams have been so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rest {
    /// When the last one was.
    pub last: Option<Timestamp>,
    /// How many sessions there were since.
    pub n_sessions: usize,
    /// Before this, what failed is not tried again.
    pub retry: Option<Timestamp>,
}

/// How much must have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time between two dreams.
    pub rest: SignedDuration,
    /// The sessions between two dreams.
    pub min_sessions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rest: SignedDuration::from_hours(24), min_sessions: 5 }
    }
}

/// Whether a vault may dream, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Dream,
    /// The last one was not long enough ago.
    TooSoon {
        /// From when on it may.
        until: Timestamp,
    },
    /// Too few sessions were held since.
    TooQuiet {
        /// How many there were.
        n_sessions: usize,
        /// How many there must be.
        needed: usize,
    },
    /// The last attempt failed a short time ago.
    Resting {
        /// From when on it is tried again.
        until: Timestamp,
    },
}

/// Says whether a vault may dream at `now`.
pub fn decide(rest: &Rest, limits: &Limits, now: Timestamp) -> Decision {
    if let Some(until) = rest.retry.filter(|until| now < *until) {
        return Decision::Resting { until };
    }
    if let Some(until) = rest.last.and_then(|last| last.checked_add(limits.rest).ok())
        && now < until
    {
        return Decision::TooSoon { until };
    }
    if rest.n_sessions < limits.min_sessions {
        return Decision::TooQuiet { n_sessions: rest.n_sessions, needed: limits.min_sessions };
    }
    Decision::Dream
}

impl Limits {
    /// Returns how long a vault rests after `n_failures` faults in a row: an hour, then twice as long each time, up to a day.
    pub fn pause(n_failures: u32) -> SignedDuration {
        SignedDuration::from_hours((1 << n_failures.saturating_sub(1).min(5)).min(24))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn dr_01_a_day_must_have_passed() {
        let rest = Rest { last: Some(at("2026-03-02T12:00:00Z")), n_sessions: 9, retry: None };
        let decided = |now| decide(&rest, &Limits::default(), at(now));
        assert_eq!(decided("2026-03-03T11:00:00Z"), Decision::TooSoon { until: at("2026-03-03T12:00:00Z") });
        assert_eq!(decided("2026-03-03T12:00:00Z"), Decision::Dream);
    }

    #[test]
    fn dr_02_five_sessions_must_have_been_held() {
        let decided = |n_sessions| {
            decide(&Rest { n_sessions, ..Rest::default() }, &Limits::default(), at("2026-03-02T12:00:00Z"))
        };
        assert_eq!(decided(4), Decision::TooQuiet { n_sessions: 4, needed: 5 });
        assert_eq!(decided(5), Decision::Dream);
    }

    #[test]
    fn dr_14_after_a_fault_it_rests_longer_each_time() {
        let rest = Rest { n_sessions: 9, retry: Some(at("2026-03-02T13:00:00Z")), ..Rest::default() };
        let decided = |now| decide(&rest, &Limits::default(), at(now));
        assert_eq!(decided("2026-03-02T12:59:59Z"), Decision::Resting { until: at("2026-03-02T13:00:00Z") });
        assert_eq!(decided("2026-03-02T13:00:00Z"), Decision::Dream);
        let hours = |n| Limits::pause(n).as_hours();
        assert_eq!([hours(1), hours(2), hours(5), hours(60)], [1, 2, 16, 24]);
    }
}
