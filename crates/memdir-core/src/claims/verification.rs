//! What the looked-up claims make of a memory, and how to say it in one clause.
//!
//! The clause and the advice go into a model's context, with names in them that a repository chose. So every name is
//! short, of plain characters or quoted, and never more than one problem is told in full.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Checked, ClaimKind, Held, State};
use crate::memory::Verified;
use crate::text::{age, age_days, count, fit, visible_line};

/// After as many days a check is old.
pub const OLD_AFTER_DAYS: i64 = 14;
/// Widest name in a clause, in columns.
const MAX_SHOWN: usize = 100;
/// How much of a hash people read.
const SHORT_HASH: usize = 7;

/// What is known about a memory's claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The claims, in the order of the memory.
    pub claims: Vec<Checked>,
    /// When they were looked up; never, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Timestamp>,
    /// The commit that was checked out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What the claims make of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything that could be looked up is so.
    Verified,
    /// Something is no longer so.
    Stale,
    /// Nothing could be looked up, or nobody has.
    Unverified,
}

impl Verdict {
    /// Returns the verdict as people and programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Stale => "stale",
            Self::Unverified => "unverified",
        }
    }
}

impl Verification {
    /// Returns what the claims make of the memory.
    pub fn verdict(&self) -> Verdict {
        if self.failing().next().is_some() {
            Verdict::Stale
        } else if self.n_holding() > 0 {
            Verdict::Verified
        } else {
            Verdict::Unverified
        }
    }

    /// Returns the claims that are no longer so.
    pub fn failing(&self) -> impl Iterator<Item = &Checked> {
        self.claims.iter().filter(|checked| checked.state.fails())
    }

    /// Counts the claims that there is an answer to.
    pub fn n_answered(&self) -> usize {
        self.claims.iter().filter(|checked| checked.state.is_answer()).count()
    }

    /// Counts the claims that hold.
    pub fn n_holding(&self) -> usize {
        self.n_answered() - self.failing().count()
    }

    /// Counts the claims that could be looked up here and were not, for want of time.
    pub fn n_open(&self) -> usize {
        self.claims.iter().filter(|checked| checked.is_open()).count()
    }

    /// Says whether both found the same, whenever they looked.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let states = |found: &Self| -> Vec<_> {
            found.claims.iter().map(|checked| (checked.claim.clone(), checked.state.clone())).collect()
        };
        self.commit == other.commit && states(self) == states(other)
    }

    /// Says whether the check is too old to be relied on, or was never made.
    pub fn is_old(&self, now: Timestamp) -> bool {
        self.checked.is_none_or(|checked| age_days(checked, now) > OLD_AFTER_DAYS)
    }

    /// Says in one clause what a reader should hear: "checked today, 3 of 3 hold".
    pub fn clause(&self, now: Timestamp) -> String {
        let mut failing = self.failing();
        if let Some(first) = failing.next() {
            let more = failing.count();
            let more = if more > 0 {
                format!("; {more} more no longer hold{}", plural_s(more))
            } else {
                String::new()
            };
            return format!("{}{more}", self.problem(first));
        }
        let Some(checked) = self.checked else { return "not checked yet".to_owned() };
        let (n_holding, n_answered) = (self.n_holding(), self.n_answered());
        let n_open = self.n_open();
        if n_answered == 0 {
            return if n_open > 0 { "not checked" } else { "not verifiable here" }.to_owned();
        }
        let (when, hold) = match age_days(checked, now) {
            0 => ("today".to_owned(), if n_answered + n_open == 1 { "holds" } else { "hold" }),
            _ => (age(checked, now), "held"),
        };
        let at = match &self.commit {
            Some(commit) if age_days(checked, now) > 0 => format!(" at {}", short(commit)),
            _ => String::new(),
        };
        // What was claimed is counted, not what there was time for.
        let open = if n_open > 0 { format!(", {n_open} not checked") } else { String::new() };
        format!("checked {when}{at}, {n_holding} of {} {hold}{open}", n_answered + n_open)
    }

    /// Returns the line that an unverified, stale or long unchecked memory carries; none if it was checked lately.
    ///
    /// `verified` is what a person noted in the memory: who looked lately is believed where nothing contradicts.
    pub fn advice(&self, verified: Option<&Verified>, now: Timestamp) -> Option<String> {
        let clause = self.clause(now);
        match self.verdict() {
            Verdict::Stale => {
                Some(format!("verify before use: {clause}; trust what you see and update this memory"))
            }
            Verdict::Verified if self.is_old(now) || self.n_open() > 0 => {
                Some(format!("verify before use: {clause}"))
            }
            Verdict::Verified => None,
            Verdict::Unverified => match verified {
                Some(by_hand) if is_recent(by_hand, now) => None,
                Some(by_hand) => {
                    Some(format!("verify before use: {clause}, last checked by hand on {}", by_hand.date))
                }
                None => Some(format!("verify before use: {clause}")),
            },
        }
    }

    /// Tells what is wrong with one claim.
    fn problem(&self, checked: &Checked) -> String {
        let Checked { claim, state, held } = checked;
        let kind = claim.kind;
        let value = shown(&claim.value);
        let (what, verb) = match state {
            State::Expired { on } => return format!("expired on {on}"),
            State::Missing { .. } => (missing(kind, self.missing_of(kind), &value), "removed"),
            State::Moved { to, .. } if kind == ClaimKind::Path => {
                (format!("{}, renamed to {}", missing(kind, self.missing_of(kind), &value), shown(to)), "")
            }
            State::Moved { to, .. } => (format!("{value} is in {} now", shown(to)), "moved"),
            State::Changed { now, .. } => (changed(kind, &value, now), "changed"),
            State::Suspect { left } => (format!("{value} is no longer in {}", shown(left)), ""),
            State::Holds { .. } | State::Unchecked { .. } => return String::new(),
        };
        let gone = match (state.gone(), verb) {
            (None, _) => String::new(),
            (Some(gone), "") => format!(" in {}", short(&gone.commit)),
            (Some(gone), verb) => format!(", {verb} in {} on {}", short(&gone.commit), gone.on),
        };
        format!("{what}{gone}{}", last_held(held.as_ref()))
    }

    /// Counts the claims of a kind that are not where they were.
    fn missing_of(&self, kind: ClaimKind) -> usize {
        let is_missing = |state: &State| matches!(state, State::Missing { .. } | State::Moved { .. });
        self.claims.iter().filter(|checked| checked.claim.kind == kind && is_missing(&checked.state)).count()
    }
}

