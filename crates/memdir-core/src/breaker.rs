//! When a service that fails is left alone, and for how long.
//!
//! Three failures in a row open a breaker: nobody asks the service until a pause is over. Then one caller may try, once;
//! an answer closes the breaker, another failure opens it for twice as long, up to a bound. This module only decides. It
//! is handed the [`State`] of one service and the time; keeping the state, for all processes together, is the caller's
//! part. Look at [`admit`], then at [`settle`].

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// So many failures in a row open the breaker.
pub const MAX_FAILURES: u32 = 3;
/// The first pause.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);
/// No pause is longer: a service that is back is found out within half a working day, and one that is gone costs at
/// most a dozen tries in its first day.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(4);
/// A try that says nothing for so long was killed, and somebody else may try.
const LONGEST_TRY: SignedDuration = SignedDuration::from_mins(10);

/// What is known of one service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// Failures since the last answer.
    pub failures: u32,
    /// When the breaker opened, if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Timestamp>,
    /// How often it opened again without an answer in between.
    #[serde(default)]
    pub reopened: u32,
    /// When somebody began to try whether the service is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trying: Option<Timestamp>,
    /// Whether the user was told that it is open.
    #[serde(default)]
    pub told: bool,
}

/// Whether a service may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Yes, and so many attempts may be made before the breaker opens.
    Ask {
        /// How many.
        attempts: u32,
    },
    /// Yes, once: whether the service is back depends on it.
    Try,
    /// No, not before this time.
    Rest {
        /// When to ask again.
        until: Timestamp,
    },
}

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// An answer, at last.
    Answered,
    /// So many attempts failed, and none was answered.
    Failed {
        /// How many.
        attempts: u32,
    },
    /// It was not asked after all.
    Untried,
}

/// Says whether a service in this `state` may be asked at `now`, and what its state is then.
pub fn admit(state: &State, now: Timestamp) -> (Admission, State) {
    let Some(opened) = state.opened else {
        return (Admission::Ask { attempts: MAX_FAILURES.saturating_sub(state.failures).max(1) }, *state);
    };
    // A clock that was set back must not keep the service shut until it has caught up.
    let opened = opened.min(now);
    let until = later(opened, pause(state.reopened));
    if now < until {
        return (Admission::Rest { until }, State { opened: Some(opened), ..*state });
    }
    if let Some(began) = state.trying
        && began <= now
        && now < later(began, LONGEST_TRY)
    {
        return (Admission::Rest { until: later(began, LONGEST_TRY) }, *state);
    }
    (Admission::Try, State { trying: Some(now), ..*state })
}

/// Returns the state after somebody asked.
pub fn settle(state: &State, outcome: Outcome, now: Timestamp) -> State {
    match outcome {
        Outcome::Answered => State::default(),
        Outcome::Untried => State { trying: None, ..*state },
        Outcome::Failed { attempts } => failed(state, attempts, now),
    }
}

fn failed(state: &State, attempts: u32, now: Timestamp) -> State {
    let failures = state.failures.saturating_add(attempts);
    match state.opened {
        // Only who tried says anything new: others were asking while it opened.
        Some(_) if state.trying.is_none() => State { failures, ..*state },
        Some(_) => State {
            failures,
            opened: Some(now),
            reopened: state.reopened.saturating_add(1),
            trying: None,
            ..*state
        },
        None if failures >= MAX_FAILURES => {
            State { failures, opened: Some(now), reopened: 0, trying: None, told: false }
        }
        None => State { failures, ..*state },
    }
}

/// Returns how long a breaker stays open that opened again so many times.
pub fn pause(reopened: u32) -> SignedDuration {
    let longest = LONGEST_PAUSE.as_secs();
    let doubled = FIRST_PAUSE.as_secs().checked_shl(reopened.min(16)).unwrap_or(longest);
    SignedDuration::from_secs(doubled.min(longest))
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        let start: Timestamp = "2026-04-02T10:00:00Z".parse().unwrap();
        start + SignedDuration::from_mins(minutes)
    }

    fn opened() -> State {
        settle(&State::default(), Outcome::Failed { attempts: 3 }, at(0))
    }

    #[test]
    fn three_failures_in_a_row_open_it_and_an_answer_between_them_does_not() {
        let failed = |state: &State| settle(state, Outcome::Failed { attempts: 1 }, at(0));
        let twice = failed(&failed(&State::default()));
        assert_eq!(admit(&twice, at(0)).0, Admission::Ask { attempts: 1 });
        assert_eq!(admit(&failed(&twice), at(0)).0, Admission::Rest { until: at(1) });
        let answered = settle(&twice, Outcome::Answered, at(0));
        assert_eq!(admit(&failed(&failed(&answered)), at(0)).0, Admission::Ask { attempts: 1 });
    }

    #[test]
    fn after_the_pause_one_may_try_and_the_others_wait_for_what_comes_of_it() {
        let (admission, trying) = admit(&opened(), at(1));
        assert_eq!(admission, Admission::Try);
        assert_eq!(admit(&trying, at(2)).0, Admission::Rest { until: at(11) });
        assert_eq!(admit(&trying, at(11)).0, Admission::Try, "who tried first was killed");
        assert_eq!(settle(&trying, Outcome::Answered, at(2)), State::default());
        assert_eq!(admit(&settle(&trying, Outcome::Untried, at(2)), at(2)).0, Admission::Try);
    }

    #[test]
    fn each_failed_try_doubles_the_pause_up_to_a_bound() {
        let minutes: Vec<i64> = (0..11).map(|n| pause(n).as_mins()).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 64, 128, 240, 240, 240]);
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
        let (_, trying) = admit(&opened(), at(1));
        let again = settle(&trying, Outcome::Failed { attempts: 1 }, at(1));
        assert_eq!(admit(&again, at(2)).0, Admission::Rest { until: at(3) });
    }

    #[test]
    fn a_failure_that_began_before_it_opened_does_not_prolong_the_pause() {
        let late = settle(&opened(), Outcome::Failed { attempts: 1 }, at(0));
        assert_eq!(admit(&late, at(1)).0, Admission::Try);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_keep_it_shut() {
        let (admission, kept) = admit(&opened(), at(-600));
        assert_eq!(admission, Admission::Rest { until: at(-599) });
        assert_eq!(admit(&kept, at(-599)).0, Admission::Try);
    }

    #[test]
    fn what_was_told_is_told_again_only_after_an_answer() {
        let told = State { told: true, ..opened() };
        let (_, trying) = admit(&told, at(1));
        let still = settle(&trying, Outcome::Failed { attempts: 1 }, at(1));
        assert!(still.told);
        let (_, trying) = admit(&still, at(5));
        let closed = settle(&trying, Outcome::Answered, at(5));
        assert!(!settle(&closed, Outcome::Failed { attempts: 3 }, at(6)).told);
    }
}
