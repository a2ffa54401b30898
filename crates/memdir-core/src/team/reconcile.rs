//! What is to happen to one memory of a team, given what it is here, what it is there, and what both sides had last.
//!
//! [`decide`] is a pure function of three sides and a policy. It never says "overwrite": a side that changed alone is taken
//! over, two sides that changed are combined (see [`super::conflict`]), an edit weighs more than a deletion, and a version
//! that somebody unknown wrote is held until the user trusts its author. Each [`Step`] says why, so that it can be shown.

use crate::hash::ContentHash;
use crate::memory::words::words;

words! {
    /// How two sides that both changed become one.
    #[derive(Default)]
    Policy, "policy" {
        /// Three ways, with the last common version; what cannot be merged is kept twice. Deletions travel.
        #[default]
        Merge = "merge",
        /// What is there wins, key by key; what was here is in history. Deletions do not travel.
        Mirror = "mirror",
    }
}

/// A memory as it is in the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Here {
    /// Which version.
    pub hash: ContentHash,
    /// Whether it may leave.
    pub sharing: Sharing,
}

/// Whether a memory of the vault may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// It is the team's.
    Shared,
    /// It is the user's own.
    Private,
    /// It is the team's, but has a fault and cannot be sent as it is.
    Unfit,
}

/// A memory as it is on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There {
    /// There never was one, as far as anybody knows.
    Nothing,
    /// It was deleted.
    Gone,
    /// It cannot be seen for now, which says nothing.
    Away,
    /// It is there.
    Live(ContentHash),
}

/// The three sides of one key.
#[derive(Debug, Clone, Copy)]
pub struct Sides {
    /// The vault.
    pub here: Option<Here>,
    /// What both sides had after the last sync.
    pub base: Option<ContentHash>,
    /// The other side.
    pub there: There,
    /// Whether the user believes whoever wrote what is there.
    pub is_believed: bool,
}

/// What is to happen to one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Leave,
    /// Both sides are the same already: that becomes the base.
    Note,
    /// It is on no side any more: the base is forgotten.
    Forget,
    /// What is here goes there.
    Send(Sending),
    /// What is there is deleted.
    Withdraw(Withdrawing),
    /// What is there comes here.
    Take(Taking),
    /// What is here goes to the trash: it was deleted there and not changed here.
    Remove,
    /// Both changed.
    Combine,
    /// Somebody wrote it whom the user does not believe yet.
    Hold,
    /// It stays as it is on both sides, and somebody has to decide.
    Blocked(Block),
}

/// Why something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// It is new.
    New,
    /// It changed here alone.
    Changed,
    /// It was deleted there, but changed here since: the edit survives.
    Again,
}

/// Why something is deleted over there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawing {
    /// It was deleted here.
    Deleted,
    /// It was made private here, where it stays.
    MadePrivate,
}

/// Why something comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// It is new.
    New,
    /// It changed there alone.
    Changed,
    /// It was deleted here, but changed there since, or deletions do not travel.
    Back,
    /// It changed on both sides, and the policy prefers what is there.
    Preferred,
}

/// What stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// A private memory here has the name.
    PrivateName,
    /// It was made private here, but changed there since.
    ChangedSincePrivate,
    /// What is here has a fault.
    Unfit,
    /// It changed here, and what is there cannot be seen for now.
    Away,
}

impl Block {
    /// Says it for people.
    pub fn why(self) -> &'static str {
        match self {
            Self::PrivateName => "a private memory of yours has this name: rename one of the two",
            Self::ChangedSincePrivate => "you made it private, but a teammate changed it since",
            Self::Unfit => "it cannot be sent as it is",
            Self::Away => "the checked-out branch does not have the version you changed",
        }
    }
}

/// Decides about one key.
pub fn decide(policy: Policy, sides: &Sides) -> Step {
    match sides.here {
        Some(Here { sharing: Sharing::Unfit, .. }) => Step::Blocked(Block::Unfit),
        Some(Here { sharing: Sharing::Private, .. }) => private(sides),
        Some(Here { hash, .. }) => shared(policy, hash, sides),
        None => missing(policy, sides),
    }
}

/// Nothing is here.
fn missing(policy: Policy, sides: &Sides) -> Step {
    match (sides.there, sides.base) {
        (There::Away, _) | (There::Nothing | There::Gone, None) => Step::Leave,
        (There::Nothing | There::Gone, Some(_)) => Step::Forget,
        (There::Live(there), Some(base)) if there == base && policy == Policy::Merge => {
            Step::Withdraw(Withdrawing::Deleted)
        }
        (There::Live(_), base) => {
            believed(sides, Step::Take(if base.is_some() { Taking::Back } else { Taking::New }))
        }
    }
}

/// What is here is the user's own.
fn private(sides: &Sides) -> Step {
    match (sides.there, sides.base) {
        (There::Away, _) | (There::Nothing | There::Gone, None) => Step::Leave,
        (There::Nothing | There::Gone, Some(_)) => Step::Forget,
        (There::Live(_), None) => Step::Blocked(Block::PrivateName),
        (There::Live(there), Some(base)) if there == base => Step::Withdraw(Withdrawing::MadePrivate),
        (There::Live(_), Some(_)) => Step::Blocked(Block::ChangedSincePrivate),
    }
}

/// What is here is the team's.
fn shared(policy: Policy, here: ContentHash, sides: &Sides) -> Step {
    let is_changed = sides.base != Some(here);
    match (sides.there, sides.base) {
        (There::Away, Some(_)) if is_changed => Step::Blocked(Block::Away),
        (There::Away, _) => Step::Leave,
        (There::Nothing | There::Gone, None) => Step::Send(Sending::New),
        (There::Nothing | There::Gone, Some(_)) if is_changed || policy == Policy::Mirror => {
            Step::Send(Sending::Again)
        }
        (There::Nothing | There::Gone, Some(_)) => believed(sides, Step::Remove),
        (There::Live(there), base) if there == here && base == Some(here) => Step::Leave,
        (There::Live(there), _) if there == here => Step::Note,
        (There::Live(there), Some(base)) if there == base => Step::Send(Sending::Changed),
        (There::Live(_), _) if !is_changed => believed(sides, Step::Take(Taking::Changed)),
        (There::Live(_), _) if policy == Policy::Mirror => believed(sides, Step::Take(Taking::Preferred)),
        (There::Live(_), _) => believed(sides, Step::Combine),
    }
}

fn believed(sides: &Sides, step: Step) -> Step {
    if sides.is_believed { step } else { Step::Hold }
}