fn missing(kind: ClaimKind, n: usize, value: &str) -> String {
    let exist = if n == 1 { "exists" } else { "exist" };
    match kind {
        ClaimKind::Path => format!("{} no longer {exist}: {value}", count(n, "named file", "named files")),
        ClaimKind::Symbol => format!("{value} is no longer in the code"),
        ClaimKind::Flag => format!("the flag {value} is no longer in the code"),
        ClaimKind::Command => format!("the command {value} is no longer defined"),
        ClaimKind::Branch => format!("the branch {value} is gone"),
        ClaimKind::Commit => format!("the commit {value} is not in this repository"),
        ClaimKind::Url | ClaimKind::Version | ClaimKind::Date => format!("{value} no longer holds"),
    }
}

fn changed(kind: ClaimKind, value: &str, now: &str) -> String {
    let now = shown(now);
    match kind {
        ClaimKind::Symbol => format!("{value} is called {now} now"),
        ClaimKind::Version => format!("{value} is no longer used: it is {now} now"),
        _ => format!("{value} is {now} now"),
    }
}

fn last_held(held: Option<&Held>) -> String {
    match held {
        Some(Held { commit: Some(commit), .. }) => format!(", last verified at {}", short(commit)),
        Some(Held { at, commit: None }) => format!(", last verified on {}", at.strftime("%Y-%m-%d")),
        None => String::new(),
    }
}

fn is_recent(by_hand: &Verified, now: Timestamp) -> bool {
    let noted = by_hand.date.to_zoned(jiff::tz::TimeZone::UTC);
    noted.is_ok_and(|noted| age_days(noted.timestamp(), now) <= OLD_AFTER_DAYS)
}

/// Shows a name that somebody else may have chosen: cut, and quoted unless it is plain.
fn shown(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./@+#:$ ".contains(c);
    let has_sentence = name.split(' ').count() > 3;
    let cut = fit(name, MAX_SHOWN);
    if name.chars().all(is_plain) && !has_sentence {
        cut.into_owned()
    } else {
        format!("\"{}\"", visible_line(&cut).replace('"', "'"))
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT_HASH).unwrap_or(commit)
}

fn plural_s(n: usize) -> &'static str {
    if n == 1 { "s" } else { "" }
}
