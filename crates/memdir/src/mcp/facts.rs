//! The tool `extract_facts`: what of a conversation may be worth remembering.
//!
//! The same rules as everywhere ([`memdir_core::extract`]), or the host's own model where the user wants that and the host
//! lends it. Nothing is saved: each candidate comes with its type, its scope
//! and the words that speak for it, so that whoever asked can judge, and save what is worth it.

use memdir_core::extract::{Candidate, Evidence, Said, conversation};
use memdir_core::frame::{defused, enclosed};
use memdir_core::text::{count, fit, visible_line};
use memdir_core::transcript::Turn;
use memdir_store::transcript::Transcripts;

use super::arguments::Arguments;
use super::desk::Desk;
use super::reply::Reply;
use crate::failure::Failure;
use crate::work::extract;

/// As much of the evidence is quoted, in columns.
const QUOTE: usize = 240;
const NOTHING: &str = "no candidates: the user said nothing that is likely to last";

/// Answers a call.
pub(super) fn run(arguments: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let text = arguments.optional_text("text")?;
    let session = arguments.optional_text("session")?;
    let Some(desk) = desk else { return Ok(Reply::text(NOTHING)) };
    let gate = desk.context.gate()?;
    // A secret is neither shown nor does it lend its letters to a name.
    let said = match text {
        Some(text) => conversation(&gate.redacted(&text).0),
        None => of_session(session.as_deref(), desk)?,
    };
    let (found, by) = find(&said, desk)?;
    if found.is_empty() {
        return Ok(Reply::text(NOTHING));
    }
    let lines: String =
        (1..).zip(&found).map(|(number, candidate)| shown(number, candidate, &said)).collect();
    let head = format!(
        "{} by {by}; nothing is saved, and a candidate counts for less than what the user confirms",
        count(found.len(), "candidate", "candidates")
    );
    let vaults = desk.context.vaults()?;
    Ok(Reply::text(enclosed(&head, &lines, &desk.key(&vaults))))
}

/// Finds candidates by the host's own model where it lends it and answers, else by rules; says by whom.
fn find(said: &[Said], desk: &Desk) -> Result<(Vec<Candidate>, &'static str), Failure> {
    if let Some(model) = desk.lent_model()
        && let Some(found) = extract::find_by(model, said, &desk.context)?
    {
        return Ok((found, "your own model"));
    }
    Ok((extract::find(said, &[], &desk.context)?.0, "rules"))
}

fn shown(number: usize, candidate: &Candidate, said: &[Said]) -> String {
    let shown = |text: &str| defused(&visible_line(text));
    let trust = if candidate.is_quarantined() { ", quarantined" } else { "" };
    let quotes: String = candidate
        .evidence
        .iter()
        .map(|evidence| format!("   evidence: {}\n", shown(&span(evidence, said))))
        .collect();
    format!(
        "{number}. type {}, scope {}, said by {}{trust}, name {}: {}\n{quotes}",
        candidate.memory_type,
        candidate.scope,
        candidate.provenance,
        shown(candidate.name.as_str()),
        shown(&candidate.description),
    )
}

/// Says where something was said: in which message, from which character to which, in which words.
fn span(evidence: &Evidence, said: &[Said]) -> String {
    let quote = fit(&evidence.quote, QUOTE);
    let message = said.get(evidence.message).map_or("", |said| said.text.as_str());
    let Some(from) = message.find(&evidence.quote) else {
        return format!("message {}: \"{quote}\"", evidence.message + 1);
    };
    let start = message[..from].chars().count();
    let end = start + evidence.quote.chars().count();
    format!("message {}, characters {start} to {end}: \"{quote}\"", evidence.message + 1)
}

/// Returns what was said in a session: the one that is named, or the last.
fn of_session(session: Option<&str>, desk: &Desk) -> Result<Vec<Said>, Failure> {
    let sessions = Transcripts::of(&desk.context.place).sessions();
    let is_meant = |id: &str| session.is_none_or(|wanted| id.starts_with(wanted));
    let Some(meant) = sessions.iter().find(|known| is_meant(&known.id)) else {
        return Err(Failure::refusal("no such session is known here: give the conversation as `text`"));
    };
    let turns = meant.turns().map_err(|err| Failure::error(format!("could not read the session: {err}")))?;
    let gate = desk.context.gate()?;
    let clean = |turn: Turn| Said::from(&Turn { text: gate.redacted(&turn.text).0, ..turn });
    Ok(turns.map(clean).filter(|said| !said.text.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use memdir_core::transcript::Role;

    use super::*;

    /// MH-04.
    #[test]
    fn evidence_is_a_span_of_a_message() {
        let said = ["hello", "schön: use tabs here"].map(|text| Said::new(Role::User, None, text));
        let evidence = Evidence { message: 1, quote: "use tabs".to_owned() };
        assert_eq!(span(&evidence, &said), "message 2, characters 7 to 15: \"use tabs\"");
    }
}
