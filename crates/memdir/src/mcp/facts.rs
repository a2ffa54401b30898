//! The tool `extract_facts`: what of a conversation may be worth remembering, by rules.
//!
//! Only what the user said is read, and nothing is saved: each candidate comes with its type, its scope and the words that
//! speak for it, so that whoever asked can judge, and save what is worth it.

use memdir_core::classify::{Known, classify};
use memdir_core::frame::{defused, enclosed};
use memdir_core::journal::facts;
use memdir_core::text::{count, fit, visible_line};
use memdir_core::transcript::{Host, Parser, Role};
use memdir_store::transcript::Transcripts;

use super::arguments::Arguments;
use super::desk::Desk;
use super::reply::Reply;
use crate::failure::Failure;

/// As much of the evidence is quoted, in columns.
const QUOTE: usize = 240;
const NOTHING: &str = "no candidates: the user said nothing that is likely to last";

/// Answers a call.
pub(super) fn run(arguments: &Arguments, desk: Option<&Desk>) -> Result<Reply, Failure> {
    let text = arguments.optional_text("text")?;
    let session = arguments.optional_text("session")?;
    let Some(desk) = desk else { return Ok(Reply::text(NOTHING)) };
    let said = match text {
        Some(text) => messages(&text),
        None => of_session(session.as_deref(), desk)?,
    };
    let gate = desk.context.gate()?;
    // A secret is neither shown nor does it lend its letters to a name.
    let said: Vec<String> = said.iter().map(|message| gate.redacted(message).0).collect();
    let found = facts(said.iter().map(|message| (None, message.as_str())));
    if found.is_empty() {
        return Ok(Reply::text(NOTHING));
    }
    let mut names = names(desk)?;
    let mut lines = String::new();
    for (number, fact) in (1..).zip(&found) {
        let proposed = classify(&fact.text, &Known { names: &names, aliases: &[], has_team_vault: false });
        let shown = |text: &str| defused(&visible_line(text));
        lines.push_str(&format!(
            "{number}. type {}, scope {}, name {}: {}\n   evidence: {}\n",
            proposed.memory_type,
            proposed.scope,
            shown(proposed.name.as_str()),
            shown(&proposed.description),
            shown(&evidence(&fact.text, &said)),
        ));
        names.push(proposed.name.to_string());
    }
    let head = format!(
        "{} by rules from what the user said; nothing is saved, and a candidate counts for less than what the user confirms",
        count(found.len(), "candidate", "candidates")
    );
    let vaults = desk.context.vaults()?;
    Ok(Reply::text(enclosed(&head, &lines, &desk.key(&vaults))))
}

fn names(desk: &Desk) -> Result<Vec<String>, Failure> {
    let shelves = desk.context.shelves()?;
    let entries = shelves.iter().flat_map(|shelf| &shelf.snapshot.memories);
    Ok(entries.map(|entry| entry.path.stem().to_owned()).collect())
}

/// Says where something was said: in which message, from which character to which, in which words.
fn evidence(text: &str, said: &[String]) -> String {
    let place = said.iter().enumerate().rev().find_map(|(at, message)| Some((at, message.find(text)?)));
    let Some((at, from)) = place else { return format!("\"{}\"", fit(text, QUOTE)) };
    let start = said[at][..from].chars().count();
    let end = start + text.chars().count();
    format!("message {}, characters {start} to {end}: \"{}\"", at + 1, fit(text, QUOTE))
}

/// Returns what the user said in a session: the one that is named, or the last.
fn of_session(session: Option<&str>, desk: &Desk) -> Result<Vec<String>, Failure> {
    let sessions = Transcripts::of(&desk.context.place).sessions();
    let is_meant = |id: &str| session.is_none_or(|wanted| id.starts_with(wanted));
    let Some(meant) = sessions.iter().find(|known| is_meant(&known.id)) else {
        return Err(Failure::refusal("no such session is known here: give the conversation as `text`"));
    };
    let turns = meant.turns().map_err(|err| Failure::error(format!("could not read the session: {err}")))?;
    Ok(turns.filter(|turn| turn.role == Role::User).map(|turn| turn.text).collect())
}

/// Returns what the user said in a text: lines of a session file, a dialogue with names before what is said, or, without
/// any of that, all of it.
fn messages(text: &str) -> Vec<String> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if let Some(host) = Host::of_line(first.as_bytes()) {
        let mut parser = Parser::new(host, "");
        let turns = text.lines().filter_map(|line| parser.read(line.as_bytes()).ok()).flatten();
        return turns.filter(|turn| turn.role == Role::User).map(|turn| turn.text).collect();
    }
    dialogue(text)
}

/// Takes the user's part out of a dialogue.
fn dialogue(text: &str) -> Vec<String> {
    let mut messages = vec![String::new()];
    let mut is_user = true;
    for line in text.lines() {
        match speaker(line) {
            Some((user, rest)) => {
                is_user = user;
                if user {
                    messages.push(rest.to_owned());
                }
            }
            None if is_user => {
                if let Some(message) = messages.last_mut() {
                    message.push('\n');
                    message.push_str(line);
                }
            }
            None => {}
        }
    }
    let messages = messages.iter().map(|message| message.trim().to_owned());
    messages.filter(|message| !message.is_empty()).collect()
}

/// Returns whether a line begins what the user says or what another does, and the words behind the name.
fn speaker(line: &str) -> Option<(bool, &str)> {
    const USERS: [&str; 3] = ["user", "human", "me"];
    const OTHERS: [&str; 8] = ["assistant", "ai", "agent", "claude", "codex", "gemini", "system", "tool"];
    let (name, rest) = line.split_once(':')?;
    let name = name.trim().trim_matches(['*', '#', '[', ']', ' ']).to_ascii_lowercase();
    let is = |names: &[&str]| names.contains(&name.as_str());
    if is(&USERS) {
        return Some((true, rest.trim_start_matches(['*', ' '])));
    }
    is(&OTHERS).then_some((false, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_user_says_is_read() {
        let text =
            "User: use pnpm, never npm\nand say why\n**Assistant:** always use npm\nmore of it\nHuman: fine";
        assert_eq!(messages(text), ["use pnpm, never npm\nand say why", "fine"]);
        assert_eq!(messages("we decided: use tabs"), ["we decided: use tabs"]);
        let line =
            r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"we use tabs"}}"#;
        assert_eq!(messages(line), ["we use tabs"]);
    }

    /// MH-04.
    #[test]
    fn evidence_is_a_span_of_a_message() {
        let said = ["hello".to_owned(), "schön: use tabs here".to_owned()];
        assert_eq!(evidence("use tabs", &said), "message 2, characters 7 to 15: \"use tabs\"");
    }
}
