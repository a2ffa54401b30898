//! What rules find in conversations, and what they leave.

use jiff::Zoned;
use jiff::tz::TimeZone;

use super::claim::{Beside, claim};
use super::sentence::sentences;
use super::*;
use crate::transcript::Role;

fn now() -> Zoned {
    "2026-04-02T10:30:00Z".parse::<jiff::Timestamp>().unwrap().to_zoned(TimeZone::UTC)
}

/// Reads a dialogue; a line begins with `u:`, `a:` or `t:`.
fn dialogue(text: &str) -> Vec<Said> {
    let said = |line: &str| {
        let (who, text) = line.trim().split_once(": ").unwrap();
        let role = match who {
            "u" => Role::User,
            "a" => Role::Assistant,
            _ => Role::Tool,
        };
        Said::new(role, None, text)
    };
    text.trim().lines().map(said).collect()
}

fn found_beside(text: &str, held: &[Held]) -> Vec<Candidate> {
    let now = now();
    let around = Around { now: &now, held, aliases: &[], has_team_vault: false, earlier: &[] };
    by_rules(&dialogue(text), &around)
}

fn found(text: &str) -> Vec<Candidate> {
    found_beside(text, &[])
}
