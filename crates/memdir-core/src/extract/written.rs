//! Turns in which the agent wrote memories itself: nothing is to be learned from them a second time.

use super::Said;
use crate::host::names::{EDITORS, SHELLS};
use crate::transcript::Role;

/// Commands of ours that write.
const COMMANDS: [&str; 8] = [
    "memdir save",
    "memdir remember",
    "memdir new",
    "memdir edit",
    "memdir correct",
    "memdir supersede",
    "memdir forget",
    "memdir rename",
];
/// Marks of a shell command that writes into a file.
const WRITING: [&str; 7] = [">", "tee ", "mv ", "cp ", "sed -i", "rm ", "touch "];

/// Leaves out the turns, each from a message of the user to the next one, in which the agent changed something below one of
/// `vaults`, which are directories.
pub fn without_written_turns(window: Vec<Said>, vaults: &[String]) -> Vec<Said> {
    let mut kept: Vec<Said> = Vec::with_capacity(window.len());
    let mut turn: Vec<Said> = Vec::new();
    let mut has_written = false;
    for said in window {
        if said.role == Role::User {
            if !std::mem::take(&mut has_written) {
                kept.append(&mut turn);
            }
            turn.clear();
        }
        has_written |= said.role == Role::Tool && writes_memory(&said.text, vaults);
        turn.push(said);
    }
    if !has_written {
        kept.append(&mut turn);
    }
    kept
}

/// Says whether a call of a tool, its name in the first line and an argument a line after it, changes a memory.
fn writes_memory(call: &str, vaults: &[String]) -> bool {
    let (tool, arguments) = call.split_once('\n').unwrap_or((call, ""));
    let tool = tool.trim().to_lowercase();
    let names_vault =
        || vaults.iter().any(|vault| arguments.contains(&format!("{}/", vault.trim_end_matches('/'))));
    let is = |names: &[&str]| names.contains(&tool.as_str());
    if is(&EDITORS) {
        return names_vault();
    }
    if is(&SHELLS) {
        let runs = |words: &[&str]| words.iter().any(|word| arguments.contains(word));
        return runs(&COMMANDS) || names_vault() && (runs(&WRITING) || arguments.contains("*** "));
    }
    let edits =
        ["command: create", "command: str_replace", "command: insert", "command: delete", "command: rename"];
    tool.ends_with("memory") && edits.iter().any(|edit| arguments.contains(edit))
}
