//! The plugin that opencode loads: a small script of our own that calls the hook.
//!
//! The file is all ours. One that somebody has changed is neither overwritten nor removed.

use super::command::{HookCall, is_memdir};
use super::events::Event;
use super::splice::{Draft, Undo};
use super::{Found, HookPlace, Trouble, events};
use crate::host::Agent;

const PLUGIN: &str = include_str!("opencode.js");
/// Stands in the script where the program belongs.
const HOLE: &str = "\"MEMDIR\"";
/// Begins the line that names the program.
const LINE: &str = "const memdir = ";

/// Returns the script that calls this program.
pub(super) fn text(program: &str) -> String {
    PLUGIN.replacen(HOLE, &serde_json::Value::from(program).to_string(), 1)
}

pub(super) fn look(text: &str, program: &str) -> Found {
    let Some(found) = program_of(text) else { return Found::default() };
    let hook = |event: &Event| {
        let call = HookCall { program: found.clone(), agent: Agent::Opencode, event: event.name.to_owned() };
        let timeout = Some(u64::from(event.timeout_ms));
        HookPlace { event: event.name.to_owned(), group: 0, number: 0, command: call.to_line(), timeout }
    };
    Found {
        hooks: events(Agent::Opencode).iter().map(hook).collect(),
        has_server: false,
        is_complete: text == self::text(program),
        programs: vec![found],
    }
}

pub(super) fn wire(
    text: &str,
    program: &str,
    undo: Option<&Undo>,
) -> Result<Option<(String, Undo)>, Trouble> {
    let wanted = self::text(program);
    if text == wanted {
        return Ok(None);
    }
    let mut draft = Draft::new(&unwire(text, program, undo)?);
    draft.insert(draft.text.len(), &wanted);
    Ok(Some((draft.text, draft.undo)))
}

pub(super) fn unwire(text: &str, program: &str, undo: Option<&Undo>) -> Result<String, Trouble> {
    if undo.and_then(|undo| undo.take_back(text)).is_some_and(|before| before.is_empty()) {
        return Ok(String::new());
    }
    let is_ours = |program: &str| text == self::text(program);
    if text.is_empty() || is_ours(program) || program_of(text).is_some_and(|program| is_ours(&program)) {
        return Ok(String::new());
    }
    Err(Trouble::Changed)
}

/// Returns the program that a script of ours calls.
fn program_of(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(LINE))?;
    let program: String = serde_json::from_str(line.trim_end_matches(';')).ok()?;
    is_memdir(&program).then_some(program)
}
