//! What one run of background work cost, as it is written down.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;

use jiff::Timestamp;
use memdir_core::budget::{Spending, Usd};
use serde::{Deserialize, Serialize};

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Job {
    /// Memories out of a conversation.
    Extract,
    /// Which memories a prompt is reminded of.
    Select,
    /// Consolidation.
    Dream,
    /// Working memory and the summary of a session.
    Session,
    /// Documents that keep themselves up to date, and whatever else somebody asked for by hand.
    Magic,
}

impl Job {
    /// Every job.
    pub const ALL: [Self; 5] = [Self::Extract, Self::Select, Self::Dream, Self::Session, Self::Magic];

    /// Returns its name in receipts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Select => "select",
            Self::Dream => "dream",
            Self::Session => "session",
            Self::Magic => "magic",
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Job {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::as_str).join(", ");
        Self::ALL
            .into_iter()
            .find(|job| job.as_str() == word)
            .ok_or_else(|| format!("`{word}` is none of {names}"))
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    /// It was answered.
    Ok,
    /// The service failed or refused, or its answers could not be used.
    Failed,
    /// A cap or a breaker stopped it half-way.
    Held,
    /// Its process was killed; what it costs is the most that it may have cost.
    Lost,
}

/// What requests took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counted {
    /// Tokens read, those from a cache too.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Of those read, the ones that came from a cache.
    pub cached: u64,
    /// Money.
    pub usd: Usd,
}

impl Add for Counted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            cached: self.cached.saturating_add(other.cached),
            usd: self.usd + other.usd,
        }
    }
}

impl Counted {
    /// Returns what counts under a cap.
    pub fn spending(&self) -> Spending {
        Spending { tokens: self.tokens_in.saturating_add(self.tokens_out), usd: self.usd }
    }
}

/// One line of the book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// When the run ended.
    pub t: Timestamp,
    /// Which run.
    pub run: String,
    /// What it was for.
    pub job: Job,
    /// Who was asked; `none` where no model was.
    pub model: String,
    /// Tokens read, those from a cache too.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Of those read, the ones that came from a cache.
    pub cached: u64,
    /// Dollars.
    pub usd: f64,
    /// How long it took.
    pub ms: u64,
    /// How it ended.
    pub outcome: RunOutcome,
    /// The memories that came of it.
    pub mems: Vec<String>,
    /// How many requests of the model were refused: tools it does not have, paths, words that were not said, gates.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u32,
    /// The session on whose account it was, if one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// How a run ended, for its receipt.
#[derive(Debug, Clone)]
pub struct RunEnd {
    /// How it ended.
    pub outcome: RunOutcome,
    /// How long it took.
    pub ms: u64,
    /// The memories that came of it.
    pub mems: Vec<String>,
    /// How many requests of the model were refused.
    pub refused: u32,
}

impl Receipt {
    pub(super) fn new(
        t: Timestamp,
        run: &str,
        job: Job,
        model: &str,
        counted: Counted,
        end: RunEnd,
        session: Option<&str>,
    ) -> Self {
        let Counted { tokens_in, tokens_out, cached, usd } = counted;
        let RunEnd { outcome, ms, mems, refused } = end;
        let (run, model, usd) = (run.to_owned(), model.to_owned(), usd.dollars());
        let session = session.map(str::to_owned);
        Self { t, run, job, model, tokens_in, tokens_out, cached, usd, ms, outcome, mems, refused, session }
    }

    /// Returns what counts under a cap. An amount that is none counts as nothing.
    pub fn spending(&self) -> Spending {
        let usd = Usd::from_dollars(self.usd).unwrap_or_default();
        Spending { tokens: self.tokens_in.saturating_add(self.tokens_out), usd }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
