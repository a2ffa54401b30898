//! What background work may spend, and what a model's answer costs.
//!
//! Everything that asks a model without being told to, for one session or for all of a day, stays under the same [`Caps`]:
//! a share of the tokens of the session, and dollars and tokens a day. [`decide`] says whether one more request fits,
//! counted as if its answer were as long as it may be. Prices are in [`prices`](price_of); a model that is not there is
//! taken for an expensive one.

mod prices;

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

pub use prices::{PRICES_AS_OF, Price, price_of};

/// An amount of money, in millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(pub u64);

impl Usd {
    /// Takes an amount in dollars; none for what is no amount of money.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1e6).round();
        (micros.is_finite() && (0.0..1e15).contains(&micros)).then_some(Self(micros as u64))
    }

    /// Returns the amount in dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self(0), Self::add)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cents are enough for a day, not for a request.
        if self.0 == 0 || self.0 >= 1_000_000 {
            write!(f, "{:.2} USD", self.dollars())
        } else {
            write!(f, "{:.4} USD", self.dollars())
        }
    }
}

/// What was spent, or will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spending {
    /// Tokens read and written, those read from a cache too.
    pub tokens: u64,
    /// Money.
    pub usd: Usd,
}

impl Add for Spending {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd + other.usd }
    }
}

impl Sum for Spending {
    fn sum<I: Iterator<Item = Self>>(spendings: I) -> Self {
        spendings.fold(Self::default(), Self::add)
    }
}

/// What may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Money a day.
    pub day_usd: Usd,
    /// Tokens a day.
    pub day_tokens: u64,
    /// Of the tokens of a session, in per cent.
    pub session_percent: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { day_usd: Usd(1_000_000), day_tokens: 2_000_000, session_percent: 10 }
    }
}

/// A session for which something is done, as far as money is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSpending {
    /// The tokens of the session itself: what its agent's requests read and wrote up to now.
    pub own: u64,
    /// The tokens that were spent on its account in the background.
    pub spent: u64,
}

/// Whether one more request may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It fits.
    Allowed,
    /// It might cost more than is left of the day's money.
    DayMoney {
        /// What was spent.
        spent: Usd,
        /// What may be.
        cap: Usd,
    },
    /// It might take more tokens than are left of the day's.
    DayTokens {
        /// What was spent.
        spent: u64,
        /// What may be.
        cap: u64,
    },
    /// It might take more tokens than the session's share.
    SessionTokens {
        /// What was spent.
        spent: u64,
        /// What may be.
        cap: u64,
    },
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed => write!(f, "it fits"),
            Self::DayMoney { spent, cap } => {
                write!(f, "of today's {cap} for background work {spent} is spent")
            }
            Self::DayTokens { spent, cap } => {
                write!(f, "of today's {cap} tokens for background work {spent} are spent")
            }
            Self::SessionTokens { spent, cap } => {
                write!(f, "of the session's {cap} tokens for background work {spent} are spent")
            }
        }
    }
}

/// Says whether `next` fits beside what was spent `today` and for the `session`.
pub fn decide(caps: &Caps, today: Spending, session: Option<SessionSpending>, next: Spending) -> Decision {
    if (today + next).usd > caps.day_usd && next.usd > Usd(0) {
        return Decision::DayMoney { spent: today.usd, cap: caps.day_usd };
    }
    if (today + next).tokens > caps.day_tokens {
        return Decision::DayTokens { spent: today.tokens, cap: caps.day_tokens };
    }
    if let Some(SessionSpending { own, spent }) = session {
        let cap = u64::try_from(u128::from(own) * u128::from(caps.session_percent) / 100).unwrap_or(u64::MAX);
        if spent.saturating_add(next.tokens) > cap {
            return Decision::SessionTokens { spent, cap };
        }
    }
    Decision::Allowed
}

/// Guesses how many tokens a text of this many bytes has at most. Prose has four bytes a token, dense code and other
/// scripts two to three; more than that is only found in noise.
pub fn most_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(2)
}

/// Guesses how many tokens a text of this many bytes has.
pub fn likely_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps { day_usd: Usd(1_000_000), day_tokens: 10_000, session_percent: 10 };

    fn spending(tokens: u64, usd: u64) -> Spending {
        Spending { tokens, usd: Usd(usd) }
    }

    #[test]
    fn ux_03_the_last_request_that_fits_is_allowed_and_one_token_or_millionth_more_is_not() {
        assert_eq!(decide(&CAPS, spending(9_000, 999_000), None, spending(1_000, 1_000)), Decision::Allowed);
        assert_eq!(
            decide(&CAPS, spending(9_000, 999_000), None, spending(1_000, 1_001)),
            Decision::DayMoney { spent: Usd(999_000), cap: CAPS.day_usd }
        );
        assert_eq!(
            decide(&CAPS, spending(9_000, 0), None, spending(1_001, 0)),
            Decision::DayTokens { spent: 9_000, cap: 10_000 }
        );
    }

    #[test]
    fn ux_03_a_session_lends_a_tenth_of_its_own_tokens() {
        let session = |own, spent| Some(SessionSpending { own, spent });
        let next = spending(100, 0);
        assert_eq!(decide(&CAPS, spending(0, 0), session(2_000, 100), next), Decision::Allowed);
        assert_eq!(
            decide(&CAPS, spending(0, 0), session(1_999, 100), next),
            Decision::SessionTokens { spent: 100, cap: 199 }
        );
        assert_eq!(
            decide(&CAPS, spending(0, 0), session(u64::MAX, 0), next),
            Decision::Allowed,
            "no overflow"
        );
    }

    #[test]
    fn what_costs_no_money_is_not_refused_for_money() {
        assert_eq!(decide(&CAPS, spending(0, 2_000_000), None, spending(10, 0)), Decision::Allowed);
    }

    #[test]
    fn the_defaults_are_a_dollar_a_day_and_a_tenth_of_a_session() {
        assert_eq!((Caps::default().day_usd, Caps::default().session_percent), (Usd(1_000_000), 10));
    }

    #[test]
    fn money_is_read_and_shown() {
        assert_eq!(Usd::from_dollars(0.25), Some(Usd(250_000)));
        assert_eq!(Usd::from_dollars(-1.0), None);
        assert_eq!(Usd::from_dollars(f64::NAN), None);
        assert_eq!(Usd(250_000).to_string(), "0.2500 USD");
        assert_eq!(Usd(1_500_000).to_string(), "1.50 USD");
        assert_eq!(Usd(0).to_string(), "0.00 USD");
    }
}
